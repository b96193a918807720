"""Programs to programs that call the `Math` of the page where they had kernels: for `math="js"`."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, rebuild, scopes
from rosejit.ir.types import REAL
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES

PAGE_FUNCTIONS = {op.name: op.js for op in PRIMITIVES.values() if op.js}
"""Primitives by name, and the JavaScript that computes them."""


@dataclass(slots=True, frozen=True)
class PageFunction:
    """A function that every page has; nobody calls it from Python."""

    javascript: str

    def __call__(self, *args: float) -> float:
        """Never: it has no Python."""
        raise AssertionError(self.javascript)


def with_page_functions(roots: tuple[ir.Function, ...]) -> tuple[ir.Function, ...]:
    """`roots`, which have been optimised, and all that they call, with imports in place of kernels."""
    imports: dict[str, ir.Function] = {}
    functions = reachable(*roots)
    new = {f: ir.Function(f.name, f.params, f.results, None, f.own, f.host, span=f.span) for f in functions}

    def block(old: ir.Block) -> ir.Block:
        return ir.Block([changed(let) for let in old.lets], old.results)

    def changed(let: ir.Let) -> ir.Let:
        e = let.expr
        if isinstance(e, ir.Apply) and e.op.name in PAGE_FUNCTIONS:
            imported = imports.setdefault(e.op.name, _import(e.op.name, len(e.args)))
            return ir.Let(let.binders, ir.Call(imported, e.args), let.span)
        if isinstance(e, ir.Call):
            return ir.Let(let.binders, ir.Call(new[e.function], e.args), let.span)
        if scopes(e):
            return ir.Let(let.binders, rebuild(e, lambda atom: atom, block=block), let.span)
        return let

    for f in functions:
        if f.body is not None:
            new[f].body = block(f.body)
    return tuple(new[root] for root in roots)


def _import(name: str, operands: int) -> ir.Function:
    params = tuple(ir.Var(REAL, "x") for _ in range(operands))
    return ir.Function(name, params, (REAL,), host=PageFunction(PAGE_FUNCTIONS[name]))
