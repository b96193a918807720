"""Random Python functions, run by CPython and staged: `python -m tests.python_versions 1000`, seeds from argument 2 on.

They branch, loop, leave loops, update and share arrays, and call helpers and decorated functions; the odd ones also
match, bind in expressions, slice, recur and raise. Faults (an index, a divisor, an integer that does not fit 64 bits, a
name that is not set) are among them. What staging refuses is counted; what it accepts must give CPython's
bits or exception, in the interpreter and in Wasm; every third obeys the laws of derivatives. Prints what failed, and
counts.
"""

import linecache
import math
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from rosejit import interp
from rosejit.ir.verify import verify_program
from tests import construct_table, random_ir, random_source
from tests.backends import bits, flat, plainly, specialised
from tests.laws import check_laws

FAULTS = (IndexError, ZeroDivisionError, OverflowError, UnboundLocalError, AssertionError, ValueError)


class Checked(int):
    """An integer of CPython whose arithmetic raises, as when staged, where the result does not fit 64 bits."""


def _checked(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def method(*args: int) -> Any:
        found = plain(*args)
        if found is NotImplemented or isinstance(found, float):
            return found
        if isinstance(found, tuple):
            return tuple(map(Checked, found))
        if not -(2**63) <= found < 2**63:
            raise OverflowError
        return Checked(found)

    return method


for _name in "add sub mul floordiv mod divmod and or xor lshift rshift pow".split():
    setattr(Checked, f"__{_name}__", _checked(f"__{_name}__"))
    setattr(Checked, f"__r{_name}__", _checked(f"__r{_name}__"))
for _name in "neg abs pos invert".split():
    setattr(Checked, f"__{_name}__", _checked(f"__{_name}__"))


def program(seed: int) -> tuple[rose.Function, str]:
    """The function of `seed`, and its text."""
    rng = random.Random(seed)
    writer = construct_table.Constructs(rng) if seed % 2 else random_source.Writer(rng)
    text = writer.text()
    name = f"<random {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), scope)
    return scope["f"], text


def arguments(rng: random.Random) -> tuple[Any, ...]:
    x, y = rng.choice([(0.0, -0.0), (1.0, 1.0)]) if rng.random() < 0.1 else (rng.uniform(-2, 2), rng.uniform(-2, 2))
    return (
        x,
        y,
        rng.randint(-4, 7),
        rng.random() < 0.5,
        numbers(rng, random_source.SIZE),
        numbers(rng, 2, random_source.SIZE),
    )


def numbers(rng: random.Random, *shape: int) -> Any:
    return np.array([rng.uniform(-2, 2) for _ in range(math.prod(shape))]).reshape(shape)


def outcome(run: Callable[[], Any]) -> list[str]:
    """The bits of the result, or the Python class of the exception, with the message of the user's own. An int that a
    branch or a loop joins with a float is one there: `0` and `0.0` are the same in a message."""
    try:
        return bits(run())
    except FAULTS as error:
        kind = next(kind.__name__ for kind in FAULTS if isinstance(error, kind))
        return [kind + re.sub(r"(\d)\.0\b", r"\1", str(error)) if kind == "ValueError" else kind]


def check(seed: int) -> str:
    """ "equal", "refused" or "fault" (an exception, the same as CPython's); raises AssertionError for what is wrong."""
    f, _ = program(seed)
    rng = random.Random(seed)
    kinds: set[str] = set()
    function, values, values_of = None, [], None
    for _ in range(6):
        args = arguments(rng)
        x, y, n, *rest = args
        wanted = outcome(lambda args=(x, y, Checked(n), *rest): plainly(f, args))
        try:
            given = outcome(lambda args=args: f(*args))
        except (rose.StagingTypeError, rose.UnsupportedSyntax, rose.ShapeError):
            return "refused"
        if given != wanted and len(given) == 1 and f.cache_info().size == 0:
            return "refused"  # a fault that is known while staging, in code that is not reached
        assert given == wanted, f"at {args}: staged {given}, CPython {wanted}"
        if len(wanted) > 1:
            if values_of is None:
                function, values_of = specialised(f, args)
                verify_program(function)
            values = values_of(args)
            assert bits(interp.run(function, values)) == wanted, "the interpreter differs from CPython"
            kinds.add("equal")
        else:
            kinds.add("fault")
    if kinds == {"equal"} and function is not None and seed % 3 == 0:
        if all(math.isfinite(v) and abs(v) < 1e6 for v in flat(interp.run(function, values))):
            for derivative, given_ in random_ir.derived(function, values, seed):
                random_ir.check_machines(derivative, given_)
            check_laws(function, values, order=2, seed=seed, differences=False)
    return "equal" if kinds == {"equal"} else "fault"


def main(seeds: range) -> int:
    """Check the programs of `seeds`; the number of failures."""
    found: Counter[str] = Counter()
    started = time.perf_counter()
    for seed in seeds:
        try:
            found[check(seed)] += 1
        except Exception as error:
            found["failed"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
            print(f"seed {seed}: {words} ({where.name}, line {where.lineno})", flush=True)
    print(f"{len(seeds)} random Python programs, 6 inputs each, {time.perf_counter() - started:.0f} s: {dict(found)}")
    return found["failed"]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(1 if main(range(first, first + count)) else 0)
