"""What a function returns, as far as it is known before its body has ended: by hint, by text, or on other paths."""

# Values of users are of any type: what they are is asked while staging.

import ast
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.containers import KINDS
from rosejit.frontend.arrays.array import of_host
from rosejit.frontend.control.if_for import StagedIf
from rosejit.frontend.control.optional import told_inside
from rosejit.frontend.control.undefined import Poison, UninitialisedCarry, split
from rosejit.frontend.hints.hints import ArrayOf, Description, Nothing, Scalar, Structure, Validated
from rosejit.frontend.hints.read_hints import parts_of
from rosejit.frontend.signature.binding import Signature
from rosejit.frontend.syntax.lower_jumps import VALUE
from rosejit.frontend.syntax.source import find
from rosejit.frontend.syntax.translate import TRANSLATIONS
from rosejit.frontend.values.pytree import Supply, build
from rosejit.frontend.values.tape import UNDEFINED, Frame, Tape
from rosejit.numeric import np


def tree_of(description: Description, dims: dict[str, int]) -> Tree | None:
    """The structure of all values that a hint admits, if they have one."""
    match description:
        case Scalar(kind):
            return Leaf(kind)
        case ArrayOf(dims=wanted, element=element) if wanted is not None and not any(dim.many for dim in wanted):
            shape = [dim.value(dims) for dim in wanted]
            known = tuple(length for length in shape if length is not None)
            return Leaf("array", known, element or "real") if len(known) == len(shape) else None
        case Structure(kind=kind, keys=keys, cls=cls):
            found = [tree_of(part, dims) for part in parts_of(description)]
            children = tuple(child for child in found if child is not None)
            return KINDS[kind].described(children, keys, cls) if len(children) == len(found) else None
        case Validated(base):
            return tree_of(base, dims)
        case Nothing():
            return Node("none")
        case _:
            return None


def stand_in(tape: Tape, root: Frame, signature: Signature, dims: dict[str, int], value: Any) -> Any:
    """What a function returns, without None where a test has ruled it out; of one that raises on every path something
    of the kind that its hint names."""
    if not root.diverges:
        return told_inside(value)
    tree = tree_of(signature.result, dims)
    if tree is None:
        return 0.0 if value is None or value is UNDEFINED else value
    zeros: list[Any] = []
    for leaf in leaves(tree):
        known = {"real": 0.0, "int": 0, "bool": False}[leaf.element if leaf.kind == "array" else leaf.kind]
        zeros.append(of_host(tape, np.full(leaf.shape, known)) if leaf.kind == "array" else known)
    return build(tree, Supply(zeros), Supply(()))


def returns_nothing(function: Any) -> bool:
    """Whether no `return` in the text of a function has a value."""
    return all(node.value is None for node in _returns(function))


def _returns(function: Any) -> Iterator[Any]:
    """The `return` statements in the text of a function; of a lambda one is made up."""
    node: Any = find(function, rewritten=TRANSLATIONS.is_translated(function.__code__)).node
    if isinstance(node, ast.Lambda):
        yield ast.Return(node.body)
        return
    pending: list[Any] = list(node.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)


def returns_truth(function: Any) -> bool:
    """Whether a `return` in the text of a function is of a comparison or the like."""
    return any(_is_truth(node.value) for node in _returns(function))


def _is_truth(node: Any) -> bool:
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return any(_is_truth(value) for value in values)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_truth(body) or _is_truth(orelse)
        case _:
            return False


def running(code: CodeType | None, frame: FrameType | None, above: int) -> FrameType | None:
    """The frame of a staged function; `above` later ones run the same code."""
    while frame is not None:
        caller = frame.f_back
        if frame.f_code is code and caller is not None and caller.f_code is Signature.apply.__code__:
            if not above:
                return frame
            above -= 1
        frame = caller
    return None


def returned_yet(frame: FrameType | None) -> Iterator[Any]:
    """The values that a rewritten function has returned on the paths that are staged by now."""
    names = {} if frame is None else frame.f_locals
    found = [names.get(VALUE, UNDEFINED)]
    found += [value.first_side(VALUE) for value in list(names.values()) if isinstance(value, StagedIf)]
    for value in found:
        held, _ = split(value)
        if held is not UNDEFINED and not isinstance(held, (UninitialisedCarry, Poison)):
            yield held
