"""NumPy's BLAS and LAPACK as host functions of compiled programs: what `rose.jit(blas=True)` calls at run time.

A routine has no effects and never raises: it says in its results where there is no factorisation, and gives NaN where
NumPy raises for another reason. Programs that are saved name their routines, with the shapes of the arguments.
"""

# NumPy's stubs leave the types of some results open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false

from collections.abc import Callable
from typing import Any

from rosejit.abi import HostSignature, Leaf, Node, leaf_of
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

Shape = tuple[int, ...]
_SMALL = 64
"""Triangles of so many rows are inverted whole."""


@dataclass(slots=True, frozen=True)
class Routine:
    """What runs, on arrays of Reals, and the kinds of its results for arguments of some shapes."""

    run: Callable[..., Any]
    results: Callable[..., tuple[Leaf, ...]]


def host_routine(name: str, shapes: tuple[Shape, ...]) -> Callable[..., Any]:
    """The host function of the routine of that name, of arguments of these shapes. Raises KeyError for no routine."""
    routine = _product(name) if name.startswith("product ") else ROUTINES[name]
    results = routine.results(*shapes)

    def called(*given: Any) -> Any:
        try:
            return routine.run(*given)
        except np.linalg.LinAlgError:
            found = [False if leaf.kind == "bool" else _nothing(leaf) for leaf in results]
            return tuple(found) if len(found) > 1 else found[0]

    called.__name__ = name.partition(" ")[0]
    trees = tuple([leaf_of(shape, "real") for shape in shapes])
    result = results[0] if len(results) == 1 else Node("tuple", results)
    called.__dict__.update(signature=HostSignature(trees, result), routine=(name, shapes))
    return called


def _nothing(leaf: Leaf) -> Any:
    return np.full(leaf.shape, np.nan) if leaf.shape else float("nan")


def _product(name: str) -> Routine:
    """`product ik kj ij`: the sums over the name that the result has not, as in `np.einsum("ik,kj->ij", a, b)`."""
    left, right, result = name.split()[1:]
    (summed,) = set(left) - set(result)
    swaps = result[0] not in left

    def run(a: Any, b: Any) -> Any:
        a = a if left[1] == summed else a.T
        b = b if right[0] == summed else b.T
        return b.T @ a.T if swaps else a @ b

    def results(a: Shape, b: Shape) -> tuple[Leaf, ...]:
        known = dict(zip(left + right, (*a, *b), strict=True))
        return (leaf_of((known[result[0]], known[result[1]]), "real"),)

    return Routine(run, results)


# --- triangles: NumPy has no routine for them, but products of their parts


def _inverse_of_triangle(t: Any) -> Any:
    """Of a lower triangle."""
    n = t.shape[0]
    if n <= _SMALL:
        return np.tril(np.linalg.inv(np.tril(t)))
    half = n // 2
    found = np.zeros((n, n))
    found[:half, :half] = _inverse_of_triangle(t[:half, :half])
    found[half:, half:] = _inverse_of_triangle(t[half:, half:])
    found[half:, :half] = -found[half:, half:] @ (t[half:, :half] @ found[:half, :half])
    return found


def _substituted(t: Any, b: Any) -> Any:
    """The `x` of `t @ x = b`, of a lower triangle."""
    n = t.shape[0]
    if n <= _SMALL:
        return np.linalg.solve(np.tril(t), b)
    half = n // 2
    above = _substituted(t[:half, :half], b[:half])
    return np.concatenate([above, _substituted(t[half:, half:], b[half:] - t[half:, :half] @ above)])


# --- the table


def _matrix(*shape: int) -> Leaf:
    return leaf_of(shape, "real")


_REAL, _BOOL = Leaf("real"), Leaf("bool")
ROUTINES: dict[str, Routine] = {
    "cholesky": Routine(lambda a: (np.linalg.cholesky(a), True), lambda a: (_matrix(*a), _BOOL)),
    "solve": Routine(lambda a, b: (np.linalg.solve(a, b), True), lambda a, b: (_matrix(*b), _BOOL)),
    "inv": Routine(lambda a: (np.linalg.inv(a), True), lambda a: (_matrix(*a), _BOOL)),
    "det": Routine(lambda a: float(np.linalg.det(a)), lambda a: (_REAL,)),
    "slogdet": Routine(lambda a: tuple(map(float, np.linalg.slogdet(a))), lambda a: (_REAL, _REAL)),
    "triangle_inverse": Routine(_inverse_of_triangle, lambda t: (_matrix(*t),)),
    "forward": Routine(_substituted, lambda t, b: (_matrix(*b),)),
    "qr": Routine(lambda a: tuple(np.linalg.qr(a)), lambda a: (_matrix(*a), _matrix(a[1], a[1]))),
    "eigh": Routine(lambda a: tuple(np.linalg.eigh(a)), lambda a: (_matrix(a[0]), _matrix(*a))),
    "svd": Routine(
        lambda a: tuple(np.linalg.svd(a, full_matrices=False)),
        lambda a: (_matrix(*a), _matrix(a[1]), _matrix(a[1], a[1])),
    ),
}
"""By name; the arguments of `svd` and `qr` have no fewer rows than columns."""
