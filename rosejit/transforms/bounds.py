"""The least and the largest value of an Int: of results, of the number of a turn, and whether an index is in range."""

from rosejit.ir import syntax as ir
from rosejit.ir.types import Array, Ref, Type, fields_of
from rosejit.ops.integer import LARGEST, SMALLEST

Range = tuple[int, int]
"""The least and the largest value that a variable can have, wherever it is in scope."""

ANY = (SMALLEST, LARGEST)


def range_of(a: ir.Atom | ir.Field, known: dict[ir.Atom, Range]) -> Range:
    """What an Int can be."""
    if isinstance(a, ir.Lit):
        return (a.value, a.value) if isinstance(a.value, int) else ANY
    return ANY if isinstance(a, ir.Field) else known.get(a, ANY)


def result_range(op: ir.Primitive, args: tuple[ir.Atom, ...], known: dict[ir.Atom, Range]) -> Range | None:
    """What `op` gives, if that is sure to fit 64 bits; None else."""
    given = [range_of(a, known) for a in args]
    if op.adds:
        pairs = [(low, high) if sign > 0 else (-high, -low) for sign, (low, high) in zip(op.adds, given, strict=True)]
        found = sum(low for low, _ in pairs), sum(high for _, high in pairs)
    else:
        found = op.bounds(*given) if op.bounds is not None else None
    return found if found is not None and found[0] >= SMALLEST and found[1] <= LARGEST else None


def index_range(trips: ir.Atom, known: dict[ir.Atom, Range]) -> Range:
    """The numbers of the turns of a loop; no turn at all has any number."""
    return 0, max(range_of(trips, known)[1] - 1, 0)


def in_range(base: Type, path: ir.Path, known: dict[ir.Atom, Range]) -> bool:
    """Whether a path is sure to lead somewhere."""
    t = base.target if isinstance(base, Ref) else base
    for step in path:
        if isinstance(step, ir.Field):
            t = fields_of(t)[step.number]
            continue
        assert isinstance(t, Array)
        low, high = range_of(step, known)
        if t.length is None or low < 0 or high >= t.length:
            return False
        t = t.element
    return True
