"""Arrays of few bits that are too large for locals, from everywhere and in every operation: NumPy's numbers and dtypes, bit
for bit, compiled and interpreted, and in memory they take what they take in NumPy."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit.abi import STORED
from tests.tables import crossed, stride

DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool")
ROWS, COLUMNS = 9, 35


def array(dtype: str, seed: int = 0) -> Any:
    """Numbers of the whole range of a dtype; of float32 such that sums are exact."""
    made = np.random.default_rng(seed)
    if dtype == "bool":
        return made.random((ROWS, COLUMNS)) < 0.5
    if dtype == "float32":
        return (made.integers(-900, 900, (ROWS, COLUMNS)) / 8).astype(dtype)
    ends = np.iinfo(dtype)
    return made.integers(int(ends.min), int(ends.max), (ROWS, COLUMNS), dtype, endpoint=True)


# --- operations: an array to an array or a number


def loaded(x: Any) -> Any:
    return x[3, 4]


def walked(x: Any) -> Any:
    most = x[0, 0]
    for i in rose.range(len(x)):
        for j in rose.range(x.shape[1]):
            most = most if most > x[i, j] else x[i, j]
    return most


def filled(x: Any) -> Any:
    y = np.zeros(x.shape, x.dtype)
    for i in rose.range(len(x)):
        for j in rose.range(x.shape[1]):
            y[i, j] = x[len(x) - 1 - i, j]
    return y


def changed(x: Any) -> Any:
    y = x.copy()
    y[2, 5] = x[0, 1]
    y[4] = x[1]
    return y


def sliced(x: Any) -> Any:
    return x[1:, ::3]


def transposed(x: Any) -> Any:
    return x.T.copy()


def broadcast(x: Any) -> Any:
    return np.where(x > x[0], x, x[1])


def added(x: Any) -> Any:
    return x + x[3]


def multiplied(x: Any) -> Any:
    return x * x


def reduced(x: Any) -> Any:
    return x.sum(axis=0)


def largest(x: Any) -> Any:
    return x.max(axis=1)


def copied(x: Any) -> Any:
    return x.copy()


def returned(x: Any) -> Any:
    return x


def widened(x: Any) -> Any:
    return x.astype(np.float64)


def as_bytes(x: Any) -> Any:
    return (x > 1).astype(np.uint8)


def stacked(x: Any) -> Any:
    return np.concatenate([x, x[::-1]])


def gathered(x: Any) -> Any:
    return x[np.array([0, 3, 3, 1])]


def compared(x: Any) -> Any:
    return x == x[0]


OPERATIONS: tuple[Callable[[Any], Any], ...] = (
    loaded, walked, filled, changed, sliced, transposed, broadcast, added, multiplied, reduced, largest, copied, returned,
    widened, as_bytes, stacked, gathered, compared,
)  # fmt: skip


# --- places: where the array is


class Holder:
    def __init__(self, held: Any) -> None:
        self.held = held


@rose.jit
def called(x: Any) -> Any:
    return x[::-1]


def of_argument(f: Any, x: Any) -> Any:
    return lambda x: f(x), (x,)


def of_capture(f: Any, x: Any) -> Any:
    return lambda k: (f(x), k), (3,)


def of_list(f: Any, x: Any) -> Any:
    return lambda xs: f(xs[1]), ([x[::-1].copy(), x],)


def of_attribute(f: Any, x: Any) -> Any:
    return lambda h: f(h.held), (Holder(x),)


def of_local(f: Any, x: Any) -> Any:
    def g(x: Any) -> Any:
        y = np.zeros(x.shape, x.dtype)
        for i in rose.range(len(x)):
            y[i] = x[i]
        return f(y)

    return g, (x,)


def of_result(f: Any, x: Any) -> Any:
    return lambda x: (x[::-1], {"found": f(x)}, x), (x,)


def of_loop(f: Any, x: Any) -> Any:
    def g(x: Any, k: int) -> Any:
        y = x.copy()
        for _ in rose.range(k):
            y = y[::-1].copy()
        return f(y)

    return g, (x, 3)


def of_branch(f: Any, x: Any) -> Any:
    def g(x: Any, yes: bool) -> Any:
        y = x[::-1].copy() if yes else x.copy()
        return f(y)

    return g, (x, True)


def of_branch_untaken(f: Any, x: Any) -> Any:
    def g(x: Any, yes: bool) -> Any:
        return f(x) if yes else f(x[::-1].copy())

    return g, (x, False)


def of_call(f: Any, x: Any) -> Any:
    return lambda x: f(called(x)), (x,)


def of_tuple_in_loop(f: Any, x: Any) -> Any:
    def g(x: Any, k: int) -> Any:
        pair = (x.copy(), x[::-1].copy())
        for _ in rose.range(k):
            pair = (pair[1], pair[0])
        return f(pair[0])

    return g, (x, 3)


PLACES = {name[3:]: place for name, place in [*globals().items()] if name.startswith("of_")}
MEMORY: Counter[str] = Counter()


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    x, y = np.asarray(found), np.asarray(wanted)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def elements(f: Any) -> list[str]:
    """What the arrays at the border of a compiled function are made of."""
    (found,) = f.known.values()
    entry = found.loaded.artifact.entries["main"]
    return [slot.element for slot in (*entry.params, *entry.results) if slot.kind in ("array", "dyn")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation_in_every_place_is_numpys(dtype: str, place: str):
    wrong: list[str] = []
    x = array(dtype)
    first = [*DTYPES].index(dtype) + [*PLACES].index(place)
    for operation in OPERATIONS[first % stride(4) :: stride(4)]:
        if dtype == "bool" and operation in (added, multiplied, walked):  # elements of them are numbers of Python's
            continue
        f, args = PLACES[place](operation, x)
        wanted = f(*args)
        compiled = rose.jit(f)
        found = compiled(*args)
        with rose.disable_jit():
            interpreted = rose.jit(f)(*args)
        wrong += [f"{operation.__name__}: {found!r}"] * (not same(found, wanted) or not same(interpreted, wanted))
        MEMORY.update(elements(compiled))
    assert not wrong
    print(dict(MEMORY))


@pytest.mark.parametrize(
    ("dtype", "operation"), crossed(DTYPES, OPERATIONS, 3), ids=lambda each: getattr(each, "__name__", each)
)
def test_batches(dtype: str, operation: Any):
    if dtype == "bool" and operation in (added, multiplied, walked):
        return
    xs = np.stack([array(dtype, seed) for seed in range(3)])
    assert same(rose.vmap(operation)(xs), np.stack([operation(x) for x in xs]))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name in STORED])
def test_arguments_and_results_take_what_they_take_in_numpy(dtype: str, operation: Any):
    x = array(dtype)
    f = rose.jit(operation)
    found = f(x)
    is_stored = found.ndim > 0 and f"{found.dtype}" in STORED and (operation is not largest or dtype == "float32")
    wanted = [dtype] + [str(found.dtype)] * is_stored  # maxima of ints start from one that does not fit
    assert [element for element in elements(f) if element in STORED] == wanted


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name in STORED])
def test_other_dtypes_and_shapes_and_libraries_are_not_taken_for_it(dtype: str):
    x = array(dtype)
    f = rose.jit(added)
    assert same(f(x), added(x))
    for other in (x.astype(np.float64), x.astype(np.int64), x[:5], x.T, x[::-1, ::-2], np.asfortranarray(x)):
        assert same(f(other), added(other))
        assert same(f(x), added(x))
    big = x.astype(x.dtype.newbyteorder())
    assert same(f(big), added(x))


def loss(x: Any) -> Any:
    y = x * x[::-1]
    return (y * 0.5).sum() + np.sqrt(abs(x) + 1).sum()


def test_derivatives_are_those_in_float64():
    x = array("float32")
    found = rose.grad(loss)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, rose.grad(loss)(x.astype(float)), rtol=1e-6)
    dx = array("float32", 1)
    value, slope = rose.jvp(loss, (x,), (dx,))
    np.testing.assert_allclose(slope, np.vdot(found.astype(float), dx.astype(float)), rtol=1e-5)
    np.testing.assert_allclose(value, loss(x.astype(float)), rtol=1e-6)
    hv = rose.hvp(loss)(x, dx)
    np.testing.assert_allclose(hv, rose.hvp(loss)(x.astype(float), dx.astype(float)), rtol=1e-5)


def test_images_keep_their_bytes_under_derivatives():
    image = array("uint8")

    def shade(w: float) -> float:
        total = 0.0
        for i in rose.range(ROWS):
            for j in rose.range(COLUMNS):
                total += w * w * image[i, j]
        return total

    assert rose.grad(shade)(2.0) == 4.0 * float(image.sum())


@pytest.mark.parametrize("dtype", DTYPES)
def test_compiled_saved_and_loaded(dtype: str, tmp_path: Path):
    x = array(dtype)
    compiled = rose.jit(of_result(filled, x)[0]).lower(x).compile()
    compiled.save(tmp_path / "program")
    for f in (compiled, rose.load(tmp_path / "program")):
        assert same(f(x), of_result(filled, x)[0](x))
        with pytest.raises(TypeError):
            f(x.astype(complex))


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_results_and_threads(dtype: str):
    x = np.tile(array(dtype), (40, 60))
    f = rose.jit(transposed)
    held = [f(x) for _ in range(5)]  # some lie in the memory of instances
    assert all([same(one, transposed(x)) for one in held])
    rows = np.stack([array(dtype, seed) for seed in range(6)])
    assert same(rose.vmap(filled, threads=2)(rows), rows[:, ::-1])
