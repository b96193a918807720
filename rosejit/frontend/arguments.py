"""Describes a value by a hint: its tree, its leaves, the dimensions it binds, or the error that says what was needed."""

import dataclasses
import enum
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rosejit.abi import Leaf, Node, Tree
from rosejit.abi import Static as StaticTree
from rosejit.errors import RoseError, ShapeError, StagingTypeError
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
from rosejit.frontend.content import content_key
from rosejit.frontend.host import LARGEST, as_array, as_number, number_kind
from rosejit.frontend.making import staged_items
from rosejit.frontend.source import find
from rosejit.frontend.structures import is_staged_deep
from rosejit.numeric import np
from rosejit.span import Span

_WORDS: dict[str, str] = {"real": "a number", "int": "an integer", "bool": "a truth value"}


@dataclass(slots=True)
class Call:
    """The arguments of one call: `values` are its leaves in order, `trees` their structure, one tree a parameter."""

    dims: dict[str, int] = field(default_factory=dict[str, int])
    trees: list[Tree] = field(default_factory=list[Tree])
    values: list[Any] = field(default_factory=list[Any])
    statics: list[Any] = field(default_factory=list[Any])
    """The host values, in the order of the `Static` trees."""
    pending: list[tuple[Dim, int, str]] = field(default_factory=list[tuple[Dim, int, str]])
    """Expressions of dimensions that are checked once all names are known."""

    @property
    def key(self) -> tuple[Tree, ...]:
        """What decides whether two calls can run the same code."""
        return tuple(self.trees)


@dataclass(slots=True, frozen=True)
class Parameter:
    name: str
    description: Description
    hint: Any
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD


@dataclass(slots=True)
class Binder:
    """Describes the argument of one parameter, and collects its leaves."""

    function: Callable[..., Any]
    parameter: Parameter
    call: Call
    place: Span | None = None
    """Where the value comes from, if that is known better than the parameter is."""

    def tree(self, description: Description, value: Any, where: str) -> Tree:
        match description:
            case Scalar(kind):
                return self.number(kind, value, where)
            case ArrayOf():
                return self.array(description, value, where)
            case Inferred() | DualOf():
                return self.inferred(value, where)
            case Static(hint):
                return self.static(hint, value, where)
            case Structure():
                return self.structure(description, value, where)
            case Repeated(kind, item):
                return self.repeated(kind, item, value, where)
            case Validated(base, hint):
                self.consult(hint, value, where)
                return self.tree(base, value, where)
            case OneOf():
                return self.one_of(description, value, where)
            case Nothing():
                if value is not None:
                    raise self.error("None", value, where)
                return Node("none")

    def leaf(self, leaf: Leaf, value: Any) -> Leaf:
        self.call.values.append(value)
        return leaf

    def number(self, kind: Kind, value: Any, where: str) -> Leaf:
        """A host number, or a staged one; a Real takes Ints."""
        staged = getattr(value, "leaf", None)
        if isinstance(value, ShapeOf) and not value.shape:
            staged = Leaf(value.kind)
        if isinstance(staged, Leaf):
            if staged.kind == kind or (kind == "real" and staged.kind == "int"):
                return self.leaf(Leaf(kind), value)
            raise self.error(_WORDS[kind], value, where)
        host = as_number(kind, value)
        if host is None:
            raise self.error(_WORDS[kind], value, where)
        if kind == "int" and not -LARGEST - 1 <= host <= LARGEST:
            raise self.error("an integer of 64 bits", value, where)
        return self.leaf(Leaf(kind), host)

    def array(self, wanted: ArrayOf, value: Any, where: str) -> Leaf:
        staged = Leaf("array", value.shape, value.kind) if isinstance(value, ShapeOf) else getattr(value, "leaf", None)
        if isinstance(staged, Leaf):
            if staged.kind not in ("array", "dyn") or wanted.element not in (None, staged.element):
                raise self.error(f"a `{wanted}`", value, where)
            self.dimensions(wanted, staged.shape, value, where)
            return self.leaf(staged, value)
        staged_list = staged_items(value)
        if staged_list is not None:
            return self.array(wanted, staged_list, where)
        host, element = as_array(wanted.element, value)
        if host is None:
            raise self.error(f"a `{wanted}`", value, where, fact=element)
        self.dimensions(wanted, host.shape, value, where)
        return self.leaf(Leaf("array", host.shape, element), host)  # type: ignore[arg-type]  # a kind: there is an array

    def dimensions(self, wanted: ArrayOf, shape: tuple[int, ...], value: Any, where: str) -> None:
        """Bind the names of dimensions, and check them against those bound before."""
        if wanted.dims is None:
            return
        pairs = _aligned(wanted.dims, shape)
        if pairs is None:
            raise self.error(f"a `{wanted}`", value, where, kind=ShapeError)
        for dim, length in pairs:
            expected = dim.value(self.call.dims)
            if expected is None and dim.is_name:
                self.call.dims[dim.text] = length
            elif expected is None and not dim.anonymous:
                self.call.pending.append((dim, length, where))
            elif expected is not None and expected != length:
                known = "" if dim.size is not None else f": `{dim.text}` is {expected} in this call"
                raise self.error(f"a `{wanted}`{known}", value, where, kind=ShapeError)

    def inferred(self, value: Any, where: str) -> Tree:
        """What the value says by itself."""
        staged = getattr(value, "leaf", None)
        if isinstance(staged, Leaf):
            return self.leaf(staged, value)
        if isinstance(value, ShapeOf):
            return self.leaf(Leaf("array", value.shape, value.kind) if value.shape else Leaf(value.kind), value)
        kind = number_kind(value)
        if kind is not None:
            return self.number(kind, value, where)
        if isinstance(value, np.ndarray):
            return self.array(ArrayOf(None, None), value, where)
        if value is None:
            return Node("none")
        return self.inferred_structure(value, where)

    def inferred_structure(self, value: Any, where: str) -> Tree:
        cls: Any = type(value)
        if dataclasses.is_dataclass(cls):
            return self.structure(Structure("dataclass", (), tuple(f.name for f in dataclasses.fields(cls)), cls), value, where)
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return self.structure(Structure("namedtuple", (), cls._fields, cls), value, where)
        if isinstance(value, (tuple, list)):
            return self.repeated("tuple" if isinstance(value, tuple) else "list", Inferred(), value, where)
        if isinstance(value, dict):
            return self.repeated("dict", Inferred(), value, where)
        return self.static(Any, value, where)

    def static(self, hint: Any, value: Any, where: str) -> Tree:
        if isinstance(getattr(value, "leaf", None), Leaf):
            raise self.error("a host value (it is static)", value, where)
        if hint is not Any:
            self.consult(hint, value, where)
        if _hides_staged(value):
            raise self.error("a number, an array or a structure of them", value, where)
        self.call.statics.append(value)
        return StaticTree(content_key(value))

    def structure(self, wanted: Structure, value: Any, where: str) -> Tree:
        shown = wanted.cls.__name__ if wanted.cls is not None else "tuple"
        if wanted.kind in ("dataclass", "namedtuple"):
            assert wanted.cls is not None
            if not isinstance(value, wanted.cls):
                raise self.error(f"a `{shown}`", value, where)
            wanted = self.exact(wanted, type(value))
            items = [getattr(value, key) for key in wanted.keys]
            names = [f"{where}.{key}" for key in wanted.keys]
        elif wanted.kind == "dict":
            if not isinstance(value, dict) or set(value) != set(wanted.keys):  # type: ignore[reportUnknownArgumentType]  # any dict
                raise self.error(f"a `{shown}` with the keys {', '.join(map(repr, wanted.keys))}", value, where)
            items = [value[key] for key in wanted.keys]
            names = [f"{where}[{key!r}]" for key in wanted.keys]
        else:
            if not isinstance(value, tuple) or len(value) != len(wanted.items):  # type: ignore[reportUnknownArgumentType]  # any tuple
                raise self.error(f"a tuple of {len(wanted.items)}", value, where)
            items, names = list(value), [f"{where}[{k}]" for k in range(len(wanted.items))]
        parts = parts_of(wanted)
        children = tuple(self.tree(d, v, n) for d, v, n in zip(parts, items, names, strict=True))
        return Node(wanted.kind, children, wanted.keys, None if wanted.kind == "dict" else wanted.cls)

    def exact(self, wanted: Structure, cls: type) -> Structure:
        """The description of the very class of a value, which may be below the one that is hinted."""
        if cls is wanted.cls:
            return wanted
        found = Hints().of_structure(cls)
        return found if isinstance(found, Structure) else wanted

    def repeated(self, kind: str, item: Description, value: Any, where: str) -> Tree:
        accepted: Any = {"tuple": tuple, "list": (list, tuple), "dict": dict}[kind]
        if not isinstance(value, accepted):
            raise self.error(f"a {kind}", value, where)
        if kind == "dict":
            children = tuple(self.tree(item, v, f"{where}[{k!r}]") for k, v in value.items())
            return Node("dict", children, tuple(value))
        children = tuple(self.tree(item, v, f"{where}[{k}]") for k, v in enumerate(value))
        return Node("tuple" if kind == "tuple" else "list", children)

    def one_of(self, union: OneOf, value: Any, where: str) -> Tree:
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
        raise self.error(f"a `{_shown(union.hint)}`", value, where)

    def consult(self, hint: Any, value: Any, where: str) -> None:
        """Beartype settles what is not settled above."""
        from beartype import BeartypeConf
        from beartype.door import die_if_unbearable

        conf = BeartypeConf(violation_type=TypeError, is_pep484_tower=True, is_color=False)
        try:
            die_if_unbearable(value, hint, conf=conf)
        except TypeError as error:
            raise self.error(f"a `{_shown(hint)}`", value, where, fact=str(error)) from None

    def error(
        self, wanted: str, value: Any, where: str, *, fact: str | None = None, kind: type[RoseError] = StagingTypeError
    ) -> RoseError:
        """Which parameter of which function, the hint, and what came."""
        name = self.function.__name__
        facts = () if fact is None else (fact,)
        returns = self.parameter.name == "return"
        if self.parameter.hint is not None:
            subject = "the result" if returns else f"`{self.parameter.name}`"
            facts = (f"the hint of {subject} is `{_shown(self.parameter.hint)}`", *facts)
        needs = f"`{name}` needs {wanted} for `{where}`, given {described(value)}"
        if returns:
            place = "" if where == "return" else f" in `{where.replace('return', 'result')}`"
            needs = f"`{name}` should return {wanted}{place}, and returns {described(value)}"
        return kind(
            needs,
            self.place or parameter_span(self.function, self.parameter.name),
            facts=facts,
            help=_remedy(value),
        )


def _hides_staged(value: Any) -> bool:
    """Whether an object, which the host would keep, has something staged inside."""
    attributes = getattr(value, "__dict__", None)
    return isinstance(attributes, dict) and any(is_staged_deep(part) for part in list(attributes.values()))  # type: ignore[reportUnknownArgumentType]  # of anything


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


# --- words


def described(value: Any) -> str:
    """A value in the words of an error: its type, and its shape or its value where that is short."""
    staged = getattr(value, "leaf", None)
    if isinstance(staged, Leaf):
        return f"a staged {_staged_words(staged)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (list, tuple)):
        items: Any = value
        return f"a {type(items).__name__} of {len(items)}"
    if isinstance(value, types.FunctionType):
        return f"the function `{value.__qualname__}`"
    shown = repr(value)
    return f"{type(value).__name__} {shown}" if len(shown) <= 40 else f"a {type(value).__name__}"


def _staged_words(leaf: Leaf) -> str:
    if leaf.kind in ("array", "dyn"):
        return f"{leaf.element.capitalize()} array of shape {leaf.shape}"
    return leaf.kind.capitalize()


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).removeprefix("typing.")


def _remedy(value: Any) -> str | None:
    if isinstance(value, (str, enum.Enum, types.FunctionType)) or value is None:
        return "a value that Python needs is hinted `rose.Static[...]` or named in `static_argnames`"
    if isinstance(value, (complex, np.complexfloating)):
        return "pass the real and the imaginary part"
    return None


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
