"""Folds constants, shares equal expressions, lets signs drown in sums and dissolves tuples in one forward sweep, exact
in every bit."""

from collections.abc import Mapping
from functools import cache, cached_property
from math import frexp
from typing import TypeVar

from rosejit.ir import syntax as ir
from rosejit.ir.facts import steps
from rosejit.ir.failure import FAULTS
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import forms, operands, rebuild, scopes
from rosejit.ir.types import Scalar, is_boxed
from rosejit.ops import PRIMITIVES
from rosejit.span import Span
from rosejit.transforms.passes.dce import where
from rosejit.transforms.passes.equal_operations import EqualOperations

_A = TypeVar("_A")  # how operands that are no constants are known: by variable, or by number
_LEAST = 2.0**-1022
"""The reciprocals of smaller powers of two are too large for a Real."""
NEGATION = next(op for op in PRIMITIVES.values() if op.negates)


def simplify(f: ir.Function) -> ir.Function:
    """`f` simplified; a let that became superfluous may stay for `dce` to drop."""
    if f.body is None:
        return f
    body = _Simplification(f).block(f.body)
    return f.with_body(body)


def _used_whole(body: ir.Block) -> set[ir.Atom]:
    """Everything that is read otherwise than by a field: such a tuple must stay a tuple. What lies in a tuple that need
    not stay one is not read by that, unless what is taken from there is."""
    ordered = list(forms(body))
    blocks = (block for let in ordered for _, block in scopes(let.expr))
    found: set[ir.Atom] = {*body.results, *(r for block in blocks for r in block.results)}
    taken: dict[ir.Atom, set[int]] = {}
    for let in reversed(ordered):  # a tuple comes before all that reads it
        e = let.expr
        if isinstance(e, ir.Index) and isinstance(first := e.path[0], ir.Field):
            v = let.binders[0]
            if len(e.path) > 1 or (is_boxed(v.type) and (v in found or v in taken)):
                found.update(steps(e.path))
                taken.setdefault(e.base, set()).add(first.number)
            continue
        if isinstance(e, ir.MakeTuple) and let.binders[0] not in found:
            found.update([e.items[k] for k in taken.get(let.binders[0], ())])
            continue
        found.update(operands(e))
    return found


class _Simplification:
    """`atoms` maps variables to their equals, `known` expressions of the enclosing blocks to their variables, `negated`
    variables to what they are minus of."""

    def __init__(self, f: ir.Function) -> None:
        assert f.body is not None
        self.body = f.body
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.done = EqualOperations()
        self.known = self.done.known
        self.negated: dict[ir.Atom, ir.Atom] = {}
        self.tuples: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        self.uniform: dict[ir.Atom, ir.Lit] = {}
        """Arrays, and rows of arrays, all of whose numbers are one constant."""

    @cached_property
    def used_whole(self) -> set[ir.Atom]:
        return _used_whole(self.body)

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        atoms, known, negated = self.atoms, self.known, self.negated
        get, same, unsigned = atoms.get, atoms.keys().isdisjoint, negated.keys().isdisjoint
        for let in block.lets:
            e = let.expr
            if type(e) is not ir.Apply:
                self.form(let, e, new)
                continue
            op, binder = e.op, let.binders[0]
            args: tuple[ir.Atom, ...] = e.args
            if not same(args):
                args = tuple(map(get, args, args))
            if not unsigned(args):
                if op.negates:
                    atoms[binder] = negated[args[0]]
                    continue
                op, args = self.without_signs(op, args, let.span, new)
            if len(op.params) > 2 or type(args[0]) is ir.Lit or type(args[-1]) is ir.Lit:
                op, args = reduced(op, args)
                found = self.equal(binder, op, args)
            else:
                found = known.setdefault((op, args), binder)
            if found is not binder:
                atoms[binder] = found
                continue
            if op.negates:
                negated[binder] = args[0]
            elif op.sharing[0] or op.unchecked:
                op, args = self.related(binder, op, args)
            new.append(let if args is e.args and op is e.op else ir.Let(let.binders, ir.Apply(op, args), let.span))
        return ir.Block(new, tuple(map(get, block.results, block.results)))

    def related(
        self, binder: ir.Var, op: Primitive, args: tuple[ir.Atom, ...]
    ) -> tuple[Primitive, tuple[ir.Atom, ...]]:
        """`op`, or what gives the same of a result that is known; what is tested is known not to fail from here on."""
        given = self.known.get((PRIMITIVES[op.sharing[0]], args)) if op.sharing[0] else None
        if given is not None:
            return PRIMITIVES[op.sharing[1]], (*args, given)
        if op.unchecked:
            self.equal(binder, PRIMITIVES[op.unchecked], args)
        return op, args

    def without_signs(
        self, op: Primitive, args: tuple[ir.Atom, ...], span: Span | None, new: list[ir.Let]
    ) -> tuple[Primitive, tuple[ir.Atom, ...]]:
        """`op` of `args` after signs of operands have gone into the op, or out of it."""
        op, args, odd = without_signs(op, args, self.negated)
        if not odd:
            return op, args
        var = ir.Var(op.result)
        found = self.equal(var, op, args)
        if found is var:
            new.append(ir.Let((var,), ir.Apply(op, args), span))
        return NEGATION, (found,)

    def inner(self, block: ir.Block) -> ir.Block:
        """A block inside another."""
        return self.done.inside(block, self.block)

    def equal(self, binder: ir.Var, op: Primitive, args: tuple[ir.Atom, ...]) -> ir.Atom:
        """What `binder`, bound to `op` of `args`, is equal to: a constant, an operand, an earlier variable, or itself,
        which is then known to later lets of the block."""
        constants = [a for a in args if type(a) is ir.Lit]
        found = folded(op, args) if constants and (op.neutral or len(constants) == len(args)) else None
        return self.done.first(binder, op, args) if found is None else found

    def form(self, let: ir.Let, e: ir.Expr, new: list[ir.Let]) -> None:
        if type(e) is ir.Index and len(e.path) == 1 and type(e.path[0]) is not ir.Var:
            self.step(let, e, e.path[0], new)
            return
        if isinstance(e, ir.If) and isinstance(self.atom(e.condition), ir.Lit):
            self.taken(let, e, new)
            return
        if isinstance(e, ir.Loop):
            let, e = self.without_constants(let, e)
            for scan in e.scans:
                self.element(scan.param, scan.array)
        changed = rebuild(e, self.atom, block=self.inner)
        if isinstance(changed, ir.Looping):
            self.outputs(let, changed)
        if isinstance(changed, ir.MakeTuple) and let.binders[0] not in self.used_whole:
            self.tuples[let.binders[0]] = changed.items
            return
        if isinstance(changed, ir.Index):
            first = changed.path[0]
            if changed.base in self.tuples and isinstance(first, ir.Field):
                changed = ir.Index(self.tuples[changed.base][first.number], changed.path[1:], changed.checked)
            elif (not changed.checked and self.element(let.binders[0], changed.base)) or self.is_known(
                let.binders[0], changed.base, changed.path
            ):
                return
        new.append(ir.Let(let.binders, changed, let.span))

    def without_constants(self, let: ir.Let, e: ir.Loop) -> tuple[ir.Let, ir.Loop]:
        """A loop without the carries of numbers that no iteration changes."""
        same = [new is old and not is_boxed(old.type) for old, new in zip(e.carries, e.body.results, strict=False)]
        if not any(same):
            return let, e
        for carry, init, final, constant in zip(e.carries, e.inits, let.binders, same, strict=False):
            if constant:
                self.atoms[carry] = self.atoms[final] = self.atom(init)
        on = [not constant for constant in same]
        others = [True] * (len(let.binders) - len(on))
        body = ir.Block(e.body.lets, where(e.body.results, on + others))
        loop = ir.Loop(e.trips, e.index, where(e.carries, on), where(e.inits, on), e.scans, body, e.down)
        return ir.Let(where(let.binders, on + others), loop, let.span), loop

    def outputs(self, let: ir.Let, e: ir.Loop | ir.While) -> None:
        """Note what is stacked of constants, as the slopes of sums and of products with constants are."""
        count = len(e.body.results) - len(e.carries)
        stacked = e.body.results[len(e.carries) :]
        for v, a in zip(let.binders[-count:] if count else (), stacked, strict=True):
            constant = a if isinstance(a, ir.Lit) else self.uniform.get(a)
            if constant is not None:
                self.uniform[v] = constant

    def element(self, v: ir.Var, array: ir.Atom) -> bool:
        """Whether `v`, read from an array, is a number that is known; a row is noted."""
        constant = self.uniform.get(array)
        if constant is not None:
            (self.atoms if v.type is constant.type else self.uniform)[v] = constant
        return v in self.atoms

    def step(self, let: ir.Let, e: ir.Index, step: ir.Lit | ir.Field, new: list[ir.Let]) -> None:
        """A single step into a tuple, or by a constant."""
        base = self.atoms.get(e.base, e.base)
        items = self.tuples.get(base)
        if items is not None and isinstance(step, ir.Field):
            self.atoms[let.binders[0]] = items[step.number]
            return
        known = not e.checked and self.element(let.binders[0], base)
        if not known and not self.is_known(let.binders[0], base, e.path):
            new.append(let if base is e.base else ir.Let(let.binders, ir.Index(base, e.path, e.checked), let.span))

    def is_known(self, binder: ir.Var, base: ir.Atom, path: ir.Path) -> bool:
        """Whether what `binder` reads has been read: an array is a value, and one that changes has another name."""
        if not isinstance(binder.type, Scalar):
            return False
        found = self.known.setdefault((base, path), binder)
        if found is not binder:
            self.atoms[binder] = found
        return found is not binder

    def taken(self, let: ir.Let, e: ir.If, new: list[ir.Let]) -> None:
        """The side that a known condition takes, in place of the branch."""
        condition = self.atom(e.condition)
        assert isinstance(condition, ir.Lit)
        side = self.inner(e.then if condition.value else e.orelse)
        new += side.lets
        for b, a in zip(let.binders, side.results, strict=True):
            self.atoms[b] = a


@cache
def minus(op: Primitive) -> list[tuple[Primitive, bool, bool] | None]:
    """For each operand the op without its sign, whether the result has the other sign, whether operands swap."""
    return [(PRIMITIVES[name.lstrip("-~")], "-" in name, "~" in name) if name else None for name in op.minus]


def without_signs(
    op: Primitive, args: tuple[_A, ...], negated: Mapping[_A, _A]
) -> tuple[Primitive, tuple[_A, ...], bool]:
    """The op after signs of operands have gone into it, and whether one is left for the result; `negated` tells what
    operands are minus of."""
    odd, k = False, 0
    while k < len(op.minus):
        rule, inside = minus(op)[k], negated.get(args[k])
        if rule is None or inside is None:
            k += 1
            continue
        args = (*args[:k], inside, *args[k + 1 :])
        op, flips, swaps = rule
        args, odd, k = args[::-1] if swaps else args, odd ^ flips, 0
    return op, args, odd


def reduced(op: Primitive, args: tuple[_A | ir.Lit, ...]) -> tuple[Primitive, tuple[_A | ir.Lit, ...]]:
    """A weaker operation that gives the same bits: a negation for minus the constant that does nothing, a product for a
    quotient by a power of two."""
    for k, neutral in enumerate(op.neutral):
        if neutral is not None:
            a = args[k]
            if type(a) is ir.Lit and a.value == -neutral and op.minus[k][:1] == "-":
                return NEGATION, (args[1 - k],)
    divisor = args[-1]
    if op.inverse and type(divisor) is ir.Lit and _is_power_of_two(divisor.value):
        return PRIMITIVES[op.inverse], (args[0], ir.real(1.0 / divisor.value))
    return op, args


def _is_power_of_two(x: float) -> bool:
    """Whether the reciprocal of `x`, and so each product with it, is exact."""
    return abs(frexp(x)[0]) == 0.5 and abs(x) >= _LEAST


def folded(op: Primitive, args: tuple[_A | ir.Lit, ...]) -> _A | ir.Lit | None:
    """What `op` gives without running: a constant of constants, or an operand that it leaves as it is."""
    if all([type(a) is ir.Lit for a in args]) and not op.erased:
        return _evaluated(op, args)
    for k, neutral in enumerate(op.neutral):
        if neutral is not None:
            a = args[k]
            if type(a) is ir.Lit and a.value == neutral:
                return args[1 - k]
    return None


def _evaluated(op: Primitive, args: tuple[object, ...]) -> ir.Lit | None:
    try:
        return ir.Lit(op.evaluate(*[a.value for a in args if isinstance(a, ir.Lit)]), op.result)
    except FAULTS:  # it fails when it runs, with the user's line
        return None
