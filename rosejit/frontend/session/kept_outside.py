"""What a decorated function leaves in variables, arrays, containers and objects of the function around it: refused, for
its numbers are another program's."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Iterable
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.join import described
from rosejit.frontend.values.host_values import attributes_of
from rosejit.frontend.values.pytree import staged_inside
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.syntax import Var

_REMEDY = (
    "return the new value (make a Generator an argument), or leave out the decorator: a plain function may change it"
)

_PLAIN = frozenset({list, dict, set})
"""Containers that have no attributes."""


def check_kept(tape: Tape, root: Frame, params: Iterable[Var], function: Any) -> None:
    """Raise where a function, whose body is `root`, has changed what belongs to the one around it."""
    for key in root.contents:
        if tape.content(key, root) is not None:
            raise tape.type_fault(
                f"`{key.name}` belongs to the function around and is changed in a decorated function", _REMEDY
            )
    if getattr(function, "__closure__", ()) is None:
        return  # it reaches nothing of that
    own = {binder for let in root.lets for binder in let.binders} | {*params}
    for frame in tape.frames:
        if frame is root:
            break
        for key in frame.allocated.keys() & tape.undo.known.keys():
            owner = frame.allocated[key]
            held = owner if owner.__class__ in _PLAIN else (owner, attributes_of(owner))
            if any(_is_of(leaf, own, root) for leaf in staged_inside(held)):
                found = tape.type_fault(
                    f"{described(owner)} of the function around keeps a number of a decorated or differentiated one",
                    _REMEDY,
                )
                found.span = tape.undo.places.get(key) or found.span
                raise found


def _is_of(leaf: Any, own: set[Var], root: Frame) -> bool:
    """Whether a staged number or array is of the function with these variables."""
    if leaf.__class__ is Array:
        return leaf.box in root.contents
    return leaf.__class__ in NUMBERS and leaf.atom in own
