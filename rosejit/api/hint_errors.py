"""Gives `Vec[...]`, `Mat[...]` and `Array[...]` the errors of public functions: they show the user's line."""

from collections.abc import Callable
from typing import Any

from rosejit.api.public_entry import public
from rosejit.errors import RoseError
from rosejit.frontend.hints.hints import Array, Mat, Vec

__all__ = ["Array", "Mat", "Vec"]


def _blaming(cls: Any) -> Callable[..., Any]:
    made = cls.__class_getitem__.__func__

    @public
    def __class_getitem__(cls: type, dims: Any) -> Any:
        try:
            return made(cls, dims)
        except RoseError as error:
            error.blames_call = True
            raise

    return __class_getitem__


for _cls in (Vec, Mat, Array):
    _cls.__class_getitem__ = classmethod(_blaming(_cls))  # type: ignore[method-assign]  # the same, with other frames
