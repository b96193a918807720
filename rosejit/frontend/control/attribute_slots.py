"""Lets staged branches and loops change attributes of objects, and elements of lists and dicts: joined and carried as
if they were names."""

# Values of users are of any type: what they are is asked while staging.

import inspect
import operator
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from types import MemberDescriptorType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.control.grown_lists import is_grown, refuse
from rosejit.frontend.control.identities import Identities
from rosejit.frontend.control.if_for import StagedIf, rows
from rosejit.frontend.control.join import described
from rosejit.frontend.control.optional import Optional, required, told
from rosejit.frontend.control.special_methods import own
from rosejit.frontend.control.undefined import read_bound_attribute, require_single_value
from rosejit.frontend.soa.element_proxy import put
from rosejit.frontend.values.pytree import attribute, is_mutable, is_record, is_row, is_staged_deep
from rosejit.frontend.values.tape import (
    MAPPINGS,
    SEQUENCES,
    UNDEFINED,
    AttributeSlot,
    Frame,
    Tape,
    base_of,
    is_local,
    stored,
)


class Followed:
    """What the staged blocks know of that changes: attributes, elements, and how long lists are."""

    def __init__(self, tape: Tape, written: Callable[..., Any]) -> None:
        self._tape = tape
        self.written = written
        self.identities = tape.identities = Identities(tape)
        self.chosen: Callable[[Any, Any, Any, Any], Any]
        """`a if number == k else b`, which the session makes."""
        self.is_at: Callable[[Any, Any], Any]
        """Whether an element taken by a staged index is one of those at some places, which the session asks."""
        self.appended: Callable[[Any, Any], Any]
        """`owner.append(value)`, anywhere."""
        self.is_staged_key: Callable[[Any], bool] = lambda key: False
        self.looked_up: Callable[[Any, Any], Any]
        self.keys_for: Callable[[Any, Any, Any], list[tuple[Any, Any]]]
        """Look-ups by keys that only running tells, which the session makes."""

    def append(self, owner: list[Any], value: Any) -> bool:
        """`owner.append(value)` in a staged branch, where the other side may do the same; whether it was done."""
        view = self.identities.view_of(owner) if self.identities.is_shared(owner) else None
        if view is not None:
            self._append_through(view, value)
            return True
        if not self.grows_in_branch(owner):
            return False
        self._follow(owner, len(owner), value)
        return True

    def _append_through(self, view: Any, value: Any) -> None:
        """The same of a list that was taken by a staged index: the one that it is gets the item as well."""
        places = {id(one): (one, [k for k, each in enumerate(view.options) if each is one]) for one in view.options}
        if self.identities.is_lost(view.made):
            self.written(view.made)
        with self.identities.apart(view):
            for one, at in places.values():
                opened = StagedIf(self._tape, self.is_at(view, at), (), (), 0)
                self.appended(one, value)
                opened.end(())
            self._tape.undo.note(view.made)
            if self.grows_in_branch(view.made):
                self._follow_slot(view.made, len(view.made), value)
            else:
                list.append(view.made, value)

    def grows_in_branch(self, owner: Any) -> bool:
        """Whether a list is from outside of a staged branch, in which it may get items and lose them."""
        home = self._home(owner) if self._is_followed(owner) and self._tape.is_staged else None
        return home is not None and not (home in self._tape.frames and self._loops_since(home))

    def replace(self, owner: list[Any], k: int, value: Any) -> None:
        """`owner[k] = value`; UNDEFINED: there are no items from `k` on."""
        if self.grows_in_branch(owner):
            self._follow(owner, k, value)
        elif value is UNDEFINED:
            del self.written(owner)[k:]
        else:
            self.written(owner)[k] = value

    def _is_followed(self, owner: Any) -> bool:
        """Whether the blocks have to know of a change."""
        tape = self._tape
        if tape.trials.running or id(owner) in tape.slots or self.identities.is_shared(owner):
            return True
        return tape.is_staged and not is_local(tape, owner)

    def _loops_since(self, home: Frame | None) -> bool:
        """Whether a staged loop is open that is not around the block `home`."""
        frames = self._tape.frames
        at = frames.index(home) if home in frames else -1
        return any(frame.kind == "loop" for frame in frames[at + 1 :])

    def _follow(self, owner: Any, name: Any, value: Any) -> None:
        tape = self._tape
        owner = self._stood_for(owner)
        base = base_of(owner.__class__)
        grows = base is not None and (name not in owner if base in MAPPINGS else name >= len(owner))
        self._check(owner, grows or (base is not None and value is UNDEFINED))
        if base is not None:
            tape.undo.note(owner)
        self._follow_slot(owner, name, value)

    def _follow_slot(self, owner: Any, name: Any, value: Any) -> None:
        tape = self._tape
        slots = tape.slots.setdefault(id(owner), {})
        slot = slots.get(name)
        if slot is None or slot.owner is not owner:
            slot = self._slot(owner, name)
            slots[name] = slot
        at = next((k for k in range(len(tape.frames) - 1, -1, -1) if slot in tape.frames[k].contents), -1)
        if at >= 0 and tape.frames[at].allocated.get(id(owner)) is owner:
            tape.frames[at].contents[slot] = stored(slot.read())  # its methods, and C, change it there without a word
        for frame in tape.frames[at + 1 :]:
            if frame.kind == "loop":
                frame.unknown_slots[slot] = None
        tape.write(slot, value)

    def _stood_for(self, owner: Any) -> Any:
        """The object that a loop carries under a name, for what stands for it in the body: that the body changes it in
        place is known from now on, and it stands for itself."""
        for frame in reversed(self._tape.frames):
            stand_ins: dict[int, Any] = frame.carries.stand_ins if frame.carries else {}
            made, value = stand_ins.get(id(owner), (UNDEFINED, None))
            if made is owner:
                self._tape.changed_in_place[id(value)] = owner = value
                frame.carries.again = True
            elif any([value is owner for _, value in stand_ins.values()]):  # it is changed under another name
                self._tape.changed_in_place[id(owner)] = owner
                frame.carries.again = True
        return owner

    def _slot(self, owner: Any, name: str) -> AttributeSlot:
        """The slot of an attribute; the block in which the object was made knows what it was before."""
        slot = AttributeSlot(owner, name, UNDEFINED, self._tape.here())
        slot.first = slot.read()
        home = self._home(owner)
        if home is None:
            raise self._tape.fault(
                UnsupportedSyntax,
                f"{described(owner)} from outside of a staged branch or loop is changed in it",
                help="make it in the staged function (`copy.copy(it)`), or return the new value",
            )
        home.contents[slot] = stored(slot.first)
        own = getattr(owner, "__dict__", None)
        if own is not None and not slot.is_element and slot.first is not UNDEFINED and name not in own:
            self._tape.inherited.setdefault(id(own), slot)
        return slot

    def _home(self, owner: Any) -> Frame | None:
        """The block that made an object; None if it is from outside. A list that another function has made is."""
        return self.identities.home(owner)

    def _check(self, owner: Any, grows: bool) -> None:
        """Raise for what may never be changed."""
        frozen = self._tape.frozen_containers.get(id(owner))
        if frozen is not None and frozen[0] is owner and not self.identities.may_change(owner, grows):
            self.written(owner)


class Attributes(Followed):
    """The attributes that staged blocks have changed."""

    def of(self, owner: Any) -> Any:
        """What takes the place of `owner` in `owner.x = value`, `owner.x += value` and `del owner.x`."""
        owner = require_single_value(required(owner))
        if is_mutable(owner) and (is_row(owner) or self._is_followed(owner)):
            return _Owner(self, owner)
        if isinstance(owner, type) and self._tape.inherited:
            return _Class(self, owner)
        return owner if is_record(type(owner)) and not is_mutable(owner) else self.written(owner)

    def elements(self, owner: Any) -> Any:
        """What takes the place of `owner` in `owner[i] = value`, `owner[i] += value` and `del owner[i]`."""
        owner = self._stood_for(required(owner))
        if self._tape.has_grown and is_grown(owner):
            refuse(self._tape, "an item is assigned in", owner)
        is_kept = base_of(owner.__class__) is not None or isinstance(owner, dict)
        if is_kept and own(owner, "__setitem__") is None:
            return _Elements(self, owner, self._are_followed(owner))
        is_users = any(own(owner, name) is not None for name in ("__setitem__", "__delitem__"))
        return owner if is_users else self.written(owner)  # what the user's methods change is looked at there

    def _are_followed(self, owner: Any) -> bool:
        """Whether the blocks have to know of changes of elements."""
        return base_of(owner.__class__) is not None and self._is_followed(owner) and self._home(owner) is not None

    def assign_element(self, owner: Any, key: Any, value: Any) -> None:
        """`dict.__setitem__(owner, key, value)` and the like, which ask no code of the user's."""
        if self._are_followed(owner):
            _Elements(self, owner, True)[key] = value
        else:
            base_of(owner.__class__).__setitem__(self.written(owner), key, value)

    def write_element(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key] = value`, in the innermost block."""
        is_list = base_of(owner.__class__) in SEQUENCES
        is_new = not is_list and key not in owner
        if is_new and (self._loops_since(self._home(owner)) or self.identities.view_of(owner) is not None):
            self.written(owner, (key, value))
        self._write_through(owner, lambda one: one[key], lambda one, new: self.write_element(one, key, new), value)
        if is_list:
            key = self._index(owner, key)
        self._follow_all(owner, key, value, lambda one: one[key])

    def _index(self, owner: list[Any], index: Any) -> int:
        k = operator.index(index)
        if not -len(owner) <= k < len(owner):
            raise IndexError("list assignment index out of range")
        return k + len(owner) if k < 0 else k

    def write_slice(self, owner: list[Any], index: slice, values: Any) -> None:
        """`owner[a:b] = values`: one by one, where that leaves the list as long as it is."""
        places, given = range(*index.indices(len(owner))), list(rows(self._tape, values))
        if len(places) != len(given):
            self.written(owner)
        for k, value in zip(places, given, strict=True):
            self.write_element(owner, k, value)

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """`object.__setattr__(owner, name, value)`, which asks no code of the user's."""
        if self._is_followed(owner):
            self._follow(owner, name, value)
        else:
            object.__setattr__(self.written(owner), name, value)

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
            self._write_through(
                owner, lambda one: self.read(one, name), lambda one, new: self.write(one, name, new), value
            )
            self._follow_all(owner, name, value, lambda one: self.read(one, name))

    def remove(self, owner: Any, name: str) -> None:
        """`del owner.name`, in the innermost block."""
        of_class = inspect.getattr_static(type(owner), name, None)
        shows = of_class is not None and not isinstance(of_class, (MemberDescriptorType, cached_property, property))
        if shows or hasattr(type(owner), "__getattr__"):
            raise self._tape.fault(
                UnsupportedSyntax,
                f"`{name}` of {described(owner)} is deleted where only running tells what it is, and its class has one",
                help=f"assign what it is from here on: `{name} = ...`",
            )
        self.write(owner, name, UNDEFINED)

    def _follow_all(self, owner: Any, key: Any, value: Any, read: Callable[[Any], Any]) -> None:
        """A change of an object, and of the last elements that were taken by a staged index and may be this one."""
        views = self.identities.views_of(owner)
        if not views:
            self._follow(owner, key, value)
            return
        with ExitStack() as apart:
            for view in views:
                apart.enter_context(self.identities.apart(view))
            self._follow(owner, key, value)
            for view in views:
                places = [k for k, each in enumerate(view.options) if each is owner]
                self._follow(view.made, key, self.chosen(view, places, value, read(view.made)))

    def _write_through(
        self, owner: Any, read: Callable[[Any], Any], write: Callable[[Any, Any], None], value: Any
    ) -> None:
        """A change of an element that was taken by a staged index, before it: that of those that it may be."""
        view = self.identities.view_of(owner)
        if view is None:
            return
        with self.identities.apart(view, others=True):
            places = {id(one): (one, [k for k, each in enumerate(view.options) if each is one]) for one in view.options}
            for one, at in places.values():
                write(one, self.chosen(view, at, value, read(one)))

    def keep(self, owner: Any, name: str, value: Any) -> None:
        """`value`, which `owner` has computed of itself, becomes its attribute. What is from outside keeps nothing that
        is staged, and nothing of a branch or a loop."""
        if self._home(owner) is None:
            if self._tape.is_staged or id(owner) in self._tape.frozen_containers or is_staged_deep(value):
                return  # arguments are never changed, so it is the same each time
        elif self._is_followed(owner):
            self._follow(owner, name, value)
            return
        vars(self.written(owner))[name] = value


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
        attributes.remove(owner, name)


def _class_changes(attributes: Attributes, cls: type, name: str) -> None:
    """An attribute of a class is about to change, which objects have that have none themselves."""
    tape = attributes._tape
    for slot in tape.inherited.values():
        if slot.attribute == name and isinstance(slot.owner, cls):
            raise tape.fault(
                UnsupportedSyntax,
                f"`{cls.__name__}.{name}` is changed, and only running tells whether {described(slot.owner)} has a "
                f"`{name}` of its own",
                help=f"give it its own where it is made: `self.{name} = {cls.__name__}.{name}`",
            )
    attributes.written(cls)


class _Class:
    """A class whose attributes are being assigned."""

    __slots__ = ("_attributes", "_cls")

    def __init__(self, attributes: Attributes, cls: type) -> None:
        object.__setattr__(self, "_attributes", attributes)
        object.__setattr__(self, "_cls", cls)

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_cls"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        cls = object.__getattribute__(self, "_cls")
        _class_changes(object.__getattribute__(self, "_attributes"), cls, name)
        setattr(cls, name, value)

    def __delattr__(self, name: str) -> None:
        cls = object.__getattribute__(self, "_cls")
        _class_changes(object.__getattribute__(self, "_attributes"), cls, name)
        delattr(cls, name)


class _Elements:
    """A list or a dict whose elements are being assigned; the blocks have to know if it is `followed`."""

    __slots__ = ("_attributes", "_followed", "_owner")

    def __init__(self, attributes: Attributes, owner: Any, followed: bool) -> None:
        self._attributes = attributes
        self._owner = owner
        self._followed = followed

    def _key(self, key: Any) -> Any:
        """A key that may be None, and surely is not, as the key; a number or a text where None would be an error."""
        key = told(key)
        if key.__class__ is Optional and not isinstance(self._owner, list) and None in self._owner:
            what = "an item is assigned at a key that may be None, as only running tells, and None is one of the keys"
            raise key.__rose_tape__.type_fault(what, "ask `is None` before, and assign in both branches")
        return required(key)

    def __getitem__(self, key: Any) -> Any:
        key = self._key(key)
        if self._attributes.is_staged_key(key):
            return self._attributes.looked_up(self._owner, key)
        if not self._followed:
            return self._attributes.written(self._owner)[key]
        if base_of(self._owner.__class__) not in SEQUENCES and key not in self._owner:
            self._attributes.written(self._owner)  # it may make what it is asked for
        return self._owner[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        key = self._key(key)
        if self._attributes.is_staged_key(key):
            for known, chosen in self._attributes.keys_for(self._owner, key, value):
                self[known] = chosen  # what it was, or the value
        elif not self._followed:
            self._attributes.written(self._owner, (key, value))[key] = value
        elif key.__class__ is slice:
            self._attributes.write_slice(self._owner, key, value)
        else:
            self._attributes.write_element(self._owner, key, value)

    def __delitem__(self, key: Any) -> None:
        del self._attributes.written(self._owner)[key]  # it moves others: it is refused in a staged block


def _sets_itself(owner: Any, name: str) -> bool:
    """Whether setting an attribute runs code of the user's: a property, or a `__setattr__`."""
    if own(owner, "__setattr__") is not None:  # while code is staged it is a stand-in
        return True
    held = inspect.getattr_static(type(owner), name, None)
    return hasattr(type(held), "__set__") and type(held) is not MemberDescriptorType
