"""What a program will need, as far as that is known before it runs."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, scopes
from rosejit.ir.types import BOOL, Array, Nominal, Scalar, Sum, Tuple, Type


def bytes_of(t: Type) -> int:
    """The bytes that a value of `t` takes in memory; parts of unknown length count nothing."""
    match t:
        case Scalar():
            return {"()": 0, "Bool": 1}.get(t.name, 8)
        case Array(length=length, element=element):
            return (length or 0) * bytes_of(element)
        case Tuple(items=items):
            return sum(map(bytes_of, items))
        case Sum(left=left, right=right):
            return bytes_of(BOOL) + max(bytes_of(left), bytes_of(right))
        case Nominal() if t.of is None and t.defined:
            return sum(map(bytes_of, t.fields))
        case _:
            return 0


def stacked_bytes(*roots: ir.Function) -> int:
    """The bytes of the arrays that loops stack (what reverse mode keeps of each iteration), each function counted once.
    Stacks made in a loop are there for one iteration, unless the loop stacks them."""
    return sum(_in_block(f.body) for f in reachable(*roots) if f.body is not None)


def _in_block(block: ir.Block) -> int:
    total = 0
    for let in block.lets:
        e = let.expr
        inside = sum(_in_block(inner) for _, inner in scopes(e))
        if isinstance(e, ir.Loop):
            total += sum(bytes_of(b.type) for b in let.binders[len(e.carries) :])
        total += inside
    return total
