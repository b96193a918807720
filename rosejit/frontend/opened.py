"""What is noted of a function while it is staged: what it runs, and what it reads from outside."""

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

from rosejit.frontend import ran
from rosejit.frontend.arrays import Array
from rosejit.frontend.binding import Call
from rosejit.frontend.by_code import names_in
from rosejit.frontend.guards import Chain, Guard
from rosejit.frontend.recursion import Member
from rosejit.frontend.rewrite import Translation
from rosejit.frontend.tape import Frame
from rosejit.ir.syntax import Var
from rosejit.span import Span

Ran = tuple[FunctionType, Translation]
"""A plain function that staged code runs."""


class Opened:
    """A function that is being staged; `member` is what others know of it, if they may call it."""

    def __init__(self, root: Frame, member: Member | None = None) -> None:
        self.root = root
        self.member = member
        self.captured: dict[int, tuple[Any, Var]] = {}
        """Arrays from outside, by `id`, and the parameters that they become."""
        self.arrays: dict[int, tuple[Any, Array]] = {}
        self.functions: dict[int, Ran] = {}
        self.check: Callable[[Any, Span | None], Call] | None = None
        """Checks the result of the function."""
        self.code: CodeType | None = None
        self.checked: Call | None = None
        self.static_arrays: set[int] = set()
        self.read_elements: set[int] = set()
        self.sealed: list[Any] = []
        """Arguments that may not be changed before it ends."""
        self.handed: dict[int, list[Chain]] = {}
        """By `id` of an array where those that are called find it."""

    def own(self, arguments: Iterable[Any], sealed: Container[int]) -> list[Any]:
        """Those of `arguments` that nobody has sealed: until it ends they are its arguments, then the caller's."""
        found = [each for each in arguments if id(each) not in sealed]
        self.sealed += found
        return found

    def of_what_ran(self, classes: Iterable[type]) -> Iterator[Guard]:
        """Guards for the functions that it runs, itself excepted, and for methods of these classes among them."""
        own = self.member.python if self.member is not None else None
        functions = [f for f, _ in self.functions.values() if f is not own]
        return chain(ran.of_functions(functions), ran.of_classes(classes, functions) if functions else ())

    def names(self) -> frozenset[str]:
        """All names in the functions that it runs."""
        return frozenset().union(*[names_in(f.__code__) for f, _ in self.functions.values()])
