"""The staging that is going on in this thread, and the ways in and out of it."""

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import Parameter
from typing import Any

from rosejit import collector
from rosejit.abi import SCALAR_OF, Leaf, Node, Tree, leaf_of, leaves
from rosejit.api import interpreted
from rosejit.api.kept import Known, Specialisation
from rosejit.errors import StagingTypeError
from rosejit.frontend import around, stage
from rosejit.frontend.arrays import Array
from rosejit.frontend.content import content_key
from rosejit.frontend.guards import Capture, Chain, Guard
from rosejit.frontend.stage import Session
from rosejit.frontend.structures import Supply, build, with_parts
from rosejit.frontend.structures import parts as parts_of_value
from rosejit.frontend.values import Real, wrap
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Staged
from rosejit.ir.types import Scalar
from rosejit.runtime.marshal import Read

_REAL = frozenset({Real})


class _Current(threading.local):
    session: Session | None = None
    guards: dict[int, Sequence[Guard]] | None = None
    """What the functions called by the one that is being staged have read from outside."""


_current = _Current()


def current() -> Session | None:
    """The staging that is going on, if there is one."""
    return _current.session


def entered(given: Session) -> AbstractContextManager[Any]:
    """As `session`, which costs nothing where `given` is the current one already."""
    return nullcontext() if _current.session is given else session(given)


@contextmanager
def session(given: Session | None = None) -> Generator[Session]:
    """A new staging, or `given`, as the current one."""
    made = given or Session()
    if given is None:
        made.marks = interpreted.marks()
    outer, _current.session = _current.session, made
    try:
        with collector.paused():
            yield made
    finally:
        _current.session = outer


class collecting:
    """Collects the guards of all functions that are specialised inside, by `id` of those of one function."""

    __slots__ = ("_outer",)

    def __enter__(self) -> dict[int, Sequence[Guard]]:
        self._outer = _current.guards
        found: dict[int, Sequence[Guard]] = {}
        _current.guards = found
        return found

    def __exit__(self, *_: object) -> None:
        _current.guards = self._outer


def collect(guards: Sequence[Guard]) -> None:
    """Make what a callee has read the caller's concern too."""
    found = _current.guards
    if found is not None and guards:
        found.pop(id(guards), None)  # the last ones of a place are those that hold
        found[id(guards)] = guards


def lasting(at: Session, source: Any, inherited: dict[int, Sequence[Guard]]) -> Iterable[Sequence[Guard]]:
    """Of what was collected while `source` was staged that which means something after its end."""
    if not at.has_around:
        return inherited.values()
    if at.tape.frames:  # a function around is being staged
        return [around.lasting(each, source.codes) for each in inherited.values()]
    return [[guard for guard in each if not isinstance(guard, around.Around)] for each in inherited.values()]


def staging_of(values: Sequence[Any]) -> Session | None:
    """The staging that staged values among `values` belong to."""
    for value in values:
        tape = getattr(value, "tape", None)
        if tape is not None:
            return tape.session
    return None


# --- inside a staging


def builder(at: Session) -> Builder:
    """Appends to the block that is open, at the user's line."""
    made = Builder(at.tape.here())
    made.lets = at.tape.lets
    return made


def value(at: Session, tree: Tree, atoms: Sequence[ir.Atom], statics: Sequence[Any] = ()) -> Any:
    """The staged structure of `tree` that holds `atoms`."""
    made = [wrap(at.tape, a) if isinstance(a.type, Scalar) else stage.fresh(at.tape, a) for a in atoms]  # type: ignore[arg-type]  # heavy atoms are variables
    return build(tree, Supply(made), Supply(statics))


def atom(at: Session, leaf: Leaf, given: Any) -> ir.Atom:
    """A staged or host value as an atom of the type of `leaf`."""
    return at.atom(leaf, given)


def arguments(at: Session, staged: Any, call: Any) -> list[ir.Atom]:
    """The atoms for all parameters of the IR function of `staged`, for a call bound to its signature."""
    if _REAL.issuperset(map(type, call.values)):  # most of them
        atoms = [v.atom for v in call.values]
    else:
        wanted = [leaf for tree in call.trees for leaf in leaves(tree)]
        atoms = [at.atom(leaf, v) for leaf, v in zip(wanted, call.values, strict=True)]
    atoms += [stage.variable(at.captured_again(capture)) for capture in staged.source.captures]
    return atoms + list(staged.source.outer)


def of_reals(at: Session, known: Known, args: tuple[Any, ...]) -> Specialisation | None:
    """What is known of a function for so many staged Reals, if it is right as it is: of small functions, which are
    called often, the calls need not be bound."""
    if at.seen is not None or not _REAL.issuperset(map(type, args)):
        return None
    found = known.get((Real.leaf,) * len(args) + at.marks)
    if found is None or found.staged.source.captures or found.staged.source.outer:
        return None
    return found if is_current(found.staged.source, found.guards, at) else None


def applied(at: Session, found: Specialisation, atoms: list[ir.Atom]) -> Any:
    """Stage a call of what is known."""
    collect(found.guards)
    return at.apply(found.staged.function, atoms, found.staged.result, found.staged.statics)


def parts(tree: Node, given: Any) -> list[Any]:
    """The parts of a structure in the order of `tree`."""
    if tree.kind == "dict":
        return [given[key] for key in tree.keys]
    found = parts_of_value(given)
    if found is None or len(found) != len(tree.children):
        raise StagingTypeError(f"a structure like that of the primal is needed, given {type(given).__name__}")
    return found


def filled(at: Session, result: Any, out: Any) -> Any:
    """`result`, its arrays written to those of `out`, which has the same structure; None keeps what is there."""
    if out is None or isinstance(result, Staged):
        return result
    if isinstance(result, Array):
        if not isinstance(out, Array) or (out.shape, out.type) != (result.shape, result.type):
            raise at.tape.type_fault(f"`out` must be like the result, {result!r}, given {out!r}")
        out[...] = result  # type: ignore[index]  # operators are installed
        return out
    inside, places = parts_of_value(result), parts_of_value(out)
    if inside is None or places is None or len(inside) != len(places):
        raise at.tape.type_fault("`out` must have the structure of the result")
    return with_parts(result, [filled(at, part, place) for part, place in zip(inside, places, strict=True)])


# --- between calls


def is_current(source: Any, guards: Sequence[Guard], at: Session | None) -> bool:
    """Whether the code would be staged the same way again."""
    for guard in guards:  # asked at every call that is staged
        if not guard.holds():
            return False
    if source.captures and any([capture.read() is None for capture in source.captures]):
        return False
    if at is None:
        return not (source.outer or source.boxes)
    return not source.boxes or all([at.tape.content(box) is held for box, held in source.boxes])


def what_changed(found: Any) -> str:
    """Which values from outside are no longer those that a specialisation was staged with."""
    changed = [str(guard.chain) for guard in found.guards if not guard.holds()]
    changed += [str(capture.chain) for capture in found.staged.source.captures if capture.read() is None]
    return ", ".join(f"`{name}` has changed" for name in changed) or "it closes over other staged values"


def reads(source: Any, guards: Sequence[Guard]) -> tuple[Read, ...]:
    """What the compiled call must read again: arrays that it is handed, and values that must still be the same."""
    return reads_of(source.captures, guards)


def reads_of(captures: Sequence[Capture], guards: Sequence[Guard]) -> tuple[Read, ...]:
    """The same, of the arrays themselves."""
    return (*map(_capture_read, captures), *map(_guard_read, guards))


def distinct(*guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """All `guards`, each place once."""
    return tuple({guard.key: guard for each in guards for guard in each}.values())


def _chain(chain: Chain) -> str:
    start = f"{{0}}[{chain.names[0]!r}]" if isinstance(chain.root, dict) else "{0}.cell_contents"
    return start if len(chain.names) == 1 else ".".join([start, *chain.names[1:]])


def _capture_read(capture: Capture) -> Read:
    leaf = leaf_of(capture.array.shape, SCALAR_OF[capture.array.dtype.kind])
    if capture.chain is None:
        return Read("{0}", (capture.array,), tree=leaf)
    return Read(_chain(capture.chain), (capture.chain.root,), tree=leaf)


def _guard_read(guard: Guard) -> Read:
    if guard.identical or guard.frozen:
        return still(guard.chain)
    return Read("{0}()", (guard.holds,), value=True)


def still(chain: Chain) -> Read:
    """What a chain is now must stay the same object."""
    return Read(_chain(chain), (chain.root,), chain.read())


def same_static(given: Any, key: Any) -> bool:
    """Whether a static argument is the one that was staged, by content."""
    return content_key(given) == key


def positional(name: str) -> Parameter:
    """A parameter without a name."""
    return Parameter(name, Parameter.POSITIONAL_ONLY)
