"""Runs a user's `.jvp` rule on staged `Dual`s: the derivative of a function as another IR function."""

import inspect
from types import FunctionType
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.errors import NotDifferentiable
from rosejit.frontend import tangents
from rosejit.frontend.annotations import Dual
from rosejit.frontend.arrays import Array, fresh
from rosejit.frontend.stage import Session, paths
from rosejit.frontend.structures import Supply, build, parts
from rosejit.frontend.values import ATOMS, leaf_type, wrap
from rosejit.frontend.views import element, number, variable
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Atom, Block, Var
from rosejit.ir.types import TAN, tangent
from rosejit.ir.walk import free
from rosejit.span import Span
from rosejit.transforms.own import own


def is_real(leaf: Leaf) -> bool:
    """Whether a leaf has a tangent."""
    return (leaf.element if leaf.kind in ("array", "dyn") else leaf.kind) == "real"


def stage_rule(
    at: Session, rule: FunctionType, title: str, trees: tuple[Tree, ...], result: Tree, statics: list[Any]
) -> ir.Function:
    """The rule of `title`: from its leaves and then their tangents to its results and then theirs.

    Raises NotDifferentiable where the rule takes or returns something else.
    """
    _check_parameters(rule, title, len(trees))
    names = list(inspect.signature(rule).parameters)
    primal: list[list[Var]] = []
    for tree, name in zip(trees, names, strict=True):
        primal.append([Var(leaf_type(leaf), label) for leaf, label in paths(tree, name)])
    duals = [
        [Var(tangent(v.type), f"d{v.hint}") for v, leaf in zip(vs, leaves(tree), strict=True) if is_real(leaf)]
        for vs, tree in zip(primal, trees, strict=True)
    ]
    params = (*(v for vs in primal for v in vs), *(v for vs in duals for v in vs))

    def arguments(function: FunctionType) -> Any:
        given = Supply(statics)
        made = [_argument(at, tree, x, dx, given) for tree, x, dx in zip(trees, primal, duals, strict=True)]
        return function(*made)

    with at.nested() as root:
        value = at.run(rule, arguments)
        found = _results(at, rule, title, result, value)
        body = Block(root.lets, tuple(found))
        tangents.check(body)
        outside = [v for v in free(body, params)]
        if outside:
            _refuse(rule, title, "closes over staged values or arrays", "give them to the function as arguments")
    types = tuple(a.type for a in found)
    return own(ir.Function(f"{title}_rule", params, types, body, span=place_of(rule)))


def place_of(function: FunctionType) -> Span:
    """The first line of a function."""
    code = function.__code__
    return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno + 1, 0, function.__qualname__)


def _check_parameters(rule: FunctionType, title: str, count: int) -> None:
    given = len(inspect.signature(rule).parameters)
    if given != count:
        _refuse(
            rule,
            title,
            f"takes {given} arguments, and `{title}` {count}",
            "give it the same parameters, as `rose.Dual`",
        )


def _refuse(rule: FunctionType, title: str, what: str, help_text: str) -> None:
    raise NotDifferentiable(f"the rule of `{title}` {what}", place_of(rule), help=help_text)


def _argument(at: Session, tree: Tree, x: list[Var], dx: list[Var], statics: Supply) -> Any:
    """The value of a parameter: a `Dual` if it holds a real number, else the staged value itself."""
    re = build(tree, Supply([_value(at, v) for v in x]), statics)
    if not dx:
        return re
    given = iter(dx)
    du = build(tree, Supply([_value(at, next(given)) if is_real(leaf) else None for leaf in leaves(tree)]), _Nothing())
    return Dual(re, du)


class _Nothing(Supply):
    """Stands for the tangents of host values."""

    def __init__(self) -> None:
        super().__init__(())

    def next(self) -> Any:
        """There is none."""
        return None


def _value(at: Session, v: Var) -> Any:
    if not hasattr(v.type, "element"):
        return wrap(at.tape, v)
    made = fresh(at.tape, v, v.hint)
    made.box.readonly = f"`{v.hint}` is an argument, and arguments are never written"
    return made


def _results(at: Session, rule: FunctionType, title: str, result: Tree, value: Any) -> list[Atom]:
    if not isinstance(value, Dual):
        kind = type(value).__name__
        _refuse(rule, title, f"returns a {kind} where a `rose.Dual` is needed", "return `rose.Dual(value, derivative)`")
    primal = [at.atom(leaf, v) for leaf, v in _matched(rule, title, result, value.re)]
    derivatives = [_tangent(at, leaf, v) for leaf, v in _matched(rule, title, result, value.du) if is_real(leaf)]
    return primal + derivatives


def _matched(rule: FunctionType, title: str, tree: Tree, value: Any) -> list[tuple[Leaf, Any]]:
    """The leaves of a structure with their values."""
    if isinstance(tree, Leaf):
        return [(tree, value)]
    if not isinstance(tree, Node) or value is None:
        return [(leaf, 0.0) for leaf in leaves(tree)]
    found = parts(value)
    if found is None or len(found) != len(tree.children):
        _refuse(
            rule, title, "returns another structure than the function", "return the same structure in `re` and `du`"
        )
    assert found is not None
    pairs = zip(tree.children, found, strict=True)
    return [leaf for child, part in pairs for leaf in _matched(rule, title, child, part)]


def _tangent(at: Session, leaf: Leaf, value: Any) -> Atom:
    """A tangent as the atom for its leaf; it must be linear in the tangents, or zero."""
    if leaf.kind == "array":
        if value.__class__ is not Array:
            raise at.tape.type_fault(
                "the tangent of an array is an array", "compute `du` from the `du` of the arguments"
            )
        return variable(value)
    if value.__class__ is Array:
        value = number(at.tape, element(value, ()))
    atom = ATOMS[TAN](at.tape, value)
    if atom is None:
        raise at.tape.type_fault(
            f"the derivative that the rule returns is a {type(value).__name__}, not linear in the tangents",
            "compute `du` from the `du` of the arguments: sums of them, times numbers",
        )
    return atom
