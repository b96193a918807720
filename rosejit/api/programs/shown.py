"""`show`: the source of a function, its IR and its derivative beside each other."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.deferred import lowered
from rosejit.api.derivation.gradients import grad
from rosejit.api.function import Function
from rosejit.api.programs import html_views
from rosejit.api.public_entry import public
from rosejit.errors import NotDifferentiable


@dataclass(frozen=True, repr=False)
class Shown:
    """A function for given arguments. Prints as three texts; in a notebook they are three columns."""

    source: str
    ir: "lowered.Ir"
    derivative: "lowered.Ir | None"
    """The IR of `rose.grad(f)`."""
    reason: str = ""
    """Why there is no derivative, if there is none."""

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Titles and texts."""
        derivative = self.reason if self.derivative is None else str(self.derivative)
        return ("source", self.source), ("IR", str(self.ir)), ("gradient", derivative)

    def __repr__(self) -> str:
        return "\n\n".join(f"--- {title}\n{text}" for title, text in self.parts())

    def _repr_html_(self) -> str:
        return html_views.beside(*[html_views.listing(title, text) for title, text in self.parts()])


def show(f: Callable[..., Any]) -> Callable[..., Shown]:
    """`rose.show(f)(*args)`: the source of `f`, its IR for these arguments (values, or `rose.ShapeOf`) before it is
    optimised, and that of its gradient. Where there is no gradient, its place says why.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def square(x: float) -> float:
    ...     return x * x
    >>> rose.show(square)(3.0)  # doctest: +ELLIPSIS
    --- source
    @rose.jit
    def square(x: float) -> float:
        return x * x
    <BLANKLINE>
    --- IR
    def square(x: Real): Real =
      let x1: Real = x * x in
      x1
    <BLANKLINE>
    --- gradient
    def ...
    """
    base = as_function(f)

    @public
    def shown(*args: Any, **kwargs: Any) -> Shown:
        ir = base.lower(*args, **kwargs).ir
        try:
            return Shown(_source(base), ir, grad(base).lower(*args, **kwargs).ir)
        except NotDifferentiable as error:
            return Shown(_source(base), ir, None, str(error).splitlines()[0])

    return shown


def _source(f: Function) -> str:
    """The text of a function, or of the one that it was made of."""
    try:
        return textwrap.dedent(inspect.getsource(inspect.unwrap(f))).rstrip()
    except (OSError, TypeError):
        return f"{f.__name__}: its source is not at hand"
