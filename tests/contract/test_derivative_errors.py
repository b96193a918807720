"""What has no derivative, and rules that are none."""

import math

import pytest

import rosejit as rose
from rosejit import Vec
from tests.contract.anatomy import fault

# --- NotDifferentiable


def test_gradient_of_a_vector():
    @rose.jit
    def vector(x: Vec["n"]) -> Vec["n"]:
        return [2.0 * x[i] for i in rose.range(len(x))]

    with fault(
        rose.NotDifferentiable, "`grad`", "`vector`", "(2,)", help="jacobian", last="rose.grad(vector)([1.0, 2.0])"
    ):
        rose.grad(vector)([1.0, 2.0])


def test_gradient_to_an_int():
    @rose.jit
    def times(n: int, x: float) -> float:
        return n * x

    with fault(rose.NotDifferentiable, "`times`", "`n`", "Int", help="argnums", last="rose.grad(times)(3, 2.0)"):
        rose.grad(times)(3, 2.0)
    assert rose.grad(times, 1)(3, 2.0) == 3.0
    assert rose.grad(times, "x")(3, 2.0) == 3.0


@pytest.mark.parametrize("argnums", [2, -3, "z", (0, 5), "xy"])
def test_arguments_that_are_not_there(argnums):
    @rose.jit
    def times(x: float, y: float) -> float:
        return x * y

    with pytest.raises(rose.NotDifferentiable) as caught:
        rose.grad(times, argnums)(3.0, 2.0)
    assert "`x`, `y`" in str(caught.value)


def test_an_opaque_function_without_a_rule():
    @rose.opaque
    def mystery(x: float) -> float:
        return math.gamma(x)

    @rose.jit
    def uses(x: float) -> float:
        return mystery(x) * 2.0  # no rule

    assert uses(4.0) == 12.0
    with fault(rose.NotDifferentiable, "`mystery`", help="@mystery.jvp", last="rose.grad(uses)(4.0)") as found:
        rose.grad(uses)(4.0)
    assert "return mystery(x) * 2.0  # no rule" in found.text


def test_an_opaque_function_that_is_not_on_the_way_needs_no_rule():
    @rose.opaque
    def mystery(n: int) -> float:
        return float(n)

    @rose.jit
    def uses(x: float) -> float:
        return mystery(3) * x

    assert rose.grad(uses)(4.0) == 3.0


def test_a_rule_that_is_not_linear():
    @rose.jit
    def f(x: float) -> float:
        return x * x

    @f.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(f(x.re), x.du * x.du)  # not linear

    with fault(
        rose.StagingTypeError, "linear", line="return rose.Dual(f(x.re), x.du * x.du)  # not linear", at="x.du * x.du"
    ):
        rose.grad(f)(2.0)


def test_a_rule_that_adds_a_constant():
    @rose.jit
    def f(x: float) -> float:
        return x * x

    @f.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(f(x.re), x.du + 1.0)  # affine

    with fault(rose.StagingTypeError, "tangent", line="return rose.Dual(f(x.re), x.du + 1.0)  # affine"):
        rose.grad(f)(2.0)


def test_a_rule_with_another_signature():
    @rose.jit
    def f(x: float, y: float) -> float:
        return x * y

    def rule(x: rose.Dual) -> rose.Dual:
        return rose.Dual(f(x.re, 1.0), x.du)

    with pytest.raises(rose.NotDifferentiable, match="`f`"):
        rose.grad(f.jvp(rule) and f)(1.0, 2.0)


def test_a_rule_that_gives_no_dual():
    @rose.jit
    def f(x: float) -> float:
        return x * x

    @f.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return f(x.re)  # no dual

    with pytest.raises(rose.RoseError) as caught:
        rose.grad(f)(1.0)
    assert isinstance(caught.value, TypeError)
    assert "Dual" in str(caught.value)
