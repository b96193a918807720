"""Elements of a linear block that are read, added to and written again, as sums in their place.

In the reverse pass their cotangent then stays where it is, and only goes to what was added. Undone let by let it would
be taken out, a zero put there, and the same added to it.
"""

from collections import Counter

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, operands, scopes
from rosejit.ir.types import TAN, Ref
from rosejit.ops import linear
from rosejit.transforms.analysis.affine_dependence import reads_back

_SUMS = (linear.tadd, linear.tfadd)
Terms = list[tuple[bool, ir.Atom]]
"""What is added, and whether it is subtracted."""


def in_place(block: ir.Block) -> ir.Block:
    """The block with such sums, blocks inside it left as they are; the same object where there are none."""
    writes = [let for let in block.lets if isinstance(let.expr, ir.Update) and let.expr.value.type is TAN]
    if not writes:
        return block
    uses = _uses(block)
    made: dict[ir.Atom, ir.Let] = {v: let for let in block.lets for v in let.binders}
    found: dict[ir.Var, Terms] = {}
    for let in writes:
        assert isinstance(let.expr, ir.Update)
        terms = _added(let.expr, made, uses)
        if terms:
            found[let.binders[0]] = terms
    if not found:
        return block
    new: list[ir.Let] = []
    for let in block.lets:
        terms = found.get(let.binders[0]) if let.binders else None
        if terms is None:
            new.append(let)
        else:
            _add_in_place(new, let, terms)
    return ir.Block(new, block.results)


def _uses(block: ir.Block) -> Counter[ir.Atom]:
    """How often variables are read."""
    uses: Counter[ir.Atom] = Counter(block.results)
    for let in block.lets:
        uses.update(operands(let.expr))
        if scopes(let.expr):
            uses.update(list(captures(let.expr)))
    return uses


def _added(update: ir.Update, made: dict[ir.Atom, ir.Let], uses: Counter[ir.Atom]) -> Terms:
    """What is added to the element that is written, if it is that and no one else reads the sums; nothing else."""
    terms: Terms = []
    sum_: ir.Atom = update.value
    while isinstance(sum_, ir.Var) and sum_ in made and uses[sum_] == 1:
        e = made[sum_].expr
        if isinstance(e, ir.Index):
            return terms if reads_back(e, update) else []
        if not isinstance(e, ir.Apply) or e.op not in (*_SUMS, linear.tsub):
            break
        one, other = e.args
        if e.op in _SUMS and other in made and reads_back(made[other].expr, update):
            one, other = other, one
        terms.append((e.op is linear.tsub, other))
        sum_ = one
    return []


def _add_in_place(new: list[ir.Let], let: ir.Let, terms: Terms) -> None:
    """Appends what stands for an update."""
    e, after = let.expr, let.binders[0]
    assert isinstance(e, ir.Update)
    place, at = ir.Var(Ref(after.type), "acc", after.like), ir.Var(Ref(TAN), "at")
    new += (ir.Let((place,), ir.Accum(e.base), let.span), ir.Let((at,), ir.View(place, e.path, False), let.span))
    for negative, term in reversed(terms):
        if negative:
            opposite = ir.Var(TAN, "t")
            new.append(ir.Let((opposite,), ir.Apply(linear.tneg, (term,)), let.span))
            term = opposite
        new.append(ir.Let((), ir.Add(at, term), let.span))
    new.append(ir.Let((after,), ir.Resolve(place), let.span))
