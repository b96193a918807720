"""The cotangents of one block in the reverse pass: running sums, owned values, open accumulators, and what places
hold.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import TAN, Ref, Scalar, Type, has_dynamic_length, is_boxed
from rosejit.ops import linear


def is_scalar(t: Type) -> bool:
    """Whether cotangents of `t` are summed in variables."""
    return isinstance(t, Scalar)


def needs_shape(x: ir.Atom) -> bool:
    """Whether a zero like `x` needs a value that tells its shape. What consumes such a value always gives a cotangent:
    nothing else was kept to tell it (see `Var.like`)."""
    return is_boxed(x.type) and has_dynamic_length(x.type)


def cotangent(x: ir.Atom, hint: str = "") -> ir.Var:
    """A new variable for the cotangent of `x`."""
    if isinstance(x, ir.Lit):
        return ir.Var(x.type, "ct")
    return ir.Var(x.type, hint or f"ct_{x.hint}", x.like)


def target(place: ir.Var) -> Type:
    """The type of what `place` holds."""
    assert isinstance(place.type, Ref)
    return place.type.target


class Cotangents:
    """What one block has gathered so far. `bound` are the linear variables that the block binds, `views` those of them
    that are views; a variable of an enclosing block is looked up in `parent`, whose lets go before the form in hand."""

    def __init__(self, parent: "Cotangents | None", b: Builder, bound: tuple[ir.Var, ...]) -> None:
        self.parent = parent
        self.b = b
        self.bound = set(bound)
        self.views: dict[ir.Var, ir.Index | ir.View] = {}
        self.sums: dict[ir.Var, ir.Atom] = {}
        self.values: dict[ir.Var, ir.Atom] = {}
        self.accumulators: dict[ir.Var, ir.Var] = {}
        self.readable: dict[ir.Var, ir.Atom | None] = {}

    def give(self, x: ir.Atom, ct: ir.Atom) -> None:
        """Add `ct`, which is fresh if it is boxed, to the cotangent of `x`. A literal zero gets and adds nothing."""
        if isinstance(x, ir.Lit) or isinstance(ct, ir.Lit):
            return
        if isinstance(x.type, Scalar):
            have = self.sums.get(x)
            if have is not None and have is not ir.ZERO:
                ct = self.b.bind(ir.Apply(linear.tadd, (have, ct)), TAN, ct.hint)
            self.sums[x] = ct
        elif self.is_new(x):
            self.values[x] = ct
        else:
            self.b.do(ir.Add(self.place(x), ct))

    def is_new(self, x: ir.Var) -> bool:
        """Whether a boxed `x` is of this block, no view, and has no cotangent yet."""
        return x in self.bound and x not in self.views and x not in self.values and x not in self.accumulators

    def place(self, x: ir.Var) -> ir.Var:
        """The open accumulator of a boxed `x`; of a view: a view of that of its base."""
        if x in self.accumulators:
            return self.accumulators[x]
        if x in self.views:
            e = self.views[x]
            assert isinstance(e, ir.Index)
            assert isinstance(e.base, ir.Var)
            opened = self.b.bind(ir.View(self.place(e.base), e.path, False), Ref(x.type), f"acc_{x.hint}")
        elif x in self.bound:
            start = self.values.pop(x, None)
            opened = self.b.bind(ir.Accum(start or self.zero(x)), Ref(x.type), f"acc_{x.hint}")
        else:
            assert self.parent is not None, x
            opened = self.parent.place(x)
        self.accumulators[x] = opened
        return opened

    def take(self, x: ir.Var) -> ir.Atom | None:
        """The whole cotangent of `x`, which gets no more; None if it is zero."""
        if is_scalar(x.type):
            return self.sums.pop(x, None)
        opened = self.accumulators.pop(x, None)
        if opened is None:
            return self.values.pop(x, None)
        return self.append(x, ir.Resolve(opened))

    def draw(self, x: ir.Var) -> ir.Atom | None:
        """As `take` for the binder of a consuming let: a zero is made where its shape must be passed on."""
        return self.get(x) if needs_shape(x) else self.take(x)

    def get(self, x: ir.Var) -> ir.Atom:
        """As `take`, a zero made where there is none."""
        return self.take(x) or self.zero(x)

    def zero(self, x: ir.Atom) -> ir.Atom:
        """A zero cotangent of `x`."""
        if x.type is TAN:
            return ir.ZERO
        assert isinstance(x, ir.Var)
        like = None
        if has_dynamic_length(x.type):
            assert x.like is not None, f"nothing tells the shape of {x!r}"
            like = x.like
        var = ir.Var(x.type, "zero", like)
        self.b.lets.append(ir.Let((var,), ir.Zero(like), self.b.span))
        return var

    def read(self, place: ir.Var) -> ir.Atom | None:
        """The cotangent of what the forward place holds when it is resolved; None if it is zero."""
        if place in self.readable:
            return self.readable[place]
        found: ir.Atom | None = None
        if place in self.views:
            e = self.views[place]
            assert isinstance(e, ir.View)
            assert isinstance(e.place, ir.Var)
            base = self.read(e.place)
            if base is not None:
                found = self.b.bind(ir.Index(base, e.path, False), target(place), f"ct_{place.hint}")
        elif place not in self.bound and self.parent is not None:
            found = self.parent.read(place)
        self.readable[place] = found
        return found

    def read_or_zero(self, place: ir.Var) -> ir.Atom:
        """As `read`, a zero made where there is none."""
        found = self.read(place)
        if found is None and place in self.views:
            e = self.views[place]
            assert isinstance(e, ir.View)
            assert isinstance(e.place, ir.Var)
            base = self.read_or_zero(e.place)
            found = self.b.bind(ir.Index(base, e.path, False), target(place), f"ct_{place.hint}")
        elif found is None:
            found = self.zero(ir.Var(target(place), "zero", place.like))
        self.readable[place] = found
        return found

    def append(self, x: ir.Atom, e: ir.Expr) -> ir.Var:
        """A let of `e` for the cotangent of `x`."""
        var = cotangent(x)
        self.b.lets.append(ir.Let((var,), e, self.b.span))
        return var
