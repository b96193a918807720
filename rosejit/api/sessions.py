"""The staging that is going on in this thread, and the ways in and out of it."""

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import Parameter
from typing import Any

from rosejit import collector
from rosejit.abi import SCALAR_OF, Leaf, Node, Static, Tree, leaf_of, leaves
from rosejit.api.calling.specialisation import open_lengths
from rosejit.api.calling.specialisation_cache import Known, Specialisation
from rosejit.api.derivation.derivation_recipe import Recipe
from rosejit.api.programs import interpreted
from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.guards import closure_guards
from rosejit.frontend.guards.change_guards import ChangeGuard
from rosejit.frontend.guards.guards import AccessPath, Capture, Guard
from rosejit.frontend.session.session import Session
from rosejit.frontend.values.open_lengths import opened
from rosejit.frontend.values.pytree import Supply, build, parts_as, with_parts
from rosejit.frontend.values.pytree import parts as parts_of_value
from rosejit.frontend.values.scalars import Real, wrap
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.lengths import named
from rosejit.ir.primitive import Staged
from rosejit.ir.types import INT, Scalar
from rosejit.numeric import np
from rosejit.runtime.marshalling.marshal import Read

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


_BLAS: tuple[Tree, ...] = (Static("blas"),)


@contextmanager
def with_blas(at: Session, wanted: bool) -> Generator[None]:
    """Whether what is staged inside, and all that it calls, leaves large products to NumPy: where that is `wanted`, or
    was before. It is in the keys of calls: who is called by both kinds is staged twice."""
    before = at.blas, at.marks
    if wanted and not at.blas:
        at.blas, at.marks = True, (*at.marks, *_BLAS)
    try:
        yield
    finally:
        at.blas, at.marks = before


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


def is_collecting() -> bool:
    """Whether something is being staged that will want to know what others have read."""
    return _current.guards is not None


def lasting(at: Session, source: Any, inherited: dict[int, Sequence[Guard]]) -> Iterable[Sequence[Guard]]:
    """Of what was collected while `source` was staged that which means something after its end."""
    codes = source.codes if at.tape.frames else None  # a function around is being staged
    return [
        closure_guards.lasting(each, codes) if at.has_around or any(map(closure_guards.is_answer, each)) else each
        for each in inherited.values()
    ]


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
    made = [wrap(at.tape, a) if isinstance(a.type, Scalar) else fresh(at.tape, a) for a in atoms]  # type: ignore[arg-type]  # heavy atoms are variables
    return build(tree, Supply(made), Supply(statics))


def atom(at: Session, leaf: Leaf, given: Any) -> ir.Atom:
    """A staged or host value as an atom of the type of `leaf`."""
    return at.atom(leaf, given)


def tangent_atom(given: Any) -> ir.Atom:
    """The atom of a tangent that a rule has."""
    return variable(given) if isinstance(given, Array) else given.atom


def arguments(at: Session, staged: Any, call: Any) -> list[ir.Atom]:
    """The atoms for all parameters of the IR function of `staged`, for a call bound to its signature."""
    if _REAL.issuperset(map(type, call.values)):  # most of them
        atoms = [v.atom for v in call.values]
    else:
        wanted = [leaf for tree in call.trees for leaf in leaves(tree)]
        atoms = [at.atom(leaf, v) for leaf, v in zip(wanted, call.values, strict=True)]
    atoms += [variable(at.captured_again(capture)) for capture in staged.source.captures]
    atoms += staged.source.outer
    if isinstance(staged.program, Recipe):  # derived of the program that takes its lengths
        atoms += [ir.Lit(length, INT) for length in opened(at.tape, tuple(map(named, open_lengths(staged))))]
    return atoms


def of_reals(at: Session, known: Known, args: tuple[Any, ...]) -> Specialisation | None:
    """What is known of a function for so many staged Reals, if it is right as it is: of small functions, which are
    called often, the calls need not be bound."""
    if not _REAL.issuperset(map(type, args)):
        return None
    found = known.get((Real.leaf,) * len(args) + at.marks)
    if found is None or found.staged.source.captures or found.staged.source.outer or found.staged.source.asks:
        return None
    if found.staged.source.objects.aliases:
        return None
    return found if is_current(found.staged.source, found.guards, at) else None


def applied(at: Session, found: Specialisation, atoms: list[ir.Atom]) -> Any:
    """Stage a call of what is known."""
    collect(found.guards)
    used(found.guards)
    return at.apply(found.staged.function, atoms, found.staged.result, found.staged.statics)


def parts(tree: Node, given: Any) -> list[Any]:
    """The parts of a structure in the order of `tree`."""
    found = parts_as(tree, given)
    if found is None:
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


def owned(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """`guards` for code that is made of what they guard: of changes its own ones."""
    return tuple([ChangeGuard(each.chain, each) if isinstance(each, ChangeGuard) else each for each in guards])


def used(guards: Sequence[Guard]) -> None:
    """A call of the code is staged: what it changed outside is changed again for the next one."""
    for guard in guards:
        if guard.is_of_change:
            guard.use()


def what_changed(found: Any) -> str:
    """Which values from outside are no longer those that a specialisation was staged with."""
    changed = [str(guard.chain) for guard in found.guards if not guard.holds()]
    changed += [str(capture.chain) for capture in found.staged.source.captures if capture.read() is None]
    return ", ".join(f"`{name}` has changed" for name in changed) or "it closes over other staged values"


def reads(source: Any, guards: Sequence[Guard]) -> tuple[Read, ...]:
    """What the compiled call must read again: arrays that it is handed, and values that must still be the same."""
    return (*map(_capture_read, source.captures), *map(_guard_read, guards))


def kept(source: Any) -> tuple[Read, ...]:
    """Copies of the arrays that the compiled call is handed, as they are now."""
    return tuple([_kept(capture) for capture in source.captures])


def _kept(capture: Capture) -> Read:
    kind = SCALAR_OF[capture.array.dtype.kind]
    now = np.array(capture.read(), {"real": "float64", "int": "int64", "bool": "bool"}[kind], order="C")
    now.setflags(write=False)
    return Read("{0}", (now if now.shape else now.item(),), tree=leaf_of(now.shape, kind))


def distinct(*guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """All `guards`, each place once."""
    return tuple({guard.key: guard for each in guards for guard in each}.values())


def _chain(chain: AccessPath) -> str:
    """A chain as Python, for `_roots`."""
    name = repr(chain.names[0])
    start = f"{{0}}[{name}]" if isinstance(chain.root, dict) else "{0}.cell_contents"
    if chain.under is not None:
        start = f"({{0}} if {name} in {{0}} else {{1}})[{name}]"
    return start if len(chain.names) == 1 else ".".join([start, *chain.names[1:]])


def _roots(chain: AccessPath) -> tuple[Any, ...]:
    return (chain.root,) if chain.under is None else (chain.root, chain.under)


def _capture_read(capture: Capture) -> Read:
    leaf = leaf_of(capture.array.shape, SCALAR_OF[capture.array.dtype.kind])
    if capture.chain is None:
        return Read("{0}", (capture.array,), tree=leaf)
    return Read(_chain(capture.chain), (capture.chain.root,), tree=leaf)


def _guard_read(guard: Guard) -> Read:
    if guard.is_still:
        return Read(_chain(guard.chain), _roots(guard.chain), guard.chain.read())
    return Read("{0}()", (guard.use,), value=True)


def same_static(given: Any, key: Any) -> bool:
    """Whether a static argument is the one that was staged, by content."""
    return key.fits(given)


def positional(name: str) -> Parameter:
    """A parameter without a name."""
    return Parameter(name, Parameter.POSITIONAL_ONLY)
