"""Rules for the derivatives of functions of arrays: what they return is checked, and zeros are zero tangents."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from tests.contract.anatomy import fault
from tests.frontend.oracle import define

X = np.array([1.0, 2.0, 3.0])
W = np.arange(9.0).reshape(3, 3)


@rose.jit
def square(t):
    return t * t


@rose.jit
def double(t):
    return t * 2.0


@rose.opaque
def hidden(t: rose.Vec["n"]) -> rose.Vec["n"]:
    return np.asarray(t) * 2.0


def with_rule(rule, function=lambda x: x * 2):
    made = rose.jit(function)
    made.jvp = rule
    return made


def tangent(rule, dx=X):
    return rose.jvp(with_rule(rule), (X,), (dx,))[1]


# --- rules that are none


@pytest.mark.parametrize(
    "du",
    [
        lambda x: x.re * 1.0,
        lambda x: np.ones(3),
        lambda x: np.ones_like(x.re),
        lambda x: [1.0, 2.0, 3.0],
        lambda x: np.array([x.du[0], 1.0, x.re[2]]),
        lambda x: np.concatenate([x.du[:1], x.re[1:]]),
        lambda x: np.where(x.re > 1.0, x.du, 1.0),
        lambda x: square(x.du),
        lambda x: x.du + 1.0,
        lambda x: x.du + x.re,
        lambda x: np.cumprod(x.du),
        lambda x: np.prod(x.du) * x.re,
        lambda x: x.du % 2.0,
        lambda x: np.sort(x.du),
        lambda x: np.linalg.norm(x.du) * x.re,
    ],
)
def test_what_is_not_linear_is_refused(du):
    with pytest.raises((rose.NotDifferentiable, rose.StagingTypeError), match="tangent") as caught:
        tangent(lambda x: rose.Dual(x.re * 2, du(x)))
    assert __file__ in str(caught.value)
    assert not {"Tan", "tselect", "bselect", "tadd"} & set(str(caught.value).replace("`", " ").split())


def test_a_derivative_without_tangents_names_the_rule():
    f = with_rule(lambda x: rose.Dual(x.re * 2, x.re * 1.0))  # free of tangents
    with fault(
        rose.NotDifferentiable,
        "not linear in the tangents",
        "Real array of shape (3,)",
        help="`du`",
        last="f = with_rule(lambda x: rose.Dual(x.re * 2, x.re * 1.0))",
    ) as found:
        rose.jvp(f, (X,), (X,))
    assert "# free of tangents" in found.text


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda x: rose.Dual(x.re * 2, x.du[:2]), "derivative of shape (2,)"),
        (lambda x: rose.Dual(x.re * 2, np.zeros(2)), "derivative of shape (2,)"),
        (lambda x: rose.Dual(x.re * 2, x.du[0]), "derivative of shape ()"),
        (lambda x: rose.Dual(x.re[:2], x.du), "value of shape (2,)"),
        (lambda x: rose.Dual(1.0, x.du), "value of shape ()"),
    ],
)
def test_shapes_are_those_of_the_function(rule, words):
    with pytest.raises(rose.ShapeError) as caught:
        tangent(rule)
    assert words in str(caught.value)
    assert "(3,)" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda x: rose.Dual(x.re > 1.0, x.du), "kind of value"),
        (lambda x: rose.Dual(x.du, x.du), "a tangent as its value"),
        (lambda x: rose.Dual(None, x.du), "no number"),
        (lambda x: rose.Dual("x", x.du), "no number"),
    ],
)
def test_the_value_is_of_the_kind_of_the_function(rule, words):
    with pytest.raises(rose.NotDifferentiable) as caught:
        tangent(rule)
    assert words in str(caught.value)


# --- what rules read from outside

ARRAYS = {
    "a product": lambda x: rose.Dual(x.re * 2, W @ x.du),
    "from the right": lambda x: rose.Dual(x.re * 2, x.du @ W.T),
    "np.dot": lambda x: rose.Dual(x.re * 2, np.dot(W, x.du)),
    "np.einsum": lambda x: rose.Dual(x.re * 2, np.einsum("ij,j->i", W, x.du)),
    "rows and sums": lambda x: rose.Dual(x.re * 2, np.array([(W[i] * x.du).sum() for i in range(3)])),
    "broadcast": lambda x: rose.Dual(x.re * 2, (W * x.du).sum(axis=1)),
    "a constant": lambda x: rose.Dual(x.re * 2, np.arange(9.0).reshape(3, 3) @ x.du),
    "a large constant": lambda x: rose.Dual(x.re * 2, np.arange(900.0).reshape(3, 300)[:, :3] @ x.du * 0.0 + W @ x.du),
    "in a loop": lambda x: rose.Dual(x.re * 2, np.array([W[i] @ x.du for i in rose.range(3)])),
}


@pytest.mark.parametrize("rule", ARRAYS.values(), ids=ARRAYS)
def test_a_rule_reads_arrays_from_outside(rule):
    for function in (lambda x: x * 2, lambda x: W @ x + 0.0 * W[0], hidden.__wrapped__):
        f = rose.opaque(function) if function is hidden.__wrapped__ else rose.jit(function)
        f.jvp = rule
        dx = np.array([1.0, -2.0, 0.5])
        assert np.allclose(rose.jvp(f, (X,), (dx,))[1], np.einsum("ij,j->i", W, dx), 1e-15)
        _, pull = rose.vjp(f, X)
        assert np.allclose(pull(dx)[0], np.einsum("ij,i->j", W, dx), 1e-15)


def test_a_rule_with_an_array_has_all_orders():
    @rose.jit
    def cubed(x: float) -> float:
        return x**3

    factors = np.array([3.0, 0.0])

    @cubed.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(cubed(x.re), factors[0] * x.re * x.re * x.du)

    @rose.jit
    def many(x: float) -> float:
        return sum(cubed(x + i) for i in rose.range(3))

    g = rose.grad(cubed)
    assert (g(2.0), rose.grad(g)(2.0), rose.grad(rose.grad(g))(2.0)) == (12.0, 12.0, 6.0)
    rose.check_grads(many, (1.5,), order=2)
    factors[0] = 6.0
    assert (g(2.0), rose.grad(many)(1.0)) == (24.0, 84.0)


@pytest.mark.parametrize("what", ["k", "a[1]", "helper(1.0)", "plain(1.0)", "row[1]"])
def test_what_a_rule_has_read_may_change(what):
    scope = {"rose": rose, "np": np, "k": 2.0, "a": np.full(2, 2.0), "row": np.full(2, 2.0)}
    text = f"""
    @rose.jit
    def helper(x: float): return a[0] * x
    def plain(x): return k * x
    @rose.jit
    def f(x: float) -> float: return x * row[0] / 2.0
    @f.jvp
    def _(x: rose.Dual): return rose.Dual(f(x.re), {what} * x.du)
    def use(x: float): return f(x) * 1.0
    """
    use = rose.jit(define(text, **scope))
    slope = rose.grad(use)
    assert slope(1.0) == 2.0
    names = use.__wrapped__.__globals__
    names["k"], names["a"], names["row"] = 7.0, np.full(2, 7.0), np.array([2.0, 7.0])
    assert slope(1.0) == rose.grad(use)(1.0) == rose.jvp(use, (1.0,), (1.0,))[1] == 7.0


def test_a_rule_that_calls_what_calls_its_function():
    @rose.jit
    def f(x: float) -> float:
        return x

    @rose.jit
    def through(x: float) -> float:
        return f(x)

    @f.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(through(x.re), x.du * W[0, 1])

    with pytest.raises(rose.NotDifferentiable, match="reads an array from outside that `f` does not, and calls"):
        rose.grad(f)(1.0)


def test_a_rule_of_a_closure_over_staged_values():
    def outer(x: float, k: float) -> float:
        @rose.jit
        def f(t: float) -> float:
            return t * k

        f.jvp = lambda t: rose.Dual(t.re, t.du)
        return f(x)

    with pytest.raises(rose.NotDifferentiable, match="closes over values that are staged") as caught:
        rose.grad(outer)(1.0, 2.0)
    assert "make them parameters of `f`" in str(caught.value)


# --- zeros


@pytest.mark.parametrize(
    "zero",
    [
        lambda x: np.zeros_like(x.re),
        lambda x: np.zeros(3),
        lambda x: np.zeros(3, dtype=int),
        lambda x: np.zeros_like(x.du),
        lambda x: 0.0,
        lambda x: 0,
        lambda x: None,
        lambda x: [0.0, 0.0, 0.0],
    ],
)
def test_zeros_are_a_zero_tangent(zero):
    floor = with_rule(lambda x: rose.Dual(np.floor(x.re), zero(x)), lambda x: np.floor(x))
    assert (rose.grad(lambda x: (floor(x) * x).sum())(X) == np.floor(X)).all()
    assert (rose.jvp(floor, (X,), (X,))[1] == 0.0).all()


def test_zeros_in_a_part_of_a_structure():
    both = with_rule(lambda x: rose.Dual((x.re * 2, x.re.sum()), (x.du * 2, 0.0)), lambda x: (x * 2, x.sum()))
    first, second = rose.jvp(both, (X,), (X,))[1]
    assert (first == 2 * X).all()
    assert second == 0.0


def test_parts_of_a_dict_go_by_their_keys():
    named = with_rule(
        lambda x: rose.Dual({"b": x.re * 3, "a": x.re * 2}, {"b": x.du * 3, "a": x.du * 2}),
        lambda x: {"a": x * 2, "b": x * 3},
    )
    assert rose.jvp(named, (1.0,), (1.0,)) == ({"a": 2.0, "b": 3.0}, {"a": 2.0, "b": 3.0})


# --- tangents as arguments


class Pair(NamedTuple):
    a: float
    b: float


@rose.jit
def swapped(p):
    return Pair(p.b * 3.0, p.a)


def test_a_decorated_function_of_tangents():
    assert (tangent(lambda x: rose.Dual(double(x.re), double(x.du))) == 2 * X).all()
    f = with_rule(lambda x: rose.Dual(x.re * 2, double(x.du)))
    assert rose.grad(f)(2.0) == 2.0
    g = with_rule(lambda x: rose.Dual(x.re * 3, swapped(Pair(x.du, x.du)).a), lambda x: x * 3)
    assert rose.grad(g)(2.0) == 3.0


def test_a_function_whose_rule_calls_it_with_tangents():
    @rose.jit
    def scaled(x):
        return x * 3.0

    scaled.jvp = lambda x: rose.Dual(scaled(x.re), scaled(x.du))
    assert rose.grad(scaled)(1.0) == 3.0
    assert (rose.grad(lambda x: (scaled(x) * x).sum())(X) == 6.0 * X).all()


def test_a_decorated_function_that_is_not_linear_is_shown():
    with pytest.raises(rose.StagingTypeError, match="not linear") as caught:
        tangent(lambda x: rose.Dual(x.re * 2, square(x.du)))
    assert "in square" in str(caught.value)
    assert "return t * t" in str(caught.value)


@pytest.mark.parametrize(
    "du",
    [
        lambda x: hidden(x.du),
        lambda x: rose.checkpoint(double)(x.du),
        lambda x: rose.vmap(lambda t: t * t)(x.du),
        lambda x: rose.grad(lambda t: square(t).sum())(x.du),
        lambda x: rose.jvp(square, (x.re,), (x.du,))[1],
    ],
)
def test_other_functions_take_no_tangents(du):
    with pytest.raises(rose.StagingTypeError, match="a tangent cannot be passed to") as caught:
        tangent(lambda x: rose.Dual(x.re * 2, du(x)))
    assert "help: " in str(caught.value)


def test_recursion_on_a_tangent_is_refused():
    @rose.jit
    def power(n: int, x: float) -> float:
        if n < 1:
            return x
        return power(n - 1, x) * 2.0

    power.jvp = lambda n, x: rose.Dual(power(n, x.re), power(n, x.du))
    with pytest.raises(rose.StagingTypeError, match="a tangent cannot be passed to `power`"):
        rose.grad(power, 1)(3, 2.0)


# --- rules that are linear


@pytest.mark.parametrize(
    ("du", "wanted"),
    [
        (lambda x: np.cumsum(x.du), np.cumsum(X)),
        (lambda x: np.where(x.re > 1.5, 2 * x.du, x.du), np.array([1.0, 4.0, 6.0])),
        (lambda x: np.where(x.re > 1.5, x.du, 0.0), np.array([0.0, 2.0, 3.0])),
        (lambda x: np.concatenate([x.du[:1], np.zeros(2)]), np.array([1.0, 0.0, 0.0])),
        (lambda x: [x.du[2], x.du[1] / 2, 0.0], np.array([3.0, 1.0, 0.0])),
        (lambda x: x.re * np.dot(x.re, x.du), X * 14.0),
    ],
)
def test_linear_rules(du, wanted):
    f = with_rule(lambda x: rose.Dual(x.re * 2, du(x)))
    assert np.allclose(rose.jvp(f, (X,), (X,))[1], wanted)
    ct = np.array([0.5, -1.0, 2.0])
    (back,) = rose.vjp(f, X)[1](ct)
    assert math.isclose(back @ X, ct @ wanted)  # <J' ct, dx> = <ct, J dx>


# --- what is said of tangents


@pytest.mark.parametrize(
    ("du", "words"),
    [
        (lambda x: x.du * int(x.du[0]), "`int` of a tangent is not linear"),
        (lambda x: x.du if x.du[0] else -x.du, "`bool` of a tangent is not linear"),
        (lambda x: x.du * round(x.du[0]), "`round` of a tangent is not linear"),
        (lambda x: x.du * math.floor(x.du[0]), "`floor` of a tangent is not linear"),
        (lambda x: x.re[x.du[0]], "given tangent"),
        (lambda x: x.du * [1, 2][x.du[0]], "`index` of a tangent is not linear"),
        (lambda x: {x.du[0]: x.du}, "the value of a staged tangent"),
        (lambda x: print(x.du[0]) or x.du, "a tangent cannot be passed to `print`"),
        (lambda x: np.ones_like(x.du), "`np.ones_like` of tangents"),
        (lambda x: np.full_like(x.du, 2.0), "`np.full_like` of tangents"),
    ],
)
def test_a_tangent_is_called_that(du, words):
    with pytest.raises(rose.StagingTypeError) as caught:
        tangent(lambda x: rose.Dual(x.re * 2, du(x)))
    assert words in str(caught.value)
    assert "Tan" not in str(caught.value)


@pytest.mark.parametrize(
    "du",
    [
        lambda x: np.array([float(x.du[0]), x.du[1].item(), x.du[2].sum()]),
        lambda x: x.du.astype(float),
        lambda x: np.full_like(x.du, x.du[0]) + (x.du - x.du[0]),
        lambda x: np.zeros_like(x.du) + np.empty_like(x.du) * 0.0 + x.du,
    ],
)
def test_what_is_linear_in_a_tangent(du):
    assert tangent(lambda x: rose.Dual(x.re * 2, du(x))).tolist() == X.tolist()


def test_an_attribute_that_a_tangent_has_not():
    with pytest.raises(AttributeError, match="'tangent' object has no attribute 'foo'"):
        tangent(lambda x: rose.Dual(x.re, x.du[0].foo))
