"""Room for lists that staged loops grow: how many items there is room for in a program, by where a list is made.

How long such a list becomes only running tells. Each program has room for so many items; a run that needs more ends,
and the program is staged again with more.
"""

MOST = 1 << 26
"""For so many items there is room at most."""
_FIRST, _STEP = 256, 8

_ROOM: dict[str, int] = {}
_OPENED: set[str] = set()


def room(site: str) -> int:
    """For how many items there is room in lists that are made there."""
    return _ROOM.get(site, _FIRST)


def is_opened(site: str) -> bool:
    """Whether dicts that are made there get keys which only running tells."""
    return site in _OPENED


class Mismatch(Exception):
    """A value does not fit the types that a function was specialised to; never seen by users."""


class NeedsRoom(Mismatch):
    """A list has become longer than the program has room for; staged again, it has more."""


class Outgrown(BaseException):
    """A run needs more room than its program has, in the lists that are made at a place. No handler waits for it."""

    def __init__(self, site: str, had: int) -> None:
        super().__init__(site, had)

    def __str__(self) -> str:
        return f"a list grows to more than {self.args[1]:,} items, for which this program has room"

    def grow(self) -> bool:
        """Let later programs have more; whether they may."""
        site, had = self.args
        if had >= MOST:
            return False
        _ROOM[site] = max(room(site), had * _STEP)
        return True


class NewKey(Outgrown):
    """A dict gets a key that it had not while staging."""

    def __init__(self, site: str) -> None:
        super().__init__(site, 0)

    def __str__(self) -> str:
        return "a dict gets a key that it had not while the function was staged"

    def grow(self) -> bool:
        """Let later programs be staged for such keys."""
        _OPENED.add(self.args[0])
        return True
