"""Results of functions that staged code calls: which objects in them are objects of the arguments, or one twice.

Of a plain function Python gives the caller the very objects; a call of a decorated one has new ones. So the facts are
found where the function returns, and where it is called the caller's own objects take the place of what is surely one
with them; what only may be is linked, as what a staged `if` joins is.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rosejit.frontend.control.join import unite
from rosejit.frontend.values.argument_identity import (
    Alias,
    ArgumentObjects,
    boxes_of,
    class_of,
    is_made_here,
    places,
    steps,
)
from rosejit.frontend.values.pytree import is_mutable, with_parts
from rosejit.frontend.values.tape import Tape, merged


def note_result(tape: Tape, objects: ArgumentObjects, value: Any) -> None:
    """Note what is known of the objects in what a function returns."""
    found, seen = objects.aliases, dict[Any, str]()
    arrays, joined = dict[Any, str](), dict[str, Any]()
    for where, each in places("", value):
        if tuple is each.__class__:
            continue
        at = objects.place_of(tape, each)
        boxes = boxes_of(each)
        first = seen.setdefault((id(each), *map(id, boxes)), where)
        if at is not None:
            found[where] = Alias(argument=at)
        elif first != where:
            found[where] = Alias(earlier=first)
        elif boxes or is_mutable(each):
            sources, outside = _sources(tape, objects, each, boxes)
            kin = _kin(tape, each, boxes, arrays, joined)
            arrays |= dict.fromkeys(_linked(boxes), where)
            if not boxes and id(each) in tape.frozen_containers:
                joined[where] = each
            if sources or outside or kin:
                found[where] = Alias(sources=sources, outside=outside, kin=kin)
    objects.boxes.clear()


def _kin(
    tape: Tape, value: Any, boxes: Sequence[Any], arrays: Mapping[Any, str], joined: Mapping[str, Any]
) -> tuple[str, ...]:
    """The places, of those of arrays and of what was `joined`, whose objects a value made here may be."""
    if boxes:
        return tuple(sorted({arrays[box] for box in _linked(boxes) if box in arrays}))
    if id(value) not in tape.frozen_containers:
        return ()
    alike = [(where, each) for where, each in joined.items() if each.__class__ is value.__class__]
    return tuple([where for where, each in alike if not tape.identities.are_apart([each, value])])


def _linked(boxes: Iterable[Any]) -> set[Any]:
    """The arrays that may be one with one of these, themselves included."""
    return {other for box in boxes for other in (box, *(box.sources or ()), *(box.linked or ()))}


def _sources(tape: Tape, objects: ArgumentObjects, value: Any, boxes: Sequence[Any]) -> tuple[tuple[str, ...], bool]:
    """The places in the arguments whose objects a value may be, and whether it may be one from outside."""
    if boxes:
        linked = _linked(boxes)
        found = [objects.boxes[box] for box in linked if box in objects.boxes]
        outside = any(box.readonly for box in linked) and not found
    else:
        options = tape.identities.outside_of(value, tape.frames[-1])
        owners = [(objects.place_of(tape, each), each) for each in options]
        found = [at for at, _ in owners if at is not None]
        outside = any(at is None and (_is_sealed(tape, each) or not is_made_here(tape, each)) for at, each in owners)
    return tuple(sorted(set(found))), outside


def restored(
    tape: Tape,
    name: str,
    value: Any,
    aliases: Mapping[str, Alias],
    given: Iterable[tuple[str, Any]],
    has_rule: bool,
) -> Any:
    """What a call gave, with the caller's objects in it, or linked with these: of a function that `has_rule` for its
    derivative the result is not what it was given, even where it is equal."""
    held = {where: each for parameter, arg in given for where, each in places(parameter, arg)}
    if has_rule:
        aliases = {
            where: replace(alias, argument="", sources=(alias.argument,)) if alias.argument else alias
            for where, alias in aliases.items()
        }
    return _Restored(tape, name, aliases, held).of("", value)


class _Restored:
    def __init__(self, tape: Tape, name: str, aliases: Mapping[str, Alias], held: Mapping[str, Any]) -> None:
        self._tape, self._name, self._aliases, self._held = tape, name, aliases, held
        self._made = dict[str, Any]()

    def of(self, where: str, value: Any) -> Any:
        """The object for a place in the result."""
        alias = self._aliases.get(where)
        if alias is not None and alias.argument:
            own = self._held.get(alias.argument)
            if own is not None and class_of(own) == class_of(value):
                return own
        if alias is not None and alias.earlier:
            return self._made[alias.earlier]
        inside = steps(value)
        if inside:
            parts = [self.of(where + step, part) for step, part in inside]
            if any(part is not before for part, (_, before) in zip(parts, inside, strict=True)):
                value = with_parts(value, parts)
        self._made[where] = value
        if alias is not None and (alias.sources or alias.kin or alias.outside):
            sources = [self._held[at] for at in alias.sources if at in self._held]
            kin = [self._made[at] for at in alias.kin]
            home = self._tape.identities.home
            self._tape.record_allocation(*[each for each in kin if is_mutable(each) and home(each) is None])
            self._link(value, [*sources, *kin], alias.outside)
        return value

    def _link(self, value: Any, sources: list[Any], outside: bool) -> None:
        tape = self._tape
        why = f"what `{self._name}` gives may be one with an object from outside, or of its arguments"
        boxes = boxes_of(value)
        if boxes:
            others = [box for each in sources for box in boxes_of(each)]
            unite({*boxes, *others})
            for box in boxes:
                merged(tape, box)
                reasons = [other.readonly or other.held for other in others if other.readonly or other.held]
                box.readonly = reasons[0] if reasons else why if outside else ""
            return
        merged(tape, value)
        sources = [each for each in sources if is_mutable(each)]
        if outside or any(_is_sealed(tape, each) for each in sources):
            tape.freeze(why, value)
        elif sources:
            tape.identities.bind([value], sources, why, True)


def _is_sealed(tape: Tape, value: Any) -> bool:
    return tape.frozen_containers.get(id(value), (None,))[0] is value and not tape.identities.is_shared(value)
