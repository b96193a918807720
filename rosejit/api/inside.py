"""`make_ir`: the IR of a function."""

from collections.abc import Callable
from typing import Any

from rosejit.api.lowered import Ir
from rosejit.api.source import as_function


def make_ir(f: Callable[..., Any]) -> Callable[..., Ir]:
    """`rose.make_ir(f)(*args)`: the IR of `f` for these arguments (values, or `rose.ShapeOf`), before it is optimised.

    >>> import rosejit as rose
    >>> print(rose.make_ir(lambda x: x * x)(3.0))
    def lambda_(x: Real): Real =
      let x1: Real = x * x in
      x1
    """
    base = as_function(f)
    return lambda *args, **kwargs: base.lower(*args, **kwargs).ir
