"""Lists that grow on some paths only: what CPython reads from them, with its derivatives, or a refusal."""

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass

import pytest

import rosejit as rose
from tests import tables
from tests.frontend.oracle import define


@dataclass
class Point:
    x: float
    n: int = 1


class Box:
    def __init__(self):
        self.items = []


def add_small(out, made, v, t):
    if v <= t:
        out.append(made)


WAYS = {
    "append": """
        for v in xs:
            if v <= t:
                out.append(E)
    """,
    "break": """
        for v in xs:
            if v > t:
                break
            out.append(E)
    """,
    "append, break": """
        for v in xs:
            out.append(E)
            if v > t:
                break
    """,
    "break, else": """
        for v in xs:
            if v > t:
                out.append(E)
                break
        else:
            v = t
            out.append(E)
            out.append(E)
    """,
    "continue": """
        for k, v in enumerate(xs):
            if v > t:
                continue
            out.append(E)
    """,
    "unequal sides": """
        for v in xs:
            if v <= t:
                out.append(E)
                v = v * 2
                out.append(E)
            elif v > 2 * t:
                out.append(E)
    """,
    "first given": """
        v = t
        out.append(E)
        for v in xs:
            if v <= t:
                out.append(E)
    """,
    "last given": """
        for v in xs[1:]:
            if v <= t:
                out.append(E)
        v = t
        out.append(E)
    """,
    "nested": """
        for v in xs:
            if v <= t:
                if v > 0.4:
                    out.append(E)
    """,
    "nested loops": """
        for w in xs:
            for v in xs:
                if w < v and v <= t:
                    out.append(E)
    """,
    "plus": """
        for v in xs:
            if v <= t:
                out += [E]
    """,
    "extend": """
        for v in xs:
            if v <= t:
                out.extend([E, E])
    """,
    "helper": """
        for v in xs:
            add_small(out, E, v, t)
    """,
    "host while": """
        k = 0
        while k < len(xs):
            v = xs[k]
            if v <= t:
                out.append(E)
            k += 1
    """,
    "filtered": """
        out = [E for v in xs if v <= t]
    """,
    "filtered twice": """
        out = [E for v in xs if v <= t if v > 0.4]
    """,
    "filtered pairs": """
        out = [E for w in xs for v in xs if w < v and v <= t]
    """,
    "filtered again": """
        side = [v for v in xs if v <= t]
        out = [E for v in side if v > 0.4]
    """,
    "mapped": """
        side = [v for v in xs if v <= t]
        out = [E for v in side]
    """,
    "list of generator": """
        out = list(E for v in xs if v <= t)
    """,
    "filter": """
        out = [E for v in filter(lambda v: v <= t, xs)]
    """,
    "takewhile": """
        out = [E for v in itertools.takewhile(lambda v: v <= t, xs)]
    """,
    "added": """
        left = [E for v in xs if v <= t]
        out = left + [E for v in xs if v > 2 * t]
    """,
    "one side made": """
        if xs[0] <= t:
            v = xs[0]
            made = [E]
            if xs[1] <= t:
                made.append(E)
        else:
            made = []
        out = made
    """,
}
PLACES = {
    "name": ("out = []", "out"),
    "alias": ("out = held = []", "held"),
    "attribute": ("box = Box()\n    out = box.items", "box.items"),
    "dict": ("d = {'a': [], 'b': []}\n    out = d['a']", "d['a']"),
    "list": ("d = [[], []]\n    out = d[1]", "d[1]"),
}
READS = {
    "len": "float(len(out))",
    "sum": "sum(F(v) for v in out)",
    "loop": "LOOP",
    "mean": "sum([F(v) for v in out]) / len(out) if out else -1.0",
    "not": "1.0 if not out else 2.0",
    "last": "F(out[-1]) if out else -1.0",
    "first": "F(out[0]) if len(out) > 0 else -1.0",
    "second": "F(out[1]) if len(out) > 1 else -1.0",
    "last two": "F(out[-2]) if len(out) >= 2 else -1.0",
    "fails first": "F(out[0])",
    "fails last": "F(out[-1])",
    "at": "F(out[k]) if k < len(out) else -1.0",
    "max": "max([F(v) for v in out], default=-1.0)",
    "min by": "F(min(out, key=F)) if out else -1.0",
    "max fails": "max(F(v) for v in out)",
    "sorted": "sum(i * F(v) for i, v in enumerate(sorted(out, key=F)))",
    "enumerate": "sum(i * F(v) for i, v in enumerate(out))",
    "reversed": "sum(math.exp(-0.1 * i) * F(v) for i, v in enumerate(reversed(out)))",
    "any": "1.0 if any(F(v) > 0.9 for v in out) else 0.0",
    "all": "1.0 if all(F(v) > 0.6 for v in out) else 0.0",
    "next": "F(next(iter(out), None)) if out else -1.0",
    "next of": "next((F(v) for v in out if F(v) > 0.51), -1.0)",
    "next fails": "next(F(v) for v in out if F(v) > 0.51)",
    "copy": "sum(F(v) for v in list(out)) + len(out.copy())",
    "slice": "sum(F(v) for v in out[1:]) + 10 * len(out[:2])",
    "in": "1.0 if out and out[0] in out else 0.0",
    "pairs": "sum(F(a) * F(b) for a, b in zip(out, out[1:]))",
    "pop": "F(out.pop()) + 10 * len(out) if out else -1.0",
    "unpacked": "len([*out]) + sum(F(v) for v in (*out,))",
    "reduce": "functools.reduce(lambda s, v: 0.5 * s + F(v), out, 1.0)",
    "equal": "1.0 if out == [] else 2.0",
    "tuple": "float(len(tuple(out)))",
}
KINDS = {
    "float": ("v", "F = lambda v: v"),
    "int": ("int(10 * v)", "F = lambda v: float(v)"),
    "tuple": ("(v, 2 * v)", "F = lambda v: v[0] + v[1]"),
    "object": ("Point(v * v)", "F = lambda v: v.x + v.n"),
}
LOOP = """
    total, last = 0.0, -1.0
    for v in out:
        if F(v) > 3.01:
            break
        total = 0.5 * total + F(v)
        last = F(v)
    return total + 10 * last
"""
CALLS = [([0.53, 1.07, 1.5], 1.2, 0), ([0.53, 0.3, 0.71], 1.2, 1), ([1.5, 2.9, 1.7], 1.2, 0), ([2.9, 0.3, 1.1], 1.2, 1)]
SCOPE = {
    "Point": Point, "Box": Box, "add_small": add_small, "math": math, "functools": functools, "itertools": itertools,
    "rose": rose, "Counter": Counter,
}  # fmt: skip


def program(way, place, read, kind):
    element, key = KINDS[kind]
    begun, out = PLACES[place]
    body = WAYS[way].replace("E", element).replace("\n    ", "\n")
    reading = (LOOP if READS[read] == "LOOP" else f"\n    return {READS[read]}\n").replace("out", out)
    return f"def f(xs: list[float], t: float, k: int):\n    {key}\n    {begun}\n{body.rstrip()}\n{reading}"


def outcome(run, args):
    try:
        return run(*args)
    except rose.RoseError as error:
        return error if isinstance(error, (rose.UnsupportedSyntax, rose.StagingTypeError)) else type(error).__name__
    except (IndexError, ValueError, StopIteration, RuntimeError) as error:
        return type(error).__name__


def slopes(f, args):
    xs, t, k = args
    made = []
    for i in range(len(xs)):
        up, down = list(xs), list(xs)
        up[i] += 1e-6
        down[i] -= 1e-6
        made.append((f(up, t, k) - f(down, t, k)) / 2e-6)
    return made


def verdict(way, place, read, kind):
    """ "right", or "refused" with the words, or "wrong" with what came out."""
    plain = define(program(way, place, read, kind), **SCOPE)
    staged = rose.jit(plain)
    for args in CALLS:
        expected, found = outcome(plain, args), outcome(staged, args)
        if isinstance(found, rose.RoseError):
            return "refused", str(found)
        if isinstance(expected, str) or isinstance(found, str):
            names = {expected, found}
            if len(names) > 1 and names != {"StopIteration", "RuntimeError"}:
                return "wrong", f"{args}: {found} for {expected}"
            continue
        if found != pytest.approx(expected, rel=1e-12):
            return "wrong", f"{args}: {found} for {expected}"
        if kind != "int" and rose.grad(staged)(*args) != pytest.approx(slopes(plain, args), rel=1e-5, abs=1e-6):
            return "wrong", f"{args}: gradient {rose.grad(staged)(*args)} for {slopes(plain, args)}"
    return "right", ""


PLAIN = [way for way in WAYS if "out." in WAYS[way] or "out +=" in WAYS[way] or "helper" in way]
CASES = [
    (way, place, read, kind)
    for way, place, read, kind in itertools.product(WAYS, PLACES, READS, KINDS)
    if place == "name" or way in PLAIN
]


@pytest.mark.parametrize(("way", "place", "read", "kind"), tables.part(CASES, 131))
def test_what_is_read_is_what_cpython_reads(way, place, read, kind):
    found, words = verdict(way, place, read, kind)
    assert found == "right" or (read, kind) == ("next", "int"), words
