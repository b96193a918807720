"""Mixed mode: of what an iteration of a loop would keep for the reverse pass, only the partial derivatives of its
results.

The operations on tangents in the body of a loop make a linear map, often of few numbers to few numbers. Its matrix is
computed with the iteration, in forward mode, a unit tangent for each input; the linear half multiplies by it, and none
of the factors are kept. Done for straight-line code where that costs less than to keep them (`as_matrix`), and for any
code where there is one input (`single`). An input that a number does not depend on has no tangent there: nothing is
ever zero times infinity.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import captures, free, operands, rebuild, scopes
from rosejit.ir.types import TAN, is_linear
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis import rule_templates
from rosejit.transforms.autodiff.residuals import Needs, Residuals, SplitBlock
from rosejit.transforms.passes.erase import TWINS, Eraser

ENABLED = True
"""For measurements: False is reverse mode alone."""
INPUTS = 4
"""Unit tangents that are pushed at most."""
LOAD = 2
"""Operations that take as long as to store a number in one loop and to load it in the other."""

Column = dict[ir.Atom, ir.Atom]
"""For tangents, what they are for a unit tangent of one input; those that do not depend on it are missing."""


@dataclass(slots=True)
class Matrix:
    """A split block whose linear map is a matrix; `operations` is what the first half computes more."""

    split: SplitBlock
    operations: int


def pays(plain: SplitBlock, kept: Residuals, other: Matrix, other_kept: Residuals) -> bool:
    """Whether the matrix is worth its computation."""
    before = len(plain.linear) + len(kept.repeated) + LOAD * len(kept.saved)
    after = other.operations + len(other.split.linear) + len(other_kept.repeated) + LOAD * len(other_kept.saved)
    return after < before


def as_matrix(split: SplitBlock) -> Matrix | None:
    """`split` with its operations on tangents as a matrix; None where there is no such, or it has too many columns."""
    core = [let for let in split.linear if isinstance(let.expr, ir.Apply)]
    made = {let.binders[0] for let in core}
    parts = _around(split, made)
    if not ENABLED or len(core) < 2 or parts is None:
        return None
    before, after = parts
    inputs = list(dict.fromkeys(a for let in core for a in operands(let.expr) if _is_tangent(a) and a not in made))
    outputs = _outputs(split, after, made)
    if len(inputs) > INPUTS or not outputs:
        return None
    lanes = _Lanes()
    columns = [lanes.column(x, core) for x in inputs]
    b = Builder()
    sums = {y: _sum(b, [(column.get(y), x) for column, x in zip(columns, inputs, strict=True)]) for y in outputs}
    linear = [*before, *b.lets, *[_reading(let, sums) for let in after]]
    read = _needs(split.linear)
    partners = [v for v in split.needs if v not in read]
    results = tuple([sums.get(a, a) for a in split.linear_results])
    needs = dict.fromkeys([*_needs(linear), *partners])
    return Matrix(
        SplitBlock([*split.primal, *lanes.b.lets], linear, split.primal_results, results, needs), len(lanes.b.lets)
    )


def single(e: ir.Loop) -> SplitBlock | None:
    """The body of a loop in which all tangents are made of one number, whatever its control flow, sums apart: the
    primal half pushes a unit tangent along, and keeps what comes of it. None where the body is another."""
    core, loads, sums = _parted(e)
    results = [a for a in e.body.results if is_linear(a.type)]
    made: set[ir.Atom] = {b for let in core for b in let.binders}
    wanted = [a for let in sums for a in operands(let.expr)] + results
    outputs = list(dict.fromkeys(a for a in wanted if a in made))
    bound = (e.index, *e.carries, *[s.param for s in e.scans])
    nonlinear = tuple([v for v in bound if not is_linear(v.type)])
    inputs = [v for v in free(ir.Block(core, tuple(outputs)), nonlinear) if is_linear(v.type)]
    forms = any(scopes(let.expr) and any([is_linear(b.type) for b in let.binders]) for let in core)
    if not ENABLED or not forms or len(inputs) != 1 or any(a.type is not TAN for a in (*inputs, *outputs)):
        return None
    eraser = Eraser()
    eraser.atoms[inputs[0]] = ir.real(1.0)
    primal_results = tuple([a for a in e.body.results if not is_linear(a.type)])
    erased = eraser.block(ir.Block(core, (*primal_results, *outputs)))
    partials = erased.results[len(primal_results) :]
    b = Builder()
    products: dict[ir.Atom, ir.Atom] = {}
    for y, partial in zip(outputs, partials, strict=True):
        products[y] = _sum(b, [(partial, inputs[0])])
    linear = [*loads, *b.lets, *[_reading(let, products) for let in sums]]
    return SplitBlock(erased.lets, linear, primal_results, tuple([products.get(a, a) for a in results]), _needs(linear))


def _parted(e: ir.Loop) -> tuple[list[ir.Let], list[ir.Let], list[ir.Let]]:
    """The lets of a body but for those that load a tangent from outside, and sums at the end; and these two."""
    inside = {b for let in e.body.lets for b in let.binders}
    core: list[ir.Let] = []
    loads: list[ir.Let] = []
    sums: list[ir.Let] = []
    read: set[ir.Atom] = set()
    for let in reversed(e.body.lets):
        x = let.expr
        if isinstance(x, ir.Index) and let.binders[0].type is TAN and x.base not in inside:
            loads.append(let)
        elif isinstance(x, ir.Apply) and x.op.erased and not x.op.nonlinear and let.binders[0] not in read:
            sums.append(let)
        else:
            core.append(let)
            read.update((*operands(x), *captures(x)))
    return core[::-1], loads[::-1], sums[::-1]


def _is_tangent(a: ir.Atom) -> bool:
    return isinstance(a, ir.Var) and a.type is TAN


def _needs(lets: list[ir.Let]) -> Needs:
    """The nonlinear variables that linear lets read and do not bind."""
    read = [a for let in lets for a in (*operands(let.expr), *captures(let.expr))]
    return dict.fromkeys(a for a in read if isinstance(a, ir.Var) and not is_linear(a.type))


def _around(split: SplitBlock, made: set[ir.Var]) -> tuple[list[ir.Let], list[ir.Let]] | None:
    """The linear lets that are no operations, those that read nothing of `made` first; None where an operation reads
    what comes of the others."""
    late: set[ir.Atom] = set(made)
    before: list[ir.Let] = []
    after: list[ir.Let] = []
    for let in split.linear:
        read = (*operands(let.expr), *captures(let.expr))
        if isinstance(let.expr, ir.Apply):
            if any(a in late and a not in made for a in read):
                return None
        elif late.isdisjoint(read) and let.binders:
            before.append(let)
        else:
            after.append(let)
            late.update(let.binders)
    return before, after


def _outputs(split: SplitBlock, after: list[ir.Let], made: set[ir.Var]) -> list[ir.Atom]:
    """The tangents that operations make and others read."""
    read = [a for let in after for a in (*operands(let.expr), *captures(let.expr))]
    return list(dict.fromkeys(a for a in (*read, *split.linear_results) if a in made))


def _reading(let: ir.Let, sums: dict[ir.Atom, ir.Atom]) -> ir.Let:
    """`let` reading sums in place of what they are equal to."""

    def atom(a: ir.Atom) -> ir.Atom:
        return sums.get(a, a)

    def block(inner: ir.Block) -> ir.Block:
        return ir.Block([_reading(each, sums) for each in inner.lets], tuple([atom(a) for a in inner.results]))

    return ir.Let(let.binders, rebuild(let.expr, atom, block=block), let.span)


class _Lanes:
    """Operations on tangents as operations on Reals, one unit tangent after the other; equal ones once."""

    def __init__(self) -> None:
        self.b = Builder()
        self.known: dict[tuple[object, ...], ir.Atom] = {}

    def column(self, x: ir.Atom, core: list[ir.Let]) -> Column:
        """All tangents, if that of `x` is 1 and the others are 0."""
        values: Column = {x: ir.real(1.0)}
        for let in core:
            e = let.expr
            assert isinstance(e, ir.Apply)
            present = [k for k in e.op.linear if e.args[k] in values]
            if len(present) == 1:
                values[let.binders[0]] = self.alone(e, present[0], values)
            elif present:
                args = [values.get(a, a) if k in present else a for k, a in enumerate(e.args)]
                values[let.binders[0]] = self.apply(TWINS[e.op], args)
        return values

    def alone(self, e: ir.Apply, k: int, values: Column) -> ir.Atom:
        """An operation of which one linear operand is not zero: a number times that, as backwards."""
        made: list[ir.Let] = []
        dx = ir.Var(TAN)
        dy = rule_templates.transpose(e.op)(made, None, "d", dx, *e.args)[k]
        known: Column = {dx: values[e.args[k]], ir.ZERO: ir.real(0.0)}
        for let in made:
            inner = let.expr
            assert isinstance(inner, ir.Apply)
            args = [known.get(a, a) for a in inner.args]
            known[let.binders[0]] = self.apply(TWINS.get(inner.op, inner.op), args)
        return known[dy]

    def apply(self, op: Primitive, args: list[ir.Atom]) -> ir.Atom:
        """`op`, unless it gives one of its operands back."""
        for k, (a, neutral) in enumerate(zip(args, op.neutral, strict=False)):
            if isinstance(a, ir.Lit) and neutral is not None and a.value == neutral:
                return args[1 - k]
        key = (op, *[a if isinstance(a, ir.Var) else repr(a.value) for a in args])
        if key not in self.known:
            self.known[key] = self.b.apply(op, *args)
        return self.known[key]


def _sum(b: Builder, row: list[tuple[ir.Atom | None, ir.Atom]]) -> ir.Atom:
    """A tangent from those that it depends on, and its partial derivatives."""
    total: ir.Atom | None = None
    for partial, dx in row:
        if partial is not None:
            one = isinstance(partial, ir.Lit) and partial.value == 1.0
            term = dx if one else b.apply(PRIMITIVES["scale"], partial, dx, hint="t")
            total = term if total is None else b.apply(PRIMITIVES["tadd"], total, term, hint="dy")
    return ir.ZERO if total is None else total
