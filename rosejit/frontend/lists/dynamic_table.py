"""Tables in which a key is found by its hash, written, and staged, as a user's code is: open addressing."""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic

from typing import Any

from rosejit.frontend.lists.list_sites import ListSites
from rosejit.frontend.lists.list_steps import element
from rosejit.frontend.values.rose_functions import range as staged_range
from rosejit.lazy_dataclass import dataclass

_PRIME = 1_000_003
_LARGE = 2**53


def hash_of(key):
    """A number of a key: equal keys have the same."""
    if isinstance(key, tuple):
        found = 7
        for part in key:
            found = (found * 1009 + hash_of(part)) % _PRIME
        return found
    if key is None or isinstance(key, str):
        return 0
    if key >= _LARGE or key <= -_LARGE:  # which may be no int; NaN, which equals nothing, raises below
        return 0
    return int(key) % _PRIME


@dataclass(eq=False, repr=False)
class DynamicTable:
    """Keys, in a list in the order in which they came, and by their hashes the places of these, counted from 1."""

    known: Any
    places: Any

    def slot(self, key):
        """Where the place of a key is, or would be."""
        size = len(self.places)
        at = hash_of(key) % size
        while True:
            place = self.places[at]
            if place == 0:
                break
            if element(self.known, place - 1) == key:
                break
            at = (at + 1) % size
        return at

    def place_of(self, key):
        """The place of a key, counted from 1; 0 where it is not there."""
        return self.places[self.slot(key)]

    def noted(self, key):
        """The row of a key, which is put there if it is new; and whether it is."""
        at = self.slot(key)
        is_new = self.places[at] == 0
        if is_new:
            self.known.append(key)
            self.places[at] = self.known.length
        return self.places[at] - 1, is_new

    def forget(self, row):
        """Take the key in a row away: those behind it move up."""
        self.known.take(row)
        for k in staged_range(len(self.places)):
            self.places[k] = 0
        for k in staged_range(self.known.length):
            self.places[self.slot(element(self.known, k))] = k + 1

    def clear(self):
        """Take all away."""
        self.known.clear()
        for k in staged_range(len(self.places)):
            self.places[k] = 0

    def copy(self):
        """Another table of the same keys."""
        return DynamicTable(self.known.copy(), self.places.copy())


ListSites.staged.add(DynamicTable)
