"""What running chooses among values of the host leaves a function as that value: kinds of values x places in the result
x ways to call, against CPython."""

import enum
import inspect
import math
import pickle
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


class Mode(enum.Enum):
    A = 1
    B = 2
    C = 3


class Size(enum.IntEnum):
    SMALL = 5
    LARGE = 3


class Shape(str, enum.Enum):
    DISC = "disc"
    RING = "ring"


class One:
    k = 1.0


class Two:
    k = 2.0


def one(v):
    return v + 1.0


def two(v):
    return 2.0 * v


@dataclass
class Hit:
    t: float
    kind: Any
    again: float = 0.0


class Pair(NamedTuple):
    kind: Any
    t: float


@dataclass
class Sized:
    t: float
    size: Size = Size.SMALL


@dataclass(frozen=True)
class Moded:
    t: float
    mode: Mode | None = None


KINDS = {
    "member": "Mode.A if x < 1.0 else Mode.B",
    "one of three members": "Mode.A if x < 1.0 else Mode.B if x < 2.0 else Mode.C",
    "member of texts": "Shape.DISC if x < 1.0 else Shape.RING",
    "text": '"slow" if x < 1.0 else "fast"',
    "bytes": 'b"slow" if x < 1.0 else b"fast"',
    "text of a table": '("slow", "fast", "wild")[k]',
    "text or None": '"slow" if x < 1.0 else None',
    "texts or None": 'None if x < 1.0 else "slow" if x < 2.0 else "fast"',
    "None in the middle": '"slow" if x < 1.0 else None if x < 2.0 else "fast"',
    "member or None": "None if x < 1.0 else Mode.B",
    "members or None": "Mode.A if x < 1.0 else Mode.B if x < 2.0 else None",
    "function": "one if x < 1.0 else two",
    "function of a table": '{"a": one, "b": two}["a" if x < 1.0 else "b"]',
    "builtin": "math.sin if x < 1.0 else math.cos",
    "class": "One if x < 1.0 else Two",
    "text or member": '"slow" if x < 1.0 else Mode.B',
    "text or function": '"slow" if x < 1.0 else one',
    "key of the largest": 'max({"a": x, "b": 1.5 - x, "c": 0.5}.items(), key=lambda kv: kv[1])[0]',
    "negated": '"slow" if not x < 1.0 else "fast"',
    "match": "of_match(x, k)",
    "from a loop": "of_loop(x, k)",
    "from a loop that is left": "of_left(x, k)",
    "from a while": "of_while(x)",
}
PLACES = {
    "alone": "{c}",
    "tuple": "(x * x, {c})",
    "list": "[{c}, x * x]",
    "dict": '{{"t": x * x, "c": {c}}}',
    "record": "Hit(x * x, {c})",
    "named tuple": "Pair({c}, x * x)",
    "inside": "(x * x, [Hit(x, ({c}, x)), 2])",
    "twice": "(x, {c}, {c})",
    "record or None": "Hit(x * x, {c}) if x < 2.0 else None",
    "many records": "[Hit(x * k, {c}) for k in range(6)]",
    "array beside": "(np.array([x, 2.0 * x]), {c})",
}
HELPERS = """
def of_match(x, k):
    match "a" if x < 1.0 else "b":
        case "a":
            return Mode.A
        case _:
            return Mode.B

def of_loop(x, k):
    s = "none"
    for _ in range(k + 1):
        s = "small" if x < 1.0 else "large" if s == "small" else s
        x -= 0.75
    return s

def of_left(x, k):
    s = "none"
    for _ in range(5):
        if x < 0.0:
            break
        x -= 0.75
        s = "small" if x < 1.0 else "large"
    return s

def of_while(x):
    s = Mode.A
    while x > 0.75:
        x -= 0.5
        s = Mode.C if s is Mode.B else Mode.B
    return s
"""
POINTS = [(0.5, 0), (1.5, 1), (2.5, 2)]


def made(text, path):
    path.write_text(text)
    scope = {**globals(), "math": math, "Callable": Callable, "Literal": Literal}
    exec(compile(text, str(path), "exec"), scope)
    assert inspect.getsource(scope["f"])
    return scope["f"]


def same(a, b):
    """Whether two results are the same, host values by identity."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.tolist() == b.tolist()
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(a) is type(b) and list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, (Hit, Moded)):
        return type(b) is type(a) and same([*vars(a).values()], [*vars(b).values()])
    return a == b if isinstance(a, (float, int, str, bytes)) else a is b


def by_call(f, x, k):
    return rose.jit(f)(x, k)


def by_nested_call(f, x, k):
    inner = rose.jit(f)
    return rose.jit(lambda x, k: inner(x, k))(x, k)


def by_twice_nested_call(f, x, k):
    inner = rose.jit(f)
    middle = rose.jit(lambda x, k: (inner(x, k), 1.0))
    return rose.jit(lambda x, k: middle(x, k)[0])(x, k)


def by_argument(f, x, k):
    inner, passed = rose.jit(f), rose.jit(lambda v: v)
    return rose.jit(lambda x, k: passed(inner(x, k)))(x, k)


def by_branch(f, x, k):
    inner = rose.jit(f)
    return rose.jit(lambda x, k: inner(x, k) if x < 100.0 else inner(x + 1.0, k))(x, k)


def by_interpreter(f, x, k):
    with rose.disable_jit():
        return rose.jit(f, cache=False)(x, k)


def by_compiled(f, x, k):
    return rose.jit(f).lower(0.25, k).compile()(x, k)


def by_pickle(f, x, k):
    return pickle.loads(pickle.dumps(rose.jit(lambda x, k: f(x, k)).lower(0.25, k).compile()))(x, k)


def by_aux(f, x, k):
    (value, aux), gradient = rose.value_and_grad(lambda x, k: (x * x, f(x, k)), has_aux=True)(x, k)
    assert (value, gradient) == (x * x, 2.0 * x)
    return aux


def by_grad_aux(f, x, k):
    gradient, aux = rose.grad(lambda x, k: (x * x, f(x, k)), has_aux=True)(x, k)
    assert gradient == 2.0 * x
    return aux


def by_hessian_aux(f, x, k):
    second, aux = rose.grad(rose.grad(lambda x, k: (x * x, f(x, k)), has_aux=True), has_aux=True)(x, k)
    assert second == 2.0
    return aux


def by_jvp(f, x, k):
    (value, found), (slope, _) = rose.jvp(lambda x, k: (x * x, f(x, k)), (x, k), (1.0, None))
    assert (value, slope) == (x * x, 2.0 * x)
    return found


def by_vjp(f, x, k):
    slope = rose.jvp(rose.jit(f), (x, k), (1.0, None))[1]
    found, pullback = rose.vjp(rose.jit(f), x, k)
    assert pullback(slope)[0] == pytest.approx(sum([v * v for v in reals(slope)]), rel=1e-12)
    return found


def reals(value):
    """The numbers of a tangent."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, Hit):
        return reals([*vars(value).values()])
    if isinstance(value, dict):
        return reals([*value.values()])
    return [r for v in value for r in reals(v)] if isinstance(value, (list, tuple)) else [value or 0.0]


def by_linearize(f, x, k):
    (value, found), pushforward = rose.linearize(lambda x, k: (x * x, f(x, k)), x, k)
    assert (value, pushforward(1.0, None)[0]) == (x * x, 2.0 * x)
    return found


def by_checkpoint(f, x, k):
    return rose.checkpoint(rose.jit(f))(x, k)


WAYS = [name for name in globals() if name.startswith("by_")]
FORMS = [(place, way) for place in PLACES for way in WAYS]
_MAY_RAISE = {"by_jvp", "by_vjp", "by_linearize", "by_aux", "by_grad_aux", "by_hessian_aux"}


@pytest.mark.parametrize(("kind", "form"), crossed(KINDS, FORMS, 23), ids=str)
def test_what_running_chooses_leaves_as_itself(kind, form, tmp_path):
    place, way = form
    body = f"c = {KINDS[kind]}\nreturn {PLACES[place].format(c='c')}"
    f = made(f"{HELPERS}\ndef f(x: float, k: int):\n{textwrap.indent(body, '    ')}", tmp_path / "chosen.py")
    for x, k in POINTS:
        wanted = f(x, k)
        if place == "record or None" and wanted is None and way in _MAY_RAISE:
            with pytest.raises(rose.StagingTypeError, match="where its result is None"):
                globals()[way](f, x, k)
        else:
            assert same(globals()[way](f, x, k), wanted)


def test_a_batch_is_a_list():
    assert rose.vmap(_moded)(np.array([0.5, 1.5, 2.5])).mode == [Mode.A, Mode.B, None]
    found = rose.vmap(lambda x: (x, "low" if x < 1.0 else "high"))(np.array([0.5, 1.5]))
    assert found[0].tolist() == [0.5, 1.5]
    assert found[1] == ["low", "high"]
    both = rose.vmap(rose.vmap(lambda x: one if x < 1.0 else two))(np.array([[0.5, 1.5], [1.5, 0.5]]))
    assert both == [[one, two], [two, one]]
    inside = rose.jit(
        lambda x: [1.0 if m is Mode.A else 2.0 for m in rose.vmap(lambda y: Mode.A if y < 1.0 else Mode.B)(x)]
    )
    assert inside(np.array([0.5, 1.5])) == [1.0, 2.0]


@rose.jit
def _moded(x: float) -> Moded:
    return Moded(x, Mode.A if x < 1.0 else Mode.B if x < 2.0 else None)


@rose.jit
def _nearest(x: float) -> Sized | None:
    best = None
    for t, size in ((2.0 - x, Size.SMALL), (1.5 - 0.5 * x, Size.LARGE)):
        if t > 0.0 and (best is None or t < best.t):
            best = Sized(t, size)
    return best


@rose.jit
def _sized(x: float, k: int) -> tuple[float, Size]:
    return x * x, (Size.SMALL if x < 1.0 else Size.LARGE) + k


def test_members_that_are_ints_leave_as_what_the_hint_says():
    for x in (0.5, 1.5, 2.5, 4.5):
        assert _nearest(x) == _nearest.__wrapped__(x)
        found = rose.jit(lambda x: _nearest(x))(x)
        assert found == _nearest.__wrapped__(x)
        assert found is None or type(found.size) is Size
    assert _sized(0.5, 0)[1] is Size.SMALL
    assert _sized(1.5, 2)[1] is Size.SMALL
    with pytest.raises(ValueError, match="a value is given for a `Size` that no member has"):
        _sized(1.5, 1)
    assert rose.value_and_grad(_sized, has_aux=True)(1.5, 0) == ((2.25, Size.LARGE), 3.0)


HINTED = {
    "Mode": "Mode.A if x < 1.0 else Mode.B",
    "str": '"a" if x < 1.0 else "b"',
    "str | None": '"a" if x < 1.0 else None',
    "Mode | None": "Mode.A if x < 1.0 else Mode.B if x < 2.0 else None",
    "str | Mode": '"a" if x < 1.0 else Mode.B',
    "Literal['a', 'b']": '"a" if x < 1.0 else "b"',
    "Callable[[float], float]": "one if x < 1.0 else two",
    "type": "One if x < 1.0 else Two",
    "tuple[float, Mode]": "(x, Mode.A if x < 1.0 else Mode.B)",
    "dict[str, Mode]": '{"m": Mode.A if x < 1.0 else Mode.B}',
    "list[str]": '["a" if x < 1.0 else "b", "c"]',
    "Moded": "Moded(x, Mode.A if x < 1.0 else None)",
    "Moded | None": "Moded(x, Mode.A if x < 1.0 else Mode.B) if x < 2.0 else None",
    "Any": '"a" if x < 1.0 else "b"',
}
WRONG = {
    "str": ("Mode.A if x < 1.0 else Mode.B", "`f` should return a `str`, and returns Mode <Mode.A: 1>"),
    "Mode": ('Mode.A if x < 1.0 else "b"', "`f` should return a `Mode`, and returns str 'b'"),
    "Mode | int": ('Mode.A if x < 1.0 else "b"', "`f` should return a `.*Mode | int`, and returns str 'b'"),
    "float": ('"a" if x < 1.0 else "b"', "`f` should return a number, and returns str 'a'"),
    "Literal['a', 'c']": ('"a" if x < 1.0 else "b"', "`f` should return a .*, and returns str 'b'"),
    "Moded": ('"a" if x < 1.0 else "b"', "`f` should return a `Moded`, and returns"),
}


@pytest.mark.parametrize("hint", HINTED)
def test_hints_are_of_the_value_that_is_chosen(hint, tmp_path):
    f = made(f"def f(x: float) -> {hint}:\n    return {HINTED[hint]}\n", tmp_path / "hinted.py")
    for x in (0.5, 1.5, 2.5):
        assert same(rose.jit(f)(x), f(x))
        assert same(rose.jit(lambda x: rose.jit(f)(x))(x), f(x))


@pytest.mark.parametrize("hint", WRONG)
def test_each_value_has_to_be_what_the_hint_says(hint, tmp_path):
    text, said = WRONG[hint]
    f = made(f"def f(x: float) -> {hint}:\n    return {text}\n", tmp_path / "hinted.py")
    with pytest.raises(rose.StagingTypeError, match=said):
        rose.jit(f)(0.5)


def test_what_is_saved_is_loaded(tmp_path):
    compiled = rose.jit(_moded.__wrapped__).lower(0.5).compile()
    compiled.save(tmp_path / "moded")
    for loaded in (rose.load(tmp_path / "moded"), pickle.loads(pickle.dumps(compiled))):
        assert [loaded(x) for x in (0.5, 1.5, 2.5)] == [Moded(0.5, Mode.A), Moded(1.5, Mode.B), Moded(2.5, None)]


def test_the_same_program_is_found_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        f = rose.jit(_moded.__wrapped__)
        assert f(0.5).mode is Mode.A
        assert f(1.5).mode is Mode.B


def test_reports_compare_it():
    assert rose.check(lambda x: (x * x, "low" if x < 1.0 else "high"), 0.5)
    rose.check_grads(lambda x: (x * x, "low" if x < 1.0 else "high"), (0.5,))


def test_what_is_given_for_arrays_is_written():
    f = rose.jit(lambda x: (np.array([x, 2.0 * x]), "low" if x < 1.0 else "high"))
    out = (np.zeros(2), None)
    assert f(1.5, out=out)[1] == "high"
    assert out[0].tolist() == [1.5, 3.0]


def test_the_state_of_a_machine_in_a_caller():
    @rose.jit
    def step(mode: Mode, v: float) -> tuple[Mode, float]:
        if mode is Mode.A:
            return (Mode.B, -0.5 * v) if v < 0.25 else (Mode.A, v - 0.3)
        return (Mode.A if v > 0.0 else Mode.C), v + 0.2

    def last(v: float, n: int) -> tuple[Mode, float]:
        mode = Mode.A
        for _ in range(n):
            mode, v = step(mode, v)
        return mode, v

    def plain(v, n):
        mode = Mode.A
        for _ in range(n):
            mode, v = step.__wrapped__(mode, v)
        return mode, v

    for v, n in ((1.0, 0), (1.0, 3), (1.0, 9), (0.1, 4)):
        assert rose.jit(last)(v, n) == plain(v, n)
        slope = rose.grad(lambda v, n: last(v, n)[1])(v, n)
        assert slope == pytest.approx((plain(v + 1e-6, n)[1] - plain(v - 1e-6, n)[1]) / 2e-6, abs=1e-8)
