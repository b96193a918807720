"""What has an effect on the host is refused in staged branches and loops, and what has none is accepted there."""

import array
import bisect
import collections
import contextlib
import dataclasses
import datetime
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import logging
import math
import operator
import os
import queue
import re
import statistics
import string
import textwrap
import threading
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit
from rosejit.errors import UnsupportedSyntax
from tests.frontend.oracle import agrees, define, evaluate, fault, says


class Thing:
    """An object with a dictionary."""

    def __init__(self):
        self.items = [1.0]


def _counting():
    while True:
        yield 1.0


OBJECTS: dict[str, tuple[Any, str, tuple[Any, ...], Any]] = {
    "list": (lambda: [1.0], "append", (2.0,), list),
    "list, deleted": (lambda: [1.0], "__delitem__", (0,), list),
    "list, in place": (lambda: [1.0], "__iadd__", ([2.0],), list),
    "dict": (lambda: {"a": 1.0}, "update", ({"b": 2.0},), dict),
    "dict, filled": (lambda: {"a": 1.0}, "setdefault", ("b", 2.0), dict),
    "set": (lambda: {1}, "add", (2,), set),
    "bytearray": (lambda: bytearray(b"a"), "extend", (b"b",), bytes),
    "array": (lambda: array.array("d", [1.0]), "append", (2.0,), list),
    "Counter": (collections.Counter, "update", (["hit"],), dict),
    "deque": (lambda: collections.deque([1.0]), "appendleft", (2.0,), list),
    "OrderedDict": (lambda: collections.OrderedDict(a=1, b=2), "move_to_end", ("a",), list),
    "defaultdict": (lambda: collections.defaultdict(list), "update", ({"b": 2.0},), dict),
    "UserList": (lambda: collections.UserList([1.0]), "append", (2.0,), list),
    "UserDict": (lambda: collections.UserDict(a=1), "update", ({"b": 2.0},), dict),
    "ChainMap": (lambda: collections.ChainMap({"a": 1}), "update", ({"b": 2.0},), dict),
    "StringIO": (lambda: io.StringIO("a\nb"), "readline", (), lambda q: q.tell()),
    "StringIO, written": (lambda: io.StringIO("a"), "write", ("b",), lambda q: q.getvalue()),
    "Queue": (queue.Queue, "put", (1.0,), lambda q: q.qsize()),
    "SimpleQueue": (queue.SimpleQueue, "put", (1.0,), lambda q: q.qsize()),
    "attributes": (lambda: Thing().__dict__, "__setitem__", ("a", 1.0), dict),
    "memoryview": (lambda: memoryview(bytearray(b"a")), "__setitem__", (0, 65), bytes),
    "ExitStack": (contextlib.ExitStack, "callback", (len, ""), lambda q: len(q._exit_callbacks)),
    "environment": (lambda: os.environ, "update", ({"ROSE_NO_SUCH": "1"},), dict),
    "count": (itertools.count, "__next__", (), repr),
    "generator": (_counting, "send", (None,), lambda q: q.gi_frame.f_lasti),
    "Event": (threading.Event, "set", (), lambda q: q.is_set()),
    "Logger": (lambda: logging.getLogger("rose-test"), "setLevel", (10,), lambda q: q.level),
}
WAYS = {
    "method": "q.{name}(*a)",
    "unbound": "type(q).{name}(q, *a)",
    "partial": "functools.partial(q.{name}, *a)()",
    "partial of the class": "functools.partial(type(q).{name}, q)(*a)",
    "methodcaller": "operator.methodcaller('{name}', *a)(q)",
    "getattr": "getattr(q, '{name}')(*a)",
    "handed on": "apply(q.{name}, *a)",
    "map": "list(map(lambda _: q.{name}(*a), [0]))",
    "key": "max([1, 2], key=lambda _: q.{name}(*a) or 0)",
}
PLACES = {
    "if": "if x > 9.0:\n    {call}",
    "else": "if x < 9.0:\n    x = x + 1.0\nelse:\n    {call}",
    "loop": "for k in rose.range(n):\n    {call}",
    "while": "while x > 9.0:\n    x = x - 1.0\n    {call}",
    "and": "t = x > 9.0 and ({call}) is None",
    "or": "t = x < 9.0 or ({call}) is None",
    "conditional": "t = ({call}) is None if x > 9.0 else True",
    "comprehension": "t = [({call}) is None for k in rose.range(n)]",
    "helper": "if x > 9.0:\n    helper(q)",
}
SCOPE = {
    "rose": rosejit, "functools": functools, "operator": operator, "collections": collections, "fractions": fractions,
    "queue": queue, "io": io, "datetime": datetime, "re": re, "json": json, "math": math, "itertools": itertools,
    "heapq": heapq, "bisect": bisect, "np": np, "enum": enum, "dataclasses": dataclasses, "statistics": statistics,
    "string": string, "textwrap": textwrap, "NamedTuple": NamedTuple, "contextlib": contextlib, "os": os, "time": time,
    "logging": logging, "threading": threading,
}  # fmt: skip


def function(place: str, call: str, **scope: Any) -> Any:
    """`f(x, n)`, in which a call stands at a place."""
    body = textwrap.indent(PLACES[place].format(call=call), "            ")
    return define(
        f"""
        def apply(called, *given): return called(*given)
        def helper(q):
            return {call}
        def f(x: float, n: int):
{body}
            return x
    """,
        **SCOPE,
        **scope,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OBJECTS)
def test_what_changes_the_host_is_refused(kind, way):
    make, name, args, state = OBJECTS[kind]
    for place in PLACES:
        changed = make()
        before = state(changed)
        error = fault(function(place, WAYS[way].format(name=name), q=changed, a=args), 1.0, 2)
        assert isinstance(error, UnsupportedSyntax), (place, error)
        assert error.span is not None, place
        assert state(changed) == before, place


CALLS = {
    "open": "open(os.devnull, 'w')",
    "print to a file": "io.open(os.devnull)",
    "sleep": "time.sleep(0)",
    "clock": "time.time()",
    "today": "datetime.datetime.now()",
    "log": "logging.info('%s', 1)",
    "environment": "os.putenv('ROSE_NO_SUCH', '1')",
    "thread": "threading.Thread(target=len)",
    "islice": "list(itertools.islice(q, 2))",
    "zip": "list(zip([1], q))",
    "sum": "sum(itertools.takewhile(lambda v: v < 3, q))",
    "setattr of a module": "setattr(math, 'no_such', 1)",
    "exec": "exec('1')",
    "numpy": "np.seterr(all='ignore')",
    "heappush": "heapq.heappush(held, 1)",
    "insort": "bisect.insort(held, 1)",
    "setitem": "operator.setitem(held, 0, 1)",
    "iadd": "operator.iadd(held, [1])",
    "missing": "missing['a']",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_effects_are_refused(name):
    for place in PLACES:
        held, missing = [0.5], collections.defaultdict(list)
        error = fault(function(place, CALLS[name], q=itertools.count(), held=held, missing=missing), 1.0, 2)
        assert isinstance(error, UnsupportedSyntax), (place, error)
        assert held == [0.5]
        assert not missing


@pytest.mark.parametrize("manager", ["threading.Lock()", "contextlib.ExitStack()", "contextlib.closing(q)"])
def test_objects_of_with_that_have_effects(manager):
    source = """
        def f(x: float):
            if x > 1.0:
                with held:
                    x = x + 1.0
            return x
    """
    error = fault(define(source, **SCOPE, held=eval(manager, {**SCOPE, "q": io.StringIO()})), 2.0)
    assert isinstance(error, UnsupportedSyntax)
    says(error, "may have an effect", line="with held", help="rose.opaque")


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1.0
    BLUE = 2.0


class Point(NamedTuple):
    """A named tuple."""

    a: float
    b: float = 2.0


@dataclasses.dataclass
class Record:
    """A dataclass."""

    a: float
    b: float = 3.0


class Config(dict):
    """A dict whose keys are attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


ACCEPTED = [
    "len('a,b'.split(',')) + 'abc'.index('c') + len('a'.upper().join(['b', 'c']))",
    "table.get('a', 0.0) + sum(table.values()) + len(list(table.items())) + ('a' in table)",
    "items.index(2.0) + items.count(1.0) + sum(items) + len(sorted(items)) + max(items)",
    "math.fsum(items) + math.comb(4, 2) + math.gcd(4, 6)",
    "operator.add(1.0, 2.0) + operator.itemgetter(0)(items) + operator.attrgetter('a')(point)",
    "sum(a * b for a, b in itertools.product(items, items)) + len(list(itertools.chain(items, items)))",
    "len(list(itertools.islice(itertools.count(), 3))) + sum(itertools.accumulate(items))",
    "float(fractions.Fraction(1, 3) + fractions.Fraction(1, 6)) + fractions.Fraction(3, 4).limit_denominator(2)",
    "(datetime.date(2020, 3, 1) - datetime.date(2020, 2, 1)).days + datetime.timedelta(hours=1).total_seconds()",
    "len(re.match('a+', 'aab').group()) + len(re.findall('a', 'aab')) + len(re.sub('a', 'bb', 'aa'))",
    "len(json.dumps({'a': [1, 2]})) + json.loads('[1.5]')[0]",
    "float(np.linalg.norm(np.ones(4))) + float(np.polyfit([0.0, 1.0], [1.0, 2.0], 1)[0]) + np.ones(3).size",
    "isinstance(items, list) + hasattr(point, 'a') + getattr(point, 'b') + callable(len) + (id(items) == id(items))",
    "Point(1.0).a + Point(1.0)._replace(b=5.0).b + point._asdict()['a'] + Point._make(items[:2]).b",
    "Record(1.0).b + dataclasses.replace(Record(1.0), a=2.0).a + dataclasses.asdict(Record(1.0))['b']",
    "Colour.RED.value + Colour['BLUE'].value + Colour(2.0).value + len(list(Colour)) + (Colour.RED is Colour(1.0))",
    "statistics.mean(items) + bisect.bisect(items, 1.5) + heapq.nlargest(1, items)[0]",
    "functools.reduce(lambda a, b: a + b, items) + functools.partial(max, 1.0)(2.0) + sum(map(abs, items))",
    "len(string.Template('$a').substitute(a='b')) + len(f'{1.5:.2f}' + '%d' % 3 + '{}'.format(2))",
    "collections.Counter('aab')['a'] + collections.Counter('aab').most_common(1)[0][1]",
    "len(collections.deque(items, maxlen=1)) + collections.ChainMap(table, {})['a']",
    "config.a + Config(a=2.0).a + Config(b=1)['b']",
    "int('12') + float('1.5') + complex(1, 2).real + round(2.5) + abs(-1) + divmod(7, 2)[1] + pow(2, 3) + ord('a')",
    "len(bytes(3)) + len(frozenset(items)) + len(range(3)) + slice(1, 2).stop + len(dict(a=1)) + len(tuple(items))",
    "(3).bit_length() + (1.5).is_integer() + (1.5).as_integer_ratio()[0] + int.from_bytes(b'a', 'big')",
    "len(os.path.join('a', 'b')) + len(textwrap.dedent('  a'))",
    "operator.methodcaller('index', 2.0)(items) + list.index(items, 2.0) + items.__len__() + str.upper('a').count('A')",
    "cached(2) + sum(1 for _ in zip(items, reversed(items))) + any(v > 1 for v in items) + all(items)",
    "sorted(items, key=lambda v: -v)[0] + max(items, key=lambda v: -v)",
    "made()",
]
SETUP = """
    @functools.lru_cache(None)
    def cached(n): return 2.0 * n
    class Base:
        def __init__(self, k): self.k = k
    class Derived(Base):
        def __new__(cls, k): return super().__new__(cls)
        def __init__(self, k):
            super().__init__(k)
            self.stack = collections.deque()
            self.stack.append(k)
    @contextlib.contextmanager
    def doubled(v): yield 2 * v
    def made():
        q, c, b, h = queue.Queue(), collections.Counter(), io.StringIO(), []
        q.put(1.0)
        c.update('aab')
        b.write('abc')
        heapq.heappush(h, 2.0)
        heapq.heappush(h, 1.0)
        bisect.insort(h, 1.5)
        u = collections.UserList([1.0])
        u.append(2.0)
        d = collections.defaultdict(float)
        d['a'] += 1.0
        with doubled(3.0) as y, contextlib.suppress(KeyError):
            h.extend([y])
        return q.get() + c['a'] + len(b.getvalue()) + heapq.heappop(h) + sum(h) + Derived(2.0).stack[0] + len(u) + d['a']
"""


@pytest.mark.parametrize("expression", ACCEPTED)
def test_what_has_no_effect_is_accepted(expression):
    blocks = {
        "if": f"if x > 1.0:\n    x = x + ({expression})",
        "loop": f"for k in rose.range(2):\n    x = x + ({expression})",
        "helper": "if x > 1.0:\n    x = x + helper()",
    }
    for block in blocks.values():
        source = textwrap.dedent(SETUP) + textwrap.dedent(f"""
            def helper(): return {expression}
            def f(x: float):
            {{block}}
                return x
        """).replace("{block}", textwrap.indent(block, "    "))
        scope = {
            "table": {"a": 1.0},
            "items": [1.0, 2.0, 3.0],
            "point": Point(1.0),
            "config": Config(a=1.0),
            "Point": Point,
            "Record": Record,
            "Colour": Colour,
            "Config": Config,
        }
        agrees(define(source, **SCOPE, **scope), (0.5,), (2.0,))


FRESH = [
    "[0.0] * 2", "a + b", "a.copy()", "a[:]", "list(a)", "b * 2", "[v for v in a]", "sorted(a)", "list(map(abs, a))",
    "list(dict.fromkeys(a))", "[*a, *b]", "np.ones(2).tolist()", "copy.copy(a)", "copy.deepcopy(a)", "(a + b)[1:]",
    "[float(t) for t in '1 2'.split()]", "list({'a': 1.0, 'b': 2.0}.values())",
]  # fmt: skip


@pytest.mark.parametrize("expression", FRESH)
@pytest.mark.parametrize("block", ["if x > 1.0:", "for k in rose.range(3):"])
def test_fresh_lists_belong_to_the_block(expression, block):
    import copy

    source = f"""
        def f(x: float):
            a, b, t = [1.0, 2.0], [3.0, 4.0], x
            {block}
                c = {expression}
                c[0] += x
                c.append(x)
                t = t + c[0] * c[-1]
            return t + a[0] + b[0]
    """
    agrees(define(source, rose=rosejit, np=np, copy=copy), (0.5,), (2.0,))


@pytest.mark.parametrize(
    "expression", ["a | b", "a.copy()", "dict(a)", "{**a}", "dict.fromkeys('ab', 1.0)", "collections.Counter('ab')"]
)
def test_fresh_dicts_belong_to_the_block(expression):
    source = f"""
        def f(x: float):
            a, b = {{'a': 1.0}}, {{'b': 2.0}}
            for k in rose.range(3):
                c = {expression}
                c['a'] = 3.0
                c.update(z=2.0)
                x = x * c['a'] + len(c)
            return x + a['a']
    """
    agrees(define(source, rose=rosejit, collections=collections), (0.5,))


# --- what the user says


def test_what_is_declared_pure_is_called():
    known = {}

    def look(n):
        known[n] = known.get(n, 0) + 1
        return 2.0 * n

    class Table:
        def at(self, n):
            known["at"] = n
            return 1.0 * n

    table = Table()
    scope = {
        "look": rosejit.pure(look),
        "table": table,
        "at": rosejit.pure(table.at),
        "clock": rosejit.pure(time.gmtime),
    }
    source = """
        def f(x: float):
            if x > 1.0:
                x = x + look(2) + table.at(3) + at(4) + 0 * len(clock(0))
            return x
    """
    assert evaluate(define(source, **scope), 2.0) == 2.0 + 4.0 + 3.0 + 4.0
    assert known == {2: 1, "at": 4}


def test_pure_takes_what_can_be_called():
    with pytest.raises(TypeError, match="something that can be called, given int"):
        rosejit.pure(1)


def test_a_function_that_cannot_be_rewritten_is_refused_in_a_branch():
    source = """
        count = 0
        def bump():
            global count
            count += 1
        def f(x: float):
            if x > 1.0:
                bump()
            return x
    """
    f = define(source)
    assert isinstance(fault(f, 0.5), UnsupportedSyntax)
    assert f.__globals__["count"] == 0


# --- outside of blocks

CHANGES = {
    "counts['calls'] += 1": "counts",
    "counts.update(['calls'])": "counts",
    "seen.append(1.0)": "seen",
    "list.append(seen, 1.0)": "seen",
    "seen += [1.0]": "seen",
    "heapq.heappush(seen, 1.0)": "seen",
    "thing.items.append(1.0)": "thing.items",
    "thing.calls = 1": "thing",
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_that_cost_a_staging_each_are_warned_of(change):
    source = f"""
        counts, seen, thing = collections.Counter(), [], Thing()
        def f(x: float):
            global_reads = (counts, seen, thing)
            {change}
            return x
    """.replace("seen += [1.0]", "seen.extend([1.0])")
    f = define(source, **SCOPE, Thing=Thing)
    with pytest.warns(rosejit.StagingWarning, match="is changed while the function is staged") as told:
        assert evaluate(f, 1.0) == 1.0
    assert len(told) == 1
    assert told[0].lineno == 5
    assert told[0].filename == f.__code__.co_filename


def test_what_a_function_made_itself_is_not_warned_of():
    source = """
        def f(x: float):
            items, table = [1.0], {}
            items.append(2.0)
            table["a"] = x
            heapq.heappush(items, 0.5)
            return x + sum(items) + table["a"]
    """
    agrees(define(source, **SCOPE), (1.0,))
