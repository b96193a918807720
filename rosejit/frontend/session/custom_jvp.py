"""Runs a user's `.jvp` rule on staged `Dual`s: the derivative of a function as another IR function."""

import inspect
from types import FunctionType
from typing import Any, NoReturn

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.errors import NotDifferentiable, ShapeError
from rosejit.frontend.arrays.access import element, variable
from rosejit.frontend.arrays.array import Array, fresh, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.control.undefined import require_single_value
from rosejit.frontend.guards.guards import Capture, Guard, aliases
from rosejit.frontend.hints.hints import Dual
from rosejit.frontend.scalar_ops import tangent_ops
from rosejit.frontend.session.recursion import Captures
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.value_words import described
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.pytree import Supply, build, parts_as, paths
from rosejit.frontend.values.scalars import ATOMS, TYPES, leaf_type, type_of, wrap
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Atom, Block, Lit, Var, Zero
from rosejit.ir.traversal import callees, free, lets, reachable
from rosejit.ir.types import INT, REAL, TAN, tangent
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.span import Span
from rosejit.transforms.passes.insert_copies import insert_copies


def is_real(leaf: Leaf) -> bool:
    """Whether a leaf has a tangent."""
    return (leaf.element if leaf.kind in ("array", "dyn") else leaf.kind) == "real"


@dataclass(slots=True, frozen=True)
class Ruled:
    """A function with its rule: it takes the leaves of the arguments and then `captures`."""

    function: ir.Function
    captures: tuple[Capture, ...]
    guards: tuple[Guard, ...]
    """What the rule has read from outside."""


@dataclass(slots=True, frozen=True)
class Primal:
    """A function as it is staged without its rule: what calls know it by, its arguments, results and captures."""

    title: str
    function: ir.Function
    trees: tuple[Tree, ...]
    result: Tree
    captures: tuple[Capture, ...]


def stage_rule(at: Session, rule: FunctionType, primal: Primal, statics: list[Any]) -> Ruled:
    """The function with its rule: from its parameters and then the tangents of its leaves to its results and then
    theirs. Raises NotDifferentiable where the rule takes or returns something else.
    """
    title, trees = primal.title, primal.trees
    _check_parameters(rule, title, len(trees))
    names = list(inspect.signature(rule).parameters)
    values: list[list[Var]] = []
    for tree, name in zip(trees, names, strict=True):
        values.append([Var(leaf_type(leaf), label) for leaf, label in paths(tree, name)])
    duals = [
        [Var(tangent(v.type), f"d{v.hint}") for v, leaf in zip(vs, leaves(tree), strict=True) if is_real(leaf)]
        for vs, tree in zip(values, trees, strict=True)
    ]

    def arguments(function: FunctionType) -> Any:
        given = Supply(statics)
        made = [_argument(at, tree, x, dx, given) for tree, x, dx in zip(trees, values, duals, strict=True)]
        return function(*made)

    with at.nested() as opened:
        value = at.run(rule, arguments)
        found = _results(at, rule, title, primal.result, value)
        body = Block(opened.root.lets, tuple(found))
        tangent_ops.check(body)
        captured, guards = at.outside(opened)
    whole, hidden, captures, same = _with_arrays(rule, primal, body, captured)
    params = (*(v for vs in values for v in vs), *hidden, *(v for vs in duals for v in vs))
    if free(body, params):
        help_text = f"make it a parameter of `{title}`: its rule gets the same parameters"
        _refuse(rule, title, "reads staged values from outside, which it cannot", help_text)
    types = tuple(a.type for a in found)
    whole.rule = insert_copies(ir.Function(f"{title}_rule", params, types, body, span=place_of(rule)))
    return Ruled(whole, captures, (*guards, *same))


def _with_arrays(
    rule: FunctionType, primal: Primal, body: Block, captured: Captures
) -> tuple[ir.Function, tuple[Var, ...], tuple[Capture, ...], list[Guard]]:
    """The function with parameters for the arrays that its rule alone reads, called so in `body`, that of the rule;
    the variables of all captured arrays in the rule, these arrays, and guards for those that both read."""
    f = primal.function
    known = f.params[len(f.params) - len(primal.captures) :]
    same: list[Guard] = []
    hidden: list[Var] = []
    for capture, var in zip(primal.captures, known, strict=True):
        again, own_var = captured.pop(id(capture.read()), (capture, Var(var.type, var.hint)))
        hidden.append(own_var)
        same += aliases([each.chain for each in (capture, again) if each.chain is not None])
    if not captured:
        return f, tuple(hidden), primal.captures, same
    more = [var for _, var in captured.values()]
    whole = _widened(f, more)
    for let in lets(body):
        if isinstance(let.expr, ir.Call) and let.expr.function is f:
            let.expr.function, let.expr.args = whole, (*let.expr.args, *more)
        elif isinstance(let.expr, ir.Call):
            _check_other(rule, primal, let.expr.function)
    return whole, (*hidden, *more), (*primal.captures, *(capture for capture, _ in captured.values())), same


def _widened(f: ir.Function, more: list[Var]) -> ir.Function:
    """`f` with more parameters, which it does not use."""
    params = tuple([Var(v.type, v.hint) for v in (*f.params, *more)])
    results = tuple([Var(t, f.name) for t in f.results])
    call = ir.Let(results, ir.Call(f, params[: len(f.params)]), f.span)
    return insert_copies(ir.Function(f.name, params, f.results, Block([call], results), span=f.span))


def _check_other(rule: FunctionType, primal: Primal, called: ir.Function) -> None:
    """A function that the rule calls has been staged with calls of `f` as it was before."""
    f, own_calls = primal.function, set(reachable(primal.function))
    for g in reachable(called):
        if g.body is not None and g not in own_calls and f in callees(g):
            what = f"reads an array from outside that `{primal.title}` does not, and calls `{g.name}`, which calls it"
            _refuse(rule, primal.title, what, f"make the array a parameter of `{primal.title}`")


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


def _refuse(rule: FunctionType, title: str, what: str, help_text: str) -> NoReturn:
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
    border = _Border(at, rule, title)
    primal = [border.primal(leaf, v) for leaf, v in border.matched(result, value.re)]
    derivatives = [border.tangent(leaf, v) for leaf, v in border.matched(result, value.du, True) if is_real(leaf)]
    return primal + derivatives


def _is_zero(value: Any) -> bool:
    """Whether a derivative is given as nothing, or as the number zero."""
    return value is None or (number_kind(value) is not None and value == 0)


def _zero(at: Session, leaf: Leaf) -> Atom:
    return at.tape.bind(Zero(), tangent(leaf_type(leaf))) if leaf.shape else Lit(0.0, TAN)


@dataclass(slots=True, frozen=True)
class _Border:
    """Checks what a rule returns against the result of its function."""

    at: Session
    rule: Any
    title: str

    def matched(self, tree: Tree, value: Any, derivative: bool = False) -> list[tuple[Leaf, Any]]:
        """The leaves of a structure with their values; a derivative that is zero is zero in all parts."""
        if isinstance(tree, Leaf):
            return [(tree, value)]
        if not leaves(tree):
            return []
        assert isinstance(tree, Node)
        found = [value] * len(tree.children) if derivative and _is_zero(value) else self._parts(tree, value)
        return [
            leaf
            for child, part in zip(tree.children, found, strict=True)
            for leaf in self.matched(child, part, derivative)
        ]

    def _parts(self, tree: Node, value: Any) -> list[Any]:
        found = parts_as(tree, value)
        if found is None:
            self._refuse("another structure than the function", "return the same structure in `re` and `du`")
        return found

    def primal(self, leaf: Leaf, value: Any) -> Atom:
        """A value as the atom for its leaf, of which it has the kind and the shape."""
        value = self._held(value)
        kind = TYPES[leaf.element if leaf.kind == "array" else leaf.kind]
        given = value.type if value.__class__ is Array else type_of(value)
        if given is TAN:
            self._refuse("a tangent as its value", "compute `re` from the `re` of the arguments")
        if given is None or (given is not kind and (kind, given) != (REAL, INT)):
            found = "no number" if given is None else f"a {given} for it"
            self._refuse(f"another kind of value than the function: that is a {kind}, and this {found}", _SAME)
        self._check_shape("value", leaf, value)
        if leaf.kind == "array":
            return variable(converted(value, kind))
        return self.at.atom(leaf, value)

    def tangent(self, leaf: Leaf, value: Any) -> Atom:
        """A tangent as the atom for its leaf; it must be linear in the tangents, or zero."""
        if _is_zero(value):
            return _zero(self.at, leaf)
        value = self._held(value)
        if value.__class__ is not Array and type_of(value) is None:
            self._refuse_derivative(value)
        self._check_shape("derivative", leaf, value)
        if value.__class__ is Array:
            if value.type is not TAN and self._holds_zeros(value):
                return _zero(self.at, leaf)
            if value.type is TAN:
                return variable(value) if leaf.kind == "array" else element(value, ())
        atom = ATOMS[TAN](self.at.tape, value)
        if atom is None:
            self._refuse_derivative(value)
        return atom

    def _refuse_derivative(self, value: Any) -> NoReturn:
        self._refuse(
            f"a derivative that is not linear in the tangents: {described(value)}, computed without them",
            "compute `du` from the `du` of the arguments: sums of them, times numbers",
        )

    def _held(self, value: Any) -> Any:
        """An array of the host's, or a list, as a staged array."""
        if isinstance(require_single_value(value), np.ndarray):
            return of_host(self.at.tape, value)
        if not isinstance(value, (list, tuple)):
            return value
        made = as_array(self.at.tape, value)
        return value if made is None else made

    def _check_shape(self, what: str, leaf: Leaf, value: Any) -> None:
        given = value.shape if value.__class__ is Array else ()
        if given != leaf.shape:
            raise ShapeError(
                f"the rule of `{self.title}` returns a {what} of shape {given}, and the function a result of shape "
                f"{leaf.shape}",
                place_of(self.rule),
                help=_SAME,
            )

    def _holds_zeros(self, value: Array) -> bool:
        """Whether an array of numbers is known to hold zeros only."""
        data = host_data(value)
        if data is not None:
            return not data.any()
        held = variable(value)
        return any(isinstance(let.expr, Zero) and held in let.binders for let in self.at.tape.lets)

    def _refuse(self, what: str, help_text: str) -> NoReturn:
        _refuse(self.rule, self.title, f"returns {what}", help_text)


_SAME = "return in `rose.Dual(re, du)` what the function returns, and a derivative like it"
