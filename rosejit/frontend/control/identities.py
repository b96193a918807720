"""Objects of which only running tells which one a name, an element or an attribute holds: which may be the same.

What is joined of several objects is a copy of the one that it is. While none of them is changed, all can be read. The
first change decides: what goes on is either what was joined, or what that was joined of; the others are given up, and
read no more. An element that was taken by a staged index (a view) is changed together with the one that it is.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import combinations
from typing import Any, NoReturn

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.soa.element_proxy import arrays_in
from rosejit.frontend.values.pytree import attributes, is_alike, is_mutable, members, parts
from rosejit.frontend.values.tape import (
    MAPPINGS,
    SEQUENCES,
    UNDEFINED,
    AttributeSlot,
    Frame,
    MaybeBound,
    Tape,
    base_of,
    stored,
)
from rosejit.lazy_dataclass import dataclass

_NOTHING: Mapping[int, tuple[Any, Any]] = {}
_FOLLOWED = 4
"""So many elements that were taken by staged indices, the last ones, are changed with what they were taken of."""
_GIVEN_UP = "only running tells whether this is one with another that was changed since, {}"
_REMEDY = "read it from where it was changed, or make a copy first (`row[:]`, `copy.copy(it)`)"


@dataclass(slots=True, eq=False)
class Origin:
    """What one object may be: one of `sources`. With `replaces`, objects that are joined of the same ones are surely
    other ones, so that they can take the place of those."""

    made: Any
    sources: list[Any]
    frame: Frame
    why: str
    replaces: bool
    options: Sequence[Any] = field(default_factory=tuple[Any, ...])
    """Of a view: the objects that it may be, by `index`."""
    index: Any = None
    distinct: bool = False
    """Whether those that were joined together, of one list of sources, are as many objects."""
    age: int = 0
    """The younger an object is, the greater."""
    decided: list[Frame] = field(default_factory=list[Frame])
    """The blocks in which it is known what goes on."""


class Joined:
    """What was joined of what, in the blocks that are open."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        tape.moved, tape.shared = {}, {}
        self._count = 0
        self._origins: dict[int, Origin] = {}
        self._uses: dict[int, list[Origin]] = {}
        """By `id` of an object: what was joined of it."""
        self._given_up: dict[int, tuple[Any, Frame, str]] = {}
        self._gathered: list[tuple[Any, Sequence[Any]]] | None = None
        self.absent: dict[int, Any] = {}
        """By `id`: what stands for None, and is never read."""
        self._apart: dict[tuple[int, int], tuple[Any, Any, bool]] = {}
        """Of two objects, by `id`: whether they are surely two."""

    # --- what is noted

    def joined(
        self,
        found: Iterable[tuple[Any, Sequence[Any]]],
        made_in: Sequence[Frame],
        why: str,
        stand_ins: Mapping[int, tuple[Any, Any]] = _NOTHING,
    ) -> None:
        """Note objects, each with those that it is one of, one a side: on the paths of blocks that are over, of which
        objects that they have made are reached by nothing else. In these `stand_ins` stood for some."""
        pairs = [(made, sides) for made, sides in found if is_mutable(made)]
        if self._gathered is not None:
            self._gathered += pairs
        elif pairs:
            self._joined(pairs, made_in, why, self._columns(pairs), stand_ins)

    def _columns(self, pairs: Sequence[tuple[Any, Sequence[Any]]]) -> list[list[Any]]:
        return [[*column] for column in zip(*(sides for _, sides in pairs), strict=True)]

    def _joined(
        self,
        pairs: Sequence[tuple[Any, Sequence[Any]]],
        made_in: Sequence[Frame],
        why: str,
        columns: list[list[Any]],
        stand_ins: Mapping[int, tuple[Any, Any]] = _NOTHING,
    ) -> None:
        named = [[id(item) for item in column if item is not UNDEFINED] for column in columns]
        distinct = all(len(set(column)) == len(column) for column in named)
        distinct = distinct and all(self.are_apart(column) for column in columns)
        sources = {id(item): item for _, sides in pairs for item in sides if item is not UNDEFINED}
        fresh = {key for frame in made_in for key in frame.allocated}
        distinct = distinct and all(self._was_own(item) for key, item in sources.items() if key in fresh)
        distinct = distinct and not (stand_ins and self._come_again(pairs, fresh, stand_ins))
        outer = self._outside(sources.values(), fresh, stand_ins)
        if distinct and not outer:
            for made, _ in pairs:
                self._tape.frames[-1].allocated[id(made)] = made
            return
        self.bind([made for made, _ in pairs], outer, why, distinct)

    @contextmanager
    def forgotten(self) -> Generator[list[tuple[Any, Sequence[Any]]]]:
        """What is joined in it is noted by whoever asks."""
        outer, self._gathered = self._gathered, []
        try:
            yield self._gathered
        finally:
            self._gathered = outer

    @contextmanager
    def one_at_most(self) -> Generator[None]:
        """Of what is joined in it one object at most is what it was joined of first, the others are what they were."""
        with self.forgotten() as found:
            yield
        if found:
            put, *columns = self._columns(found)
            put = [*{id(item): item for item in put}.values()]
            self._joined(found, (), "an element may be one of two", [[*put, *column] for column in columns])

    def permuted(self, made: Sequence[Any], items: Sequence[Any], why: str) -> None:
        """Note that `made` are `items` in another order."""
        sources = [found for item in items for found in objects_in(item)]
        distinct = len({*map(id, sources)}) == len(sources) and self.are_apart(sources)
        self.bind([found for item in made for found in objects_in(item)], sources, why, distinct)

    def _outside(self, sources: Iterable[Any], fresh: set[int], stand_ins: Mapping[int, tuple[Any, Any]]) -> list[Any]:
        """The objects from outside of the blocks that made `fresh` ones, which these may be."""
        pending, found, seen = [*sources], dict[int, Any](), set[int]()
        while pending:
            item = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            stood, value = stand_ins.get(id(item), (UNDEFINED, None))
            if stood is item:
                pending.append(value)
            elif id(item) not in fresh:
                found[id(item)] = item
            elif self._origin(item) is not None:
                pending += self._origins[id(item)].sources
        return [*found.values()]

    def bind(self, made: Sequence[Any], sources: Sequence[Any], why: str, distinct: bool) -> None:
        """Note that each of `made` is one of `sources`; they are `distinct` objects if those are."""
        replaces = distinct and self._replace(sources)
        sources = [*sources]
        for value in made:
            self._note(Origin(value, sources, self._tape.frames[-1], why, replaces, distinct=distinct))

    def _replace(self, sources: Sequence[Any]) -> bool:
        """Whether what is joined of these can take their place: nothing else has, and each is surely itself."""
        replaced = self._replaced([origin for item in sources for origin in self._uses_of(item)])
        return not any(id(item) in replaced or not self._is_own(item) for item in sources)

    def _is_own(self, item: Any) -> bool:
        """Whether an object is surely another one than those that it may have been joined of."""
        origin = self._origin(item)
        return origin is None or origin.replaces or not self._is_open(origin)

    def _come_again(
        self, pairs: Iterable[tuple[Any, Sequence[Any]]], fresh: set[int], stand_ins: Mapping[int, tuple[Any, Any]]
    ) -> bool:
        """Whether iterations leave an object from outside of the loop, or one that stays in its place as well, and move
        what they have found to other places: the next one would leave it twice."""
        moves, comes, carried = False, False, {id(before) for _, (before, _) in pairs}
        for _, (before, after) in pairs:
            for item in self._outside([after], fresh, _NOTHING):
                stood, value = stand_ins.get(id(item), (UNDEFINED, None))
                comes = comes or stood is not item or id(value) not in carried
                moves = moves or (stood is item and value is not before)
        return moves and comes

    def are_apart(self, column: Iterable[Any]) -> bool:
        """Whether some objects are surely as many."""
        items = {id(item): item for item in column if item is not UNDEFINED}
        return all(self._are_two(one, other) for one, other in combinations(items.values(), 2))

    def _are_two(self, one: Any, other: Any) -> bool:
        """Whether two objects are surely not one: they were joined together of as many, or what the younger one was
        joined of is not the other."""
        key = id(one), id(other)
        known = self._apart.get(key)
        if known is not None and known[0] is one and known[1] is other:
            return known[2]
        of_one, of_other = self._origin(one), self._origin(other)
        if one is other or (of_one is None and of_other is None):
            return one is not other
        if of_one is None or (of_other is not None and of_other.age > of_one.age):
            return self._are_two(other, one)
        together = of_other is not None and of_one.distinct and of_one.sources is of_other.sources
        found = together or all(self._are_two(source, other) for source in of_one.sources)
        self._apart[key] = one, other, found
        return found

    def outside_of(self, item: Any, frame: Frame) -> list[Any]:
        """The objects from outside of a block that is over, which one may be, or itself."""
        return self._outside([item], {*frame.allocated}, _NOTHING)

    def _was_own(self, item: Any) -> bool:
        """The same of an object that was made in a block that is over."""
        origin = self._origin(item)
        return origin is None or origin.replaces

    def view(self, element: Any, items: Sequence[Any], index: Any, why: str) -> None:
        """Note an element that was taken of `items`, and the objects in it."""
        if isinstance(element, Poison):  # one of several values of the host, which are not changed
            return
        if is_mutable(element):
            self._note(Origin(element, [*items], self._tape.frames[-1], why, False, tuple(items), index))
        inside = [members(item) or () for item in items]
        for part, options in zip(members(element) or (), zip(*inside, strict=True), strict=True):
            self.view(part, options, index, why)

    def _note(self, origin: Origin) -> None:
        tape = self._tape
        if not origin.age:
            self._count += 1
            origin.age = self._count
        self._origins[id(origin.made)] = origin
        if self.home(origin.made) is None:
            tape.frames[-1].allocated[id(origin.made)] = origin.made
        for item in origin.sources:
            uses = self._uses.setdefault(id(item), [])
            if origin not in uses:
                uses.append(origin)
        for item in (origin.made, *origin.sources):
            if id(item) not in tape.frozen_containers or tape.frozen_containers[id(item)][0] is not item:
                tape.frozen_containers[id(item)] = (item, origin.why)
                tape.shared[id(item)] = item

    @contextmanager
    def apart(self, view: Origin, others: bool = False) -> Generator[None]:
        """What it was taken of is changed without giving it up; nor the `others` that are surely not the same one."""
        found = [view]
        if others and view.distinct:
            found += [use for use in self._uses_of(view.sources[0]) if use.sources is view.sources and use is not view]
        for each in found:
            each.decided.append(self._tape.frames[-1])
        try:
            yield
        finally:
            for each in found:
                each.decided.pop()
                self._note(each)

    def _origin(self, item: Any) -> Origin | None:
        found = self._origins.get(id(item))
        return found if found is not None and found.made is item else None

    def _uses_of(self, item: Any) -> list[Origin]:
        uses = self._uses.get(id(item), ())
        return [use for use in uses if self._is_open(use) and any(source is item for source in use.sources)]

    def _is_open(self, origin: Origin) -> bool:
        frames = self._tape.frames
        return origin.frame in frames and not any(frame in frames for frame in origin.decided)

    def _replaced(self, origins: Iterable[Origin]) -> set[int]:
        return {id(item) for origin in origins if origin.replaces for item in origin.sources}

    def home(self, owner: Any) -> Frame | None:
        """The block that made an object; None if it is from outside. A list that another function has made is."""
        for frame in reversed(self._tape.frames):
            if frame.allocated.get(id(owner)) is owner:
                return frame
            if frame.kind == "function" and base_of(owner.__class__) is not None:
                break
        return None


class Identities(Joined):
    """What may be the same as what: what is asked before a change, and what a change gives up."""

    def views_of(self, item: Any) -> list[Origin]:
        """The last elements that were taken by a staged index and may be this one: they are changed with it."""
        views = [use for use in self._uses_of(item) if use.index is not None and not self._lost(use.made)]
        views = [use for use in views if not self._uses_of(use.made) and self.are_apart(use.options)]
        return views[-_FOLLOWED:]  # others are given up: a change of one option may be one of another

    # --- what is asked

    def view_of(self, owner: Any) -> Origin | None:
        """How an element was taken by a staged index; None of any other object."""
        found = self._origin(owner)
        return found if found is not None and found.index is not None and self._is_open(found) else None

    def places(self, items: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]] | None:
        """The objects that some are, and the place of each among them; None where changes of one that is chosen of them
        cannot be changes of that: they are no objects, hold arrays, come of different ones, or others note them."""
        inside = [[*objects_in(item)] for item in items]
        has_arrays = any(True for item in items for _ in arrays_in(item))
        if self._gathered is not None or has_arrays or not all(inside):
            return None
        if not all([is_alike(items[0], item) for item in items]):
            return None
        views = [self.view_of(item) for item in items]
        if not any(self.view_of(each) for found in inside for each in found):
            return items, range(len(items))
        options = views[0].options if views[0] is not None else ()
        if not options or not all([v is not None and [*map(id, v.options)] == [*map(id, options)] for v in views]):
            return None
        return options, [v.index for v in views if v is not None]

    def views(
        self, made: Sequence[Any], options: Sequence[Any], at: Sequence[Any], why: str, apart: bool = False
    ) -> None:
        """Note that each of `made` is the one of `options` at a place; `apart`: they are at as many places."""
        if any(isinstance(item, Poison) for item in made):  # one of several values of the host, which are not changed
            return
        if is_mutable(made[0]):
            distinct = apart and len({*map(id, options)}) == len(options) and self.are_apart(options)
            sources, frame = [*options], self._tape.frames[-1]
            replaces = (distinct or len(made) == 1) and self._replace(sources)
            for item, place in zip(made, at, strict=True):
                self._note(Origin(item, sources, frame, why, replaces, tuple(options), place, distinct))
        inside = [[members(item) or () for item in column] for column in (made, options)]
        for parts_of, each in zip(zip(*inside[0], strict=True), zip(*inside[1], strict=True), strict=True):
            self.views(parts_of, each, at, why, apart)

    def is_lost(self, owner: Any) -> bool:
        """Whether it was given up."""
        return bool(self._lost(owner))

    def is_shared(self, owner: Any) -> bool:
        """Whether a change of it has to be asked for."""
        return self._tape.shared.get(id(owner)) is owner

    def may_change(self, owner: Any, grows: bool = False) -> bool:
        """Whether what is frozen may be changed: then nothing else is it from now on. `grows`: in length, too."""
        if not self.is_shared(owner):
            return False
        if self.view_of(owner) is not None:
            return (
                not grows and not self._lost(owner) and not [use for use in self._uses_of(owner) if self._is_open(use)]
            )
        return self._settle(owner, grows)

    def _settle(self, owner: Any, grows: bool) -> bool:
        """Decide that `owner` goes on, since it is about to be changed; whether that can be."""
        tape = self._tape
        if self._lost(owner):
            return False
        found, origins = self._component(owner)
        replaced, own = self._replaced(origins), self._origin(owner)
        is_root = own is None or not self._is_open(own)
        if not is_root and (own is None or not own.replaces or id(owner) in replaced):
            return False
        stays = [item for item in found if self._goes_on(item, replaced, is_root)]
        over = [item for item in found if not any(item is other for other in stays)]
        if any(not self._can_be_given_up(item, grows) for item in over):
            return False
        level = self._level(origins)
        for item in over:
            self._give_up(item, level, grows)
        for origin in origins:
            origin.decided.append(tape.frames[level])
        return True

    def _level(self, origins: Iterable[Origin]) -> int:
        """The block in which it is decided: the innermost, but none in a loop for what is older than that."""
        frames = self._tape.frames
        first = min([frames.index(origin.frame) for origin in origins], default=len(frames))
        loops = [k for k in range(first + 1, len(frames)) if frames[k].kind == "loop"]
        return loops[0] - 1 if loops else len(frames) - 1

    def _goes_on(self, item: Any, replaced: set[int], is_root: bool) -> bool:
        origin = self._origin(item)
        if origin is None or not self._is_open(origin):
            return is_root or id(item) not in replaced
        return not is_root and origin.replaces and id(item) not in replaced

    def _lost(self, owner: Any) -> str:
        item, frame, why = self._given_up.get(id(owner), (None, None, ""))
        return why if item is owner and frame in self._tape.frames else ""

    def _component(self, owner: Any) -> tuple[list[Any], list[Origin]]:
        """The objects that are linked with one by what may be the same, and by what they are."""
        found, origins, pending = dict[int, Any](), dict[int, Origin](), [owner]
        while pending:
            item = pending.pop()
            if id(item) in found:
                continue
            found[id(item)] = item
            own = self._origin(item)
            for origin in (*self._uses_of(item), *([own] if own is not None and self._is_open(own) else [])):
                origins[id(origin)] = origin
                pending += [origin.made, *origin.sources]
        return [*found.values()], [*origins.values()]

    def why(self, owner: Any) -> str:
        """Why an object cannot be changed."""
        return self._lost(owner) or self._tape.frozen_containers[id(owner)][1]

    # --- what is given up

    def take(self, item: Any) -> bool:
        """Give up an object of which a copy was made; whether that can be."""
        if self._tape.frozen_containers.get(id(item), (None,))[0] is item and not self.may_change(item):
            return False
        if self.home(item) is None or _keys(item) is None or self.view_of(item) is not None:
            return False
        self._tape.frozen_containers[id(item)] = (item, "")
        self._tape.shared[id(item)] = item
        self._give_up(item, len(self._tape.frames) - 1)
        return True

    def stood_for(self, owner: Any) -> tuple[Any, Any]:
        """The loop that carries an object, and that object, for what stands for it in the body."""
        for frame in reversed(self._tape.frames):
            made, value = frame.carries.stand_ins.get(id(owner), (UNDEFINED, None)) if frame.carries else (None, None)
            if made is owner:
                return frame.carries, value
        return None, None

    def _can_be_given_up(self, item: Any, grows: bool) -> bool:
        if not self.is_shared(item) or (grows and item.__class__ not in SEQUENCES):
            return False
        return self.stood_for(item)[0] is not None or (self.home(item) is not None and _keys(item) is not None)

    def _give_up(self, item: Any, level: int, grows: bool = False) -> None:
        """Let nobody read an object any more, in the block at `level` and those inside it; with `grows` nobody asks how
        long it is either."""
        carries, carried = self.stood_for(item)
        if carries is not None:
            carries.move(carried)
            return
        tape, home = self._tape, self.home(item)
        assert home is not None
        place = tape.here()
        why = _GIVEN_UP.format("" if place is None else f"in line {place.line}")
        self._given_up[id(item)] = (item, tape.frames[level], why)
        tape.undo.note(item)
        first = tape.frames.index(home)
        keys = _keys(item) or []
        for key in [*keys, len(keys)] if grows else keys:
            slots = tape.slots.setdefault(id(item), {})
            slot = slots.get(key)
            if slot is None or slot.owner is not item:
                slot = slots[key] = AttributeSlot(item, key, UNDEFINED, tape.here())
                slot.first = slot.read()
                home.contents[slot] = stored(slot.first)
            poison = GivenUp(tape, why, _REMEDY)
            self._poison(slot, MaybeBound(poison, poison) if grows and key == len(keys) else poison, first, level)
        tape.has_grown = tape.has_grown or grows

    def _poison(self, slot: AttributeSlot, poison: Any, first: int, level: int) -> None:
        frames = self._tape.frames
        for k, frame in enumerate(frames[first:], first):
            if frame.kind == "loop" and k > first and (k > level or slot not in frame.entry_values):
                frame.unknown_slots[slot] = None
            if k == max(level, first) or (k > level and slot in frame.contents):
                frame.contents[slot] = poison
        slot.put(poison)


class GivenUp(Poison):
    """A part of an object that was given up."""

    __slots__ = ()

    def __rose_use__(self) -> NoReturn:
        raise self.__rose_tape__.fault(UnsupportedSyntax, self.__rose_why__, help=self.__rose_remedy__)


def objects_in(value: Any) -> Iterator[Any]:
    """The objects in a value that can be changed, each as often as it is there."""
    if is_mutable(value):
        yield value
    for part in members(value) or ():
        yield from objects_in(part)


def _keys(item: Any) -> list[Any] | None:
    """The places in an object that are read."""
    if item.__class__ in SEQUENCES:
        return [*range(len(item))]
    if item.__class__ in MAPPINGS:
        return [*item]
    inside = parts(item)
    if base_of(item.__class__) is not None:  # of a class of the user's: it has elements, and attributes too
        return None
    if inside is not None and not hasattr(item, "__dataclass_fields__"):
        return None
    return [*attributes(item)]
