"""Others' functions: those of a package that pip has, decorated as they are, on the calls of their own doctests.

Values, exceptions and the arguments afterwards are compared with CPython's own run of the undecorated function, slopes
with its central differences, where these are stable. `python -m benchmarks.foreign fluids --limit 100`; `--own` names
packages that count as the user's own code too, because the functions call them. A function may take `--seconds` of
CPU, in a process of its own that goes on with the next.
"""

import argparse
import collections
import inspect
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import rosejit as rose
from benchmarks.foreign_calls import Call, calls, functions, imported_copy
from benchmarks.measure import OUT, ROOT, Row
from rosejit.errors import RoseError, WasmTrap

CLOSE = 1e-12
"""The relative difference of two numbers that are taken to be equal."""
CLASSES = ("wrong value", "wrong slope", "raw", "too slow", "refused", "unfaulted", "as float", "right")
"""From worst to best: a function's class is that of its worst call. `unfaulted`: CPython raises for arithmetic that
has no result, where compiled reals are nan or infinite, as the documents say. `as float`: the value, but a float where
CPython has an int or a complex where it has a float, because the other side of a branch has one."""
_FAULTS = (ZeroDivisionError, OverflowError, ValueError)
_AT_RUN = (IndexError, AssertionError, OverflowError, ZeroDivisionError, FloatingPointError, RecursionError, WasmTrap)
"""What checks of compiled code raise: not a refusal."""
_BORDER = "an integer of 64 bits"
"""What the refusal of an argument or a result that is a larger int says it needs."""

# --- outcomes


class Outcome(NamedTuple):
    """What a call came to: its value, or its error; and its arguments afterwards."""

    value: Any
    error: BaseException | None
    arguments: Any


def outcome(function: Callable[..., Any], call: Call) -> Outcome:
    """A call, on new arguments."""
    args, named = call.arguments()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Outcome(function(*args, **named), None, (args, named))
    except Exception as error:
        return Outcome(None, error, (args, named))


def difference(found: Any, wanted: Any, where: str = "", *, exact: bool = True) -> str:
    """Where two results part first, or nothing: structure, kinds of numbers if `exact`, and numbers up to `CLOSE`."""
    found, wanted = _plain(found), _plain(wanted)
    if not exact and (type(wanted), type(found)) in _WIDENED:
        wanted = type(found)(wanted)
    if type(found) is not type(wanted):
        return f"{where or 'the result'} is {found!r:.80}, of class {type(found).__name__}; CPython: {wanted!r:.80}"
    if isinstance(wanted, dict):
        if list(found) != list(wanted):
            return f"{where or 'the result'} has keys {list(found)}, CPython's {list(wanted)}"
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, (list, tuple)):
        if len(found) != len(wanted):
            return f"{where or 'the result'} has {len(found)} items, CPython's {len(wanted)}"
        pairs = enumerate(zip(found, wanted, strict=True))
        return next((text for k, (a, b) in pairs if (text := difference(a, b, f"{where}[{k}]", exact=exact))), "")
    if _is_close(found, wanted):
        return ""
    return f"{where or 'the result'} is {found!r:.80}, CPython: {wanted!r:.80}"


_WIDENED = {(int, float), (int, complex), (float, complex)}


def _plain(value: Any) -> Any:
    """NumPy's arrays and numbers as Python's: no code that stages says `float64` to a plain `float`."""
    return value.tolist() if hasattr(value, "tolist") and hasattr(value, "dtype") else value


def _is_close(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, (float, complex)):
        return bool(found == wanted)
    if isinstance(wanted, complex):
        return abs(found - wanted) <= CLOSE * abs(wanted)
    return math.isclose(found, wanted, rel_tol=CLOSE) or (math.isnan(found) and math.isnan(wanted))


def compared(found: Outcome, wanted: Outcome) -> tuple[str, str]:
    """The class of a call, and why."""
    if found.error is not None:
        return _compared_error(found.error, wanted)
    if wanted.error is not None:
        if isinstance(wanted.error, _FAULTS) and any(not math.isfinite(x) for x in floats(found.value)):
            return "unfaulted", f"{found.value!r:.80}; CPython raises {wanted.error!r:.80}"
        return "wrong value", f"{found.value!r:.80}; CPython raises {wanted.error!r:.80}"
    if text := difference(found.arguments, wanted.arguments, "arguments"):
        return "wrong value", text
    text = difference(found.value, wanted.value)
    if not text:
        return "right", ""
    return "wrong value" if difference(found.value, wanted.value, exact=False) else "as float", text


def _compared_error(error: BaseException, wanted: Outcome) -> tuple[str, str]:
    text = f"{type(error).__name__}: {error}"
    if wanted.error is not None and isinstance(error, type(wanted.error)):
        return "right", ""
    if not isinstance(error, RoseError):
        return "raw", f"{text:.200}; CPython: {wanted.error or wanted.value!r:.80}"
    if isinstance(error, _AT_RUN) and _BORDER not in text:
        return "wrong value", f"{text}; CPython: {wanted.error or wanted.value!r:.80}"
    return "refused", text


# --- slopes


def floats(value: Any) -> Iterator[float]:
    """The floats of a result, in order."""
    value = _plain(value)
    if isinstance(value, float):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from floats(item)


def slope(function: Callable[..., Any], call: Call) -> tuple[str, str]:
    """The class of the derivative along the float arguments, each in proportion to itself, and why: `none` without
    floats, `unstable` where differences do not settle, `at a point` where only a branch for this very point, as
    `if x == 1.0: return 0.5`, has another slope than the points beside it."""
    args, named = call.arguments()
    try:
        bound = inspect.signature(function).bind(*args, **named)
    except (TypeError, ValueError):
        return "none", ""
    bound.apply_defaults()
    if bound.kwargs or not any(type(x) is float for x in bound.args):
        return "none", ""
    kind, why = _slope_at(function, bound.args)
    if kind == "wrong slope":
        beside = tuple(x * (1 + 3e-5) if type(x) is float else x for x in renewed(bound.args))
        kind = "at a point" if _slope_at(function, beside)[0] == "right" else kind
    return kind, why


def _slope_at(function: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[str, str]:
    tangents = tuple((x or 1.0) if type(x) is float else None for x in primals)
    wanted = differences(function, primals, tangents)
    if wanted is None:
        return "unstable", ""
    try:
        found = list(floats(rose.jvp(function, primals, tuple(map(_zero_unless_float, primals, tangents)))[1]))
    except RoseError as error:
        return "refused", f"{type(error).__name__}: {error}"
    if len(found) != len(wanted):
        return "wrong slope", f"{len(found)} slopes for {len(wanted)} numbers"
    for k, (a, (b, allowed)) in enumerate(zip(found, wanted, strict=True)):
        if not abs(a - b) <= allowed:
            return "wrong slope", f"slope {k} is {a!r}, differences: {b!r}"
    return "right", ""


def _zero_unless_float(primal: Any, tangent: float | None) -> Any:
    """What `jvp` takes as the tangent of an argument that is not moved."""
    if tangent is not None:
        return tangent
    if isinstance(primal, (list, tuple)):
        return type(primal)(_zero_unless_float(item, None) for item in primal)
    return 0.0 if isinstance(primal, float) else None


STEP = 1e-3


def differences(
    function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[float | None, ...]
) -> list[tuple[float, float]] | None:
    """Slopes by extrapolated central differences, each with what it may be off; nothing where they do not settle."""
    at = {k: _moved(function, primals, tangents, k * STEP / 4) for k in (-4, -2, -1, 0, 1, 2, 4)}
    if any(values is None or len(values) != len(at[0] or ()) for values in at.values()):
        return None
    columns = zip(*(at[k] or () for k in (-4, -2, -1, 0, 1, 2, 4)), strict=True)
    slopes = [_settled(*column) for column in columns]
    return [each for each in slopes if each is not None] if slopes and None not in slopes else None


def _settled(*values: float) -> tuple[float, float] | None:
    """Richardson's extrapolation of two pairs of steps; nothing where these disagree, or at a kink."""
    far_left, mid_left, left, centre, right, mid_right, far_right = values
    if not all(map(math.isfinite, values)):
        return None
    far, mid, near = (far_right - far_left) / 2, mid_right - mid_left, 2 * (right - left)
    first, second = ((4 * mid - far) / 3 / STEP, (4 * near - mid) / 3 / STEP)
    allowed = 1e-6 * abs(second) + 1e-8 * abs(centre)
    bends = [abs(b + a - 2 * centre) / STEP for a, b in ((mid_left, mid_right), (left, right))]
    if abs(first - second) > allowed / 4 or 2 * bends[1] > 0.75 * bends[0] + allowed:
        return None
    return second, allowed


def _moved(
    function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[float | None, ...], step: float
) -> list[float] | None:
    args = [x if t is None else x + step * t for x, t in zip(renewed(primals), tangents, strict=True)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(floats(function(*args)))
    except Exception:
        return None


def renewed(value: Any) -> Any:
    """New lists and dicts."""
    if isinstance(value, dict):
        return {key: renewed(item) for key, item in value.items()}
    return type(value)(map(renewed, value)) if type(value) in (list, tuple) else value


# --- functions


def tried(function: Callable[..., Any]) -> Row | None:
    """What one function came to: the class of its worst call, why, and the class of its slope; nothing for a function
    without a call that can be read."""
    examples = calls(function)
    if not examples:
        return None
    code = function.__code__
    row = {"name": f"{function.__module__}.{function.__qualname__}", "file": code.co_filename}
    row |= {
        "line": code.co_firstlineno,
        "class": "right",
        "why": "",
        "call": "",
        "calls": len(examples),
        "slope": "none",
    }
    made, first = None, None
    for call in examples:
        try:
            made = made or rose.jit(function)
        except Exception as error:
            kind, why = _compared_error(error, Outcome(None, None, None))
        else:
            kind, why = compared(outcome(made, call), outcome(function, call))
        first = first or (call if kind == "right" else None)
        _worse(row, kind, why, call)
    if first is not None:
        try:
            row["slope"], why = slope(function, first)
        except Exception as error:
            row["slope"], why = "raw", f"{type(error).__name__}: {error}"
        if row["slope"] in CLASSES:
            row["why of slope"] = why
            if row["slope"] != "refused":
                _worse(row, row["slope"], why, first)
    return row


def _worse(row: Row, kind: str, why: str, call: Call) -> None:
    if CLASSES.index(kind) < CLASSES.index(row["class"]):
        row |= {"class": kind, "why": why, "call": call.text}


def child(package: str, own: list[str], start: int, stop: int, seconds: float, target: Path) -> None:
    """Tries functions `start` to `stop` of a package, a line of JSON each; `SIGPROF` ends one that is too slow."""
    with tempfile.TemporaryDirectory() as folder, target.open("a") as out:
        module = imported_copy(package, own, Path(folder))
        every = list(functions(module))
        for k in range(start, min(stop, len(every))):
            name = f"{every[k].__module__}.{every[k].__qualname__}"
            print(json.dumps({"begins": k, "name": name}), file=out, flush=True)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            row = tried(every[k])
            signal.setitimer(signal.ITIMER_PROF, 0)
            print(json.dumps({"ends": k, "row": row}, default=repr), file=out, flush=True)
        print(json.dumps({"all": len(every)}), file=out, flush=True)


def run(package: str, own: list[str], start: int, stop: int, seconds: float) -> tuple[list[Row], int]:
    """The rows of functions `start` to `stop`, and the number of functions that were looked at. Each child goes on
    where one was ended."""
    rows: list[Row] = []
    first = start
    with tempfile.TemporaryDirectory() as folder:
        while True:
            target = Path(folder) / f"{first}.jsonl"
            command = [
                sys.executable,
                "-m",
                "benchmarks.foreign",
                package,
                "--own",
                ",".join(own),
                "--child",
                str(target),
            ]
            command += ["--start", str(first), "--limit", str(stop - first), "--seconds", str(seconds)]
            done = process(command, folder)
            lines = [json.loads(line) for line in target.read_text().splitlines()] if target.exists() else []
            rows += [line["row"] for line in lines if line.get("row")]
            if lines and "all" in lines[-1]:
                return rows, min(stop, lines[-1]["all"]) - start
            if not lines:
                raise RuntimeError(f"{package} cannot be imported: a child ended with {done.returncode}")
            kind = "too slow" if done.returncode == -signal.SIGPROF else "raw"
            why = f"a child ended with {done.returncode}"
            rows.append({"name": lines[-1]["name"], "class": kind, "why": why, "call": "", "slope": "none"})
            first = lines[-1]["begins"] + 1


def process(command: list[str], folder: str) -> subprocess.CompletedProcess[bytes]:
    """A command that runs where files that it writes do no harm."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder, env=variables)


# --- the report


def group(why: str) -> str:
    """The first line of a message without its names and numbers."""
    line = why.splitlines()[0] if why else ""
    return re.sub(r"\b\d[\d.e+-]*", "N", re.sub(r"`[^`]*`|'[^']*'", "`..`", line))


def report(package: str, rows: list[Row], looked: int) -> str:
    """The counts, the ten largest groups of refusals with an example each, and all that is wrong."""
    counts = collections.Counter(row["class"] for row in rows)
    slopes = collections.Counter(row["slope"] for row in rows)
    lines = [f"{package}: {len(rows)} functions with calls, of {looked}: {_counted(counts)}"]
    lines += [f"slopes: {_counted(slopes)}"]
    for title, key, kind in (("refused", "why", "class"), ("slopes refused", "why of slope", "slope")):
        groups: dict[str, list[Row]] = collections.defaultdict(list)
        for row in rows:
            if row[kind] == "refused":
                groups[group(row[key])].append(row)
        largest = sorted(groups.items(), key=lambda item: -len(item[1]))[:10]
        lines += [line for words, of in largest for line in (f"{title} {len(of)}: {words}", *_example(of[0], key))]
    for row in rows:
        if row["class"] in CLASSES[:4]:
            lines += [f"{row['class']}: {row['name']}: {row['call']}", f"    {row['why']}"]
    return "\n".join(lines)


def _example(row: Row, key: str) -> list[str]:
    return [f"    {row['name']}: {row['call']}", *(f"    {line}" for line in row[key].splitlines()[1:4])]


def _counted(counts: collections.Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package")
    parser.add_argument("--own", default="", help="packages that count as the user's own, with commas")
    parser.add_argument("--start", type=int, default=0, help="the first function that is looked at")
    parser.add_argument("--limit", type=int, default=1_000_000, help="how many are looked at")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU that a function may take")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the rows go")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    own = [name for name in given.own.split(",") if name]
    if given.child:
        child(given.package, own, given.start, given.start + given.limit, given.seconds, given.child)
        return
    rows, looked = run(given.package, own, given.start, given.start + given.limit, given.seconds)
    target = given.json or OUT / f"foreign-{given.package}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"package": given.package, "looked": looked, "rows": rows}, indent=1) + "\n")
    print(report(given.package, rows, looked))


if __name__ == "__main__":
    main()
