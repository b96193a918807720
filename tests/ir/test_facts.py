"""The table of facts agrees with itself on every form that the programs of the tests have."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from rosejit.errors import VerifyError
from rosejit.ir import syntax as ir
from rosejit.ir.facts import FACTS
from rosejit.ir.traversal import consumed, operands, rebuild, scopes, views
from rosejit.ir.types import BOOL, INT, REAL, Array, Ref, Sum, Tuple
from rosejit.ir.verify import verify
from rosejit.ops import PRIMITIVES

ROOT = Path(__file__).parents[2] / "rosejit"
FORMS = get_args(ir.Expr)
ROWS = Array(2, REAL)


def var(t, hint="x"):
    return ir.Var(t, hint)


def samples() -> list[ir.Let]:
    """A let of each form, no variable twice."""
    x, i, b, a, row, at, s = var(REAL), var(INT), var(BOOL), var(ROWS), var(ROWS), var(Ref(ROWS)), var(Sum(REAL, ROWS))
    c, r, p, q, t = var(ROWS), var(REAL), var(REAL), var(ROWS), var(Tuple((REAL, ROWS)))
    f = ir.Function("f", (var(ROWS), var(REAL), var(ROWS)), (REAL,), own=frozenset())
    f.own = frozenset(f.params[2:])
    nothing = ir.Block([], ())
    failure = ir.Failure("value", "no")
    turn = ir.Block([], (c,))
    scans = (ir.Scan(r, var(ROWS)), ir.Scan(var(ROWS), var(Array(2, ROWS)), True), ir.Scan(var(REAL), var(ROWS)))
    expressions: list[tuple[tuple[ir.Var, ...], ir.Expr]] = [
        ((var(REAL),), ir.Apply(PRIMITIVES["add"], (x, ir.real(1.0)))),
        ((var(REAL),), ir.Call(f, (a, x, row))),
        ((var(t.type),), ir.MakeTuple((x, a))),
        ((var(REAL), var(ROWS)), ir.Untuple(t)),
        ((var(ROWS),), ir.MakeArray((x, ir.real(2.0)))),
        ((var(s.type),), ir.Inject(1, a)),
        ((var(ROWS),), ir.Extract(1, s)),
        ((), ir.Case((s, var(s.type)), ir.Branch((p, var(REAL)), nothing), ir.Branch((q, var(ROWS)), nothing))),
        ((var(REAL),), ir.Index(t, (ir.Field(1), i))),
        ((var(ROWS),), ir.Update(a, (i,), x)),
        ((var(ROWS),), ir.Copy(a)),
        ((var(ROWS),), ir.Zero(a)),
        ((), ir.If(b, nothing, nothing)),
        ((var(ROWS),), ir.Loop(ir.integer(2), var(INT), (c,), (a,), scans, turn)),
        ((var(INT), var(ROWS)), ir.While((c,), (a,), ir.Block([], (b,)), turn)),
        ((var(at.type),), ir.Accum(a)),
        ((), ir.Add(at, a)),
        ((var(Ref(REAL)),), ir.View(at, (i,))),
        ((var(ROWS),), ir.Resolve(at)),
        ((), ir.Check(b, failure, (x, i))),
    ]
    return [ir.Let(binders, e) for binders, e in expressions]


LETS = samples()
each_form = pytest.mark.parametrize("let", LETS, ids=lambda let: type(let.expr).__name__)


def test_each_form_has_a_sample():
    assert {type(let.expr) for let in LETS} == set(FORMS)


def test_the_groups_part_the_forms():
    groups = [*get_args(ir.Simple), ir.Call, *get_args(ir.Control)]
    assert len(groups) == len(set(groups)) == len(FORMS)


@each_form
def test_operands_and_scopes_are_what_is_rebuilt(let):
    """In their order, all of them: what one column forgets another one has."""
    atoms, binders, blocks = [], [], []

    def seen(where):
        return lambda what: where.append(what) or what

    made = rebuild(let.expr, seen(atoms), seen(binders), seen(blocks))
    assert type(made) is type(let.expr)
    assert tuple(atoms) == operands(let.expr)
    assert [*dict.fromkeys(binders)] == [*dict.fromkeys(v for bound, _ in scopes(let.expr) for v in bound)]
    assert blocks == [block for _, block in scopes(let.expr)]


@each_form
def test_a_form_holds_no_atom_that_is_no_operand(let):
    """By its fields: a field that is forgotten in every column is found here."""
    held = set()

    def collect(value):
        if isinstance(value, ir.Var):
            held.add(value)
        elif isinstance(value, tuple):
            for item in value:
                collect(item)
        elif isinstance(value, ir.Scan):
            collect(value.array)

    bound = {v for inner, _ in scopes(let.expr) for v in inner}
    for field in let.expr.__dataclass_fields__:
        collect(getattr(let.expr, field))
    assert held - bound == {a for a in operands(let.expr) if isinstance(a, ir.Var)}


@each_form
def test_what_is_consumed_and_viewed_is_read(let):
    assert set(consumed(let.expr)) <= set(operands(let.expr))
    own = {*let.binders, *(v for bound, _ in scopes(let.expr) for v in bound)}
    assert all(v in own and of in operands(let.expr) for v, of in views(let))


@each_form
def test_only_control_has_blocks(let):
    assert bool(scopes(let.expr)) == isinstance(let.expr, ir.Control)


def test_what_is_consumed():
    """The rules of docs/ir.md, form by form."""
    found = {type(let.expr).__name__: len(consumed(let.expr)) for let in LETS}
    taken = {"Call": 1, "MakeTuple": 2, "Untuple": 1, "MakeArray": 2, "Inject": 1, "Extract": 1, "Update": 1, "Loop": 2}
    assert found == dict.fromkeys(found, 0) | taken | {"While": 1, "Accum": 1, "Resolve": 1}


def test_a_form_without_facts_is_refused():
    """What no checker has seen is no silent case."""

    class Other:
        pass

    f = ir.Function("f", (), (), ir.Block([ir.Let((), Other())], ()))
    with pytest.raises((KeyError, AssertionError, VerifyError)):
        verify(f)
    with pytest.raises(AssertionError, match="Other"):
        ir.assert_never(Other())
    assert Other not in FACTS


# --- the other places that have to know a form


def _matches(path: Path) -> list[ast.Match]:
    """The matches of a module over forms of the IR."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {form.__name__ for form in FORMS}
    imported = {
        (alias.asname or alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "rosejit.ir.syntax"
        for alias in node.names
    }
    module = any(
        isinstance(node, ast.ImportFrom) and node.module == "rosejit.ir" and node.names[0].name == "syntax"
        for node in ast.walk(tree)
    )

    def is_form(pattern: ast.MatchClass) -> bool:
        match pattern.cls:
            case ast.Name(id=name):
                return name in names & imported
            case ast.Attribute(value=ast.Name(id="ir"), attr=name):
                return module and name in names
            case _:
                return False

    def forms_of(case: ast.match_case) -> bool:
        return any(isinstance(node, ast.MatchClass) and is_form(node) for node in ast.walk(case.pattern))

    return [node for node in ast.walk(tree) if isinstance(node, ast.Match) and any(map(forms_of, node.cases))]


_GENERIC = re.compile(r"\b(operands|super\(\)\.run|self\.expression)\(")
"""What takes any form, by the table, or goes on to another match that is closed."""


def _closes(case: ast.match_case) -> bool:
    """Whether the last case names what is missing, or refuses: gives False or None, raises, or hands all on."""
    (last,) = case.body[-1:]
    text = ast.unparse(last)
    refuses = isinstance(last, ast.Raise) or text in ("return False", "return None")
    return case.guard is None and ("assert_never(" in text or refuses or _GENERIC.search(ast.unparse(case)) is not None)


def test_a_match_over_forms_is_closed():
    """`case _: pass` is how a form that is added gets wrong code in silence."""
    paths = [
        path for path in sorted(ROOT.rglob("*.py")) if "rosejit.ir" in (text := path.read_text()) and "match" in text
    ]
    left = [f"{path}:{found.lineno}" for path in paths for found in _matches(path) if not _closes(found.cases[-1])]
    assert not left, f"{left}: end it with `case _: assert_never(e)`, and name the forms that nothing is done to"
