"""Arrays that change while something else still needs what they were; what it costs."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.contract.costs import assert_linear, costs

X = np.array([1.2, 0.7, 1.5])


# --- the cumulative product


@rose.jit
def unrolled(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.unroll(range(1, len(x))):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def looped(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@rose.jit
def from_zeros(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in rose.range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


@pytest.mark.parametrize("f", [unrolled, looped, from_zeros])
@pytest.mark.parametrize("mode", [rose.jacfwd, rose.jacrev, rose.jacobian])
def test_jacobian_of_the_cumulative_product(f, mode):
    assert mode(f)(np.array([1.0, 2.0, 3.0])).tolist() == [[1, 0, 0], [2, 1, 0], [6, 3, 2]]


@pytest.mark.parametrize("f", [unrolled, looped, from_zeros])
def test_rows_and_columns_of_the_cumulative_product(f):
    x = np.array([1.0, 2.0, 3.0])
    y, pullback = rose.vjp(f, x)
    assert y.tolist() == [1.0, 2.0, 6.0]
    rows = [pullback(row)[0].tolist() for row in np.eye(3)]
    assert rows == [[1, 0, 0], [2, 1, 0], [6, 3, 2]]
    columns = [rose.jvp(f, (x,), (column,))[1].tolist() for column in np.eye(3)]
    assert columns == [[1, 2, 6], [0, 1, 3], [0, 0, 2]]


@rose.jit
def last(x: Vec["n"]) -> float:
    return looped(x)[len(x) - 1]


@pytest.mark.parametrize("n", [10_000, 100_000])
def test_long_cumulative_product(n):
    x = np.ones(n)
    x[n // 2] = 0.5
    gradient = rose.grad(last)(x)
    assert gradient[n // 2] == 1.0
    assert np.all(np.delete(gradient, n // 2) == 0.5)


@pytest.mark.parametrize("f", [looped, from_zeros, last])
def test_the_cumulative_product_is_linear_to_order_2(f):
    for order, sizes in ((0, (500, 5000)), (1, (500, 5000)), (2, (100, 400))):
        small, large = ([costs(f, (np.full(n, 1.0),), order)] for n in sizes)
        assert_linear(small[0], large[0], sizes[1] / sizes[0])


# --- (a) an old array read after its update, in a loop


def test_old_values_are_kept():
    @rose.jit
    def f(x: Vec["n"]) -> float:
        y = x.copy()
        s = 0.0
        for i in rose.range(len(x)):
            before = y.copy()
            y[i] = y[i] * before[0]
            s += before[i] * y[i] + before[0]
        return s

    @rose.jit
    def element(x: Vec["n"]) -> float:
        y = x.copy()
        s = 0.0
        for i in rose.range(len(x)):
            old = y[0]
            y[0] = old * x[i]
            s += old * y[0]
        return s

    def plain(x):
        a, b, c = x
        return a * a * a + a + (b * b + c * c) * a * a + 2 * a * a

    def slope(x):
        a, b, c = x
        return [3 * a * a + 1 + 2 * a * (b * b + c * c) + 4 * a, 2 * b * a * a, 2 * c * a * a]

    assert f(X) == pytest.approx(plain(X), rel=1e-14)
    assert rose.grad(f)(X) == pytest.approx(slope(X), rel=1e-13)
    a, b, c = X
    assert element(X) == pytest.approx(a * a * a + a**4 * b + a**4 * b * b * c, rel=1e-14)
    rose.check_grads(f, (X,), order=2)
    rose.check_grads(element, (X,), order=2)


# --- (b) an array that is a result and a residual


@rose.jit
def exponentials(x: Vec["n"]) -> Vec["n"]:
    return [math.exp(x[i]) for i in rose.range(len(x))]


@rose.jit
def roots(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    for i in rose.range(len(x)):
        y[i] = math.sqrt(y[i]) * y[0]
    return y


@pytest.mark.parametrize("f", [exponentials, roots])
def test_a_result_that_the_caller_changes(f):
    y, pullback = rose.vjp(f, X)
    kept = y.copy()
    wanted = pullback(np.ones(3))[0]
    y[:] = math.nan
    assert pullback(np.ones(3))[0].tolist() == wanted.tolist()
    assert f(X).tolist() == kept.tolist()


def test_an_argument_that_the_caller_changes():
    x = X.copy()
    _, pullback = rose.vjp(lambda v: v[0] * v[1] * v[2], x)
    x[:] = math.nan
    assert pullback(1.0)[0].tolist() == pytest.approx([X[1] * X[2], X[0] * X[2], X[0] * X[1]])
    cotangents = pullback(1.0)
    cotangents[0][:] = math.nan
    assert pullback(1.0)[0].tolist() == pytest.approx([X[1] * X[2], X[0] * X[2], X[0] * X[1]])


def test_a_result_that_staged_code_changes():
    @rose.jit
    def f(x: Vec["n"]) -> float:
        y = exponentials(x)
        y[0] = y[1] * y[1]
        z = exponentials(y)
        return z[0] * y[2]

    wanted = math.exp(math.exp(2 * X[1])) * math.exp(X[2])
    assert f(X) == pytest.approx(wanted, rel=1e-13)
    slope = [0.0, wanted * 2 * math.exp(2 * X[1]), wanted]
    assert rose.grad(f)(X) == pytest.approx(slope, rel=1e-12)
    rose.check_grads(f, (X * 0.3,), order=2)


# --- (c) a call that reads one element, in a loop


@rose.jit
def element(x: Vec["n"], i: int) -> float:
    return x[i] * x[i]


@rose.jit
def sum_of_calls(x: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        s += element(x, i)
    return s


def test_calls_that_read_an_element_are_linear():
    for order in (1, 2):
        sizes = (100, 1000, 5000) if order == 1 else (50, 500)
        found = [costs(sum_of_calls, (np.full(n, 0.5),), order) for n in sizes]
        for (n, small), (m, large) in zip(zip(sizes, found), list(zip(sizes, found))[1:], strict=False):
            assert_linear(small, large, m / n)


def test_many_calls_that_read_an_element():
    x = np.linspace(-1.0, 1.0, 100_000)
    assert np.array_equal(rose.grad(sum_of_calls)(x), 2 * x)
    v = np.cos(x)
    assert np.array_equal(rose.hvp(sum_of_calls)(x, v), 2 * v)


# --- (d) two arrays swapped each iteration


@rose.jit
def leapfrog(x: Vec["n"], y: Vec["n"], steps: int) -> float:
    a, b = x.copy(), y.copy()
    for k in rose.range(steps):
        for i in rose.range(len(x)):
            a[i] = a[i] * 0.5 + b[len(x) - 1 - i] * (k + 1)
        a, b = b, a
    return sum(a[i] * b[i] for i in rose.range(len(x)))


def test_swapped_arrays():
    def plain(x, y, steps):
        for k in range(steps):
            x, y = y, x * 0.5 + y[::-1] * (k + 1)
        return x @ y

    y = np.array([0.8, 1.1, 0.6])
    for steps in range(5):
        assert leapfrog(X, y, steps) == pytest.approx(plain(X, y, steps), rel=1e-13)
    rose.check_grads(lambda a, b: leapfrog(a, b, 3), (X, y), order=2)
    assert_linear(costs(leapfrog, (X, y, 50), 1), costs(leapfrog, (X, y, 500), 1), 10)
    many, few = np.ones(400), np.ones(40)
    assert_linear(costs(leapfrog, (few, few, 5), 1), costs(leapfrog, (many, many, 5), 1), 10)


# --- (e) an array updated on one side of an `if` inside a loop


@rose.jit
def one_side(x: Vec["n"]) -> float:
    y = x.copy()
    s = 0.0
    for i in rose.range(len(x)):
        if y[i] < 1.0:
            y[i] = y[i] * y[i]
        s += y[i] * x[i]
    return s * y[0]


def test_an_update_on_one_side():
    x = np.array([0.5, 1.5, 0.25])
    s = 0.5**3 + 1.5**2 + 0.25**3
    assert one_side(x) == s * 0.25
    wanted = [3 * 0.25 * 0.25 + s, 3.0 * 0.25, 3 * 0.25**2 * 0.25]
    assert rose.grad(one_side)(x) == pytest.approx(wanted, rel=1e-14)
    rose.check_grads(one_side, (x,), order=2)
    for order, (n, m) in ((1, (100, 1000)), (2, (50, 200))):
        assert_linear(costs(one_side, (np.full(n, 0.9),), order), costs(one_side, (np.full(m, 0.9),), order), m / n)


# --- (f) a pullback used after another call of the same function, and twice


def test_a_pullback_outlives_other_calls():
    y = np.array([0.3, 0.2, 0.1])
    first, pull_first = rose.vjp(looped, X)
    second, pull_second = rose.vjp(looped, y)
    looped(y)
    rose.grad(last)(y)
    ct = np.array([1.0, -1.0, 2.0])
    once = pull_first(ct)[0].tolist()
    jacobian = np.array([[1, 0, 0], [X[1], X[0], 0], [X[1] * X[2], X[0] * X[2], X[0] * X[1]]])
    assert once == pytest.approx((ct @ jacobian).tolist(), rel=1e-14)
    assert pull_second(ct)[0].tolist() != once
    assert pull_first(ct)[0].tolist() == once
    assert pull_first(2 * ct)[0].tolist() == [2 * v for v in once]
    assert first.tolist() == looped(X).tolist()
    assert second.tolist() == looped(y).tolist()


def test_many_pullbacks_live_at_once():
    pulled = [rose.vjp(last, np.full(100, 1.0 + k / 1000))[1] for k in range(50)]
    for k, pullback in reversed(list(enumerate(pulled))):
        assert pullback(1.0)[0][0] == pytest.approx((1 + k / 1000) ** 99, rel=1e-12)


def test_a_pullback_with_an_array_that_grows_in_a_loop():
    """Residuals of loops whose trip count is an argument."""
    f = rose.jit(lambda x, n: _decay(x, n))
    y, pullback = rose.vjp(f, 0.5, 1000)
    f(0.1, 10)
    assert y == pytest.approx(0.5 * 0.999**1000, rel=1e-12)
    assert pullback(1.0)[0] == pytest.approx(0.999**1000, rel=1e-12)
    assert pullback(2.0)[0] == 2 * pullback(1.0)[0]


@rose.jit
def _decay(x: float, n: int) -> float:
    for _ in rose.range(n):
        x *= 0.999
    return x


# --- (g) an opaque function that calls a decorated one


@rose.opaque
def through_python(x: float) -> float:
    return _decay(x, 10)


@through_python.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(through_python(x.re), x.du * 0.999**10)


@rose.jit
def enters_again(x: Vec["n"]) -> float:
    y = x.copy()
    for i in rose.range(len(x)):
        y[i] = through_python(y[i]) * x[0]
    return y[0] + y[1]


def test_an_opaque_function_that_calls_compiled_code():
    r = 0.999**10
    assert enters_again(X) == pytest.approx(r * X[0] * (X[0] + X[1]), rel=1e-14)
    assert rose.grad(enters_again)(X) == pytest.approx([r * (2 * X[0] + X[1]), r * X[0], 0.0], rel=1e-13)
    assert rose.hessian(enters_again)(X) == pytest.approx(np.array([[2 * r, r, 0], [r, 0, 0], [0, 0, 0]]), rel=1e-13)


def test_an_opaque_function_that_calls_the_function_it_is_in():
    @rose.opaque
    def down(n: int) -> int:
        return factorial(n - 1) if n > 0 else 1

    @rose.jit
    def factorial(n: int) -> int:
        return max(n, 1) * down(n)

    assert factorial(10) == 3628800


# --- (h) the same array twice


@rose.jit
def crossed(x: Vec["n"], y: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        s += x[i] * y[len(y) - 1 - i]
    return s


@rose.jit
def with_itself(x: Vec["n"]) -> float:
    return crossed(x, x)


@rose.jit
def written_and_read(x: Vec["n"], y: Vec["n"]) -> float:
    z = x.copy()
    for i in rose.range(len(x)):
        z[i] = z[i] * y[0]
    return z[1] * y[1]


@rose.jit
def twice_in_staged_code(x: Vec["n"]) -> float:
    z = [2.0 * x[i] for i in rose.range(len(x))]
    return written_and_read(z, z) * with_itself(z)


def test_the_same_array_twice():
    assert rose.grad(with_itself)(X) == pytest.approx(2 * X[::-1], rel=1e-14)
    assert rose.hessian(with_itself)(X) == pytest.approx(2 * np.eye(3)[::-1], rel=1e-14)
    rose.check_grads(with_itself, (X,), order=2)
    rose.check_grads(twice_in_staged_code, (X,), order=2)
    for order in (0, 1):
        assert [c.copied for c in costs(with_itself, (X,), order)] == [0] * 2**order
    assert all(c.copied <= len(X) for c in costs(with_itself, (X,), 2))
    for order in (0, 1):
        assert all(c.copied <= 2**order * len(X) for c in costs(twice_in_staged_code, (X,), order))


@rose.jit
def sum_of_rows(a: Mat["n", "m"]) -> float:
    s = 0.0
    for i in rose.range(a.shape[0]):
        s += crossed(a[i], a[0])
    return s


def test_rows_as_arguments_are_not_copied():
    a = np.array([[1.2, 0.7, 1.5], [0.3, -0.5, 0.4]])
    rose.check_grads(sum_of_rows, (a,), order=2)
    assert [c.copied for order in (0, 1) for c in costs(sum_of_rows, (a,), order)] == [0, 0, 0]
