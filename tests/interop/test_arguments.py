"""Arrays and numbers of other libraries as arguments: ways of saying that one is an array, with hints and without."""

import array

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

A = np.array([1.0, 2.0, 3.0])


class Interface:
    """By `__array_interface__`."""

    def __init__(self, held):
        self.held, self.__array_interface__ = held, held.__array_interface__

    __array_interface__ = None


class Protocol:
    """By DLPack alone."""

    def __init__(self, held):
        self.held = held

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


class Converted:
    """By `__array__`."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return self.held


class Traced:
    """As tracers, and tensors on other devices: it refuses."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not on the host")


def library(name, make):
    def made(held):
        return make(pytest.importorskip(name), held)

    return made


OURS = {"interface": Interface, "DLPack": Protocol, "__array__": Converted}
BUFFERS = {"memoryview": memoryview, "array.array": lambda a: array.array("d", a.tolist())}
LIBRARIES = {
    "pandas": library("pandas", lambda pd, a: pd.Series(a, index=range(5, 5 + len(a)))),
    "pandas index": library("pandas", lambda pd, a: pd.Index(a)),
    "pandas nullable": library("pandas", lambda pd, a: pd.Series(a, dtype="Float64")),
    "polars": library("polars", lambda pl, a: pl.Series(a)),
    "xarray": library("xarray", lambda xr, a: xr.DataArray(a)),
    "torch": library("torch", lambda torch, a: torch.tensor(a)),
    "torch, float32": library("torch", lambda torch, a: torch.tensor(a, dtype=torch.float32)),
    "jax": library("jax", lambda jax, a: jax.numpy.asarray(a)),
}


@rose.jit
def of_vector(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i] * x[i]
    return total


@rose.jit
def of_any(x):
    return (x * x).sum()


@rose.jit
def of_number(x: float) -> float:
    return x * x


@rose.jit
def of_any_number(x):
    return x * x


@pytest.mark.parametrize("way", OURS | BUFFERS | LIBRARIES)
def test_arrays(way):
    value = (OURS | BUFFERS | LIBRARIES)[way](A)
    assert of_vector(value) == 14.0
    assert of_vector(A) == 14.0, "in code that an array was staged for, too"
    assert of_vector(value) == 14.0
    assert np.array_equal(rose.grad(of_vector)(value), 2 * A)
    if way not in OURS:  # objects of the user's own classes are what they are
        assert of_any(value) == 14.0
        assert of_any(value) == 14.0


ZERO_D = {name: way for name, way in (OURS | LIBRARIES).items() if name in (*OURS, "xarray", "torch", "jax")}


@pytest.mark.parametrize("way", ZERO_D)
def test_numbers(way):
    value = ZERO_D[way](np.array(3.0))
    assert of_number(value) == 9.0
    assert type(of_number(value)) is float
    assert rose.value_and_grad(of_number)(value) == (9.0, 6.0)
    if way not in OURS:
        assert of_any_number(value) == 9.0
        assert type(of_any_number(value)) is (np.float32 if np.asarray(value).dtype == np.float32 else float)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_tables(name):
    table = pytest.importorskip(name).DataFrame({"a": A, "b": A})

    @rose.jit
    def of_matrix(x: Mat["n", 2]) -> float:
        return (x * x).sum()

    assert of_matrix(table) == 28.0


def test_in_structures():
    @rose.jit
    def f(p: dict[str, Vec["n"]], k: list[float]):
        return (p["x"] * k[0]).sum()

    assert f({"x": memoryview(A)}, [Converted(np.array(2.0))]) == 12.0


@pytest.mark.parametrize("f", [of_vector, of_number], ids=["vector", "number"])
def test_what_cannot_be_read_is_refused(f):
    """What libraries have of such is in test_uses.py."""
    with pytest.raises(rose.StagingTypeError, match="needs what NumPy can read for `x`"):
        f(Traced())


def test_a_tracer_of_jax_is_refused():
    jax = pytest.importorskip("jax")
    for f in (of_vector, of_any):
        with pytest.raises(rose.StagingTypeError, match=r"rose.interop.jax.wrap"):
            jax.grad(f)(jax.numpy.asarray(A))
