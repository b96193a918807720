"""Random programs of loops over neighbours, as text of the IR: `python -m tests.random_loops 3000`, from seed 0 or from
argument 2 on. Aimed at what joins loops at offsets, vectorises carries, and makes again what a reverse pass needs.

Loops read elements at constant offsets, scan, carry numbers that are and are not recurrences, update arrays in place,
add to places, and stack; one inside another, on one side of a choice, and of lengths of the run. What the interpreter
makes of the program as it stands is compared with the compiled one, derivatives included.
"""

import random
import sys
from typing import Any

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff import residuals
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from tests.backends import bits, flat
from tests.codegen.machine import Machine
from tests.laws import check_laws
from tests.random_ir import derived

CONSTANTS = ("0.5", "-0.0", "1.5", "-2.0", "0.0")
SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e-310, 1e300)
SMOOTH = ("sin", "cos", "tanh", "sigmoid", "neg", "half")
SHARP = (*SMOOTH, "exp", "sqrt", "abs", "single", "floor", "cube")
PAIRS = ("add", "sub", "mul", "mul", "add")
SHARP_PAIRS = (*PAIRS, "max", "min", "maximum", "div")


class Loops:
    """Writes one function. `smooth`: its derivatives are there, and its numbers stay small; `open_`: the length is
    what the run says."""

    def __init__(self, rng: random.Random, *, smooth: bool, open_: bool, mode: str) -> None:
        self.rng = rng
        self.mode = mode
        self.smooth = smooth
        self.open = open_
        self.length = rng.choice((5, 8, 9, 10, 12, 16, 23, 24) if mode != "chain" else (12, 13, 16, 24))
        self.count = 0
        self.arrays: dict[str, tuple[int, str]] = {"x": (0, "Real"), "y": (0, "Real"), "k": (0, "Int")}
        """How much shorter than the others, and of what."""
        self.owned: list[str] = []
        self.numbers: dict[str, list[str]] = {"Real": ["s"], "Int": ["j"], "Bool": ["c"]}

    def text(self) -> str:
        """The functions."""
        rng = self.rng
        lines = self.statements(rng.randint(1, 6) if self.mode != "chain" else rng.randint(3, 7), 0)
        made = [a for a in self.arrays if a not in "xyk"] or ["x"]
        results = list(dict.fromkeys([made[-1], rng.choice(made), rng.choice(made), *self.arrays][:3]))
        results = [a for a in results if a in made] or ["x"]
        results = results[: 1 if self.mode == "chain" and rng.random() < 0.7 else 3]
        types = ", ".join([self.array_type(*self.arrays[a]) for a in results])
        last = [rng.choice(self.numbers[kind][-3:]) for kind in ("Real", "Int")]
        n = "*" if self.open else str(self.length)
        head = f"def f(x: [{n}]Real, y: [{n}]Real, k: [{n}]Int, s: Real, j: Int, c: Bool, n: Int): {types}, Real, Int ="
        cube = "def cube(v: Real): Real = let a = v * v in let b = a * v in b\n"
        before = [f"let n{d} = wsub(n, {d}) in" for d in range(1, 5)] if self.open else []
        return cube + "\n".join(
            [head, *[f"  {line}" for line in (*before, *lines)], "  " + ", ".join([*results, *last])]
        )

    # --- names and lengths

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def trips(self, shorter: int) -> str:
        return (f"n{shorter}" if shorter else "n") if self.open else str(self.length - shorter)

    def array_type(self, shorter: int, kind: str) -> str:
        return f"[{'*' if self.open else self.length - shorter}]{kind}"

    def number(self, kind: str, inside: dict[str, list[str]] | None = None) -> str:
        known = [*self.numbers[kind][-2:], *(inside or {}).get(kind, [])[-4:] * 2]
        if kind == "Real" and self.rng.random() < 0.15:
            return self.rng.choice(CONSTANTS)
        if self.mode != "mixed" and inside and inside[kind] and self.rng.random() < 0.6:
            return inside[kind][-1]
        return self.rng.choice(known)

    # --- statements

    def statements(self, count: int, depth: int) -> list[str]:
        found: list[str] = []
        for _ in range(count):
            roll = self.rng.random()
            if self.mode == "cell" and depth == 0:
                roll = 0.6 + 0.2 * roll
            elif self.mode == "chain" and roll < 0.9:
                roll *= 0.75
            if roll < 0.66:
                found += self.loop()
            elif roll < 0.76 and depth == 0:
                found += self.nest()
            elif roll < 0.84 and depth == 0:
                found += self.choice()
            else:
                found += self.between()
        return found

    def between(self) -> list[str]:
        """An element is read, or changed."""
        rng = self.rng
        a = rng.choice(list(self.arrays)[-5:])
        shorter, kind = self.arrays[a]
        if self.open:
            return self.arithmetic(self.numbers, 1)
        at = rng.randrange(self.length - shorter)
        if a in "xyk" or a not in self.owned or kind != "Real" or rng.random() < 0.5:
            v = self.name("v")
            self.numbers[kind].append(v)
            return [f"let {v} = {a}@[{at}] in"]
        b = self.name("a")
        self.arrays[b] = self.arrays.pop(a)
        self.owned.append(b)
        return [f"let {b} = update {a}@[{at}] = {self.number('Real')} in"]

    def scoped(self, count: int) -> tuple[list[str], dict[str, tuple[int, str]], dict[str, list[str]]]:
        """Statements of an inner block, and what is known there."""
        arrays, owned, numbers = self.arrays, self.owned, self.numbers
        self.arrays, self.owned = dict(arrays), []
        self.numbers = {kind: list(known) for kind, known in numbers.items()}
        lines = self.statements(count, 1)
        inner = self.arrays, self.numbers
        self.arrays, self.owned, self.numbers = arrays, owned, numbers
        return (lines, *inner)

    def nest(self) -> list[str]:
        """A loop around loops, that carries an array and a number."""
        rng = self.rng
        c, t, r, p = (self.name(letter) for letter in "ctrp")
        start = rng.choice([b for b, what in self.arrays.items() if what == (0, "Real")] or ["x"])
        before = [f"let {p} = copy {start} in"]
        self.arrays[c] = (0, "Real")
        self.numbers["Real"].append(r)
        lines, arrays, numbers = self.scoped(rng.randint(1, 4))
        del self.arrays[c]
        self.numbers["Real"].remove(r)
        fits = [b for b, what in arrays.items() if what == (0, "Real")]
        new, total = rng.choice(fits[-2:]), numbers["Real"][-1]
        q = self.name("v")
        lines.append(f"let {q} = {'sin' if self.smooth else 'single'}({total}) in")
        stack = rng.choice([f", {q}", ""])
        b, m, z = self.name("a"), self.name("v"), self.name("z")
        self.arrays[b] = (0, "Real")
        self.numbers["Real"].append(m)
        z = f", {z}" if stack else ""
        trips = rng.choice((1, 2, 3))
        head = f"let {b}, {m}{z} = loop {t} < {trips} carry ({c}: {self.array_type(0, 'Real')} = {p}, {r}: Real = s) {{"
        return [*before, head, *[f"  {line}" for line in lines], f"  {new}, {q}{stack}", "} in"]

    def choice(self) -> list[str]:
        """Loops on one side of a choice."""
        lines, arrays, numbers = self.scoped(self.rng.randint(1, 3))
        fits = [b for b, what in arrays.items() if what == (0, "Real")]
        b, m = self.name("a"), self.name("v")
        one = ["{", *[f"  {line}" for line in lines], f"  {fits[-1]}, {numbers['Real'][-1]}", "}"]
        other = [f"{{ {self.rng.choice('xy')}, s }}"]
        sides = [one, other] if self.rng.random() < 0.5 else [other, one]
        self.arrays[b] = (0, "Real")
        self.numbers["Real"].append(m)
        return [f"let {b}, {m} = if c", *sides[0], *sides[1], "in"]

    # --- loops

    def loop(self) -> list[str]:
        rng = self.rng
        fewer = rng.choice((0, 0, 1, 1, 2, 3, 4))
        i = self.name("i")
        inside: dict[str, list[str]] = {"Real": [], "Int": [i], "Bool": []}
        reads = dict(self.arrays)
        before, heads, after = [], [], []
        body: list[str] = []
        updated = self.updated(fewer, before) if rng.random() < 0.45 else []
        for a, _ in updated:
            reads.pop(a, None)
        few = {"chain": 0.95, "cell": 0.7}.get(self.mode, 0.4)
        carried = [] if rng.random() < few else [self.carry(inside) for _ in range(rng.randint(1, 3))]
        places = self.places(fewer, before, after) if self.mode != "chain" and rng.random() < 0.12 else []
        if places:
            reads.pop(places[0][2], None)
        scans = []
        latest = [*reads][-3:] if self.mode != "mixed" else sorted(reads)
        for a in rng.sample(latest, min(len(latest), rng.randint(0, 2))):
            if reads[a][0] == fewer:
                scans.append(f"{(v := self.name('p'))}: {reads[a][1]} in {a}")
                inside[reads[a][1]].append(v)
        own = {}
        for a, shorter in updated:
            c = self.name("c")
            heads.append(f"{c}: {self.array_type(shorter, 'Real')} = {a}")
            own[c] = shorter
        for _ in range(rng.randint(1, 3)):
            body += self.reads(i, fewer, reads, own, inside)
            body += self.arithmetic(inside, rng.randint(1, 3))
        results, binders, types = [], [], []
        for c, shorter in list(own.items()):
            index, lets = self.offset(i, rng.randint(0, fewer - shorter))
            u = self.name("u")
            body += [*lets, f"let {u} = update {c}@[{index}] = {self.small(inside, body)} in"]
            results.append(u)
            binders.append((self.name("a"), shorter, "Real"))
            types.append(None)
            if rng.random() < 0.4:
                body += self.reads(i, fewer, reads, {u: shorter}, inside) + self.arithmetic(inside, 1)
        for p, shorter, _ in places:
            index, lets = self.offset(i, rng.randint(0, fewer - shorter))
            q = self.name("q")
            body += [*lets, f"let {q} = &{p}@[{index}] in", f"let () = {q} += {self.small(inside, body)} in"]
        numbers = []
        for c, kind, start in carried:
            heads.append(f"{c}: {kind} = {start}")
            given = self.small(inside, body) if kind == "Real" and rng.random() < 0.6 else self.number(kind, inside)
            results.append(given)
            numbers.append((self.name("v"), kind))
        stacked = []
        for _ in range(rng.choice((0, 1, 1, 2, 3)) if results else rng.randint(1, 3)):
            kind = rng.choice(("Real", "Real", "Real", "Real", "Int", "Bool"))
            kind = kind if inside[kind] else "Real"
            results.append(self.number(kind, inside))
            stacked.append((self.name("a"), fewer, kind))
        for a, _ in updated:
            self.arrays.pop(a, None)
        made = [*[b for b, *_ in binders], *[v for v, _ in numbers], *[a for a, *_ in stacked]]
        for b, shorter, kind in (*binders, *stacked):
            self.arrays[b] = (shorter, kind)
            self.owned.append(b)
        for v, kind in numbers:
            self.numbers[kind].append(v)
        down = " down" if rng.random() < (0.03 if self.mode == "chain" else 0.12) else ""
        carry = f" carry ({', '.join(heads)})" if heads else ""
        scan = f" scan ({', '.join(scans)})" if scans else ""
        equals = f"let {', '.join(made) or '()'} ="
        end = ", ".join(results) or "()"
        return [
            *before,
            f"{equals} loop {i} < {self.trips(fewer)}{down}{carry}{scan} {{",
            *[f"  {line}" for line in body],
            f"  {end}",
            "} in",
            *after,
        ]

    def carry(self, inside: dict[str, list[str]]) -> tuple[str, str, str]:
        kind = self.rng.choice(("Real",) * 6 + ("Int", "Bool"))
        c = self.name("h")
        start = self.number(kind)
        inside[kind].append(c)
        return c, kind, start

    def updated(self, fewer: int, before: list[str]) -> list[tuple[str, int]]:
        """Arrays that the loop updates: zeros, some of them set, arrays that were made before, or copies."""
        rng = self.rng
        found: list[tuple[str, int]] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            shorter = rng.randint(0, fewer)
            mine = [a for a in self.owned if self.arrays.get(a) in [(d, "Real") for d in range(fewer + 1)]]
            mine = [a for a in mine if a not in [b for b, _ in found]]
            roll = rng.random()
            z = self.name("z")
            if mine and roll < 0.5:
                a = rng.choice(mine)
                found.append((a, self.arrays[a][0]))
            elif roll < 0.75 and not self.open:
                before.append(f"let {z}: {self.array_type(shorter, 'Real')} = zero in")
                if rng.random() < 0.5:
                    at = rng.choice((0, 0, rng.randrange(self.length - shorter)))
                    before.append(f"let {z}u = update {z}@[{at}] = {self.number('Real')} in")
                    z += "u"
                found.append((z, shorter))
            else:
                old = rng.choice([a for a, (d, kind) in self.arrays.items() if d <= fewer and kind == "Real"])
                before.append(f"let {z} = copy {old} in")
                found.append((z, self.arrays[old][0]))
        return found

    def places(self, fewer: int, before: list[str], after: list[str]) -> list[tuple[str, int, str]]:
        a = self.rng.choice([a for a, (d, kind) in self.arrays.items() if d <= fewer and kind == "Real"])
        p, b, z = self.name("w"), self.name("a"), self.name("z")
        shorter = self.arrays[a][0]
        before += [f"let {z} = copy {a} in", f"let {p} = accum {z} in"]
        after.append(f"let {b} = resolve {p} in")
        self.arrays[b] = (shorter, "Real")
        return [(p, shorter, b)]

    def offset(self, i: str, at: int) -> tuple[str, list[str]]:
        if not at:
            return i, []
        m = self.name("m")
        return m, [f"let {m} = wadd({i}, {at}) in" if self.rng.random() < 0.8 else f"let {m} = wadd({at}, {i}) in"]

    def reads(
        self, i: str, fewer: int, arrays: dict[str, tuple[int, str]], own: dict[str, int], inside: dict[str, list[str]]
    ) -> list[str]:
        """Elements at offsets."""
        found: list[str] = []
        rng = self.rng
        for _ in range(rng.randint(0 if self.mode == "mixed" else 1, 2)):
            fits = {a: what for a, what in arrays.items() if what[0] <= fewer}
            late = list(fits)[-2 if self.mode != "mixed" and rng.random() < 0.6 else -4 :]
            mine = own and rng.random() < 0.4
            a = rng.choice(list(own)) if mine else rng.choice(late) if late else "x"
            shorter, kind = (own[a], "Real") if mine else arrays[a]
            if shorter > fewer:
                continue
            index, lets = self.offset(i, rng.randint(0, fewer - shorter))
            v = self.name("v")
            found += [*lets, f"let {v} = {a}@[{index}] in"]
            inside[kind].append(v)
        return found

    def small(self, inside: dict[str, list[str]], body: list[str]) -> str:
        """A value that stays small where it must."""
        v = self.number("Real", inside)
        if self.smooth and self.mode != "chain" and self.rng.random() < 0.6:
            w = self.name("v")
            body.append(f"let {w} = {self.rng.choice(('sin', 'tanh', 'sigmoid'))}({v}) in")
            return w
        return v

    def arithmetic(self, inside: dict[str, list[str]], count: int) -> list[str]:
        rng = self.rng
        found: list[str] = []
        for _ in range(count):
            v, roll = self.name("v"), rng.random()
            a, b = self.number("Real", inside), self.number("Real", inside)
            if roll < 0.5:
                op = rng.choice(PAIRS if self.smooth else SHARP_PAIRS)
                found.append(f"let {v} = {op}({a}, {b}) in")
            elif roll < 0.8:
                op = rng.choice(SMOOTH if self.smooth else SHARP)
                op = (
                    rng.choice(("neg", "half", "abs", "sqrt")[: 2 if self.smooth else 4])
                    if self.mode == "chain"
                    else op
                )
                power = rng.choice(("2.0", "-4.0", "0.5", "8.0"))
                found.append(f"let {v} = div({a}, {power}) in" if op == "half" else f"let {v} = {op}({a}) in")
            elif roll < 0.87:
                q = self.name("b")
                j, h = self.number("Int", inside), self.number("Int", inside)
                test = f"ieq({j}, 3)" if self.smooth else f"lt({a}, {b})"
                found.append(f"let {q} = {rng.choice((test, f'ilt({j}, {h})'))} in")
                inside["Bool"].append(q)
                continue
            elif roll < 0.92:
                g = self.name("g")
                j, h = self.number("Int", inside), self.number("Int", inside)
                found.append(f"let {g} = {rng.choice(('wadd', 'wsub', 'wmul', 'imax', 'ixor'))}({j}, {h}) in")
                inside["Int"].append(g)
                continue
            elif roll < 0.94:
                found.append(
                    f"let {v} = to_real({self.number('Int', inside)}) in"
                    if not self.smooth
                    else f"let {v} = mul({a}, 0.5) in"
                )
            else:
                found.append(f"let {v} = select({self.number('Bool', inside)}, {a}, {b}) in")
            inside["Real"].append(v)
        return found


def cell(rng: random.Random) -> str:
    """A loop over inner loops that stack products of what they stack too, as cells of recurrent networks do."""
    n, steps = rng.choice((3, 5, 8)), rng.choice((1, 2, 9))
    arrays, lines, count = ["x", "g"], [], 0
    for _ in range(rng.randint(1, 3)):
        scans = rng.sample(arrays, min(len(arrays), rng.randint(1, 3)))
        inside = [f"p{(count := count + 1)}" for _ in scans]
        heads = ", ".join([f"{p}: Real in {a}" for p, a in zip(inside, scans, strict=True)])
        body: list[str] = []
        values = [*inside, "s", "r"]
        for _ in range(rng.randint(2, 7)):
            v = f"v{(count := count + 1)}"
            a, b = rng.choice(values[-4:]), rng.choice(values)
            ops = ("mul", "mul", "add", "sub", "tanh", "sigmoid", "sin", "max", "quarter")
            op = rng.choice(ops)
            text = f"{op}({a})" if op in ("tanh", "sigmoid", "sin") else f"{op}({a}, {b})"
            body.append(f"let {v} = {f'div({a}, 4.0)' if op == 'quarter' else text} in")
            values.append(v)
        last = f"v{(count := count + 1)}"
        body.append(f"let {last} = sin({values[-1]}) in")
        stacked = [rng.choice([*values[len(inside) + 2 :], *inside, last, last]) for _ in range(rng.randint(1, 4))]
        made = [f"a{(count := count + 1)}" for _ in stacked]
        down = rng.choice(("", "", "", " down"))
        lines += [
            f"let {', '.join(made)} = loop i{count} < {n}{down} scan ({heads}) {{",
            *body,
            ", ".join(stacked),
            "} in",
        ]
        arrays += made
        if rng.random() < 0.3:
            arrays.append(a := f"u{(count := count + 1)}")
            lines.append(f"let {a} = update {rng.choice(made)}@[{rng.randrange(n)}] = r in")
    last = rng.sample(arrays, min(len(arrays), 3))
    heads = ", ".join([f"e{k}: Real in {a}" for k, a in enumerate(last)])
    products = ["let t0 = mul(e0, e0) in", *[f"let t{k} = mul(t{k - 1}, e{k}) in" for k in range(1, len(last))]]
    total = f"t{len(last) - 1}"
    lines += [f"let z = loop o < {n} carry (q: Real = r) scan ({heads}) {{", *products, f"let b = q + {total} in"]
    lines += ["let d = sin(b) in d", "} in", f"z, {rng.choice(arrays[-4:])}"]
    head = f"def f(x: [{n}]Real, y: [{n}]Real, s: Real): Real, [{n}]Real ="
    outer = f"let h = copy y in let m, l = loop t < {steps} carry (r: Real = s, g: [{n}]Real = h) {{"
    return "\n".join([head, outer, *lines, "} in", "m, l"])


def sample(seed: int) -> tuple[ir.Function, list[Any], bool]:
    """A program, arguments, and whether it has derivatives."""
    rng = random.Random(seed)
    mode = ("chain", "mixed", "cell", "lstm")[seed % 4]
    if mode == "lstm":
        f = insert_copies(parse(cell(rng)))
        n = f.params[0].type.length
        return f, [[rng.uniform(-1.5, 1.5) for _ in range(n)] for _ in "xy"] + [rng.uniform(-1.5, 1.5)], True
    smooth, open_ = (seed // 4) % 2 == 0, mode == "mixed" and seed % 5 < 2
    made = Loops(rng, smooth=smooth, open_=open_, mode=mode)
    text = made.text()
    f = parse(text)
    n = rng.choice((0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33)) if open_ else made.length

    def real() -> float:
        return rng.choice(SPECIAL) if not smooth and rng.random() < 0.1 else rng.uniform(-1.5, 1.5)

    args = [[real() for _ in range(n)], [real() for _ in range(n)], [rng.randint(-2, 5) for _ in range(n)]]
    return insert_copies(f), [*args, real(), rng.randint(-2, 5), rng.random() < 0.5, n], smooth


def check_machines(f: ir.Function, args: list[Any]) -> None:
    """All give the bits of the interpreter of `f` as it stands."""
    wanted = bits(interp.run(f, args))
    (made,) = optimise(f)
    verify_program(made)
    assert bits(interp.run(made, args)) == wanted, "the optimiser changed a bit"
    assert bits(Machine(made)(*args)) == wanted, "the compiled program gives other bits"
    assert bits(Machine(f)(*args)) == wanted, "compiled without the optimiser it gives other bits"


def check(seed: int) -> None:
    """One program."""
    f, args, smooth = sample(seed)
    verify_program(f)
    check_machines(f, args)
    if not smooth or any(not abs(v) < 1e8 for v in flat(interp.run(f, args))):
        return
    near = [bits(interp.run(*one)) for one in derived(f, args, seed)]
    old = residuals.CACHES
    try:
        for caches in (old, 0):
            residuals.CACHES = caches
            f, args, _ = sample(seed)
            for k, (d, given) in enumerate(derived(f, args, seed)):
                verify_program(d)
                assert bits(interp.run(d, given)) == near[k], "what is kept changed a bit"
                check_machines(d, given)
            check_laws(f, args, order=2 if seed % 8 > 5 else 1, differences=False)
    finally:
        residuals.CACHES = old


def sweep(seeds: range) -> int:
    """Check the programs of `seeds`; the number of failures."""
    failures = 0
    for done, seed in enumerate(seeds, 1):
        try:
            check(seed)
        except Exception as error:
            failures += 1
            lines = str(error).splitlines() or [""]
            print(f"seed {seed}: {type(error).__name__}: {lines[0][:160]}", flush=True)
        if done % 250 == 0:
            print(f"{done} programs, {failures} failures", flush=True)
    return failures


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(1 if sweep(range(first, first + count)) else 0)
