"""What is taken for an argument, what is refused, and that nobody's memory is written but our own."""

import math
import re
import traceback
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypedDict

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.contract.anatomy import fault


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Layer:
    weight: Vec["n"]
    bias: float


@rose.jit
def scaled(x: float, n: int, on: bool) -> float:
    return x * n if on else x


@rose.jit
def total(x: Vec["n"]) -> float:
    return sum(x[i] for i in rose.range(len(x)))


@rose.jit
def product(a: Mat["n", "m"], x: Vec["m"], c: float = 1.0) -> Vec["n"]:
    return [sum(a[i, j] * x[j] for j in rose.range(len(x))) * c for i in rose.range(a.shape[0])]


@rose.jit
def of_point(p: Point) -> float:
    return p.x * p.y


@rose.jit
def of_layer(p: Layer) -> float:
    return p.weight[0] * p.bias


@rose.jit
def of_ints(n: Array["n", int]) -> int:
    return n[0] + n[1]


# --- what is taken


class Index:
    def __index__(self):
        return 3


@pytest.mark.parametrize("x", [1, 1.0, np.float64(1), np.float32(1), np.int8(1), np.array(1.0), np.array(1), True])
def test_numbers_that_are_real(x):
    given = scaled(x, 2, True)
    assert given == 2.0
    assert type(given) is float


@pytest.mark.parametrize("n", [2, np.int64(2), np.uint8(2), np.int16(2), np.array(2)])
def test_numbers_that_are_ints(n):
    assert scaled(1.5, n, True) == 3.0


@pytest.mark.parametrize("on", [True, np.bool_(True), np.array(True)])
def test_truth_values(on):
    assert scaled(1.5, 2, on) == 3.0


WHOLE = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "x",
    [
        np.array([0.0, 4.0, 8.0]),
        np.array([0, 4, 8]),
        np.array([0, 4, 8], "f4"),
        np.array([0, 4, 8], ">f8"),
        np.array([0, 4, 8], "u1"),
        np.array([0, 4, 8], "f2"),
        WHOLE[:, 0],
        WHOLE.T[0],
        WHOLE[::-1, 0][::-1],
        [0.0, 4.0, 8.0],
        (0, 4, 8.0),
        [np.float32(0), 4, np.array(8.0)],
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_vectors(x):
    assert total(x) == 12.0
    assert rose.grad(total)(x).tolist() == [1.0, 1.0, 1.0]


def test_a_read_only_array_is_taken():
    x = np.array([0.0, 4.0, 8.0])
    x.setflags(write=False)
    assert total(x) == 12.0


@pytest.mark.parametrize("a", [WHOLE, np.asfortranarray(WHOLE), WHOLE.astype("f4"), WHOLE.tolist()])
def test_matrices_in_any_order(a):
    assert product(a, [1.0, 0.0, 0.0, 1.0]).tolist() == [3.0, 11.0, 19.0]


def test_large_ints():
    @rose.jit
    def same(n: int) -> int:
        return n

    for n in (2**63 - 1, -(2**63)):
        assert same(n) == n
    for n in (2**63, -(2**63) - 1, np.uint64(2**63), 10**30):
        with pytest.raises((OverflowError, TypeError)) as caught:
            same(n)
        assert isinstance(caught.value, rose.RoseError)
        assert "64 bits" in str(caught.value)
    assert same(7) == 7


# --- what is refused


@pytest.mark.parametrize("x", ["1", None, 1j, [1.0], np.array([1.0]), Decimal(1), Fraction(1, 2), object(), len, b"1"])
def test_what_is_no_real(x):
    last = "scaled(x, 2, True)  # refused"
    with fault(rose.StagingTypeError, "`scaled`", "`x`", "float", line="def scaled(", at="x: float", last=last):
        scaled(x, 2, True)  # refused


@pytest.mark.parametrize("digits", [400, 5000])
def test_an_int_that_no_float_is_near_to(digits):
    x = 10**digits
    last = "scaled(x, 2, True)  # too large"
    with fault(rose.RoseOverflowError, "`scaled`", "`x`", "float", line="def scaled(", at="x: float", last=last):
        scaled(x, 2, True)  # too large


@pytest.mark.parametrize("n", [2.0, "2", None, True, np.float64(2), np.bool_(True), [2]])
def test_what_is_no_int(n):
    with fault(rose.StagingTypeError, "`scaled`", "`n`", "int", line="def scaled(", at="n: int", last="scaled(1.0, n,"):
        scaled(1.0, n, True)


@pytest.mark.parametrize("on", [1, 0.0, None, "True"])
def test_what_is_no_truth_value(on):
    with fault(
        rose.StagingTypeError, "`scaled`", "`on`", "bool", line="def scaled(", at="on: bool", last="scaled(1.0, 2, on)"
    ):
        scaled(1.0, 2, on)


@pytest.mark.parametrize(
    "x",
    [
        1.0,
        "abc",
        None,
        {"a": 1.0},
        ["a"],
        np.array(["a"]),
        np.array([1j]),
        np.array([None]),
        [[1.0], [2.0, 3.0]],
        object(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_no_vector(x):
    with pytest.raises((rose.StagingTypeError, rose.ShapeError)) as caught:
        total(x)
    text = str(caught.value)
    assert "`total`" in text
    assert "`x`" in text
    assert 'Vec["n"]' in text


def test_shapes_that_do_not_fit_the_hint():
    line, last = "def total(", "total(np.zeros((2, 3)))"
    with fault(rose.ShapeError, "`total`", 'Vec["n"]', "(2, 3)", line=line, at='x: Vec["n"]', last=last):
        total(np.zeros((2, 3)))
    with fault(rose.ShapeError, 'Mat["n", "m"]', "(3,)", line="def product(", last="product(np.zeros(3),"):
        product(np.zeros(3), [1.0, 2.0, 3.0])

    @rose.jit
    def three(x: Vec[3]) -> float:
        return x[0]

    with fault(rose.ShapeError, "Vec[3]", "(4,)", line="def three(", at="x: Vec[3]", last="three(np.ones(4))"):
        three(np.ones(4))
    assert three([1.0, 2.0, 3.0]) == 1.0


def test_dimensions_that_do_not_agree():
    last = "product(np.ones((2, 3)), np.ones(4))"
    with fault(rose.ShapeError, "`m`", "3", "4", line="def product(", last=last):
        product(np.ones((2, 3)), np.ones(4))
    assert product(np.ones((2, 3)), np.ones(3)).tolist() == [3.0, 3.0]

    @rose.jit
    def differences(x: Vec["n"], y: Vec["n+1"]) -> float:
        return y[len(x)] - x[0]

    assert differences([1.0, 2.0], [1.0, 2.0, 5.0]) == 4.0
    with fault(rose.ShapeError, "n+1", "3", "2", line="def differences(", last="differences([1.0, 2.0], [1.0, 2.0])"):
        differences([1.0, 2.0], [1.0, 2.0])


def test_structures_that_do_not_fit():
    with fault(rose.StagingTypeError, "`of_point`", "`p`", "Point", line="def of_point(", last="of_point((1.0, 2.0))"):
        of_point((1.0, 2.0))
    with fault(rose.StagingTypeError, "`p.y`", "str", line="def of_point(", last='of_point(Point(1.0, "2"))'):
        of_point(Point(1.0, "2"))
    with fault(rose.StagingTypeError, "`p.weight`", line="def of_layer(", last="of_layer(Layer(1.0, 2.0))"):
        of_layer(Layer(1.0, 2.0))
    assert of_layer(Layer(np.array([3.0]), 2.0)) == 6.0


def test_arrays_of_other_elements():
    assert of_ints(np.array([1, 2])) == 3
    assert of_ints([1, 2]) == 3
    with fault(
        rose.StagingTypeError, "`of_ints`", "float64", line="def of_ints(", last="of_ints(np.array([1.0, 2.0]))"
    ):
        of_ints(np.array([1.0, 2.0]))
    with fault(rose.StagingTypeError, "`total`", "bool", line="def total(", last="total(np.array([True]))"):
        total(np.array([True]))


def plain(x, n, on):
    return x


def words(error):
    return re.sub(r"(scaled|plain|product|named)\(\)", "f()", str(error).splitlines()[0])


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((1.0,), {}),
        ((1.0, 2, True, 4), {}),
        ((1.0, 2, True), {"x": 2.0}),
        ((1.0, 2), {"of": True}),
        ((1.0, 2, True), {"z": 1}),
    ],
    ids=str,
)
def test_counts_read_as_those_of_cpython(args, kwargs):
    with pytest.raises(TypeError) as ours:
        scaled(*args, **kwargs)
    with pytest.raises(TypeError) as theirs:
        plain(*args, **kwargs)
    assert words(ours.value) == words(theirs.value)
    assert traceback.extract_tb(ours.value.__traceback__)[-1].filename == __file__


def test_calls_after_a_refused_one():
    for _ in range(2):
        with pytest.raises(rose.StagingTypeError) as caught:
            scaled("1", 2, True)
        assert "str" in str(caught.value)
        assert scaled(1.0, 2, True) == 2.0


# --- memory


def test_arguments_are_never_written():
    a, x = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0, 3.0])

    @rose.jit
    def f(a: Mat["n", "m"], x: Vec["m"]) -> float:
        y = x.copy()
        for i in rose.range(a.shape[0]):
            for j in rose.range(len(x)):
                y[j] = y[j] * a[i, j] + x[j]
        return sum(y[j] * y[j] for j in rose.range(len(x)))

    given = a.copy(), x.copy()
    f(a, x)
    rose.grad(f, (0, 1))(a, x)
    rose.hessian(f, (0, 1))(a, x)
    _, pullback = rose.vjp(f, a, x)
    pullback(1.0)
    rose.jvp(f, (a, x), (a, x))
    product(a, x, out=np.empty(2))
    assert np.array_equal(a, given[0])
    assert np.array_equal(x, given[1])


def test_a_cotangent_is_never_written():
    ct = np.ones(2)
    a, x = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0, 3.0])
    _, pullback = rose.vjp(product, a, x)
    given = pullback(ct)
    given[1][:] = 7.0
    assert ct.tolist() == [1.0, 1.0]


def test_results_are_fresh():
    same = rose.jit(lambda x: (x, x))
    x = np.array([1.0, 2.0])
    first, second = same(x)
    first[0] = 5.0
    assert second.tolist() == [1.0, 2.0]
    assert x.tolist() == [1.0, 2.0]
    again, _ = same(x)
    again[1] = 7.0
    assert first.tolist() == [5.0, 2.0]
    assert first.flags.owndata or first.base is None or first.base.flags.owndata
    assert first.flags.writeable


def test_out_is_written():
    a, x, out = np.eye(2), np.array([3.0, 4.0]), np.zeros(2)
    given = product(a, x, out=out)
    assert out.tolist() == [3.0, 4.0]
    assert given is out
    assert product(a, x, 2.0, out=out).tolist() == [6.0, 8.0]
    assert product(a, x) is not out
    strided = np.zeros(4)
    product(a, x, out=strided[::2])
    assert strided.tolist() == [3.0, 0.0, 4.0, 0.0]


@pytest.mark.parametrize("out", [np.zeros(3), np.zeros(2, "f4"), np.zeros((2, 1)), [0.0, 0.0]], ids=repr)
def test_out_of_another_kind_is_refused(out):
    kept = np.array(out).copy()
    with pytest.raises((TypeError, ValueError)) as caught:
        product(np.eye(2), [3.0, 4.0], out=out)
    assert isinstance(caught.value, rose.RoseError)
    assert "out" in str(caught.value)
    assert np.array_equal(np.array(out), kept)


def test_out_that_is_an_argument():
    x = np.array([3.0, 4.0])
    turned = rose.jit(lambda x: np.array([x[1] * 2.0, x[0] * 2.0]))
    assert turned(x, out=x) is x
    assert x.tolist() == [8.0, 6.0]


# --- derivatives


@pytest.mark.parametrize(
    ("primals", "tangents"),
    [((1.0, 2, True), (1.0, None)), ((1.0, 2, True), ("1", None, None)), ((1.0, 2, True), (np.ones(2), None, None))],
)
def test_tangents_that_do_not_fit(primals, tangents):
    with pytest.raises((rose.StagingTypeError, rose.ShapeError)):
        rose.jvp(scaled, primals, tangents)


@pytest.mark.parametrize("tangent", ["1", [1.0], object()])
def test_a_tangent_that_is_no_number(tangent):
    with pytest.raises(rose.StagingTypeError, match="tangent"):
        rose.jvp(lambda x: x * x, (2.0,), (tangent,))


def test_tangents_of_another_shape():
    for tangent in (np.ones(2), np.ones((3, 1)), 1.0, [[1.0, 2.0, 3.0]]):
        with pytest.raises((rose.ShapeError, rose.StagingTypeError)) as caught:
            rose.jvp(total, (np.ones(3),), (tangent,))
        assert "(3,)" in str(caught.value)


def test_cotangents_of_another_shape():
    _, pullback = rose.vjp(product, np.eye(2), np.ones(2))
    for ct in (1.0, np.ones(3), np.ones((2, 2)), "a"):
        with pytest.raises((rose.ShapeError, rose.StagingTypeError)):
            pullback(ct)
    assert pullback(np.array([1.0, 0.0]))[1].tolist() == [1.0, 0.0]


def test_kinds_that_no_hint_says_do_not_depend_on_earlier_calls():
    """Code for a float does not take an int where only the value says what it is."""

    @rose.jit
    def double(x):
        return x * 2

    @rose.jit
    def union(x: int | float):
        return x * 2

    @rose.jit
    def nested(pairs, *rest):
        return pairs[0][1] * 2, rest[-1]

    for f in (double, union):
        assert [repr(f(x)) for x in (2, 2.0, 2, 2.5, 2**53 + 1)] == ["4", "4.0", "4", "5.0", "18014398509481986"]
    assert [repr(nested([(1, x)], 0.5, x)) for x in (2, 2.0, 2)] == ["(4, 2)", "(4.0, 2.0)", "(4, 2)"]
    assert [double(np.array(x)).dtype.kind for x in ([1], [1.0], [1], [True])] == ["i", "f", "i", "i"]
    assert [repr(rose.jit(lambda x: x + 1.0)(x)) for x in (2.0, 2)] == ["3.0", "3.0"]

    @rose.jit
    def hinted(x: float):
        return x * 2

    assert [repr(hinted(x)) for x in (2.0, 2, np.float32(2))] == ["4.0"] * 3
    assert hinted.cache_info().size == 1


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.array(2.0, mask=True), np.ma.array(2, mask=True)])
def test_what_is_masked_has_no_value(value):
    """NumPy takes 0 for it, or NaN."""

    @rose.jit
    def f(x: float, k: int = 1) -> float:
        return x * k

    y, pullback = rose.vjp(f, 2.0)
    assert (y, f(np.ma.array(2.0))) == (2.0, 2.0)
    for call in (f, rose.grad(f), rose.jit(lambda x: x * 2.0), lambda x: f(2.0, x), lambda x: f([x][0]), pullback):
        with pytest.raises(rose.StagingTypeError):
            call(value)


class Five(NamedTuple):
    a: float
    n: int
    b: float
    m: int
    c: float


@dataclass
class Four:
    p: float
    q: float
    r: float
    s: float


def test_many_scalars_side_by_side_of_several_kinds():
    @rose.jit
    def f(a: float, n: int, flag: bool, b: float, m: int, c: float, d: float, k: int) -> tuple:
        sign = 1.0 if flag else -1.0
        return Five(a * sign, n + k, b, m, c), Four(d, c, b, a), [n, m, k, 0], {"a": a, "b": b, "c": c, "d": d}, flag

    given = (1.5, 2, False, -0.0, 2**62, 4.0, math.inf, -(2**63))
    for _ in range(2):
        five, four, ints, known, flag = f(*given)
        assert five == Five(-1.5, 2 - 2**63, -0.0, 2**62, 4.0)
        assert (type(five), type(five.n), type(five.a)) == (Five, int, float)
        assert four == Four(math.inf, 4.0, -0.0, 1.5)
        assert ints == [2, 2**62, -(2**63), 0]
        assert known == {"a": 1.5, "b": -0.0, "c": 4.0, "d": math.inf}
        assert flag is False
    assert f(1, 2, True, 3, 4, 5, 6, 7)[0] == Five(1.0, 9, 3.0, 4, 5.0)
    with pytest.raises(rose.RoseOverflowError, match="9223372036854775808"):
        f(1.0, 2, True, 3.0, 2**63, 4.0, 5.0, 6)
    assert f(*given)[0].m == 2**62


def test_lists_and_tuples_of_many_scalars():
    @rose.jit
    def f(x: list[float], n: tuple[int, int, int, int]) -> tuple:
        return x[::-1], n[::-1]

    x, n = [0.1 * k for k in range(100)], (1, 2, 3, 2**63 - 1)
    assert f(x, n) == (x[::-1], n[::-1])
    assert f([np.float64(v) for v in x], n) == (x[::-1], n[::-1])
    with pytest.raises(rose.RoseOverflowError):
        f(x, (1, 2, 3, 2**63))


def weighed(d: dict[str, float]) -> float:
    total = 0.0
    for k, (_, value) in enumerate(d.items()):
        total = total * 3 + value * (k + 1)
    return total


ORDERED, TURNED = {"b": 1.0, "a": 2.0}, {"a": 2.0, "b": 1.0}


def test_the_order_of_the_keys_of_a_dict_is_that_of_each_call():
    f = rose.jit(weighed)
    assert [f(d) for d in (ORDERED, TURNED, ORDERED)] == [7.0, 8.0, 7.0]
    gradients = [rose.grad(f)(d) for d in (ORDERED, TURNED)]
    assert gradients == [{"b": 3.0, "a": 2.0}, {"a": 3.0, "b": 2.0}]
    columns = [{key: np.full(2, value) for key, value in d.items()} for d in (ORDERED, TURNED, ORDERED)]
    assert [rose.vmap(f)(d).tolist() for d in columns] == [[7.0] * 2, [8.0] * 2, [7.0] * 2]


def test_keys_are_of_any_class():
    @rose.jit
    def by_int(d: dict[int, float]) -> dict[int, float]:
        return {k: value * k for k, value in d.items()}

    @rose.jit
    def by_pair(d: dict[tuple[str, str], float]) -> float:
        return sum(value**2 for value in by_int({3: d["a", "b"], 5: d["b", "a"]}).values())

    assert by_int({2: 1.5, 7: 2.0}) == {2: 3.0, 7: 14.0}
    assert rose.grad(by_pair)({("a", "b"): 1.0, ("b", "a"): -2.0}) == {("a", "b"): 18.0, ("b", "a"): -100.0}


def test_tangents_come_in_any_order():
    f = rose.jit(weighed)
    assert rose.jvp(f, (ORDERED,), (TURNED,)) == (7.0, 7.0)
    assert rose.jvp(f, (TURNED,), (ORDERED,)) == (8.0, 8.0)


class Weights(TypedDict):
    b: float
    a: float


def test_the_order_of_a_typed_dict_is_that_of_its_class():
    @rose.jit
    def f(d: Weights) -> float:
        return weighed(d)

    assert [f(d) for d in (ORDERED, TURNED)] == [7.0, 7.0]
