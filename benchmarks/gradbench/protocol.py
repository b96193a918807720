"""Messages of an eval into the answers of a tool."""

import json
import time
import traceback
from collections.abc import Callable, Iterator
from typing import IO, Any

import rosejit as rose
from benchmarks.gradbench.task import Task, functions

Message = dict[str, Any]


def answer(message: Message) -> Message:
    """The response to one message; a failure is an answer too."""
    found: Message = {"id": message["id"]}
    try:
        match message["kind"]:
            case "start":
                return {**found, "tool": "rosejit", "config": {"rosejit": rose.__version__}}
            case "define":
                functions(message["module"])
                return {**found, "success": True}
            case "evaluate":
                task = functions(message["module"])[message["function"]]
                output, timings = evaluate(task, message["input"])
                return {**found, "success": True, "output": output, "timings": timings}
            case _:
                return found
    except Exception:
        return {**found, "success": False, "error": traceback.format_exc()}


def evaluate(task: Task, given: Any) -> tuple[Any, list[Message]]:
    """The output for an input, and how long each run took: as many as are asked for. Staging and compilation depend
    on shapes only, and are reported as preparation."""
    runs, seconds = (given.get("min_runs", 1), given.get("min_seconds", 1)) if isinstance(given, dict) else (1, 0)
    prepare, (arguments, run) = timed(lambda: prepared(task, given))
    times: list[int] = []
    result = None
    while not times or len(times) < runs or sum(times) < 1e9 * seconds:
        spent, result = timed(lambda: run(*arguments))
        times.append(spent)
    timings = [("prepare", prepare), *[("evaluate", spent) for spent in times]]
    return task.output(result), [{"name": name, "nanoseconds": spent} for name, spent in timings]


def prepared(task: Task, given: Any) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """The arguments, and a function compiled for their shapes."""
    arguments = task.arguments(given)
    return arguments, task.function.lower(*arguments).compile()


def timed(f: Callable[[], Any]) -> tuple[int, Any]:
    """Nanoseconds, and what came of them."""
    start = time.perf_counter_ns()
    result = f()
    return time.perf_counter_ns() - start, result


def serve(lines: Iterator[str] | IO[str], out: IO[str]) -> None:
    """Answer line by line until there are no more."""
    for line in lines:
        if line.strip():
            print(json.dumps(answer(json.loads(line))), file=out, flush=True)
