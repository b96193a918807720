"""Functions of NumPy in statements that a row's sample calls cannot be: `np.r_`, `out=`, `.flat`, functions of users."""

import numpy as np
import pytest

from rosejit.errors import RoseError
from rosejit.frontend.hints.hints import Array, Mat, Vec
from tests.frontend.oracle import agrees, define, fault, says

SCOPE = {"np": np, "Mat": Mat, "Vec": Vec, "Array": Array}
ARGUMENTS = (
    np.array([[1.0, -2.0, 0.5], [4.0, 0.25, 6.0]]),
    np.array([0.5, 1.0, 2.0]),
    np.arange(24.0).reshape(2, 3, 4) * 0.25 - 1.1,
    np.array([2, 3, -1]),
    np.array([True, False, True]),
    1.5,
)
HEADER = "def f(a: Mat[2, 3], x: Vec[3], t: Array[2, 3, 4], k: Array[3, int], p: Array[3, bool], s: float):"

STATEMENTS = """
return np.r_[x, s, x]
return np.r_[0:3, x]
return np.r_["0,2", x, x]
return np.r_["1,2,0", x, x]
return np.r_["-1", a, a]
return np.r_[s, 0:1:3j]
return np.c_[x, x]
return np.c_[a, x[:2]]
return np.vectorize(lambda v, w: v if v > w else w * s)(a, x)
return np.vectorize(lambda v: v * 2 if v > 0 else -v)(a)
return a.flat[1] + a.flat[1:4].sum() + len(a.flat)
y = a * 1; y.flat[4] = s; return y
y = a * 1; y.flat = x; return y
return [v * 2 for v in a.flat]
return t.mT
return np.add(x, 1.0, where=p, out=np.zeros(3))
return np.log(a, where=a > 0, out=np.zeros((2, 3)))
return np.add(x, x, out=np.zeros((2, 3)))
y = np.zeros(3); np.sum(a, axis=0, out=y); return y
y = np.zeros(2); a.max(axis=1, out=y); return y
return np.add(k, 2, dtype=float)
return np.add(p, p, dtype=int)
return np.concatenate([k, k], dtype=float)
return np.stack([k, k], dtype=float)
return np.linspace(0, s, 4, dtype=int)
return np.linspace(x, x * 2, 3)
return a.ravel(order="F")
return a.reshape(3, 2, order="F")
return np.reshape(t, (4, 6), order="F")
return a.copy(order="F")
return np.extract(x > 1, x).sum()
return np.compress(x > 0.6, x).mean()
return np.trace(t, 1, 0, 2)
return t.diagonal(axis1=0, axis2=2)
return np.std(a, where=a > 0)
return np.any(a > 5, where=p)
return np.atleast_1d(s)[np.array([0, 0])]
return np.partition(x, 1)[1]
return np.argpartition(-x, 0)[0]
return np.pad(x, 1, "mean")
""".strip().splitlines()


@pytest.mark.parametrize("statements", STATEMENTS)
def test_as_numpy(statements):
    lines = "\n    ".join(statements.split("; "))
    agrees(define(f"{HEADER}\n    {lines}", **SCOPE), ARGUMENTS)


REFUSED = {
    "np.unique(x)": "only running tells",
    "np.polynomial.polynomial.polyroots(x)": "np.roots",
    "np.ravel(t, 'K')": "order='K'",
    "np.nditer(a)": "order='K'",
    "np.pad(x, 1, 'reflect', reflect_type='odd')": "reflect_type",
    "np.log(a, where=a > 0)": "out",
    "np.histogram(x, 'auto')": "only running tells",
    "np.bincount(k)": "minlength",
    "np.zeros(3, np.float16) + s": "float16",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression):
    f = define(f"{HEADER}\n    return {expression}  # refused", **SCOPE)
    error = fault(f, *ARGUMENTS)
    assert isinstance(error, RoseError)
    says(error, line=f"return {expression}  # refused")
    assert REFUSED[expression] in str(error) + str(error.help)
