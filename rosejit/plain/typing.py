"""The hint `NDArray[float64]` for plain arrays."""

from types import GenericAlias
from typing import Any

from rosejit.plain.dtypes import dtype
from rosejit.plain.ndarray import ndarray


class NDArray:
    """Arrays of any rank with such elements."""

    def __class_getitem__(cls, kind: Any) -> GenericAlias:
        """As NumPy's."""
        return GenericAlias(ndarray, (Any, GenericAlias(dtype, (kind,))))
