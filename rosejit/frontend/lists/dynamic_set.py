"""Sets that get items which only running tells, written, and staged, as a user's code is."""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic

from typing import Any, ClassVar

from rosejit.frontend.lists.list_sites import ListSites
from rosejit.frontend.lists.list_steps import Refusing, iterated
from rosejit.lazy_dataclass import dataclass


def items_of(items):
    """What is gone through, of a set or what else has items."""
    return items.known if isinstance(items, DynamicSet) else items


class _Algebra:
    """What is made of two sets."""

    known: Any
    copy: Any
    update: Any
    clear: Any
    __len__: Any

    def union(self, *others):
        """As Python's, and those below."""
        made = self.copy()
        for other in others:
            made.update(other)
        return made

    def intersection(self, *others):
        """Those that are in all."""
        made = self.copy()
        for other in others:
            kept = made.copy()
            made.clear()
            for item in kept.known:
                if item in other:
                    made.add(item)
        return made

    def difference(self, *others):
        """Those that are in no other."""
        made = self.copy()
        for other in others:
            for item in items_of(other):
                made.discard(item)
        return made

    def symmetric_difference(self, other):
        """Those that are in one of the two."""
        made = self.difference(other)
        for item in items_of(other):
            if item not in self:
                made.add(item)
        return made

    def issubset(self, other):
        """Whether all are in another."""
        return all(item in other for item in self.known)

    def issuperset(self, other):
        """Whether all of another are in it."""
        return all(item in self for item in items_of(other))

    def isdisjoint(self, other):
        """Whether none is in another."""
        return not any(item in self for item in items_of(other))

    def __or__(self, other):
        return self.union(other)

    def __and__(self, other):
        return self.intersection(other)

    def __sub__(self, other):
        return self.difference(other)

    def __rsub__(self, other):
        made = self.copy()
        made.clear()
        made.update(other)
        return made.difference(self)

    def __xor__(self, other):
        return self.symmetric_difference(other)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __ior__(self, other):
        self.update(other)
        return self

    def __iand__(self, other):
        self.become(self.intersection(other))
        return self

    def __isub__(self, other):
        self.become(self.difference(other))
        return self

    def __ixor__(self, other):
        self.become(self.symmetric_difference(other))
        return self

    def become(self, other):
        """Hold what another holds."""
        self.clear()
        self.update(other)

    def __le__(self, other):
        return self.issubset(other)

    def __lt__(self, other):
        return len(self) < len(other) and self.issubset(other)

    def __ge__(self, other):
        return self.issuperset(other)

    def __gt__(self, other):
        return len(self) > len(other) and self.issuperset(other)


@dataclass(eq=False, repr=False)
class DynamicSet(_Algebra, Refusing):
    """A set."""

    table: Any
    kind: Any
    """What it is in Python."""
    __rose_dynamic__: ClassVar[bool] = True

    @property
    def known(self):
        """A list of the items."""
        return self.table.known

    def __rose_host__(self) -> Any:
        """The set that a caller in Python gets."""
        return self.kind(self.table.known)

    def __len__(self):
        return self.table.known.length

    def __iter__(self):
        return iterated(self)

    def __eq__(self, other):
        return len(self) == len(other) and all(key in other for key in self.known)

    def __ne__(self, other):
        return not self == other

    def __contains__(self, key):
        return self.table.place_of(key) > 0

    def add(self, key):
        """As Python's, and those below."""
        self.table.noted(key)

    def copy(self):
        """Another set of the same items."""
        return DynamicSet(self.table.copy(), self.kind)

    def discard(self, key):
        """Nothing, where it is not there."""
        place = self.table.place_of(key)
        if place > 0:
            self.table.forget(place - 1)

    def remove(self, key):
        """KeyError where it is not there."""
        place = self.table.place_of(key)
        if place == 0:
            raise KeyError(key)
        self.table.forget(place - 1)

    def update(self, *others):
        """Add the items of others one by one."""
        for items in others:
            for item in items_of(items):
                self.table.noted(item)

    def clear(self):
        """Take all away."""
        self.table.clear()


DynamicSet.__name__ = "set"  # in messages
ListSites.set_of = DynamicSet
ListSites.staged.add(DynamicSet)
