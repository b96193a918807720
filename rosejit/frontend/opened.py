"""What is noted of a function while it is staged: what it runs, and what it reads from outside."""

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from rosejit.frontend.arrays import Array
from rosejit.frontend.binding import Call
from rosejit.frontend.by_code import names_in
from rosejit.frontend.guards import Chain
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
        self.handed: dict[int, list[Chain]] = {}
        """By `id` of an array where those that are called find it."""

    def names(self) -> frozenset[str]:
        """All names in the functions that it runs."""
        return frozenset().union(*[names_in(f.__code__) for f, _ in self.functions.values()])
