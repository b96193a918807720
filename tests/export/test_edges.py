"""Exported modules where pages are unkind: names, calls out of calls, arrays of the wrong kind, texts of errors."""

import json
import re
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Vec
from rosejit.export import es_module
from tests.export.machine import NODE, javascript
from tests.export.test_es_module import report


class Point(NamedTuple):
    x: float
    y: float


@rose.jit
def weighed(p: Point) -> Point:
    return Point(p.x * 10, p.x + p.y)


def test_what_is_read_or_filled_may_call(tmp_path):
    """A computed property of a page may call the function whose argument it is; so may an observed result."""
    text = """const f = (await load()).weighed;
    const computed = { x: 1, get y() { return f({ x: 7, y: 7 }).y; } };
    const seen = { set x(v) { f({ x: 8, y: 8 }); this.kept = v; }, y: 0 };
    const thrown = caught(() => f({ x: 1, get y() { throw new EvalError("mine"); } }));
    show([f(computed), f.into(seen, { x: 1, y: 2 }).kept, seen.y, thrown[2], f({ x: 1, y: 2 })]);"""
    found = report(tmp_path, weighed, (), text)
    if NODE:
        assert found == [{"x": 10, "y": 15}, 10, 3, "mine", {"x": 10, "y": 3}]


@rose.jit
def named(new: float, new_: float, Array: float, NaN: float = 1.0, Infinity: float = float("inf")):
    return [(new - new_, Array > NaN)] * 5, np.array([Array > NaN] * 5), Infinity


def test_names_of_javascript(tmp_path):
    text = """const m = await load(), out = m.Array(3, 1, 5);
    m.Array.into(out, 3, 1, 0);
    show([m.named(3, 1, 5), out, m.Boolean(3, 1, 5)[2] === Infinity, Object.keys(m)]);"""
    entries = {"named": (named, 1.0, 2.0, 3.0), "Array": (named, 1.0, 2.0, 3.0), "Boolean": (named, 1.0, 2.0, 3.0)}
    found = report(tmp_path, entries, (), text)
    if NODE:
        assert found[0][:2] == [[[2, True]] * 5, [True] * 5]
        assert found[1][:2] == [[[2, False]] * 5, [False] * 5]
        assert found[2:] == [True, ["named", "Array", "Boolean"]]


def test_a_key_called_proto_is_a_key(tmp_path):
    entries = {"f": (lambda d: {"__proto__": d["__proto__"] + 1, "x": 1.0}, {"__proto__": 1.0})}
    found = report(
        tmp_path, entries, (), """const r = (await load()).f({ ["__proto__"]: 1 }); show(Object.entries(r));"""
    )
    if NODE:
        assert found == [["__proto__", 2], ["x", 1]]


def test_then_would_be_called_by_await(tmp_path):
    @rose.jit
    def then(x: float) -> float:
        return x

    for given in (then, {"then": weighed}):
        with pytest.raises(rose.StagingTypeError, match="no exported function can be called `then`"):
            rose.export(given, path=tmp_path / "it")
    assert not (tmp_path / "it").exists()


@rose.jit
def kinds(x: Array[2, 2], k: Array["n", int], on: Array["n", bool]):
    return x + 0.5, k, on


def test_an_array_that_would_round_is_not_filled(tmp_path):
    text = """const f = (await load()).kinds, given = [[[1, 2], [3, 4]], [5, 6], [true, false]];
    const into = (...out) => caught(() => f.into(out, ...given)), rows = [[0, 0], [0, 0]], bigs = [0n, 0n];
    const fine = [new Float32Array(4), new BigInt64Array(2), new Uint8Array(2)];
    show([into(...fine), into(new Int32Array(4), bigs, [0, 0]), into(rows, new Int32Array(2), [0, 0]),
      into(rows, bigs, new Float64Array(2)), into([rows[0], new Uint8Array(2)], bigs, [0, 0]),
      into(new DataView(new ArrayBuffer(4)), bigs, [0, 0]), caught(() => f(new DataView(new ArrayBuffer(4)), 0, 0)),
      caught(() => f({}, 0, 0)), caught(() => f(Promise.resolve(), 0, 0))]);"""
    found = report(tmp_path, kinds, (np.ones((2, 2)), np.ones(2, int), np.ones(2, bool)), text)
    if NODE:
        filled = [["Float32Array", 1.5, 2.5, 3.5, 4.5], ["BigInt64Array", "5n", "6n"], ["Uint8Array", 1, 0]]
        assert found[0] == filled
        assert [words[2] for words in found[1:]] == [
            "`out[0]` must be an array or a Float64Array, not an Int32Array",
            "`out[1]` must be an array or a BigInt64Array, not an Int32Array",
            "`out[2]` must be an array or a Uint8Array, not a Float64Array",
            "`out[0][1]` must be an array or a Float64Array, not a Uint8Array",
            "`out[0]` must be an array or a Float64Array, not a DataView",
            "`x` must be an array, not a DataView",
            "`x` must be an array, not an object",
            "`x` must be an array, not a Promise",
        ]


# --- texts


@rose.jit
def checked(x: Vec["n"], k: int, a: float, b: float):
    assert x[0] < 1.0, f"x is {x}, k {k:05d}"
    if k > 3:
        raise LookupError(f"{a} {b:.1f} {k} {a + b} {a - b} {k > 4}")
    assert k < 3, f"{k:03d}"
    return k


def test_a_message_with_more_than_a_module_can_leave(tmp_path):
    text = "const f = (await load()).checked, c = (...all) => caught(() => f(...all));"
    text += "show([c([2, 1], 7, 1, 2), c([0, 1], 7, 1, 2), c([0, 0], 3, 1, 2), f([0, 0], 2, 1, 2)]);"
    found = report(tmp_path, checked, (np.ones(2), 1, 1.0, 2.0), text)
    (declared,) = tmp_path.rglob("*.d.mts")
    assert "imports" not in declared.read_text()
    if NODE:
        assert [(words[1], words[2].split("\n")[0]) for words in found[:3]] == [
            ("RoseAssertionError", "x is [2.0, 1.0], k 00007"),
            ("LookupError", "1.0 2.0 7 3.0 -1.0 True"),
            ("RoseAssertionError", "003"),
        ]
        assert all(re.search(r"\n  test_edges.py:\d+: ", words[2]) for words in found[:3])
        assert found[3] == 2


REALS = [0.0, -0.0, 1.0, -2.75, 0.1, 1e-4, 1.5e-5, 123456.789, 1e15, 1e16, -1.25e17, 1e22, 1e100, 5e-324]
SPECS = ["", ".3f", "10.2f", "<10.2f", "^11.1f", ">9", "*^12.3e", "+.2f", " .1f", "08.2f", ",.2f", "_.1f"]
SPECS += [".0f", "e", ".2e", "g", ".3g", ".10g", "012.4g", "=+10.1f", "f", ".1%", "14"]
WHOLE = ["", "d", "5", "05d", "+d", ",", "_d", "<6d", "x", "8x", ".2f", "e", "%", "=+6d"]


def test_numbers_look_as_in_python(tmp_path):
    jobs = [(value, spec, False) for value in [*REALS, np.inf, -np.inf] for spec in SPECS]
    jobs += [(value, spec, True) for value in (0, 7, -12, 1234567) for spec in WHOLE]
    jobs += [(value, spec, False) for value in (True, False) for spec in ("", "d", "5", ".1f")]
    given = json.dumps([[repr(value).replace("inf", "Infinity"), spec, whole] for value, spec, whole in jobs])
    glue = "\n".join(es_module._glue("$shown").values())
    text = f"{glue}\nconst of = {{ True: true, False: false }};"
    text += f"console.log(JSON.stringify({given}.map(([x, spec, whole]) => $shown(of[x] ?? Number(x), spec, whole))));"
    found = javascript(tmp_path, text)
    if NODE:
        wanted = [format(value, spec) for value, spec, _ in jobs]
        assert [(job, text) for job, text, right in zip(jobs, found, wanted, strict=True) if text != right] == []


@rose.jit
def shifted(points: list[Point], ways: list[tuple[float, Vec[2]]]) -> list[tuple[Point, Vec[2]]]:
    return [(Point(p.x + k, p.y), v + 1.0) for p, (k, v) in zip(points, ways, strict=True)]


def test_into_allocates_nothing(tmp_path):
    """No garbage is collected, where one call in ten that left a number would make some. (Integers cross as BigInt.)"""
    text = """import { PerformanceObserver } from "node:perf_hooks";
    const f = (await load()).shifted, points = Array.from({ length: 5 }, (_, k) => ({ x: k, y: 2 }));
    const ways = points.map((_, k) => [k, new Float64Array(2)]), out = f(points, ways), n = 200_000;
    const wait = () => new Promise((on) => setTimeout(on, 20));
    let collected = 0;
    new PerformanceObserver((all) => { collected += all.getEntries().length; }).observe({ entryTypes: ["gc"] });
    const rounds = [];
    for (let round = 0; round < 4; round++) {
      collected = 0;
      for (let k = 0; k < n; k++) f.into(out, points, ways);
      await wait();
      rounds.push(collected);
    }
    const into = Math.min(...rounds);  // node compiles beside the others
    collected = 0;
    for (let k = 0; k < n; k++) f(points, ways);
    await wait();
    show([into, collected > 20, out[4]]);"""
    found = report(tmp_path, shifted, ([Point(1.0, 2.0)] * 5, [(1.0, np.ones(2))] * 5), text)
    if NODE:
        assert found[0] <= 1
        assert found[1:] == [True, [{"x": 8, "y": 2}, ["Float64Array", 1, 1]]]
