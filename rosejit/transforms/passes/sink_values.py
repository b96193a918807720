"""Values next to where they are written: in an iteration that writes many numbers, each is computed right in front of
the update that stores it, so that few of them are alive at once.

Joined loops compute first what one loop made and write then what the other one wrote; with more values than registers
each would be spilled in between.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import consumed, operands, within
from rosejit.ir.types import Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.effects import fails_or_acts

MANY = 12
"""Updates in an iteration from which that is done."""


def sink_values(f: ir.Function) -> ir.Function:
    """`f` with the lets of such iterations in another order; `f` itself where there are none."""
    if f.body is None:
        return f
    sweep = _Sinking()
    body = sweep.block(f.body)
    return f.with_body(body) if sweep.changed else f


class _Sinking:
    """Goes through all blocks; `changed` counts."""

    def __init__(self) -> None:
        self.changed = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the iterations inside it reordered."""
        return ir.Block([self.let(within(let, self.block)) for let in block.lets], block.results)

    def let(self, let: ir.Let) -> ir.Let:
        e = let.expr
        if not isinstance(e, ir.Loop) or sum([isinstance(x.expr, ir.Update) for x in e.body.lets]) < MANY:
            return let
        lets = _by_demand(e.body)
        if lets is None:
            return let
        self.changed += 1
        body = ir.Block(lets, e.body.results)
        loop = ir.Loop(e.trips, e.index, e.carries, e.inits, e.scans, body, e.down)
        return ir.Let(let.binders, loop, let.span)


@dataclass(slots=True)
class _Order:
    """The lets so far, those that wait for somebody who reads what they bind, and who reads which array."""

    pending: dict[ir.Atom, ir.Let]
    readers: dict[ir.Atom, list[ir.Let]]
    lets: list[ir.Let]

    def write(self, wanted: list[ir.Atom]) -> None:
        """What binds these, after all that it reads; chains may be long."""
        stack = [(a, False) for a in reversed(wanted)]
        while stack:
            a, is_ready = stack.pop()
            let = self.pending.get(a)
            if let is None:
                continue
            if is_ready:
                del self.pending[a]
                self.lets.append(let)
            else:
                stack.append((a, True))
                stack += [(b, False) for b in reversed(operands(let.expr)) if b in self.pending]


def _by_demand(block: ir.Block) -> list[ir.Let] | None:
    """The lets of a block, numbers as late as possible; None where it has views, which must not outlive what they look
    into."""
    order = _Order({}, {}, [])
    pending, readers = order.pending, order.readers
    for let in block.lets:
        e = let.expr
        if isinstance(e, ir.Index) and not isinstance(let.binders[0].type, Scalar):
            return None
        if isinstance(e, ir.Apply | ir.Index) and not fails_or_acts(e):
            pending[let.binders[0]] = let
            if isinstance(e, ir.Index):
                readers.setdefault(e.base, []).append(let)
        elif isinstance(e, ir.Update | ir.Check | ir.Apply | ir.Index):
            order.write([*operands(e), *[reader.binders[0] for a in consumed(e) for reader in readers.pop(a, ())]])
            order.lets.append(let)
        else:
            return None
    order.write([*pending])
    return order.lets
