"""Look-ups in dicts and lists of the host by keys that only running tells: a position among the keys, and a choice.

The keys are those that the dict has while staging. What it does not have raises Python's `KeyError` at run time.
"""

# Values of users are of any type: what they are is asked while staging.

import enum
import functools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend.arrays.array import of_host
from rosejit.frontend.arrays.asarray import in_64_bits
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.narrow_array import is_narrow
from rosejit.frontend.control.chosen import Chosen, asked, compared, looked_up, selected, taken_of
from rosejit.frontend.control.identities import objects_in
from rosejit.frontend.control.if_for import branched
from rosejit.frontend.control.optional import Optional, required
from rosejit.frontend.control.special_methods import own
from rosejit.frontend.lists.list_making import new_key
from rosejit.frontend.python.assert_raise import is_awaited, raised_unless
from rosejit.frontend.python.ordering import choose, either, equal
from rosejit.frontend.scalar_ops.staged_text import Field, Text
from rosejit.frontend.soa.element_proxy import arrays_in
from rosejit.frontend.soa.struct_of_arrays import detached_at
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int
from rosejit.frontend.values.staged_inputs import to_know
from rosejit.frontend.values.tape import Tape, unfailing
from rosejit.ir.syntax import Failure
from rosejit.numeric import np

_MOST = 256
"""So many keys are compared one by one at most."""
_SPAN = 100_000
"""So far apart the least and the greatest key may be, for a table of positions."""
_DICTS: frozenset[type] = frozenset({dict, OrderedDict, defaultdict, Counter, MappingProxyType})
_AS_SUCH = NUMBERS | {Chosen}
Read = Callable[[Any], Any]
_NEW_REMEDY = "let it have all of its keys before (`{k: 0.0 for k in range(n)}`), or use an array (`np.zeros(n)`)"


def is_looked_up(container: Any, key: Any) -> bool:
    """Whether only running tells which element of a dict of the host, or which member of an `Enum`, a key is for."""
    kind = container.__class__
    if isinstance(container, enum.EnumMeta):
        return is_staged_key(key) and kind.__getitem__ is enum.EnumMeta.__getitem__
    if kind not in _DICTS and not (isinstance(container, dict) and own(container, "__getitem__") is None):
        return False
    return is_staged_key(key)


def is_staged_key(key: Any) -> bool:
    """Whether a key is a staged number, one of several values, or a tuple with such."""
    kind = key.__class__
    return kind in _AS_SUCH or is_narrow(key) or (isinstance(key, tuple) and any(map(is_staged_key, key)))


def item(tape: Tape, table: Any, key: Any, read: Read) -> Any:
    """`table[key]`."""
    return _item(tape, table.__members__ if isinstance(table, enum.EnumMeta) else table, _plain(key), read)


def member_for(tape: Tape, cls: Any, value: Any, read: Read) -> Any:
    """`cls(value)` of an `Enum`: the member with a value, Python's ValueError where there is none."""
    key = required(value)
    if key.__class__ is Chosen and all([isinstance(option, cls) for option in key.__rose_options__]):
        return key
    own_missing = any("_missing_" in vars(base) for base in cls.__mro__ if base.__module__ != "enum")
    if issubclass(cls, enum.Flag) or own_missing:
        what = "combines members" if issubclass(cls, enum.Flag) else "has a `_missing_` of its own"
        raise tape.type_fault(
            f"`{cls.__name__}` of a value that only running tells is not staged: it {what}",
            f"look the value up in a dict of members: `{{m.value: m for m in {cls.__name__}}}[value]`",
        )
    table = {member.value: member for member in cls}
    if not any(_may_be(each, _plain(key)) for each in table):
        shown = ", ".join(map(repr, [*table][:5]))
        what = f"`{cls.__name__}` is asked for the member with a value that no member can have"
        raise tape.type_fault(what, "ask for one of the values of the members", f"these are {shown}")
    return _item(tape, table, _plain(key), read, cls)


def _missing(key: Any, cls: Any) -> tuple[type[Exception], Any]:
    """What Python raises for a key that a dict does not have, or a value of no member of an `Enum`."""
    if cls is None:
        return KeyError, key
    shown, number = [*_shown(key)], _number_in(key)
    text = (*shown, f" is not a valid {cls.__qualname__}")
    return ValueError, "".join(map(str, text)) if number is None else Text(number.tape, text)


def _shown(key: Any) -> Iterator[Any]:
    """The parts of the text of a key."""
    if key.__class__ is tuple:
        for k, part in enumerate(key):
            yield ", " if k else "("
            yield from _shown(part)
        yield ",)" if len(key) == 1 else ")"
    else:
        chosen = key.__class__ is Chosen
        yield Field(key, "r", "") if key.__class__ in NUMBERS else "one of several" if chosen else repr(key)


def _item(tape: Tape, table: Any, key: Any, read: Read, cls: Any = None) -> Any:
    if key.__class__ is Chosen:
        key = _known_in(tape, table, key, cls=cls)
        found = _object_at(tape, table, key, read)
        return branched(key, lambda option: read(table[option])) if found is None else found
    keys, at, found = _found(tape, table, key)
    if isinstance(table, Counter):
        return _or_default(tape, table, keys, at, 0, key, read)
    if hasattr(type(table), "__missing__"):
        raise _unknown_keys(tape, table, key)
    if found is False:
        shown = ", ".join(map(repr, list(table)[:5])) or "it is empty"
        key = _number_in(key)
        what = (
            f"a dict is asked for a key that is a staged {type(key).__name__}, and none of its keys is such ({shown})"
        )
        remedy = "make the dict with all of its keys before, or use an array (`np.zeros(n)`); or "
        raise tape.type_fault(what, remedy + to_know(tape, key.atom))
    if found is not True and raised_unless(tape, found, *_missing(key, cls)):
        at = choose(tape, found, at, 0, "index")
    return selected(tape, at, [read(table[k]) for k in keys], _number_in(key))


def _unknown_keys(tape: Tape, table: Any, key: Any) -> RoseError:
    if getattr(table, "default_factory", None) is not None:
        tape.sites.opens(tape, table, (key, table.default_factory()))
    return tape.type_fault(
        f"a {type(table).__name__} is asked for a key that only running tells: so its keys would not be known",
        "make it a dict with all of its keys before, as `{k: 0.0 for k in range(n)}`, or an array (`np.zeros(n)`)",
    )


def _known_in(tape: Tape, table: Any, key: Chosen, is_written: bool = False, cls: Any = None) -> Chosen:
    """The key among those that a dict has: that it is one of them is checked when the code runs, else there is a
    KeyError, or a new key, which is refused."""
    there = [option in table for option in key.__rose_options__]
    if not all(there) and hasattr(type(table), "__missing__") and (is_written or not isinstance(table, Counter)):
        raise _unknown_keys(tape, table, key)
    if is_written and not any(there):
        shown = ", ".join(map(repr, key.__rose_options__[:4]))
        what = "a dict gets a key that only running tells, and has none of those that it may be"
        raise tape.type_fault(what, f"make it with all of its keys: `dict.fromkeys([{shown}], 0)`")
    if all(there) or not any(there) or isinstance(table, Counter):
        return key
    lacking = [option for option, has in zip(key.__rose_options__, there, strict=True) if not has]
    if is_written:
        _refuse_new(tape, asked(key, there), " or ".join(map(repr, lacking[:5])), ())
    else:
        error, what = _missing(lacking[0], cls)
        raised_unless(tape, asked(key, there), error, *([what] if len(lacking) == 1 else ()))
    known = [option for option, has in zip(key.__rose_options__, there, strict=True) if has]
    if len(known) == 1:
        return Chosen(tape, key.__rose_position__, [known[0]] * len(there))
    places = looked_up(
        tape, [known.index(option) if option in table else 0 for option in key.__rose_options__], key.__rose_position__
    )
    return key.__rose_at__(places, known)


def _refuse_new(tape: Tape, there: Bool, shown: str, values: Sequence[Any]) -> None:
    """Fail at run time where a dict would get a new key, which Python would let it have."""
    words = f"a dict gets a new key, {shown}, and only running tells so: how many it has, staging would not know"
    tape.check(there.atom, Failure("none", words, tape.here(), _NEW_REMEDY), *[value.atom for value in values])


def _template(key: Any, values: list[Any]) -> str:
    """A key in the words of an error, with places for its staged numbers, which go to `values`."""
    if key.__class__ is tuple:
        inside = ", ".join([_template(part, values) for part in key])
        return f"({inside}{',' * (len(key) == 1)})"
    if key.__class__ not in NUMBERS:
        return "..." if key.__class__ is Chosen else repr(key).replace("{", "{{").replace("}", "}}")
    values.append(key)
    return f"{{{len(values) - 1}}}"


def _object_at(tape: Tape, table: Any, key: Chosen, read: Read) -> Any:
    """The object that can be changed at one of several keys, as an element is at a staged index; None if there are
    other things at them."""
    if not all([option in table for option in key.__rose_options__]):
        return None
    values = [table[option] for option in key.__rose_options__]
    if not all([any(True for _ in objects_in(value)) for value in values]):
        return None
    if all([value.__class__ is list for value in values]):  # of any lengths
        return selected(tape, key.__rose_position__, values)
    with unfailing(tape):
        return taken_of(tape, [*map(read, values)], key.__rose_position__)


def got(tape: Tape, table: Any, key: Any, default: Any, read: Read) -> Any:
    """`table.get(key, default)`."""
    key = _plain(key)
    if key.__class__ is Chosen:
        return branched(key, lambda option: read(table[option]) if option in table else default)
    keys, at, _ = _found(tape, table, key)
    return _or_default(tape, table, keys, at, default, key, read)


def _or_default(tape: Tape, table: Any, keys: Sequence[Any], at: Any, default: Any, key: Any, read: Read) -> Any:
    return selected(tape, at, [*(read(table[k]) for k in keys), default], _number_in(key))


def _number_in(key: Any) -> Any:
    """A staged number that a key depends on."""
    if key.__class__ is tuple:
        return next((found for part in key if (found := _number_in(part)) is not None), None)
    return key if key.__class__ in NUMBERS else key.__rose_position__ if key.__class__ is Chosen else None


def _plain(key: Any) -> Any:
    """A key with numbers of few bits as staged ones, and what may be None as the value."""
    if key.__class__ is Optional:
        return _plain(required(key))
    if key.__class__ is tuple:
        return tuple([_plain(part) for part in key])
    return in_64_bits(key) if is_narrow(key) else key


def _found(tape: Tape, table: Any, key: Any) -> tuple[list[Any], Any, Any]:
    """The keys that can be equal to this one; its position among them, or their number; and whether there is one."""
    keys = [k for k in table if _may_be(k, key)]
    if not keys:
        return keys, 0, False
    at = _position(tape, keys, key)
    return keys, at, at != len(keys)


def _may_be(known: Any, key: Any) -> bool:
    if isinstance(key, tuple):
        return isinstance(known, tuple) and len(known) == len(key) and all(map(_may_be, known, key))
    if key.__class__ in NUMBERS:
        return number_kind(known) is not None or isinstance(known, enum.IntEnum)
    if key.__class__ is Chosen:
        return any(_may_be(known, option) for option in key.__rose_options__)
    return bool(known == key)


def _position(tape: Tape, keys: Sequence[Any], key: Any) -> Any:
    """The position of a key; the number of all where it is none of them."""
    count = len(keys)
    whole = key.__class__ is Int and all(isinstance(k, int) for k in keys)
    if whole and [*map(int, keys)] == [*range(count)]:
        return choose(tape, (key >= 0) & (key < count), key, count, "index")
    if whole and count > 8 and max(keys) - min(keys) <= _SPAN:
        return _in_table(tape, [int(k) for k in keys], key)
    if count > _MOST:
        raise tape.type_fault(
            f"a dict of {count} keys is asked for one that only running tells: at most {_MOST} are compared",
            "put the values in an array, at indices that are ints from 0 on",
        )
    at: Any = count
    for k in range(count - 1, -1, -1):
        at = choose(tape, equal(tape, keys[k], key), k, at, "index")
    return at


def _in_table(tape: Tape, keys: list[int], key: Any) -> Any:
    """The position, from an array of the host."""
    least, greatest = min(keys), max(keys)
    positions = np.full(greatest - least + 1, len(keys))
    for k, each in enumerate(keys):
        positions[each - least] = k
    inside = (key >= least) & (key <= greatest)
    whole = of_host(tape, positions, "positions", readonly="it is a table of keys")
    with unfailing(tape):
        held = get(whole, choose(tape, inside, key - least, 0, "index"))
    return choose(tape, inside, held, len(keys), "index")


def written_at(tape: Tape, container: Any, key: Any, value: Any) -> list[tuple[Any, Any]]:
    """What the elements are after `container[key] = value`: those that it may be, by their keys."""
    is_list = isinstance(container, list)
    key = _plain(key)
    if is_list and key.__class__ is Bool:
        key = number_of(tape, key)
    if key.__class__ is Chosen:
        key = key if is_list else _known_in(tape, container, key, is_written=True)
        keys, at, found = [*dict.fromkeys(key.__rose_options__)], None, True
    elif is_list:
        keys, found = [*range(len(container))], True
        at = get(of_host(tape, np.arange(len(keys)), "places", readonly="it is a table of places"), key) if keys else 0
    else:
        keys, at, found = _found(tape, container, key)
    if not keys or len(keys) > _WRITTEN:
        tape.sites.opens(tape, container, value if is_list else (key, value))
        what = f"a {type(container).__name__} of {len(container)} gets an element at a place that only running tells"
        raise tape.type_fault(what, _WRITE_REMEDY)
    if found is not True:
        new = new_key(tape.session, container, (key, value))
        values: list[Any] = []
        if new is None:
            _refuse_new(tape, found, _template(key, values), values)
        else:
            tape.check(found.atom, Failure("raise", str(new), tape.here(), exception=new))
    hits = [
        compared(key, lambda option, k=k: option == k) if at is None else at == place for place, k in enumerate(keys)
    ]
    with tape.identities.one_at_most():
        return [(k, choose(tape, hit, value, container[k], _WRITTEN_NAME)) for k, hit in zip(keys, hits, strict=True)]


def exchanged(tape: Tape, items: list[Any], i: Any, j: Any) -> list[Any]:
    """The elements of a list after `items[i], items[j] = items[j], items[i]` at places that only running tells; none if
    they are no objects that can be changed, for these are assigned like any other."""
    held = [any(True for _ in objects_in(item)) and not any(True for _ in arrays_in(item)) for item in items]
    if not held or len(held) > _WRITTEN or not all(held):
        return []
    places = of_host(tape, np.arange(len(items)), "places", readonly="it is a table of places")
    at = [get(places, k) if k.__class__ is Int else range(len(items))[k] for k in (i, j)]
    with unfailing(tape):
        found = [detached_at(tape, items, k) if k.__class__ is Int else items[k] for k in at]
    if any(each is None for each in found):
        return []
    hits = [[k == place for k in range(len(items))] for place in at]
    with tape.identities.forgotten():
        made = [
            choose(tape, hits[0][k], found[1], choose(tape, hits[1][k], found[0], item, _WRITTEN_NAME), _WRITTEN_NAME)
            for k, item in enumerate(items)
        ]
    tape.identities.permuted(made, items, f"{_WRITTEN_NAME} may be one of two after an exchange")
    return made


def written_through(tape: Tape, view: Any, places: Sequence[int], value: Any, old: Any) -> Any:
    """What a part of an object is after a change of one that was taken of some by a staged index, if it is at these."""
    return choose(tape, is_at(tape, view, places), value, old, _WRITTEN_NAME)


def is_at(tape: Tape, view: Any, places: Sequence[int]) -> Any:
    """Whether an object that was taken of some by a staged index is the one at one of these places."""
    whole = of_host(tape, np.arange(len(view.options)), "places", readonly="it is a table of places")
    with unfailing(tape):
        at = get(whole, view.index)
    return functools.reduce(lambda found, k: either(tape, found, at == k), places, False)


_WRITTEN = 64
"""So many elements a list or a dict may have of which only running tells which one is assigned: all are chosen anew."""
_WRITE_REMEDY = "use an array (`np.zeros(n)`), which takes such an index; a dict must have its keys before, at most 64"
_WRITTEN_NAME = "an element"


# --- lists, and members


def of_sequence_at(tape: Tape, items: Sequence[Any], index: Any, read: Read) -> Any:
    """`items[index]` of a list of the host at an index that only running tells."""
    if is_awaited(tape, IndexError):
        index = _within(tape, (len(items),), (index,))[0]
        with unfailing(tape):
            at = choose(tape, index < 0, index + len(items), index, "index")
            return selected(tape, at, [*map(read, items)], index)
    found = taken_of(tape, items, index)
    if found is not None or not items:
        return found
    known = [*dict.fromkeys(items)] if all([isinstance(value, (str, bytes)) for value in items]) else items
    table = np.array([known.index(value) for value in items]) if known is not items else np.arange(len(items))
    at = get(of_host(tape, table, "places", readonly="it is a table of places"), index)
    return selected(tape, at, [read(value) for value in known], index)


def number_of(tape: Tape, truth: Bool) -> Any:
    """The place in a list at which a truth value is an index: Python's is, and NumPy's is not."""
    tape.weak.append((truth.atom, "index", tape.here()))
    return choose(tape, truth, 1, 0, "index")


def element(tape: Tape, a: Any, index: Any) -> Any:
    """`a[index]` of an array, where a handler waits for an index out of range."""
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) > a.ndim or not all(each.__class__ is Int or number_kind(each) == "int" for each in indices):
        return a[index]
    safe = tuple(_within(tape, a.shape, indices))
    with unfailing(tape):
        return a[safe]


def _within(tape: Tape, lengths: Sequence[int], indices: Sequence[Any]) -> list[Any]:
    """The indices, and 0 where one is out of range, which raises."""
    made: list[Any] = []
    for length, index in zip(lengths, indices, strict=False):
        inside: Any = (index >= -length) & (index < length)
        if inside.__class__ is not Bool:
            if not inside:
                raise IndexError("index out of range")
        elif length == 0:
            raise tape.type_fault("an index of what is empty, which only running tells", "ask `len` before")
        else:
            raised_unless(tape, inside, IndexError)
            index = choose(tape, inside, index, 0, "index")
        made.append(index)
    return made
