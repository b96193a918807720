"""Outlining: clones up to constants become one function, which is given them."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec, interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import reachable, size
from rosejit.ir.types import Scalar
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.pipeline import optimise, prepared
from rosejit.transforms.straightline.merge_clones import LEAST, MOST, merge_functions


def clone(name: str, at: int, factor: str, last: str, lets: int = LEAST) -> str:
    """A function of an array: it reads two elements, and goes on with constants."""
    middle = " ".join([f"let b{k}: Real = {f'b{k - 1}' if k else 'a'} * {factor} in" for k in range(lets - 3)])
    start = f"let a: Real = x@[{at}] in let c: Real = x[2] in"
    return f"def {name}(x: [4]Real): Real = {start} {middle} let d: Real = c + {last} in d\n"


def caller(*names: str) -> str:
    calls = " ".join([f"let y{k}: Real = {name}(x) in" for k, name in enumerate(names)])
    sums = " ".join([f"let s{k}: Real = {f's{k - 1}' if k else '0.0'} + y{k} in" for k in range(len(names))])
    return f"def f(x: [4]Real): Real = {calls} {sums} s{len(names) - 1}"


def outlined(text: str) -> tuple[ir.Function, ir.Function, list[ir.Function]]:
    """The program before and after, and what is called after; verified, and the same bits."""
    f = parse(text)
    made = merge_functions(f)
    verify_program(made)
    x = [0.5, -1.25, 2.0, 0.1]
    assert repr(interp.run(made, [x])) == repr(interp.run(f, [x]))
    return f, made, [g for g in reachable(made) if g is not made]


def test_constants_that_differ_are_parameters() -> None:
    _, made, (g,) = outlined(clone("g", 0, "1.5", "7.0") + clone("h", 3, "2.5", "7.0") + caller("g", "h", "g"))
    assert [p.type.name for p in g.params[1:] if isinstance(p.type, Scalar)] == ["Int", "Real"]
    assert len(g.params) == 3, "one for all that differ in the same way, none for what is the same"
    assert made.body is not None
    given = [let.expr.args[1:] for let in made.body.lets if isinstance(let.expr, ir.Call)]
    assert given == [(ir.integer(0), ir.real(1.5)), (ir.integer(3), ir.real(2.5)), (ir.integer(0), ir.real(1.5))]


def test_zeros_have_signs() -> None:
    _, _, (g,) = outlined(clone("g", 0, "1.5", "0.0") + clone("h", 0, "1.5", "-0.0") + caller("g", "h"))
    assert len(g.params) == 2


@pytest.mark.parametrize(
    "other",
    [
        clone("h", 0, "1.5", "7.0", LEAST + 1),
        clone("h", 0, "1.5", "7.0").replace("c + 7.0", "c - 7.0"),
        clone("h", 0, "1.5", "7.0").replace("c + 7.0", "a + 7.0"),
        clone("h", 0, "1.5", "7.0").replace("x@[0]", "x@[2]").replace("x[2]", "x@[0]").replace("c + 7.0", "d0 + 7.0")
        .replace("let c", "let d0"),
    ],
    ids=["longer", "another op", "another operand", "the same"],
)  # fmt: skip
def test_only_clones_are_one(other: str) -> None:
    f, made, callees = outlined(clone("g", 0, "1.5", "7.0") + other + caller("g", "h"))
    same = "d0" in other
    assert (made is f) is not same
    assert len(callees) == (1 if same else 2)


def test_what_is_short_stays() -> None:
    short = LEAST - 1
    f, made, _ = outlined(clone("g", 0, "1.5", "7.0", short) + clone("h", 1, "1.5", "7.0", short) + caller("g", "h"))
    assert made is f


def test_an_index_that_may_fail_stays() -> None:
    texts = [clone(name, 0, "1.5", "7.0").replace("x[2]", f"x[{at}]") for name, at in (("g", 2), ("h", 4))]
    f = parse("".join(texts) + caller("g", "h"))
    assert merge_functions(f) is f


def test_too_many_parameters_are_none() -> None:
    def long(name: str, start: float) -> str:
        lets = [f"let b{k}: Real = {f'b{k - 1}' if k else 'a'} * {start + k * k / 64} in" for k in range(MOST + 1)]
        return f"def {name}(x: [4]Real): Real = let a: Real = x@[0] in {' '.join(lets)} b{MOST}\n"

    f = parse(long("g", 0.5) + long("h", 0.75) + caller("g", "h"))
    assert merge_functions(f) is f


def springs(n: int) -> rose.Function:
    """The energy of a chain of springs, each a decorated function of its own."""

    def spring(i: int, rest: float) -> Callable[..., float]:
        @rose.jit
        def spring(x: Vec["n"]) -> float:
            dx, dy = x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]
            stretched = math.sqrt(dx * dx + dy * dy) - rest
            return stretched * stretched + 0.01 * math.sin(dx) + max(dy, 0.0)

        return spring

    parts = tuple([spring(i, 1.0 + 0.25 * i) for i in range(n)])

    @rose.jit
    def energy(x: Vec["n"]) -> float:
        return sum([part(x) for part in parts])

    return energy


def test_clones_are_differentiated_once() -> None:
    x = np.linspace(0.1, 2.0, 22) ** 2
    energy = springs(10)
    base = prepared(energy.lower(x).ir.function)
    assert [g.name for g in reachable(base)] == ["spring", "energy"]
    many, few = (optimise(rose.grad(springs(n)).lower(x[: 2 * n + 2]).ir.function)[0] for n in (10, 5))
    sizes = [sum(map(size, reachable(f))) for f in (many, few)]
    assert sizes[0] < 1.5 * sizes[1]
    assert [g.name for g in reachable(many)] == ["back_spring", "grad_energy"]


def test_the_gradient_of_clones() -> None:
    """Against the mathematics of springs."""
    x = np.linspace(0.1, 2.0, 22) ** 2
    points = x.reshape(-1, 2)
    d = points[1:] - points[:-1]
    length = np.sqrt((d * d).sum(1))
    force = (2 * (length - 1.0 - 0.25 * np.arange(10)) / length)[:, None] * d
    force[:, 0] += 0.01 * np.cos(d[:, 0])
    force[:, 1] += d[:, 1] > 0
    wanted = np.zeros_like(points)
    wanted[1:] += force
    wanted[:-1] -= force
    energy = springs(10)
    assert np.allclose(rose.grad(energy)(x), wanted.ravel(), rtol=1e-13, atol=1e-13)
    rose.check_grads(energy, (x,), order=2)
