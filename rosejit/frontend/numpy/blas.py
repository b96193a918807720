"""Large products and factorisations as calls of NumPy's BLAS and LAPACK (`rose.jit(blas=True)`).

A product of matrices is linear in each factor, so its tangents are products, and so are their transposes: from
`C = A B` follow `ct_A = ct_C B^T` and `ct_B = A^T ct_C`. Named as in `np.einsum`, these are the same three names in
another order, and all functions that derivatives of any order can need are made at once.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any

from rosejit.abi import leaves
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.values.scalars import leaf_type
from rosejit.frontend.values.tape import Tape
from rosejit.host_routines import host_routine
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import REAL, TAN, Ref, Type, array, tangent
from rosejit.ir.types import Array as ArrayType
from rosejit.transforms.passes.insert_copies import insert_copies, known_owned

Shape = tuple[int, ...]
Spec = tuple[str, ...]
"""The axes of two factors and of the result."""
LEAST_PRODUCT = 64**3
"""Multiplications from which on a product is worth a call of Python."""
LEAST_ROWS = 64
"""Rows from which on a factorisation is."""


def is_wanted(tape: Tape) -> bool:
    """Whether the function that is being staged may call NumPy's routines."""
    return tape.session.blas


def routine(name: str, types: Sequence[Type]) -> ir.Function:
    """The routine of that name as a function of the IR, for arguments of these types."""
    shapes = tuple([_shape(t) for t in types])
    host = host_routine(name, shapes)
    results = tuple([leaf_type(leaf) for leaf in leaves(host.__dict__["signature"].result)])
    params = tuple([ir.Var(t, "x") for t in types])
    made = ir.Function(f"blas_{name.replace(' ', '_')}", params, results, host=host, pure=True)
    return known_owned(made)


def _shape(t: Type) -> Shape:
    found: list[int] = []
    while isinstance(t, ArrayType):
        assert t.length is not None
        found.append(t.length)
        t = t.element
    return tuple(found)


# --- products of two matrices


def product(
    tape: Tape, operands: Sequence[tuple[Array, Any]], result: Sequence[Any], lengths: dict[Any, int]
) -> Array | None:
    """The sums of products of two matrices over the one name that the result has not, if that is a large product."""
    found = _spec(operands, result, lengths)
    if found is None:
        return None
    names, sizes = found
    family = _products(tuple(sorted(names)), sizes)
    (a, _), (b, _) = operands
    kinds = (a.type is TAN, b.type is TAN)
    function = family.linear[names, kinds.index(True)] if any(kinds) else family.whole[names]
    (binder,) = (ir.Var(t, "product") for t in function.results)
    tape.bind_all(ir.Call(function, (variable(a), variable(b))), (binder,), tape.here())
    return fresh(tape, binder)


_KINDS = ((REAL, REAL), (TAN, REAL), (REAL, TAN))


def _spec(
    operands: Sequence[tuple[Array, Any]], result: Sequence[Any], lengths: dict[Any, int]
) -> tuple[Spec, tuple[tuple[str, int], ...]] | None:
    """The names of the axes as letters, and how long each is."""
    if len(operands) != 2 or len(lengths) != 3 or len(result) != 2:
        return None
    (a, left), (b, right) = operands
    sets = [set(left), set(right), set(result)]
    matrices = all(len(names) == len(set(names)) == 2 for names in (left, right, result))
    if not matrices or len(set(map(frozenset, sets))) != 3 or (a.type, b.type) not in _KINDS:
        return None
    sizes = [lengths[label] for label in lengths]
    if sizes[0] * sizes[1] * sizes[2] < LEAST_PRODUCT or 1 in (*a.shape, *b.shape):
        return None
    letters = dict(zip(lengths, "ijk", strict=True))
    left, right, result = ("".join([letters[label] for label in names]) for names in (left, right, result))
    return (left, right, result), tuple(zip("ijk", sizes, strict=True))


@lru_cache(maxsize=256)
def _products(names: Spec, lengths: tuple[tuple[str, int], ...]) -> "_Products":
    return _Products(names, dict(lengths))


class _Products:
    """The products of matrices with three pairs of axes, in any order; one factor may be a tangent."""

    def __init__(self, names: Spec, lengths: dict[str, int]) -> None:
        self.whole: dict[Spec, ir.Function] = {}
        self.linear: dict[tuple[Spec, int], ir.Function] = {}
        self.shapes = {name: (lengths[name[0]], lengths[name[1]]) for name in names}
        for spec in permutations(names):
            self.whole[spec] = self.function(spec, (REAL, REAL))
            for k in range(2):
                made = self.linear[spec, k] = self.function(spec, (TAN, REAL) if k == 0 else (REAL, TAN))
                made.derived["erase"] = self.whole[spec]
        for (spec, k), made in self.linear.items():
            x, y, z = spec
            made.adjoint = self.linear[(z, y, x) if k == 0 else (x, z, y), k]
        for spec, made in self.whole.items():
            made.rule = self.rule(spec, made)

    def function(self, spec: Spec, kinds: tuple[Any, Any]) -> ir.Function:
        """The routine, of Reals or of a tangent."""
        made = routine(
            "product " + " ".join(spec), [array(self.shapes[n], t) for n, t in zip(spec, kinds, strict=False)]
        )
        made.results = (array(self.shapes[spec[2]], TAN if TAN in kinds else REAL),)
        return made

    def rule(self, spec: Spec, function: ir.Function) -> ir.Function:
        """The derivative of a product: two products."""
        b = Builder()
        x, y = (ir.Var(p.type, "x") for p in function.params)
        dx, dy = (ir.Var(tangent(p.type), "dx") for p in function.params)
        (t,) = function.results
        found = b.bind(ir.Call(function, (x, y)), t)
        one, other = (
            b.bind(ir.Call(self.linear[spec, k], pair), tangent(t)) for k, pair in enumerate(((dx, y), (x, dy)))
        )
        place = b.bind(ir.Accum(one), Ref(tangent(t)), "sum")
        b.do(ir.Add(place, other))
        total = b.bind(ir.Resolve(place), tangent(t), "total")
        made = ir.Function(f"{function.name}_rule", (x, y, dx, dy), (t, tangent(t)), b.block(found, total))
        return insert_copies(made)
