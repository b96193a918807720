"""Products and factorisations beside NumPy on one thread, and gcc -O3 -msse2 with blocks.

`python -m benchmarks.linear_algebra` (it starts itself once more with one thread).

*us*: processor time of a call, median of batches that take turns. *÷ NumPy*, *÷ C*: to the same from NumPy's BLAS and
LAPACK, and to products, Cholesky's factor and elimination by blocks of 32 in C. `--sizes 8,64 --only matmul,eigh` for
some of them.
"""

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT, per_call_each

SIZES = (8, 32, 64, 128, 256, 512)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matmul": lambda a, b: a @ b,
    "cholesky": lambda a, b: np.linalg.cholesky(a),
    "solve": lambda a, b: np.linalg.solve(b, a[0]),
    "inv": lambda a, b: np.linalg.inv(b),
    "eigh": lambda a, b: np.linalg.eigh(a)[0],
    "svd": lambda a, b: np.linalg.svd(b)[1],
    "qr": lambda a, b: np.linalg.qr(b)[1],
}
C = """
#include <math.h>
#include <string.h>
#define B 32
/* c = a b, of n rows and columns, a multiple of 8: blocks of b and a row of sums stay in the nearest cache */
void matmul(int n, const double *restrict a, const double *restrict b, double *restrict c) {
  double pack[B * B];
  memset(c, 0, sizeof(double) * n * n);
  for (int k0 = 0; k0 < n; k0 += B) for (int j0 = 0; j0 < n; j0 += B) {
    int kn = n - k0 < B ? n - k0 : B, jn = n - j0 < B ? n - j0 : B;
    for (int k = 0; k < kn; k++) for (int j = 0; j < jn; j++) pack[k * B + j] = b[(k0 + k) * n + j0 + j];
    for (int i = 0; i < n; i += 2) for (int j = 0; j < jn; j += 4) {
      double s[2][4];
      for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++) s[x][y] = c[(i + x) * n + j0 + j + y];
      for (int k = 0; k < kn; k++) for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++)
        s[x][y] += a[(i + x) * n + k0 + k] * pack[k * B + j + y];
      for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++) c[(i + x) * n + j0 + j + y] = s[x][y];
    }
  }
}
/* a[i][j] -= sum of c(i, k) a[k][j], rows and columns from e on, k from k0 to e; c(i, k) = a[i * row + k * column] */
static void update(int n, double *restrict a, int k0, int e, int row, int column, int upper) {
  double pack[B * B], left[2 * B];
  for (int j0 = e; j0 < n; j0 += B) {
    int jn = n - j0 < B ? n - j0 : B;
    for (int k = k0; k < e; k++) for (int j = 0; j < jn; j++) pack[(k - k0) * B + j] = a[k * n + j0 + j];
    for (int i = e; i < (upper ? j0 + jn : n); i += 2) {
      for (int k = k0; k < e; k++) for (int x = 0; x < 2; x++)
        left[2 * (k - k0) + x] = a[(i + x) * row + k * column];
      for (int j = 0; j < jn; j += 4) {
        double s[2][4];
        for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++) s[x][y] = a[(i + x) * n + j0 + j + y];
        for (int k = 0; k < e - k0; k++) for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++)
          s[x][y] -= left[2 * k + x] * pack[k * B + j + y];
        for (int x = 0; x < 2; x++) for (int y = 0; y < 4; y++) a[(i + x) * n + j0 + j + y] = s[x][y];
      }
    }
  }
}
/* u' u = a, upper, in place of a copy; n is a multiple of 8 */
void cholesky(int n, const double *restrict a, const double *restrict b, double *restrict u) {
  memcpy(u, a, sizeof(double) * n * n);
  for (int k0 = 0; k0 < n; k0 += B) {
    int e = k0 + B < n ? k0 + B : n;
    for (int k = k0; k < e; k++) {
      double d = 1.0 / sqrt(u[k * n + k]);
      for (int j = k; j < n; j++) u[k * n + j] *= d;
      for (int i = k + 1; i < e; i++) {
        double f = u[k * n + i];
        for (int j = i; j < n; j++) u[i * n + j] -= f * u[k * n + j];
      }
    }
    update(n, u, k0, e, 1, n, 1);
  }
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) u[i * n + j] = 0.0;
}
/* the solution of b x = the first row of a, by elimination with partial pivoting; n is a multiple of 8 up to 1024 */
void solve(int n, const double *restrict a, const double *restrict b, double *restrict out) {
  static double m[1024 * 1024];
  double *x = out;
  memcpy(m, b, sizeof(double) * n * n);
  memcpy(x, a, sizeof(double) * n);
  for (int k0 = 0; k0 < n; k0 += B) {
    int e = k0 + B < n ? k0 + B : n;
    for (int k = k0; k < e; k++) {
      int p = k;
      for (int i = k + 1; i < n; i++) if (fabs(m[i * n + k]) > fabs(m[p * n + k])) p = i;
      double t = x[k]; x[k] = x[p]; x[p] = t;
      if (p != k) for (int j = 0; j < n; j++) { t = m[k * n + j]; m[k * n + j] = m[p * n + j]; m[p * n + j] = t; }
      for (int i = k + 1; i < n; i++) {
        double f = m[i * n + k] /= m[k * n + k];
        for (int j = k + 1; j < e; j++) m[i * n + j] -= f * m[k * n + j];
      }
    }
    for (int k = k0; k < e; k++) for (int i = k + 1; i < e; i++) {
      double f = m[i * n + k];
      for (int j = e; j < n; j++) m[i * n + j] -= f * m[k * n + j];
    }
    update(n, m, k0, e, n, 1, 0);
  }
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) x[i] -= m[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= m[i * n + j] * x[j];
    x[i] /= m[i * n + i];
  }
}
"""


def compiled_c() -> Any:
    """The library of the functions in C, if there is a compiler."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    folder = tempfile.mkdtemp()
    source, library = Path(folder, "blocks.c"), Path(folder, "blocks.so")
    source.write_text(C)
    subprocess.run([gcc, "-O3", "-msse2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


IN_C: dict[str, Callable[..., Any]] = {
    "matmul": lambda a, b: a @ b,
    "cholesky": lambda a, b: np.linalg.cholesky(a).T,
    "solve": lambda a, b: np.linalg.solve(b, a[0]),
}
"""What each function of the library leaves first in its result."""


def in_c(library: Any, name: str, a: Any, b: Any) -> Callable[[], Any]:
    """A call of one of them."""
    function, out, wanted = getattr(library, name), np.empty_like(a), IN_C[name](a, b)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, out)]

    def call(kept: Any = out) -> None:
        function(len(a), *pointers)

    call()
    assert np.allclose(out.ravel()[: wanted.size].reshape(wanted.shape), wanted)
    return call


def measured(name: str, n: int, c: Any) -> dict[str, Any]:
    """A row: times in seconds, and quotients."""
    rng = np.random.default_rng(n)
    b = rng.normal(size=(n, n))
    a = b @ b.T + n * np.eye(n)
    function = FUNCTIONS[name]
    staged = rose.jit(lambda a, b: function(a, b))
    calls = [lambda: staged(a, b), lambda: function(a, b)]
    if c is not None and name in IN_C:
        calls.append(in_c(c, name, a, b))
    ours, numpys, *others = per_call_each(*calls, batch=0.05 if n < 256 else 0.3, batches=5)
    row = {"function": name, "n": n, "us": ours * 1e6, "numpy us": numpys * 1e6, "÷ NumPy": ours / numpys}
    return row | ({"c us": others[0] * 1e6, "÷ C": ours / others[0]} if others else {})


def main() -> None:
    """The table, and the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--only", default=",".join(FUNCTIONS))
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # it is read when NumPy is loaded
        alone = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        subprocess.run([sys.executable, "-m", "benchmarks.linear_algebra", *sys.argv[1:]], env=alone, check=True)
        return
    rows, c = [], compiled_c()
    for name in options.only.split(","):
        for n in map(int, options.sizes.split(",")):
            rows.append(measured(name, n, c))
            shown = {key: value if isinstance(value, (int, str)) else f"{value:.4g}" for key, value in rows[-1].items()}
            print("  ".join(f"{key} {value}" for key, value in shown.items()), flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "linear_algebra.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
