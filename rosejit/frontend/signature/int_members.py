"""Members of classes of `enum.IntEnum`, which are Ints in staged code, as what they were."""

# Values of users are of any type: what they are is asked while staging.

import functools
import operator
from typing import Any

from rosejit import containers
from rosejit.frontend.values.scalars import Bool, Int, P
from rosejit.ir.syntax import Failure


def member(cls: Any, value: Int, present: Any) -> Any:
    """The member of a class of ints that a staged Int is, which was one before it was computed with or chosen."""
    members = list(cls)
    known = [value == int(member) for member in members]
    words = f"a value is given for a `{cls.__name__}` that no member has"
    failure = Failure("raise", words, value.tape.here(), exception=ValueError(words))
    found: Any = functools.reduce(operator.or_, known)
    if present.__class__ is Bool:
        found = found | ~present
    value.tape.check(found.atom, failure)
    position = functools.reduce(lambda found, k: P["iselect"].__call__(known[k], k, found), range(len(members)))
    return containers.CHOSEN.staged(position, *members)
