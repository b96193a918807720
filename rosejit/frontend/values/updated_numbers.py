"""What a session notes of numbers that are arrays without dimensions in NumPy (`arrays/zero_dimensional.py`)."""

from dataclasses import field
from typing import Any

from rosejit.ir.syntax import Var
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True)
class UpdatedNumbers:
    """All by variables of the IR."""

    names: dict[Var, str] = field(default_factory=dict[Var, str])
    """The numbers, by what gave them."""
    views: set[Var] = field(default_factory=set[Var])
    """Those that are views in NumPy."""
    shown: dict[Any, list[Var]] = field(default_factory=dict[Any, list[Var]])
    """The views of an array, by its box."""
    overwritten: dict[Var, list[Var]] = field(default_factory=dict[Var, list[Var]])
    """By a content of an array, the views of the content before."""
    in_place: dict[Var, tuple[Var, str]] = field(default_factory=dict[Var, tuple[Var, str]])
    """By what an update in place gave, its operand and the operator."""
