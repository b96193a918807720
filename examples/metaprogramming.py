"""Python as the metaprogramming language: figure 4 and listing 9 of the Rose paper.

Code that touches no number of the call (making functions and classes, recursion over nested data) runs in Python, once,
while the function is compiled.
"""

import math
from dataclasses import dataclass

import rosejit as rose
from rosejit import Vec


def over(x):
    """A new compiled function for each `x`, which it holds as a constant."""

    @rose.jit
    def quotient(y: float) -> float:
        return x / y

    return quotient


f0, f1, f2 = over(5), over(7), over(5)


@rose.jit
def h(z: float) -> float:
    return f1(z) + f1(z)


@dataclass(frozen=True)
class Box:
    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True)
class Circle:
    x: float
    y: float
    r: float


@dataclass(frozen=True)
class Group:
    members: list


@rose.jit
def circle_box(circle: Circle) -> Box:
    return Box(circle.x - circle.r, circle.x + circle.r, circle.y - circle.r, circle.y + circle.r)


def group_box(group):
    boxes = [box(shape) for shape in group.members]
    return Box(
        min(b.left for b in boxes),
        max(b.right for b in boxes),
        min(b.bottom for b in boxes),
        max(b.top for b in boxes),
    )


def box(shape):
    """The bounding box of a shape; which kind it is is settled in Python, where it stands is not."""
    match shape:
        case Box():
            return shape
        case Circle():
            return circle_box(shape)
        case Group():
            return group_box(shape)


def water(x, y, bond):
    """An oxygen and two hydrogens `bond` away, 104.5 degrees apart."""
    half = math.radians(104.5) / 2
    dx, dy = bond * math.sin(half), bond * math.cos(half)
    return Group([Circle(x, y, 0.6), Circle(x - dx, y - dy, 0.3), Circle(x + dx, y - dy, 0.3)])


@rose.jit
def area(x: Vec["n"], y: Vec["n"], bond: float) -> float:
    """The area of the bounding box of molecules at (x, y) and a label under them."""
    molecules = [water(x[i], y[i], bond) for i in range(len(x))]
    b = box(Group([Group(molecules), Box(0.0, 2.0, -1.5, -1.25)]))
    return (b.right - b.left) * (b.top - b.bottom)


if __name__ == "__main__":
    for f in (f0, f1, f2):
        print(rose.make_ir(f)(2.0))
    program = str(rose.make_ir(h)(2.0))
    print(program)
    assert program.count("def ") == 2  # h, and the one function it reaches
    assert program.count("= quotient(") == 2  # neither is copied into its caller
    assert [f(2.0) for f in (f0, f1, f2)] == [2.5, 3.5, 2.5]
    assert rose.grad(h)(2.0) == -3.5

    place = [0.0, 3.0, 1.0], [0.0, 0.5, 2.0], 1.0
    dx, dy, dbond = rose.grad(area, (0, 1, 2))(*place)
    print("area", area(*place), "\ngradient", dx, dy, dbond)
    # Molecule 0 is the leftmost, 1 the rightmost, 2 the highest; the label is the lowest.
    half = math.radians(104.5) / 2
    width, height = 3.0 + 2 * math.sin(half) + 0.6, 2.6 + 1.5
    assert math.isclose(area(*place), width * height, rel_tol=1e-15)
    assert [*dx] == [-height, height, 0.0]
    assert all(map(math.isclose, dy, [0.0, 0.0, width]))
    assert math.isclose(dbond, 2 * math.sin(half) * height, rel_tol=1e-14)
