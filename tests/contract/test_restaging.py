"""Nothing stale is run: whatever of Python's that staging read may change between two calls, in any way."""

import array
import collections
import contextvars
import dataclasses
import enum
import functools
import types

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

CASES = {
    # name: what is outside, the function, what changes
    "a float": ("k = 2.0", "x * k", "k = 3.0"),
    "the sign of zero": ("k = 0.0", "np.copysign(x, k)", "k = -0.0"),
    "a type": ("k = 2", "x // k if isinstance(k, int) else x / k", "k = 2.0"),
    "None": ("k = None", "x if k is None else x * k", "k = 3.0"),
    "a function": ("def h(x): return x * 2\ndef h2(x): return x * 5", "h(x)", "h = h2"),
    "a partial": ("h = functools.partial(pow, 2.0)", "x * h(2)", "h = functools.partial(pow, 3.0)"),
    "a global of a helper": ("k = 2.0\ndef h(x): return x * k", "h(x)", "k = 5.0"),
    "a global of a decorated function": ("k = 2.0\n@rose.jit\ndef h(x: float): return x * k", "h(x)", "k = 5.0"),
    "a list": ("k = [1.0, 2.0]", "x * k[1]", "k[1] = 5.0"),
    "the length of a list": ("k = [1.0]", "x * len(k)", "k.append(1.0)"),
    "a deep list": ("k = [[[[[[[1.0]]]]]]]", "x * k[0][0][0][0][0][0][0]", "k[0][0][0][0][0][0][0] = 4.0"),
    "a list in a tuple": ("k = (1.0, [2.0])", "x * k[1][0]", "k[1][0] = 5.0"),
    "a dict": ("k = {'a': 1.0}", "x * k['a']", "k['a'] = 5.0"),
    "a key": ("k = {'a': 1.0}", "x * sum(k.values())", "k['b'] = 5.0"),
    "the order of a dict": ("k = {'a': 1.0, 'b': 2.0}", "x * list(k.values())[0]", "k['a'] = k.pop('a')"),
    "a list in a dict": ("k = {'a': [1.0]}", "x * k['a'][0]", "k['a'][0] = 5.0"),
    "a set": ("k = {1, 2}", "x * len(k)", "k.add(3)"),
    "a cycle": ("k = [1.0]\nk.append(k)", "x * k[1][1][0]", "k[0] = 2.0"),
    "an attribute": ("o = Box(k=1.0)", "x * o.k", "o.k = 5.0"),
    "an attribute that is deleted": ("o = Box(k=1.0)", "x * getattr(o, 'k', 7.0)", "del o.k"),
    "an attribute of an attribute": ("o = Box(p=Box(k=1.0))", "x * o.p.k", "o.p.k = 5.0"),
    "an object in an object": ("o = Box(p=Box(k=1.0))", "x * o.p.k", "o.p = Box(k=5.0)"),
    "an object in a list": ("o = [Box(k=1.0)]", "x * o[0].k", "o[0].k = 5.0"),
    "an object given to a helper": ("o = Box(k=1.0)\ndef h(p): return p.k", "x * h(o)", "o.k = 5.0"),
    "a list in an object": ("o = Box(k=[1.0])", "x * o.k[0]", "o.k[0] = 5.0"),
    "a slot": ("o = Slots()\no.k = 1.0", "x * o.k", "o.k = 5.0"),
    "a dataclass": ("o = Data(1.0, [2.0])", "x * o.a * o.b[0]", "o.a = 5.0"),
    "a list in a dataclass": ("o = Data(1.0, [2.0])", "x * o.a * o.b[0]", "o.b[0] = 5.0"),
    "an attribute of a class": ("class C:\n    k = 1.0", "x * C.k", "C.k = 5.0"),
    "of a class, by an instance": ("class C:\n    k = 1.0\no = C()", "x * o.k", "C.k = 5.0"),
    "of a base class": ("class B:\n    k = 1.0\nclass C(B): pass\no = C()", "x * o.k", "B.k = 5.0"),
    "of a class, in a helper": ("class C:\n    k = 1.0\no = C()\ndef h(p): return p.k", "x * h(o)", "C.k = 5.0"),
    "an attribute that hides it": ("class C:\n    k = 1.0\no = C()", "x * o.k", "o.k = 5.0"),
    "a method": ("o = Box(k=1.0)", "o.scaled(x)", "o.k = 5.0"),
    "a decorated method": ("o = Box(k=1.0)", "o.compiled(x)", "o.k = 5.0"),
    "a method of another name": ("o = Box(k=1.0)\nh = o.scaled", "h(x)", "o.k = 5.0"),
    "a method of another object": ("h = Box(k=1.0).scaled", "h(x)", "h = Box(k=5.0).scaled"),
    "a method in a list": ("o = Box(k=1.0)\nh = [o.scaled]", "h[0](x)", "o.k = 5.0"),
    "a method of a dict": ("k = {'a': 1.0}\nh = k.get", "x * h('a')", "k['a'] = 5.0"),
    "a method that the class is given": (
        "class C:\n    def h(self, x): return x\no = C()\ndef h(self, x): return 5.0 * x",
        "o.h(x)",
        "C.h = h",
    ),
    "a method that the class of an object given to a helper is given": (
        "class C:\n    def h(self, x): return x\no = C()\ndef h(p, x): return p.h(x)\ndef u(self, x): return 5.0 * x",
        "h(o, x)",
        "C.h = u",
    ),
    "a method that only a base class has": (
        "class B:\n    def h(self, x): return x\nclass C(B):\n    def h(self, x): return super().h(x)\n"
        "o = C()\ndef u(self, x): return 5.0 * x",
        "o.h(x)",
        "B.h = u",
    ),
    "a method that hides that of a base class": (
        "class B:\n    def h(self, x): return x\nclass C(B): pass\no = [C()]\ndef u(self, x): return 5.0 * x",
        "o[0].h(x)",
        "C.h = u",
    ),
    "an operator": (
        "class C:\n    def __add__(self, x): return x\no = C()\ndef u(self, x): return 5.0 * x",
        "o + x",
        "C.__add__ = u",
    ),
    "what is called": (
        "class C:\n    def __call__(self, x): return x\no = C()\ndef u(self, x): return 5.0 * x",
        "o(x)",
        "C.__call__ = u",
    ),
    "a property of the class": (
        "class C:\n    @property\n    def k(self): return 1.0\no = C()\nu = property(lambda self: 5.0)",
        "o.k * x",
        "C.k = u",
    ),
    "a method of the class itself": (
        "class C:\n    @classmethod\n    def h(cls, x): return x\nl = [C]\nu = classmethod(lambda cls, x: 5.0 * x)",
        "l[0].h(x)",
        "C.h = u",
    ),
    "the code of a function": (
        "def h(x): return x\ndef u(x): return 5.0 * x",
        "h(x)",
        "h.__code__ = u.__code__",
    ),
    "the code of a method": (
        "class C:\n    def h(self, x): return x\no = [C()]\ndef h(self, x): return 5.0 * x",
        "o[0].h(x)",
        "C.h.__code__ = h.__code__",
    ),
    "a default value": ("def h(x, b=2.0): return x * b", "h(x)", "h.__defaults__ = (5.0,)"),
    "a list that is a default value": ("l = [2.0]\ndef h(x, b=l): return x * b[0]", "h(x)", "l[0] = 5.0"),
    "a default value by name": ("def h(x, *, b=2.0): return x * b", "h(x)", "h.__kwdefaults__['b'] = 5.0"),
    "a default value of a function in a list": (
        "def h(x, b=2.0): return x * b\nl = [h]",
        "l[0](x)",
        "l[0].__defaults__ = (5.0,)",
    ),
    "a deque": ("k = collections.deque([1.0])", "x * sum(k)", "k.append(2.0)"),
    "a deque in a list": ("k = [collections.deque([1.0])]", "x * k[0][0]", "k[0][0] = 2.0"),
    "an array of Python's": ("k = array.array('d', [1.0])", "x * k[0]", "k[0] = 2.0"),
    "bytes": ("k = bytearray(b'a')", "x * k[0]", "k[0] = 2"),
    "an array of objects": ("k = np.array([1.0, None])", "x * k[0]", "k[0] = 2.0"),
    "an array of objects in a list": ("k = [np.array([1.0, [2.0]], object)]", "x * k[0][1][0]", "k[0][1][0] = 3.0"),
    "the shape of an array in a list": (
        "k = [np.ones((2, 3))]",
        "x * len(k[0])",
        "k[0].resize((3, 2), refcheck=False)",
    ),
    "an attribute of a list": ("class L(list): pass\no = L([1.0])\no.k = 1.0", "x * o.k", "o.k = 2.0"),
    "an attribute of a dict in a list": ("class L(dict): pass\no = [L()]\no[0].k = 1.0", "x * o[0].k", "o[0].k = 2.0"),
    "objects in objects": (
        "o = Box(o=Box(o=Box(o=Box(o=Box(o=Box(k=1.0))))))",
        "x * o.o.o.o.o.o.k",
        "o.o.o.o.o.o.k = 5.0",
    ),
    "a list of linked objects": (
        "o = Box(k=1.0, o=None)\nfor _ in range(999): o = Box(k=1.0, o=o)\na = o.o.o.o.o.o.o\n"
        "def h(p):\n    s = 0.0\n    while p is not None:\n        s, p = s + p.k, p.o\n    return s",
        "x * h(o)",
        "a.k = 5.0",
    ),
    "a method of a class": (
        "class C:\n    k = 1.0\n    @classmethod\n    def h(cls, x): return x * cls.k",
        "C.h(x)",
        "C.k = 5.0",
    ),
    "a decorated method of a class": (
        "class C:\n    k = 1.0\n    @classmethod\n    @rose.jit\n    def h(cls, x): return x * cls.k",
        "C.h(x)",
        "C.k = 5.0",
    ),
    "of a dataclass that is a class": (
        "@dataclasses.dataclass\nclass C:\n    a: float = 1.0\n    k = 2.0\n"
        "    @classmethod\n    def h(cls, x): return x * cls.k",
        "C.h(x)",
        "C.k = 5.0",
    ),
    "of a class of another name": ("class C:\n    k = 1.0\ndef h(c): return c.k", "x * h(C)", "C.k = 5.0"),
    "of a class that is handed on": (
        "class C:\n    k = 1.0\n@rose.jit\ndef h(c: rose.Static, x): return c.k * x",
        "h(C, x)",
        "C.k = 5.0",
    ),
    "of a class in a list": ("class C:\n    k = 1.0\nl = [C]", "x * l[0].k", "C.k = 5.0"),
    "a property": ("o = Box(k=1.0)", "x * o.doubled", "o.k = 5.0"),
    "a property of a list": ("o = Box(k=[1.0])", "x * o.doubled[1]", "o.k[0] = 5.0"),
    "the dict of a class": ("class C:\n    k = 1.0", "x * C.__dict__['k']", "C.k = 5.0"),
    "a dict behind a proxy": ("k = {'a': 1.0}\na = types.MappingProxyType(k)", "x * a['a']", "k['a'] = 5.0"),
    "members of an enum": ("o = enum.Flag('O', 'A B')", "x * (o.A | o.B).value", "o = enum.Flag('O', 'Z A B')"),
    "an attribute of a member": (
        "o = enum.Enum('O', 'A')\no.A.k = 1.0\ndef h(m): return m.k",
        "x * h(o.A)",
        "o.A.k = 5.0",
    ),
    "a module": ("import types\nm = types.ModuleType('m')\nm.k = 1.0", "x * m.k", "m.k = 5.0"),
    "an array": ("a = np.array([1.0, 2.0])", "x * a[1]", "a[1] = 5.0"),
    "another array": ("a = np.array([1.0, 2.0])", "x * a[1]", "a = np.array([1.0, 7.0])"),
    "another array of a decorated function": (
        "a = np.ones(2)\n@rose.jit\ndef h(x: float): return x * a[1]",
        "h(x) * a[0]",
        "a = np.full(2, 5.0)",
    ),
    "another array two calls down": (
        "a = np.ones(2)\n@rose.jit\ndef u(x: float): return x * a[1]\n@rose.jit\ndef h(x: float): return u(x)",
        "h(x)",
        "a = np.full(2, 5.0)",
    ),
    "one of two names of an array": ("k = np.ones(2)\na = k", "x * a[1] + k[0]", "a = np.full(2, 5.0)"),
    "the name of a callee": (
        "k = np.ones(2)\na = k\n@rose.jit\ndef h(x: float): return x * a[1]",
        "h(x) + k[0] * x",
        "a = np.full(2, 5.0)",
    ),
    "an array of another shape": ("a = np.ones(2)", "x * a.sum()", "a = np.ones(5)"),
    "an array of another kind": ("a = np.ones(2)", "x * a.sum()", "a = np.array([1, 2])"),
    "an array of ints": ("a = np.array([0, 1])", "x * [2.0, 3.0][a[0]]", "a[0] = 1"),
    "an array that decides": ("a = np.array([1.0])", "x if a[0] > 2 else x * 3", "a[0] = 3.0"),
    "an array in a list": ("a = [np.array([1.0])]", "x * a[0][0]", "a[0][0] = 5.0"),
    "another array in a list": ("a = [np.array([1.0])]", "x * a[0][0]", "a[0] = np.array([5.0])"),
    "another array in a dict": ("a = {'w': np.ones(2)}", "x * a['w'][0]", "a['w'] = np.full(2, 5.0)"),
    "an array of an object": ("o = Box(k=np.ones(2))", "x * o.k[1]", "o.k[1] = 5.0"),
    "another array of an object": ("o = Box(k=np.ones(2))", "x * o.k[1]", "o.k = np.full(2, 5.0)"),
    "a longer array of an object": ("o = Box(k=np.ones(2))", "x * o.k.sum()", "o.k = np.ones(5)"),
}


class Box:
    def __init__(self, **attributes):
        vars(self).update(attributes)

    def scaled(self, x):
        return x * self.k

    @rose.jit
    def compiled(self, x):
        return x * self.k

    @property
    def doubled(self):
        return self.k * 2


class Slots:
    __slots__ = ("k",)


@dataclasses.dataclass
class Data:
    a: float
    b: list


MODULES = {module.__name__: module for module in (array, collections, dataclasses, enum, functools, types)}
SCOPE = {**MODULES, "rose": rose, "np": np, "Box": Box, "Slots": Slots, "Data": Data}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("place", ["global", "cell"])
def test_nothing_stale_is_run(case, place):
    before, expression, change = case
    if place == "global":
        scope = dict(SCOPE)
        f = define(f"{before}\ndef f(x):\n    return {expression}\n", **scope)

        def apply():
            exec(change, f.__globals__)
    else:
        names = sorted(set(change.replace("=", " ").split()) & {"k", "h", "a", "o", "m"})
        lines = [*before.splitlines(), "def f(x):", f"    return {expression}", "def change():"]
        lines += [f"    nonlocal {name}" for name in names if f"{name} = " in change.partition("=")[0] + "= "]
        lines += [f"    {change}", "return f, change"]
        text = "def make():\n" + "\n".join(f"    {line}" for line in lines) + "\n"
        f, apply = define(text, **SCOPE)()
    g = rose.jit(f)
    assert g(1.5) == f(1.5)
    assert g(1.5) == f(1.5)
    first = f(1.5)
    slope = rose.grad(g)(1.5)
    apply()
    assert f(1.5) != first
    assert g(1.5) == f(1.5)
    assert g(1.5) == f(1.5)
    assert rose.grad(g)(1.5) != slope
    with rose.disable_jit():
        assert g(1.5) == f(1.5)


def test_what_stays_as_it_is_stages_nothing_again():
    scope = dict(SCOPE)
    text = """
    class B:
        k = 1.0
        def __call__(self, x): return self + x
        def __add__(self, x): return self.h(x, self.p)
    class C(B):
        p = property(lambda self: self.o[0].k)
        def __init__(self, *o): self.o = collections.deque(o)
        def h(self, x, b=(1.0, 2.0), *, c=[3.0]): return x * sum(b if b is tuple else c)
    o = C(C(), Box(k=[C()]))
    @rose.jit
    def u(x: float): return o(x) * C(C()).p
    def f(x): return u(x) + o(x) + u(2.0 * x)
    """
    f = rose.jit(define(text, **scope))
    text = str(f.lower(1.5).ir)
    assert text.count("def u") == 1
    assert [f(1.5), f(1.5)] == [f.__wrapped__(1.5)] * 2
    assert f.cache_info().misses == f.__wrapped__.__globals__["u"].cache_info().misses == 1


STATIC = {
    "a list": ([2.0], "x * c[0]", "c[0] = 3.0"),
    "a dict": ({"k": 2.0}, "x * c['k']", "c['k'] = 3.0"),
    "an array": (np.array([2.0]), "x * c[0]", "c[0] = 3.0"),
    "a dataclass": (Data(2.0, []), "x * c.a", "c.a = 3.0"),
    "an object": (Box(k=2.0), "x * c.k", "c.k = 3.0"),
    "an object in a list": ([Box(k=2.0)], "x * c[0].k", "c[0].k = 3.0"),
    "a list in an object": (Box(k=[2.0]), "x * c.k[0]", "c.k[0] = 3.0"),
    "an array in an object": (Box(k=np.ones(2)), "x if c.k[0] > 2 else x * 9", "c.k[0] = 3.0"),
    "a class attribute": (type("C", (), {"k": 2.0})(), "x * c.k", "type(c).k = 3.0"),
    "a class": (type("C", (), {"k": 2.0}), "x * c.k", "c.k = 3.0"),
    "a deque": (collections.deque([2.0]), "x * c[0]", "c[0] = 3.0"),
    "an array of Python's": (array.array("d", [2.0]), "x * c[0]", "c[0] = 3.0"),
    "an array of objects": (np.array([2.0, None]), "x * c[0]", "c[0] = 3.0"),
    "an attribute of a list": (type("L", (list,), {})(), "x * (len(c) + getattr(c, 'k', 2.0))", "c.k = 3.0"),
    "a method": (Box(k=2.0).scaled, "c(x)", "c.__self__.k = 3.0"),
}


@pytest.mark.parametrize("case", STATIC.values(), ids=STATIC)
def test_static_arguments_are_told_apart_by_content(case):
    value, expression, change = case
    f = define(f"def f(x: float, c: rose.Static):\n    return {expression}\n", **SCOPE)
    g = rose.jit(f)
    first = g(1.5, value)
    assert first == f(1.5, value)
    exec(change, {"c": value})
    assert g(1.5, value) == f(1.5, value) != first
    assert g(1.5, value) == f(1.5, value)


def test_methods_with_a_static_self():
    class Layer:
        def __init__(self, k):
            self.k = k

        @rose.jit(static_argnames="self")
        def __call__(self, x: float) -> float:
            return x * self.k

    one, other = Layer(2.0), Layer(5.0)
    assert (one(1.5), other(1.5)) == (3.0, 7.5)
    one.k = 4.0
    assert (one(1.5), other(1.5)) == (6.0, 7.5)


def test_objects_that_contain_themselves_are_static_too():
    node = Box(k=2.0)
    node.parent = Box(k=1.0, child=node)
    g = rose.jit(static_argnames="n")(lambda x, n: x * n.k * n.parent.child.k)
    assert g(1.0, node) == 4.0
    node.k = 3.0
    assert g(1.0, node) == 9.0


def test_what_did_not_change_is_not_staged_again():
    o = Box(k=[1.0], w=np.ones(3))
    g = rose.jit(lambda x: x * o.k[0] + o.w[0])
    for k in range(5):
        o.w[0] = k
        assert g(1.0) == 1.0 + k
    assert g.cache_info().misses == 1


def test_what_an_enum_notes_for_itself_is_no_change():
    class Mode(enum.Flag):
        A = 1
        B = 2

    g = rose.jit(lambda x: x * (Mode.A | Mode.B).value if Mode.B in ~Mode.A else x)
    assert [g(1.0), g(2.0)] == [3.0, 6.0]
    assert g.cache_info().misses == 1


def test_a_helper_that_several_functions_run():
    """It is rewritten once for all that are staged together; each of them reads what it reads."""
    change = define(
        """
        k = 2.0
        def helper(x): return x * k
        @rose.jit
        def f(x: float) -> float: return helper(x)
        @rose.jit
        def g(x: float) -> float: return helper(x) + helper(1.0)
        @rose.jit
        def both(x: float) -> float: return f(x) + g(x)
        def change():
            global k
            k = 5.0
        """,
        rose=rose,
    )
    f, g, both = (change.__globals__[name] for name in ("f", "g", "both"))
    assert (both(1.0), g(1.0), f(1.0)) == (6.0, 4.0, 2.0)
    change()
    assert (g(1.0), f(1.0), both(1.0)) == (10.0, 5.0, 15.0)


def test_a_change_between_two_calls_of_one_staging():
    """Of the calls of a function of numbers each is staged with what is outside by then."""
    change = define(
        """
        k = 2.0
        @rose.jit
        def scaled(x: float) -> float: return x * k
        @rose.jit
        def f(x: float) -> float:
            change(2.0)
            y = scaled(x) + 10.0 * scaled(x)
            change(3.0)
            return y + 100.0 * scaled(x)
        def change(to):
            global k
            k = to
        """,
        rose=rose,
    )
    f = change.__globals__["f"]
    assert [f(1.0), f(1.0)] == [322.0, 322.0]


def test_a_rule_between_two_calls_of_one_staging():
    """Who has called a function that is given a rule later is staged again."""
    f = rose.jit(lambda x: x * x)
    g = rose.jit(lambda x: f(x) + f(x))
    assert rose.grad(g)(3.0) == 12.0
    f.jvp(lambda x: rose.Dual(f(x.re), 7.0 * x.du))
    assert rose.grad(g)(3.0) == 14.0


def test_functions_of_numbers_are_mapped_over_arrays():
    f = rose.jit(lambda x: x * 2.0)
    g = rose.jit(lambda x: f(x[0]) + rose.vmap(f)(x).sum() + f(x[1]))
    assert g(np.array([1.0, 2.0])) == 12.0


def test_data_of_a_class_that_nobody_reads_is_nobodys_concern():
    class Counted:
        made = 0
        scale = 2.0

        def __init__(self):
            type(self).made += 1

    f = rose.jit(lambda x: x * Counted.scale)
    for _ in range(3):
        Counted()
        assert f(1.0) == 2.0
    assert f.cache_info().misses == 1


def test_variables_of_a_context_are_read_at_each_call():
    scale = contextvars.ContextVar("scale", default=2.0)
    held = types.SimpleNamespace(scale=scale)

    f = rose.jit(lambda x: x * scale.get())
    g = rose.jit(lambda x: x * held.scale.get())
    assert (f(1.0), g(1.0)) == (2.0, 2.0)
    token = scale.set(3.0)
    assert (f(1.0), g(1.0)) == (3.0, 3.0)
    scale.reset(token)
    assert (f(1.0), g(1.0)) == (2.0, 2.0)


def test_variables_of_a_context_are_read_at_each_call_inside():
    scale = contextvars.ContextVar("scale", default=2.0)

    @rose.jit
    def f(x: float) -> float:
        inner = rose.jit(lambda y: y * scale.get())
        first = inner(x)
        scale.set(5.0)
        return first + inner(x)

    assert f(1.0) == 7.0
