"""Fits with sparse Jacobians: the factor against dense least squares, patterns that are found, given, wrong."""

import numpy as np
import pytest
import scipy.sparse

import rosejit as rose
from rosejit.solvers.fitting.linear_models import Dense, Sparse
from rosejit.solvers.sparsity import affordable, found_structure, structure
from tests.export import machine

RNG = np.random.default_rng(0)
COUNT = 100
HEIGHTS = np.sin(9.0 * np.linspace(0.0, 1.0, COUNT)) + 0.1 * RNG.normal(size=COUNT)


def pattern_of_chain(count):
    found = scipy.sparse.lil_matrix((2 * count - 2, count))
    for i in range(count):
        found[i, i] = 1
    for i in range(count - 2):
        found[count + i, i : i + 3] = 1
    return found.tocsr()


def spline(stiff, count=COUNT, **options):
    def residuals(x):
        return np.concatenate([x - HEIGHTS[:count], stiff * np.sin(x[2:] - 2.0 * x[1:-1] + x[:-2])])

    return rose.least_squares(residuals, np.zeros(count), **options)


PATTERNS = {
    "diagonal": [[j] for j in range(6)],
    "chain": [[j, j + 1] for j in range(7)],
    "arrow": [[0, j] for j in range(1, 8)],
    "an empty row": [[0, 1], [], [1, 2]],
    "a column that nothing reads": [[0], [2], [0, 2]],
    "one row of all": [list(range(6)), *[[j] for j in range(6)]],
    "random": [sorted(RNG.choice(9, size=3, replace=False).tolist()) for _ in range(20)],
}


@pytest.mark.parametrize("name", PATTERNS)
def test_steps_are_those_of_dense_least_squares(name):
    """Of a matrix with random numbers where the pattern has entries: min |J s + r|² + |D s|², some variables held."""
    rows = PATTERNS[name]
    width = max(j for row in rows for j in row) + 1
    matrix = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        matrix[i, row] = RNG.normal(size=len(row))
    known, r = structure(rows, width), RNG.normal(size=len(rows))
    entries = matrix[known.rows, known.variables]
    for held in (np.zeros(width, bool), np.arange(width) % 3 == 1):
        damping = 0.1 + RNG.random(width)
        found = rose.jit(lambda s, e, r, h, d: Sparse(s, False).step(e, r, h, d))(known, entries, r, held, damping)
        kept = np.where(held, 0.0, matrix)
        wide = np.concatenate([kept, np.diag(np.where(held, 1.0, damping))])
        wanted = np.linalg.lstsq(wide, np.concatenate([-r, np.zeros(width)]), rcond=None)[0]
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-11)
        dense = rose.jit(lambda m, r, h, d: Dense().step(m, r, h, d))(matrix, r, held, damping)
        assert dense == pytest.approx(wanted, rel=1e-9, abs=1e-11)
    for each in ("times", "gradient"):
        v = RNG.normal(size=width if each == "times" else len(rows))
        found = rose.jit(lambda s, e, v, each=each: getattr(Sparse(s, False), each)(e, v))(known, entries, v)
        assert found == pytest.approx(matrix @ v if each == "times" else matrix.T @ v, abs=1e-12)


def test_the_factor_of_a_chain_and_of_an_arrow_has_no_fill():
    for rows in ([[j, j + 1] for j in range(50)], [[0, j] for j in range(1, 51)]):
        assert len(structure(rows, 51).lower) == 50


@pytest.mark.parametrize("options", [{}, {"loss": "soft_l1", "f_scale": 0.1, "bounds": (-0.8, 0.7)}], ids=["", "loss"])
def test_sparse_and_dense_fits_end_at_the_same_place(options):
    found, dense = spline(30.0, **options), spline(30.0, jac_sparsity="dense", **options)
    assert found.success
    assert scipy.sparse.issparse(found.jac)
    assert found.x == pytest.approx(dense.x, abs=1e-12)
    assert found.cost == pytest.approx(dense.cost, rel=1e-12)
    assert found.jac.toarray() == pytest.approx(dense.jac, abs=1e-12)
    given = rose.jit(lambda stiff: spline(stiff, jac_sparsity=PATTERN, **options).x)(30.0)
    assert given == pytest.approx(dense.x, abs=1e-12)


PATTERN = pattern_of_chain(COUNT)
SHORT = pattern_of_chain(12)


def roughness(stiff):
    x = spline(stiff, 12, jac_sparsity=SHORT, gtol=1e-13, ftol=1e-15, xtol=1e-15).x
    return (x * x).sum()


def test_derivatives_of_sparse_fits():
    value, slope = rose.jit(roughness), rose.grad(roughness)
    assert slope(3.0) == pytest.approx((value(3.0 + 1e-4) - value(3.0 - 1e-4)) / 2e-4, rel=1e-6)
    assert rose.hessian(roughness)(3.0) == pytest.approx((slope(3.0 + 1e-4) - slope(3.0 - 1e-4)) / 2e-4, rel=1e-6)
    many = np.array([1.0, 3.0])
    assert rose.vmap(slope)(many) == pytest.approx([slope(1.0), slope(3.0)], rel=1e-12)


ARROW = scipy.sparse.lil_matrix(np.concatenate([np.eye(9), np.eye(9)]))
ARROW[:8, 8] = 1.0
ARROW = ARROW.tocsr()
HELD = np.arange(9) % 3 == 1


def weighed(scale, top, weights, form=ARROW):
    """Eight numbers that share a ninth; bounds hold some of them."""

    def residuals(x):
        return np.concatenate([np.exp(x[:8]) * x[8] - scale * weights, x[8:] - 1.0, 0.1 * (x - scale)])

    upper = np.where(HELD, top, np.inf)
    options = {"gtol": 1e-13, "ftol": 1e-15, "xtol": 1e-15, "loss": "soft_l1"}
    x = rose.least_squares(residuals, np.zeros(9), bounds=(-np.inf, upper), jac_sparsity=form, **options).x
    return (x * x * np.arange(1.0, 10.0)).sum()


@pytest.mark.parametrize(("transform", "by"), [(rose.grad, (0, 1, 2)), (rose.hessian, (0, 1))], ids=["grad", "hessian"])
def test_derivatives_are_those_of_dense_fits(transform, by):
    """By numbers that the residuals read, and by bounds that hold variables."""
    given = (1.1, 0.05, np.linspace(1.0, 2.0, 8))
    found = transform(lambda *given: weighed(*given), by)(*given)
    wanted = transform(lambda *given: weighed(*given, "dense"), by)(*given)
    flat = [np.concatenate([np.ravel(each) for row in given for each in row]) for given in map(nested, (found, wanted))]
    assert np.linalg.norm(flat[1]) > 1.0
    assert flat[0] == pytest.approx(flat[1], rel=1e-8, abs=1e-8)


def nested(derivatives):
    """A gradient as the rows of a Hessian are."""
    return [each if isinstance(each, tuple) else (each,) for each in derivatives]


def test_derivatives_at_no_minimum_are_no_numbers():
    """Two numbers of which only the sum is known."""

    def first(wanted):
        return rose.least_squares(lambda x: np.array([x[0] + x[1] - wanted]), np.zeros(2), jac_sparsity=[[1, 1]]).x[0]

    assert rose.jit(first)(3.0) == pytest.approx(1.5)
    assert np.isnan(rose.grad(first)(3.0))


def test_node_gives_the_same_bits(tmp_path):
    functions = {"value": rose.jit(roughness), "gradient": rose.grad(roughness)}
    rose.export(functions, 3.0, path=tmp_path / "out")
    found = machine.results(
        tmp_path, [(tmp_path / "out" / "out.mjs", name, f, (3.0,)) for name, f in functions.items()]
    )
    known = [[f(3.0)] for f in functions.values()]
    assert found is None or [machine.bits(each) for each in found] == [machine.bits(each) for each in known]


def test_patterns_follow_the_whole_numbers_that_they_come_from():
    def steps(x, first, second):
        return np.concatenate([x[first] - x[second] - 1.0, 0.1 * x])

    first = np.arange(149)
    for second in (first + 1, (first * 7 + 3) % 150, first[::-1].copy()):
        found = rose.least_squares(steps, np.zeros(150), (first, second))
        wanted = rose.least_squares(steps, np.zeros(150), (first, second), jac_sparsity="dense")
        assert scipy.sparse.issparse(found.jac)
        assert found.x == pytest.approx(wanted.x, abs=1e-11)


def test_structures_are_fitted():
    def both(p, scale):
        return {"one": p["a"] * scale - 1.0, "other": [p["b"] - 2.0, p["b"][:3] * 0.0]}

    found = rose.least_squares(both, {"a": np.ones(80), "b": np.ones(80)}, (np.arange(1.0, 81.0),))
    assert scipy.sparse.issparse(found.jac)
    assert found.x["a"] == pytest.approx(1.0 / np.arange(1.0, 81.0), rel=1e-9)
    assert found.x["b"] == pytest.approx(np.full(80, 2.0), rel=1e-9)


def test_what_is_dense_stays_so():
    matrix = RNG.normal(size=(110, 100))
    found = rose.least_squares(lambda x: matrix @ x - 1.0, np.zeros(100))
    assert isinstance(found.jac, np.ndarray)
    assert found.x == pytest.approx(np.linalg.lstsq(matrix, np.ones(110), rcond=None)[0], abs=1e-6)


def test_a_pattern_without_an_entry_is_no_success():
    wrong = PATTERN.copy()
    wrong[COUNT + 5, 6] = 0
    found = spline(30.0, jac_sparsity=wrong)
    assert (found.success, found.status) == (False, -2)
    assert "`jac_sparsity` has none" in found.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (PATTERN[1:], r"the shape \(197, 100\), and there are 198 residuals of 100 numbers"),
        (np.ones(3), r"is a matrix, given an array of the shape \(3,\)"),
        ("sparse", r"no jac_sparsity 'sparse'(.|\n)*'dense'"),
    ],
)
def test_wrong_patterns_are_refused(given, words):
    with pytest.raises(rose.RoseError, match=words):
        spline(30.0, jac_sparsity=given)


def test_a_pattern_is_no_array_of_the_program():
    pattern = PATTERN.toarray()
    with pytest.raises(rose.StagingTypeError, match="known before anything runs"):
        rose.jit(lambda stiff: spline(stiff, jac_sparsity=pattern).x)(30.0)


def test_what_would_take_long_to_find_is_not_looked_for():
    """Of 20,000 rows of 100 numbers each, two million iterations would have to be followed."""
    assert affordable(20_000, 100) < 300_000
    found = found_structure(lambda x: np.full((20_000, 100), 1.0) @ x, np.zeros(100), ())
    assert found is None
