"""The variables of one function while its code is written from the end: where they are, and from where on.

A place is a number: of a local, or `~offset` of a slot of the frame. A variable has one from its last use (the first
that is seen) up to its definition.
"""

from collections.abc import Sequence

from rosejit.codegen.core.address_type import KINDS, Kind
from rosejit.codegen.core.function_body import LOADS, STORES, Body, Frame
from rosejit.codegen.core.function_facts import Plan
from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.core.split_long import PARENT
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, INT, REAL, Ref, Scalar
from rosejit.wasm.instructions import local_get, local_set, local_tee
from rosejit.wasm.opcodes import OP

_TEMPORARY: dict[Kind, Scalar] = {"i32": BOOL, "i64": INT, "f64": REAL}


class Variables:
    """What is known of the variables at the point that is being written."""

    def __init__(self, module: ModuleContext, plan: Plan, body: Body) -> None:
        self.module = module
        self.plan = plan
        self.body = body
        self.frame = Frame(plan.area)
        self.where: dict[Var, int] = {}
        self.fixed: dict[Var, int] = {}
        """Variables that will have a given place when they are first seen: parameters and carries."""
        self.near: dict[Var, int] = {}
        """The locals of variables that are also in the frame, where they are defined in the same chunk."""
        self.placed: set[Var] = set()
        """Boxed variables that must be built in the memory whose address their place holds, which is not theirs."""
        self.room: dict[Var, int] = {}
        """Of boxed variables whose block will become a larger one: its bytes."""
        self.framed: dict[Var, tuple[int, int]] = {}
        """Of boxed variables that lie in the frame: the offset and the bytes."""
        self.offsets: dict[Var, dict[int, Var]] = {}
        """Of the index of a loop: variables that hold it times a stride, as an address."""
        self.consumed: dict[Var, None] = {}
        """The boxed variables that the block which is being written consumes."""
        self.inside: set[Var] | frozenset[Var] | None = None
        """The variables that may live in locals; None for all."""
        self.times = plan.times
        """How often the loops around run what is being written, as far as that is known."""
        self.frame_variable = Var(module.address.scalar, "frame")
        """What holds the address of the frame, where code reads that as a variable."""

    def kind(self, v: Var) -> Kind | None:
        """The Wasm type of what is kept for `v`: of a cell, what it holds."""
        if v in self.plan.cells:
            assert isinstance(v.type, Ref)
            return self.module.address.kind_of(v.type.target)
        return self.module.address.kind_of(v.type)

    def first(self, v: Var) -> int | None:
        """The place of `v`, which is seen for the first time; `()` needs none."""
        place = self.fixed.get(v)
        if place is None:
            scalar = type(v.type) is Scalar
            kind = KINDS[v.type] if scalar else self.kind(v)  # type: ignore[index]  # a Scalar
            if kind is None:
                return None
            if (self.inside is None or v in self.inside) and (scalar or v not in self.plan.addressed):
                free = self.body.free[kind]
                place = free.pop() if free else self.body.fresh(kind)
            else:
                place = ~self.frame.slot()
        self.where[v] = place
        return place

    def read(self, v: Var) -> bytes:
        """Code that leaves `v`; it must not stand before an item that may define `v`."""
        place = self.where.get(v)
        if place is None:
            place = self.first(v)
            if place is None:
                return b""
        return local_get[place] if place >= 0 else self._load(v, place)

    def _load(self, v: Var, place: int) -> bytes:
        """Reads `v` from the frame, or from the local that it has besides; of a cell the address is meant."""
        if v in self.plan.cells:
            return local_get[self.body.frame] + self.module.address.moved(~place)
        kind = self.module.address.kind_of(v.type)
        assert kind is not None
        if self.inside and v in self.inside:
            near = self.near.get(v)
            if near is None:  # it may be needed in all iterations of a loop, part of which is written already
                near = self.near[v] = self.body.fresh(kind)
            return local_get[near]
        return local_get[self.body.frame] + LOADS[kind][~place]

    def temporary(self, kind: Kind) -> Var:
        """A variable of our own, with a place; to be given back with `retire`."""
        v = Var(_TEMPORARY[kind], "t")
        self.where[v] = ~self.frame.slot() if self.inside is PARENT else self.body.local(kind)
        return v

    def retire(self, v: Var) -> None:
        """Above this point the temporary is not needed."""
        self.release(v, self.where.pop(v))

    def frame_address(self) -> Var:
        """A variable that holds the address of the frame."""
        self.where[self.frame_variable] = self.body.frame
        return self.frame_variable

    def release(self, v: Var, place: int) -> None:
        """Above this point `v` is not needed; who gave it a fixed place keeps that."""
        if v in self.fixed:
            return
        if place < 0:
            self.frame.release(~place)
        else:
            kind = self.kind(v)
            assert kind is not None
            self.body.release(kind, place)

    def bind(self, v: Var, *, keep: bool = False) -> bytes:
        """Write what takes a value off the stack and binds it to `v`; with `keep` it stays there too.

        The code that is returned belongs in front of the code of the value.
        """
        out = self.body.out
        if v in self.placed:  # it is where it shall be
            return b""
        place = self.where.pop(v, None)
        if place is None:
            if not keep:
                out.append(self.module.drop(v.type) if v not in self.plan.borrowed else OP["drop"])
            return b""
        if place >= 0:
            self.release(v, place)
            out.append(local_tee[place] if keep else local_set[place])
            return b""
        kind = self.module.address.kind_of(v.type)
        assert kind is not None
        near = self.near.pop(v, None)
        scratch = near if near is not None else self.body.local(kind) if keep else None
        if keep:
            assert scratch is not None
            out.append(local_get[scratch])
        out.append(STORES[kind][~place])
        if scratch is not None:
            out.append(local_tee[scratch])
            self.body.release(kind, scratch)
        self.release(v, place)
        return local_get[self.body.frame]

    def bind_all(self, variables: Sequence[Var]) -> bytes:
        """As `bind`, for several values; the last is on top."""
        if len(variables) == 1:
            return self.bind(variables[0])
        for v in variables:
            kind = self.module.address.kind_of(v.type)
            place = self.where.get(v)
            if kind is None or v in self.placed:
                continue
            if place is None or place >= 0:
                self.bind(v)
            else:
                scratch = self.body.local(kind)
                before = self.bind(v)
                self.body.out += (local_get[scratch], before, local_set[scratch])
                self.body.release(kind, scratch)
        return b""

    def assign(self, kind: Kind, place: int) -> None:
        """Write what takes a value off the stack and puts it at `place`."""
        if place >= 0:
            self.body.out.append(local_set[place])
        else:
            scratch = self.body.local(kind)
            self.body.release(kind, scratch)
            store = (local_set[scratch], local_get[self.body.frame], local_get[scratch], STORES[kind][~place])
            self.body.out += reversed(store)
