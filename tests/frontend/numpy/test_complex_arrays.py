"""Functions of complex arrays against NumPy, and their gradients against differences: values, types and shapes."""

import numpy as np
import pytest

import rosejit as rose

RNG = np.random.default_rng(1)


def _numbers(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


Z, W, X, M = _numbers(3, 4), _numbers(3, 4), RNG.normal(size=(3, 4)), _numbers(4, 4)
GIVEN = (Z, W, X, M, Z[0].copy())
TABLE = {
    'np.exp(z)': lambda z, w, x, m, v: np.exp(z),
    'np.log(z)': lambda z, w, x, m, v: np.log(z),
    'np.log2(z)': lambda z, w, x, m, v: np.log2(z),
    'np.log10(z)': lambda z, w, x, m, v: np.log10(z),
    'np.log1p(z)': lambda z, w, x, m, v: np.log1p(z),
    'np.expm1(z)': lambda z, w, x, m, v: np.expm1(z),
    'np.exp2(z)': lambda z, w, x, m, v: np.exp2(z),
    'np.sqrt(z)': lambda z, w, x, m, v: np.sqrt(z),
    'np.sin(z)': lambda z, w, x, m, v: np.sin(z),
    'np.cos(z)': lambda z, w, x, m, v: np.cos(z),
    'np.tan(z)': lambda z, w, x, m, v: np.tan(z),
    'np.sinh(z)': lambda z, w, x, m, v: np.sinh(z),
    'np.cosh(z)': lambda z, w, x, m, v: np.cosh(z),
    'np.tanh(z)': lambda z, w, x, m, v: np.tanh(z),
    'np.arcsin(z)': lambda z, w, x, m, v: np.arcsin(z),
    'np.arccos(z)': lambda z, w, x, m, v: np.arccos(z),
    'np.arctan(z)': lambda z, w, x, m, v: np.arctan(z),
    'np.arcsinh(z)': lambda z, w, x, m, v: np.arcsinh(z),
    'np.arccosh(z)': lambda z, w, x, m, v: np.arccosh(z),
    'np.arctanh(z)': lambda z, w, x, m, v: np.arctanh(z),
    'np.abs(z)': lambda z, w, x, m, v: np.abs(z),
    'np.square(z)': lambda z, w, x, m, v: np.square(z),
    'np.reciprocal(z)': lambda z, w, x, m, v: np.reciprocal(z),
    'np.negative(z)': lambda z, w, x, m, v: np.negative(z),
    'np.positive(z)': lambda z, w, x, m, v: np.positive(z),
    'np.conj(z)': lambda z, w, x, m, v: np.conj(z),
    'np.angle(z)': lambda z, w, x, m, v: np.angle(z),
    'np.real(z)': lambda z, w, x, m, v: np.real(z),
    'np.imag(z)': lambda z, w, x, m, v: np.imag(z),
    'np.isfinite(z)': lambda z, w, x, m, v: np.isfinite(z),
    'np.isnan(z)': lambda z, w, x, m, v: np.isnan(z),
    'np.isinf(z)': lambda z, w, x, m, v: np.isinf(z),
    'np.iscomplex(z)': lambda z, w, x, m, v: np.iscomplex(z),
    'np.isreal(z)': lambda z, w, x, m, v: np.isreal(z),
    'np.sign(z)': lambda z, w, x, m, v: np.sign(z),
    'z+w': lambda z, w, x, m, v: z+w,
    'z-w': lambda z, w, x, m, v: z-w,
    'z*w': lambda z, w, x, m, v: z*w,
    'z/w': lambda z, w, x, m, v: z/w,
    'z**2': lambda z, w, x, m, v: z**2,
    'z**3': lambda z, w, x, m, v: z**3,
    'z**-2': lambda z, w, x, m, v: z**-2,
    'z**0.5': lambda z, w, x, m, v: z**0.5,
    'z**w': lambda z, w, x, m, v: z**w,
    'x*z': lambda z, w, x, m, v: x*z,
    'z/x': lambda z, w, x, m, v: z/x,
    'x/z': lambda z, w, x, m, v: x/z,
    '2-z': lambda z, w, x, m, v: 2-z,
    '1j*x': lambda z, w, x, m, v: 1j*x,
    'x+1j': lambda z, w, x, m, v: x+1j,
    'z==w': lambda z, w, x, m, v: z==w,
    'z!=w': lambda z, w, x, m, v: z!=w,
    '-z': lambda z, w, x, m, v: -z,
    'abs(z)': lambda z, w, x, m, v: abs(z),
    'z.T': lambda z, w, x, m, v: z.T,
    'z.real': lambda z, w, x, m, v: z.real,
    'z.imag': lambda z, w, x, m, v: z.imag,
    'z.conj()': lambda z, w, x, m, v: z.conj(),
    'z.sum()': lambda z, w, x, m, v: z.sum(),
    'z.mean()': lambda z, w, x, m, v: z.mean(),
    'z.prod()': lambda z, w, x, m, v: z.prod(),
    'z.std()': lambda z, w, x, m, v: z.std(),
    'z.var()': lambda z, w, x, m, v: z.var(),
    'z.sum(axis=0)': lambda z, w, x, m, v: z.sum(axis=0),
    'z.mean(1)': lambda z, w, x, m, v: z.mean(1),
    'np.prod(z,axis=1)': lambda z, w, x, m, v: np.prod(z,axis=1),
    'np.cumsum(z,axis=1)': lambda z, w, x, m, v: np.cumsum(z,axis=1),
    'np.trace(m)': lambda z, w, x, m, v: np.trace(m),
    'np.diff(z)': lambda z, w, x, m, v: np.diff(z),
    'z[1:,::2]': lambda z, w, x, m, v: z[1:,::2],
    'z[:,[0,2]]': lambda z, w, x, m, v: z[:,[0,2]],
    'z[1,2]': lambda z, w, x, m, v: z[1,2],
    'z[-1]': lambda z, w, x, m, v: z[-1],
    'np.reshape(z,(4,3))': lambda z, w, x, m, v: np.reshape(z,(4,3)),
    'z.ravel()': lambda z, w, x, m, v: z.ravel(),
    'np.flip(z,0)': lambda z, w, x, m, v: np.flip(z,0),
    'np.roll(z,1,1)': lambda z, w, x, m, v: np.roll(z,1,1),
    'np.tril(m)': lambda z, w, x, m, v: np.tril(m),
    'np.concatenate([z,x])': lambda z, w, x, m, v: np.concatenate([z,x]),
    'np.stack([z,w],1)': lambda z, w, x, m, v: np.stack([z,w],1),
    'np.vstack([z,x])': lambda z, w, x, m, v: np.vstack([z,x]),
    'np.hstack([z,w])': lambda z, w, x, m, v: np.hstack([z,w]),
    'np.where(x>0,z,w)': lambda z, w, x, m, v: np.where(x>0,z,w),
    'np.where(x>0,z,0.0)': lambda z, w, x, m, v: np.where(x>0,z,0.0),
    'np.where(x>0,x,1j)': lambda z, w, x, m, v: np.where(x>0,x,1j),
    'z@m': lambda z, w, x, m, v: z@m,
    'm@v': lambda z, w, x, m, v: m@v,
    'v@v': lambda z, w, x, m, v: v@v,
    'v@m': lambda z, w, x, m, v: v@m,
    'np.dot(v,v)': lambda z, w, x, m, v: np.dot(v,v),
    'np.vdot(v,v)': lambda z, w, x, m, v: np.vdot(v,v),
    'np.inner(v,v)': lambda z, w, x, m, v: np.inner(v,v),
    'np.outer(v,v)': lambda z, w, x, m, v: np.outer(v,v),
    'np.tensordot(z,m,1)': lambda z, w, x, m, v: np.tensordot(z,m,1),
    'np.kron(v,v)': lambda z, w, x, m, v: np.kron(v,v),
    'np.einsum("ij,jk->ik",z,m)': lambda z, w, x, m, v: np.einsum("ij,jk->ik",z,m),
    'np.einsum("ij->j",z)': lambda z, w, x, m, v: np.einsum("ij->j",z),
    'np.einsum("ij,kj->ik",z,x)': lambda z, w, x, m, v: np.einsum("ij,kj->ik",z,x),
    'np.convolve(v,v)': lambda z, w, x, m, v: np.convolve(v,v),
    'np.linalg.norm(v)': lambda z, w, x, m, v: np.linalg.norm(v),
    'np.linalg.solve(m,v)': lambda z, w, x, m, v: np.linalg.solve(m,v),
    'np.linalg.solve(m,m)': lambda z, w, x, m, v: np.linalg.solve(m,m),
    'np.linalg.inv(m)': lambda z, w, x, m, v: np.linalg.inv(m),
    'np.zeros_like(z)': lambda z, w, x, m, v: np.zeros_like(z),
    'np.ones_like(z)': lambda z, w, x, m, v: np.ones_like(z),
    'np.full_like(z,2)': lambda z, w, x, m, v: np.full_like(z,2),
    'np.full((2,),z[0,0])': lambda z, w, x, m, v: np.full((2,),z[0,0]),
    'np.array([z[0,0],1.0,2j])': lambda z, w, x, m, v: np.array([z[0,0],1.0,2j]),
    'np.array([[z[0,0],1.0],[2j,x[0,0]]])': lambda z, w, x, m, v: np.array([[z[0,0],1.0],[2j,x[0,0]]]),
    'x.astype(complex)': lambda z, w, x, m, v: x.astype(complex),
    'np.array(x,dtype=complex)': lambda z, w, x, m, v: np.array(x,dtype=complex),
    'np.allclose(z,z)': lambda z, w, x, m, v: np.allclose(z,z),
    'np.isclose(z,w)': lambda z, w, x, m, v: np.isclose(z,w),
    'np.array_equal(z,z)': lambda z, w, x, m, v: np.array_equal(z,z),
    'np.any(z)': lambda z, w, x, m, v: np.any(z),
    'np.all(z)': lambda z, w, x, m, v: np.all(z),
    'np.count_nonzero(z)': lambda z, w, x, m, v: np.count_nonzero(z),
    'np.polyval(v,x)': lambda z, w, x, m, v: np.polyval(v,x),
    'np.polyval(x[0],z)': lambda z, w, x, m, v: np.polyval(x[0],z),
    'np.power(z,2)': lambda z, w, x, m, v: np.power(z,2),
    'np.add(z,1)': lambda z, w, x, m, v: np.add(z,1),
    'np.multiply(z,2j)': lambda z, w, x, m, v: np.multiply(z,2j),
    'np.true_divide(z,w)': lambda z, w, x, m, v: np.true_divide(z,w),
    'np.equal(z,w)': lambda z, w, x, m, v: np.equal(z,w),
    'np.take(z,[0,1],1)': lambda z, w, x, m, v: np.take(z,[0,1],1),
    'np.repeat(z,2,0)': lambda z, w, x, m, v: np.repeat(z,2,0),
    'np.expand_dims(z,0)': lambda z, w, x, m, v: np.expand_dims(z,0),
    'np.moveaxis(z,0,1)': lambda z, w, x, m, v: np.moveaxis(z,0,1),
    'np.swapaxes(z,0,1)': lambda z, w, x, m, v: np.swapaxes(z,0,1),
    'np.broadcast_to(v,(2,4))': lambda z, w, x, m, v: np.broadcast_to(v,(2,4)),
    'np.squeeze(z[None])': lambda z, w, x, m, v: np.squeeze(z[None]),
    'np.split(z,3)[1]': lambda z, w, x, m, v: np.split(z,3)[1],
    'np.tile(v,2)': lambda z, w, x, m, v: np.tile(v,2),
    'np.diag(v)': lambda z, w, x, m, v: np.diag(v),
    'np.diagonal(m)': lambda z, w, x, m, v: np.diagonal(m),
    'np.trapezoid(v)': lambda z, w, x, m, v: np.trapezoid(v),
    'z.copy()': lambda z, w, x, m, v: z.copy(),
    'z.flatten()': lambda z, w, x, m, v: z.flatten(),
    'np.absolute(z)': lambda z, w, x, m, v: np.absolute(z),
    'np.fft.fft(z)': lambda z, w, x, m, v: np.fft.fft(z),
    'np.fft.ifft(z)': lambda z, w, x, m, v: np.fft.ifft(z),
    'np.fft.irfft(z)': lambda z, w, x, m, v: np.fft.irfft(z),
    'np.fft.rfft(x)': lambda z, w, x, m, v: np.fft.rfft(x),
    'np.fft.fft2(z)': lambda z, w, x, m, v: np.fft.fft2(z),
    'np.fft.fftshift(z)': lambda z, w, x, m, v: np.fft.fftshift(z),
    'np.fft.fftfreq(5)*z[0,0]': lambda z, w, x, m, v: np.fft.fftfreq(5)*z[0,0],
    'np.exp(1j*x)': lambda z, w, x, m, v: np.exp(1j*x),
    'np.abs(np.exp(1j*x))': lambda z, w, x, m, v: np.abs(np.exp(1j*x)),
    'np.linspace(0,1,4)*z': lambda z, w, x, m, v: np.linspace(0,1,4)*z,
    'np.arange(4)*1j*x[0,0]': lambda z, w, x, m, v: np.arange(4)*1j*x[0,0],
    'np.zeros(4,dtype=complex)+v': lambda z, w, x, m, v: np.zeros(4,dtype=complex)+v,
    'np.eye(4)*m': lambda z, w, x, m, v: np.eye(4)*m,
    '(z*z.conj()).real': lambda z, w, x, m, v: (z*z.conj()).real,
    'sum(v)': lambda z, w, x, m, v: sum(v),
    'z.shape[0]*z': lambda z, w, x, m, v: z.shape[0]*z,
    'np.sum(z*w)': lambda z, w, x, m, v: np.sum(z*w),
}  # fmt: skip


REAL = [text for text in TABLE if np.asarray(TABLE[text](*GIVEN)).dtype.kind in "cf"]


def groups(texts):
    """Twelve functions are one program: that is compiled in half the time."""
    return [tuple(texts[k : k + 12]) for k in range(0, len(texts), 12)]


@pytest.mark.parametrize("texts", groups([*TABLE]), ids=lambda texts: texts[0])
def test_values_types_and_shapes_are_numpys(texts):
    functions = [TABLE[text] for text in texts]
    with np.errstate(all="ignore"):
        wanted = [f(*GIVEN) for f in functions]
    found = rose.jit(lambda *given: tuple([f(*given) for f in functions]))(*GIVEN)
    for text, a, b in zip(texts, found, wanted, strict=True):
        assert (np.shape(a), np.asarray(a).dtype) == (np.shape(b), np.asarray(b).dtype), text
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13, err_msg=text)


@pytest.mark.parametrize("texts", groups(REAL[::2]), ids=lambda texts: texts[0])
def test_gradients_are_slopes_along_both_axes(texts):
    """du/dx - i du/dy, of a real number made of the results, each with weights of its own."""
    functions = [TABLE[text] for text in texts]
    weights = RNG.normal(size=(len(texts), 2)).tolist()

    def u(z, w, x, m, v):
        total = 0.0
        for f, (a, b) in zip(functions, weights, strict=True):
            y = f(z, w, x, m, v)
            total = total + np.sum(np.abs(y) ** 2) + a * np.sum(np.real(y)) + b * np.sum(np.imag(y))
        return total

    chosen = (0, 2, 3, 4)
    for k, gradient in zip(chosen, rose.grad(u, argnums=chosen)(*GIVEN), strict=True):
        direction = RNG.normal(size=GIVEN[k].shape)
        for factor in (1.0, 1j) if GIVEN[k].dtype.kind == "c" else (1.0,):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [*GIVEN]
                moved[k] = moved[k] + step * factor * direction
                ends.append(u(*moved))
            slope = (ends[0] - ends[1]) / 2e-6
            assert np.real(np.sum(gradient * factor * direction)) == pytest.approx(slope, rel=1e-6, abs=1e-5)
