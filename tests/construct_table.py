"""Writes random Python functions with more of Python: `match`, walrus, slices, whole arrays, recursion, raises."""

import random
from collections.abc import Callable

from tests import random_source
from tests.random_source import SIZE, Choices, Writer

PRELUDE = """
import contextlib
import dataclasses
import functools


class State(NamedTuple):
    a: object
    x: float


@dataclasses.dataclass
class Point:
    x: float
    y: float


SCALE = 0.75


@rose.jit
def power(x: float, n: int) -> float:
    if n <= 0:
        return 1.0
    return 0.5 * x * power(x, n - 1)


@rose.jit
def first(a: Vec["n"], x: float) -> int:
    for i in rose.range(len(a)):
        if a[i] > x:
            return i
    return -1


@rose.jit
def halved(x: float, bound: float) -> tuple[float, int]:
    turns = 0
    while abs(x) > bound and turns < 6:
        x = x / 2.0
        turns += 1
    return x, turns


def find(a, x):
    i = 0
    while True:
        if i == len(a) or a[i] < x:
            return i - 1
        i += 1


def spread(a, x, scale=SCALE, *rest, shift=0):
    for i in rose.range(len(a)):
        if a[i] < x:
            continue
        a[i] = squash(scale * a[i] - x)
        if i == 1 + shift:
            break
    return a[-1]


def deep(x, levels):
    return x if levels == 0 else squash(deep(x, levels - 1) + SCALE)

"""


class Constructs(Writer):
    """Adds to what a `Writer` writes."""

    prelude = random_source.PRELUDE + PRELUDE

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.scope |= {"wide": [], "part": [], "state": [], "table": [], "object": []}

    # --- expressions

    def reals(self, depth: int) -> Choices:
        rng, scope = self.rng, self.scope
        made = super().reals(depth)
        if scope["part"]:
            made += [(0.7, lambda: f"{rng.choice(scope['part'])}[{rng.choice(['0', '1', '-1', '-2'])}]")]
        if scope["state"]:
            made += [(0.7, self.of_state)]
        if scope["table"]:
            made += [(0.7, self.looked_up)]
        if scope["object"]:
            made += [(0.7, lambda: f"{rng.choice(scope['object'])}.{rng.choice('xy')}")]
        if depth:
            made += [
                (0.5, lambda: f"power({self.real(0)}, {self.integer(0)} % 4)"),
                (0.5, lambda: f"halved({self.real(0)}, 0.25)[0]"),
                (0.4, lambda: f"spread({self.any_array()}.copy(), {self.real(0)}, shift={rng.randint(0, 1)})"),
                (0.3, lambda: f"deep({self.real(0)}, {rng.randint(0, 3)})"),
                (0.4, lambda: f"(lambda u, w=SCALE: u * w - {self.real(0)})({self.real(0)})"),
                (0.4, lambda: f"min({self.any_array()}[j] for j in rose.range({SIZE}))"),
                (0.3, lambda: f"sum({self.any_array()})"),
                (0.4, self.conditional_total),
                (0.4, lambda: f"np.where({self.condition(0)}, {self.real(0)}, {self.real(0)})"),
                (0.4, lambda: f"squash({self.real(0)}) ** {rng.randint(0, 1)}"),
                (0.3, lambda: f"max({self.real(0)}, {self.real(0)}, {self.real(0)})"),
                (0.3, lambda: f"float({self.integer(0)})"),
                (0.3, lambda: f"{self.integer(0)} / {rng.randint(1, 5)}"),
                (0.3, lambda: f"functools.reduce(lambda u, w: squash(u - w), {self.any_array()}, {self.real(0)})"),
            ]
        return made

    def conditional_total(self) -> str:
        a = self.any_array()
        return f"sum({a}[j] for j in rose.range({SIZE}) if {a}[j] > {self.real(0)})"

    def of_state(self) -> str:
        state = self.rng.choice(self.scope["state"])
        return self.rng.choice([f"{state}.x", f"{state}.a[{self.index()}]"])

    def looked_up(self) -> str:
        table = self.rng.choice(self.scope["table"])
        return self.rng.choice([f"{table}['a']", f"{table}[f'{{\"b\"}}']", f"{table}.get('c', 0.5)"])

    def integers(self, depth: int) -> Choices:
        rng = self.rng
        made = super().integers(depth)
        if self.scope["wide"]:
            made += [(0.7, lambda: f"{rng.choice(self.scope['wide'])} % {rng.choice([7, -5, 11])}")]
        if depth:
            made += [
                (0.3, lambda: f"abs({self.integer(0)})"),
                (0.3, lambda: f"({self.integer(0)} {rng.choice('&|^')} {self.integer(0)})"),
                (0.2, lambda: f"({self.integer(0)} >> {rng.randint(0, 2)})"),
                (0.3, lambda: f"{rng.choice(['max', 'min'])}({self.integer(0)}, {self.integer(0)})"),
                (0.3, lambda: f"int(squash({self.real(0)}) * 9.0)"),
                (0.2, lambda: f"round(squash({self.real(0)}) * 9.0)"),
                (0.2, lambda: f"divmod({self.integer(0)}, {rng.choice([3, -4])})[{rng.randint(0, 1)}]"),
                (0.3, lambda: f"first({self.any_array()}, {self.real(0)})"),
                (0.3, lambda: f"find({self.any_array()}, {self.real(0)})"),
                (0.2, lambda: f"halved({self.real(0)}, 0.5)[1]"),
                (0.2, lambda: f"({rng.choice(self.scope['bool'])} + {self.integer(0)})"),
                (0.2, lambda: f"(-{self.integer(0)})"),
                (0.2, lambda: f"(~{self.integer(0)})"),
            ]
        return made

    def conditions(self, depth: int) -> Choices:
        rng = self.rng
        made = super().conditions(depth)
        if depth:
            made += [
                (0.5, lambda: f"any({self.any_array()}[j] > {self.real(0)} for j in rose.range({SIZE}))"),
                (0.5, lambda: f"all({self.any_array()}[j] > {self.real(0)} for j in rose.range({SIZE}))"),
                (0.3, lambda: f"(({self.condition(0)}) {rng.choice('&|^')} ({self.condition(0)}))"),
                (0.3, lambda: f"{self.integer(0)} in (0, 1, {self.integer(0)})"),
                (0.4, self.walrus),
            ]
        return made

    def walrus(self) -> str:
        """A condition that binds a name."""
        value = self.real(1)
        name = self.name("real")
        self.bind("maybe", name)
        return f"({name} := {value}) > {self.real(0)}"

    # --- statements

    def kinds(self) -> list[tuple[float, Callable[[], None]]]:
        scope = self.scope
        choices = super().kinds()
        choices += [
            (0.7, self.widen), (0.5, self.make_part), (0.4, self.make_state), (0.4, self.make_table),
            (0.3, self.make_object), (0.6, self.whole_array), (0.5, self.take_walrus), (0.3, self.check),
            (0.4, self.pairs), (0.3, self.chained), (0.3, self.starred), (0.3, self.late_lambda),
        ]  # fmt: skip
        if scope["part"]:
            choices += [(0.7, self.store_part)]
        if scope["state"]:
            choices += [(1, self.change_state)]
        if scope["table"]:
            choices += [(0.5, self.change_table)]
        if scope["object"]:
            choices += [(0.5, self.change_object)]
        if scope["array"]:
            choices += [(0.5, self.change_whole), (0.4, self.store_slice)]
        if scope["wide"]:
            choices += [(0.6, self.grow_wide)]
        if self.depth < 4:
            choices += [(1.2, self.match), (0.7, self.accumulate), (0.7, self.newton), (0.3, self.guarded)]
        return choices

    def widen(self) -> None:
        name = self.target("wide")
        self.emit(f"{name} = {self.integer(0)} * {self.rng.choice([3, 12345, 2**31, -(2**40)])} + {self.integer(0)}")
        self.bind("wide", name)

    def grow_wide(self) -> None:
        """Integers that may not fit 64 bits."""
        name, other = self.rng.choice(self.scope["wide"]), self.rng.choice(self.scope["wide"])
        self.emit(
            self.choose([
                (2, lambda: f"{name} = {name} {self.rng.choice('+-')} {other}"),
                (1, lambda: f"{name} = {name} * {self.integer(0)}"),
                (0.3, lambda: f"{name} = {name} * {other}"),
                (1, lambda: f"{name} //= {self.rng.choice([2, -3, 1000])}"),
                (1, lambda: f"{name} %= {self.rng.choice([1000003, -77])}"),
                (0.2, lambda: f"{name} //= {other}"),
                (0.3, lambda: f"{name} <<= {self.rng.randint(0, 9)}"),
                (0.3, lambda: f"{name} = -{name}"),
            ])
        )  # fmt: skip

    def make_part(self) -> None:
        """Two elements of an array: a view."""
        name = self.target("part") if self.rng.random() < 0.3 else self.name("part")
        cut = self.rng.choice(["[1:]", "[:2]", "[:-1]", "[::2]", "[::-2]", "[1:][::-1]"])
        self.emit(f"{name} = {self.any_array()}{cut}")
        self.bind("part", name)
        if self.rng.random() < 0.3:
            self.emit(f"{name} = {name}.copy()")

    def store_part(self) -> None:
        if not self.scope["array"]:
            return self.emit("pass")
        name = self.rng.choice(self.scope["part"])
        place = self.rng.choice(["0", "1", "-1"])
        self.emit(f"{name}[{place}] {self.rng.choice(['=', '+='])} squash({self.real(1)})")

    def store_slice(self) -> None:
        a = self.rng.choice(self.scope["array"])
        self.emit(
            self.choose([
                (1, lambda: f"{a}[1:] = {self.any_array()}[:2]"),
                (1, lambda: f"{a}[:] = {self.any_array()}"),
                (1, lambda: f"{a}[:2] *= {self.real(0)}"),
                (1, lambda: f"{a}[::-1] = {self.any_array()}"),
                (1, lambda: f"{a}[{self.rng.choice(['1:', ':2', '::2', ':'])}] = {self.real(0)}"),
            ])
        )  # fmt: skip

    def whole_array(self) -> None:
        value = self.choose([
            (1, lambda: f"{self.any_array()} * {self.real(0)} + {self.any_array()}"),
            (1, lambda: f"{self.any_array()} / (1.0 + abs({self.any_array()}))"),
            (1, lambda: f"np.where({self.any_array()} > {self.real(0)}, {self.any_array()}, {self.real(0)})"),
            (1, lambda: f"np.maximum({self.any_array()}, {self.real(0)})"),
            (0.5, lambda: f"m[{self.index(2)}] - {self.any_array()}"),
            (0.5, lambda: f"-{self.any_array()}[::-1]"),
            (0.5, lambda: f"np.array([u * {self.real(0)} for u in {self.any_array()}])"),
            (0.5, lambda: f"({self.any_array()} if {self.condition(0)} else {self.any_array()}).copy()"),
        ])  # fmt: skip
        name = self.target("array")
        self.emit(f"{name} = {value}")
        self.bind("array", name)

    def change_whole(self) -> None:
        a = self.rng.choice(self.scope["array"])
        self.emit(f"{a} {self.rng.choice(['+=', '*=', '-='])} {self.rng.choice([self.any_array(), self.real(0)])}")
        self.emit(f"{a} /= 1.0 + abs({a})")

    def make_state(self) -> None:
        a = self.rng.choice(self.scope["array"]) if self.scope["array"] else "v.copy()"
        name = self.target("state")
        self.emit(f"{name} = State({a}, {self.real(1)})")
        self.bind("state", name)

    def change_state(self) -> None:
        s = self.rng.choice(self.scope["state"])
        self.emit(
            self.choose([
                (2, lambda: f"{s} = {s}._replace(x=squash({self.real(1)}))"),
                (1, lambda: f"{s} = State({s}.a, {s}.x * 0.5 + {self.real(0)})"),
                (1, lambda: f"{s} = State({self.any_array()} * 0.5, {s}.x)"),
                (2, lambda: f"{s}.a[{self.index()}] = squash({self.real(0)})"),
            ])
        )  # fmt: skip

    def make_table(self) -> None:
        name = self.name("table")
        self.emit(f"{name} = {{'a': {self.real(1)}, 'b': {self.real(0)}}}")
        self.bind("table", name)

    def change_table(self) -> None:
        name = self.rng.choice(self.scope["table"])
        self.emit(
            self.choose([
                (1, lambda: f"{name}[f'{{\"ab\"[{self.rng.randint(0, 1)}]}}'] = {self.real(1)}"),
                (2, lambda: f"{name} = {name} | {{'a': {self.real(1)}}}"),
                (1, lambda: f"{name} = {{key: squash(value) for key, value in {name}.items()}}"),
            ])
        )  # fmt: skip

    def make_object(self) -> None:
        name = self.name("object")
        self.emit(f"{name} = Point({self.real(1)}, {self.real(0)})")
        self.bind("object", name)

    def change_object(self) -> None:
        name = self.rng.choice(self.scope["object"])
        if self.rng.random() < 0.4:
            self.emit(f"{name}.{self.rng.choice('xy')} = squash({self.real(1)})")
        else:
            self.emit(f"{name} = dataclasses.replace({name}, {self.rng.choice('xy')}={self.real(1)})")

    def take_walrus(self) -> None:
        value, inner = self.real(1), self.real(0)
        name, other = self.name("real"), self.target("real")
        self.emit(f"{other} = ({name} := {value}) * {inner} - {name}")
        self.bind("real", other)
        self.bind("real", name)

    def check(self) -> None:
        """What may raise."""
        kind = self.rng.random()
        test = f"{self.real(0)} {self.rng.choice('<>')} {self.rng.choice(['-3.5', '3.5', '9.0', '-9.0'])}"
        if kind < 0.4:
            self.emit(f"assert not {test}, f'{{n}} is bad'")
        else:
            self.emit(f"if {test}:")
            self.emit(f"    raise ValueError(f'n is {{n}}, x is {{{self.rng.choice(self.scope['real'])}}}')")

    def pairs(self) -> None:
        name = self.target("real")
        if name not in self.scope["real"]:
            return self.emit("pass")
        a, b = self.any_array(), self.any_array()
        header, value = self.rng.choice([
            (f"k, u in enumerate({a})", "u * k"), (f"u, w in zip({a}, {b})", "u - w"), (f"u in reversed({a})", "u"),
            (f"row in {self.rng.choice(self.scope['matrix'] or ['m'])}", "row[1] * row[-1]"),
            (f"u in {a}[::2]", "u * 0.5"), (f"k, (u, w) in enumerate(zip({a}, {b}))", "(u if k else w)"),
        ])  # fmt: skip
        self.emit(f"for {header}:")
        if self.jumps and self.rng.random() < 0.4:
            self.emit(f"    if {name} > {self.real(0)}:")
            self.emit(f"        {self.rng.choice(['break', 'continue'])}")
        self.emit(f"    {name} = squash({name} + {value})")

    def chained(self) -> None:
        a, b = self.target("real"), self.target("real")
        self.emit(f"{a} = {b} = {self.real()}")
        self.bind("real", a)
        self.bind("real", b)

    def starred(self) -> None:
        a, rest = self.target("real"), self.name("list")
        self.emit(f"{a}, *{rest} = {self.real(0)}, {self.real(0)}, {self.real(0)}")
        self.bind("real", a)
        self.bind("list", rest)

    def late_lambda(self) -> None:
        name = self.name("function")
        self.emit(f"{name} = lambda u: u * {self.rng.choice(self.scope['real'])} + {self.element()}")
        self.bind("function", name)

    def match(self) -> None:
        before = {kind: list(names) for kind, names in self.scope.items()}
        subject, cases = self.rng.choice([self.of_integer, self.of_tuple, self.of_pair])()
        self.emit(f"match {subject}:")
        self.depth += 1
        ends = []
        for pattern, names in cases:
            self.emit(f"case {pattern}:")
            for name in names:
                self.bind("real" if name[0] == "r" else "int", name)
            ends.append(self.body())
            self.scope = {kind: list(names) for kind, names in before.items()}
        self.depth -= 1
        self.some(ends)

    def of_integer(self) -> tuple[str, list[tuple[str, list[str]]]]:
        k = self.name("known")
        some = [("0", []), ("1 | -1", []), (f"{k} if {k} < {self.integer(0)}", []), ("2", [])]
        cases = self.rng.sample(some, self.rng.randint(1, 3))
        return self.integer(), cases + ([("_", [])] if self.rng.random() < 0.5 else [])

    def of_tuple(self) -> tuple[str, list[tuple[str, list[str]]]]:
        i, r = self.name("jnt"), self.name("real")
        cases = [(f"({i}, True, {r}) if {r} > {self.real(0)}", [r]), (f"(0, _, {r})", [r]), ("(1 | 2, False, _)", [])]
        subject = f"({self.integer()}, {self.rng.choice(self.scope['bool'])}, {self.real(1)})"
        return subject, self.rng.sample(cases, self.rng.randint(1, 3)) + [("_", [])]

    def of_pair(self) -> tuple[str, list[tuple[str, list[str]]]]:
        r, s = self.name("real"), self.name("real")
        pair = self.rng.choice(self.scope["pair"]) if self.scope["pair"] else f"Pair({self.real(0)}, {self.real(0)})"
        cases = [
            (f"Pair(x={r}, y={s}) if {r} < {s}", [r, s]),
            (f"({r}, _) if {r} > 0.5", [r]),
            (f"Pair({r}, {s})", [r, s]),
        ]
        return pair, self.rng.sample(cases, self.rng.randint(1, 3))

    def accumulate(self) -> None:
        """A sum from the int 0, or a maximum from minus infinity."""
        name, i = self.name("real"), self.name("i")
        start, step = self.rng.choice([("0", "+="), ("0.0", "-="), ("1", "*=")])
        self.emit(f"{name} = {start}")
        self.emit(f"for {i} in rose.range({self.integer(0)} % 5):")
        self.emit(f"    {name} {step} {self.any_array()}[{i} % {SIZE}]")
        self.emit(f"{name} = {name} * 1.0")
        self.bind("real", name)

    def newton(self) -> None:
        """A loop that ends when a number says so."""
        name, count = self.target("real"), self.name("count")
        if name not in self.scope["real"]:
            self.emit(f"{name} = {self.real(1)}")
            self.bind("real", name)
        self.emit(f"{count} = 0")
        self.emit(f"while abs({name}) > {self.rng.choice(['0.1', '0.5'])} and {count} < 7:")
        self.emit(f"    {name} = {name} * {self.rng.choice(['0.5', '-0.25'])} + 0.01 * {self.real(0)}")
        if self.jumps and self.rng.random() < 0.5:
            self.emit(f"    if {self.condition(0)}:")
            self.emit(f"        {self.rng.choice(['break', self.result()])}")
        self.emit(f"    {count} += 1")

    def guarded(self) -> None:
        """Host statements around staged ones."""
        self.emit(self.rng.choice(["try:", "if True:", "with contextlib.nullcontext():"]))
        closes = self.lines[-1].strip() == "try:"
        self.scope = self.body()
        if closes:
            self.emit("finally:")
            self.emit("    done = 1")
