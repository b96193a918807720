"""Loops at constant offsets become one: the same bits, whatever stands between them and whoever else reads what they
make; and left apart where nothing is gained, or a let would see something else."""

import random

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable
from rosejit.transforms.loops import shifted_fusion
from rosejit.transforms.loops.shifted_fusion import fuse_shifted_loops
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise
from tests.backends import wasm
from tests.laws import check_laws

N = 24
ARGS = [[0.25 * ((7 * k) % 11) - 1.0 for k in range(N)], [0.5 - 0.125 * ((5 * k) % 13) for k in range(N)], -0.0]


def chain(rng: random.Random) -> str:
    """Random loops, each over elements of arrays at offsets of its own."""
    return "\n".join(_Chain(rng).lines())


class _Chain:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.arrays: dict[str, int] = {"x": N, "y": N}
        self.owned: list[str] = []
        self.numbers = ["s"]
        self.count = 0

    def lines(self):
        found = []
        for _ in range(self.rng.randint(2, 6)):
            found += self.loop()
            if self.rng.random() < 0.4:
                found += self.between()
        made = list(self.arrays)[2:]
        results = {made[-1], self.rng.choice(made)} if made else {"x"}
        types = ", ".join(f"[{self.arrays[a]}]Real" for a in sorted(results))
        head = f"def f(x: [{N}]Real, y: [{N}]Real, s: Real): ({types}, Real) ="
        return [head, *found, f"  let r = ({', '.join(sorted(results))}, {self.rng.choice(self.numbers)}) in", "  r"]

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def terms(self, trips, own=""):
        """Reads and a value of them."""
        rng, lets, value = self.rng, [], rng_number(self.rng, self.numbers)
        late = list(self.arrays)[-3:]
        for _ in range(rng.randint(1, 3)):
            a = own if own and rng.random() < 0.4 else rng.choice([*late, *self.arrays])
            if a not in self.arrays:
                continue
            spare = self.arrays[a] - trips
            at, v, w = rng.randint(0, max(spare, 0)), self.name("v"), self.name("w")
            if spare < 0:
                continue
            index = "i" if not at else self.name("n")
            lets += [f"let {index} = wadd(i, {at}) in"] * bool(at)
            lets += [f"let {v} = {a}@[{index}] in", f"let {w} = {v} {rng.choice('*+-')} {value} in"]
            value = w
        return lets, value

    def loop(self):
        rng, a = self.rng, self.name("a")
        trips = rng.randint(N - 4, N)
        if rng.random() < 0.5:
            lets, value = self.terms(trips)
            self.arrays[a] = trips
            return [f"  let {a} = loop i < {trips} {{", *[f"    {let}" for let in lets], f"    {value} }} in"]
        length = rng.randint(trips, N)
        before, start, length = self.start(length, trips)
        shift = rng.randint(0, length - trips)
        self.arrays[c := self.name("c")] = length
        lets, value = self.terms(trips, c)
        del self.arrays[c]
        index = f"let m = wadd(i, {shift}) in"
        update = f"let {a}u = update {c}@[m] = {value} in {a}u"
        self.arrays[a] = length
        if rng.random() < 0.8:
            self.owned.append(a)
        inside = [f"    {let}" for let in (*lets, index, update)]
        return [*before, f"  let {a} = loop i < {trips} carry ({c}: [{length}]Real = {start}) {{", *inside, "  } in"]

    def start(self, length, trips):
        """What is updated: zeros, some of them set, or an array that was made before."""
        rng = self.rng
        mine = [a for a in self.owned if a in self.arrays and self.arrays[a] >= trips]
        if mine and rng.random() < 0.5:
            a = rng.choice(mine)
            length = self.arrays[a]
            if rng.random() < 0.8:
                del self.arrays[a]
            return [], a, length
        z, u = self.name("z"), self.name("u")
        zero = [f"  let {z}: [{length}]Real = zero in"]
        if rng.random() < 0.4:
            return zero, z, length
        value = rng_number(rng, self.numbers)
        return [*zero, f"  let {u} = update {z}@[{rng.randrange(length)}] = {value} in"], u, length

    def between(self):
        """Something that reads an element, or changes one."""
        rng = self.rng
        a = rng.choice(sorted(self.arrays))
        at = rng.randrange(self.arrays[a])
        if a in ("x", "y") or rng.random() < 0.5:
            self.numbers.append(v := self.name("v"))
            return [f"  let {v} = {a}@[{at}] in"]
        b = self.name("a")
        self.arrays[b] = self.arrays.pop(a)
        return [f"  let {b} = update {a}@[{at}] = {rng_number(rng, self.numbers)} in"]


def rng_number(rng, numbers):
    return rng.choice([*numbers[-2:], "0.5", "-0.0", "1.5"])


def loops(f):
    return sum(isinstance(let.expr, ir.Loop) for let in forms(f.body))


def check(text: str, laws: bool) -> bool:
    """Whether loops were joined; that the bits are the same."""
    (f,) = [insert_copies(parse(text))]
    new = fuse_shifted_loops(f)
    verify_program(new)
    wanted = repr(interp.run(f, [*ARGS]))
    assert repr(interp.run(new, [*ARGS])) == wanted
    if laws:
        (made,) = optimise(f)
        assert repr(interp.run(made, [*ARGS])) == wanted
        assert repr(wasm(made)([*ARGS])) == wanted
        check_laws(new, ARGS, order=2, differences=False)
    return loops(new) < loops(f)


@pytest.mark.parametrize("seed", range(40))
def test_random_chains_keep_their_bits(seed):
    check(chain(random.Random(seed)), laws=seed % 10 == 0)


def test_random_chains_are_joined():
    texts = [chain(random.Random(seed)) for seed in range(20)]
    assert sum(loops(fuse_shifted_loops(f)) < loops(f) for f in map(insert_copies, map(parse, texts))) > 5


STEP = """
def step(x: [32]Real, y: [32]Real, h: Real): [32]Real =
  let first = x@[0] in
  let z: [32]Real = zero in
  let k = update z@[0] = first in
  let slope = loop i < 31 carry (c: [32]Real = k) {{
    let m = wadd(i, 1) in
    let a = x@[m] in
    let b = y@[i] in
    let p = a * b in
    let u = update c@[m] = p in
    u
  }} in
  {between}
  let t = loop j < 32 scan (v: Real in slope, w: Real in y) {{ let p = v * h in let q = w + p in q }} in
  let z2: [32]Real = zero in
  let k2 = update z2@[0] = {start} in
  let last = loop i2 < 31 carry (c2: [32]Real = k2) {{
    let m2 = wadd(i2, 1) in
    let a2 = {other}@[m2] in
    let b2 = t@[{at}] in
    let p2 = a2 * b2 in
    let u2 = update c2@[m2] = p2 in
    u2
  }} in
  last
"""
STEPS = {
    "a product with the element before": {},
    "what stands between goes in front": {"between": "let d = y@[3] in", "start": "d"},
    "what reads the first array is behind": {"between": "let d = slope@[3] in let e = d + 1.0 in"},
    "the array is read by another": {"other": "slope"},
}
UNSHIFTED = {
    "what is read behind the loops is needed": {"between": "let d = slope@[3] in", "start": "d"},
    "an index that only the run knows": {"between": "let n = 3 in", "at": "n"},
}


def step(between="", start="first", other="x", at="i2"):
    return insert_copies(parse(STEP.format(between=between, start=start, other=other, at=at)))


@pytest.mark.parametrize("name", [*STEPS, *UNSHIFTED])
def test_steps(name):
    f = step(**(STEPS | UNSHIFTED)[name])
    args = [ARGS[0] + ARGS[0][:8], ARGS[1] + ARGS[1][:8], 0.25]
    new = fuse_shifted_loops(f)
    verify_program(new)
    assert loops(new) == (1 if name in STEPS else 2)
    assert repr(interp.run(new, [*args])) == repr(interp.run(f, [*args])) == repr(wasm(new)([*args]))
    assert fuse_shifted_loops(new) is new
    check_laws(new, args, order=2)
    verify_program(fuse_shifted_loops(cotangents(new, differentiable(new))))


def test_an_array_that_nobody_else_reads_is_not_made():
    new = fuse_shifted_loops(step())
    (loop,) = [let.expr for let in forms(new.body) if isinstance(let.expr, ir.Loop)]
    assert [type(c.type).__name__ for c in loop.carries].count("Array") == 1
    assert loop.constant_trips == 31


def test_running_sums_in_lanes_stay_apart():
    text = """
    def f(x: [32]Real): [32]Real =
      let z: [32]Real = zero in
      let t = loop i < 31 carry (c: [32]Real = z) {
        let m = wadd(i, 1) in let a = c@[i] in let b = x@[m] in let s = fadd(a, b) in
        let u = update c@[m] = s in u } in
      let r = loop j < 32 { let v = t@[j] in let w = v * 2.0 in w } in
      r
    """
    f = parse(text)
    new = fuse_shifted_loops(f)
    assert repr(interp.run(new, [ARGS[0] + ARGS[1][:8]])) == repr(interp.run(f, [ARGS[0] + ARGS[1][:8]]))


@pytest.mark.parametrize("read", ["a{}", "x"])
def test_loops_are_compared_with_those_that_read_them_only(read, monkeypatch):
    """Many loops, each of which reads the one before it, or of which none reads another."""

    def looks(loops):
        lets = [
            f"  let a{k + 1} = loop i < {N} {{ let r = {read.format(k)}@[i] in let e = r * s in e }} in"
            for k in range(loops)
        ]
        text = "\n".join([f"def f(a0: [{N}]Real, x: [{N}]Real, s: Real): [{N}]Real =", *lets, f"  a{loops}"])
        counted, fits = [], shifted_fusion._fits
        monkeypatch.setattr(shifted_fusion, "_fits", lambda *given: counted.append(0) or fits(*given))
        fuse_shifted_loops(parse(text))
        monkeypatch.undo()
        return len(counted)

    assert looks(200) <= 2.5 * looks(100)
