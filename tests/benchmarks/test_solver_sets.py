"""The published problems are what they should be, and some of them are solved: `python -m benchmarks.solver_sets` has
all of them beside SciPy."""

import numpy as np
import pytest
from scipy import integrate, optimize

import rosejit as rose
from benchmarks.solver_sets.detest import EQUATIONS, STIFF
from benchmarks.solver_sets.hock_schittkowski import PROGRAMS
from benchmarks.solver_sets.more_garbow_hillstrom import PROBLEMS, ROOTS, is_solved


def test_the_least_sums_of_squares_are_the_published_ones():
    assert len(PROBLEMS) >= 40
    assert len({problem.residuals for problem in PROBLEMS}) == 34  # two of the 35 are one function
    for problem in PROBLEMS:
        found = optimize.least_squares(problem.residuals, problem.start, max_nfev=500)
        assert is_solved(problem, 2 * found.cost), problem.name


@pytest.mark.parametrize("name", ["10 meyer", "18 biggs", "31 broyden banded 10"])
def test_fits(name):
    (problem,) = (problem for problem in PROBLEMS if problem.name == name)
    found = rose.least_squares(problem.residuals, np.array(problem.start))
    assert found.success
    assert is_solved(problem, 2 * found.cost)


@pytest.mark.parametrize("name", ["7 helical valley", "29 integral equation 10"])
def test_roots(name):
    (problem,) = (problem for problem in ROOTS if problem.name == name)
    found = rose.root(problem.residuals, np.array(problem.start))
    assert found.success
    assert np.abs(found.fun).max() < 1e-10


@pytest.mark.parametrize("equation", [*EQUATIONS[1:3], EQUATIONS[8]], ids=lambda equation: equation.name)
def test_equations(equation):
    assert len(EQUATIONS) == 25
    span, y0 = (0.0, equation.end), np.array(equation.y0)
    found = rose.solve_ivp(equation.slope, span, y0, "DOP853", rtol=1e-9, atol=1e-10)
    exact = equation.exact
    if exact is None:
        exact = integrate.solve_ivp(equation.slope, span, y0, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert found.y[:, -1] == pytest.approx(np.array(exact), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("equation", [STIFF[2], STIFF[4]], ids=lambda equation: equation.name)
def test_stiff_equations(equation):
    span, y0 = (0.0, equation.end), np.array(equation.y0)
    found = rose.solve_ivp(equation.slope, span, y0, "Rodas5P", rtol=1e-6, atol=1e-10)
    assert found.y[:, -1] == pytest.approx(np.array(equation.exact), rel=1e-4, abs=1e-8)


def test_the_least_values_are_the_published_ones():
    """As SciPy finds them."""
    assert len({program.number for program in PROGRAMS}) == len(PROGRAMS) > 60
    missed = []
    for program in PROGRAMS:
        found = optimize.minimize(
            program.objective,
            program.start,
            bounds=program.bounds,
            constraints=program.constraints(),
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-10},
        )
        if not program.is_solved(found.x, found.fun):
            missed.append(program.number)
    assert set(missed) <= {13, 46, 61}  # no multipliers exist; flat as a sixth power; it gives up at the start


@pytest.mark.parametrize("number", [7, 61, 71, 113])
def test_programs(number):
    (program,) = (program for program in PROGRAMS if program.number == number)
    found = rose.optim.minimize(
        program.objective, np.array(program.start), bounds=program.bounds, constraints=program.constraints()
    )
    assert found.success
    assert program.is_solved(found.x, found.fun)
