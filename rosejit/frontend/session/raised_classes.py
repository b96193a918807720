"""Calls of functions of the program in a `try`: which errors they may raise, and whether a handler waits for one."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.abi import Leaf, Tree
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.scalar_ops.faults import CODES
from rosejit.frontend.values.scalars import Real, real_atom
from rosejit.frontend.values.tape import Tape, open_handlers
from rosejit.ir import syntax as ir
from rosejit.ir.failure import KINDS, raised_by
from rosejit.ir.traversal import lets, reachable

Classes = frozenset[type[BaseException]]
_UNKNOWN: Classes = frozenset({BaseException})


def raised_in(function: ir.Function) -> Classes:
    """The classes of the errors that a call raises when it runs, BaseException where that is not known, and those of
    Python's arithmetic, which staged reals do not raise."""
    found: Classes = frozenset(CODES)
    component = {each: k for k, each in enumerate(reachable(function))}
    for each, place in component.items():
        if each.body is None:
            found |= frozenset() if each.pure else _UNKNOWN
            continue
        for let in lets(each.body):
            e = let.expr
            if isinstance(e, ir.Check):
                known = getattr(e.failure.exception, "cls", BaseException)  # of an error that values make
                found |= frozenset(raised_by(e.failure) or (known,))
            elif isinstance(e, ir.Apply) and e.op.failure:
                found |= frozenset([KINDS[kind] for kind in e.op.failure.split("|") if kind != "overflow"])
            elif isinstance(e, ir.Call) and component[e.function] >= place:
                found |= frozenset({KINDS["recursion"]})
            elif getattr(e, "checked", False):
                found |= frozenset({KINDS["index"]})
    return found


def is_caught(session: Any, source: Any, function: ir.Function) -> bool:
    """Whether a handler that is open waits for an error that a call of the user's function `source` may raise; one
    whose body is being staged in place of a call is called as ever."""
    if any(source is other for other in session.inlining):
        return False
    kinds = [kind for kinds in open_handlers(session.tape) for kind in kinds]
    return bool(kinds) and any(issubclass(cls, kind) for cls in raised_in(function) for kind in kinds)


def check_in_try(tape: Tape, function: ir.Function) -> bool:
    """Refuse a call whose errors a handler would have to be asked of; whether it may stand behind what has raised."""
    classes = raised_in(function)
    quiet = classes == frozenset(CODES)
    tape.refuse_in_try(f"`{function.name}`", *classes, quiet=quiet)
    return quiet


def as_hinted(tape: Tape, tree: Tree, value: Any) -> Any:
    """An argument for a body staged in place of the call: a number or an array as the hint says, else itself."""
    if not isinstance(tree, Leaf):
        return value
    if tree.kind == "array":
        return as_array(tape, value) if isinstance(value, (list, tuple)) else value
    if tree.kind != "real" or value.__class__ in (Real, float):
        return value
    atom = real_atom(tape, value)
    return value if atom is None else Real(tape, atom)
