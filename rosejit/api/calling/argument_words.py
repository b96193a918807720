"""What a compiled program takes, in words; and of arguments that are something else the first that is."""

# Values of users are of any type.

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree, leaves
from rosejit.api.deferred import value_words
from rosejit.errors import RoseError, ShapeError, StagingTypeError
from rosejit.made_anew import plain
from rosejit.runtime.marshalling import convert
from rosejit.runtime.marshalling.marshal import Signature

_NUMBERS: dict[str, type] = {"real": float, "int": int, "bool": bool}
_CONVERTERS: dict[str, Any] = {"real": convert.real, "int": convert.integer, "bool": convert.boolean}
_ACCEPTED: dict[str, Any] = {"tuple": tuple, "list": list, "dict": dict, "deque": deque}


class Kind:
    """An annotation that is no class: it shows what an argument has to be."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def shown(signature: Signature, statics: Sequence[Any]) -> inspect.Signature:
    """The parameters and the result, with what each has to be."""
    values = iter(statics)
    parameters = [
        parameter.replace(annotation=_hint(tree, values))
        for parameter, tree in zip(signature.parameters, signature.trees, strict=True)
    ]
    result = _hint(signature.result, (key for key in _static_keys(signature.result)))
    return inspect.Signature(parameters, return_annotation=result)


def _static_keys(tree: Tree) -> Iterator[Any]:
    if isinstance(tree, Static):
        yield plain(tree.key)
    for child in tree.children if isinstance(tree, Node) else ():
        yield from _static_keys(child)


def _hint(tree: Tree, statics: Iterator[Any]) -> Any:
    if isinstance(tree, Leaf) and tree.kind in _NUMBERS:
        return _NUMBERS[tree.kind]
    if isinstance(tree, Node) and tree.kind in ("namedtuple", "dataclass") and not hasattr(tree.cls, "__rose_host__"):
        for _ in range(sum(1 for _ in _static_keys(tree))):
            next(statics)
        return tree.cls
    return None if isinstance(tree, Node) and tree.kind == "none" else Kind(_text(tree, statics))


def _text(tree: Tree, statics: Iterator[Any]) -> str:
    match tree:
        case Static():
            return f"Static[{value_words.described(next(statics))}]"
        case Leaf(kind="array" | "dyn" as kind, shape=shape, element=element):
            dims = [*(['"n"'] if kind == "dyn" else []), *map(str, shape)]
            name = {1: "Vec", 2: "Mat"}.get(len(dims), "Array") if element == "real" else "Array"
            return f"{name}[{', '.join([*dims, *([] if element == 'real' else [element])])}]"
        case Leaf(kind=kind):
            return _NUMBERS[kind].__name__
        case Node(kind="none"):
            return "None"
        case Node(kind="dict", children=children, keys=keys):
            return f"{{{', '.join(f'{k!r}: {_text(c, statics)}' for k, c in zip(keys, children, strict=True))}}}"
        case Node(kind="tuple" | "list" | "deque" as kind, children=children):
            parts = [(_text(child, statics), 1) for child in children]
            runs = [(text, len([*run])) for text, run in groupby(parts, lambda part: part[0])]
            return f"{kind}[{', '.join(text if n == 1 else f'{n} x {text}' for text, n in runs)}]"
        case Node(cls=cls):
            for _ in range(sum(1 for _ in _static_keys(tree))):
                next(statics)
            return "list" if cls is None or hasattr(cls, "__rose_host__") else cls.__name__


def misfit(signature: Signature, statics: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> RoseError:
    """What is wrong with arguments that do not fit."""
    found = inspect.Signature([*signature.parameters]).bind(*args, **{k: v for k, v in kwargs.items() if k != "out"})
    found.apply_defaults()
    help = f"call `{signature.name}` itself, or compile it for these: `{signature.name}.lower(...).compile()`"
    leaf, values = 0, iter(statics)
    for parameter, tree in zip(signature.parameters, signature.trees, strict=True):
        kept = [next(values) for _ in _static_keys(tree)]
        exact = iter([k in signature.exact for k in range(leaf, leaf + len(leaves(tree)))])
        leaf += len(leaves(tree))
        wrong = _unlike(signature, tree, found.arguments[parameter.name], parameter.name, exact)
        if wrong is not None:
            where, value, reason = wrong
            hint = _hint(tree, iter(kept))
            needed = hint.__name__ if isinstance(hint, type) else repr(hint)
            error = (ShapeError if "shape" in reason else StagingTypeError)(
                f"`{signature.name}` was compiled for another `{where}`, given {value_words.described(value)}",
                facts=(f"`{parameter.name}` is `{needed}`: {reason}",),
                help=help,
            )
            error.blames_call = True
            return error
    return StagingTypeError(f"`{signature.name}` was compiled for other arguments", help=help)


Wrong = tuple[str, Any, str]
"""Where it is in the argument, what is there, and what is needed."""


def _unlike(signature: Signature, tree: Tree, value: Any, where: str, exact: Iterator[bool]) -> Wrong | None:
    """The first part of a value that does not fit."""
    match tree:
        case Static(key=key):
            return None if value is key or signature.same(value, key) else (where, value, "another static value")
        case Leaf():
            return _unlike_leaf(tree, value, where, next(exact))
        case Node(kind="none"):
            return None if value is None else (where, value, "None is needed")
        case Node():
            return _unlike_node(signature, tree, value, where, exact)


def _unlike_leaf(leaf: Leaf, value: Any, where: str, exact: bool) -> Wrong | None:
    try:
        if leaf.kind == "array":
            (convert.exact_array if exact else convert.array)(value, leaf.shape, leaf.element)
        elif leaf.kind == "dyn":
            convert.array(value, (len(value), *leaf.shape), leaf.element)
        elif exact and leaf.kind in ("real", "int"):
            (convert.exact_real if leaf.kind == "real" else convert.exact_integer)(value)
        else:
            _CONVERTERS[leaf.kind](value)
    except (convert.Mismatch, TypeError) as mismatch:
        return where, value, str(mismatch)
    return None


def _unlike_node(signature: Signature, tree: Node, value: Any, where: str, exact: Iterator[bool]) -> Wrong | None:
    given = getattr(tree.cls, "__rose_given__", lambda given: given)(value)
    count = len(tree.children)
    accepted = _ACCEPTED.get(tree.kind)
    if type(given) is not tree.cls if accepted is None else not isinstance(given, accepted):
        name = tree.kind if accepted or tree.cls is None else tree.cls.__name__
        return where, value, f"a {'list' if hasattr(tree.cls, '__rose_host__') else name} is needed"
    if accepted is not None and len(given) != count:
        return where, value, f"a {tree.kind} of {count} is needed"
    if tree.kind == "dict":
        if {*given} != {*tree.keys} or (tree.ordered and (*given,) != tree.keys):
            return where, value, f"the keys {', '.join(map(repr, tree.keys))} are needed, in this order"
        parts = [(given[key], f"{where}[{key!r}]") for key in tree.keys]
    elif tree.kind == "dataclass":
        if not all([hasattr(given, key) for key in tree.keys]):
            return where, value, f"the attributes {', '.join(tree.keys)} are needed"
        parts = [(getattr(given, key), f"{where}.{key}") for key in tree.keys]
    else:
        parts = [(part, f"{where}[{k}]") for k, part in enumerate(given)]
    for child, (part, place) in zip(tree.children, parts, strict=True):
        wrong = _unlike(signature, child, part, place, exact)
        if wrong is not None:
            return wrong
    return None
