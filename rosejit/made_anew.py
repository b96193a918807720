"""Values of the host that a staged function makes and returns: each call gets its own, as in Python."""

import copy
from collections.abc import Sequence
from typing import Any


class MadeAnew:
    """Stands for the value number `index` of those that one result holds, which nobody else has."""

    __slots__ = ("group", "index")

    def __init__(self, group: "Group", index: int) -> None:
        self.group = group
        self.index = index

    @property
    def value(self) -> Any:
        """The value of which calls get copies."""
        return self.group.values[self.index]


class Group:
    """The values of one result: what two of them share is one object in the copies too. What is from outside is not
    copied."""

    __slots__ = ("_outside", "values")

    def __init__(self, values: Sequence[Any], outside: dict[int, Any]) -> None:
        self.values = list(values)
        self._outside = outside

    def copied(self) -> list[Any]:
        """The values of one more call. Raises what a class says that cannot be copied."""
        return copy.deepcopy(self.values, dict(self._outside))


def anew(values: Sequence[Any], chosen: Sequence[int], outside: dict[int, Any]) -> list[Any]:
    """The values, those at the `chosen` places made anew for each call; `outside` is by `id` what is not copied."""
    group = Group([values[k] for k in chosen], outside)
    places = {k: MadeAnew(group, index) for index, k in enumerate(chosen)}
    return [places.get(k, value) for k, value in enumerate(values)]


def renewed(values: Sequence[Any]) -> list[Any]:
    """The values for one call."""
    group = next((value.group for value in values if value.__class__ is MadeAnew), None)
    if group is None:
        return list(values)
    made = group.copied()
    return [made[value.index] if value.__class__ is MadeAnew else value for value in values]


def plain(value: Any) -> Any:
    """The value itself of one that is made anew."""
    return value.value if value.__class__ is MadeAnew else value
