"""Equal operations on numbers, once: rules of derivatives ask again for a quotient or a square that the function, or
another rule, has made. What is not linear only; nothing else changes."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import rebuild
from rosejit.ir.types import is_boxed, is_linear
from rosejit.transforms.passes.equal_operations import EqualOperations


def share_operations(body: ir.Block) -> ir.Block:
    """The body with later ones as names of the first; the same object where there are none."""
    sharing = _Sharing()
    made = sharing.block(body)
    return made if sharing.equal else body


class _Sharing:
    """`done` are the operations of the blocks around, `equal` what later variables are."""

    def __init__(self) -> None:
        self.done = EqualOperations()
        self.equal: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.equal.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        lets: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if not isinstance(e, ir.Apply) or not self.equal.keys().isdisjoint(e.args):
                e = rebuild(e, self.atom, block=self.inner)
            if isinstance(e, ir.Apply) and not is_linear(let.binders[0].type) and not is_boxed(let.binders[0].type):
                first = self.done.first(let.binders[0], e.op, e.args)
                if first is not let.binders[0]:
                    self.equal[let.binders[0]] = first
                    continue
            lets.append(let if e is let.expr else ir.Let(let.binders, e, let.span))
        return ir.Block(lets, tuple([self.atom(a) for a in block.results]))

    def inner(self, block: ir.Block) -> ir.Block:
        """A block inside."""
        return self.done.inside(block, self.block)
