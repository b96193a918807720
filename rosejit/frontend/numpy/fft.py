"""Stages `np.fft`: Stockham's passes by the prime factors of the length, and Bluestein's convolution for large ones.

A transform is linear with constant coefficients, so that derivatives of every order are transforms as well.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.broadcast import an_array, converted
from rosejit.frontend.arrays.call_binding import bound, signature_of
from rosejit.frontend.arrays.complex_array import ComplexArray, as_complex, both, is_complex, joined
from rosejit.frontend.numpy import fft_algorithms as algorithms
from rosejit.frontend.numpy.complex_rows import staged_only
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import TAN, Scalar
from rosejit.numeric import np

Pair = tuple[Any, Any]
Handler = Callable[..., Any]
_LARGEST = 31
"""Prime factors up to this one are transformed by their definition."""


# --- one transform


def radices(n: int) -> list[int] | None:
    """Factors of `n`: fours, then primes; None where one is large."""
    found: list[int] = []
    for p in (4, 2, *range(3, _LARGEST + 1, 2)):
        while n % p == 0:
            found.append(p)
            n //= p
    return found if n == 1 else None


def transformed(tape: Tape, re: Array, im: Array) -> Pair:
    """The transform of a vector."""
    factors = radices(re.shape[0])
    return _bluestein(tape, re, im) if factors is None else _passes(tape, re, im, factors)


def _passes(tape: Tape, re: Any, im: Any, factors: list[int]) -> Pair:
    n = re.shape[0]
    rest, done = n, 1
    for radix in factors:
        rest //= radix
        sizes = (radix, rest, done)
        out = tuple([_zeros(tape, (rest, radix, done), re.type) for _ in range(2)])
        algorithm = algorithms.across if done >= rest else algorithms.along
        few = partial(_few, _roots(radix), _twiddles(tape, radix, rest))
        given = re.reshape(sizes), im.reshape(sizes), out, sizes, _plain(few)
        tape.session.run(algorithm, lambda f, given=given: f(*given))
        re, im, done = out[0].reshape(n), out[1].reshape(n), done * radix
    return re, im


def _plain(few: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: few(*args)


def _zeros(tape: Tape, shape: tuple[int, ...], kind: Scalar) -> Array:
    made = of_host(tape, np.zeros(shape))
    return made if kind is not TAN else converted(made, TAN)


def _roots(radix: int) -> list[complex]:
    return [complex(*_unit(k, radix)) for k in range(radix)]


def _unit(k: int, n: int) -> tuple[float, float]:
    """exp(-2πik/n), exact where it lies on an axis, and else by an angle below π/4."""
    k %= n
    for turns, (re, im) in enumerate(((1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0))):
        if 4 * k == turns * n:
            return re, im
    angle = 2.0 * math.pi * k / n
    return math.cos(angle), -math.sin(angle)


def _twiddles(tape: Tape, radix: int, rest: int) -> Any:
    """The factors between this pass and the next; None after the last."""
    if rest == 1:
        return None
    table = np.array([[_unit(j * k, radix * rest) for j in range(rest)] for k in range(1, radix)])
    return of_host(tape, table[:, :, 0].copy()), of_host(tape, table[:, :, 1].copy())


def _few(roots: list[complex], twiddles: Any, xs: list[Any], ys: list[Any], j: Any) -> list[Pair]:
    """The transform of a few numbers by its definition, turned for the next pass."""
    radix = len(roots)
    made = _fast(xs, ys) if radix in (2, 4) else [_sum(roots, k, xs, ys) for k in range(radix)]
    if twiddles is None:
        return made
    found = [made[0]]
    for k, (a, b) in enumerate(made[1:]):
        c, d = twiddles[0][k, j], twiddles[1][k, j]
        found.append((a * c - b * d, a * d + b * c))
    return found


def _fast(xs: list[Any], ys: list[Any]) -> list[Pair]:
    if len(xs) == 2:
        return [(xs[0] + xs[1], ys[0] + ys[1]), (xs[0] - xs[1], ys[0] - ys[1])]
    (a, b), (c, d) = _fast([xs[0], xs[2]], [ys[0], ys[2]])
    (p, q), (u, v) = _fast([xs[1], xs[3]], [ys[1], ys[3]])
    return [(a + p, b + q), (c + v, d - u), (a - p, b - q), (c - v, d + u)]


def _sum(roots: list[complex], k: int, xs: list[Any], ys: list[Any]) -> Pair:
    """Of a prime radix: opposite elements share their factors."""
    n = len(roots)
    re, im = xs[0], ys[0]
    for j in range(1, (n + 1) // 2):
        w = roots[j * k % n]
        re = re + ((xs[j] + xs[n - j]) * w.real - (ys[j] - ys[n - j]) * w.imag)
        im = im + ((ys[j] + ys[n - j]) * w.real + (xs[j] - xs[n - j]) * w.imag)
    return re, im


def _bluestein(tape: Tape, re: Any, im: Any) -> Pair:
    """A transform as a convolution, of a length that is a power of two."""
    n = re.shape[0]
    m = 1 << (2 * n - 2).bit_length()
    chirp = np.array([complex(*_unit(k * k, 2 * n)) for k in range(n)])
    kernel = np.zeros(m, complex)
    kernel[:n] = chirp.conj()
    kernel[m - n + 1 :] = chirp[:0:-1].conj()
    kernel = np.fft.fft(kernel) / m
    w, z = _Constant(tape, chirp), _Constant(tape, kernel)
    a, b = (_resized(part, m) for part in w.times(re, im))
    a, b = z.times(*transformed(tape, a, b))
    b, a = transformed(tape, b, a)  # the inverse: real and imaginary part change places before and after
    return w.times(a[:n], b[:n])


class _Constant:
    """An array of complex numbers that staging knows."""

    def __init__(self, tape: Tape, data: Any) -> None:
        self.re, self.im = of_host(tape, data.real.copy()), of_host(tape, data.imag.copy())

    def times(self, re: Any, im: Any) -> Pair:
        """The product."""
        return re * self.re - im * self.im, re * self.im + im * self.re


def _resized(a: Any, n: int) -> Any:
    """A vector cut off, or with zeros behind it."""
    if a.shape[0] >= n:
        return a[:n]
    made = _zeros(a.tape, (n,), a.type)
    made[: a.shape[0]] = a
    return made


# --- arrays of them


def along_axis(tape: Tape, value: Any, n: int | None, axis: int, inverse: bool) -> ComplexArray:
    """The transforms along an axis, of length `n`; not scaled."""
    re, im = both(tape, as_complex(tape, value))
    re, im = (_moved(part, n, axis) for part in (re, im))
    if inverse:
        re, im = im, re
    re, im = _rows(tape, re, im)
    if inverse:
        re, im = im, re
    call = tape.session.hooks.call
    return joined(*[call(np.moveaxis, part, -1, axis) if part.ndim > 1 else part for part in (re, im)])


def _moved(a: Any, n: int | None, axis: int) -> Any:
    call = a.tape.session.hooks.call
    a = call(np.moveaxis, a, axis, -1) if a.ndim > 1 else a
    if n is None or a.shape[-1] == n:
        return a
    if a.shape[-1] > n:
        return a[..., :n]
    made = _zeros(a.tape, (*a.shape[:-1], n), a.type)
    made[..., : a.shape[-1]] = a
    return made


def _rows(tape: Tape, re: Any, im: Any) -> Pair:
    if re.ndim == 1:
        return transformed(tape, re, im)
    shape = re.shape
    flat = math.prod(shape[:-1]), shape[-1]
    out = _zeros(tape, flat, re.type), _zeros(tape, flat, re.type)
    a, b = re.reshape(flat), im.reshape(flat)
    tape.session.run(algorithms.rows, lambda f: f(a, b, out, lambda x, y: transformed(tape, x, y)))
    return out[0].reshape(shape), out[1].reshape(shape)


def _scale(tape: Tape, norm: Any, n: int, inverse: bool) -> float:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if inverse != (norm == "forward") else 1.0


def _length(tape: Tape, a: Any, n: Any, axis: Any) -> tuple[int, int]:
    """The length of the transform, and the axis; both known while staging."""
    for value in (n, axis):
        if value is not None and number_kind(value) != "int":
            raise tape.type_fault("`n` and `axis` of a transform are known while staging", "make them `rose.Static`")
    shape = a.shape
    axis = operator.index(axis)
    if not -len(shape) <= axis < len(shape):
        raise tape.fault(ShapeError, f"axis {axis} is out of bounds for an array of shape {shape}")
    length = shape[axis] if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    return length, axis % len(shape)


def _scaled(z: Any, factor: float) -> Any:
    return z if factor == 1.0 else joined(z.real * factor, z.imag * factor)


def _prepared(tape: Tape, a: Any) -> Any:
    return a if a.__class__ is ComplexArray else as_complex(tape, a if a.__class__ is Array else an_array_of(tape, a))


def an_array_of(tape: Tape, a: Any) -> Any:
    """What is given as an array."""
    return a if isinstance(a, (list, tuple, np.ndarray)) else an_array(tape, a)


def _complex(tape: Tape, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *, inverse: bool) -> Any:
    a = _prepared(tape, a)
    length, axis = _length(tape, a, n, axis)
    return _scaled(along_axis(tape, a, length, axis, inverse), _scale(tape, norm, length, inverse))


def _of_real(tape: Tape, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    if is_complex(a):
        raise tape.type_fault("`np.fft.rfft` takes real numbers", "use `np.fft.fft`, or `z.real`")
    a = _prepared(tape, a)
    length, axis = _length(tape, a, n, axis)
    whole = _scaled(along_axis(tape, a, length, axis, False), _scale(tape, norm, length, False))
    return whole[(*[slice(None)] * axis, slice(0, length // 2 + 1))]


def _to_real(tape: Tape, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    a = _prepared(tape, a)
    half, axis = _length(tape, a, None, axis)
    length = 2 * (half - 1) if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    re, im = (_moved(part, length // 2 + 1, axis) for part in (a.real, a.imag))
    last = (length + 1) // 2
    im = _without_ends(im, length)
    pairs = [(re, re[..., last - 1 : 0 : -1], 1.0), (im, im[..., last - 1 : 0 : -1], -1.0)]
    call = tape.session.hooks.call
    whole = [call(np.concatenate, [part, mirrored * sign], -1) for part, mirrored, sign in pairs]
    found = along_axis(tape, joined(*whole), length, -1, True).real * _scale(tape, norm, length, True)
    return call(np.moveaxis, found, -1, axis) if found.ndim > 1 else found


def _without_ends(im: Any, length: int) -> Any:
    """The imaginary parts without those that a real signal has not."""
    mask = np.ones(im.shape[-1])
    mask[0] = 0.0
    if length % 2 == 0:
        mask[-1] = 0.0
    return im * of_host(im.tape, mask)


def _axes(a: Any, s: Any, axes: Any, two: bool) -> list[tuple[Any, Any]]:
    """Axes and their lengths; no length, or -1, is that of the array."""
    if axes is None:
        axes = (-2, -1) if two else tuple(range(-len(s), 0)) if s is not None else tuple(range(a.ndim))
    lengths: Sequence[Any] = [None] * len(axes) if s is None else s
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return [(axis, None if _is_minus_one(n) else n) for axis, n in zip(axes, lengths, strict=True)]


def _is_minus_one(n: Any) -> bool:
    """Whether it is the number -1, known while staging."""
    return n is not None and number_kind(n) == "int" and n == -1


def _several(tape: Tape, a: Any, s: Any = None, axes: Any = None, norm: Any = None, *, inverse: bool, two: bool) -> Any:
    a = _prepared(tape, a)
    for axis, n in reversed(_axes(a, s, axes, two)):
        a = _complex(tape, a, n, axis, norm, inverse=inverse)
    return a


def _several_of_real(tape: Tape, a: Any, s: Any = None, axes: Any = None, norm: Any = None, *, two: bool) -> Any:
    if is_complex(a):
        raise tape.type_fault("`np.fft.rfftn` takes real numbers", "use `np.fft.fftn`, or `z.real`")
    a = _prepared(tape, a)
    *others, (last, n) = _axes(a, s, axes, two)
    a = _of_real(tape, a.real, n, last, norm)
    for axis, n in reversed(others):
        a = _complex(tape, a, n, axis, norm, inverse=False)
    return a


def _several_to_real(tape: Tape, a: Any, s: Any = None, axes: Any = None, norm: Any = None, *, two: bool) -> Any:
    a = _prepared(tape, a)
    *others, (last, length) = _axes(a, s, axes, two)
    for axis, n in others:
        a = _complex(tape, a, n, axis, norm, inverse=True)
    return _to_real(tape, a, length, last, norm)


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}
"""The scale of the other direction."""


def _of_hermitian(tape: Tape, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The real spectrum of a signal whose second half is the conjugate of its first: the inverse of the conjugate."""
    a = _prepared(tape, a)
    return _to_real(tape, joined(a.real, -a.imag), n, axis, _SWAPPED.get(norm, norm))


def _to_hermitian(tape: Tape, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    found = _of_real(tape, a, n, axis, _SWAPPED.get(norm, norm))
    return joined(found.real, -found.imag)


def _shifted(tape: Tape, x: Any, axes: Any = None, *, back: bool) -> Any:
    x = x if x.__class__ in (Array, ComplexArray) else an_array_of(tape, x)
    places = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in places:
        n = x.shape[axis]
        x = tape.session.hooks.call(np.roll, x, -(n // 2) if back else n // 2, axis)
    return x


_ONE = "a, n=None, axis=-1, norm=None, out=None"
_MANY = "a, s=None, axes=None, norm=None, out=None"
_FUNCTIONS: dict[str, tuple[Handler, str]] = {
    "fft": (partial(_complex, inverse=False), _ONE), "ifft": (partial(_complex, inverse=True), _ONE),
    "rfft": (_of_real, _ONE), "irfft": (_to_real, _ONE),
    "fft2": (partial(_several, inverse=False, two=True), _MANY.replace("axes=None", "axes=(-2, -1)")),
    "ifft2": (partial(_several, inverse=True, two=True), _MANY.replace("axes=None", "axes=(-2, -1)")),
    "fftn": (partial(_several, inverse=False, two=False), _MANY),
    "ifftn": (partial(_several, inverse=True, two=False), _MANY),
    "rfft2": (partial(_several_of_real, two=True), _MANY.replace("axes=None", "axes=(-2, -1)")),
    "irfft2": (partial(_several_to_real, two=True), _MANY.replace("axes=None", "axes=(-2, -1)")),
    "rfftn": (partial(_several_of_real, two=False), _MANY), "irfftn": (partial(_several_to_real, two=False), _MANY),
    "hfft": (_of_hermitian, _ONE), "ihfft": (_to_hermitian, _ONE),
    "fftshift": (partial(_shifted, back=False), "x, axes=None"),
    "ifftshift": (partial(_shifted, back=True), "x, axes=None"),
}  # fmt: skip


def _handler(name: str, make: Handler, text: str) -> Handler:
    binds = signature_of(text)

    def handler(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = bound(session.tape, f"np.fft.{name}", binds, args, kwargs)
        if given.pop("out", None) is not None:
            raise session.tape.type_fault(f"`np.fft.{name}(..., out=...)` is not staged", "leave out `out`")
        return make(session.tape, **given)

    return staged_only(handler)


def functions() -> dict[Any, Handler]:
    """By function; none where NumPy is not there."""
    module = getattr(np, "fft", None)
    return {getattr(module, name): _handler(name, *row) for name, row in _FUNCTIONS.items() if hasattr(module, name)}
