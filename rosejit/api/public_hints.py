"""The hints that users write: what they are for type checkers; and errors of `Vec[...]`, `Mat[...]`, `Array[...]` that
show the user's line."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rosejit.api.public_entry import public
from rosejit.errors import RoseError
from rosejit.frontend.hints import hints

__all__ = ["Array", "Bool", "Int", "Mat", "Real", "Static", "Vec"]

if TYPE_CHECKING:
    # Where one is needed, whatever has a length and iterates over numbers (or over rows of them) will do: a list, a
    # tuple, an array. Where one is at hand it is an array of NumPy, so that all that is done with arrays is known. A
    # protocol with a base that is none says both. That pyright, at `__class_getitem__`, and the plugin
    # `rosejit.interop.mypy` take no dimension for a type is why these are classes and no aliases.

    from collections.abc import Iterator
    from typing import Annotated, Protocol, SupportsIndex, TypeAlias, overload

    from typing_extensions import TypeVar

    from rosejit.numeric import np

    T = TypeVar("T", default=Any)
    Static: TypeAlias = Annotated[T, "host"]
    Real: TypeAlias = float
    Int: TypeAlias = int
    Bool: TypeAlias = bool

    class _Vector(np.ndarray[Any, np.dtype[np.float64]]):
        @overload
        def __getitem__(self, index: SupportsIndex, /) -> float: ...
        @overload
        def __getitem__(self, index: Any, /) -> np.ndarray[Any, np.dtype[np.float64]]: ...
        def __getitem__(self, index: Any, /) -> Any: ...
        @overload
        def __matmul__(self, other: "_Vector", /) -> float: ...
        @overload
        def __matmul__(self, other: Any, /) -> Any: ...
        def __matmul__(self, other: Any, /) -> Any: ...

    class _Matrix(np.ndarray[Any, np.dtype[np.float64]]):
        @overload
        def __getitem__(self, index: SupportsIndex, /) -> "Vec": ...
        @overload
        def __getitem__(self, index: tuple[SupportsIndex, SupportsIndex], /) -> float: ...
        @overload
        def __getitem__(self, index: Any, /) -> np.ndarray[Any, np.dtype[np.float64]]: ...
        def __getitem__(self, index: Any, /) -> Any: ...

    class Vec(_Vector, Protocol):  # pyright: ignore[reportGeneralTypeIssues]  # see above
        """`Vec["n"]`, `Vec[3]`: a vector of Reals."""

        def __class_getitem__(cls, dims: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[float]: ...

    class Mat(_Matrix, Protocol):  # pyright: ignore[reportGeneralTypeIssues]  # see above
        """`Mat["n", "m"]`: a matrix of Reals."""

        def __class_getitem__(cls, dims: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Vec]: ...

    class Array(np.ndarray[Any, np.dtype[Any]], Protocol):  # pyright: ignore[reportGeneralTypeIssues]  # see above
        """`Array["b", "n", 3]`, `Array["n", int]`, `Array[..., float]`: an array of any rank and kind of element."""

        def __class_getitem__(cls, dims: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...

else:
    from rosejit.frontend.hints.hints import Array, Bool, Int, Mat, Real, Static, Vec


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


for _cls in (hints.Vec, hints.Mat, hints.Array):
    _cls.__class_getitem__ = classmethod(_blaming(_cls))  # type: ignore[method-assign]  # the same, with other frames
