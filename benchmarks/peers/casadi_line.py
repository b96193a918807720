"""CasADi's SX on a straight-line program: its gradient, interpreted and through gcc -O3; prints one row as JSON.

Takes the file that `latency.py` writes, and needs no rosejit: any interpreter that has CasADi runs it.
"""

import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import casadi

SYMBOLS = {"add": casadi.plus, "sub": casadi.minus, "mul": casadi.times, "div": casadi.rdivide}


def per_call(call):
    """Microseconds of CPU: the median of nine batches."""
    number = 1
    while True:
        start = time.process_time()
        for _ in range(number):
            call()
        spent = time.process_time() - start
        if spent > 0.02:
            break
        number = max(2 * number, int(number * 0.02 / max(spent, 1e-4)))
    found = []
    for _ in range(9):
        start = time.process_time()
        for _ in range(number):
            call()
        found.append((time.process_time() - start) / number)
    return 1e6 * statistics.median(found)


def main():
    given = json.loads(Path(sys.argv[1]).read_text())
    totals = []
    for _ in range(int(sys.argv[2])):
        start = time.process_time()
        x = casadi.SX.sym("x", given["inputs"])
        values = [x[k] for k in range(given["inputs"])]
        for op, a, b in given["steps"]:
            two = SYMBOLS.get(op)
            values.append(two(values[a], values[b]) if two else getattr(casadi, op)(values[a]))
        f = casadi.Function("f", [x], [casadi.gradient(values[-1], x)])
        first = f(given["point"])
        totals.append(time.process_time() - start)
    row = {"total": statistics.median(totals), "gradient": [float(v) for v in first.full().ravel()]}
    row["call_us"] = per_call(lambda: f(given["point"]))
    print(json.dumps({**row, **compiled(f, given)}))


def compiled(f, given):
    """The C that CasADi writes, at -O3: seconds of the compiler, microseconds of a call from Python by ctypes."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "f.c", Path(folder) / "f.so"
        f.generate("f.c")
        Path("f.c").rename(source)
        start = time.perf_counter()
        subprocess.run(
            ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True
        )
        seconds = time.perf_counter() - start
        made = ctypes.CDLL(str(library))
        n = given["inputs"]
        point, result = (ctypes.c_double * n)(*given["point"]), (ctypes.c_double * n)()
        args = (ctypes.c_void_p * 1)(ctypes.addressof(point))
        results = (ctypes.c_void_p * 1)(ctypes.addressof(result))
        numbers = (ctypes.c_longlong * 8192)()
        room = (ctypes.c_double * 262144)()

        def call():
            made.f(args, results, numbers, room, 0)

        call()
        floor = per_call(lambda: made.f_incref())
        return {"c_total": seconds, "c_call_us": per_call(call), "ctypes_us": floor, "c_gradient": list(result)}


if __name__ == "__main__":
    main()
