"""The steps of a kernel, written on Values, into an IR function and a Python function, each made when asked for."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from rosejit.ir.syntax import Function
from rosejit.ir.types import REAL, Scalar
from rosejit.ops.kernels.python import python_function
from rosejit.ops.traced_value import call, define


class Definition:
    """A kernel by name. Called with Values it appends an IR call: for what is rare or long, shared by its callers."""

    def __init__(self, body: Callable[..., Any], *params: Scalar, name: str = "") -> None:
        self.name = name or body.__name__.strip("_")
        self.params = params or (REAL,)
        self.body = body

    @cached_property
    def function(self) -> Function:
        """The steps as IR."""
        return define(self.name, self.params, self.body)

    @cached_property
    def _python(self) -> Callable[..., Any]:
        return python_function(self.function)

    def evaluate(self, *args: Any) -> Any:
        """The steps on numbers: the same ones as in the IR, in the same order, so the same bits."""
        return self._python(*args)

    def __call__(self, *args: Any) -> Any:
        """The results of an IR call."""
        return call(self.function, *args)
