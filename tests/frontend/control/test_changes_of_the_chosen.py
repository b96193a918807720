"""An object that running chooses of some, which is then changed: ways to choose x changes and what is read after, against
CPython, slopes against differences."""

import textwrap
from dataclasses import dataclass, field

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import crossed


@dataclass
class Place:
    at: float = 0.0


@dataclass
class Item:
    v: float
    taken: bool = False
    n: int = 0
    place: Place = field(default_factory=Place)

    def take(self, gain):
        self.taken = True
        self.v += gain

    def __lt__(self, other):
        return self.v < other.v


CHOSEN = {
    "min": "best = min(qs, key=lambda q: q.v)",
    "max": "best = max(qs, key=lambda q: q.v * y)",
    "without key": "best = min(qs)",
    "of two": "best = min(qs[0], qs[2], key=lambda q: q.v)",
    "filtered": "best = min((q for q in qs if not q.taken and q.v < 50.0), key=lambda q: q.v)",
    "with default": "best = min((q for q in qs if q.v > 0.5), key=lambda q: q.v, default=qs[0])",
    "pairs": "best = max([(q.v, q) for q in qs], key=lambda p: p[0])[1]",
    "sorted": "best = sorted(qs, key=lambda q: q.v)[1]",
    "from sorted": "first, *rest = sorted(qs, key=lambda q: -q.v)\nbest = rest[1]",
    "sorted twice": "best = sorted(sorted(qs, key=lambda q: q.v)[:3], key=lambda q: -q.v)[0]",
    "in place": "qs.sort(key=lambda q: q.v)\nbest = qs[2]",
    "scan": "best = qs[0]\nfor q in qs[1:]:\n    if q.v < best.v:\n        best = q",
    "scan from None": "best = None\nfor q in qs:\n    if best is None or q.v < best.v:\n        best = q",
    "nested": "best = qs[3]\nfor q in qs:\n    if not q.taken:\n        if q.v < best.v:\n            best = q",
    "skipped": "best = qs[1]\nfor q in qs:\n    if q.v > 2.0:\n        continue\n    if q.v > best.v:\n        best = q",
    "conditional": "best = qs[0] if y > 1.0 else qs[1] if x > 1.0 else qs[2]",
    "branches": "if x > 1.0:\n    best = qs[0]\nelif y > 1.0:\n    best = qs[1]\nelse:\n    best = qs[2]",
    "helper": "def nearest(items, v):\n    found = items[0]\n    for q in items:\n        if abs(q.v - v) < abs(found.v - v):\n            found = q\n"
    "    return found\nbest = nearest(qs, 0.7)",
    "left": "best = qs[-1]\nfor q in qs:\n    if q.v < 1.2:\n        best = q\n        break",
    "removed": "best = min(qs, key=lambda q: q.v)\nrest = list(qs)\nrest.remove(best)\nrest[0].n += 2",
}  # fmt: skip
CHANGED = {
    "attribute": "best.taken = True",
    "number": "best.v = 3.0 * best.v",
    "twice": "best.v += y\nbest.n += 1\nbest.v *= 2.0",
    "method": "best.take(x)",
    "inside": "best.place.at = x * y",
    "branch": "if y > 0.8:\n    best.v = 7.0\nelse:\n    best.n = 4",
    "others after": "best.v += 1.0\nqs[0].v -= y\nqs[1].n = 5",
    "others before": "qs[0].v -= y\nqs[2].place.at = x\nbest.v = best.v * 2.0 + best.place.at",
    "replaced": "best.place = Place(y)\nbest.place.at += x",
    "another name": "other = best\nother.v -= 0.5\nbest.n = 1",
}  # fmt: skip
AROUND = {
    "once": "{c}\n{d}",
    "loop": "for turn in range(2):\n{c4}\n{d4}",
    "staged loop": "for turn in range(n):\n{c4}\n{d4}",
}
READ = (
    "return [q.v for q in qs], [q.taken for q in qs], [q.n for q in qs], [q.place.at for q in qs], {b}.v, {b}.place.at"
)
CASES = [(c, d, a) for (c, d), a in zip(crossed(CHOSEN, CHANGED, 9), [*AROUND] * 100, strict=False)]


def may_be_refused(chosen, changed, around):
    """Whether an object takes the place of another in one that was chosen, or a list is put in order in a loop."""
    return changed == "replaced" or (chosen == "in place" and around == "staged loop")


def numbers(found):
    return [*map(float, [v for part in found for v in (part if isinstance(part, list) else [part])])]


@pytest.mark.parametrize(("chosen", "changed", "around"), CASES)
def test_who_is_chosen_is_changed(chosen, changed, around):
    made = {"c": CHOSEN[chosen], "d": CHANGED[changed]}
    made |= {f"{k}4": textwrap.indent(v, "    ") for k, v in made.items()}
    begin = "qs = [Item(x), Item(1.0), Item(2.0 - x), Item(y)]\n"
    read = READ.format(b="qs[1]" if around == "staged loop" else "best")
    body = begin + AROUND[around].format(**made) + "\n" + read
    plain = define("def f(x: float, y: float, n: int):\n" + textwrap.indent(body, "    "), Item=Item, Place=Place)
    f = rose.jit(plain)

    @rose.jit
    def total(x: float, y: float, n: int):
        v, _, _, at, *rest = f(x, y, n)
        return v[0] + 2.0 * v[1] + 3.0 * v[2] + 4.0 * v[3] + at[0] - at[1] + 2.0 * at[2] + rest[0] * rest[1]

    for x, y, n in ((0.31, 0.97, 2), (1.57, 1.91, 1), (2.83, 0.77, 3), (-1.1, 0.45, 0)):
        wanted = plain(x, y, n)
        try:
            found = f(x, y, n)
        except rose.UnsupportedSyntax:
            assert may_be_refused(chosen, changed, around)
            return
        assert numbers(found) == pytest.approx(numbers(wanted), rel=1e-12)
        high, low = (weighed(plain(x + h, y, n)) for h in (1e-6, -1e-6))
        assert rose.grad(total)(x, y, n) == pytest.approx((high - low) / 2e-6, rel=1e-5, abs=1e-6)


def weighed(found):
    v, _, _, at, *rest = found
    return v[0] + 2.0 * v[1] + 3.0 * v[2] + 4.0 * v[3] + at[0] - at[1] + 2.0 * at[2] + rest[0] * rest[1]
