"""Derivatives of derivatives: through calls, in every mode on every mode, and without confusing levels."""

import itertools
import math

import pytest

import rosejit as rose


def forward(f):
    return lambda x: rose.jvp(f, (x,), (1.0,))[1]


def reverse(f):
    return rose.grad(f)


def pulled(f):
    return lambda x: rose.vjp(f, x)[1](1.0)[0]


def pushed(f):
    return lambda x: rose.linearize(f, x)[1](1.0)


def modes(order):
    """All orders of nesting forward and reverse."""
    return [
        pytest.param(steps, id="".join(step.__name__[0] for step in steps))
        for steps in itertools.product((forward, reverse), repeat=order)
    ]


def nested(steps, f):
    for step in steps:
        f = step(f)
    return f


# --- through calls


@rose.jit
def sq(x: float) -> float:
    return x * x


@rose.jit
def two(x: float, y: float) -> float:
    return x * y


@rose.jit
def square(x: float) -> float:
    return two(x, x)


@rose.jit
def cube(x: float) -> float:
    return sq(x) * x


@rose.jit
def fourth(x: float) -> float:
    return sq(sq(x))


THROUGH_CALLS = [(sq, 2.0, 0.0), (square, 2.0, 0.0), (cube, 7.8, 6.0), (fourth, 12 * 1.3**2, 24 * 1.3)]


@pytest.mark.parametrize(("f", "second", "third"), THROUGH_CALLS, ids=lambda value: getattr(value, "__name__", None))
def test_through_calls(f, second, third):
    assert rose.grad(rose.grad(f))(1.3) == pytest.approx(second, rel=1e-14)
    assert rose.grad(rose.grad(rose.grad(f)))(1.3) == pytest.approx(third, rel=1e-14)
    for steps in itertools.product((forward, reverse, pulled, pushed), repeat=2):
        assert nested(steps, f)(1.3) == pytest.approx(second, rel=1e-14)


def test_through_calls_that_are_staged():
    """The derivative is taken inside a decorated function."""

    @rose.jit
    def second(x: float) -> float:
        return rose.grad(rose.grad(fourth))(x)

    assert second(1.3) == pytest.approx(12 * 1.3**2, rel=1e-14)
    assert rose.grad(second)(1.3) == pytest.approx(24 * 1.3, rel=1e-14)
    assert rose.grad(rose.grad(second))(1.3) == pytest.approx(24.0, rel=1e-14)


# --- every mode on every mode


@rose.jit
def sine(x: float) -> float:
    return math.sin(x)


@rose.jit
def bell(x: float) -> float:
    return math.exp(x * x)


@rose.jit
def fifth(x: float) -> float:
    return x**5


@pytest.mark.parametrize("steps", modes(3))
def test_third_derivative_of_sine(steps):
    assert nested(steps, sine)(1.3) == pytest.approx(-0.26749882862458740, rel=1e-14)


@pytest.mark.parametrize("steps", modes(3))
def test_third_derivative_of_a_bell(steps):
    wanted = (12 * 1.3 + 8 * 1.3**3) * math.exp(1.3**2)
    assert nested(steps, bell)(1.3) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("steps", modes(4))
def test_fourth_derivative_of_a_fifth_power(steps):
    assert nested(steps, fifth)(1.3) == pytest.approx(120 * 1.3, rel=1e-13)
    assert nested(steps, fifth)(0.0) == 0.0


@pytest.mark.parametrize("steps", modes(3))
def test_modes_nest_inside_staged_code(steps):
    @rose.jit
    def inside(x: float) -> float:
        return nested(steps, sine)(x) * 2.0

    assert inside(1.3) == pytest.approx(-2 * 0.26749882862458740, rel=1e-14)
    assert rose.grad(inside)(1.3) == pytest.approx(2 * math.sin(1.3), rel=1e-14)


def test_plain_functions_differentiate_too():
    def plain(x):
        return math.exp(2.0 * x)

    for order in range(5):
        assert nested([rose.grad] * order, plain)(0.3) == pytest.approx(2**order * math.exp(0.6), rel=1e-13)


# --- perturbation confusion

STEPS = [forward, reverse, pulled, pushed]
each_pair = pytest.mark.parametrize(("inner", "outer"), list(itertools.product(STEPS, repeat=2)))


@each_pair
def test_no_confusion_unstaged(inner, outer):
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@each_pair
def test_no_confusion_staged(inner, outer):
    @rose.jit
    def confused(x: float) -> float:
        @rose.jit
        def line(y: float) -> float:
            return x + y

        return x * inner(line)(1.0)

    assert confused(3.0) == 3.0
    assert outer(confused)(1.0) == 1.0


@each_pair
def test_no_confusion_all_staged(inner, outer):
    @rose.jit
    def all_inside(z: float) -> float:
        return outer(lambda x: x * inner(lambda y: x + y)(z))(z)

    assert all_inside(1.0) == 1.0
    assert rose.grad(all_inside)(1.0) == 0.0


@pytest.mark.parametrize("steps", list(itertools.product((forward, reverse), repeat=3)))
def test_no_confusion_three_levels_deep(steps):
    d1, d2, d3 = steps
    assert d1(lambda x: x * d2(lambda y: y * d3(lambda z: x + y + z)(1.0))(1.0))(1.0) == 1.0
    # d/dz xyz = xy; d/dy y·xy = 2xy = 2x at y = 1; d/dx x·2x = 4x
    assert d1(lambda x: x * d2(lambda y: y * d3(lambda z: x * y * z)(1.0))(1.0))(1.5) == pytest.approx(6.0)


@pytest.mark.parametrize("steps", list(itertools.product((forward, reverse), repeat=3)))
def test_no_confusion_three_levels_deep_staged(steps):
    d1, d2, d3 = steps

    @rose.jit
    def deep(x: float) -> float:
        return d2(lambda y: y * d3(lambda z: x * y * z)(1.0))(1.0) * x

    assert deep(1.5) == pytest.approx(4.5)
    assert d1(deep)(1.5) == pytest.approx(6.0)


def test_a_derivative_inside_a_loop_sees_the_carry():
    @rose.jit
    def powers(x: float) -> float:
        y = x
        for _ in rose.range(3):
            y = rose.grad(lambda t: t * t * y)(x)  # 2·x·y
        return y

    assert powers(0.7) == pytest.approx(8 * 0.7**4)
    assert rose.grad(powers)(0.7) == pytest.approx(32 * 0.7**3)
