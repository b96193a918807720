"""What a staged number is computed from, in words for errors about loops and branches."""

from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.values.scalars import Int
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Var
from rosejit.ir.traversal import captures, operands

ARRAYS_ARE_INPUTS = "elements of a float array from outside are inputs of each call; those of a list or a tuple are not"
_MOST = 3
"""So many parameters are named."""


def why_counted(numbers: StagedRange) -> tuple[str, ...]:
    """Facts about a loop over `numbers`: why its count is not known while it is staged."""
    bounds = [bound.atom for bound in (numbers.start, numbers.stop, numbers.step) if bound.__class__ is Int]
    inputs, reads_arrays = _leaves(numbers.tape, bounds)
    found = ["an array of numbers from outside"] if reads_arrays else []
    found += [f"`{name}`" for name in inputs[:_MOST]] + (["others"] if len(inputs) > _MOST else [])
    if not found:
        return ()
    count = f"the loop is staged: its count comes from {' and '.join(found)}"
    return (count, ARRAYS_ARE_INPUTS) if reads_arrays else (count,)


def _leaves(tape: Tape, atoms: list[Atom]) -> tuple[list[str], bool]:
    """The names of the inputs that atoms are computed from, and whether arrays from outside are among them."""
    made = {binder: let for frame in tape.frames for let in (*frame.lets, *tape.lets) for binder in let.binders}
    pending, seen = list[Atom](atoms), set[Atom]()
    inputs, reads_arrays = list[str](), False
    outside = {var for _, var in tape.session.opened.captured.values()}
    while pending:
        atom = pending.pop()
        if not isinstance(atom, Var) or atom in seen:
            continue
        seen.add(atom)
        if atom in made:
            pending += [*operands(made[atom].expr), *captures(made[atom].expr)]
        elif atom in outside:
            reads_arrays = True
        elif atom.hint:
            inputs.append(atom.hint)
    return inputs, reads_arrays
