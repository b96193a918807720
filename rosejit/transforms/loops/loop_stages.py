"""Loops that make arrays element by element, as stages of a pipeline: what each reads and writes relative to the
element that an iteration makes.
"""

from dataclasses import field

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import operands
from rosejit.ir.types import BOOL, INT, REAL, Array, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.affine_dependence import Affine, Iterations
from rosejit.transforms.analysis.effects import fails_or_acts
from rosejit.transforms.loops.unroll_and_jam import is_short

FEWEST = 8
"""Iterations from which on it is worth it."""


@dataclass(slots=True, eq=False)
class Output:
    """An array that a stage makes: `start`, consumed, is what it updates, of a stacked output None; `value` what an
    iteration gives; `names` what stands in the loop for the array, as far as it is made."""

    array: ir.Var
    start: ir.Atom | None
    value: ir.Atom
    names: tuple[ir.Atom, ...] = ()
    written: ir.Let | None = None
    """The let that updates it."""


@dataclass(slots=True, eq=False)
class Stage:
    """A loop: its iteration i makes element `first` + i of each output; `affine` has the Ints that are the index plus a
    constant."""

    let: ir.Let
    loop: ir.Loop
    trips: int
    first: int
    outputs: list[Output]
    affine: dict[ir.Atom, int]
    delay: int = 0
    """By how many iterations of the pipeline it is behind the first stage."""
    reads: list[tuple[ir.Atom, int | None]] = field(init=False)
    """The arrays that it reads, and which elements."""

    def __post_init__(self) -> None:
        self.reads = [(scan.array, -self.first) for scan in self.loop.scans]
        for let in self.loop.body.lets:
            if isinstance(let.expr, ir.Index):
                self.reads.append((let.expr.base, self.subscript(let.expr.path)))

    @property
    def begin(self) -> int:
        """The iteration of the pipeline in which it makes its first element."""
        return self.first + self.delay

    @property
    def end(self) -> int:
        """The iteration of the pipeline behind that of its last element."""
        return self.begin + self.trips

    def subscript(self, path: ir.Path) -> int | None:
        """Which element a path leads to, relative to the one that the iteration makes; None where only the run
        knows."""
        (step, *rest) = path
        constant = None if rest or isinstance(step, ir.Field) else self.affine.get(step)
        return None if constant is None else constant - self.first


def is_column(t: Type) -> bool:
    """Whether it is an array of numbers of a known length."""
    return isinstance(t, Array) and t.length is not None and t.element in (REAL, INT, BOOL)


def stage_of(let: ir.Let) -> Stage | None:
    """A loop as a stage; None where it does anything but short arithmetic on elements."""
    e = let.expr
    if not isinstance(e, ir.Loop) or e.down or (e.constant_trips or 0) < FEWEST:
        return None
    if any([scan.consumes or not is_column(scan.array.type) for scan in e.scans]):
        return None
    if not all([is_column(v.type) for v in let.binders]) or not let.binders:
        return None
    affine = _indices(e)
    outputs = _outputs(let, e) if affine is not None else None
    if affine is None or outputs is None:
        return None
    firsts = {0 if o.written is None else _written_at(o.written, affine) for o in outputs}
    first = firsts.pop()
    if firsts or first is None or first < 0:
        return None
    made = Stage(let, e, e.constant_trips or 0, first, outputs, affine)
    return made if _keeps_to_elements(made) else None


def _indices(e: ir.Loop) -> dict[ir.Atom, int] | None:
    """The Ints that are the index plus a constant; None where the body is more than short arithmetic."""
    iterations = Iterations(e)
    for let in e.body.lets:
        x = let.expr
        if fails_or_acts(x) or not is_short(x) or not is_number(let, x):
            return None
        found = iterations.sum_of(x) if isinstance(x, ir.Apply) else None
        if found is not None:
            iterations.affine[let.binders[0]] = found
    return {a: found.constant for a, found in iterations.affine.items() if found == Affine(None, found.constant)}


def is_number(let: ir.Let, e: ir.Expr) -> bool:
    """Whether a let gives, or writes, one number."""
    t = e.value.type if isinstance(e, ir.Update) else let.binders[0].type
    return t in (REAL, INT, BOOL)


def _outputs(let: ir.Let, e: ir.Loop) -> list[Output] | None:
    """What a loop makes; None where it does not write one element of each carried array in an iteration."""
    found: list[Output] = []
    updates = {x.expr.base: x for x in e.body.lets if isinstance(x.expr, ir.Update)}
    if len(updates) != sum([isinstance(x.expr, ir.Update) for x in e.body.lets]):
        return None
    count = len(e.carries)
    for v, c, start, result in zip(let.binders, e.carries, e.inits, e.body.results, strict=False):
        written = updates.pop(c, None)
        if written is None or written.binders[0] is not result or not isinstance(written.expr, ir.Update):
            return None
        found.append(Output(v, start, written.expr.value, (c, written.binders[0]), written))
    if updates:
        return None
    found += [Output(v, None, a) for v, a in zip(let.binders[count:], e.body.results[count:], strict=True)]
    return found


def _written_at(let: ir.Let, affine: dict[ir.Atom, int]) -> int | None:
    assert isinstance(let.expr, ir.Update)
    step = let.expr.path[0]
    return None if isinstance(step, ir.Field) or len(let.expr.path) > 1 else affine.get(step)


def _keeps_to_elements(stage: Stage) -> bool:
    """Whether carried arrays are read at constant distances only, and none of the arrays in any other way."""
    own = {name for output in stage.outputs for name in output.names}
    for let in stage.loop.body.lets:
        x = let.expr
        if isinstance(x, ir.Index):
            if x.base in own and stage.subscript(x.path) is None:
                return False
        elif not isinstance(x, ir.Update) and not own.isdisjoint(operands(x)):
            return False
    return not any([output.value in own for output in stage.outputs])
