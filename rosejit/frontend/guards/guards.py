"""Remembers what staged code read from outside, to tell later whether it would be staged the same way again."""

# Values of users are of any type: what they are is asked while staging.

import dis
import functools
import sys
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Set
from inspect import Parameter
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.control.special_methods import as_written, member_of
from rosejit.frontend.syntax.user_code import is_users_class, is_users_code
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.host_values import (
    ATOMS,
    ById,
    Opened,
    Opener,
    fact_of,
    globals_of,
    has_data,
    held_in,
    is_frozen,
    is_identity,
    is_iterator,
    is_users_module,
    itself,
    named_by_users,
    open_class,
    open_function,
    open_module,
)
from rosejit.frontend.values.pytree import attributes, is_object, parts, staged_leaf
from rosejit.frontend.values.reachable_state import Look, View
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.span import Span

_MISSING = object()


@dataclass(slots=True)
class AccessPath:
    """A global or a variable of an enclosing function, and attributes read from it."""

    root: dict[str, Any] | CellType
    names: tuple[str, ...]
    under: dict[str, Any] | None = None
    """Where the first name is found if `root` does not have it: the builtins, which a global hides."""
    module: str = ""
    """How the user calls the module of which `root` has the names."""

    @property
    def place(self) -> tuple[int, tuple[str, ...]]:
        """What tells it from others."""
        return id(self.root), self.names

    def read(self) -> Any:
        """What it is now; `_MISSING` where there is nothing."""
        root, names = self.root, self.names
        try:
            if isinstance(root, dict):
                value = root[names[0]] if self.under is None or names[0] in root else self.under[names[0]]
            else:
                value = root.cell_contents
            if len(names) > 1:
                for name in names[1:]:
                    value = as_written(value, name, getattr(value, name))
        except (KeyError, ValueError, AttributeError):
            return _MISSING
        return value

    def __str__(self) -> str:
        return ".".join([self.module, *self.names] if self.module else self.names)


class AskedAgain(dict[str, Any]):
    """What a call gives, under its name: it is made at each reading."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self._call = functools.partial(function, *args, **kwargs)
        self.code: CodeType | None = getattr(getattr(function, "__wrapped__", None), "__code__", None)
        """That of the function that a cache asks."""

    def __getitem__(self, name: str) -> Any:
        try:
            return self._call()
        except Exception:  # whatever it says: staging asks again, and there it is an error of the user's line
            return self


class PathValue:
    """What a chain is now, and whether nobody can change that."""

    __slots__ = ("chain", "frozen", "value")

    def __init__(self, chain: AccessPath, value: Any = _MISSING) -> None:
        self.chain = chain
        self.value = chain.read() if value is _MISSING else value
        self.frozen = is_frozen(self.value)


class Guard:
    """What `chain` was when the code was staged: the very object, unless `look` has seen what it is by content."""

    __slots__ = ("chain", "expected", "look")
    can_be_still = True
    """Whether to hold may mean no more than to be the same object."""
    is_of_change = False
    """Whether it is of what the code itself changes, and holds for one use."""

    def __init__(self, chain: AccessPath, expected: Any, look: Look | None = None) -> None:
        self.chain = chain
        self.expected = expected
        self.look = look

    @property
    def key(self) -> Any:
        """What tells it from others."""
        chain = self.chain
        return self.__class__, id(chain.root), chain.names

    @property
    def is_still(self) -> bool:
        """Whether it holds as long as the object is the same one."""
        if self.look is None or not self.can_be_still or isinstance(self.chain.root, AskedAgain):
            return self.can_be_still and self.look is None
        return not self.look.can_change and (len(self.chain.names) == 1 or self.chain.read() is self.expected)

    def holds(self) -> bool:
        """Whether it still is."""
        now = self.chain.read()
        if self.look is None:
            return now is self.expected
        return now is not _MISSING and self.look.holds(now)

    def use(self) -> bool:
        """Whether the code may be run or called now."""
        return self.holds()


@dataclass(slots=True, frozen=True)
class Capture:
    """An array from outside that is handed to the code at every call: read again, if it has a name, or kept."""

    array: Any
    chain: AccessPath | None = None

    def read(self) -> Any:
        """The array to hand in; None where what is there now does not fit the code."""
        if self.chain is None:
            return self.array
        now = self.chain.read()
        fits = isinstance(now, np.ndarray) and now.shape == self.array.shape and now.dtype == self.array.dtype
        return now if fits else None


class _AliasGuard(Guard):
    """Two names, `chain` and the chain `expected`, of one array, which is handed in once."""

    __slots__ = ()

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return type(self), self.chain.place, self.expected.place

    can_be_still = False

    def holds(self) -> bool:
        """Whether they still are."""
        return self.chain.read() is self.expected.read()


def aliases(names: list[AccessPath]) -> list[Guard]:
    """Guards for the names of one array."""
    places = {chain.place: chain for chain in names}
    first = names[0] if names else None
    return [_AliasGuard(chain, first) for chain in [*places.values()][1:]]


class Outside(View):
    """What staged code reads from outside. Arrays of `live` are handed in at each call, and those in attributes of the
    user's objects are when they are read: of these the layout counts. `names` are all that can have been asked of
    functions, classes and modules, None where that is not known."""

    def __init__(self, live: Set[int] = frozenset(), names: Set[str] | None = None) -> None:
        self._asked = frozenset[str]() if names is None else frozenset(names)
        self._is_inspecting = not _INSPECTING.isdisjoint(self._asked)
        self._is_asking = self._is_inspecting or not _ASKING.isdisjoint(self._asked)
        self.facts = _TOLD if self._is_inspecting else _FACTS & self._asked
        self.asks = self._is_asking or bool(self.facts)
        self.names = None if self._is_asking else names
        self.live = live

    def opener(self, value: Any, met: Set[int]) -> Opener | None:
        """How a value is opened, where that is not as the table says."""
        if isinstance(value, np.ndarray):
            is_handed = is_array(value) and (id(value) in self.live or id(value) in met)
            return open_layout if is_handed else None
        if isinstance(value, type):
            return self._class
        if isinstance(value, ModuleType):
            return self._module
        return self._function if self.facts and type(value) is FunctionType else None

    def _class(self, value: Any) -> Opened:
        return self._with_facts(value, open_class(value, self.names)) if is_users_class(value) else itself(value)

    def _module(self, value: Any) -> Opened:
        if not is_users_module(value):
            return itself(value)
        what, inside = self._with_facts(value, open_module(value, self.names))
        return what, [*inside, vars(value).get("__getattr__")] if self._is_asking else inside

    def _function(self, value: Any) -> Opened:
        return self._with_facts(value, open_function(value))

    def _with_facts(self, value: Any, opened: Opened) -> Opened:
        if not self.asks:
            return opened
        what, inside = opened
        held = vars(value) if isinstance(value, type) else {}
        asked = [name for name in held if self._is_inspecting or name in self._asked]
        methods = [each for name in asked if isinstance(each := member_of(value, name), _METHODS)]
        facts = [fact_of(value, name) for name in self.facts if name != "__globals__"]
        return (what, globals_of(value) if "__globals__" in self.facts else ()), [*inside, *methods, *facts]


_METHODS = (FunctionType, staticmethod, classmethod)
_ASKING = frozenset({"getattr", "hasattr", "vars", "dir", "__dict__", "attrgetter", "methodcaller", "getmembers"})
"""Names of what asks by names that are data."""
_INSPECTING = frozenset(
    {"signature", "get_type_hints", "get_annotations", "getfullargspec", "getdoc", "fields", "repr"}
)
"""Names of what asks functions and classes what they are."""
_DESCRIBING = "__name__ __qualname__ __doc__ __module__ __annotations__ __type_params__"
_CALLING = "__defaults__ __kwdefaults__ __code__ __dataclass_fields__ __version__ __slots__ __match_args__"
_TOLD = frozenset(f"{_DESCRIBING} {_CALLING}".split())
_FACTS = _TOLD | {"__globals__", "__closure__"}
"""Names of what a function, a class or a module is, which are none of its data."""


def open_layout(value: Any) -> Opened:
    """An array by what it is without its elements."""
    return (ById(value), value.shape, value.dtype.str), []


def chains(function: FunctionType, found: Iterable[tuple[str, ...]]) -> Iterator[AccessPath]:
    """Where the outside names of `function` live."""
    inside, variables = function.__globals__, function.__closure__
    cells = dict(zip(function.__code__.co_freevars, variables, strict=True)) if variables else {}
    for names in found:
        if names[0] in cells:
            yield _to_property(AccessPath(cells[names[0]], names))
        elif names[0] in inside:
            yield _to_property(_in_module(inside, names) or AccessPath(inside, names))
        elif names[0] in function.__builtins__ and len(names) == 1:
            yield AccessPath(inside, names, function.__builtins__)


def imported(functions: Iterable[FunctionType], names: Set[str]) -> Iterator[AccessPath]:
    """Modules of the user's that functions import where they run, and what these hold under any of `names`."""
    for function in functions:
        for name in _imports(function.__code__, str(function.__globals__.get("__package__") or "")):
            module = sys.modules.get(name)
            if type(module) is ModuleType and is_users_module(module):
                yield AccessPath(sys.modules, (name,))
                yield from [AccessPath(vars(module), (each,)) for each in names & vars(module).keys()]


@functools.lru_cache(1024)
def _imports(code: CodeType, package: str) -> frozenset[str]:
    """All that code may import, by whole names; a relative import is looked for in each package around."""
    inner = [_imports(each, package) for each in code.co_consts if isinstance(each, CodeType)]
    if _IMPORT not in code.co_code[::2]:
        return frozenset().union(*inner)
    found, base = set[str](), ""
    around = [package.rsplit(".", k)[0] for k in range(package.count(".") + 1)] if package else []
    for step in dis.get_instructions(code):
        if step.opname in ("IMPORT_NAME", "IMPORT_FROM"):
            base = step.argval if step.opname == "IMPORT_NAME" else base
            name = base if step.opname == "IMPORT_NAME" else f"{base}.{step.argval}".strip(".")
            found |= {name, *[f"{each}.{name}".rstrip(".") for each in around]}
    return frozenset(found).union(*inner)


_IMPORT = dis.opmap["IMPORT_NAME"]


def _in_module(inside: dict[str, Any], names: tuple[str, ...]) -> AccessPath | None:
    """What a function reads of Python's modules or NumPy's, where it is held: that is asked at every call."""
    module = inside[names[0]]
    for k in range(1, len(names)):
        if type(module) is not ModuleType or _package(module.__name__) not in _PATCHED:
            return None
        if k == len(names) - 1 or names[k] not in vars(module):
            break
        module = vars(module)[names[k]]
    is_held = len(names) > 1 and names[-1] in vars(module)
    return AccessPath(vars(module), names[-1:], None, ".".join(names[:-1])) if is_held else None


_PATCHED = ("math", "numpy", "builtins")


def _to_property(chain: AccessPath) -> AccessPath:
    """`chain` up to the object of which it reads what code of the user's gives, which has run already."""
    for k in range(1, len(chain.names)):
        before = AccessPath(chain.root, chain.names[:k])
        if _is_computed(before.read(), chain.names[k]):
            return before
    return chain


def _is_computed(owner: Any, name: str) -> bool:
    """Whether code of the user's gives an attribute: a property, another descriptor, or `__getattr__`."""
    cls = type(owner)
    member = member_of(cls, name)
    if member is None:
        held = _dictionary_of(owner)
        return name not in held and _is_users_function(member_of(cls, "__getattr__"))
    read = member.fget if isinstance(member, property) else None
    return _is_users_function(read) or _is_users_function(member_of(type(member), "__get__"))


def _dictionary_of(owner: Any) -> Any:
    return object.__getattribute__(owner, "__dict__") if type(owner).__dictoffset__ else ()


def _is_users_function(value: Any) -> bool:
    return isinstance(value, FunctionType) and is_users_code(value.__code__)


def is_stable(chain: AccessPath) -> bool:
    """Whether a chain goes through a module that no user changes: ours."""
    if isinstance(chain.root, dict) and is_ours(chain.root.get("__name__")):
        return True
    if len(chain.names) < 2:
        return False
    base = AccessPath(chain.root, chain.names[:1]).read()
    return isinstance(base, ModuleType) and _package(base.__name__) in (*_PATCHED, "rosejit")


def is_ours(module: Any) -> bool:
    """Whether a module of that name is one of rosejit's."""
    return _package(module) == "rosejit"


def _package(name: Any) -> str:
    return str(name).partition(".")[0]


def _is_bound(value: Any) -> bool:
    """Whether a value is a method of an object, which is made anew at each reading."""
    bound = isinstance(value, (MethodType, BuiltinFunctionType))
    return bound and not isinstance(value.__self__, (ModuleType, type(None)))


def _is_guarded(chain: AccessPath, owner: Any) -> bool:
    """Whether an object, a method of which is read, is guarded itself, or holds nothing that a method could read."""
    if len(chain.names) > 1 and AccessPath(chain.root, chain.names[:-1]).read() is owner:
        return True
    return not (isinstance(owner, _HELD) or is_object(owner) or (isinstance(owner, type) and has_data(owner)))


_HELD = (list, dict, set, deque)


def check_unspoilt(
    tape: Tape, functions: Iterable[FunctionType], reads: Iterable[PathValue], place: Span | None
) -> None:
    """Raise where staged code has left a staged value in something from outside, where it means nothing."""
    found = [(r.chain, r.value) for r in reads if not r.frozen and not is_stable(r.chain)]
    spoilt = [(f"`{c}`, which is {_whence(c)},", holder) for c, value in found for holder in _holders_of_staged(value)]
    spoilt += [
        (f"a default value of `{function.__name__}`", holder)
        for function in functions
        if function.__defaults__ or function.__kwdefaults__
        for holder in _holders_of_staged((function.__defaults__, function.__kwdefaults__))
    ]
    if spoilt:
        title, holder = spoilt[0]
        error = tape.fault(
            UnsupportedSyntax,
            f"{title} would hold a value that only running tells",
            help="return the value, and keep it where the call is",
        )
        error.span = tape.undo.places.get(id(holder)) or error.span or place  # where it was changed first
        raise error


def _whence(chain: AccessPath) -> str:
    if isinstance(chain.root, AskedAgain):
        return "kept elsewhere"
    return "global" if isinstance(chain.root, dict) else "from outside"


def _holders_of_staged(value: Any) -> list[Any]:
    """The structure or object that holds the first staged value in a structure, or in objects in it; nothing where
    there is none."""
    pending, seen = [(value, value)], set[int]()
    while pending:
        item, holder = pending.pop()
        if staged_leaf(item) is not None:
            return [holder]
        if id(item) not in seen:
            seen.add(id(item))
            known = [x for x in _inside(item) if not is_known(x)]  # programs that make programs read long tables
            pending += [(x, item) for x in known]
    return []


def _inside(item: Any) -> Iterable[Any]:
    if isinstance(item, MethodType):
        return (item.__self__, item.__func__)
    if isinstance(item, functools.partial):
        return (item.func, item.args, item.keywords)
    return parts(item) or [*(attributes(item).values() if is_object(item) else ()), *held_in(item)]


def is_known(value: Any) -> bool:
    """Whether a value is a number, a text or the like, or a tuple of such."""
    return value.__class__ in ATOMS or (value.__class__ is tuple and ATOMS.issuperset(map(type, value)))


def guard(
    read: PathValue,
    view: Outside,
    kept: Set[int],
    known: Container[int] = (),
    seen: Callable[[Any], Look | None] = lambda _: None,
) -> Guard | None:
    """What must stay as it is for the code to stay right; arrays that are `kept` are not read again by name, and of
    those that are `known` the host has read the elements. `seen` are looks that were taken before."""
    chain, value = read.chain, read.value
    if value is _MISSING or is_stable(chain):
        return None
    if chain.module or chain.under is not None:
        return Guard(chain, value)
    if _is_bound(value) and len(chain.names) > 1:
        if not _is_guarded(chain, value.__self__):
            return Guard(chain, value, Look(value, view))
        whose = AccessPath(chain.root, (*chain.names, "__func__"))  # the class may be given another method
        if not isinstance(value, MethodType):
            return None
        return Guard(whose, value.__func__, Look(value.__func__, view) if view.asks else None)
    if is_iterator(value):
        raise consumed(chain, value)
    if is_identity(value) and not view.asks and not _holds_data(value):
        return Guard(chain, value)
    if is_array(value) and id(value) not in known and value.dtype.kind != "c":  # which is known to the host
        return Guard(chain, value) if id(value) in kept else _LayoutGuard(chain, value)
    look = None if view.asks or read.frozen else seen(value)
    return Guard(chain, value, look or Look(value, view, read.frozen))


def elements_guard(read: Any) -> Guard:
    """An array whose elements decided how the code was staged."""
    return Guard(AccessPath({"array": read}, ("array",)), read, Look(read, View()))


class Defaults:
    """The defaults of parameters of which the content can change: a call in staged code is bound once. Arrays, which
    are handed in at each call, are none."""

    __slots__ = ("_guards", "_held")

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        given = {p.name: p.default for p in parameters if p.default is not p.empty and not is_frozen(p.default)}
        self._held = {name: v for name, v in given.items() if not is_array(v)}
        self._guards = tuple(map(self._guard, self._held))

    def _guard(self, name: str) -> Guard:
        value = self._held[name]
        return Guard(AccessPath(self._held, (name,)), value, Look(value, View()))

    def guards(self) -> tuple[Guard, ...]:
        """Guards for what they hold now."""
        if not all([guard.holds() for guard in self._guards]):
            self._guards = tuple(map(self._guard, self._held))
        return self._guards


def _holds_data(value: Any) -> bool:
    """Whether a function, or a class, has data that staged code may have read by another name of it."""
    if isinstance(value, type):
        return has_data(value)
    if isinstance(value, ModuleType):
        return is_users_module(value)
    return _is_bound(value) or (isinstance(value, FunctionType) and bool(named_by_users(value)))


def consumed(chain: AccessPath, iterator: Any) -> UnsupportedSyntax:
    """The refusal of an iterator from outside, to which a chain leads."""
    what = "is an iterator" if chain.read() is iterator else f"holds an iterator ({type(iterator).__name__})"
    return UnsupportedSyntax(
        f"`{chain}` {what} from outside: what it gives at the next call, staging cannot know",
        help="make a list of it where it is made, or take the next element where the call is, and pass it",
    )


class _LayoutGuard(Guard):
    """An array whose elements are handed in at each call."""

    __slots__ = ()
    can_be_still = False

    def holds(self) -> bool:
        """Whether there is an array of the same form."""
        now, then = self.chain.read(), self.expected
        return now is then or (isinstance(now, np.ndarray) and now.shape == then.shape and now.dtype == then.dtype)
