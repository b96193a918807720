"""The lists that iterations of staged loops append to and take from, written, and staged, as a user's code is.

Their items are in arrays, a row an item, from `start` on. What Python's lists and its functions of lists do, and
`heapq` and `collections.deque`, is done here by loops over these rows, with the same comparisons in the same order.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic

import sys
from typing import Any, ClassVar

from rosejit.frontend.lists.list_rows import elements
from rosejit.frontend.lists.list_sites import ListSites
from rosejit.frontend.lists.list_steps import Refusing, element, empty_like, iterated, length_of, room_of, store
from rosejit.frontend.values.rose_functions import range as staged_range
from rosejit.lazy_dataclass import dataclass
from rosejit.list_room import Outgrown

NO_ITEMS = "iterable argument is empty" if sys.version_info >= (3, 12) else "arg is an empty sequence"
"""What `max` and `min` say of nothing."""


class _Changed:
    """What changes a list in place."""

    site: Any
    copy: Any
    place: Any
    index: Any

    def append(self, item):
        """As Python's, and those below."""
        if self.start + self.length >= room_of(self):
            raise Outgrown(self.site, room_of(self))
        store(self, self.start + self.length, item)
        self.length += 1

    def extend(self, items):
        """`items` one by one."""
        for item in items:
            self.append(item)

    def __iadd__(self, items):
        self.extend(items)
        return self

    def __imul__(self, times):
        items = self.copy()
        if times <= 0:
            self.clear()
        self.repeat(items, times - 1)
        return self

    def repeat(self, items, times):
        """Append `items` so often."""
        for _ in staged_range(times):
            self.extend(items)

    def insert(self, index, item):
        """Move the items behind one place up."""
        at = max(index + self.length, 0) if index < 0 else min(index, self.length)
        self.append(item)
        for k in staged_range(self.length - 1 - at):
            row = self.start + self.length - 1 - k
            store(self, row, element(self, row - 1))
        store(self, self.start + at, item)

    def pop(self, index=-1):
        """The last item, or another, taken away."""
        if self.length == 0:
            raise IndexError("pop from empty list")
        if index < -self.length or index >= self.length:
            raise IndexError("pop index out of range")
        return self.take(self.place(index), index == 0)

    def take(self, at, is_first=False):
        """The item in a row, taken away."""
        item = element(self, at)
        if is_first:
            self.start += 1
        else:
            for k in staged_range(self.start + self.length - 1 - at):
                store(self, at + k, element(self, at + k + 1))
        self.length -= 1
        return item

    def __delitem__(self, index):
        if isinstance(index, slice):
            self.replace(index, ())
        else:
            self.take(self.place(index, " assignment index out of range"), index == 0)

    def replace(self, index, items):
        """`self[a:b] = items`."""
        if not (index.step is None or index.step == 1):
            iterated(self)
        first, last, _ = bounds(self, index)
        behind = part(self, slice(max(first, last), None))
        self.length = first
        self.extend(items)
        self.extend(behind)

    def popleft(self):
        """A deque's first item, taken away."""
        if self.length == 0:
            raise IndexError("pop from an empty deque")
        item = element(self, self.start)
        self.start += 1
        self.length -= 1
        return item

    def appendleft(self, item):
        """Before the first item of a deque."""
        self.insert(0, item)

    def remove(self, item):
        """Take the first away that is equal."""
        self.pop(self.index(item, "list.remove(x): x not in list"))

    def clear(self):
        """Take all away."""
        self.start = 0
        self.length = 0

    def reverse(self):
        """In place."""
        for k in staged_range(self.length // 2):
            one, other = self.start + k, self.start + self.length - 1 - k
            item = element(self, one)
            store(self, one, element(self, other))
            store(self, other, item)

    def sort(self, *, key=None, reverse=False):
        """In place, and stable."""
        made = in_order(self, key=key, reverse=reverse)
        for k in staged_range(self.length):
            store(self, self.start + k, element(made, k))


@dataclass(eq=False, repr=False)
class DynamicList(_Changed, Refusing):
    """A list of which `length` items are there, from the row `start` on."""

    rows: Any
    """An array, or a structure of arrays, for the items."""
    start: Any
    length: Any
    site: Any
    """Where such a list is made, by which there is room for it."""
    kind: Any
    """What it is in Python: `list` or `deque`."""
    __rose_dynamic__: ClassVar[bool] = True
    behind: ClassVar[tuple[Any, ...]] = ()
    """The lists that an iterator, or a view, shows."""
    stamp: ClassVar[Any] = None
    """What these held when it was made."""

    def __rose_host__(self) -> Any:
        """The list that a caller in Python gets."""
        return self.kind(elements(self.rows, self.start, self.length))

    def place(self, index, words=" index out of range"):
        """The row of the item at an index."""
        at = index + self.length if index < 0 else index
        if at < 0 or at >= self.length:
            raise IndexError(self.kind.__name__ + words)
        return self.start + at

    def __len__(self):
        return length_of(self)

    def __iter__(self):
        return iterated(self)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return part(self, index)
        return element(self, self.place(index))

    def __setitem__(self, index, item):
        if isinstance(index, slice):
            self.replace(index, item)
            return
        store(self, self.place(index, " assignment index out of range"), item)

    def __contains__(self, item):
        return any(element(self, self.start + k) == item for k in staged_range(self.length))

    def __add__(self, items):
        made = self.copy()
        made.extend(items)
        return made

    def __radd__(self, items):
        made = empty_like(self)
        made.extend(items)
        made.extend(self)
        return made

    def __mul__(self, times):
        made = empty_like(self)
        made.repeat(self, times)
        return made

    def __rmul__(self, times):
        return self * times

    def __lt__(self, other):
        return is_before(self, other, False)

    def __le__(self, other):
        return is_before(self, other, True)

    def __gt__(self, other):
        return is_before(other, self, False)

    def __ge__(self, other):
        return is_before(other, self, True)

    def count(self, item):
        """How many are equal."""
        found = 0
        for each in self:
            if each == item:
                found += 1
        return found

    def copy(self, kind=None):
        """Another list of the same items."""
        made = empty_like(self, kind)
        for k in staged_range(self.length):
            made.append(element(self, self.start + k))
        return made

    def index(self, item, words="list.index(x): x not in list"):
        """Where the first is that is equal."""
        for k in staged_range(self.length):
            if element(self, self.start + k) == item:
                return k
        raise ValueError(words)

    def __eq__(self, other):
        if isinstance(other, tuple) or len(other) != self.length:
            return False
        return all(element(self, self.start + k) == other[k] for k in staged_range(self.length))

    def __ne__(self, other):
        return not self == other


def bounds(items, index):
    """The first index of a slice, that behind its last, and the step."""
    step = 1 if index.step is None else index.step
    count = len(items)
    first = 0 if step > 0 else count - 1
    last = count if step > 0 else -1
    if index.start is not None:
        first = index.start + count if index.start < 0 else index.start
        first = min(max(first, 0), count) if step > 0 else min(max(first, -1), count - 1)
    if index.stop is not None:
        last = index.stop + count if index.stop < 0 else index.stop
        last = min(max(last, 0), count) if step > 0 else min(max(last, -1), count - 1)
    return first, last, step


def part(items, index):
    """`items[a:b]`, and with steps."""
    first, last, step = bounds(items, index)
    made = empty_like(items)
    turns = (last - first + step - 1) // step if step > 0 else (first - last - step - 1) // -step
    for k in staged_range(max(turns, 0)):
        made.append(element(items, items.start + first + k * step))
    return made


def is_before(one, other, if_equal):
    """Whether a list is less than another: by the first items that differ."""
    for k in staged_range(min(len(one), len(other))):
        if one[k] != other[k]:
            return one[k] < other[k]
    return len(one) <= len(other) if if_equal else len(one) < len(other)


# --- functions of lists


def backwards(items):
    """`reversed`, of all its items."""
    return part(items, slice(None, None, -1))


def total(items, start: Any = 0):
    """`sum`."""
    found = start
    for item in items:
        found = found + item
    return found


def product(items, *, start=1):
    """`math.prod`."""
    found = start
    for item in items:
        found = found * item
    return found


def folded(function, items, *first):
    """`functools.reduce`."""
    if first:
        found = first[0]
        for item in items:
            found = function(found, item)
        return found
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    found = element(items, items.start)
    for k in staged_range(1, items.length):
        found = function(found, element(items, items.start + k))
    return found


def mapped(function, items):
    """`map`, of all its items."""
    return [function(item) for item in items]


def filtered(function, items):
    """`filter`, of all its items."""
    return [item for item in items if (item if function is None else function(item))]


def any_of(items):
    """`any`."""
    return any(bool(item) for item in items)


def all_of(items):
    """`all`."""
    return all(bool(item) for item in items)


def largest(items, *, key=None, default=Ellipsis):
    """`max`."""
    return extreme(items, key, default, "max() " + NO_ITEMS, True)


def smallest(items, *, key=None, default=Ellipsis):
    """`min`."""
    return extreme(items, key, default, "min() " + NO_ITEMS, False)


def extreme(items, key, default, words, is_max):
    """The first of the largest or the smallest items."""
    if len(items) == 0:
        if default is Ellipsis:
            raise ValueError(words)
        return default
    best = items.start
    known = element(items, best) if key is None else key(element(items, best))
    for k in staged_range(1, items.length):
        item = element(items, items.start + k)
        other = item if key is None else key(item)
        if other > known if is_max else other < known:
            best, known = items.start + k, other
    return element(items, best)


def in_order(items, *, key=None, reverse=False):
    """`sorted`: merges of longer and longer runs, which keep the order of equals."""
    count = len(items)
    made = items.copy()
    other = items.copy()
    width = 1
    while width < count:
        first = 0
        while first < count:
            middle = min(first + width, count)
            last = min(first + 2 * width, count)
            one, two = first, middle
            for at in staged_range(first, last):
                takes_two = False
                if two < last:
                    takes_two = True
                    if one < middle:
                        a, b = element(made, one), element(made, two)
                        if key is not None:
                            a, b = key(a), key(b)
                        takes_two = a < b if reverse else b < a
                if takes_two:
                    store(other, at, element(made, two))
                    two += 1
                else:
                    store(other, at, element(made, one))
                    one += 1
            first += 2 * width
        for k in staged_range(count):
            store(made, k, element(other, k))
        width *= 2
    return made


# --- heaps: the comparisons of CPython's


def push(heap, item):
    """`heapq.heappush`."""
    heap.append(item)
    sift_down(heap, 0, heap.length - 1)


def pop(heap):
    """`heapq.heappop`."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    found = last
    if len(heap) > 0:
        found = element(heap, heap.start)
        store(heap, heap.start, last)
        sift_up(heap, 0)
    return found


def replace(heap, item):
    """`heapq.heapreplace`."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    found = element(heap, heap.start)
    store(heap, heap.start, item)
    sift_up(heap, 0)
    return found


def push_and_pop(heap, item):
    """`heapq.heappushpop`."""
    if len(heap) > 0 and element(heap, heap.start) < item:
        return replace(heap, item)
    return item


def heapify(heap):
    """`heapq.heapify`."""
    half = heap.length // 2
    for k in staged_range(half):
        sift_up(heap, half - 1 - k)


def sift_down(heap, top, at):
    """An item comes down from `at` to `top`, past those that are greater."""
    item = element(heap, heap.start + at)
    while at > top:
        above = (at - 1) >> 1
        other = element(heap, heap.start + above)
        if not item < other:
            break
        store(heap, heap.start + at, other)
        at = above
    store(heap, heap.start + at, item)


def sift_up(heap, at):
    """The lesser children move up from `at` to a leaf, where the item goes, and down again."""
    top, last = at, heap.length
    item = element(heap, heap.start + at)
    child = 2 * at + 1
    while child < last:
        right = child + 1
        if right < last and not element(heap, heap.start + child) < element(heap, heap.start + right):
            child = right
        store(heap, heap.start + at, element(heap, heap.start + child))
        at = child
        child = 2 * at + 1
    store(heap, heap.start + at, item)
    sift_down(heap, top, at)


DynamicList.__name__ = "list"  # in messages
ListSites.made_of = DynamicList
ListSites.staged.add(DynamicList)
