"""What counted loops and `while` share: carried variables, their way in and out, and interruption."""

from collections.abc import Sequence

from rosejit.abi import INTERRUPT_FLAG
from rosejit.codegen.core.address_type import Kind
from rosejit.codegen.core.emitter import Emitter
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.core.split_long import PARENT
from rosejit.codegen.values.ownership import consume, free, undefine
from rosejit.ir.syntax import Atom, Var
from rosejit.ir.types import is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import i32_load, local_get, local_set


@dataclass(slots=True)
class Carry:
    """A carried variable and its place through the loop."""

    var: Var
    kind: Kind
    place: int
    number: int
    placed: bool = False
    """Whether it lies in memory that is not its own, from what it begins with to what it comes to."""
    home: int | None = None
    """The slot of the frame that tells where that memory is, of a function that is cut."""


def poll(e: Emitter) -> bytes:
    """Looks at the interrupt flag."""
    return e.module.address.zero + i32_load[INTERRUPT_FLAG] + e.body.fail_if(e.module.failures.interrupted())


def load(e: Emitter, kind: Kind, place: int) -> bytes:
    """Reads a place."""
    return local_get[place] if place >= 0 else local_get[e.body.frame] + LOADS[kind][~place]


def store(e: Emitter, kind: Kind, place: int, value: bytes) -> bytes:
    """Writes a place."""
    if place >= 0:
        return value + local_set[place]
    return local_get[e.body.frame] + value + STORES[kind][~place]


def open_carries(e: Emitter, variables: Sequence[Var], results: Sequence[Var]) -> list[Carry]:
    """Gives places to carries, those of the results where possible; writes what happens to them behind the loop."""
    found: list[Carry] = []
    for number, (v, result) in enumerate(zip(variables, results, strict=True)):
        kind = e.kind(v)
        if kind is None:
            continue
        place = e.where.get(result)
        placed = result in e.placed
        home = place if placed and place is not None and place < 0 and e.inside is not PARENT else None
        if home is not None:
            undefine(e, result)  # the memory is the same in front of the loop and behind it
            place = e.body.local(kind)
        elif place is not None and (place >= 0 or e.inside is PARENT):
            del e.where[result]
        else:
            place = ~e.frame.slot() if e.inside is PARENT else e.body.local(kind)
            _pass_on(e, result, kind, place)
        e.placed.discard(result)
        e.fixed[v] = place
        found.append(Carry(v, kind, place, number, placed, home))
    return found


def _pass_on(e: Emitter, result: Var, kind: Kind, place: int) -> None:
    """The last carry goes into the frame, or nobody wants it."""
    if result in e.where:
        before = e.bind(result)
        e.body.out += (load(e, kind, place), before)
    elif is_boxed(result.type):
        e.body.out += (e.module.drop(result.type), load(e, kind, place))


def drop_unread(e: Emitter, carried: Sequence[Carry]) -> None:
    """At the start of a body: frees the carries that it does not read."""
    for carry in carried:
        if carry.var not in e.where:
            e.where[carry.var] = carry.place
            if is_boxed(carry.var.type):
                free(e, (carry.var,))


def close_carries(e: Emitter, carried: Sequence[Carry], inits: Sequence[Atom]) -> None:
    """In front of the loop: the first values; the places are free above."""
    given = list(inits)
    for carry in reversed(carried):
        if carry.placed:
            init = given.pop(carry.number)
            assert isinstance(init, Var)
            e.consumed[init] = None
            e.where[init] = carry.place if carry.home is None else carry.home
            e.placed.add(init)
    for carry in carried:
        e.where.pop(carry.var, None)
        del e.fixed[carry.var]
        if not carry.placed:
            e.assign(carry.kind, carry.place)
            e.release(carry.var, carry.place)
        elif carry.home is not None:
            e.body.out.append(store(e, carry.kind, carry.place, load(e, carry.kind, carry.home)))
            e.release(carry.var, carry.place)
    consume(e, given)
    e.push(given)
