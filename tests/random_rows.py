"""Random loops over parts of rows, as text of the IR, for what several iterations at a time must not change.

Iterations read, write and add to elements at the index, beside it, behind variables and at constants: of arrays, of one
that they carry, of places, and of views of these places. Some of the indices are out of range.
"""

import random
from typing import Any

LENGTH, ROWS = 9, 3


def program(seed: int) -> tuple[str, list[Any]]:
    """The text of a program, and arguments."""
    rng = random.Random(seed)
    text = Rows(rng).text()
    numbers = [rng.uniform(-1.5, 1.5) for _ in range(2 + (2 + ROWS) * LENGTH)]
    rows = [numbers[at : at + LENGTH] for at in range(2, len(numbers), LENGTH)]
    k = rng.choice((0, 0, 0, 1, 1, 1, 2, -1, 2**62, -(2**63)))
    turns = rng.choice((-1, 0, 3, 4, 5, 6, 7, 8, LENGTH, LENGTH + 1))
    return text, [numbers[0], k, rng.choice((0, 0, 1, 2)), rng.randrange(ROWS), turns, rows[0], rows[1], rows[2:]]


class Rows:
    """Writes one function."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lets: list[str] = []
        self._reals = ["s0"]
        self._count = 0
        self._row = ["row", "row", "0"]
        """What may number a row."""
        self._parts = rng.random() < 0.6
        """Whether the place that it adds to has rows."""
        self._z = "z"
        """The array that is carried, as it is now."""

    def _one(self, *of: str) -> str:
        return self._rng.choice(of)

    def _let(self, kind: str, expression: str) -> str:
        self._count += 1
        self._lets.append(f"let {kind}{self._count} = {expression} in")
        return f"{kind}{self._count}"

    # --- an iteration

    def _index(self) -> str:
        beside, further = f"wadd(i, {self._one('1', '2', 'k', 'h')})", f"wadd(wadd(i, {self._one('k', 'h')}), 1)"
        return self._one("i", "i", "i", "0", "k", "h", beside, beside, beside, further)

    def _real(self) -> str:
        return self._one(*self._reals[-3:], *self._reals)

    def _read(self) -> None:
        path = self._index()
        of = self._one("x", "y", self._z, f"a[{self._one(*self._row)}, {path}]")
        self._reals.append(self._let("r", of if "[" in of else f"{of}[{path}]"))

    def _operation(self) -> None:
        name = self._one("{} * {}", "{} * {}", "{} + {}", "{} - {}", "fadd({}, {})", "maximum({}, {})")
        self._reals.append(self._let("t", name.format(self._real(), self._real())))

    def _write(self) -> None:
        self._z = self._let("z", f"update {self._z}[{self._index()}] = {self._real()}")

    def _add(self) -> None:
        whole = f"&o[{self._one(*self._row)}, {self._index()}]" if self._parts else f"&p[{self._index()}]"
        part = self._one("e", f"&q[{self._index()}]") if self._parts else "e"
        self._lets.append(f"let () = {self._one(whole, part)} += {self._real()} in")

    def _turn(self, *, stacks: bool) -> list[str]:
        """The lets of an iteration, and what it carries on and gives."""
        self._lets, self._z = [], "z"
        self._read()
        add, write, operation = (self._add,), (self._write,), (self._operation,)
        others = self._rng.choice((add, add, write, operation, (*write, *add)))
        for _ in range(self._rng.randint(1, 5)):
            self._rng.choice((self._read, self._operation, *others, *others))()
        total = self._one("s", "s", "s", "s", f"s + {self._real()}", f"fadd(s, {self._real()})", f"{self._real()} - s")
        return [*self._lets, ", ".join([self._z, total, *([self._real()] if stacks else [])])]

    # --- around it

    def _loop(self, turns: str, *, stacks: bool) -> list[str]:
        down = " down" if self._rng.random() < 0.3 else ""
        head = f"loop i < {turns}{down} carry (z: [{LENGTH}]Real = z, s: Real = s) {{"
        return [head, *_indented(self._turn(stacks=stacks)), "}"]

    def _nest(self, turns: str) -> list[str]:
        self._row.append("t")
        body = ["let z, s =", *self._loop(turns, stacks=False), "in", "z, s, s"]
        return [f"loop t < {ROWS} carry (z: [{LENGTH}]Real = z, s: Real = s) {{", *_indented(body), "}"]

    def text(self) -> str:
        """The function."""
        turns = self._one(f"{LENGTH}", "8", "7", "6", "n")
        nested = self._rng.random() < 0.4
        stack = f", [{ROWS if nested else turns}]Real" if nested or turns != "n" else ""
        given = "z, s, ys" if stack else "z, s"
        loop = self._nest(turns) if nested else self._loop(turns, stacks=bool(stack))
        part = self._one("q[h]", "q[0]") if self._parts else "p[h]"
        row, array = f"[{LENGTH}]Real", f"[{ROWS}][{LENGTH}]Real"
        lines = [
            *("let z = copy x in", "let s = s0 in"),
            *(f"let p0: {row} = zero in", "let p = accum p0 in", f"let o0: {array} = zero in", "let o = accum o0 in"),
            *(f"let q = &o[{self._one('row', 'row', '1')}] in", f"let e = &{part} in"),
            *(f"let {given} =", *loop, "in"),
            *("let p1 = resolve p in", "let o1 = resolve o in", f"{given}, p1, o1"),
        ]
        head = f"def f(s0: Real, k: Int, h: Int, row: Int, n: Int, x: {row}, y: {row}, a: {array}): {row}, Real"
        return "\n".join([f"{head}{stack}, {row}, {array} =", *_indented(lines)])


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
