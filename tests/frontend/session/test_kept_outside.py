"""What a decorated, or differentiated, function leaves in what belongs to the function around it is as in CPython, or
refused with its line: its numbers are of another program.

13 ways to keep something x 6 ways to call.
"""

import copy

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

HOLDERS = "    log, found, held, row, o, nested = [1.0], {}, np.zeros(2), [0.0], Thing(), {'a': [0.0]}\n"
WAYS = {
    "append": "log.append(t)", "extend": "log.extend([t, 1.0])", "store": "row[0] = t", "key": "found['a'] = t",
    "setdefault": "found.setdefault('a', t)", "attribute": "o.v = t", "inside": "nested['a'].append(t)",
    "tuple": "log.append((t, 1.0)[0])", "array": "log.append(np.array([t])[0])", "element": "held[0] = t",
    "host": "log.append(2.0)", "outer": "log.append(x)", "count": "row[0] += 1.0",
}  # fmt: skip
CALLS = {
    "decorated": "r = rose.jit(g)(x)", "grad": "r = rose.grad(g)(x)", "value": "r = rose.value_and_grad(g)(x)[0]",
    "jvp": "r = rose.jvp(g, (x,), (1.0,))[0]", "checkpoint": "r = rose.checkpoint(g)(x)",
    "in another": "r = rose.jit(lambda u: rose.jit(g)(u) + 1.0)(x)",
}  # fmt: skip
READ = "sum(log) + sum(found.values()) + held.sum() + sum(row) + o.v + sum(nested['a'])"


class Thing:
    def __init__(self):
        self.v = 0.0


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", WAYS)
def test_kept(way, call):
    text = (
        f"def f(x: float) -> float:\n{HOLDERS}    def g(t: float) -> float:\n        {WAYS[way]}\n        return t * t\n"
        f"    {CALLS[call]}\n    return r + {READ}\n"
    )
    f = define(text, np=np, rose=rose, Thing=Thing, copy=copy)
    try:
        found = rose.jit(f)(3.0)
    except rose.RoseError as error:
        assert "help:" in str(error), error
        return
    stand_in = {"rose.jit": "", "rose.checkpoint": "", "rose.grad(g)(x)": "2.0 * g(x) ** 0.5"}
    stand_in |= {"rose.value_and_grad(g)(x)[0]": "g(x)", "rose.jvp(g, (x,), (1.0,))[0]": "g(x)"}
    for old, new in stand_in.items():
        text = text.replace(old, new)
    assert found == define(text, np=np, rose=rose, Thing=Thing, copy=copy)(3.0)
