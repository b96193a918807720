"""A function into functions on Reals that compute its derivatives: the four passes, put together.

`Forward` and `Reverse` append calls to any block, so that the same code serves whole derived programs and derivatives
taken inside a staged function.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import Nominal, Ref, erased, has_dynamic_length, has_real, is_boxed, is_linear, tangent
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.autodiff.jvp import Jvp, jvp
from rosejit.transforms.autodiff.one_sweep import combined
from rosejit.transforms.autodiff.straightline_reverse import ReverseSweep, is_straight_line
from rosejit.transforms.autodiff.transpose import returned, transpose
from rosejit.transforms.autodiff.unzip import unzip
from rosejit.transforms.autodiff.unzip_forms import Halves
from rosejit.transforms.passes.erase import erase
from rosejit.transforms.passes.insert_copies import insert_copies, known_owned

Atoms = tuple[ir.Atom, ...]
Cotangents = tuple[ir.Atom | None, ...]


def zero(b: Builder, like: ir.Atom) -> ir.Atom:
    """A zero tangent or cotangent of `like`, on Reals."""
    t = erased(tangent(like.type))
    if not is_boxed(t):
        return ir.real(0.0)
    return b.bind(ir.Zero(like if has_dynamic_length(t) else None), t, "zero")


@dataclass(slots=True)
class Forward:
    """The derivative of `f` along the parameters in `mask`."""

    f: ir.Function
    derived: Jvp

    def apply(
        self, b: Builder, args: Atoms, tangents: tuple[ir.Atom | None, ...]
    ) -> tuple[Atoms, tuple[ir.Atom | None, ...]]:
        """Results and their tangents, from one tangent an argument; None is a zero."""
        given = [dx or zero(b, x) for x, dx, on in zip(args, tangents, self.derived.mask, strict=True) if on]
        called = erase(self.derived.function)
        all_results = b.bind_all(ir.Call(called, (*args, *given)), called.results, "y")
        n = len(self.f.results)
        rest = iter(all_results[n:])
        return all_results[:n], tuple(next(rest) if on else None for on in self.derived.results)


def forward(f: ir.Function, mask: Mask) -> Forward:
    """Raises `NotDifferentiable` where `jvp` does."""
    return Forward(f, jvp(f, mask))


@dataclass(slots=True)
class Reverse:
    """`f` in two halves, linear in the parameters of `mask`."""

    f: ir.Function
    mask: Mask
    derived: Jvp
    halves: Halves

    def forward(self, b: Builder, args: Atoms) -> tuple[Atoms, Atoms]:
        """Results of `f`, and the residuals that `vjp_programs` and `pushforward` want (some of them arguments)."""
        called = self.halves.forward
        all_results = b.bind_all(ir.Call(called, args), called.results, "y")
        n = len(self.f.results)
        return all_results[:n], (*all_results[n:], *(args[k] for k in self.halves.again))

    def pushforward(
        self, b: Builder, residuals: Atoms, args: Atoms, tangents: tuple[ir.Atom | None, ...]
    ) -> list[ir.Atom | None]:
        """Tangents of the results; `args` give the shapes of zeros."""
        given = [dx or zero(b, x) for x, dx, on in zip(args, tangents, self.derived.mask, strict=True) if on]
        called = erase(self.halves.linear)
        found = iter(b.bind_all(ir.Call(called, (*residuals, *given)), called.results, "dy"))
        return [next(found) if on else None for on in self.derived.results]

    def both(self, b: Builder, args: Atoms, cts: Cotangents) -> tuple[Atoms, list[ir.Atom | None]]:
        """Results of `f` and the cotangents that `pullback` gives; one sweep does both where that saves residuals."""
        unknown = [ct is None and has_dynamic_length(t) for ct, t in zip(cts, self.f.results, strict=True)]
        if not self.halves.one_sweep or any(unknown):
            results, residuals = self.forward(b, args)
            return results, self.pullback(b, residuals, args, results, cts)
        shapes = tuple([ir.Var(t, "y") for t in self.f.results])
        return self._called(b, combined(self.halves), args, args, shapes, cts)

    def pullback(
        self, b: Builder, residuals: Atoms, args: Atoms, results: Atoms, cts: Cotangents
    ) -> list[ir.Atom | None]:
        """A cotangent for each parameter in `mask` (None elsewhere), from one a result; None is a zero."""
        return self._called(b, transpose(self.halves.linear), residuals, args, results, cts)[1]

    def _called(
        self, b: Builder, f: ir.Function, given: Atoms, args: Atoms, results: Atoms, cts: Cotangents
    ) -> tuple[Atoms, list[ir.Atom | None]]:
        """What `f` gives for `given`, cotangents of results and places: results if it has any, cotangents of
        parameters."""
        linear = self.halves.linear
        seeds = [ct or zero(b, y) for ct, y, on in zip(cts, results, self.derived.results, strict=True) if on]
        back = set(returned(linear))
        duals = [p for p in linear.params if is_linear(p.type)]
        active = [k for k, on in enumerate(self.derived.mask) if on]
        places: dict[int, ir.Var] = {}
        for k, p in zip(active, duals, strict=True):
            if p not in back:
                assert not isinstance(p.type, Ref), "the places of a whole program are inside it"
                start = zero(b, args[k])
                places[k] = b.bind(ir.Accum(start), Ref(start.type), "acc")
        called = erase(f)
        made = b.bind_all(ir.Call(called, (*given, *seeds, *places.values())), called.results, "ct")
        count = len(made) - len(back)
        rest = iter(made[count:])
        found: list[ir.Atom | None] = [None] * len(self.mask)
        for k in active:
            place = places.get(k)
            ct = next(rest) if place is None else b.bind(ir.Resolve(place), erased(tangent(args[k].type)), "ct")
            if self.mask[k]:
                found[k] = ct
        return made[:count], found


def reverse(f: ir.Function, mask: Mask, mixed: bool = False, once: bool = False) -> Reverse:
    """Raises `NotDifferentiable` where `jvp` does. `mixed`: loops may keep partial derivatives (`mixed_mode.py`); a
    pushforward then has other last bits than forward mode. `once`: see `unzip`."""
    derived = jvp(f, mask)
    return Reverse(f, mask, derived, unzip(derived.function, mixed, once))


# --- whole programs


def _parameters(f: ir.Function) -> tuple[ir.Var, ...]:
    return tuple(ir.Var(p.type, p.hint) for p in f.params)


def differentiable(f: ir.Function) -> Mask:
    """The parameters of `f` that have tangents."""
    return tuple(has_real(p.type) for p in f.params)


def gradient(f: ir.Function, mask: Mask, value: bool) -> ir.Function:
    """`f`, whose first result is a Real, into the cotangents of the parameters in `mask` for a seed of 1 on it; its
    other results follow (auxiliary). With `value` the first result comes first."""
    key = ("gradient", mask, value)
    if key not in f.derived and is_straight_line(f):
        f.derived[key] = _straight_line_gradient(f, mask, value)
    if key not in f.derived:
        b = Builder(f.span)
        params = _parameters(f)
        r = reverse(f, mask, mixed=True, once=True)
        results, cts = r.both(b, params, (ir.real(1.0), *(None for _ in f.results[1:])))
        wanted = [ct for ct, on in zip(cts, mask, strict=True) if on]
        filled = [
            zero(b, p) if ct is None else ct
            for ct, p in zip(wanted, [p for p, on in zip(params, mask, strict=True) if on], strict=True)
        ]
        outputs = (*results[:1], *filled, *results[1:]) if value else (*filled, *results[1:])
        f.derived[key] = program(f"grad_{f.name}", f, params, b, outputs)
    return f.derived[key]


def _straight_line_gradient(f: ir.Function, mask: Mask, value: bool) -> ir.Function:
    """`gradient` of straight-line code."""
    assert f.body is not None
    b = Builder(f.span)
    b.lets += f.body.lets
    sweep = ReverseSweep(f, mask)
    places: dict[ir.Atom, ir.Var] = {}
    for p, on in zip(f.params, mask, strict=True):
        if on and is_boxed(p.type):
            start = zero(b, p)
            places[p] = b.bind(ir.Accum(start), Ref(start.type), "acc")
    sweep.run_reverse(b, {f.body.results[0]: ir.real(1.0)}, places)
    cts: list[ir.Atom] = []
    for p, on in zip(f.params, mask, strict=True):
        if on and p in places:
            cts.append(b.bind(ir.Resolve(places[p]), erased(tangent(p.type)), "ct"))
        elif on:
            cts.append(sweep.sums.get(p) or ir.real(0.0))
    results = f.body.results
    outputs = (*results[:1], *cts, *results[1:]) if value else (*cts, *results[1:])
    types = tuple([a.type for a in outputs])
    return known_owned(ir.Function(f"grad_{f.name}", f.params, types, b.block(*outputs), span=f.span))


def cotangents(f: ir.Function, mask: Mask) -> ir.Function:
    """`f` into `(x.., ct_y..) -> (y.., ct_x..)`, for the results that have a cotangent and the parameters in `mask`."""
    key = ("cotangents", mask)
    if key not in f.derived:
        b = Builder(f.span)
        params = _parameters(f)
        r = reverse(f, mask, once=True)
        cts = tuple(ir.Var(erased(tangent(t)), "ct") if has_real(t) else None for t in f.results)
        results, found = r.both(b, params, cts)
        wanted = [zero(b, p) if ct is None else ct for p, ct, on in zip(params, found, mask, strict=True) if on]
        given = tuple(ct for ct in cts if ct is not None)
        f.derived[key] = program(f"vjp_{f.name}", f, (*params, *given), b, (*results, *wanted))
    return f.derived[key]


def pushforward(f: ir.Function, mask: Mask) -> ir.Function:
    """`f` into `(x.., dx..) -> (y.., dy..)`: tangents of the parameters in `mask`, of all results that have one."""
    key = ("pushforward", mask)
    if key not in f.derived:
        b = Builder(f.span)
        params = _parameters(f)
        tangents = tuple(
            ir.Var(erased(tangent(p.type)), f"d{p.hint}") if on else None for p, on in zip(params, mask, strict=True)
        )
        results, dys = forward(f, mask).apply(b, params, tangents)
        given = tuple(dx for dx in tangents if dx is not None)
        filled = [zero(b, y) if dy is None else dy for y, dy in zip(results, dys, strict=True) if has_real(y.type)]
        f.derived[key] = program(f"jvp_{f.name}", f, (*params, *given), b, (*results, *filled))
    return f.derived[key]


@dataclass(slots=True)
class VjpPrograms:
    """`forward(x..): y.., handle`; `back(handle, ct_y..): ct_x..`; `along(handle, dx..): dy..`.

    Cotangents are taken for the results, and given for the parameters, that have a tangent; tangents likewise.
    """

    forward: ir.Function
    pullback: ir.Function
    pushforward: ir.Function


def vjp_programs(f: ir.Function, mask: Mask) -> VjpPrograms:
    """Programs for a host that keeps the residuals: the handle owns all that is read later, arguments copied."""
    key = ("pullback", mask)
    if key not in f.derived:
        r = reverse(f, mask)
        b = Builder(f.span)
        params = _parameters(f)
        results, residuals = r.forward(b, params)
        handle_type = Nominal(f"Saved_{f.name}")
        handle_type.fields = tuple(a.type for a in residuals)
        handle = b.bind(ir.MakeTuple(residuals), handle_type, "handle")
        first = program(f"fwd_{f.name}", f, params, b, (*results, handle))
        f.derived[key] = VjpPrograms(
            first, _pullback_program(f, r, handle_type), _pushforward_program(f, r, handle_type)
        )
    return f.derived[key]


def _saved(handle_type: Nominal, b: Builder) -> tuple[ir.Var, Atoms]:
    handle = ir.Var(handle_type, "handle")
    fields = enumerate(handle_type.fields)
    return handle, tuple(b.bind(ir.Index(handle, (ir.Field(k),), False), t, "r") for k, t in fields)


def _pullback_program(f: ir.Function, r: Reverse, handle_type: Nominal) -> ir.Function:
    b = Builder(f.span)
    handle, residuals = _saved(handle_type, b)
    params, results = _parameters(f), tuple(ir.Var(t, "y") for t in f.results)
    cts = tuple(ir.Var(erased(tangent(y.type)), "ct") if has_real(y.type) else None for y in results)
    found = r.pullback(b, residuals, params, results, cts)
    wanted = [zero(b, p) if ct is None else ct for p, ct, on in zip(params, found, r.mask, strict=True) if on]
    given = tuple(ct for ct in cts if ct is not None)
    return program(f"bwd_{f.name}", f, (handle, *given), b, tuple(wanted))


def _pushforward_program(f: ir.Function, r: Reverse, handle_type: Nominal) -> ir.Function:
    b = Builder(f.span)
    handle, residuals = _saved(handle_type, b)
    params = _parameters(f)
    tangents = tuple(
        ir.Var(erased(tangent(p.type)), f"d{p.hint}") if on else None for p, on in zip(params, r.mask, strict=True)
    )
    found = r.pushforward(b, residuals, params, tangents)
    results = [ir.Var(t, "y") for t in f.results]
    wanted = [zero(b, y) if dy is None else dy for y, dy in zip(results, found, strict=True) if has_real(y.type)]
    given = tuple(dx for dx in tangents if dx is not None)
    return program(f"lin_{f.name}", f, (handle, *given), b, tuple(wanted))


def program(name: str, f: ir.Function, params: tuple[ir.Var, ...], b: Builder, results: Atoms) -> ir.Function:
    """A derived program of `f`, with the copies that ownership asks for."""
    made = ir.Function(name, params, tuple(a.type for a in results), b.block(*results), span=f.span)
    return insert_copies(made)
