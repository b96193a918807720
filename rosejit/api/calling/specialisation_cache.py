"""What functions know, and how much of it is compiled: the oldest goes, since memory and its mappings end.

Native code and its instances take six mappings or more, of which Linux gives a process 65,530: a function of vectors
met that many after 10,700 lengths, and then nothing more could be compiled or allocated.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.abi import Tree
from rosejit.api.calling.specialisation import Staged, may_be_none, of_values
from rosejit.api.programs.compile_and_load import Loaded
from rosejit.frontend.guards.guards import Guard
from rosejit.frontend.values.tape import Unrolled
from rosejit.lazy_dataclass import dataclass

Key = tuple[Tree, ...]

MOST = 2_000
"""So many kinds of arguments, of all functions together, have compiled code at a time, beside the latest of each
function. When there are more, the oldest quarter is forgotten, and staged again when it is needed."""


@dataclass(slots=True)
class Specialisation:
    """A function for one key: staged, loaded when it is first called; `extras` holds what else was made of it."""

    staged: Staged
    guards: tuple[Guard, ...]
    """What it and all that it calls have read from outside."""
    loaded: Loaded | None = None
    call: Callable[..., Any] | None = None
    extras: dict[str, Any] = field(default_factory=lambda: {})
    unrolled: tuple[Unrolled, ...] = ()
    """The loops that were unrolled in it and in what it calls."""

    @property
    def outgrown(self) -> bool:
        """Whether a call has needed more memory than its code can have."""
        return self.loaded is not None and self.loaded.outgrown


def valued(found: Specialisation) -> Specialisation:
    """`found` for derivatives: see `of_values`."""
    if not may_be_none(found.staged.result):
        return found
    if "values" not in found.extras:
        found.extras["values"] = Specialisation(of_values(found.staged), found.guards)
    return found.extras["values"]


class Known(dict[Key, Specialisation]):
    """What a function knows by the kind of its arguments."""

    __slots__ = ("__weakref__",)


_lock = threading.Lock()
_compiled: deque[tuple["weakref.ref[Known]", Key]] = deque()


def reckon(known: Known, key: Key) -> None:
    """There is compiled code for `key` now."""
    with _lock:
        _compiled.append((weakref.ref(known), key))
        if len(_compiled) > MOST:
            _forget()


def _forget() -> None:
    alive = [(each, key) for each, key in _compiled if key in (each() or ())]
    oldest = max(len(alive) - 3 * MOST // 4, 0)
    for each, key in alive[:oldest]:
        held = each()
        if held is not None:
            held.pop(key, None)
    _compiled.clear()
    _compiled.extend(alive[oldest:])
