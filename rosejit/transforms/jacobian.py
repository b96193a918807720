"""A function into one that computes dense Jacobians: its derivative at every unit vector, in loops of the IR."""

from collections.abc import Callable
from math import prod

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import INT, REAL, Array, Type, array, has_real
from rosejit.transforms.activity import Mask
from rosejit.transforms.derive import Atoms, program, reverse, zero

Body = Callable[[Builder, tuple[ir.Var, ...]], Atoms]


def shape_of(t: Type) -> tuple[int, ...]:
    """The shape of a Real or an array of Reals. Raises `NotDifferentiable` where it depends on the run."""
    shape: list[int] = []
    while isinstance(t, Array):
        if t.length is None:
            raise NotDifferentiable("the Jacobian of an array whose length only the run knows has no shape")
        shape.append(t.length)
        t = t.element
    return tuple(shape)


def nest(b: Builder, shape: tuple[int, ...], body: Body, indices: tuple[ir.Var, ...] = ()) -> Atoms:
    """The results of `body` at every index of `shape`, stacked: loops, the first axis outermost."""
    if len(indices) == len(shape):
        return body(b, indices)
    inner = Builder(b.span)
    index = ir.Var(INT, "i")
    results = nest(inner, shape, body, (*indices, index))
    length = shape[len(indices)]
    types = tuple(Array(length, a.type) for a in results)
    return b.bind_all(ir.Loop(ir.integer(length), index, (), (), (), inner.block(*results)), types, "row")


def unit(b: Builder, t: Type, indices: tuple[ir.Var, ...]) -> ir.Atom:
    """The array of type `t` that is 1 at `indices` and 0 elsewhere."""
    if t is REAL:
        return ir.real(1.0)
    start = b.bind(ir.Zero(), t, "zero")
    return b.bind(ir.Update(start, indices, ir.real(1.0), checked=False), t, "unit")


def size_of(types: list[Type]) -> int:
    """How many Reals values of these types hold."""
    return sum(prod(shape_of(t)) for t in types)


def jacobian(f: ir.Function, mask: Mask, mode: str) -> ir.Function:
    """For each real result of `f`, for each parameter in `mask`, the array of derivatives: axes of the result, then of
    the parameter. `mode` is "fwd", "rev", or "auto": the one with fewer sweeps."""
    key = ("jacobian", mask, mode)
    if key not in f.derived:
        inputs = [p.type for p, on in zip(f.params, mask, strict=True) if on]
        outputs = [t for t in f.results if has_real(t)]
        if mode == "auto":
            mode = "fwd" if size_of(inputs) <= size_of(outputs) else "rev"
        b = Builder(f.span)
        params = tuple(ir.Var(p.type, p.hint) for p in f.params)
        columns = _by_columns if mode == "fwd" else _by_rows
        f.derived[key] = program(f"jac_{f.name}", f, params, b, columns(f, mask, b, params))
    return f.derived[key]


def _by_rows(f: ir.Function, mask: Mask, b: Builder, params: tuple[ir.Var, ...]) -> Atoms:
    """One pullback for each element of the results."""
    r = reverse(f, mask)
    results, residuals = r.forward(b, params)
    found: list[ir.Atom] = []
    for k, y in enumerate(results):
        if not has_real(y.type):
            continue

        def row(inner: Builder, indices: tuple[ir.Var, ...], k: int = k, y: ir.Atom = y) -> Atoms:
            seeds: list[ir.Atom | None] = [None] * len(results)
            seeds[k] = unit(inner, y.type, indices)
            cts = r.pullback(inner, residuals, params, results, tuple(seeds))
            wanted = [(p, ct) for p, ct, on in zip(params, cts, mask, strict=True) if on]
            return tuple([zero(inner, p) if ct is None else ct for p, ct in wanted])

        found += nest(b, shape_of(y.type), row)
    return tuple(found)


def _by_columns(f: ir.Function, mask: Mask, b: Builder, params: tuple[ir.Var, ...]) -> Atoms:
    """One pushforward for each element of the parameters; what comes out with the parameter's axes first is turned."""
    r = reverse(f, mask)
    results, residuals = r.forward(b, params)
    outputs = [y for y in results if has_real(y.type)]
    columns: list[Atoms] = []
    active = [k for k, on in enumerate(mask) if on]
    for k in active:

        def column(inner: Builder, indices: tuple[ir.Var, ...], k: int = k) -> Atoms:
            tangents: list[ir.Atom | None] = [None] * len(params)
            tangents[k] = unit(inner, params[k].type, indices)
            dys = r.pushforward(inner, residuals, params, tuple(tangents))
            wanted = [(y, dy) for y, dy in zip(results, dys, strict=True) if has_real(y.type)]
            return tuple([zero(inner, y) if dy is None else dy for y, dy in wanted])

        columns.append(nest(b, shape_of(params[k].type), column))
    found: list[ir.Atom] = []
    for j, y in enumerate(outputs):
        for k, column_results in zip(active, columns, strict=True):
            found.append(_turned(b, column_results[j], shape_of(params[k].type), shape_of(y.type)))
    return tuple(found)


def _turned(b: Builder, a: ir.Atom, first: tuple[int, ...], last: tuple[int, ...]) -> ir.Atom:
    """`a` with the axes `first` behind the axes `last`."""
    if not first or not last:
        return a

    def element(inner: Builder, indices: tuple[ir.Var, ...]) -> Atoms:
        path = (*indices[len(last) :], *indices[: len(last)])
        return (inner.bind(ir.Index(a, path, checked=False), REAL),)

    (turned,) = nest(b, (*last, *first), element)
    assert turned.type == array((*last, *first), REAL)
    return turned
