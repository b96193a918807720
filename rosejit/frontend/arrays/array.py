"""Arrays of staged code: identities whose content the frames know, and views of them."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.abi import Leaf, leaf_of
from rosejit.errors import StagingTypeError
from rosejit.frontend.values.open_lengths import opened
from rosejit.frontend.values.tape import Frame, Invalidated, Tape
from rosejit.ir.syntax import Atom, Lit, MakeArray, Var, Zero
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type, array
from rosejit.ir.types import Array as ArrayType
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

KINDS: dict[Scalar, Any] = {REAL: "real", INT: "int", BOOL: "bool", TAN: "real"}
TYPES: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}
_LITERAL_SIZE = 64
"""Constant arrays up to this size are written out in the program; larger ones are handed in at each call."""


@dataclass(slots=True, eq=False)
class Box:
    """The identity of an array. Its content is an atom, a `Host` or an `Invalidated`, in the frames of the tape."""

    name: str = "array"
    readonly: str = ""
    """Why it may not be written; empty if it may."""
    held: str = ""
    """Why rows are not changed in place, though another array may take the place of one; empty if they may be."""
    linked: "set[Box] | None" = None
    """Arrays that a staged choice may have made one: writing one moves the others."""
    sources: "set[Box] | None" = None
    """Of a value on its way out of a function: the arrays that it may be. They are linked where it arrives, since on
    the paths on which there is such a value the function does nothing more."""
    row_of: "set[Box] | None" = None
    """Lists that hold it as an element, or of a list the arrays in it: writing one in place moves the others."""
    uses: "Any" = None
    """Of a column of a list of structures: what was done with its elements (`elements.Uses`)."""


@dataclass(slots=True, eq=False)
class Host:
    """The content of an array that is still known while staging.

    `captured` is the array of the user's that it came from: reading it on the host makes the code depend on it.
    """

    data: Any
    captured: Any = None
    table: Any = None
    """The same for rolled loops, once one has asked (`host_tables.py`)."""
    is_shared: bool = False
    """Whether a loop may have to begin with this content again: it is copied before the first write."""


@dataclass(slots=True, frozen=True)
class Fixed:
    """A dimension of the base that a view has at one index, which is in range."""

    at: Atom


FIRST = Lit(0, INT)
"""The index of a first element."""


@dataclass(slots=True, frozen=True)
class Run:
    """A dimension of the base that is dimension `axis` of a view: its index k is `start + step * k` there.

    Of a window, a slice that only running places, `start` is a variable; the whole of it is in range.
    """

    axis: int
    start: Atom = FIRST
    step: int = 1


Axes = tuple[Fixed | Run, ...]


@dataclass(slots=True, frozen=True)
class Anchor:
    """A variable that is `content` at the first `fixed` indices of a view; bound in `frame`."""

    content: Any
    var: Var
    fixed: int
    frame: Frame
    epoch: int


class Array:
    """A staged array, or a part of one: `axes` says which; None is the whole."""

    __slots__ = ("_shape", "anchor", "axes", "box", "origin", "tape", "type")
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(
        self,
        tape: Tape,
        box: Box,
        shape: tuple[int, ...],
        type: Scalar,
        axes: Axes | None = None,
    ) -> None:
        self.tape = tape
        self.box = box
        self._shape = shape
        self.type = type
        self.axes = axes
        self.anchor: Anchor | None = None
        self.origin: tuple[Array, Any] | None = None
        """Of a view that was indexed: the array and the index, by which `y[i] += v` is told when it stores the view."""

    def __repr__(self) -> str:
        return f"<staged array of shape {self.shape}>"

    @property
    def leaf(self) -> Leaf:
        """What it is at the border of a function; without dimensions a number."""
        return leaf_of(self.shape, KINDS[self.type])

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._shape

    @shape.setter
    def shape(self, value: Any) -> None:
        """NumPy's arrays change their shape in place; these do not."""
        raise self.tape.type_fault("the shape of a staged array is not assigned", "bind `y.reshape(...)` to the name")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)


# --- making arrays


def fresh(tape: Tape, content: Var, name: str = "array") -> Array:
    """A new array that holds `content`, which nothing else does."""
    shape, kind = shape_of(content.type)
    box = Box(name)
    tape.write(box, content)
    return Array(tape, box, opened(tape, shape), kind)


def shape_of(t: Type) -> tuple[tuple[int, ...], Scalar]:
    """The shape of a nested array type, and the type of its elements."""
    shape: list[int] = []
    while isinstance(t, ArrayType):
        assert t.length is not None
        shape.append(t.length)
        t = t.element
    assert isinstance(t, Scalar)
    return tuple(shape), t


def of_host(tape: Tape, data: Any, name: str = "array", readonly: str = "", captured: Any = None) -> Array:
    """An array whose content is the NumPy array `data`, in float64, int64 or bool."""
    kind = {"f": REAL, "i": INT, "u": INT, "b": BOOL}.get(data.dtype.kind)
    if kind is None:
        raise tape.type_fault(f"an array of {data.dtype} cannot be staged", "arrays hold floats, ints or bools")
    if not _computes_as_arrays(type(data)):
        raise tape.type_fault(
            f"a {type(data).__name__} computes otherwise than NumPy's arrays, and cannot be staged",
            "hand over the numbers: `np.asarray(x)`, or `x.filled(0.0)` of a masked array",
        )
    data = np.ascontiguousarray(data, {REAL: "float64", INT: "int64", BOOL: "bool"}[kind]).reshape(data.shape)
    box = Box(name, readonly)
    frame = tape.frames[-1]
    if readonly:
        frame = next(f for f in reversed(tape.frames) if f.kind == "function")
    frame.contents[box] = Host(data, captured)
    return Array(tape, box, data.shape, kind)


def made_outside(tape: Tape, value: Any) -> Any:
    """What a function of the host returned: a NumPy array is a new array of staged code."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return of_host(tape, value) if _computes_as_arrays(type(value)) else value
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "bc" else value


def _computes_as_arrays(cls: type) -> bool:
    """Whether a class of arrays has NumPy's own arithmetic: masked arrays and matrices have not."""
    return cls is np.ndarray or all(getattr(cls, name) is getattr(np.ndarray, name) for name in _ARITHMETIC)


_ARITHMETIC = ("__mul__", "__eq__", "__array_ufunc__", "sum")


def parameter(tape: Tape, var: Var, name: str) -> Array:
    """The array that a parameter holds: the caller's memory is never written."""
    made = fresh(tape, var, name)
    made.box.readonly = f"`{name}` is an argument, and arguments are never written"
    return made


def titled(box: Box) -> str:
    """What an array is called in messages."""
    return f"`{box.name}`" if box.name != "array" else "this array"


# --- contents


def content(tape: Tape, box: Box) -> Any:
    """What `box` holds: an atom or a `Host`. Raises where it was moved, or was made in a block that is over."""
    held = None
    for frame in reversed(tape.frames):
        held = frame.contents.get(box)
        if held is not None:
            break
        if frame.kind != "branch":
            frame.reads_outer.add(box)
    if held is None:
        raise tape.type_fault(
            f"{titled(box)} was made in a branch or a loop that is over", "make it before, or return it by name"
        )
    if held.__class__ is Invalidated:
        raise tape.fault(StagingTypeError, f"{titled(box)} cannot be used here: {held.reason}", help=held.help)
    return held


def atom_of(tape: Tape, box: Box) -> Var:
    """The content as a variable; a host content becomes one where it was made, outside the loops and branches."""
    held = content(tape, box)
    if held.__class__ is not Host:
        return held
    frame = next(f for f in reversed(tape.frames) if f.contents.get(box) is held)
    outer, tape.lets = tape.lets, frame.lets
    var = tape.session.constant(held.data, held.captured, frame)
    tape.lets = outer
    frame.contents[box] = var
    if tape.rolled is not None:
        tape.host_contents[var] = held
    return var


def constant(tape: Tape, data: Any) -> Atom:
    """A NumPy array of at most `_LITERAL_SIZE` elements, or of zeros, as lets."""
    kind = TYPES[{"f": "real", "i": "int", "b": "bool"}[data.dtype.kind]]
    if not data.shape:
        return Lit(data.item(), kind)
    whole = array(data.shape, kind)
    if not data.any() and not np.signbit(data).any() if kind is REAL else not data.any():
        return tape.bind(Zero(), whole)
    return _literal(tape, data, kind)


def is_small(data: Any) -> bool:
    """Whether a constant is written out in the program."""
    return data.size <= _LITERAL_SIZE or not (data.any() or (data.dtype.kind == "f" and np.signbit(data).any()))


def _literal(tape: Tape, data: Any, kind: Scalar) -> Var:
    if data.size == 0:
        return tape.bind(Zero(), array(data.shape, kind))
    if data.ndim == 1:
        return tape.bind(MakeArray(tuple(Lit(value, kind) for value in data.tolist())), array(data.shape, kind))
    rows = tuple(_literal(tape, row, kind) for row in data)
    return tape.bind(MakeArray(rows), array(data.shape, kind))


def host_data(a: Array) -> Any:
    """The elements of `a` as a NumPy array if staging knows them, else None."""
    held = content(a.tape, a.box)
    if held.__class__ is not Host or not (a.box.readonly or _is_own(a)):
        return None
    if held.captured is not None:
        a.tape.session.read_elements(held.captured)
    return held.data if a.axes is None else viewed(held.data, a)


def _is_own(a: Array) -> bool:
    """Whether what the array holds was put there in the iteration, and in the function, that is being staged.

    If not, the rest of the loop may yet change what the next iteration finds.
    """
    for frame in reversed(a.tape.frames):
        if a.box in frame.contents:
            return True
        if frame.kind in ("loop", "function"):
            return False
    return False


def is_anchored(a: Array, held: Any) -> bool:
    """Whether reads of a view can start from its anchor: its base is unchanged, now and in the next iteration."""
    if a.anchor is None or a.anchor.content is not held:
        return False
    for frame in reversed(a.tape.frames):
        if frame is a.anchor.frame and frame.epoch == a.anchor.epoch:
            return True
        if frame.kind in ("loop", "function") and not a.box.readonly:
            return False
    return False


def placed(entry: Fixed | Run) -> Atom:
    """Where a dimension of the base is entered: a variable if only running tells."""
    return entry.at if isinstance(entry, Fixed) else entry.start


def placed_at(entry: Fixed | Run, at: Atom) -> Fixed | Run:
    """The same for a dimension that is entered at `at`."""
    return Fixed(at) if isinstance(entry, Fixed) else Run(entry.axis, at, entry.step)


def viewed(data: Any, a: Array) -> Any:
    """The part of `data` that the view `a` shows; None where it is staged which that is."""
    assert a.axes is not None
    picked: list[Any] = []
    kept: list[int] = []
    for entry in a.axes:
        begin = placed(entry)
        if not isinstance(begin, Lit):
            return None
        if isinstance(entry, Fixed):
            picked.append(begin.value)
        else:
            start = int(begin.value or 0)
            stop = start + entry.step * a.shape[entry.axis]
            picked.append(slice(start, None if stop < 0 else stop, entry.step))
            kept.append(entry.axis)
    shown = data[tuple(picked)]
    order = sorted(range(len(kept)), key=lambda k: kept[k])
    return np.transpose(shown, order).reshape(a.shape)
