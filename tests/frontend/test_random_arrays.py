"""Random sequences of views, aliases and assignments of arrays: staged code gives what NumPy gives, or refuses."""

import random
from typing import Any

import numpy as np
import pytest

from rosejit import Array, Mat, Vec
from rosejit.errors import RoseError
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define

T = np.arange(24.0).reshape(2, 3, 4) * 0.25 - 1.0
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
GIVEN: dict[str, Any] = {"t": T, "m": M, "x": np.array([0.5, 1.0, 2.0]), "k": np.array([2, 3, -1]), "s": 1.5, "i": 1}
HEADER = "def f(t: Array[2, 3, 4], m: Mat[3, 3], x: Vec[3], k: Array[3, int], s: float, i: int):"
SCOPE: dict[str, Any] = {"np": np, "rose": rose, "Array": Array, "Mat": Mat, "Vec": Vec}
SLICES = (":", "::-1", "1:", ":-1", "::2", "-2:", "1::-1", ":1", "::-2")
VIEWS = (".T", ".reshape(-1)", ".ravel()[::2]", "", ".swapaxes(0, -1)", " * 2.0", "[::-1].copy()")


class Writer:
    """Writes a function, statement by statement; each must run in CPython."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["y = t.copy()", "b = m.copy()", "z = x.copy()"]
        self.held = self.run([])

    def run(self, more: list[str]) -> dict[str, Any]:
        """The arrays that the function has made after some more lines."""
        names = {**SCOPE, **{name: np.copy(value) for name, value in GIVEN.items()}}
        exec("\n".join([*self.lines, *more]), names)
        return {
            name: v
            for name, v in names.items()
            if name[0] in "ybzv" and isinstance(v, np.ndarray) and v.size and v.ndim
        }

    def place(self, shape: tuple[int, ...]) -> str:
        """Some index of an array of that shape."""
        pick = self.random
        items: list[str] = []
        for length in shape[: pick.randrange(1, len(shape) + 1)]:
            at = str(pick.randrange(-length, length))
            several = [str(pick.randrange(-length, length)) for _ in range(3)]
            kinds = (
                at,
                "i",
                "i - 1",
                pick.choice(SLICES),
                pick.choice(SLICES),
                f"[{', '.join(several)}]",
                f"k % {length}",
            )
            items += ["None"] * (pick.random() < 0.05) + [pick.choice(kinds)]
        return ", ".join(items + ["..."] * (pick.random() < 0.1))

    def statement(self, number: int) -> str:
        """A view, or a write."""
        pick = self.random
        name = pick.choice(list(self.held))
        shape = self.held[name].shape
        other = pick.choice(list(self.held))
        value = pick.choice(["s", "2.0", other, f"{other}[{self.place(self.held[other].shape)}]"])
        kinds = (
            f"v{number} = {name}[{self.place(shape)}]",
            f"v{number} = {name}{pick.choice(VIEWS)}",
            f"{name}[{self.place(shape)}] = {value}",
            f"{name}[{self.place(shape)}] {pick.choice('+-*')}= {value}",
            f"{name} {pick.choice('+*')}= {value}",
            f"{name}[{name} > {pick.choice(['0.5', 's'])}] {pick.choice(['=', '+=', '*='])} s",
            f"np.add.at({name}, {pick.randrange(shape[0])}, s)",
        )
        return pick.choice(kinds)

    def grow(self, number: int) -> bool:
        """Add a statement, perhaps in a staged branch or loop; False if CPython cannot run it."""
        line = self.statement(number)
        more = [line]
        if not line.startswith("v") and self.random.random() < 0.4:
            header = f"if s > {self.random.choice(['1.0', '2.0'])}:"
            more = [self.random.choice([header, "for q in rose.range(2):"]), f"    {line}"]
        try:
            self.run([line])  # as if no branch were around it
            held = self.run(more)
        except (ValueError, IndexError, TypeError):
            return False
        if max(v.size for v in held.values()) > 300:
            return False
        self.lines += more
        self.held = held
        return True


@pytest.mark.parametrize("seed", range(80))
def test_random_views_and_assignments(seed: int) -> None:
    writer = Writer(seed)
    grown = 0
    for turn in range(40):
        grown += writer.grow(turn)
        if grown > 5:
            break
    body = "\n    ".join(writer.lines)
    f = define(f"{HEADER}\n    {body}\n    return {', '.join(writer.held)}", **SCOPE)
    try:
        agrees(f, tuple(GIVEN.values()))
    except RoseError as error:
        assert "may be the same" in str(error) or "under two names" in str(error), body
