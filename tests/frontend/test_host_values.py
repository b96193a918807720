"""Host values of every kind, met in every place, changed in every way between two calls: nothing stale is run.

A cell is a kind, a place and a change. Each program is run with `rose.jit` and with nothing in its place: after each
change both must give the same, and a call after which nothing has changed must stage nothing.
"""

import builtins
import linecache
import math
import re
import textwrap
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError

PRELUDE = textwrap.dedent('''
    import abc, array, builtins, collections, contextvars, ctypes, gc, importlib, logging, mmap, os, sys, tempfile, dataclasses, decimal, enum, fractions, functools, itertools
    import math, operator, pathlib, types, typing, weakref
    import numpy as np
    from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
    from types import MappingProxyType, SimpleNamespace

    MADE, DIRECTORIES, TWO = [], [], np.float64(2.0)

    def keep(value):
        """Something only weak references lead to from elsewhere."""
        MADE.append(value)
        return value

    class Plain:
        def __init__(self, **named): vars(self).update(named)
        def times(self, a=1.0): return self.k * a

    class Slots:
        __slots__ = ("k", "items")
        def __init__(self, k, items): self.k, self.items = k, items

    class Both(Slots):
        pass

    class Equal:
        def __init__(self, k): self.k = k
        def __eq__(self, other): return True
        def __hash__(self): return 1

    class Lazy:
        def __init__(self, k): self.k = k
        @property
        def twice(self): return self.k * 2.0
        @functools.cached_property
        def thrice(self): return self.k * 3.0

    class Asked:
        def __init__(self, **named): self.__dict__["held"] = named
        def __getattr__(self, name):
            if name not in self.__dict__["held"]: raise AttributeError(name)
            return self.__dict__["held"][name]

    @dataclasses.dataclass
    class Point:
        k: object
        items: object = None

    @dataclasses.dataclass(frozen=True)
    class Fixed:
        k: object
        items: object = None

    @dataclasses.dataclass(slots=True)
    class Slim:
        k: object
        items: object = None

    class Named(typing.NamedTuple):
        k: object
        items: object = None

    class Color(enum.Enum):
        RED = 2.0
        BLUE = 3.0

    class Level(enum.IntEnum):
        LOW = 2
        HIGH = 3

    class Mode(enum.Flag):
        A = 1
        B = 2

    class Cached:
        @functools.cache
        def own(self): return Plain(k=1.0)
        @classmethod
        @functools.cache
        def shared(cls): return Plain(k=1.0)
        @staticmethod
        @functools.cache
        def free(): return Plain(k=1.0)

    def file_of(text):
        DIRECTORIES.append(tempfile.TemporaryDirectory())
        made = pathlib.Path(DIRECTORIES[-1].name, "text")
        made.write_text(text)
        return made

    class MyList(list): pass
    class MyDict(dict): pass
    class MySet(set): pass
    class MyTuple(tuple): pass
    class MyFloat(float): pass
    class MyInt(int): pass
    class MyStr(str): pass
    class MyArray(array.array): pass
    class MyDeque(deque): pass
    class MyNumbers(np.ndarray): pass

    def new_class(k, base=object):
        return type("New", (base,), {"k": k, "scaled": lambda self, a: a * self.k})

    def helper(k, items=None):
        def scale(a, b=k): return a * b
        scale.k, scale.items = k, items
        return scale

    def closed(k):
        def scale(a): return a * k
        return scale

    def added(k):
        def scale(a): return a + k
        return scale

    def put(cell, value): cell.cell_contents = value

    def with_attributes(value, **named):
        vars(value).update(named)
        return value

    def variable(value):
        made = contextvars.ContextVar("made")
        made.set(value)
        return made

    def module(k):
        made = types.ModuleType("made")
        made.k = k
        return made

    def knot(k):
        made = [k]
        made.append(made)
        return made

    def readonly(values):
        made = np.array(values)
        made.flags.writeable = False
        return made
''')  # fmt: skip


class Kind(NamedTuple):
    make: str
    read: str
    """A number of the host, of the value `V`."""
    changes: tuple[str, ...] = ()
    """Statements that change it, one after the other."""
    other: str = ""
    """Another value that takes its place."""


def kind(make: str, read: str, *changes: str, other: str = "") -> Kind:
    return Kind(make, read, changes, other)


LIST = ("V[0] = 3.0", "V.append(1.0)", "V.insert(0, 4.0)", "V.pop()", "del V[0]", "V[:] = [7.0, 8.0, 9.0]",
        "V.reverse()", "V.sort()", "V.extend([2.0])", "V *= 2", "V.clear()")  # fmt: skip
DICT = ("V['k'] = 3.0", "V['j'] = 5.0", "V['k'] = V.pop('k')", "V.update(k=2, j=5.0)", "V.pop('j', 0.0)", "V.clear()")
SUM = "sum(V[i] * (i + 1) for i in range(len(V)))"
ITEMS = "sum(value * (i + 1) for i, value in enumerate(V.values()))"
ATTR = ("V.k = 3.0", "V.k = 3", "setattr(V, 'k', 4.0)", "V.items = [5.0]", "V.items[0] = 6.0", "V.items.append(1.0)")
OF_ATTR = "V.k + (0.5 if isinstance(V.k, int) else 0.0) + sum(V.items)"

KINDS = {
    # atoms
    "int": kind("2", "V", other="3"),
    "int and float": kind("2", "V if type(V) is int else 7.0", other="2.0"),
    "int and bool": kind("1", "V if type(V) is int else 7.0", other="True"),
    "large int": kind("2**70", "V % 1000", other="2**70 + 1"),
    "float": kind("2.0", "V", other="3.0"),
    "sign of zero": kind("0.0", "math.copysign(1.0, V)", other="-0.0"),
    "nan": kind("math.nan", "1.0 if V != V else 2.0", other="1.0"),
    "bool": kind("True", "2.0 if V else 3.0", other="False"),
    "str": kind("'ab'", "len(V)", other="'abc'"),
    "bytes": kind("b'ab'", "V[0]", other="b'cd'"),
    "None": kind("None", "2.0 if V is None else 3.0", other="1.0"),
    "Ellipsis": kind("...", "2.0 if V is ... else 3.0", other="None"),
    "complex": kind("1.0 + 2.0j", "V.imag", other="1.0 + 3.0j"),
    "range": kind("range(3)", "sum(V)", other="range(4)"),
    "slice": kind("slice(0, 2)", "V.stop", other="slice(0, 3)"),
    "np.float64": kind("np.float64(2.0)", "float(V)", other="np.float64(3.0)"),
    "np.int64": kind("np.int64(2)", "int(V)", other="np.int64(3)"),
    "np.float64 and float": kind("TWO", "7.0 if type(V) is float else 3.0", other="2.0"),
    "np.bool_": kind("np.bool_(True)", "2.0 if V else 3.0", other="np.bool_(False)"),
    "np.dtype": kind("np.dtype(float)", "V.itemsize", other="np.dtype(np.int8)"),
    "Fraction": kind("fractions.Fraction(1, 2)", "float(V)", other="fractions.Fraction(1, 4)"),
    "Decimal": kind("decimal.Decimal('2.0')", "len(str(V))", other="decimal.Decimal('2.00')"),
    "Path": kind("pathlib.PurePath('a')", "len(str(V))", other="pathlib.PurePath('abc')"),
    "float of a class": kind("with_attributes(MyFloat(2.0), k=1.0)", "float(V) + V.k", "V.k = 3.0", other="with_attributes(MyFloat(2.5), k=1.0)"),
    "int of a class": kind("with_attributes(MyInt(2), k=1.0)", "int(V) + V.k", "V.k = 3.0", other="with_attributes(MyInt(3), k=1.0)"),
    "str of a class": kind("with_attributes(MyStr('ab'), k=1.0)", "len(V) + V.k", "V.k = 3.0", other="with_attributes(MyStr('a'), k=1.0)"),
    # containers
    "tuple": kind("(1.0, 2.0)", SUM, other="(1.0, 3.0)"),
    "tuple of a list": kind("([1.0], 2.0)", "V[0][0]", "V[0][0] = 3.0", other="([4.0], 2.0)"),
    "tuple of a class": kind("with_attributes(MyTuple((1.0, 2.0)), k=1.0)", f"{SUM} + V.k", "V.k = 3.0", other="with_attributes(MyTuple((1.0, 3.0)), k=1.0)"),
    "list": kind("[1.0, 2.0]", SUM, *LIST, other="[4.0]"),
    "list, int and float": kind("[1, 2]", "7.0 if type(V[0]) is int else 3.0", "V[0] = 1.0", "V[0] = True", other="[1.0]"),
    "list, sign of zero": kind("[0.0]", "math.copysign(1.0, V[0])", "V[0] = -0.0"),
    "list of a class": kind("with_attributes(MyList([1.0, 2.0]), k=1.0)", f"{SUM} + V.k", *LIST, "V.k = 3.0"),
    "UserList": kind("UserList([1.0, 2.0])", "sum(V)", "V[0] = 3.0", "V.append(1.0)", "V.data = [9.0]", other="UserList([3.0])"),
    "deque": kind("deque([1.0, 2.0])", SUM, "V[0] = 3.0", "V.append(1.0)", "V.appendleft(4.0)", "V.rotate(1)", "V.popleft()", other="deque([5.0])"),
    "deque of a class": kind("with_attributes(MyDeque([1.0]), k=1.0)", f"{SUM} + V.k", "V.append(1.0)", "V.k = 3.0"),
    "dict": kind("{'k': 1.0, 'l': 2.0}", ITEMS, *DICT, other="{'k': 8.0}"),
    "dict, its keys": kind("{1: 1.0, 2: 2.0}", "sum(key * (i + 1) for i, key in enumerate(V))", "V[3] = V.pop(2)", "V[1] = V.pop(1)", other="{2: 1.0}"),
    "dict, type of a key": kind("{1: 1.0}", "sum(isinstance(key, bool) for key in V)", "V.clear(); V[True] = 1.0"),
    "dict of a class": kind("with_attributes(MyDict(k=1.0, l=2.0), a=1.0)", f"{ITEMS} + V.a", *DICT, "V.a = 3.0"),
    "UserDict": kind("UserDict(k=1.0)", "V['k']", "V['k'] = 3.0", "V.data = {'k': 9.0}", other="UserDict(k=4.0)"),
    "OrderedDict": kind("OrderedDict(k=1.0, l=2.0)", ITEMS, "V.move_to_end('k')", "V['k'] = 3.0", other="OrderedDict(k=4.0)"),
    "defaultdict": kind("defaultdict(float, k=1.0)", "V['k']", "V['k'] = 3.0", other="defaultdict(float, k=4.0)"),
    "Counter": kind("Counter(k=2)", "V['k']", "V['k'] += 1", "V.update(k=1)", other="Counter(k=5)"),
    "ChainMap": kind("ChainMap({'k': 1.0}, {'l': 2.0})", "V['k'] + V['l']", "V['l'] = 3.0", "V.maps[1]['l'] = 7.0; V.pop('l', 0.0)", "V.maps.pop(); V['l'] = 9.0", other="ChainMap({'k': 5.0, 'l': 1.0})"),
    "MappingProxyType": kind("MappingProxyType(keep({'k': 1.0}))", "V['k']", "MADE[-1]['k'] = 3.0", other="MappingProxyType({'k': 4.0})"),
    "proxy of a list": kind("MappingProxyType({'k': [1.0]})", "V['k'][0]", "V['k'][0] = 3.0"),
    "set": kind("{1, 2}", "sum(V)", "V.add(3)", "V.discard(1)", other="{5}"),
    "set of a class": kind("with_attributes(MySet({1, 2}), k=1.0)", "sum(V) + V.k", "V.add(3)", "V.k = 2.0"),
    "frozenset": kind("frozenset({1, 2})", "sum(V)", other="frozenset({5})"),
    "views of a dict": kind("keep({'k': 1.0}).values()", "sum(V)", "MADE[-1]['k'] = 3.0", other="{'k': 9.0}.values()"),
    "a list in itself": kind("knot(1.0)", "V[1][1][0]", "V[0] = 3.0"),
    "list of lists": kind("[[1.0], [2.0, 3.0]]", "sum(sum(row) for row in V) + len(V[0])", "V[0][0] = 4.0", "V[0].append(V[1].pop())", "V[1] = [9.0]", "V.pop()"),
    "list of dicts": kind("[{'k': 1.0}, {'k': 2.0}]", "V[0]['k'] + V[1]['k'] * 3.0", "V[1]['k'] = 4.0", "V.reverse()"),
    "list of tuples": kind("[('a', 1.0), ('b', 2.0)]", "sum(b * len(a) for a, b in V)", "V[1] = ('bc', 2.0)", "V[0] = ('a', 1)"),
    "list of objects": kind("[Plain(k=1.0), Plain(k=2.0)]", "sum(o.k * (i + 1) for i, o in enumerate(V))", "V[1].k = 4.0", "V[0] = Plain(k=5.0)", "V.reverse()", "V[0].times = lambda a: a"),
    "list of slots": kind("[Slots(1.0, []), Slots(2.0, [3.0])]", "sum(o.k for o in V) + sum(V[1].items)", "V[1].k = 4.0", "V[1].items.append(2.0)"),
    "list of records": kind("[Point(1.0), Fixed(2.0), Slim(3.0), Named(4.0, [1.0])]", "sum(o.k for o in V) + V[3].items[0]", "V[0].k = 4.0", "V[2].k = 5.0", "V[3].items[0] = 9.0"),
    "list of functions": kind("[helper(2.0)]", "V[0].k", "V[0].k = 5.0", "V[0] = helper(7.0)"),
    "list of functions that run": kind("[helper(2.0)]", "V[0](1.0)", "V[0].__defaults__ = (5.0,)", "V[0] = helper(7.0)"),
    "list of classes": kind("[new_class(2.0)]", "V[0].k", "V[0].k = 5.0", "V[0] = new_class(7.0)"),
    "list of modules": kind("[module(2.0)]", "V[0].k", "V[0].k = 5.0"),
    "list of enum members": kind("[Color.RED]", "V[0].value", "V[0] = Color.BLUE"),
    "dict of objects": kind("{'k': Plain(k=[1.0])}", "V['k'].k[0]", "V['k'].k[0] = 4.0", "V['k'].k = [5.0]"),
    # memory
    "array.array": kind("array.array('d', [1.0, 2.0])", SUM, "V[0] = 3.0", "V.append(1.0)", other="array.array('d', [5.0])"),
    "array of a class": kind("with_attributes(MyArray('d', [1.0]), k=1.0)", f"{SUM} + V.k", "V[0] = 3.0", "V.k = 4.0"),
    "bytearray": kind("bytearray(b'ab')", "V[0]", "V[0] = 3", "V.insert(0, 9)", other="bytearray(b'c')"),
    "memoryview": kind("memoryview(bytearray(b'ab'))", "V[0]", "V[0] = 3", other="memoryview(b'c')"),
    "np.ndarray": kind("np.array([1.0, 2.0])", "V[1]", "V[1] = 3.0", "V[:] = 4.0", "V *= 2.0", other="np.array([1.0, 7.0])"),
    "np.ndarray that the host reads": kind("np.array([1.0, 2.0])", "float(np.linalg.norm(V))", "V[1] = 3.0", other="np.array([1.0, 7.0])"),
    "array of ints": kind("np.array([1, 2])", "int(V[1])", "V[1] = 3", other="np.array([1, 7])"),
    "array that is read only": kind("readonly([1.0, 2.0])", "V[1]", other="readonly([1.0, 7.0])"),
    "array of objects": kind("np.array([1.0, None])", "V[0]", "V[0] = 3.0", other="np.array([7.0, None])"),
    "array of lists": kind("np.array([[1.0], None], dtype=object)", "V[0][0]", "V[0][0] = 3.0"),
    "array, its shape": kind("np.zeros((2, 3))", "V.shape[0]", other="np.zeros((3, 2))"),
    "array of texts": kind("np.array(['ab', 'c'])", "len(V[0])", "V[0] = 'c'", other="np.array(['', 'c'])"),
    "array of dates": kind("np.array(['2020-01-01'], dtype='M8[D]')", "int(V[0].astype(int))", "V[0] = np.datetime64('2020-01-09')"),
    "array of records": kind("np.zeros(2, dtype=[('p', float), ('q', int)])", "V['p'][0] + V[1]['q']", "V['p'][0] = 3.0", "V['q'][1] = 4"),
    "array of float32": kind("np.array([1.0, 2.0], dtype=np.float32)", "float(V[1])", "V[1] = 3.0", other="np.array([1.0, 7.0])"),
    "array with a mask": kind("np.ma.array([1.0, 2.0], mask=[0, 1])", "float(V[0]) + (5.0 if V[1] is np.ma.masked else 7.0)", "V.mask = [0, 0]", "V[0] = 3.0"),
    "array of another class": kind("np.array([1.0, 2.0]).view(MyNumbers)", "float(V[1])", "V[1] = 3.0"),
    "array of C": kind("(ctypes.c_double * 2)(1.0, 2.0)", "V[1]", "V[1] = 3.0", other="(ctypes.c_double * 2)(7.0)"),
    "number of C": kind("ctypes.c_double(1.0)", "V.value", "V.value = 3.0"),
    "memory of a file": kind("mmap.mmap(-1, 8)", "V[0] + 1.0", "V[0] = 3"),
    "list of arrays": kind("[np.array([1.0]), np.array([2.0])]", "V[0][0] + V[1][0]", "V[1][0] = 5.0", "V[0] = np.array([3.0])", "V[1] = np.ones(2)"),
    "list of arrays, one by one": kind("[np.array([1.0]), np.array([2.0])]", "sum([a[0] for a in V])", "V[1][0] = 5.0", "V.pop()"),
    "pairs of arrays": kind("[np.array([1.0]), np.array([2.0])]", "sum([float(a[0]) + b[0] for a, b in zip(V, V)])", "V[1][0] = 5.0"),
    "dict of arrays": kind("{'k': np.array([1.0, 2.0])}", "V['k'][1]", "V['k'][1] = 5.0"),
    "dict of arrays, one by one": kind("{'k': np.array([1.0, 2.0])}", "sum([a[1] for a in V.values()])", "V['k'][1] = 5.0"),
    "object of a list of arrays": kind("Plain(items=[np.array([1.0])])", "sum([a[0] for a in V.items])", "V.items[0][0] = 5.0", "V.items = [np.array([6.0])]"),
    "object of an array": kind("Plain(k=np.array([1.0]))", "V.k[0]", "V.k[0] = 5.0", "V.k = np.array([6.0])"),
    # objects
    "object": kind("Plain(k=1.0, items=[2.0])", OF_ATTR, *ATTR, other="Plain(k=8.0, items=[])"),
    "object, an attribute more": kind("Plain(k=1.0)", "getattr(V, 'j', 2.0)", "V.j = 3.0", "vars(V).pop('j', 0.0)"),
    "object, its dict": kind("Plain(k=1.0)", "V.k", "V.__dict__ = {'k': 3.0}", "vars(V)['k'] = 4.0", "V.__dict__.update(k=5.0)"),
    "object, its class": kind("Plain(k=1.0)", "len(type(V).__name__) + 0.0", "V.__class__ = type('Longer', (Plain,), {})"),
    "object by getattr": kind("Asked(k=1.0)", "V.k", "V.held['k'] = 3.0"),
    "slots": kind("Slots(1.0, [2.0])", OF_ATTR, *ATTR, other="Slots(8.0, [])"),
    "slots and dict": kind("Both(1.0, [2.0])", f"{OF_ATTR} + getattr(V, 'j', 0.0)", *ATTR, "V.j = 2.0"),
    "SimpleNamespace": kind("SimpleNamespace(k=1.0, items=[2.0])", OF_ATTR, *ATTR, other="SimpleNamespace(k=8.0, items=[])"),
    "dataclass": kind("Point(1.0, [2.0])", OF_ATTR, *ATTR, other="Point(8.0, [])"),
    "frozen dataclass": kind("Fixed(1.0, [2.0])", OF_ATTR, "V.items[0] = 6.0", "object.__setattr__(V, 'k', 5.0)", other="Fixed(8.0, [])"),
    "dataclass with slots": kind("Slim(1.0, [2.0])", OF_ATTR, *ATTR, other="Slim(8.0, [])"),
    "NamedTuple": kind("Named(1.0, [2.0])", OF_ATTR, "V.items[0] = 6.0", other="Named(8.0, [])"),
    "object that says it is equal": kind("Equal(1.0)", "V.k", "V.k = 3.0", other="Equal(4.0)"),
    "property": kind("Lazy(1.0)", "V.twice", "V.k = 3.0", other="Lazy(4.0)"),
    "cached property": kind("Lazy(1.0)", "V.thrice", "V.k = 3.0; vars(V).pop('thrice', None)", other="Lazy(4.0)"),
    "Enum": kind("Color.RED", "V.value", "V = Color.BLUE"),
    "IntEnum": kind("Level.LOW", "V + 0.0", "V = Level.HIGH"),
    "Flag": kind("Mode.A", "V.value", "V = Mode.A | Mode.B"),
    "attribute of an Enum": kind("with_attributes(Color.RED, k=1.0)", "V.k", "V.k = 3.0"),
    "objects in objects": kind("Plain(k=Plain(k=Plain(k=[1.0])))", "V.k.k.k[0]", "V.k.k.k[0] = 2.0", "V.k.k.k = [3.0]", "V.k = Plain(k=Plain(k=[4.0]))"),
    # functions, classes, modules
    "function": kind("closed(2.0)", "V(1.0)", "put(V.__closure__[0], 3.0)", other="closed(4.0)"),
    "default of a function": kind("helper(2.0)", "V(1.0)", "V.__defaults__ = (3.0,)", other="helper(4.0)"),
    "code of a function": kind("closed(2.0)", "V(1.0)", "V.__code__ = added(1.0).__code__"),
    "attribute of a function": kind("helper(2.0, [1.0])", OF_ATTR, *ATTR, other="helper(8.0, [])"),
    "attribute of a function, more": kind("closed(2.0)", "getattr(V, 'k', 2.0)", "V.k = 3.0"),
    "function of C": kind("math.floor", "V(2.5)", other="math.ceil"),
    "partial": kind("functools.partial(pow, 2.0)", "V(2.0)", other="functools.partial(pow, 3.0)"),
    "partial of a list": kind("functools.partial(sum, [1.0])", "V()", "V.args[0][0] = 3.0"),
    "attribute of a partial": kind("with_attributes(functools.partial(pow, 2.0), k=1.0)", "V.k", "V.k = 3.0"),
    "bound method": kind("Plain(k=1.0).times", "V()", "V.__self__.k = 3.0", other="Plain(k=4.0).times"),
    "bound method of C": kind("[1.0, 2.0].count", "V(1.0) + 1.0", "V.__self__.append(1.0)"),
    "staticmethod": kind("staticmethod(closed(2.0))", "V(1.0)", other="staticmethod(closed(3.0))"),
    "operator.itemgetter": kind("operator.itemgetter(0)", "V([2.0, 3.0])", other="operator.itemgetter(1)"),
    "class": kind("new_class(2.0)", "V.k", "V.k = 3.0", other="new_class(4.0)"),
    "class by an object": kind("new_class(2.0)()", "V.k", "type(V).k = 3.0", "V.k = 5.0"),
    "class above": kind("new_class(1.0, new_class(2.0))", "V.__mro__[1].k", "V.__mro__[1].k = 3.0"),
    "class, a list of it": kind("new_class([2.0])", "V.k[0]", "V.k[0] = 3.0"),
    "class, an attribute more": kind("new_class(2.0)", "getattr(V, 'j', 2.0)", "V.j = 3.0"),
    "module": kind("module(2.0)", "V.k", "V.k = 3.0", other="module(4.0)"),
    # others
    "ContextVar": kind("variable(2.0)", "V.get()", "V.set(3.0)", other="variable(4.0)"),
    "ContextVar of a list": kind("variable([2.0])", "V.get()[0]", "V.get()[0] = 3.0"),
    "weakref": kind("weakref.ref(keep(Plain(k=1.0)))", "V().k", "V().k = 3.0"),
    "weak dict": kind("weakref.WeakValueDictionary(k=keep(Plain(k=1.0)))", "V['k'].k", "V['k'].k = 3.0", "V['k'] = keep(Plain(k=4.0))"),
    "weak proxy": kind("weakref.proxy(keep(Plain(k=1.0)))", "V.k", "V.k = 3.0"),
    "iterator": kind("iter([1.0, 2.0, 3.0, 4.0])", "next(V)", "next(V)"),
    "generator": kind("(a for a in [1.0, 2.0, 3.0, 4.0])", "next(V)", "next(V)"),
    "count": kind("itertools.count(1)", "next(V)", "next(V)"),
    "cell": kind("closed(2.0).__closure__[0]", "V.cell_contents", "V.cell_contents = 3.0"),
    # what calls give that is kept elsewhere
    "cache": kind("functools.cache(lambda: Plain(k=1.0, items=[2.0]))", "V().k + (0.5 if isinstance(V().k, int) else 0.0) + sum(V().items)", "V().k = 3.0", "V().k = 3", "V().items[0] = 6.0", "V().items = [5.0]", other="functools.cache(lambda: Plain(k=8.0, items=[]))"),
    "cache that is cleared": kind("functools.cache(lambda: Plain(k=1.0 + len(MADE)))", "V().k", "keep(0); V.cache_clear()"),
    "cache, methods": kind("functools.lru_cache(2)(lambda: Lazy(1.0))", "V().twice", "V().k = 3.0"),
    "cache, by a key": kind("functools.cache(lambda name: Point(1.0, [2.0]))", "V('a').k + V('a').items[0]", "V('a').k = 3.0", "V('a').items[0] = 4.0"),
    "cache of a list": kind("functools.cache(lambda: [1.0])", "V()[0] + len(V())", "V()[0] = 3.0", "V().append(1.0)"),
    "cache of a dict": kind("functools.cache(lambda: {'k': 1.0})", "V().get('k', 0.0)", "V()['k'] = 3.0", "V().clear()"),
    "cache of an array": kind("functools.cache(lambda: np.array([1.0, 2.0]))", "V()[1]", "V()[1] = 3.0"),
    "cache of an array that the host reads": kind("functools.cache(lambda: np.array([1.0, 2.0]))", "float(np.linalg.norm(V()))", "V()[1] = 3.0"),
    "cache of arrays": kind("functools.cache(lambda: [np.array([1.0])])", "V()[0][0]", "V()[0][0] = 3.0", "V()[0] = np.array([7.0])"),
    "cache of a tuple of objects": kind("functools.cache(lambda: (Slots(1.0, [2.0]),))", "V()[0].k + V()[0].items[0]", "V()[0].k = 3.0", "V()[0].items[0] = 5.0"),
    "cache of a class": kind("functools.cache(lambda: new_class(2.0))", "V()().scaled(1.0) + V().k", "V().k = 3.0"),
    "cache of a function": kind("functools.cache(lambda: helper(2.0))", "V()(1.0) + V().k", "V().__defaults__ = (3.0,)", "V().k = 5.0"),
    "cache of a module": kind("functools.cache(lambda: module(2.0))", "V().k", "V().k = 3.0"),
    "cache of a variable": kind("functools.cache(lambda: variable(2.0))", "V().get()", "V().set(3.0)"),
    "cache of a number": kind("functools.cache(lambda: len(MADE) + 0.0)", "V() + 1.0", "keep(0); V.cache_clear()"),
    "cache of a large number": kind("functools.cache(lambda: 2**70 + len(MADE))", "V() % 1000", "keep(0); V.cache_clear()"),
    "cache, how full it is": kind("functools.cache(lambda a: 1.0)", "V.cache_info().currsize + 0.0", "V(1.0)", "V(2.0)"),
    "cache in a partial": kind("functools.partial(functools.cache(lambda: [1.0]))", "V()[0]", "V()[0] = 3.0"),
    "cache of a method": kind("Cached()", "V.own().k + V.shared().k + V.free().k", "V.own().k = 3.0", "V.shared().k = 4.0", "V.free().k = 5.0"),
    "class, those below": kind("type('Above', (), {})", "len(V.__subclasses__()) + 0.0", "keep(type('Below', (V,), {}))"),
    "abstract class": kind("abc.ABCMeta('Abstract', (), {})", "2.0 * isinstance(MADE, V) + issubclass(dict, (str, V))", "V.register(list)", "V.register(dict)"),
    "environment": kind("'ROSE_TEST_VALUE'", "float(os.getenv(V, '1')) + float(os.environ.get(V, '1')) + (V in os.environ)", "os.environ[V] = '3'", "os.environ.pop(V, '')"),
    "directory": kind("os.getcwd()", "len(os.getcwd()) + 0.0", "os.chdir('/')", "os.chdir(V)"),
    "file": kind("file_of('1.0')", "float(V.read_text()) + V.exists()", "V.write_text('3.0')"),
    "file of NumPy's": kind("file_of('1.0')", "float(np.loadtxt(V))", "V.write_text('3.0')"),
    "module by its name": kind("sys.modules.setdefault('rose_test_made', module(2.0))", "importlib.import_module('rose_test_made').k", "V.k = 3.0"),
    "context of decimals": kind("decimal.getcontext().prec", "decimal.getcontext().prec + 0.0", "decimal.getcontext().prec = 9", "decimal.getcontext().prec = V"),
    "what NumPy warns of": kind("np.geterr()", "(2.0 if np.geterr()['over'] == 'ignore' else 3.0)", "np.seterr(over='ignore')", "np.seterr(**V)"),
    "how NumPy prints": kind("np.get_printoptions()['precision']", "np.get_printoptions()['precision'] + 0.0", "np.set_printoptions(precision=3)", "np.set_printoptions(precision=V)"),
    "limit of recursion": kind("sys.getrecursionlimit()", "sys.getrecursionlimit() + 0.0", "sys.setrecursionlimit(V + 1)", "sys.setrecursionlimit(V)"),
    "threshold of the collector": kind("gc.get_threshold()", "gc.get_threshold()[0] + 0.0", "gc.set_threshold(V[0] + 1, *V[1:])", "gc.set_threshold(*V)"),
    "logger": kind("logging.getLogger('rose_test').level", "logging.getLogger('rose_test').level + 0.0", "logging.getLogger('rose_test').setLevel(40)", "logging.getLogger('rose_test').setLevel(V)"),
}  # fmt: skip


class Place(NamedTuple):
    text: str
    """With `<make>`, `<read>` (of the value, which is `V`), `<changes>`, which are functions `change0`, ..."""
    at: str = "V"
    """What the value is called where it is changed."""
    named: str = "V"
    """What it is called where it is read."""


CALLED = """
def call(x): return f(x)
"""
PLACES = {
    "global": Place("V = <make>\n@jit\ndef f(x): return <read> * x\n<changes>" + CALLED),
    "cell": Place(
        """
def around():
    V = <make>
    @jit
    def f(x): return <read> * x
    <changes>
    return f, locals()
f, inner = around()
globals().update((k, v) for k, v in inner.items() if k[:6] == "change")
"""
        + CALLED
    ),
    "imported where it runs": Place(
        "M = module(0.0)\nM.V = <make>\n@jit\ndef f(x):\n    from made import V\n    return <read> * x\n<changes>\n"
        "def call(x):\n    sys.modules['made'] = M\n    return f(x)\n",
        "M.V",
    ),
    "attribute": Place("H = Plain(v=<make>)\n@jit\ndef f(x): return <read> * x\n<changes>" + CALLED, "H.v", "H.v"),
    "class data": Place("class C: v = <make>\n@jit\ndef f(x): return <read> * x\n<changes>" + CALLED, "C.v", "C.v"),
    "element": Place("L = [<make>]\n@jit\ndef f(x): return <read> * x\n<changes>" + CALLED, "L[0]", "L[0]"),
    "value of a dict": Place(
        "D = {'v': <make>}\n@jit\ndef f(x): return <read> * x\n<changes>" + CALLED, "D['v']", "D['v']"
    ),
    "self": Place(
        """
class C:
    def __init__(self, v): self.v = v
    @jit
    def f(self, x): return <read> * x
H = C(<make>)
@jit
def f(x): return H.f(x)
<changes>
"""
        + CALLED,
        "H.v",
        "self.v",
    ),
    "default": Place(
        """
def h(x, V=<make>): return <read> * x
@jit
def f(x): return h(x)
<changes>
"""
        + CALLED,
        "h.__defaults__",
    ),
    "static argument": Place(
        """
V = <make>
@static
def f(x, V): return <read> * x
<changes>
def call(x): return f(x, V)
"""
    ),
    "helper": Place("V = <make>\ndef h(): return <read>\n@jit\ndef f(x): return h() * x\n<changes>" + CALLED),
    "decorated helper": Place(
        """
V = <make>
@jit
def h(x): return <read> * x
@jit
def f(x): return h(x) + 1.0
<changes>
"""
        + CALLED
    ),
    "grad": Place("V = <make>\n@jit\ndef f(x): return <read> * x * x\n<changes>\ndef call(x): return grad(f)(x)"),
    "vmap": Place(
        "V = <make>\n@jit\ndef f(x): return <read> * x\n<changes>\ndef call(x): return list(vmap(f)(np.array([x, 3.0])))"
    ),
}
INSIDE = """
@jit
def f(x):
    V = <make>
    @jit
    def g(a): return <read> * a
    r = g(x)
    <change>
    return r + 100.0 * g(x)
"""


def replaced(text: str, name: str) -> str:
    return re.sub(r"\bV\b", name, text)


def changes_of(row: Kind, place: Place) -> str:
    """The functions that change the value; a default value is put back whole."""
    statements = [*row.changes, *([f"V = {row.other}"] if row.other else [])]
    lines: list[str] = []
    for k, statement in enumerate(statements):
        binds = re.match(r"V \*?= ", statement)
        lines.append(f"def change{k}():")
        if place.at == "h.__defaults__":
            lines += ["    (V,) = h.__defaults__", f"    {statement}", "    h.__defaults__ = (V,)"]
            continue
        if binds and place.at == "V":
            lines.append("    nonlocal V" if "def around" in place.text else "    global V")
        lines.append(f"    {replaced(statement, place.at)}")
    return "\n".join(lines)


FILES = iter(range(10**9))


def program(text: str, **scope: object) -> dict[str, object]:
    """The module of a text, which staging finds."""
    name = f"<host values {next(FILES)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, object] = {"__name__": "host_values", **scope}
    exec(compile(text, name, "exec"), names)
    return names


def written(row: Kind, place: Place) -> str:
    read = f"({replaced(row.read, place.named)})"
    text = place.text.replace("<make>", row.make).replace("<read>", read)
    for line in re.findall(r"^( *)<changes>", text, flags=re.M):
        text = text.replace(f"{line}<changes>", textwrap.indent(changes_of(row, place), line))
    return text


def slope(f):
    return lambda x: f(x + 0.5) - f(x - 0.5)


PLAIN = program(PRELUDE, jit=lambda f: f, static=lambda f: f, grad=slope, vmap=lambda f: lambda xs: [f(x) for x in xs])
STAGED = program(PRELUDE, jit=rose.jit, static=rose.jit(static_argnames=("V",)), grad=rose.grad, vmap=rose.vmap)
OPAQUE = frozenset({"iterator", "generator", "count"})
"""Kinds whose next value nobody can tell: staged code may refuse to read them where they have a name."""
NAMED = frozenset({"global", "cell", "attribute", "class data", "helper", "decorated helper", "grad", "vmap"})
REFUSED = frozenset(
    {
        "a list in itself",
        "array of records",
        "array of another class",
        "array that is read only",
        "object of a list of arrays",
        "object of an array",
        "cache that is cleared",
        "cache of a number",
        "cache of a large number",
        "cache of an array",
        "cache of an array that the host reads",
        "cache of arrays",
    }
)
"""Kinds that staged code may not make and change."""


OF_ALL = frozenset(
    "environment, directory, file of NumPy's, module by its name, context of decimals, what NumPy warns of, how NumPy prints, "
    "logger, limit of recursion, threshold of the collector".split(", ")
)
"""Kinds of which a process has one: what the plain program changes, the staged one would find so."""


def forget_what_was_kept() -> None:
    """Let both kinds of programs begin with as much: what is refused in one of them has kept less."""
    for scope in (PLAIN, STAGED):
        made: Any = scope["MADE"]
        made.clear()


def cells_of(name: str, where: str) -> list[str]:
    """What is wrong with the cells of a kind in a place."""
    row, place = KINDS[name], PLACES[where]
    text = written(row, place)
    forget_what_was_kept()
    plain, staged = program(text, **PLAIN), program(text, **STAGED)
    wrong: list[str] = []
    states = ["as it is", *row.changes, *([f"V = {row.other}"] if row.other else [])]
    for k, change in enumerate(states):
        if k:
            plain[f"change{k - 1}"]()
            staged[f"change{k - 1}"]()
        try:
            found, wanted = staged["call"](2.0), plain["call"](2.0)
        except RoseError as error:
            wrong += [] if name in OPAQUE else [f"{change}: refused: {str(error).splitlines()[0]}"]
            break
        if found != pytest.approx(wanted):
            wrong.append(f"{change}: {found}, not {wanted}")
        misses = staged["f"].cache_info().misses
        if name not in OPAQUE and (again := staged["call"](2.0)) != pytest.approx(wanted):
            wrong.append(f"{change}: {again} the second time, not {wanted}")
        if staged["f"].cache_info().misses != misses:
            wrong.append(f"{change}: staged again")
    rose.clear_caches()
    return wrong


def inside_of(name: str) -> list[str]:
    """What is wrong where a kind is made, and changed, in staged code."""
    row = KINDS[name]
    wrong: list[str] = []
    for change in [*row.changes, *([f"V = {row.other}"] if row.other else [])]:
        text = INSIDE.replace("<make>", row.make).replace("<read>", f"({row.read})").replace("<change>", change)
        forget_what_was_kept()
        wanted = program(text, **PLAIN)["f"](2.0)
        try:
            found = program(text, **STAGED)["f"](2.0)
        except RoseError as error:
            wrong += [] if name in REFUSED else [f"{change}: refused: {str(error).splitlines()[0]}"]
            continue
        if found != pytest.approx(wanted):
            wrong.append(f"{change}: {found}, not {wanted}")
    rose.clear_caches()
    return wrong


CELLS = [(name, where) for name in KINDS for where in PLACES if name not in OPAQUE or where in NAMED]


@pytest.mark.parametrize(("name", "where"), CELLS)
def test_what_is_read_from_outside(name, where):
    assert cells_of(name, where) == []


@pytest.mark.parametrize("name", [name for name in KINDS if name not in OF_ALL])
def test_what_changes_inside_a_staging(name):
    assert inside_of(name) == []


NAMES = {
    "a global that hides a builtin": ("abs(x)", "def change(): globals()['abs'] = lambda x: 55.0"),
    "a builtin that is replaced": ("abs(x)", "def change(): builtins.abs = lambda x: 55.0"),
    "a function of math": ("math.sin(x)", "def change(): math.sin = lambda x: 55.0"),
    "a constant of math": ("math.pi * x", "def change(): math.pi = 3.0"),
    "a function of NumPy": ("np.sin(x)", "def change(): np.sin = lambda x: 55.0"),
    "a function of a part of NumPy": ("np.linalg.norm([x])", "def change(): np.linalg.norm = lambda x: 55.0"),
    "the name of a module": ("math.sin(x)", "def change(): globals()['math'] = SimpleNamespace(sin=lambda x: 55.0)"),
    "a function that is imported": ("sin(x)", "def change(): globals()['sin'] = lambda x: 55.0"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_python_and_of_numpy(name, monkeypatch):
    read, change = NAMES[name]
    for owner, known in ((builtins, "abs"), (math, "sin"), (math, "pi"), (np, "sin"), (np.linalg, "norm")):
        monkeypatch.setattr(owner, known, getattr(owner, known))  # puts back what it was
    text = f"from math import sin\n@jit\ndef f(x): return {read}\n{change}\n"
    plain, staged = program(text, **PLAIN), program(text, **STAGED)
    assert staged["f"](2.0) == staged["f"](2.0) == pytest.approx(plain["f"](2.0))
    assert staged["f"].cache_info().misses == 1
    for each in (plain, staged):
        each["change"]()
    assert staged["f"](2.0) == pytest.approx(plain["f"](2.0))
