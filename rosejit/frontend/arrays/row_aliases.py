"""Notes which arrays are rows of lists that staged loops made and are known elsewhere too: a write would miss them."""

from collections.abc import Iterable, Sequence

from rosejit.frontend.arrays.array import Array, Box
from rosejit.frontend.values.tape import Frame, Tape

HELD = "it is held by a list that a staged loop made"
_KNOWN = "an array in a list is changed, and arrays in this list are known by another name, or are in it twice"


def showing(boxes: Iterable[Box]) -> set[Box]:
    """The arrays of which a write in place would have to show in one of these, or the other way round, less these."""
    direct = {other for box in boxes for other in box.row_of or () if _may_change(box) or _may_change(other)}
    return direct.union(*(other.linked or () for other in direct)).difference(boxes)


def _may_change(box: Box) -> bool:
    return not box.readonly and not box.held


def _relate(one: Box, other: Box) -> None:
    for a, b in ((one, other), (other, one)):
        a.row_of = {*(a.row_of or ()), b}


def same_rows(one: Array, other: Array) -> None:
    """The rows of `other` are those of `one`: it is a list of the same arrays."""
    if one.ndim > 1:
        _relate(one.box, other.box)


def spread(columns: Sequence[Array], rows: Sequence[Sequence[Array]]) -> None:
    """Note what the columns of a list were made of: each had these `rows` in each iteration of a loop that is over."""
    known: dict[Box, Box] = {}
    for column, arrays in zip(columns, rows, strict=True):
        for array in arrays:
            tape = array.tape
            boxes = origins(tape, array.box)
            again = [known[box] for box in boxes if box in known]
            inside = boxes.union(*(box.row_of or () for box in boxes))
            outside = [box for box in inside if tape.content(box) is not None]
            if outside or again or any(box.held for box in boxes):
                column.box.held = _KNOWN
            for box in again:
                box.held = _KNOWN
            for box in outside:
                _relate(box, column.box)
            known |= dict.fromkeys(boxes, column.box)


def hold(column: Array, array: Array) -> None:
    """`array` becomes an element of a list: only as that it may be written from now on."""
    tape = column.tape
    boxes = origins(tape, array.box)
    loop = next((f for f in tape.frames if f.kind == "loop" and _is_older(tape, boxes, f)), None)
    if loop is not None and _is_written(tape, boxes, loop):
        raise tape.type_fault("an array is put in a list in a loop that changes it", "put a copy there: `.copy()`")
    if loop is not None or any(box.readonly or box.held for box in boxes):
        for box in {column.box}.union(*(box.row_of or () for box in boxes)):
            box.held = _KNOWN
    for box in boxes:
        box.readonly = box.readonly or HELD
        _relate(box, column.box)


def origins(tape: Tape, box: Box) -> set[Box]:
    """The arrays that `box` may be, those for which it stands in a loop included."""
    found: set[Box] = set()
    pending = {box}
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending |= set(one.sources or one.linked or ())
            pending |= {frame.carries.aliases[one][0].box for frame in _loops(tape) if one in frame.carries.aliases}
    return found


def _loops(tape: Tape) -> list[Frame]:
    return [frame for frame in tape.frames if frame.carries is not None]


def _is_older(tape: Tape, boxes: set[Box], loop: Frame) -> bool:
    return any(tape.content(box, loop) is not None for box in boxes)


def _is_written(tape: Tape, boxes: set[Box], loop: Frame) -> bool:
    """Whether the iteration that is being staged has changed one of the arrays."""
    starts = {box: var for frame in _loops(tape) for box, (_, var) in frame.carries.aliases.items()}
    known = [box for box in boxes if box in starts or tape.content(box, loop) is not None]
    inside = tape.frames[tape.frames.index(loop) :]
    return any(frame.contents.get(box) not in (None, starts.get(box)) for frame in inside for box in known)
