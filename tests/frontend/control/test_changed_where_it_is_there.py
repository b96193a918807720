"""Objects that may be None are changed where they are there; keys and members that running chooses, of which some are
excluded. Ways to come to be x ways to be used, against CPython: as there, or refused where it is said here."""

from dataclasses import dataclass
from enum import Enum
from itertools import product

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part


@dataclass
class P:
    v: float
    w: float = 0.0


class Kind(Enum):
    FLOOR = 1
    WALL = 2


MADE = {
    "p = P(x) if x > 0 else None": "",
    "p = None\nif x > 0:\n    p = P(x)": "",
    "o = P(2.0)\np = o if x > 0 else None": "t += 100.0 * o.v",
    "o = P(x)\np = None\nif x > -1:\n    p = o": "t += 100.0 * o.v",
    "p = None\nif x > 0:\n    p = P(x)\nelif x > -1:\n    p = P(-x)": "",
    "p = None\nfor k in range(3):\n    if x * k > 1.0 and p is None:\n        p = P(x * k)": "",
    "p = None\nfor k in rose.range(3):\n    if x * k > 0.4:\n        p = P(x * k)": "",
    "ps = [P(1.0), P(x), P(2 * x)]\np = None\nfor q in ps:\n    if p is None and q.v > 0.5:\n        p = q": "t += 7.0 * ps[1].v",
    "p = P(x) if x > 0 else None\nr = p": "t += 100.0 * (r.v if r is not None else 3.0)",
    "p = P(x) if x > 0 else None\nl = [p, P(1.0)]": "t += 100.0 * (l[0].v if l[0] is not None else 3.0)",
}  # fmt: skip
"""And what else may have changed."""
USED = (
    "if p is not None:\n    p.v += 1.0",
    "if p is not None:\n    p.w = x * 3\n    p.v = p.w + p.v",
    "if p is None:\n    return -7.0\np.v *= 2.0",
    "if p is not None:\n    for k in range(3):\n        p.v += k",
    "if p is not None:\n    for k in rose.range(3):\n        p.v += k * x",
    "while p is not None and p.v < 5.0:\n    p.v += 1.0",
    "if p is not None:\n    p.v += 1.0\nif p is not None and p.v > 2.0:\n    p.w += p.v",
)


def staged(body):
    lines = "".join(f"    {line}\n" for line in body.split("\n") if line)
    f = define(f"def f(x: float):\n{lines}", P=P, Kind=Kind, rose=rose)
    return f, rose.jit(f)


@pytest.mark.parametrize(("made", "used"), part([*product(MADE, USED)], 2))
def test_an_object_is_changed_where_it_is_there(made, used):
    end = f"t = 0.0 if p is None else p.v + 10.0 * p.w\n{MADE[made]}\nreturn t"
    f, g = staged("\n".join([made, used, end]))
    for x in (0.7, -0.5, -2.0, 1.3):
        try:
            assert g(x) == pytest.approx(f(x), rel=1e-12)
        except rose.RoseError as error:
            assert "o.v" in end, error
            assert "read it from where it was changed" in str(error)


def test_what_may_be_none_is_asked_which_member_it_is():
    choices = ("None", "Kind.FLOOR", "Kind.WALL")
    asked = ("p is q", "p is not q", "p is Kind.FLOOR", "Kind.WALL is not p", "p is None", "q is p")
    for k, (a, b, c, test) in enumerate(product(choices, choices, choices, asked)):
        if k % 5:
            continue
        body = f"p = {a}\nif x > 0:\n    p = {b}\nelif x > -1:\n    p = {c}\nq = {b}\nif x > 1:\n    q = {a}"
        f, g = staged(f"{body}\nreturn 1.0 if {test} else 2.0")
        for x in (2.0, 0.5, -0.5, -2.0):
            assert g(x) == f(x), body


KEYS = {
    "read": ("t = {'go': 3.0}\nif k != 'end':\n    return t[k] * x\nreturn -1.0", KeyError),
    "written": ("t = {'go': 3.0, 'on': 1.0}\nif k != 'end':\n    t[k] += x\nreturn t['go'] + t['on'] * 10", None),
    "a table of states": (
        "t = {'go': lambda v: ('on', v * 0.5), 'on': lambda v: ('go' if v > 0.3 else 'end', v - 0.1)}\nn, s = 0, 'go'\n"
        "while s != 'end':\n    s, x = t[s](x)\n    n += 1\nreturn x + n",
        None,
    ),
    "not excluded": ("t = {'go': 3.0, 'on': 2.0}\nreturn t[k] * x", KeyError),
    "a new key": ("t = {'go': 3.0}\nt[k] = x\nreturn t['go']", rose.StagingTypeError),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_that_a_dict_has_not(name):
    body, error = KEYS[name]
    f, g = staged(f"k = 'go' if x > 0 else 'on' if x > -1 else 'end'\n{body}")
    for x in (0.7, -0.5, -2.0):
        found = []
        for run in (g, f):
            try:
                found.append(run(x))
            except (KeyError, rose.StagingTypeError) as raised:
                found.append(type(raised))
        assert found[0] == pytest.approx(found[1]) if not isinstance(found[0], type) else found[0] is error


RETURNED = {
    "object": ("p = P(x)", "p.v", "p.v += {0}"),
    "list": ("p = [x, 1.0]", "p[0]", "p[0] += {0}"),
    "dict": ("p = {'a': x}", "p['a']", "p['a'] += {0}"),
    "nested": ("p = [P(x), P(1.0)]", "p[0].v", "p[0].v += {0}"),
    "two names": ("p = q = P(x)", "p.v", "q.v += {0}"),
    "rebound": ("p = P(x)", "p.v", "p = P(p.v + {0})"),
    "moved": ("p = [[x], [1.0]]", "p[0][0]", "p[0], p[1] = [p[1][0] + {0}], p[0]"),
}
LOOPS = {
    "for": "for k in range(3):\n    if READ > 0.65:\n        return p\n    CHANGE\nreturn p",
    "else": "for k in range(3):\n    if READ > 0.65:\n        break\n    CHANGE\nelse:\n    CHANGE\nreturn p",
    "staged": "for k in rose.range(3):\n    if READ > 0.65:\n        return p\n    CHANGE\nreturn p",
    "while": "while READ < 3.0:\n    if READ > 0.65:\n        return p\n    CHANGE\nreturn p",
    "if": "if READ > 0.65:\n    return p\nCHANGE\nif READ > 0.65:\n    return p\nCHANGE\nreturn p",
    "late": "for k in range(3):\n    if READ > 0.65:\n        return p\n    CHANGE\nCHANGE\nreturn p",
    "nested": "for k in range(2):\n    for j in range(2):\n        if READ > 0.65 + k:\n            return p\n        CHANGE\n"
    "    CHANGE\nreturn p",
    "another name": "best = p\nfor k in range(3):\n    if READ > 0.65:\n        return best\n    CHANGE\nreturn best",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", RETURNED)
def test_a_loop_changes_what_it_returns_early(kind, loop):
    made, read, change = RETURNED[kind]
    body = LOOPS[loop].replace("READ", read).replace("CHANGE", change.format("0.1"))
    lines = "".join(f"    {line}\n" for line in f"{made}\n{body}".split("\n"))
    text = f"def f(x: float):\n    p = g(x)\n    {change.format('1.0').replace('q.', 'p.')}\n    return p"
    for after in (text, "def f(x: float):\n    return g(x)"):
        f = define(f"def g(x: float):\n{lines}\n{after}", P=P, rose=rose)
        for x in (0.7, -0.5, 0.5, 0.6):
            try:
                assert repr(rose.jit(f)(x)) == repr(f(x))
            except rose.RoseError:
                assert loop in ("staged", "while")
