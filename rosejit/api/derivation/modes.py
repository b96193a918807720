"""`jvp`, `vjp`, `linearize`: a function at a point, and its derivative there as a linear map."""

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api import sessions
from rosejit.api.calling.call_interface import interface_of
from rosejit.api.calling.specialisation import (
    Staged,
    conjugated,
    cotangents_of,
    is_of_host,
    is_real,
    of_arguments,
    of_values,
    only_real,
    require_lengths,
    slope_of,
    tangents_of,
    with_host_values,
    with_results,
    zero_of,
)
from rosejit.api.calling.specialisation_cache import Specialisation, valued
from rosejit.api.decorators import as_function, from_source
from rosejit.api.deferred import derivative_programs, pipeline
from rosejit.api.derivation.derivation_recipe import Recipe
from rosejit.api.derivation.linear_map import Linear, LinearMap
from rosejit.api.function import Function, has_code, ready, with_needed
from rosejit.api.programs import interpreted
from rosejit.api.programs.compile_and_load import Loaded
from rosejit.api.public_entry import public
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array, in_64_bits
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.hints.hints import Structure
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import advanced
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import type_of, wrap
from rosejit.ir import syntax as ir
from rosejit.ir.types import REAL, TAN
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.runtime.marshalling.marshal import Mismatch
from rosejit.runtime.marshalling.marshal import Signature as Interface

if TYPE_CHECKING:
    from rosejit.api.calling.call_types import A, B, C, Of1, Of2, Of3, R

Map = Callable[..., Any]


if TYPE_CHECKING:

    @overload
    def jvp(f: Of1[A, R], primals: tuple[A], tangents: Sequence[Any]) -> tuple[R, R]: ...

    @overload
    def jvp(f: Of2[A, B, R], primals: tuple[A, B], tangents: Sequence[Any]) -> tuple[R, R]: ...

    @overload
    def jvp(f: Of3[A, B, C, R], primals: tuple[A, B, C], tangents: Sequence[Any]) -> tuple[R, R]: ...

    @overload
    def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]: ...


@public
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of `f` at `primals`, and its derivative along `tangents`, which are structured as the primals.

    Numbers that have no derivative take `None` (or anything) as their tangent.

    >>> import rosejit as rose
    >>> rose.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    base = as_function(f)
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise StagingTypeError(
                f"`jvp` takes the {what} as a tuple, given {type(given).__name__}",
                help="write `rose.jvp(f, (x,), (dx,))`",
            )
    if len(primals) != len(tangents):
        raise StagingTypeError(
            f"`jvp` needs one tangent for each primal, given {len(primals)} primals and {len(tangents)} tangents"
        )
    at = sessions.current()
    if at is not None:
        return _jvp_inside(at, base, tuple(primals), tuple(tangents))
    return _along(base, len(primals))(with_needed(base, tuple(primals)), tuple(tangents))


def _along(base: Function, count: int) -> Function:
    """`jvp` of `base` at `count` primals as a function of two tuples."""

    def both(primals, tangents):
        return jvp(base, primals, tangents)

    return _of_primals(base, count, "jvp", both)


def pulled(base: Function, count: int) -> Function:
    """The cotangents of `count` primals, as a function of these, in a tuple, and of the cotangent of the result."""

    def back(primals, cotangent):
        return vjp(base, *primals)[1](cotangent)

    return _of_primals(base, count, "vjp", back)


def pushed(base: Function, count: int) -> Function:
    """The tangent of the result, as a function of `count` primals and of their tangents, in tuples."""

    def along(primals, tangents):
        return jvp(base, primals, tangents)[1]

    return _of_primals(base, count, "tangent", along)


def _of_primals(base: Function, count: int, name: str, function: Callable[..., Any]) -> Function:
    """`function`, whose first argument is a tuple of `count` primals, made once; they are bound as `base` binds."""
    key = (name, count)
    if key not in base.along:
        made = from_source(function, base.options, (), f"{name}_{base.__name__}")
        own: list[Any] = [p.description for p in base.binding.parameters]
        if own and base.binding.parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            own[-1] = own[-1].item
        own += own[-1:] * max(count - len(own), 0)
        first, *rest = made.binding.parameters
        primals = dataclasses.replace(first, description=Structure("tuple", tuple(own[:count])))
        made.binding.parameters = (primals, *rest)
        made.binding.function = base.binding.function  # errors speak of it
        base.along[key] = made
    return base.along[key]


def _jvp_inside(at: Session, base: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    call, found = base.specialised(primals, {}, at)
    staged = of_values(found.staged)
    require_lengths(staged, "`jvp` in staged code")
    args = sessions.arguments(at, staged, call)
    given = linear_atoms(at, given_trees(base, staged, len(primals)), tangents, len(args))
    mask = tuple(dx is not None for dx in given)
    b = sessions.builder(at)
    forward = derivative_programs.forward(pipeline.prepared(staged.function), mask)
    results, dys = forward.apply(b, tuple(args), tuple(given))
    results = advanced(at.tape, call, tuple(results))
    result = sessions.value(at, staged.result, results, staged.statics)
    return result, linear_value(at, b, staged.result, results, dys[: len(results)], staged.statics)


def _linear_atom(at: Session, leaf: Leaf, value: Any) -> ir.Atom:
    """A tangent or cotangent of a leaf, which has its shape."""
    given, value = value, in_64_bits(value)
    if leaf.kind == "array" or isinstance(value, np.ndarray):
        value = as_array(at.tape, _as_reals(at, value))
    if value is None or (staged_leaf(value) is None and type_of(value) is None):
        what = f"an array of shape {leaf.shape}" if leaf.kind == "array" else "a number"
        raise StagingTypeError(f"a tangent or cotangent of {what} is such a one, given {type(given).__name__}")
    shape = value.leaf.shape if staged_leaf(value) is not None else ()
    if shape != leaf.shape:
        raise ShapeError(f"a tangent or cotangent of shape {leaf.shape} is needed, given shape {shape}")
    is_other = value.__class__ is Array and value.type is not TAN
    return sessions.atom(at, leaf, converted(value, REAL) if is_other else value)


def _as_reals(at: Session, value: Any) -> Any:
    """A list of numbers with all of them Reals: an array has elements of one kind."""
    if isinstance(value, (list, tuple)):
        return [_as_reals(at, in_64_bits(item)) for item in value]
    return (
        value
        if isinstance(value, np.ndarray) or type_of(value) in (None, REAL, TAN)
        else wrap(at.tape, sessions.atom(at, Leaf("real"), value))
    )


def given_trees(base: Function, staged: Staged, count: int) -> tuple[Tree, ...]:
    """The structures of the first `count` arguments as a caller counts them: those of `*args` one by one."""
    found: list[Tree] = []
    for parameter, tree in zip(base.__signature__.parameters.values(), staged.trees, strict=True):
        if parameter.kind is parameter.VAR_POSITIONAL and isinstance(tree, Node):
            found += tree.children
        else:
            found.append(tree)
    return tuple(found[:count])


def linear_atoms(at: Session, trees: Sequence[Tree], values: Sequence[Any], count: int) -> list[ir.Atom | None]:
    """For each leaf its tangent or cotangent; None where it has none, or `None` is given for a whole structure. Filled
    up with None to `count`."""
    found: list[ir.Atom | None] = []
    if len(trees) != len(values):
        raise StagingTypeError(f"{len(trees)} tangents or cotangents are needed, given {len(values)}")
    for tree, value in zip(trees, values, strict=True):
        found += _linear_leaves(at, tree, value)
    return found + [None] * (count - len(found))


def _linear_leaves(at: Session, tree: Tree, value: Any) -> list[ir.Atom | None]:
    if value is None or is_of_host(tree) or hasattr(getattr(tree, "cls", None), "__rose_after__"):
        return [None] * len(leaves(tree))
    if isinstance(tree, Leaf):
        return [_linear_atom(at, tree, value) if is_real(tree) else None]
    if not isinstance(tree, Node):
        return []
    parts = sessions.parts(tree, value)
    return [atom for child, part in zip(tree.children, parts, strict=True) for atom in _linear_leaves(at, child, part)]


def linear_value(
    at: Session,
    b: Any,
    tree: Tree,
    like: Sequence[ir.Atom],
    found: Sequence[ir.Atom | None],
    statics: Sequence[Any] = (),
) -> Any:
    """Tangents or cotangents in the structure of `tree`, zeros where there are none, and its host values `statics`."""
    atoms: list[ir.Atom] = []
    for leaf, x, dx in zip(leaves(tree), like, found, strict=True):
        atoms.append(zero_of(leaf) if not is_real(leaf) else derivative_programs.zero(b, x) if dx is None else dx)
    return sessions.value(at, tangents_of(tree), atoms, [slope_of(value) for value in statics])


# --- reverse mode, and forward mode in two steps


if TYPE_CHECKING:

    @overload
    def vjp(f: Of1[A, R], a: A, /) -> tuple[R, Callable[[R], tuple[A]]]: ...

    @overload
    def vjp(f: Of2[A, B, R], a: A, b: B, /) -> tuple[R, Callable[[R], tuple[A, B]]]: ...

    @overload
    def vjp(f: Of3[A, B, C, R], a: A, b: B, c: C, /) -> tuple[R, Callable[[R], tuple[A, B, C]]]: ...

    @overload
    def vjp(
        f: Callable[..., R], a: Any, b: Any, c: Any, d: Any, /, *more: Any
    ) -> tuple[R, Callable[[R], tuple[Any, ...]]]: ...


@public
def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Map]:
    """The result of `f` at `primals`, and its pullback, which takes a cotangent of the result and gives a tuple of
    cotangents, one a primal. The forward pass runs once; the pullback may be called many times.

    >>> import rosejit as rose
    >>> y, pullback = rose.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    base = as_function(f)
    at = sessions.current()
    return _outside(base, primals, "back") if at is None else _vjp_inside(at, base, primals)


if TYPE_CHECKING:

    @overload
    def linearize(f: Of1[A, R], a: A, /) -> tuple[R, Callable[[A], R]]: ...

    @overload
    def linearize(f: Of2[A, B, R], a: A, b: B, /) -> tuple[R, Callable[[A, B], R]]: ...

    @overload
    def linearize(f: Of3[A, B, C, R], a: A, b: B, c: C, /) -> tuple[R, Callable[[A, B, C], R]]: ...

    @overload
    def linearize(f: Callable[..., R], a: Any, b: Any, c: Any, d: Any, /, *more: Any) -> tuple[R, Callable[..., R]]: ...


@public
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Map]:
    """The result of `f` at `primals`, and its pushforward, which takes one tangent a primal and gives that of the
    result. The function itself runs once.

    >>> import rosejit as rose
    >>> y, pushforward = rose.linearize(lambda x: x * x, 3.0)
    >>> y, pushforward(1.0)
    (9.0, 6.0)
    """
    base = as_function(f)
    at = sessions.current()
    return _outside(base, primals, "along") if at is None else _linearize_inside(at, base, primals)


def _mask(staged: Staged, trees: tuple[Tree, ...]) -> tuple[bool, ...]:
    """The real parameters among those of `trees`, which come first."""
    flags = [is_real(leaf) for tree in trees for leaf in leaves(tree)]
    return (*flags, *(False for _ in range(staged.parameters - len(flags))))


def _vjp_inside(at: Session, base: Function, primals: tuple[Any, ...]) -> tuple[Any, Map]:
    call, found = base.specialised(primals, {}, at)
    staged = of_values(found.staged)
    require_lengths(staged, "a derivative other than a gradient in staged code")
    args = tuple(sessions.arguments(at, staged, call))
    mask = _mask(staged, given_trees(base, staged, len(primals)))
    r = derivative_programs.reverse(pipeline.prepared(staged.function), mask)
    found, residuals = r.forward(sessions.builder(at), args)
    results = advanced(at.tape, call, tuple(found))

    def pullback(ct: Any) -> Any:
        b = sessions.builder(at)
        cts = tuple(linear_atoms(at, (conjugated(staged.result),), (ct,), len(found)))
        trees = given_trees(base, staged, len(primals))
        return _cotangents_value(at, trees, call.statics, b, args, r.pullback(b, residuals, args, tuple(found), cts))

    return sessions.value(at, staged.result, results, staged.statics), pullback


def _cotangents_value(
    at: Session,
    trees: Sequence[Tree],
    statics: Sequence[Any],
    b: Any,
    args: Sequence[ir.Atom],
    cts: Sequence[ir.Atom | None],
) -> tuple[Any, ...]:
    trees, statics = of_arguments(trees, statics)
    whole = conjugated(Node("tuple", trees))
    n = len(leaves(whole))
    return linear_value(at, b, whole, args[:n], cts[:n], statics)


def _linearize_inside(at: Session, base: Function, primals: tuple[Any, ...]) -> tuple[Any, Map]:
    call, found = base.specialised(primals, {}, at)
    staged = of_values(found.staged)
    require_lengths(staged, "a derivative other than a gradient in staged code")
    args = tuple(sessions.arguments(at, staged, call))
    mask = _mask(staged, given_trees(base, staged, len(primals)))
    r = derivative_programs.reverse(pipeline.prepared(staged.function), mask)
    found, residuals = r.forward(sessions.builder(at), args)
    results = advanced(at.tape, call, tuple(found))

    def pushforward(*tangents: Any) -> Any:
        b = sessions.builder(at)
        given = linear_atoms(at, given_trees(base, staged, len(primals)), tangents, len(args))
        dys = r.pushforward(b, residuals, args, tuple(given))
        return linear_value(at, b, staged.result, results, dys[: len(results)], staged.statics)

    return sessions.value(at, staged.result, results, staged.statics), pushforward


def _outside(base: Function, primals: tuple[Any, ...], which: str) -> tuple[Any, Map]:
    """On the host: one module with the forward pass and both linear maps, which share what the forward pass kept."""
    result, handle, maps = _forward(base, primals)
    return result, LinearMap(maps.linear[which], handle)


def forward_pass(base: Function, primals: Sequence[Any]) -> tuple[Any, Map]:
    """`vjp` on the host, where cotangents are known to fit: real numbers and arrays of float64, `None` for the rest."""
    result, handle, maps = _forward(base, primals)
    return result, functools.partial(maps.linear["back"].call, handle)


def _forward(base: Function, primals: Sequence[Any]) -> "tuple[Any, Any, _Maps]":
    latest = base.maps.get(len(primals))
    if latest is not None and not interpreted.may_be_disabled():
        try:
            return *latest.forward(*primals), latest
        except Mismatch:
            pass
    call = base.binding.bind(tuple(primals), {})
    key = f"pullback {len(primals)}"
    known = ready(base, call)
    found = None if known is None else valued(known)
    if found is None or key not in found.extras:
        with sessions.session() as at:
            call, known = base.specialised(tuple(primals), {}, at)
            found = valued(known)
            found.extras[key] = _compiled(base, found.staged, given_trees(base, found.staged, len(primals)))
        has_code(base, call)
    result, handle, latest = _run_forward(base, found, key, primals)
    found.extras[f"maps {key}"] = latest
    if not interpreted.may_be_disabled():
        base.maps[len(primals)] = latest
    return result, handle, latest


def _run_forward(base: Function, found: Specialisation, key: str, primals: Sequence[Any]) -> "tuple[Any, Any, _Maps]":
    """The forward pass of a program that is loaded, and what has served."""
    trees = given_trees(base, found.staged, len(primals))
    loaded: Loaded = found.extras[key]
    if not loaded.outgrown:
        maps = found.extras.get(f"maps {key}") or _maps(base, found, loaded, trees)
        with contextlib.suppress(Mismatch):  # a value from outside is equal, but not the same object any more
            return *maps.forward(*primals), maps
    loaded.grow()
    maps = _maps(base, found, loaded, trees)
    return *maps.forward(*primals), maps


@dataclass(slots=True, eq=False)
class _Maps:
    """What served the latest call: the forward pass, which tells whether it serves another, and both linear maps."""

    forward: Callable[..., Any]
    linear: dict[str, Linear]


def _compiled(base: Function, staged: Staged, trees: tuple[Tree, ...]) -> Loaded:
    """The program of forward pass and linear maps."""
    mask = _mask(staged, trees)
    given = [leaf for tree in trees for leaf in leaves(tree)]
    parts = {
        "forward": lambda f: derivative_programs.vjp_programs(f, mask).forward,
        "back": lambda f: _with_zeros(derivative_programs.vjp_programs(f, mask).pullback, given),
        "along": lambda f: _with_zeros(derivative_programs.vjp_programs(f, mask).pushforward, leaves(staged.result)),
    }
    words = (mask, [is_real(leaf) for leaf in (*given, *leaves(staged.result))])
    roots = {part: Recipe(f"{part}_{staged.name}", staged.program, words, make) for part, make in parts.items()}
    return base.options.load(roots)


def _maps(base: Function, found: Specialisation, loaded: Loaded, trees: tuple[Tree, ...]) -> _Maps:
    """The forward pass, and the linear maps as functions of a handle."""
    staged = found.staged
    given, kept = of_arguments(trees, staged.given)
    cts = with_host_values(cotangents_of(Node("tuple", given)), map(slope_of, kept))
    dy = with_host_values(tangents_of(staged.result), map(slope_of, staged.statics))
    ct, dxs = sessions.positional("ct"), [sessions.positional(f"dx{k}") for k in range(len(trees))]
    pullback = Interface("pullback", [ct], [conjugated(only_real(staged.result))], cts)
    pushforward = Interface("pushforward", dxs, [only_real(tree) for tree in trees], dy)
    how = base.options.tier, base.options.cache
    linear = {
        "back": Linear(loaded, "back", pullback, (staged.result,), *how),
        "along": Linear(loaded, "along", pushforward, trees, *how),
    }
    return _Maps(loaded.function("forward", interface_of(base, found)), linear)


def _with_zeros(f: ir.Function, found: Sequence[Any]) -> ir.Function:
    """`f`, which gives a result for each real leaf, giving zeros for the others too."""
    assert f.body is not None
    results = iter(f.body.results)
    return with_results(f, f.name, tuple(next(results) if is_real(leaf) else zero_of(leaf) for leaf in found))
