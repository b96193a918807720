"""What a function changes outside of itself, outside of staged blocks, happens at each call as in Python."""

import collections
import contextvars
import functools
import io
import operator
import queue
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

CALLS = 3


class Account:
    """An object with an attribute, an attribute of its class, and a method that changes it."""

    total = 0

    def __init__(self, count=0):
        self.count = count
        self.items = []

    def fill(self, found):
        """One more, said to a list."""
        self.count += 1
        found.append(self.count)

    def bump(self):
        """One more."""
        self.count += 1
        return self.count


class Callable(Account):
    """The same, with a setter, of a class whose objects can be called."""

    def __call__(self):
        return self.count

    @property
    def shown(self):
        """The count."""
        return self.count

    @shown.setter
    def shown(self, value):
        self.count = value


KEPT = Account()


def _attribute():
    account = Account()

    def f(x):
        account.count += 1
        return x * x * account.count

    return f


def _class():
    account = type("Fresh", (Account,), {})

    def f(x):
        account.total += 1
        return x * x * account.total

    return f


def _module():
    module = types.ModuleType("counting")
    module.count = 0

    def f(x):
        module.count += 1
        return x * x * module.count

    return f


def _list():
    seen = []

    def f(x):
        seen.append(1.0)
        return x * x * len(seen)

    return f


def _list_in_object():
    account = Account()

    def f(x):
        account.items.append(1.0)
        return x * x * len(account.items)

    return f


def _list_in_list():
    seen = [[], []]

    def f(x):
        seen[1] += [1.0]
        return x * x * len(seen[1])

    return f


def _dict():
    counts = {}

    def f(x):
        counts["calls"] = counts.get("calls", 0) + 1
        return x * x * counts["calls"]

    return f


def _counter():
    counts = collections.Counter()

    def f(x):
        counts["calls"] += 1
        return x * x * counts["calls"]

    return f


def _set():
    seen = set()

    def f(x):
        seen.add(len(seen))
        return x * x * len(seen)

    return f


def _deque():
    seen = collections.deque()

    def f(x):
        seen.append(1.0)
        return x * x * len(seen)

    return f


def _method():
    account = Account()

    def f(x):
        return x * x * account.bump()

    return f


def _helper():
    account = Account()

    def count():
        account.count += 1
        return account.count

    def f(x):
        return x * x * count()

    return f


def _generator():
    account = Account()

    def counts():
        account.count += 1
        yield account.count

    def f(x):
        return x * x * sum(counts())

    return f


def _setattr():
    account = Account()

    def f(x):
        setattr(account, "count", account.count + 1)  # that is what is tried
        return x * x * account.count

    return f


def _dictionary():
    account = Account()

    def f(x):
        account.__dict__["count"] += 1
        return x * x * account.count

    return f


def _vars():
    account = Account()

    def f(x):
        vars(account)["count"] += 1
        return x * x * account.count

    return f


def _function_attribute():
    def counted():
        pass

    counted.calls = 0

    def f(x):
        counted.calls += 1
        return x * x * counted.calls

    return f


def _statement():
    """A method that is called for what it leaves in a list of the caller's."""
    account = Account()

    def f(x):
        found = []
        account.fill(found)
        return x * x * found[0]

    return f


def _statement_in_helper():
    account = Account()

    def count(found):
        account.fill(found)

    def f(x):
        found = []
        count(found)
        return x * x * found[0]

    return f


def _variable_around():
    count = 0

    def counted():
        nonlocal count
        count += 1
        return count

    def f(x):
        return x * x * counted()

    return f


def _object_behind_variable():
    account = Account()

    def counted():
        nonlocal account
        account = Account(account.count + 1)
        return account.count

    def f(x):
        return x * x * counted()

    return f


def _partial():
    counted = functools.partial(Account.bump, Account())

    def f(x):
        return x * x * counted()

    return f


def _bound_method():
    counted = Account().bump

    def f(x):
        return x * x * counted()

    return f


def _default():
    def counted(seen=[]):  # that is what is tried
        seen.append(1.0)
        return len(seen)

    def f(x):
        return x * x * counted()

    return f


def _class_by_instance():
    account = type("Fresh", (Account,), {})()

    def f(x):
        type(account).total += 1
        return x * x * account.total

    return f


def _list_of_class():
    fresh = type("Fresh", (Account,), {"made": []})

    def f(x):
        fresh().made.append(1.0)
        return x * x * len(fresh.made)

    return f


def _descriptor():
    class Counting:
        def __init__(self):
            self.count = 0

        def __get__(self, owner, kind):
            self.count += 1
            return self.count

    account = type("Fresh", (), {"count": Counting()})()

    def f(x):
        return x * x * account.count

    return f


def _missing_attribute():
    class Counting:
        def __init__(self):
            self.calls = 0

        def __getattr__(self, name):
            self.calls += 1
            return self.calls

    account = Counting()

    def f(x):
        return x * x * account.count

    return f


def _setter():
    account = Callable()

    def f(x):
        account.shown += 1
        return x * x * account.count

    return f


def special(name, use):
    """A special method that changes the object, however Python comes to call it."""

    def made():
        def method(self, *args):
            self.count += 1
            return {"__len__": self.count, "__repr__": str(self.count)}.get(name, True if args else 1)

        account = type(
            "Fresh", (Account,), {name: method, "__hash__": method if name == "__hash__" else object.__hash__}
        )()

        def f(x):
            use(account)
            return x * x * account.count

        return f

    made.__name__ = f"_special{name}"
    return made


_length = special("__len__", len)
_item = special("__getitem__", lambda account: account[0])
_equal = special("__eq__", lambda account: account == 1)
_within = special("__contains__", lambda account: 1 in account)
_shown = special("__repr__", repr)
_hashed = special("__hash__", lambda account: {account: 1})
_entered = special("__call__", lambda account: account())


def of_library(value, change, count):
    """An object of the standard library that changes in C, or in Python that is nobody's."""

    def made():
        held = value()

        def f(x):
            change(held)
            return x * x * count(held)

        return f

    made.__name__ = f"_{type(value()).__name__}"
    return made


_queue = of_library(queue.Queue, lambda q: q.put(1.0), lambda q: q.qsize())
_context = of_library(
    lambda: contextvars.ContextVar("count", default=0), lambda c: c.set(c.get() + 1), lambda c: c.get()
)
_thread_local = of_library(threading.local, lambda t: vars(t).update(k=vars(t).get("k", 0) + 1), lambda t: t.k)
_text = of_library(io.StringIO, lambda s: s.write("a"), lambda s: len(s.getvalue()))
_user_list = of_library(collections.UserList, lambda u: u.append(1.0), len)
_chain_map = of_library(lambda: collections.ChainMap({}, {}), lambda m: m.update({len(m): 1}), len)
_weak = of_library(weakref.WeakValueDictionary, lambda d: d.update({len(d): KEPT}), len)
_default_dict = of_library(lambda: collections.defaultdict(list), lambda d: d[len(d)], len)
_memory = of_library(lambda: memoryview(bytearray(1)), lambda m: operator.setitem(m, 0, m[0] + 1), lambda m: m[0])
_objects = of_library(lambda: np.array([0], object), lambda a: operator.setitem(a, 0, a[0] + 1), lambda a: a[0])


def _inner_function():
    seen = [0]

    def f(x):
        @rose.jit
        def inner(y):
            seen[0] += 1
            return y * seen[0]

        return inner(x * x)

    return f


CHANGES = [value for name, value in list(globals().items()) if name.startswith("_") and callable(value)]
WAYS = {
    "call": lambda f, x: f(x),
    "grad": lambda f, x: rose.grad(f)(x),
    "value_and_grad": lambda f, x: rose.value_and_grad(f)(x),
    "grad of grad": lambda f, x: rose.grad(rose.grad(f))(x),
    "jvp": lambda f, x: rose.jvp(f, (x,), (2.0,)),
    "vjp": lambda f, x: (lambda value, pull: (value, *pull(2.0)))(*rose.vjp(f, x)),
    "linearize": lambda f, x: (lambda value, push: (value, push(2.0)))(*rose.linearize(f, x)),
    "hvp": lambda f, x: rose.hvp(f)(x, 2.0),
    "hessian": lambda f, x: rose.hessian(f)(x),
    "jacfwd": lambda f, x: rose.jacfwd(f)(x),
    "jacrev": lambda f, x: rose.jacrev(f)(x),
    "taylor": lambda f, x: rose.taylor(f, x, 1.0, 2),
    "checkpoint": lambda f, x: rose.checkpoint(f)(x),
    "sparse_jacobian": lambda f, x: rose.sparse_jacobian(rose.jit(lambda x: np.array([f(x[0])])))(
        np.array([x])
    ).toarray(),
}


def expected(way, count):
    """What `way` makes of the function with that count."""
    return WAYS[way](rose.jit(lambda x: x * x * count), 3.0)


@pytest.mark.filterwarnings("ignore::rosejit.StagingWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_at_each_call(change, way):
    plain, staged = change(), rose.jit(change())
    for _ in range(CALLS):
        count = plain(1.0)
        np.testing.assert_array_equal(WAYS[way](staged, 3.0), expected(way, count))


@pytest.mark.filterwarnings("ignore::rosejit.StagingWarning")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_kept_derivatives_and_calls_between(change):
    """A gradient that is kept, the function itself, and one that calls it twice, in turn."""
    f = rose.jit(change())
    slope, twice = rose.grad(f), rose.jit(lambda x: f(x) + 10.0 * f(x))
    found = [slope(1.0), f(1.0), twice(1.0), slope(1.0), twice(1.0), f(1.0)]
    assert found == [2.0 * 1, 2.0, 3.0 + 40.0, 2.0 * 5, 6.0 + 70.0, 8.0]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_not_in_lanes(change):
    """Each of the lanes would make the change."""
    with pytest.raises(rose.UnsupportedSyntax):
        rose.vmap(rose.jit(change()))(np.array([1.0, 2.0]))


@pytest.mark.filterwarnings("ignore::rosejit.StagingWarning")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_not_in_a_staged_loop(change):
    """Each iteration would make the change."""
    f = rose.jit(change())

    @rose.jit
    def often(x: float) -> float:
        total = 0.0
        for _ in rose.range(3):
            total += f(x)
        return total

    with pytest.raises(rose.RoseError):
        often(1.0)


@pytest.mark.filterwarnings("ignore::rosejit.StagingWarning")
def test_of_a_function_that_staged_code_makes():
    seen = [0]

    @rose.jit
    def f(x):
        @rose.jit
        def inner(y):
            seen[0] += 1
            return y * seen[0]

        return inner(x) + 10.0 * inner(x)

    assert [f(1.0), f(1.0)] == [1.0 + 20.0, 3.0 + 40.0]


@pytest.mark.parametrize("held", [lambda it: (it,), lambda it: [it], lambda it: {"a": it}, types.SimpleNamespace])
@pytest.mark.parametrize("use", ["next(it)", "sum(it)", "[k for k in it][0]", "list(it)[0]"])
def test_iterators_in_something_from_outside(held, use):
    made = types.SimpleNamespace(it=iter([1.0, 2.0])) if held is types.SimpleNamespace else held(iter([1.0, 2.0]))
    path = {tuple: "held[0]", list: "held[0]", dict: "held['a']"}.get(type(made), "held.it")
    f = rose.jit(define(f"def f(x):\n    it = {path}\n    return x * {use}", held=made))
    with pytest.raises(rose.UnsupportedSyntax, match=r"`held(\.it)?` (holds|is) an iterator"):
        f(1.0)


def test_a_helper_that_is_not_rewritten_is_not_stale():
    """One with a `global` runs as it is: what it, and who it calls, read is guarded all the same."""
    names = {"calls": 0, "scale": 2.0}
    text = "def inner():\n    return scale\ndef helper():\n    global calls\n    calls += 1\n    return inner()"
    helper = define(text, **names)
    f = rose.jit(define("def f(x):\n    return x * helper()", helper=helper))
    assert f(1.0) == 2.0
    helper.__globals__["scale"] = 3.0
    assert f(1.0) == 3.0


def test_a_table_is_filled_once():
    table = {}

    @rose.jit
    def f(x: float) -> float:
        if "a" not in table:
            table["a"] = 3.0
        return x * table["a"]

    with pytest.warns(rose.StagingWarning, match="staged again for each call"):
        f(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [f(1.0) for _ in range(5)] == [3.0] * 5
    assert f.cache_info().misses == 2  # once with the change, once without


COUNTERS = {
    "a list": ("runs.append(1)", "len(runs)"),
    "a Counter": ("runs['calls'] += 1", "runs['calls']"),
    "an attribute": ("runs.count += 1", "runs.count"),
    "a method": ("runs.bump()", "runs.count"),
}


@pytest.mark.parametrize("kind", COUNTERS)
def test_what_is_only_counted_with_has_no_part_in_the_numbers(kind):
    """It is changed once for each staging, as everybody does who wants to see how often there is one."""
    change, count = COUNTERS[kind]
    runs = {"a list": [], "a Counter": collections.Counter()}.get(kind, Account())
    f = rose.jit(define(f"def f(x):\n    {change}\n    return x * x", runs=runs))
    with pytest.warns(rose.StagingWarning, match="once, and not at each call"):
        assert [f(2.0), f(3.0), f(4.0)] == [4.0, 9.0, 16.0]
    assert eval(count, {"runs": runs}) == 1
    assert f.cache_info().misses == 1


def test_what_is_bound_does_not_ask():
    """`.compile()` is bound to what was outside when it was lowered: the change is made by lowering, once."""
    account = Account()

    @rose.jit
    def f(x: float) -> float:
        account.count += 1
        return x * account.count

    with pytest.warns(rose.StagingWarning):
        compiled = f.lower(1.0).compile()
    assert [compiled(1.0), compiled(1.0), account.count] == [1.0, 1.0, 1]


@pytest.mark.parametrize("name", ["__code__", "__defaults__", "__kwdefaults__"])
def test_what_was_decorated_is_not_changed_by_halves(name):
    """Staged code has it by then: that it is set is not passed over."""

    @rose.jit
    def f(x: float, k: float = 2.0) -> float:
        return x * k

    assert not hasattr(f, name)
    with pytest.raises(rose.StagingTypeError, match=rf"`f.{name}` is set, but `f` was decorated with the old one"):
        setattr(f, name, getattr(f.__wrapped__, name))
    assert f(1.0) == 2.0


def test_a_refused_call_leaves_a_thread_local_as_it_was():
    held = threading.local()
    f = rose.jit(define("def f(x):\n    held.k = 1\n    return x + 'no'", held=held))
    with pytest.raises(rose.RoseError):
        f(1.0)
    assert vars(held) == {}


def test_objects_that_can_be_called_are_met():
    """A setter of theirs in a staged loop is staged code, and refused as any other."""
    f = rose.jit(
        define(
            "def f(x):\n    s = 0.0\n    for _ in rose.range(3):\n        held.shown = 1\n        s += x\n    return s",
            held=Callable(),
            rose=rose,
        )
    )
    with pytest.raises(rose.UnsupportedSyntax, match="is changed in it"):
        f(1.0)
