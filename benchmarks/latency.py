"""From a Python function to the first result of its gradient: straight-line programs, beside JAX, CasADi and npm
`rose`, then the programs a-h of `cases.py`.

The first result is that of `tier="fast"`, a call afterwards is one of the code that replaces it, which takes `best`
more. CasADi may be in another interpreter, `PEER_PYTHON`.
`table`: host code makes the ops from a table; `lines`: every op is a line of source, of which CPython's own compiler
takes its share (the row `cpython`). Seconds are process CPU; each figure is the median over programs of their own.
"""

import gc
import importlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.cases import Case, cases
from benchmarks.measure import (
    PEER_PYTHON,
    PEERS,
    Row,
    Table,
    alone,
    collector_off,
    has,
    has_rose,
    node,
    once,
    options,
    peer_has,
    per_call,
    process,
)
from benchmarks.straight_lines import INPUTS, Program, random_program
from rosejit.abi import Tier

REWRITING = {
    "parse": "rosejit.frontend.syntax.source:_definitions rosejit.frontend.syntax.source:_parsed_alone",
    "verify": "rosejit.frontend.syntax.code_comparison:Definition.gave",
    "compile": "rosejit.frontend.syntax.translate:_compile",
    "analysis": "rosejit.frontend.syntax.scope:analyse rosejit.frontend.syntax.liveness:analyse",
    "rewriting": "rosejit.frontend.syntax.translate:_rewritten",
}
"""The parts of `rewrite`, less those that start inside them. The first three are CPython's parser, its compiler for the
comparison of text and function, and its compiler for the rewritten function: the floor."""
STAGES = {
    "rewrite": "rosejit.frontend.syntax.translate:Translations.of",
    "staging": "rosejit.frontend.session.session:Session.stage",
    "numbers": "rosejit.api.programs.compile_and_load:numbered_of",
    "derivatives": "rosejit.api.programs.compile_and_load:function_of",
    "key": "rosejit.api.programs.compile_and_load:_digest",
    "optimiser": "rosejit.transforms.pipeline:optimise rosejit.transforms.straightline.build_routines:build_routines",
    "codegen": "rosejit.codegen.program.compile:compile_program "
    "rosejit.codegen.straightline.compile_routines:compile_routines",
    "engine": "rosejit.runtime.engine:Wasmtime.quick",
    "disk": "rosejit.runtime.cache:Cache.store",
}
"""Where each part of a first call is spent, less the parts that start inside it; the rest is `other`."""


class Clock:
    """Seconds of each stage; a stage that starts inside another one stops the clock of that one."""

    def __init__(self, parts: dict[str, str]) -> None:
        self.spent: dict[str, float] = dict.fromkeys([*parts, "other"], 0.0)
        self.running = ["other"]
        self.since = time.process_time()

    def switch(self) -> None:
        now = time.process_time()
        self.spent[self.running[-1]] += now - self.since
        self.since = now

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.switch()
        self.running.append(name)
        try:
            yield
        finally:
            self.switch()
            self.running.pop()


@contextmanager
def stages(parts: dict[str, str] = STAGES) -> Iterator[Clock]:
    """A clock that runs while the package works."""
    clock = Clock(parts)
    places = [(name, place) for name, places in parts.items() for place in places.split()]
    patches = [_patched(clock, name, *place.split(":")) for name, place in places]
    for each in patches:
        each.start()
    try:
        yield clock
        clock.switch()
    finally:
        for each in patches:
            each.stop()


def _patched(clock: Clock, name: str, module: str, path: str) -> Any:
    *inside, attribute = path.split(".")
    owner = importlib.import_module(module)
    for part in inside:
        owner = getattr(owner, part)
    original = getattr(owner, attribute)

    def timed(*args: Any, **kwargs: Any) -> Any:
        with clock.stage(name):
            return original(*args, **kwargs)

    return patch.object(owner, attribute, timed)


# --- rosejit


def ours(program: Program, form: str) -> Row:
    """The first gradient of a program, split by stage, and a call of it afterwards."""
    import rosejit as rose

    python, inputs = program.lines() if form == "lines" else program.table(), tuple(range(INPUTS))
    gc.collect()  # and leave it on: a user would
    with stages() as clock:
        start = time.process_time()
        gradient = rose.grad(rose.jit(tier="fast")(python), argnums=inputs)
        first = gradient(*program.point)
        total = time.process_time() - start
    best, afterwards = once(lambda: _afterwards(python, inputs, program.point))
    return {
        "total": total,
        **clock.spent,
        "best": best - total,
        "first_us": 1e6 * per_call(lambda: gradient(*program.point)),
        "call_us": 1e6 * per_call(lambda: afterwards(*program.point)),
        "error": program.error(first),
    }


def _afterwards(f: Any, inputs: tuple[int, ...], point: list[float]) -> Any:
    """The gradient that has been compiled well."""
    import rosejit as rose

    gradient = rose.grad(rose.jit(tier="best", cache=False)(f), argnums=inputs)
    gradient(*point)
    return gradient


FRESH = """
import json, sys, time
start = time.process_time()
import rosejit as rose
imported = time.process_time()
from benchmarks.straight_lines import INPUTS, random_program
small, program = random_program(50), random_program(int(sys.argv[1]))
f, g = program.table(), small.table()
made = time.process_time()
rose.grad(g, argnums=tuple(range(INPUTS)))(*small.point)
loaded = time.process_time()
gradient = rose.grad(f, argnums=tuple(range(INPUTS)))(*program.point)
end = time.process_time()
print(json.dumps({"import": imported - start, "loading": loaded - made, "total": end - loaded,
                  "error": program.error(gradient)}))
"""


def fresh(ops: int, directory: str) -> Row:
    """The same in a new process, with what the disk cache has; byte code is cached too."""
    code = str(Path(directory) / "code")
    env = {"ROSE_CACHE_DIR": directory, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": code}
    return alone(FRESH, str(ops), env=env)


# --- peers

JAX = """
import json, sys, time
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
from benchmarks.measure import per_call
from benchmarks.straight_lines import INPUTS, random_program
jax.jit(jax.grad(lambda x: x * x))(1.0).block_until_ready()
program = random_program(int(sys.argv[1]))
f = program.table(jnp.sin, jnp.cos)
start = time.process_time()
lowered = jax.jit(jax.grad(f, argnums=tuple(range(INPUTS)))).lower(*program.point)
traced = time.process_time()
compiled = lowered.compile()
gradient = [float(x) for x in compiled(*program.point)]
end = time.process_time()
call = per_call(lambda: jax.block_until_ready(compiled(*program.point)))
print(json.dumps({"total": end - start, "derivatives": traced - start, "engine": end - traced, "call_us": 1e6 * call,
                  "error": program.error(gradient)}))
"""


def npm_rose(program: Program, times: int) -> Row:
    """What npm `rose` takes, warm, and `first`: in the process's first iteration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.json"
        path.write_text(json.dumps({"inputs": INPUTS, "point": program.point, "steps": program.steps}))
        found = node(PEERS / "straight_line.mjs", str(path), str(times + 1))
    return {**found, "error": program.error(found.pop("gradient"))}


def casadi(program: Program, times: int) -> tuple[Row, Row]:
    """What CasADi's SX takes, and what the C that it writes takes at -O3."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.json"
        path.write_text(json.dumps({"inputs": INPUTS, "point": program.point, "steps": program.steps}))
        found = process([PEER_PYTHON, str(PEERS / "casadi_line.py"), str(path), str(times)])
    graph = {"total": found["total"], "call_us": found["call_us"], "error": program.error(found["gradient"])}
    total, error = found["total"] + found["c_total"], program.error(found["c_gradient"])
    return graph, {"total": total, "call_us": found["c_call_us"], "error": error}


def cpython(program: Program) -> Row:
    """What CPython takes to compile the source, and for a call of the function itself."""
    source = program.python()
    total = statistics.median(once(lambda: compile(source, "<f>", "exec"))[0] for _ in range(3))
    f = program.lines()
    return {"total": total, "call_us": 1e6 * per_call(lambda: f(*program.point))}


# --- tables


def median_row(rows: list[Row]) -> Row:
    """The median of each figure."""
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def in_milliseconds(row: Row) -> Row:
    """Seconds as milliseconds."""
    kept = ("first_us", "call_us", "error")
    return {key: value if key in kept or not isinstance(value, float) else 1e3 * value for key, value in row.items()}


def warm_table(sizes: list[int], times: int, absent: list[str]) -> Table:
    """First gradients in a process that has done others before."""
    parts = dict.fromkeys([*STAGES, "other"], ".1f")
    after = {"best": ".1f", "first_us": ".2f", "call_us": ".2f"}
    columns = {"system": "", "ops": ",", "total": ".1f", "us/op": ".1f", **parts, **after}
    title = "first gradient of a straight-line program in a warm process (ms of CPU, then us a call)"
    table = Table("latency", title, {**columns, "error": ".0e"}, absent=absent)

    def add(system: str, program: Program, row: Row) -> None:
        figures = in_milliseconds(row)
        table.add(system=system, ops=program.ops, **figures, **{"us/op": 1e3 * figures["total"] / program.ops})

    for ops in sizes:
        program = random_program(ops)
        for form in ("table", "lines"):
            rows = [ours(random_program(ops, seed), form) for seed in range(times if ops <= 2_000 else 3)]
            add(f"rosejit {form}", program, median_row(rows))
        add("cpython lines", program, cpython(program))
        if "casadi" not in absent:
            graph, compiled = casadi(program, times)
            add("casadi SX", program, graph)
            add("casadi C -O3", program, compiled)
        if "rose" not in absent:
            add("npm rose", program, npm_rose(program, times))
        if "jax" not in absent and ops <= 1_000:
            add("jax", program, alone(JAX, str(ops)))
    return table


def cold_table(sizes: list[int]) -> Table:
    """First gradients in new processes: the disk cache empty, then filled by the one before."""
    title = "in a new process (ms of CPU; `loading`: the compiler's modules, with a program of 50 ops; `wall` of all)"
    parts = dict.fromkeys(["import", "loading", "total", "wall"], ".1f")
    columns = {"disk cache": "", "ops": ",", **parts, "error": ".0e"}
    table = Table("latency_cold", title, columns)
    for ops in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for state in ("empty", "filled", "filled again"):
                table.add(**{"disk cache": state}, ops=ops, **in_milliseconds(fresh(ops, folder)))
    return table


def programs_table() -> Table:
    """First derivatives of the programs a-h, and calls."""
    title = "programs a-h: first result (ms of CPU), then us a call; `best`: the same with optimised code"
    columns = {"program": "", "first": ".1f", "first_us": ".2f", "best": ".1f", "call_us": ".2f", "error": ".0e"}
    table = Table("latency_programs", title, columns)
    for case in cases():
        fast, best = _of_tier(case, "fast"), _of_tier(case, "best")
        then = {"first_us": fast["call_us"], "best": best["first"], "call_us": best["call_us"]}
        table.add(program=case.name, first=fast["first"], error=best["error"], **then)
    return table


def _of_tier(case: Case, tier: Tier) -> Row:
    f = case.derive(tier)
    seconds, found = once(lambda: f(*case.point))
    call = per_call(lambda: f(*case.point), batches=5)
    return {"first": 1e3 * seconds, "call_us": 1e6 * call, "error": case.error(found)}


def rewriting_table(sizes: list[int], times: int) -> Table:
    """What the rewriting of source takes, by part."""
    title = "rewriting of functions of so many lines (us of CPU a line); `floor`: parse, verify, compile"
    columns = {"lines": ",", **dict.fromkeys(["total", "floor", *REWRITING, "other", "CPython from text"], ".1f")}
    table = Table("latency_rewriting", title, columns)
    for lines in sizes:
        rows = [_rewritten(random_program(lines, seed), lines) for seed in range(times)]
        table.add(lines=lines, **median_row(rows))
    return table


def _rewritten(program: Program, lines: int) -> Row:
    from rosejit.frontend.syntax.translate import translate

    function, source = program.lines(), program.python()
    with collector_off(), stages(REWRITING) as clock:
        translate(function)
    parts = {name: 1e6 * seconds / lines for name, seconds in clock.spent.items()}
    floor = parts["parse"] + parts["verify"] + parts["compile"]
    alone = once(lambda: compile(source, "<f>", "exec"))[0]
    return {"total": sum(parts.values()), "floor": floor, **parts, "CPython from text": 1e6 * alone / lines}


def main() -> None:
    """The tables."""
    given = options(__doc__ or "", ops=[1_000, 10_000], times=5)
    here = {"jax": has("jax"), "rose": has_rose(), "casadi": peer_has("casadi")}
    absent = [peer for peer, found in here.items() if not found or peer in given.without]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROSE_CACHE_DIR"] = folder
        for form in ("table", "lines"):
            ours(random_program(50), form)
        warm = warm_table(given.ops, given.times, absent)
    warm.finish(given.json)
    rewriting_table(given.ops, given.times).finish()
    cold_table(given.ops).finish()
    programs_table().finish()


if __name__ == "__main__":
    main()
