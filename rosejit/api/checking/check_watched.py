"""Functions that tell what their lines compute: the user's text with a probe behind each assignment.

The same text runs in CPython and is staged; compiled or interpreted, the probes are calls of the host in program order.
So the values of one place of the text, in their order, can be compared between two ways to run it.
"""

# Functions and values of users are of any type.

import __future__

import ast
import linecache
from collections.abc import Iterator
from itertools import count
from types import CellType, CodeType, FunctionType
from typing import Any

from rosejit.api.calling.specialisation import Staged
from rosejit.api.checking.check_compare import numbers
from rosejit.api.function import Function, FunctionSource
from rosejit.errors import RoseError
from rosejit.frontend.arrays.access import element
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.pytree import Supply, build, flatten, with_parts
from rosejit.frontend.values.scalars import Real, leaf_type, wrap
from rosejit.ir import syntax as ir
from rosejit.ir.types import REAL, TAN, Type, tangent
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.ops import PRIMITIVES
from rosejit.transforms.passes.insert_copies import insert_copies

PROBE = "__rose_probe__"
MOST = 200_000
"""So many numbers are kept of one run."""


@dataclass(slots=True, frozen=True)
class Site:
    """A place of the user's text, and what is computed there."""

    file: str
    line: int
    name: str


Event = tuple[Site, list[float]]


class Recorder:
    """What probes tell. `mode` is that of the staged probes: "values", "tangents", or "adds": then the tangent of
    `added`, an array from outside, is added to that of one value."""

    def __init__(self, mode: str = "values") -> None:
        self.mode = mode
        self.events: list[Event] = []
        self.chosen = -1
        """The number of the event that is added to."""
        self.added = np.zeros(1)
        self._room = MOST

    def tell(self, site: Site, found: list[float]) -> None:
        """Note what a site has computed."""
        self._room -= len(found)
        if self._room >= 0:
            self.events.append((site, found))

    def clear(self) -> None:
        """Forget the run before."""
        self.events, self._room = [], MOST


class Probe:
    """The probe of one file: gives what it is given."""

    def __init__(self, file: str, recorder: Recorder) -> None:
        self._file = file
        self._recorder = recorder

    def __call__(self, line: int, name: str, value: Any) -> Any:
        """Tell `value`, in CPython."""
        self._recorder.tell(Site(self._file, line, name), list(numbers(value)))
        return value

    def __rose_stage__(self, at: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same at run time."""
        line, name, value = args
        site = Site(self._file, line, name)
        if self._recorder.mode == "values":
            self._stage_telling(at, site, value)
            return value
        return self._along(at, site, value)

    def _stage_telling(self, at: Session, site: Site, value: Any) -> None:
        found: list[Any] = []
        statics: list[Any] = []
        try:
            tree = flatten(value, found, statics)
            atoms = [at.atom(v.leaf, v) for v in found]
        except (RoseError, TypeError):  # no number, and a tangent
            return
        recorder = self._recorder

        def tell(*given: Any) -> None:
            recorder.tell(site, list(numbers(build(tree, Supply(given), Supply(statics)))))

        params = tuple([ir.Var(leaf_type(v.leaf)) for v in found])
        _call(at, ir.Function("probe", params, (), host=tell, span=at.tape.here()), atoms)

    def _along(self, at: Session, site: Site, value: Any) -> Any:
        """`value` by way of functions whose rule tells the tangent, or adds to it."""
        cls = value.__class__
        adds = self._recorder.mode == "adds"
        if cls is Real or (cls is Array and value.leaf.kind == "array" and value.leaf.element == "real" and not adds):
            t = leaf_type(value.leaf)
            atoms = [at.atom(value.leaf, value)]
            if adds:
                atoms.append(element(at.captured(self._recorder.added), (ir.integer(0),)))
            result = ir.Var(t, site.name if site.name.isidentifier() else "value")
            made = _adding(self._recorder, site) if adds else _telling(self._recorder, site, t)
            at.tape.bind_all(ir.Call(made, tuple(atoms)), (result,))
            return wrap(at.tape, result) if cls is Real else fresh(at.tape, result)
        if isinstance(value, tuple):
            return with_parts(value, [self._along(at, site, part) for part in value])
        return value


def _telling(recorder: Recorder, site: Site, t: Type) -> ir.Function:
    """A function that gives its argument, and whose rule tells the tangent; where there is none it tells of zeros."""

    def inactive(x: Any) -> None:
        recorder.tell(site, [0.0 for _ in numbers(x)])

    def active(dx: Any) -> None:
        recorder.tell(site, list(numbers(dx)))

    x, v, dv = ir.Var(t, "x"), ir.Var(t, "x"), ir.Var(tangent(t), "dx")
    still = ir.Function("probe", (ir.Var(t, "x"),), (), host=inactive)
    made = insert_copies(ir.Function("probe", (x,), (t,), ir.Block([ir.Let((), ir.Call(still, (x,)))], (x,))))
    tell = ir.Function("probe", (ir.Var(tangent(t), "dx"),), (), host=active)
    block = ir.Block([ir.Let((), ir.Call(tell, (dv,)))], (v, dv))
    made.rule = insert_copies(ir.Function("probe_rule", (v, dv), (t, tangent(t)), block))
    return made


def _adding(recorder: Recorder, site: Site) -> ir.Function:
    """A function that gives its first argument, and adds the tangent of its second, where the recorder says so."""

    def factor(_: float) -> float:
        recorder.tell(site, [])
        return 1.0 if len(recorder.events) - 1 == recorder.chosen else 0.0

    x, e, v, w, s = (ir.Var(REAL, hint) for hint in "xevws")
    dv, dw, part, whole = (ir.Var(TAN, hint) for hint in ("dx", "de", "part", "dy"))
    made = ir.Function("probe", (x, e), (REAL,), ir.Block([], (x,)))
    scale = ir.Function("probe", (ir.Var(REAL, "x"),), (REAL,), host=factor)
    lets = [
        ir.Let((s,), ir.Call(scale, (v,))),
        ir.Let((part,), ir.Apply(PRIMITIVES["scale"], (s, dw))),
        ir.Let((whole,), ir.Apply(PRIMITIVES["tadd"], (dv, part))),
    ]
    made.rule = ir.Function("probe_rule", (v, w, dv, dw), (REAL, TAN), ir.Block(lets, (v, whole)))
    return made


def _call(at: Session, function: ir.Function, atoms: list[ir.Atom]) -> None:
    at.tape.bind_all(ir.Call(function, tuple(atoms)), ())


# --- the text


_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise, ast.Pass)


class _Insertions(ast.NodeVisitor):
    """What is put where into a text: (line, byte column, order, text)."""

    def __init__(self, derivatives: bool) -> None:
        self.found: list[tuple[int, int, int, str]] = []
        self._derivatives = derivatives
        self._inside = 0

    def _put(self, line: int, column: int, text: str, order: int = 0) -> None:
        self.found.append((line, column, order, text))

    def _behind(self, node: Any, text: str) -> None:
        self._put(node.end_lineno, node.end_col_offset, text)

    def _around(self, node: Any, line: int, name: str) -> None:
        self._put(node.lineno, node.col_offset, f"{PROBE}({line}, {name!r}, (", 2)
        self._put(node.end_lineno, node.end_col_offset, "))", -1)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Only functions are watched."""
        self._inside += 1
        arguments = node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self._block(node.body, {each.arg for each in every})
        self._inside -= 1

    def _block(self, body: list[ast.stmt], bound: set[str]) -> None:
        """Statements in a row; behind one with blocks the names that it has changed are told, if they were `bound`."""
        pending: ast.stmt | None = None
        for statement in body:
            if pending is not None and isinstance(statement, _SIMPLE):
                for name in sorted(_changed(pending) & bound):
                    text = f"{name} = {PROBE}({pending.lineno}, {name!r}, {name}); "
                    self._put(statement.lineno, statement.col_offset, text, 3)
            self.visit(statement)
            bound = bound | (_bound(statement))
            pending = statement if isinstance(statement, ast.If | ast.For | ast.While) else None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """The body of a class assigns attributes."""
        inside, self._inside = self._inside, 0
        for statement in node.body:
            self.visit(statement)
        self._inside = inside

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """The result of a lambda."""
        self._around(node.body, node.body.lineno, "the result")
        self.visit(node.body)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Before Python 3.12 there are no columns in it."""

    def visit_Return(self, node: ast.Return) -> None:
        """The result of a function."""
        if node.value is not None and self._inside:
            self._around(node.value, node.lineno, "the result")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """The condition."""
        self._test(node)

    def visit_While(self, node: ast.While) -> None:
        """The condition."""
        self._test(node)

    def _test(self, node: Any) -> None:
        if self._inside:
            self._around(node.test, node.lineno, "the condition")
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """The variables of a loop, before its body."""
        first = node.body[0]
        if self._inside and isinstance(first, _SIMPLE):
            for name in _names(node.target):
                self._put(first.lineno, first.col_offset, f"{PROBE}({node.lineno}, {name!r}, {name}); ", 3)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """All targets."""
        for target in node.targets:
            self._target(node, target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """The target."""
        self._target(node, node.target)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The target, where there is a value."""
        if node.value is not None:
            self._target(node, node.target)
            self.visit(node.value)

    def _target(self, node: Any, target: ast.expr) -> None:
        if not self._inside:
            return
        for name in _names(target):
            self._behind(node, f"; {name} = {PROBE}({node.lineno}, {name!r}, {name})")
        if isinstance(target, ast.Subscript | ast.Attribute) and _is_pure(target):
            name = ast.unparse(target)
            if self._derivatives:
                kind = " (what is added)" if isinstance(node, ast.AugAssign) else ""
                self._around(node.value, node.lineno, name + kind)
            else:
                self._behind(node, f"; {PROBE}({node.lineno}, {name!r}, {name})")


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a simple assignment binds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    return {name for target in targets for name in _names(target)}


def _changed(statement: ast.stmt) -> set[str]:
    """The names that are assigned inside of a statement, less those of loops, which may have ended before."""
    found = {name for each in ast.walk(statement) if isinstance(each, ast.stmt) for name in _bound(each)}
    added = [each.target for each in ast.walk(statement) if isinstance(each, ast.AugAssign)]
    found |= {target.id for target in added if isinstance(target, ast.Name)}
    loops = [each.target for each in ast.walk(statement) if isinstance(each, ast.For)]
    inner = [each for each in ast.walk(statement) if isinstance(each, ast.FunctionDef | ast.Delete | ast.ClassDef)]
    return set() if inner else found - {name for target in loops for name in _names(target)}


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)


_PURE = (ast.Subscript, ast.Attribute, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Slice)
_PURE = (*_PURE, ast.expr_context, ast.operator, ast.unaryop)


def _is_pure(node: ast.expr) -> bool:
    return all(isinstance(each, _PURE) for each in ast.walk(node))


def probed_text(text: str, derivatives: bool) -> str:
    """A text whose functions tell what they compute; each line stays in its place."""
    found = _Insertions(derivatives)
    found.visit(ast.parse(text))
    lines = text.encode().split(b"\n")
    # from behind, so that columns hold; at one place a closing bracket comes first
    for line, column, _, inserted in sorted(found.found, key=lambda each: each[:3], reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:column] + inserted.encode() + old[column:]
    return b"\n".join(lines).decode()


# --- the functions


_NUMBERS = count()
_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Watched:
    """Functions of the user's and all functions of the user's that they call by name, made to tell what they do."""

    def __init__(self, recorder: Recorder, derivatives: bool) -> None:
        self._recorder = recorder
        self._derivatives = derivatives
        self._known: dict[int, tuple[Any, Any]] = {}
        self._scopes: dict[tuple[int, str], dict[str, Any]] = {}
        self._codes: dict[tuple[str, int], tuple[str, CodeType] | None] = {}
        self.files: dict[str, str] = {}
        """By the name of a probed text that of the user's file."""

    def close(self) -> None:
        """Forget the texts."""
        for name in self.files:
            linecache.cache.pop(name, None)

    def of(self, value: Any) -> Any:
        """The watched function for a function; any other value as it is."""
        known = self._known.get(id(value))
        if known is None:
            made = value
            if isinstance(value, Function):
                made = self._decorated(value)
            elif isinstance(value, FunctionType) and is_users_code(value.__code__):
                made = self._plain(value)
            known = self._known.setdefault(id(value), (value, made))
        return known[1]

    def _decorated(self, function: Function) -> Any:
        source = function.kind.source
        plain: Any = self.of(source) if isinstance(source, FunctionType) else source
        if plain is source:
            return function

        def stage(own: Function, call: Call, at: Session) -> Staged:
            found = at.stage(plain, own.binding, call, own.__name__, (own, call.key))
            return Staged(found.function, tuple(call.trees), found.result, tuple(found.statics), found)

        kind = FunctionSource(stage, lambda own: (lambda: own, ()), source=plain)
        made = Function(function.binding, function.options, kind)
        for name in ("__name__", "__qualname__", "__module__", "__signature__"):
            setattr(made, name, getattr(function, name))
        made.__wrapped__ = plain
        if function.rule is not None:
            made.jvp = function.rule
        return made

    def _plain(self, function: FunctionType) -> FunctionType:
        code = function.__code__
        found = self._code(function)
        if found is None:
            return function
        scope = self._scope(function.__globals__, code.co_filename)
        closure = tuple([CellType() for _ in code.co_freevars])
        made = FunctionType(found, scope, function.__name__, function.__defaults__, closure)
        made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        self._known[id(function)] = (function, made)  # it may call itself
        for name in _all_names(code):
            if name in function.__globals__:
                scope[name] = self.of(function.__globals__[name])
        for mine, theirs in zip(closure, function.__closure__ or (), strict=True):
            try:
                value = theirs.cell_contents
            except ValueError:  # empty until later
                continue
            mine.cell_contents = self.of(value)
        return made

    def _scope(self, names: dict[str, Any], file: str) -> dict[str, Any]:
        key = (id(names), file)
        if key not in self._scopes:
            self._scopes[key] = {**names, PROBE: Probe(file, self._recorder)}
        return self._scopes[key]

    def _code(self, function: FunctionType) -> CodeType | None:
        """The probed code of a function; None where its text is not to be had."""
        code = function.__code__
        key = (code.co_filename, code.co_flags & _FLAGS)
        if key not in self._codes:
            self._codes[key] = self._compiled(function, *key)
        whole = self._codes[key]
        if whole is None:
            return None
        wanted = (code.co_name, code.co_firstlineno, code.co_freevars, code.co_varnames, code.co_argcount)
        found = [
            each
            for each in _codes(whole[1])
            if (each.co_name, each.co_firstlineno, each.co_freevars, each.co_varnames, each.co_argcount) == wanted
            and set(each.co_names) - {PROBE} == set(code.co_names)
        ]
        return found[0] if len(found) == 1 else None

    def _compiled(self, function: FunctionType, file: str, flags: int) -> tuple[str, CodeType] | None:
        text = "".join(linecache.getlines(file, function.__globals__))
        name = f"<watched {next(_NUMBERS)}>"
        try:
            probed = probed_text(text, self._derivatives)
            whole = compile(probed, name, "exec", flags=flags, dont_inherit=True)
        except SyntaxError:
            return None
        linecache.cache[name] = (len(probed), None, probed.splitlines(keepends=True), name)
        self.files[name] = file
        return name, whole


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _all_names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*[each.co_names for each in _codes(code)])
