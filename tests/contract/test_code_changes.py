"""What runs is what Python would run now: each kind of code that staged code reaches, changed between two calls: its
code, the member of a class, the class or function that it is, or what was not there before and is found first now."""

# pyright: reportOptionalSubscript=false, reportSelfClsParameterName=false

import collections
import dataclasses
import enum
import functools
import math
import operator
import types
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose

CASES = {}


def case(make):
    """A case gives a program, which doubles its argument, and a change after which Python's result is another."""
    CASES[make.__name__.strip("_")] = make
    return make


def new(x, *rest):
    return 7.0


@case
def module_attr():
    m = types.ModuleType("mm")
    exec("def h(x): return x*2.0", m.__dict__)
    m.h = lambda x: x * 2.0
    return (lambda x: m.h(x)), lambda: setattr(m, "h", new)


@case
def in_list():
    fs = [lambda x: x * 2.0]
    return (lambda x: fs[0](x)), lambda: fs.__setitem__(0, new)


@case
def in_dict():
    fs = {"a": lambda x: x * 2.0}
    return (lambda x: fs["a"](x)), lambda: fs.__setitem__("a", new)


@case
def in_tuple_in_obj():
    o = types.SimpleNamespace(t=(lambda x: x * 2.0,))
    return (lambda x: o.t[0](x)), lambda: setattr(o, "t", (new,))


@case
def partial_():
    h = lambda k, x: x * k
    p = functools.partial(h, 2.0)
    return (lambda x: p(x)), lambda: p.__setstate__((h, (7.0,), {}, {}))


@case
def partial_code():
    h = lambda k, x: x * k
    p = functools.partial(h, 2.0)

    def n(k, x):
        return 7.0

    return (lambda x: p(x)), lambda: setattr(h, "__code__", n.__code__)


@case
def code_of_nested_helper():
    def h(x):
        return x * 2.0

    def g(x):
        return h(x)

    def n(x):
        return 7.0

    return (lambda x: g(x)), lambda: setattr(h, "__code__", n.__code__)


@case
def base_method():
    class A:
        def m(self, x):
            return x * 2.0

    class B(A):
        pass

    b = B()
    return (lambda x: b.m(x)), lambda: setattr(A, "m", lambda s, x: 7.0)


@case
def override_later():
    class A:
        def m(self, x):
            return x * 2.0

    class B(A):
        pass

    b = B()
    return (lambda x: b.m(x)), lambda: setattr(B, "m", lambda s, x: 7.0)


@case
def override_made_inside():
    class A:
        def m(self, x):
            return x * 2.0

    class B(A):
        pass

    return (lambda x: B().m(x)), lambda: setattr(B, "m", lambda s, x: 7.0)


@case
def instance_shadow():
    class A:
        def m(self, x):
            return x * 2.0

    a = A()
    return (lambda x: a.m(x)), lambda: setattr(a, "m", lambda x: 7.0)


@case
def super_():
    class A:
        def m(self, x):
            return x * 2.0

    class B(A):
        def m(self, x):
            return super().m(x)

    b = B()
    return (lambda x: b.m(x)), lambda: setattr(A, "m", lambda s, x: 7.0)


@case
def super_inserted():
    class A:
        def m(self, x):
            return x * 2.0

    class M(A):
        pass

    class B(M):
        def m(self, x):
            return super().m(x)

    b = B()
    return (lambda x: b.m(x)), lambda: setattr(M, "m", lambda s, x: 7.0)


@case
def class_of_instance():
    class A:
        def m(self, x):
            return x * 2.0

    class C:
        def m(self, x):
            return 7.0

    a = A()
    return (lambda x: a.m(x)), lambda: setattr(a, "__class__", C)


@case
def bases():
    class A:
        def m(self, x):
            return x * 2.0

    class C:
        def m(self, x):
            return 7.0

    class Z:
        pass

    class B(A, Z):
        pass

    b = B()
    return (lambda x: b.m(x)), lambda: setattr(B, "__bases__", (C, Z))


@case
def prop():
    class A:
        k = 2.0

        @property
        def p(self):
            return self.k

    a = A()
    return (lambda x: x * a.p), lambda: setattr(A, "p", property(lambda s: 3.5))


@case
def class_attr_data():
    class A:
        k = 2.0

    a = A()
    return (lambda x: x * a.k), lambda: setattr(A, "k", 3.5)


@case
def class_attr_base():
    class A:
        k = 2.0

    class B(A):
        pass

    b = B()
    return (lambda x: x * b.k), lambda: setattr(A, "k", 3.5)


@case
def class_attr_shadowed():
    class A:
        k = 2.0

    class B(A):
        pass

    b = B()
    return (lambda x: x * b.k), lambda: setattr(B, "k", 3.5)


@case
def getattr_():
    class A:
        def __getattr__(self, n):
            return 2.0

    a = A()
    return (lambda x: x * a.zz), lambda: setattr(A, "__getattr__", lambda s, n: 3.5)


@case
def getattr_shadow():
    class A:
        def __getattr__(self, n):
            return 2.0

    a = A()
    return (lambda x: x * a.zz), lambda: setattr(a, "zz", 3.5)


@case
def getattr_class_shadow():
    class A:
        def __getattr__(self, n):
            return 2.0

    a = A()
    return (lambda x: x * a.zz), lambda: setattr(A, "zz", 3.5)


@case
def op_added():
    class A:
        def __radd__(self, o):
            return o * 2.0

    a = A()
    return (lambda x: x + a), lambda: setattr(A, "__radd__", lambda s, o: 7.0)


@case
def op_add_later():
    class A:
        def __init__(s, v):
            s.v = v

        def __radd__(self, o):
            return o.v * 2.0

    class B:
        def __init__(s, v):
            s.v = v

    a = A(1.0)
    return (lambda x: B(x) + a), lambda: setattr(B, "__add__", lambda s, o: 7.0)


@case
def len_later():
    class A:
        pass

    a = A()
    return (lambda x: x * 2.0 if a else 7.0), lambda: setattr(A, "__len__", lambda s: 0)


@case
def bool_change():
    class A:
        def __bool__(self):
            return True

    a = A()
    return (lambda x: x * 2.0 if a else 7.0), lambda: setattr(A, "__bool__", lambda s: False)


@case
def eq_later():
    class A:
        pass

    a, b = A(), A()
    return (lambda x: 7.0 if a == b else x * 2.0), lambda: setattr(A, "__eq__", lambda s, o: True)


@case
def hash_dict():
    class A:
        def __init__(s, k):
            s.k = k

        def __hash__(s):
            return hash(s.k)

        def __eq__(s, o):
            return s.k == o.k

    a = A(1)
    d = {a: 2.0}
    b = A(1)
    return (lambda x: x * d.get(b, 3.5)), lambda: setattr(b, "k", 2)


@case
def isinstance_hook():
    class M(type):
        def __instancecheck__(c, o):
            return False

    class A(metaclass=M):
        pass

    a = object()
    return (lambda x: 7.0 if isinstance(a, A) else x * 2.0), lambda: setattr(M, "__instancecheck__", lambda c, o: True)


@case
def singledispatch_():
    @functools.singledispatch
    def h(o, x):
        return x * 2.0

    class A:
        pass

    a = A()
    return (lambda x: h(a, x)), lambda: h.register(A, lambda o, x: 7.0)


@case
def methodcaller():
    class A:
        def m(self, x):
            return x * 2.0

    a = A()
    return (lambda x: operator.methodcaller("m", x)(a)), lambda: setattr(A, "m", lambda s, x: 7.0)


@case
def enum_method():
    class E(enum.Enum):
        A = 1

        def m(self, x):
            return x * 2.0

    return (lambda x: E.A.m(x)), lambda: setattr(E, "m", lambda s, x: 7.0)


@case
def nested_class():
    class Outer:
        class Inner:
            @staticmethod
            def m(x):
                return x * 2.0

    return (lambda x: Outer.Inner.m(x)), lambda: setattr(Outer.Inner, "m", staticmethod(new))


@case
def nested_class_replaced():
    class Outer:
        class Inner:
            @staticmethod
            def m(x):
                return x * 2.0

    class J:
        @staticmethod
        def m(x):
            return 7.0

    return (lambda x: Outer.Inner.m(x)), lambda: setattr(Outer, "Inner", J)


@case
def bound_in_list():
    class A:
        k = 2.0

        def m(self, x):
            return x * self.k

    a = A()
    L = [a.m]
    return (lambda x: L[0](x)), lambda: setattr(a, "k", 3.5)


@case
def bound_func_changed():
    class A:
        def m(self, x):
            return x * 2.0

    a = A()
    L = [a.m]

    def n(s, x):
        return 7.0

    return (lambda x: L[0](x)), lambda: setattr(A.m, "__code__", n.__code__)


@case
def wraps_():
    def deco(f):
        @functools.wraps(f)
        def w(x):
            return w.__wrapped__(x)

        return w

    @deco
    def h(x):
        return x * 2.0

    return (lambda x: h(x)), lambda: setattr(h, "__wrapped__", new)


@case
def func_attr():
    def h(x):
        return x * h.k

    h.k = 2.0
    return (lambda x: h(x)), lambda: setattr(h, "k", 3.5)


@case
def kwdefault():
    def h(x, *, k=2.0):
        return x * k

    return (lambda x: h(x)), lambda: h.__kwdefaults__.__setitem__("k", 3.5)


@case
def default():
    def h(x, k=2.0):
        return x * k

    return (lambda x: h(x)), lambda: setattr(h, "__defaults__", (3.5,))


@case
def default_list():
    def h(x, k=[2.0]):
        return x * k[0]

    return (lambda x: h(x)), lambda: h.__defaults__[0].__setitem__(0, 3.5)


@case
def default_obj():
    class A:
        k = 2.0

    def h(x, o=A()):
        return x * o.k

    return (lambda x: h(x)), lambda: setattr(h.__defaults__[0], "k", 3.5)


@case
def cell():
    k = 2.0

    def setk():
        nonlocal k
        k = 3.5

    return (lambda x: x * k), setk


@case
def cell_of_helper():
    k = 2.0

    def h(x):
        return x * k

    def setk():
        nonlocal k
        k = 3.5

    return (lambda x: h(x)), setk


@case
def builtin_shadow():
    m = types.ModuleType("mmm")
    m.f = abs
    return (lambda x: m.f(-x) * 2.0), lambda: setattr(m, "f", lambda x: 3.5)


@case
def math_patched():
    return (lambda x: math.sqrt(4.0) * x), lambda: setattr(math, "sqrt", lambda x: 3.5)


@case
def meta_getattr():
    class M(type):
        def __getattr__(c, n):
            return 2.0

    class A(metaclass=M):
        pass

    return (lambda x: x * A.zz), lambda: setattr(M, "__getattr__", lambda c, n: 3.5)


@case
def meta_call():
    class M(type):
        def __call__(c, x):
            return x * 2.0

    class A(metaclass=M):
        pass

    return (lambda x: A(x)), lambda: setattr(M, "__call__", lambda c, x: 7.0)


@case
def init_change():
    class A:
        def __init__(s, x):
            s.v = x * 2.0

    def n(s, x):
        s.v = 7.0

    return (lambda x: A(x).v), lambda: setattr(A, "__init__", n)


@case
def new_change():
    class A:
        def __new__(c, x):
            o = object.__new__(c)
            o.v = x * 2.0
            return o

    def n(c, x):
        o = object.__new__(c)
        o.v = 7.0
        return o

    return (lambda x: A(x).v), lambda: setattr(A, "__new__", n)


@case
def init_later():
    class A:
        v = 2.0

        def m(self, x):
            return x * self.v

    def n(s):
        s.v = 3.5

    return (lambda x: A().m(x)), lambda: setattr(A, "__init__", n)


@case
def iter_change():
    class A:
        def __iter__(s):
            return iter([1.0, 1.0])

    a = A()
    return (lambda x: sum(x * k for k in a)), lambda: setattr(A, "__iter__", lambda s: iter([3.5]))


@case
def contains():
    class A:
        def __contains__(s, k):
            return False

    a = A()
    return (lambda x: 7.0 if 3 in a else x * 2.0), lambda: setattr(A, "__contains__", lambda s, k: True)


@case
def call_():
    class A:
        def __call__(s, x):
            return x * 2.0

    a = A()
    return (lambda x: a(x)), lambda: setattr(A, "__call__", lambda s, x: 7.0)


@case
def descriptor():
    class D:
        def __get__(s, o, c):
            return 2.0

    class A:
        d = D()

    a = A()
    return (lambda x: x * a.d), lambda: setattr(D, "__get__", lambda s, o, c: 3.5)


@case
def slots_obj():
    class A:
        __slots__ = ("k",)

    a = A()
    a.k = 2.0
    return (lambda x: x * a.k), lambda: setattr(a, "k", 3.5)


@case
def generator_fn():
    def h(x):
        yield x
        yield x

    m = types.SimpleNamespace(h=h)

    def n(x):
        yield 7.0

    return (lambda x: sum(m.h(x))), lambda: setattr(h, "__code__", n.__code__)


@case
def jit_inner():
    h = rose.jit(lambda x: x * 2.0)
    m = types.SimpleNamespace(h=h)
    return (lambda x: m.h(x)), lambda: setattr(m, "h", rose.jit(lambda x: 7.0 + 0.0 * x))


@case
def jit_inner_reads():
    o = types.SimpleNamespace(k=2.0)
    h = rose.jit(lambda x: x * o.k)
    return (lambda x: h(x)), lambda: setattr(o, "k", 3.5)


@case
def grad_inner_reads():
    o = types.SimpleNamespace(k=2.0)
    h = rose.grad(lambda x: x * x * o.k)
    return (lambda x: h(x) * 0.5), lambda: setattr(o, "k", 3.5)


@case
def vmap_inner():
    o = types.SimpleNamespace(k=2.0)
    h = rose.vmap(lambda x: x * o.k)
    return (lambda x: h(np.array([x, x]))[0]), lambda: setattr(o, "k", 3.5)


@case
def solver_inner():
    o = types.SimpleNamespace(k=8.0)
    return (lambda x: rose.root(lambda t: t * t - o.k * x / 1.0, 3.0).x), lambda: setattr(o, "k", 24.5)


@case
def map_key():
    o = types.SimpleNamespace(key=lambda v: -v)
    return (lambda x: sorted([2.0, 3.5], key=o.key)[1] * x), lambda: setattr(o, "key", lambda v: v)


@case
def getitem_obj():
    class A:
        def __getitem__(s, k):
            return 2.0

    a = A()
    return (lambda x: x * a[0]), lambda: setattr(A, "__getitem__", lambda s, k: 3.5)


@case
def missing():
    class D(dict):
        def __missing__(s, k):
            return 2.0

    d = D()
    return (lambda x: x * d["q"]), lambda: setattr(D, "__missing__", lambda s, k: 3.5)


@case
def context():
    class C:
        k = 2.0

        def __enter__(s):
            return s.k

        def __exit__(s, *a):
            pass

    c = C()

    def f(x):
        with c as k:
            return x * k

    return f, lambda: setattr(C, "__enter__", lambda s: 3.5)


@pytest.mark.parametrize("way", ["value", "gradient"])
@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen(name, way, monkeypatch):
    monkeypatch.setattr(math, "sqrt", math.sqrt)  # one case replaces it
    program, change = CASES[name]()
    staged = rose.jit(program)
    slope = rose.grad(staged)
    assert staged(2.0) == program(2.0)
    if way == "gradient":
        slope(2.0)
    change()
    if way == "value":
        assert staged(2.0) == pytest.approx(program(2.0), rel=1e-14)
        return
    assert slope(2.0) == pytest.approx((program(2.0 + 1e-6) - program(2.0 - 1e-6)) / 2e-6, abs=1e-7)


def test_names_of_a_class_that_are_no_special_methods_stage_nothing_again():
    class Counted:
        factor = 2.0

        def times(self, x):
            runs.append(1)
            return x * self.factor

    runs = []
    held = Counted()
    staged = rose.jit(lambda x: held.times(x))
    assert staged(2.0) == 4.0
    Counted.__annotations__ = {"factor": float}
    Counted.note = "unrelated"
    assert staged(3.0) == 6.0
    assert len(runs) == 1


@dataclasses.dataclass
class Weighed:
    w: float
    x: float = 0.0


@dataclasses.dataclass
class ByName:
    w: float
    x: float = dataclasses.field(default=0.0, kw_only=True)


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: float
    x: float = 0.0


@dataclasses.dataclass(slots=True)
class Slotted:
    w: float
    x: float = 0.0


class Heir(Weighed):
    pass


class Named(NamedTuple):
    w: float
    x: float = 0.0


Made = collections.namedtuple("Made", "w x", defaults=(0.0,))
CONSTRUCTORS = {
    "dataclass": (Weighed, Weighed.__init__),
    "by name": (ByName, ByName.__init__),
    "frozen": (Frozen, Frozen.__init__),
    "slots": (Slotted, Slotted.__init__),
    "heir": (Heir, Weighed.__init__),
    "NamedTuple": (Named, Named.__new__),
    "namedtuple": (Made, Made.__new__),
}


@pytest.mark.parametrize("where", ["made", "in a helper", "in a staged branch", "gradient"])
@pytest.mark.parametrize("kind", CONSTRUCTORS)
def test_defaults_of_constructors_that_python_wrote(kind, where, monkeypatch):
    cls, constructor = CONSTRUCTORS[kind]

    def value(t):
        made = cls(t)
        return made.w * (2.0 + made.x)

    def branch(t):
        return value(t) if t > 0.0 else 0.0

    f = {"made": value, "in a helper": lambda t: value(t), "in a staged branch": branch}.get(where, value)
    call = rose.grad(f) if where == "gradient" else rose.jit(f)
    assert call(1.0) == 2.0
    if constructor.__kwdefaults__:
        monkeypatch.setattr(constructor, "__kwdefaults__", {"x": 1.0})
    else:
        monkeypatch.setattr(constructor, "__defaults__", (1.0,))
    assert call(1.0) == 3.0
    monkeypatch.undo()
    assert call(1.0) == 2.0
