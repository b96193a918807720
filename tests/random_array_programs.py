"""Random programs of whole arrays, as text of the IR, for what joins and moves loops: arrays are made, read by rows,
written at once, on one side of a choice or in a loop, and added to, in any order. What is read no more is written in
its own memory, so a loop that is moved past a write reads something else.
"""

import random
from typing import Any

LENGTH, ROWS = 4, 2


def program(seed: int) -> tuple[str, list[Any]]:
    """The text of a program, without its copies, and arguments."""
    rng = random.Random(seed)
    rows = [[rng.uniform(-1.5, 1.5) for _ in range(LENGTH)] for _ in range(1 + ROWS)]
    return Wholes(rng).text(), [rng.uniform(-1.5, 1.5), rng.random() < 0.5, rows[0], rows[1:]]


class Wholes:
    """Writes one function."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lines: list[str] = []
        self._names = {"s": ["s0"], "x": ["x0"], "m": ["m0"]}
        """Reals, arrays, arrays of rows, the latest last."""
        self._read = {"x": "x0", "m": "m0"}
        """What a loop has read last, and of which array a row was: what is written next, more often than not."""

    def _some(self, kind: str) -> str:
        return self._rng.choice(self._names[kind][-3:])

    def _target(self, kind: str) -> str:
        return self._read[kind] if self._rng.random() < 0.6 else self._some(kind)

    def _let(self, kind: str, expression: str) -> None:
        name = f"{kind}{len(self._lines)}"
        self._lines.append(f"let {name} = {expression} in")
        self._names[kind].append(name)

    def _down(self) -> str:
        return " down" if self._rng.random() < 0.3 else ""

    # --- steps

    def _made(self) -> None:
        one, two = self._some("x"), self._some("x")
        self._read["x"] = one
        lets = f"let v = {one}@[i] in let w = {two}@[i] in let u = v {self._rng.choice('+-*')} w in"
        self._let("x", f"loop i < {LENGTH}{self._down()} {{ {lets} let r = u * {self._some('s')} in r }}")

    def _summed(self) -> None:
        carry = f"carry (t: Real = {self._some('s')})"
        self._let(
            "s", f"loop i < {LENGTH}{self._down()} {carry} {{ let v = {self._some('x')}@[i] in let n = t + v in n }}"
        )

    def _row(self) -> None:
        self._read["m"] = self._some("m")
        self._let("x", f"{self._read['m']}@[{self._rng.randrange(ROWS)}]")

    def _place(self, kind: str) -> tuple[str, str]:
        """A place in an array of that kind, and what may be written there."""
        if kind == "x":
            return f"@[{self._rng.randrange(LENGTH)}]", self._some("s")
        return f"@[{self._rng.randrange(ROWS)}]", self._some("x")

    def _written(self) -> None:
        kind = self._rng.choice("xm")
        at, value = self._place(kind)
        self._let(kind, f"update {self._target(kind)}{at} = {value}")

    def _chosen(self) -> None:
        kind = self._rng.choice("xm")
        array, (at, value) = self._target(kind), self._place(kind)
        sides = [f"{{ let z = update {array}{at} = {value} in z }}", f"{{ {array} }}"]
        self._rng.shuffle(sides)
        self._let(kind, f"if c {' '.join(sides)}")

    def _carried(self) -> None:
        array = self._target("x")
        lets = f"let v = {self._some('x')}@[i] in let z1 = update z@[i] = v in"
        self._let("x", f"loop i < {LENGTH}{self._down()} carry (z: [{LENGTH}]Real = {array}) {{ {lets} z1 }}")

    def _added(self) -> None:
        kind, number = self._rng.choice("xm"), len(self._lines)
        self._lines.append(f"let p{number} = accum {self._target(kind)} in")
        part = f"&p{number}@[{self._rng.randrange(ROWS)}]" if kind == "m" else f"p{number}"
        self._lines.append(f"let q{number} = {part} in let () = q{number} += {self._some('x')} in")
        self._let(kind, f"resolve p{number}")

    def text(self) -> str:
        """The function."""
        steps = [
            self._made,
            self._made,
            self._summed,
            self._row,
            self._written,
            self._chosen,
            self._carried,
            self._added,
        ]
        for _ in range(self._rng.randint(4, 16)):
            self._rng.choice(steps)()
        for _ in range(3):
            self._summed()
        names = [self._names[kind][-1] for kind in "sxm"]
        row = f"[{LENGTH}]Real"
        head = f"def f(s0: Real, c: Bool, x0: {row}, m0: [{ROWS}]{row}): Real, {row}, [{ROWS}]{row} ="
        return "\n".join([head, *[f"  {line}" for line in self._lines], f"  {', '.join(names)}"])
