"""Look-ups by keys that only running tells, and one of several values of the host: as CPython has them, with slopes."""

import enum
import math
from collections import Counter, OrderedDict, defaultdict
from types import MappingProxyType

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError, StagingTypeError
from tests.frontend.oracle import define
from tests.tables import part


class Disc:
    """An object with a method."""

    def __init__(self, r):
        self.r = r

    def area(self):
        """In the number that it holds."""
        return math.pi * self.r**2

    @property
    def name(self):
        """A text."""
        return "disc"


class Strip:
    """One of another class."""

    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        """A product."""
        return self.w * self.h

    @property
    def name(self):
        """A text."""
        return "strip"


class Kind(enum.IntEnum):
    """Keys with names."""

    A = 0
    B = 1
    C = 7


class Side(enum.Enum):
    """Names that are no numbers."""

    A = "a"
    B = "b"


def square(x):
    """A function of the user's."""
    return x * x


VALUES = {
    "float": (("1.5", "2.5", "x"), "q * x"),
    "int": (("1", "2", "3"), "q + x"),
    "int and float": (("1", "2.5", "3"), "q * x"),
    "array": (("np.array([x, 1.0])", "np.ones(2)", "np.array([2.0, x])"), "q[0] * q.sum()"),
    "tuple": (("(x, 1.0)", "(2.0, x)", "(1.0, 1.0)"), "q[0] * x + q[1]"),
    "unpacked": (("(x, 1.0)", "(2.0, x)", "(1.0, 1.0)"), "sum(a * x for a in q)"),
    "list": (("[x, 1.0]", "[2.0, x]", "[1.0, 1.0]"), "q[0] * x + q[-1]"),
    "dict": (("{'c': x}", "{'c': 2.0}", "{'c': 3.0}"), "q['c'] * x"),
    "object": (("Disc(x)", "Disc(2.0)", "Disc(3.0)"), "q.area() * x"),
    "objects of two classes": (("Disc(x)", "Strip(x, 2.0)", "Disc(3.0)"), "q.area() * x"),
    "their attributes": (("Disc(x)", "Strip(x, 2.0)", "Disc(3.0)"), "(q.r if isinstance(q, Disc) else q.h) * x"),
    "their properties": (("Disc(x)", "Strip(x, 2.0)", "Disc(3.0)"), "(x if q.name == 'disc' else x * x)"),
    "function": (("math.sin", "square", "math.exp"), "q(x)"),
    "lambda": (("lambda a: a * x", "lambda a: a + x", "lambda a: 2.0"), "q(x)"),
    "class": (("Disc", "Disc", "Disc"), "q(x).area()"),
    "text": (("'a'", "'b'", "'c'"), "{'a': 1.5, 'b': x, 'c': x * x}[q]"),
    "text compared": (("'a'", "'b'", "'c'"), "(x if q == 'b' else x * x) + (1.0 if q in ('a', 'b') else 2.0)"),
    "text of some": (("'a'", "'bb'", "'c'"), "len(q) * x"),
    "None": (("None", "2.5", "x"), "(x if q is None else q * x)"),
    "bool": (("True", "False", "True"), "(x if q else x * x)"),
    "lists of several lengths": (("[x]", "[2.0, x]", "[1.0, x, x]"), "q[0] * x + len(q)"),
}
TABLES = {
    "dict": "t = {{0: {0}, 1: {1}, 7: {2}}}",
    "from zero": "t = {{0: {0}, 1: {1}, 2: {2}}}\n    k = min(k, 2)",
    "many": "t = {{11 * j: {0} for j in range(9)}}\n    t |= {{0: {0}, 1: {1}, 7: {2}}}",
    "ordered": "t = OrderedDict([(7, {2}), (0, {0}), (1, {1})])",
    "read only": "t = MappingProxyType({{0: {0}, 1: {1}, 7: {2}}})",
    "enum": "t = {{Kind.A: {0}, Kind.B: {1}, Kind.C: {2}}}",
    "pairs": "t = {{(0, 'u'): {0}, (1, 'u'): {1}, (7, 'u'): {2}, 'v': 1.0}}\n    k = (k, 'u')",
    "floats": "t = {{0.0: {0}, 1.0: {1}, 7.0: {2}, 'a': None}}\n    k = k * 1.0",
    "tested": "t = {{0: {0}, 1: {1}, 7: {2}}}\n    if k not in t:\n        return x",
    "get": "t = {{0: {0}, 1: {1}, 7: {2}}}",
    "list": "t = [{0}, {1}, {2}]\n    k = min(k, 2)",
    "tuple": "t = ({0}, {1}, {2})\n    k = min(k, 2)",
    "in a loop": "t = {{0: {0}, 1: {1}, 7: {2}}}",
}
NAMES = {
    "rose": rose, "np": np, "math": math, "Disc": Disc, "Strip": Strip, "Kind": Kind, "Side": Side, "square": square,
    "OrderedDict": OrderedDict, "MappingProxyType": MappingProxyType, "Counter": Counter, "defaultdict": defaultdict,
}  # fmt: skip
CASES = [(table, value) for table in TABLES for value in VALUES]


def _text(table, value):
    items, use = VALUES[value]
    lines = TABLES[table].format(*items)
    if table == "in a loop":
        return f"def f(k: int, x: float) -> float:\n    {lines}\n    y = 0.0\n    for _ in rose.range(3):\n        q = t[k]\n        y += {use}\n    return y"
    read = f"t.get(k, {items[1]})" if table == "get" else "t[k]"
    return f"def f(k: int, x: float) -> float:\n    {lines}\n    q = {read}\n    return {use}"


def _agrees(plain, k, x):
    staged = rose.jit(plain)
    assert staged(k, x) == pytest.approx(plain(k, x), rel=1e-12)
    near = (plain(k, x + 1e-6) - plain(k, x - 1e-6)) / 2e-6
    assert rose.grad(staged, argnums=1)(k, x) == pytest.approx(near, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("table", "value"), part(CASES, 4))
def test_reads(table, value):
    plain = define(_text(table, value), **NAMES)
    for k in (0, 1, 7):
        _agrees(plain, k, 1.25)


@pytest.mark.parametrize("value", [*VALUES][::3])
@pytest.mark.parametrize("table", ["dict", "from zero", "many", "enum", "in a loop"])
def test_a_key_that_there_is_not(table, value):
    text = _text(table, value).replace("k = min(k, 2)", "k = k - 1")
    with pytest.raises(KeyError) as raised:
        rose.jit(define(text, **NAMES))(5, 1.25)
    assert raised.value.args == ((4 if table == "from zero" else 5),)


WRITES = {
    "added": "t[k] += x",
    "assigned": "t[k] = x * x",
    "from itself": "t[k] = t[k] * x + t[0]",
    "twice": "t[k] += x\n    t[1] *= 3.0\n    t[k] -= 1.0",
    "in a branch": "if x > 1.0:\n        t[k] += x\n    else:\n        t[1] = x",
    "in a loop": "for i in rose.range(3):\n        t[k] += x * i",
    "in a loop at its index": "for i in rose.range(3):\n        t[(k + i) % 3] += x * i",
    "unrolled": "for i in range(3):\n        t[(k + i) % 3] += x * i",
    "counted": "for i in range(3):\n        t[k] = t.get(k, 0.0) + i",
}
WRITTEN = {
    "dict": "t = {0: 1.5, 1: x, 2: 2.0}",
    "made": "t = {k: 0.0 for k in range(3)}",
    "counter": "t = Counter({0: 1.5, 1: x, 2: 2.0})",
    "list": "t = [1.5, x, 2.0]",
    "tuples of objects": "t = [Disc(x).r, Disc(2.0).r, x]",
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("made", WRITTEN)
def test_writes(made, write):
    if write == "counted" and "t = [" in WRITTEN[made]:
        return
    total = "sum(np.sum(t[j]) * (j + 1.0) for j in range(3))"
    body = f"    {WRITTEN[made]}\n    {WRITES[write]}\n    return {total}"
    plain = define(f"def f(k: int, x: float) -> float:\n{body}", **NAMES)
    for k in (0, 1, 2):
        _agrees(plain, k, 1.25)


KEYED = {
    "out of order": ("{2: 1.5, 0: x, 1: 2.0}", "k"),
    "not from zero": ("{5: 1.5, 3: x, 4: 2.0}", "k + 3"),
    "negative": ("{-1: 1.5, 0: x, 1: 2.0}", "k - 1"),
    "truths": ("{True: 1.5, False: x}", "k > 0"),
    "one truth": ("{True: x}", "k >= 0"),
    "floats": ("{1.5: 1.5, 0.5: x, 2.5: 2.0}", "k + 0.5"),
    "many": ("{11 * j: x * j for j in range(9)}", "11 * k"),
    "some": ("{'a': 1.5, 2: x, 0: 2.0, 1: x * x, None: 3.0}", "k"),
    "pairs": ("{('u', 2): 1.5, ('u', 0): x, ('u', 1): 2.0}", "('u', k)"),
    "pairs of numbers": ("{(i, j): x * j for i in range(3) for j in range(3)}", "(k, 2 - k)"),
    "pairs of a member": ("{(a, j): x * j for a in Side for j in range(3)}", "(Side.B, k)"),
    "pairs with a text": ("{(a, j): x * j for j in range(3) for a in 'uv'}", "('u' if k > 0 else 'v', k)"),
    "chosen pairs": ("{(1, 'u'): x, (0, 'u'): 2.0}", "((0, 'u') if k > 0 else (1, 'u'))"),
    "texts": ("{'b': 1.5, 'a': x, 'c': 2.0}", "('a' if k == 0 else 'b' if k == 1 else 'c')"),
    "members": ("{Kind.C: 1.5, Kind.A: x}", "(Kind.A if k > 0 else Kind.C)"),
    "members that are no numbers": ("{Side.B: 1.5, Side.A: x}", "(Side.A if k > 0 else Side.B)"),
}
WRITES_OF_KEYS = {
    "added": "t[{0}] += x",
    "assigned": "t[{0}] = x * x",
    "a key in a name": "q = {0}\n    t[q] = t[q] * x + 1.0",
    "in a branch": "if x > 1.0:\n        t[{0}] -= x",
    "in a loop": "for i in rose.range(3):\n        t[{0}] += x * i",
    "by the user's index": "for k in range(3):\n        t[{0}] += x * (k + 1)",
    "by update": "t.update({{{0}: x * x}})",
    "by setdefault": "t[{0}] += t.setdefault({0}, 1.0) * x",
    "in an object": "d = Disc(t)\n    d.r[{0}] *= x\n    t = d.r",
}


@pytest.mark.parametrize("write", WRITES_OF_KEYS)
@pytest.mark.parametrize("keys", KEYED)
def test_writes_at_keys_of_every_kind(keys, write):
    made, key = KEYED[keys]
    total = "sum(v * (j + 1.0) for j, v in enumerate(t.values()))"
    body = f"    t = {made}\n    {WRITES_OF_KEYS[write].format(key)}\n    return {total}"
    plain = define(f"def f(k: int, x: float) -> float:\n{body}", **NAMES)
    for k in (0, 1, 2):
        try:
            _agrees(plain, k, 1.25)
        except (rose.UnsupportedSyntax, rose.StagingTypeError):
            assert write in ("by update", "by setdefault"), "a write is refused"


REFUSED = {
    "t = Counter()\n    t['a' if x > 1.0 else 'b'] += 1\n    return len(t)": "keys",
    "t = {'a': 1.0}\n    x = t[k]": "none of its keys",
    "t = {0: 'a', 1: 'b'}\n    return t[k] + x": "several values",
    "t = {0: [1.0], 1: [x, x]}\n    for v in t[k]:\n        x += v": "several values",
    "t = [Disc(x), Disc(2.0)]\n    return float(t[k] is t[1])": "one object",
    "t = {0: np.ones(2), 1: np.zeros(2)}\n    t[k] += x": "taken",
    "t = {0: 1.0, 1: np.zeros(2)}\n    return np.sum(t[k])": "several values",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_in_the_users_line(text):
    plain = define(f"def f(k: int, x: float):\n    {text}\n    return x", **NAMES)
    with pytest.raises(RoseError, match=REFUSED[text]) as refused:
        rose.jit(plain)(1, 1.25)
    assert refused.value.span is not None
    assert refused.value.help


def test_a_key_is_one_of_two_texts():
    text = "t = defaultdict(float)\n    t['a' if x > 1.0 else 'b'] += x\n    t['b'] += 1\n    return 10.0 * len(t) + max(t.values())"
    plain = define(f"def f(k: int, x: float):\n    {text}", **NAMES)
    for x in (1.25, 0.5):
        assert rose.jit(plain)(1, x) == plain(1, x)


def test_a_new_key_is_one_more():
    plain = define("def f(k: int, x: float):\n    t = {0: 0.0}\n    t[k] = x\n    return t[0] + len(t)", **NAMES)
    f = rose.jit(plain)
    assert [f(k, 2.0) for k in (0, 1, 0)] == [3.0, 2.0, 3.0]


NEW = {
    "t[k] = x": "3", "t[k, 1] = x": r"\(3, 1\)", "t['a' if k < 3 else 'b'] = x": "'b'",
    "try:\n        t[k] = x\n    except KeyError:\n        return -1.0": "3",
    "for i in rose.range(4):\n        t[i] = x": "2",
}  # fmt: skip


@pytest.mark.parametrize("text", NEW)
def test_a_new_key_is_named(text):
    """No handler of the user's waits for it: Python adds the key."""
    head = "def f(k: int, x: float):\n    t = {0: 0.0, 1: 1.0, 'a': 2.0, (1, 1): 3.0}\n"
    plain = define(f"{head}    {text}\n    return t[0]", **{**NAMES, "rose": rose})
    with pytest.raises(RoseError, match=f"new key, {NEW[text]}, and"):
        rose.jit(plain)(3, 2.0)


NAMED = {
    "setattr": "setattr(o, name, x)", "object": "object.__setattr__(o, name, x)", "has": "y = 1.0 * hasattr(o, name)",
    "deleted": "delattr(o, name)", "twice": "setattr(o, name, x)\n    setattr(o, name, o.a + 1.0)",
    "in a loop": "for i in rose.range(3):\n        setattr(o, name, o.a + x)", "got": "y = getattr(o, name, 7.0)",
    "both sides": "setattr(o, name, x)\n    if x > 1.0:\n        setattr(o, name, 5.0)",
}  # fmt: skip


@pytest.mark.parametrize("way", NAMED)
@pytest.mark.parametrize(
    "names", ["'a' if x > 0.0 else 'b'", "'a' if x > 0.0 else 'c'", "'a' if x > 0.0 else 'bb'[:1]"]
)
def test_attributes_whose_name_only_running_tells(way, names):
    f = define(
        f"def f(x: float):\n    y = 0.0\n    o = Thing()\n    o.a, o.b = 1.0, 2.0\n    name = {names}\n    {NAMED[way]}\n"
        "    return y + getattr(o, 'a', 20.0) + 100.0 * getattr(o, 'b', 20.0) + 10000.0 * getattr(o, 'c', 20.0)",
        rose=rose, Thing=type("Thing", (), {}),
    )  # fmt: skip
    for x in (2.0, 0.5, -1.0):
        try:
            wanted = f(x)
        except AttributeError:
            with pytest.raises(AttributeError):
                rose.jit(f)(x)
            continue
        assert rose.jit(f)(x) == wanted


def test_a_table_that_changes_is_read_anew():
    table = {0: 1.5, 1: 2.5}
    staged = rose.jit(define("def f(k: int, x: float):\n    return table[k] * x", table=table))
    assert staged(1, 2.0) == 5.0
    table[1] = 4.0
    assert staged(1, 2.0) == 8.0
    table[3] = 1.0
    assert staged(3, 2.0) == 2.0


JOINED = {
    "an expression": "q = {0} if x > 1.0 else {1}",
    "an if": "if x > 1.0:\n        q = {0}\n    else:\n        q = {1}",
    "one side": "q = {0}\n    if x > 1.0:\n        q = {1}",
    "a chain": "if x > 1.5:\n        q = {0}\n    elif x > 1.0:\n        q = {1}\n    else:\n        q = {0}",
    "an unrolled loop": "q = {0}\n    for i in range(3):\n        if x > i:\n            q = {1}\n        if x > 1.0 + i:\n            q = {0}",
    "a loop": "q = {0}\n    for i in rose.range(3):\n        if x > i + 0.6:\n            q = {1}\n        elif x > 1.0:\n            q = {0}",
    "a loop that asks": "q, r = {0}, 0.0\n    for i in rose.range(5):\n        r += 1.0 if q == {1} else 0.0\n        q = {1} if x > i else {0}",
    "a while": "q, j = {0}, x\n    while j > 1.0:\n        q = {1}\n        j = j - 1.0",
    "an attribute in a loop": "o = Strip({0}, x)\n    for i in rose.range(3):\n        if x > i + 0.6:\n            o.w = {1}\n    q = o.w",
    "of three": "q = {0}\n    if x > 2.0:\n        q = {1}\n    for i in rose.range(3):\n        if x < 1.5:\n            q = {1} if i == 1 else {0}",
    "a helper": "def made(x):\n        if x > 1.0:\n            return {0}\n        return {1}\n    q = made(x)",
}
CONSTANTS = {
    "functions": ("math.sin", "square", "q(x)"),
    "classes": ("Disc", "Disc", "q(x).area()"),
    "texts": ("'a'", "'b'", "{'a': 1.5 * x, 'b': x * x}[q]"),
    "texts compared": ("'a'", "'b'", "(x if q == 'a' else x * x)"),
    "texts matched": ("'a'", "'b'", "(x if q in {'a', 'c'} else x * x)"),
    "members of an enum": ("Side.A", "Side.B", "(x if q is Side.A else x * x)"),
    "keys of an enum": ("Side.A", "Side.B", "{Side.A: x, Side.B: x * x}[q]"),
    "their numbers": ("Kind.A", "Kind.B", "{Kind.A: x, Kind.B: x * x}[q]"),
}


@pytest.mark.parametrize("kind", CONSTANTS)
@pytest.mark.parametrize("join", JOINED)
def test_one_of_two_behind_a_branch(join, kind):
    one, other, use = CONSTANTS[kind]
    plain = define(f"def f(k: int, x: float):\n    {JOINED[join].format(one, other)}\n    return {use}", **NAMES)
    for x in (0.25, 1.25, 1.75, 2.5):
        _agrees(plain, 0, x)


def test_a_chosen_text_is_no_number():
    plain = define("def f(k: int, x: float):\n    q = 'a' if x > 1.0 else 'b'\n    return q + x", **NAMES)
    with pytest.raises(StagingTypeError, match="compare it, use it as a key") as refused:
        rose.jit(plain)(0, 1.0)
    assert refused.value.span is not None


def test_a_dict_that_has_none_of_the_keys():
    def f(x: float):
        counts = {}
        k = "a" if x > 1 else "b"
        counts[k] = counts.get(k, 0) + 1
        return counts["a"]

    with pytest.raises(rose.StagingTypeError, match=r"has none of those[\s\S]*dict.fromkeys\(\['a', 'b'\], 0\)"):
        rose.jit(f)(2.0)
