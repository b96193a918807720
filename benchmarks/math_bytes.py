"""The bytes that a mathematical function adds to a module: one at a time, and two at a time in a loop over arrays."""

import sys

from benchmarks.math_points import TRIALS
from benchmarks.measure import Table, options
from rosejit.codegen.program.compile import compile_program
from rosejit.ops import PRIMITIVES
from rosejit.text import parse
from rosejit.transforms.pipeline import optimise

MOST_FOR_EXP = 1500
N = 1000


def module_bytes(text: str) -> int:
    """The size of the module of an IR function."""
    artifact, _ = compile_program({"main": optimise(parse(text))[0]})
    return len(artifact.wasm)


def scalar(body: str) -> int:
    """Of a function of two numbers."""
    return module_bytes(f"def f(x: Real, y: Real): Real = {body}")


def array(body: str) -> int:
    """Of a function of two arrays."""
    return module_bytes(f"def f(x: [{N}]Real, y: [{N}]Real): [{N}]Real = loop i < {N} {{ {body} }}")


def main() -> None:
    """The table."""
    given = options(__doc__ or "", functions=",".join(TRIALS))
    alone, looped = scalar("x + y"), array("x[i] + y[i]")
    table = Table(
        "math_bytes",
        f"bytes that a function adds to a module (without it {alone}, with a loop {looped})",
        {"function": "", "scalar": "d", "module": "d", "array": "d", "module of array": "d"},
    )
    for name in given.functions.split(","):
        two = len(PRIMITIVES[name].params) == 2
        one, many = scalar(f"{name}({'x, y' if two else 'x'})"), array(f"{name}({'x[i], y[i]' if two else 'x[i]'})")
        table.add(function=name, scalar=one - alone, module=one, array=many - looped, **{"module of array": many})
    table.finish(given.json)
    sys.exit(scalar("exp(x)") >= MOST_FOR_EXP)


if __name__ == "__main__":
    main()
