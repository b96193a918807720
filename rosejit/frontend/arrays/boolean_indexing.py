"""Stages what masks pick: how many elements that is only running tells, so that they stay where they are."""

# Values of users are of any type: what they are is asked while staging.

import operator
from collections.abc import Callable
from functools import partial
from math import inf, prod
from typing import Any, NoReturn

from rosejit.errors import ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import check_writable, store, variable
from rosejit.frontend.arrays.array import Array, content, fresh
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.basic_indexing import part_of, steps_of
from rosejit.frontend.arrays.broadcast import broadcast_map, broadcast_shape, converted, power_of_elements
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.arrays.setitem_cast import assigned, fitting
from rosejit.frontend.values.scalars import ATOMS, P, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Block, Failure, If, Lit
from rosejit.ir.types import BOOL, INT, REAL, Scalar

Make = Callable[..., Any]


def is_mask(item: Any) -> bool:
    """Whether an item of an index is a mask; those that staging knows have become integers."""
    return item.__class__ is Array and item.type is BOOL and bool(item.shape)


class MaskedArray:
    """`x[mask]` with a staged mask: the elements of `x` where `mask` holds, of which nobody knows yet how many.

    Functions of elements, reductions, products of two and `y[mask] = ...` work; what needs the length as a shape, or
    the place of an element, is refused.
    """

    __array_ufunc__ = None
    __slots__ = ("before", "mask", "origin", "values")

    def __init__(self, values: Array, mask: Array, before: int, origin: Any) -> None:
        self.values = values
        self.mask = mask
        self.before = before
        """How many dimensions lie before those that the mask is about."""
        self.origin = origin
        """The mask itself, which so stays alive, and what tells it from others: whose it is, and what it held."""

    @property
    def tape(self) -> Tape:
        """The tape of the array."""
        return self.values.tape

    def refuse(self, what: str) -> NoReturn:
        """Raise for a use that needs to know how many elements there are."""
        raise self.tape.type_fault(
            f"{what} needs the number of elements that a staged mask picks, which only running tells",
            "keep the shape with `np.where(mask, x, 0.0)`; sums, means, extremes and `y[mask] = ...` work; in a fit "
            "rows may be multiplied by the mask (`w=mask` of `np.polyfit`)",
        )

    @property
    def leaf(self) -> NoReturn:
        """What it would be at the border of a function."""
        self.refuse("an argument, a result or a member of a list")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(f"`.{name}`")

    def __len__(self) -> int:
        self.refuse("`len`")

    def __iter__(self) -> Any:
        self.refuse("a loop over the elements")

    def __getitem__(self, index: Any) -> Any:
        self.refuse("an index")

    def __setitem__(self, index: Any, value: Any) -> None:
        self.refuse("an index")

    # --- reductions

    def total(self, axis: Any = None) -> Any:
        """The sum."""
        return self._reduced(reductions.total, "sum", axis)

    def product(self, axis: Any = None) -> Any:
        """The product."""
        return self._reduced(reductions.product, "prod", axis)

    def mean(self, axis: Any = None) -> Any:
        """The mean; NaN of no elements."""
        return self._reduced(reductions.mean, "mean", axis)

    def _reduced(self, fold: Make, name: str, axis: Any) -> Any:
        """Of all elements, or along the axis whose length nobody knows."""
        if axis is not None and (self.mask.ndim > 1 or axis not in (self.before, self.before - self.values.ndim)):
            self.refuse(f"`{name}` along another axis")
        return fold(self.values, axis=axis, where=_over(self))

    def extreme(self, name: str, axis: Any = None, initial: Any = None) -> Any:
        """The largest or smallest, or `initial`; of no elements an error when it runs, as in NumPy."""
        if self.values.type is not REAL:
            self.refuse(f"`{name}` of elements that are no reals")
        if initial is None:
            initial = inf if name == "min" else -inf
            what = f"zero-size array to reduction operation {name}imum which has no identity"
            failure = Failure("shape", what, self.tape.here(), help="give `initial`, or test before")
            self.tape.check((reductions.total(self.mask) > 0).atom, failure)
        return self._reduced(partial(reductions.extreme, name=name, initial=initial), name, axis)

    def dot(self, b: Any) -> Any:
        """The sum of products with what the same mask picked; with a number the products."""
        if b.__class__ is not MaskedArray:
            return applied(operator.mul, self, b)
        if self.dimensions != 1 or b.dimensions != 1:
            self.refuse("a product of matrices")
        return applied(operator.mul, self, b).total()

    # --- what it is

    @property
    def dimensions(self) -> int:
        """How many dimensions it has: those of the mask are one."""
        return self.values.ndim - self.mask.ndim + 1

    @property
    def lengths(self) -> tuple[Any, ...]:
        """Its shape, in which the number of elements that the mask picks is a staged Int."""
        shape, after = self.values.shape, self.before + self.mask.ndim
        return (*shape[: self.before], reductions.total(self.mask), *shape[after:])


def every(picked: MaskedArray) -> Any:
    """`np.all` of all elements."""
    return _quantified(picked, reductions.every, True)


def some(picked: MaskedArray) -> Any:
    """`np.any` of all elements."""
    return _quantified(picked, reductions.some, False)


def _quantified(picked: MaskedArray, fold: Make, neutral: bool) -> Any:
    flags = converted(picked.values, BOOL)
    return fold(broadcast_map(picked.tape, chosen, _over(picked), flags, neutral))


def variance(picked: MaskedArray, ddof: float = 0) -> Any:
    """`np.var` of all elements; NaN of none."""
    apart: Any = applied(operator.sub, picked, picked.mean())
    return applied(operator.mul, apart, apart).total() / (_count(picked) - ddof)


def deviation(picked: MaskedArray, ddof: float = 0) -> Any:
    """`np.std` of all elements."""
    return P["sqrt"].__call__(variance(picked, ddof))


def count_nonzero(picked: MaskedArray) -> Any:
    """`np.count_nonzero`."""
    return applied(lambda x: x != 0, picked).total()


def _count(picked: MaskedArray) -> Any:
    """How many elements there are, as a staged Int."""
    return prod(picked.lengths)


def flat(picked: MaskedArray) -> MaskedArray:
    """The same in one dimension."""
    return picked if picked.dimensions == 1 else picked.refuse("another shape")


def applied(make: Make, *operands: Any) -> MaskedArray:
    """A function of the elements of selections by one mask and of numbers: it runs where the mask holds."""
    first = next(operand for operand in operands if operand.__class__ is MaskedArray)
    for operand in operands:
        if operand.__class__ is Array and operand.shape:
            first.refuse("arithmetic with a whole array")
        if operand.__class__ is MaskedArray and operand.origin[1] != first.origin[1]:
            _require_same(operand.mask, first.mask)
    plain = [operand.values if operand.__class__ is MaskedArray else operand for operand in operands]
    tape = first.tape
    made = broadcast_map(tape, lambda keep, *xs: _guarded(tape, make, keep, xs), _over(first), *plain)
    return MaskedArray(made, first.mask, first.before, first.origin)


def _origin(mask: Array) -> Any:
    return id(mask.box), mask.axes, id(content(mask.tape, mask.box))


def _over(picked: MaskedArray) -> Array:
    """The mask with an axis of length 1 for each dimension that it is not about."""
    return _placed(picked.mask, picked.before, picked.values.ndim - picked.mask.ndim - picked.before)


def _guarded(tape: Tape, make: Make, keep: Any, xs: tuple[Any, ...]) -> Any:
    """`make(*xs)` where `keep` holds, else zero; not computed there, so that it spoils no derivative."""
    with tape.block() as lets:
        value = make(*xs)
        kind = type_of(value)
        if kind is None:
            words = f"what a staged mask picks is combined with real numbers, given {type(value).__name__}"
            raise tape.type_fault(words, "combine first, and pick from the parts")
        atom = ATOMS[kind](tape, value)
        assert atom is not None
    zeros: dict[Scalar, Any] = {INT: 0, BOOL: False}
    other = Block([], (Lit(zeros.get(kind, 0.0), kind),))
    return wrap(tape, tape.bind(If(keep.atom, Block(lets, (atom,)), other), kind))


# --- reading and writing


def select(a: Array, items: list[Any]) -> MaskedArray:
    """`a[mask]`."""
    target, mask, at = _target(a, items)
    values, kept = (fresh(a.tape, variable(x)) for x in (target, mask))
    return MaskedArray(values, kept, at, (mask, _origin(mask)))


def refuse_no_array(tape: Tape, what: str, value: Any) -> NoReturn:
    """Raise for `what` takes an array, and is given none."""
    if value.__class__ is MaskedArray:
        value.refuse(what)
    raise tape.type_fault(f"{what} takes an array, given {type(value).__name__}")


def _target(a: Array, items: list[Any]) -> tuple[Array, Array, int]:
    """The part of an array that slices show, the mask that goes with them, and how many dimensions lie before it."""
    at = next(k for k, item in enumerate(items) if is_mask(item))
    mask = items[at]
    if any(not isinstance(item, slice) for item in (*items[:at], *items[at + 1 :])):
        raise a.tape.type_fault("a staged mask goes with slices only", "index in two steps: `x[:, 1][mask]`")
    steps, shape = steps_of(a, [*items[:at], *[slice(None)] * mask.ndim, *items[at + 1 :]])
    target = part_of(a, steps, shape)
    if shape[at : at + mask.ndim] != mask.shape:
        raise a.tape.fault(ShapeError, f"a mask of shape {mask.shape} does not fit the shape {shape}")
    return target, mask, at


def replace(a: Array, items: list[Any], value: Any) -> None:
    """`a[mask] = value`: one number, a row for all, or what the same mask picked."""
    tape = a.tape
    check_writable(a)
    target, mask, at = _target(a, items)
    shape = target.shape
    if value.__class__ is MaskedArray:
        value = _of_same_mask(value, mask, shape)
    else:
        value = _for_each(a, value, shape[at + mask.ndim :])
    wide = _placed(mask, at, len(shape) - at - mask.ndim)
    store(target, assigned(target, broadcast_map(tape, chosen, wide, value, target)))


def _for_each(a: Array, value: Any, rest: tuple[int, ...]) -> Any:
    """A number, or a row of the shape `rest`, that goes wherever the mask holds."""
    given: Any = value if type_of(value) is not None else as_array(a.tape, value)
    if given.__class__ is Array and (given.ndim > len(rest) or broadcast_shape(a.tape, (given,), rest) != rest):
        raise a.tape.type_fault(
            "an array with a value for each element that a staged mask picks: how many only running tells",
            "keep the shape: `y = np.where(mask, values, y)` with values for all elements, or `y[mask] = x[mask]`",
        )
    return fitting(a.tape, a.type, rest, value)


def _of_same_mask(value: MaskedArray, mask: Array, shape: tuple[int, ...]) -> Array:
    if value.values.shape != shape:
        value.refuse("an assignment to an array of another shape")
    if value.origin[1] != _origin(mask):
        _require_same(value.mask, mask)
    return value.values


def _require_same(a: Array, b: Array) -> None:
    """Fail at run time unless two masks pick the same elements: only those can be lined up without counting."""
    tape = a.tape
    if a.shape != b.shape:
        raise tape.fault(ShapeError, f"masks of shapes {a.shape} and {b.shape} pick different elements")
    same = reductions.every(broadcast_map(tape, operator.eq, a, b))
    what = "two staged masks pick different elements, which cannot be lined up"
    tape.check(same.atom, Failure("shape", what, tape.here(), help="pick both with one mask"))


def _placed(mask: Array, before: int, after: int) -> Array:
    steps, shape = steps_of(mask, [*[None] * before, *[slice(None)] * mask.ndim, *[None] * after])
    return part_of(mask, steps, shape)


def _install() -> None:
    def forward(op: Make) -> Make:
        return lambda self, other: applied(op, self, other)

    def reverse(op: Make) -> Make:
        return lambda self, other: applied(op, other, self)

    names = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    for name in names:
        op = power_of_elements if name == "pow" else getattr(operator, name)
        setattr(MaskedArray, f"__{name}__", forward(op))
        setattr(MaskedArray, f"__r{name}__", reverse(op))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(MaskedArray, f"__{name}__", forward(getattr(operator, name)))
    for name, op in (("neg", operator.neg), ("pos", operator.pos), ("abs", abs)):
        setattr(MaskedArray, f"__{name}__", lambda self, op=op: applied(op, self))
    MaskedArray.__hash__ = object.__hash__
    properties = {"size": _count, "shape": operator.attrgetter("lengths"), "T": flat}
    for name, read in (properties | {"ndim": operator.attrgetter("dimensions")}).items():
        setattr(MaskedArray, name, property(read))
    MaskedArray.__matmul__ = MaskedArray.dot  # pyright: ignore[reportAttributeAccessIssue]  # installed as the others


_install()
