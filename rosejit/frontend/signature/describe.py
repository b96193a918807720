"""Arguments, abstracted: a value and its hint to a tree of leaves, the dimensions they bind, or an error in words.

The description is what a specialisation is keyed by: types and shapes, and the values of what is static.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, IntEnum
from typing import Any

from rosejit import containers, narrow_values
from rosejit.abi import Leaf, Node, Tree, leaf_of, leaves
from rosejit.abi import Static as StaticTree
from rosejit.errors import RoseError, RoseOverflowError, ShapeError, StagingTypeError
from rosejit.frontend.arrays.asarray import hides_staged, in_64_bits, is_masked, staged_items
from rosejit.frontend.arrays.complex_array import is_complex
from rosejit.frontend.arrays.narrow_array import Narrow, is_narrow
from rosejit.frontend.hints.hints import (
    ArrayOf,
    Description,
    Dim,
    DualOf,
    Inferred,
    Kind,
    Nothing,
    Numbers,
    OneOf,
    Random,
    Repeated,
    Scalar,
    ShapeOf,
    Static,
    Structure,
    Validated,
    aligned,
)
from rosejit.frontend.hints.read_hints import Hints, parts_of
from rosejit.frontend.lists.dynamic_array import DynamicArray
from rosejit.frontend.lists.dynamic_dict import HINTED
from rosejit.frontend.scalar_ops.origins import class_of_element
from rosejit.frontend.signature.int_members import member
from rosejit.frontend.signature.list_columns import COLUMNED, of_array, of_columns, of_dynamic
from rosejit.frontend.signature.numeric_kinds import chosen
from rosejit.frontend.signature.own_arithmetic import has_own_arithmetic, is_number_of_its_own
from rosejit.frontend.signature.value_words import described, hint_text, remedy
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.syntax.source import find
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.generators import (
    Generator,
    Generators,
    is_batch,
    is_host_generator,
    is_numpys,
    node_of,
    words_of,
)
from rosejit.frontend.values.host_scalars import (
    HOST_INTS,
    LARGEST,
    PLAIN_KINDS,
    Bound,
    as_array,
    as_number,
    number_kind,
)
from rosejit.frontend.values.host_values import is_iterator
from rosejit.frontend.values.open_lengths import OpenLength, as_staged
from rosejit.frontend.values.pytree import attribute, attributes, is_staged_deep, members, staged_leaf, told
from rosejit.frontend.values.reachable_state import structural_key
from rosejit.frontend.values.scalars import NUMBERS, Int, Real, passed_tangent
from rosejit.ir.types import TAN
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import from_foreign, is_foreign, np
from rosejit.span import Span

# Values of users are of any type: what they are is asked while staging.
_NUMBERS: dict[Kind, Leaf] = {"real": Leaf("real"), "int": Leaf("int"), "bool": Leaf("bool")}
_RECORDS = (containers.NAMED_TUPLE, containers.DATACLASS)
_STAGED_REAL = frozenset({Real})
_NO_NUMBERS = "OUSMm"
"""Kinds of dtypes: texts, dates, objects. What holds such is a host value."""
_WORDS: dict[str, str] = {"real": "a number", "int": "an integer", "bool": "a truth value"}


class Call:
    """The arguments of one call: `values` are its leaves in order, `trees` their structure, one tree a parameter.
    Written out: every call that is staged makes one."""

    __slots__ = ("classed", "dims", "pending", "sources", "statics", "trees", "values")

    def __init__(self, dims: dict[str, int] | None = None) -> None:
        self.dims: dict[str, int] = {} if dims is None else dims
        self.trees: list[Tree] = []
        self.values: list[Any] = []
        self.statics: list[Any] = []
        """The host values, in the order of the `Static` trees."""
        self.pending: list[tuple[Dim, int, str]] = []
        """Expressions of dimensions that are checked once all names are known."""
        self.sources: list[Any] = []
        """What tells the generators among the arguments apart."""
        self.classed: Any = None
        """A number of another class than Python's own, if the key of the call does not say which."""

    def states(self) -> list[Any]:
        """Of the values those that the call changes: the states of generators."""
        found: list[Any] = []
        k = 0
        for tree in self.trees:
            found += _changing(tree, self.values[k : k + len(leaves(tree))])
            k += len(leaves(tree))
        return found

    @property
    def key(self) -> tuple[Tree, ...]:
        """What decides whether two calls can run the same code."""
        return tuple(self.trees)


def _changing(tree: Tree, values: list[Any]) -> list[Any]:
    if not isinstance(tree, Node):
        return []
    if hasattr(tree.cls, "__rose_after__"):
        return values
    found: list[Any] = []
    k = 0
    for child in tree.children:
        found += _changing(child, values[k : k + len(leaves(child))])
        k += len(leaves(child))
    return found


@dataclass(slots=True, frozen=True)
class Parameter:
    """A parameter of a function, and what its hint admits."""

    name: str
    description: Description
    hint: Any
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD


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
    asks: bool = False
    """Whether the program asks what classes numbers have."""
    present: Any = True
    """Whether the value is there that is described: that of one which may be None."""

    def tree(self, description: Description, value: Any, where: str) -> Tree:
        """The tree of `value`, which `where` names; raises where the description does not admit it."""
        if value.__class__ in HOST_INTS:
            self.call.statics.append(int(value))
            return StaticTree(value)
        if value.__class__ is Bound:
            self.call.statics.append(value)
            return StaticTree(value)
        if value.__class__ is OpenLength:
            value = as_staged(value)
        if containers.CHOSEN.owns(value.__class__):
            return self._chosen(description, value, where)
        match description:
            case Scalar(kind):
                return self._number(kind, value, where)
            case ArrayOf():
                return self._array(description, value, where)
            case Inferred() | DualOf():
                return self._inferred(value, where)
            case Static(hint):
                return self._static(hint, value, where)
            case Structure() if value.__class__ is StructOfArrays:
                return of_columns(self, Inferred(), value, where)
            case Structure():
                return self._structure(description, value, where)
            case Repeated(kind, item):
                return self._repeated(kind, item, value, where)
            case Validated(base, hint):
                self._consult(hint, value, where)
                return self.tree(base, value, where)
            case OneOf():
                return self._one_of(description, value, where)
            case Numbers(parts):
                marks = self._marks()
                if self._first(parts, value, where) is None:
                    raise self._error("a number of its hint", value, where)
                self._back_to(marks)
                return self._inferred(value, where)
            case Random(batch):
                return self._generator(value, where, batch)
            case Nothing():
                if value is not None:
                    raise self._error("None", value, where)
                return Node("none")

    def leaf(self, leaf: Leaf, value: Any) -> Leaf:
        """Add a value; gives its leaf."""
        if getattr(value, "type", None) is TAN:
            raise passed_tangent(value.tape, self.function.__name__)
        self.call.values.append(value)
        return leaf

    def alone(self) -> "Binder":
        """One that describes and keeps nothing."""
        return Binder(self.function, self.parameter, Call(dict(self.call.dims)), self.place)

    def _optional(self, description: Description, value: Any, where: str) -> Tree:
        """A value that the description admits, or None."""
        flag, held = containers.OPTIONAL.parts(value)
        around = self.present
        first, self.present = self._inferred(flag, where), flag if around is True else flag & around
        try:
            return Node("optional", (first, self.tree(description, held, where)))
        finally:
            self.present = around

    def _chosen(self, description: Description, value: Any, where: str) -> Tree:
        """One of several values of the host, each of which the description admits."""
        children = [self.tree(Inferred(), value.__rose_position__, where)]
        for option in value.__rose_options__:
            marks = self._marks()
            found = self.tree(description, option, where)
            if not isinstance(found, StaticTree) and option is not None:  # it is itself, and no structure of its parts
                self._back_to(marks)
                found = self._static(Any, option, where)
            if isinstance(found, Leaf) or (isinstance(found, Node) and option is not None):
                raise self._error("a value of one kind", value, where)
            children.append(found)
        return Node("chosen", tuple(children))

    def _number(self, kind: Kind, value: Any, where: str) -> Leaf:
        """A host number, or a staged one, also of few bits; a Real takes Ints."""
        if value.__class__ is Narrow and kind in ("real", "int"):
            value = value.wide
        staged = staged_leaf(value)
        if isinstance(value, ShapeOf) and not value.shape:
            staged = Leaf(value.kind)
        if isinstance(staged, Leaf):
            if staged.kind == kind or (kind == "real" and staged.kind == "int"):
                return self.leaf(_NUMBERS[kind], value)
            raise self._error(_WORDS[kind], value, where)
        value = self._known(value, where)
        try:
            host = as_number(kind, value)
        except OverflowError:
            raise self._error("a number that a float is near to", value, where, kind=RoseOverflowError) from None
        if host is None:
            raise self._error(_WORDS[kind], value, where)
        if kind == "int" and not -LARGEST - 1 <= host <= LARGEST:
            raise self._error("an integer of 64 bits", value, where, kind=RoseOverflowError)
        return self.leaf(_NUMBERS[kind], host)

    def _of_class(self, leaf: Leaf, value: Any, where: str) -> Leaf:
        """The leaf of a number of the host, whose class may matter."""
        if value.__class__ in PLAIN_KINDS:
            return leaf
        if is_number_of_its_own(value.__class__):
            error = self._error("a number that computes as Python's do", value, where)
            error.help = "hand over the number, `float(x)` or `int(x)`, or hint that it is meant: `x: float`"
            raise error
        if self.asks:
            return replace(leaf, cls=value.__class__)
        self.call.classed = value
        return leaf

    def _array(self, wanted: ArrayOf, value: Any, where: str) -> Tree:
        if value.__class__ is DynamicArray and (wanted.dims is None or len(wanted.dims) == 1):
            return of_array(self, wanted.element == "real", value)
        if is_narrow(value) and wanted.element != "real" and value.dtype.name in narrow_values.HELD:
            return Node("narrow", (self._array(wanted, in_64_bits(value), where),), state=value.dtype.name)
        value = value.wide if isinstance(value, narrow_values.NarrowValue) else value
        staged = leaf_of(value.shape, value.kind) if isinstance(value, ShapeOf) else staged_leaf(value)
        if isinstance(staged, Leaf):
            is_array = staged.kind in ("array", "dyn")
            kind = staged.element if is_array else staged.kind
            if wanted.element not in (None, kind) or not (is_array or wanted.admits_numbers):
                raise self._error(f"a `{wanted}`", value, where)
            self._dimensions(wanted, staged.shape, value, where)
            return self.leaf(staged, value)
        staged_list = staged_items(value)
        if staged_list is not None:
            return self._array(wanted, staged_list, where)
        value = self._known(value, where)
        if is_narrow(value) and wanted.element != "real" and value.dtype.name in narrow_values.HELD:
            return self._array(wanted, value, where)
        is_number = wanted.admits_numbers and number_kind(value) is not None
        host, element = as_array(wanted.element, np.asarray(value) if is_number else value)
        if host is None:
            raise self._error(f"a `{wanted}`", value, where, fact=element)
        self._dimensions(wanted, host.shape, value, where)
        leaf = self.leaf(leaf_of(host.shape, element), host if host.shape else host.item())  # type: ignore[arg-type]  # a kind
        is_open = not host.shape and wanted.element in (None, "int")
        return self._of_class(leaf, value, where) if is_open else leaf

    def _known(self, value: Any, where: str) -> Any:
        """An array of another library as NumPy's; any other value itself."""
        if is_masked(value):
            error = self._error("an array without a mask", value, where)
            error.help = "hand over what is not masked, `x.compressed()`, or put numbers in its place: `x.filled(0.0)`"
            raise error
        try:
            return from_foreign(value.data if hasattr(value, "_mask") else value)
        except TypeError as error:
            fault = self._error("what NumPy can read", value, where, fact=str(error))
        library = type(value).__module__.partition(".")[0].removesuffix("lib")
        if library in ("torch", "jax"):
            fault.help = f"`rose.interop.{library}.wrap({self.function.__name__})` is differentiated by {library}; "
            fault.help += "or hand over plain numbers on the CPU: `np.asarray(x.detach().cpu())`, `jax.device_get(x)`"
        raise fault

    def _check_arithmetic(self, value: Any, where: str) -> None:
        """Refuse an array that computes in its own way, where no hint says that its numbers are meant."""
        if has_own_arithmetic(type(value)):
            error = self._error("an array that computes as NumPy's do", value, where)
            error.help = "hand over the numbers, `np.asarray(x)`, or hint that they are meant: `x: Mat`"
            raise error

    def _dimensions(self, wanted: ArrayOf, shape: tuple[int, ...], value: Any, where: str) -> None:
        """Bind the names of dimensions, and check them against those bound before."""
        if wanted.dims is None:
            return
        pairs = aligned(wanted.dims, shape)
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
        staged = staged_leaf(value)
        if isinstance(staged, Leaf):
            cls = class_of_element(value.tape, value) if self.asks and value.__class__ in NUMBERS else None
            return self.leaf(staged if cls is None else replace(staged, cls=cls), value)
        if isinstance(value, ShapeOf):
            return self.leaf(leaf_of(value.shape, value.kind), value)
        if is_narrow(value):
            return self._narrow(value, where)
        kind = number_kind(value)
        if kind is not None and isinstance(value, Enum) and self.parameter.name == "return":
            return self._static(Any, value, where)
        if kind is not None:
            return self._of_class(self._number(kind, value, where), value, where)
        if is_complex(value):
            parts = [self._inferred(part, where) for part in containers.split(value)]
            return Node("complex", tuple(parts))
        if isinstance(value, np.ndarray):
            self._check_arithmetic(value, where)
            return self._array(ArrayOf(None, None), value, where)
        if value is None:
            return Node("none")
        if isinstance(value, Generator) or is_numpys(value):
            return self._generator(value, where)
        return self._inferred_structure(value, where)

    def _narrow(self, value: Any, where: str) -> Tree:
        """A number or an array of few bits, whose dtype is kept."""
        self._check_arithmetic(value, where)
        value = self._known(value, where)
        if value.dtype.name not in narrow_values.HELD:
            error = self._error("numbers of at most 64 bits", value, where)
            error.help = "convert before: `x.astype(np.float64)`"
            raise error
        return Node("narrow", (self._inferred(in_64_bits(value), where),), state=value.dtype.name)

    def _inferred_structure(self, value: Any, where: str) -> Tree:
        if containers.OPTIONAL.owns(type(value)):
            return self._optional(Inferred(), value, where)
        if value.__class__ in COLUMNED:
            return of_columns(self, Inferred(), value, where)
        structure = Hints().of_structure(type(value))
        if isinstance(structure, Structure):
            return self._structure(structure, value, where)
        container = containers.of_argument(value)
        if container is not None:
            return self._repeated(container.name, Inferred(), value, where)
        if is_foreign(type(value)) and not is_users_class(type(value)):
            host = self._known(value, where)
            if host.dtype.kind not in _NO_NUMBERS:
                return self._inferred(host, where)
        return self._static(Any, value, where)

    def _static(self, hint: Any, value: Any, where: str) -> Tree:
        if value.__class__ is Int and isinstance(hint, type) and issubclass(hint, IntEnum):
            return self._chosen(Static(hint), member(hint, value, self.present), where)
        if staged_leaf(value) is not None:
            raise self._error("a host value (it is static)", value, where)
        if hint is not Any:
            self._consult(hint, value, where)
        if self.parameter.name == "return" and is_iterator(value):
            error = self._error("a value that does not change", value, where)
            error.help = "return a list or a tuple of what it gives: `list(...)`"
            raise error
        if hides_staged(value) and members(value) is not None and containers.of_argument(value) is None:
            found = attributes(value, read=True)
            children = tuple(self._inferred(part, f"{where}.{name}") for name, part in found.items())
            return Node("dataclass", children, tuple(found), type(value))
        if hides_staged(value):
            raise self._error("a number, an array or a structure of them", value, where)
        self.call.statics.append(told(value))
        return StaticTree(structural_key(value))

    def _structure(self, wanted: Structure, value: Any, where: str) -> Tree:
        kind = containers.KINDS[wanted.kind]
        if not kind.fits(value, wanted.cls, wanted.keys, len(wanted.items)):
            raise self._error(kind.wanted(wanted.cls, wanted.keys, len(wanted.items)), value, where)
        if kind.type is not None and containers.of_class(type(value)) in _RECORDS:
            return self._inferred_structure(value, where)
        if kind.type is None:
            wanted = self._exact(wanted, type(value))
        own = self._own(kind, value, where)
        if own is not kind:
            return self._derived(wanted, own, value, where)
        items, parts = kind.picked(value, wanted.keys, attribute), self._parts(wanted)
        names = [f"{where}{kind.step(key)}" for key in wanted.keys or range(len(items))]
        children = tuple(self.tree(d, v, n) for d, v, n in zip(parts, items, names, strict=True))
        return kind.described(children, wanted.keys, wanted.cls)

    def _own(self, kind: containers.Container, value: Any, where: str) -> containers.Container:
        """The kind of a value that a hint says to be of `kind`: another one for a class that is derived from one."""
        own = containers.derived(type(value))
        if own is None:
            return kind
        try:
            made = own.make(own.node(value, ()), own.parts(value))
        except (TypeError, ValueError):
            made = None
        if type(made) is type(value) and {*attributes(value)} <= {"default_factory"}:
            return own
        error = self._error(f"a {kind.name}", value, where)
        error.help = (
            f"hand over its parts, `{kind.name}(...)`, or hint it `rose.Static`, which compiled code cannot change"
        )
        raise error

    def _derived(self, wanted: Structure, own: containers.Container, value: Any, where: str) -> Tree:
        """A container of a class derived from the one that a hint says; its keys stand in its own order."""
        names = wanted.keys or range(len(wanted.items))
        named = dict(zip(names, self._parts(wanted), strict=True))
        keys = own.keys(value) or names
        parts = zip(keys, own.parts(value), strict=True)
        return own.node(value, tuple([self.tree(named[k], v, f"{where}{own.step(k)}") for k, v in parts]), ordered=True)

    def _parts(self, wanted: Structure) -> tuple[Description, ...]:
        try:
            return parts_of(wanted)
        except StagingTypeError as error:  # a hint of its class
            error.span = error.span or self.place or parameter_span(self.function, self.parameter.name)
            raise

    def _exact(self, wanted: Structure, cls: type) -> Structure:
        """The description of the very class of a value, which may be below the one that is hinted."""
        if cls is wanted.cls:
            return wanted
        found = Hints().of_structure(cls)
        return found if isinstance(found, Structure) else wanted

    def _generator(self, value: Any, where: str, batch: bool = False) -> Tree:
        """A generator of random numbers, whose state comes back from the call; or a list of them."""
        if isinstance(value, Generators) if batch else value.__class__ is Generator:
            words = value.state
            self._alone([words.box], where)
        elif batch and is_batch(value):
            words = np.stack([words_of(one) for one in value])
            self._alone([one.bit_generator for one in value], where)
        elif not batch and is_host_generator(value):
            words = words_of(value)
            self._alone([value.bit_generator], where)
        else:
            wanted = "a list of Generators of PCG64" if batch else "a Generator of PCG64"
            given = value.bit_generator if is_numpys(value) else value
            error = self._error(wanted, given, where)
            error.help = "`rng.spawn(n)` makes a list" if batch else "make it with `np.random.default_rng(seed)`"
            raise error
        self.call.values.append(words)
        return node_of(Generators if batch else Generator, *words.shape[:-1])

    def _alone(self, sources: list[Any], where: str) -> None:
        """Refuse to pass one generator twice: each of them would draw the same numbers."""
        for source in sources:
            if any(source is other for other in self.call.sources):
                raise StagingTypeError(
                    f"`{self.function.__name__}` is given one Generator twice, the second time in `{where}`",
                    self.place or parameter_span(self.function, self.parameter.name),
                    help="give it once, or two generators of `rng.spawn(2)`",
                )
            self.call.sources.append(source)

    def _repeated(self, kind: str, item: Description, value: Any, where: str) -> Tree:
        container = containers.KINDS[kind]
        if value.__class__ is StructOfArrays and container is containers.LIST:
            return of_columns(self, item, value, where)
        if value.__class__ in HINTED and issubclass(value.kind, container.type):
            return of_dynamic(self, item, value, where)
        if not isinstance(value, container.accepts):
            raise self._error(f"a {kind}", value, where)
        if containers.of_class(type(value)) in _RECORDS:  # whose class says what is in it
            return self._inferred_structure(value, where)
        container = self._own(containers.of_type(type(value)) or container, value, where)
        items = container.parts(value)
        are_reals = admits_reals(item) and _STAGED_REAL.issuperset(map(type, items))
        if are_reals and not self.asks:  # of numbers that are being computed
            self.call.values += items
            return container.node(value, (Real.leaf,) * len(items), ordered=True)
        keys = container.keys(value) or range(len(items))
        children = [self.tree(item, v, f"{where}{container.step(k)}") for k, v in zip(keys, items, strict=True)]
        return container.node(value, tuple(children), ordered=True)

    def _one_of(self, union: OneOf, value: Any, where: str) -> Tree:
        """The first part that fits; numbers keep the kind they have where the union names it."""
        if containers.OPTIONAL.owns(type(value)) and Nothing() in union.parts:
            others = OneOf(tuple([part for part in union.parts if part != Nothing()]), union.hint)
            return self._optional(others, value, where)
        parts = union.of_lists if isinstance(value, (list, tuple)) else union.parts
        if _is_number(value):
            parts = union.of_numbers
        marks = self._marks()
        found = self._first(parts, value, where)
        if found is None:
            raise self._error(f"a `{hint_text(union.hint)}`", value, where)
        part = chosen(union, found)
        if part in union.parts or part in parts:
            return found
        self._back_to(marks, self.call.dims)
        return self.tree(part, value, where)

    def _first(self, parts: tuple[Description, ...], value: Any, where: str) -> Tree | None:
        """The tree by the first of several descriptions that fits; None if none does."""
        for part in parts:
            marks = self._marks()
            try:
                return self.tree(part, value, where)
            except (StagingTypeError, ShapeError):
                self._back_to(marks)
        return None

    def _marks(self) -> tuple[int, int, int, dict[str, int]]:
        call = self.call
        return len(call.values), len(call.statics), len(call.sources), dict(call.dims)

    def _back_to(self, marks: tuple[int, int, int, dict[str, int]], dims: dict[str, int] | None = None) -> None:
        del self.call.values[marks[0] :]
        del self.call.statics[marks[1] :]
        del self.call.sources[marks[2] :]
        self.call.dims = marks[3] if dims is None else dims

    def _consult(self, hint: Any, value: Any, where: str) -> None:
        """Beartype settles what is not settled above, of host values; a hint that it cannot check says nothing."""
        from beartype import BeartypeConf
        from beartype.door import die_if_unbearable
        from beartype.roar import BeartypeException

        conf = BeartypeConf(violation_type=TypeError, is_pep484_tower=True, is_color=False)
        if is_staged_deep(value):
            return
        try:
            die_if_unbearable(value, hint, conf=conf)
        except BeartypeException:
            return
        except TypeError as error:
            raise self._error(f"a `{hint_text(hint)}`", value, where, fact=str(error).partition("() ")[2]) from None

    def _error(
        self, wanted: str, value: Any, where: str, *, fact: str | None = None, kind: type[RoseError] = StagingTypeError
    ) -> RoseError:
        """Which parameter of which function, the hint, and what came."""
        name = self.function.__name__
        facts = () if fact is None else (fact,)
        returns = self.parameter.name == "return"
        if self.parameter.hint is not None:
            subject = "the result" if returns else f"`{self.parameter.name}`"
            facts = (f"the hint of {subject} is `{hint_text(self.parameter.hint)}`", *facts)
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


def _is_number(value: Any) -> bool:
    """Whether a value, of the host or staged, is a number, maybe a complex one."""
    staged = staged_leaf(value)
    if isinstance(staged, Leaf):
        return staged.kind not in ("array", "dyn")
    return number_kind(value) is not None or (is_complex(value) and not getattr(value, "shape", ()))


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
        if node is not None and node.arg == where.split(".")[0].split("[")[0]:
            return source.span(node)
    return source.span(source.node)
