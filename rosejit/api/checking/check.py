"""`check`: a function in CPython, in the interpreter and compiled, and its derivatives against differences."""

# Arguments and results are whatever a user's function takes and gives.

import contextlib
import math
import os
import random
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import field
from typing import Any

from rosejit import interp as interpreter
from rosejit.abi import leaves
from rosejit.api import sessions
from rosejit.api.calling.specialisation import conjugated, holds_narrow, is_real, of_values
from rosejit.api.checking.check_compare import (
    Outcome,
    copied,
    differ,
    errors_differ,
    excused,
    outcome,
    printed_differ,
    same_bits,
)
from rosejit.api.checking.check_derivatives import Slopes, direction, moved, reals, slopes, tangents
from rosejit.api.checking.check_places import (
    Place,
    Point,
    forward_place,
    reverse_place,
    value_place,
    value_place_of_machines,
)
from rosejit.api.checking.plain_calls import Parted, PlainRun, Stopped
from rosejit.api.decorators import as_function
from rosejit.api.derivation.modes import given_trees, jvp, vjp
from rosejit.api.function import Function, clear_caches, disable_jit, run_plainly
from rosejit.api.programs import html_views
from rosejit.api.public_entry import public
from rosejit.errors import RoseAssertionError, RoseError, RoseValueError
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

_INTERPRETER = os.path.dirname(interpreter.__file__)

AGREES, DIFFERS, NOT_COMPARED = "agrees", "differs", "not compared"


@dataclass(slots=True, frozen=True)
class Comparison:
    """What came of one comparison: `status` is "agrees", "differs" or "not compared", `words` say how or why."""

    status: str = AGREES
    words: str = ""

    def __bool__(self) -> bool:
        return self.status != DIFFERS

    def __str__(self) -> str:
        return f"{self.status}: {self.words}" if self.words else self.status


def _differs(words: str | None) -> Comparison:
    return Comparison() if words is None else Comparison(DIFFERS, words)


def _not(why: str) -> Comparison:
    return Comparison(NOT_COMPARED, why)


@dataclass(slots=True)
class Report:
    """What `rose.check` found; it is true where nothing differs.

    `comparisons` has one `Comparison` by name; `parted` says where the first one that differs begins to.
    """

    name: str
    comparisons: dict[str, Comparison] = field(default_factory=lambda: {})
    parted: Place | None = None

    def __bool__(self) -> bool:
        return all(self.comparisons.values())

    def __getattr__(self, name: str) -> Comparison:
        try:
            return self.comparisons[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        width = max(map(len, self.comparisons), default=0)
        lines = [f"{name:{width}}  {each}" for name, each in self.comparisons.items()]
        return "\n  ".join([self._verdict(), *lines, *self._where()])

    def _verdict(self) -> str:
        return f"rose.check of `{self.name}`: {self._all()}"

    def _all(self) -> str:
        if not self:
            return "they differ"
        found = [each.status for each in self.comparisons.values()]
        if AGREES not in found:
            return "nothing could be compared"
        return "all agree" if self.values.status == AGREES else "what could be compared agrees"

    def _where(self) -> list[str]:
        return [f"they part at {self.parted}"] if self.parted is not None else []

    def _repr_html_(self) -> str:
        rows = [(name, each.status, each.words) for name, each in self.comparisons.items()]
        table = html_views.table(("compared", "result", "how or why"), rows)
        return html_views.listing(self._verdict(), "\n".join(self._where())) + table


_checking: ContextVar[bool] = ContextVar("rosejit_checking", default=False)


@public
def check(f: Callable[..., Any], *args: Any, order: int = 1, seconds: float = 10.0, seed: int = 0) -> Report:
    """Whether compiled code, the interpreter and CPython agree on `f` at these arguments: a report, true where they do.

    Each runs `f` on a copy of the arguments. Results, what is printed, errors, and what has become of the arguments are
    compared; then derivatives along one random direction, with differences of the run in CPython and with each other;
    with `order=2` those of the derivative too, and none with `order=0`. What takes longer than `seconds`, in CPython,
    for differences or in the interpreter, is stopped. Where they differ, the report names the first line and variable
    that do (`.parted`).

    >>> import rosejit as rose
    >>> report = rose.check(lambda x: x * x, 3.0)
    >>> bool(report), str(report.values)
    (True, 'agrees')
    """
    if order not in (0, 1, 2):
        raise RoseValueError(f"`order` of `rose.check` is 0, 1 or 2, given {order!r}")
    if isinstance(seconds, str) or not seconds > 0:
        raise RoseValueError(f"`seconds` of `rose.check` is a number greater than 0, given {seconds!r}")
    return checked(as_function(f), args, {}, order, seconds, seed)


def checked(
    base: Function, args: tuple[Any, ...], kwargs: dict[str, Any], order: int = 1, seconds: float = 10.0, seed: int = 0
) -> Report:
    """As `check`, with keyword arguments, at which no derivative is taken."""
    token = _checking.set(True)
    clear_caches()  # what is printed while staging belongs to the run
    try:
        work = _Check(_given(base, kwargs), args, seconds, seed)
        work.run(order)
        return work.report
    finally:
        _checking.reset(token)
        clear_caches()


def _given(base: Function, kwargs: dict[str, Any]) -> Function:
    """The function with its keyword arguments given."""
    if not kwargs:
        return base

    def given(*args):
        return base(*args, **kwargs)

    return as_function(given)


def is_wanted() -> bool:
    """Whether every specialisation is to be checked, and none is being."""
    return os.environ.get("ROSE_CHECK", "0") not in ("", "0") and not _checking.get()


def check_once(base: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises `RoseAssertionError` where a call that has not been compiled before is not what CPython says."""
    report = checked(base, args, kwargs)
    if not report:
        raise RoseAssertionError(f"`{base.__name__}` is not what CPython says it is (ROSE_CHECK)\n{report!r}")


class _Budget:
    """So many seconds for all runs of one kind."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def run(
        self, function: Callable[..., Any], args: tuple[Any, ...], around: Any, folder: str | None = None
    ) -> Outcome:
        """As `outcome`, with the seconds that are left."""
        started = time.perf_counter()
        try:
            return outcome(function, args, around, max(self._left, 0.0), folder)
        finally:
            self._left -= time.perf_counter() - started


class _Check:
    """One check in the making."""

    def __init__(self, base: Function, args: tuple[Any, ...], seconds: float, seed: int) -> None:
        self.base = base
        self.args = args
        self.seconds = seconds
        self.cpython, self.differences, self.interpreter = (_Budget(seconds) for _ in range(3))
        self.seed = seed
        self.kept = PlainRun()
        self.report = Report(base.__name__)
        self.plain = Outcome()
        self.slopes: list[Slopes] = []
        self.slow = False
        """The interpreter was stopped once."""

    def run(self, order: int) -> None:
        """All comparisons, in order; those of derivatives where values agree."""
        found = self.report.comparisons
        interpreted = self.interpreter.run(self.base, self.args, disable_jit(), _INTERPRETER)
        compiled = outcome(self.base, self.args, contextlib.nullcontext())
        self.slow = interpreted.stopped is not None
        if self.base.plain is None:
            why = _not(f"`{self.base.__name__}` is made of another function, and CPython has none")
            found["values"] = found["effects"] = why
        else:
            self.plain = self.cpython.run(self.base.plain, self.args, run_plainly(self.kept))
            found["values"] = self._values(compiled)
            found["effects"] = self._effects(compiled)
        found["interpreter"] = self._machines(interpreted, compiled)
        if not self.report:
            self._find_value(interpreted)
            return
        if compiled.error is not None:
            found["forward"] = found["reverse"] = _not("the function raises")
        elif order:
            self._derivatives(order)

    # --- values

    def _values(self, found: Outcome) -> Comparison:
        wanted = self.plain
        if wanted.stopped is not None:
            line = f"{wanted.stopped.file}:{wanted.stopped.line}"
            return _not(f"CPython was stopped after {self.seconds:g} s, at {line}")
        excuse = excused(found, wanted)
        if excuse is not None:
            return _not(excuse)
        if wanted.error is not None and found.error is not None:
            words = errors_differ(found.error, wanted.error)
            return _differs(words) if words else Comparison(AGREES, f"both raise {wanted}")
        if wanted.error is not None or found.error is not None:
            return _differs(f"{found}, and CPython: {wanted}")
        words = differ(found.value, wanted.value, 1e-12)
        if words is None or differ(found.value, wanted.value, self._rounding()) is None:
            return Comparison()
        return Comparison(DIFFERS, words)

    def _rounding(self) -> float:
        """How far rounding may part results: what a change of the last digits of the arguments does to them."""
        with sessions.session() as at:
            staged = self.base.specialised(self.args, {}, at)[1].staged
        trees = given_trees(self.base, staged, len(self.args))
        scale = max([abs(x) for x in reals(staged.result, self.plain.value)], default=0.0) or 1.0
        worst = 0.0
        for step in (4e-16, -4e-16):
            args = moved(trees, self.args, direction(trees, self.args, self.seed), step)
            assert self.base.plain is not None
            other = self.differences.run(self.base.plain, args, run_plainly(PlainRun()))
            if other.error is None and other.stopped is None:
                pairs = zip(reals(staged.result, other.value), reals(staged.result, self.plain.value), strict=False)
                worst = max([worst, *[abs(a - b) for a, b in pairs if math.isfinite(a - b)]])
        return 1e-12 + min(64 * worst / scale, 1e-6)

    def _effects(self, found: Outcome) -> Comparison:
        wanted = self.plain
        if wanted.stopped is not None:
            return _not("CPython was stopped")
        if (wanted.error is None) != (found.error is None):
            return _not("one of them raises")
        words = printed_differ(found.printed, wanted.printed)
        if words is None and wanted.error is None:
            words = differ(found.arguments, wanted.arguments, 1e-12, "the arguments, as they are left")
        return _differs(words)

    def _machines(self, interpreted: Outcome, compiled: Outcome) -> Comparison:
        """The interpreter against compiled code: the same bits, and the same errors."""
        if interpreted.stopped is not None:
            return _not(f"the interpreter was stopped after {self.seconds:g} s")
        one, other = interpreted.error, compiled.error
        if one is not None and other is not None:
            same = type(one) is type(other) and str(one) == str(other)
            return _differs(None if same else f"compiled {compiled}, interpreted {interpreted}")
        if (one is None) != (other is None) or not same_bits(interpreted.value, compiled.value):
            return Comparison(DIFFERS, f"compiled {compiled}, interpreted {interpreted}")
        return _differs(printed_differ(compiled.printed, interpreted.printed))

    def _find_value(self, interpreted: Outcome) -> None:
        """Where values part: compiled code from CPython, or from the interpreter."""
        point = self._point(contextlib.nullcontext)
        comparisons = self.report.comparisons
        if not (comparisons["values"] and comparisons["effects"]):
            clear_caches()
            self.report.parted = value_place(point)
        if self.report.parted is None and not comparisons["interpreter"] and not self.slow:
            self.report.parted = value_place_of_machines(point)

    def _point(self, machine: Any) -> Point:
        return Point(self.base, self.args, (), (), (), machine, self.seconds)

    # --- derivatives

    def _derivatives(self, order: int) -> None:
        found = self.report.comparisons
        with sessions.session() as at:
            staged = of_values(self.base.specialised(self.args, {}, at)[1].staged)
        trees = given_trees(self.base, staged, len(self.args))
        along = direction(trees, self.args, self.seed)
        if not along or not [*reals(staged.result, self._result())]:
            found["forward"] = found["reverse"] = _not("there is nothing real to differentiate")
            return
        if any(map(holds_narrow, (*trees, staged.result))):
            found["forward"] = found["reverse"] = _not("numbers of float32 are too coarse for differences")
            return
        given = iter(along)
        steps = tuple([tangents(t, a, lambda _: next(given)) for t, a in zip(trees, self.args, strict=True)])
        point = Point(self.base, self.args, trees, along, steps, contextlib.nullcontext, self.seconds)
        _Derivatives(self, point, staged).run(order)

    def _result(self) -> Any:
        return outcome(self.base, self.args, contextlib.nullcontext()).value


class _Derivatives:
    """The comparisons of derivatives: `forward` with differences, `reverse` with `forward`."""

    def __init__(self, whole: _Check, point: Point, staged: Any) -> None:
        self.whole = whole
        self.found = whole.report.comparisons
        self.point = point
        self.result = staged.result

    def run(self, order: int) -> None:
        """All of them."""
        f, args, steps = self.point.function, self.point.args, self.point.tangents
        try:
            y, dy = self._quietly(lambda: jvp(f, copied(args), steps))
        except RoseError as error:  # refused, in words
            self.found["forward"] = self.found["reverse"] = _not(str(error).splitlines()[0])
            return
        slope = [*reals(self.result, dy)]
        self.found["forward"] = self._against_differences(slope, [*reals(self.result, y)])
        if not self.found["forward"]:
            self.found["reverse"] = _not("forward differs")
            self.whole.report.parted = forward_place(self.point, self.whole.kept)
            return
        if not self.whole.slow:
            self.found["forward, interpreter"] = self._interpreted(lambda: jvp(f, copied(args), steps), (y, dy))
        self._reverse(y, dy)
        if order > 1 and self.whole.report:
            self._second(y, slope)

    def _quietly(self, run: Callable[[], Any]) -> Any:
        found = outcome(run, (), contextlib.nullcontext())
        if found.error is not None:
            raise found.error
        return found.value

    def _interpreted(self, run: Callable[[], Any], wanted: Any) -> Comparison:
        found = self.whole.interpreter.run(run, (), disable_jit(), _INTERPRETER)
        if found.stopped is not None:
            self.whole.slow = True
            return _not("the interpreter was stopped")
        if found.error is not None:
            return Comparison(DIFFERS, f"compiled {wanted}, interpreted {found}")
        return _differs(None if same_bits(found.value, wanted) else f"compiled {wanted}, interpreted {found.value}")

    def _plain_along(self, step: float) -> tuple[list[float], int]:
        """The results of CPython's run, so far along the direction."""
        args = moved(self.point.trees, self.point.args, self.point.along, step)
        plain = self.point.function.plain
        assert plain is not None
        found = self.whole.differences.run(plain, args, run_plainly(PlainRun(self.whole.kept)))
        if found.stopped is not None:
            raise Stopped(found.stopped.file, found.stopped.line)
        if found.error is not None:
            raise Parted(str(found))
        return [*reals(self.result, found.value)], found.path

    def _against_differences(self, slope: list[float], y: list[float]) -> Comparison:
        plain = self.whole.plain
        if self.point.function.plain is None or plain.stopped is not None or plain.error is not None:
            return _not("there is no run in CPython")
        try:
            limits = slopes(self._plain_along)
        except Stopped:
            return _not(f"differences were stopped after {self.whole.seconds:g} s")
        except (Parted, ValueError) as error:
            return _not(f"near the point it is another function: {error}")
        return self._judged(slope, limits, y)

    def _judged(self, slope: list[float], limits: list[Slopes], y: list[float], size: float = 0.0) -> Comparison:
        if len(slope) != len(limits):
            return _not("near the point the result has another size")
        unknown = 0
        scale = 1e-6 * max([size, *[abs(v) for v in y if math.isfinite(v)]])
        for dy, limit, value in zip(slope, limits, y, strict=True):
            verdict = limit.verdict(dy, scale) if math.isfinite(value) else None
            if verdict is False:
                return Comparison(DIFFERS, f"{dy!r}, and differences {limit.both.value!r}")
            unknown += verdict is None
        if unknown == len(slope):
            return _not("kink: differences have no limit here, or none that is finite, or the program branches")
        return Comparison(AGREES, f"{unknown} of {len(slope)} not compared: kink" if unknown else "")

    def _reverse(self, y: Any, dy: Any) -> None:
        f, args, steps = self.point.function, self.point.args, self.point.tangents
        rng = random.Random(self.whole.seed + 1)
        ct = tangents(self.result, y, lambda _: rng.choice((-1.0, 1.0)) * rng.uniform(0.5, 1.0))
        back = self._quietly(lambda: vjp(f, *copied(args))[1](ct))
        left, right = self.inner_result(ct, dy), self.inner_arguments(back, steps)
        if not (math.isfinite(left) and math.isfinite(right)):
            self.found["reverse"] = _not("the derivative is not finite")
            return
        parts = zip(self._reals_of(ct), self._reals_of(dy), strict=True)
        scale = max(abs(left), sum(abs(a * b) for a, b in parts), self._size(back, steps))
        scale = max(
            scale, 1e-6 * (1.0 + sum(abs(a * b) for a, b in zip(self._reals_of(ct), self._reals_of(y), strict=True)))
        )
        if abs(left - right) <= 1e-9 * scale:
            self.found["reverse"] = Comparison()
            return
        self.found["reverse"] = Comparison(DIFFERS, f"along the direction {right!r}, and forward mode {left!r}")
        self.whole.report.parted = reverse_place(self.point, lambda: self._cotangents(ct))

    def _cotangents(self, ct: Any) -> list[Any]:
        """A cotangent of the result, one value for each of its real leaves."""
        flat = reals(conjugated(self.result), ct)
        found: list[Any] = []
        for leaf in leaves(self.result):
            if is_real(leaf):
                own = [next(flat) for _ in range(math.prod(leaf.shape))]
                found.append(np.array(own).reshape(leaf.shape).tolist() if leaf.kind == "array" else own[0])
        return found

    def _reals_of(self, value: Any) -> list[float]:
        return [*reals(self.result, value)]

    def inner_result(self, ct: Any, dy: Any) -> float:
        """Of a cotangent and a tangent of the result."""
        return math.fsum(a * b for a, b in zip(reals(conjugated(self.result), ct), self._reals_of(dy), strict=True))

    def _pairs(self, back: Any, steps: Any) -> list[tuple[float, float]]:
        return [
            pair
            for tree, a, b in zip(self.point.trees, back, steps, strict=True)
            for pair in zip(reals(conjugated(tree), a), reals(tree, b), strict=True)
        ]

    def inner_arguments(self, back: Any, steps: Any) -> float:
        """Of cotangents and tangents of the arguments."""
        return sum(a * b for a, b in self._pairs(back, steps))

    def _size(self, back: Any, steps: Any) -> float:
        return sum(abs(a * b) for a, b in self._pairs(back, steps))

    def _second(self, y: Any, slope: list[float]) -> None:
        """The derivative of the derivative, along the same direction, against differences of the first."""
        f, point = self.point.function, self.point
        if self.whole.kept.kept:
            self.found["second order"] = _not("a derivative of its own, or `stop_gradient`, is in it")
            return

        def first(*args: Any) -> Any:
            return jvp(f, args, point.tangents)[1]

        def along(step: float) -> tuple[list[float], int]:
            args = moved(point.trees, point.args, point.along, step)
            run = self.whole.differences.run(f.plain or f, args, run_plainly(PlainRun()))  # for the way that it takes
            return [*reals(self.result, jvp(f, args, point.tangents)[1])], run.path

        try:
            found = self._quietly(lambda: jvp(first, point.args, point.tangents)[1])
            limits = self._quietly(lambda: slopes(along))
        except (RoseError, ValueError) as error:
            self.found["second order"] = _not(str(error).splitlines()[0])
            return
        size = max([abs(v) for v in reals(self.result, y) if math.isfinite(v)], default=0.0)
        self.found["second order"] = self._judged([*reals(self.result, found)], limits, slope, size)
