"""The Taylor coefficients of straight-line code, from the derivative rules that forward mode uses.

With `y = op(x)` and the factor `g = op'(x)` that the rule gives, `y' = g x'` is an equation of power series:
`k y_k = Σ j x_j g_(k-j)`, j from 1 to k, needs of g only what comes before k. The rule is run on variables that know of
what they were made, so that g has coefficients of its own, by rules of its own; those of `sin` ask for those of `cos`
and the other way round, each up to one order less. Products and quotients take the formulas of Cauchy, as they need
half the multiplications (Griewank and Walther, Evaluating Derivatives, section 13.2).
"""

from collections.abc import Callable
from functools import partial

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ops import PRIMITIVES as P
from rosejit.ops.elementary import power
from rosejit.ops.traced_value import Value
from rosejit.transforms.passes.erase import TWINS

Coefficient = ir.Atom | None
"""None is a zero that needs no instruction."""


class Series(Builder):
    """The coefficients of the variables of one block, each computed when it is first asked for and appended then."""

    def __init__(self) -> None:
        super().__init__()
        self.made_of: dict[ir.Atom, tuple[Primitive, tuple[ir.Atom, ...]]] = {}
        self.numbered: dict[tuple[Primitive, tuple[ir.Atom, ...]], ir.Var] = {}
        self.known: dict[ir.Atom, list[Coefficient]] = {}
        self.whole: set[ir.Atom] = set()
        self.factors: dict[ir.Atom, list[ir.Atom | None]] = {}
        self.weighted: dict[tuple[ir.Atom, int], ir.Var] = {}

    def give(self, a: ir.Atom, coefficients: tuple[ir.Atom, ...]) -> None:
        """Say the coefficients of `a` from order 1, all that are ever asked for; nothing is said of the rest."""
        if a not in self.made_of:
            self.known[a] = [None if _is_zero(c) else c for c in coefficients]
            self.whole.add(a)

    def define(self, y: ir.Var, op: Primitive, args: tuple[ir.Atom, ...]) -> None:
        """Say that `y = op(args)`, which the block has already."""
        first = self.numbered.setdefault((op, args), y)
        self.made_of[y] = (op, args)
        if first is not y:
            self.known[y] = self.known.setdefault(first, [])  # one list: what one is asked the other has

    def apply(self, op: Primitive, *args: ir.Atom, hint: str = "x") -> ir.Var:
        """What rules append: the same operation of the same variables is one variable."""
        if (op, args) not in self.numbered:
            self.define(super().apply(op, *args, hint=hint), op, args)
        return self.numbered[op, args]

    def coefficient(self, a: ir.Atom, k: int) -> Coefficient:
        """The coefficient of order `k`, from 1; None for a constant, and where it is zero whatever the numbers are."""
        if a not in self.whole and a not in self.made_of:
            return None
        known = self.known.setdefault(a, [])
        if a in self.whole:
            return known[k - 1] if k <= len(known) else None
        while len(known) < k:
            known.append(self._made(a, len(known) + 1))
        return known[k - 1]

    def _made(self, y: ir.Atom, k: int) -> Coefficient:
        op, args = self.made_of[y]
        if not op.differentiable or not any(map(self._varies, args)):
            return None
        special = _SPECIAL.get(op)
        if special is not None:
            found = special(self, y, args, k)
            if found is not NotImplemented:
                return found
        return self._chosen(y, op, args, k) if op.tangent is not None else self._by_rule(y, op, args, k)

    def _varies(self, a: ir.Atom) -> bool:
        """Whether a coefficient may differ from zero."""
        if a in self.whole:
            return any(self.known[a])
        if a not in self.made_of:
            return False
        op, args = self.made_of[a]
        return op.differentiable and any(map(self._varies, args))

    def _chosen(self, y: ir.Atom, op: Primitive, args: tuple[ir.Atom, ...], k: int) -> Coefficient:
        """The rule of a selection or a sum holds for each coefficient as it does for the first."""
        assert op.tangent is not None
        plain = _OnReals(self)
        found = [self.coefficient(a, k) for a in args]
        if not any(found):
            return None
        given = tuple([None if c is None else Value(plain, c) for c in found])
        result = op.tangent(tuple([Value(plain, a) for a in args]), Value(plain, y), given)
        return result.atom if isinstance(result, Value) else None

    def _by_rule(self, y: ir.Atom, op: Primitive, args: tuple[ir.Atom, ...], k: int) -> Coefficient:
        at_once: list[Coefficient] = []
        weighted: list[Coefficient] = []
        for x, g in zip(args, self._factors(y, op, args), strict=True):
            if g is None or _is_zero(g):
                continue
            if not self._varies(g):
                at_once.append(self.times(g, self.coefficient(x, k)))
                continue
            for j in range(1, k + 1):
                before = g if j == k else self.coefficient(g, k - j)
                if before is not None:
                    weighted.append(self.times(self._scaled(x, j), before))
        total = self.sum(weighted)
        if total is not None and k > 1:
            total = self.plain(P["div"], total, ir.real(float(k)))
        return self.sum([*at_once, total])

    def _factors(self, y: ir.Atom, op: Primitive, args: tuple[ir.Atom, ...]) -> list[ir.Atom | None]:
        if y not in self.factors:
            assert op.partials is not None
            found = op.partials(*[Value(self, a) for a in args], Value(self, y))
            self.factors[y] = [f.atom if isinstance(f, Value) else f if f is None else ir.real(float(f)) for f in found]
        return self.factors[y]

    def _scaled(self, x: ir.Atom, j: int) -> Coefficient:
        """j x_j, a coefficient of the derivative of the series."""
        c = self.coefficient(x, j)
        if j == 1 or c is None:
            return c
        if (x, j) not in self.weighted:
            self.weighted[x, j] = self.plain(P["mul"], ir.real(float(j)), c)
        return self.weighted[x, j]

    # --- arithmetic on coefficients, where None is zero

    def plain(self, op: Primitive, *args: ir.Atom) -> ir.Var:
        """An operation on coefficients, which has none itself."""
        return super().apply(op, *args, hint="c")

    def times(self, a: Coefficient, b: Coefficient) -> Coefficient:
        """a b."""
        if a is None or b is None:
            return None
        if isinstance(a, ir.Lit) and a.value in (1.0, -1.0):
            return b if a.value == 1.0 else self.plain(P["neg"], b)
        return self.plain(P["mul"], a, b)

    def sum(self, terms: list[Coefficient]) -> Coefficient:
        """Σ terms."""
        total: Coefficient = None
        for term in terms:
            if term is not None:
                total = term if total is None else self.plain(P["add"], total, term)
        return total

    def at(self, a: ir.Atom, k: int) -> Coefficient:
        """As `coefficient`, the variable itself for order 0."""
        return a if k == 0 else self.coefficient(a, k)


class _OnReals(Builder):
    """Appends to the block of `series`, on Reals what a rule says of Tans."""

    def __init__(self, series: Series) -> None:
        super().__init__(series.span)
        self.lets = series.lets

    def apply(self, op: Primitive, *args: ir.Atom, hint: str = "c") -> ir.Var:
        """As `Builder.apply`."""
        return super().apply(TWINS.get(op, op), *[ir.real(0.0) if a == ir.ZERO else a for a in args], hint=hint)


def _is_zero(a: ir.Atom) -> bool:
    return isinstance(a, ir.Lit) and a.value == 0.0


# --- operations with a formula of their own


def _product(s: Series, y: ir.Atom, args: tuple[ir.Atom, ...], k: int) -> Coefficient:
    a, b = args
    if a is b:  # each pair of different orders comes twice
        half = s.sum([s.times(s.at(a, j), s.at(a, k - j)) for j in range((k + 1) // 2)])
        twice = None if half is None else s.plain(P["add"], half, half)
        return s.sum([twice, s.times(s.at(a, k // 2), s.at(a, k // 2)) if k % 2 == 0 else None])
    return s.sum([s.times(s.at(a, j), s.at(b, k - j)) for j in range(k + 1)])


def _quotient(s: Series, y: ir.Atom, args: tuple[ir.Atom, ...], k: int, divided: Primitive = P["div"]) -> Coefficient:
    a, b = args
    top, taken = s.coefficient(a, k), s.sum([s.times(s.coefficient(b, j), s.at(y, k - j)) for j in range(1, k + 1)])
    if top is None and taken is None:
        return None
    if taken is None:
        assert top is not None
        return s.plain(divided, top, b)
    left = s.plain(P["neg"], taken) if top is None else s.plain(P["sub"], top, taken)
    return s.plain(divided, left, b)


def _power(s: Series, y: ir.Atom, args: tuple[ir.Atom, ...], k: int) -> Coefficient:
    """x y' = p y x' for a constant p that is a literal; at 0 the first derivatives are 0, as those of every x^p are."""
    x, exponent = args
    if not isinstance(exponent, ir.Lit) or not isinstance(exponent.value, float):
        return NotImplemented
    p = exponent.value
    if p.is_integer() and 0.0 <= p <= 64.0:
        made = power(Value(s, x), int(p))
        return s.coefficient(made.atom, k) if isinstance(made, Value) else None
    terms = [s.times(s.times(ir.real(p * j - (k - j)), s.coefficient(x, j)), s.at(y, k - j)) for j in range(1, k + 1)]
    total = s.sum(terms)
    if total is None:
        return None
    found = s.plain(P["div"], s.plain(P["div"], total, x), ir.real(float(k)))
    at_zero = s.apply(P["eq"], x, ir.real(0.0))
    return s.plain(P["select"], at_zero, ir.real(0.0), found) if k < p else found


_SPECIAL: dict[Primitive, Callable[[Series, ir.Atom, tuple[ir.Atom, ...], int], Coefficient]] = {
    P["mul"]: _product,
    P["div"]: _quotient,
    P["ratio"]: partial(_quotient, divided=P["ratio"]),
    P["pow"]: _power,
}
