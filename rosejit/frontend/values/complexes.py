"""Staged complex numbers: values of the frontend made of two Reals, which the language of the IR does not know."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any

from rosejit import containers
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, NumberOfNoDimensions, real_atom, type_of, wrap


class Complex(NumberOfNoDimensions):
    """A complex number, one of whose parts is staged at least: Reals, tangents or floats."""

    __slots__ = ("imag", "real")
    __rose_complex__ = True
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag

    def __repr__(self) -> str:
        return "<staged complex>"

    @property
    def tape(self) -> Any:
        """Where its operations are staged."""
        return self.real.tape if hasattr(self.real, "tape") else self.imag.tape


def complex_of(real: Any, imag: Any) -> Any:
    """The complex number of these parts: one of Python's where both are the host's."""
    kinds = number_kind(real), number_kind(imag)
    if kinds[0] is not None and kinds[1] is not None:
        return containers.joined(real, imag)
    return Complex(_part(real), _part(imag))


def _part(value: Any) -> Any:
    if value.__class__ in (Int, Bool):
        atom = real_atom(value.tape, value)
        assert atom is not None
        return wrap(value.tape, atom)
    return value if number_kind(value) is None else float(value)


def is_complex(value: Any) -> bool:
    """Whether a value is a complex number, staged or not."""
    cls = value.__class__
    return cls is Complex or cls is complex or (isinstance(value, complex) and type_of(value) is None)


def parts_of(value: Any) -> tuple[Any, Any] | None:
    """The parts of a complex number, or of another one; None for what is none."""
    if value.__class__ is Complex:
        return value.real, value.imag
    if is_complex(value):
        return float(value.real), float(value.imag)
    if value.__class__ in NUMBERS:
        return _part(value), 0.0
    return None if number_kind(value) is None else (float(value), 0.0)


def widened(value: Any, other: Any) -> Any:
    """A number beside a complex one as one of these; anything else as it is."""
    if other.__class__ is tuple and value.__class__ is tuple and len(value) == len(other):
        made = tuple([widened(*pair) for pair in zip(value, other, strict=True)])
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    found = None if is_complex(value) or not is_complex(other) else parts_of(value)
    return value if found is None else Complex(*found)


Complex.__name__ = "complex"  # what messages call it
containers.COMPLEX.accepts = (*containers.COMPLEX.accepts, Complex, *NUMBERS)
type(containers.COMPLEX).staged = staticmethod(complex_of)
