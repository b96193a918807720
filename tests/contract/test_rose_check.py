"""`rose.check` and ROSE_CHECK: what agrees is said to agree, and a planted defect is found with its line."""

import functools
import linecache
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from docs import check
from rosejit import Vec
from rosejit.frontend.arrays import getitem, reductions
from rosejit.frontend.control import if_for, staged_range
from rosejit.frontend.numpy import contractions
from rosejit.ir.primitive import Instr, Kernel
from rosejit.ops import PRIMITIVES
from tests.contract import planted
from tests.programs import PROGRAMS

ROOT = Path(__file__).parents[2]

# --- planted defects


class Plant:
    """Puts a defect into the package, and takes it out again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.undo: list[Any] = []

    def op(self, name: str, **fields: Any) -> None:
        record = PRIMITIVES[name]
        for field, value in fields.items():
            self.undo.append((record, field, getattr(record, field)))
            object.__setattr__(record, field, value)
        forget_rules()

    def replace(self, owner: Any, name: str, value: Any) -> None:
        self.monkeypatch.setattr(owner, name, value)

    def end(self) -> None:
        for record, field, value in reversed(self.undo):
            object.__setattr__(record, field, value)
        forget_rules()


def forget_rules() -> None:
    """What passes have made of the records of primitives."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("rosejit.transforms.", "rosejit.codegen.")):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()
    rose.clear_caches()


@pytest.fixture
def plant(monkeypatch):
    made = Plant(monkeypatch)
    yield made
    made.end()


def wrong_sine_kernel(plant):
    plant.op("sin", wasm=Kernel("cos"))


def wrong_sine_in_the_interpreter(plant):
    plant.op("sin", evaluate=PRIMITIVES["cos"].evaluate)


def wrong_sine_rule(plant):
    plant.op("sin", partials=lambda x, r: (-PRIMITIVES["cos"](x),))


def wrong_root_instruction(plant):
    plant.op("sqrt", wasm=Instr("f64.abs"))


def wrong_root_rule(plant):
    plant.op("sqrt", partials=lambda x, r: (1.0 / r,))


def wrong_quotient(plant):
    plant.op("div", wasm=Instr("f64.mul"))


def wrong_quotient_rule(plant):
    plant.op("div", partials=lambda x, y, r: (1.0 / y, r / y))


def wrong_product_rule(plant):
    plant.op("mul", partials=lambda x, y, r: (y, y))


def wrong_power_rule(plant):
    plant.op("pow", partials=lambda x, y, r: (y * r, r * PRIMITIVES["log"](x)))


def wrong_maximum(plant):
    plant.op("max", wasm=Kernel("min"), evaluate=min)


def floors_towards_zero(plant):
    plant.op("ifloordiv", evaluate=lambda a, b: math.trunc(a / b))


def wrong_remainder(plant):
    plant.op("imod", evaluate=lambda a, b: a - b * math.trunc(a / b))


def folds_a_product_with_2(plant):
    plant.op("mul", neutral=(2.0, 2.0))


def drops_a_branch(plant):
    join = if_for.StagedIf.join

    def dropping(self, names):
        self._then = self._before
        return join(self, names)

    plant.replace(if_for.StagedIf, "join", dropping)


def takes_the_other_side(plant):
    begin = if_for.StagedIf.__init__
    plant.replace(
        if_for.StagedIf,
        "__init__",
        lambda self, tape, condition, *rest: begin(self, tape, PRIMITIVES["not"](condition), *rest),
    )


def one_turn_too_few(plant):
    plant.replace(if_for, "trip_count", lambda r: staged_range._whole(r.tape, r.stop - 1))


def wrong_comparison(plant):
    plant.op("lt", wasm=Instr("f64.gt"), evaluate=lambda a, b: a > b)


def stores_too_much(plant):
    store = getitem.store
    plant.replace(
        getitem, "store", lambda a, value, *rest: store(a, a.tape.apply(PRIMITIVES["add"], value, value), *rest)
    )


def multiplies_by_rows(plant):
    plant.replace(
        contractions, "_element", lambda a, labels, places, lengths: ELEMENT(a, labels[::-1], places, lengths)
    )


def sums_with_the_wrong_sign(plant):
    plant.replace(reductions, "folded", lambda *args: -FOLDED(*args))


def wrong_transpose(plant):
    plant.op("tneg", transpose=lambda ct, t: (ct,))


ELEMENT, FOLDED = contractions._element, reductions.folded

P = planted
V = np.array([0.5, -1.25, 2.0])

DEFECTS = [
    (wrong_sine_kernel, P.waves, (0.7, 1.3), "c = math.sin(a + b)"),
    (wrong_sine_kernel, P.outer, (0.7, 1.3), "v = math.sin(u)"),
    (wrong_sine_kernel, P.looped, (0.7, V), "z = math.sin(w)"),
    (wrong_sine_kernel, P.stored, (V,), "out[i] = math.sin(v[i])"),
    (wrong_sine_in_the_interpreter, P.branches, (0.7, 1.3), "c = math.sin(b)"),
    (wrong_sine_in_the_interpreter, P.of_plain_helper, (0.7,), "c = math.sin(b)"),
    (wrong_sine_rule, P.waves, (0.7, 1.3), "c = math.sin(a + b)"),
    (wrong_sine_rule, P.outer, (0.7, 1.3), "v = math.sin(u)"),
    (wrong_sine_rule, P.looped, (0.7, V), "z = math.sin(w)"),
    (wrong_sine_rule, P.stored, (V,), "out[i] = math.sin(v[i])"),
    (wrong_sine_rule, P.of_plain_helper, (0.7,), "c = math.sin(b)"),
    (wrong_sine_rule, P.branches, (0.7, 1.3), "c = math.sin(b)"),
    (wrong_root_instruction, P.roots, (0.7,), "b = math.sqrt(a + 1.0)"),
    (wrong_root_rule, P.roots, (0.7,), "b = math.sqrt(a + 1.0)"),
    (wrong_quotient, P.divides, (0.7, 1.3), "b = a / y"),
    (wrong_quotient_rule, P.divides, (0.7, 1.3), "b = a / y"),
    (wrong_product_rule, P.products, (0.7, 1.3), "b = a * y"),
    (wrong_power_rule, P.powers, (0.7, 1.3), "b = a**y"),
    (wrong_maximum, P.clipped, (0.7, 1.3), "b = max(a, 1.0)"),
    (floors_towards_zero, P.squares, (-8,), "q = k // 4"),
    (wrong_remainder, P.remainders, (-8, 1), "r = k % 5"),
    (folds_a_product_with_2, P.of_plain_helper, (0.7,), "b = 2.0 * a"),
    (drops_a_branch, P.compares, (0.7, 1.3), "if a > 0.5:"),
    (takes_the_other_side, P.compares, (0.7, 1.3), "b = a * 3.0"),
    (one_turn_too_few, P.sums, (5, 0.7), "for i in rose.range(n):"),
    (wrong_comparison, P.whiles, (0.7,), "while y < 100.0:"),
    (stores_too_much, P.stored, (V,), "out[i] = math.sin(v[i])"),
    (multiplies_by_rows, P.matrix, (np.array([[1.5, 0.3], [-0.7, 2.0]]), np.array([0.5, -1.25])), "u = m @ w"),
    (sums_with_the_wrong_sign, P.reduced, (V,), "s = np.sum(w)"),
    (wrong_transpose, P.differences, (0.7, 1.3), "c = a - b"),
    (wrong_transpose, P.differences_in_a_loop, (0.7, 3), "z = 1.0 - y"),
]


def named(defect, function, args, plant):
    """The line that the report names, or why not."""
    defect(plant)
    report = rose.check(rose.jit(function, cache=False), *args)
    if report:
        return f"not found: {report!r}"
    return linecache.getline(report.parted.file, report.parted.line).strip() if report.parted else f"{report!r}"


@pytest.mark.parametrize(
    ("defect", "function", "args", "line"), DEFECTS, ids=[f"{d.__name__}-{f.__name__}" for d, f, *_ in DEFECTS]
)
def test_the_line_of_a_planted_defect_is_named(defect, function, args, line, plant):
    assert named(defect, function, args, plant) == line


# --- nothing is said to differ that does not


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_programs_agree(program):
    for call in (*program.calls[:1], *program.kinks[:1]):
        report = rose.check(program.function, *call, seconds=5.0)
        assert report, report


@pytest.mark.parametrize("program", [p for p in PROGRAMS[::9] if p.plain], ids=lambda program: program.name)
def test_second_derivatives_of_programs_agree(program):
    report = rose.check(program.function, *program.calls[0], order=2, seconds=5.0)
    assert report, report


@rose.jit
def half_square(x: float) -> float:
    return max(x, 0.0) * 0.5


@rose.jit
def roots_and_logs(x: float) -> float:
    return math.sqrt(x) + math.log(1.0 + x)


@rose.jit
def reciprocal(x: float) -> float:
    return 1.0 / x


@rose.jit
def steps_up(x: float) -> float:
    y = x
    if y > 1.0:
        y = y + 1.0
    return y


@rose.jit
def factorial(n: int) -> int:
    k = 1
    for i in rose.range(n):
        k = k * (i + 1)
    return k


@pytest.mark.parametrize(
    ("f", "args", "name", "words"),
    [
        (half_square, (0.0,), "forward", ""),
        (roots_and_logs, (0.0,), "forward", "near the point it is another function"),
        (reciprocal, (0.0,), "values", "CPython raises ZeroDivisionError"),
        (roots_and_logs, (-2.0,), "values", "CPython raises ValueError"),
        (reciprocal, (math.nan,), "forward", "kink"),
        (reciprocal, (math.inf,), "forward", ""),
        (steps_up, (1.0,), "forward", ""),
        (factorial, (25,), "values", "an Int has 64 bits"),
    ],
)
def test_kinks_and_what_is_not_finite_are_no_alarm(f, args, name, words):
    report = rose.check(f, *args)
    assert report, report
    assert words in report.comparisons[name].words


# --- effects


@rose.jit
def prints(x: float, n: int) -> float:
    print("begins")
    for i in rose.range(n):
        print("turn", i, x)
        x = x * 0.5
    return x


@rose.jit
def raises(x: float) -> float:
    y = x * 2.0
    if y > 1.0:
        raise ValueError(f"too large: {y}")
    return y


@rose.jit
def picks(v: Vec["n"], i: int) -> float:
    assert i != 7, f"seven is {i}"
    return v[i]


@pytest.mark.parametrize(
    ("f", "args"),
    [(prints, (0.7, 3)), (raises, (0.7,)), (raises, (0.3,)), (picks, ([1.0, 2.0], 5)), (picks, ([1.0, 2.0], 7))],
)
def test_prints_and_errors_agree(f, args, capsys):
    report = rose.check(f, *args)
    assert report, report
    assert capsys.readouterr().out == ""


def test_a_print_that_is_lost_is_seen(plant):
    plant.replace(sys.modules["rosejit.frontend.python.print_"], "_stage_host_call", lambda *args: None)
    report = rose.check(prints, 0.7, 3)
    assert not report
    assert "prints" in report.effects.words


def test_an_error_that_is_lost_is_seen(plant):
    plant.op("gt", evaluate=lambda a, b: False, wasm=Instr("f64.lt"))
    report = rose.check(rose.jit(raises, cache=False), 0.7)
    assert "ValueError: too large: 1.4" in report.values.words


# --- arguments


def test_arguments_are_not_changed_and_keep_their_structure():
    given = {"a": 1.5, "b": [1.0, 2.0]}

    @rose.jit
    def f(p: dict, v: Vec["n"]) -> float:
        return p["a"] * v[0] + p["b"][1]

    v = np.array([1.0, 2.0])
    assert rose.check(f, given, v, order=2)
    assert given == {"a": 1.5, "b": [1.0, 2.0]}
    assert v.tolist() == [1.0, 2.0]


def test_custom_derivatives_and_stopped_gradients_are_taken_at_their_word():
    @rose.jit
    def rounded(x: float) -> float:
        return float(math.floor(x + 0.5))

    @rounded.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(rounded(x.re), x.du)

    @rose.jit
    def f(x: float) -> float:
        return rounded(x) * x + rose.stop_gradient(x * x) * x

    report = rose.check(f, 1.3)
    assert report, report
    assert str(report.forward) == "agrees"
    assert rose.grad(f)(1.3) == pytest.approx(1.3 + 1.0 + 1.69)


# --- time


@rose.jit
def long_loop(x: float, n: int) -> float:
    y = x
    for i in rose.range(n):
        y = y * 0.999999 + 1e-6
    return y


def test_a_run_that_takes_too_long_is_stopped():
    report = rose.check(long_loop, 0.5, 3_000_000, seconds=0.2)
    assert report, report
    assert "stopped after 0.2 s, at" in report.values.words
    assert report.values.status == "not compared"
    assert str(report.reverse) == "agrees"


# --- ROSE_CHECK

SCRIPT = """
import math, sys
import rosejit as rose
from tests.contract.planted import waves
if len(sys.argv) > 1:
    from rosejit.ir.primitive import Kernel
    from rosejit.ops import PRIMITIVES
    object.__setattr__(PRIMITIVES["sin"], "wasm", Kernel("cos"))
waves = rose.jit(waves, cache=False)
print(waves(0.7, 1.3), waves(0.7, 1.3), rose.grad(waves)(0.5, 1.0))
"""


@pytest.mark.parametrize("planted_one", [False, True])
def test_rose_check_in_the_environment(planted_one):
    command = [sys.executable, "-c", SCRIPT, *(["planted"] if planted_one else [])]
    done = subprocess.run(command, env={**os.environ, "ROSE_CHECK": "1"}, capture_output=True, text=True, check=False)
    if planted_one:
        assert done.returncode == 1
        assert "RoseAssertionError: `waves` is not what CPython says it is (ROSE_CHECK)" in done.stderr
        assert "`c = math.sin(a + b)`" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.split()) == 3


@pytest.mark.parametrize(
    "file", ["examples/metaprogramming", "examples/quadratic_approximation", "examples/safe_sqrt", "examples/sum_ir"]
)
def test_examples_agree(file, tmp_path):
    command = [sys.executable, str(ROOT / f"{file}.py")]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "ROSE_CHECK": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["docs/start", "docs/control-flow", "docs/optim"])
def test_pages_agree(page, monkeypatch):
    monkeypatch.setenv("ROSE_CHECK", "1")
    shown = check.check(ROOT / f"{page}.md")
    assert shown
    assert [item for item in shown if not item.agrees] == []


def test_with_the_environment_each_specialisation_is_checked_once(monkeypatch):
    monkeypatch.setenv("ROSE_CHECK", "1")
    seen = []
    module = sys.modules["rosejit.api.checking.check"]
    once = module.check_once
    monkeypatch.setattr(module, "check_once", lambda f, args, kwargs: seen.append(args) or once(f, args, kwargs))

    @rose.jit
    def f(v: Vec["n"], k: int = 2) -> float:
        return v[0] ** 2 * k

    for _ in range(3):
        assert f([1.5, 2.0], k=3) == 6.75
        assert f([1.5]) == 4.5
        assert rose.grad(f)([1.0, 2.0], k=3).tolist() == [6.0, 0.0]
    assert len(seen) == 2


def test_generators_are_arguments():
    def f(x: float, rng: np.random.Generator):
        return x * rng.random()

    assert rose.check(f, 0.5, np.random.default_rng(5))


def test_a_report_has_all_its_parts():
    """Of two comparisons that build on each other the second says why it was not made."""
    f = rose.jit(lambda x: x * x)
    f.jvp(lambda x: rose.Dual(x.re * x.re, 3.0 * x.re * x.du))
    found = rose.check(f, 2.0)
    assert (found.forward.status, found.reverse.status) == ("differs", "not compared")


@pytest.mark.parametrize("order", [-1, 3, 1.5, "a", None])
def test_orders_that_there_are_not(order):
    with pytest.raises(rose.RoseValueError, match=r"`order` of `rose.check` is 0, 1 or 2, given"):
        rose.check(math.sin, 1.0, order=order)


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, "a"])
def test_times_that_there_are_not(seconds):
    with pytest.raises(rose.RoseValueError, match=r"`seconds` of `rose.check` is a number greater than 0, given"):
        rose.check(math.sin, 1.0, seconds=seconds)


def test_order_0_takes_no_derivative():
    assert list(rose.check(lambda x: x * x, 1.0, order=0).comparisons) == ["values", "effects", "interpreter"]


def test_a_report_says_what_both_raise_and_what_was_not_compared():
    def wanted(x: float):
        raise KeyError(f"no {x}")

    report = rose.check(wanted, 1.0)
    assert str(report.values) == "agrees: both raise KeyError: 'no 1.0'"
    assert "what could be compared agrees" in repr(rose.check(rose.grad(lambda x: x * x), 1.0))


def test_what_is_closed_is_not_stopped():
    """A generator that goes while a run is over its time: what is raised in it nobody hears, but Python warns."""
    from rosejit.api.checking.plain_calls import limited

    def waiting():
        yield 1.0

    generator = waiting()
    next(generator)
    with limited(0.0, str(Path(__file__).parent)):
        generator.close()
