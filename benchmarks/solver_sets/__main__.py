"""Published problems: `rose.least_squares`, `root`, `solve_ivp` and `optim.minimize` beside SciPy's, at the same
tolerances.

SciPy is called with its defaults, our functions compiled; both are timed in one process, after the first call, in CPU
time of the thread that calls.
`python -m benchmarks.solver_sets [fits|sparse|roots|odes|stiff|programs|shooting ...]`.
SciPy's fits of sparse problems get their patterns, and in the last column our sparse Jacobians too.
A fit is solved where its sum of squares is one that is known to be least, to 1e-4; a root where no residual is larger
than 1e-6; an equation where the end was reached, and its error is told in units of the tolerance; a program where the
value is one that is known to be least, to 1e-5, and nothing is missed by more than 1e-6.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, optimize

import rosejit as rose
from benchmarks.solver_sets.detest import EQUATIONS, STIFF, Equation
from benchmarks.solver_sets.hock_schittkowski import PROGRAMS
from benchmarks.solver_sets.more_garbow_hillstrom import PROBLEMS, ROOTS, is_solved
from benchmarks.solver_sets.shooting import INTERVALS, TASKS
from benchmarks.solver_sets.sparse_fits import FITS

Line = tuple[str, bool, bool, int, int, float, str]
"""A name, whether ours and SciPy's is solved, evaluations of both, the ratio of times, and more."""


def seconds(f: Callable[[], Any], long: float = 0.02) -> float:
    """Seconds of a call, in CPU time of this thread: the least of several means."""
    f()
    start = time.thread_time()
    f()
    number = max(1, int(long / max(time.thread_time() - start, 1e-7)))
    found = []
    for _ in range(3):
        start = time.thread_time()
        for _ in range(number):
            f()
        found.append((time.thread_time() - start) / number)
    return min(found)


def fits() -> Iterator[Line]:
    """Least squares."""
    for problem in PROBLEMS:
        f, start = problem.residuals, np.array(problem.start)
        ours = rose.jit(lambda x, f=f: rose.least_squares(f, x, ftol=1e-8, xtol=1e-8, gtol=1e-8, max_nfev=1000))
        found = ours(start)
        known = optimize.least_squares(f, start, max_nfev=1000)
        ratio = seconds(partial(ours, start)) / seconds(partial(optimize.least_squares, f, start, max_nfev=1000))
        solved, theirs = (is_solved(problem, 2 * each.cost) and each.success for each in (found, known))
        more = f"{2 * found.cost:.6g}   {2 * known.cost:.6g}"
        yield problem.name, bool(solved), bool(theirs), int(found.nfev), int(known.nfev), ratio, more


def sparse() -> Iterator[Line]:
    """Least squares with sparse Jacobians, beside SciPy's with their patterns (LSMR)."""
    for fit in FITS:
        f, start = rose.jit(fit.residuals), fit.start
        jacobian: Any = rose.sparse_jacobian(fit.residuals)
        ours = partial(rose.least_squares, fit.residuals, start)
        found, derived = ours(), partial(optimize.least_squares, f, start, jac=jacobian, tr_solver="lsmr")
        pattern = jacobian.pattern(start)
        peer = partial(optimize.least_squares, f, start, jac_sparsity=pattern, tr_solver="lsmr")
        known, spent = peer(), seconds(ours)
        best = min(found.cost, known.cost, derived().cost) * (1.0 + 1e-4)
        solved, theirs = (each.success and each.cost <= best for each in (found, known))
        more = f"{found.cost:.8g}   {known.cost:.8g}   {spent / seconds(derived, 0.0):.4f}"
        ratio = spent / seconds(peer, 0.0)
        yield fit.name, bool(solved), bool(theirs), int(found.nfev), int(known.nfev), ratio, more


def roots(method: str = "hybr") -> Iterator[Line]:
    """Systems of equations."""
    for problem in ROOTS:
        f, start = problem.residuals, np.array(problem.start)
        ours = rose.jit(lambda x, f=f: rose.root(f, x, tol=1.5e-8, method=method))
        found, known = ours(start), optimize.root(f, start)
        ratio = seconds(partial(ours, start)) / seconds(partial(optimize.root, f, start))
        solved = bool(found.success) and np.abs(found.fun).max() < 1e-6
        theirs = known.success and np.abs(known.fun).max() < 1e-6
        yield f"{problem.name} {method}", bool(solved), bool(theirs), int(found.nfev), int(known.nfev), ratio, ""


def end_of(equation: Equation) -> Any:
    """The solution at the end: its closed form, else DOP853's at 1e-13, for stiff ones Radau's at 1e-12."""
    if equation.exact is not None:
        return np.array(equation.exact)
    method, tolerance = ("Radau", 1e-12) if equation in STIFF else ("DOP853", 1e-13)
    span = (0.0, equation.end)
    atol = tolerance * 1e-4
    return integrate.solve_ivp(equation.slope, span, equation.y0, method, rtol=tolerance, atol=atol).y[:, -1]


def solved_by(equation: Equation, method: str, peer: str, tolerance: float, small: float, exact: Any) -> Line:
    """One equation by both."""
    f, y0, span = equation.slope, np.array(equation.y0), (0.0, equation.end)
    given: dict[str, Any] = {"rtol": tolerance, "atol": tolerance * small}
    ours = rose.jit(lambda y: rose.solve_ivp(f, span, y, method, max_steps=100_000, **given))
    found = ours(y0)
    known = integrate.solve_ivp(f, span, y0, peer, **given)
    ratio = seconds(lambda: ours(y0)) / seconds(lambda: integrate.solve_ivp(f, span, y0, peer, **given), 0.0)
    scale = tolerance * (small + np.abs(exact))
    errors = [float((np.abs(each.y[:, -1] - exact) / scale).max()) for each in (found, known)]
    name = f"{equation.name} {method} {tolerance:.0e}"
    more = f"error {errors[0]:.3g}   {errors[1]:.3g}"
    return name, bool(found.success), bool(known.success), int(found.nfev), int(known.nfev), ratio, more


def odes() -> Iterator[Line]:
    """DETEST."""
    for equation in EQUATIONS:
        exact = end_of(equation)
        for method in ("RK45", "DOP853"):
            for tolerance in (1e-3, 1e-6, 1e-9):
                yield solved_by(equation, method, method, tolerance, 1.0, exact)


def stiff() -> Iterator[Line]:
    """Stiff equations: Rodas5P beside Radau and BDF."""
    for equation in STIFF:
        exact = end_of(equation)
        for peer in ("Radau", "BDF"):
            for tolerance in (1e-4, 1e-7):
                line = solved_by(equation, "Rodas5P", peer, tolerance, 1e-4, exact)
                yield (f"{line[0]} {peer}", *line[1:])


def more_roots() -> Iterator[Line]:
    """All methods for systems."""
    for method in ("hybr", "newton", "broyden1", "lm"):
        yield from roots(method)


def programs() -> Iterator[Line]:
    """Minima under constraints, beside SLSQP by differences and, in the last column, with our derivatives."""
    for program in PROGRAMS:
        f, start, bounds, constraints = (
            program.objective,
            np.array(program.start),
            program.bounds,
            program.constraints(),
        )
        ours = rose.jit(
            lambda x, f=f, bounds=bounds, constraints=constraints: rose.optim.minimize(
                f, x, bounds=bounds, constraints=constraints, method="SLSQP"
            )
        )
        exact = [{**each, "jac": rose.jacobian(lambda x, g=each["fun"]: np.array(g(x)))} for each in constraints]
        slsqp = partial(optimize.minimize, method="SLSQP", bounds=bounds, tol=1e-8)
        peer = partial(slsqp, f, start, constraints=constraints)
        derived = partial(slsqp, rose.value_and_grad(f), start, jac=True, constraints=exact)
        found, known = ours(start), peer()
        spent = seconds(partial(ours, start))
        more = f"{found.fun:.8g}   {known.fun:.8g}   {spent / seconds(derived):.4f}"
        solved, theirs = (bool(each.success) and program.is_solved(each.x, each.fun) for each in (found, known))
        yield f"{program.number}", solved, theirs, int(found.nfev), int(known.nfev), spent / seconds(peer), more


def shooting() -> Iterator[Line]:
    """Optimal control, beside SLSQP with our derivatives; iterations in place of evaluations."""
    for task in TASKS:
        f, g, bounds = task.energy, task.missed, [(-task.limit, task.limit)] * INTERVALS
        equality = {"type": "eq", "fun": g}
        ours = rose.jit(
            lambda x, f=f, bounds=bounds, equality=equality: rose.optim.minimize(
                f, x, bounds=bounds, constraints=equality
            )
        )
        derived = {"type": "eq", "fun": rose.jit(g), "jac": rose.jacobian(g)}
        slsqp = partial(optimize.minimize, rose.value_and_grad(f), task.guess, jac=True, method="SLSQP", tol=1e-8)
        peer = partial(slsqp, bounds=bounds, constraints=derived, options={"maxiter": 1000})
        found, start = ours(task.guess), time.perf_counter()
        known = peer()
        spent = time.perf_counter() - start
        ratio = seconds(partial(ours, task.guess)) / spent
        missed = np.abs(derived["fun"](known.x)).max()
        solved, theirs = bool(found.success) and found.maxcv < 1e-6, bool(known.success) and missed < 1e-6
        more = f"{found.fun:.8g}   {known.fun:.8g}"
        yield task.name, bool(solved), bool(theirs), int(found.nit), int(known.nit), ratio, more


SETS = {
    "fits": fits,
    "sparse": sparse,
    "roots": more_roots,
    "odes": odes,
    "stiff": stiff,
    "programs": programs,
    "shooting": shooting,
}


def main(names: list[str]) -> None:
    """Print a table of each set, and what it comes to."""
    warnings.simplefilter("ignore")
    for name in names or list(SETS):
        lines = []
        print(f"\n{name}: solved by us and by SciPy, evaluations, time as a ratio")
        for line in SETS[name]():
            lines.append(line)
            title, ours, theirs, evaluations, peers, ratio, more = line
            print(f"{title:34} {ours!s:5} {theirs!s:5} {evaluations:8} {peers:8} {ratio:9.4f}   {more}", flush=True)
        solved = sum(line[1] for line in lines), sum(line[2] for line in lines)
        middle, most = statistics.median(line[5] for line in lines), max(line[5] for line in lines)
        print(f"{name}: {solved[0]} and {solved[1]} of {len(lines)} solved; ", end="")
        print(f"ratios of time: median {middle:.4f}, most {most:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
