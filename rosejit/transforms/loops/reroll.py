"""Loop rerolling: lets that repeat, as the iterations of a loop that staging has unrolled do, become a loop again.

The lets of a block are a text whose letters are their forms; a repetition in it with the same operands, or with those
of the iteration before, is a loop. The operations and their order stay. What differs from iteration to iteration is
read from an array; what is read afterwards is stacked.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, fails, operands, renamed, within
from rosejit.ir.types import INT, Array, Scalar, Type, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.loops import let_rows
from rosejit.transforms.loops.let_rows import WITH_BLOCKS, ZEROS, Row, Rows, Slot, Template, literal_key, work_of

FEWEST = 8
"""Repetitions from which on they are a loop."""
LEAST = 10_000
"""The work that a loop must save the compiler, in primitives of straight-line code (7 µs each, with a gradient)."""
_WINDOW = 8
"""So many equal lets in a row say how long an iteration may be."""
_FARTHEST = 3
"""From so many iterations before a value may come."""
_PEELED = 2
"""So many first iterations may be unlike the others."""
_MODULUS = (1 << 61) - 1
_BASE = 1_000_003


def reroll(body: ir.Block) -> ir.Block:
    """`body` with its repetitions as loops; the same object where none is worth it."""
    kinds = {let.expr.__class__ for let in body.lets}
    whole = _with_whole_arrays(body) if ir.MakeArray in kinds else body
    is_flat = kinds.isdisjoint(WITH_BLOCKS)
    work = len(whole.lets) if is_flat else work_of(whole.lets, let_rows.NESTED)
    if work < LEAST:
        return whole
    made = _Rerolling().block(whole, 1 if is_flat else let_rows.NESTED)
    return whole if made is None or 2 * work_of(made.lets, let_rows.NESTED) > work else _with_whole_arrays(made)


def _with_whole_arrays(body: ir.Block) -> ir.Block:
    """Arrays of all elements of an array, in order, are that one."""
    reads, same = _reads(body.lets), dict[ir.Var, ir.Atom]()
    for let in body.lets:
        e = let.expr
        if isinstance(e, ir.MakeArray) and len(e.items) >= FEWEST and (read := reads.get(e.items[0])) is not None:
            is_typed = isinstance(read.base, ir.Var) and read.base.type == let.binders[0].type
            if is_typed and all([_reads_whole(reads.get(a), read.base, k) for k, a in enumerate(e.items)]):
                same[let.binders[0]] = same.get(read.base, read.base) if isinstance(read.base, ir.Var) else read.base
    return _read(renamed(body, same)) if same else body


def _read(block: ir.Block) -> ir.Block:
    """Without arrays and elements that nobody reads."""
    read, kept = set[ir.Atom](block.results), list[ir.Let]()
    for let in reversed(block.lets):
        e = let.expr
        if not isinstance(e, (ir.Index, ir.MakeArray)) or fails(e) or let.binders[0] in read:
            read |= {*operands(e), *captures(e)}
            kept.append(let)
    return ir.Block(kept[::-1], block.results)


def _reads(lets: Sequence[ir.Let]) -> dict[ir.Atom, ir.Index]:
    return {let.binders[0]: let.expr for let in lets if isinstance(let.expr, ir.Index)}


def _reads_whole(read: ir.Index | None, base: ir.Atom, k: int) -> bool:
    return read is not None and read.base is base and len(read.path) == 1 and _value(read.path[0]) == k


class _Rerolling:
    def __init__(self) -> None:
        self._rows = Rows()
        self._unit = 1

    def block(self, block: ir.Block, unit: int) -> ir.Block | None:
        """The block with loops; None where there is nothing to gain."""
        lets, changed = [*block.lets], False
        while True:
            self._unit = unit
            found = self._once(lets, block.results)
            if found is None:
                break
            lets, changed, unit = _read(ir.Block(found, block.results)).lets, True, let_rows.NESTED
        for k, let in enumerate(lets):  # behind that: iterations are looked into once
            if let.expr.__class__ in WITH_BLOCKS and work_of([let], let_rows.NESTED) >= LEAST:
                lets[k] = within(let, lambda inner: self.block(inner, let_rows.NESTED) or inner)
                changed = changed or lets[k].expr is not let.expr
        return ir.Block(lets, block.results) if changed else None

    def _once(self, lets: list[ir.Let], results: tuple[ir.Atom, ...]) -> list[ir.Let] | None:
        """The lets of a block with its shortest repetitions as loops; None where there are none."""
        rows = [self._rows.row(let, self._unit) for let in lets]
        text = _Text([row.letter for row in rows])
        last: dict[ir.Atom, int] = {}
        for k, row in enumerate(rows):
            last.update(dict.fromkeys(row.atoms, k))
        last.update(dict.fromkeys(results, len(rows)))
        reads = _reads(lets)
        made: list[ir.Let] = []
        at, done, changed = 0, 0, False
        while at < len(rows):
            length = text.following[at] - at
            times = text.times(at, length) if length else 0
            if times < FEWEST or sum([row.work for row in rows[at : at + length]]) * (times - 1) < LEAST:
                at += 1
                continue
            for peeled in range(min(_PEELED + 1, times - FEWEST + 1)):
                first, end = at + peeled * length, at + times * length
                run = _Run(lets, rows, first, length, times - peeled, last, reads)
                loop = run.loop()
                if loop is not None:
                    made += [*lets[done:first], *loop]
                    reads |= _reads(loop)
                    done, changed = end, True
                    break
            at += times * length
        return [*made, *lets[done:]] if changed else None


class _Text:
    """The letters of a block, and where they repeat."""

    def __init__(self, letters: list[int]) -> None:
        self._sums, self._powers = [0], [1]
        for letter in letters:
            self._sums.append((self._sums[-1] * _BASE + letter + 1) % _MODULUS)
            self._powers.append(self._powers[-1] * _BASE % _MODULUS)
        self._size = len(letters)
        seen: dict[int, int] = {}
        self.following = [*range(self._size)]
        """Where the next letters are the same again; the place itself where they are not."""
        for k in range(self._size - _WINDOW, -1, -1):
            key = self._hash(k, _WINDOW)
            self.following[k] = seen.get(key, k)
            seen[key] = k

    def _hash(self, start: int, length: int) -> int:
        return (self._sums[start + length] - self._sums[start] * self._powers[length]) % _MODULUS

    def times(self, start: int, length: int) -> int:
        """How often the letters there come one behind the other."""
        key, count = self._hash(start, length), 1
        while start + (count + 1) * length <= self._size and self._hash(start + count * length, length) == key:
            count += 1
        return count


class _Unlike(Exception):
    """The repetitions differ in what they read."""


@dataclass(slots=True)
class _Run:
    """Repetitions, `times` of them, each of so many lets."""

    lets: list[ir.Let]
    rows: list[Row]
    first: int
    length: int
    times: int
    last: dict[ir.Atom, int]
    """Where an atom is read for the last time."""
    reads: dict[ir.Atom, ir.Index]
    """The elements of arrays that the block has read."""
    made: dict[ir.Var, tuple[int, int]] = field(default_factory=dict[ir.Var, tuple[int, int]])
    """What they bind: the repetition, and the number of the binder in it."""
    before: list[ir.Let] = field(default_factory=list[ir.Let])
    head: list[ir.Let] = field(default_factory=list[ir.Let])
    """The first lets of the loop: what it reads from arrays."""
    carries: dict[Any, tuple[ir.Var, ir.Atom, int | ir.Var]] = field(default_factory=dict[Any, Any])
    """By the number of the binder, from how many repetitions before, and where it starts: the variable, its initial
    value, and of what comes next the number, or the variable."""
    items: dict[Any, ir.Atom] = field(default_factory=dict[Any, ir.Atom])
    index: ir.Var = field(default_factory=lambda: ir.Var(INT, "i"))

    def loop(self) -> list[ir.Let] | None:
        """The loop, with what goes before and behind it; None if the repetitions are no iterations of one."""
        each = [self._parts(k) for k in range(self.times)]
        for k, (_, binders) in enumerate(each):
            self.made.update({var: (k, number) for number, var in enumerate(binders)})
        try:
            slots = [self._slot(column) for column in zip(*[atoms for atoms, _ in each], strict=True)]
        except (_Unlike, ValueError):
            return None
        return self._built(slots, each)

    def _parts(self, k: int) -> tuple[list[ir.Atom], list[ir.Var]]:
        start = self.first + k * self.length
        rows = self.rows[start : start + self.length]
        return [a for row in rows for a in row.atoms], [b for row in rows for b in row.binders]

    # --- operands

    def _slot(self, column: tuple[ir.Atom, ...]) -> Slot:
        places = [self.made.get(a) if isinstance(a, ir.Var) else None for a in column]
        first = places[0]
        if first is not None:
            if all([place == (k, first[1]) for k, place in enumerate(places)]):
                return first[1]
            raise _Unlike
        back = places[-1]
        if back is not None:
            return self._carried(column, places, back[1], self.times - 1 - back[0])
        if any([place is not None for place in places]):
            raise _Unlike
        if all([a is column[0] for a in column]):
            return column[0]
        key = tuple([literal_key(a) or id(a) for a in column])
        if key.count(key[0]) == len(key):
            return column[0]
        if key not in self.items:
            self.items[key] = self._item(column)
        return self.items[key]

    def _carried(self, column: tuple[ir.Atom, ...], places: Sequence[Any], number: int, distance: int) -> ir.Var:
        """The variable that holds what a repetition so far before has bound."""
        ahead = column[:distance]
        fits = places == [None] * distance + [(k, number) for k in range(self.times - distance)]
        if not 1 <= distance <= _FARTHEST or not fits or any([a.type != column[-1].type for a in ahead]):
            raise _Unlike
        _require_stackable(column[-1].type)
        following: int | ir.Var = number
        for back in range(1, distance + 1):
            starts = tuple([literal_key(a) or a for a in ahead[distance - back :]])
            key = number, starts
            if key not in self.carries:
                hint = column[-1].hint if isinstance(column[-1], ir.Var) else "x"
                self.carries[key] = ir.Var(column[-1].type, hint), ahead[distance - back], following
            following = self.carries[key][0]
        assert isinstance(following, ir.Var)
        return following

    def _item(self, column: tuple[ir.Atom, ...]) -> ir.Atom:
        """What is another atom of around in each iteration, read at the index."""
        kind = column[0].type
        if any([a.type != kind for a in column]):
            raise _Unlike
        _require_stackable(kind)
        if kind is INT and (number := self._number([_value(a) for a in column])) is not None:
            return number
        if (element := self._element(column)) is not None:
            return element
        array = ir.Var(Array(self.times, kind), "items")
        self.before.append(ir.Let((array,), ir.MakeArray(column)))
        return self._bound(ir.Index(array, (self.index,), False), kind)

    def _element(self, column: tuple[ir.Atom, ...]) -> ir.Atom | None:
        """The same, if it is an element of one array, in each iteration another one."""
        reads = [self.reads.get(a) for a in column]
        base = reads[0].base if reads[0] is not None else None
        paths = [read.path for read in reads if read is not None and read.base is base and not read.checked]
        if len(paths) < len(column) or any([len(path) != len(paths[0]) for path in paths]):
            return None
        found = [self._number([_value(step) for step in steps]) for steps in zip(*paths, strict=True)]
        steps = tuple([step for step in found if step is not None])
        if base is None or len(steps) < len(found):
            return None
        return self._bound(ir.Index(base, steps, False), column[0].type)

    def _number(self, values: list[int | None]) -> ir.Atom | None:
        """Numbers that go up or down evenly, by the index."""
        if None in values:
            return None
        known = [value for value in values if value is not None]
        start, step = known[0], known[1] - known[0]
        if known != [start + k * step for k in range(len(known))]:
            return None
        if not step:
            return ir.integer(start)
        found: ir.Atom = self.index
        for op, number, plain in (("wmul", step, 1), ("wadd", start, 0)):
            if number != plain:
                found = self._bound(ir.Apply(PRIMITIVES[op], (found, ir.integer(number))), INT)
        return found

    def _bound(self, expr: ir.Expr, kind: Type) -> ir.Var:
        var = ir.Var(kind)
        self.head.append(ir.Let((var,), expr))
        return var

    # --- the loop

    def _built(self, slots: list[Slot], each: list[tuple[list[ir.Atom], list[ir.Var]]]) -> list[ir.Let] | None:
        binders = each[0][1]
        template = Template(slots, [ir.Var(b.type, b.hint) for b in binders])
        body = [template.let(let) for let in self.lets[self.first : self.first + self.length]]
        read = self._read_later(each)
        if not all([_is_stackable(binders[number].type) for number in read]):
            return None
        ends = {number: found[0] for number, found in read.items() if found == [each[-1][1][number]]}
        stacked = [number for number in read if number not in ends]
        carried = {number for number, _ in self.carries}
        for number in [number for number in ends if number not in carried]:
            var = ir.Var(binders[number].type, binders[number].hint)
            self.carries[number, ()] = var, self._zero(var.type), number
        finals, results, behind = list[ir.Var](), list[ir.Atom](), list[ir.Let]()
        for (number, _), (var, _, following) in self.carries.items():
            is_end = isinstance(following, int) and number in ends
            finals.append(ends.pop(number) if is_end else ir.Var(var.type, var.hint))
            results.append(template.binders[following] if isinstance(following, int) else following)
        for number in stacked:
            array = ir.Var(Array(self.times, binders[number].type), binders[number].hint)
            finals.append(array)
            results.append(template.binders[number])
            places = [(var, ir.integer(self.made[var][0])) for var in read[number]]
            behind += [ir.Let((var,), ir.Index(array, (place,), False)) for var, place in places]
        if 2 * (len(behind) + len(self.before)) > self.length * self.times:  # it would be as long again
            return None
        variables, inits = tuple([c[0] for c in self.carries.values()]), tuple([c[1] for c in self.carries.values()])
        block = ir.Block([*self.head, *body], tuple(results))
        loop = ir.Loop(ir.integer(self.times), self.index, variables, inits, (), block)
        return [*self.before, ir.Let(tuple(finals), loop, self.lets[self.first].span), *behind]

    def _read_later(self, each: list[tuple[list[ir.Atom], list[ir.Var]]]) -> dict[int, list[ir.Var]]:
        """The binders that are read after the run, by their numbers."""
        end, found = self.first + self.times * self.length, dict[int, list[ir.Var]]()
        for _, binders in each:
            for number, var in enumerate(binders):
                if self.last.get(var, -1) >= end:
                    found.setdefault(number, []).append(var)
        return found

    def _zero(self, kind: Type) -> ir.Atom:
        if isinstance(kind, Scalar):
            return ir.Lit(ZEROS[kind], kind)
        self.before.append(ir.Let((zero := ir.Var(kind, "zero"),), ir.Zero()))
        return zero


def _value(a: Any) -> int | None:
    """The number that an Int constant is."""
    return a.value if isinstance(a, ir.Lit) and a.type is INT and a.value.__class__ is int else None


def _is_stackable(kind: Type) -> bool:
    return kind in ZEROS or (is_boxed(kind) and isinstance(kind, Array) and kind.length is not None)


def _require_stackable(kind: Type) -> None:
    if not _is_stackable(kind):
        raise _Unlike
