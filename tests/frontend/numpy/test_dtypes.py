"""Arrays of every dtype of NumPy's, from everywhere, in every operation: value and dtype are NumPy's, or it is refused."""

import linecache
import math
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed, stride

STRIDE = stride(73)
"""The whole product is 35,000 programs, 10 minutes."""
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float16", "float32", "bool")
EXPRESSIONS = """
a + a ; a - m[0] ; a * a ; a / 3 ; a // 3 ; a % 3 ; a ** 2 ; -a ; +a ; abs(a) ; ~a ; a & 3 ; a | 3 ; a ^ 3 ; a << 1
a >> 1 ; a + 1 ; 1 - a ; a * 2 ; 2 / a ; a + 0.5 ; a * 0.1 ; a * s ; s + a ; a + i ; a * i ; a + w ; a * k
w - a ; k // (a + k * 0 + 1) ; a + p ; a & p ; a < a[::-1] ; a == m[0] ; a > 2 ; a <= 0.1 ; a != w ; a >= k
a < s ; a == i ; a @ a ; m @ a ; m @ m.T ; a.sum() ; np.sum(m, axis=0) ; np.sum(m, 1, keepdims=True)
np.prod(a[2:]) ; a.prod() ; a.mean() ; m.mean(axis=1) ; a.max() ; a.min() ; m.max(axis=0) ; a.argmax()
a.argmin() ; np.argmin(m, axis=0) ; np.cumsum(a) ; a.cumsum() ; np.cumprod(a[1:]) ; np.dot(a, a)
np.outer(a, a) ; np.vdot(a, a) ; np.tensordot(m, m, 2) ; np.convolve(a, a) ; np.cross(a[:3], a[1:])
np.kron(a, a) ; np.einsum('i,i->', a, a) ; np.where(p, a, a * 2) ; np.where(a > 2, a, 0) ; np.where(p, a, 0.5)
np.where(p, a, w) ; np.where(p, a, s) ; np.where(a, 1, 2) ; a[1] ; a[-1] + 1 ; a[0] * 2 ; a[0] + a[1] ; a[2] * s
a[2] + i ; -a[0] ; a[0] / 3 ; a[0] > a[1] ; a[1:] ; a[::-1] ; m[1] ; m[:, 1] ; m.T ; m[::-1, 1:] ; a[None]
a[[0, 2]] ; a[at] ; a[p] ; a[j] ; w[a[3] * 0] ; w[idx] ; np.concatenate([a, a]) ; np.concatenate([a, w])
np.concatenate([a, k]) ; np.concatenate([a, p]) ; np.stack([a, a]) ; np.vstack([a, a]) ; np.hstack([a, a])
np.append(a, a) ; np.column_stack([a, a]) ; np.minimum(a, 2) ; np.maximum(a, a[::-1]) ; np.maximum(a, 0.5)
np.minimum(a, w) ; np.fmax(a, 1) ; np.abs(a) ; np.sqrt(abs(a)) ; np.exp(a * 0) ; np.sin(a) ; np.cos(a * 0.1)
np.tanh(a) ; np.log(a * 0 + 2) ; np.hypot(a, a) ; np.arctan2(a, a) ; np.square(a) ; np.sign(a)
np.reciprocal(a) ; np.floor(a) ; np.ceil(a) ; np.trunc(a) ; np.rint(a) ; np.isnan(a) ; np.isfinite(a)
np.signbit(a) ; np.copysign(a, -1.0) ; np.power(a, 2) ; np.power(a, a * 0 + 2) ; np.fmod(a, 3) ; np.mod(a, 3)
np.floor_divide(a, 7) ; np.divmod(a, 3) ; divmod(a, 2) ; np.float_power(a, 2) ; np.clip(a, 1, 5) ; a.clip(0, 3)
np.clip(a, 0.5, 2.5) ; np.clip(a, None, 4) ; np.round(a) ; np.round(a, 1) ; a.round() ; round(a[2])
a.astype(np.uint8) ; a.astype(np.int8) ; a.astype(np.int32) ; a.astype(np.int64) ; a.astype(np.float32)
a.astype(float) ; a.astype(bool) ; a.astype(np.uint16) ; np.float32(a[2]) ; np.uint8(a[3]) ; np.int64(a[2])
np.float64(a[2]) ; float(a[2]) ; int(a[2]) ; bool(a[2]) ; np.float32(s) ; np.float32(s) * a ; np.int16(i) + a
w.astype(np.float32) ; k.astype(np.uint8) ; (k * 1000).astype(np.int8) ; (w * 10).astype(np.int16)
p.astype(np.uint8) + p ; p.astype(np.int8).sum() ; np.zeros_like(a) ; np.ones_like(a) ; np.full_like(a, 2)
np.full(3, a[2]) ; np.array([a[0], a[1]]) ; np.array([a[2], 1]) ; np.array([a, a]) ; np.asarray(a) ; np.array(a)
np.array(a, dtype=np.float64) ; np.array(w, dtype=np.float32) ; np.array([s, 1.0], dtype=np.float32)
np.array([i, 3], dtype=np.uint8) ; np.zeros(3, a.dtype) + a[2] ; np.ones(2, np.float32) * s
np.arange(3, dtype=np.uint8) * i ; np.full(2, i, np.int16) ; a.reshape(2, 2) ; m.ravel() ; m.flatten()
np.transpose(m) ; np.flip(a) ; np.roll(a, 1) ; np.repeat(a, 2) ; np.tile(a, 2) ; np.diff(a) ; np.sort(a)
np.argsort(a) ; a.copy() ; np.expand_dims(a, 0) ; np.squeeze(a[None]) ; np.diag(a) ; np.tril(m) ; np.trace(m)
np.broadcast_to(a, (2, 4)) ; np.take(a, [0, 2]) ; np.std(a) ; np.var(a) ; np.median(a) ; np.ptp(a) ; np.any(a)
np.all(a) ; np.count_nonzero(a) ; a.size ; a.shape ; a.ndim ; a.dtype.name ; len(a) ; a.tolist()[2] ; a.item(2)
np.array_equal(a, a) ; np.linalg.norm(a) ; np.interp(a, w, w) ; np.histogram(a, 3)[0] ; np.unique(a)
np.isclose(a, a) ; np.searchsorted(np.sort(a), 3) ; np.percentile(a, 30) ; np.average(a) ; np.nansum(a)
np.logical_and(a, a) ; np.logical_not(a) ; np.gcd(a, 6) ; np.ldexp(a, 2) ; np.bitwise_and(a, 6)
np.left_shift(a, 3) ; np.right_shift(a, 2) ; np.invert(a) ; np.result_type(a) ; np.add(a, a, dtype=np.float64)
np.sum(a, dtype=np.float64) ; np.sum(a, dtype=np.int32) ; np.mean(a, dtype=np.float32) ; np.add.reduce(a)
np.select([a > 2], [a], 0) ; np.linspace(a[2], a[3], 3) ; np.pad(a, 1) ; np.trapezoid(a) ; np.cov(a)
np.gradient(a) ; np.nan_to_num(a) ; math.sqrt(abs(a[2])) ; math.sin(a[2]) ; max(a[0], a[1]) ; min(a[2], 1)
sum(a) ; sum([a[0], a[1]]) ; [x + 1 for x in a] ; abs(a[1]) ; a[0] == a[1] ; a[0] < 1
isinstance(a[0], np.generic) ; isinstance(a, np.ndarray) ; type(a[2]) is float ; a[2] ** 2 ; 2 ** a[2]
2 ** a[3] ; a[2] // 2 ; a[2] % 2 ; a[2] & 3 ; a[2] << 1 ; (a[2], a) ; {'x': a, 'y': a[0]} ; [a, a[1]] ; a | 3
np.bincount(a % 3) ; np.bincount(k, weights=a) ; np.bincount(k, a, 7) ; np.digitize(w, np.sort(a)) ; np.digitize(a, w[:2])
np.isin(a, [7, 3]) ; np.isin(w, a) ; np.isin(a, a[1:]) ; np.searchsorted(np.sort(a), w) ; np.searchsorted(w[:2], a)
np.searchsorted(np.sort(a), a[2]) ; np.lexsort((a, w)) ; np.argwhere(a) ; np.flatnonzero(a) ; np.nonzero(a)[0]
np.corrcoef(a, w) ; np.cov(m) ; np.interp(w, np.sort(a), a) ; np.interp(a[2], w[:2], w[:2])
a | p ; np.where(a > 2, a, a)[0] + a[1]
np.meshgrid(a, a[:3])[0] ; np.meshgrid(a, w)[1] ; np.lib.stride_tricks.sliding_window_view(a, 2)
np.lib.stride_tricks.sliding_window_view(m, (2, 2)).sum(axis=(2, 3)) ; np.correlate(a, a[:2]) ; np.quantile(a, 0.3)
np.quantile(m, [0.1, 0.9], axis=1) ; np.percentile(m, 50, axis=0) ; np.histogram(a, bins=4, range=(0, 255))[0]
np.histogram(a, 3)[1] ; np.nanmean(a) ; np.nanmax(a) ; np.nanmin(a) ; np.nanstd(a) ; np.nanprod(a)
np.pad(a, 2, mode='edge') ; np.pad(m, ((1, 1), (0, 2)), constant_values=7) ; np.pad(a, 1, mode='reflect')
np.pad(a, (1, 0), mode='wrap') ; np.average(a, weights=w) ; np.average(m, axis=0) ; np.allclose(a, a)
np.isclose(a, w) ; np.select([a > 2, a < 1], [a, a * 2], 0) ; np.choose([0, 1, 0, 1], [a, a]) ; np.block([a, a])
np.insert(a, 1, 3) ; np.vander(a, 3) ; np.ediff1d(a) ; np.cumulative_sum(a) ; np.logaddexp(a * 0, a * 0)
np.nanmedian(a) ; np.polyval([1.0, 2.0], a) ; np.heaviside(a, 0.5) ; np.fft.fft(a) ; np.partition(a, 2)
np.argpartition(a, 2) ; np.minimum.reduce(a) ; np.maximum.accumulate(a) ; np.subtract.outer(a, a) ; np.add.outer(a, w)
np.multiply.reduce(a) ; np.r_[a, a] ; np.c_[a, a] ; np.extract(a > 2, a).sum()
np.compress([True, False, True, True], a) ; np.trapezoid(a, dx=0.5) ; np.real(a) ; a.astype('float32') / 255
np.linspace(0, 1, 4) * a ; a[:, None] - a[None] ; np.matmul(m, m.T) ; m.sum(axis=1, keepdims=True) ; np.rot90(m)
np.indices((2, 2))[0] * a[0] ; np.fliplr(m) ; np.triu(m) ; np.argsort(a)[::-1] ; a[np.argsort(a)]
np.bitwise_or.reduce(a) ; np.logical_or(a, p) ; np.cbrt(a) ; np.deg2rad(a) ; np.exp2(a * 0) ; np.expm1(a * 0)
np.log1p(a * 0) ; np.sinc(a) ; np.pad(a, 1, constant_values=300) ; np.pad(a, 1, constant_values=a[0])
np.insert(a, 0, a[1:3]) ; np.insert(m, 1, 7, axis=1) ; np.histogram(a, bins=[0, 5, 300])[0] ; np.gradient(m)[0]
np.percentile(a, [25, 75]) ; np.nanpercentile(m, 10, axis=1) ; np.select([a > 2, p], [a, k], 0.5)
np.select([a > 2], [w], a) ; np.meshgrid(a, a, indexing='ij')[0] * 2 ; np.add.reduce(m, axis=1) ; np.maximum.reduce(m)
np.average(a, weights=a) ; np.correlate(a, a, mode='full') ; np.convolve(a, a[:2], mode='same') ; np.gradient(a, 0.5)
np.block([[a, a], [m[0], a]]) ; np.concatenate((a, a)).astype(np.uint8)
"""
BLOCKS = (
    "b = a.copy()\nb[0] = 5\nreturn b",
    "b = a.copy()\nb[0] = s\nreturn b",
    "b = a.copy()\nb[0] = 300\nreturn b",
    "b = a.copy()\nb += 1\nreturn b",
    "b = a.copy()\nb += a\nreturn b",
    "b = a.copy()\nb *= 0.5\nreturn b",
    "b = a.copy()\nb += w\nreturn b",
    "b = a.copy()\nb += k\nreturn b",
    "b = a.copy()\nb[1:] = a[:-1]\nreturn b",
    "b = a.copy()\nb[:] = w\nreturn b",
    "b = a.copy()\nb[:] = k\nreturn b",
    "b = a.copy()\nb[1:] += 3\nreturn b",
    "c = w.copy()\nc += a\nreturn c",
    "c = w.copy()\nc[0] = a[0]\nreturn c",
    "c = k.copy()\nc += a\nreturn c",
    "c = k.copy()\nc[:] = a\nreturn c",
    "c = w.copy()\nc[:] = a\nreturn c",
    "c = p.copy()\nc[:] = a\nreturn c",
    "t = a[0]\nfor q in rose.range(1, 4):\n    t = t + a[q]\nreturn t",
    "t = 0.0\nfor q in rose.range(4):\n    t += a[q]\nreturn t",
    "t = 0\nfor v in a:\n    t = t + v\nreturn t",
    "t = a[0] if s > 0 else a[1]\nreturn t * 2",
    "t = a if i > 1 else a * 2\nreturn t + 1",
    "t = a[0] if i > 0 else 0\nreturn t",
    "if a[0] > a[1]:\n    return a[0]\nreturn a[1]",
    "b = np.zeros(4, a.dtype)\nfor q in rose.range(4):\n    b[q] = a[q] * 2\nreturn b",
    "b = np.zeros(4)\nfor q in rose.range(4):\n    b[q] = a[q]\nreturn b",
    "t = 0\nwhile t < 3 and a[t] > 0:\n    t += 1\nreturn t",
    "def g(x): return x * 2 + a\nreturn g(a)",
    "return np.where(a > 2, a, a)[0] + a[1]",
    "b = [a, a * 2]\nreturn b[0] + b[1]",
    "t = np.float32(0)\nfor q in rose.range(4):\n    t += a[q]\nreturn t",
    "b = m.copy()\nb[1] += b[0]\nreturn b",
    "b = m.copy()\nr = b[0]\nr[1] = 9\nreturn b",
    "b = a.copy()\nb[p] = 1\nreturn b",
    "b = a.copy()\nb[at] = 1\nreturn b",
    "b = a.copy()\nb.fill(3)\nreturn b",
)

PLACES = {
    "argument": ("a, m, ", ""),
    "global": ("", ""),
    "list": ("h, ", "a, m = h[0], h[1]"),
    "dict": ("h, ", "a, m = h['a'], h['m']"),
    "dataclass": ("h, ", "a, m = h.a, h.m"),
    "list outside": ("", "a, m = LIST[0], LIST[1]"),
    "object outside": ("", "a, m = PAIR.a, PAIR.m"),
    "astype": ("a, m, ", "a, m = a.astype(DT), m.astype(DT)"),
    "dtype=": ("", "a, m = np.array(VALUES, dtype=DT), np.array([VALUES, VALUES], dtype=DT)"),
    "asarray": ("", "a = np.asarray(VALUES, DT); m = np.stack([a, a])"),
    "made": ("", "a, m = np.full(4, VALUES[2], DT), np.zeros((2, 4), dtype=DT); a[3] = VALUES[3]"),
}
"""Where arrays come from: parameters, and the first line of the body."""
CASES = [*(f"return {text.strip()}" for line in EXPRESSIONS.split("\n") for text in line.split(" ; ") if text), *BLOCKS]
ROUNDED = (
    "exp sin cos tanh log hypot arctan2 sum mean std var median @ dot inner tensordot vdot norm convolve prod power ** "
    "trace einsum cov corrcoef correlate cbrt quantile percentile"
).split()
"""What NumPy computes in float32, or by other kernels, and we in 64 bits: equal but for rounding."""
OF_TRUTH = ("a[0] + a[1]", "-a[0]", "round(", "max(a", "min(a", "abs(a[", "np.generic", "+ a[1]")
"""An element of an array of truth values is a number of Python's, as docs/arrays.md says."""
COUNTS: Counter[str] = Counter()


@dataclass
class Pair:
    a: Any
    m: Any


def values(dtype: str) -> list[Any]:
    """The ends of the range, and small numbers."""
    if dtype == "bool":
        return [True, False, True, True]
    if dtype.startswith("float"):
        return [0.1, -2.5, 300.25, 1e-3]
    if dtype == "uint64":
        return [2**40, 3, 7, 10]
    ends = np.iinfo(dtype)
    return [int(ends.max) - 1, int(ends.min) or 100, 7, 3]


def program(dtype: str, place: str, case: str) -> tuple[Any, tuple[Any, ...]]:
    """The function, and what it is called with."""
    given = values(dtype)
    a, m = np.array(given, dtype), np.array([given, given[::-1]], dtype)
    wide = bool if dtype == "bool" else float if dtype.startswith("float") else np.int64
    structure = {"list": [a, m], "dict": {"a": a, "m": m}, "dataclass": Pair(a, m)}.get(place)
    parameters, first = PLACES[place]
    scope: dict[str, Any] = {"np": np, "rose": rose, "math": math, "VALUES": given, "LIST": [a, m], "PAIR": Pair(a, m)}
    scope |= {"DT": getattr(np, dtype.replace("bool", "bool_")), "at": np.array([0, 2]), "idx": np.array([1, 0], "u1")}
    scope |= {"a": a, "m": m} if place == "global" else {}
    lines = [f"def f({parameters}w, k, p, s, i, j):", *(f"    {line}" for line in [first, *case.split("\n")] if line)]
    name = f"<{dtype} {place} {case}>"
    linecache.cache[name] = (1, None, [f"{line}\n" for line in lines], name)
    exec(compile("\n".join(lines), name, "exec"), scope)
    head = {"a, m, ": (a.astype(wide), m.astype(wide)) if place == "astype" else (a, m), "h, ": (structure,), "": ()}
    rest = (np.array([0.5, 1.5, -2.0, 3.0]), np.array([1, 2, 3, 4]), np.array([True, False, True, False]))
    return scope["f"], (*head[parameters], *rest, 0.1, 2, np.int64(1))


def outcome(call: Any) -> Any:
    """What a call gives, or raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return error


def same(found: Any, wanted: Any, tolerance: float) -> bool:
    """The same types, shapes, dtypes and numbers; NumPy's numbers of 64 bits come out as Python's."""
    if isinstance(wanted, (tuple, list)):
        return (
            type(found) is type(wanted)
            and len(found) == len(wanted)
            and all(same(*pair, tolerance) for pair in zip(found, wanted, strict=True))
        )
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key], tolerance) for key in wanted)
    if not isinstance(wanted, (np.ndarray, np.generic, float, int)):
        return found == wanted
    x, y = np.asarray(found), np.asarray(wanted)
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return False
    if x.dtype.kind == "f":
        return np.allclose(x.astype(float), y.astype(float), rtol=tolerance, atol=0.0, equal_nan=True)
    return bool(np.array_equal(x, y))


def fault(dtype: str, place: str, case: str) -> str:
    """What is wrong with a case; nothing where it is right, or refused."""
    f, args = program(dtype, place, case)
    wanted, found = outcome(lambda: f(*args)), outcome(lambda: rose.jit(f)(*args))
    if isinstance(found, rose.RoseError):
        COUNTS["refused"] += 1
        return ""
    if isinstance(found, Exception) or isinstance(wanted, Exception):
        COUNTS["raised"] += 1
        return "" if isinstance(wanted, Exception) and isinstance(found, type(wanted)) else f"{found!r}, not {wanted!r}"
    COUNTS["right"] += 1
    tolerance = (1e-6 if dtype not in ("int32", "uint32", "uint64") else 1e-12) * any(word in case for word in ROUNDED)
    if "float32" in case:
        tolerance = max(tolerance, 1e-6 * ("mean" in case or "sum" in case))
    return "" if same(found, wanted, 2.0 * tolerance) else f"{found!r}, not {wanted!r}"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_dtypes_are_numpys_or_refused(dtype: str, place: str):
    COUNTS.clear()
    turn = DTYPES.index(dtype) * 7 + [*PLACES].index(place) * 3
    wrong: dict[str, str] = {}
    for k, case in enumerate(CASES):
        if (k + turn) % STRIDE or (dtype == "bool" and any(part in case for part in OF_TRUTH)):
            continue
        found = fault(dtype, place, case)
        wrong |= {case: found} if found else {}
    print(dtype, place, dict(COUNTS))
    assert not wrong


U, F = np.array([200, 100, 7], np.uint8), np.array([0.1, -2.5, 3e38], np.float32)


def test_integers_wrap_around():
    assert rose.jit(lambda u, x: (u + u) * x)(U, 1.0).tolist() == [144.0, 200.0, 14.0]
    assert rose.jit(lambda u: u * u)(np.array([2**16 + 1], np.uint32)).tolist() == [2**17 + 1]
    assert rose.jit(lambda u: -u)(np.array([-128], np.int8)).tolist() == [-128]
    assert rose.jit(lambda u: u.sum())(U) == 307
    assert type(rose.jit(lambda u: u.sum())(U)) is np.uint64


def test_singles_are_rounded_after_each_operation():
    found = rose.jit(lambda a, s: a * s + a)(F, 0.1)
    assert found.dtype == np.float32
    assert found.tolist() == (F * np.float32(0.1) + F).tolist()
    assert rose.jit(lambda a: a * 2.0)(F).tolist()[2] == math.inf


def test_numbers_of_64_bits_have_a_specialisation_of_their_own():
    f = rose.jit(lambda a: a + a)
    given = [
        F.astype(float),
        F,
        np.array([1, 2]),
        U,
        U.astype(int),
        F,
        np.float32(1),
        1.0,
        np.uint8(200),
        2,
    ]
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in (*given, *given):
            wanted = np.add(value, value)
            found = f(value)
            assert np.asarray(found).dtype == wanted.dtype
            assert np.array_equal(found, wanted)


def test_arrays_from_outside_are_read_again():
    outside = np.array([1, 2], np.uint8)

    @rose.jit
    def f(x):
        return outside * 100 + x

    assert f(np.uint8(1)).tolist() == [101, 201]
    outside[0] = 3
    assert f(np.uint8(1)).tolist() == [(300 + 1) % 256, 201]


def test_derivatives_with_respect_to_singles_are_singles():
    a = np.array([0.1, 0.2, 0.3], np.float32)

    def f(a):
        return (a * a * np.float32(2)).sum()

    gradient = rose.grad(f)(a)
    assert gradient.dtype == np.float32
    assert gradient.tolist() == (4.0 * a.astype(float)).astype(np.float32).tolist()
    value, tangent = rose.jvp(f, (a,), (np.ones(3),))
    assert (type(value), type(tangent)) == (np.float32, np.float32)
    assert tangent == pytest.approx(4.0 * 0.6, rel=1e-6)
    (back,) = rose.vjp(f, a)[1](1.0)
    assert back.tolist() == gradient.tolist()
    hessian = rose.hessian(f)(a)
    assert hessian.dtype == np.float32
    assert hessian == pytest.approx(4.0 * np.eye(3))
    with pytest.raises(rose.NotDifferentiable):
        rose.grad(lambda u: (u * 1.0).sum())(U)


def test_integers_beside_numbers_that_are_differentiated():
    def f(x, u):
        return ((u + u) * x).sum()

    assert rose.grad(f)(2.0, U) == 144.0 + 200.0 + 14.0


def test_the_bits_of_programs_that_run_and_of_the_interpreter_are_the_same():
    f = rose.jit(lambda a, u: (a * 0.7 - a // 3, u * 3 - 7, np.sqrt(abs(a)).sum()))
    found = f(F, U)
    with rose.disable_jit():
        again = f(F, U)
    assert all(same(x, y, 0.0) for x, y in zip(found, again, strict=True))


WRONG = {
    "a * b[0]": "float64", "np.linalg.eigh(m)": "eigh", "h + 1": "float16", "u + 300": "uint8", "u[0] + t": "uint8",
    "np.unique(a)": "unique", "a[a > 0]": "mask", "a.view(int)": "view",
}  # fmt: skip


@pytest.mark.parametrize("expression", WRONG)
def test_what_is_refused_says_where_and_what_to_do(expression: str):
    name = f"<{expression}>"
    lines = ["def f(a, b, m, h, u, t):\n", f"    return {expression}\n"]
    linecache.cache[name] = (1, None, lines, name)
    scope: dict[str, Any] = {"np": np}
    exec(compile("".join(lines), name, "exec"), scope)
    given = (F, np.ones(3), np.eye(3, dtype=np.float32), F[:2].astype(np.float16), U, 300)
    with np.errstate(over="ignore"), pytest.raises(rose.RoseError) as caught:
        rose.jit(scope["f"])(*given)
    error = caught.value
    assert error.span is not None
    assert any(word in str(error) for word in WRONG[expression].split("|"))
    assert error.help


def test_a_loop_begins_with_a_number_of_the_same_dtype():
    @rose.jit
    def wrong(a):
        found = 0.0
        for k in rose.range(len(a)):
            found += a[k]
        return found

    @rose.jit
    def right(a):
        found = np.float32(0)
        for k in rose.range(len(a)):
            found += a[k]
        return found

    with pytest.raises(rose.StagingTypeError, match="float32"):
        wrong(F)
    assert right(F[:2]) == F[0] + F[1]


# --- numbers of NumPy's that staging knows, and truth values

_KNOWN = {
    "a call": "np.int64(1)",
    "of a length": "np.int64(len(a))",
    "a float": "np.float64(1.0)",
    "a product of a shape": "np.prod(a.shape)",
    "a sum": "np.sum([1, 2])",
    "a largest": "np.max([1, 2])",
    "a global": "ONE",
    "an element": "np.arange(3)[1]",
    "an element of a list's": "np.array([1, 2])[0]",
    "an element from outside": "KNOWN[1]",
    "an element of a matrix": "np.ones((2, 2))[1, 1]",
    "an element of float32": "np.array([1, 2], np.float32)[0]",
    "a largest of an array": "np.arange(2).max()",
    "the negative of an element": "-np.arange(-1, 2)[0]",
    "an element in a loop": "[v for v in np.arange(2)][1]",
    "Python's": "np.arange(3).tolist()[1]",
    "Python's item": "np.arange(3)[1].item()",
    "Python's of an element": "int(np.arange(3)[1])",
}


@pytest.mark.parametrize(("dtype", "known"), crossed(["int8", "uint8", "int32", "float32"], _KNOWN, 3))
@pytest.mark.parametrize("use", ["a + K", "K * a", "np.maximum(a, K)", "np.where(a > 0, a, K)", "a[0] - K"])
def test_known_numbers_of_numpys_are_not_weak(use, known, dtype):
    f = define(f"def f(a):\n    K = {_KNOWN[known]}\n    return {use}", np=np, ONE=np.int64(1), KNOWN=np.arange(3))
    a = np.array([3, 127]).astype(dtype)
    found, wanted = rose.jit(f)(a), f(a)
    np.testing.assert_array_equal(found, wanted)
    assert np.asarray(found).dtype == wanted.dtype


_SUMS = {
    "elements": ("p[0] + p[1]", (np.array([True, True]),)),
    "an element and Python's": ("p[0] + True", (np.array([True, True]),)),
    "comparisons of elements": ("(p[0] > 0) + (p[1] > 0)", (np.ones(2),)),
    "of a function": ("np.isnan(p) + np.isnan(q)", (1.0, 2.0)),
    "the negative": ("-p[0]", (np.array([True, True]),)),
    "the difference": ("p[0] - p[1]", (np.array([True, True]),)),
}


@pytest.mark.parametrize("kind", _SUMS)
def test_sums_of_truth_values_of_numpys_are_refused(kind):
    text, args = _SUMS[kind]
    f = rose.jit(define(f"def f({', '.join('pq'[: len(args)])}):\n    return {text}", np=np))
    with pytest.raises(rose.StagingTypeError, match="truth values that may be NumPy's"):
        f(*args)


@pytest.mark.parametrize("text", ["sum(p)", "int(p[0]) + int(p[1])", "p[0] + 1", "p[0] * p[1]", "p[0] | p[1]", "p + p"])
def test_sums_of_truth_values_that_count(text):
    p = np.array([True, True])
    f = define(f"def f(p):\n    return {text}", np=np)
    np.testing.assert_array_equal(rose.jit(f)(p), f(p))


@pytest.mark.parametrize(("a", "b"), [(True, True), (True, False), (False, False)])
def test_truth_values_of_pythons_count(a, b):
    assert rose.jit(lambda a, b: a + b)(a, b) == a + b


_BEGUN = {
    "a loop": "s = np.ones(3)[0]\n    for i in rose.range(2):\n        s = s + 0.5",
    "a branch": "s = np.ones(3)[0] if x > 0.0 else 2.0",
    "an element": "s = b[0]",
}


@pytest.mark.parametrize("way", _BEGUN)
def test_a_number_that_begins_as_numpys_is_none_of_pythons(way):
    f = rose.jit(define(f"def f(x, a, b):\n    {_BEGUN[way]}\n    return a + s", np=np, rose=rose))
    with pytest.raises(rose.StagingTypeError, match="number that may be NumPy's"):
        f(1.0, F, np.ones(2))


@pytest.mark.parametrize("text", ["a + float(b[0])", "a + b.tolist()[0]", "a + b[0].item()", "a + x"])
def test_what_is_made_pythons_is_weak(text):
    f = define(f"def f(x, a, b):\n    return {text}", np=np)
    found = rose.jit(f)(1.0, F, np.ones(2))
    np.testing.assert_array_equal(found, f(1.0, F, np.ones(2)))
    assert found.dtype == np.float32


def test_known_numbers_of_numpys_are_rounded_as_numpy_does():
    assert rose.jit(lambda x: x * round(np.float64(2.675), 2))(1.0) == 2.68
    with pytest.raises(rose.StagingTypeError, match="to digits of a number that may be NumPy's"):
        rose.jit(lambda x: round(np.float64(x), 2))(2.675)
