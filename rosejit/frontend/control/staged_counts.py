"""What a staged number is computed from, in words for errors about loops and branches."""

from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.values.scalars import Int
from rosejit.frontend.values.staged_inputs import inputs_of

ARRAYS_ARE_INPUTS = "elements of a float array from outside are inputs of each call; those of a list or a tuple are not"
_MOST = 3
"""So many parameters are named."""


def why_counted(numbers: StagedRange) -> tuple[str, ...]:
    """Facts about a loop over `numbers`: why its count is not known while it is staged."""
    bounds = [bound.atom for bound in (numbers.start, numbers.stop, numbers.step) if bound.__class__ is Int]
    inputs, reads_arrays = inputs_of(numbers.tape, bounds)
    found = ["an array of numbers from outside"] if reads_arrays else []
    found += [f"`{each.path}`" for each in inputs[:_MOST]] + (["others"] if len(inputs) > _MOST else [])
    if not found:
        return ()
    count = f"the loop is staged: its count comes from {' and '.join(found)}"
    return (count, ARRAYS_ARE_INPUTS) if reads_arrays else (count,)
