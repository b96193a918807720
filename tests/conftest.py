"""Fixtures and settings that all tests share: golden texts, and how many random examples are tried."""

import gc
import math
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"

# tox tries fewer random programs on all interpreters but one.
_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("full", deadline=None, suppress_health_check=_CALM)
settings.register_profile("quick", settings.get_profile("full"), max_examples=15)
settings.register_profile("product", settings.get_profile("full"))  # all of each table, for an hour
settings.register_profile("gate", settings.get_profile("full"))
settings.load_profile(os.environ.get("ROSE_TEST_PROFILE", "full"))

# Before anything is imported: no test reads or fills the cache of the person who runs it.
os.environ["ROSE_MEMORY_BYTES"] = str(1 << 32)  # no test takes more, whatever the machine has
CACHE = os.environ["ROSE_CACHE_DIR"] = tempfile.mkdtemp(prefix="rosejit-tests-")

# A shell that starts the tests in the background lets them ignore Ctrl-C, and all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """What goes wrong while a loop is followed keeps it from being rolled, elsewhere; here it is a failure. And none is
    warned of for the seconds that it takes to unroll: they are the machine's affair."""
    from rosejit.frontend.control import if_for
    from rosejit.frontend.rolling import decide

    decide.STRICT = True
    if_for.SECONDS = math.inf


def pytest_unconfigure() -> None:
    """Remove the cache of this run."""
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Tests only: the examples that `--doctest-modules` looks for are in the package. Here it would import what tests
    share, and a second time: `tests.programs` as `programs`."""
    return [each for each in (yield) if type(each) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is collected is garbage before the end: that 36,000 tests are looked through again and again was
    a fifth of the time that collecting them takes, and a second or more for each full collection in a test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


SAMPLED = (
    "tests/benchmarks/",
    "tests/codegen/",
    "tests/contract/test_blas.py",
    "tests/contract/test_changes_outside.py",
    "tests/contract/test_kept_functions.py",
    "tests/contract/test_random.py",
    "tests/contract/test_range_checkpoint.py",
    "tests/contract/test_registry.py",
    "tests/contract/test_rose_check.py",
    "tests/docs/test_check.py",
    "tests/export/test_es_module.py",
    "tests/export/test_open_lengths.py",
    "tests/frontend/control/test_arrays_that_may_be_one.py",
    "tests/frontend/control/test_element_slots.py",
    "tests/frontend/control/test_exception_handlers.py",
    "tests/frontend/control/test_optional.py",
    "tests/frontend/numpy/",
    "tests/frontend/python/test_augmented_targets.py",
    "tests/frontend/python/test_ordering.py",
    "tests/frontend/rolling/",
    "tests/frontend/scalar_ops/",
    "tests/frontend/session/test_host_effects.py",
    "tests/frontend/test_helpers_in_places.py",
    "tests/frontend/test_host_values.py",
    "tests/frontend/values/test_object_identity.py",
    "tests/interp/",
    "tests/ir/",
    "tests/ops/",
    "tests/optim/",
    "tests/solvers/",
    "tests/test_laws.py",
    "tests/text/",
    "tests/transforms/",
    "tests/wasm/",
)
"""What reads no source and nothing of the host is the same on every version of Python, and tables are of many cases:
one interpreter runs them all, the others one in sixty-four, and a quarter of the calls at kinks: what is chosen there
is wrong where nothing else is. (The documents run once more by `tox -e docs`.)"""

ONCE = (
    "tests/codegen/core/test_split_long.py::test_a_hundred_thousand_operations",
    "tests/contract/test_convolutions.py",
    "tests/contract/test_running_errors.py::test_memory_that_is_not_there",
    "tests/contract/test_sizes.py::test_second_derivative_of_a_product_of_many_terms",
    "tests/contract/test_workers.py::test_all",
    "tests/docs/test_generate_errors.py",
    "tests/interp/test_run.py::test_residuals_are_handed_on_however_deep",
    "tests/frontend/numpy/test_scipy_linalg.py::test_derivatives",
    "tests/ops/kernels/test_coefficients.py",
    "tests/test_house.py",
    "tests/text/test_printer.py::test_a_long_program",
    "tests/web/",
)
"""What takes seconds and does not depend on the version of Python: one interpreter runs it."""


LONG = {
    "tests/contract/test_changes_outside.py::test_at_each_call": 4,
    "tests/contract/test_random.py::test_derivatives_draw_once": 4,
    "tests/contract/test_random.py::test_draws_are_those_of_numpy": 3,
    "tests/contract/test_range_checkpoint.py::test_second_derivatives": 3,
    "tests/contract/test_registry.py::test_calls": 8,
    "tests/contract/test_registry.py::test_derivatives": 8,
    "tests/contract/test_rose_check.py::test_programs_agree": 8,
    "tests/contract/test_rose_check.py::test_second_derivatives_of_programs_agree": 3,
    "tests/contract/test_special_values.py::test_special_values": 3,
    "tests/contract/test_stand_ins.py::test_a_lambda_reads_what_it_holds": 3,
    "tests/docs/test_check.py::test_every_document_is_as_it_says": 4,
    "tests/export/test_es_module.py::test_node_gives_the_bits_of_wasmtime": 3,
    "tests/frontend/arrays/test_arrays_reached.py::test_what_is_computed_with_them": 4,
    "tests/frontend/control/test_arrays_that_may_be_one.py::test_arrays_that_may_be_one": 3,
    "tests/frontend/control/test_chosen_results.py::test_what_running_chooses_leaves_as_itself": 3,
    "tests/frontend/control/test_elements_moved_between.py::test_moved_between_two_blocks": 3,
    "tests/frontend/control/test_one_of_several_objects.py::test_no_change_is_lost": 3,
    "tests/frontend/control/test_optional.py::test_as_in_python": 4,
    "tests/frontend/numpy/test_equal_values.py::test_modes_agree_on_what_is_determined": 3,
    "tests/frontend/numpy/test_equal_values.py::test_the_vector_that_is_determined": 3,
    "tests/frontend/numpy/test_stored_dtypes.py::test_every_operation_in_every_place_is_numpys": 3,
    "tests/frontend/python/test_augmented_targets.py::test_as_python_or_refused": 3,
    "tests/frontend/python/test_lookups.py::test_one_of_two_behind_a_branch": 3,
    "tests/frontend/python/test_lookups.py::test_writes_at_keys_of_every_kind": 3,
    "tests/frontend/rolling/test_accumulations.py::test_accumulations": 8,
    "tests/frontend/rolling/test_decide.py::test_rolled": 5,
    "tests/frontend/rolling/test_lists.py::test_rolled": 3,
    "tests/frontend/rolling/test_tables.py::test_tabled": 3,
    "tests/frontend/rolling/test_tables.py::test_what_a_loop_writes_is_in_no_table": 7,
    "tests/frontend/session/test_host_effects.py::test_what_changes_the_host_is_refused": 3,
    "tests/frontend/test_helpers_in_places.py::test_as_in_python": 4,
    "tests/frontend/test_host_values.py::test_what_is_read_from_outside": 8,
    "tests/solvers/test_bad_input.py::test_equations": 3,
    "tests/solvers/test_bad_input.py::test_fits": 3,
    "tests/solvers/test_bad_input.py::test_searches_for_roots": 3,
    "tests/solvers/test_solver_table.py::test_derivatives": 8,
    "tests/test_laws.py::test_derivatives_have_the_bits_of_the_interpreter": 6,
    "tests/test_laws.py::test_second_derivatives_agree_in_all_modes": 4,
    "tests/test_laws.py::test_the_answer_is_the_known_one": 3,
    "tests/test_laws.py::test_the_laws_hold_to_order_2": 6,
    "tests/test_laws.py::test_wasm_gives_the_bits_of_the_interpreter": 3,
    "tests/test_laws.py::test_what_users_call_gives_the_bits_of_the_interpreter": 5,
    "tests/transforms/autodiff/test_mixed_mode.py::test_programs": 4,
    "tests/transforms/jacobians/test_multi_tangent.py::test_programs": 5,
    "tests/transforms/jacobians/test_sparse_program.py::test_nothing_is_missed_in_gradients": 3,
    "tests/transforms/jacobians/test_sparse_program.py::test_nothing_is_missed_in_programs": 3,
    "tests/transforms/test_laws.py::test_laws_hold_to_order_3": 3,
}
"""Tables that take longest, and of how many rows `tox` runs one (`ROSE_TEST_PROFILE=product` runs all, and parts that
tests leave out themselves: `tests/tables.py`)."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the profile `gate`, deselect most rows of the longest tables; with `quick`, for the interpreters beside the
    one of `gate`, also what one interpreter runs for all, and three in four of the rest."""
    profile = os.environ.get("ROSE_TEST_PROFILE")
    if profile not in ("gate", "quick"):
        return
    left_out: set[pytest.Item] = set()
    rows = Counter[str]()
    for item in items:
        table = item.nodeid.partition("[")[0]
        if rows[table] % LONG.get(table, 1):
            left_out.add(item)
        rows[table] += 1
    if profile == "quick":
        sampled = [item for item in items if item.nodeid.startswith(SAMPLED) and "-kink" not in item.nodeid]
        left_out.update(item for k, item in enumerate(sampled) if k % 16)
        left_out.update(item for item in items if item.nodeid.startswith(ONCE))
        left_out.update(item for k, item in enumerate(items) if (k + sys.version_info.minor) % 4)  # to each its own
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="write what the tests gave to tests/golden/")


@pytest.fixture
def never_rerolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What staging unrolls stays unrolled: for what is told of unrolled loops."""
    from rosejit.transforms.loops import outline, reroll

    monkeypatch.setattr(reroll, "LEAST", 10**15)
    monkeypatch.setattr(outline, "LEAST", 10**15)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Compare a text with `tests/golden/<path of the test>/<name>.txt`; several calls number their files."""
    module = Path(request.node.path).relative_to(HERE).with_suffix("")
    name = re.sub(r"[^\w.=-]+", "_", request.node.name).strip("_")
    calls = 0

    def check(text: str) -> None:
        nonlocal calls
        calls += 1
        number = "" if calls == 1 else f".{calls}"
        path = GOLDEN / module / f"{name}{number}.txt"
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden text yet: run pytest --update-golden and read {path.relative_to(HERE.parent)}"
        assert text == path.read_text(encoding="utf-8")

    return check
