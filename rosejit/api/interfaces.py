"""How a function is seen by those who call it, and what tells one call from another."""

import inspect
from typing import Protocol

from rosejit.abi import Tree
from rosejit.api import interpreted, sessions
from rosejit.api.kept import Key, Specialisation
from rosejit.api.staged import with_host_values
from rosejit.frontend.binding import Call
from rosejit.frontend.binding import Signature as Binding
from rosejit.frontend.exactness import exact
from rosejit.frontend.stage import Session
from rosejit.runtime.marshal import Read
from rosejit.runtime.marshal import Signature as Interface


class Called(Protocol):
    """A function, as its callers see it."""

    __name__: str
    __qualname__: str
    __signature__: inspect.Signature

    @property
    def binding(self) -> Binding:
        """Its parameters, and how arguments are bound to them."""
        ...


def interface(function: Called, trees: tuple[Tree, ...], result: Tree, reads: tuple[Read, ...]) -> Interface:
    """How a caller sees the entry of a specialisation."""
    parameters = zip(function.binding.parameters, trees, strict=True)
    flags = [flag for parameter, tree in parameters for flag in exact(parameter.description, tree)]
    return Interface(
        name=function.__name__,
        parameters=tuple(function.__signature__.parameters.values()),
        trees=trees,
        result=result,
        reads=reads,
        same=sessions.same_static,
        exact=frozenset(k for k, on in enumerate(flags) if on),
        qualname=function.__qualname__,
    )


def interface_of(function: Called, found: Specialisation) -> Interface:
    """That of what was staged."""
    staged = found.staged
    result = with_host_values(staged.result, iter(staged.statics))
    return interface(function, staged.trees, result, sessions.reads(staged.source, found.guards))


def known_as(call: Call, at: Session | None = None) -> Key:
    """The key of a call (in the staging `at`); what is interpreted is kept apart from what is compiled."""
    return call.key + (interpreted.marks() if at is None else at.marks)
