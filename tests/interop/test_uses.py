"""What people hand from other libraries to compiled functions, and compiled functions to other libraries: the calls as
they are written for NumPy, each beside the same call without rosejit; what cannot be is refused in our words."""

import array
import decimal
import enum
import fractions

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

A = np.array([0.5, 1.5, 2.5])
M = np.arange(12.0).reshape(4, 3)
START = np.array([-1.2, 1.0])


def library(name):
    return pytest.importorskip(name)


# --- the functions: one set, compiled and not


def rosenbrock(x):
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def circle(x):
    return np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1]])


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


def model(t, a, b):
    return a * np.exp(-b * t)


def squares(x):
    return (x * x).sum()


def root_of(x):
    return x**3 - 2.0


def bump(x):
    return np.exp(-x * x)


def orbit(t, y):
    return np.array([y[1], -y[0]])


def row(x):
    return x[0] + 2.0 * x[1]


def twice(x):
    return 2.0 * x


T = np.linspace(0.0, 2.0, 20)
Y = model(T, 2.5, 1.3)
P0 = np.array([1.0, 1.0])

ROSENBROCK, CIRCLE, RESIDUALS = map(rose.jit, (rosenbrock, circle, residuals))
MODEL, SQUARES, ROOT_OF, BUMP, ORBIT, ROW, TWICE = map(rose.jit, (model, squares, root_of, bump, orbit, row, twice))
SLOPE, BOTH, CURVATURE = rose.grad(ROSENBROCK), rose.value_and_grad(ROSENBROCK), rose.hessian(ROSENBROCK)


@rose.jit
def hinted(x: Vec["n"]) -> float:
    return (x * x).sum()


@rose.jit
def of_matrix(x: Mat["n", "m"]) -> float:
    return (x * x).sum()


@rose.jit
def of_number(x: float) -> float:
    return x * x


@rose.jit
def of_int(n: int) -> int:
    return n * n


USES = {}


def use(name):
    """A use: a function that gives what was found, and what was to be found."""

    def known(f):
        assert name not in USES
        USES[name] = f
        return f

    return known


def given(name, make, of=hinted, expected=None):
    """A value of another library as an argument, with a hint and without one."""

    @use(name)
    def found():
        value = make()
        plain = np.asarray(value if expected is None else expected, dtype=float)
        return of(value), (plain * plain).sum()

    if of is hinted:

        @use(f"{name}, no hint")
        def found_without():
            value = make()
            plain = np.asarray(value if expected is None else expected, dtype=float)
            return SQUARES(value), (plain * plain).sum()


# --- SciPy calls compiled functions


def optimize():
    return library("scipy.optimize")


for method, more in {
    "BFGS": {"jac": SLOPE}, "L-BFGS-B": {"jac": SLOPE}, "CG": {"jac": SLOPE}, "Nelder-Mead": {},
    "Newton-CG": {"jac": SLOPE, "hess": CURVATURE}, "trust-ncg": {"jac": SLOPE, "hess": CURVATURE},
    "trust-exact": {"jac": SLOPE, "hess": CURVATURE}, "trust-krylov": {"jac": SLOPE, "hessp": rose.hvp(ROSENBROCK)},
    "TNC": {"jac": SLOPE, "bounds": [(-2.0, 2.0)] * 2}, "SLSQP": {"jac": SLOPE},
}.items():  # fmt: skip

    @use(f"scipy.optimize.minimize, {method}")
    def minimised(method=method, more=more):
        return optimize().minimize(ROSENBROCK, START, method=method, tol=1e-10, **more).x, np.ones(2)


@use("scipy.optimize.minimize, jac=True")
def with_both():
    return optimize().minimize(BOTH, START, jac=True).x, np.ones(2)


@use("scipy.optimize.minimize, constraints of SLSQP")
def constrained():
    on = {"type": "eq", "fun": rose.jit(lambda x: x[0] + x[1] - 1.0), "jac": rose.grad(lambda x: x[0] + x[1] - 1.0)}
    return optimize().minimize(SQUARES, [3.0, 1.0], jac=rose.grad(SQUARES), constraints=[on]).x, np.full(2, 0.5)


@use("scipy.optimize.minimize, trust-constr with sparse derivatives")
def trust_constr():
    on = optimize().NonlinearConstraint(CIRCLE, 0.0, 0.0, jac=rose.sparse_jacobian(CIRCLE))
    found = optimize().minimize(ROSENBROCK, [1.0, 1.2], jac=SLOPE, hess=rose.sparse_hessian(ROSENBROCK),
                                method="trust-constr", constraints=[on])  # fmt: skip
    return found.x, np.sqrt([2.0, 2.0])


@use("scipy.optimize.least_squares, jac")
def least_squares():
    return optimize().least_squares(RESIDUALS, P0, jac=rose.jacobian(RESIDUALS), args=(T, Y)).x, [2.5, 1.3]


@use("scipy.optimize.least_squares, sparse jac")
def sparse_least_squares():
    chain = rose.jit(lambda x: x[1:] - 2.0 * x[:-1])
    found = optimize().least_squares(chain, np.ones(4), jac=rose.sparse_jacobian(chain), tr_solver="lsmr")
    return found.x[1:], 2.0 * found.x[:-1]


@use("scipy.optimize.curve_fit")
def curve_fit():
    return optimize().curve_fit(MODEL, T, Y, P0)[0], [2.5, 1.3]


@use("scipy.optimize.curve_fit, jac")
def curve_fit_jac():
    slopes = rose.jit(lambda t, a, b: np.column_stack([np.exp(-b * t), -a * t * np.exp(-b * t)]))
    return optimize().curve_fit(MODEL, T, Y, P0, jac=slopes)[0], [2.5, 1.3]


@use("scipy.optimize.root, hybr")
def root():
    return optimize().root(CIRCLE, [1.0, 2.0], jac=rose.jacobian(CIRCLE)).x, np.sqrt([2.0, 2.0])


@use("scipy.optimize.root, krylov")
def krylov():
    return optimize().root(CIRCLE, [1.0, 2.0], method="krylov", tol=1e-9).x, np.sqrt([2.0, 2.0])


@use("scipy.optimize.fsolve")
def fsolve():
    return optimize().fsolve(CIRCLE, [1.0, 2.0], fprime=rose.jacobian(CIRCLE)), np.sqrt([2.0, 2.0])


@use("scipy.optimize.root_scalar, newton and halley")
def newton():
    slope = rose.grad(ROOT_OF)
    for more in ({}, {"fprime2": rose.grad(slope)}):
        found = optimize().root_scalar(ROOT_OF, x0=1.0, fprime=slope, **more).root
    return found, 2.0 ** (1 / 3)


@use("scipy.optimize.root_scalar, f and f' in one")
def newton_both():
    return optimize().root_scalar(rose.value_and_grad(ROOT_OF), x0=1.0, fprime=True).root, 2.0 ** (1 / 3)


@use("scipy.optimize.brentq")
def brentq():
    return optimize().brentq(ROOT_OF, 0.0, 2.0), 2.0 ** (1 / 3)


@use("scipy.optimize.newton of an array")
def newton_array():
    f = rose.jit(lambda x, a: x**3 - a)
    df = rose.jit(lambda x, a: 3.0 * x**2)
    return optimize().newton(f, np.ones(3), fprime=df, args=(np.array([1.0, 2.0, 8.0]),)), np.cbrt([1.0, 2.0, 8.0])


@use("scipy.optimize.minimize_scalar")
def minimize_scalar():
    return optimize().minimize_scalar(rose.jit(lambda x: (x - 0.3) ** 2)).x, 0.3


@use("scipy.optimize.fixed_point")
def fixed_point():
    return optimize().fixed_point(rose.jit(lambda x: np.cos(x)), 0.5), 0.7390851332151607


@use("scipy.optimize.check_grad")
def check_grad():
    return optimize().check_grad(ROSENBROCK, SLOPE, START) < 1e-4, True


@use("scipy.optimize.approx_fprime")
def approx_fprime():
    return optimize().approx_fprime(A, SQUARES), 2 * A


@use("scipy.optimize.differential_evolution")
def evolution():
    return optimize().differential_evolution(ROSENBROCK, [(-2.0, 2.0)] * 2, seed=1).x, np.ones(2)


@use("scipy.optimize.differential_evolution, vectorized")
def evolution_of_columns():
    many = rose.vmap(ROSENBROCK, in_axes=1)
    found = optimize().differential_evolution(many, [(-2.0, 2.0)] * 2, seed=1, vectorized=True, updating="deferred")
    return found.x, np.ones(2)


@use("scipy.optimize.dual_annealing")
def annealing():
    return optimize().dual_annealing(ROSENBROCK, [(-2.0, 2.0)] * 2, seed=1, maxiter=200).x, np.ones(2)


@use("scipy.optimize.basinhopping")
def basinhopping():
    more = {"method": "BFGS", "jac": SLOPE}
    return optimize().basinhopping(ROSENBROCK, START, niter=3, minimizer_kwargs=more, rng=1).x, np.ones(2)


@use("scipy.optimize.brute")
def brute():
    return optimize().brute(ROSENBROCK, ((-2.0, 2.0), (-2.0, 2.0)), Ns=11, finish=optimize().fmin, disp=0), np.ones(2)


@use("scipy.integrate.quad")
def quad():
    return library("scipy.integrate").quad(BUMP, -np.inf, np.inf)[0], np.sqrt(np.pi)


@use("scipy.integrate.dblquad")
def dblquad():
    return library("scipy.integrate").dblquad(rose.jit(lambda y, x: x * y), 0.0, 1.0, 0.0, 2.0)[0], 1.0


@use("scipy.integrate.quad_vec")
def quad_vec():
    return library("scipy.integrate").quad_vec(rose.jit(lambda x: np.array([x, x * x])), 0.0, 1.0)[0], [1 / 2, 1 / 3]


@use("scipy.integrate.fixed_quad")
def fixed_quad():
    return library("scipy.integrate").fixed_quad(rose.jit(lambda x: x**3), 0.0, 1.0, n=5)[0], 0.25


for method in ("RK45", "Radau", "BDF", "LSODA"):

    @use(f"scipy.integrate.solve_ivp, {method}")
    def solve_ivp(method=method):
        more = {} if method == "RK45" else {"jac": rose.jacobian(ORBIT, argnums=1)}
        solve = library("scipy.integrate").solve_ivp
        return solve(ORBIT, (0.0, 1.0), [1.0, 0.0], method=method, rtol=1e-10, atol=1e-10, **more).y[0, -1], np.cos(1.0)


@use("scipy.integrate.solve_ivp, events")
def events():
    event = rose.jit(lambda t, y: y[0])
    found = library("scipy.integrate").solve_ivp(ORBIT, (0.0, 2.0), [1.0, 0.0], events=event, rtol=1e-10, atol=1e-10)
    return found.t_events[0], [np.pi / 2]


@use("scipy.integrate.odeint")
def odeint():
    times = np.array([0.0, 1.0])
    found = library("scipy.integrate").odeint(ORBIT, [1.0, 0.0], times, tfirst=True, rtol=1e-10, atol=1e-10)
    return found[-1, 0], np.cos(1.0)


@use("scipy.integrate.solve_bvp")
def solve_bvp():
    slope = rose.jit(lambda x, y: np.vstack((y[1], -y[0])))
    ends = rose.jit(lambda a, b: np.array([a[0], b[0] - 1.0]))
    mesh = np.linspace(0.0, np.pi / 2, 20)
    found = library("scipy.integrate").solve_bvp(slope, ends, mesh, np.zeros((2, 20)), tol=1e-8)
    return found.sol(np.pi / 4)[0], np.sin(np.pi / 4)


@use("scipy.sparse.linalg.LinearOperator and cg")
def operator():
    linalg = library("scipy.sparse.linalg")
    product = rose.hvp(lambda x: 1.5 * (x * x).sum() + x[0] * x[1])
    at = np.zeros(3)
    made = linalg.LinearOperator((3, 3), matvec=lambda v: product(at, v.ravel()), dtype=float)
    return linalg.cg(made, A, rtol=1e-12)[0], np.linalg.solve(np.diag([3.0] * 3) + np.eye(3)[[1, 0, 2]] * [1, 1, 0], A)


@use("scipy.linalg of derivatives")
def linalg():
    return library("scipy.linalg").cho_factor(CURVATURE(np.ones(2)))[0][0, 0], np.sqrt(802.0)


@use("scipy.stats: a sampled density")
def stats():
    class Bump(library("scipy.stats").rv_continuous):
        def _pdf(self, x):
            return BUMP(x) / np.sqrt(np.pi)

    return Bump(name="bump").cdf(0.0), 0.5


@use("scipy.special in staged code")
def special():
    from scipy.special import expit, gammaln

    return rose.jit(lambda x: expit(x) + gammaln(x))(2.5), expit(2.5) + gammaln(2.5)


@use("scipy.interpolate of what a function gives")
def spline():
    made = library("scipy.interpolate").CubicSpline(T, rose.vmap(BUMP)(T))
    return made(T[3]), np.exp(-(T[3] ** 2))


@use("scipy.ndimage.generic_filter")
def generic_filter():
    return library("scipy.ndimage").generic_filter(M, SQUARES, size=1), M * M


# --- NumPy calls them, and hands over arrays of every kind

use("np.vectorize")(lambda: (np.vectorize(BUMP)(A), bump(A)))
use("np.apply_along_axis")(lambda: (np.apply_along_axis(SQUARES, 1, M), (M * M).sum(1)))
use("np.frompyfunc")(lambda: (np.frompyfunc(of_number, 1, 1)(A).astype(float), A * A))
use("map and np.fromiter")(lambda: (np.fromiter(map(of_number, A), float), A * A))
use("a list")(lambda: (hinted([0.5, 1.5, 2.5]), 8.75))  # without a hint `x * x` of a list is Python's TypeError
use("a list of NumPy's numbers")(lambda: (hinted([*A]), squares(A)))
given("a memmap", lambda: np.memmap("/dev/zero", dtype=float, mode="r", shape=3))
given("an array that is read-only, reversed, of every second", lambda: np.broadcast_to(1.5, 6)[::-2])
given("a byte-swapped array", lambda: A.astype(">f8"))
given("a column of a Fortran array", lambda: np.asfortranarray(M)[:, 1])
given("np.float32", lambda: A.astype(np.float32))
use("np.float16")(lambda: (hinted(A.astype(np.float16)), squares(A)))
given("np.int32", lambda: np.arange(3, dtype=np.int32))
given("array.array", lambda: array.array("d", A.tolist()))
given("memoryview", lambda: memoryview(A))
given("np.matrix", lambda: np.asmatrix(M), of=of_matrix)
use("np.float32 as a number")(lambda: (of_number(np.float32(1.5)), 2.25))
use("np.int64 as a number")(lambda: (of_int(np.int64(3)), 9))
use("enum.IntEnum")(lambda: (of_int(enum.IntEnum("E", "A B C").C), 9))
use("a 0-d array")(lambda: (of_number(np.array(1.5)), 2.25))
use("a range")(lambda: (hinted(range(3)), 5.0))


# --- pandas

given("pandas.Series", lambda: library("pandas").Series(A, index=[5, 6, 7]))
given("pandas.Series of a table", lambda: frame()["a"])
given("pandas, nullable", lambda: library("pandas").Series(A, dtype="Float64"))
given("pandas.Index", lambda: library("pandas").Index(A))
given("pandas.DataFrame", lambda: frame(), of=of_matrix)
given("pandas, two columns", lambda: frame()[["a", "b"]], of=of_matrix)


def frame():
    return library("pandas").DataFrame({"a": A, "b": 2 * A, "k": [0, 0, 1]})


use("pandas, apply to rows")(lambda: (frame()[["a", "b"]].apply(ROW, axis=1, raw=True), 5 * A))
use("pandas, apply to columns")(lambda: (frame()[["a", "b"]].apply(SQUARES), [squares(A), squares(2 * A)]))
use("pandas, map")(lambda: (frame()["a"].map(of_number), A * A))
use("pandas, groupby and agg")(lambda: (frame().groupby("k")["a"].agg(SQUARES), [2.5, 6.25]))
use("pandas, rolling and apply")(lambda: (frame()["a"].rolling(2).apply(SQUARES, raw=True)[1:], [2.5, 8.5]))
use("pandas, assign")(lambda: (frame().assign(c=lambda d: TWICE(d["a"]))["c"], 2 * A))


# --- polars

given("polars.Series", lambda: library("polars").Series(A))
given("polars.DataFrame", lambda: library("polars").DataFrame({"a": A, "b": A}), of=of_matrix)
use("polars, map_elements")(lambda: (series().map_elements(of_number, return_dtype=library("polars").Float64), A * A))


def series():
    return library("polars").Series("a", A)


@use("polars, map_batches")
def map_batches():
    pl = library("polars")
    table = pl.DataFrame({"a": A}).select(pl.col("a").map_batches(lambda s: TWICE(s), return_dtype=pl.Float64))
    return table["a"], 2 * A


# --- xarray


def data():
    return library("xarray").DataArray(M, dims=("t", "k"))


given("xarray.DataArray", lambda: data()[:, 0])
given("xarray.DataArray of two axes", data, of=of_matrix)
use("xarray, 0-d")(lambda: (of_number(data()[1, 1]), 16.0))
use("xarray.apply_ufunc")(lambda: (library("xarray").apply_ufunc(TWICE, data()), 2 * M))


@use("xarray.apply_ufunc over an axis")
def apply_ufunc():
    xr = library("xarray")
    return xr.apply_ufunc(SQUARES, data(), input_core_dims=[["k"]], vectorize=True), (M * M).sum(1)


use("xarray, reduce")(
    lambda: (data().reduce(rose.jit(lambda x, axis: x.sum(axis=axis), static_argnames="axis"), "k"), M.sum(1))
)


# --- PyTorch and JAX


def torch(value, **more):
    return library("torch").tensor(value, **more)


def jax(value):
    return library("jax").numpy.asarray(value)


given("a tensor", lambda: torch(A))
given("a tensor of float32", lambda: torch(A, dtype=library("torch").float32))
given("a tensor of ints", lambda: torch([1, 2, 3]))
given("a tensor, transposed", lambda: torch(M).T, of=of_matrix)
given("an array of JAX", lambda: jax(A))
given("an array of JAX, of ints", lambda: jax(np.arange(3)))
use("a tensor, 0-d")(lambda: (of_number(torch(1.5)), 2.25))
use("an array of JAX, 0-d")(lambda: (of_number(jax(1.5)), 2.25))
use("a tensor by DLPack")(lambda: (hinted(np.from_dlpack(torch(A))), squares(A)))


@use("batches of a DataLoader")
def loader():
    data = library("torch.utils.data")
    batches = data.DataLoader(data.TensorDataset(torch(M)), batch_size=2)
    return sum(of_matrix(x) for (x,) in batches), (M * M).sum()


# --- scikit-learn, joblib


@use("sklearn FunctionTransformer")
def transformer():
    return library("sklearn.preprocessing").FunctionTransformer(TWICE).fit_transform(M), 2 * M


@use("sklearn, a metric")
def metric():
    distance = rose.jit(lambda x, y: np.sqrt(((x - y) ** 2).sum()))
    neighbours = library("sklearn.neighbors").NearestNeighbors(n_neighbors=2, metric=distance).fit(M)
    return neighbours.kneighbors(M[:1])[0][0], [0.0, np.sqrt(27.0)]


@use("sklearn, a kernel")
def kernel():
    product = rose.jit(lambda x, y: x @ y.T)
    fitted = library("sklearn.svm").SVR(kernel=product).fit(M, M[:, 0])
    return fitted.predict(M).shape, (4,)


# --- what is missing is nan, as NumPy has it

for name, made in {
    "pandas, missing": lambda: library("pandas").Series([0.5, None, 2.5], dtype="Float64"),
    "polars, missing": lambda: library("polars").Series([0.5, None, 2.5]),
    "Arrow, missing": lambda: library("pyarrow").array([0.5, None, 2.5]),
}.items():
    use(name)(lambda made=made: (rose.jit(lambda x: x * x)(made()), [0.25, np.nan, 6.25]))


@pytest.mark.parametrize("name", USES)
@pytest.mark.filterwarnings("ignore")
def test_as_they_are(name):
    found, expected = USES[name]()
    tolerance = {"rtol": 2e-3, "atol": 2e-4} if "optimize" in name else {"rtol": 1e-6}
    assert np.allclose(np.asarray(found, dtype=float), expected, equal_nan=True, **tolerance)


# --- what is refused

ARRAYS = {
    "a masked array": lambda: np.ma.masked_array(A, mask=[False, True, False]),
    "a masked array of float32": lambda: np.ma.masked_array(A, mask=[False, True, False], dtype=np.float32),
    "a structured array": lambda: np.zeros(3, dtype=[("a", float), ("b", int)]),
    "an array of objects": lambda: np.array([0.5, None, "a"], dtype=object),
    "an array of fractions": lambda: np.array([fractions.Fraction(1, 2)] * 3),
    "an array of dates": lambda: np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    "an array of texts": lambda: np.array(["a", "b"]),
    "a data set of xarray": lambda: library("xarray").Dataset({"a": ("t", A)}),
    "a tensor with a gradient": lambda: torch(A, requires_grad=True),
    "a tensor of bfloat16": lambda: torch(A).bfloat16(),
    "a tensor without elements": lambda: library("torch").zeros(3, device="meta"),
    "a sparse tensor": lambda: torch(A).to_sparse(),
    "an array of JAX, of bfloat16": lambda: jax(A).astype("bfloat16"),
    "keys of JAX": lambda: library("jax").random.key(0),
}
OTHERS = {
    "a ragged list": lambda: [[1.0, 2.0], [3.0]],
    "a list of texts": lambda: ["a", "b"],
    "a text": lambda: "abc",
    "None": lambda: None,
    "a generator": lambda: (x for x in A),
    "a set": lambda: {0.5, 1.5},
    "a fraction": lambda: fractions.Fraction(1, 2),
    "a decimal number": lambda: decimal.Decimal("0.5"),
    "a matrix": lambda: M,
    "complex numbers": lambda: A * 1j,
    "a sparse matrix": lambda: library("scipy.sparse").csr_array(M),
    "categories of pandas": lambda: library("pandas").Series(["a", "b"], dtype="category"),
    "dates of pandas": lambda: library("pandas").Series(library("pandas").date_range("2020", periods=3)),
    "a table with texts": lambda: library("pandas").DataFrame({"a": A, "b": ["x", "y", "z"]}),
    "texts of polars": lambda: library("polars").Series(["a", "b"]),
}
CASES = [(name, f) for name in ARRAYS | OTHERS for f in (hinted, of_number)] + [(name, SQUARES) for name in ARRAYS]


@pytest.mark.parametrize(("name", "f"), CASES, ids=[f"{name}, {f.__name__}" for name, f in CASES])
@pytest.mark.filterwarnings("ignore")
def test_the_rest_is_refused_in_our_words(name, f):
    """With a hint, and where the value is an array without one; other values stay what they are without a hint, and do
    what they do in Python."""
    with pytest.raises(
        (rose.StagingTypeError, rose.ShapeError), match=rf"`{f.__name__}` needs .* for `x`, given "
    ) as caught:
        f((ARRAYS | OTHERS)[name]())
    assert f"def {f.__name__}(x" in str(caught.value)


def test_the_remedy_is_said():
    with pytest.raises(rose.StagingTypeError, match=r"x\.compressed\(\)"):
        SQUARES(ARRAYS["a masked array"]())
    with pytest.raises(rose.StagingTypeError, match=r"rose\.interop\.torch\.wrap"):
        hinted(ARRAYS["a tensor with a gradient"]())
