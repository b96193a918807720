"""Random Python functions of numbers and arrays: `python -m tests.frontend.generate 1000` compares that many with CPython."""

import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rosejit.errors import RoseIndexError, ShapeError, StagingTypeError, UnboundStagedName, UnsupportedSyntax
from rosejit.frontend.hints.hints import Mat, Vec
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import define, run, same, stage


@dataclass(frozen=True)
class Pair:
    u: float
    v: float


class Named(NamedTuple):
    u: float
    v: Any


PRELUDE = """
def helper(v):
    if v > 2: return v - 2
    w = v
    while w < 0: w = w + 1
    return w
def touch(arr, v):
    if v > 0: arr[0] = arr[0] + v
    else: arr[1] = v
"""
SCOPE = {"rose": rose, "np": np, "Vec": Vec, "Mat": Mat, "Pair": Pair, "Named": Named}
A, B, M = [1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]]
INPUTS = [
    (1.5, 0.5, 2, A, B, M),
    (-1.0, 2.0, 0, [0.0, -1.0, 1.0], [1.0, 1.0, 1.0], M),
    (0.25, 3.0, 1, [1.0, -1.0, 1.0], [2.0, 0.0, 0.0], M),
]


class Writer:
    """The lines of a function in the making; `depth` counts the blocks that are open."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        self.ints = ["n"]

    def write(self, *lines: str) -> None:
        self.lines += ["    " * (self.depth + 1) + line for line in lines]

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def suite(self, *first: str, lines: int = 0) -> None:
        self.depth += 1
        self.write(*first)
        for _ in range(lines or self.random.randint(1, 3)):
            self.statement()
        self.depth -= 1

    def statement(self) -> None:
        raise AssertionError


class Flow(Writer):
    """Programs of control flow: branches, loops of all kinds, ways out of them, names that may be unbound, closures."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.numbers = ["x", "y", "n"]
        self.maybe: list[str] = []
        self.loops = 0
        self.closure = self.random.random() < 0.3

    def number(self, deep: int = 0) -> str:
        r = self.random.random()
        if deep > 2 or r < 0.4:
            return self.pick(*self.numbers, *(self.maybe if self.random.random() < 0.05 else []))
        if r < 0.55:
            return self.pick("0", "1", "2", "0.5", "1.5", "-1", "3.0")
        if r < 0.75:
            return f"({self.number(deep + 1)} {self.pick('+', '-', '*')} {self.number(deep + 1)})"
        if r < 0.82:
            return f"({self.number(deep + 1)} if {self.condition(deep + 1)} else {self.number(deep + 1)})"
        if r < 0.9:
            return f"{self.pick('a', 'b')}[{self.index()}]"
        if r < 0.94:
            return f"{self.pick('min', 'max')}({self.number(deep + 1)}, {self.number(deep + 1)})"
        if r < 0.97:
            return f"helper({self.number(deep + 1)})"
        return f"sum(a[q] * {self.number(2)} for q in {self.pick('rose.range(3)', 'range(3)', 'rose.range(n)')})"

    def index(self) -> str:
        return self.pick("0", "1", "2", "-1", "n - 1", *self.ints) if self.random.random() < 0.99 else "3"

    def condition(self, deep: int = 0) -> str:
        r = self.random.random()
        if deep > 2 or r < 0.6:
            return f"{self.number(deep + 1)} {self.pick('<', '>', '<=', '>=', '==', '!=')} {self.number(deep + 1)}"
        if r < 0.8:
            return f"({self.condition(deep + 1)} {self.pick('and', 'or')} {self.condition(deep + 1)})"
        if r < 0.9:
            return f"not {self.condition(deep + 1)}"
        if r < 0.96:
            return f"{self.number(2)} < {self.number(2)} <= {self.number(2)}"
        return self.pick("True", "False", "n > 2")

    def target(self) -> str:
        if self.random.random() < 0.35 and len(self.numbers) < 9:
            name = self.fresh("v")
            (self.maybe if self.depth else self.numbers).append(name)
            return name
        return self.pick(*[name for name in self.numbers if name != "n"])

    def statement(self) -> None:
        r = self.random.random()
        if r < 0.34:
            value = self.number()
            self.write(f"{self.target()} = {value}")
        elif r < 0.42:
            name = self.pick(*[name for name in self.numbers if name != "n"])
            self.write(f"{name} {self.pick('+=', '-=', '*=')} {self.number(1)}")
        elif r < 0.52:
            self.write(f"{self.pick('a', 'b')}[{self.index()}] {self.pick('=', '+=')} {self.number(1)}")
        elif r < 0.55:
            self.write(self.pick("a, b = b, a", "touch(a, x)", "a = a * 2 + b", "b = a.copy()", "u = a", "a += 1"))
        elif r < 0.58 and self.closure:
            self.write(f"bump({self.number(2)})")
        elif r < 0.62 and self.loops:
            self.write(f"if {self.condition()}: {self.pick('break', 'continue')}")
        elif r < 0.65 and self.depth:
            self.write(f"if {self.condition()}: return {self.number(1)}, {self.number(1)}, a, b")
        elif r < 0.8 and self.depth < 4:
            self.branch()
        elif r < 0.92 and self.depth < 3:
            self.loop()
        elif self.depth < 3:
            self.repetition()
        else:
            self.write("pass")

    def branch(self) -> None:
        self.write(f"if {self.condition()}:")
        self.suite()
        if self.random.random() < 0.3:
            self.write(f"elif {self.condition()}:")
            self.suite()
        if self.random.random() < 0.6:
            self.write("else:")
            self.suite()

    def loop(self) -> None:
        index = self.fresh("i")
        ranges = (
            "rose.range(3)",
            "rose.range(n)",
            "range(2)",
            "range(n)",
            "rose.range(1, n)",
            "rose.range(n, 0, -1)",
            "a",
        )
        items = self.pick(*ranges)
        self.write(f"for {index} in {items}:")
        self.loops += 1
        self.numbers.append(index)
        self.ints += [index] if items != "a" else []
        self.suite()
        self.numbers.remove(index)
        self.ints = [name for name in self.ints if name != index]
        self.maybe.append(index)
        self.loops -= 1
        if self.random.random() < 0.2:
            self.write("else:")
            self.suite(lines=1)

    def repetition(self) -> None:
        counter = self.fresh("c")
        self.write(f"{counter} = 0")
        forever = self.random.random() < 0.4
        more = self.pick("", f"and {self.condition(2)}")
        self.write("while True:" if forever else f"while {counter} < {self.pick('3', 'n', '2')} {more}:")
        self.loops += 1
        first = [f"{counter} += 1"] + [f"if {counter} > {self.pick('3', 'n')}: break"] * forever
        self.suite(*first, lines=self.random.randint(1, 2))
        self.loops -= 1

    def text(self) -> str:
        self.write("a = a.copy(); b = b.copy()")
        if self.closure:
            body = self.pick("t = t + v", "t = t * 0.5 + v if v > 1 else t")
            self.write("t = 0.0", "def bump(v):", "    nonlocal t", f"    {body}")
            self.numbers.append("t")
        for _ in range(self.random.randint(3, 7)):
            self.statement()
        self.write(f"return {self.number()}, {self.pick(*self.numbers)}, a, b")
        return "\n".join(self.lines)


class Arrays(Writer):
    """Programs of arrays: arithmetic with broadcasting, views, writes, folds, products, structures."""

    SHAPES = ((), (3,), (2,), (2, 3))

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shapes: dict[str, tuple[int, ...]] = {"m": (2, 3), "a": (3,), "b": (3,), "x": (), "y": ()}

    def of(self, *shapes: tuple[int, ...], deep: int = 0) -> str:
        """An expression of one of the shapes."""
        shape = self.random.choice(shapes)
        names = [name for name, own in self.shapes.items() if own == shape]
        if names and (deep > 2 or self.random.random() < 0.5):
            return self.pick(*names)
        return self.pick(*self.options(shape, deep + 1))

    def options(self, shape: tuple[int, ...], d: int) -> tuple[str, ...]:
        if d > 3:
            return {(): ("0.5", "2.0"), (3,): ("a",), (2,): ("m[:, 0]",), (2, 3): ("m",)}[shape]
        s, v, w, m = (lambda shape=shape: self.of(shape, deep=d) for shape in self.SHAPES)
        op = self.pick("+", "-", "*")
        if shape == ():
            held = self.pick(*[name for name, own in self.shapes.items() if own])
            at = ", ".join(self.index(n) for n in self.shapes[held])
            return ("0.5", "3", f"({s()} {op} {s()})", f"{held}[{at}]", f"{held}.{self.fold()}()", f"({v()} @ {v()})",
                    f"({s()} if {s()} > {s()} else {s()})")  # fmt: skip
        if shape == (3,):
            return (
                f"({v()} {op} {self.of((3,), (), deep=d)})", f"({s()} {op} {v()})", f"m[{self.index(2)}]", f"{v()}[::-1]",
                f"m.{self.fold()}(axis=0)", f"np.where({v()} > {v()}, {v()}, {s()})", f"np.array([{s()}, {s()}, {s()}])",
                f"np.array([{s()} * q + {v()}[q] for q in {self.pick('rose.range(3)', 'range(3)')}])", f"np.abs({v()})",
                f"np.maximum({v()}, {v()})", f"-{v()}", f"(m.T @ {w()})", f"np.concatenate([{w()}, np.array([{s()}])])",
                f"{v()}.copy()", "np.ones(3)", "np.arange(3.0)", f"m.T[:, {self.index(2)}]", f"np.cumsum({v()})",
            )  # fmt: skip
        if shape == (2,):
            return (f"m[:, {self.index(3)}]", f"{v()}[1:]", f"{v()}[::2]", f"(m @ {v()})", f"({w()} + {w()})", "m.sum(axis=1)",
                    f"m[:, ::2][{self.index(2)}]")  # fmt: skip
        return (
            f"({m()} {op} {self.of((2, 3), (3,), (), deep=d)})", f"np.outer({w()}, {v()})", "np.zeros((2, 3))", "m[::-1]",
            f"np.stack([{v()}, {v()}])", "m.T.T", f"np.array([[{s()} + p * q for q in rose.range(3)] for p in rose.range(2)])",
            f"({w()}[:, None] * {v()})",
        )  # fmt: skip

    def fold(self) -> str:
        return self.pick("sum", "max", "min", "mean")

    def index(self, n: int) -> str:
        return self.pick(str(self.random.randrange(-n, n)), *(self.ints if n == 3 else ["n % 2"]))

    def statement(self) -> None:
        r = self.random.random()
        writes = (
            f"{self.pick('a', 'b')}[{self.index(3)}] {self.pick('=', '+=', '*=')} {self.of(())}",
            f"m[{self.index(2)}, {self.index(3)}] {self.pick('=', '+=')} {self.of(())}",
            f"m[{self.index(2)}] {self.pick('=', '+=')} {self.of((3,), ())}",
            f"m[:, {self.index(3)}] {self.pick('=', '-=')} {self.of((2,))}",
            f"{self.pick('a', 'b')}[{self.pick('1:', '0:2', '::2')}] {self.pick('=', '+=')} {self.of((2,))}",
            f"{self.pick('a', 'b')} {self.pick('+=', '*=')} {self.of((3,), ())}",
            f"row = m[{self.index(2)}]; row[{self.index(3)}] = {self.of(())}",
            f"p = Pair({self.of(())}, {self.of(())}); x = p.u - p.v",
            f"t = Named({self.of(())}, {self.of((3,))}); y = t.u + t.v[{self.index(3)}]",
            f"x, y = y, {self.of(())}",
            f"L = [{self.of(())}, {self.of(())}]; L.append(L[0] * 2); x = sum(L)",
        )
        if r < 0.25:
            self.assignment()
        elif r < 0.8:
            self.write(self.pick(*writes))
        elif r < 0.9 and self.depth < 3:
            self.write(f"if {self.of(())} > {self.of(())}:")
            self.suite()
            if self.random.random() < 0.6:
                self.write("else:")
                self.suite()
        elif self.depth < 2:
            index = self.fresh("i")
            self.write(f"for {index} in {self.pick('rose.range(3)', 'rose.range(n + 1)', 'range(2)')}:")
            self.ints.append(index)
            self.suite()
            self.ints.remove(index)
        else:
            self.write("pass")

    def assignment(self) -> None:
        shape = self.random.choice(self.SHAPES)
        value = self.of(shape)
        names = [name for name, own in self.shapes.items() if own == shape]
        if not names or (self.depth == 0 and self.random.random() < 0.5):
            name = self.fresh("v")
            if self.depth == 0:
                self.shapes[name] = shape
        else:
            name = self.pick(*names)
        self.write(f"{name} = {value}" + " + 0.0" * (name in ("m", "a", "b")))

    def text(self) -> str:
        self.write("a = a.copy(); b = b.copy(); m = m.copy()")
        for _ in range(self.random.randint(3, 7)):
            self.statement()
        self.write(f"return {self.pick(*self.shapes)}, x, y, m, a, b")
        return "\n".join(self.lines)


def program(kind: type[Flow] | type[Arrays], seed: int) -> str:
    header = "def f(x: float, y: float, n: int, a: Vec[3], b: Vec[3], m: Mat[2, 3]):\n"
    return PRELUDE + header + kind(seed).text() + "\n"


def outcome(text: str) -> str:
    """How the staged program compares with CPython: "equal", "refused", or "fault" where staging already found it.

    Raises AssertionError where they differ.
    """
    f = define(text, **SCOPE)
    arguments = [tuple(np.array(v) if isinstance(v, list) else v for v in given) for given in INPUTS]
    try:
        staged = stage(f, *arguments[0])
    except (RoseIndexError, UnboundStagedName):
        return "fault"
    except (UnsupportedSyntax, StagingTypeError, ShapeError):
        return "refused"
    for given in arguments:
        wanted, found = _value(lambda g=given: f(*g)), _value(lambda g=given: run(staged, f, *g))
        if isinstance(wanted, Exception):
            kind = NameError if isinstance(wanted, NameError) else type(wanted)
            assert isinstance(found, kind), f"{given}: {found!r} instead of {wanted!r}\n{text}"
        else:
            assert not isinstance(found, Exception), f"{given}: {found!r} instead of {wanted!r}\n{text}"
            assert all(close(p, q) for p, q in zip(found, wanted, strict=True)), (
                f"{given}: {found} instead of {wanted}\n{text}"
            )
    return "equal"


def close(p: Any, q: Any) -> bool:
    """NumPy's reductions may sum in any order, and an Int may have become a Real."""
    return bool(np.allclose(p, q, rtol=1e-9, atol=1e-12, equal_nan=True)) or same(p, q)


def _value(make: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except (IndexError, NameError) as error:
            return error


def main() -> None:
    count, first = int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])
    for kind in (Flow, Arrays):
        print(kind.__name__, dict(Counter(outcome(program(kind, seed)) for seed in range(first, first + count))))


if __name__ == "__main__":
    main()
