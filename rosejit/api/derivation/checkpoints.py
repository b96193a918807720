"""`checkpoint`: a function to the same one, which reverse mode computes again rather than keep what it computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rosejit.api.calling.call_types import P, R
from rosejit.api.calling.specialisation import Staged
from rosejit.api.decorators import as_function, wrapped_like
from rosejit.api.function import Function, FunctionSource, made_once
from rosejit.api.public_entry import public
from rosejit.frontend.hints.hints import Inferred
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, handed_on


@public
def checkpoint(f: Callable[P, R]) -> Function[P, R]:
    """The same `f`, of which reverse mode keeps nothing but the arguments: it runs `f` once more when it comes back.

    Numbers and arrays that `f` is called with are kept (an array that changes later is copied), and what host functions
    gave: no effect is repeated. In a loop that calls `f`, memory grows by the arguments of an iteration, not by all
    that
    `f` computes. That holds for first derivatives; those of a derivative keep what the repeated run computes.

    >>> import rosejit as rose
    >>> @rose.checkpoint
    ... def step(x: float) -> float:
    ...     for _ in rose.range(100):
    ...         x = x - 0.01 * x * x
    ...     return x
    >>> round(rose.grad(step)(1.0), 3)
    0.247
    """
    base = as_function(f)

    def every(*args, **kwargs):
        return base(*args, **kwargs)

    def stage(self: Function, call: Call, at: Session) -> Staged:
        source = at.stage(every, self.binding, handed_on(call), self.__name__, (self, call.key))
        source.function.checkpoint = True
        return Staged(source.function, tuple(call.trees), source.result, tuple(source.statics), source)

    def rebuilt(self: Function) -> Any:
        return checkpoint, (base,)

    def make() -> Function:
        binding = replace(base.binding, result=Inferred(), result_hint=None)  # `f`, maybe a derivative, has its own
        made = Function(binding, base.options, FunctionSource(stage, rebuilt, plain=base))
        wrapped_like(made, base, f"checkpoint_{base.__name__}")
        return made

    return made_once(base, (checkpoint,), make)
