"""Runs programs in the reference interpreter instead of compiling them, where `rose.disable_jit()` says so."""

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from inspect import Signature as Parameters
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree, changed, leaves
from rosejit.api.deferred import interp
from rosejit.containers import of_node
from rosejit.frontend.values.pytree import Supply, build, parts, with_parts
from rosejit.ir import syntax as ir
from rosejit.numeric import np
from rosejit.runtime.marshalling import convert
from rosejit.runtime.marshalling.marshal import Mismatch, Read
from rosejit.runtime.marshalling.marshal import Signature as Interface
from rosejit.runtime.marshalling.read_results import outputs

_disabled: ContextVar[bool] = ContextVar("rosejit_disabled", default=False)
_CHANGING = threading.Lock()
_blocks = [0]
"""How many `with disable_jit()` blocks are open in the process. While there are any, or the environment says so, no
function goes straight to compiled code: it has to ask first."""


def is_disabled() -> bool:
    """Whether programs are interpreted here."""
    return _disabled.get() or os.environ.get("ROSE_DISABLE_JIT", "0") not in ("", "0")


_MARKS: tuple[Tree, ...] = (Static("interpreted"),)


def marks() -> tuple[Tree, ...]:
    """What tells the keys of calls of what is interpreted from others."""
    return _MARKS if is_disabled() else ()


def may_be_disabled() -> bool:
    """Whether programs are interpreted here, or in another thread."""
    return bool(_blocks[0]) or is_disabled()


def disabled(forget: Callable[[], None]) -> AbstractContextManager[None]:
    """A block in which programs are interpreted; `forget` makes all functions ask for that at the next call."""
    return asking(forget, _disabled, True)


@contextmanager
def asking(forget: Callable[[], None], variable: ContextVar[Any], value: Any) -> Generator[None]:
    """A block in which `variable` is `value`, which every call of a function asks for."""
    with _CHANGING:
        _blocks[0] += 1
    forget()
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
        with _CHANGING:
            _blocks[0] -= 1


class Interpreted:
    """A program as functions of the IR, which makes a Python function of each of its entries, as `Compiled` does."""

    outgrown = False

    def __init__(self, functions: Mapping[str, ir.Function]) -> None:
        self._functions = functions

    def grow(self) -> None:
        """Nothing: the interpreter has the memory of Python."""

    def function(self, entry: str, signature: Interface) -> Callable[..., Any]:
        """The entry as a function of Python values. Raises `Mismatch` for arguments that do not fit."""
        f, parameters = self._functions[entry], Parameters([*signature.parameters])
        taken = sum(len(leaves(tree)) for tree in (*signature.trees, *(r.tree for r in signature.reads if r.tree)))
        handles, given = len(f.params) - taken, len(leaves(signature.result))
        states = given + len(changed(signature.trees))
        takes_out = "out" not in parameters.parameters

        def call(*args: Any, **kwargs: Any) -> Any:
            out = kwargs.pop("out", None) if takes_out else None
            kept = args[0] if handles else ()
            bound = parameters.bind(*args[1 if handles else 0 :], **kwargs)
            bound.apply_defaults()
            values = [*kept, *_arguments(signature, bound.arguments), *_read(signature.reads)]
            if signature.apart is not None:
                signature.apart(bound.arguments)
            found = interp.run(f, values)
            result = _result(signature.result, found[:given], out)
            for holder, state in zip(_changing(signature, bound.arguments), found[given:states], strict=True):
                holder.__rose_after__(np.asarray(state))
            return (result, found[states:]) if len(found) > states else result

        call.__name__, call.__qualname__ = signature.name, signature.qualname or signature.name
        return call


def _arguments(signature: Interface, given: Mapping[str, Any]) -> Iterator[Any]:
    for parameter, tree in zip(signature.parameters, signature.trees, strict=True):
        yield from _leaves(tree, given[parameter.name], signature.same)


def _changing(signature: Interface, given: Mapping[str, Any]) -> Iterator[Any]:
    """The arguments that take their state back after the call."""
    pending = [(tree, given[p.name]) for p, tree in zip(signature.parameters, signature.trees, strict=True)][::-1]
    while pending:
        tree, value = pending.pop()
        if not isinstance(tree, Node):
            continue
        if hasattr(tree.cls, "__rose_after__"):
            cls: Any = tree.cls
            yield cls.__rose_given__(value)
        else:
            pending += [*zip(tree.children, _parts(tree, value), strict=True)][::-1]


def _leaves(tree: Tree, value: Any, same: Callable[[Any, Any], bool]) -> Iterator[Any]:
    """The numbers and arrays in `value`, converted to what `tree` says."""
    match tree:
        case Static(key=key):
            if value is not key and not same(value, key):
                raise Mismatch("another static argument")
        case Leaf(kind="array", shape=shape, element=element):
            yield convert.array(value, shape, element)
        case Leaf(kind="dyn"):
            yield np.asarray(value)
        case Leaf(kind=kind):
            yield {"real": convert.real, "int": convert.integer, "bool": convert.boolean}[kind](value)
        case Node(children=children):
            for child, part in zip(children, _parts(tree, value), strict=True):
                yield from _leaves(child, part, same)


def _parts(tree: Node, value: Any) -> list[Any]:
    if tree.kind == "none":
        return []
    value = getattr(tree.cls, "__rose_given__", lambda given: given)(value)
    return of_node(tree).picked(value, tree.keys)


def _read(reads: Any) -> Iterator[Any]:
    """What staging read from outside: arrays are handed in, other values must be those that were read."""
    for read in reads:
        value = _value_of(read)
        if read.tree is None:
            if value is not read.value:
                raise Mismatch("another value")
        else:
            yield from _leaves(read.tree, value, lambda a, b: a is b)


def _value_of(read: Read) -> Any:
    names = {f"constant{k}": constant for k, constant in enumerate(read.constants)}
    try:
        return eval(read.expression.format(*names), dict(names))  # an expression of ours, over what it names
    except (LookupError, NameError, AttributeError, ValueError):
        raise Mismatch("a value is gone") from None


def _result(tree: Tree, found: tuple[Any, ...], out: Any) -> Any:
    """The structure of `tree`; arrays are written to those of `out`, where there are some."""
    places = iter(outputs(tree, out))
    values: list[Any] = []
    for leaf, value in zip(leaves(tree), found, strict=True):
        if leaf.kind not in ("array", "dyn"):
            values.append(value)
            continue
        made = np.asarray(value, convert.dtype(leaf.element))
        place = next(places) if leaf.kind == "array" else None
        shaped = made.reshape(leaf.shape) if leaf.kind == "array" else made
        if place is not None:
            place[...] = shaped
        values.append(shaped if place is None else place)
    return _of_host(build(tree, Supply(values), Supply([*_statics(tree)])))


def _of_host(value: Any) -> Any:
    """A result with the lists of Python's in place of those that stand for them."""
    inside = parts(value)
    made = [_of_host(part) for part in inside or ()]
    if inside and any([one is not other for one, other in zip(made, inside, strict=True)]):
        value = with_parts(value, made)
    return value.__rose_host__() if hasattr(value, "__rose_dynamic__") else value


def _statics(tree: Tree) -> Iterator[Any]:
    match tree:
        case Static(key=key):
            yield key
        case Node(children=children):
            for child in children:
                yield from _statics(child)
        case _:
            return
