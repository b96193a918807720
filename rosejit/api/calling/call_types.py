"""What type checkers know of a function that was made of another: its parameters, its result, the types of its first
arguments."""

# pyright: reportInvalidTypeVarUse=false

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import overload

    from typing_extensions import ParamSpec, TypeVar

    from rosejit.numeric import np

    Parameters = ParamSpec("Parameters", default=...)
    Result = TypeVar("Result", default=Any, covariant=True)
    """`Function` alone in a hint is one of any parameters and result."""

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)
    # Invariant: no wider and no narrower than the hints of the function say.
    A = TypeVar("A")
    B = TypeVar("B")
    C = TypeVar("C")

    # The first overload gives the parameters, the second the types of the first of them.

    class First(Protocol[P, A, R]):
        """A function of parameters P; the first is an A."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, a: A, /, *args: Any, **kwargs: Any) -> R: ...

    class Second(Protocol[P, B, R]):
        """A function of parameters P; the second is a B."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, a: Any, b: B, /, *args: Any, **kwargs: Any) -> R: ...

    class FirstTwo(Protocol[P, A, B, R]):
        """A function of parameters P, of which the first are an A and a B."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, a: A, b: B, /, *args: Any, **kwargs: Any) -> R: ...

    class FirstThree(Protocol[P, A, B, C, R]):
        """A function of parameters P, of which the first are an A, a B and a C."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, a: A, b: B, c: C, /, *args: Any, **kwargs: Any) -> R: ...

    class Of1(Protocol[A, R]):
        """A function that can be called with an A."""

        def __call__(self, a: A, /) -> R:
            """Its result."""
            ...

    class Of2(Protocol[A, B, R]):
        """A function that can be called with an A and a B."""

        def __call__(self, a: A, b: B, /) -> R:
            """Its result."""
            ...

    class Of3(Protocol[A, B, C, R]):
        """A function that can be called with an A, a B and a C."""

        def __call__(self, a: A, b: B, c: C, /) -> R:
            """Its result."""
            ...

    Number = TypeVar("Number", float, complex, np.ndarray[Any, np.dtype[np.float64]])

    class OfNumber(Protocol):
        """A function of a number or, element by element, of an array. (No overloads: what they give for a value that
        may be anything, pyright calls unknown.)"""

        def __call__(self, x: Number, /) -> Number:
            """Its result."""
            ...

    class OfNumbers(Protocol[R]):
        """A function of numbers or, element by element, of arrays."""

        @overload
        def __call__(self, *args: float) -> R: ...
        @overload
        def __call__(self, *args: float | np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[Any]]: ...

else:
    from typing import ParamSpec, TypeVar

    P, R = ParamSpec("P"), TypeVar("R", covariant=True)
    Parameters, Result = P, R
