"""CasADi's sparse Hessian of the chained Rosenbrock function, made of SX; prints one row as JSON.

Needs no rosejit: any interpreter that has CasADi runs it, with n as its argument.
"""

import json
import sys
import time

import casadi


def main():
    n = int(sys.argv[1])
    point = [-1.0 + 3.0 * k / (n - 1) for k in range(n)]
    start = time.process_time()
    x = casadi.SX.sym("x", n)
    total = 0
    for i in range(n - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    hessian = casadi.Function("hessian", [x], [casadi.hessian(total, x)[0]])
    found = hessian(point)
    first = time.process_time() - start
    spent = []
    for _ in range(9):
        start = time.process_time()
        found = hessian(point)
        spent.append(time.process_time() - start)
    row = {"first": first, "seconds": sorted(spent)[4], "entries": found.nnz()}
    print(json.dumps({**row, "sum": float(casadi.sum1(casadi.sum2(found))), "version": casadi.__version__}))


if __name__ == "__main__":
    main()
