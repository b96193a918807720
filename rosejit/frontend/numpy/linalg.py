"""Stages `np.linalg`: elimination as a function of the program, whose derivative is a rule and not its own steps."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownLambdaType=false

from collections.abc import Callable
from functools import partial
from math import inf, prod
from typing import Any, NamedTuple

from rosejit.errors import ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import build, variable
from rosejit.frontend.arrays.array import Array, fresh, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import broadcast_map, converted
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import contractions, linalg_algorithms, manipulation
from rosejit.frontend.values.scalars import Bool, P, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Block, Failure, Lit, Var
from rosejit.ir.traversal import lets
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type, array
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.transforms.passes.insert_copies import insert_copies

Make = Callable[..., Any]


@dataclass(slots=True, frozen=True)
class Site:
    """A call of the user's: functions that are made for it fail at its line."""

    tape: Tape
    place: Any

    def function(self, name: str, make: Make, types: list[Type]) -> ir.Function:
        """The function that `make` stages."""
        params = tuple(Var(t, "x") for t in types)
        with self.tape.session.nested() as opened:
            given = [_given(self.tape, v) for v in params]
            found = make(*given)
            results = tuple(_atom(v) for v in (found if isinstance(found, tuple) else (found,)))
        body = Block(opened.root.lets, results)
        for let in lets(body):
            let.span = self.place
        return insert_copies(ir.Function(name, params, tuple(r.type for r in results), body, span=self.place))

    def apply(self, function: ir.Function, *given: Any) -> Any:
        """A call of it."""
        binders = tuple(Var(t, function.name) for t in function.results)
        self.tape.bind_all(ir.Call(function, tuple(map(_atom, given))), binders, self.place)
        made = [wrap(self.tape, b) if isinstance(b.type, Scalar) else fresh(self.tape, b) for b in binders]
        return made[0] if len(made) == 1 else tuple(made)

    def with_rule(self, name: str, make: Make, rule: Make, *given: Array) -> Any:
        """A call of a function whose derivative is `rule`: of the function itself, its arguments and their tangents."""
        types: list[Type] = [array(a.shape, REAL) for a in given]
        function = self.function(name, make, types)
        tangents: list[Type] = [array(a.shape, TAN) for a in given]
        whole = partial(rule, partial(self.apply, function))
        function.rule = self.function(f"{name}_rule", whole, [*types, *tangents])
        return self.apply(function, *given)

    def require(self, holds: Bool, message: str) -> None:
        """Raise what NumPy raises, at the user's line, unless a condition holds."""
        failure = Failure("raise", message, self.place, exception=np.linalg.LinAlgError(message))
        self.tape.check(holds.atom, failure)


def _given(tape: Tape, v: Var) -> Array:
    made = fresh(tape, v, v.hint)
    made.box.readonly = "arguments are never written"
    return made


def _atom(value: Any) -> Any:
    return variable(value) if value.__class__ is Array else value.atom


# --- systems


def _solved(site: Site, a: Array, b: Array) -> Array:
    """The `x` of `a @ x = b`, of matrices."""

    def nonzero(pivot: Any) -> None:
        site.require(pivot != 0.0, "Singular matrix")

    def rule(solution: Make, a: Any, b: Any, da: Any, db: Any) -> Any:
        x = solution(a, b)
        return x, _inverse(site, a) @ (db - da @ x)

    return site.with_rule("solve", _with(linalg_algorithms.substituted, nonzero), rule, a, b)


def _inverse(site: Site, a: Array) -> Array:
    """The inverse of a matrix."""

    def nonzero(pivot: Any) -> None:
        site.require(pivot != 0.0, "Singular matrix")

    def made(a: Any) -> Any:
        return site.tape.session.run(
            linalg_algorithms.substituted, lambda f: f(a, _identity(site.tape, a.shape[0]), nonzero)
        )

    def rule(inverse: Make, a: Any, da: Any) -> Any:
        y = inverse(a)
        return y, -(y @ (da @ y))

    return site.with_rule("inv", made, rule, a)


def _determinant(site: Site, a: Array) -> Any:
    """The determinant of a matrix; its derivative is finite where it is 0, for matrices up to 3 by 3."""

    def rule(determinant: Make, a: Any, da: Any) -> Any:
        d = determinant(a)
        cofactors = _cofactors(a) if a.shape[0] <= 3 else d * manipulation.transposed(_inverse(site, a))
        return d, reductions.total(cofactors * da)

    return site.with_rule("det", _with(linalg_algorithms.determinant, _with(linalg_algorithms.pivots)), rule, a)


def _cofactors(a: Any) -> Any:
    """What the determinant of a small matrix changes by with each element."""
    n = a.shape[0]
    if n < 2:
        return a * 0.0 + 1.0
    at = [[a[i, j] for j in range(n)] for i in range(n)]
    if n == 2:
        (p, q), (r, s) = at
        return as_array(a.tape, [[s, -r], [-q, p]])
    i1, i2 = (1, 2, 0), (2, 0, 1)
    minors = [
        [at[i1[i]][i1[j]] * at[i2[i]][i2[j]] - at[i1[i]][i2[j]] * at[i2[i]][i1[j]] for j in range(3)] for i in range(3)
    ]
    return as_array(a.tape, minors)


def _log_determinant(site: Site, a: Array) -> Any:
    def rule(pair: Make, a: Any, da: Any) -> Any:
        sign, size = pair(a)
        return (
            sign,
            size,
            wrap(site.tape, Lit(0.0, TAN)),
            reductions.total(manipulation.transposed(_inverse(site, a)) * da),
        )

    return site.with_rule("slogdet", _with(linalg_algorithms.log_determinant, _with(linalg_algorithms.pivots)), rule, a)


def _with(algorithm: Make, *more: Any) -> Make:
    """What stages an algorithm written in Python, which is given `more` than arrays."""

    def make(*arrays: Any) -> Any:
        return arrays[0].tape.session.run(algorithm, lambda f: f(*arrays, *more))

    return make


def _identity(tape: Tape, n: int) -> Array:
    def cell(indices: tuple[Any, ...]) -> Any:
        return P["select"](wrap(tape, indices[0]) == wrap(tape, indices[1]), 1.0, 0.0).atom

    return fresh(tape, build(tape, (n, n), REAL, cell))  # pyright: ignore[reportArgumentType]  # an array


# --- under NumPy's names


def solve(tape: Tape, a: Any, b: Any) -> Any:
    """`np.linalg.solve`: a vector, or the columns of a matrix."""
    site, matrix, right = Site(tape, tape.here()), _matrix(tape, a, "solve"), _real(tape, b, "solve")
    n = matrix.shape[-1]
    if right.ndim == 1:
        if right.shape[0] != n:
            _misfit(tape, matrix, right)
        return solve(tape, matrix, manipulation.expanded(right, 1))[..., 0]
    if right.shape[-2] != n:
        _misfit(tape, matrix, right)
    stack = _common(tape, matrix.shape[:-2], right.shape[:-2])
    if not stack:
        return _solved(site, matrix, right)
    return _each(site, partial(_solved, site), stack, right.shape[-2:], matrix, right)


def inverse(tape: Tape, a: Any) -> Any:
    """`np.linalg.inv`."""
    site, matrix = Site(tape, tape.here()), _matrix(tape, a, "inv")
    if matrix.ndim == 2:
        return _inverse(site, matrix)
    return _each(site, partial(_inverse, site), matrix.shape[:-2], matrix.shape[-2:], matrix)


def determinant(tape: Tape, a: Any) -> Any:
    """`np.linalg.det`."""
    site, matrix = Site(tape, tape.here()), _matrix(tape, a, "det")
    if matrix.ndim == 2:
        return _determinant(site, matrix)
    return _each(site, partial(_determinant, site), matrix.shape[:-2], (), matrix)


class SlogdetResult(NamedTuple):
    """What NumPy calls it."""

    sign: Any
    logabsdet: Any


def log_determinant(tape: Tape, a: Any) -> Any:
    """`np.linalg.slogdet`, as a pair with names."""
    matrix = _matrix(tape, a, "slogdet")
    if matrix.ndim != 2:
        raise tape.fault(ShapeError, f"`np.linalg.slogdet` is staged for one matrix, given {matrix.shape}")
    return SlogdetResult(*_log_determinant(Site(tape, tape.here()), matrix))


def cholesky(tape: Tape, a: Any) -> Any:
    """`np.linalg.cholesky`, which reads the lower triangle; differentiated step by step."""
    site, matrix = Site(tape, tape.here()), _matrix(tape, a, "cholesky")

    def positive(rest: Any) -> None:
        site.require(rest > 0.0, "Matrix is not positive definite")

    def one(m: Array) -> Any:
        function = site.function("cholesky", _with(linalg_algorithms.triangular, positive), [array(m.shape, REAL)])
        return site.apply(function, m)

    return one(matrix) if matrix.ndim == 2 else _each(site, one, matrix.shape[:-2], matrix.shape[-2:], matrix)


def matrix_power(tape: Tape, a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`."""
    if not isinstance(n, int):
        raise tape.type_fault("`np.linalg.matrix_power` takes an exponent that staging knows")
    matrix = as_array(tape, a)
    whole = matrix is not None and matrix.type is INT and n >= 0
    if matrix is None or matrix.type is BOOL:
        raise tape.type_fault("`np.linalg.matrix_power` takes a matrix of numbers")
    square = _matrix(tape, a, "matrix_power")
    matrix = matrix if whole else square
    if not n and matrix.ndim > 2:
        raise tape.type_fault("`np.linalg.matrix_power` of a stack and an exponent of 0 is not staged")
    factor = inverse(tape, matrix) if n < 0 else matrix
    found: Any = converted(_identity(tape, matrix.shape[-1]), matrix.type) if not n else factor
    for _ in range(abs(n) - 1):
        found = contractions.matmul(found, factor)
    return found


def multi_dot(tape: Tape, arrays: Any) -> Any:
    """`np.linalg.multi_dot`, from the left."""
    given: list[Any] = [as_array(tape, a) for a in arrays]
    if len(given) < 2 or any(a is None or a.ndim not in (1, 2) or a.type is BOOL for a in given):
        raise tape.type_fault("`np.linalg.multi_dot` takes two matrices or more, of numbers")
    if any(a.ndim != 2 for a in given[1:-1]):
        raise tape.fault(ShapeError, "between the first and the last, `np.linalg.multi_dot` takes matrices")
    found, *rest = given
    for a in rest:
        found = contractions.matmul(found, a)
    return found


def norm(tape: Tape, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm` of vectors, and of matrices where no singular values are needed."""
    if x.__class__ is MaskedArray and ord in (None, 2) and axis is None and x.dimensions == 1:
        return _root(tape, x.dot(x))
    a: Any = _real(tape, x, "norm")
    along = reductions.axes_of(a, axis)
    if ord is None:
        return _root(tape, reductions.total(a * a, axis if axis is not None else None, keepdims))
    if len(along) == 1:
        return _vector_norm(tape, a, ord, along[0], keepdims)
    if len(along) == 2 and ord in ("fro", 1, -1, inf, -inf):
        return _matrix_norm(tape, a, ord, along, keepdims)
    raise tape.type_fault(f"`np.linalg.norm` of order {ord!r} of an array of shape {a.shape} is not staged")


def _root(tape: Tape, x: Any) -> Any:
    return broadcast_map(tape, P["sqrt"].__call__, x) if x.__class__ is Array else P["sqrt"].__call__(x)


def _vector_norm(tape: Tape, a: Any, order: Any, axis: int, keepdims: bool) -> Any:
    if order == 2:
        return _root(tape, reductions.total(a * a, axis, keepdims))
    size = abs(a)
    if order in (inf, -inf):
        return reductions.extreme(size, "max" if order > 0 else "min", axis, keepdims)
    if order == 0:
        return reductions.total(broadcast_map(tape, lambda v: chosen(v != 0.0, 1.0, 0.0), a), axis, keepdims)
    if order == 1:
        return reductions.total(size, axis, keepdims)
    if type_of(order) is None:
        raise tape.type_fault(f"`np.linalg.norm` of vectors takes a number as its order, given {order!r}")
    return reductions.total(size**order, axis, keepdims) ** (1.0 / order)


def _matrix_norm(tape: Tape, a: Any, order: Any, along: tuple[int, ...], keepdims: bool) -> Any:
    if order == "fro":
        return _root(tape, reductions.total(a * a, along, keepdims))
    first, _ = along if abs(order) == 1 else along[::-1]
    sums = reductions.total(abs(a), first, True)
    return reductions.extreme(sums, "max" if order > 0 else "min", None, keepdims) if a.ndim == 2 else _refuse(tape)


def _refuse(tape: Tape) -> Any:
    raise tape.type_fault("`np.linalg.norm` of this order is staged for one matrix")


# --- stacks of matrices


def _each(site: Site, one: Make, stack: tuple[int, ...], cell: tuple[int, ...], *arrays: Array) -> Array:
    """`one` of every matrix in some stacks."""
    count = prod(stack)
    flat = [
        manipulation.reshaped(manipulation.broadcast(a, stack + a.shape[-2:]), (count, *a.shape[-2:])) for a in arrays
    ]

    def make(*given: Any) -> Any:
        made = of_host(site.tape, np.zeros((count, *cell)))
        return site.tape.session.run(linalg_algorithms.each, lambda f: f(one, made, *given))

    function = site.function("each", make, [array(a.shape, REAL) for a in flat])
    return manipulation.reshaped(site.apply(function, *flat), stack + cell)


def _common(tape: Tape, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise tape.fault(ShapeError, f"stacks of {a} and of {b} matrices do not fit together") from None


def _real(tape: Tape, value: Any, name: str) -> Array:
    found = as_array(tape, value)
    if found is None:
        raise tape.type_fault(f"`np.linalg.{name}` takes an array, given {type(value).__name__}")
    return converted(found, REAL)


def _matrix(tape: Tape, value: Any, name: str) -> Array:
    found = _real(tape, value, name)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2]:
        raise tape.fault(ShapeError, f"`np.linalg.{name}` takes square matrices, given an array of shape {found.shape}")
    return found


def _misfit(tape: Tape, a: Array, b: Array) -> None:
    raise tape.fault(ShapeError, f"`np.linalg.solve`: shapes {a.shape} and {b.shape} do not fit")
