"""Which axes of the arguments of a batched function are mapped over: `in_axes` to hints, checks and a length."""

# The values are whatever a user's function takes.

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.containers import KINDS, of_argument, of_class, of_node
from rosejit.errors import RoseError, ShapeError, StagingTypeError
from rosejit.frontend.hints import hints, read_hints
from rosejit.frontend.hints.hints import Dim
from rosejit.frontend.signature.binding import Signature
from rosejit.frontend.signature.describe import Binder, Call, parameter_span
from rosejit.frontend.values.generators import Generator, Generators, is_batch, is_numpys
from rosejit.frontend.values.pytree import attribute, parts, staged_leaf, with_parts
from rosejit.lazy_dataclass import dataclass

Axes = Any
"""An int, `None` (not mapped), or a structure of these like that of the argument."""

_BATCH = Dim("_", anonymous=True)
_WORDS = {"real": "float", "int": "int", "bool": "bool"}


@dataclass(slots=True)
class Batched(Signature):
    """The parameters of a function, each with the axis that is mapped over."""

    inner: Signature
    """That of one element."""
    title: str
    axes: tuple[Axes, ...]
    optional: tuple[bool, ...]
    """Parameters whose axis is not said one by one: where they have a default, a number is not mapped."""

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The batched call with these arguments. Raises StagingTypeError or ShapeError where they do not fit."""
        call = Call()
        for k, value in enumerate(self.arranged(args, kwargs)):
            parameter = self.parameters[k]
            binder = Binder(self.function, parameter, call)
            call.trees.append(binder.tree(self.describe(k, value), value, parameter.name))
        self.length(call)
        return call

    @property
    def descriptions(self) -> tuple[hints.Description, ...]:
        """Of one element."""
        return self.inner.descriptions

    @property
    def reals(self) -> int:
        """A number may have to be an array."""
        return -1

    def describe(self, k: int, value: Any) -> hints.Description:
        """What parameter `k` admits: its hint speaks of one element."""
        inner = self.inner
        one = inner.describe(k, value) if isinstance(inner, Batched) else inner.parameters[k].description
        return described(one, value, self.axes[k], self.optional[k])

    def returns(self, value: Any) -> hints.Description:
        """Stacked results: what the hint says of one has been checked."""
        return described(hints.Inferred(), value, 0, False)

    def mapped_axes(self, call: Call) -> list[int | None]:
        """For each leaf of the call the axis, counted from the front; None where the leaf is not mapped."""
        rows = zip(self.parameters, call.trees, self.axes, self.optional, strict=True)
        return [axis for p, tree, axes, optional in rows for axis in self._axes_of(p.name, tree, axes, optional)]

    def _axes_of(self, name: str, tree: Tree, axes: Axes, optional: bool) -> Iterator[int | None]:
        if isinstance(tree, Leaf):
            yield self._axis(name, tree, axes, optional)
        elif isinstance(tree, Node):
            keys = tree.keys or tuple(range(len(tree.children)))
            for key, child, inner in zip(keys, tree.children, below(axes, tree.keys, len(keys)), strict=True):
                yield from self._axes_of(f"{name}{_step(tree, key)}", child, inner, optional)

    def _axis(self, name: str, leaf: Leaf, axis: Axes, optional: bool) -> int | None:
        if axis is None or (optional and leaf.kind in ("real", "int", "bool")):
            return None
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise self._fault(f"`in_axes` has {axis!r} for `{name}`, which is one value", name)
        if leaf.kind != "array":
            why = "is an array whose length only the run knows" if leaf.kind == "dyn" else "is one number"
            raise self._fault(f"`{name}` {why}: it has no axis {axis} to map over", name)
        rank = len(leaf.shape)
        if not -rank <= axis < rank:
            raise self._fault(f"`{name}` has the shape {leaf.shape}: it has no axis {axis} to map over", name)
        return axis % rank

    def length(self, call: Call) -> int:
        """The length of the batch. Raises ShapeError where the arguments differ in it, or none is mapped."""
        axes = iter(self.mapped_axes(call))
        found: dict[int, str] = {}
        for parameter, tree in zip(self.parameters, call.trees, strict=True):
            for leaf, name in _named(tree, parameter.name):
                axis = next(axes)
                if axis is not None:
                    found.setdefault(leaf.shape[axis], f"`{name}` has {leaf.shape[axis]} along axis {axis}")
        if not found:
            raise self._fault("no argument is mapped over", help="give `in_axes` an axis for one of them")
        if len(found) > 1:
            raise self._fault(f"the arguments differ in the length of the batch: {', '.join(found.values())}")
        return next(iter(found))

    def _fault(self, message: str, name: str = "", help: str = "") -> RoseError:
        return ShapeError(
            f"`vmap` of `{self.title}`: {message}",
            parameter_span(self.function, name or self.parameters[0].name if self.parameters else ""),
            help=help or "`in_axes` says along which axis each argument is mapped; `None`: the same for all",
        )


def batched(signature: Signature, title: str, in_axes: Axes, found: inspect.Signature) -> Batched:
    """`signature` for arguments with one more axis, where `in_axes` says so. Raises StagingTypeError where it does not
    fit the parameters `found`."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    one = not isinstance(in_axes, tuple)
    if one and (isinstance(in_axes, bool) or not (in_axes is None or isinstance(in_axes, int))):
        raise StagingTypeError(
            f"`in_axes` is a number, `None`, or a tuple with one entry a parameter, given {in_axes!r}",
            help="`in_axes=(0, None)` maps over the first axis of the first argument",
        )
    axes: list[Axes] = []
    optional: list[bool] = []
    for k, p in enumerate(found.parameters.values()):
        has_default = p.default is not p.empty
        by_name = p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
        if p.kind is p.VAR_POSITIONAL and not one:
            axes.append(in_axes[k:])
        elif one or (k >= len(in_axes) and (has_default or by_name)):
            axes.append(in_axes if one else 0)
        elif k < len(in_axes):
            axes.append(in_axes[k])
        else:
            raise _count(title, in_axes, found)
        optional.append(has_default and (one or k >= len(in_axes)))
    if not one and len(in_axes) > len(axes) and not any(p.kind is p.VAR_POSITIONAL for p in found.parameters.values()):
        raise _count(title, in_axes, found)
    plain = tuple(replace(p, description=_open(p.description)) for p in signature.parameters)
    return Batched(
        signature.function, plain, hints.Inferred(), None, signature.arrange, signature.python, None,
        None if signature.needed is None else set(), signature.asks,
        signature, title, tuple(axes), tuple(optional),
    )  # fmt: skip


def _open(wanted: hints.Description) -> hints.Description:
    """A hint as it holds for one element and for many."""
    if isinstance(wanted, hints.Repeated):
        return replace(wanted, item=_open(wanted.item))
    return wanted if isinstance(wanted, hints.Static) else hints.Inferred()


def _count(title: str, in_axes: Axes, found: inspect.Signature) -> StagingTypeError:
    names = ", ".join(f"`{name}`" for name in found.parameters)
    return StagingTypeError(
        f"`in_axes` has {len(in_axes)} entries, and `{title}` {len(found.parameters)} parameters",
        facts=(f"its parameters are {names or 'none'}",),
        help="give one entry for each parameter, or one number for all",
    )


# --- structures


def below(axes: Axes, keys: tuple[Any, ...], count: int) -> list[Axes]:
    """The axes of the parts of a structure: the same for all, or one for each, by position or by name."""
    if axes is None or isinstance(axes, int):
        return [axes] * count
    container = of_class(type(axes))
    by_name = container is not None and container.of_any_keys
    found: list[Axes] = [axes[key] for key in keys if key in axes] if by_name else parts(axes) or []
    if len(found) != count:
        raise StagingTypeError(
            f"`in_axes` has {axes!r} for a structure of {count}",
            help="one axis for a whole structure, or a structure of axes like that of the argument",
        )
    return found


def described(wanted: hints.Description, value: Any, axes: Axes, optional: bool) -> hints.Description:
    """What a hint admits for a batch of the values that it admits."""
    if isinstance(wanted, hints.Random) or _draws(wanted, value):
        return _random(value, axes)
    if axes is None:
        return wanted
    match wanted:
        case hints.Scalar(kind):
            kind = "int" if kind == "real" and _are_ints(value) else kind
            many = hints.ArrayOf(None, kind, f"{_WORDS[kind]} with an axis to map over")
            return hints.OneOf((wanted, many), wanted) if optional else many
        case hints.ArrayOf():
            return _with_axis(wanted, axes)
        case hints.Validated(base, _):
            return described(base, value, axes, optional)
        case hints.OneOf(options, hint):
            return hints.OneOf(tuple(described(option, value, axes, optional) for option in options), hint)
        case hints.Structure(kind="complex"):
            items = tuple([described(item, None, axes, optional) for item in wanted.items])
            return replace(wanted, items=items)
        case hints.Structure():
            items = read_hints.parts_of(wanted)
            values = _values(wanted, value)
            inner = zip(items, values, below(axes, wanted.keys, len(items)), strict=False)
            found = tuple(described(item, v, a, optional) for item, v, a in inner)
            return replace(wanted, items=found) if len(values) == len(items) else wanted
        case hints.Repeated(kind, item) if parts(value) and not KINDS[kind].is_named:
            inner = zip(parts(value) or (), below(axes, (), len(value)), strict=True)
            found = tuple(described(item, v, a, optional) for v, a in inner)
            return hints.Structure(kind, found) if KINDS[kind].is_fixed else hints.Repeated(kind, found[0])
        case hints.Repeated(kind, item):
            return hints.Repeated(kind, described(item, None, axes, optional))
        case hints.Inferred():
            return _inferred(value, axes, optional)
        case _:
            return wanted


def _draws(wanted: hints.Description, value: Any) -> bool:
    """Whether a value without a hint is a generator of random numbers, or several."""
    if not isinstance(wanted, (hints.Inferred, hints.Repeated)):
        return False
    return isinstance(value, Generator) or is_numpys(value) or is_batch(value)


def _are_ints(value: Any) -> bool:
    """Whether the elements of a staged array are Ints, each of which a Real parameter takes."""
    leaf = staged_leaf(value)
    return isinstance(leaf, Leaf) and leaf.element == "int" and leaf.kind in ("array", "dyn")


def _random(value: Any, axes: Axes) -> hints.Description:
    """A generator for each element of the batch: with one for all their numbers would depend on the order."""
    if axes == 0 and not isinstance(axes, bool) and value.__class__ is not Generator and not is_numpys(value):
        return hints.Random(batch=True)
    raise StagingTypeError(
        "`vmap` needs a Generator for each element of the batch",
        facts=(f"it is given {type(value).__name__}, with {axes!r} in `in_axes`",),
        help="give it a list, mapped over axis 0: `rng.spawn(n)`",
    )


def _values(wanted: hints.Structure, value: Any) -> list[Any]:
    """The parts of a value in the order of its hint; nothing where it is no such structure."""
    if KINDS[wanted.kind].of_any_keys and of_argument(value) is KINDS[wanted.kind]:
        return [value[key] for key in wanted.keys if key in value]
    return parts(value) or []


def _inferred(value: Any, axes: Axes, optional: bool) -> hints.Description:
    """By the value itself: classes say what their fields are."""
    container = of_argument(value)
    keys = () if container is None else container.keys(value)
    if container is not None and keys and all(isinstance(key, str) for key in keys):
        structure = hints.Structure(container.name, (hints.Inferred(),) * len(keys), keys)
        return described(structure, value, axes, optional)
    if container is not None and type(value) is container.type and not container.is_named:
        return described(hints.Repeated(container.name, hints.Inferred()), value, axes, optional)
    structure = read_hints.Hints().of_structure(type(value))
    return described(structure, value, axes, optional) if isinstance(structure, hints.Structure) else hints.Inferred()


def _with_axis(wanted: hints.ArrayOf, axis: Axes) -> hints.ArrayOf:
    if wanted.dims is None or not isinstance(axis, int) or any(dim.many for dim in wanted.dims):
        return replace(wanted, dims=None)
    rank = len(wanted.dims) + 1
    if not -rank <= axis < rank:
        return replace(wanted, dims=None)
    at = axis % rank
    dims = (*wanted.dims[:at], _BATCH, *wanted.dims[at:])
    return replace(wanted, dims=dims, text=f"{wanted.text} with an axis {axis} to map over")


def _named(tree: Tree, name: str) -> Iterator[tuple[Leaf, str]]:
    """The leaves, each with the name that a user would write."""
    if isinstance(tree, Leaf):
        yield tree, name
    elif isinstance(tree, Node):
        for key, child in zip(tree.keys or range(len(tree.children)), tree.children, strict=True):
            yield from _named(child, f"{name}{_step(tree, key)}")


def _step(tree: Node, key: Any) -> str:
    return of_node(tree).step(key)


def pick(tree: Tree, value: Any, axes: Iterator[int | None], row: Callable[[Any, int], Any]) -> Any:
    """`value`, structured as `tree`, with `row(leaf, axis)` for its mapped leaves."""
    if isinstance(tree, Leaf):
        axis = next(axes)
        return value if axis is None else row(value, axis)
    if isinstance(tree, Static) or not tree.children:
        return value
    container = of_node(tree)
    inside = container.picked(value, tree.keys, attribute)
    found = [pick(child, part, axes, row) for child, part in zip(tree.children, inside, strict=True)]
    if isinstance(value, Generators):
        return Generator(found[0])
    is_made = container.of_any_keys or container.type is complex
    return container.make(tree, found) if is_made else with_parts(value, found)
