"""Fourier transforms against NumPy: lengths, axes, scales, and gradients, which are transforms too."""

import numpy as np
import pytest

import rosejit as rose

RNG = np.random.default_rng(0)
LENGTHS = [*(range(k, k + 8) for k in range(1, 65, 8)), (1000,), (1009,), (4096,)]


def _numbers(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: str(lengths[0]))
def test_any_length(lengths):
    given = [_numbers(n) for n in lengths]
    for z, found in zip(given, rose.jit(lambda zs: [np.fft.fft(z) for z in zs])(given), strict=True):
        wanted = np.fft.fft(z)
        assert np.abs(found - wanted).max() <= 3e-15 * np.abs(wanted).max(), len(z)


Z, X = _numbers(3, 6), RNG.normal(size=(3, 6))
TABLE = {
    "ifft": (lambda a: np.fft.ifft(a), Z),
    "forward": (lambda a: np.fft.fft(a, norm="forward"), Z),
    "ortho": (lambda a: np.fft.ifft(a, axis=0, norm="ortho"), Z),
    "cut": (lambda a: np.fft.fft(a, 4), Z),
    "longer": (lambda a: np.fft.fft(a, n=8), X),
    "rfft": (lambda a: np.fft.rfft(a), X),
    "rfft odd": (lambda a: np.fft.rfft(a, 5, axis=0), X),
    "irfft": (lambda a: np.fft.irfft(a), Z),
    "irfft odd": (lambda a: np.fft.irfft(a, 7, 0, "ortho"), Z),
    "fft2": (lambda a: np.fft.fft2(a), Z),
    "ifft2": (lambda a: np.fft.ifft2(a, s=(4, 5)), Z),
    "fftn": (lambda a: np.fft.fftn(a, axes=(0,)), Z),
    "ifftn": (lambda a: np.fft.ifftn(a), Z),
    "as it is": (lambda a: np.fft.fftn(a, (-1, 4), axes=(0, 1)), Z),
    "rfft2": (lambda a: np.fft.rfft2(a, norm="ortho"), X),
    "rfftn": (lambda a: np.fft.rfftn(a, (4, 5), axes=(1, 0), norm="forward"), X),
    "irfft2": (lambda a: np.fft.irfft2(a), Z),
    "irfftn": (lambda a: np.fft.irfftn(a, (2, 7), axes=(0, 1), norm="forward"), Z),
    "hfft": (lambda a: np.fft.hfft(a), Z),
    "hfft odd": (lambda a: np.fft.hfft(a, 5, axis=0, norm="forward"), Z),
    "ihfft": (lambda a: np.fft.ihfft(a), X),
    "ihfft ortho": (lambda a: np.fft.ihfft(a, 4, norm="ortho"), X),
    "fftshift": (lambda a: np.fft.fftshift(a), Z),
    "ifftshift": (lambda a: np.fft.ifftshift(a, axes=1), X),
    "fftfreq": (lambda a: np.fft.fftfreq(6) * a, Z),
}


@pytest.mark.parametrize("name", TABLE)
def test_kinds_axes_and_scales(name):
    f, a = TABLE[name]
    found, wanted = rose.jit(f)(a), f(a)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [1, 6, 8, 37])
def test_gradients_and_second_derivatives(n):
    z, v = _numbers(n), _numbers(n)
    weights = np.arange(1.0, n + 1.0)

    def power(z):
        return np.sum(np.abs(np.fft.fft(z)) ** 2 * weights)

    gradient = rose.grad(power)(z)
    wanted = 2 * np.conj(np.fft.ifft(weights * np.fft.fft(z)) * n)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11, atol=1e-11)
    twice = rose.hvp(power)(z, v)
    np.testing.assert_allclose(twice, 2 * np.conj(np.fft.ifft(weights * np.fft.fft(v)) * n), rtol=1e-11, atol=1e-10)


def test_what_is_wrong_is_said_as_numpy_says_it():
    with pytest.raises(ValueError, match="Invalid norm value"):
        rose.jit(lambda z: np.fft.fft(z, norm="x"))(Z)
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        rose.jit(lambda z: np.fft.fft(z, 0))(Z)
    with pytest.raises(TypeError, match="real numbers"):
        rose.jit(lambda z: np.fft.rfft(z))(Z)
    with pytest.raises(TypeError, match="real numbers"):
        rose.jit(lambda z: np.fft.rfftn(z))(Z)
    with pytest.raises(ValueError, match="different lengths"):
        rose.jit(lambda z: np.fft.fftn(z, (2,), axes=(0, 1)))(Z)
    with pytest.raises(ValueError, match="out of bounds"):
        rose.jit(lambda z: np.fft.fft(z, axis=2))(Z)
