"""Plain arrays beside NumPy's: the same expressions give the same numbers, shapes and kinds."""

import array
import copy
import math
import pickle

import numpy
import pytest

from rosejit import plain

EXPRESSIONS = """
np.array([[1.0, 2.0], [3.0, 4.0]])
np.array([1, 2, 3])
np.array([True, False]) + np.array([True, True])
np.array([1, 2.5, True])
np.zeros((2, 0, 3))
np.ones(3, int)
np.full((2, 2), 1.5)
np.arange(5)
np.arange(8.0).reshape(2, 2, 2)
np.arange(5, 0, -2)
np.linspace(0.0, 1.0, 5)
np.eye(3, 4, 1)
a.T
a.transpose(1, 0)[::-1]
a.reshape(-1)
a.ravel()[2:5]
a[1]
a[1, -1]
a[:, 1]
a[..., None]
a[:, ::-2]
a[[0, 1, 0]]
a[:, [2, 0]]
a[[0, 1], [2, 0]]
a[a > 2.0]
a[np.array([True, False])]
a[1:, [True, False, True]]
b[0, :, [1, 0]]
b[[1, 0], :, 1]
a + x
a - 1
2 / a
-a ** 2
a // 2
7 % a
a @ x
x @ a.T
x @ x
b @ a.T
a == 2.0
(a > 1) & (a < 5)
~(a > 1)
abs(-a)
np.sqrt(-x)
np.log(x - x)
np.exp(1000.0 * x)
x / 0.0
np.maximum(x, [1.0, math.nan, 0.0])
np.sign(x - 1)
np.floor(-x)
np.logical_xor(x > 1, x < 2)
np.where(a > 2, a, 0)
np.where(x > 1)[0]
np.concatenate([a, a], axis=1)
np.concatenate([a, a], axis=None)
np.stack([x, x], axis=1)
np.vstack([x, a])
np.hstack([a, a])
np.column_stack([x, x])
np.append(x, 3.0)
np.split(np.arange(6), 3)[1]
np.array_split(np.arange(7), 3)[2]
np.swapaxes(b, 0, 2)
np.moveaxis(b, 0, -1)
np.expand_dims(a, 1)
np.squeeze(np.ones((1, 3, 1)))
np.broadcast_to(x, (2, 3))
np.flip(a)
np.rot90(a)
np.roll(x, 1)
np.roll(a, -1, axis=0)
np.tile(x, (2, 2))
np.repeat(a, 2, axis=1)
np.repeat(x, [1, 0, 2])
np.delete(x, 1)
np.pad(x, 2)
np.pad(x, (1, 2), mode="edge")
np.pad(x, 2, mode="reflect")
np.tril(a)
np.triu(a, 1)
np.diag(x)
np.diag(a, 1)
np.diagonal(b)
np.trace(a)
a.sum()
a.sum(axis=0)
a.sum(axis=(0, 1))
a.prod(1)
a.max(axis=1)
b.mean(axis=0)
np.var(x)
np.std(x)
a.argmin()
np.argmax(a, axis=1)
np.cumsum(a)
np.cumprod(a, axis=1)
np.any(a > 5), np.all(a > 5)
np.sort([3.0, math.nan, 1.0])
np.argsort([3, 1, 2])
np.unique([3, 1, 3])
np.diff(x * x)
np.outer(x, x)
np.kron(a, a)
np.inner(a, a)
np.dot(a, x)
np.convolve(x, x)
np.interp([0.5, 1.5, 9.0], [1.0, 2.0, 3.0], [1.0, 4.0, 9.0])
np.average(x, weights=[1.0, 2.0, 1.0])
np.bincount([1, 1, 3])
np.clip(x, 0.6, None)
np.round(x * 1.23456, 2)
np.take(x, [2, 0])
np.meshgrid(x, [1.0, 2.0])[0]
np.ogrid[0:3, 0:2][1]
np.maximum.accumulate([1, 3, 2])
np.add.reduce(a)
np.subtract.outer(x, x)
np.isclose(x, x + 1e-12)
np.nonzero(a > 2)[1]
np.linalg.solve(square, x)
np.linalg.inv(square)
np.linalg.det(square)
np.linalg.cholesky(square @ square.T)
np.linalg.norm(x)
np.linalg.norm(a, axis=1)
np.linalg.matrix_power(square, 3)
x.astype(int)
a.size, a.ndim, a.shape, len(a), a.nbytes
a.tolist()
np.broadcast_shapes((2, 1), (3,))
np.array(9223372036854775807) + 1
""".strip().splitlines()


def values(np):
    return {
        "np": np, "math": math, "x": np.array([0.5, 1.5, 2.0]), "a": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]),
        "b": np.arange(12.0).reshape(2, 2, 3), "square": np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.5, 0.0, 4.0]]),
    }  # fmt: skip


def described(value):
    """Numbers, with shape and kind."""
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        return (value.shape, value.dtype.kind, numpy.array(value.tolist(), float).ravel().tolist())
    if isinstance(value, tuple):
        return tuple(map(described, value))
    if isinstance(value, list):
        return ((), "list", numpy.array(value, float).ravel().tolist())
    return ((), "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f", [float(value)])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_they_agree(expression):
    with numpy.errstate(all="ignore"):
        wanted = described(eval(expression, values(numpy)))
    given = described(eval(expression, values(plain)))
    if isinstance(wanted[0], tuple) and isinstance(wanted[1], str):
        assert given[:2] == wanted[:2]
        assert given[2] == pytest.approx(wanted[2], rel=1e-14, abs=1e-14, nan_ok=True)
    else:
        assert given == wanted


STATEMENTS = """
y = a.copy(); y[0] = 7.0; y[:, 1] += 1.0; y[1, [0, 2]] = [8.0, 9.0]; y[y > 8.0] = 0.0
y = a.copy(); y.T[0] *= 2.0; y.ravel()[-1] = 5.0
y = x.copy(); np.add.at(y, [0, 0, 2], 1.0)
y = np.zeros((2, 3), int); y[...] = [1, 2, 3]; y -= 1
y = a.copy(); y.fill(2.0); y[::2] = x
y = b.copy(); y[..., 0] = 0.0; y[0, 0] = y[1, 1]
""".strip().splitlines()


@pytest.mark.parametrize("statements", STATEMENTS)
def test_they_write_alike(statements):
    found = []
    for np in (numpy, plain):
        scope = values(np)
        exec(statements, scope)
        found.append(described(scope["y"]))
    assert found[0] == found[1]


REFUSED = """
np.array([[1.0], [1.0, 2.0]])
np.array([1.0, 2.0]) + x
x[3]
x[0, 0]
a.reshape(4)
bool(x)
int(x)
np.linalg.inv(np.zeros((2, 2)))
np.concatenate([a, b])
np.array([1 << 70], int)
np.broadcast_to(x, (3,)).__setitem__(0, 1.0)
""".strip().splitlines()


@pytest.mark.parametrize("expression", REFUSED)
def test_they_refuse_alike(expression):
    with pytest.raises(Exception) as wanted:
        eval(expression, values(numpy))
    with pytest.raises(Exception) as given:
        eval(expression, values(plain))
    assert issubclass(given.type, wanted.type) or given.type.__name__ == wanted.type.__name__


def test_buffers_and_copies():
    x = plain.array(array.array("d", [1.0, 2.0]))
    assert x.tolist() == [1.0, 2.0]
    assert [*pickle.loads(pickle.dumps(x))] == [*copy.deepcopy(x)] == [1.0, 2.0]
    block = bytearray(x.tobytes())
    shared = plain.frombuffer(block, "float64", 1, 8)
    shared[0] = 5.0
    assert plain.frombuffer(block).tolist() == [1.0, 5.0]
    assert plain.frombuffer(bytes(block)).flags.writeable is False
    assert repr(x) == "array([1.0, 2.0])"
    assert float(plain.array(3.0)) == 3.0
    assert x.view().base is x


def test_what_only_staged_code_has_says_so():
    with pytest.raises(AttributeError, match=r"`np\.einsum` of arrays that are known needs NumPy"):
        plain.einsum("ij->i", [[1.0]])
    with pytest.raises(TypeError, match="without NumPy there are no arrays of 'complex128'"):
        plain.zeros(2, "complex128")
