"""Arrays of numbers whose count only running tells, and NumPy's reductions of such, written, and staged, as a user's
code is."""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic

from typing import Any, ClassVar

from rosejit.frontend.lists.dynamic_list import in_order, product, total
from rosejit.frontend.lists.list_sites import ListSites
from rosejit.frontend.lists.list_steps import element, iterated
from rosejit.frontend.values.rose_functions import range as staged_range
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np


def mean(items):
    """`np.mean`: NaN where there are none."""
    return total(items, 0.0) / len(items) if len(items) > 0 else np.nan


def variance(items, ddof=0):
    """`np.var`."""
    count, middle, found = len(items), mean(items), 0.0
    for item in items:
        found = found + (item - middle) ** 2
    return found / (count - ddof) if count > ddof else np.nan


def deviation(items, ddof=0):
    """`np.std`."""
    return np.sqrt(variance(items, ddof))


def greatest(items):
    """`np.max`: NaN where there is one."""
    if len(items) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    found = element(items, items.start)
    for k in staged_range(1, items.length):
        found = np.maximum(found, element(items, items.start + k))
    return found


def least(items):
    """`np.min`: NaN where there is one."""
    if len(items) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    found = element(items, items.start)
    for k in staged_range(1, items.length):
        found = np.minimum(found, element(items, items.start + k))
    return found


def place_of_greatest(items):
    """`np.argmax`: the first NaN, where there is one."""
    if len(items) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    at, found = 0, element(items, items.start)
    for k in staged_range(1, items.length):
        item = element(items, items.start + k)
        if found == found and (item > found or item != item):
            at, found = k, item
    return at


def place_of_least(items):
    """`np.argmin`: the first NaN, where there is one."""
    if len(items) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    at, found = 0, element(items, items.start)
    for k in staged_range(1, items.length):
        item = element(items, items.start + k)
        if found == found and (item < found or item != item):
            at, found = k, item
    return at


def median(items):
    """`np.median`: NaN where there is one, or no number."""
    count = len(items)
    if count == 0 or any(item != item for item in items):
        return np.nan
    made = in_order(items)
    low, high = element(made, made.start + (count - 1) // 2), element(made, made.start + count // 2)
    return (low + high) / 2 if count % 2 == 0 else 1.0 * low


class _Reduced:
    """NumPy's methods of such an array."""

    held: Any

    def sum(self):
        """As NumPy's, and those below."""
        return total(self.held)

    def prod(self):
        """The product of all."""
        return product(self.held)

    def mean(self):
        """NaN where there are none."""
        return mean(self.held)

    def var(self, ddof=0):
        """The variance."""
        return variance(self.held, ddof)

    def std(self, ddof=0):
        """The standard deviation."""
        return deviation(self.held, ddof)

    def max(self):
        """NaN where there is one."""
        return greatest(self.held)

    def min(self):
        """NaN where there is one."""
        return least(self.held)

    def argmax(self):
        """Where the first of the greatest is."""
        return place_of_greatest(self.held)

    def argmin(self):
        """Where the first of the least is."""
        return place_of_least(self.held)

    def tolist(self):
        """A list of all."""
        return self.held.copy()


@dataclass(eq=False, repr=False)
class DynamicArray(_Reduced):
    """What `np.array` makes of a list: it is indexed, gone through, and returned."""

    held: Any
    __rose_dynamic__: ClassVar[bool] = True

    def __rose_host__(self) -> Any:
        """The array that a caller in Python gets."""
        return np.array(self.held)

    def __len__(self):
        return self.held.length

    def __iter__(self):
        return iterated(self)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return DynamicArray(self.held[index])
        return self.held[index]


def as_array(items):
    """`np.array`."""
    return DynamicArray(items.copy())


REDUCTIONS = {
    "sum": total, "mean": mean, "var": variance, "std": deviation, "max": greatest, "min": least,
    "amax": greatest, "amin": least, "prod": product, "argmax": place_of_greatest, "argmin": place_of_least,
    "median": median,
}  # fmt: skip
"""By their names in NumPy."""
OPTIONS = {"var": ("ddof",), "std": ("ddof",)}
"""The keywords that they take here."""
DynamicArray.__name__ = "array"  # in messages
ListSites.staged.add(DynamicArray)
