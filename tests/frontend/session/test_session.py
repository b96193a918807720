"""A whole staging: arguments, results, what is captured, what is guarded, and what is left behind by a failure."""

import dataclasses
import functools
import math
from typing import NamedTuple

import numpy as np
import pytest

from rosejit import jit, text
from rosejit.errors import ShapeError, StagingTypeError, UnrollLimit, UnsupportedSyntax
from rosejit.frontend.hints.hints import Array, Mat, Static, Vec
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import signature
from rosejit.frontend.values import rose_functions as rose
from rosejit.ir.syntax import Call
from rosejit.ir.traversal import lets
from tests.frontend.oracle import agrees, define, evaluate, fault, run, says, stage

WEIGHTS = np.array([1.0, 2.0, 4.0])
ORDER = np.array([2, 0, 1])
SCALE = 2.5


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Ball:
    at: Point
    v: Vec[2]
    name: str = "ball"

    def speed(self):
        return math.sqrt(self.v[0] ** 2 + self.v[1] ** 2)


@dataclasses.dataclass(frozen=True)
class Span:
    low: float
    high: float

    def join(self, other):
        return Span(min(self.low, other.low), max(self.high, other.high))


# --- arguments and results


def test_structures_in_and_out():
    def f(ball: Ball, points: list[Point], rates: dict[str, float], t: tuple[float, int]):
        far = points[0]
        for p in points:
            if p.x > far.x:
                far = p
        return (
            Ball(far, ball.v * t[0], ball.name),
            {k: v * 2 for k, v in rates.items()},
            (ball.speed(), t[1]),
            points[::-1],
        )

    ball = Ball(Point(1.0, 2.0), np.array([3.0, 4.0]), "b")
    agrees(f, (ball, [Point(1.0, 1.0), Point(3.0, 0.0)], {"a": 1.0}, (2.0, 3)))
    assert evaluate(f, ball, [Point(1.0, 1.0)], {"a": 1.0}, (2.0, 3))[0].name == "b"


def test_nothing_and_constants():
    def f(x: float):
        return None, 3, True, "text", [1.5], np.array([1, 2])

    found = evaluate(f, 1.0)
    assert found[:5] == (None, 3, True, "text", [1.5])
    assert found[5].tolist() == [1, 2]


def test_results_follow_their_hints():
    def widened(n: int) -> float:
        return n + 1

    def shaped(x: Vec["n"]) -> Vec["n+1"]:
        return np.concatenate([x, [1.0]])

    def structured(x: float) -> Point:
        return Point(x, 1)

    def listed(x: float) -> Vec[2]:
        return [x, 1.0]

    assert stage(widened, 1).result.kind == "real"
    assert evaluate(shaped, [1.0]).tolist() == [1.0, 1.0]
    assert evaluate(structured, 2.0) == Point(2.0, 1.0)
    assert evaluate(listed, 2.0).tolist() == [2.0, 1.0]


def test_results_that_do_not():
    def number(x: Vec["n"]) -> float:
        return x  # vector

    def early(x: float) -> float:
        if x > 0:
            return x, x  # pair
        return x

    def longer(x: Vec["n"]) -> Vec["n"]:
        return np.zeros(len(x) + 1)  # longer

    def hidden(x: float):
        class Holder:
            pass

        made = Holder()
        made.x, made.itself = x, made
        return made  # holder

    for f, args, kind, words, line in (
        (number, ([1.0],), StagingTypeError, ("a number", "(1,)"), "return x  # vector"),
        (early, (1.0,), StagingTypeError, ("a number", "a tuple of 2"), "return x, x  # pair"),
        (longer, ([1.0],), ShapeError, ('Vec["n"]', "(2,)"), "return np.zeros(len(x) + 1)  # longer"),
        (hidden, (1.0,), StagingTypeError, ("structure",), "return made  # holder"),
    ):
        error = fault(f, *args)
        assert isinstance(error, kind)
        says(error, *words, line=line)


def test_static_arguments_are_the_values_themselves():
    def f(x: float, power: Static[int], names: Static, table: Static):
        total = x**power * len(names)
        return total + sum(v for v in table["w"]) + table["w"][0] * x

    args = (2.0, 3, ["a", "b"], {"w": np.array([1.0, 2.0])})
    agrees(f, args)
    changed = stage(f, *args)
    args[3]["w"][0] = 50.0
    assert run(changed, f, *args) == 21.0


def test_defaults_and_keywords():
    def f(x: float, y: float = 2.0, *rest: float, k: int = 3, **more: float):
        return x + y * k + sum(rest) + sum(more.values())

    assert evaluate(f, 1.0) == 7.0
    assert evaluate(f, 1.0, 1.0, 5.0, 6.0, k=2, z=9.0) == 23.0


def test_lambdas_partials_methods_and_wrappers():
    scale = 3.0
    assert evaluate(lambda x, y: x * y + scale, 2.0, 4.0) == 11.0

    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x if x > 0 else 0.0

        def apply(self, x):
            return self(x) + 1

        @classmethod
        def make(cls, w):
            return cls(w)

        @staticmethod
        def double(x):
            return x * 2 if x < 10 else x

    model = Model(2.0)

    def f(x: float):
        half = functools.partial(Model.double, x)
        return model(x), model.apply(x), Model.make(x)(1.0), half(), Model(3.0).w

    agrees(f, (1.5,), (-1.0,), (20.0,))

    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args) + 0.5

        return inner

    @logged
    def g(x: float) -> float:
        return x * 2

    assert evaluate(g, 3.0) == 6.5


def test_functions_of_functions():
    def f(x: Vec["n"]):
        pairs = list(map(lambda v: v * 2 if v > 0 else v, x))
        low = functools.reduce(min, pairs)
        kept = [v for v in filter(lambda k: k > 1, [1, 2, 3])]
        return low, sum(map(math.sin, pairs)), kept, sorted([3, 1, 2], key=lambda k: -k)

    agrees(f, (np.array([1.0, -2.0, 3.0]),))


def test_recursion_on_host_data():
    @dataclasses.dataclass
    class Group:
        items: list

    def bounds(shape):
        match shape:
            case Group(items=items):
                found = [bounds(item) for item in items]
                return functools.reduce(Span.join, found)
            case Span():
                return shape

    def f(a: Span, b: Span):
        return bounds(Group([a, Group([b, Span(0.0, 1.0)])]))

    agrees(f, (Span(-1.0, 0.5), Span(0.0, 3.0)))


def test_operators_of_the_users_classes():
    class Complex:
        def __init__(self, re, im):
            self.re, self.im = re, im

        def __mul__(self, other):
            return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

        def __eq__(self, other):
            return self.re == other.re and self.im == other.im

    def f(x: float, y: float):
        z = Complex(x, y)
        w = z * z * Complex(0.0, 1.0)
        return w.re, w.im

    agrees(f, (1.0, 2.0))


# --- what is read from outside


def test_captured_arrays_are_handed_in():
    def f(x: float):
        total = 0.0
        for k in ORDER:
            total += WEIGHTS[k] * x
        return total * SCALE + (WEIGHTS * 2).sum()

    staged = stage(f, 2.0)
    assert run(staged, f, 2.0) == 49.0
    (capture,) = staged.captures
    assert capture.read() is WEIGHTS
    assert len(staged.function.params) == 2


def test_what_changes_outside_is_noticed():
    names = {"W": np.array([1.0, 2.0]), "k": np.array([1]), "s": 2.0, "cfg": {"a": [1]}, "np": np}
    f = define("def f(x: float):\n    return W[k[0]] * s * x + cfg['a'][0]", **names)
    scope = f.__globals__
    staged = stage(f, 1.0)

    def current():
        return all(g.holds() for g in staged.guards) and all(c.read() is not None for c in staged.captures)

    assert current()
    scope["W"] = np.array([5.0, 6.0])  # read again at each call
    assert current()
    assert run(staged, f, 1.0) == 13.0
    for name, other in (("W", np.zeros(3)), ("s", 3.0), ("k", np.array([0])), ("cfg", {"a": [2]}), ("s", 2)):
        kept, scope[name] = scope[name], other
        assert not current(), name
        scope[name] = kept
    scope["cfg"]["a"].append(1)
    assert not current()


def test_cells_and_attributes_are_noticed():
    class Settings:
        rate = 1.0

    outer = define(
        """
        def outer(settings):
            k = 2.0
            def set_k(v):
                nonlocal k
                k = v
            def f(x: float): return x * k + settings.rate
            return f, set_k
        """
    )
    settings = Settings()
    f, set_k = outer(settings)
    staged = stage(f, 1.0)
    assert all(guard.holds() for guard in staged.guards)
    set_k(3.0)
    assert not all(guard.holds() for guard in staged.guards)
    set_k(2.0)
    settings.rate = 5.0
    assert not all(guard.holds() for guard in staged.guards)


def test_functions_that_a_function_calls_are_noticed():
    f = define("def helper(x): return x * 2\ndef f(x: float): return helper(x)")
    staged = stage(f, 1.0)
    assert all(guard.holds() for guard in staged.guards)
    f.__globals__["helper"] = lambda x: x * 3
    assert not all(guard.holds() for guard in staged.guards)


# --- calls in staged code


class Decorated:
    """What the API gives for `@jit`, without its caches."""

    def __init__(self, function):
        self.function = function
        self.known = signature(function)
        self.stagings = []

    def __rose_stage__(self, session, args, kwargs):
        call = self.known.bind(args, kwargs)
        found = next((s for key, s in self.stagings if key == call.key and not s.outer), None)
        if found is None:
            found = session.stage(self.function, self.known, call)
            self.stagings.append((call.key, found))
        return session.call(found, call)


def test_decorated_functions_stay_calls():
    @Decorated
    def square(x: float):
        return x * x + WEIGHTS[0]

    def f(x: float, v: Vec["n"]):
        return square(x) + square(square(v[0])) + sum(square(v[i]) for i in rose.range(len(v)))

    staged = stage(f, 1.0, [2.0, 3.0])
    callees = {id(let.expr.function) for let in lets(staged.function.body) if isinstance(let.expr, Call)}
    assert len(callees) == 1
    assert len(square.stagings) == 1
    assert run(staged, f, 1.0, [2.0, 3.0]) == 1 + 1 + 26 + 5 + 10


def test_structures_through_calls():
    @Decorated
    def moved(p: Point, by: float) -> Point:
        return Point(p.x + by, p.y)

    @Decorated
    def scaled(a: Mat["n", "m"], k: int):
        return a * k, k

    def f(x: float, a: Mat["n", "m"]):
        p = moved(Point(x, 1), 2)
        b, k = scaled(a[:, ::-1], 3)
        return p, b, k

    found = evaluate(f, 1.0, np.eye(2))
    assert found[0] == Point(3.0, 1.0)
    assert found[1].tolist() == [[0.0, 3.0], [3.0, 0.0]]


def test_functions_that_close_over_staged_values():
    def f(x: float, v: Vec["n"]):
        y = v * 2
        k = x * x

        @jit
        def inner(t: float):
            return t * k + y[0]

        total = 0.0
        for i in rose.range(len(v)):
            shift = v[i]

            @jit
            def shifted(t: float):
                return inner(t) + shift

            total += shifted(1.0)
        return total

    v = np.array([1.0, 2.0])
    assert evaluate(f, 3.0, v) == 2 * (9 + 2) + 3


def test_a_decorated_function_does_not_change_arrays_around_it():
    def f(v: Vec["n"]):
        y = v.copy()

        @jit
        def inner(t: float):
            y[0] = t  # changes
            return t

        return inner(1.0) + y[0]

    error = fault(f, [1.0])
    assert isinstance(error, StagingTypeError)
    assert "decorated function" in str(error)


# --- failures


def test_a_failure_leaves_nothing_behind():
    session = Session()

    def bad(x: float):
        if x > 0:
            for i in rose.range(3):
                x = x + "a"  # bad
        return x

    def good(x: float):
        return x * 2

    with pytest.raises(StagingTypeError):
        session.stage(bad, signature(bad), signature(bad).bind((1.0,), {}))
    assert session.tape.frames == []
    session.tape.error = None
    assert "x * 2.0" in text.show(session.stage(good, signature(good), signature(good).bind((1.0,), {})).function)


def test_errors_that_user_code_swallows():
    def f(x: float):
        def risky(v):
            try:
                return v + "a"  # swallowed
            except TypeError:
                return v

        return risky(x)

    error = fault(f, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, "str", line='return v + "a"  # swallowed')


def test_errors_of_the_users_are_their_own():
    def f(x: float):
        return x * {}["missing"]

    with pytest.raises(KeyError, match="missing"):
        evaluate(f, 1.0)


def test_the_calls_that_led_to_an_error():
    def inner(v):
        return v + "text"  # inner

    def middle(v):
        return inner(v) * 2  # middle

    def f(x: float):
        return middle(x)  # outer

    error = fault(f, 1.0)
    says(error, line='return v + "text"  # inner')
    lines = [str(place).partition(" in ")[2].rpartition(".")[2] for place in error.chain]
    assert lines == ["f", "middle"]
    assert str(error).count("called from") == 2


def test_loops_that_are_too_long(monkeypatch):
    monkeypatch.setenv("ROSE_UNROLL_LIMIT", "500")

    def f(x: float):
        for k in rose.unroll(range(10**9)):
            x = x * 2 + k  # unrolled
        return x

    error = fault(f, 1.0)
    assert isinstance(error, UnrollLimit)
    says(error, "500", line="x = x * 2 + k  # unrolled", help="rose.range")


def test_recursion_that_does_not_end():
    def forever(v):
        return forever(v * 2)  # again

    def f(x: float):
        return forever(x)

    error = fault(f, 1.0)
    assert isinstance(error, UnrollLimit)
    says(error, line="return forever(v * 2)  # again")


def test_arrays_of_other_kinds():
    words = np.array(["a", "b"])
    odd = np.array([1j])

    def strings(x: float):
        return x if words[0] == "a" else 0.0

    def complexes(x: float):
        return odd[0].real * x

    assert evaluate(strings, 2.0) == 2.0
    assert "complex array from outside" in str(fault(complexes, 2.0))


def test_what_a_helper_cannot_stage():
    def helper(v):
        global unknown  # refused
        return v

    def with_staged(x: float):
        return helper(x)

    def with_known(x: float):
        return helper(1.0) * x

    error = fault(with_staged, 1.0)
    assert isinstance(error, UnsupportedSyntax)
    says(error, line="global unknown  # refused")
    assert evaluate(with_known, 2.0) == 2.0


def test_int_arrays_of_arguments():
    def f(x: Vec["n"], order: Array["n", int]):
        total = 0.0
        for i in rose.range(len(order)):
            total = total * 2 + x[order[i]]
        return total, x[order]

    agrees(f, (WEIGHTS, ORDER))


@dataclasses.dataclass
class Trail:
    at: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(2))
    scale: float = 1.0
    seen: list[float] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class LongTrail(Trail):
    weights: np.ndarray = dataclasses.field(default_factory=functools.partial(np.full, 3, 0.5), kw_only=True)


def test_arrays_that_default_factories_make_are_fresh():
    def f(x: float, n: int):
        trail, other, given = Trail(), LongTrail(scale=2.0), Trail(np.ones(2))
        for i in rose.range(n):
            trail.at[0] += x
            trail.at[1] = trail.at[0] * x + i
            other.weights *= x
            given.at[1] += other.weights[2]
        other.seen.append(x)
        return trail.at, other.at, other.weights, given.at, other.seen[0], trail.scale, len(trail.seen)

    agrees(f, (1.5, 4), (0.25, 0))
