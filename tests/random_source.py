"""Writes random Python functions that staging takes, as text."""

import random
from collections.abc import Callable

PRELUDE = """
import numpy as np
import rosejit as rose
from rosejit import Mat, Vec
from typing import NamedTuple


class Pair(NamedTuple):
    x: float
    y: float


def squash(x):
    return x / (1.0 + abs(x))


def bump(a, i, x):
    a[i] = squash(a[i] + x)
    return a[i]


def pick(x, y):
    z = x
    if x < y:
        z = y * 0.5
    return z


@rose.jit
def mix(x: float, y: float) -> float:
    z = x - y
    for _ in rose.range(2):
        z = z * 0.5 + x
    return z


@rose.jit
def part(a: Vec["n"], i: int) -> float:
    return a[i] * a[0]


@rose.jit
def moved(a: Vec["n"], x: float) -> Vec["n"]:
    b = a.copy()
    b[0] = squash(b[0] * x)
    return b

"""

SIZE = 3
"""The length of all arrays."""
Choices = list[tuple[float, Callable[[], str]]]
"""Texts to choose from, with weights."""


class Writer:
    """The text of one function in the making."""

    prelude = PRELUDE

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.left = rng.randint(4, 22)
        self.scope: dict[str, list[str]] = {
            "real": ["x", "y"], "int": ["n"], "bool": ["p"], "array": [], "fixed": ["v"], "maybe": [],
            "matrix": [], "pair": [], "list": [], "function": [],
        }  # fmt: skip
        self.fresh = 0
        self.jumps = rng.random() < 0.5
        self.loops = 0
        """How many loops the statement to come is in."""

    # --- names

    def name(self, kind: str) -> str:
        self.fresh += 1
        return f"{kind[0]}{self.fresh}"

    def target(self, kind: str) -> str:
        """A name to bind: an old one, or a new one."""
        old = [name for name in self.scope[kind] if name not in self.indices()]
        if old and self.rng.random() < 0.7:
            return self.rng.choice(old)
        return self.name(kind)

    def indices(self) -> set[str]:
        return {name for name in self.scope["int"] if name.startswith("i")}

    def bind(self, kind: str, name: str) -> None:
        if name not in self.scope[kind]:
            self.scope[kind].append(name)

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # --- expressions

    def real(self, depth: int = 2) -> str:
        return self.choose(self.reals(depth))

    def reals(self, depth: int) -> Choices:
        rng = self.rng
        made: Choices = [
            (4, lambda: rng.choice(self.scope["real"])),
            (1, lambda: str(round(rng.uniform(-2.0, 2.0), 2))),
            (2, self.element),
            (0.5, lambda: f"m[{self.index(2)}, {self.index()}]"),
        ]
        if self.scope["matrix"]:
            made += [(1, lambda: f"{rng.choice(self.scope['matrix'])}[{self.index(2)}, {self.index()}]")]
        if self.scope["list"]:
            made += [(0.7, lambda: f"{rng.choice(self.scope['list'])}[-1]")]
        if self.scope["pair"]:
            made += [(0.7, lambda: f"{rng.choice(self.scope['pair'])}.{rng.choice('xy')}")]
        if depth:
            inner = depth - 1
            made += [
                (3, lambda: f"{self.real(inner)} {rng.choice('+-*')} {self.real(inner)}"),
                (2, lambda: f"squash({self.real(inner)})"),
                (1, lambda: f"({self.real(inner)} if {self.condition(inner)} else {self.real(inner)})"),
                (0.7, lambda: f"pick({self.real(inner)}, {self.real(inner)})"),
                (0.7, lambda: f"mix({self.real(inner)}, {self.real(inner)})"),
                (0.5, lambda: f"max({self.real(inner)}, {self.real(inner)})"),
                (0.5, lambda: f"(-{self.real(inner)})"),
                (0.7, lambda: f"part({self.any_array()}, {self.index()})"),
                (0.5, lambda: f"({self.real(inner)} * ({self.integer(inner)}))"),
                (0.5, self.total),
            ]
        return made

    def total(self) -> str:
        factor = self.rng.choice(self.scope["real"])
        return f"sum({factor} * {self.any_array()}[j] for j in rose.range({SIZE}))"

    def element(self) -> str:
        return f"{self.any_array()}[{self.index()}]"

    def any_array(self) -> str:
        return self.rng.choice(self.scope["array"] * 3 + self.scope["fixed"])

    def index(self, size: int = SIZE) -> str:
        if self.rng.random() < 0.01:
            return self.integer(1)
        i = self.rng.choice(self.scope["int"])
        return self.choose([
            (2, lambda: str(self.rng.randint(-size, size - 1))),
            (2, lambda: f"{i} % {size}"),
            (1, lambda: f"{i} % {size} - {size}"),
        ])  # fmt: skip

    def integer(self, depth: int = 1) -> str:
        return self.choose(self.integers(depth))

    def integers(self, depth: int) -> Choices:
        rng = self.rng
        made: Choices = [
            (3, lambda: rng.choice(self.scope["int"])),
            (1, lambda: str(rng.randint(-3, 5))),
        ]
        if depth:
            inner = depth - 1
            made += [
                (2, lambda: f"({self.integer(inner)} {rng.choice('+-*')} {self.integer(inner)}) % 11"),
                (0.5, lambda: f"{self.integer(inner)} // {rng.randint(1, 4)}"),
                (0.05, lambda: f"{self.integer(inner)} // {self.integer(inner)}"),
                (0.5, lambda: f"({self.integer(inner)} if {self.condition(inner)} else {self.integer(inner)})"),
            ]
        return made

    def condition(self, depth: int = 1) -> str:
        return self.choose(self.conditions(depth))

    def conditions(self, depth: int) -> Choices:
        rng = self.rng
        made: Choices = [
            (4, lambda: f"{self.real(0)} {rng.choice(['<', '<=', '>', '>='])} {self.real(0)}"),
            (1, lambda: f"{self.integer(0)} {rng.choice(['<', '==', '!=', '>='])} {self.integer(0)}"),
            (1, lambda: rng.choice(self.scope["bool"])),
            (1, lambda: f"{self.real(0)} < {self.real(0)} <= {self.real(0)}"),
        ]
        if depth:
            made += [(2, lambda: f"({self.condition(0)} {rng.choice(['and', 'or'])} {self.condition(0)})")]
            made += [(1, lambda: f"(not {self.condition(0)})")]
        return made

    def choose(self, made: Choices) -> str:
        return self.rng.choices([make for _, make in made], [weight for weight, _ in made])[0]()

    # --- statements

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.left <= 0:
                break
            self.left -= 1
            self.statement()
        if not self.lines[-1].startswith("    " * self.depth) or self.lines[-1].rstrip().endswith(":"):
            self.emit("pass")

    def statement(self) -> None:
        choices = self.kinds()
        self.rng.choices([c for _, c in choices], [weight for weight, _ in choices])[0]()

    def kinds(self) -> list[tuple[float, Callable[[], None]]]:
        choices: list[tuple[float, Callable[[], None]]] = [
            (5, self.assign_real), (1.5, self.assign_int), (1, self.assign_bool), (1.5, self.make_array),
            (0.7, self.swap_numbers), (0.7, self.make_tuple), (0.5, self.make_list), (0.4, self.make_function),
            (0.6, self.make_matrix), (0.4, self.walk),
        ]  # fmt: skip
        if self.scope["matrix"]:
            choices += [(2, self.store_matrix), (0.7, self.row)]
        if self.scope["pair"]:
            choices += [(0.7, self.take_pair)]
        if self.scope["list"]:
            choices += [(0.7, self.grow_list)]
        if self.scope["function"]:
            choices += [(1, self.call_function)]
        if self.scope["array"]:
            choices += [(4, self.store), (0.7, self.swap_elements), (0.7, self.call_bump), (0.4, self.swap_arrays)]
        if self.depth < 4:
            choices += [(3, self.branch), (2.5, self.loop), (0.7, self.host_loop)]
        if self.jumps and self.depth > 1:
            choices += [(0.5, self.jump)]
        if self.jumps and self.depth < 4:
            choices += [(1.5, self.while_loop)]
        if self.scope["maybe"] and self.rng.random() < 0.05:
            choices += [(1, self.use_maybe)]
        return choices

    def assign_real(self) -> None:
        if self.rng.random() < 0.3:
            name = self.rng.choice(self.scope["real"])
            self.emit(f"{name} {self.rng.choice('+-*')}= {self.real()}")
        else:
            value = self.real()
            name = self.target("real")
            self.emit(f"{name} = {value}")
            self.bind("real", name)
        if self.rng.random() < 0.5:
            self.emit(f"{name} = squash({name})")

    def assign_int(self) -> None:
        value = self.integer()
        name = self.target("int")
        self.emit(f"{name} = {value}")
        self.bind("int", name)

    def assign_bool(self) -> None:
        value = self.condition()
        name = self.target("bool")
        self.emit(f"{name} = {value}")
        self.bind("bool", name)

    def make_array(self) -> None:
        value = self.choose(
            [
                (2, lambda: f"{self.any_array()}.copy()"),
                (1, lambda: f"np.zeros({SIZE})"),
                (1, lambda: f"np.array([{self.real(1)} * 1.0 for j in rose.range({SIZE})])"),
                (1, lambda: f"np.array([{', '.join(self.real(1) + ' * 1.0' for _ in range(SIZE))}])"),
                (1, lambda: f"moved({self.any_array()}, {self.real(1)})"),
                (1.5, lambda: self.rng.choice(self.scope["array"]) if self.scope["array"] else "v.copy()"),
            ]
        )
        name = self.target("array")
        self.emit(f"{name} = {value}")
        self.bind("array", name)

    def swap_numbers(self) -> None:
        a, b = (self.rng.choice(self.scope["real"]) for _ in range(2))
        self.emit(f"{a}, {b} = {b}, {self.real(1)}")

    def swap_arrays(self) -> None:
        a, b = (self.rng.choice(self.scope["array"]) for _ in range(2))
        self.emit(f"{a}, {b} = {b}, {a}")

    def swap_elements(self) -> None:
        a = self.rng.choice(self.scope["array"])
        i, j = self.index(), self.index()
        self.emit(f"{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]")

    def store(self) -> None:
        a = self.rng.choice(self.scope["array"])
        op = self.rng.choice(["=", "=", "+=", "*="])
        self.emit(f"{a}[{self.index()}] {op} squash({self.real(1)})")

    def call_bump(self) -> None:
        value = f"bump({self.rng.choice(self.scope['array'])}, {self.index()}, {self.real(1)})"
        name = self.target("real")
        self.emit(f"{name} = {value}")
        self.bind("real", name)

    # --- structures

    def make_tuple(self) -> None:
        value = f"Pair({self.real(1)}, {self.real(1)})"
        name = self.target("pair")
        self.emit(f"{name} = {value}")
        self.bind("pair", name)

    def take_pair(self) -> None:
        pair = self.rng.choice(self.scope["pair"])
        names = self.target("real"), self.target("real")
        self.emit(f"{names[0]}, {names[1]} = {pair}")
        for name in names:
            self.bind("real", name)

    def make_list(self) -> None:
        name = self.name("list")
        self.emit(f"{name} = [{self.real(1)}]")
        self.bind("list", name)

    def grow_list(self) -> None:
        name = self.rng.choice(self.scope["list"])
        self.emit(f"{name} = {name} + [{self.real(1)}]" if self.rng.random() < 0.3 else f"{name}[0] = {self.real(1)}")

    def make_function(self) -> None:
        """A closure: it reads names of now and later, and may count in one."""
        name, counter = self.name("function"), self.rng.choice(self.scope["real"])
        counts = self.rng.random() < 0.4
        self.emit(f"def {name}(u):")
        if counts:
            self.emit(f"    nonlocal {counter}")
            self.emit(f"    {counter} = squash({counter} + u)")
        self.emit(f"    return u * {self.rng.choice(self.scope['real'])} + {self.element()}")
        self.bind("function", name)

    def call_function(self) -> None:
        value = f"{self.rng.choice(self.scope['function'])}({self.real(1)})"
        name = self.target("real")
        self.emit(f"{name} = squash({value})")
        self.bind("real", name)

    # --- matrices

    def make_matrix(self) -> None:
        value = self.choose(
            [
                (2, lambda: "m.copy()"),
                (1, lambda: f"np.zeros((2, {SIZE}))"),
                (1, lambda: f"np.array([[{self.real(1)} * 1.0 for j in rose.range({SIZE})] for k in rose.range(2)])"),
            ]
        )
        name = self.target("matrix")
        self.emit(f"{name} = {value}")
        self.bind("matrix", name)

    def store_matrix(self) -> None:
        b = self.rng.choice(self.scope["matrix"])
        self.emit(
            self.choose(
                [
                    (3, lambda: f"{b}[{self.index(2)}, {self.index()}] = squash({self.real(1)})"),
                    (1, lambda: f"{b}[{self.index(2)}][{self.index()}] += squash({self.real(1)})"),
                    (1, lambda: f"{b}[{self.index(2)}] = {self.any_array()}"),
                    (1, lambda: f"{b}[0] = {b}[1]"),
                    (0.5, lambda: f"{b}[{self.index(2)}] = {b}[{self.index(2)}] * 0.5"),
                ]
            )
        )

    def row(self) -> None:
        """A row under a name of its own: writing it writes the matrix."""
        name = self.target("array") if self.rng.random() < 0.3 else self.name("array")
        self.emit(f"{name} = {self.rng.choice(self.scope['matrix'])}[{self.index(2)}]")
        self.bind("array", name)

    def walk(self) -> None:
        name = self.target("real")
        if name in self.scope["real"]:
            self.emit(f"for u in {self.any_array()}:")
            self.emit(f"    {name} = squash({name} + u * {self.rng.choice(self.scope['real'])})")

    def jump(self) -> None:
        words = ["return", "break", "continue"] if self.loops else ["return"]
        word = self.rng.choice(words)
        self.emit(f"if {self.condition()}:")
        self.emit("    " + (self.result() if word == "return" else word))

    def result(self) -> str:
        total = f"sum({self.any_array()}[j] for j in rose.range({SIZE}))"
        return f"return {self.real(1)} * 1.0, {self.real(1)} + {total}, {self.integer()}"

    def use_maybe(self) -> None:
        self.emit(f"x = {self.rng.choice(self.scope['maybe'])} * 0.5")

    # --- blocks

    def body(self, *indices: str) -> dict[str, list[str]]:
        """A block; the scope at its end."""
        outer = {kind: list(names) for kind, names in self.scope.items()}
        for name in indices:
            self.bind("int", name)
        self.depth += 1
        start = len(self.lines)
        self.statements(self.rng.randint(1, 4))
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        inner, self.scope = self.scope, outer
        return inner

    def branch(self) -> None:
        self.emit(f"if {self.condition()}:")
        ends = [self.body()]
        if self.rng.random() < 0.3:
            self.emit(f"elif {self.condition()}:")
            ends.append(self.body())
        if self.rng.random() < 0.6:
            self.emit("else:")
            ends.append(self.body())
            for kind in ("real", "int", "bool", "array", "matrix", "pair"):
                for name in set.intersection(*(set(end[kind]) for end in ends)):
                    self.bind(kind, name)
        self.some(ends)

    def some(self, ends: list[dict[str, list[str]]]) -> None:
        """Names that are set on some paths only."""
        for end in ends:
            for name in end["real"]:
                if name not in self.scope["real"]:
                    self.bind("maybe", name)

    def loop(self) -> None:
        i = self.name("i")
        turns = self.choose(
            [
                (2, lambda: str(self.rng.randint(0, 4))),
                (1, lambda: f"{self.rng.choice(self.scope['int'])} % 4"),
                (1, lambda: f"1, {self.rng.randint(1, 5)}"),
                (0.5, lambda: f"{self.rng.randint(0, 4)}, -1, -1"),
            ]
        )
        self.emit(f"for {i} in rose.range({turns}):")
        self.repeated(i)

    def host_loop(self) -> None:
        i = self.name("i")
        self.emit(f"for {i} in range({self.rng.randint(0, 3)}):")
        self.repeated(i)

    def while_loop(self) -> None:
        i = self.name("i")
        self.emit(f"{i} = {self.choose([(1, lambda: '0'), (1, lambda: 'n % 4')])}")
        self.emit(f"while {i} < 4 and {self.condition()}:")
        self.emit(f"    {i} += 1")
        self.repeated(i)

    def repeated(self, index: str) -> None:
        """The body of a loop, and perhaps what follows when nothing leaves it."""
        self.loops += 1
        ends = [self.body(index)]
        self.loops -= 1
        if self.jumps and self.rng.random() < 0.1:
            self.emit("else:")
            ends.append(self.body())
        self.some(ends)

    def text(self) -> str:
        self.lines.append("@rose.jit")
        self.lines.append(
            'def f(x: float, y: float, n: int, p: bool, v: Vec["k"], m: Mat[2, "k"]) -> tuple[float, float, int]:'
        )
        if self.rng.random() < 0.7:
            self.emit("a0 = v.copy()")
            self.bind("array", "a0")
        self.statements(30)
        self.emit(self.result())
        return self.prelude + "\n".join(self.lines) + "\n"
