"""Runs the laws over many random programs: `python -m tests.random_ir 3000`, from seed 0 or from argument 2 on.

Each program is verified, printed and read back, run on both machines with and without the optimiser, and so are its
derivatives (the second ones of every fourth program); the laws of derivatives are checked to order 2. Prints what
failed, with its seed, and counts.
"""

import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets, reachable
from rosejit.ir.types import has_real
from rosejit.ir.verify import verify_program
from rosejit.text import parse, show
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, pushforward
from rosejit.transforms.passes.apply_fastmath import apply_fastmath
from tests.backends import bits, flat, optimised_of, wasm
from tests.generate import FEATURES, random_arguments, random_function
from tests.laws import check_laws, direction

Sample = tuple[ir.Function, list[Any]]


def sample(seed: int) -> Sample:
    """A program and arguments."""
    rng = random.Random(seed)
    f = random_function(rng, rng.randint(5, 30), FEATURES | {"math"})
    if seed % 5 == 0:  # with sums whose order is free
        for g in reachable(f):
            g.body = apply_fastmath(g).body
    return f, random_arguments(rng, f)


def derived(f: ir.Function, args: Sequence[Any], seed: int) -> Iterator[Sample]:
    """The forward and the reverse derivative of `f`, along random directions."""
    rng = random.Random(seed)
    mask = differentiable(f)
    y = interp.run(f, args)
    dx = direction(rng, [a for a, on in zip(args, mask, strict=True) if on])
    ct = direction(rng, [v for v, t in zip(y, f.results, strict=True) if has_real(t)])
    yield pushforward(f, mask), [*args, *dx]
    yield cotangents(f, mask), [*args, *ct]


def check_text(f: ir.Function) -> None:
    """Printing and reading give the same program."""
    text = show(f)
    again = parse(text)
    verify_program(again)
    assert show(again) == text, "the text reads as another program"


compiled = lru_cache(16)(wasm)
"""`wasm`, once for a function that is checked at several points."""


def check_machines(f: ir.Function, args: Sequence[Any]) -> None:
    """The optimiser changes no bit, and Wasm gives the bits of the interpreter, on both tiers."""
    wanted, optimised = bits(interp.run(f, args)), optimised_of(f)
    verify_program(optimised)
    assert bits(interp.run(optimised, args)) == wanted, "the optimiser changed a bit"
    for on, tier in ((False, "best"), (True, "best"), (True, "fast")):
        given = bits(compiled(f, optimised=on, tier=tier)(args))
        assert given == wanted, f"Wasm ({tier}) gives {given}, the interpreter {wanted}"


def check(seed: int) -> None:
    """All laws for the program of `seed`."""
    f, args = sample(seed)
    verify_program(f)
    assert all(map(math.isfinite, flat(interp.run(f, args)))), "the results are not finite"
    check_text(f)
    check_machines(f, args)
    for derivative, given in derived(f, args, seed):
        check_text(derivative)
        check_machines(derivative, given)
        for second, again in derived(derivative, given, seed + 1) if seed % 4 == 0 else ():
            check_machines(second, again)
    check_laws(f, args, order=2, seed=seed)


def forms(f: ir.Function) -> set[str]:
    """The names of the forms that `f` and its callees use."""
    return {type(let.expr).__name__ for g in reachable(f) if g.body is not None for let in lets(g.body)}


def sweep(seeds: range) -> int:
    """Check the programs of `seeds`; the number of failures."""
    used: Counter[str] = Counter()
    branching = failures = 0
    started = time.perf_counter()
    for done, seed in enumerate(seeds, 1):
        found = forms(sample(seed)[0])
        used.update(found)
        branching += bool(found & {"If", "Case", "Loop", "While"})
        try:
            check(seed)
        except Exception as error:
            failures += 1
            print(
                f"seed {seed}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True
            )
        if done % 250 == 0:
            print(f"{done} programs, {failures} failures, {time.perf_counter() - started:.0f} s", flush=True)
    share = 100 * branching / len(seeds)
    print(f"{len(seeds)} programs with finite results, {share:.0f} % with loops or branches: {failures} failures")
    print(", ".join(f"{name} in {count}" for name, count in used.most_common()))
    return failures


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(1 if sweep(range(first, first + count)) else 0)
