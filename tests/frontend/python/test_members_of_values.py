"""`Enum(value)` and `Enum[name]` of what only running tells: enumerations x values x uses, against CPython."""

import enum
import re
import textwrap

import pytest

import rosejit as rose
from rosejit.numeric import np
from tests.frontend.oracle import define
from tests.tables import crossed


class Op(enum.IntEnum):
    PUSH = 0
    ADD = 1
    MUL = 2

    @property
    def arity(self):
        return 0 if self is Op.PUSH else 2


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    ROT = 1
    BLUE = 5

    def weight(self):
        return 2.0 * self.value


class Far(enum.Enum):
    A = -70000
    B = 2
    C = 0.5


class Word(str, enum.Enum):
    A = "RED"
    B = "BLUE"


class Pair(enum.Enum):
    LOW = (0, 1)
    HIGH = (1, 0)


ENUMS = {"Op": Op, "Color": Color, "Far": Far, "Word": Word, "Pair": Pair}
VALUES = {  # of x and n; the enumerations that they are values, or names, of
    "n": ("Op", "Color", "Far"),
    "n % 3": ("Op", "Color", "Far"),
    "int(x)": ("Op", "Color", "Far"),
    "x": ("Op", "Color", "Far"),
    "x > 1": ("Op", "Color", "Far"),
    "codes[n % 4]": ("Op", "Color", "Far"),
    "(2 if x > 1 else n)": ("Op", "Color", "Far"),
    "('RED' if x > 1 else 'BLUE')": ("Word",),
    "('RED' if x > 1 else 'BLUE' if n > 2 else 'NONE')": ("Word",),
    "(n % 3, 1 - n % 3)": ("Pair",),
    "Op(n)": ("Op",),
}
NAMES = {"('RED' if x > 1 else 'BLUE')": "Color", "('RED' if x > 1 else 'ROT' if n > 2 else 'NONE')": "Color"}
MADE = [f"{e}({value})" for value, enums in VALUES.items() for e in enums]
MADE += [f"{e}[{name}]" for name, e in NAMES.items()]
USES = {
    "result": "return {m}",
    "name": "m = {m}\nreturn m.name, m.value",
    "branches": "m = {m}\nif m is first:\n    return x\nelif m == last:\n    return x * x\nreturn -x",
    "key": "return {{e: k * x for k, e in enumerate(E)}}[{m}]",
    "handler": "try:\n    m = {m}\nexcept (ValueError, KeyError):\n    return -x\nreturn x if m is first else 2.0 * x",
    "for": "t = 0.0\nfor n in range(n):\n    t = t * x + (1.0 if {m} is first else x)\nreturn t",
    "while": "t = 0.0\nwhile n > 0:\n    m = {m}\n    if m is not last:\n        t = t + x\n    n = n - 1\nreturn t",
    "match": "match {m}:\n    case Op.ADD | Color.RED | Far.B | Word.A | Pair.LOW:\n        return x\n    case _:\n        return 3.0",
    "attribute": "class Box:\n    pass\nb = Box()\nb.kind = first\nif x > 0:\n    b.kind = {m}\nreturn b.kind.name, b.kind in (first, last)",
    "list": "ms = [{m}, first]\nreturn sum(1.0 for m in ms if m is first) * x",
}


def outcome(f, *args):
    try:
        return f(*args)
    except (ValueError, KeyError) as error:
        return type(error), re.sub(r"np\.int64\((\d)\)", r"\1", str(error))


@pytest.mark.parametrize(("made", "use"), crossed(MADE, USES, 6))
def test_the_member_with_a_value(made, use):
    cls = ENUMS[made.split("(")[0].split("[")[0]]
    text = "def f(x: float, n: int):\n" + textwrap.indent(USES[use].format(m=made), "    ")
    codes = np.array([1, 2, 2, 5])
    plain = define(text, E=cls, first=[*cls][0], last=[*cls][-1], codes=codes, **ENUMS)
    f = rose.jit(plain)
    for x, n in ((1.0, 1), (2.0, 2), (0.5, 0), (0.5, 5), (2.0, -70000), (-1.0, 3)):
        if n < 0 and use in ("for", "while"):
            continue
        wanted, found = outcome(plain, x, n), outcome(f, x, n)
        assert found == wanted
        assert type(found) is type(wanted)


def test_methods_and_numbers_of_members():
    @rose.jit
    def f(x: float, n: int) -> float:
        return Op(n).arity * x + Color(n + 1).weight() + Op(n) * 10

    assert [f(1.5, n) for n in (0, 1)] == [2.0, 3.0 + 4.0 + 10.0]
    assert rose.grad(f)(1.5, 1) == 2.0


class Bits(enum.Flag):
    A = 1
    B = 2


class Kind(enum.Enum):
    A = 1

    @classmethod
    def _missing_(cls, value):
        return cls.A


@pytest.mark.parametrize("made", ["Bits(n)", "Kind(n)", "Word(n)", "Pair(n)"])
def test_what_is_refused(made):
    f = define(f"def f(x: float, n: int):\n    return {made}.name", Bits=Bits, Kind=Kind, Word=Word, Pair=Pair)
    with pytest.raises(rose.StagingTypeError, match="member"):
        rose.jit(f)(1.0, 1)
