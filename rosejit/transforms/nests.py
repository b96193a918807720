"""Two turns of a loop around loops as one, where each has rows of its own: what both read is read once.

Behind `jam`, which joins turns of the loops inside: of a product of matrices a block of four columns and two rows stays
in registers. Each element is added to in the order in which it was, so all results are the same bits.
"""

from collections.abc import Sequence

from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, Scalar, is_heavy
from rosejit.ir.walk import Renaming, operands, within
from rosejit.transforms.effects import Part, Places, fails_or_acts, meet
from rosejit.transforms.jam import FEWEST, Joined, is_short, renamed
from rosejit.transforms.ranges import has_loops

LONGEST = 14
"""Lets of an innermost loop up to which two of them find registers."""


def nests(f: ir.Function) -> ir.Function:
    """`f` with such turns joined; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _Sweep(f.body)
    body = sweep.block(f.body)
    if not sweep.joined:
        return f
    return f.with_body(body)


class _Sweep:
    """Goes through all blocks; `joined` counts."""

    def __init__(self, body: ir.Block) -> None:
        self.places = Places(body)
        self.joined = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the turns of its loops joined, outermost first."""
        new: list[ir.Let] = []
        for let in block.lets:
            roots = _Look(let.expr, self.places).roots() if isinstance(let.expr, ir.Loop) else None
            if roots is None:
                new.append(within(let, self.block))
                continue
            self.joined += 1
            made: list[ir.Let] = []
            _Nest(made, let, roots, self.places).run()
            new += [within(each, self.block) for each in made]
        return ir.Block(new, block.results)


class _Look:
    """Whether no turn of a loop touches what another one does, but to add to it in turn."""

    def __init__(self, e: ir.Loop, places: Places) -> None:
        self.e = e
        self.places = places
        self.root: dict[ir.Atom, int] = {c: k for k, c in enumerate(e.carries)}
        """Of each name of a carried array its number."""
        self.step: dict[int, int] = {}
        """By carried array: which step of all paths is the index."""
        self.bound: set[ir.Atom] = {e.index}
        self.own: set[ir.Atom] = {e.index}
        """What may be another value in another turn."""
        self.views: dict[ir.Atom, ir.View] = {}
        self.added: list[set[Part]] = []
        self.shares = False
        self.innermost = 0

    def roots(self) -> dict[ir.Atom, int] | None:
        """The names of carried arrays, if turns can be joined, and share something."""
        e = self.e
        few = (e.turns or 0) < FEWEST
        if few or e.down or e.scans or len(e.body.results) != len(e.carries):
            return None
        plain = all(is_heavy(c.type) for c in e.carries) and any(isinstance(let.expr, ir.Loop) for let in e.body.lets)
        if not plain or not self.block(e.body, ()):
            return None
        ends = [self.root.get(r) for r in e.body.results]
        return self.root if ends == list(range(len(ends))) and self.shares else None

    def block(self, block: ir.Block, around: tuple[ir.Var, ...]) -> bool:
        """Whether all its lets are harmless; `around` are the indices of the loops around it, but for the outermost."""
        if around and not any([isinstance(let.expr, ir.Loop) for let in block.lets]):
            self.innermost = max(self.innermost, len(block.lets))
            if self.innermost > LONGEST:
                return False
        return all([self.let(let, around) for let in block.lets])

    def let(self, let: ir.Let, around: tuple[ir.Var, ...]) -> bool:
        """Whether a let is harmless."""
        e = let.expr
        if fails_or_acts(e):
            return False
        own = not self.own.isdisjoint(operands(e))
        match e:
            case ir.Loop():
                if not self.loop(let, e, around):
                    return False
            case ir.Index(base=base, path=path) if base in self.root:
                if not self.element(base, path, let.binders[0]):
                    return False
                own = True
            case ir.Index():
                self.shares = self.shares or (not own and bool(around))
            case ir.Update(base=base, path=path, value=value):
                if base not in self.root or not self.element(base, path, value):
                    return False
                self.root[let.binders[0]] = self.root[base]
            case ir.View(place=place):
                if place in self.bound:
                    return False
                self.views[let.binders[0]] = e
            case ir.Add():
                if not self.adds(e, around):
                    return False
            case _:
                if not isinstance(e, ir.Apply) or not is_short(e):
                    return False
        self.bound.update(let.binders)
        if own:
            self.own.update(let.binders)
        return True

    def element(self, base: ir.Atom, path: ir.Path, value: ir.Atom) -> bool:
        """Whether it is a number in the row of the turn."""
        if self.e.index not in path or not isinstance(value.type, Scalar):
            return False
        at = path.index(self.e.index)
        return self.step.setdefault(self.root[base], at) == at

    def adds(self, e: ir.Add, around: tuple[ir.Var, ...]) -> bool:
        """Whether a turn adds there in its own row, or once to each number."""
        view = self.views.get(e.place)
        path = view.path if view is not None else ()
        if not isinstance(e.value.type, Scalar) or (view is None and e.place in self.bound):
            return False
        if self.e.index not in path:
            if any([index not in path for index in around]):
                return False
            self.shares = self.shares or bool(around)
        part = {self.places.part(e.place)}
        alone = not any([meet(part, other) for other in self.added])
        self.added.append(part)
        return alone

    def loop(self, let: ir.Let, e: ir.Loop, around: tuple[ir.Var, ...]) -> bool:
        """Whether an inner loop is harmless."""
        inmost = not any([isinstance(inner.expr, ir.Loop) for inner in e.body.lets])
        few = inmost and e.turns is not None and e.turns < FEWEST
        if few or e.down or e.trips in self.bound or len(e.body.results) != len(e.carries):
            return False
        if any([scan.consumes or scan.array in self.root for scan in e.scans]):
            return False
        for c, init in zip(e.carries, e.inits, strict=True):
            if init in self.root:
                self.root[c] = self.root[init]
            elif not isinstance(c.type, Scalar):
                return False
        names = {e.index, *e.carries, *(scan.param for scan in e.scans)}
        self.bound |= names
        self.own.update(e.carries)
        self.own |= {scan.param for scan in e.scans if scan.array in self.own}
        self.shares = self.shares or any([scan.array not in self.own for scan in e.scans])
        if not self.block(e.body, (*around, e.index)):
            return False
        for c, r, v in zip(e.carries, e.body.results, let.binders, strict=True):
            if self.root.get(c) != self.root.get(r):
                return False
            if c in self.root:
                self.root[v] = self.root[c]
            self.own.add(v)
        return True


class _Nest(Joined):
    """Joins two turns; `current` are the carried arrays as they are now."""

    def __init__(self, new: list[ir.Let], let: ir.Let, root: dict[ir.Atom, int], places: Places) -> None:
        super().__init__(new, let, turns=2)
        self.root = root
        self.places = places
        self.current: list[ir.Atom] = []
        self.copies: list[Renaming] = []

    def turn(self, lets: list[ir.Let], copies: list[Renaming], carries: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        self.copies, self.current = copies, list(carries)
        lets += self.block(self.whole.body.lets)
        return tuple(self.current)

    def block(self, lets: list[ir.Let]) -> list[ir.Let]:
        """Each let for all turns, before the next one."""
        new: list[ir.Let] = []
        for let in lets:
            e = let.expr
            if isinstance(e, ir.Loop):
                new.append(self.inner(let, e))
            elif isinstance(e, ir.Update):
                new += [self.write(copy, let, e) for copy in self.copies]
            elif isinstance(e, ir.Index) and e.base in self.root:
                base = self.current[self.root[e.base]]
                for copy in self.copies:
                    read = ir.Index(base, renamed(copy, e.path), False)
                    new.append(ir.Let((copy.fresh(let.binders[0]),), read, let.span))
            elif isinstance(e, ir.Add) or self.differ(e):
                new += [copy.let(let) for copy in self.copies]
            else:
                new.append(self.copies[0].let(let))
                for copy in self.copies[1:]:
                    copy.atoms.update({v: self.copies[0].atom(v) for v in let.binders})
        for let in new:
            if isinstance(let.expr, ir.View):
                self.places.note(let)
        return new

    def differ(self, e: ir.Expr) -> bool:
        """Whether it is not the same in all turns."""
        one, *others = self.copies
        return any([copy.atom(a) is not one.atom(a) for a in operands(e) for copy in others])

    def write(self, copy: Renaming, let: ir.Let, e: ir.Update) -> ir.Let:
        """The element of one turn."""
        root, made = self.root[e.base], copy.fresh(let.binders[0])
        written = ir.Update(self.current[root], renamed(copy, e.path), copy.atom(e.value), False)
        self.current[root] = made
        return ir.Let((made,), written, let.span)

    def inner(self, let: ir.Let, e: ir.Loop) -> ir.Let:
        """An inner loop for all turns: arrays are carried once, numbers by each of them."""
        index = ir.Var(INT, e.index.hint)
        scans: dict[ir.Atom, ir.Scan] = {}
        for copy in self.copies:
            copy.atoms[e.index] = index
            for scan in e.scans:
                array = copy.atom(scan.array)
                known = scans.setdefault(array, ir.Scan(ir.Var(scan.param.type, scan.param.hint), array))
                copy.atoms[scan.param] = known.param
        carries: list[ir.Var] = []
        inits: list[ir.Atom] = []
        binders: list[ir.Var] = []
        for c, init, v in zip(e.carries, e.inits, let.binders, strict=True):
            for copy in self.copies if c not in self.root else self.copies[:1]:
                inits.append(copy.atom(init) if c not in self.root else self.current[self.root[c]])
                carries.append(copy.fresh(c))
                binders.append(copy.fresh(v))
            if c in self.root:
                self.current[self.root[c]] = carries[-1]
        lets = self.block(e.body.lets)
        results: list[ir.Atom] = []
        for c, r in zip(e.carries, e.body.results, strict=True):
            if c in self.root:
                results.append(self.current[self.root[c]])
                self.current[self.root[c]] = binders[len(results) - 1]
            else:
                results += [copy.atom(r) for copy in self.copies]
        body = ir.Block(lets, tuple(results))
        loop = ir.Loop(e.trips, index, tuple(carries), tuple(inits), tuple(scans.values()), body)
        return ir.Let(tuple(binders), loop, let.span)
