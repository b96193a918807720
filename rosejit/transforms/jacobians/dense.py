"""A function into one that computes dense Jacobians: its derivative at every unit vector, in loops of the IR."""

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import has_real
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.autodiff.derivative_programs import Atoms, program, reverse, zero
from rosejit.transforms.jacobians.array_loops import nest, shape_of, size_of, unit
from rosejit.transforms.jacobians.columns import by_columns


def jacobian(f: ir.Function, mask: Mask, mode: str) -> ir.Function:
    """For each real result of `f`, for each parameter in `mask`, the array of derivatives: axes of the result, then of
    the parameter. `mode` is "fwd", "rev", or "auto": the one with fewer sweeps."""
    key = ("jacobian", mask, mode)
    if key not in f.derived:
        inputs = [p.type for p, on in zip(f.params, mask, strict=True) if on]
        outputs = [t for t in f.results if has_real(t)]
        if mode == "auto":
            mode = "fwd" if size_of(*inputs) <= size_of(*outputs) else "rev"
        b = Builder(f.span)
        params = tuple(ir.Var(p.type, p.hint) for p in f.params)
        found = by_columns(f, mask, b, params) if mode == "fwd" else _by_rows(f, mask, b, params)
        f.derived[key] = program(f"jac_{f.name}", f, params, b, found)
    return f.derived[key]


def _by_rows(f: ir.Function, mask: Mask, b: Builder, params: tuple[ir.Var, ...]) -> Atoms:
    """One pullback for each element of the results."""
    r = reverse(f, mask, mixed=True, once=True)
    results, residuals = r.forward(b, params)
    found: list[ir.Atom] = []
    for k, y in enumerate(results):
        if not has_real(y.type):
            continue

        def row(inner: Builder, indices: Atoms, k: int = k, y: ir.Atom = y) -> Atoms:
            seeds: list[ir.Atom | None] = [None] * len(results)
            seeds[k] = unit(inner, y.type, indices)
            cts = r.pullback(inner, residuals, params, results, tuple(seeds))
            wanted = [(p, ct) for p, ct, on in zip(params, cts, mask, strict=True) if on]
            return tuple([zero(inner, p) if ct is None else ct for p, ct in wanted])

        found += nest(b, shape_of(y.type), row)
    return tuple(found)
