"""Makes lists, dicts and sets whose length only running tells, in place of those of Python's."""

# Values of users are of any type: what they are is asked while staging.

from collections import Counter
from typing import Any

from rosejit.frontend.lists.dynamic_dict import DynamicDict
from rosejit.frontend.lists.dynamic_set import DynamicSet
from rosejit.frontend.lists.dynamic_table import DynamicTable
from rosejit.frontend.lists.list_rows import Column, Template, Unlike, rows_for
from rosejit.frontend.lists.list_sites import (
    KINDS,
    items_in,
    made_list,
    may_open,
    template_of_items,
    unbound,
)
from rosejit.frontend.values.tape import MaybeBound
from rosejit.ir.types import INT
from rosejit.list_room import NewKey, is_opened, room


def in_place_of(session: Any, made: Any) -> Any:
    """What takes the place of a list that was just made."""
    if made.__class__ not in KINDS or getattr(made, "maxlen", None) is not None:
        return made
    sites = session.tape.sites
    site = sites.site(session.tape, made.__class__.__name__)
    template = sites.templates.get(site)
    if template is None:
        sites.known[id(made)] = made, site, [*map(unbound, items_in(made))]
        return made
    return _filled(session, template, site, made)


def of_comprehension(session: Any) -> tuple[str, Any]:
    """The place of a comprehension that begins, and the list that it makes if only running tells how long it is."""
    sites = session.tape.sites
    site = sites.site(session.tape, "comprehension")
    template = sites.templates.get(site)
    return site, None if template is None else _filled(session, template, site, [])


def repeated(session: Any, items: list[Any], times: Any) -> Any:
    """A list of the host so many times as only running tells; None where its items are not put in rows."""
    tape = session.tape
    site = tape.sites.site(tape, "repeated")
    template = tape.sites.learn(site, items) if may_open(tape) else None
    if template is None:
        return None
    made = _filled(session, template, site, [])
    session.hooks.call(made.repeat, items, times)
    return made


def table(session: Any, kind: type, items: Any) -> Any:
    """An empty dict, set or Counter for these items; None where they are not put in rows."""
    tape = session.tape
    site = tape.sites.site(tape, kind.__name__)
    counted = (lambda template: (template, Column(INT))) if kind is Counter else (lambda template: template)
    template = tape.sites.learn(site, items, counted) if may_open(tape) else None
    return None if template is None else _table(session, template, site, kind())


def _filled(session: Any, template: Template, site: str, items: Any) -> Any:
    """A list of these items to which loops may append."""
    if isinstance(items, (dict, set)):
        return _table(session, template, site, items)
    found = made_list(session, rows_for(session.tape, template, _room(session, site)), site, items.__class__)
    for item in items:
        if item.__class__ is not MaybeBound:
            session.hooks.call(found.append, item)
            continue
        is_there = session.hooks.If(item.flag, (), (), 0)
        session.hooks.call(found.append, item.value)
        is_there.end(())
    return found


def _room(session: Any, site: str) -> int:
    length = room(site)
    session.opened.answers.note(session, room, (site,), {}, length)
    return length


def _table(session: Any, template: Template, site: str, made: Any) -> Any:
    """A dict or a set of these items to which loops may add keys."""
    tape, kind = session.tape, made.__class__
    parts = {"keys": template[0], "values": template[1]} if kind is not set else {"items": template}
    places = [f"{site} {name}" for name in parts]
    length = _room(session, places[0])
    lists = [
        made_list(session, rows_for(tape, part, length), place, list)
        for place, part in zip(places, parts.values(), strict=True)
    ]
    positions = session.methods.instrument(DynamicTable(lists[0], rows_for(tape, Column(INT), 2 * length)))
    if kind is set:
        found = DynamicSet(positions, kind)
    else:
        factory = int if kind is Counter else getattr(made, "default_factory", None)
        found = DynamicDict(positions, lists[1], kind, factory)
    tape.record_allocation(positions, session.methods.instrument(found))
    for item in items_in(made):
        session.hooks.call(found.add, item) if kind is set else session.hooks.call(found.__setitem__, *item)
    return found


def new_key(session: Any, container: Any, item: Any) -> NewKey | None:
    """What is raised where a dict gets a key that it has not; None where that is an error as in Python."""
    tape, sites = session.tape, session.tape.sites
    if not may_open(tape) or container.__class__ not in KINDS:
        return None
    try:
        own = template_of_items([item])
        known = sites.where(tape, container)
        if known is None or own is None:
            return None
        template_of_items([*known[2], *items_in(container), item], sites.templates.get(known[1]))
    except Unlike:
        return None
    if is_opened(known[1]):
        sites.opens(tape, container, item)
        return None
    session.opened.answers.note(session, is_opened, (known[1],), {}, False)
    sites.complete.append(NewKey(known[1]))
    return sites.complete[-1]
