"""Functions of the program that no user wrote: factorisations of matrices, draws, functions of complex numbers.

To stage one takes as long as the Python takes that it is written in. Its IR is made once in a process, and copied into
each staging that calls it, where all of it stands at the line of the first call.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rosejit.ir.syntax import Call, Check, Function, Let
from rosejit.ir.traversal import Renaming, forms
from rosejit.span import Span
from rosejit.transforms.passes.insert_copies import known_owned

KEPT = 512
"""Functions that are kept, of which each may call others."""
_kept: dict[Any, Function] = {}
"""By key, the eldest first. They have no place, and so hold no code of a user's."""


class Routines:
    """Those of one staging."""

    def __init__(self) -> None:
        self._known: dict[Any, Function] = {}
        self._twins: dict[Function, Function] = {}
        """What is kept of each function here, and the function here for each that is kept."""
        self._making: list[Any] = []

    def get(
        self,
        key: Any,
        place: Callable[[], Span | None],
        make: Callable[[], Function],
        rule: Callable[[Function], Function] | None = None,
        keep: bool = True,
    ) -> Function:
        """The function that goes by `key`, which says all that `make` depends on, with the derivative that `rule` makes
        of it: for a first call at that place. It is for this staging alone unless one may `keep` it."""
        found = self._known.get(key)
        if found is None and keep and key in _kept:
            found = self._known[key] = self._twin(_kept[key], place())
        if found is None:
            outermost = not self._making
            self._making.append(key)
            try:
                found = self._known[key] = make()
                if rule is not None:  # after the function is known: its derivative may call it
                    found.rule = rule(found)
                if outermost and keep:
                    self._keep()
            finally:
                if outermost:
                    self._making.clear()
        return found

    def _keep(self) -> None:
        for key in self._making:
            _kept[key] = self._twin(self._known[key], None)
        while len(_kept) > KEPT:
            _kept.pop(next(iter(_kept)), None)

    def _twin(self, f: Function, place: Span | None) -> Function:
        """The copy of `f` and of all it calls at a place."""
        if f in self._twins:
            return self._twins[f]
        assert f.body is not None
        names = Renaming()
        params = tuple(map(names.fresh, f.params))
        own = frozenset([p for p, q in zip(params, f.params, strict=True) if q in f.own])
        made = Function(f.name, params, f.results, None, own, checkpoint=f.checkpoint, span=place)
        self._twins[f], self._twins[made] = made, f
        made.body = names.block(f.body)
        for let in forms(made.body):
            self._put(let, place)
        if f.rule is not None:
            made.rule = self._twin(f.rule, place)
        return known_owned(made) if f.derived.get("own") is f else made

    def _put(self, let: Let, place: Span | None) -> None:
        let.span, e = place, let.expr
        if isinstance(e, Call):
            e.function = self._twin(e.function, place)
        elif isinstance(e, Check):
            e.failure = replace(e.failure, span=place)
