"""Random straight-line programs in which every op counts and no value or tangent runs away, in several languages."""

import linecache
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import REAL
from rosejit.ops import PRIMITIVES

INPUTS = 10
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
CHOICES = ("add", "add", "sub", "mul", "mul", "div", "sin", "cos")
_NEAR = 40


@dataclass(slots=True)
class Dual:
    """A value and its gradient."""

    value: float
    slopes: list[float]

    @property
    def tame(self) -> bool:
        """Neither large nor without slope: a gradient through thousands of such ops stays finite and normal."""
        return abs(self.value) < 4.0 and 1e-3 < max(map(abs, self.slopes)) < 1e3


def _dual(op: str, a: Dual, b: Dual) -> Dual:
    x, y = a.value, b.value
    match op:
        case "add":
            return _along(x + y, a, 1.0, b, 1.0)
        case "sub":
            return _along(x - y, a, 1.0, b, -1.0)
        case "mul":
            return _along(x * y, a, y, b, x)
        case "div" if abs(y) < 0.25:
            return Dual(math.inf, a.slopes)
        case "div":
            return _along(x / y, a, 1.0 / y, b, -x / y / y)
        case "sin":
            return _along(math.sin(x), a, math.cos(x), b, 0.0)
        case _:
            return _along(math.cos(x), a, -math.sin(x), b, 0.0)


def _along(value: float, a: Dual, by_a: float, b: Dual, by_b: float) -> Dual:
    return Dual(value, [by_a * s + by_b * t for s, t in zip(a.slopes, b.slopes, strict=True)])


@dataclass(slots=True, frozen=True)
class Program:
    """`steps` are an op and two earlier values by number, the inputs first; the last one is the result, with `gradient`
    at `point`."""

    steps: tuple[tuple[str, int, int], ...]
    gradient: tuple[float, ...]
    name: str = "f"

    @property
    def ops(self) -> int:
        return len(self.steps)

    @property
    def point(self) -> list[float]:
        """Where to evaluate it."""
        return [0.5 + 0.1 * k for k in range(INPUTS)]

    def python(self) -> str:
        """A Python function of ten numbers, one line an op."""
        params = ", ".join(f"v{k}: float" for k in range(INPUTS))
        lines = [f"def {self.name}({params}) -> float:"]
        for k, (op, a, b) in enumerate(self.steps, INPUTS):
            lines.append(f"    v{k} = v{a} {SYMBOLS[op]} v{b}" if op in SYMBOLS else f"    v{k} = math.{op}(v{a})")
        return "\n".join([*lines, f"    return v{INPUTS + self.ops - 1}", ""])

    def lines(self) -> Callable[..., float]:
        """That function."""
        return defined(self.python(), self.name)

    def table(self, sin: Callable[[Any], Any] = math.sin, cos: Callable[[Any], Any] = math.cos) -> Callable[..., Any]:
        """A Python function that makes the same ops from a table, as a program that makes programs does."""
        steps = self.steps

        def f(
            v0: float, v1: float, v2: float, v3: float, v4: float,
            v5: float, v6: float, v7: float, v8: float, v9: float,
        ) -> float:  # fmt: skip
            values = [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9]
            for op, a, b in steps:
                if op == "add":
                    values.append(values[a] + values[b])
                elif op == "sub":
                    values.append(values[a] - values[b])
                elif op == "mul":
                    values.append(values[a] * values[b])
                elif op == "div":
                    values.append(values[a] / values[b])
                elif op == "sin":
                    values.append(sin(values[a]))
                else:
                    values.append(cos(values[a]))
            return values[-1]

        return f

    def error(self, gradient: Sequence[Any]) -> float:
        """How far a gradient at `point` is off, relative to its largest entry."""
        off = [abs(float(a) - b) for a, b in zip(gradient, self.gradient, strict=True)]
        return max(off) / max(map(abs, self.gradient))

    def function(self) -> ir.Function:
        """A function of the IR."""
        builder = Builder()
        values: list[ir.Var] = [ir.Var(REAL, f"x{k}") for k in range(INPUTS)]
        params = tuple(values)
        for op, a, b in self.steps:
            args = (values[a], values[b]) if op in SYMBOLS else (values[a],)
            values.append(builder.apply(PRIMITIVES[op], *args))
        return ir.Function(self.name, params, (REAL,), builder.block(values[-1]))


def random_program(ops: int, seed: int = 0) -> Program:
    """A program of exactly so many ops, all of which the result depends on."""
    rng = random.Random(seed)
    values = [Dual(0.5 + 0.1 * k, [float(k == i) for i in range(INPUTS)]) for k in range(INPUTS)]
    unread = list(range(INPUTS))
    steps: list[tuple[str, int, int]] = []
    for left in range(ops, 0, -1):
        a = unread.pop(rng.randrange(len(unread)))
        joins = left <= len(unread)
        for op, b in _candidates(rng, len(values), unread, joins):
            found = _dual(op, values[a], values[b])
            if found.tame:
                break
        if joins:
            unread.remove(b)
        steps.append((op, a, b))
        unread.append(len(values))
        values.append(found)
    return Program(tuple(steps), tuple(values[-1].slopes), f"f{ops}_{seed}")


def _candidates(rng: random.Random, values: int, unread: list[int], joins: bool) -> Iterator[tuple[str, int]]:
    """Ops and second operands to try; towards the end those that bring unread values together."""
    for _ in range(12):
        if joins:
            yield rng.choice(("add", "sub")), rng.choice(unread)
        else:
            near = rng.random() < 0.7
            yield rng.choice(CHOICES), rng.randrange(max(0, values - _NEAR) if near else 0, values)
    yield ("add", rng.choice(unread)) if joins else ("sin", 0)


def defined(source: str, name: str, scope: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The function `name` of `source`, whose lines tools that look for them find."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = {"math": math, **(scope or {})}
    exec(compile(source, file, "exec"), found)
    return found[name]
