"""Writes the blocks of one function, the last let first: what is used later is known before what defines it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rosejit.codegen.core.address_type import KINDS
from rosejit.codegen.core.function_body import Body
from rosejit.codegen.core.function_facts import Plan
from rosejit.codegen.core.locals import Variables
from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.core.split_long import CHUNK, LONGEST, PARENT, segments, short, variables, weight
from rosejit.ir.facts import Table
from rosejit.ir.syntax import Apply, Atom, Block, Expr, Function, Let, Lit, Var
from rosejit.ir.types import BOOL, INT
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import call, f64_const, i32_const, i64_const, local_get, local_set

Item = Atom | bytes
"""Something to be written: an atom leaves its value on the stack, bytes are code."""

Form = Callable[["Emitter", Let], None]

NESTING = 12
"""How many operands may wait on the stack while a later one is computed in its place."""


@dataclass(slots=True, frozen=True)
class Forms:
    """How each class of expression is written."""

    values: Mapping[type, Form]
    """Those that leave their results on the stack."""
    others: Table[Expr, Form]
    """Those that bind their results themselves."""


def literal(lit: Lit) -> bytes:
    """The code of a constant."""
    value = lit.value
    if lit.type is BOOL:
        return i32_const[int(value or 0)]
    if lit.type is INT:
        assert isinstance(value, int)
        return i64_const[value]
    return b"" if value is None else f64_const(value)


class Emitter(Variables):
    """Writes one function."""

    def __init__(self, module: ModuleContext, forms: Forms, plan: Plan, body: Body, name: str) -> None:
        super().__init__(module, plan, body)
        self.forms = forms
        self.name = name
        self.block: Block | None = None
        self.lets: Sequence[Let] = ()
        self.start = self.at = 0
        self._next: Var | None = None
        self._todo: list[Item] = []
        self._depth = 0
        self._chunks = 0

    # --- code

    def push(self, items: Sequence[Item]) -> None:
        """Write `items`. A let that comes next and defines an atom is written in its place.

        So the order of all lets is kept, and most values never see a local.
        """
        todo, out, where = self._todo, self.body.out, self.where
        base = len(todo)
        todo += items
        while len(todo) > base:
            item = todo.pop()
            if type(item) is not Var:
                out.append(item if type(item) is bytes else literal(item))  # type: ignore[arg-type]  # a Lit
                continue
            place = where.get(item)
            if item is self._next and self._in_place(item, place):
                continue
            if place is None:
                place = self.first(item)
                if place is None:
                    continue
            out.append(local_get[place] if place >= 0 else self._load(item, place))

    def _in_place(self, v: Var, place: int | None) -> bool:
        """Write the next let, which binds `v`, so that the value stays on the stack; False where that cannot be."""
        todo = self._todo
        if len(todo) > NESTING or v in todo:
            return False
        let = self.lets[self.at - 1]
        e = let.expr
        code = form = None
        if type(e) is Apply:
            code = self.module.codes.get(e.op)
        if code is None:
            form = self.forms.values.get(type(e))
            if form is None or self._depth > NESTING or v in self.placed:
                return False
        self._advance()
        if place is not None and (before := self.bind(v, keep=True)):
            todo.append(before)
        if form is None:
            self.body.out.append(code)  # type: ignore[arg-type]  # one of both is there
            todo += e.args  # type: ignore[union-attr]  # an Apply
            return True
        self._depth += 1
        form(self, let)
        self._depth -= 1
        return True

    def _advance(self) -> None:
        """Take the next let: above it is another one, which may be written in place."""
        self.at = at = self.at - 1
        self._next = None
        if at > self.start:
            binders = self.lets[at - 1].binders
            if len(binders) == 1:
                self._next = binders[0]

    def run(self) -> None:
        """Write the lets of the block that are left, the last one first."""
        codes, others = self.module.codes, self.forms.others
        where, out, free = self.where, self.body.out, self.body.free
        while self.at > self.start:
            let = self.lets[self.at - 1]
            self._advance()
            e = let.expr
            if type(e) is Apply and (code := codes.get(e.op)) is not None:
                v = let.binders[0]
                place = where.get(v)
                if place is None:
                    continue
                if place >= 0:  # what `bind` does, in short
                    del where[v]
                    free[KINDS[v.type]].append(place)  # type: ignore[index]  # a Scalar with a kind
                    out.append(local_set[place])
                    out.append(code)
                    self.push(e.args)
                else:
                    before = self.bind(v)
                    out.append(code)
                    self.push((before, *e.args))
            else:
                others[type(e)](self, let)

    def _enter(self, lets: Sequence[Let], start: int, end: int) -> None:
        """Go to the end of a range of lets."""
        self.lets, self.start, self.at = lets, start, end + 1
        self._advance()

    def statement(self, let: Let, form: Form) -> None:
        """Write a let whose form leaves the results on the stack."""
        before = self.bind_all(let.binders)
        form(self, let)
        if before:
            self.body.out.append(before)

    # --- blocks

    def nested(
        self, block: Block, finish: Callable[[], None], begin: Callable[[], None] | None = None
    ) -> tuple[bytes, dict[Var, None]]:
        """The code of `block`, and what it consumes.

        `finish` writes what happens to its results, `begin` what binds the variables that it is given.
        """
        saved = (self.block, self.lets, self.start, self.at, self._next, self._todo, self.consumed, self.body.out)
        out: list[bytes] = []
        self.body.out = out
        self.block, self.consumed, self._todo = block, {}, []
        self._enter(block.lets, 0, len(block.lets))
        if self.inside is not PARENT:
            finish()
            self.run()
        elif short(block.lets, self.plan):
            self.inside = variables(block.lets)
            finish()
            self.run()
            self.inside = PARENT
        else:
            self._segments(finish)
        if begin is not None:
            begin()
        consumed = self.consumed
        self.block, self.lets, self.start, self.at, self._next, self._todo, self.consumed, self.body.out = saved
        self.consumed.update(consumed)
        return b"".join(reversed(out)), consumed

    def _segments(self, finish: Callable[[], None]) -> None:
        """A long block: the control flow stays here, what lies between goes into functions of their own."""
        self._enter(self.lets, self.at, self.at)
        finish()  # reads its results from the frame
        for start, end in reversed(segments(self.lets, self.plan)):
            self._enter(self.lets, start, end)
            lets = self.lets[start:end]
            if weight(lets, self.plan) > LONGEST:
                self.run()
                continue
            self.inside = variables(lets)
            if short(lets, self.plan):
                self.run()
            else:
                self._chunk(self.run)
            self.inside = PARENT

    def _chunk(self, write: Callable[[], None]) -> None:
        """What `write` writes, as a function of the address of the frame."""
        parent, self.body = self.body, Body(1, self.module.address.kind, frame=0)
        frame, self.where[self.frame_variable] = self.where.get(self.frame_variable), 0
        write()
        if frame is not None:
            self.where[self.frame_variable] = frame
        self._chunks += 1
        index = self.module.builder.declare_function((self.module.address.kind,), (), f"{self.name}.{self._chunks}")
        self.module.builder.define(index, *self.body.finish(b"", b""))
        self.body = parent
        parent.out += (call[index], local_get[parent.frame])

    def push_groups(self, groups: Sequence[Sequence[Item]]) -> None:
        """Write groups of items that leave nothing on the stack; very many go into functions of their own.

        So they read variables only as atoms.
        """
        if self.inside is not PARENT or len(groups) <= CHUNK:
            self.push([item for group in groups for item in group])
            return
        for start in reversed(range(0, len(groups), CHUNK)):
            items = [item for group in groups[start : start + CHUNK] for item in group]
            self._chunk(partial(self.push, items))

    def inline(self, f: Function, args: Sequence[Atom], results: Sequence[Item]) -> None:
        """Write the body of `f` applied to `args`; it is straight and binds nothing boxed."""
        assert f.body is not None
        saved = (self.lets, self.start, self.at, self._next, self._todo, self.inside)
        self._enter(f.body.lets, 0, len(f.body.lets))
        self._todo, self.inside = [], None
        self.push(results)
        self.run()
        self.bind_all(f.params)
        self.lets, self.start, self.at, self._next, self._todo, self.inside = saved
        self.push(args)
