"""How a function is seen by those who call it, and what tells one call from another."""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.api import sessions
from rosejit.api.calling.specialisation import with_host_values
from rosejit.api.calling.specialisation_cache import Key, Specialisation
from rosejit.api.programs import interpreted
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.signature.binding import Signature as Binding
from rosejit.frontend.signature.numeric_kinds import EXACT, OWN, exact
from rosejit.frontend.values.argument_identity import check_apart
from rosejit.runtime.marshalling.marshal import Signature as Interface


class Called(Protocol):
    """A function, as its callers see it."""

    __name__: str
    __qualname__: str
    __signature__: inspect.Signature

    @property
    def binding(self) -> Binding:
        """Its parameters, and how arguments are bound to them."""
        ...


def interface_of(function: Called, found: Specialisation, bound: bool = False) -> Interface:
    """How a caller sees the entry of a specialisation; `bound` to what is outside now, of which nothing is asked: there
    is no other code for a list, which is an array where one is needed."""
    staged = found.staged
    described = zip(function.binding.descriptions, staged.trees, strict=True)
    flags = [flag for description, tree in described for flag in exact(description, tree)]
    trees = staged.trees
    if staged.source.asks:
        remaining = iter(flags)
        trees = tuple([_of_pythons(tree, remaining) for tree in trees])
    return Interface(
        name=function.__name__,
        parameters=tuple(function.__signature__.parameters.values()),
        trees=trees,
        result=with_host_values(staged.result, iter(staged.statics)),
        reads=sessions.kept(staged.source) if bound else sessions.reads(staged.source, found.guards),
        same=sessions.same_static,
        exact=frozenset(k for k, flag in enumerate(flags) if flag & EXACT),
        own=frozenset() if bound else frozenset(k for k, flag in enumerate(flags) if flag & OWN),
        qualname=function.__qualname__,
        apart=check_apart(function.__name__, staged.source.objects.asks) if staged.source.objects.asks else None,
    )


_PYTHONS = {"real": float, "int": int, "bool": bool}


def _of_pythons(tree: Tree, flags: Iterator[int]) -> Tree:
    """The structure of an argument whose numbers have to be of Python's own classes, where no hint converts them."""
    match tree:
        case Leaf(kind=kind, cls=cls):
            is_exact = next(flags) & EXACT
            return replace(tree, cls=_PYTHONS[kind]) if is_exact and kind in _PYTHONS and cls is None else tree
        case Node(children=children):
            return replace(tree, children=tuple([_of_pythons(child, flags) for child in children]))
        case Static():
            return tree


def known_as(call: Call, at: Session | None = None) -> Key:
    """The key of a call (in the staging `at`); what is interpreted is kept apart from what is compiled."""
    return call.key + (interpreted.marks() if at is None else at.marks)
