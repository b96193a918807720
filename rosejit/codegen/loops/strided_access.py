"""Elements of arrays in several iterations of a loop: the address for the first iteration, and how far apart the others
are.
"""

from rosejit.codegen.core.emitter import Emitter
from rosejit.codegen.core.layout import Kind
from rosejit.codegen.loops.unroll_legality import UnrollFacts
from rosejit.codegen.values.element_access import AccessPath, behind, kept_offset
from rosejit.ir.syntax import Atom, Field, Lit, Path, Var
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.affine_dependence import Affine
from rosejit.wasm.instructions import i64_const, local_get, local_set
from rosejit.wasm.opcodes import OP

PRODUCT = PRIMITIVES["wmul"]


@dataclass(slots=True)
class StridedElement:
    """`code` leaves an address; the element of iteration k, of a kind of cells, lies `offset + k * stride` bytes behind
    it."""

    code: bytes
    offset: int
    stride: int
    kind: Kind = "real"

    def at(self, iteration: int) -> int:
        """The static part of the address in one of the iterations."""
        return self.offset + iteration * self.stride


class StridedElements:
    """The elements of one loop that is written by iterations. Where the elements of a row begin that starts behind a
    variable from outside is found once, in front of all iterations."""

    def __init__(self, e: Emitter, t: UnrollFacts) -> None:
        self._e = e
        self._t = t
        self._starts: dict[bytes, int] = {}

    def opened(self) -> bytes:
        """What is done in front of all iterations."""
        return b"".join([code + local_set[local] for code, local in self._starts.items()])

    def of(self, base: Atom, path: Path) -> StridedElement:
        """Where `path` leads from `base`, a boxed value or a place, or another name of such a one."""
        e, t, a = self._e, self._t, self._e.module.address
        base = t.arrays.get(base, base)
        assert isinstance(base, Var)
        access = AccessPath(e, base)
        stride, grows, starts = 0, b"", False
        for step in path:
            rows = access.rows(step)
            if rows is None or isinstance(step, Field):
                continue
            access.data(rows)
            if isinstance(step, Lit):
                assert isinstance(step.value, int)
                access.offset += behind(e, rows, step.value)
            elif step in t.own:
                own, stride = t.own[step], rows.stride
                grows = e.read(offset_of(e, t.x.index, stride)) + a.add
                if own.start is None:
                    access.offset += behind(e, rows, own.constant)
                else:
                    access.items += (number_at(e, own), a.scaled(stride), a.add)
                    starts = True
            else:
                start, constant = _apart(e, step)
                access.items += (_scaled(e, start, rows.stride), a.add)
                access.offset += behind(e, rows, constant)
                starts = starts or kept_offset(e, start, rows.stride) is None
        code = b"".join(
            [item if isinstance(item, bytes) else e.read(base) for item in access.items]
        )  # all else is code
        return StridedElement((self._start(code) if starts else code) + grows, access.offset, stride, access.cell.kind)

    def _start(self, code: bytes) -> bytes:
        if code not in self._starts:
            self._starts[code] = self._e.body.fresh(self._e.module.address.kind)
        return local_get[self._starts[code]]


def _apart(e: Emitter, step: Var) -> tuple[Var, int]:
    """An index from outside as a variable and a constant, neither of them negative: rows that are so many apart have
    one address."""
    x = e.plan.counted.get(step)
    if x is not None and x.op.adds == (1, 1) and not x.op.failure:
        one, other = x.args
        if isinstance(one, Var) and isinstance(other, Lit) and int(other.value or 0) > 0 and _is_natural(e, one):
            return one, int(other.value or 0)
    return step, 0


def _is_natural(e: Emitter, v: Var) -> bool:
    """Whether it is the index of a loop, or a positive multiple of one."""
    x = e.plan.counted.get(v)
    if x is not None and x.op is PRODUCT and isinstance(x.args[1], Lit):
        return x.args[0] in e.offsets and int(x.args[1].value or 0) > 0
    return v in e.offsets


def number_at(e: Emitter, own: Affine) -> bytes:
    """What leaves the index that an iteration has before the number of the iteration is added, an Int."""
    if own.start is None:
        return i64_const[own.constant]
    return e.read(own.start) + (i64_const[own.constant] + OP["i64.add"] if own.constant else b"")


def offset_of(e: Emitter, index: Var, stride: int) -> Var:
    """The variable that holds the index of a loop that is written by iterations, times `stride`."""
    kept = kept_offset(e, index, stride)
    assert kept is not None
    return kept


def _scaled(e: Emitter, step: Var, stride: int) -> bytes:
    """An index from outside, in bytes."""
    kept = kept_offset(e, step, stride)
    if kept is not None:
        return e.read(kept)
    a = e.module.address
    return e.read(step) + a.scaled(stride) if stride else a.zero
