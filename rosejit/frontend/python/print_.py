"""Stages `print`: what only running knows is printed when the code runs, in the order of the program."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rosejit.abi import HostSignature, Leaf, Node, Static, Tree, leaves
from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.scalar_ops.staged_text import Form, Text, filled
from rosejit.frontend.values.pytree import Supply, build, flatten
from rosejit.frontend.values.scalars import NUMBERS, passed_tangent, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Call, Function, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type, array
from rosejit.numeric import np

_TYPES: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}


def staged_print(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`print(*args, **kwargs)`: now, if all is known and no branch or loop is open, else at run time."""
    tape = session.tape
    found: list[Any] = []
    statics: list[Any] = []
    forms = {k: arg.form for k, arg in enumerate(args) if isinstance(arg, Text)}
    tree = flatten(tuple([tuple(arg.values) if isinstance(arg, Text) else arg for arg in args]), found, statics)
    if not found:
        tape.tries.says()
    if not found and not tape.is_staged:
        tape.trials.say(lambda: print(*args, **kwargs))
        return
    if any(getattr(value, "type", None) is TAN for value in found):
        raise passed_tangent(tape, "print")
    if any(id(kwargs.get("file")) in frame.allocated for frame in tape.frames):
        raise tape.fault(
            UnsupportedSyntax,
            "`print` writes, when the code runs, to a file that the function has made while it is staged",
            facts=("what the file holds is read while staging, before anything is written",),
            help="make the text with `str`, or print to a file from outside, and read it after the call",
        )
    leaf_list = [_exact(leaf, value) for leaf, value in zip(leaves(tree), found, strict=True)]
    atoms: list[Atom] = [session.atom(leaf, value) for leaf, value in zip(leaf_list, found, strict=True)]

    shown_as = _with_leaves(tree, iter(leaf_list))
    inside = shown_as.children if isinstance(shown_as, Node) else ()
    signature = HostSignature(inside, Node("none"), tuple(statics), True, tuple(forms.items()))
    _stage_host_call(tape, "print", printer(signature, kwargs), leaf_list, atoms)


def printer(signature: HostSignature, kwargs: dict[str, Any]) -> Callable[..., None]:
    """What prints the leaves of some arguments."""
    tree, forms = Node("tuple", signature.trees), dict(signature.forms)
    leaf_list = leaves(tree)

    def host(*values: Any) -> None:
        shown = [_as_printed(leaf, value) for leaf, value in zip(leaf_list, values, strict=True)]
        given = build(tree, Supply(shown), Supply(signature.statics))
        print(*[filled(forms[k], iter(arg)) if k in forms else arg for k, arg in enumerate(given)], **kwargs)

    host.__dict__.update(signature=signature, printed=kwargs)
    return host


def failing(session: Any, error: Callable[..., BaseException], values: Sequence[Any], name: str, form: Form) -> None:
    """Stage what raises the `error` of staged values; away from Python an error `name` says `form`."""
    leaf_list = [_exact(value.leaf, value) for value in values]
    atoms: list[Atom] = [session.atom(leaf, value) for leaf, value in zip(leaf_list, values, strict=True)]
    at = session.tape.here()
    message = Node("tuple", tuple(leaf_list))
    signature = HostSignature((message,), Node("none"), forms=((0, form),), raises=name, span=at)
    _stage_host_call(session.tape, "raise", raiser(signature, error), leaf_list, atoms)


def raiser(signature: HostSignature, error: Callable[..., BaseException]) -> Callable[..., None]:
    """What raises the `error` of the leaves of one argument."""
    leaf_list = leaves(signature.trees[0])

    def host(*values: Any) -> None:
        raise error(*[_as_printed(leaf, value) for leaf, value in zip(leaf_list, values, strict=True)])

    host.__dict__.update(signature=signature, raised=error)
    return host


def _stage_host_call(
    tape: Tape, name: str, host: Callable[..., None], leaf_list: list[Leaf], atoms: list[Atom]
) -> None:
    params = tuple(Var(_type(leaf)) for leaf in leaf_list)
    tape.bind_all(Call(Function(name, params, (), host=host, span=tape.here()), tuple(atoms)), ())


def _with_leaves(tree: Tree, exact: Iterator[Leaf]) -> Tree:
    match tree:
        case Leaf():
            return next(exact)
        case Node():
            return replace(tree, children=tuple(_with_leaves(child, exact) for child in tree.children))
        case Static():
            return tree


def _exact(leaf: Leaf, value: Any) -> Leaf:
    return leaf if value.__class__ is Array or value.__class__ not in NUMBERS else Leaf(leaf.kind)


def _type(leaf: Leaf) -> Type:
    return array(leaf.shape, _TYPES[leaf.element]) if leaf.kind == "array" else _TYPES[leaf.kind]


def _as_printed(leaf: Leaf, value: Any) -> Any:
    return np.asarray(value) if leaf.kind == "array" else value


_ = type_of
