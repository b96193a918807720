"""Whole programs: random ones and their derivatives, what engines say of the bytes, options of the artifact."""

import random
import subprocess

import pytest

from rosejit import interp
from rosejit.codegen.core.address_type import NARROW
from rosejit.codegen.program.compile import compile_program
from rosejit.ir.types import UNIT, Array, Tuple, Type
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, pushforward, vjp_programs
from tests.codegen.machine import Machine, agrees, same
from tests.generate import random_arguments, random_function, random_value


def value_of(rng: random.Random, t: Type):
    if t is UNIT:
        return None
    if isinstance(t, Array):
        return [value_of(rng, t.element) for _ in range(t.length or 0)]
    if isinstance(t, Tuple):
        return tuple(value_of(rng, item) for item in t.items)
    return random_value(rng, t)


def random_program(seed, size=25):
    rng = random.Random(seed)
    f = random_function(rng, size)
    return f, tuple(random_arguments(rng, f))


@pytest.mark.parametrize("part", range(10))
def test_random_programs(part):
    for seed in range(40 * part, 40 * part + 40):
        f, args = random_program(seed, 10 + part * 4)
        agrees(f, args, turns=2)


@pytest.mark.parametrize("derive", [pushforward, cotangents])
def test_derivatives_of_random_programs(derive):
    """They are what residuals, nominals, stacks and places come from."""
    for seed in range(1000, 1040):
        f, args = random_program(seed, 14)
        rng = random.Random(seed)
        g = derive(f, differentiable(f))
        verify_program(g)
        agrees(g, (*args, *[value_of(rng, p.type) for p in g.params[len(args) :]]), turns=2)


def test_second_derivatives_of_random_programs():
    for seed in range(2000, 2012):
        f, args = random_program(seed, 10)
        rng = random.Random(seed)
        g = cotangents(f, differentiable(f))
        h = cotangents(g, differentiable(g))
        agrees(h, (*args, *[value_of(rng, p.type) for p in h.params[len(args) :]]), turns=1)


def test_pullbacks_of_random_programs():
    """The host keeps the residuals between two calls, uses them twice, and gives them back."""
    for seed in range(3000, 3030):
        f, args = random_program(seed, 14)
        rng = random.Random(seed)
        p = vjp_programs(f, differentiable(f))
        machine = Machine({"forward": p.forward, "back": p.pullback})
        machine.open_residuals = False
        slot = machine.artifact.entries["forward"].results[-1]
        cts = [value_of(rng, v.type) for v in p.pullback.params[1:]]
        *expected, residual = interp.run(p.forward, args)
        gradient = interp.run(p.pullback, (residual, *cts))
        tops = []
        for _ in range(3):
            *results, handle = machine.call("forward", *args)
            assert same(results, expected)
            for _ in range(2):
                assert same(machine.call("back", handle, *cts), gradient)
            machine.release(slot, handle)
            tops.append(machine.top)
        fresh = all(s.kind not in ("dyn", "handle") for e in machine.artifact.entries.values() for s in e.params[1:])
        assert (
            tops[1] == tops[2]
            or not fresh
            or any(s.kind == "handle" for s in machine.artifact.entries["forward"].params)
        )


def test_the_same_program_gives_the_same_bytes():
    for seed in range(20):
        assert (
            compile_program({"f": random_program(seed)[0]})[0].wasm
            == compile_program({"f": random_program(seed)[0]})[0].wasm
        )


def test_node_accepts_what_wasmtime_accepts(tmp_path):
    paths = []
    for seed in range(20):
        f, _ = random_program(seed, 40)
        paths.append(tmp_path / f"{seed}.wasm")
        paths[-1].write_bytes(compile_program({"f": f})[0].wasm)
    script = "for (const p of process.argv.slice(1)) if (!WebAssembly.validate(require('fs').readFileSync(p))) throw p"
    subprocess.run(["node", "-e", script, *map(str, paths)], check=True)


def test_node_runs_it(tmp_path):
    text = "def f(x: Real): Real = let s = loop i < 10 carry (s: Real = 0.0) { s + exp(x) } in s"
    machine = Machine(parse(text), NARROW)  # not every node has addresses of 64 bits
    path = tmp_path / "f.wasm"
    path.write_bytes(machine.artifact.wasm)
    entry = machine.artifact.entries["main"]
    script = f"""
      const {{exports}} = new WebAssembly.Instance(new WebAssembly.Module(require('fs').readFileSync(process.argv[1])));
      const reals = new Float64Array(exports.memory.buffer);
      reals[{entry.params[0].offset // 8}] = 0.5;
      exports.main();
      console.log(reals[{entry.results[0].offset // 8}]);
    """
    said = subprocess.run(["node", "-e", script, str(path)], check=True, capture_output=True, text=True).stdout
    assert float(said) == machine(0.5)[0]


@pytest.mark.parametrize(
    ("body", "lasting"),
    [
        ("x * x", False),
        ("loop i < 3 carry (c: Real = x) { c * x }", False),
        ("loop i < 1000000 carry (c: Real = x) { c * x }", True),
        ("loop i < n carry (c: Real = x) { c * x }", True),
    ],
)
def test_which_calls_may_last(body, lasting):
    f = parse(f"def f(x: Real, n: Int): Real = {body}")
    assert compile_program({"f": f})[0].lasting == lasting


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: Real): Real = let k: Int, y: Real = while carry (v: Real = x) { v < 3.0 } { v + 1.0 } in y",
        "def f(x: Real): Real = let y: Real = if x < 0.0 { x } { let z: Real = x - 1.0 in f(z) } in y",
    ],
)
def test_while_and_recursion_may_last(text):
    assert compile_program({"f": parse(text)})[0].lasting


def test_scalar_programs_carry_no_allocator():
    assert len(compile_program({"f": parse("def f(x: Real, y: Real): Real = x * y + x")})[0].wasm) < 140
