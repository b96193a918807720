"""Mends the lets of a block once its placeholders are known: other atoms, and Reals or tangents instead of Ints."""

from collections.abc import Callable
from typing import Any, NoReturn

from rosejit import ops
from rosejit.errors import StagingTypeError
from rosejit.frontend.scalar_ops import tangent_ops
from rosejit.ir import syntax as ir
from rosejit.ir.facts import Table
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Atom, Block, Let, Var
from rosejit.ir.traversal import operands, rebuild
from rosejit.ir.types import INT, REAL, TAN, Array, Scalar, Type
from rosejit.span import Span

P = ops.PRIMITIVES
Atoms = dict[Var, Atom]

_TWINS: dict[Primitive, Primitive] = {
    P[on_ints]: P[on_reals]
    for on_ints, on_reals in {
        "iadd": "add", "isub": "sub", "imul": "mul", "ineg": "neg", "iabs": "abs", "ifloordiv": "floordiv",
        "imod": "mod", "ipow": "pow", "ilt": "lt", "ile": "le", "igt": "gt", "ige": "ge", "ieq": "eq", "ine": "ne",
        "rlt": "lt", "rle": "le", "rgt": "gt", "rge": "ge", "req": "eq", "rne": "ne",
        "imax": "max", "imin": "min", "isign": "sign", "iselect": "select",
    }.items()
}  # fmt: skip
"""What an operation on Ints is when one of its operands turns out a Real."""
_MIXED: dict[Primitive, tuple[Primitive, Primitive]] = {
    P[f"i{name}"]: (P[f"r{name}"], P[f"r{mirrored}"])
    for name, mirrored in {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}.items()
}
"""What a comparison of Ints is when the second turns out a Real, and when the first does."""


def retype_block(block: Block, atoms: Atoms) -> None:
    """Replace the variables of `atoms` in `block`, in place, and let what meets a Real or a tangent become one."""
    kept: list[Let] = []
    for let in block.lets:
        expr = let.expr
        if expr.__class__ is ir.Apply:
            _apply(let, expr, atoms, kept)  # type: ignore[arg-type]  # the class was tested, for speed
            continue
        if any(a in atoms for a in operands(expr) if isinstance(a, Var)):
            expr = let.expr = rebuild(expr, lambda a: atoms.get(a, a) if isinstance(a, Var) else a)
        _RULES[expr.__class__](let, expr, atoms, kept)
        kept.append(let)
    block.lets = kept
    block.results = tuple([atoms.get(a, a) if isinstance(a, Var) else a for a in block.results])


def _apply(let: Let, expr: ir.Apply, atoms: Atoms, kept: list[Let]) -> None:
    args = expr.args
    for arg in args:
        if arg.__class__ is Var and arg in atoms:
            args = expr.args = tuple([atoms.get(a, a) if isinstance(a, Var) else a for a in args])
            break
    op = expr.op
    for arg, wanted in zip(args, op.params, strict=True):
        if arg.type is not wanted:
            if op is P["to_real"]:
                atoms[let.binders[0]] = args[0]
                return
            if TAN in {wanted, *(a.type for a in args)}:
                _tangents(let, expr, kept)
            else:
                _widen(let, expr, kept)
            break
    kept.append(let)


def _tangents(let: Let, expr: ir.Apply, kept: list[Let]) -> None:
    """An operand of a number turned out a tangent, or one of a tangent is none yet."""
    if expr.op.linear:
        tangent_ops.operands_as_tangents(let, expr)
    else:
        tangent_ops.become_linear(let, expr, _TWINS.get(expr.op, expr.op))
    pairs = zip(expr.args, expr.op.params, strict=True)
    expr.args = tuple([converted(arg, kept, let.span) if wanted is REAL else arg for arg, wanted in pairs])


def _widen(let: Let, expr: ir.Apply, kept: list[Let]) -> None:
    if expr.op in _MIXED and {a.type for a in expr.args} == {INT, REAL}:
        left, right = expr.args
        name, mirrored = _MIXED[expr.op]
        expr.op, expr.args = (name, (left, right)) if left.type is INT else (mirrored, (right, left))
        return
    twin = _TWINS.get(expr.op)
    if twin is None:
        index = expr.op is P["wrap_index"]
        _refuse("an index is an Int" if index else f"`{expr.op.word}` takes Ints", let.span)
    pairs = zip(expr.args, twin.params, strict=True)
    expr.args = tuple([converted(arg, kept, let.span) if wanted is REAL else arg for arg, wanted in pairs])
    expr.op = twin
    let.binders[0].type = twin.result


def converted(atom: Atom, lets: list[Let], span: Span | None = None) -> Atom:
    """`atom` as a Real; a conversion is appended to `lets` where it is an Int."""
    if atom.type is not INT:
        return atom
    if isinstance(atom, ir.Lit):
        return ir.Lit(ir.WholeFloat(atom.value or 0), REAL)
    var = Var(REAL, atom.hint)
    lets.append(Let((var,), ir.Apply(P["to_real"], (atom,)), span))
    return var


def _as(kind: Type, atom: Atom, lets: list[Let], span: Span | None) -> Atom:
    return tangent_ops.as_tangent(atom, "+", span) if kind is TAN else converted(atom, lets, span)


def _refuse(what: str, span: Span | None) -> NoReturn:
    raise StagingTypeError(
        f"{what}, and here a value is used that a loop turns from an Int into a Real",
        span,
        help="start it as a float, `0.0` instead of `0`; or keep it an Int with `int(...)`",
    )


# --- the other forms


def _if(let: Let, expr: ir.If, atoms: Atoms, kept: list[Let]) -> None:
    retype_block(expr.then, atoms)
    retype_block(expr.orelse, atoms)
    for k, binder in enumerate(let.binders):
        types = {expr.then.results[k].type, expr.orelse.results[k].type, binder.type}
        if len(types & {INT, REAL, TAN}) > 1:
            binder.type = TAN if TAN in types else REAL
            for block in (expr.then, expr.orelse):
                _convert_result(block, k, binder.type, let.span)
        else:
            binder.type = expr.then.results[k].type


def _convert_result(block: Block, k: int, kind: Type, span: Span | None) -> None:
    results = list(block.results)
    results[k] = _as(kind, results[k], block.lets, span)
    block.results = tuple(results)


def retype_loop(expr: ir.Loop | ir.While, atoms: Atoms) -> None:
    """Mend the blocks of a loop that was just staged until the types of its carries are those of what comes back."""
    edges = zip(expr.carries, expr.inits, expr.body.results, strict=False)
    if atoms or any(not carry.type == init.type == next_value.type for carry, init, next_value in edges):
        _retype_loop(expr, atoms)


def _retype_loop(expr: ir.Loop | ir.While, atoms: Atoms) -> None:
    wide = True
    while wide:
        if isinstance(expr, ir.While):
            retype_block(expr.condition, atoms)
        retype_block(expr.body, atoms)
        wide = False
        for carry, init, next_value in zip(expr.carries, expr.inits, expr.body.results, strict=False):
            for wider in (REAL, TAN):
                if carry.type in (INT, REAL) and carry.type is not wider and wider in (init.type, next_value.type):
                    carry.type = wider
                    wide = True


def convert_carries(expr: ir.Loop | ir.While, before: list[Let], span: Span | None) -> None:
    """Convert the Ints that enter a carry which is a Real, and the zeros that enter one which is a tangent."""
    inits = list(expr.inits)
    for k, carry in enumerate(expr.carries):
        if carry.type is REAL or carry.type is TAN:
            inits[k] = _as(carry.type, inits[k], before, span)
            _convert_result(expr.body, k, carry.type, span)
    expr.inits = tuple(inits)


def _loop(let: Let, expr: ir.Loop, atoms: Atoms, kept: list[Let]) -> None:
    if expr.trips.type is REAL:
        _refuse("the length of a loop is an Int", let.span)
    for scan in expr.scans:
        if isinstance(scan.array.type, Array):
            scan.param.type = scan.array.type.element
    _retype_loop(expr, atoms)
    convert_carries(expr, kept, let.span)
    count = len(expr.carries)
    for binder, carry in zip(let.binders, expr.carries, strict=False):
        binder.type = carry.type
    for binder, row in zip(let.binders[count:], expr.body.results[count:], strict=True):
        assert isinstance(binder.type, Array)
        binder.type = Array(binder.type.length, row.type)


def _while(let: Let, expr: ir.While, atoms: Atoms, kept: list[Let]) -> None:
    _retype_loop(expr, atoms)
    convert_carries(expr, kept, let.span)
    for binder, carry in zip(let.binders[1:], expr.carries, strict=False):
        binder.type = carry.type


def _index(let: Let, expr: ir.Index, atoms: Atoms, kept: list[Let]) -> None:
    if any(isinstance(step, Var) and step.type is REAL for step in expr.path):
        _refuse("an index is an Int", let.span)
    let.binders[0].type = _below(expr.base.type, len(expr.path))


def _below(t: Type, depth: int) -> Type:
    for _ in range(depth):
        assert isinstance(t, Array)
        t = t.element
    return t


def _update(let: Let, expr: ir.Update, atoms: Atoms, kept: list[Let]) -> None:
    if any(isinstance(step, Var) and step.type is REAL for step in expr.path):
        _refuse("an index is an Int", let.span)
    wanted = _below(expr.base.type, len(expr.path))
    if TAN in (wanted, expr.value.type):
        if wanted is not TAN:
            tangent_ops.refuse("=", let.span)
        expr.value = tangent_ops.as_tangent(expr.value, "=", let.span)
    elif wanted is REAL:
        expr.value = converted(expr.value, kept, let.span)
    elif expr.value.type != wanted:
        _refuse("an array of Ints holds Ints", let.span)
    let.binders[0].type = expr.base.type


def _make_array(let: Let, expr: ir.MakeArray, atoms: Atoms, kept: list[Let]) -> None:
    types = {item.type for item in expr.items}
    kind = TAN if TAN in types else REAL if types == {INT, REAL} else types.pop()
    if kind is TAN or kind is REAL:
        expr.items = tuple([_as(kind, item, kept, let.span) for item in expr.items])
    let.binders[0].type = Array(len(expr.items), kind)


def _retype_call(let: Let, expr: ir.Call, atoms: Atoms, kept: list[Let]) -> None:
    for arg, param in zip(expr.args, expr.function.params, strict=True):
        if isinstance(arg.type, Scalar) and arg.type is not param.type:
            if arg.type is TAN:
                tangent_ops.refuse(expr.function.name, let.span)
            _refuse(f"`{expr.function.name}` was staged for an Int", let.span)


def _copy(let: Let, expr: ir.Copy, atoms: Atoms, kept: list[Let]) -> None:
    let.binders[0].type = expr.value.type


def _typed(let: Let, expr: ir.Expr, atoms: Atoms, kept: list[Let]) -> None:
    """Typed by its binders, or never of numbers that are still undecided."""


_RULES: Table[ir.Expr, Callable[[Let, Any, Atoms, list[Let]], None]] = {
    ir.Apply: _apply, ir.If: _if, ir.Loop: _loop, ir.While: _while, ir.Index: _index, ir.Update: _update,
    ir.MakeArray: _make_array, ir.Call: _retype_call, ir.Copy: _copy, ir.Zero: _typed, ir.MakeTuple: _typed,
    ir.Untuple: _typed, ir.Inject: _typed, ir.Extract: _typed, ir.Case: _typed, ir.Accum: _typed, ir.Add: _typed,
    ir.View: _typed, ir.Resolve: _typed, ir.Check: _typed,
}  # fmt: skip
