"""The derivative of a function at a point, as a function that users call: a pullback or a pushforward."""

from collections.abc import Callable
from typing import Any

from rosejit.api.public_entry import public
from rosejit.errors import StagingTypeError


class LinearMap:
    """A pullback or a pushforward. What its forward pass has kept is in the memory of this process."""

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]
    """As in `Function`."""

    def __init__(self, name: str, apply: Callable[..., Any]) -> None:
        apply.__name__ = apply.__qualname__ = self.__name__ = self.__qualname__ = name
        self.__call__ = public(apply)

    def __repr__(self) -> str:
        return f"<rose {self.__name__}>"

    def __copy__(self) -> "LinearMap":
        """Itself: it does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> "LinearMap":
        """As `__copy__`."""
        return self

    def __reduce__(self) -> Any:
        """Never: what it has kept would stay behind."""
        raise StagingTypeError(
            f"a {self.__name__} cannot be pickled: what its forward pass has kept is in the memory of this process",
            help=f"send the arguments, and call `rose.{'vjp' if self.__name__ == 'pullback' else 'linearize'}` there",
        )
