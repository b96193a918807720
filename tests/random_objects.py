"""Random programs in which several names, elements and attributes may hold one object, run by CPython and staged:
`python -m tests.random_objects 1000`, seeds from argument 2 on; argument 3 `wider` for more of Python.

Lists, dicts, objects and nests of them are bound, exchanged, rebound in staged branches and loops, taken by staged
indices and changed. What staging refuses is counted; what it accepts must give CPython's numbers. Prints what failed,
and counts.
"""

import random
import sys
import time
from collections import Counter

from tests.frontend.outcomes import HEAD, KINDS, outcome

NAMES = ("a", "b", "c", "m[0]", "m[1]", "m[2]", "m[i]", "m[n % 3]")
"""What may hold an object."""
NUMBERS = ("x", "y", "2.0", "x * y", "1.5")
LOOPS = (
    "for k{} in rose.range(n):",
    "for k{} in rose.range(2):",
    "for k{} in range(2):",
    "w{0} = 0\nwhile w{0} < n:\n    w{0} += 1",
)


class Objects:
    """Writes one function."""

    names = NAMES

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._made, self._one, self._two = KINDS[rng.choice([*KINDS])]

    def text(self) -> str:
        """The function."""
        made, pick = self._made.format, self._rng.choice
        lines = [
            f"a, b = {made('x', '2.0')}, {made('3.0', 'y')}",
            f"m = [{made('x * y', '1.0')}, {made('0.5', 'x')}, {made('y', '7.0')}]",
            pick(["c = a", "c = m[1]", f"c = {made('y', 'x')}"]),
            "p = 1",
            *self._beginning(),
        ]
        for _ in range(self._rng.randint(2, 5)):
            lines += self._statement(0)
        read = self._rng.sample(self.names, self._rng.randint(1, 3))
        terms = [f"{3**k} * {self._one.format(n)} + {5**k} * {self._two.format(n)}" for k, n in enumerate(read)]
        body = "\n    ".join([*lines, f"return {' + '.join(terms)}"])
        return f"{HEAD}def f(x: float, y: float, i: int, n: int) -> float:\n    {body}\n"

    def _beginning(self) -> list[str]:
        return []

    def _place(self) -> str:
        return self._rng.choice([self._one, self._two]).format(self._rng.choice(self.names))

    def _number(self) -> str:
        return self._rng.choice([*NUMBERS, *[self._place()] * 3])

    def _condition(self) -> str:
        places = f"{self._place()} > {self._place()}", f"{self._place()} > x"
        return self._rng.choice(["x > y", "x * y > 0.2", "i > 0", "n > 1", *places])

    def _object(self) -> str:
        pick = self._rng.choice
        made = self._made.format(self._number(), pick(NUMBERS))
        return pick([*NAMES, made, made, f"({pick(self.names)} if {self._condition()} else {pick(self.names)})"])

    def _block(self, depth: int, most: int) -> list[str]:
        count = self._rng.randint(1, most)
        return [f"    {line}" for _ in range(count) for line in self._statement(depth + 1)]

    def _statement(self, depth: int) -> list[str]:
        pick = self._rng.choice
        kinds = ["change", "bind", "exchange", "exchange rows", "choose a row"]
        weights = [30, 20, 10, 5, 5]
        if depth < 2:
            kinds, weights = [*kinds, "if", "loop"], [*weights, 17, 13]
        match self._rng.choices(kinds, weights)[0]:
            case "change":
                return [f"{self._place()} {pick(['=', '+=', '*='])} {self._number()}"]
            case "bind":
                return [f"{pick(self.names)} = {self._object()}"]
            case "exchange":
                one, two = pick(self.names), pick(self.names)
                return [f"{one}, {two} = {two}, {one}"]
            case "exchange rows":
                one, two = pick("012ip"), pick("012ip")
                return [f"m[{one}], m[{two}] = m[{two}], m[{one}]"]
            case "choose a row":
                return [f"p = max(range(3), key=lambda q: {self._one.format('m[q]')})"]
            case "if":
                otherwise = ["else:", *self._block(depth, 1)] if self._rng.random() < 0.4 else []
                return [f"if {self._condition()}:", *self._block(depth, 2), *otherwise]
            case _:
                return [*pick(LOOPS).format(depth).split("\n"), *self._block(depth, 3)]


WIDER = """
import copy

class P:
    def __init__(self, u, w=1.0):
        self.u = u
        self.w = w

    def swap(self):
        self.u, self.w = self.w, self.u
        return self

    @property
    def both(self):
        return self

def turned(o, by=0.5):
    {one} += by
    return o

def larger(o, q, *, least=0.0):
    if {one} > {one_q} + least:
        return o
    return q

def first_over(rows, bound):
    for o in rows:
        if {one} > bound:
            return o
    return rows[-1]

"""
"""Functions and methods that change what they are given, and return one of several."""
PATTERNS = {
    "list": "[{q}, {r}]",
    "dict": "{{'u': {q}, 'w': {r}}}",
    "object": "P(u={q}, w={r})",
    "nested": "[[{q}], [{r}]]",
    "holder": "P(u=[{q}], w={r})",
    "pairs": "([{q}], _, [{r}])",
}


class Wider(Objects):
    """Adds objects in dicts, methods and helpers that change them, closures that rebind, `match`, exceptions, loops
    that are left, and tests of which object it is."""

    names = (*NAMES, "d['a']", "d['b']", "d[n % 2]", "h.u")

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self._kind = next(kind for kind, made in KINDS.items() if made[0] == self._made)
        self._fresh = 0

    def text(self) -> str:
        """The function."""
        head = WIDER.format(one=self._one.format("o"), one_q=self._one.format("q"))
        return head + super().text().removeprefix(HEAD)

    def _beginning(self) -> list[str]:
        pick = self._rng.choice
        made = self._made.format(pick(NUMBERS), pick(NUMBERS))
        return [
            f"d = {{'a': {pick(NAMES[:6])}, 'b': {pick(NAMES[:6])}, 0: {pick(NAMES[:6])}, 1: {made}}}",
            f"h = P({pick(NAMES[:6])}, x)",
            "def rebound(o):",
            f"    nonlocal {pick('abc')}",
            f"    {pick('abc')} = o",
            "def changed(by=y):",
            f"    {self._one.format(pick('abc'))} += by",
        ]

    def _object(self) -> str:
        pick, name = self._rng.choice, super()._object
        if self._rng.random() < 0.75:
            return name()
        calls = ("turned({})", "larger({}, {})", "larger({}, {}, least=x)", "first_over(m, {n})", "copy.copy({})")
        if self._kind == "object":
            calls = (*calls, "{}.swap()", "{}.both")
        return pick(calls).format(pick(self.names), pick(self.names), n=self._number())

    def _condition(self) -> str:
        pick = self._rng.choice
        match self._rng.randint(0, 9):
            case 0:
                return f"{pick(self.names)} is {pick(self.names)}"
            case 1:
                return f"{super()._condition()} {pick(['and', 'or'])} {super()._condition()}"
            case 2:
                return f"not {super()._condition()}"
            case _:
                return super()._condition()

    def _indented(self, lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines]

    def _statement(self, depth: int) -> list[str]:
        pick = self._rng.choice
        if self._rng.random() < 0.6 or depth > 2:
            return super()._statement(depth)
        self._fresh += 1
        k = self._fresh
        block = self._block(depth, 2)
        match pick(["call", "rebind", "match", "try", "left", "while", "rows", "turn rows", "put", "each", "guard"]):
            case "call":
                return [
                    pick([f"turned({self._object()}, {self._number()})", "changed()", f"changed({self._number()})"])
                ]
            case "rebind":
                return [f"rebound({self._object()})"]
            case "match":
                pattern = PATTERNS[self._kind].format(q=f"q{k}", r=f"r{k}")
                guard = f" if q{k} > r{k}" if self._rng.random() < 0.5 else ""
                use = f"{self._place()} {pick(['=', '+='])} {pick(['q', 'r'])}{k}"
                otherwise = ["    case _:", *self._indented(self._block(depth, 1))] if guard else []
                return [
                    f"match {pick(self.names)}:",
                    f"    case {pattern}{guard}:",
                    f"        {use}",
                    *self._indented(block),
                    *otherwise,
                ]
            case "try":
                raised = [f"    if {self._condition()}:", f"        raise {pick(['ValueError', 'KeyError(0)'])}"]
                more = self._block(depth, 1)
                handler = [
                    "except ValueError:" if self._rng.random() < 0.3 else "except (ValueError, KeyError):",
                    *self._block(depth, 1),
                ]
                ends = pick([[], ["else:", *self._block(depth, 1)], ["finally:", *self._block(depth, 1)]])
                return ["try:", *block, *raised, *more, *handler, *ends]
            case "left":
                loop = pick([f"for k{k} in rose.range(n):", f"for k{k} in range(3):", f"for k{k} in rose.range(3):"])
                leave = [f"    if {self._condition()}:", f"        {pick(['break', 'continue', 'break'])}"]
                otherwise = pick([[], ["else:", *self._block(depth, 1)]])
                return [loop, *block, *leave, *self._block(depth, 1), *otherwise]
            case "while":
                return [f"w{k} = 0", f"while w{k} < 3 and {self._condition()}:", f"    w{k} += 1", *block]
            case "rows":
                return [
                    f"for o in {pick(['m', 'm[1:]', '[a, b]', 'd.values()', 'reversed(m)'])}:",
                    f"    {pick([self._one, self._two]).format('o')} {pick(['+=', '*='])} {self._number()}",
                ]
            case "turn rows":
                return [
                    pick(
                        [
                            "m = m[::-1]",
                            "m = [*m[1:], m[0]]",
                            "m.reverse()",
                            "m[:] = [m[2], m[0], m[1]]",
                            "m = [o for o in m]",
                        ]
                    )
                ]
            case "put":
                return [f"{pick(['d[n % 2]', 'd[i > 0]', 'h.u'])} = {self._object()}"]
            case "each":
                return [f"a, *_, b = {pick(['m', '(c, a, b)', '[*d.values()]'])}"]
            case _:
                return [f"if {self._condition()}:", f"    return {self._place()} + {self._number()}"]


GENERATORS = {"objects": Objects, "wider": Wider}


def check(seed: int, kind: str = "objects") -> str:
    """ "right" or "refused"; raises AssertionError for what is wrong."""
    source = GENERATORS[kind](random.Random(seed)).text()
    found = outcome(source)
    assert not found.startswith("wrong"), f"{found}\n{source}"
    return "right" if found == "right" else "refused"


def main(seeds: range, kind: str = "objects") -> int:
    """Check the programs of `seeds`; the number of failures."""
    found: Counter[str] = Counter()
    started = time.perf_counter()
    for seed in seeds:
        try:
            found[check(seed, kind)] += 1
        except Exception as error:
            found["failed"] += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error).partition(chr(10))[0][:200]}", flush=True)
    print(f"{len(seeds)} random programs of {kind}, {time.perf_counter() - started:.0f} s: {dict(found)}")
    return found["failed"]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(bool(main(range(first, first + count), *sys.argv[3:])))
