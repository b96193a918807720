"""Functions that stay Python, as functions of the IR: how compiled code calls them back."""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.abi import HostSignature, Leaf, Tree, leaves
from rosejit.api.calling.specialisation import Staged
from rosejit.errors import StagingTypeError
from rosejit.frontend.session.custom_jvp import place_of
from rosejit.frontend.session.result_inference import tree_of
from rosejit.frontend.signature.binding import Call, Signature, conform
from rosejit.frontend.values.argument_identity import ArgumentObjects
from rosejit.frontend.values.pytree import Supply, build
from rosejit.frontend.values.scalars import leaf_type
from rosejit.ir import syntax as ir
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np


@dataclass(slots=True)
class Source:
    """What a host function reads from outside is its own business."""

    captures: tuple[Any, ...] = ()
    outer: tuple[Any, ...] = ()
    guards: tuple[Any, ...] = ()
    boxes: tuple[Any, ...] = ()
    codes: tuple[Any, ...] = ()
    asks: bool = False
    objects: ArgumentObjects = field(default_factory=ArgumentObjects)


def stage_opaque(function: Callable[..., Any], signature: Signature, call: Call) -> Staged:
    """The host function of the IR for arguments of these types; its results are as its hint says."""
    result = _described(function, signature.result, call.dims)
    if call.sources:
        raise StagingTypeError(
            f"the host function `{function.__name__}` cannot be given a Generator of staged code",
            help="draw outside of it, and give it the numbers",
        )
    inputs = [leaf for tree in call.trees for leaf in leaves(tree)]
    trees = tuple(call.trees)
    params = tuple(ir.Var(leaf_type(leaf), f"x{k}") for k, leaf in enumerate(inputs))
    results = tuple(leaf_type(leaf) for leaf in leaves(result))
    host = caller_of(function, signature, HostSignature(trees, result, tuple(call.statics)), dict(call.dims))
    made = ir.Function(signature.function.__name__, params, results, None, host=host, span=place_of(signature.function))
    return Staged(made, trees, result, (), Source())


def call_directly(function: Callable[..., Any], signature: Signature, call: Call) -> Any:
    """What the function gives where nothing is staged: called as compiled code calls it, with arrays that are not the
    caller's and cannot be written, and held to its hints."""
    arguments, statics = Supply([_unwritable(value) for value in call.values]), Supply(call.statics)
    value = signature.apply(function, [build(tree, arguments, statics) for tree in call.trees])
    found = conform(signature, call.dims, value)
    results = [value.copy() if isinstance(value, np.ndarray) else value for value in found.values]
    return build(found.trees[0], Supply(results), Supply(found.statics))


def _unwritable(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    made = value.copy()
    made.setflags(write=False)
    return made


def caller_of(
    function: Callable[..., Any], signature: Signature, leafwise: HostSignature, dims: dict[str, int]
) -> Callable[..., Any]:
    """`function` on the leaves of its arguments, giving the leaves of its result."""
    plain = all(isinstance(tree, Leaf) for tree in leafwise.trees)
    wanted = leaves(leafwise.result)

    def called(*given: Any) -> Any:
        if plain:
            value = function(*given)
        else:
            supply, kept = Supply(given), Supply(leafwise.statics)
            value = signature.apply(function, [build(tree, supply, kept) for tree in leafwise.trees])
        found = conform(signature, dims, value)
        if len(wanted) == 1:
            return found.values[0]
        return tuple(found.values) if wanted else None

    called.__name__ = function.__name__
    called.__dict__.update(signature=leafwise, opaque=(function, dims))
    return called


def _described(function: Callable[..., Any], description: Any, dims: dict[str, int]) -> Tree:
    """The structure that a hint promises; shapes must be known from the arguments."""
    found = tree_of(description, dims)
    if found is not None:
        return found
    raise StagingTypeError(
        f"the result of the opaque function `{function.__name__}` is not known before it runs",
        place_of(function),
        help="annotate it: `-> float`, `-> rose.Vec[3]`, a tuple or class of such, with dimensions of its arguments",
    )
