"""All that a value of the host reaches: a key, by content, and a watch, by identity.

Equal keys mean equal programs. The watch is flat lists of the containers that can change and of what they held,
compared in C: while every element is the same object nothing has changed, exact types included (1, 1.0 and True are
three objects). Where one is another object, the keys are compared.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownLambdaType=false

import enum
import functools
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import FunctionType, ModuleType
from typing import Any

from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.host_values import (
    ATOMS,
    ById,
    Kind,
    Opened,
    Opener,
    atom_key,
    elements,
    is_frozen,
    itself,
    kind_of,
    named_by_users,
    open_class,
    open_object,
)
from rosejit.frontend.values.object_identity import checks
from rosejit.numeric import np

DEEPEST = 4
"""So many objects of libraries, one in the other, are looked into."""


class View:
    """How a walk sees what a value reaches: here as static arguments do, all by content."""

    atoms: frozenset[type] = ATOMS
    """Types of which `atom` tells one value from others."""
    asks = True
    """Whether what functions have not yet been given may have been asked for."""
    facts: Set[str] = frozenset()
    """Names of what functions, classes and modules are that may have been asked for."""

    def atom(self, value: Any) -> Any:
        """What tells an atom from others."""
        return atom_key(value)

    def opener(self, value: Any, met: Set[int]) -> Opener | None:
        """How a value is opened, where that is not as the table says. `met` are, by `id`, arrays that are attributes of
        the user's objects."""
        return None


class Watch:
    """Containers and objects that can be changed, and what they held, in flat lists that are compared in C."""

    __slots__ = ("checks", "classes", "dicts", "lists", "objects", "others", "slotted")

    def __init__(self) -> None:
        self.lists: list[Any] = []
        self.dicts: list[dict[Any, Any]] = []
        self.objects: list[Any] = []
        self.slotted: list[Any] = []
        self.classes: list[type] = []
        self.others: list[tuple[Opener, Any, Opened]] = []
        self.checks: list[Callable[[], bool]] = []

    def note(self, value: Any, kind: Kind) -> bool:
        """Watch a value whose kind can be watched in C; whether it can."""
        match kind.change:
            case "items":
                self.lists.append(value)
            case "keys":
                self.dicts.append(value)
            case "attributes":
                self.objects.append(value)
            case "slots" if all([hasattr(value, name) for name in kind.names]):
                self.slotted.append(value)
            case _:
                return False
        return True

    def seal(self) -> None:
        """Copy what they hold."""
        if self.lists or self.dicts or self.objects or self.slotted:
            self.checks += checks(self.lists, self.dicts, self.objects, self.slotted)
        if self.classes:
            held = [(vars(cls), list(vars(cls).values()), cls, cls.__bases__) for cls in self.classes]
            self.checks.append(functools.partial(_have_their_members, held))
        if self.others:
            self.checks.append(functools.partial(_opens_alike, self.others))

    def is_same(self) -> bool:
        """Whether they hold the very objects that they held."""
        try:
            for check in self.checks:
                if not check():
                    return False
        except (AttributeError, RuntimeError):  # a slot is empty; another thread changes a dict
            return False
        return True


_is = operator.is_


def _have_their_members(held: Sequence[tuple[Mapping[str, Any], list[Any], type, tuple[type, ...]]]) -> bool:
    for members, values, cls, bases in held:
        if len(members) != len(values) or not all(map(_is, members.values(), values)) or cls.__bases__ != bases:
            return False
    return True


def _opens_alike(others: list[tuple[Opener, Any, Opened]]) -> bool:
    for opener, value, (what, inside) in others:
        now, held = opener(value)
        if now != what or len(held) != len(inside) or not all(map(_is, held, inside)):
            return False
    return True


_OF_NOTHING = Watch()
"""Of what nobody can change."""


class Look:
    """All that a value reaches: the key, by content, and the watch, by identity."""

    __slots__ = ("_key", "_value", "_view", "_watch")

    def __init__(self, value: Any, view: View, frozen: bool | None = None) -> None:
        self._view = view
        self._value = value
        self._key: list[Any] | None = None
        self._watch = _OF_NOTHING
        if not (is_frozen(value) if frozen is None else frozen) or view.asks:
            self._watch = Watch()
            self._key = reached(value, view, self._watch)
            self._watch.seal()

    @property
    def key(self) -> list[Any]:
        """What it is by content."""
        if self._key is None:  # nobody can have changed it
            self._key = reached(self._value, self._view)
        return self._key

    @property
    def can_change(self) -> bool:
        """Whether anything of it can be changed while it is the same object."""
        return bool(self._watch.checks)

    def is_same(self, now: Any) -> bool:
        """Whether it is the same object, and all in it."""
        return now is self._value and self._watch.is_same()

    def holds(self, now: Any) -> bool:
        """Whether all is as it was; what is another object, and equal, is watched from now on."""
        if self.is_same(now):
            return True
        watch = Watch()
        if reached(now, self._view, watch) != self.key:
            return False
        watch.seal()
        self._value, self._watch = now, watch
        return True


def reached(value: Any, view: View, watch: Watch | None = None) -> list[Any]:
    """The key of all that a value reaches, one thing after the other; `watch` notes what of it can be changed.

    Of objects of libraries what is deep inside counts as the object it is.
    """
    key: list[Any] = []
    seen: dict[int, tuple[int, Any]] = {}
    met: set[int] = set()
    atoms, atom = view.atoms, view.atom
    pending, depths = [value], [0]
    while pending:
        value, depth = pending.pop(), depths.pop()
        cls = type(value)
        if cls in atoms:
            key.append(atom(value))
            continue
        if id(value) in seen:
            key.append(("again", seen[id(value)][0]))
            continue
        seen[id(value)] = len(seen), value
        kind = kind_of(cls)
        depth += kind.is_library
        if depth > DEEPEST:
            key.append(ById(value))
            continue
        opener = kind.open if kind.change in _SURE_CHANGES else view.opener(value, met) or kind.open
        what, inside = opener(value)
        if watch is not None and kind.change != "never":
            _watch(watch, value, kind, opener, (what, inside), view)
        key += cls, what, len(inside)
        if atoms.issuperset(map(type, inside)):
            key += map(atom, inside)
            continue
        if kind.open is open_object and not kind.is_library:
            met |= {id(each) for each in inside if isinstance(each, np.ndarray)}
        pending += inside
        depths += (depth,) * len(inside)
    return key


def is_container(value: Any) -> bool:
    """Whether a value is an array, or a container of Python's whose items can be arrays."""
    return isinstance(value, (list, tuple, dict, set, frozenset, deque)) or is_array(value)


def is_object(value: Any) -> bool:
    """Whether a value is another object that holds something: no function, class or module, and nothing staged."""
    cls = type(value)
    return not (cls in ATOMS or callable(value) or cls is ModuleType or cls.__module__.startswith("rosejit."))


def reachable(values: Sequence[Any], through_objects: bool = True) -> Iterator[Any]:
    """All that values reach, themselves included, but for atoms; through objects that are no records if wanted."""
    pending, depths, seen = list(values), [0] * len(values), dict[int, Any]()
    while pending:
        value, depth = pending.pop(), depths.pop()
        if type(value) in ATOMS or id(value) in seen:
            continue
        seen[id(value)] = value
        yield value
        kind = kind_of(type(value))
        depth += kind.is_library
        is_object = kind.open is open_object and not hasattr(type(value), "__dataclass_fields__")
        if (
            depth <= DEEPEST
            and (through_objects or not is_object)
            and (kind.open is not elements or value.dtype == object)
        ):
            inside = kind.open(value)[1]
            pending += inside
            depths += (depth,) * len(inside)


_SURE_CHANGES = frozenset({"never", "items", "keys"})


def _watch(watch: Watch, value: Any, kind: Kind, opener: Opener, found: Opened, view: View) -> None:
    if opener is itself:
        return
    if kind.open is open_class:
        if is_users_class(value):
            watch.classes.append(value)
        if not view.facts:
            return
    is_table = opener is kind.open
    if is_table and watch.note(value, kind):
        return
    if is_table and type(value) is FunctionType and not (view.asks or named_by_users(value)):
        return
    watch.others.append((opener, value, found))


class _ByContent(View):
    """Static arguments: of objects that compare by content that counts, and not which object it is."""

    def opener(self, value: Any, met: Set[int]) -> Opener | None:
        """How a value is opened, where that is not as the table says."""
        cls = type(value)
        compares = cls.__eq__ is not object.__eq__ or hasattr(cls, "__dataclass_fields__")
        return _content if compares and kind_of(cls).open is open_object and not isinstance(value, enum.Enum) else None


def _content(value: Any) -> Opened:
    return None, open_object(value)[1]


_BY_CONTENT = _ByContent()


class StructuralKey(tuple[Any, ...]):
    """Equal for values of equal type and content; an object is itself, with its attributes. It watches the value that
    was last found to have it."""

    look: Look | None = None

    def fits(self, value: Any) -> bool:
        """Whether a value has this key."""
        if self.look is not None and self.look.is_same(value):
            return True
        if structural_key(value) != self:
            return False
        self.look = Look(value, _BY_CONTENT)
        return True


def structural_key(value: Any) -> StructuralKey:
    """What tells a value, by content, from others."""
    return StructuralKey(reached(value, _BY_CONTENT))
