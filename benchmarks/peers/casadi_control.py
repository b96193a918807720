"""A problem of optimal control by CasADi's SX and IPOPT; prints one row as JSON. Needs no rosejit."""

import json
import sys
import time

import casadi
from control_problems import PROBLEMS, Tools

NAMES = {"f": "nlp_f", "slope": "nlp_grad_f", "g": "nlp_g", "jacobian": "nlp_jac_g", "hessian": "nlp_hess_l"}


def main():
    make, n = PROBLEMS[sys.argv[1]]
    casadi.nlpsol("first", "ipopt", {"x": (x := casadi.SX.sym("x")), "f": x * x}, {"ipopt.print_level": 0})
    start = time.process_time()
    problem = make(Tools(range, casadi.SX.zeros), n)
    z = casadi.SX.sym("z", len(problem.start))
    options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"}
    solver = casadi.nlpsol("solver", "ipopt", {"x": z, "f": problem.f(z), "g": problem.g(z)}, options)
    limits = {"lbx": problem.low, "ubx": problem.high, "lbg": problem.lower, "ubg": problem.upper}
    made = time.process_time() - start
    found = solver(x0=problem.start, **limits)
    first = time.process_time() - start
    solves = []
    for _ in range(3):
        start = time.process_time()
        found = solver(x0=problem.start, **limits)
        solves.append(time.process_time() - start)
    told = solver.stats()
    calls = {name: told[f"t_wall_{its}"] / max(told[f"n_call_{its}"], 1) for name, its in NAMES.items()}
    row = {"iterations": told["iter_count"], "optimum": float(found["f"]), "success": told["success"], "set up": made}
    print(
        json.dumps(
            {**row, "first": first, "solve": sorted(solves)[1], "calls": calls, "x": found["x"].full().ravel().tolist()}
        )
    )


if __name__ == "__main__":
    main()
