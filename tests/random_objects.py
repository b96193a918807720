"""Random programs in which several names, elements and attributes may hold one object, run by CPython and staged:
`python -m tests.random_objects 1000`, seeds from argument 2 on.

Lists, dicts, objects and nests of them are bound, exchanged, rebound in staged branches and loops, taken by staged
indices and changed. What staging refuses is counted; what it accepts must give CPython's numbers. Prints what failed,
and counts.
"""

import random
import sys
import time
from collections import Counter

from tests.frontend.control.test_one_of_several_objects import HEAD, KINDS, outcome

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
        ]
        for _ in range(self._rng.randint(2, 5)):
            lines += self._statement(0)
        read = self._rng.sample(NAMES, self._rng.randint(1, 3))
        terms = [f"{3**k} * {self._one.format(n)} + {5**k} * {self._two.format(n)}" for k, n in enumerate(read)]
        body = "\n    ".join([*lines, f"return {' + '.join(terms)}"])
        return f"{HEAD}def f(x: float, y: float, i: int, n: int) -> float:\n    {body}\n"

    def _place(self) -> str:
        return self._rng.choice([self._one, self._two]).format(self._rng.choice(NAMES))

    def _number(self) -> str:
        return self._rng.choice([*NUMBERS, *[self._place()] * 3])

    def _condition(self) -> str:
        places = f"{self._place()} > {self._place()}", f"{self._place()} > x"
        return self._rng.choice(["x > y", "x * y > 0.2", "i > 0", "n > 1", *places])

    def _object(self) -> str:
        pick = self._rng.choice
        made = self._made.format(self._number(), pick(NUMBERS))
        return pick([*NAMES, made, made, f"({pick(NAMES)} if {self._condition()} else {pick(NAMES)})"])

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
                return [f"{pick(NAMES)} = {self._object()}"]
            case "exchange":
                one, two = pick(NAMES), pick(NAMES)
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


def check(seed: int) -> str:
    """ "right" or "refused"; raises AssertionError for what is wrong."""
    source = Objects(random.Random(seed)).text()
    found = outcome(source)
    assert not found.startswith("wrong"), f"{found}\n{source}"
    return "right" if found == "right" else "refused"


def main(seeds: range) -> int:
    """Check the programs of `seeds`; the number of failures."""
    found: Counter[str] = Counter()
    started = time.perf_counter()
    for seed in seeds:
        try:
            found[check(seed)] += 1
        except Exception as error:
            found["failed"] += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error).partition(chr(10))[0][:200]}", flush=True)
    print(f"{len(seeds)} random programs of objects, {time.perf_counter() - started:.0f} s: {dict(found)}")
    return found["failed"]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(bool(main(range(first, first + count))))
