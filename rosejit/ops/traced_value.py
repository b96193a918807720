"""Python's operators on atoms of the IR: rules and kernels, written for numbers, append to a block."""

from collections.abc import Callable
from typing import Any, cast

from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive, Staged
from rosejit.ir.syntax import Atom, Block, Call, Function, If, Let, Lit, Loop, Var
from rosejit.ir.traversal import operands, within
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type
from rosejit.ops import arith, compare, integer, linear, logic

Number = float | int | bool

_RECORDS = (op for op in (*arith.ALL, *compare.ALL, *linear.ALL) if op.symbol and len(op.params) == 2)
_OPERATORS: dict[tuple[str, Type, Type], Primitive] = {
    **{(op.symbol, op.params[0], op.params[1]): op for op in _RECORDS},
    ("*", TAN, REAL): linear.scale,
    ("+", INT, INT): integer.wadd,
    ("-", INT, INT): integer.wsub,
    ("*", INT, INT): integer.wmul,
    ("&", INT, INT): integer.iand,
    ("|", INT, INT): integer.ior,
    ("^", INT, INT): integer.ixor,
    ("<<", INT, INT): integer.shl,
    (">>", INT, INT): integer.shr,
    ("&", BOOL, BOOL): logic.and_,
    ("|", BOOL, BOOL): logic.or_,
    ("^", BOOL, BOOL): logic.xor,
}
_NEGATION: dict[Type, Primitive] = {REAL: arith.neg, INT: integer.wneg, TAN: linear.tneg}
_INVERSION: dict[Type, Primitive] = {BOOL: logic.not_, INT: integer.inot}


def literal(number: Number, type: Type) -> Lit:
    """`number` as a constant of that scalar type."""
    if type is REAL:
        return Lit(float(number), REAL)
    if type is TAN:
        return Lit(float(number), TAN)
    if type is BOOL:
        return Lit(bool(number), BOOL)
    assert type is INT, type
    return Lit(int(number), INT)


class Value(Staged):
    """An atom and the builder that operations on it append to.

    Ints wrap: rules and kernels work in known ranges. A Python number beside a Value becomes a literal of its type.
    """

    __slots__ = ("atom", "builder")

    def __init__(self, builder: Builder, atom: Atom) -> None:
        self.builder = builder
        self.atom = atom

    def __repr__(self) -> str:
        return f"Value({self.atom!r})"

    __hash__ = None  # type: ignore[assignment]  # `==` gives a Value

    @property
    def type(self) -> Type:
        """The type of the atom."""
        return self.atom.type

    def stage(self, op: Primitive, args: tuple[Any, ...]) -> "Value":
        """Append `op`."""
        atoms = [
            arg.atom if isinstance(arg, Value) else literal(arg, type_)
            for arg, type_ in zip(args, op.params, strict=True)
        ]
        return Value(self.builder, self.builder.apply(op, *atoms))

    def _left(self, symbol: str, other: Any) -> "Value":
        mine = self.atom.type
        if isinstance(other, Value):
            op = _OPERATORS[symbol, mine, other.atom.type]
        else:  # a number beside a Tan is a Real where that makes sense
            op = _OPERATORS.get((symbol, mine, mine)) or _OPERATORS[symbol, mine, REAL]
        return self.stage(op, (other, self) if op is linear.scale and mine is TAN else (self, other))

    def _right(self, symbol: str, other: Any) -> "Value":
        mine = self.atom.type
        op = _OPERATORS.get((symbol, mine, mine)) or _OPERATORS[symbol, REAL, mine]
        return self.stage(op, (other, self))

    def __add__(self, other: Any) -> "Value":
        return self._left("+", other)

    def __radd__(self, other: Any) -> "Value":
        return self._right("+", other)

    def __sub__(self, other: Any) -> "Value":
        return self._left("-", other)

    def __rsub__(self, other: Any) -> "Value":
        return self._right("-", other)

    def __mul__(self, other: Any) -> "Value":
        return self._left("*", other)

    def __rmul__(self, other: Any) -> "Value":
        return self._right("*", other)

    def __truediv__(self, other: Any) -> "Value":
        return self._left("/", other)

    def __rtruediv__(self, other: Any) -> "Value":
        return self._right("/", other)

    def __and__(self, other: Any) -> "Value":
        return self._left("&", other)

    def __rand__(self, other: Any) -> "Value":
        return self._right("&", other)

    def __or__(self, other: Any) -> "Value":
        return self._left("|", other)

    def __ror__(self, other: Any) -> "Value":
        return self._right("|", other)

    def __xor__(self, other: Any) -> "Value":
        return self._left("^", other)

    def __lshift__(self, other: Any) -> "Value":
        return self._left("<<", other)

    def __rshift__(self, other: Any) -> "Value":
        return self._left(">>", other)

    def __lt__(self, other: Any) -> "Value":
        return self._left("<", other)

    def __le__(self, other: Any) -> "Value":
        return self._left("<=", other)

    def __gt__(self, other: Any) -> "Value":
        return self._left(">", other)

    def __ge__(self, other: Any) -> "Value":
        return self._left(">=", other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]  # staged, as all comparisons
        return self._left("==", other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]  # staged, as all comparisons
        return self._left("!=", other)

    def __neg__(self) -> "Value":
        return self.stage(_NEGATION[self.atom.type], (self,))

    def __invert__(self) -> "Value":
        return self.stage(_INVERSION[self.atom.type], (self,))

    def __abs__(self) -> "Value":
        return self.stage(arith.abs_ if self.atom.type is REAL else integer.wabs, (self,))


def apply(op: Primitive, *args: Any) -> Any:
    """A Value where an argument is one, else the number."""
    return op(*args)


# --- structured control


def _several(result: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)


def _type(*candidates: Any) -> Type:
    for candidate in candidates:
        if isinstance(candidate, Value):
            return candidate.atom.type
    number = candidates[0]
    return BOOL if isinstance(number, bool) else INT if isinstance(number, int) else REAL


def _inside(builder: Builder, body: Callable[[], Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """The lets that `body` appends, which go to a block of their own, and its results."""
    outer, builder.lets = builder.lets, []
    try:
        return builder.lets, _several(body())
    finally:
        builder.lets = outer


def _atoms(results: tuple[Any, ...], types: tuple[Type, ...]) -> tuple[Atom, ...]:
    pairs = zip(results, types, strict=True)
    return tuple(r.atom if isinstance(r, Value) else literal(r, t) for r, t in pairs)


def _values(builder: Builder, variables: tuple[Var, ...]) -> Any:
    values = tuple(Value(builder, v) for v in variables)
    return values[0] if len(values) == 1 else values


def branch(condition: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """The result (or tuple of results) of the side that `condition` takes; only that side runs."""
    if not isinstance(condition, Value):
        return then() if condition else orelse()
    builder = condition.builder
    then_lets, left = _inside(builder, then)
    else_lets, right = _inside(builder, orelse)
    types = tuple(_type(a, b) for a, b in zip(left, right, strict=True))
    expr = If(condition.atom, Block(then_lets, _atoms(left, types)), Block(else_lets, _atoms(right, types)))
    return _values(builder, builder.bind_all(expr, types))


def repeat(trips: Any, body: Callable[..., Any], *inits: Any) -> Any:
    """The last carries of `carries = body(i, *carries)`, `i` from 0 below `trips`. One of them is a Value."""
    builder = next(v.builder for v in (trips, *inits) if isinstance(v, Value))
    index = Var(INT, "i")
    carries = tuple(Var(_type(init), "c") for init in inits)
    types = tuple(carry.type for carry in carries)
    iteration = [Value(builder, v) for v in (index, *carries)]
    lets, results = _inside(builder, lambda: body(*iteration))
    block = Block(lets, _atoms(results, types))
    expr = Loop(_atoms((trips,), (INT,))[0], index, carries, _atoms(inits, types), (), block)
    return _values(builder, builder.bind_all(expr, types))


def call(function: Function, *args: Any) -> Any:
    """The result (or tuple of results) of an IR function. One argument is a Value."""
    builder = next(v.builder for v in args if isinstance(v, Value))
    types = tuple(p.type for p in function.params)
    return _values(builder, builder.bind_all(Call(function, _atoms(args, types)), function.results))


def define(name: str, params: tuple[Scalar, ...], body: Callable[..., Any]) -> Function:
    """The IR function that does the steps of `body`, a function of Values."""
    builder = Builder()
    variables = tuple(Var(type_) for type_ in params)
    results = _several(body(*(Value(builder, v) for v in variables)))
    types = tuple(_type(r) for r in results)
    return Function(name, variables, types, _pruned(builder.block(*_atoms(results, types)), set()))


def _pruned(block: Block, used: set[Var]) -> Block:
    """`block` less the lets whose results nothing reads, here or (`used`) later in the same function. All are pure."""
    used.update(a for a in block.results if isinstance(a, Var))
    kept: list[Let] = []
    for let in reversed(block.lets):
        if used.isdisjoint(let.binders):
            continue
        kept.append(within(let, lambda inner: _pruned(inner, used)))
        used.update(a for a in operands(let.expr) if isinstance(a, Var))
    return Block(kept[::-1], block.results)
