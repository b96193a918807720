"""What is known of tuples, lists, named tuples and dataclass instances in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

import dis
from collections.abc import Callable, Iterator
from dataclasses import field
from types import CodeType, FunctionType
from typing import Any

from rosejit.abi import Leaf, Node, Tree
from rosejit.containers import OPTIONAL, of_class
from rosejit.frontend.control.optional import Optional, known_flag
from rosejit.frontend.control.special_methods import member_of
from rosejit.frontend.hints.hints import ShapeOf
from rosejit.frontend.rolling import abstract_arrays, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import AbstractArray, Contents
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, unroll
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.pytree import is_record
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass

_PYTHONS: dict[Scalar, type] = {REAL: float, INT: int, BOOL: bool}
_DUNDERS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip


@dataclass(slots=True)
class AbstractStructure:
    """A tuple, a list, or an instance of a class of records. `keys` are the names of its fields; a list has none."""

    items: list[Any]
    made: Any = list
    keys: tuple[Any, ...] = ()
    taken: Any = field(default=None, compare=False)
    """The list of the host whose row it is, and the index of that, where it is one."""

    @property
    def is_optional(self) -> bool:
        """Whether it is a value that may be None, which only running tells: its flag, and the value."""
        return self.made is Optional

    @property
    def is_mutable(self) -> bool:
        """Whether writes can show which of two it is."""
        kind = of_class(self.made)
        return kind is None or kind.is_mutable(self.made)

    def with_items(self, items: list[Any]) -> "AbstractStructure":
        """The same kind of structure, with other items."""
        return AbstractStructure(items, self.made, self.keys)


def is_optional(value: Any) -> bool:
    """Whether only running tells if a value is None."""
    return value.__class__ is AbstractStructure and value.is_optional


def required(value: Any) -> Any:
    """What is used of a value that may be None: where there is none the code raises, rolled or not."""
    return value.items[1] if is_optional(value) else value


def flag_of(value: Any) -> Any:
    """Whether a value is there that may be None; None of what cannot be."""
    if is_optional(value):
        return value.items[0]
    if value == Constant(None):
        return Constant(False)
    is_value = value.__class__ in (AbstractNumber, AbstractArray, AbstractStructure)
    return Constant(True) if is_value or abstract_numbers.is_known_number(value) else None


def optional(flag: Any, held: Any) -> AbstractStructure:
    """A value that may be None."""
    return AbstractStructure([flag, held], Optional)


def truth(value: Any) -> Any:
    """`value` as a test: what may be None is there, and true."""
    if value.__class__ is AbstractStructure and value.made is tuple:
        return Constant(bool(value.items))
    if not is_optional(value):
        return abstract_numbers.truth(value)
    flag, held = value.items
    if held.__class__ is AbstractStructure:
        asked = ("__bool__",) if issubclass(held.made, (list, tuple)) else ("__bool__", "__len__")
        is_true = held.items and not any(member_of(held.made, name) for name in asked)
        return flag if is_true else unroll("a test of a value or None")
    tested = abstract_numbers.truth(held)
    return abstract_numbers.staged(BOOL) if tested.__class__ is AbstractNumber else unroll("a test of a value or None")


def leaves(value: Any) -> Iterator[Any]:
    """What is in a structure, or the value itself."""
    if value.__class__ is AbstractStructure:
        for item in value.items:
            yield from leaves(item)
    else:
        yield value


class SamePlaces:
    """Which arrays may be one another: sets of places, each found by its first."""

    def __init__(self) -> None:
        self._first: dict[Any, Any] = {}

    def join(self, third: Any, *each: Any) -> None:
        """After an `if`, `third` is one of `each`."""
        for one in each:
            if is_optional(third) and not is_optional(one):
                self.join(required(third), one)
            elif third.__class__ is one.__class__ is AbstractStructure:
                for part, old in zip(third.items, one.items, strict=False):
                    self.join(part, old)
            elif third.__class__ is one.__class__ is AbstractArray:
                self._first[self.of(one.place)] = self.of(third.place)

    def of(self, place: Any) -> Any:
        """What stands for all the places that may be this one."""
        while self._first.get(place, place) is not place:
            place = self._first[place]
        return place


def is_like(a: Any, b: Any) -> bool:
    """Whether two structures have the same class and fields."""
    return (
        a.__class__ is b.__class__ is AbstractStructure
        and a.made is b.made
        and a.keys == b.keys
        and len(a.items) == len(b.items)
    )


def structured(value: Any, classified: Callable[[Any], Any]) -> Any:
    """A tuple or a record from before the loop, opened up; any other value as it is."""
    if value.__class__ is AbstractStructure:
        return value.with_items([structured(item, classified) for item in value.items])
    kind = of_class(type(value.value)) if value.__class__ is Constant else None
    if kind is OPTIONAL:
        held = structured(classified(value.value.__rose_held__), classified)
        return optional(classified(known_flag(value.value)), held)
    if kind is None or not (kind.type is tuple or is_record(type(value.value))):
        return value
    held = value.value
    items = [structured(classified(part), classified) for part in kind.parts(held)]
    return AbstractStructure(items, type(held), kind.keys(held))


def replaced(given: list[Any], named: dict[str, Any], classified: Callable[[Any], Any]) -> AbstractStructure:
    """`dataclasses.replace(record, **named)`."""
    (record,) = given
    return made(record.made, [], {**dict(zip(record.keys, record.items, strict=True)), **named}, classified)


def made(cls: Any, given: list[Any], named: dict[str, Any], classified: Callable[[Any], Any]) -> AbstractStructure:
    """`cls(*given, **named)` of a class of records, whose constructor keeps what it is given."""
    kind = of_class(cls)
    if hasattr(cls, "__post_init__") or any(_is_users(getattr(cls, name)) for name in ("__init__", "__new__")):
        unroll(f"the constructor of `{cls.__name__}` is the user's")
    if any(isinstance(getattr(field, "default_factory", None), FunctionType) for field in _fields(cls)):
        unroll(f"the constructor of `{cls.__name__}` calls a function of the user's")
    try:
        instance = cls(*given, **named)
    except TypeError:
        unroll("arguments that do not fit")
    assert kind is not None
    items = [part if _is_abstract(part) else classified(part) for part in kind.parts(instance)]
    return AbstractStructure(items, cls, kind.keys(instance))


def _fields(cls: Any) -> list[Any]:
    return list(getattr(cls, "__dataclass_fields__", {}).values())


def _is_abstract(value: Any) -> bool:
    return value.__class__ in (AbstractNumber, AbstractArray, AbstractStructure, Constant) or hasattr(
        value, "__rose_abstract__"
    )


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and is_users_code(function.__code__)


# --- their methods


def method_of(value: Any, name: str) -> FunctionType | None:
    """The method of that name of the user's class of a record or of an object of the host; None where it has none."""
    cls = class_of(value)
    if cls is None or (value.__class__ is Constant and name in getattr(value.value, "__dict__", ())):
        return None
    found = member_of(cls, name)
    return found if _is_users(found) else None


def getter_of(value: Any, name: str) -> FunctionType | None:
    """The function of a property of that name of the user's class of a record or of an object of the host."""
    cls = class_of(value)
    found = None if cls is None else member_of(cls, name)
    return found.fget if isinstance(found, property) and _is_users(found.fget) else None


def class_of(value: Any) -> Any:
    """The class of a structure, or of a value of the host that is no class or function itself."""
    if value.__class__ is AbstractStructure:
        return value.made
    if value.__class__ is Constant and not isinstance(value.value, (type, FunctionType)):
        return type(value.value)
    return None


def operator_of(op: str, left: Any, right: Any) -> Iterator[tuple[FunctionType, list[Any]]]:
    """The methods that Python asks for `left op right`, with their arguments."""
    name = _DUNDERS.get(op)
    classes = class_of(left), class_of(right)
    if name is None or not any(cls is not None and _is_users_record(cls) for cls in classes):
        return
    if None not in classes and classes[0] is not classes[1] and issubclass(classes[1], classes[0]):
        unroll("an operator of a class and one made of it")
    for value, other, dunder in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        found = method_of(value, dunder)
        if found is not None:
            yield found, [value, other]


def is_changed_by(op: str, value: Any) -> bool:
    """Whether the class of a value says itself what `value op= other` does."""
    return op in _DUNDERS and method_of(value, f"__i{_DUNDERS[op]}__") is not None


def _is_users_record(cls: Any) -> bool:
    return cls.__module__ != "builtins" and not cls.__module__.startswith("numpy")


# --- at the border of decorated functions


def of_tree(tree: Tree, contents: Contents) -> Any:
    """What a function gives whose result is described by `tree`."""
    if isinstance(tree, Leaf) and tree.kind in ("real", "int", "bool"):
        return abstract_numbers.staged(_KINDS[tree.kind])
    if isinstance(tree, Leaf) and tree.kind == "array" and all(n.__class__ is int for n in tree.shape):
        return abstract_arrays.fresh(contents, tree.shape, _KINDS[tree.element])
    if isinstance(tree, Node) and tree.kind == "none":
        return Constant(None)
    if isinstance(tree, Node) and tree.kind == OPTIONAL.name:
        return optional(*(of_tree(child, contents) for child in tree.children))
    if isinstance(tree, Node) and tree.kind in ("tuple", "list", "namedtuple", "dataclass"):
        made = {"tuple": tuple, "list": list}.get(tree.kind, tree.cls)
        return AbstractStructure([of_tree(child, contents) for child in tree.children], made, tree.keys)
    return unroll("a decorated function whose result is neither numbers nor arrays of known shapes")


_KINDS: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}


def standing_for(value: Any) -> Any:
    """What stands for an argument when a call is bound."""
    if value.__class__ is Constant:
        return value.value
    if value.__class__ is AbstractArray:
        return ShapeOf(*value.shape, dtype=_PYTHONS[value.kind])
    if value.__class__ is AbstractNumber:
        return ShapeOf(dtype=_PYTHONS[value.kind])
    kind = of_class(value.made) if value.__class__ is AbstractStructure else None
    if kind is None:
        return unroll("a function of the loop is an argument")
    return kind.make(Node(kind.name, (), value.keys, value.made), [standing_for(item) for item in value.items])


# --- records that are changed after the loop


def is_stored_to(cls: Any, keys: tuple[Any, ...], around: dict[str, Any]) -> bool:
    """Whether a function of a module, or a method of a class, assigns a field of a name of `keys`: instances that a
    rolled loop has bound to a name may not be changed in place."""
    functions = [*around.values(), *vars(cls).values()]
    codes = [getattr(getattr(f, "__wrapped__", f), "__code__", None) for f in functions]
    return any(isinstance(code, CodeType) and is_users_code(code) and _stores(code, frozenset(keys)) for code in codes)


def _stores(code: CodeType, names: frozenset[str]) -> bool:
    if not names.isdisjoint(code.co_names) and any(
        each.opname == "STORE_ATTR" and each.argval in names for each in dis.get_instructions(code)
    ):
        return True
    return any(isinstance(inner, CodeType) and _stores(inner, names) for inner in code.co_consts)
