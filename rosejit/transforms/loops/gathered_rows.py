"""Arrays that a loop makes side by side, of which others read the elements at indices that lie anywhere, as one array
with a row for each iteration.

Elements of k arrays at one index lie in k lines of the cache and have k addresses; in a row they lie in k / 8 lines
and have one. If all that is done to such an element is an operation of it alone, that is done where it is made, for
that is done less often.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import field

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import forms, operands, rebuild, scopes
from rosejit.ir.types import INT, REAL, Array
from rosejit.lazy_dataclass import dataclass

FEWEST = 4
"""Arrays from which rows are worth it: two iterations that write their numbers into rows do so one by one."""

Group = tuple[ir.Let, ir.Path]
"""The loop that makes arrays, and the indices at which they are read."""


def gather_rows(f: ir.Function) -> ir.Function:
    """`f` with such arrays joined; the same object where there are none."""
    if f.body is None or not any([len(_outputs(let)) >= FEWEST for let in forms(f.body)]):
        return f
    survey = _Survey()
    survey.block(f.body, 1)
    tables = survey.tables()
    if not tables:
        return f
    return f.with_body(_Joining(tables, survey).block(f.body))


def _outputs(let: ir.Let) -> list[ir.Var]:
    """The arrays of Reals of a length that is known which a loop makes, one element an iteration."""
    e = let.expr
    if not isinstance(e, ir.Loop) or not e.constant_trips:
        return []
    made = let.binders[len(e.carries) :]
    return [v for v in made if isinstance(v.type, Array) and v.type.element is REAL]


@dataclass(slots=True)
class _Array:
    """What a loop makes of numbers, and how often it runs."""

    maker: ir.Let
    times: int | None
    reads: dict[ir.Var, ir.Atom | ir.Field] = field(default_factory=dict[ir.Var, "ir.Atom | ir.Field"])
    """What elements are called, and their indices."""
    read_times: int = 0
    plain: bool = True
    """Whether it is read at indices that lie anywhere, and not otherwise."""


@dataclass(slots=True, eq=False)
class _Table:
    """The array of rows that takes the place of `arrays`, in the order of its columns; `op`: what has been done to
    each number."""

    maker: ir.Let
    arrays: list[ir.Var]
    ops: list[Primitive | None]
    rows: ir.Var


class _Survey:
    """Who makes arrays, and who reads them where."""

    def __init__(self) -> None:
        self.arrays: dict[ir.Atom, _Array] = {}
        self.users: Counter[ir.Atom] = Counter()
        self.unary: dict[ir.Atom, tuple[ir.Var, Primitive]] = {}
        """Operations of one Real, and what they give, by what they are done to."""
        self._anywhere: set[ir.Atom] = set()
        """Integers that are read from memory, and what is made of them."""

    def block(self, block: ir.Block, times: int | None) -> None:
        """Note what a block does, which runs so often; None is as often as it likes, or not at all."""
        for let in block.lets:
            self._let(let, times)
        self._used(block.results)

    def _used(self, atoms: Iterable[ir.Atom]) -> None:
        for a in atoms:
            self.users[a] += 1
            if a in self.arrays:
                self.arrays[a].plain = False

    def _let(self, let: ir.Let, times: int | None) -> None:
        e = let.expr
        if isinstance(e, ir.Index) and e.base in self.arrays:
            self._read(let, e, times)
        else:
            self._used(operands(e))
        if isinstance(e, ir.Apply):
            if e.op.params == (REAL,) and e.op.result is REAL and not e.op.failure:
                self.unary[e.args[0]] = let.binders[0], e.op
            if not self._anywhere.isdisjoint(e.args):
                self._anywhere.update(let.binders)
        elif isinstance(e, ir.Index) and let.binders[0].type is INT:
            self._anywhere.add(let.binders[0])
        inside = _times(e, times)
        if isinstance(e, ir.Loop):
            self._anywhere.update(scan.param for scan in e.scans if scan.param.type is INT)
        for _, inner in scopes(e):
            self.block(inner, inside)
        for made in _outputs(let):
            self.arrays[made] = _Array(let, inside)

    def _read(self, let: ir.Let, e: ir.Index, times: int | None) -> None:
        array = self.arrays[e.base]
        (at,) = e.path
        array.plain = array.plain and not e.checked and at in self._anywhere
        array.reads[let.binders[0]] = at
        array.read_times += times or 0

    def tables(self) -> list[_Table]:
        """What is joined: arrays that are read at least as often as they are written."""
        groups: dict[Group, list[ir.Atom]] = defaultdict(list)
        for v, array in self.arrays.items():
            if array.plain and array.times and array.read_times >= array.times:
                groups[array.maker, tuple(dict.fromkeys(array.reads.values()))].append(v)
        return [self._table(maker, arrays) for (maker, _), arrays in groups.items() if len(arrays) >= FEWEST]

    def _table(self, maker: ir.Let, arrays: list[ir.Atom]) -> _Table:
        assert isinstance(maker.expr, ir.Loop)
        columns = [v for v in arrays if isinstance(v, ir.Var)]
        ops = [self._done(self.arrays[v]) for v in columns]
        row = Array(len(columns), REAL)
        return _Table(maker, columns, ops, ir.Var(Array(maker.expr.constant_trips, row), "rows"))

    def _done(self, array: _Array) -> Primitive | None:
        """The operation of which each element that is read is the only operand."""
        ops = [self.unary[v][1] if v in self.unary and self.users[v] == 1 else None for v in array.reads]
        return ops[0] if len(set(ops)) == 1 else None


def _times(e: ir.Expr, times: int | None) -> int | None:
    """How often the blocks in an expression run that is run so often."""
    if not isinstance(e, ir.Loop) or times is None or e.constant_trips is None:
        return None
    return times * e.constant_trips


class _Joining:
    """Makes the blocks in which arrays are rows."""

    def __init__(self, tables: list[_Table], survey: _Survey) -> None:
        self._makers: dict[ir.Let, list[_Table]] = defaultdict(list)
        self._columns: dict[ir.Atom, tuple[_Table, int]] = {}
        self._atoms: dict[ir.Atom, ir.Atom] = {}
        for table in tables:
            self._makers[table.maker].append(table)
            for k, (v, op) in enumerate(zip(table.arrays, table.ops, strict=True)):
                self._columns[v] = table, k
                for read in survey.arrays[v].reads if op is not None else ():
                    done, _ = survey.unary[read]
                    self._atoms[done] = read

    def _atom(self, a: ir.Atom) -> ir.Atom:
        return self._atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        lets: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if not self._atoms.keys().isdisjoint(let.binders):
                continue  # it has been done
            if isinstance(e, ir.Index) and e.base in self._columns:
                table, k = self._columns[e.base]
                path = *e.path, ir.Lit(k, INT)
                lets.append(ir.Let(let.binders, ir.Index(table.rows, path, checked=False), let.span))
                continue
            changed = rebuild(e, self._atom, block=self.block)
            if let in self._makers:
                assert isinstance(changed, ir.Loop)
                lets += _filling(let, changed, self._makers[let])
            else:
                lets.append(ir.Let(let.binders, changed, let.span))
        return ir.Block(lets, tuple(map(self._atom, block.results)))


def _filling(let: ir.Let, e: ir.Loop, tables: list[_Table]) -> list[ir.Let]:
    """A loop that writes rows, behind what they are before."""
    n = len(e.carries)
    values = dict(zip(let.binders[n:], e.body.results[n:], strict=True))
    zeros, carries, filled, lets = list[ir.Let](), list[ir.Var](), list[ir.Var](), [*e.body.lets]
    for table in tables:
        zeros.append(ir.Let((ir.Var(table.rows.type, "rows"),), ir.Zero(), let.span))
        at = ir.Var(table.rows.type, "rows")
        carries.append(at)
        for k, (v, op) in enumerate(zip(table.arrays, table.ops, strict=True)):
            value = values.pop(v)
            if op is not None:
                done = ir.Var(REAL)
                lets.append(ir.Let((done,), ir.Apply(op, (value,)), let.span))
                value = done
            after = ir.Var(at.type, "rows")
            lets.append(ir.Let((after,), ir.Update(at, (e.index, ir.Lit(k, INT)), value, checked=False), let.span))
            at = after
        filled.append(at)
    body = ir.Block(lets, (*e.body.results[:n], *filled, *values.values()))
    inits = (*e.inits, *[zero.binders[0] for zero in zeros])
    loop = ir.Loop(e.trips, e.index, (*e.carries, *carries), inits, e.scans, body, e.down)
    made = [table.rows for table in tables]
    return [*zeros, ir.Let((*let.binders[:n], *made, *values), loop, let.span)]
