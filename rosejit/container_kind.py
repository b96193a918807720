"""What is asked of a kind of container; the kinds themselves are in `containers`."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from rosejit.abi import Node, Tree

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

Read = Callable[[Any, str], Any]
"""As `getattr`: reads an attribute."""
Constant = Callable[[Any], str]


class Container:
    """A kind of container whose parts have positions: what is said here holds for all kinds that do not say else."""

    is_named = False
    """Whether parts have names; the container is an object in JavaScript, and else an array."""
    is_fixed = False
    """Whether a hint says how many parts there are."""
    of_any_keys = False
    """Whether the names of the parts are those of the value, and not those of its class."""
    changes = False
    """Whether its parts can be replaced."""
    is_derived = False
    """Whether its values are of classes that are derived from one of Python's."""

    def __init__(self, name: str, type: Any = None, accepts: tuple[Any, ...] = (), generics: tuple[Any, ...] = ()):
        self.name = name
        """The `kind` of its nodes."""
        self.type = type
        """The class of all its values; None where users write the classes."""
        self.accepts = accepts
        """The classes of the arguments that it is made of."""
        self.generics = generics
        """What such a container is called in hints with arguments."""

    def __repr__(self) -> str:
        return self.name

    # --- values

    def owns(self, cls: Any) -> bool:
        """Whether the values of a class are of this kind."""
        return cls is self.type

    def is_mutable(self, cls: Any) -> bool:
        """Whether values of a class have an identity that writes can show."""
        return self.changes

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        """What is in a value, in order."""
        return list(value)

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        """The parts of these names, or all where parts have positions. Raises what Python does where one is missing."""
        return list(value)

    def keys(self, value: Any) -> tuple[Any, ...]:
        """The names of the parts of a value; none where they have positions."""
        return ()

    def state(self, value: Any) -> Any:
        """What a value has beside its parts, and is made with."""
        return None

    def layout(self, value: Any) -> Any:
        """What two values of one class have in common that have the same parts by name."""
        return len(value), self.state(value)

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        """A container as `value`, with other parts."""
        return self.type(parts)

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        """The node of a value."""
        return Node(self.name, children, state=self.state(value) if isinstance(value, self.type) else None)

    def make(self, node: Node, parts: list[Any]) -> Any:
        """The value of a node, of its parts."""
        return self.type(parts)

    def maker(self, node: Node) -> Callable[..., Any]:
        """What makes the value of a node of its parts, one an argument: to make many."""
        return lambda *parts: self.make(node, list(parts))

    # --- hints

    def fields(self, cls: Any) -> tuple[str, ...] | None:
        """The names of the parts that a class of the user's says its values have; None for one of another kind."""
        return None

    def item(self, arguments: tuple[Any, ...]) -> Any:
        """The hint of every part, as the arguments of a generic hint say it; None where they say something else."""
        return arguments[0]

    def described(self, children: tuple[Tree, ...], keys: tuple[Any, ...], cls: Any) -> Node:
        """The node of what a hint says."""
        return Node(self.name, children, keys, cls)

    def fits(self, value: Any, cls: Any, keys: tuple[Any, ...], count: int) -> bool:
        """Whether a value has the parts that a hint says."""
        return isinstance(value, self.accepts) and len(value) == count

    def wanted(self, cls: Any, keys: tuple[Any, ...], count: int) -> str:
        """That in words."""
        return f"a {self.name} of {count}"

    # --- at the border

    def step(self, key: Any) -> str:
        """What a user writes behind the name of the whole for the part `key`, or the one at this position."""
        return f"[{key!r}]"

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        """The condition that `value`, a name, is no container as `node`."""
        return f"$py_type({value}) is not {self._class(constant)} or $py_len({value}) != {len(node.children)}"

    def each(self, node: Node, value: str) -> str | None:
        """The expression of what gives the parts of a container as `node` in a loop; None where nothing does."""
        return value

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        """The lines that give the parts of a container as `node` these names."""
        return [f"{', '.join(names)}, = {value}"]

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        """The expression for a container of these parts, which are expressions."""
        return self.gathered(node, f"({', '.join(parts)},)" if parts else "()", constant)

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        """The expression for a container of the items of `parts`, which is one."""
        return f"{self._class(constant)}({parts})"

    def put(self, node: Node, name: str, parts: Sequence[str], constant: Constant) -> list[str]:
        """The lines that name a container of these parts."""
        return [f"{name} = {self.literal(node, parts, constant)}"]

    def _class(self, constant: Constant) -> str:
        return f"$py_{self.name}" if self.type.__module__ == "builtins" else constant(self.type)


@lru_cache(2048)
def is_derived(cls: Any) -> bool:
    """Whether a class is derived from one of Python's containers, records aside."""
    is_record = hasattr(cls, "_fields") or hasattr(cls, "__dataclass_fields__")
    return not is_record and issubclass(cls, _PLAIN) and cls not in _PLAIN


class _Derived(Container):
    """Containers of classes derived from a kind's, users', `OrderedDict`, `defaultdict` and `Counter`: taken apart and
    filled by the methods of the nearest class of Python's, whatever their own ones do."""

    is_derived = True

    def __init__(self, base: Container) -> None:
        super().__init__(f"derived {base.name}", None, (base.type,))
        self.is_named = self.of_any_keys = base.is_named
        self.is_fixed, self.changes = base.is_fixed, base.changes

    def owns(self, cls: Any) -> bool:
        return False

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        base = self._base(type(value))
        return list(base.values(value) if self.is_named else base.__iter__(value))

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        parts = self.parts(value)
        if not self.is_named:
            return parts
        named = dict(zip(self.keys(value), parts, strict=True))
        return [named[key] for key in keys]

    def keys(self, value: Any) -> tuple[Any, ...]:
        return tuple(self._base(type(value)).__iter__(value)) if self.is_named else ()

    def state(self, value: Any) -> Any:
        base = self._base(type(value))
        return value.maxlen if base is deque else value.default_factory if base is defaultdict else None

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        keys = self.keys(value)
        return Node(self.name, children, keys, type(value), ordered=self.is_named, state=self.state(value))

    def make(self, node: Node, parts: Sequence[Any]) -> Any:
        cls: Any = node.cls
        base = self._base(cls)
        if base is tuple:
            return tuple.__new__(cls, parts)
        made = base.__new__(cls)
        if base is deque:
            deque.__init__(made, parts, node.state)
        elif base is list:
            list.extend(made, parts)
        else:
            if base is defaultdict:
                defaultdict.__init__(made, node.state)
            for key, part in zip(node.keys, parts, strict=True):
                base.__setitem__(made, key, part)
        return made

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        other = f"not {constant(self._is_alike)}({value}, {constant(node)})"
        return f"$py_type({value}) is not {constant(node.cls)} or {other}"

    def each(self, node: Node, value: str) -> str | None:
        return None

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        return [f"{', '.join(names)}, = {constant(self.parts)}({value})"]

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return self.gathered(node, f"({', '.join(parts)},)" if parts else "()", constant)

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(partial(self.make, node))}({parts})"

    def _is_alike(self, value: Any, node: Node) -> bool:
        base = self._base(node.cls)
        same = base.__len__(value) == len(node.children) and self.keys(value) == node.keys
        return same and self.state(value) == node.state and not getattr(value, "__dict__", None)

    def _base(self, cls: Any) -> Any:
        return next(each for each in cls.__mro__ if each in _BASES)


_PLAIN = (list, tuple, dict, deque)
_BASES = frozenset({list, tuple, dict, OrderedDict, defaultdict, deque})


def derived_of(kinds: Sequence[Container]) -> list[Container]:
    """The kinds of the classes that are derived from those of `kinds`."""
    return [_Derived(kind) for kind in kinds]
