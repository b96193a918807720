"""One pass of a fast Fourier transform, in the Python that is staged for it."""

# Arguments are staged arrays. Every loop stays a loop, but for those over the few elements of a radix.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import Any

from rosejit.frontend.values import rose_functions as rose

Few = Callable[..., Any]


def across(re: Any, im: Any, out: tuple[Any, Any], sizes: tuple[int, int, int], few: Few) -> None:
    """The transforms of all elements that stand at the same place of `radix` blocks, the innermost axis running last:
    from the axes (radix, rest, done) to (rest, radix, done)."""
    radix, rest, done = sizes
    for j in rose.range(rest):
        for q in rose.range(done):
            found = few([re[k, j, q] for k in range(radix)], [im[k, j, q] for k in range(radix)], j)
            for k in range(radix):
                out[0][j, k, q] = found[k][0]
                out[1][j, k, q] = found[k][1]


def along(re: Any, im: Any, out: tuple[Any, Any], sizes: tuple[int, int, int], few: Few) -> None:
    """The same with the middle axis running last, which is long in the first passes."""
    radix, rest, done = sizes
    for q in rose.range(done):
        for j in rose.range(rest):
            found = few([re[k, j, q] for k in range(radix)], [im[k, j, q] for k in range(radix)], j)
            for k in range(radix):
                out[0][j, k, q] = found[k][0]
                out[1][j, k, q] = found[k][1]


def rows(re: Any, im: Any, out: tuple[Any, Any], one: Few) -> None:
    """A transform of each row."""
    for k in rose.range(re.shape[0]):
        found = one(re[k].copy(), im[k].copy())
        out[0][k] = found[0]
        out[1][k] = found[1]
