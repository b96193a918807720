"""Resolves `a[...]` as NumPy does: to an element, to a view, or to an error at the user's line."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any, NoReturn

from rosejit.errors import RoseIndexError, ShapeError
from rosejit.frontend.arrays import Anchor, Array, Axes, Fixed, Host, Run, atom_of, content, fresh, host_data, of_host
from rosejit.frontend.elementwise import broadcast_shape
from rosejit.frontend.host import number_kind
from rosejit.frontend.making import as_array
from rosejit.frontend.tape import Tape
from rosejit.frontend.values import ATOMS, Int, P, tan_atom, type_of, wrap
from rosejit.frontend.views import (
    along,
    base,
    base_lengths,
    build,
    check_writable,
    element,
    is_prefix,
    number,
    owned,
    path,
    put,
    store,
    variable,
)
from rosejit.ir.failure import index_failure
from rosejit.ir.syntax import Atom, Index, Lit, Var
from rosejit.ir.types import INT, REAL, TAN, Scalar, array
from rosejit.numeric import np

Step = Fixed | Run | None
"""What an index does to one dimension: fix it, run along it (`axis` is set later), or insert one of length 1."""


def get(a: Array, index: Any) -> Any:
    """`a[index]`."""
    indices: Any = index if index.__class__ is tuple else (index,)
    if a.axes is None and len(indices) == len(a.shape) and _NUMBERS.issuperset(map(type, indices)):
        return _element_of(a, indices)
    known = host_data(a) if is_known(index) else None
    if known is not None:
        return _host_get(a, known, index)
    items = _expanded(a, index)
    if any(is_list(item) for item in items):
        return gather(a, items)
    steps, shape = _steps(a, items)
    return _view(a, steps, shape)


_NUMBERS = frozenset({int, Int})


def _element_of(a: Array, indices: tuple[Any, ...]) -> Any:
    """One element of a whole array: the most frequent access."""
    held = content(a.tape, a.box)
    if held.__class__ is Host:
        known = None if Int in map(type, indices) else host_data(a)
        if known is not None:
            return _host_get(a, known, indices)
        held = atom_of(a.tape, a.box)
    at = tuple([_single(a, k, dimension) for dimension, k in enumerate(indices)])
    return number(a.tape, a.tape.bind(Index(held, at, checked=Int in map(type, indices)), a.type))


def set_(a: Array, index: Any, value: Any) -> None:
    """`a[index] = value`."""
    tape = a.tape
    check_writable(a)
    held = content(tape, a.box)
    if held.__class__ is Host and tape.frame.contents.get(a.box) is held and is_known(index) and is_known(value):
        data = held.data if a.axes is None else None
        if data is not None:
            _host_set(a, data, index, value)
            return
    steps, shape = _steps(a, _expanded(a, index))
    target = _part(a, steps, shape)
    if _is_itself(target, value):
        return
    staged = any(isinstance(step, Fixed) and isinstance(step.at, Var) for step in steps)
    checks = staged and _direct(a) and is_prefix(target) is not None
    if staged and not checks:
        _check(a, steps)
    store(target, assigned(target, value), checks)


def _is_itself(target: Array, value: Any) -> bool:
    """`a[i] += v` ends with `a[i] = a[i]` when `a[i]` is an array: there is nothing left to do."""
    return value.__class__ is Array and value.box is target.box and value.axes == target.axes


def is_known(value: Any) -> bool:
    """Whether an index or a value has nothing staged in it."""
    if isinstance(value, tuple):
        items: Any = value
        return all(is_known(item) for item in items)
    if isinstance(value, slice):
        return all(is_known(part) for part in (value.start, value.stop, value.step))
    if value.__class__ is Array:
        return host_data(value) is not None
    return not hasattr(value, "leaf")


def is_list(item: Any) -> bool:
    """Whether an index picks several elements."""
    return item.__class__ is Array or isinstance(item, (list, np.ndarray))


def _plain(value: Any) -> Any:
    """An index or value with arrays as NumPy's."""
    if isinstance(value, tuple):
        items: Any = value
        return tuple(_plain(item) for item in items)
    return host_data(value) if value.__class__ is Array else value


def _host_get(a: Array, data: Any, index: Any) -> Any:
    try:
        found = data[_plain(index)]
    except IndexError as error:
        raise a.tape.fault(RoseIndexError, str(error)) from None
    if isinstance(found, np.ndarray):
        simple = not any(is_list(item) for item in (index if isinstance(index, tuple) else (index,)))
        if simple:
            steps, shape = _steps(a, _expanded(a, index))
            return _view(a, steps, shape)
        return of_host(a.tape, found.copy())
    return found.item()


def _host_set(a: Array, data: Any, index: Any, value: Any) -> None:
    new = _plain(value)
    if data.dtype.kind != "f" and np.asarray(new).dtype.kind not in (data.dtype.kind, "b"):
        _refuse_kind(a.tape, a, new)
    try:
        data[_plain(index)] = new
    except IndexError as error:
        raise a.tape.fault(RoseIndexError, str(error)) from None
    put(a, content(a.tape, a.box))


def _refuse_kind(tape: Tape, a: Array, value: Any) -> None:
    raise tape.type_fault(f"an array of {a.type}s cannot hold {value!r}", "make the array one of floats")


# --- what an index does


def _expanded(a: Array, index: Any) -> list[Any]:
    """One item for each dimension, and None for each new one."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(1 for item in items if item is not None and item is not Ellipsis)
    if used > a.ndim:
        raise a.tape.fault(
            RoseIndexError,
            f"`{a.box.name}` has {a.ndim} dimension{'s' * (a.ndim != 1)}, and is indexed with {used}",
            facts=(f"its shape is {a.shape}",),
        )
    missing: list[Any] = [slice(None)] * (a.ndim - used)
    if Ellipsis in [item for item in items if item is Ellipsis]:
        at = next(k for k, item in enumerate(items) if item is Ellipsis)
        return [*items[:at], *missing, *items[at + 1 :]]
    return [*items, *missing]


def _steps(a: Array, items: list[Any]) -> tuple[list[Step], tuple[int, ...]]:
    """What each item does, and the shape that comes out."""
    steps: list[Step] = []
    shape: list[int] = []
    dimension = 0
    for item in items:
        if item is None:
            steps.append(None)
            shape.append(1)
            continue
        length = a.shape[dimension]
        if isinstance(item, slice):
            start, stop, step = _slice(a.tape, item, length)
            count = len(range(start, stop, step))
            steps.append(Run(len(shape), start, step))
            shape.append(count)
        else:
            steps.append(Fixed(_single(a, item, dimension)))
        dimension += 1
    return steps, tuple(shape)


def _slice(tape: Tape, item: slice, length: int) -> tuple[int, int, int]:
    for bound in (item.start, item.stop, item.step):
        if hasattr(bound, "leaf"):
            raise tape.type_fault(
                "the bounds of a slice must be known while staging: they decide the shape",
                "loop over the elements with `rose.range`, or make the bound `rose.Static`",
            )
    return item.indices(length)


def _single(a: Array, item: Any, dimension: int) -> Atom:
    """An index in range: known now, or checked at run time. Negative ones count from the end."""
    tape, length = a.tape, a.shape[dimension]
    if number_kind(item) == "int":
        k = int(item)
        if not -length <= k < length:
            facts = (f"the shape of `{a.box.name}` is {a.shape}",)
            raise tape.fault(RoseIndexError, f"index {k} is out of range for length {length}", facts=facts)
        return Lit(k % length, INT)
    if item.__class__ is not Int:
        shown = getattr(type(item), "__name__", "object")
        raise tape.type_fault(f"an array is indexed with integers and slices, given {shown}", "convert with `int(...)`")
    atom: Atom = item.atom
    if item.low < 0:
        atom = tape.apply(P["wrap_index"], atom, Lit(length, INT))
    return atom


def _direct(a: Array) -> bool:
    """Whether an access checks the indices by itself: every dimension of the view is one of the base, whole."""
    if a.axes is None:
        return True
    runs = [(entry, n) for entry, n in zip(a.axes, base_lengths(a), strict=True) if isinstance(entry, Run)]
    return len(runs) == a.ndim and all((e.start, e.step) == (0, 1) and a.shape[e.axis] == n for e, n in runs)


def _view(a: Array, steps: list[Step], shape: tuple[int, ...]) -> Any:
    """The element or the view that `steps` pick; staged indices are checked here, as in NumPy."""
    tape = a.tape
    staged = any(isinstance(step, Fixed) and isinstance(step.at, Var) for step in steps)
    if not shape and None not in steps and _direct(a):
        indices = tuple(step.at for step in steps if isinstance(step, Fixed))
        var, axes = base(a)
        return number(tape, tape.bind(Index(var, path(a, axes, indices), checked=staged), a.type))
    part = _part(a, steps, shape)
    if staged and _direct(a) and shape and is_prefix(part) is not None:
        _anchor(part)
    elif staged:
        _check(a, steps)
    return part if shape or None in steps else number(tape, element(part, ()))


def _anchor(part: Array) -> None:
    """Bind the row that `part` is: that checks the indices, and reads of the row start there."""
    var, axes = base(part)
    at = tuple(entry.at for entry in axes if isinstance(entry, Fixed))
    row = part.tape.bind(Index(var, at), array(part.shape, part.type), "row")
    fixed = is_prefix(part)
    assert fixed is not None
    part.anchor = Anchor(atom_of(part.tape, part.box), row, fixed, part.tape.frame)


def _part(a: Array, steps: list[Step], shape: tuple[int, ...]) -> Array:
    """The view that `steps` show."""
    dims = [step for step in steps if step is not None]
    own: Axes = tuple(Run(k) for k in range(a.ndim)) if a.axes is None else a.axes
    made = Array(a.tape, a.box, shape, a.type, tuple(_composed(a.tape, entry, dims) for entry in own))
    made.anchor = a.anchor
    return made


def _composed(tape: Tape, entry: Fixed | Run, dims: list[Fixed | Run]) -> Fixed | Run:
    if isinstance(entry, Fixed):
        return entry
    step = dims[entry.axis]
    if isinstance(step, Fixed):
        return Fixed(along(tape, entry.start, entry.step, step.at))
    return Run(step.axis, entry.start + entry.step * step.start, entry.step * step.step)


def _check(a: Array, steps: list[Step]) -> None:
    """Check the staged indices against the shape that the user sees."""
    tape = a.tape
    dims = [step for step in steps if step is not None]
    for length, step in zip(a.shape, dims, strict=True):
        if isinstance(step, Fixed) and isinstance(step.at, Var):
            low = tape.apply(P["ige"], step.at, Lit(0, INT))
            high = tape.apply(P["ilt"], step.at, Lit(length, INT))
            tape.check(tape.apply(P["and"], low, high), index_failure(tape.here()), step.at, Lit(length, INT))


# --- what is stored, and what is picked


def assigned(target: Array, value: Any) -> Atom:
    """`value` as what can be stored in `target`: a number for an element, else an array of its shape and kind."""
    tape = target.tape
    if isinstance(value, (list, tuple, np.ndarray)):
        value = as_array(tape, value)
    kind = value.type if value.__class__ is Array else type_of(value)
    if kind is None or not (
        _fits(kind, target.type)
        or (value.__class__ is not Array and target.type is TAN and tan_atom(tape, value) is not None)
    ):
        _refuse_value(target, type(value).__name__ if kind is None else _SHOWN.get(kind, str(kind)))
    if value.__class__ is not Array:
        return _repeated(target, value)
    if broadcast_shape(tape, (target, value)) != target.shape:
        raise tape.fault(ShapeError, f"an array of shape {value.shape} does not fit into the shape {target.shape}")
    if value.shape != target.shape or value.type is not target.type:
        return _spread(target, value)
    if not target.shape:
        return element(value, ())
    return owned(value) if is_prefix(target) == 0 else variable(value)


_SHOWN: dict[Scalar, str] = {TAN: "tangent"}
_MAKE = {TAN: "make it an array of tangents: `np.zeros_like(x.du)`", INT: "make the array one of floats: `np.zeros(n)`"}


def _refuse_value(target: Array, shown: str) -> NoReturn:
    help = _MAKE.get(TAN if shown == "tangent" else target.type)
    kind = _SHOWN.get(target.type, str(target.type))
    raise target.tape.type_fault(f"an array of {kind}s cannot hold a {shown}", help)


def _fits(kind: Scalar, wanted: Scalar) -> bool:
    """Whether elements of one type can be stored as the other: Ints widen to Reals."""
    return kind is wanted or (wanted is REAL and kind is INT)


def _converted(target: Array, value: Any) -> Atom:
    atom = ATOMS[target.type](target.tape, value)
    assert atom is not None
    return atom


def _repeated(target: Array, value: Any) -> Atom:
    """A number, or an array of it."""
    atom = _converted(target, value)
    return build(target.tape, target.shape, target.type, lambda indices: atom)


def _spread(target: Array, value: Array) -> Atom:
    """An array that is converted, or repeated along dimensions of length 1."""
    tape = target.tape
    atom_of(tape, value.box)

    def make(indices: tuple[Atom, ...]) -> Atom:
        own = indices[len(indices) - value.ndim :]
        at = tuple(Lit(0, INT) if n == 1 else k for n, k in zip(value.shape, own, strict=True))
        return _converted(target, wrap(tape, element(value, at)))

    return build(tape, target.shape, target.type, make)


def gather(a: Array, items: list[Any]) -> Array:
    """`a[k]` with an array of integers `k`: the elements (or rows) at those indices, in a new array."""
    tape = a.tape
    picks = as_array(tape, items[0])
    rest = items[1:]
    if picks is None or picks.type is not INT or any(item != slice(None) for item in rest):
        raise tape.type_fault(
            "only an array of integers can pick elements, and only along the first dimension",
            "for a mask use `np.where`; for other dimensions loop with `rose.range`",
        )
    var = variable(a)

    def make(indices: tuple[Atom, ...]) -> Atom:
        at = wrap(tape, element(picks, indices[: picks.ndim]))
        index = tape.apply(P["wrap_index"], at.atom, Lit(a.shape[0], INT))
        return tape.bind(Index(var, (index, *indices[picks.ndim :])), a.type)

    atom_of(tape, picks.box)
    made = build(tape, picks.shape + a.shape[1:], a.type, make)
    assert isinstance(made, Var)
    return fresh(tape, made)
