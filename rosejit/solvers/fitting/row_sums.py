"""`sum_over`: a function of some rows to its sum over all of them, block by block, with its derivatives.

What transforms make of such a sum is the sum of what they make of the function: derivatives are linear.
"""

import builtins
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api.batching.vmap import vmap
from rosejit.api.decorators import as_function
from rosejit.api.derivation.checkpoints import checkpoint
from rosejit.api.function import Function
from rosejit.api.public_entry import public
from rosejit.api.sessions import session
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.hints.hints import ArrayOf, Scalar
from rosejit.frontend.session.session import Session
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.frontend.values.rose_functions import range as staged_range
from rosejit.numeric import np

Map = Callable[..., Iterable[Any]]


@public
def sum_over(
    f: Callable[..., Any],
    over: str | int | tuple[str | int, ...],
    rows: int = 100_000,
    threads: int = 1,
    map: Map | None = None,
) -> "SumOver":
    """The sum of `f` over the rows of some of its arguments, `rows` at a time: memory does not grow with their number.

    `f(.., x, y)` gives, of a block of rows, their sum: a number, or a structure of numbers and arrays, of a shape that
    does not depend on the number of rows (`ShapeError`). An argument whose hint has one dimension less than the data is
    one row, and `f` is then called with single rows. `over` names those arguments. Each is something with a
    length and slices (arrays, memory maps, arrays of h5py or Zarr), all of one length, or an iterator of blocks.

    `rose.grad`, `value_and_grad`, `hvp`, `hessian` and the Jacobians of the sum, with respect to the other arguments,
    are sums over blocks too. Blocks run on `threads` threads, or by `map`: any function that is called as Python's, an
    executor's or Dask's `client.map`; what it gives may be futures. The order of additions is that of the rows, always.
    In staged code the sum is a loop, of which reverse mode keeps nothing but the arguments.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> def squares(w: float, x: rose.Vec["n"], y: rose.Vec["n"]) -> float:
    ...     return ((w * x - y) ** 2).sum()
    >>> total = rose.sum_over(squares, over=("x", "y"), rows=2)
    >>> rose.value_and_grad(total)(2.0, np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    (35.0, 44.0)
    """
    base = as_function(f)
    names = tuple(base.__signature__.parameters)
    wanted = over if isinstance(over, (tuple, list)) else (over,)
    places = tuple([_place(base, names, each) for each in wanted])
    if not places:
        raise StagingTypeError("`sum_over` needs the name of an argument that has rows", help='give `over=("x",)`')
    for what, number in (("rows", rows), ("threads", threads)):
        if not isinstance(number, int) or number < 1:
            raise StagingTypeError(f"`sum_over` takes `{what}` as a whole number from 1, given {number!r}")
    how: Any = map if map is not None else _OnThreads(threads) if threads > 1 else builtins.map
    return SumOver(base, places, rows, how)


def _place(base: Function, names: tuple[str, ...], each: Any) -> int:
    if isinstance(each, int) and -len(names) <= each < len(names):
        return each % len(names)
    if each in names:
        return names.index(each)
    raise StagingTypeError(
        f"`{base.__name__}` has no argument {each!r} to be summed over",
        facts=(f"its arguments are {', '.join(f'`{name}`' for name in names)}",),
    )


class SumOver:
    """A sum over rows: called as the function is, with all rows. Transforms of it are sums over rows."""

    __rose_additive__ = True

    def __init__(self, base: Function, places: tuple[int, ...], rows: int, how: Callable[..., Iterable[Any]]) -> None:
        self.base, self.places, self.rows, self.how = base, places, rows, how
        self.steps: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = ()
        self.blocks: dict[bool, Callable[..., Any]] = {}
        self.sums: set[Any] = set()
        """The keys of the calls whose results are known to be sums."""
        self.__name__ = f"sum_over_{base.__name__}"
        self.__doc__ = base.__doc__
        self.__signature__ = base.__signature__

    def __repr__(self) -> str:
        names = list(self.base.__signature__.parameters)
        over = ", ".join([names[k] for k in self.places])
        what = " of ".join([*[step.__name__ for step, _ in reversed(self.steps)], self.base.__name__])
        return f"<sum of {what} over {over}, {self.rows:,} rows at a time>"

    def derived(self, transform: Callable[..., Any], *arguments: Any) -> "SumOver":
        """The sum of what `transform` makes of the function."""
        name = transform.__name__
        if self._is_product:
            raise StagingTypeError(f"`{name}` of the product with the Hessian of a sum over rows is not there")
        argnums = arguments[0] if arguments else 0
        names = tuple(self.base.__signature__.parameters)
        wanted = argnums if isinstance(argnums, tuple) else (argnums,)
        found = tuple([_place(self.base, names, each) for each in wanted])
        for each, place in zip(wanted, found, strict=True):
            if place in self.places:
                raise StagingTypeError(
                    f"`{name}` of a sum over rows is not taken with respect to the rows: argument {each!r}",
                    help="differentiate with respect to another argument: see `argnums`",
                )
        made = SumOver(self.base, self.places, self.rows, self.how)
        if arguments:  # by position: what a block is made of has no names
            arguments = (found if isinstance(argnums, tuple) else found[0], *arguments[1:])
        made.steps = (*self.steps, (transform, arguments))
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The sum, on the host: the arguments are those of the function."""
        given, places = self._arguments(args, kwargs)
        block = self._of_block(given, places)
        total: Any = None
        blocks = self._of_sums(given, places, _blocks(given, places, self.rows))
        for found in self.how(_Task(block, tuple(given), tuple(places)), blocks):
            result = found.result() if hasattr(found, "result") else found
            total = result if total is None else added(total, result)
        return total

    def __rose_stage__(self, at: Session, args: Any, kwargs: Any) -> Any:
        given, places = self._arguments(args, kwargs)
        first = tuple([given[place][: self.rows] for place in places])
        self._require_sums(_replaced(given, places, first), at)
        looped = _staged_sum(checkpoint(self._of_block(given, places)), given, places, self.rows)
        return as_function(looped).__rose_stage__(at, tuple(given), {})

    @property
    def _is_product(self) -> bool:
        return bool(self.steps) and self.steps[-1][0].__name__ == "hvp"

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[int]]:
        """All by position, and the positions of those that have rows."""
        signature = self.base.__signature__
        if self._is_product:
            if kwargs or len(args) < 2:
                raise StagingTypeError("the product with a Hessian is called `(x, v, *rest)`, all by position")
            x, v, *rest = args
            bound = signature.bind(x, *rest)
            bound.apply_defaults()
            first, *others = bound.args
            return [first, v, *others], [k + 1 for k in self.places]
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise StagingTypeError("a sum over rows has no keyword-only arguments", help="move them before the `*`")
        return list(bound.args), list(self.places)

    def _of_sums(
        self, given: list[Any], places: list[int], blocks: Iterator[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """The blocks, each number of rows looked at before the function is called with it."""
        lengths: set[int] = set()
        for rows in blocks:
            if len(rows[0]) not in lengths:
                lengths.add(len(rows[0]))
                with session() as at:
                    self._require_sums(_replaced(given, places, rows), at)
            yield rows

    def _require_sums(self, given: list[Any], at: Session) -> None:
        """Refuse a function whose result has a length that is the number of rows: with one more it has another."""
        if self._is_product:
            del given[1]
        if any([_is_one_row(self.base, k, given[k]) for k in self.places]):
            return
        call = self.base.binding.bind(tuple(given), {})
        if call.key in self.sums:
            return
        rows = given[self.places[0]].shape[0]
        found = self.base.specialisation(call, at).staged.result
        if _may_have_rows(found, rows):
            longer = [np.zeros((rows + 1, *given[k].shape[1:]), dtype=given[k].dtype) for k in self.places]
            other = self.base.binding.bind(tuple(_replaced(given, self.places, longer)), {})
            if self.base.specialisation(other, at).staged.result != found:
                raise _no_sum(self.base, found)
        self.sums.add(call.key)

    def _of_block(self, given: list[Any], places: list[int]) -> Callable[..., Any]:
        """The function of a block of rows; of single rows their loop."""
        single = any([_is_one_row(self.base, k, given[place]) for k, place in zip(self.places, places, strict=True)])
        if single not in self.blocks:
            self.blocks[single] = self._made_of_block(single)
        return self.blocks[single]

    def _made_of_block(self, single: bool) -> Callable[..., Any]:
        summed: Any = self.base
        if single:
            count = len(self.base.__signature__.parameters)
            batch = vmap(self.base, in_axes=tuple([0 if k in self.places else None for k in range(count)]))

            def of_rows(*args):
                return _along_rows(batch(*args))

            summed = as_function(of_rows)
        for transform, arguments in self.steps:
            summed = transform(summed, *arguments)
        return summed


def _is_one_row(base: Function, place: int, value: Any) -> bool:
    """Whether the hint of an argument is that of one row of the data."""
    description = base.binding.parameters[place].description
    if isinstance(description, Scalar):
        return True
    if not isinstance(description, ArrayOf) or description.dims is None or any(d.many for d in description.dims):
        return False
    rank = len(getattr(value, "shape", ())) if not hasattr(value, "__next__") else None
    return rank is not None and len(description.dims) == rank - 1


def _may_have_rows(tree: Tree, rows: int) -> bool:
    """Whether some length of a result is `rows`."""
    if isinstance(tree, Leaf):
        return rows in tree.shape
    parts_of_it = tree.children if isinstance(tree, Node) else ()
    return len(parts_of_it) == rows or any([_may_have_rows(part, rows) for part in parts_of_it])


def _no_sum(base: Function, result: Tree) -> ShapeError:
    shapes = ", ".join([str(leaf.shape) if leaf.shape else leaf.kind for leaf in leaves(result)])
    return ShapeError(
        f"`{base.__name__}` gives a value for each row, where `sum_over` needs the sum over the rows it is given",
        facts=(f"its result has the shape {shapes}, and another one for one row more",),
        help="return the sum over the rows (`.sum()`), or hint the argument as one row",
    )


def _along_rows(value: Any) -> Any:
    inside = parts(value)
    if inside is not None:
        return with_parts(value, [_along_rows(part) for part in inside])
    return value.sum(axis=0)


def added(one: Any, other: Any) -> Any:
    """The sum of two structures of numbers."""
    inside = parts(one)
    if inside is None:
        if np.shape(one) != np.shape(other):
            raise ShapeError(
                f"the sums of two blocks of rows have the shapes {np.shape(one)} and {np.shape(other)}",
                help="return the sum over the rows (`.sum()`), or hint the argument as one row",
            )
        return one if one is None or isinstance(one, (bool, str)) else one + other
    return with_parts(one, [added(a, b) for a, b in zip(inside, parts(other) or (), strict=True)])


# --- on the host


class _Task:
    """What a worker runs for each block: the function with the arguments that have no rows."""

    def __init__(self, block: Callable[..., Any], given: tuple[Any, ...], places: tuple[int, ...]) -> None:
        self.block, self.places = block, places
        self.given = tuple([None if k in places else value for k, value in enumerate(given)])

    def __call__(self, rows: tuple[Any, ...]) -> Any:
        return self.block(*_replaced(self.given, self.places, rows))


def _blocks(given: list[Any], places: list[int], rows: int) -> Iterator[tuple[Any, ...]]:
    """The blocks of all arguments that have rows, side by side; one of no rows where there are none."""
    data = [given[place] for place in places]
    flowing = [hasattr(value, "__next__") for value in data]
    if any(flowing):
        if not all(flowing):
            raise StagingTypeError("either all arguments with rows are iterators of blocks, or none")
        for parts_of_rows in itertools.zip_longest(*data):
            if any(part is None for part in parts_of_rows):
                raise ShapeError("an iterator of blocks ends before those of the other arguments with rows")
            made = tuple([np.asarray(part) for part in parts_of_rows])
            _same_length([len(part) for part in made])
            yield made
        return
    data = [value if hasattr(value, "shape") else np.asarray(value) for value in data]
    if not all(value.shape for value in data):
        raise ShapeError("an argument with rows is one number", help="`over` names the arguments that have rows")
    count = _same_length([len(value) for value in data])
    for start in range(0, count, rows) if count else (0,):
        yield tuple([np.asarray(value[start : start + rows]) for value in data])


def _same_length(lengths: list[int]) -> int:
    if len(set(lengths)) > 1:
        raise ShapeError(f"the arguments of a sum over rows have different numbers of rows: {lengths}")
    return lengths[0]


class _OnThreads:
    """Python's `map`, on threads: as many blocks are in memory as there are threads, and one more."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, task: Callable[..., Any], blocks: Iterator[Any]) -> Iterator[Any]:
        first = next(blocks, None)
        if first is None:
            return
        yield task(first)  # compiles; the others find it ready
        with ThreadPoolExecutor(self.count) as pool:
            running = deque([pool.submit(task, block) for block in itertools.islice(blocks, self.count + 1)])
            while running:
                found = running.popleft().result()
                running.extend([pool.submit(task, block) for block in itertools.islice(blocks, 1)])
                yield found


# --- in staged code


def _staged_sum(block: Callable[..., Any], given: list[Any], places: list[int], rows: int) -> Any:
    """A function to be staged: a loop over whole blocks, and what is left of them."""
    count = _same_length([len(given[place]) for place in places])
    whole = count // rows

    def looped(*given):
        if not whole:
            return block(*_replaced(given, places, [given[k][:] for k in places]))
        blocks = [given[k][: whole * rows].reshape(whole, rows, *given[k].shape[1:]) for k in places]
        total = block(*_replaced(given, places, [b[0] for b in blocks]))
        for k in staged_range(1, whole):
            total = added(total, block(*_replaced(given, places, [b[k] for b in blocks])))
        if count % rows:
            total = added(total, block(*_replaced(given, places, [given[k][whole * rows :] for k in places])))
        return total

    return looped


def _replaced(given: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    found = list(given)
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found
