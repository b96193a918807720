"""Exported modules in node: the bits of wasmtime, arguments, results, failures, functions of the page."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.export.machine import NODE, javascript, results
from tests.export.programs import by_program, check, jobs_of
from tests.programs import PROGRAMS


def exported(folder, entries, *examples, **options):
    """The module of `entries` in a folder of its own."""
    return rose.export(entries, *examples, path=folder, **options)[1]


def report(folder, entries, examples, text, **options):
    """What a script prints that has loaded the module, as `functions`, with a `caught` that names errors."""
    module = exported(folder / "it", entries, *examples, **options)
    head = (
        f'import load from "./it/{module.name}";\n'
        "const caught = (run) => {\n"
        "  try { return run(); } catch (e) { return [e.constructor.name, e.name, e.message]; }\n"
        "};\n"
        "const show = (x) => console.log(JSON.stringify(x, (_, v) => typeof v === 'bigint' ? `${v}n`"
        " : ArrayBuffer.isView(v) ? [v.constructor.name, ...v].map((w) => typeof w === 'bigint' ? `${w}n` : w) : v));\n"
    )
    return javascript(folder, head + text)


# --- the same bits


@pytest.fixture(scope="module")
def answers(tmp_path_factory, request):
    """What node gives for every call of the programs that are tried."""
    folder = tmp_path_factory.mktemp("programs")
    tried = {item.name for item in request.session.items}
    programs = [program for program in PROGRAMS if f"test_node_gives_the_bits_of_wasmtime[{program.name}]" in tried]
    jobs = [job for program in programs for job in jobs_of(program, folder)]
    return by_program(jobs, results(folder, jobs))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_node_gives_the_bits_of_wasmtime(program, answers):
    for job, given in answers.get(program.name, ()):
        check(job, given)


# --- arguments and results


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Ball:
    at: Point
    spin: Vec[2]
    heavy: bool


@rose.jit
def moved(balls: list[Ball], by: Point, turns: int = 2) -> list[Ball]:
    """Every ball, further on."""
    return [Ball(Point(b.at.x + by.x, b.at.y + by.y), b.spin * turns, not b.heavy) for b in balls]


def balls(count):
    return [Ball(Point(float(k), -float(k)), np.array([0.5, k]), k % 2 == 0) for k in range(count)]


@pytest.mark.parametrize("count", [2, 6])
def test_structures_are_objects_of_the_same_shape(tmp_path, count):
    """With 6 balls the code is a loop."""
    given = [{"at": {"x": k, "y": -k}, "spin": [0.5, k], "heavy": k % 2 == 0} for k in range(count)]
    text = f"const f = (await load()).moved, balls = {json.dumps(given)};"
    text += "const fresh = f(balls, { x: 1, y: 2 }), out = f(balls, { x: 0, y: 0 }, 1);"
    text += "const same = f.into(out, balls, { x: 1, y: 2 }, 2n);"
    text += "show([fresh, same === out, JSON.stringify(out) === JSON.stringify(fresh)]);"
    found = report(tmp_path, moved, (balls(count), Point(1.0, 2.0), 2), text)
    if NODE:
        wanted = [
            {"at": {"x": k + 1, "y": 2 - k}, "spin": ["Float64Array", 1, 2 * k], "heavy": k % 2 == 1}
            for k in range(count)
        ]
        assert found == [wanted, True, True]


@pytest.mark.parametrize("count", [2, 6])
def test_what_is_wrong_in_a_structure_is_named(tmp_path, count):
    text = """
    const f = (await load()).moved, ball = () => ({ at: { x: 0, y: 0 }, spin: [0, 0], heavy: false });
    const with_ = (change) => { const all = Array.from({ length: COUNT }, ball); change(all[1]); return all; };
    show([
      caught(() => f(with_((b) => { b.at.x = "1"; }), { x: 1, y: 2 })),
      caught(() => f(with_((b) => { b.spin = [1]; }), { x: 1, y: 2 })),
      caught(() => f(with_((b) => { b.spin[1] = null; }), { x: 1, y: 2 })),
      caught(() => f(with_((b) => { b.heavy = 1; }), { x: 1, y: 2 })),
      caught(() => f(with_((b) => { b.at = null; }), { x: 1, y: 2 })),
      caught(() => f([], { x: 1, y: 2 })),
      caught(() => f(with_(() => {}), 3)),
      caught(() => f(with_(() => {}))),
      caught(() => f(with_(() => {}), { x: 1, y: 2 }, 1.5)),
      caught(() => f(with_(() => {}), { x: 1, y: 2 }, 2n ** 63n)),
      caught(() => f(with_(() => {}), { x: 1, y: 2 }, 1, 2)),
    ]);""".replace("COUNT", str(count))
    found = report(tmp_path, moved, (balls(count), Point(1.0, 2.0), 2), text)
    if NODE:
        assert [words[0] for words in found] == [
            "TypeError", "RangeError", *["TypeError"] * 3, "RangeError", *["TypeError"] * 3, "RangeError", "TypeError",
        ]  # fmt: skip
        assert [words[2] for words in found] == [
            "`balls[1].at.x` must be a number, not a string",
            "`balls[1].spin` must have length 2, not 1",
            "`balls[1].spin[1]` must be a number, not null",
            "`balls[1].heavy` must be a boolean, not 1",
            "`balls[1].at` must be an object, not null",
            f"`balls` must have length {count}, not 0",
            "`by` must be an object, not 3",
            "`by` must be an object, not nothing",
            "`turns` must be an integer (a BigInt beyond 2 ** 53), not 1.5",
            "`turns` does not fit 64 bits: 9223372036854775808",
            "`moved` takes 3 arguments, not 4",
        ]


@rose.jit
def turned(x: Mat["n", "m"], k: Array["n", int], on: Array["n", bool]):
    """A matrix, integers, truth values: as they came, and sums."""
    return x.T, k + 1, on, x.sum(), (k.sum(), on[0])


def test_arrays(tmp_path):
    text = """
    const { turned } = await load();
    const x = [[1, 2, 3], [4, 5, 6]], big = 2n ** 62n;
    const nested = turned(x, [1, 2], [true, false]);
    const flat = turned(new Float64Array([1, 2, 3, 4, 5, 6]), new BigInt64Array([1n, big]), new Uint8Array([1, 0]));
    const mixed = turned([new Float32Array([1, 2, 3]), [4, 5, 6]], [1, big], [true, false]);
    const out = [[[0, 0], [0, 0], [0, 0]], [0n, 0n], [0, 0], 0, [0, 0]];
    const flatOut = [new Float64Array(6), new BigInt64Array(2), [0, 0], 0, [0, 0]];
    show([nested, flat, mixed,
      turned.into(out, x, [1, 2], [true, false]),
      turned.into(flatOut, x, [1, 2], [true, false]),
      caught(() => turned([[1, 2, 3], [4, 5]], [1, 2], [true, false])),
      caught(() => turned([[1, 2, 3], [4, 5, "x"]], [1, 2], [true, false])),
      caught(() => turned(new Float64Array(5), [1, 2], [true, false])),
      caught(() => turned(x, [1, 2.5], [true, false])),
      caught(() => turned(x, [1, 2], [true, "no"])),
      caught(() => turned.into([[[0, 0], [0], [0, 0]], [0n, 0n], [0, 0], 0, [0, 0]], x, [1, 2], [true, false])),
      caught(() => turned.into(null, x, [1, 2], [true, false])),
    ]);"""
    found = report(tmp_path, turned, (np.ones((2, 3)), np.ones(2, int), np.ones(2, bool)), text)
    if NODE:
        rows = [["Float64Array", 1, 4], ["Float64Array", 2, 5], ["Float64Array", 3, 6]]
        assert found[0] == [rows, ["BigInt64Array", "2n", "3n"], [True, False], 21, [3, True]]
        assert found[1] == [rows, ["BigInt64Array", "2n", f"{2**62 + 1}n"], [True, False], 21, [f"{2**62 + 1}n", True]]
        assert found[2] == found[1]
        assert found[3] == [[[1, 4], [2, 5], [3, 6]], ["2n", "3n"], [True, False], 21, [3, True]]
        assert found[4][0] == ["Float64Array", 1, 4, 2, 5, 3, 6]
        assert [words[2] for words in found[5:]] == [
            "`x[1]` must have length 3, not 2",
            "`x[1][2]` must be a number, not a string",
            "`x` must have length 6, not 5",
            "`k[1]` must be an integer (a BigInt beyond 2 ** 53), not 2.5",
            "`on[1]` must be a boolean, not a string",
            "`out[0][1]` must have length 2, not 1",
            "`out` must be an array, not null",
        ]


@rose.jit
def described(x: float, n: rose.Static[int]):
    """Numbers, and names that staging knows."""
    return np.zeros(n) + x, {"kind": "squares", "count": n, 3: None, "bound": math.inf}


def test_host_values_in_results(tmp_path):
    text = """const { described } = await load();
    show([described(1.5), described.length, described(1).at(-1).bound === Infinity]);"""
    found = report(tmp_path, described, (1.0, 3), text)
    if NODE:
        kept = {"kind": "squares", "count": 3, "3": None, "bound": None}
        assert found == [[["Float64Array", 1.5, 1.5, 1.5], kept], 1, True]


SCALE = np.array([[1.0, 2.0], [3.0, 4.0]])


@rose.jit
def scaled(x: Vec[2]) -> Vec[2]:
    return SCALE @ x


@rose.jit
def bound(x: float, *rest: float, factor: float = 2.0, **named: float) -> float:
    return factor * x + sum(rest) + named["new"]


def test_captured_arrays_come_along_as_they_are(tmp_path):
    module = exported(tmp_path / "before", scaled)
    SCALE[0, 0] = 5.0
    try:
        text = 'import before from "./before/scaled.mjs";'
        text += "show([(await before()).scaled([1, 1]), (await load()).scaled([1, 1])]);"
        found = report(tmp_path, scaled, (), text)
    finally:
        SCALE[0, 0] = 1.0
    assert module.exists()
    if NODE:
        assert found == [["Float64Array", 3, 7], ["Float64Array", 7, 7]]


def test_all_kinds_of_parameters(tmp_path):
    entries = {"bound": rose.jit(lambda x, y, factor=2.0, new=1.0: bound(x, y, factor=factor, new=new))}
    text = (
        "const { bound } = await load(); show([bound(1, 10), bound(1, 10, 3, 100), caught(() => bound(1, 10, null))]);"
    )
    found = report(tmp_path, entries, (1.0, 2.0), text)
    if NODE:
        assert found[:2] == [13, 113]
        assert found[2][2] == "`factor` must be a number, not null"


@rose.jit
def many(*xs: float, delete: float = 1.0) -> float:
    return delete * sum(xs)


def test_rest_parameters_and_reserved_names(tmp_path):
    """With a parameter behind it `*xs` is an array: nothing can follow a rest parameter."""
    entries = {"new": (many, 1.0, 2.0, 3.0), "sum": (rose.jit(lambda *xs: sum(xs)), 1.0, 2.0)}
    found = report(
        tmp_path, entries, (), "const m = await load(); show([m.new([1, 2, 3]), m.new([1, 2, 3], 2), m.sum(1, 2)]);"
    )
    (declared,) = tmp_path.rglob("*.d.mts")
    assert '  "new"(' in declared.read_text()  # without quotes it would be a constructor
    if NODE:
        assert found == [6, 12, 3]


def test_what_is_too_much_for_a_call_into_something_is_refused(tmp_path):
    text = (
        "const f = (await load()).moved, b = [{ at: { x: 1, y: 2 }, spin: [1, 2], heavy: true }], by = { x: 1, y: 2 };"
    )
    text += "show(caught(() => f.into(f(b, by, 1), b, by, 1, 2)));"
    found = report(tmp_path, moved, (balls(1), Point(1.0, 2.0), 2), text)
    if NODE:
        assert found[2] == "`moved.into` takes 4 arguments, not 5"


# --- failures


@rose.jit
def risky(x: Vec["n"], k: int, limit: float) -> float:
    if x[k] > limit:
        raise ValueError(f"{x[k]} is over {limit}")
    assert x[k] > 0, "not positive"
    return x[k] / (10 // k)


def test_failures_name_the_python_line(tmp_path):
    text = """const { risky } = await load(), x = [1, 2, -3];
    show([caught(() => risky(x, 7, 9)), caught(() => risky(x, -4, 9)), caught(() => risky(x, 1, 1.5)),
      caught(() => risky(x, 2, 9)), caught(() => risky(x, 0, 9)), risky(x, 1, 9)]);"""
    found = report(tmp_path, risky, (np.ones(3), 1, 2.0), text)
    if NODE:
        assert [words[:2] for words in found[:5]] == [
            ["RangeError", "RoseIndexError"],
            ["RangeError", "RoseIndexError"],
            ["Error", "ValueError"],
            ["Error", "RoseAssertionError"],
            ["RangeError", "RoseZeroDivisionError"],
        ]
        messages = [words[2].split("\n  ") for words in found[:5]]
        assert [message[0] for message in messages] == [
            "index 7 is out of range for length 3",
            "index -4 is out of range for length 3",
            "2.0 is over 1.5",
            "not positive",
            "`//` by zero",
        ]
        assert all(message[1].startswith("test_es_module.py:") for message in messages)
        assert messages[0][1].endswith("if x[k] > limit:")
        assert found[5] == 0.2


@rose.jit
def deep(n: int) -> float:
    return 0.0 if n == 0 else 1.0 + deep(n - 1)


def test_exhausted_resources_leave_the_module_usable(tmp_path):
    """An engine that has no more memory is played: the module would need 4 GiB."""
    text = """const { deep } = await load();
    const calls = [deep(100), caught(() => deep(100_000_000)), deep(100)];
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (module) {
      const { memory } = new Instance(module).exports, view = new DataView(memory.buffer);
      const f0 = () => {
        view.setInt32(8, -2, true);
        view.setBigInt64(16, 12345n, true);
        throw new WebAssembly.RuntimeError("unreachable");
      };
      return { exports: { memory, f0 } };
    };
    const exhausted = await load();
    show([...calls, caught(() => exhausted.deep(1))]);"""
    found = report(tmp_path, deep, (1,), text)
    if NODE:
        assert [found[0], found[2]] == [100, 100]
        assert found[1][0] == "RangeError"
        assert found[3] == ["RangeError", "RangeError", "the memory is exhausted: 12345 bytes were asked for"]


# --- functions of the page


@rose.opaque
def measured(p: Point, x: Vec["n"], k: int, on: bool) -> tuple[float, Vec["n"], int]:
    return p.x, x, k


@rose.jit
def asks(x: Vec["n"], k: int) -> tuple[float, Vec["n"], int]:
    y, v, n = measured(Point(x[0], 2.0), x, k, k > 3)
    print("asked", x, k)
    if k > 3:
        print(k)
    return 2 * y, v + 1, n


def test_opaque_functions_are_the_pages(tmp_path):
    text = """let seen = [], printed = [], again;
    const measured = (p, x, k, on) => {
      seen.push([p, x, k, on]);
      if (again) again();
      return [p.x + p.y, x.map((v) => 10 * v), k + 1];
    };
    const { asks } = await load({ imports: { measured, print: (...words) => printed.push(words) } });
    const once = asks([1, 2], 4);
    let inner; again = () => { again = undefined; inner = asks([5, 6], 1); };
    const twice = asks([1, 2], 4);
    const bad = await load({ imports: { measured: () => [1, [2], 3], print() {} } });
    const throwing = await load({ imports: { measured: () => { throw new EvalError("mine"); } } });
    const [first, second] = printed;
    show([once, seen[0], [first, second], inner, twice,
      caught(() => bad.asks([1, 2], 3)), caught(() => throwing.asks([1, 2], 3)),
      await load().catch((e) => [e.constructor.name, e.message])]);"""
    found = report(tmp_path, asks, (np.ones(2), 1), text)
    if NODE:
        once = [6, ["Float64Array", 11, 21], 5]
        assert found[0] == once
        assert found[1] == [{"x": 1, "y": 2}, ["Float64Array", 1, 2], 4, True]
        assert found[2] == [["asked", ["Float64Array", 1, 2], 4], [4]]
        assert found[3] == [14, ["Float64Array", 51, 61], 2]
        assert found[4] == once
        assert found[5] == ["RangeError", "RangeError", "`measured()[1]` must have length 2, not 1"]
        assert found[6] == ["EvalError", "EvalError", "mine"]
        assert found[7] == ["TypeError", "the function `measured` is needed: load({ imports: { measured } })"]


@rose.jit
def says(x: float, n: int) -> float:
    print(f"x = {x:.2f}|{x:8.3f}|{x:.1e}|{x}|{-x:<7.1f}|{n}|{n:>4}|{n:,}|{x > 1}", n)
    assert x < 5, f"{x:.3f} is too big for {n:>3}"
    return x


def test_texts_look_as_in_python(tmp_path, capsys):
    text = """const said = [], { says } = await load({ imports: { print: (...words) => said.push(words.join(" ")) } });
    for (const x of [1, 0.5, -0, 4.999, -Infinity]) says(x, 12345);
    show([said.slice(), caught(() => says(6, 7))]);"""
    found = report(tmp_path, says, (), text)
    for x in (1.0, 0.5, -0.0, 4.999, -math.inf):
        says(x, 12345)
    if NODE:
        assert found[0] == capsys.readouterr().out.splitlines()
        assert found[1][2].splitlines()[0] == "6.000 is too big for   7"


@rose.jit
def waves(x: float, y: float):
    return math.sin(x) * math.exp(y), x**y, math.erf(x), math.hypot(x, y), [math.tanh(t * x) for t in rose.range(3)]


def test_the_mathematics_of_the_page(tmp_path):
    small = exported(tmp_path / "js", waves, math="js").with_suffix(".wasm")
    large = exported(tmp_path / "kernels", waves).with_suffix(".wasm")
    assert small.stat().st_size < large.stat().st_size
    text = "const { waves } = await load(); show([waves(0.5, 2), waves(1, Infinity)[1], waves(1, NaN)[1]]);"
    found = report(tmp_path, waves, (), text, math="js")
    if NODE:
        wanted = waves(0.5, 2.0)
        assert np.allclose(found[0][:4], wanted[:4], rtol=1e-15)
        assert np.allclose(found[0][4][1:], wanted[4], rtol=1e-15)
        assert found[1:] == [1, 1]


# --- where it comes from


def test_sources(tmp_path):
    text = """import { readFile } from "node:fs/promises";
    const url = new URL("./it/scaled.wasm", import.meta.url), bytes = await readFile(url);
    const answer = (type) => new Response(bytes, { headers: { "Content-Type": type } });
    const sources = [undefined, url, bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
      await WebAssembly.compile(bytes), answer("application/wasm"), Promise.resolve(answer("text/plain"))];
    const all = await Promise.all(sources.map((source) => load({ source })));
    const missing = new Response("", { status: 404, statusText: "Not Found" });
    const lost = await load({ source: missing }).catch((e) => e.message);
    const inline = await load({ source: "data:application/wasm;base64," + bytes.toString("base64") });
    show([all.map(({ scaled }) => scaled([1, 1])), lost, inline.scaled([1, 1])]);"""
    found = report(tmp_path, scaled, (), text)
    if NODE:
        assert found[0] == [["Float64Array", 3, 7]] * 7
        assert found[1] == " cannot be loaded: 404 Not Found"
        assert found[2] == ["Float64Array", 3, 7]


def test_it_works_in_a_worker(tmp_path):
    text = """import { Worker } from "node:worker_threads";
    const code = `import load from "${new URL("./it/scaled.mjs", import.meta.url)}";
      import { parentPort } from "node:worker_threads";
      parentPort.postMessage((await load()).scaled([1, 1]));`;
    const worker = new Worker(new URL("data:text/javascript," + encodeURIComponent(code)));
    worker.on("message", (found) => show(found));"""
    found = report(tmp_path, scaled, (), text)
    if NODE:
        assert found == ["Float64Array", 3, 7]


def test_what_a_page_must_not_run(tmp_path):
    """No `eval`, no top-level `await`, nothing imported but node's files, there."""
    for program in PROGRAMS[::10]:
        call = program.calls[0]
        text = Path(exported(tmp_path / program.name, program.function, *call)).read_text()
        assert "eval(" not in text
        assert "new Function" not in text
        assert not [line for line in text.splitlines() if line.startswith(("import ", "await "))]
