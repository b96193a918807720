"""Calls of helpers that were followed before, of staged values of the same kinds: what came out comes out again."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.frontend.rolling import abstract_arrays, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import STAGED, AbstractArray
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant
from rosejit.frontend.rolling.abstract_records import AbstractStructure, leaves
from rosejit.lazy_dataclass import dataclass

_PLAIN = frozenset({int, bool, str, type(None)})


@dataclass(slots=True, frozen=True)
class _Kept:
    """A result, what was in the arrays from outside that were read, and what the key is made of, which must live."""

    result: Any
    reads: dict[Any, Any]
    given: Any


@dataclass(slots=True)
class Memo:
    """The calls of a walk, and the arrays from outside that it meets, one after the other."""

    calls: dict[Any, _Kept] = field(default_factory=dict[Any, _Kept])
    met: list[Any] = field(default_factory=list[Any])


def remembered(at: Any, function: Any, given: list[Any], named: dict[str, Any], follow: Callable[[], Any]) -> Any:
    """The result of a call in the walk `at`, which `follow` finds out if nothing like it was before."""
    memo, places = at.memo, list[Any]()
    parts = [_key(at, value, places) for value in (*given, *named.values())]
    if None in parts:
        return follow()
    key = id(function), (*parts,), (*named,)
    kept = memo.calls.get(key)
    if kept is not None and all(_content(at, place) == held for place, held in kept.reads.items()):
        memo.met += kept.reads
        return _again(at, kept.result)
    before, first, one_of = dict(at.contents), len(memo.met), [at.same.of(place) for place in places]
    found = follow()
    reads = {place: _content(at, place) for place in memo.met[first:]}
    unchanged = all(before.get(place, at.origins.get(place)) == held for place, held in reads.items())
    joined = one_of != [at.same.of(place) for place in places]
    if unchanged and not joined and all(_is_new(at, leaf, before, reads) for leaf in leaves(found)):
        memo.calls[key] = _Kept(found, reads, (function, given, named))
    return found


def _content(at: Any, place: Any) -> Any:
    return at.contents.get(place, at.origins.get(place))


def _key(at: Any, value: Any, places: list[Any]) -> Any:
    """What tells one argument from another; None where that is more than its kind. `places` are the arrays so far."""
    if value.__class__ is AbstractNumber:
        return None if value.is_lifted else value.kind
    if value.__class__ is AbstractArray:
        if at.contents[value.place] != STAGED or value.place in at.reached:
            return None
        places.append(value.place)
        return value.shape, value.kind, value.is_whole, value.is_fresh, places.index(value.place)
    if value.__class__ is AbstractStructure:
        parts = [_key(at, item, places) for item in value.items]
        return None if None in parts else (value.made, value.keys, *parts)
    if value.__class__ is Constant:
        held = value.value
        return (held.__class__, held) if held.__class__ in _PLAIN else ("host", id(held))
    return None


def _is_new(at: Any, leaf: Any, before: dict[Any, Any], reads: dict[Any, Any]) -> bool:
    """Whether a part of a result is a staged number, an array that the call has made, or a constant."""
    if leaf.__class__ is AbstractArray:
        return leaf.place not in before and leaf.place not in reads and at.contents[leaf.place] == STAGED
    return leaf.__class__ is Constant or (leaf.__class__ is AbstractNumber and not leaf.is_lifted)


def _again(at: Any, found: Any) -> Any:
    """A result once more, of other arrays."""
    others: dict[Any, AbstractArray] = {}

    def copied(value: Any) -> Any:
        if value.__class__ is AbstractStructure:
            return value.with_items([copied(item) for item in value.items])
        if value.__class__ is AbstractNumber:
            return abstract_numbers.staged(value.kind)
        if value.__class__ is not AbstractArray:
            return value
        if value.place not in others:
            others[value.place] = abstract_arrays.fresh(at.contents, value.shape, value.kind)
        place = others[value.place].place
        return AbstractArray(value.shape, value.kind, place, value.is_whole, value.is_fresh)

    return copied(found)
