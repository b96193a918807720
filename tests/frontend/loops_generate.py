"""Random loops over plain ranges, most of whose values are staged, as text."""

import random


def loop(seed: int) -> str:
    """A function of (x: float, y: float, v: Vec[7], n: int) with a loop of up to 7 iterations."""
    return Loop(seed).text()


class Loop:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._indices = ["i"]

    def _one(self, *of: str) -> str:
        return self._random.choice(of)

    # --- expressions

    def _real(self, depth: int = 0) -> str:
        def inner() -> str:
            return self._real(depth + 1)

        if depth > 2 or self._random.random() < 0.3:
            return self._one("x", "y", "s", "t", "u", "r", "0.5", "2.0", "1.0", "w[0]")
        form = self._random.choices(range(9), (8, 2, 3, 3, 2, 2, 1, 1, 2))[0]
        match form:
            case 0:
                return f"({inner()} {self._one('+', '-', '*')} {inner()})"
            case 1:
                return f"({inner()} / {self._one('3.0', '(1.5 + x * x)', inner())})"
            case 2:
                return f"math.{self._one('sin', 'cos', 'tanh')}({inner()})"
            case 3:
                return f"{self._one('v', 'w', 'z')}[{self._index()}]"
            case 4:
                return f"({inner()} if {self._test()} else {inner()})"
            case 5:
                return f"{self._one('max', 'min')}({inner()}, {inner()})"
            case 6:
                return f"({inner()}) ** {self._one('2', '3', 'i', 'k')}"
            case 7:
                return f"float({self._int()})"
            case _:
                return f"{self._int()} * {inner()}"

    def _int(self, depth: int = 0) -> str:
        if depth > 1 or self._random.random() < 0.5:
            return self._one("k", "1", "2", "n", *self._indices)
        right = self._one("1", "2", "3", self._int(depth + 1))
        return f"({self._int(depth + 1)} {self._one('+', '-', '*', '//', '%')} {right})"

    def _index(self) -> str:
        return self._one("i", "i - 1", "0", "-1", "i % 3", f"{self._int()} % 5", "at[i % 4]", *self._indices)

    def _test(self) -> str:
        reals = f"{self._real(2)} {self._one('>', '<=')} {self._real(2)}"
        ints = f"{self._int(1)} > {self._int(1)}"
        return self._one(
            reals, ints, "i % 2 == 0", "i == 0", "i > 2 and x > 0.2", "not i > 3", f"x > 0.5 or {ints}", "q"
        )

    # --- statements

    def _block(self, depth: int) -> list[str]:
        return [line for _ in range(self._random.randint(1, 3)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        form = self._random.choices(range(11), (8, 2, 2, 4, 2, 1, 4, 2, 3, 1, 3))[0]
        if depth > 2 and form > 5:
            form = 0
        match form:
            case 10:
                return self._lists(depth)
            case 0:
                return [f"{self._one('s', 't', 'u')} {self._one('=', '+=', '*=')} {self._real()}"]
            case 1:
                return [f"k {self._one('=', '+=')} {self._int()}"]
            case 2:
                return [f"s, t = t, {self._real()}"]
            case 3:
                return [f"{self._one('w', 'z')}[{self._index()}] {self._one('=', '+=')} {self._real()}"]
            case 4:
                return [f"{self._one('w', 'z')} = {self._one('w', 'z')} * {self._real(2)} + {self._one('v', 'w', 'z')}"]
            case 5:
                return [self._one("w += v", "z *= 0.5", f"q = {self._test()}", "t = np.sum(z * x)")]
            case 6:
                made = [f"if {self._test()}:", *_indented(self._block(depth + 1))]
                return [*made, "else:", *_indented(self._block(depth + 1))] if self._random.random() < 0.5 else made
            case 7:
                return [f"if {self._test()}:", f"    {self._one('break', 'continue', 'return s')}"]
            case 8:
                return self._inner(depth)
            case _:
                halved = ["    e = e * 0.5", f"    s += {self._real(2)}"]
                return [f"e = x * {self._real(2)}", "while 0.1 < e * e < 100.0:", *halved]

    def _lists(self, depth: int) -> list[str]:
        """Lists that are made, appended to, gone through and handed on."""
        name = self._one("p", "p", "p", "o")
        items = self._one("p", "o", "[x, 0.5]", "c.values()", "reversed(p)", "range(3)", "w[:3]", "at")
        pairs = self._one("zip(p, o)", "enumerate(p)", "c.items()", "zip(p, w)", "enumerate(zip(p, o), 2)")
        return self._one(
            [f"{name} = [{self._real(1)}, {self._one(self._real(2), self._int(1))}]"],
            [f"{name} = [a * {self._real(2)} for a in {items}{self._one('', '', f' if {self._test()}')}]"],
            [f"p, o = {self._one('o, p', '[], [x]', 'halves(w, x)', '[s], p')}", f"o.append({self._real(2)})"],
            [f"{name}.append({self._real(2)})", f"s += {name}[-1]"],
            [f"s += {self._one('sum(p)', 'len(o) * x', 'p[0]', 'o[-1]', 'leaving(p, x)', 'leaving(w, s)')}"],
            [f"for g, a in {pairs}:", f"    {self._one('t = t * 0.5 + len(p)', 'o.append(x)', 's += x * 0.1')}"],
            [f"for a in {items}:", *_indented(self._block(depth + 2)), "    t = a * 0.5"],
            [f"s += c['a'] * {self._one('c', 'c')}[{self._one(repr('b'), repr('a'))}]"],
            [f"w = np.array([{self._real(2)}, 0.3, *p, *w])[:7]", f"z = np.array([a * x for a in {items}] * 7)[:7]"],
        )

    def _inner(self, depth: int) -> list[str]:
        index = self._one("j", "l")
        numbers = f"{self._one('range', 'range', 'rose.range')}({self._one('3', 'i', 'i, 6', 'n', '2, 5', '7')})"
        rows = self._one("v", "w", "z")
        pairs = self._one(f"enumerate({rows})", f"zip(range(2, 9), {rows})", f"zip(at, {rows}[:4])")
        lists = self._one(*_LISTS, *_LISTS, "zip(at, reals)", "enumerate(reals)", "zip(range(7), run)", "zip(at, run)")
        head = self._one(
            *[f"for {index} in {numbers}:"] * 4,
            *[f"for {index}, r in {pairs}:", f"for r in {rows}:", f"for {index}, r in {lists}:"],
            f"for r in {self._one('reals', 'run')}:",
        )
        if index not in head.partition(" in ")[0]:
            return [head, *_indented(self._block(depth + 1))]
        self._indices.append(index)
        body = self._block(depth + 1)
        self._indices.pop()
        return [head, *_indented(body)]

    def text(self) -> str:
        """The function."""
        before = [
            f"r = {self._one('y * 0.25', 'y * 0.25', '0.25', '3')}",
            f"s, t, u = {self._one('0.0', '0', 'x', 'x', 'x * 2.0', '-0.0')}, {self._one('0.0', 'y', 'y', '0')}, y * 0.5",
            f"k, q = {self._one('0', 'n', 'n')}, {self._one('False', 'x > 0', 'x > y')}",
            f"w = {self._one('v.copy()', 'np.zeros(7)', 'v * x')}",
            f"z = {self._one('w', 'np.zeros(7)', 'v + 1.0', 'v.copy()')}",
            "at = np.array([2, 0, 3, 1])",
            "p, o, c = [x, 0.5], [y], {'a': 0.5, 'b': x}",
            "def leaving(a, b):",
            f"    for m in {self._one('a', 'range(3)', 'range(len(a))')}:",
            f"        if {self._one('b > 0.5', 'b * m > x')}:",
            f"            {self._one('return b', 'break')}",
            "        b = b + m",
            f"    return {self._one('b * 0.5', 'a[0]')}",
            "known = [(2, 0.5), (0, -0.0), (3, 1.5), (1, 0.5)]",
            "mixed = [(k, r * x) for k, r in known]",
            "reals, run = [r for _, r in known], [r for _, r in mixed]",
            "i = 3",
            self._one(
                *[f"for r in {self._one('v', 'w', 'z', 'v * x', 'reversed(v)', '(v if n > 2 else w)')}:"],
                *[f"for i in reversed(range({self._one('7', '2, 7')})):"],
                *[f"for i in range({self._one('7', '7', '1, 7', '6, -1, -1', '0, 7, 2')}):"] * 3,
                f"for i, r in enumerate({self._one('v', 'w', 'z')}):",
                f"for i, r in zip(range(7), {self._one('v', 'w', 'z')}):",
                f"for i, r in {self._one(*_LISTS)}:",
                f"for i, r in enumerate({self._one('reals', 'run')}):",
            ),
        ]
        body = self._block(0)
        single = any("return" in line for line in body)
        result = "s" if single else self._one("s", "s, t", "s, t, w", "w, z, u", "s + u, k, z", "s, t, u, k, q")
        lines = _indented([*before, *_indented(body), f"return {result}"])
        return "\n".join(["def f(x: float, y: float, v: Vec[7], n: int):", *lines]) + "\n"


_LISTS = ("known", "mixed", "known[::-1]", "tuple(mixed)")
"""Lists of the host, of pairs; of numbers are `reals` and `run`."""


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
