"""Complex numbers against CPython on grids of signed zeros, infinities and branch cuts, and in every place."""

import cmath
import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import NotDifferentiable, StagingTypeError

GRID = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e-10, -1e-310, 1e200, -1e308, math.inf, -math.inf, math.nan]
FEW = [0.0, -0.0, 0.5, -1.5, 1e200, math.inf, math.nan]
FUNCTIONS = [
    *("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
]
OF_NUMPY = {name: name.replace("a", "arc", 1) if name[0] == "a" else name for name in FUNCTIONS}
Z = 1.3 - 0.4j


def is_same(a, b, tolerance):
    """Equal but for rounding; zeros have their signs, and what is infinite or no number is so in the same part."""
    scale = abs(b) if cmath.isfinite(b) else 0.0

    def part(x, y):
        if x == y:
            return x != 0.0 or math.copysign(1.0, x) == math.copysign(1.0, y)
        return (x != x and y != y) or abs(x - y) <= tolerance * max(abs(y), scale)

    return part(a.real, b.real) and part(a.imag, b.imag)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_cpythons(name):
    function = getattr(cmath, name)
    compiled = rose.jit(lambda z: function(z))
    for x, y in product(GRID, GRID):
        z = complex(x, y)
        found = compiled(z)
        try:
            wanted, tolerance = function(z), 4e-15
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                wanted, tolerance = complex(getattr(np, OF_NUMPY[name])(z)), 1e-13
        assert is_same(found, wanted, tolerance), (z, found, wanted)


OPERATORS = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a / b,
    "a ** b": lambda a, b: a**b,
    "a ** 2": lambda a, b: a**2,
    "a ** -3": lambda a, b: a**-3,
    "a ** 0.5": lambda a, b: a**0.5,
    "2.5 - a": lambda a, b: 2.5 - a,
    "a * 2.5": lambda a, b: a * 2.5,
    "2.5 / a": lambda a, b: 2.5 / a,
    "1j * a.real": lambda a, b: 1j * a.real,
    "a.real - 1j": lambda a, b: a.real - 1j,
    "1j / a.real": lambda a, b: 1j / a.real,
}


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_are_cpythons(text):
    compiled = rose.jit(OPERATORS[text])
    for a, b, c, d in product(FEW, FEW, FEW if "b" in text else [1.0], FEW if "b" in text else [1.0]):
        x, y = complex(a, b), complex(c, d)
        try:
            wanted = OPERATORS[text](x, y)
        except (ZeroDivisionError, OverflowError):
            continue
        assert is_same(compiled(x, y), wanted, 1e-14), (x, y)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_complex_slopes_in_every_mode(name):
    function = getattr(cmath, name)

    def f(z):
        return function(z * z + 0.1j)

    first = rose.grad(f, holomorphic=True)
    slope = (f(Z + 1e-5) - f(Z - 1e-5)) / 2e-5
    across = (f(Z + 1e-5j) - f(Z - 1e-5j)) / 2e-5j
    assert first(Z) == pytest.approx(slope, rel=1e-8)
    assert first(Z) == pytest.approx(across, rel=1e-8)
    assert rose.jvp(f, (Z,), (1.0 + 0.5j,))[1] == pytest.approx(first(Z) * (1.0 + 0.5j), rel=1e-13)
    assert rose.vjp(f, Z)[1](0.3 + 0.2j)[0] == pytest.approx(first(Z) * (0.3 + 0.2j), rel=1e-13)
    assert rose.jacfwd(f, holomorphic=True)(Z) == pytest.approx(first(Z), rel=1e-13)
    second = (first(Z + 1e-5) - first(Z - 1e-5)) / 2e-5
    assert rose.grad(first, holomorphic=True)(Z) == pytest.approx(second, rel=1e-7)
    assert rose.hessian(f, holomorphic=True)(Z) == pytest.approx(second, rel=1e-7)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("acosh", "log")])
def test_derivatives_hold_on_the_real_axis(name):
    """Where absolute values in an algorithm have a kink."""
    function = getattr(cmath, name)
    z = 0.5 + 0.0j
    with rose.disable_jit():
        found = rose.grad(lambda z: function(z), holomorphic=True)(z)
    assert found == pytest.approx((function(z + 1e-6) - function(z - 1e-6)) / 2e-6, rel=1e-8)


def test_gradients_of_real_results_are_by_jaxs_convention():
    assert rose.grad(lambda z: abs(z) ** 2)(Z) == pytest.approx(2 * Z.conjugate())
    assert rose.grad(lambda z: z.real * z.imag)(Z) == pytest.approx(Z.imag - 1j * Z.real)
    assert rose.grad(cmath.phase)(Z) == pytest.approx(-1j / Z, rel=1e-12)
    assert rose.grad(lambda z: abs(z))(0j) == 0
    assert rose.jacrev(lambda z: (abs(z) ** 2, z.imag))(Z) == (pytest.approx(2 * Z.conjugate()), -1j)
    assert rose.jacfwd(lambda x: x * 1j + x * x)(2.0) == 4 + 1j
    assert rose.hvp(lambda z: abs(z) ** 2)(Z, 1j) == pytest.approx(-2j)
    assert rose.value_and_grad(lambda z: z * z, holomorphic=True)(Z) == (Z * Z, 2 * Z)


def test_derivatives_agree_with_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def loss(m):
        return lambda z: m.abs(m.exp(1j * z) + z**3 / (z + 2)) ** 2 + m.angle(m.sqrt(z))

    assert rose.grad(loss(np))(Z) == pytest.approx(complex(jax.grad(loss(jax.numpy))(Z)), rel=1e-12)


@dataclass
class Pair:
    a: complex
    b: float


def test_it_goes_where_values_go():
    assert rose.jit(lambda p: Pair(p.a * p.b, p.b))(Pair(1j, 2.0)) == Pair(2j, 2.0)
    assert rose.grad(lambda p: abs(p.a) * p.b)(Pair(1j, 2.0)) == Pair(-2j, 1.0)
    assert rose.jit(lambda zs: [2 * z for z in zs])([1j, 2j, 3j, 4j, 5j]) == [2j, 4j, 6j, 8j, 10j]
    assert rose.jit(lambda d: {k: 1j * v for k, v in d.items()})({"a": 1.0, "b": 2j}) == {"a": 1j, "b": -2 + 0j}
    assert rose.jit(lambda z: [z * i for i in rose.range(3)])(1j) == [0j, 1j, 2j]
    assert rose.jit(lambda z: sum((z * i for i in rose.range(3)), 0j))(1j) == 3j
    assert rose.jit(lambda z: (z == 1j, z != 1j, z in (1j, 2.0), bool(z)))(1j) == (True, False, True, True)
    assert rose.jit(lambda x, y: (complex(x, y), complex(x), isinstance(1j * x, complex)))(1.0, -0.0) == (1, 1, True)
    assert rose.vmap(lambda z: z * z)(np.array([1j, 2.0])).tolist() == [-1, 4]


@rose.jit
def orbit(c: complex) -> int:
    z, n = 0, 0
    while abs(z) < 2.0 and n < 50:
        z = z * z + c
        n += 1
    return n


def test_loops_and_branches_make_numbers_complex():
    assert (orbit(0.3 + 0.5j), orbit(0.4 + 0.6j), orbit(1)) == (50, 15, 2)

    @rose.jit
    def either(z, x):
        y = x
        if x > 0:
            y = z
        return y

    assert either(1j, 1.0) == 1j
    assert either(1j, -1.0) == -1.0
    total = rose.jit(lambda z, n: _total(z, n))
    assert total(1 + 1j, 3) == 3 + 3j


def _total(z, n):
    total = 0.0
    for _ in rose.range(n):
        total += z
    return total


def test_interpreter_and_compiled_code_agree():
    f = rose.jit(lambda z: cmath.acos(z) ** (z / 3) + cmath.tanh(z) * cmath.log(z, 3.0))
    with rose.disable_jit():
        interpreted = f(Z)
    assert f(Z) == interpreted
    assert f(Z) == pytest.approx(cmath.acos(Z) ** (Z / 3) + cmath.tanh(Z) * cmath.log(Z, 3.0), rel=1e-14)


def test_it_is_printed_saved_and_checked(capsys, tmp_path):
    @rose.jit
    def shown(z):
        print("z =", z)
        return z

    shown(Z)
    assert capsys.readouterr().out == f"z = {Z}\n"
    f = rose.jit(lambda z: z * z)
    f.lower(Z).compile().save(tmp_path / "f.rose")
    assert rose.load(tmp_path / "f.rose")(Z) == Z * Z
    assert rose.check(lambda z: cmath.exp(z) * z, Z)
    rose.check_grads(lambda z: cmath.exp(z) * z.conjugate(), (Z,))
    rose.check_grads(lambda z: np.sum(z * z * z.conj()), (np.array([1j, 2 + 1j]),))


def test_rules_and_host_functions_take_it():
    @rose.opaque
    def double(z: complex) -> complex:
        return z * 2

    @double.jvp
    def _(z: rose.Dual) -> rose.Dual:
        return rose.Dual(double(z.re), z.du * 2)

    assert rose.grad(lambda z: double(z) ** 2, holomorphic=True)(Z) == pytest.approx(8 * Z)

    @rose.jit
    def reciprocal(z: complex) -> complex:
        return 1 / z

    @reciprocal.jvp
    def _(z: rose.Dual) -> rose.Dual:
        return rose.Dual(reciprocal(z.re), -z.du / (z.re * z.re))

    assert rose.grad(reciprocal, holomorphic=True)(Z) == pytest.approx(-1 / Z**2)


REFUSED = {
    "order": (lambda z: z < 1j, StagingTypeError, "no `<`"),
    "order of a real": (lambda z: z.real < 1j, StagingTypeError, "no `<`"),
    "floor": (lambda z: z // 2, StagingTypeError, "no `//`"),
    "float": (lambda z: float(z), StagingTypeError, "no float"),
    "math": (lambda z: math.sin(z), StagingTypeError, "no float"),
    "max": (lambda z: max(z, 1.0), StagingTypeError, "no `"),
    "key": (lambda z: {z: 1}, StagingTypeError, "key"),
    "text": (lambda z: f"{z}", StagingTypeError, "text"),
    "sum": (lambda z: sum(z * i for i in rose.range(3)), StagingTypeError, "complex"),
    "gradient": (lambda z: rose.grad(lambda z: z * z)(z), NotDifferentiable, "one Real"),
    "forward": (lambda z: rose.jacfwd(abs)(z), NotDifferentiable, "real results"),
    "both": (lambda z: rose.jacrev(lambda z: z * z)(z), NotDifferentiable, "real results"),
    "holomorphic": (lambda z: rose.grad(lambda z: abs(z), holomorphic=True)(z), NotDifferentiable, "one complex"),
    "of reals": (lambda z: rose.jacfwd(lambda x: x * 1j, holomorphic=True)(z.real), NotDifferentiable, "complex arg"),
    "sort": (lambda z: np.sort(np.array([z, 1j])), StagingTypeError, "not staged"),
    "det": (lambda z: np.linalg.det(np.array([[z, 1j], [1, 2]])), StagingTypeError, "not staged"),
    "into reals": (lambda z: _put(np.zeros(2), z), StagingTypeError, "Reals"),
    "behind": (lambda z: np.diff(np.array([z, 1j]), prepend=z), StagingTypeError, "behind the arrays"),
    "mask of reals": (lambda z: _times(np.array([z.real, 1.0])), StagingTypeError, "mask"),
    "of symmetry": (lambda z: np.linalg.eigh(np.array([[z, 1j], [1, 2]])), StagingTypeError, "not staged"),
    "mask": (lambda z: _picked(np.array([z, 1j])), StagingTypeError, "mask"),
}


def _put(y, z):
    y[0] = z
    return y


def _times(x):
    return x[x > 0] * 1j


def _picked(z):
    return z[z.real > 0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_staged_is_refused_in_words(name):
    f, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        rose.jit(f)(Z)


def test_arguments_are_what_their_hints_say():
    @rose.jit
    def f(z: complex, v: rose.Vec["n", complex]):
        return z, v

    z, v = f(2, [1, 2j])
    assert (z, v.tolist()) == (2 + 0j, [1, 2j])
    assert f(np.float32(2), np.arange(2.0))[1].dtype == complex
    with pytest.raises(StagingTypeError, match="complex number for `z`"):
        f("a", [1])
    with pytest.raises(TypeError, match=r"v\.real"):
        f(1, 2.0)
    g = rose.jit(lambda z: z)
    assert [type(g(x)) for x in (1j, 2.0, np.complex128(1j), np.complex64(1j))] == [complex, float, complex, complex]
    with pytest.raises(StagingTypeError, match="out"):
        rose.jit(lambda z: z * 2)(np.array([1j]), out=np.zeros(1, complex))
    with pytest.raises(NotDifferentiable, match="sparse"):
        rose.sparse_jacobian(lambda z: abs(z))(np.array([1j]))


def test_handlers_of_arithmetic_errors():
    @rose.jit
    def divided(z, w):
        try:
            r = z / w
        except ZeroDivisionError:
            r = 7j
        return r

    @rose.jit
    def logarithm(z):
        try:
            r = cmath.log(z)
        except ValueError:
            r = 7j
        return r

    assert (divided(1j, 2 + 1j), divided(1j, 0j)) == (1j / (2 + 1j), 7j)
    with pytest.raises(rose.UnsupportedSyntax, match="a handler waits"):
        logarithm(0j)
