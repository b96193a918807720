"""Lengths that stay open: polynomials with whole coefficients in names, whose values only the run knows; none is
negative.

They stand where numbers stand while a function is staged: as lengths of types, and as values of literals. What they are
equal to is known of each other only; `transforms/passes/lengths_to_variables.py` makes variables of them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rosejit.errors import StagingTypeError

Factor = "str | Clipped"
Monomial = tuple[Any, ...]
"""Factors in order; of the constant none."""


class Clipped:
    """A factor: a length that would be a negative number somewhere, and is 0 there."""

    __slots__ = ("inside",)

    def __init__(self, inside: "Length") -> None:
        self.inside = inside

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clipped) and self.inside.terms == other.inside.terms

    def __hash__(self) -> int:
        return hash((Clipped, self.inside.terms))

    def __repr__(self) -> str:
        return f"max(0, {self.inside})"


class Length:
    """A polynomial that is no number: `terms` are its monomials with their coefficients, in order."""

    __slots__ = ("terms",)
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms

    def made(self, terms: tuple[tuple[Monomial, int], ...]) -> "Length":
        """Another one of the same staging."""
        return type(self)(terms)

    def __repr__(self) -> str:
        parts = ["*".join([*([str(c)] if abs(c) != 1 or not m else []), *map(str, m)]) for m, c in self.terms]
        signed = [f"-{p}" if c == -1 and m else p for p, (m, c) in zip(parts, self.terms, strict=True)]
        return " + ".join(signed).replace("+ -", "- ")

    # --- what is known

    @property
    def low(self) -> int | None:
        """A number that it is never below."""
        return self._bound(1)

    @property
    def high(self) -> int | None:
        """A number that it is never above."""
        return self._bound(-1)

    def _bound(self, sign: int) -> int | None:
        if any(m and c * sign < 0 for m, c in self.terms):
            return None
        return sum(c for m, c in self.terms if not m)

    def unknown(self) -> Exception:
        """The error for a question that only the run answers."""
        return StagingTypeError(
            f"the length `{self!r}` is open: only the run knows it, and here a number is needed", help=HELP
        )

    def __hash__(self) -> int:
        return hash(self.terms)

    def __eq__(self, other: object) -> bool:
        """Of lengths whether they are the same polynomial: what two names stand for may differ."""
        if isinstance(other, Length):
            return self.terms == other.terms
        if not isinstance(other, int):
            return NotImplemented
        return self.known(self.decided_equal(other))

    def __ne__(self, other: object) -> bool:
        found = self.__eq__(other)
        return found if found is NotImplemented else not found

    def decided_equal(self, other: int) -> bool | None:
        """Whether it is that number; None where that is open."""
        low, high = self.low, self.high
        return False if (low is not None and low > other) or (high is not None and high < other) else None

    def decided(self, other: Any, sign: int, or_equal: bool) -> bool | None:
        """Whether it is above (`sign` 1) or below (-1) a length or a number; None where that is open."""
        d: Any = added(self, other, -1)
        low, high = (d, d) if isinstance(d, int) else (d.low, d.high)
        if sign < 0:
            low, high = None if high is None else -high, None if low is None else -low
        if low is not None and (low >= 0 if or_equal else low > 0):
            return True
        if high is not None and (high < 0 if or_equal else high <= 0):
            return False
        return None

    def known(self, found: bool | None) -> bool:
        """What a comparison decided; raises where it did not."""
        if found is None:
            raise self.unknown()
        return found

    def __bool__(self) -> bool:
        return not self.known(self.decided_equal(0))

    def __index__(self) -> int:
        raise self.unknown()

    def __float__(self) -> float:
        raise self.unknown()


HELP = (
    "loop over it with `rose.range(len(x))`, make arrays of that length with `np.zeros(len(x))`, or export for one "
    "length: `rose.ShapeOf(10)`"
)


def named(name: str) -> Length:
    """The length that is called so."""
    return Length((((name,), 1),))


def names_in(length: Length) -> Iterator[str]:
    """The names in a length."""
    for monomial, _ in length.terms:
        for factor in monomial:
            if isinstance(factor, Clipped):
                yield from names_in(factor.inside)
            else:
                yield factor


def clipped(length: "Length | int") -> "Length | int":
    """It, or 0 where it would be negative."""
    if isinstance(length, int):
        return max(length, 0)
    if length.low is not None and length.low >= 0:
        return length
    if length.high is not None and length.high <= 0:
        return 0
    return length.made((((Clipped(Length(length.terms)),), 1),))


def _order(monomial: Monomial) -> tuple[int, str]:
    return -len(monomial), str(monomial)


def _polynomial(a: Any) -> Mapping[Monomial, int]:
    return dict(a.terms) if isinstance(a, Length) else {(): int(a)} if a else {}


def _made(like: Length, found: Mapping[Monomial, int]) -> "Length | int":
    terms = {m: c for m, c in found.items() if c}
    if not any(terms):
        return terms.get((), 0)
    return like.made(tuple((m, terms[m]) for m in sorted(terms, key=_order)))


def added(a: Any, b: Any, factor: int = 1) -> "Length | int":
    """`a + factor * b`."""
    found = dict(_polynomial(a))
    for monomial, c in _polynomial(b).items():
        found[monomial] = found.get(monomial, 0) + factor * c
    return _made(a if isinstance(a, Length) else b, found)


def multiplied(a: Any, b: Any) -> "Length | int":
    """`a * b`."""
    found: dict[Monomial, int] = {}
    for m, c in _polynomial(a).items():
        for n, d in _polynomial(b).items():
            product = tuple(sorted((*m, *n), key=str))
            found[product] = found.get(product, 0) + c * d
    return _made(a if isinstance(a, Length) else b, found)


def _plain(value: Any) -> bool:
    return isinstance(value, (int, Length))


ORDERS = {"lt": (-1, False), "le": (-1, True), "gt": (1, False), "ge": (1, True)}
"""What the comparisons ask `decided`."""


def _installed() -> None:
    """The operators: of lengths and numbers here, with anything else by `other`."""
    exact: dict[str, Callable[[Any, Any], Any]] = {
        "add": added, "sub": lambda a, b: added(a, b, -1), "mul": multiplied,
    }  # fmt: skip
    for name, op in exact.items():

        def forward(self: Any, value: Any, op: Any = op, name: str = name) -> Any:
            return op(self, value) if _plain(value) else NotImplemented

        def backward(self: Any, value: Any, op: Any = op, name: str = name) -> Any:
            return op(value, self) if _plain(value) else NotImplemented

        setattr(Length, f"__{name}__", forward)
        setattr(Length, f"__r{name}__", backward)
    for name, (sign, equal) in ORDERS.items():

        def compare(self: Any, value: Any, sign: int = sign, equal: bool = equal) -> Any:
            return self.known(self.decided(value, sign, equal)) if _plain(value) else NotImplemented

        setattr(Length, f"__{name}__", compare)


_installed()
