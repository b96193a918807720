"""Orders that Python makes of others (`functools.total_ordering`, `functools.cmp_to_key`, tuples of numbers and texts):
what is compared x what compares, against CPython, and gradients of the numbers beside."""

import bisect
import functools
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


def _ordered(method):
    """A class with `==` and one other comparison."""

    class Money:
        def __init__(self, v, name=""):
            self.v, self.name = v, name

        def __eq__(self, other):
            return self.v == other.v

        def __hash__(self):
            return 0

    setattr(Money, method.__name__, method)
    return functools.total_ordering(Money)


def _lt(self, other):
    return self.v < other.v


def _le(self, other):
    return self.v <= other.v


def _gt(self, other):
    return self.v > other.v


def _ge(self, other):
    if not hasattr(other, "v"):
        return NotImplemented
    return self.v >= other.v


for _method in (_lt, _le, _gt, _ge):
    _method.__name__ = f"_{_method.__name__}__"
LESS, AT_MOST, MORE, AT_LEAST = map(_ordered, (_lt, _le, _gt, _ge))


@functools.total_ordering
@dataclass(eq=False)
class Version:
    major: float
    minor: float

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)


MADE = {
    "less": "LESS({v})", "at most": "AT_MOST({v})", "more": "MORE({v})", "at least": "AT_LEAST({v})",
    "pair": "Version(1.0, {v})",
}  # fmt: skip
USES = {
    **{f"a {s} b": f"return x * x if a {s} b else 10.0 * x" for s in ("<", "<=", ">", ">=", "==", "!=")},
    "between": "return x if a < b <= c else 10.0 * x",
    "sorted": "return told(sorted([a, b, c, a])[2]) * x",
    "sorted down": "return told(sorted([a, b, c], reverse=True)[0]) * x",
    "by key": "return sorted([(a, x), (b, 2.0), (c, 3.0)], key=lambda p: p[0])[1][1]",
    "sort": "s = [a, b, c]\ns.sort()\nreturn told(s[0])",
    "max": "return told(max(a, b, c)) + x",
    "min": "return told(min([c, b, a])) + x",
    "in a loop": "t = 0.0\nfor i in range(3):\n    if a > b:\n        t = t + x * i\nreturn t + x",
    "while": "while a > b and x < 5.0:\n    x = x + 1.0\nreturn x",
}
COMPARED = {
    "difference": ("lambda a, b: a - b", "[x, 1.0, 0.25]", "{0}"),
    "falling": ("lambda a, b: b - a", "[x, 1.0, 0.25]", "{0}"),
    "signs": ("signs", "[x, 1.0, x, 0.25]", "{0}"),
    "truths": ("lambda a, b: (a > b) - (a < b)", "[x, 1.0, 0.25]", "{0}"),
    "pairs": ("lambda a, b: signs(a[0], b[0])", "[(x, 1.0), (1.0, 2.0), (1.0, 3.0)]", "{0}[1] * x"),
    "names": ("lambda a, b: signs(a[1], b[1])", '[("p", x), ("q", 1.0), ("r", 0.25)]', '{{"p": x, "q": 2.0, "r": 3.0}}[{0}[0]]'),
}  # fmt: skip
BY_KEY = {
    "sorted": "({one}) * 2.0",
    "sorted down": "({down})",
    "max": "({most}) + x",
    "min": "({least}) + x",
}
TUPLES = {
    "items by value and name": "sorted(d.items(), key=lambda kv: (-kv[1], kv[0]))[0][1]",
    "name of the first": "num[sorted(d.items(), key=lambda kv: (-kv[1], kv[0]))[0][0]]",
    "pairs": "num[sorted((v, k) for k, v in d.items())[1][1]]",
    "names first": "sorted((k, v) for k, v in d.items())[1][1]",
    "greatest pair": "num[max((v, k) for k, v in d.items())[1]]",
    "least by tuple": "num[min(d.items(), key=lambda kv: (kv[1], kv[0]))[0]]",
    "key of the greatest": "num[max(d, key=d.get)]",
    "sort": "num[ranked(d)[0][1]]",
    "three": "num[sorted(((v, k == 'b', k) for k, v in d.items()), reverse=True)[0][2]]",
    "nested": "num[sorted([((v, k), 1.0) for k, v in d.items()])[0][0][1]]",
}


def signs(a, b):
    return -1 if a < b else 1 if a > b else 0


def told(value):
    return value.minor if isinstance(value, Version) else value.v


def ranked(d):
    rows = [(v, k) for k, v in d.items()]
    rows.sort(reverse=True)
    return rows


def made(text, path, **scope):
    path.write_text(text)
    exec(compile(text, str(path), "exec"), scope)
    return scope["f"]


def agree(body, path, points=(0.125, 0.5, 1.0, 1.5, 2.0)):
    plain = made("def f(x: float):\n" + textwrap.indent(body, "    "), path, **{**globals(), "bisect": bisect})
    compiled = rose.jit(plain, cache=False)
    for x in points:
        assert compiled(x) == plain(x)
        step, back = ((plain(x + h) - plain(x)) / h for h in (1e-7, -1e-7))
        if step == pytest.approx(back, abs=1e-5):  # else the order changes here
            assert rose.grad(compiled)(x) == pytest.approx(step, rel=1e-5, abs=1e-6)
            assert rose.jvp(compiled, (x,), (1.0,))[1] == pytest.approx(step, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("made", "use"), crossed(MADE, USES, 3))
def test_the_other_comparisons(made, use, tmp_path):
    objects = "\n".join([f"{n} = {MADE[made].format(v=v)}" for n, v in (("a", "x"), ("b", "1.0"), ("c", "1.75"))])
    agree(f"{objects}\n{USES[use]}", tmp_path / "orders.py")


@pytest.mark.parametrize(("compared", "use"), crossed(COMPARED, BY_KEY, 2))
def test_a_comparison_as_key(compared, use, tmp_path):
    compare, items, told_of = COMPARED[compared]
    key = f"key=functools.cmp_to_key({compare})"
    picked = {
        "one": f"sorted({items}, {key})[0]", "down": f"sorted({items}, {key}, reverse=True)[0]",
        "most": f"max({items}, {key})", "least": f"min({items}, {key})",
    }  # fmt: skip
    found = {name: told_of.format(text) for name, text in picked.items()}
    agree(f"return {BY_KEY[use].format(**found)}", tmp_path / "keys.py")


@pytest.mark.parametrize("text", TUPLES)
def test_tuples_of_numbers_and_texts(text, tmp_path):
    body = f'd = {{"a": x, "c": 1.0, "b": 1.0}}\nnum = {{"a": x, "b": 2.0, "c": 3.0}}\nreturn {TUPLES[text]} * x'
    agree(body, tmp_path / "tuples.py")


def test_a_comparison_that_gives_nan_is_refused():
    f = rose.jit(lambda x: sorted([x, 1.0], key=functools.cmp_to_key(lambda a, b: a - b))[0])
    with pytest.raises(ValueError, match="nan has no place in an order"):
        f(np.nan)


INSERTED = {
    "insort": "insort(s, x)",
    "left": "insort_left(s, x)",
    "right": "insort_right(s, x)",
    "twice": "insort(s, x)\nbisect.insort(s, 2.0 * x)",
    "known": "insort(s, 0.75)",
    "empty": "insort([], x)\ns.append(x)\nbisect.insort(s, 0.75)",
}


@pytest.mark.parametrize("how", INSERTED)
def test_insort(how, tmp_path):
    body = f"s = [0.25, x * 0.5 + 0.25, 1.0, 1.0]\nbisect.{INSERTED[how]}\nreturn sum([k * v for k, v in enumerate(s)])"
    agree(body, tmp_path / "insort.py", (0.125, 0.3, 1.0, 1.5, 2.0))


TEXTS = {
    "a letter compared": "x if s[i] == 'A' else 2.0 * x",
    "a letter as key": "{'A': x, 'B': 2.0, 'C': x * x}[s[i]]",
    "two letters as a key": "eps[(s[i], s[i - 1])] * x",
    "a letter and an index": "sum([eps[s[i], s[k]] for k in range(len(s))]) * x",
    "behind": "x if s[-i] == 'A' else 2.0 * x",
    "bytes": "x * b'AB'[i % 2]",
    "a letter of a chosen text": "x if ('AB' if x > 1.0 else 'BA')[i % 2] == 'A' else 2.0 * x",
    "range": "x * range(10, 2, -2)[i % 4]",
    "member": "x if s[i] in 'AC' else 2.0 * x",
}


@pytest.mark.parametrize("use", TEXTS)
def test_texts_and_ranges_at_an_index_that_only_running_tells(use, tmp_path):
    text = f"def f(x: float, n: int):\n    t = 0.0\n    for i in range(n):\n        t += {TEXTS[use]}\n    return t"
    eps = {(a, b): 1.0 + ord(a) - 2.0 * ord(b) for a in "ABC" for b in "ABC"}
    plain = made(text, tmp_path / "texts.py", s="AABABBAC", eps=eps)
    compiled = rose.jit(plain, cache=False)
    for x, n in ((0.5, 0), (0.5, 5), (1.5, 8)):
        assert compiled(x, n) == plain(x, n)
        step = (plain(x + 1e-6, n) - plain(x - 1e-6, n)) / 2e-6
        assert rose.grad(compiled)(x, n) == pytest.approx(step, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("items", ["'AB'", "b'AB'", "range(2)"])
def test_an_index_out_of_range(items, tmp_path):
    f = rose.jit(made(f"def f(i):\n    return 1.0 if {items}[i] == 7 else 2.0\n", tmp_path / "out.py"))
    assert f(-2) == 2.0
    with pytest.raises(IndexError):
        f(2)


POWERS = ["2 ** -n", "x * 2 ** -n", "3 ** -n + 2 ** n", "(n + 1) ** -n", "x ** -n", "10 ** -(n + 1)"]


@pytest.mark.parametrize("text", POWERS)
def test_powers_of_minus(text, tmp_path):
    plain = made(f"def f(x, n):\n    return {text}\n", tmp_path / "powers.py")
    for n in (0, 1, 3, 12):
        assert rose.jit(plain)(1.5, n) == pytest.approx(plain(1.5, n), rel=1e-15)
    assert rose.jit(lambda n: 2**-n)(-3) == 8
    with pytest.raises(OverflowError, match="whole power above"):
        rose.jit(lambda n: 3**-n)(-38)
    with pytest.raises(ValueError, match="a negative exponent"):
        rose.jit(lambda n: 2 ** (n - 5))(2)


ZIPPED = [
    "zip(range(n), range(5, 0, -1))", "zip(range(5, 0, -1), range(n))", "zip(range(n), range(3), 'abcd')",
    "enumerate(range(n))", "zip(range(n), [x, 2.0, 3.0])", "zip(range(n), (1, 2, 3), range(2, 9, 3))",
]  # fmt: skip


@pytest.mark.parametrize("text", ZIPPED)
def test_ranges_side_by_side(text, tmp_path):
    source = f"def f(x: float, n: int):\n    t = x\n    for i, j, *_ in {text}:\n        t += x * i * j\n    return t"
    plain = made(source, tmp_path / "zipped.py")
    for n in (0, 2, 4, 9):
        assert rose.jit(plain, cache=False)(1.5, n) == plain(1.5, n)
