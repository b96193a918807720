"""Dicts that get keys which only running tells, written, and staged, as a user's code is.

The values are in a list, in the order of the keys.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic

from collections import defaultdict
from typing import Any, ClassVar

from rosejit.frontend.lists.dynamic_array import DynamicArray
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.lists.dynamic_set import DynamicSet
from rosejit.frontend.lists.list_sites import ListSites
from rosejit.frontend.lists.list_steps import Refusing, element, iterated, side_by_side, store, view
from rosejit.lazy_dataclass import dataclass


class _Read:
    """What is read of a dict."""

    table: Any
    held: Any
    kind: Any
    factory: Any

    def get(self, key, default=None):
        """As Python's, and those below."""
        place = self.table.place_of(key)
        return element(self.held, place - 1) if place > 0 else default

    def copy(self):
        """Another dict of the same items."""
        return DynamicDict(self.table.copy(), self.held.copy(), self.kind, self.factory)

    def plain(self):
        """The same as a `dict`."""
        return DynamicDict(self.table.copy(), self.held.copy(), dict, None)

    def most_common(self, count=None):
        """A Counter's keys and counts, the largest first."""
        found = sorted(side_by_side(self.table.known, self.held), key=lambda pair: pair[1], reverse=True)
        return found if count is None else found[:count]

    def keys(self):
        """A list of the keys."""
        return view(self.table.known.copy(), self.table.known)

    def values(self):
        """A list of the values."""
        return view(self.held.copy(), self.held)

    def items(self):
        """A list of pairs."""
        return view(side_by_side(self.table.known, self.held), self.table.known, self.held)


@dataclass(eq=False, repr=False)
class DynamicDict(_Read, Refusing):
    """A dict: `held` are the values, in the order of the keys."""

    table: Any
    held: Any
    kind: Any
    """What it is in Python."""
    factory: Any
    """Of a `defaultdict`; `int` of a `Counter`; else None."""

    __rose_dynamic__: ClassVar[bool] = True

    @property
    def known(self):
        """A list of the keys."""
        return self.table.known

    def __rose_host__(self) -> Any:
        """The dict that a caller in Python gets."""
        found = dict(zip(self.table.known, self.held, strict=True))
        return defaultdict(self.factory, found) if self.kind is defaultdict else self.kind(found)

    def __len__(self):
        return self.table.known.length

    def __iter__(self):
        return iterated(self)

    def __contains__(self, key):
        return self.table.place_of(key) > 0

    def __getitem__(self, key):
        place = self.table.place_of(key)
        if self.factory is None:
            if place == 0:
                raise KeyError(key)
            return element(self.held, place - 1)
        found = self.factory()
        if place > 0:
            found = element(self.held, place - 1)
        elif self.kind is defaultdict:
            self[key] = found
        return found

    def __setitem__(self, key, value):
        row, is_new = self.table.noted(key)
        if is_new:
            self.held.append(value)
        else:
            store(self.held, row, value)

    def __delitem__(self, key):
        self.pop(key)

    def __eq__(self, other):
        return len(self) == len(other) and all(key in other and self[key] == other[key] for key in self.table.known)

    def __ne__(self, other):
        return not self == other

    def setdefault(self, key, default=None):
        """The value of a key, which gets this one if it is new."""
        row, is_new = self.table.noted(key)
        if is_new:
            self.held.append(default)
        return element(self.held, row)

    def pop(self, key, default=Ellipsis):
        """The value of a key, taken away."""
        place = self.table.place_of(key)
        if place == 0:
            if default is Ellipsis:
                raise KeyError(key)
            return default
        found = self.held.take(place - 1)
        self.table.forget(place - 1)
        return found

    def update(self, items):
        """Of another dict, or pairs."""
        pairs = items.items() if hasattr(items, "items") else items
        for key, value in pairs:
            self[key] = value

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = self.copy()
        made.clear()
        made.update(other)
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def tally(self, items):
        """A Counter counts `items`."""
        for item in items:
            self[item] = self.get(item, 0) + 1

    def clear(self):
        """Take all away."""
        self.table.clear()
        self.held.clear()


DynamicDict.__name__ = "dict"  # in messages
DYNAMIC = frozenset({DynamicList, DynamicArray, DynamicDict, DynamicSet})
"""All four."""
HINTED = frozenset({DynamicList, DynamicDict})
"""Those whose hints say what is in them."""
ListSites.dict_of = DynamicDict
ListSites.staged.add(DynamicDict)
