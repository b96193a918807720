"""Lists, dicts, sets and objects of the host, built and changed while staging; shared variables of functions."""

import collections
import heapq
import itertools
import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


class Account:
    """An object that keeps a history."""

    def __init__(self, balance):
        self.balance = balance
        self.history = [balance]

    def add(self, amount):
        self.balance = self.balance + amount
        self.history.append(self.balance)
        return self

    @property
    def average(self):
        return sum(self.history) / len(self.history)


class Stack(list):
    """A list with operations of its own."""

    def combine(self, f):
        right, left = self.pop(), self.pop()
        self.append(f(left, right))


class Module:
    """Parameters found by name, as in libraries for networks."""

    def __init__(self, **parameters):
        self.__dict__.update(parameters)

    def __call__(self, x):
        for name in sorted(self.__dict__):
            x = x * self.__dict__[name] + len(name)
        return x


def memory():
    """A closure with a cache."""
    known = {}

    def power(x, k):
        if k not in known:
            known[k] = 1.0 if k == 0 else x * power(x, k - 1)
        return known[k]

    return power


@rose.jit
def list_changed(x: Vec[3]) -> list[float]:
    values = [v * v for v in x]
    values.append(x[0])
    values.insert(1, 2.0)
    values.extend(v + 1.0 for v in x[1:])
    values[0], values[-1] = values[-1], values[0]
    values += [values.pop(2) * values[0]]
    del values[1]
    values[1:3] = [values[2]]
    values.reverse()
    return values


@rose.jit
def list_of_lists(a: Mat[2, 3]) -> Vec[3]:
    columns = [[] for _ in range(3)]
    for row in a:
        for column, v in zip(columns, row, strict=True):
            column.append(v)
    return np.array([math.prod(column) for column in columns])


@rose.jit
def dict_changed(x: Vec[3]) -> dict[str, float]:
    table = {"a": x[0]}
    table.update(b=x[1], c=x[2] * x[0])
    table["d"] = table.pop("a") + table.setdefault("e", 2.0)
    table |= {"b": table["b"] * 3.0}
    return {key: value * len(table) for key, value in table.items() if key != "c"}


@rose.jit
def collected(x: Vec[4]) -> float:
    groups = collections.defaultdict(list)
    for k, v in enumerate(x):
        groups[k % 3].append(v)
    window = collections.deque(maxlen=2)
    for v in x:
        window.append(v)
    counts = collections.Counter("abracadabra")
    return sum(math.prod(g) * len(g) for g in groups.values()) + window[0] * counts["a"] + len(groups)


@rose.jit
def sets_of_keys(x: Vec[4]) -> float:
    chosen = {0, 2} | {3}
    chosen.discard(2)
    chosen.add(1)
    return sum(x[k] for k in sorted(chosen)) * len(chosen - {1}) + (x[2] if 2 in chosen else 0.5)


@rose.jit
def queue_of_the_host(x: Vec[4]) -> float:
    """An order that the host decides."""
    queue = [(k * 7 % 4, k) for k in range(4)]
    heapq.heapify(queue)
    total = 0.0
    while queue:
        _, k = heapq.heappop(queue)
        total = total * 0.5 + x[k]
    return total


@rose.jit
def object_with_history(x: float, y: float) -> float:
    account = Account(x)
    for k in range(3):
        account.add(y * k)
    other = account
    other.add(x * y)
    return account.average * account.balance + account.history[1]


@rose.jit
def stack_machine(x: float, y: float) -> float:
    stack = Stack([x, y, 2.0])
    stack.combine(lambda a, b: a**b)
    stack.append(x)
    stack.combine(lambda a, b: a * b)
    stack.combine(lambda a, b: a - b)
    (result,) = stack
    return result


@rose.jit
def object_that_is_called(x: float, w: float) -> float:
    layers = [Module(scale=w, shift=0.5), Module(gain=2.0)]
    setattr(layers[1], "gain", w * w)
    for layer in layers:
        x = layer(x)
    return x


@rose.jit
def memoised(x: float) -> float:
    power = memory()
    return power(x, 5) + power(x, 3)


@rose.jit
def shared_variable(x: Vec["n"]) -> float:
    """A variable that inner functions rebind, in staged loops and branches."""
    total, turns = 0.0, 0

    def visit(v):
        nonlocal total, turns
        if v > 0.0:
            total = total + v * x[turns]
        turns += 1

    for i in rose.range(len(x)):
        visit(x[i] * 2.0)
    if total > 1.0:
        visit(total) if len(x) > 9 else None
        total *= 2.0
    return total + turns


@rose.jit
def made_in_the_turn(x: Vec["n"]) -> float:
    """What is made inside a staged loop may be changed there."""
    total = 0.0
    for i in rose.range(len(x)):
        parts = [x[i], 1.0]
        parts.append(parts[0] * parts[1])
        table = {"sum": sum(parts)}
        table["twice"] = table["sum"] * 2.0
        account = Account(table["twice"]).add(x[i])
        if x[i] > 0.0:
            signs = {1.0}
            signs.add(2.0)
            total += Account(max(signs)).add(account.balance).average
        total += account.average
    return total


@rose.jit
def generators(x: Vec[3]) -> float:
    def running(values):
        total = 0.0
        for v in values:
            total = total + v
            yield total

    def paired(values):
        yield from zip(values, itertools.islice(itertools.cycle(values), 1, None))

    first = iter(x)
    head = next(first)
    rest = sum(running(first))
    return head * rest + sum(a * b for a, b in paired(list(x))) + max(itertools.accumulate(x, lambda a, b: a * b))


@rose.jit
def sorted_by_host_keys(x: Vec[3]) -> Vec[3]:
    order = sorted(range(3), key=lambda k: (k * 5) % 3, reverse=True)
    pairs = sorted(zip(order, x, strict=True), key=lambda pair: pair[0])
    return np.array([v * (k + 1) for k, v in pairs])


@rose.jit
def tables_of_functions(x: float, y: float) -> float:
    steps = {"double": lambda v: 2.0 * v, "square": lambda v: v * v}
    steps["both"] = lambda v: steps["double"](steps["square"](v))
    path = [steps[name] for name in ("both", "double")] + [lambda v, y=y: v - y]
    for step in path:
        x = step(x)
    return x


@rose.jit
def graph_of_the_host(x: Vec[4]) -> float:
    """Values flow along the edges of a graph, in an order found by a search."""
    edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
    order, seen = [], set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for other in edges[node]:
            visit(other)
        order.append(node)

    visit(0)
    values = dict.fromkeys(range(4), 0.0)
    values[0] = x[0]
    for node in reversed(order):
        for other in edges[node]:
            values[other] = values[other] + values[node] * x[other]
    return values[3]


A = np.array
X = A([1.2, 0.7, -1.5, 0.4])

PROGRAMS = (
    Program(list_changed, [(X[:3],)]),
    Program(list_of_lists, [(A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4]]),)], lambda a: a[0] * a[1]),
    Program(dict_changed, [(X[:3],)]),
    Program(collected, [(X,)], lambda x: x[0] * x[3] * 2 + x[1] + x[2] + x[2] * 5 + 3),
    Program(sets_of_keys, [(X,)], lambda x: 2 * (x[0] + x[1] + x[3]) + 0.5, lambda x: [2.0, 2.0, 0.0, 2.0]),
    Program(queue_of_the_host, [(X,)], lambda x: x[0] / 8 + x[3] / 4 + x[2] / 2 + x[1]),
    Program(object_with_history, [(1.5, 0.5)]),
    Program(stack_machine, [(1.5, 0.5)], lambda x, y: x - y * y * x, lambda x, y: 1 - y * y),
    Program(object_that_is_called, [(1.5, 0.5)]),
    Program(memoised, [(1.5,)], lambda x: x**5 + x**3, lambda x: 5 * x**4 + 3 * x * x),
    Program(shared_variable, [(X,), (X * 0.1,)]),
    Program(made_in_the_turn, [(X,)]),
    Program(generators, [(X[:3],)]),
    Program(sorted_by_host_keys, [(X[:3],)]),
    Program(tables_of_functions, [(1.5, 0.5)], lambda x, y: 4 * x * x - y, lambda x, y: 8 * x),
    Program(graph_of_the_host, [(X,)], lambda x: x[0] * (x[1] + x[2]) * x[3]),
)
