"""Sparse Jacobians and Hessians as numbers and their places; who asks makes matrices of them (`interop/sparse.py`)."""

# The values are whatever a user's function takes.

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from math import prod
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api import sessions
from rosejit.api.calling.call_interface import interface_of
from rosejit.api.calling.specialisation import Argnums, Staged, is_real, mask_of, positions, require_real, tree_map
from rosejit.api.calling.specialisation_cache import Specialisation, valued
from rosejit.api.derivation.derivation_recipe import source_of
from rosejit.api.derivation.gradients import counted
from rosejit.api.function import Function
from rosejit.api.programs import interpreted
from rosejit.api.programs.compile_and_load import Loaded
from rosejit.errors import StagingTypeError
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.values.pytree import Supply, build
from rosejit.ir.traversal import reachable
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.runtime.marshalling.marshal import Mismatch
from rosejit.runtime.marshalling.marshal import Signature as Interface
from rosejit.transforms.jacobians.coloring import Colours, both_ways, column_colours, sources, star_colours
from rosejit.transforms.jacobians.sparse_program import Limit, Pattern, Rows, pattern, sweeps, unlimited


@dataclass(slots=True, frozen=True)
class Entries:
    """The places of a sparse matrix by rows: row `i` has those from `starts[i]` to `starts[i + 1]` of `columns`, and
    `rows` says it of each. `where` says which of all the sums they are."""

    where: Any
    rows: Any
    columns: Any
    starts: Any
    shape: tuple[int, int]
    kept: dict[str, Any] = field(default_factory=lambda: {})
    """What who asks has made of it."""


@dataclass(slots=True)
class Plan:
    """What a pattern leads to: `colours` of the columns; the matrices that are wanted, and their structure."""

    colours: Any
    count: int
    blocks: list[Entries]
    tree: Tree
    exact: bool
    """Whether the pattern is that of the program; else its analysis gave up, and took every entry."""
    run: Any


_LARGEST_INT32 = (1 << 31) - 1
PLANS = 32
"""So many are remembered: each value of an integer argument may need another."""


class Compressed:
    """The Jacobian of `base` with respect to `argnums`, in as many sweeps as its columns have colours.

    `symmetric`: `base` is the gradient of a function with respect to the same arguments.
    """

    def __init__(self, base: Function, argnums: Argnums, symmetric: bool) -> None:
        self.base = base
        self.argnums = argnums
        self.symmetric = symmetric
        self._plans: dict[Any, tuple[Specialisation, Plan]] = {}
        self._latest: Plan | None = None
        """What served last, if its code alone, which checks arguments, tells whether it serves again."""

    def entries(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Plan, Any]:
        """The plan for these arguments, and for each colour the sums of its columns, one after the other."""
        plan, found = self._latest, None
        if plan is not None and not interpreted.may_be_disabled() and sessions.current() is None:
            try:
                found = plan.run.latest(plan.colours, *args, **kwargs)
            except Mismatch:
                found = None
        if plan is None or found is None:
            plan = self.plan(args, kwargs)
            if not plan.count:
                return plan, np.zeros(0)
            found = plan.run(plan.colours, *args, **kwargs)
        if len(found) == 1:
            return plan, found[0].ravel()
        return plan, np.concatenate([part.reshape(plan.count, -1) for part in found], axis=1).ravel()

    def plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plan:
        """What is done for these arguments: integers among them decide it, real numbers do not."""
        call = self.base.binding.bind(args, kwargs)
        if sessions.current() is not None or sessions.staging_of(call.values) is not None:
            raise StagingTypeError(
                "a sparse matrix is made on the host, and this is staged code",
                help="use `rose.jacobian` or `rose.hessian` inside, or make it outside and hand it in",
            )
        found, values = _known(self.base, call)
        key = (call.key, *_content(values))
        if key not in self._plans or self._plans[key][0] is not found:
            while len(self._plans) >= PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = found, self._made(found, values)
        plan = self._plans[key][1]
        self._latest = plan if plan.count and all(value is None for value in values) else None
        return plan

    def _made(self, found: Specialisation, values: list[Any]) -> Plan:
        staged, selected, mask, found_pattern = _pattern(self.base, self.argnums, found, values)
        rows, columns = found_pattern.rows, _columns(staged.trees, selected)
        height = [leaf for leaf in leaves(staged.result) if is_real(leaf)]
        tree, blocks = self._blocks(staged.trees, staged.result, selected, columns)
        order = [j for start, leaf in columns for j in range(start, start + prod(leaf.shape))]
        if self.symmetric and sorted(order) == list(range(len(rows))) and not _has_rules(found):
            rows, colours, where = _symmetric(rows, order)
        else:
            colours = column_colours(rows, found_pattern.width)
            where = [(colours[j], i) for i, row in enumerate(rows) for j in row]
        count = max(colours, default=-1) + 1 if height else 0
        at, j = _places(rows)
        flat = _flat(where, sum(prod(leaf.shape) for leaf in height))
        run = self._runner(found, mask, count, len(colours)) if count else _nothing
        of_blocks = [_entries(at, j, flat, *block) for block in blocks]
        return Plan(np.array(colours, dtype=np.int64), count, of_blocks, tree, found_pattern.exact, run)

    def _blocks(
        self, trees: tuple[Tree, ...], result: Tree, selected: list[int], columns: list[tuple[int, Leaf]]
    ) -> tuple[Tree, list[tuple[range, range]]]:
        """The structure of the matrices, and for each its rows and columns."""
        chosen = [tree_map(trees[k], lambda leaf: leaf if is_real(leaf) else Node("none"), False) for k in selected]
        selection = Node("tuple", tuple(chosen)) if isinstance(self.argnums, tuple) else chosen[0]
        tree = tree_map(result, lambda leaf: selection if is_real(leaf) else Node("none"), False)
        blocks: list[tuple[range, range]] = []
        first = 0
        for leaf in leaves(result):
            if is_real(leaf):
                height = range(first, first + prod(leaf.shape))
                blocks += [(height, range(start, start + prod(c.shape))) for start, c in columns]
                first = height.stop
        return tree, blocks

    def _runner(self, found: Specialisation, mask: tuple[bool, ...], count: int, width: int) -> Callable[..., Any]:
        """The sweeps, compiled once: a function of the colours and then of the arguments."""
        key = f"sweeps {mask} {count}"
        if key not in found.extras:
            function = sweeps(found.staged.function, mask, count)
            loaded = self.base.options.load({"main": function})
            found.extras[key] = _Runner(loaded, lambda: self._interface(found, count, width))
        return found.extras[key]

    def _interface(self, found: Specialisation, count: int, width: int) -> Interface:
        like = interface_of(self.base, found)
        sums = [Leaf("array", (count, *leaf.shape)) for leaf in leaves(found.staged.result) if is_real(leaf)]
        trees = (Leaf("array", (width,), "int"), *like.trees)
        parameters = (sessions.positional("_colours"), *like.parameters)
        return replace(like, parameters=parameters, trees=trees, result=Node("tuple", tuple(sums)))


class _Runner:
    """Compiled sweeps; made a function again where what they read from outside is another object."""

    def __init__(self, loaded: Loaded, interface: Callable[[], Interface]) -> None:
        self._loaded = loaded
        self._interface = interface
        self.latest = loaded.function("main", interface())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._loaded.outgrown:
            with contextlib.suppress(Mismatch):  # a value from outside is equal, but not the same object any more
                return self.latest(*args, **kwargs)
        self._loaded.grow()
        self.latest = self._loaded.function("main", self._interface())
        return self.latest(*args, **kwargs)


def pattern_of(base: Function, args: tuple[Any, ...], most: Limit) -> Pattern:
    """Where the Jacobian by the first argument may differ from zero; remembered for each value of the integers that it
    depends on. Given up where more than `most(height, width)` iterations would have to be followed."""
    call = base.binding.bind(args, {})
    found, values = _known(base, call)
    kept = found.extras.setdefault("patterns", {})
    key = _content(values)
    if key not in kept:
        while len(kept) >= PLANS:
            del kept[next(iter(kept))]
        kept[key] = _pattern(base, 0, found, values, most)[-1]
    return kept[key]


def _known(base: Function, call: Call) -> tuple[Specialisation, list[Any]]:
    """What is staged for a call, and `_values`."""
    with sessions.session() as at:
        found = valued(base.specialisation(call, at))
    return found, _values(found, call)


def _content(values: list[Any]) -> tuple[Any, ...]:
    return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in values)


def _pattern(
    base: Function, argnums: Argnums, found: Specialisation, values: list[Any], most: Limit = unlimited
) -> tuple[Staged, list[int], tuple[bool, ...], Pattern]:
    """The pattern by some arguments: what was staged, with arguments as numbers count them, which were selected, and
    the mask of their leaves."""
    names = tuple(p.name for p in base.binding.parameters)
    staged, names = counted(base, found.staged, names, argnums)
    staged.require_no_draws("a sparse derivative")
    require_real(staged, "a sparse derivative")
    selected = positions(argnums, names, base.__name__)
    mask = mask_of(staged, selected, names)
    known = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
    return staged, selected, mask, pattern(staged.function, mask, known, most)


def _nothing(*args: Any, **kwargs: Any) -> Any:
    return ()


def _values(found: Specialisation, call: Call) -> list[Any]:
    """The integers and truth values among the arguments and the captured arrays, None for real ones."""
    of_call = [leaf for tree in call.trees for leaf in leaves(tree)]
    given = [None if is_real(leaf) else value for leaf, value in zip(of_call, call.values, strict=True)]
    captured = [capture.read() for capture in found.staged.source.captures]
    return [*given, *[None if array.dtype.kind == "f" else array for array in captured]]


def _columns(trees: tuple[Tree, ...], selected: list[int]) -> list[tuple[int, Leaf]]:
    """For each real leaf of the selected arguments, as they were selected, its first column: columns are counted in the
    order of the arguments."""
    starts: dict[int, list[tuple[int, Leaf]]] = {}
    first = 0
    for k in sorted(set(selected)):
        starts[k] = []
        for leaf in leaves(trees[k]):
            if is_real(leaf):
                starts[k].append((first, leaf))
                first += prod(leaf.shape)
    return [pair for k in selected for pair in starts[k]]


def _has_rules(found: Specialisation) -> bool:
    """Whether a derivative may be another than that of the value: then a Hessian need not be symmetric."""
    return any(f.rule is not None for f in reachable(source_of(found.staged.program)))


def _symmetric(rows: Rows, order: list[int]) -> tuple[Rows, Colours, list[tuple[int, int]]]:
    """The entries that stand on both sides of the diagonal, their colours, and where each can be read; `order` has for
    each row the column of the same variable."""
    row_of = {j: i for i, j in enumerate(order)}
    by_column = both_ways([rows[row_of[j]] for j in range(len(rows))])
    colours = star_colours(by_column)
    read = iter(sources(by_column, colours))
    by_entry = {(i, j): next(read) for i, row in enumerate(by_column) for j in row}
    kept = [by_column[j] for j in order]
    where = [by_entry[order[i], j] for i, row in enumerate(kept) for j in row]
    return kept, colours, [(colour, row_of[i]) for i, colour in where]


def _flat(where: list[tuple[int, int]], height: int) -> Any:
    """Colours and rows as places in the sums, of which each colour has `height`."""
    found = np.array(where, dtype=np.int64).reshape(-1, 2)
    return found[:, 0] * height + found[:, 1]


def _places(rows: Rows) -> tuple[Any, Any]:
    """The row and the column of each entry."""
    at = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    flat: Iterator[int] = (j for row in rows for j in row)
    return at, np.fromiter(flat, np.int64, len(at))


def _entries(at: Any, columns: Any, flat: Any, height: range, width: range) -> Entries:
    """Those in a block of rows and columns."""
    inside = (at >= height.start) & (at < height.stop) & (columns >= width.start) & (columns < width.stop)
    chosen = np.flatnonzero(inside)
    starts = np.searchsorted(at[chosen], np.arange(height.start, height.stop + 1))
    rows, inside = _small(at[chosen] - height.start), _small(columns[chosen] - width.start)
    return Entries(flat[chosen], rows, inside, _small(starts), (len(height), len(width)))


def _small(numbers: Any) -> Any:
    """Places as int32, which SciPy takes as they are; not to be written, since all matrices share them."""
    found = numbers.astype(np.int32) if numbers.size == 0 or numbers.max() <= _LARGEST_INT32 else numbers
    found.setflags(write=False)
    return found


def structured(plan: Plan, matrices: list[Any]) -> Any:
    """The matrices of the blocks of a plan in the structure of results and arguments."""
    return build(plan.tree, Supply(matrices), Supply(()))
