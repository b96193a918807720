"""`jvp`, `vjp`, `linearize`: a function at a point, and its derivative there as a linear map."""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api.function import Function
from rosejit.api.program import load
from rosejit.api.source import Native, as_function
from rosejit.api.staged import Staged, is_real, only_real, tangents_of, with_results, zero_of
from rosejit.errors import StagingTypeError
from rosejit.frontend import staging
from rosejit.ir import syntax as ir
from rosejit.runtime.marshal import Signature as Interface
from rosejit.transforms import derive

LinearMap = Callable[..., Any]


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of `f` at `primals`, and its derivative along `tangents`, which are structured as the primals.

    Numbers that have no derivative take `None` (or anything) as their tangent.

    >>> import rosejit as rose
    >>> rose.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    base = as_function(f)
    if len(primals) != len(tangents):
        raise StagingTypeError(
            f"`jvp` needs one tangent for each primal, given {len(primals)} primals and {len(tangents)} tangents"
        )
    if staging.active():
        return _jvp_inside(base, tuple(primals), tuple(tangents))
    return _along(base)(tuple(primals), tuple(tangents))


def _along(base: Function) -> Function:
    """`jvp` of `base` as a function of primals and tangents, made once."""
    if base.along is None:
        base.along = Native(lambda primals, tangents: _jvp_inside(base, primals, tangents), f"jvp_{base.__name__}", base)
    return base.along


def _jvp_inside(base: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    call = base.bind(primals, {})
    staged = base.specialise(call)
    args = staging.arguments(staged, call)
    given = _linear_atoms(staged.trees, tangents, len(args))
    mask = tuple(dx is not None for dx in given)
    b = staging.builder()
    results, dys = derive.forward(staged.function, mask).apply(b, tuple(args), tuple(given))
    return staging.value(staged.result, results), _linear_value(b, staged.result, results, dys)


def _linear_atoms(trees: Sequence[Tree], values: Sequence[Any], count: int) -> list[ir.Atom | None]:
    """For each leaf its tangent or cotangent; None where it has none, or `None` is given for a whole structure. Filled
    up with None to `count`."""
    found: list[ir.Atom | None] = []
    for tree, value in zip(trees, values, strict=True):
        found += _linear_leaves(tree, value)
    return found + [None] * (count - len(found))


def _linear_leaves(tree: Tree, value: Any) -> list[ir.Atom | None]:
    if value is None:
        return [None] * len(leaves(tree))
    if isinstance(tree, Leaf):
        return [staging.atom(tree, value) if is_real(tree) else None]
    if not isinstance(tree, Node):
        return []
    parts = staging.parts(tree, value)
    return [atom for child, part in zip(tree.children, parts, strict=True) for atom in _linear_leaves(child, part)]


def _linear_value(b: Any, tree: Tree, like: Sequence[ir.Atom], found: Sequence[ir.Atom | None]) -> Any:
    """Tangents or cotangents in the structure of `tree`, zeros where there are none."""
    atoms: list[ir.Atom] = []
    for leaf, x, dx in zip(leaves(tree), like, found, strict=True):
        atoms.append(zero_of(leaf) if not is_real(leaf) else derive.zero(b, x) if dx is None else dx)
    return staging.value(tangents_of(tree), atoms)


# --- reverse mode, and forward mode in two steps


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, LinearMap]:
    """The result of `f` at `primals`, and its pullback, which takes a cotangent of the result and gives a tuple of
    cotangents, one a primal. The forward pass runs once; the pullback may be called many times.

    >>> import rosejit as rose
    >>> y, pullback = rose.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    base = as_function(f)
    return _vjp_inside(base, primals) if staging.active() else _outside(base, primals, "back")


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, LinearMap]:
    """The result of `f` at `primals`, and its pushforward, which takes one tangent a primal and gives that of the
    result. The function itself runs once.

    >>> import rosejit as rose
    >>> y, pushforward = rose.linearize(lambda x: x * x, 3.0)
    >>> y, pushforward(1.0)
    (9.0, 6.0)
    """
    base = as_function(f)
    return _linearize_inside(base, primals) if staging.active() else _outside(base, primals, "along")


def _mask(staged: Staged) -> tuple[bool, ...]:
    flags = [is_real(leaf) for tree in staged.trees for leaf in leaves(tree)]
    return (*flags, *(False for _ in range(len(staged.function.params) - len(flags))))


def _vjp_inside(base: Function, primals: tuple[Any, ...]) -> tuple[Any, LinearMap]:
    call = base.bind(primals, {})
    staged = base.specialise(call)
    args = tuple(staging.arguments(staged, call))
    r = derive.reverse(staged.function, _mask(staged))
    results, residuals = r.forward(staging.builder(), args)

    def pullback(ct: Any) -> Any:
        b = staging.builder()
        cts = tuple(_linear_atoms((staged.result,), (ct,), len(results)))
        return _cotangents_value(staged, b, args, r.pullback(b, residuals, args, results, cts))

    return staging.value(staged.result, results), pullback


def _cotangents_value(staged: Staged, b: Any, args: Sequence[ir.Atom], cts: Sequence[ir.Atom | None]) -> tuple[Any, ...]:
    values: list[Any] = []
    k = 0
    for tree in staged.trees:
        n = len(leaves(tree))
        values.append(_linear_value(b, tree, args[k : k + n], cts[k : k + n]))
        k += n
    return tuple(values)


def _linearize_inside(base: Function, primals: tuple[Any, ...]) -> tuple[Any, LinearMap]:
    call = base.bind(primals, {})
    staged = base.specialise(call)
    args = tuple(staging.arguments(staged, call))
    r = derive.reverse(staged.function, _mask(staged))
    results, residuals = r.forward(staging.builder(), args)

    def pushforward(*tangents: Any) -> Any:
        b = staging.builder()
        given = _linear_atoms(staged.trees, tangents, len(args))
        return _linear_value(b, staged.result, results, r.pushforward(b, residuals, args, tuple(given)))

    return staging.value(staged.result, results), pushforward


def _outside(base: Function, primals: tuple[Any, ...], which: str) -> tuple[Any, LinearMap]:
    """On the host: one module with the forward pass and both linear maps, which share what the forward pass kept."""
    call = base.bind(primals, {})
    staged, extras = base.specialise_with_extras(call)
    if "pullback" not in extras:
        extras["pullback"] = _compiled(base, staged)
    forward, maps = extras["pullback"]
    result, handle = forward(*call.arguments)
    linear = maps[which]

    def apply(*given: Any) -> Any:
        return linear(handle, *given)

    apply.__name__ = "pullback" if which == "back" else "pushforward"
    return result, apply


def _compiled(base: Function, staged: Staged) -> tuple[Callable[..., Any], dict[str, Callable[..., Any]]]:
    programs = derive.pullback(staged.function, _mask(staged))
    cts = tuple(tangents_of(tree) for tree in staged.trees)
    back = _with_zeros(programs.back, [leaf for tree in staged.trees for leaf in leaves(tree)])
    along = _with_zeros(programs.along, leaves(staged.result))
    loaded = load({"forward": programs.forward, "back": back, "along": along}, base.options.cache, base.options.text)
    inputs = [staging.positional(f"x{k}") for k in range(len(staged.trees))]
    forward = loaded.function(
        "forward", Interface(base.__name__, inputs, staged.trees, staged.result, staged.reads, staging.same_static)
    )
    maps = {
        "back": loaded.function(
            "back",
            Interface("pullback", [staging.positional("ct")], [only_real(staged.result)], Node("tuple", cts)),
        ),
        "along": loaded.function(
            "along",
            Interface("pushforward", inputs, [only_real(tree) for tree in staged.trees], tangents_of(staged.result)),
        ),
    }
    return forward, maps


def _with_zeros(f: ir.Function, found: Sequence[Any]) -> ir.Function:
    """`f`, which gives a result for each real leaf, giving zeros for the others too."""
    assert f.body is not None
    results = iter(f.body.results)
    return with_results(f, f.name, tuple(next(results) if is_real(leaf) else zero_of(leaf) for leaf in found))
