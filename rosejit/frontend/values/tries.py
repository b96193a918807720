"""Loops of the host that are staged once to see whether they may be: where that is in vain, the function is staged
again without."""

from typing import Any


class InVain(BaseException):
    """What was tried is not right; of which loop, if that is known."""

    def __init__(self, place: Any = None) -> None:
        self.place = place


class Tries:
    """What is tried while one function is staged."""

    def __init__(self, may_stage_again: bool = False, never: frozenset[Any] = frozenset()) -> None:
        self.may_stage_again = may_stage_again
        self.never = never
        """The places of loops of which it was in vain."""
        self.made: list[Any] = []
        """Those of the loops that were tried."""
        self.is_open = False
        """Whether one of them is being staged."""
        self.is_in_vain = False
        """Whether it has turned out: code of the user's may have caught what said so."""

    def may_try(self, place: Any) -> bool:
        """Whether a loop there may be tried."""
        return self.may_stage_again and not self.is_open and place not in self.never

    def says(self) -> None:
        """Something is printed that no running tells: by an unrolled loop once for each iteration, while staging."""
        self.is_in_vain = self.is_in_vain or self.is_open

    def acts(self) -> None:
        """Staging is about to do what nothing undoes: it cannot be done twice."""
        self.is_in_vain = bool(self.made)
        self.settle()
        self.may_stage_again = False

    def settle(self) -> None:
        """Raise if it was in vain."""
        if self.is_in_vain:
            raise InVain(self.made[-1] if self.is_open else None)
