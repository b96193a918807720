"""What a function changes outside of itself, outside of staged blocks, happens at each call as in Python."""

import collections
import types
import warnings

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

CALLS = 3


class Account:
    """An object with an attribute, an attribute of its class, and a method that changes it."""

    total = 0

    def __init__(self):
        self.count = 0
        self.items = []

    def bump(self):
        """One more."""
        self.count += 1
        return self.count


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
