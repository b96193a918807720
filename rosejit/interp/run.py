"""Runs a function on Python values."""

from collections.abc import Sequence
from typing import Any

from rosejit.interp.block_forms import code_of
from rosejit.interp.machine import Run, execute
from rosejit.interp.values import Counters, Handle, Place, from_python, to_python
from rosejit.ir.syntax import Function
from rosejit.ir.types import Ref, is_boxed


def run(
    f: Function, args: Sequence[Any], counters: Counters | None = None, *, depth_limit: int = 100_000
) -> tuple[Any, ...]:
    """The results of `f`, and behind them what each `&T` parameter holds in the end.

    Arguments are numbers, nested sequences or NumPy arrays (arrays), tuples (tuples), (side, value) (sums) and what
    another run gave (residuals); a `&T` parameter is given the value it starts from. Arrays come back as nested
    lists. `counters` is added to. Calls nested deeper than `depth_limit` fail.
    """
    compiled = code_of(f)
    frame = compiled.frame.copy()
    frame[0] = Run(Counters() if counters is None else counters, depth_limit)
    caller = Handle([], "the caller")
    places: list[tuple[Ref, Place]] = []
    for slot, param, value in zip(compiled.params, f.params, args, strict=True):
        data = from_python(param.type, value)
        if isinstance(param.type, Ref):
            data = Place([data], 0, param.hint, caller)
            places.append((param.type, data))
        elif is_boxed(param.type):
            data = Handle(data, param.hint, None if param in f.own else caller)
        frame[slot] = data
    execute(compiled.code, frame)
    results = [to_python(t, r) for t, r in zip(f.results, compiled.code.take(frame), strict=True)]
    return (*results, *[to_python(t, place.container[place.key]) for t, place in places])
