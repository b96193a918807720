"""The forms of the IR, on one screen. Data only; docs/ir.md gives their meaning and typing."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, NoReturn, final

from rosejit.ir.lengths import Length, clipped
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span


@final  # so `type(atom) is Var`, the quickest question, tells a checker as much as isinstance
@dataclass(slots=True, eq=False)
class Var:
    """A variable is its object; `hint` is for people, the printer makes names unique.

    A tangent whose type does not tell its lengths and tags names the value it is a tangent of in `like`.
    """

    type: Type
    hint: str = "x"
    like: "Var | None" = None

    def __repr__(self) -> str:
        return f"{self.hint}:{self.type!r}"


class WholeFloat(float):
    """The value of a Real constant that is an int in the user's Python."""


@final
@dataclass(slots=True, frozen=True)
class Lit:
    """A constant: float, int, bool or None for `()`; while a function is staged also a length that stays open."""

    value: Any
    type: Scalar

    def __hash__(self) -> int:
        return hash(self.value)


Atom = Var | Lit
NOTHING = Lit(None, UNIT)
TRUE = Lit(True, BOOL)
FALSE = Lit(False, BOOL)
ZERO = Lit(0.0, TAN)
"""The only constant tangent."""


def real(value: float) -> Lit:
    """A constant Real."""
    return Lit(value, REAL)


def integer(value: int) -> Lit:
    """A constant Int."""
    return Lit(value, INT)


@final
@dataclass(slots=True, frozen=True)
class Field:
    """A step into a tuple, as an index is a step into an array."""

    number: int


Path = tuple[Atom | Field, ...]


@dataclass(slots=True, frozen=True, eq=False)
class Failure:
    """What is raised when a check fails: `kind` decides the class (errors.py), `exception` is for a user's `raise`."""

    kind: str
    message: str
    span: Span | None = None
    help: str | None = None
    exception: Any = None


@dataclass(slots=True)
class Block:
    """Lets in order, and what the block gives."""

    lets: list["Let"]
    results: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class Let:
    """Variables bound to the results of one expression."""

    binders: tuple[Var, ...]
    expr: "Expr"
    span: Span | None = None


# --- expressions


@dataclass(slots=True, eq=False)
class Apply:
    """A primitive."""

    op: Primitive
    args: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class Call:
    """A call of a function."""

    function: "Function"
    args: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class MakeTuple:
    """Also makes nominal residuals: the binder has the type."""

    items: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class Untuple:
    """All fields of a tuple, which it consumes."""

    value: Atom


@dataclass(slots=True, eq=False)
class MakeArray:
    """An array of its items; at least one."""

    items: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class Inject:
    """`inl` (side 0) or `inr` (side 1); the binder has the type."""

    side: int
    value: Atom


@dataclass(slots=True, eq=False)
class Extract:
    """`outl` or `outr`: the value of a sum whose tag is known to be `side`."""

    side: int
    value: Atom


@dataclass(slots=True, eq=False)
class Branch:
    """A side of a `case`: the variables of the payloads, and what happens with them."""

    params: tuple[Var, ...]
    block: Block


@dataclass(slots=True, eq=False)
class Case:
    """All scrutinees share one tag, that of the first."""

    scrutinees: tuple[Atom, ...]
    left: Branch
    right: Branch


@dataclass(slots=True, eq=False)
class Index:
    """`a[i, .k]`: a scalar, or a view where the path ends early. `checked` is False where the indices are proven."""

    base: Atom
    path: Path
    checked: bool = True


@dataclass(slots=True, eq=False)
class Update:
    """`base` with the place at `path` set to `value`."""

    base: Atom
    path: Path
    value: Atom
    checked: bool = True


@dataclass(slots=True, eq=False)
class Copy:
    """An owned copy."""

    value: Atom


@dataclass(slots=True, eq=False)
class Zero:
    """All zeros; `like` gives lengths and tags where the type does not."""

    like: Atom | None = None


@dataclass(slots=True, eq=False)
class If:
    """One of two blocks."""

    condition: Atom
    then: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class Scan:
    """An array that a loop walks by index. `consumes`: the loop owns it and its rows (`from`), else views (`in`)."""

    param: Var
    array: Atom
    consumes: bool = False


@dataclass(slots=True, eq=False)
class Loop:
    """`trips` iterations; the body gives the next carries, then one element for each scanned output.

    The results are the last carries, then the stacked outputs (`[n]T`, or `[*]T` where `trips` is no literal).
    """

    trips: Atom
    index: Var
    carries: tuple[Var, ...]
    inits: tuple[Atom, ...]
    scans: tuple[Scan, ...]
    body: Block
    down: bool = False

    @property
    def constant_trips(self) -> int | None:
        """How many iterations there are, as far as a literal says: none where `trips` is negative."""
        trips = self.trips
        return max(trips.value, 0) if isinstance(trips, Lit) and isinstance(trips.value, int) else None

    @property
    def stacked(self) -> Any:
        """The length of what the iterations stack: None where only the run knows it."""
        trips = self.trips
        if isinstance(trips, Lit) and isinstance(trips.value, Length):
            return clipped(trips.value)
        return self.constant_trips


@dataclass(slots=True, eq=False)
class While:
    """Iterations while `condition` (which reads the carries, consumes nothing) holds.

    The results are the number of iterations, the last carries, then the stacked outputs `[*]T`.
    """

    carries: tuple[Var, ...]
    inits: tuple[Atom, ...]
    condition: Block
    body: Block


@dataclass(slots=True, eq=False)
class Accum:
    """Opens an accumulator that starts from (and consumes) `value`."""

    value: Atom


@dataclass(slots=True, eq=False)
class Add:
    """`place += value`, whole; the result is `()`."""

    place: Atom
    value: Atom


@dataclass(slots=True, eq=False)
class View:
    """`&a[i]`: a part of a place."""

    place: Atom
    path: Path
    checked: bool = True


@dataclass(slots=True, eq=False)
class Resolve:
    """What a place holds, in the end."""

    place: Atom


@dataclass(slots=True, eq=False)
class Check:
    """Fails unless `condition`; `values` (at most four scalars) go with the message."""

    condition: Atom
    failure: Failure
    values: tuple[Atom, ...] = ()


# Groups of forms, for passes that do one thing to all of a kind: a form that is added is in one of them.

Access = Index | Update | View
"""Forms that follow a path."""
Structure = MakeTuple | Untuple | MakeArray | Inject | Extract | Copy | Zero
"""Forms that make whole values of values."""
Simple = Apply | Access | Structure | Accum | Add | Resolve | Check
"""Forms without blocks."""
Branching = If | Case
"""Forms of which one block runs."""
Looping = Loop | While
"""Forms whose blocks run once an iteration."""
Control = Branching | Looping
"""Forms that hold blocks."""
Expr = Simple | Call | Control


def assert_never(form: NoReturn) -> NoReturn:
    """The end of a `match` that has a case for each form: a type checker names the form that has none."""
    raise AssertionError(f"{type(form).__name__} is not expected here")


@dataclass(slots=True, eq=False)
class Function:
    """A first-order function; `own` holds the parameters that the callee consumes.

    `body` is None for a host function (then `host` is called at run time, always for its effects too) and while
    the body of a recursive function is being made. `rule` is a custom derivative: a function of the parameters and
    then their tangents (of those that have one), to the results and then the tangents of those that have one.

    A host function that is `pure` is called for its result only. One that is linear in one parameter, a Tan, may have
    an `adjoint`: of the cotangent of its result in that place, and else the same arguments, it gives the parameter's.
    """

    name: str
    params: tuple[Var, ...]
    results: tuple[Type, ...]
    body: Block | None = None
    own: frozenset[Var] = frozenset()
    host: Callable[..., Any] | None = None
    rule: "Function | None" = None
    checkpoint: bool = False
    span: Span | None = None
    pure: bool = False
    adjoint: "Function | None" = None
    derived: dict[Any, Any] = field(default_factory=lambda: {}, repr=False)
    """What passes have made of this function, under their own keys."""

    def __repr__(self) -> str:
        return f"<ir.Function {self.name}>"

    def with_body(self, body: Block | None) -> "Function":
        """The same function of another body (None while that is being made), of which nothing has been derived."""
        f = self
        return Function(f.name, f.params, f.results, body, f.own, f.host, f.rule, f.checkpoint, f.span)
