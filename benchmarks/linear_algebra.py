"""Products and factorisations beside NumPy on one thread, and gcc -O3 -msse2 with blocks.

`python -m benchmarks.linear_algebra` (it starts itself once more with one thread).

*us*: processor time of a call, median of batches that take turns. *÷ NumPy*, *÷ C*: to the same from NumPy's BLAS and
LAPACK, and to a product of blocks of 32 by 32 in C. `--sizes 8,64 --only matmul,eigh` for some of them.
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
"""


def compiled_c() -> Any:
    """The product in C, if there is a compiler."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    folder = tempfile.mkdtemp()
    source, library = Path(folder, "blocks.c"), Path(folder, "blocks.so")
    source.write_text(C)
    subprocess.run([gcc, "-O3", "-msse2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).matmul


def in_c(function: Any, a: Any, b: Any) -> Callable[[], Any]:
    """A call of it."""
    out = np.empty_like(a)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, out)]

    def call(kept: Any = out) -> None:
        function(len(a), *pointers)

    call()
    assert np.allclose(out, a @ b)
    return call


def measured(name: str, n: int, c: Any) -> dict[str, Any]:
    """A row: times in seconds, and quotients."""
    rng = np.random.default_rng(n)
    b = rng.normal(size=(n, n))
    a = b @ b.T + n * np.eye(n)
    function = FUNCTIONS[name]
    staged = rose.jit(lambda a, b: function(a, b))
    calls = [lambda: staged(a, b), lambda: function(a, b)]
    if c is not None and name == "matmul":
        calls.append(in_c(c, a, b))
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
