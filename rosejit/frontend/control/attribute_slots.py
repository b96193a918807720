"""Lets staged branches and loops change attributes of objects: joined and carried as if they were names."""

# Values of users are of any type: what they are is asked while staging.

import inspect
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.control.join import described
from rosejit.frontend.control.undefined import read_bound_attribute
from rosejit.frontend.soa.element_proxy import put
from rosejit.frontend.values.pytree import attribute, is_mutable, is_record, is_row
from rosejit.frontend.values.tape import UNDEFINED, AttributeSlot, Frame, Tape, is_local, stored


class Attributes:
    """The attributes that staged blocks have changed."""

    def __init__(self, tape: Tape, written: Callable[[Any], Any]) -> None:
        self._tape = tape
        self._written = written

    def of(self, owner: Any) -> Any:
        """What takes the place of `owner` in `owner.x = value`, `owner.x += value` and `del owner.x`."""
        if is_mutable(owner) and (is_row(owner) or self._is_followed(owner)):
            return _Owner(self, owner)
        return owner if is_record(type(owner)) and not is_mutable(owner) else self._written(owner)

    def _is_followed(self, owner: Any) -> bool:
        """Whether the blocks have to know of a change."""
        tape = self._tape
        return tape.trials.running or id(owner) in tape.slots or (tape.is_staged and not is_local(tape, owner))

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """`object.__setattr__(owner, name, value)`, which asks no code of the user's."""
        if self._is_followed(owner):
            self._follow(owner, name, value)
        else:
            object.__setattr__(self._written(owner), name, value)

    def read(self, owner: Any, name: str) -> Any:
        """`owner.name`."""
        return read_bound_attribute(self._tape, attribute(owner, name), owner, name)

    def write(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name = value`, in the innermost block."""
        if _sets_itself(owner, name):
            setattr(owner, name, value)
        elif is_row(owner):
            put(owner, name, value, self._tape)
        else:
            self._follow(owner, name, value)

    def _follow(self, owner: Any, name: str, value: Any) -> None:
        tape = self._tape
        self._check(owner)
        slots = tape.slots.setdefault(id(owner), {})
        slot = slots.get(name)
        if slot is None or slot.owner is not owner:
            slot = self._slot(owner, name)
            slots[name] = slot
        at = next((k for k in range(len(tape.frames) - 1, -1, -1) if slot in tape.frames[k].contents), -1)
        for frame in tape.frames[at + 1 :]:
            if frame.kind == "loop":
                frame.unknown_slots[slot] = None
        tape.write(slot, value)

    def _slot(self, owner: Any, name: str) -> AttributeSlot:
        """The slot of an attribute; the block in which the object was made knows what it was before."""
        slot = AttributeSlot(owner, name, getattr(owner, name, UNDEFINED))
        home = self._home(owner)
        if home is None:
            raise self._tape.fault(
                UnsupportedSyntax,
                f"{described(owner)} from outside is changed in a staged branch or loop",
                help="make it in the staged function (`copy.copy(it)`), or return the new value",
            )
        home.contents[slot] = stored(slot.first)
        return slot

    def _home(self, owner: Any) -> Frame | None:
        """The block that made an object; None if it is from outside."""
        return next((f for f in reversed(self._tape.frames) if id(owner) in f.allocated), None)

    def _check(self, owner: Any) -> None:
        """Raise for what may never be changed."""
        frozen = self._tape.frozen_containers.get(id(owner))
        if frozen is not None and frozen[0] is owner:
            self._written(owner)


class _Owner:
    """An object whose attributes are being assigned."""

    __slots__ = ("_attributes", "_owner")

    def __init__(self, attributes: Attributes, owner: Any) -> None:
        object.__setattr__(self, "_attributes", attributes)
        object.__setattr__(self, "_owner", owner)

    def __getattribute__(self, name: str) -> Any:
        attributes = object.__getattribute__(self, "_attributes")
        return attributes.read(object.__getattribute__(self, "_owner"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_attributes").write(object.__getattribute__(self, "_owner"), name, value)

    def __delattr__(self, name: str) -> None:
        attributes = object.__getattribute__(self, "_attributes")
        owner = object.__getattribute__(self, "_owner")
        attributes.read(owner, name)
        attributes.write(owner, name, UNDEFINED)


def _sets_itself(owner: Any, name: str) -> bool:
    """Whether setting an attribute runs code of the user's: a property, or a `__setattr__`."""
    if type(type(owner).__setattr__) is FunctionType:
        return True
    held = inspect.getattr_static(type(owner), name, None)
    return hasattr(type(held), "__set__") and type(held) is not MemberDescriptorType
