"""Where lists are made that staged loops grow: a function is staged again, with such lists from the beginning."""

# Values of users are of any type: what they are is asked while staging.

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from rosejit.frontend.lists.list_rows import (
    Choice,
    Column,
    Template,
    Unlike,
    has_columns,
    joined,
    template_of,
    template_of_rows,
    with_columns,
)
from rosejit.frontend.values.pytree import members, objects
from rosejit.frontend.values.tape import MaybeBound
from rosejit.frontend.values.tries import InVain
from rosejit.list_room import NewKey


def stood_for(tape: Any, container: Any) -> Any:
    """The list itself, of what stands for one in the body of a loop."""
    for frame in reversed(tape.frames):
        found = frame.carries.stand_ins.get(id(container)) if frame.carries else None
        if found is not None and found[0] is container:
            container = found[1]
    return container


KINDS = frozenset({list, deque, dict, set, defaultdict, Counter})
_WITH_VALUES = ("dict", "Counter")


def template_of_items(items: Iterable[Any], template: Template = None) -> Template:
    """What all items are made of. Raises `Unlike` where they are not alike."""
    for item in items:
        found = template_of(item)
        found = with_columns(found)
        template = found if template is None else joined(template, found)
    return template


def _is_key(template: Template) -> bool:
    """Whether items of a template are equal, and have one hash, by the numbers in them."""
    if isinstance(template, tuple):
        return template.__class__.__eq__ is tuple.__eq__ and all(map(_is_key, template))
    if template.__class__ is Choice:
        return all(map(_is_key, template.options))
    return template is None or isinstance(template, str) or (template.__class__ is Column and not template.shape)


def _has_arrays(template: Template) -> bool:
    if template.__class__ is Column:
        return bool(template.shape)
    return any(map(_has_arrays, members(template) or ()))


def _rows_at(site: str, template: Template) -> Template:
    """The template of rows for the items of a list, a dict or a set that is made at a place; None where there are no
    such."""
    is_dict = site.endswith(_WITH_VALUES)
    key = template if site.endswith("set") else template[0] if is_dict else None
    if not _is_key(key):
        return None  # two that Python tells apart may have one hash
    if site.endswith("dict") and _has_arrays(template[1]):
        return None  # what is taken out would be another array
    parts = tuple(map(with_columns, template if is_dict else (template,)))
    if not all(map(has_columns, parts)):
        return None  # nothing would say how much room there is
    return parts if is_dict else parts[0]


def items_in(made: Any) -> list[Any]:
    """The items of a list, or of a dict the pairs."""
    return [*made.items()] if isinstance(made, dict) else [*made]


def unbound(item: Any) -> Any:
    """An item that may be there, as one that is."""
    return item.value if item.__class__ is MaybeBound else item


def received(session: Any, value: Any, is_new: bool = False) -> Any:
    """`value`, an argument or what a call has given, with the lists in it as those that the function works with."""
    for each in objects(value):
        if each.__class__ in ListSites.staged:
            session.methods.instrument(each)
            session.tape.has_grown = True
            if is_new:
                session.tape.record_allocation(each)
    return value


class StagedAgain(InVain):
    """The function is staged once more, with lists whose length only running tells."""


def _as_it_is(template: Template) -> Template:
    return template


class ListSites:
    """The places at which one function makes lists, and of which template their items are where loops grow them."""

    made_of: Any = None
    """The class of such lists, which is staged as a user's."""
    dict_of: Any = None
    set_of: Any = None
    """Those of dicts and sets."""
    staged: ClassVar[set[type]] = set()
    """All classes that are staged so."""

    def __init__(self) -> None:
        self.watches = self.is_closed = False
        self.is_pending = False
        """Whether it is to be staged again: code of the user's may have caught what said so."""
        self.facts: tuple[str, ...] = ()
        """Why the items of the list that was asked for last are not put in rows."""
        self.complete: list[NewKey] = []
        """What is raised where dicts get keys that they have not."""
        self.templates: dict[str, Template] = {}
        self._one: dict[str, str] = {}
        """Places whose lists are like those of another."""
        self.known: dict[int, tuple[Any, str, list[Any]]] = {}
        """By `id`: lists, where they were made, and of which items."""

    def begins(self) -> None:
        """The function is about to be staged."""
        self.is_pending, self.facts = False, ()
        self.known.clear()
        self.complete.clear()

    def settle(self) -> None:
        """Raise if it is to be staged again."""
        if self.is_pending:
            raise StagedAgain

    def site(self, tape: Any, how: str) -> str:
        """What says where a list is made that begins: another place, where lists of both are bound to one name."""
        place = tape.here()
        at = getattr(place, "instruction", 0)  # Python 3.10 knows no columns
        return self._found(f"{place} {at} {how}")

    def where(self, tape: Any, container: Any) -> tuple[Any, str, list[Any]] | None:
        """A list of the host, where it was made, and of which items; None where that is not known."""
        self._watch()
        return self.known.get(id(stood_for(tape, container)))

    def learn(self, site: str, items: Any, completed: Callable[[Template], Template] = _as_it_is) -> Template:
        """What items of a list made there consist of, these among them, from now on; None where they are not put in
        rows."""
        try:
            template = template_of_rows(items.rows) if items.__class__ is self.made_of else template_of_items(items)
            if template is None:
                return None
            template = completed(template)
            if site in self.templates:
                template = joined(self.templates[site], template)
        except Unlike as error:
            self._note(error)
            return None
        template = _rows_at(site, template)
        if template is not None:
            self._watch()
            self.templates[site] = template
        return template

    def _note(self, error: Unlike) -> None:
        self.facts = (f"only running would tell its length: {error}",)

    def opens(self, tape: Any, container: Any, *items: Any) -> None:
        """A staged loop is about to put these items in a list from outside of it, or to take some away: stage again,
        if that can be done."""
        if not may_open(tape) or container.__class__ not in KINDS:
            return
        known = self.where(tape, container)
        if known is None:
            return
        self.opens_at(known[1], *known[2], *map(unbound, items_in(container)), *items)

    def opens_at(self, site: str, *items: Any) -> None:
        """The same of a list that is made at a place."""
        self._watch()
        try:
            template = template_of_items(items, self.templates.get(site))
        except Unlike as error:
            self._note(error)
            return
        found = None if template is None else _rows_at(site, template)
        if found is not None:
            self.widen(site, found)

    def widen(self, site: str, template: Template) -> None:
        """From now on items of lists made there are of that template."""
        table, _, part = site.rpartition(" ")
        if part in ("keys", "values", "items") and table in self.templates:
            site, before = table, self.templates[table]
            if part != "items":
                template = (template, before[1]) if part == "keys" else (before[0], template)
        if self.templates.get(site) != template:
            self.templates[site] = template
            self._again()

    def meet(self, tape: Any, a: Any, b: Any, is_last: bool = False) -> None:
        """One name is bound to either: if one of them is a list with rows, both are from now on, and alike; two others
        where nothing else stands for both."""
        kinds = {a.__class__, b.__class__}
        if not may_open(tape) or (kinds.isdisjoint((self.made_of, self.dict_of, self.set_of)) and not is_last):
            return
        if not kinds.isdisjoint(KINDS):
            self._watch()
        try:
            one, other = self._made(tape, a), self._made(tape, b)
            if one is None or other is None or one[0] == other[0] or one[1] is not other[1]:
                return
            (site, _, template), (again, _, added) = one, other
            template = joined(template, added) if None not in (template, added) else template or added
        except Unlike as error:
            self._note(error)
            return
        found = _rows_at(site, template)
        if found is not None:
            self.templates.pop(again, None)
            self._one[again], self.templates[site] = site, found
            self._again()

    def stands(self, tape: Any, made: Any, *others: Any) -> None:
        """`made` is what others are from now on: it counts as made where these were."""
        found = [self.known.get(id(stood_for(tape, each))) for each in others]
        known = [each for each in found if each is not None]
        if len(known) < len(others) or len({type(each) for each in others}) > 1:
            return
        sites = [self._found(site) for _, site, _ in known]
        self._one |= {site: sites[0] for site in sites if site != sites[0]}
        self.known[id(made)] = made, sites[0], [item for _, _, items in known for item in items]

    def _made(self, tape: Any, value: Any) -> tuple[str, type, Template] | None:
        """Where a list was made, what it is in Python, and of what its items are made."""
        if value.__class__ in KINDS:
            made, site, items = self.known.get(id(stood_for(tape, value)), (None, "", ()))
            return (
                None if made is None else (self._found(site), type(made), template_of_items([*items, *items_in(value)]))
            )
        if value.__class__ is self.made_of:
            site, template = value.site, template_of_rows(value.rows)
        elif value.__class__ is self.dict_of or value.__class__ is self.set_of:
            site, template = value.known.site.rpartition(" ")[0], template_of_rows(value.known.rows)
            if value.__class__ is self.dict_of:
                template = template, template_of_rows(value.held.rows)
        else:
            return None
        return (self._found(site), value.kind, template) if self.templates.get(site) == template else None

    def _found(self, site: str) -> str:
        while site in self._one:
            site = self._one[site]
        return site

    def _watch(self) -> None:
        """From now on it is known where lists are made."""
        if not self.watches:
            self.watches = True
            self._again()

    def _again(self) -> None:
        if not self.is_closed:
            self.is_pending = True
            raise StagedAgain


def made_list(session: Any, rows: Any, site: str, kind: type) -> Any:
    """A list without items."""
    found = ListSites.made_of(rows, 0, 0, site, kind)
    session.tape.record_allocation(session.methods.instrument(found))
    session.tape.has_grown = True
    return found


def may_open(tape: Any) -> bool:
    """Whether the function may be staged again."""
    return tape.tries.may_stage_again and tape.rolled is None and not tape.sites.is_closed and tape.quoted is None
