"""Describes a value by a hint: its tree, its leaves, the dimensions it binds, or what was needed instead."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaf_of, leaves
from rosejit.abi import Static as StaticTree
from rosejit.errors import RoseError, RoseOverflowError, ShapeError, StagingTypeError
from rosejit.frontend.annotations import (
    ArrayOf,
    Description,
    Dim,
    DualOf,
    Hints,
    Inferred,
    Kind,
    Nothing,
    OneOf,
    Repeated,
    Scalar,
    ShapeOf,
    Static,
    Structure,
    Validated,
    parts_of,
)
from rosejit.frontend.columns import Columns, widened
from rosejit.frontend.content import content_key
from rosejit.frontend.given import described, remedy, shown
from rosejit.frontend.host import LARGEST, as_array, as_number, number_kind
from rosejit.frontend.making import staged_items
from rosejit.frontend.source import find
from rosejit.frontend.structures import attribute, attributes, flatten, is_staged_deep, members
from rosejit.frontend.values import Real, passed_tangent
from rosejit.ir.types import TAN
from rosejit.numeric import np
from rosejit.span import Span

_ACCEPTED: dict[str, Any] = {"tuple": tuple, "list": (list, tuple), "dict": dict}
_NUMBERS: dict[Kind, Leaf] = {"real": Leaf("real"), "int": Leaf("int"), "bool": Leaf("bool")}
_STAGED_REAL = frozenset({Real})
_WORDS: dict[str, str] = {"real": "a number", "int": "an integer", "bool": "a truth value"}


class Call:
    """The arguments of one call: `values` are its leaves in order, `trees` their structure, one tree a parameter.
    Written out: every call that is staged makes one."""

    __slots__ = ("dims", "pending", "statics", "trees", "values")

    def __init__(self, dims: dict[str, int] | None = None) -> None:
        self.dims: dict[str, int] = {} if dims is None else dims
        self.trees: list[Tree] = []
        self.values: list[Any] = []
        self.statics: list[Any] = []
        """The host values, in the order of the `Static` trees."""
        self.pending: list[tuple[Dim, int, str]] = []
        """Expressions of dimensions that are checked once all names are known."""

    @property
    def key(self) -> tuple[Tree, ...]:
        """What decides whether two calls can run the same code."""
        return tuple(self.trees)


@dataclass(slots=True, frozen=True)
class Parameter:
    """A parameter of a function, and what its hint admits."""

    name: str
    description: Description
    hint: Any
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD

    def __rose_world__(self) -> Any:
        """What it is by content (`world.py`)."""
        return "parameter", self.name, self.kind.name, self.description


def admits_reals(description: Description) -> bool:
    """Whether a description admits a staged Real as it is."""
    kind = description.__class__
    return kind is Inferred or (kind is Scalar and description.kind == "real")  # type: ignore[union-attr]  # a Scalar


@dataclass(slots=True)
class Binder:
    """Describes the argument of one parameter, and collects its leaves."""

    function: Callable[..., Any]
    parameter: Parameter
    call: Call
    place: Span | None = None
    """Where the value comes from, if that is known better than the parameter is."""

    def tree(self, description: Description, value: Any, where: str) -> Tree:
        """The tree of `value`, which `where` names; raises where the description does not admit it."""
        match description:
            case Scalar(kind):
                return self._number(kind, value, where)
            case ArrayOf():
                return self._array(description, value, where)
            case Inferred() | DualOf():
                return self._inferred(value, where)
            case Static(hint):
                return self._static(hint, value, where)
            case Structure() if value.__class__ is Columns:
                return self._columns(Inferred(), value, where)
            case Structure():
                return self._structure(description, value, where)
            case Repeated(kind, item):
                return self._repeated(kind, item, value, where)
            case Validated(base, hint):
                self._consult(hint, value, where)
                return self.tree(base, value, where)
            case OneOf():
                return self._one_of(description, value, where)
            case Nothing():
                if value is not None:
                    raise self._error("None", value, where)
                return Node("none")

    def _leaf(self, leaf: Leaf, value: Any) -> Leaf:
        if getattr(value, "type", None) is TAN:
            raise passed_tangent(value.tape, self.function.__name__)
        self.call.values.append(value)
        return leaf

    def _number(self, kind: Kind, value: Any, where: str) -> Leaf:
        """A host number, or a staged one; a Real takes Ints."""
        staged = getattr(value, "leaf", None)
        if isinstance(value, ShapeOf) and not value.shape:
            staged = Leaf(value.kind)
        if isinstance(staged, Leaf):
            if staged.kind == kind or (kind == "real" and staged.kind == "int"):
                return self._leaf(_NUMBERS[kind], value)
            raise self._error(_WORDS[kind], value, where)
        try:
            host = as_number(kind, value)
        except OverflowError:
            raise self._error("a number that a float is near to", value, where, kind=RoseOverflowError) from None
        if host is None:
            raise self._error(_WORDS[kind], value, where)
        if kind == "int" and not -LARGEST - 1 <= host <= LARGEST:
            raise self._error("an integer of 64 bits", value, where)
        return self._leaf(_NUMBERS[kind], host)

    def _array(self, wanted: ArrayOf, value: Any, where: str) -> Leaf:
        staged = leaf_of(value.shape, value.kind) if isinstance(value, ShapeOf) else getattr(value, "leaf", None)
        if isinstance(staged, Leaf):
            is_array = staged.kind in ("array", "dyn")
            kind = staged.element if is_array else staged.kind
            if wanted.element not in (None, kind) or not (is_array or wanted.admits_numbers):
                raise self._error(f"a `{wanted}`", value, where)
            self._dimensions(wanted, staged.shape, value, where)
            return self._leaf(staged, value)
        staged_list = staged_items(value)
        if staged_list is not None:
            return self._array(wanted, staged_list, where)
        is_number = wanted.admits_numbers and number_kind(value) is not None
        host, element = as_array(wanted.element, np.asarray(value) if is_number else value)
        if host is None:
            raise self._error(f"a `{wanted}`", value, where, fact=element)
        self._dimensions(wanted, host.shape, value, where)
        return self._leaf(leaf_of(host.shape, element), host if host.shape else host.item())  # type: ignore[arg-type]  # a kind

    def _dimensions(self, wanted: ArrayOf, shape: tuple[int, ...], value: Any, where: str) -> None:
        """Bind the names of dimensions, and check them against those bound before."""
        if wanted.dims is None:
            return
        pairs = _aligned(wanted.dims, shape)
        if pairs is None:
            raise self._error(f"a `{wanted}`", value, where, kind=ShapeError)
        for dim, length in pairs:
            expected = dim.value(self.call.dims)
            if expected is None and dim.is_name:
                self.call.dims[dim.text] = length
            elif expected is None and not dim.anonymous:
                self.call.pending.append((dim, length, where))
            elif expected is not None and expected != length:
                known = "" if dim.size is not None else f": `{dim.text}` is {expected} in this call"
                raise self._error(f"a `{wanted}`{known}", value, where, kind=ShapeError)

    def _inferred(self, value: Any, where: str) -> Tree:
        """What the value says by itself."""
        staged = getattr(value, "leaf", None)
        if isinstance(staged, Leaf):
            return self._leaf(staged, value)
        if isinstance(value, ShapeOf):
            return self._leaf(leaf_of(value.shape, value.kind), value)
        kind = number_kind(value)
        if kind is not None:
            return self._number(kind, value, where)
        if isinstance(value, np.ndarray):
            return self._array(ArrayOf(None, None), value, where)
        if value is None:
            return Node("none")
        return self._inferred_structure(value, where)

    def _inferred_structure(self, value: Any, where: str) -> Tree:
        if value.__class__ is Columns:
            return self._columns(Inferred(), value, where)
        structure = Hints().of_structure(type(value))
        if isinstance(structure, Structure):
            return self._structure(structure, value, where)
        if isinstance(value, (tuple, list)):
            return self._repeated("tuple" if isinstance(value, tuple) else "list", Inferred(), value, where)
        if isinstance(value, dict):
            return self._repeated("dict", Inferred(), value, where)
        return self._static(Any, value, where)

    def _static(self, hint: Any, value: Any, where: str) -> Tree:
        if isinstance(getattr(value, "leaf", None), Leaf):
            raise self._error("a host value (it is static)", value, where)
        if hint is not Any:
            self._consult(hint, value, where)
        if _hides_staged(value) and members(value) is not None and not isinstance(value, (list, tuple, dict)):
            found = attributes(value, read=True)
            children = tuple(self._inferred(part, f"{where}.{name}") for name, part in found.items())
            return Node("dataclass", children, tuple(found), type(value))
        if _hides_staged(value):
            raise self._error("a number, an array or a structure of them", value, where)
        self.call.statics.append(value)
        return StaticTree(content_key(value))

    def _structure(self, wanted: Structure, value: Any, where: str) -> Tree:
        shown = wanted.cls.__name__ if wanted.cls is not None else "tuple"
        if wanted.kind in ("dataclass", "namedtuple"):
            assert wanted.cls is not None
            if not isinstance(value, wanted.cls):
                raise self._error(f"a `{shown}`", value, where)
            wanted = self._exact(wanted, type(value))
            items = [attribute(value, key) for key in wanted.keys]
            names = [f"{where}.{key}" for key in wanted.keys]
        elif wanted.kind == "dict":
            if not isinstance(value, dict) or set(value) != set(wanted.keys):
                raise self._error(f"a `{shown}` with the keys {', '.join(map(repr, wanted.keys))}", value, where)
            items = [value[key] for key in wanted.keys]
            names = [f"{where}[{key!r}]" for key in wanted.keys]
        else:
            if not isinstance(value, tuple) or len(value) != len(wanted.items):
                raise self._error(f"a tuple of {len(wanted.items)}", value, where)
            items, names = list(value), [f"{where}[{k}]" for k in range(len(wanted.items))]
        parts = parts_of(wanted)
        children = tuple(self.tree(d, v, n) for d, v, n in zip(parts, items, names, strict=True))
        if wanted.kind == "dict":  # the order of a `TypedDict` is that of the class
            return Node("dict", children, wanted.keys, ordered=wanted.cls is None)
        return Node(wanted.kind, children, wanted.keys, wanted.cls)

    def _exact(self, wanted: Structure, cls: type) -> Structure:
        """The description of the very class of a value, which may be below the one that is hinted."""
        if cls is wanted.cls:
            return wanted
        found = Hints().of_structure(cls)
        return found if isinstance(found, Structure) else wanted

    def _repeated(self, kind: str, item: Description, value: Any, where: str) -> Tree:
        if value.__class__ is Columns and kind == "list":
            return self._columns(item, value, where)
        if not isinstance(value, _ACCEPTED[kind]):
            raise self._error(f"a {kind}", value, where)
        if kind == "dict":
            children = tuple(self.tree(item, v, f"{where}[{k!r}]") for k, v in value.items())
            return Node("dict", children, tuple(value), ordered=True)
        if admits_reals(item) and _STAGED_REAL.issuperset(map(type, value)):  # of numbers that are being computed
            self.call.values += value
            return Node("tuple" if kind == "tuple" else "list", (Real.leaf,) * len(value))
        children = tuple(self.tree(item, v, f"{where}[{k}]") for k, v in enumerate(value))
        return Node("tuple" if kind == "tuple" else "list", children)

    def _columns(self, item: Description, value: Columns, where: str) -> Tree:
        """A list that a staged loop made: its first element is like all others."""
        if len(value) and not isinstance(item, Inferred):
            one = Binder(self.function, self.parameter, Call(dict(self.call.dims)), self.place)
            value = widened(value, leaves(one.tree(item, value[0], f"{where}[0]")))
        found: list[Any] = []
        tree = flatten(value, found, self.call.statics)
        for part in found:
            self._leaf(part.leaf, part)
        return tree

    def _one_of(self, union: OneOf, value: Any, where: str) -> Tree:
        """The first part that fits; numbers keep the kind they have where the union names it."""
        kind = number_kind(value)
        exact = [part for part in union.parts if isinstance(part, Scalar) and part.kind == kind]
        for part in (*exact, *union.parts):
            marks = (len(self.call.values), len(self.call.statics), dict(self.call.dims))
            try:
                return self.tree(part, value, where)
            except (StagingTypeError, ShapeError):
                del self.call.values[marks[0] :]
                del self.call.statics[marks[1] :]
                self.call.dims = marks[2]
        raise self._error(f"a `{shown(union.hint)}`", value, where)

    def _consult(self, hint: Any, value: Any, where: str) -> None:
        """Beartype settles what is not settled above."""
        from beartype import BeartypeConf
        from beartype.door import die_if_unbearable

        conf = BeartypeConf(violation_type=TypeError, is_pep484_tower=True, is_color=False)
        try:
            die_if_unbearable(value, hint, conf=conf)
        except TypeError as error:
            raise self._error(f"a `{shown(hint)}`", value, where, fact=str(error)) from None

    def _error(
        self, wanted: str, value: Any, where: str, *, fact: str | None = None, kind: type[RoseError] = StagingTypeError
    ) -> RoseError:
        """Which parameter of which function, the hint, and what came."""
        name = self.function.__name__
        facts = () if fact is None else (fact,)
        returns = self.parameter.name == "return"
        if self.parameter.hint is not None:
            subject = "the result" if returns else f"`{self.parameter.name}`"
            facts = (f"the hint of {subject} is `{shown(self.parameter.hint)}`", *facts)
        needs = f"`{name}` needs {wanted} for `{where}`, given {described(value)}"
        if returns:
            place = "" if where == "return" else f" in `{where.replace('return', 'result')}`"
            needs = f"`{name}` should return {wanted}{place}, and returns {described(value)}"
        return kind(
            needs,
            self.place or parameter_span(self.function, self.parameter.name),
            facts=facts,
            help=remedy(value),
        )


def _hides_staged(value: Any) -> bool:
    """Whether an object, which the host would keep, has something staged inside."""
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and any(is_staged_deep(part) for part in list(held.values()))


def _aligned(dims: tuple[Dim, ...], shape: tuple[int, ...]) -> list[tuple[Dim, int]] | None:
    """Each dimension with its length; None where the ranks do not fit."""
    many = [k for k, dim in enumerate(dims) if dim.many]
    if not many:
        return list(zip(dims, shape, strict=True)) if len(dims) == len(shape) else None
    first, last = many[0], len(dims) - many[0] - 1
    if len(shape) < first + last:
        return None
    ends = list(zip(dims[first + 1 :], shape[len(shape) - last :], strict=True))
    return list(zip(dims[:first], shape[:first], strict=True)) + ends


def check_expressions(function: Callable[..., Any], call: Call) -> None:
    """Check the dimensions that are expressions, all names being known now."""
    for dim, length, where in call.pending:
        expected = dim.value(call.dims)
        if expected is None:
            raise ShapeError(
                f"`{function.__name__}`: the dimension `{dim.text}` of `{where}` is not known",
                parameter_span(function, where),
                help="use each name of the expression as a dimension of its own in some parameter",
            )
        if expected != length:
            raise ShapeError(
                f"`{function.__name__}` needs for `{where}` the dimension `{dim.text}` = {expected}, given {length}",
                parameter_span(function, where),
                facts=(", ".join(f"`{name}` is {size}" for name, size in call.dims.items()),),
            )


def parameter_span(function: Any, where: str) -> Span | None:
    """The parameter in the source, if there is source."""
    try:
        source = find(function)
    except (RoseError, AttributeError):
        return None
    arguments = source.node.args
    for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if node is not None and node.id == where.split(".")[0].split("[")[0]:
            return source.span(node)
    return source.span(source.node)
