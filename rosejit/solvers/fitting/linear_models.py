"""The linear model of a fit, dense and sparse: what the method of Levenberg and Marquardt asks of a Jacobian."""

import math
from typing import Any

from rosejit.api.derivation.gradients import jacobian
from rosejit.api.derivation.modes import jvp
from rosejit.api.wrapping.closures import pushed
from rosejit.errors import ShapeError
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.solvers.fitting.linear_least_squares import EPSILON, columns, least
from rosejit.solvers.implicit import dense
from rosejit.solvers.sparsity import Structure


@dataclass(frozen=True)
class Dense:
    """The Jacobian as a matrix; steps by Householder's reflections."""

    def check(self, x: Any, r: Any) -> None:
        """Refuse a pattern of another shape."""

    def agrees(self, residual: Any, x: Any) -> bool:
        """Whether no derivative is outside of the pattern."""
        return True

    def slope(self, residual: Any) -> Any:
        """The function that gives the Jacobian."""
        return jacobian(residual)

    def implicit(self, held: Any) -> Any:
        """How `implicit.solution` divides by the Hessian, and what for it has to be known."""
        return dense, ()

    def lengths(self, matrix: Any) -> Any:
        """The length of each column; 1 where that is zero."""
        return columns(matrix)

    def weighted(self, matrix: Any, weights: Any) -> Any:
        """The matrix with its rows multiplied."""
        return matrix * weights.reshape(len(weights), 1)

    def times(self, matrix: Any, v: Any) -> Any:
        """The product with a vector."""
        return matrix @ v

    def gradient(self, matrix: Any, r: Any) -> Any:
        """The product of the transpose with a vector."""
        return matrix.T @ r

    def step(self, matrix: Any, r: Any, held: Any, damping: Any) -> Any:
        """The step of the linear model; `damping` is a length of each column, and variables that are held stay."""
        rows, count = matrix.shape
        wide = np.zeros((rows + count, count))
        right = np.zeros(rows + count)
        for i in iterations(rows):
            right[i] = -r[i]
            for j in iterations(count):
                wide[i, j] = 0.0 if held[j] else matrix[i, j]
        for j in iterations(count):
            wide[rows + j, j] = 1.0 if held[j] else damping[j]
        return least(wide, right)[0]


@dataclass(frozen=True)
class Sparse:
    """The Jacobian as the numbers of its entries; steps by Cholesky's factor of the normal equations."""

    known: Structure
    is_given: bool
    """Whether a user says that this is the pattern."""

    def check(self, x: Any, r: Any) -> None:
        """Refuse a pattern of another shape."""
        shape = (len(self.known.starts) - 1, len(self.known.order))
        if shape != (len(r), len(x)):
            raise ShapeError(
                f"`jac_sparsity` has the shape {shape}, and there are {len(r)} residuals of {len(x)} numbers",
                help="it has a row for each residual, and a column for each number that is varied",
            )

    def agrees(self, residual: Any, x: Any) -> Any:
        """Whether no derivative is outside of the pattern: along one direction, the entries make the derivative."""
        if not self.is_given:
            return True
        direction = 2.0 + np.sin(np.arange(1.0, len(x) + 1.0))
        entries = self.slope(residual)(x)
        wanted = jvp(residual, (x,), (direction,))[1]
        rounding = 1e-9 * self.times(abs(entries), direction) + 1e-300
        return not (abs(self.times(entries, direction) - wanted) > rounding).any()

    def slope(self, residual: Any) -> Any:
        """The function that gives the entries: one forward sweep for each colour of variables."""
        s = self.known

        def entries(x):
            def along(seeds):
                return residual(x + seeds[s.colours])

            sums = jacobian(along)(1.0 * s.seeds)
            found = np.zeros(len(s.rows))
            for e in iterations(len(s.rows)):
                found[e] = sums[s.rows[e], s.colours[s.variables[e]]]
            return found

        return entries

    def implicit(self, held: Any) -> Any:
        """How `implicit.solution` divides by the Hessian, and what for it has to be known."""
        return divided_by_hessian, (self.known, held)

    def lengths(self, entries: Any) -> Any:
        """The length of each column; 1 where that is zero."""
        s = self.known
        found = np.zeros(len(s.order))
        for e in iterations(len(s.rows)):
            found[s.variables[e]] += entries[e] * entries[e]
        for j in iterations(len(found)):
            found[j] = math.sqrt(found[j]) if found[j] > 0.0 else 1.0
        return found

    def weighted(self, entries: Any, weights: Any) -> Any:
        """The matrix with its rows multiplied."""
        return entries * weights[self.known.rows]

    def times(self, entries: Any, v: Any) -> Any:
        """The product with a vector."""
        s = self.known
        found = np.zeros(len(s.starts) - 1)
        for e in iterations(len(s.rows)):
            found[s.rows[e]] += entries[e] * v[s.variables[e]]
        return found

    def gradient(self, entries: Any, r: Any) -> Any:
        """The product of the transpose with a vector."""
        s = self.known
        found = np.zeros(len(s.order))
        for e in iterations(len(s.rows)):
            found[s.variables[e]] += entries[e] * r[s.rows[e]]
        return found

    def step(self, entries: Any, r: Any, held: Any, damping: Any) -> Any:
        """The step of the linear model; `damping` is a length of each column, and variables that are held stay."""
        s, lengths = self.known, self.lengths(entries)
        scaled = np.zeros(len(s.rows))
        for e in iterations(len(s.rows)):
            j = s.variables[e]
            scaled[e] = 0.0 if held[j] else entries[e] / lengths[j]
        n = len(s.order)
        more, right = np.zeros(n), np.zeros(n)
        for k in iterations(n):
            j = s.order[k]
            more[k] = 1.0 if held[j] else (damping[j] / lengths[j]) ** 2
        for e in iterations(len(s.rows)):
            right[s.columns[e]] -= scaled[e] * r[s.rows[e]]

        def normal(column, k):
            for q in iterations(s.column_starts[k], s.column_starts[k + 1]):
                first = s.by_column[q]
                for e in iterations(first, s.starts[s.rows[first] + 1]):
                    column[s.columns[e]] += scaled[first] * scaled[e]
            column[k] += more[k]

        lower, diagonal = factor(s, normal, math.inf)
        solved = substituted(s, lower, diagonal, right)
        found = np.zeros(n)
        for k in iterations(n):
            found[s.order[k]] = solved[k] / lengths[s.order[k]]
        return found


def factor(s, fill, lost):
    """The triangle L of a symmetric matrix, column by column (left-looking): its entries below the diagonal, and its
    diagonal, `lost` where rounding has left nothing of a column; infinite, its variable stays. `fill` adds a column of
    the matrix, from its diagonal on, to a vector."""
    n = len(s.order)
    lower, diagonal, column = np.zeros(len(s.lower)), np.zeros(n), np.zeros(n)
    for j in iterations(n):
        fill(column, j)
        least_pivot = 16.0 * EPSILON * column[j]
        for q in iterations(s.left_starts[j], s.left_starts[j + 1]):
            at = s.left_entries[q]
            column[j] -= lower[at] * lower[at]
            for e in iterations(at + 1, s.lower_starts[s.left[q] + 1]):
                column[s.lower[e]] -= lower[at] * lower[e]
        diagonal[j] = math.sqrt(column[j]) if column[j] > least_pivot else lost
        column[j] = 0.0
        for e in iterations(s.lower_starts[j], s.lower_starts[j + 1]):
            lower[e] = column[s.lower[e]] / diagonal[j]
            column[s.lower[e]] = 0.0
    return lower, diagonal


def substituted(s, lower, diagonal, right):
    """The solution of L L' x = `right`."""
    n = len(s.order)
    x = right.copy()
    for j in iterations(n):
        x[j] /= diagonal[j]
        for e in iterations(s.lower_starts[j], s.lower_starts[j + 1]):
            x[s.lower[e]] -= lower[e] * x[j]
    for back in iterations(n):
        j = n - 1 - back
        total = x[j]
        for e in iterations(s.lower_starts[j], s.lower_starts[j + 1]):
            total -= lower[e] * x[s.lower[e]]
        x[j] = total / diagonal[j]
    return x


def divided_by_hessian(f):
    """The `inverse` of `implicit.solution` for the gradient of a sum of squares: by the factor of the sparse Hessian,
    of which each colour of variables takes one forward sweep. Variables that are held have their own equation, and go
    to the right side. What is at no minimum has derivatives that are no numbers."""

    def along(seeds, x, closed, colours):
        return f(x + seeds[colours], closed)

    slope = jacobian(along)

    def divided(x, closed, change, known):
        s, held = known
        sums = slope(1.0 * s.hessian.seeds, x, closed, s.hessian.colours)

        def fill(column, k):
            j = s.order[k]
            for e in iterations(s.hessian.starts[k], s.hessian.starts[k + 1]):
                i = s.hessian.places[e]
                if not (held[j] or held[s.order[i]]):
                    column[i] += sums[s.hessian.alone[e], s.hessian.sums[e]]
            if held[j]:
                column[k] = 1.0

        lower, diagonal = factor(s, fill, math.nan)
        fixed = np.where(held, change, 0.0)
        right = np.where(held, 0.0, change - pushed(f, x, closed, by_x=fixed))
        solved = substituted(s, lower, diagonal, right[s.order])
        found = 1.0 * fixed
        for k in iterations(len(s.order)):
            found[s.order[k]] += solved[k]
        return found

    return divided
