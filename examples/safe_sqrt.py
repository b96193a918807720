"""A square root whose derivative stays finite at zero: listing 6 of the Rose paper.

The function is transparent; its custom derivative replaces the one that would have been derived.
"""

import math

import rosejit as rose


@rose.jit
def sqrt(x: float) -> float:
    return math.sqrt(x)


@sqrt.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = sqrt(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


@rose.jit
def length(x: float, y: float) -> float:
    return sqrt(x * x + y * y)


@rose.jit
def plain_length(x: float, y: float) -> float:
    return math.sqrt(x * x + y * y)


if __name__ == "__main__":
    slope = rose.grad(sqrt)
    curvature = rose.grad(slope)
    for x in (0.0, 1e-12, 4.0):
        print(f"at {x:<6g} sqrt {sqrt(x):<8g} first derivative {slope(x)!r:<19} second {curvature(x)!r}")
    assert slope(0.0) == slope(1e-12) == 49999.99999999999
    assert (slope(4.0), curvature(4.0), curvature(0.0)) == (0.25, -0.03125, 0.0)

    assert rose.grad(length, (0, 1))(3.0, 4.0) == (0.6000000000000001, 0.8)
    assert rose.grad(length, (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert all(map(math.isnan, rose.grad(plain_length, (0, 1))(0.0, 0.0)))  # 0 * inf
    print("gradient of the length of (0, 0):", rose.grad(length, (0, 1))(0.0, 0.0))
