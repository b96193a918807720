"""Where two ways to run a function part: the first line and variable of the user's source that differ."""

# Values of users are of any type.

import contextlib
import io
import linecache
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rosejit.abi import Tree
from rosejit.api import sessions
from rosejit.api.checking.check_compare import Outcome, is_close, numbers, outcome
from rosejit.api.checking.check_derivatives import moved, slopes
from rosejit.api.checking.check_watched import Event, Recorder, Site, Watched
from rosejit.api.checking.plain_calls import Parted, PlainRun
from rosejit.api.deferred import derivative_programs, interp, pipeline
from rosejit.api.derivation.modes import jvp
from rosejit.api.function import Function, disable_jit, run_plainly
from rosejit.errors import RoseError
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np


@dataclass(slots=True, frozen=True)
class Place:
    """A line of the user's source and a variable, with what it should be and what it was."""

    file: str
    line: int
    variable: str
    wanted: str
    found: str
    what: str = "value"

    @property
    def source(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}: `{self.source}`"
        return f"{head}\n    {self.what} of {_named(self.variable)}: {self.wanted} wanted, {self.found} found"


def _named(variable: str) -> str:
    return variable if variable.startswith("the ") else f"`{variable}`"


@dataclass(slots=True, frozen=True)
class Point:
    """A function and where it is called; `machine` is how the suspect runs it."""

    function: Function
    args: tuple[Any, ...]
    trees: Sequence[Tree]
    along: Sequence[float]
    """A direction of the arguments' real numbers."""
    tangents: tuple[Any, ...]
    machine: Callable[[], AbstractContextManager[Any]]
    seconds: float


@contextlib.contextmanager
def _watching(point: Point, mode: str) -> Iterator[tuple[Function, Recorder]]:
    recorder = Recorder(mode)
    watched = Watched(recorder, mode != "values")
    try:
        yield watched.of(point.function), recorder
    finally:
        watched.close()


def _events(recorder: Recorder, run: Callable[[], Any]) -> tuple[list[Event], Outcome | None]:
    recorder.clear()
    given = run()
    return recorder.events, given


# --- values


def value_place(point: Point) -> Place | None:
    """The first value of the user's text that is another one than in CPython."""
    with _watching(point, "values") as (f, recorder):
        if f is point.function:
            return None
        plain = PlainRun()
        wanted, one = _events(recorder, lambda: outcome(_body(f), point.args, run_plainly(plain), point.seconds))
        found, other = _events(recorder, lambda: outcome(f, point.args, point.machine()))
        assert one is not None
        assert other is not None
        for tolerance in (1e-9, 1e-13):
            place = first_parting(wanted, found, tolerance, whole=one.stopped is None and other.error is None)
            if place is not None:
                return place
    return None


def value_place_of_machines(point: Point) -> Place | None:
    """The first value that compiled code and the interpreter disagree on."""
    with _watching(point, "values") as (f, recorder):
        wanted, _ = _events(recorder, lambda: outcome(f, point.args, disable_jit()))
        found, _ = _events(recorder, lambda: outcome(f, point.args, contextlib.nullcontext()))
        return first_parting(wanted, found, 0.0)


def _body(f: Function) -> Callable[..., Any]:
    assert f.plain is not None
    return f.plain


def first_parting(wanted: list[Event], found: list[Event], tolerance: float, whole: bool = True) -> Place | None:
    """The first event of a run whose numbers are others in the second run, site by site in their order."""
    others: dict[Site, list[list[float]]] = defaultdict(list)
    for site, told in found:
        others[site].append(told)
    seen: dict[Site, int] = defaultdict(int)
    for site, told in wanted:
        k = seen[site]
        seen[site] += 1
        if k >= len(others[site]):
            if others[site] or (whole and _is_told(site, wanted)):
                return _place(site, told, "nothing: it does not come here")
            continue
        given = others[site][k]
        if len(given) == len(told) and not _same(given, told, tolerance):
            return _place(site, told, _shown(given))
    for site, each in others.items():
        if len(each) > seen[site] > 0 or (seen[site] == 0 and whole and any(each)):
            return Place(
                site.file, site.line, site.name, "nothing: CPython does not come here", _shown(each[seen[site]])
            )
    return None


def _is_told(site: Site, events: list[Event]) -> bool:
    """Whether there are numbers at a site."""
    return any(numbers for other, numbers in events if other == site)


def _place(site: Site, numbers: list[float], found: str, what: str = "value") -> Place:
    return Place(site.file, site.line, site.name, _shown(numbers), found, what)


def _same(a: list[float], b: list[float], tolerance: float) -> bool:
    scale = max([abs(x) for x in b if abs(x) < float("inf")], default=0.0)
    return all(is_close(x, y, tolerance, scale) for x, y in zip(a, b, strict=True))


def _shown(numbers: list[float]) -> str:
    if len(numbers) == 1:
        return repr(numbers[0])
    shown = ", ".join(map(repr, numbers[:4]))
    return f"[{shown}{', ...' if len(numbers) > 4 else ''}]"


# --- derivatives


def forward_place(point: Point, kept: PlainRun) -> Place | None:
    """The first value of the user's text whose tangent is not the slope that CPython's values have."""
    with _watching(point, "tangents") as (f, recorder):
        if f is point.function:
            return None

        def run(step: float) -> tuple[list[Event], int]:
            args = moved(point.trees, point.args, point.along, step)
            events, run = _events(recorder, lambda: outcome(_body(f), args, run_plainly(PlainRun(kept)), point.seconds))
            return events, -1 if run is None or run.error is not None else run.path

        base, path = run(0.0)
        sizes = [(site, len(numbers)) for site, numbers in base]

        def along(step: float) -> tuple[list[float], int]:
            events, way = run(step)
            if way == path and [(site, len(numbers)) for site, numbers in events] != sizes:
                raise Parted
            return [x for _, numbers in events for x in numbers], way

        try:
            limits = iter(slopes(along))
        except Parted:  # another branch was taken
            return None
        wanted = [(site, [next(limits) for _ in numbers]) for site, numbers in base]
        found = _tangents(f, recorder, point)
        taken: dict[Site, Iterator[list[float]]] = {}
        by_site: dict[Site, list[list[float]]] = defaultdict(list)
        for site, numbers in found:
            by_site[site].append(numbers)
        for (site, truths), (_, values) in zip(wanted, base, strict=True):
            given = next(taken.setdefault(site, iter(by_site[site])), None)
            if given is None or len(given) != len(truths):
                continue
            scale = max([abs(x) for x in values if abs(x) < float("inf")], default=0.0)
            for limit, dx in zip(truths, given, strict=True):
                if limit.verdict(dx, 1e-6 * scale) is False:
                    return _place(site, [t.both.value for t in truths], _shown(given), "derivative")
    return None


def _tangents(f: Function, recorder: Recorder, point: Point) -> list[Event]:
    """The tangents that the staged program computes; in the interpreter, where compiled code cannot tell them."""
    for machine in (point.machine, disable_jit):
        recorder.clear()
        with contextlib.suppress(Exception), machine():
            jvp(f, point.args, point.tangents)
            return recorder.events
    return recorder.events


def reverse_place(point: Point, cotangents_of: Callable[[], list[Any]]) -> Place | None:
    """Where reverse mode goes wrong, if forward mode does not: from the end on, the derivative by one value after
    another, in both modes. Behind the first that they disagree on is the statement that reads it, which is at fault."""
    with _watching(point, "adds") as (f, recorder):
        try:
            modes = _both_modes(f, recorder, point, cotangents_of())
            forward, reverse = modes(-1)
        except RoseError:  # what is watched is another program, which may be refused
            return None
        events = list(recorder.events)
        for k in reversed(range(max(0, len(events) - 300), len(events))):
            forward, reverse = modes(k)
            if not is_close(forward, reverse, 1e-7, 1e-9):
                site = events[min(k + 1, len(events) - 1)][0]
                what = f"derivative by {_named(events[k][0].name)} (in line {events[k][0].line}), through the value"
                return Place(site.file, site.line, site.name, repr(forward), repr(reverse), what)
    return None


def _both_modes(f: Function, recorder: Recorder, point: Point, cts: list[Any]) -> Callable[[int], tuple[float, float]]:
    """By the number of an event: the derivative of the result, against a cotangent, by what is computed there."""
    with sessions.session() as at:
        call, found = f.specialised(point.args, {}, at)
        made = found.staged
    reads = [capture.read() for capture in made.source.captures]
    args = [v.tolist() if isinstance(v, np.ndarray) else v for v in (*call.values, *reads)]
    mask = (*(False for _ in call.values), *(read is recorder.added for read in reads))
    program = pipeline.prepared(made.function)
    along, back = derivative_programs.pushforward(program, mask), derivative_programs.cotangents(program, mask)
    n = len(made.function.results)

    def run(number: int) -> tuple[float, float]:
        recorder.chosen = number
        found: list[tuple[Any, ...]] = []
        for derived, given in ((along, [[1.0]]), (back, cts)):
            recorder.clear()
            with contextlib.redirect_stdout(io.StringIO()):
                found.append(interp.run(derived, [*args, *given])[n:])
        pairs = zip(numbers(cts), numbers(list(found[0])), strict=True)
        return math.fsum(a * b for a, b in pairs), math.fsum(numbers(list(found[1])))

    return run
