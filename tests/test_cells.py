"""The cells of the contract's table of Python (API.md, section 2), each with the programs that cover it.

A cell that names functions or forms is covered only by programs in whose text they occur.
"""

import inspect
import re
from collections.abc import Iterator

import pytest

import rosejit as rose
from tests.programs import PROGRAMS
from tests.programs.named import BY_NUMPY, BY_ROSE, EVERYWHERE, IN_UNIT, NEW, NUMPY_PAIRS, PAIRS, POSITIVE, WHOLE

# --- rows of the table: (what, on what): programs

ROWS: dict[tuple[str, str], str] = {
    ("for i in range(k)", "host"): "hosts.unrolled hosts.long_plain_range forms.unrolled_ranges",
    ("range(k), rolled", "host"): "rolled.weighted_sum rolled.rows_times rolled.running_product rolled.wave",
    ("for i in range(k)", "staged"): "control.strided forms.ranges_with_steps control.loops_in_loops",
    ("for i in rose.unroll(range(n))", "host"): "forms.unrolled_ranges",
    ("for i in rose.range(a, b, step)", "host"): "loops.countdown loops.triangle forms.ranges_with_steps",
    ("for i in rose.range(a, b, step)", "staged"): "control.strided loops.geometric arrays.heat",
    ("for v in array", "host"): "containers.list_of_lists forms.walked indexing.where_known",
    ("enumerate", "host"): "hosts.unrolled forms.walked", ("zip", "host"): "hosts.unrolled forms.walked",
    ("reversed", "host"): "hosts.unrolled forms.walked",
    ("reversed of rose.range", "staged"): "forms.ranges_with_steps",
    ("[e for i in rose.range(n)]", "staged"): "sums.mapped records.comprehended_structures",
    ("[[e for j in rose.range(m)] for i in rose.range(n)]", "staged"): "shapes.comprehended sums.outer",
    ("sum(e for i in rose.range(n))", "staged"): "sums.dot sums.filtered forms.folded_generators",
    ("min, max(e for i in rose.range(n))", "staged"): "forms.folded_generators",
    ("any, all(e for i in rose.range(n))", "staged"): "forms.folded_generators",
    ("if, elif, else", "host"): "forms.conditions_of_the_host hosts.classes",
    ("if, elif, else", "staged"): "control.elif_chain forms.conditions_of_the_run branches.nested",
    ("a if c else b", "host"): "forms.conditions_of_the_host", ("a if c else b", "staged"): "branches.ternaries",
    ("match", "host"): "hosts.host_matches", ("match", "staged"): "control.matched control.matched_structure",
    ("while", "host"): "hosts.host_while containers.queue_of_the_host",
    ("while", "staged"): "control.halved control.until_done control.newton control.collatz control.array_in_while",
    ("while True", "staged"): "control.forever", ("else of loops", "staged"): "control.while_else control.for_else",
    ("and, or, not", "host"): "forms.conditions_of_the_host hosts.hypothetical",
    ("and, or, not", "staged"): "branches.short_circuit forms.conditions_of_the_run forms.both_sides",
    ("a < b < c", "host"): "forms.conditions_of_the_host", ("a < b < c", "staged"): "forms.conditions_of_the_run",
    ("&, |, ^, ~ of Bools", "staged"): "forms.both_sides branches.eager_truth",
    ("break, continue", "host"): "hosts.host_break forms.conditions_of_the_host",
    ("break, continue", "staged"): "control.skipping forms.returns_early control.searched",
    ("early return", "host"): "hosts.early_return",
    ("early return", "staged"): "control.early_return forms.returns_early",
    ("assert", "host"): "forms.assertions", ("assert", "staged"): "control.checked forms.assertions",
    ("raise", "host"): "forms.errors", ("raise", "staged"): "control.checked forms.errors",
    ("print", "host"): "forms.printed", ("print", "staged"): "forms.printed",
    ("walrus", "staged"): "control.walrus", ("names on some paths", "staged"): "control.on_some_paths",
    ("y[i] = v", "staged"): "arrays.cumulative_product arrays.reversed_copy arrays.bubble_sort",
    ("y[i] += v", "staged"): "arrays.matvec arrays.histogram", ("y[1:3] = v", "staged"): "indexing.written_block",
    ("y[i][j]", "staged"): "arrays.rows indexing.three_axes", ("y[i, j]", "staged"): "arrays.forward_substitution",
    ("negative indices", "staged"): "arrays.from_the_end arrays.gathered", ("slices", "staged"): "indexing.sliced",
    ("slices with staged bounds", "staged"): "windows.correlated windows.until_small windows.strided windows.any_axis",
    ("y[i:i+2] = v, y[i:i+2] += v", "staged"): "windows.overlapping_writes windows.tiles windows.window_kept",
    ("slices with negative steps", "staged"): "indexing.backwards indexing.strided indexing.written_backwards",
    ("np.zeros, ones, ... of the host", "host"): "hosts.network arrays.cumulative_sum shapes.made_filled",
    ("a call of a decorated function", "staged"): "calls.fourth calls.calls_in_loop calls.call_in_branch",
    ("a call of a plain function", "staged"): "hosts.helpers hosts.staged_choice_in_helper aliases.through_functions",
    ("a decorated function that calls itself", "staged"): "recursion.power recursion.is_even recursion.fold_tree",
}  # fmt: skip
HOST: dict[str, str] = {
    "lists": "containers.list_changed containers.list_of_lists", "dicts": "containers.dict_changed hosts.containers",
    "sets": "containers.sets_of_keys", "deques, defaultdicts, counters": "containers.collected",
    "heaps": "containers.queue_of_the_host", "classes": "hosts.classes containers.object_with_history objects.joined",
    "lists of structures, carried and passed": "columns.passed columns.carried columns.chosen columns.given_a_list",
    "elements of lists of structures, changed": "columns.attracted columns.aliased columns.particles columns.walkers",
    "lists of the host at staged indices": "columns.of_the_host columns.energy",
    "special methods and properties": "objects.operators objects.protocols objects.summed",
    "o.x = v in staged loops and branches": "objects.bouncing objects.fallen objects.nested",
    "subclasses of containers": "containers.stack_machine",
    "objects that are called": "containers.object_that_is_called",
    "closures": "hosts.nested_functions containers.tables_of_functions", "nonlocal": "containers.shared_variable",
    "recursion on host data": "hosts.tree containers.graph_of_the_host containers.memoised",
    "isinstance": "hosts.isinstance_decides", "f-strings": "hosts.strings forms.texts",
    "match on host values": "hosts.host_matches", "comprehensions": "hosts.containers containers.dict_changed",
    "generators": "hosts.iteration containers.generators", "with": "hosts.tried", "try": "hosts.tried forms.errors",
    "sorted with keys": "containers.sorted_by_host_keys", "partial, reduce, map": "hosts.partially hosts.iteration",
    "containers made in a staged iteration": "containers.made_in_the_turn", "star arguments": "hosts.starred",
    "static arguments": "hosts.static_exponent hosts.dispatched", "globals": "hosts.global_number",
    "captured arrays": "hosts.captured_array hosts.captured_big_array", "default values": "hosts.default_values",
    "dataclasses in loops": "records.dataclass_in_a_loop records.dataclass_until",
    "dataclasses in branches": "records.dataclass_in_a_branch",
    "named tuples in loops": "records.named_tuple_in_a_loop structures.carried_point",
    "named tuples in branches": "records.named_tuple_in_a_branch structures.chosen_tuple",
    "dicts, lists, tuples in loops": "records.dict_in_a_loop records.list_in_a_loop records.tuples_in_a_loop",
    "arrays of structures": "records.array_of_structures records.comprehended_structures structures.polygon",
    "structures of arrays": "records.structure_of_arrays records.dataclass_of_arrays structures.layer",
}  # fmt: skip
ARRAYS: dict[str, str] = {
    "any rank": "arrays.any_rank indexing.three_axes shapes.described", "broadcasting": "shapes.broadcast",
    "broadcasting of higher rank": "shapes.broadcast_high folds.distances", "iteration": "forms.walked",
    "comparisons": "folds.logical folds.quantified", "arithmetic": "arrays.elementwise aliases.in_place_operators",
    "slices as values": "indexing.sliced indexing.inner_product_of_views",
    "windows in branches": "windows.in_branches windows.empty_windows windows.with_masks_and_picks",
    "rows that branches choose": "windows.chosen_row", "windows in helpers": "windows.in_a_helper windows.blocks",
    "rows as views": "arrays.rows indexing.rows_written_in_loops aliases.rows_kept indexing.deep_views",
    "aliases": "arrays.aliases aliases.in_containers aliases.alias_in_a_loop aliases.alias_in_a_branch",
    "+= in place": "aliases.in_place_operators aliases.not_in_place aliases.shifted_in_place",
    "helpers that mutate": "arrays.changed_by_helper aliases.through_functions aliases.written_by_a_closure",
    "updates in loops": "arrays.cumulative_product indexing.rows_written_in_loops aliases.matrix_built_by_rows",
    "updates in branches": "arrays.update_on_one_side arrays.update_before_and_after aliases.alias_in_a_branch",
    "alias sets that change in loops": "arrays.swap_arrays aliases.three_in_turn aliases.rebound_in_a_loop",
    "alias sets that change in branches": "aliases.chosen_and_read aliases.rebound_in_a_branch",
    "arguments are not written": "aliases.arguments_stay arrays.argument_and_result",
    "boolean masks that staging knows": "indexing.known_mask indexing.where_known",
    "statistics of what masks pick": "indexing.masked_statistics",
    "boolean masks": "indexing.masked_folds indexing.masked_roots indexing.masked_writes indexing.masked_rows",
    "integers as indices": "indexing.gathered_staged indexing.gathered_rows indexing.gathered_cells",
    "integers as indices, written": "indexing.scattered indexing.scattered_cells indexing.scattered_sums",
    "arrays of ints": "arrays.counted matrices.products_of_ints control.arrays_of_ints",
    "arrays of bools": "arrays.flags folds.logical", "no element": "arrays.no_element",
    "one element": "shapes.one_element",
    "views of reshaped arrays": "aliases.shapes_that_share", "reduction along axes": "folds.sums folds.products",
    "keepdims": "folds.sums folds.means folds.softmax_of_rows", "joined in loops": "shapes.joined_in_a_loop",
    "stacked comprehensions": "shapes.comprehended shapes.comprehended_on_the_host",
}  # fmt: skip
NUMBERS: dict[str, str] = {
    "reals never fault": "named.asked named.asked_of_arrays branches.untaken_faults", "ints are exact": "forms.ints",
    "ints floor": "forms.ints scalars.remainders",
    "widening": "forms.widening loops.widening_carry branches.int_joins_real",
    "x ** k": "scalars.powers scalars.cubed", "rounding": "scalars.digits", "bits of floats": "scalars.bits",
    "the untaken side": "branches.guarded_root indexing.masked_roots", "kinks": "scalars.extremes folds.first_of_ties",
    "floor, sign, comparisons": "scalars.sawtooth folds.clipped", "max and min": "named.largest scalars.greater",
}  # fmt: skip

# --- names: the functions and methods that the contract lists, found in the text of the programs

METHODS = "T copy reshape ravel sum mean min max dot".split()
ATTRIBUTES = "shape ndim size".split()
FUNCTIONS = (
    "dot matmul outer sum prod cumsum cumprod mean max min argmax argmin linalg.norm linalg.solve linalg.det "
    "linalg.inv concatenate stack where clip sign interp std var any all"
).split()
CONSTRUCTORS = "zeros ones empty full zeros_like array arange linspace eye stack concatenate".split()
MATHEMATICS = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh pow "
    "hypot cbrt erf erfc gamma lgamma digamma floor ceil trunc round abs sign copysign fmod fma min max isnan isinf "
    "isfinite sigmoid softplus logsumexp softmax"
).split()
NUMPYS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power", "max": "maximum", "min": "minimum",
}  # fmt: skip
"""Functions that NumPy calls by another name."""
ONLY_ROSE = "erf erfc gamma lgamma digamma fma sigmoid softplus logsumexp softmax".split()
NOT_MATH = "sign digamma sigmoid softplus logsumexp softmax round abs max min fma exp2 cbrt".split()
"""Not in `math`, or not on all Pythons, or builtin."""

TEXTS = {program.name: inspect.getsource(program.function.__wrapped__) for program in PROGRAMS}


def covering(pattern: str) -> list[str]:
    """The programs in whose text `pattern` occurs."""
    return [name for name, text in TEXTS.items() if re.search(pattern, text)]


def of_mathematics() -> Iterator[tuple[str, bool]]:
    """A cell for each function under each of its names, and whether a program calls it."""
    by_math = {*EVERYWHERE, *NEW, *POSITIVE, *IN_UNIT, *WHOLE, *PAIRS}
    by_numpy = {name for names in BY_NUMPY for name in names} | {*NUMPY_PAIRS}
    by_rose = {name for names in BY_ROSE for name in names} | {*PAIRS, "max", "min"}
    for name in MATHEMATICS:
        yield f"rose.{name}", name in by_rose or bool(covering(rf"rose\.{name}\(|owner\.{name}\("))
        if name not in ONLY_ROSE:
            numpys = NUMPYS.get(name, name)
            yield f"np.{numpys}", numpys in by_numpy or bool(covering(rf"owner\.{name}\("))
        if name not in NOT_MATH:
            yield f"math.{name}", name in by_math or bool(covering(rf"owner\.{name}\("))


def of_names() -> Iterator[tuple[str, bool]]:
    """A cell for each method, attribute, function and constructor of NumPy's, and whether a program uses it."""
    for name in METHODS:
        call = "" if name == "T" else r"\("
        yield f"x.{name}", bool(covering(rf"\b(?!np\.|rose\.)\w+(\[.*?\])*\.{name}\b{call}"))
    for name in ATTRIBUTES:
        yield f"x.{name}", bool(covering(rf"\w\.{name}\b"))
    for name in (*FUNCTIONS, *CONSTRUCTORS):
        yield f"np.{name}", bool(covering(rf"np\.{re.escape(name)}\("))
    yield "x @ y", bool(covering(r"\w @ \w"))
    yield "len(x)", bool(covering(r"len\(x\)"))


TABLE = {" | ".join(cell): names for cell, names in ROWS.items()} | HOST | ARRAYS | NUMBERS
NAMED = {**dict(of_mathematics()), **dict(of_names())}


@pytest.mark.parametrize("cell", TABLE)
def test_every_cell_has_programs(cell: str) -> None:
    names = TABLE[cell].split()
    assert names
    assert set(names) <= TEXTS.keys()


@pytest.mark.parametrize("cell", NAMED)
def test_every_name_is_used_by_a_program(cell: str) -> None:
    assert NAMED[cell]


def test_every_public_function_of_numbers_is_in_the_table() -> None:
    listed = {name.partition(".")[2] for name in NAMED if name.startswith("rose.")}
    assert {name for name in rose.__all__ if name in MATHEMATICS} <= listed


def test_the_table_is_as_large_as_the_contract() -> None:
    assert len(TABLE) >= 110
    assert len(NAMED) >= 150
    assert len(PROGRAMS) >= 400
