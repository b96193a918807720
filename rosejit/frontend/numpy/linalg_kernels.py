"""Factorisations of one matrix as functions of the program, each with its derivative as a rule.

No derivative goes through the steps of an iteration or the search for a pivot.

A factorisation is computed by a function without derivative, and its factors are handed on by functions that do nothing
but have the rule, one for each factor. So what is not used costs nothing and spoils nothing: derivatives of eigenvalues
are finite where those of their vectors are not.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false

from collections.abc import Callable
from functools import partial
from typing import Any

from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import build, element, variable
from rosejit.frontend.arrays.array import Array, atom_of, fresh
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import blas
from rosejit.frontend.numpy import linalg_algorithms as algorithms
from rosejit.frontend.numpy import linalg_blocked as blocked
from rosejit.frontend.numpy.linalg_algorithms import Program
from rosejit.frontend.python.assert_raise import is_awaited, is_handled
from rosejit.frontend.values.scalars import P, type_of, wrap
from rosejit.frontend.values.tape import Tape, unfailing
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Block, Failure, Lit, Var, Zero
from rosejit.ir.traversal import lets
from rosejit.ir.types import REAL, TAN, Scalar, Type, array, has_real, tangent
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.transforms.passes.insert_copies import insert_copies

Make = Callable[..., Any]


@dataclass(slots=True, frozen=True)
class Site:
    """A call of the user's: functions that are made for it fail at its line."""

    tape: Tape
    place: Any
    each: Any = None
    """For a stack in a `try`: the function for one of its matrices, as it is staged, ..."""
    held: list[tuple[Any, str]] | None = None
    """... and what holds unless NumPy raises there."""

    def function(self, name: str, make: Make, types: list[Type]) -> ir.Function:
        """The function that `make` stages."""
        params = tuple(Var(t, "x") for t in types)
        with unfailing(self.tape), self.tape.session.nested() as opened:
            given = [_given(self.tape, v) for v in params]
            found = make(*given)
            results = tuple(atom(self.tape, v) for v in (found if isinstance(found, tuple) else (found,)))
        body = Block(opened.root.lets, results)
        for let in lets(body):
            let.span = self.place
        return insert_copies(ir.Function(name, params, tuple(r.type for r in results), body, span=self.place))

    def apply(self, function: ir.Function, *given: Any) -> Any:
        """A call of it."""
        binders = tuple(Var(t, function.name) for t in function.results)
        call = ir.Call(function, tuple(atom(self.tape, v) for v in given))
        self.tape.lets.append(ir.Let(binders, call, self.place))  # without effects, so also behind what has raised
        made = [wrap(self.tape, b) if isinstance(b.type, Scalar) else fresh(self.tape, b) for b in binders]
        return made[0] if len(made) == 1 else tuple(made)

    def kernel(self, name: str, make: Make | None, *given: Any, rule: Make | None = None, routine: bool = False) -> Any:
        """A call of a function that is made once for the types of its arguments.

        Its `rule` gives the tangents of its real results from the results, the arguments, and the tangents of those
        that are real. Where a `routine` of NumPy's has the same name and results, that may be called in its place.
        """
        types = [atom(self.tape, v).type for v in given]
        wanted = blas.is_wanted(self.tape)

        def made() -> ir.Function:
            by_routine = make is None or (routine and self.calls_routines(given[0]))
            return blas.routine(name, types) if make is None or by_routine else self.function(name, make, types)

        def ruled(rule: Make, function: ir.Function) -> ir.Function:
            tangents = [tangent(t) for t in types if has_real(t)]
            return self.function(f"{name}_rule", partial(self._ruled, function, rule), types + tangents)

        key = (name, wanted, *map(str, types))
        derivative = None if rule is None else partial(ruled, rule)
        function = self.tape.session.routines.get(key, lambda: self.place, made, derivative, keep=not wanted)
        return self.apply(function, *given)

    def calls_routines(self, a: Array) -> bool:
        """Whether matrices like `a` are large enough for NumPy's routines, and those wanted. What raises in them has
        an infinite derivative, of which handlers may see nothing."""
        return blas.is_wanted(self.tape) and min(a.shape) >= blas.LEAST_ROWS and not self.is_awaited

    @property
    def is_awaited(self) -> bool:
        """Whether a handler of staged code takes what NumPy raises here."""
        return self.is_of_stack or is_awaited(self.tape, np.linalg.LinAlgError)

    @property
    def is_of_stack(self) -> bool:
        """Whether what is staged is for one matrix of a stack, in a `try`; rules are staged elsewhere."""
        return self.each is not None and self.tape.session.opened is self.each

    def _ruled(self, function: ir.Function, rule: Make, *given: Any) -> Any:
        made = self.apply(function, *given[: len(function.params)])
        results: tuple[Any, ...] = made if isinstance(made, tuple) else (made,)
        found = rule(results if len(function.results) > 1 else results[0], *given)
        return (*results, *(found if isinstance(found, tuple) else (found,)))

    def require(self, holds: Any, message: str, *arrays: Array) -> Any:
        """Raise what NumPy raises, at the user's line, unless a condition holds. Gives the matrices; where a handler
        waits for that, those that are the identity if it does not hold."""
        error = np.linalg.LinAlgError(message)
        if self.held is not None and self.is_of_stack:
            self.held.append((holds, message))
        elif not is_handled(self.tape, holds, error):
            self.tape.check(holds.atom, Failure("raise", message, self.place, exception=error))
            return arrays
        return tuple([or_identity(holds, a) for a in arrays])


def _given(tape: Tape, v: Var) -> Any:
    if isinstance(v.type, Scalar):
        return wrap(tape, v)
    made = fresh(tape, v, v.hint)
    made.box.readonly = "arguments are never written"
    return made


def atom(tape: Tape, value: Any) -> Any:
    """A number or an array as an operand."""
    if value.__class__ is Array:
        return variable(value)
    if hasattr(value, "atom"):
        return value.atom
    kind = type_of(value)
    assert kind is not None
    return Lit(value, kind)


# --- parts of matrices


def part(a: Array, keep: Callable[[Any, Any], Any], diagonal: float = 1.0, fill: float = 0.0) -> Array:
    """The elements of a matrix at the places to keep, others `fill`; those of the diagonal times a factor."""
    tape = a.tape
    atom_of(tape, a.box)

    def cell(at: tuple[Any, ...]) -> Any:
        i, j = (wrap(tape, k) for k in at)
        x = wrap(tape, element(a, at))
        zero = wrap(tape, Lit(fill, a.type))
        x = x if diagonal == 1.0 else chosen(i == j, x * diagonal, x)
        return chosen(keep(i, j), x, zero).atom

    return fresh(tape, build(tape, a.shape, a.type, cell))  # pyright: ignore[reportArgumentType]  # an array


def or_identity(holds: Any, a: Array, diagonal: Callable[[Any, Any], Any] = lambda i, j: i == j) -> Array:
    """A matrix if a condition holds; else what is one on the diagonal, zero elsewhere."""
    tape = a.tape
    atom_of(tape, a.box)

    def cell(at: tuple[Any, ...]) -> Any:
        i, j = (wrap(tape, k) for k in at)
        return chosen(holds, wrap(tape, element(a, at)), P["select"](diagonal(i, j), 1.0, 0.0)).atom

    return fresh(tape, build(tape, a.shape, a.type, cell))  # pyright: ignore[reportArgumentType]  # an array


def lower(a: Array, diagonal: float = 1.0) -> Array:
    """The lower triangle; its diagonal times a factor."""
    return part(a, lambda i, j: j <= i, diagonal)


def upper(a: Array, diagonal: float = 1.0) -> Array:
    """The upper triangle; its diagonal times a factor."""
    return part(a, lambda i, j: i <= j, diagonal)


def mirrored(a: Array, from_lower: bool = True) -> Array:
    """The symmetric matrix of which one triangle is that of `a`."""
    half = lower(a, 0.5) if from_lower else upper(a, 0.5)
    return half + half.T  # pyright: ignore


def identity(tape: Tape, n: int, m: int | None = None) -> Array:
    """`np.eye`."""

    def cell(at: tuple[Any, ...]) -> Any:
        return P["select"](wrap(tape, at[0]) == wrap(tape, at[1]), 1.0, 0.0).atom

    return fresh(tape, build(tape, (n, n if m is None else m), REAL, cell))  # pyright: ignore[reportArgumentType]  # an array


def zero_tangent(a: Array, shape: tuple[int, ...] | None = None) -> Any:
    """The tangent that is zero, of an array like another or of that shape."""
    if shape == ():
        return wrap(a.tape, Lit(0.0, TAN))
    return fresh(a.tape, a.tape.bind(Zero(), array(a.shape if shape is None else shape, TAN), "zero"))


# --- elimination


def _by_size(a: Array, few: Program, many: Program) -> Program:
    """The algorithm for a matrix of that many rows."""
    return many if a.shape[0] >= blocked.FEWEST else few


def _forward(site: Site, t: Any, b: Any, unit: bool) -> Any:
    many = min(*t.shape, *b.shape) >= blocked.FEWEST
    return (blocked.blocked_forward if many else algorithms.forward).at(site.tape, t, b, unit)[0]


def _substituted(site: Site, w: Any, order: Any, b: Any) -> Any:
    """The `x` of `a @ x = b` by the triangles of `a`."""
    if min(*w.shape, *b.shape) < blocked.FEWEST:
        return algorithms.substituted.at(site.tape, w, order, b)
    ordered = algorithms.reordered.at(site.tape, order, b)
    half = _forward(site, w, ordered, True)
    return _forward(site, w[::-1, ::-1].copy(), half[::-1].copy(), False)[::-1]


def factored(site: Site, a: Array) -> Any:
    """The triangles, the order of the rows, its sign, and whether there is an inverse; without derivative."""

    def make(a: Array) -> Any:
        return _by_size(a, algorithms.factored, blocked.blocked_factored).at(site.tape, a)

    return site.kernel("lu", make, a, rule=lambda y, a, da: (zero_tangent(a), zero_tangent(a, ())))


def solved(site: Site, a: Array, b: Array) -> Array:
    """The `x` of `a @ x = b`, of matrices."""
    if site.calls_routines(a):
        return _solved_by_routine(site, a, b)
    w, order, _, regular = factored(site, a)
    a, w = site.require(regular, "Singular matrix", a, w)

    def make(a: Any, w: Any, order: Any, b: Any) -> Any:
        return _substituted(site, w, order, b)

    def rule(x: Any, a: Any, w: Any, order: Any, b: Any, da: Any, dw: Any, db: Any) -> Any:
        return _inverse(site, a, w, order) @ (db - da @ x)

    return site.kernel("solve", make, a, w, order, b, rule=rule)


def _solved_by_routine(site: Site, a: Any, b: Any) -> Any:
    def rule(y: Any, a: Any, b: Any, da: Any, db: Any) -> Any:
        return inverse(site, a, False) @ (db - da @ y[0])

    x, regular = site.kernel("solve", None, a, b, rule=rule)
    site.require(regular, "Singular matrix")
    return x


def _inverse_by_routine(site: Site, a: Any) -> Any:
    """The inverse, of NaN where there is none, and whether there is one."""

    def rule(y: Any, a: Any, da: Any) -> Any:
        return -(y[0] @ (da @ y[0]))

    return site.kernel("inv", None, a, rule=rule)


def inverse(site: Site, a: Array, checked: bool = True) -> Array:
    """The inverse of a matrix; unless that is `checked`, of infinities or NaN where there is none."""
    if site.calls_routines(a):
        found, regular = _inverse_by_routine(site, a)
        if checked:
            site.require(regular, "Singular matrix")
        return found
    w, order, _, regular = factored(site, a)
    if checked:
        a, w = site.require(regular, "Singular matrix", a, w)
    return _inverse(site, a, w, order)


def _inverse(site: Site, a: Array, w: Array, order: Array) -> Array:
    def make(a: Any, w: Any, order: Any) -> Any:
        return _substituted(site, w, order, identity(site.tape, a.shape[0]))

    def rule(y: Any, a: Any, w: Any, order: Any, da: Any, dw: Any) -> Any:
        return -(y @ (da @ y))

    return site.kernel("inv", make, a, w, order, rule=rule)


def determinant(site: Site, a: Array) -> Any:
    """The determinant of a matrix; its derivative is finite where it is 0, for matrices up to 3 by 3."""
    if site.calls_routines(a):
        change = lambda d, a, da: reductions.total(d * inverse(site, a).T * da)  # noqa: E731  # pyright: ignore
        return site.kernel("det", None, a, rule=change)
    w, order, sign, _ = factored(site, a)

    def make(a: Any, w: Any, order: Any, sign: Any) -> Any:
        return algorithms.determinant.at(site.tape, w, sign)

    def rule(d: Any, a: Any, w: Any, order: Any, sign: Any, da: Any, dw: Any, dsign: Any) -> Any:
        return reductions.total(_cofactors(a) * da if a.shape[0] <= 3 else d * inverse(site, a).T * da)  # pyright: ignore

    return site.kernel("det", make, a, w, order, sign, rule=rule)


def _cofactors(a: Any) -> Any:
    """What the determinant of a matrix changes by with each element."""
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


def log_determinant(site: Site, a: Array) -> Any:
    """The sign of the determinant, and the logarithm of its magnitude."""
    if site.calls_routines(a):
        change = lambda y, a, da: (zero_tangent(a, ()), reductions.total(inverse(site, a).T * da))  # noqa: E731  # pyright: ignore
        return site.kernel("slogdet", None, a, rule=change)
    w, order, sign, _ = factored(site, a)

    def make(a: Any, w: Any, order: Any, sign: Any) -> Any:
        return algorithms.log_determinant.at(site.tape, w, sign)

    def rule(y: Any, a: Any, w: Any, order: Any, sign: Any, da: Any, dw: Any, dsign: Any) -> Any:
        return zero_tangent(a, ()), reductions.total(inverse(site, a).T * da)  # pyright: ignore

    return site.kernel("slogdet", make, a, w, order, sign, rule=rule)


def lu(site: Site, a: Array) -> Any:
    """The triangles in one matrix, and which row went where."""
    w, order, _, _ = factored(site, a)

    def make(a: Any, w: Any, order: Any) -> Any:
        return w.copy()

    def rule(y: Any, a: Any, w: Any, order: Any, da: Any, dw: Any) -> Any:
        left = part(y, lambda i, j: j < i) + identity(site.tape, a.shape[0])  # pyright: ignore
        right = upper(y)
        change = triangle_inverse(site, left) @ algorithms.reordered.at(site.tape, order, da)
        change = change @ triangle_inverse(site, right.T.copy()).T  # pyright: ignore
        return left @ part(change, lambda i, j: j < i) + upper(change) @ right  # pyright: ignore

    return site.kernel("triangles", make, a, w, order, rule=rule), order


# --- triangles


def cholesky(site: Site, a: Array) -> Any:
    """The lower triangle whose product with its transpose is the symmetric `a`."""

    def make(a: Any) -> Any:
        return _by_size(a, algorithms.triangular, blocked.blocked_triangular).at(site.tape, a)

    def handed(a: Any, c: Any) -> Any:
        return c.copy()

    def rule(c: Any, a: Any, held: Any, da: Any, dc: Any) -> Any:
        y = triangle_inverse(site, c)
        return c @ lower(y @ da @ y.T, 0.5)

    c, definite = site.kernel("cholesky", make, a, rule=lambda y, a, da: zero_tangent(a), routine=True)
    a, c = site.require(definite, "Matrix is not positive definite", a, c)
    return site.kernel("triangle", handed, a, c, rule=rule)


def triangle_inverse(site: Site, t: Array) -> Any:
    """The inverse of a lower triangle."""

    def make(t: Any) -> Any:
        return _forward(site, t, identity(site.tape, t.shape[0]), False)

    def rule(y: Any, t: Any, dt: Any) -> Any:
        return -(y @ lower(dt) @ y)

    return site.kernel("triangle_inverse", make, t, rule=rule, routine=True)


def forward(site: Site, t: Array, b: Array) -> Any:
    """The `x` of `t @ x = b`, of a lower triangle; infinities where an element of the diagonal is zero."""

    def make(t: Any, b: Any) -> Any:
        return _forward(site, t, b, False)

    def rule(x: Any, t: Any, b: Any, dt: Any, db: Any) -> Any:
        return triangle_inverse(site, t) @ (db - lower(dt) @ x)

    return site.kernel("forward", make, t, b, rule=rule, routine=True)
