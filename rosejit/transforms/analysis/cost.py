"""What a program will need, as far as that is known before it runs."""

from collections.abc import Iterator

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, scopes
from rosejit.ir.types import BOOL, Array, Nominal, Scalar, Sum, Tuple, Type
from rosejit.lazy_dataclass import dataclass

ADDRESS = 8
"""What a record inside records of its own kind counts: how deeply they nest only the run knows."""


def bytes_of(t: Type, inside: frozenset[Type] = frozenset()) -> int:
    """The bytes that a value of `t` takes in memory; parts of unknown length count nothing. `inside`: of records."""
    match t:
        case Scalar():
            return {"()": 0, "Bool": 1}.get(t.name, 8)
        case Array(length=length, element=element):
            return (length or 0) * bytes_of(element, inside)
        case Tuple(items=items):
            return sum([bytes_of(item, inside) for item in items])
        case Sum(left=left, right=right):
            return bytes_of(BOOL) + max(bytes_of(left, inside), bytes_of(right, inside))
        case Nominal() if t in inside:
            return ADDRESS
        case Nominal() if t.of is None and t.defined:
            return sum([bytes_of(field, inside | {t}) for field in t.fields])
        case _:
            return 0


@dataclass(slots=True, frozen=True)
class LoopTape:
    """What each iteration of a loop keeps, mostly for a reverse pass."""

    where: str
    """The place of the loop in the user's source."""
    bytes_per_iteration: int
    iterations: int | None
    """None where only the run knows."""


def loop_tapes(*roots: ir.Function) -> tuple[LoopTape, ...]:
    """Of the loops that stack something, in program order, each function counted once. What loops of unknown length
    inside them stack counts with those."""
    return tuple([tape for f in reachable(*roots) if f.body is not None for tape in _tapes(f.body, f)])


def _tapes(block: ir.Block, f: ir.Function) -> Iterator[LoopTape]:
    for let in block.lets:
        e = let.expr
        if isinstance(e, ir.Loop | ir.While):
            first = len(e.carries) + isinstance(e, ir.While)
            each = sum([bytes_of(b.type.element) for b in let.binders[first:] if isinstance(b.type, Array)])
            if each:
                yield LoopTape(str(let.span or f.name), each, e.constant_trips if isinstance(e, ir.Loop) else None)
        for _, inner in scopes(e):
            yield from _tapes(inner, f)


@dataclass(slots=True, frozen=True)
class LineCost:
    """What a line of the user's source costs: operations that run, and bytes that loops keep of what it computes."""

    file: str
    line: int
    ops: int
    """In a loop as many times as it has iterations, where that is known; each function counted once."""
    tape_bytes: int


def line_costs(*roots: ir.Function) -> tuple[LineCost, ...]:
    """Of all lines that something was made of, in their order."""
    found: dict[tuple[str, int], list[int]] = {}
    for f in reachable(*roots):
        if f.body is not None:
            _by_lines(f.body, 1, found)
    return tuple([LineCost(*place, *counts) for place, counts in sorted(found.items())])


def _by_lines(block: ir.Block, times: int, found: dict[tuple[str, int], list[int]]) -> None:
    for let in block.lets:
        e = let.expr
        stacked = let.binders[len(e.carries) :] if isinstance(e, ir.Loop) else ()
        if let.span is not None:
            counts = found.setdefault((let.span.file, let.span.line), [0, 0])
            counts[0] += times
            counts[1] += sum([bytes_of(b.type) for b in stacked])
        trips = e.constant_trips if isinstance(e, ir.Loop) else None
        for _, inner in scopes(e):
            _by_lines(inner, times * (1 if trips is None else trips), found)


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
