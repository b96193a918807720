"""Several iterations of a loop one after the other, without counting in between: elements lie at static offsets."""

from collections.abc import Callable, Iterable

from rosejit.codegen.core.address_type import KINDS
from rosejit.codegen.core.emitter import Emitter, literal
from rosejit.codegen.loops.carried_locals import load, store
from rosejit.codegen.loops.strided_access import StridedElement, StridedElements, number_at
from rosejit.codegen.loops.unroll_legality import UnrollFacts
from rosejit.ir.primitive import Emit
from rosejit.ir.syntax import Add, Apply, Atom, Index, Let, Lit, Path, Update, Var, View
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.analysis.affine_dependence import Affine
from rosejit.wasm.instructions import f64_load, f64_store, local_get, local_set
from rosejit.wasm.opcodes import OP


class ScalarEmitter:
    """Arithmetic, each result in a local of its own; `outside` leaves what is bound elsewhere."""

    def __init__(self, e: Emitter, code: list[bytes], outside: Callable[[Var], bytes]) -> None:
        self._e = e
        self._outside = outside
        self.code = code
        self.codes: dict[Atom, bytes] = {}
        """What leaves a variable."""

    def value(self, a: Atom) -> bytes:
        """What leaves an atom."""
        if isinstance(a, Lit):
            return literal(a)
        return self.codes[a] if a in self.codes else self._outside(a)

    def bind(self, v: Var, *code: bytes) -> None:
        """`v` is what `code` leaves."""
        local = self._e.body.fresh(KINDS[v.type] or "f64")  # type: ignore[index]  # a Scalar
        self.code += (*code, local_set[local])
        self.codes[v] = local_get[local]

    def apply(self, v: Var, x: Apply) -> None:
        """A primitive: instructions, a selection, or a kernel that is short."""
        op, args = x.op, list(map(self.value, x.args))
        small = small_kernel(op)
        if isinstance(op.wasm, Emit):
            condition, chosen, other = args
            self.bind(v, chosen, other, condition, OP["select"])
        elif small is not None and small.body is not None:
            self.codes.update(zip(small.params, args, strict=True))
            for let in small.body.lets:
                assert isinstance(let.expr, Apply)
                self.apply(let.binders[0], let.expr)
            self.codes[v] = self.value(small.body.results[0])
        else:
            self.bind(v, *args, self._e.module.code(op) or b"")


class ScalarUnroller:
    """The body for one iteration after the other; `places` are those of the carries, by iteration where they are
    lanes.
    """

    def __init__(self, e: Emitter, t: UnrollFacts, places: dict[Var, list[int]]) -> None:
        self._e = e
        self._t = t
        self._places = places
        self.code: list[bytes] = []
        self._numbers = ScalarEmitter(e, self.code, e.read)
        self._elements = StridedElements(e, t)
        self._views: dict[Atom, StridedElement] = {}
        self.iteration = 0

    def run_iterations(
        self, index: bytes, scans: Iterable[tuple[Var, StridedElement]], rows: Iterable[tuple[StridedElement, Atom]]
    ) -> None:
        """The next iteration; see `SimdBody`."""
        x = self._t.x
        for v, own in self._t.own.items():
            iteration = Affine(own.start, own.constant + self.iteration)
            self._numbers.codes[v] = index + number_at(self._e, iteration) + OP["i64.add"]
        for c in self._t.summed:
            self._numbers.codes[c] = local_get[self._places[c][self.iteration % 4]]
        for v, at in scans:
            self._read(v, at)
        for let in x.body.lets:
            self._let(let)
        for at, value in rows:  # some of them what is carried into this iteration
            self._write(at, value)
        moved: list[tuple[int, Var]] = []
        for c, new in zip(x.carries, x.body.results, strict=False):
            if c in self._places and c not in self._t.arrays and new is not c:
                self.code.append(self._numbers.value(new))
                moved.append((self._places[c][self.iteration % 4 if c in self._t.summed else 0], c))
        self.code += [local_set[place] for place, _ in reversed(moved)]
        self.iteration += 1

    def opened(self) -> bytes:
        """What is done in front of all iterations."""
        return self._elements.opened()

    def closed(self) -> bytes:
        """What is done behind them."""
        return b""

    def finish(self) -> list[bytes]:
        """The whole code of all iterations."""
        return self.code

    def _let(self, let: Let) -> None:
        match let.expr:
            case Apply() as x:
                if let.binders[0] not in self._t.own:
                    self._numbers.apply(let.binders[0], x)
            case Index(base=base, path=path):
                self._read(let.binders[0], self._element(base, path))
            case View(place=place, path=path):
                self._views[let.binders[0]] = self._element(place, path)
            case Update(base=base, path=path, value=value):
                self._write(self._element(base, path), value)
            case Add(place=place, value=value):
                self._add(place, value)
            case _:
                raise AssertionError("these iterations cannot be written so")

    def _read(self, v: Var, at: StridedElement) -> None:
        self._numbers.bind(v, at.code, self._e.module.address.loads[at.kind][at.at(self.iteration)])

    def _write(self, at: StridedElement, value: Atom) -> None:
        store = self._e.module.address.stores[at.kind][at.at(self.iteration)]
        self.code += (at.code, self._numbers.value(value), store)

    def _element(self, base: Atom, path: Path) -> StridedElement:
        return self._elements.of(base, path)

    def _add(self, place: Atom, value: Atom) -> None:
        e = self._e
        assert isinstance(place, Var)
        if place in e.plan.cells:
            e.read(place)
            where = e.where[place]
            self.code.append(store(e, "f64", where, load(e, "f64", where) + self._numbers.value(value) + OP["f64.add"]))
            return
        at = self._views.get(place) or StridedElement(e.read(place), 0, 0)
        offset = at.at(self.iteration)
        self.code += (at.code, at.code, f64_load[offset], self._numbers.value(value), OP["f64.add"], f64_store[offset])
