"""Places that are added to: of a scalar a local or a slot of the frame, of the rest the memory of the value."""

from rosejit.codegen.core.allocator import DROP
from rosejit.codegen.core.emitter import Emitter
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.values.ownership import borrow, rename
from rosejit.ir.syntax import Accum, Add, Let, Resolve, Var
from rosejit.ir.types import REAL, TAN, UNIT, Ref, Scalar, Type, has_real, is_linear
from rosejit.wasm.instructions import f64_load, f64_store, local_get, local_set
from rosejit.wasm.opcodes import OP


def _counts(t: Type) -> bool:
    """Whether a `+=` changes anything in `t`."""
    return t is REAL or t is TAN or has_real(t) or is_linear(t)


def _cell(e: Emitter, p: Var) -> tuple[int, bytes, bytes, bytes]:
    """The place of a cell; what comes before a value that is put there, what puts it there, and what reads it."""
    place = e.where.get(p)
    if place is None:
        place = e.first(p)
        if place is None:  # it holds ()
            return -1, b"", b"", b""
    if place >= 0:
        return place, b"", local_set[place], local_get[place]
    kind = e.kind(p)
    if kind is None:
        return place, b"", b"", b""
    frame = local_get[e.body.frame]
    return place, frame, STORES[kind][~place], frame + LOADS[kind][~place]


def accum(e: Emitter, let: Let) -> None:
    """Opens a place."""
    x = let.expr
    assert isinstance(x, Accum)
    (p,) = let.binders
    if p not in e.plan.cells:
        rename(e, p, x.value)
    elif p in e.where:
        place, before, put, _ = _cell(e, p)
        del e.where[p]
        e.release(p, place)
        e.push((before, x.value, put))
    elif x.value.type is not UNIT:
        e.push((x.value, DROP))


def add(e: Emitter, let: Let) -> None:
    """Adds a value to what a place holds: the value is computed first, because that may add to the place too."""
    x = let.expr
    assert isinstance(x, Add)
    p = x.place
    assert isinstance(p, Var)
    assert isinstance(p.type, Ref)
    if not _counts(p.type.target):
        return
    borrow(e, p, x.value)
    if p in e.plan.cells:
        _, before, put, read = _cell(e, p)
        e.push((before, x.value, read, OP["f64.add"], put))
    elif isinstance(p.type.target, Scalar):
        e.push((p, x.value, p, f64_load[0], OP["f64.add"], f64_store[0]))
    else:
        e.push((p, x.value, e.module.glue.add(p.type.target)))


def resolve(e: Emitter, let: Let) -> None:
    """What a place holds."""
    x = let.expr
    assert isinstance(x, Resolve)
    if x.place in e.plan.cells:
        e.statement(let, _held)
    else:
        rename(e, let.binders[0], x.place)


def _held(e: Emitter, let: Let) -> None:
    assert isinstance(let.expr, Resolve)
    assert isinstance(let.expr.place, Var)
    e.push((_cell(e, let.expr.place)[3],))
