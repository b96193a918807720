"""Remembers what staged code read from outside, to tell later whether it would be staged the same way again."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Set
from contextvars import ContextVar
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, Literal

from rosejit.abi import Leaf
from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.content import (
    Same,
    attributes_of,
    content_key,
    data_of,
    has_data,
    is_frozen,
    is_identity,
    named_beside,
)
from rosejit.frontend.methods import member_of
from rosejit.frontend.rewrite import Translation
from rosejit.frontend.structures import attributes, is_object, parts
from rosejit.frontend.tape import Tape
from rosejit.frontend.users import is_users_class, is_users_code
from rosejit.numeric import np
from rosejit.span import Span

_MISSING = object()
_DEEPEST = 4
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None)))


@dataclass(slots=True)
class Chain:
    """A global or a variable of an enclosing function, and attributes read from it."""

    root: dict[str, Any] | CellType
    names: tuple[str, ...]

    @property
    def place(self) -> tuple[int, tuple[str, ...]]:
        """What tells it from others."""
        return id(self.root), self.names

    def read(self) -> Any:
        """What it is now; `_MISSING` where there is nothing."""
        root, names = self.root, self.names
        try:
            value = root[names[0]] if isinstance(root, dict) else root.cell_contents
            if len(names) > 1:
                for name in names[1:]:
                    value = getattr(value, name)
        except (KeyError, ValueError, AttributeError):
            return _MISSING
        return value

    def __str__(self) -> str:
        return ".".join(self.names)


class Read:
    """What a chain is now, and whether nobody can change that."""

    __slots__ = ("chain", "frozen", "value")

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.value = chain.read()
        self.frozen = is_frozen(self.value)


@dataclass(slots=True, eq=False)
class Guard:
    """What `chain` was when the code was staged: the very object, or a value that is compared by content."""

    chain: Chain
    expected: Any
    """The object, also if it is `frozen`, or the key of its content."""
    identical: bool
    frozen: bool = False
    """Nobody can change the object: while it is the same one its content need not be looked at."""

    @property
    def key(self) -> Any:
        """What tells it from others."""
        chain = self.chain
        return self.__class__, id(chain.root), chain.names

    def holds(self) -> bool:
        """Whether it still is."""
        now = self.chain.read()
        if now is self.expected:
            return True
        key = outside_key(self.expected) if self.frozen else self.expected
        return not self.identical and now is not _MISSING and outside_key(now) == key


@dataclass(slots=True, frozen=True)
class Capture:
    """An array from outside that is handed to the code at every call: read again, if it has a name, or kept."""

    array: Any
    chain: Chain | None = None

    def read(self) -> Any:
        """The array to hand in; None where what is there now does not fit the code."""
        if self.chain is None:
            return self.array
        now = self.chain.read()
        fits = isinstance(now, np.ndarray) and now.shape == self.array.shape and now.dtype == self.array.dtype
        return now if fits else None


class _Alias(Guard):
    """Two names, `chain` and the chain `expected`, of one array, which is handed in once."""

    __slots__ = ()

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return type(self), self.chain.place, self.expected.place

    def holds(self) -> bool:
        """Whether they still are."""
        return self.chain.read() is self.expected.read()


def aliases(names: list[Chain]) -> list[Guard]:
    """Guards for the names of one array."""
    places = {chain.place: chain for chain in names}
    first = names[0] if names else None
    return [_Alias(chain, first, identical=False) for chain in [*places.values()][1:]]


def outside_key(value: Any) -> list[Any]:
    """A value from outside by content, down to all that it holds, one thing after the other; arrays by their layout
    (their elements are read at each call). Of objects of libraries what is deep inside counts as the object it is."""
    found: list[Any] = []
    pending, depths = [value], [0]
    seen = set[int]()
    while pending:
        value, depth = pending.pop(), depths.pop()
        kind = value.__class__
        if kind in _PLAIN:
            found.append(content_key(value))
        elif id(value) in seen:
            found.append(Same(value))
        else:
            what, inside, further = _opened(value, kind, depth, is_first=not seen)
            seen.add(id(value))
            found += kind, what, len(inside)
            if _PLAIN.issuperset(map(type, inside)):
                found += map(content_key, inside)
            else:
                pending += inside
                depths += (depth + further,) * len(inside)
    return found


def _opened(value: Any, kind: Any, depth: int, is_first: bool) -> tuple[Any, list[Any], int]:
    """What a thing is, what is in it, and whether that is deeper in the objects of a library."""
    if kind is list or kind is tuple:
        return None, list(value), 0
    if isinstance(value, _CONTAINERS):
        items = [*value, *value.values()] if isinstance(value, dict) else list(value)
        named = named_beside(value)
        return len(items), [*items, *named, *named.values()], 0
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, [*value.flat], 0
        return (value.shape, None if is_first else Same(value), value.dtype.str), [], 0
    if isinstance(value, functools.partial):
        return None, [value.func, value.args, value.keywords], 0
    found = _opened_thing(value, kind)
    if found is not None:
        return *found, 0
    further = 0 if is_users_class(kind) else 1
    named = attributes_of(value) if depth + further <= _DEEPEST else None
    if not named:
        return content_key(value) if named is not None else Same(value), [], 0
    return Same(value), [*named, *named.values()], further


def _opened_thing(value: Any, kind: Any) -> tuple[Any, list[Any]] | None:
    """What a thing is, and what is in it, where it is no container and no object with attributes of its own."""
    if _is_bound(value):
        return (value.__name__, Same(getattr(value, "__func__", None))), [value.__self__]
    if isinstance(value, type) and has_data(value):
        named = data_of(value)
        return Same(value), [*named, *named.values()]
    if is_identity(value):
        return Same(value), []
    if kind is ContextVar:
        return Same(value), [value.get(None)]
    return None


_CONTAINERS = (dict, list, tuple, set, frozenset, deque)


def chains(function: FunctionType, translation: Translation) -> Iterator[Chain]:
    """Where the outside names of `function` live."""
    inside, variables = function.__globals__, function.__closure__
    cells = dict(zip(function.__code__.co_freevars, variables, strict=True)) if variables else {}
    for names in translation.chains:
        if names[0] in cells:
            yield _to_property(Chain(cells[names[0]], names))
        elif names[0] in inside:
            yield _to_property(Chain(inside, names))


def _to_property(chain: Chain) -> Chain:
    """`chain` up to the object of which it reads a property of the user's: that is a function, and has run already."""
    for k in range(1, len(chain.names)):
        before = Chain(chain.root, chain.names[:k])
        member = member_of(type(before.read()), chain.names[k])
        read = member.fget if isinstance(member, property) else None
        if isinstance(read, FunctionType) and is_users_code(read.__code__):
            return before
    return chain


def is_stable(chain: Chain) -> bool:
    """Whether a chain goes through a module that no user changes: `math.sin`, and what a function of ours reads."""
    if isinstance(chain.root, dict) and _package(chain.root.get("__name__")) == "rosejit":
        return True
    if len(chain.names) < 2:
        return False
    base = Chain(chain.root, chain.names[:1]).read()
    return isinstance(base, ModuleType) and _package(base.__name__) in ("math", "numpy", "rosejit", "builtins")


def _package(name: Any) -> str:
    return str(name).partition(".")[0]


def _is_bound(value: Any) -> bool:
    """Whether a value is a method of an object, which is made anew at each reading."""
    bound = isinstance(value, (MethodType, BuiltinFunctionType))
    return bound and not isinstance(value.__self__, (ModuleType, type(None)))


def _is_guarded(chain: Chain, owner: Any) -> bool:
    """Whether an object, a method of which is read, is guarded itself, or holds nothing that a method could read."""
    if len(chain.names) > 1 and Chain(chain.root, chain.names[:-1]).read() is owner:
        return True
    return not (isinstance(owner, _HELD) or is_object(owner) or (isinstance(owner, type) and has_data(owner)))


_HELD = (list, dict, set, deque)


def check_unspoilt(tape: Tape, functions: Iterable[FunctionType], reads: Iterable[Read], place: Span | None) -> None:
    """Raise where staged code has left a staged value in something from outside, where it means nothing."""
    found = [r.chain for r in reads if not r.frozen and not is_stable(r.chain) and _holds_staged(r.value)]
    spoilt = [f"`{c}`, which is {'global' if isinstance(c.root, dict) else 'from outside'}," for c in found]
    spoilt += [
        f"a default value of `{function.__name__}`"
        for function in functions
        if (function.__defaults__ or function.__kwdefaults__)
        and _holds_staged((function.__defaults__, function.__kwdefaults__))
    ]
    if spoilt:
        error = tape.fault(
            UnsupportedSyntax,
            f"{spoilt[0]} would hold a value that only running tells",
            help="return the value, and keep it where the call is",
        )
        error.span = error.span or place
        raise error


def _holds_staged(value: Any) -> bool:
    """Whether a staged value is in a structure, or in objects in it."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if isinstance(getattr(item, "leaf", None), Leaf):
            return True
        if id(item) not in seen:
            seen.add(id(item))
            inside = parts(item) or [*(attributes(item).values() if is_object(item) else ())]
            inside += item.values() if isinstance(item, dict) else item if isinstance(item, (list, deque)) else ()
            pending += [x for x in inside if not _is_known(x)]  # programs that make programs read long tables
    return False


def _is_known(value: Any) -> bool:
    """Whether a value is a number, a text or the like, or a tuple of such."""
    return value.__class__ in _PLAIN or (value.__class__ is tuple and _PLAIN.issuperset(map(type, value)))


def guard(read: Read, read_elements: set[int], named: Callable[[], Set[str] | None]) -> Guard | None:
    """What must stay as it is for the code to stay right; `read_elements` are arrays whose elements the host read,
    `named` gives all names in what ran, None where that is not known."""
    chain, value = read.chain, read.value
    if value is _MISSING or is_stable(chain):
        return None
    if _is_bound(value):
        if not _is_guarded(chain, value.__self__):
            return Guard(chain, outside_key(value), identical=False)
        whose = Chain(chain.root, (*chain.names, "__func__"))  # the class may be given another method
        return Guard(whose, value.__func__, identical=True) if isinstance(value, MethodType) else None
    if len(chain.names) > 1 and chain.read() is not value:  # a property makes it anew: then there is only its content
        return Guard(chain, outside_key(value), identical=False)
    if is_identity(value):
        data = _data(value, named()) if isinstance(value, type) and has_data(value) else ()
        return _ClassGuard(chain, value, data) if data else Guard(chain, value, identical=True)
    if read.frozen:
        return Guard(chain, value, identical=False, frozen=True)
    if id(value) in read_elements:
        return _ElementsGuard(chain, content_key(value), identical=False)
    return Guard(chain, outside_key(value), identical=False)


Form = Literal["still", "content", "elements", "alias"]


def form_of(guard: Guard) -> Form:
    """What kind of guard it is: `still` wants the very object, of the others `guard_again` makes equal ones."""
    if isinstance(guard, _Alias):
        return "alias"
    if isinstance(guard, _ElementsGuard):
        return "elements"
    return "still" if guard.identical or guard.frozen else "content"


def guard_again(form: Form, chain: Chain, other: Chain | None = None) -> Guard:
    """A guard as an equal world had it: what it expects is what is there now."""
    if form == "alias":
        return _Alias(chain, other, identical=False)
    value = chain.read()
    if form == "elements":
        return _ElementsGuard(chain, content_key(value), identical=False)
    return Guard(chain, outside_key(value), identical=False)


class _ClassGuard(Guard):
    """A class, and its data that staged code may have read by another name of the class: `cls.k`."""

    __slots__ = ("cls", "names")

    def __init__(self, chain: Chain, cls: type, names: tuple[str, ...]) -> None:
        super().__init__(chain, _held(cls, names), identical=False)
        self.cls = cls
        self.names = names

    def holds(self) -> bool:
        """Whether it is the same class, and they are what they were."""
        return self.chain.read() is self.cls and _held(self.cls, self.names) == self.expected


def _data(cls: Any, named: Set[str] | None) -> tuple[str, ...]:
    fields = getattr(cls, "__dataclass_fields__", ())
    return tuple([name for name in data_of(cls) if (named is None or name in named) and name not in fields])


def _held(cls: type, names: tuple[str, ...]) -> list[Any]:
    return [outside_key([getattr(cls, name, _MISSING)]) for name in names]


class _ElementsGuard(Guard):
    """An array whose elements decided how the code was staged."""

    __slots__ = ()

    def holds(self) -> bool:
        """Whether the elements are the same."""
        return content_key(self.chain.read()) == self.expected
