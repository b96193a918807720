"""What the host knows in each iteration of a plain loop, and is read after it, is a number that only running tells where
a staged `if` leaves the loop: the loop is rolled, with the same numbers as in CPython."""

import textwrap

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed

READ = {  # in an iteration, and after the loop
    "index": ("", "k"),
    "index before": ("", "k + before"),
    "computed": ("n = 3 * k + 1", "n"),
    "float": ("t = 0.1 * k", "t"),
    "bool": ("even = k % 2 == 0", "(1.0 if even else 2.0)"),
    "power": ("n = k**2", "n"),
    "of a list": ("n = table[k]", "n"),
    "in a pair": ("pair = (k, x)", "pair[0] + pair[1]"),
    "as an index": ("", "table[k]"),
    "in a range": ("", "sum([x * j for j in range(2)]) + k"),
}
LEFT = {
    "break": "for k in range({n}):\n    {now}\n    x = x * 0.9\n    if x < limit:\n        break\nreturn x + {told}",
    "first": "for k in range({n}):\n    {now}\n    if x < limit:\n        break\n    x = x * 0.9\nreturn x + {told}",
    "else": "for k in range({n}):\n    {now}\n    x = x * 0.9\n    if x < limit:\n        break\nelse:\n    x = -x\n"
    "return x + {told}",
    "return": "for k in range({n}):\n    {now}\n    x = x * 0.9\n    if x < limit:\n        return x - {told}\n"
    "return x + {told}",
    "nested": "for j in range(2):\n    for k in range({n}):\n        {now}\n        x = x * 0.9\n        if x < limit:\n"
    "            break\n    x = x + {told}\nreturn x",
    "array": "u = np.zeros(3)\nfor k in range({n}):\n    {now}\n    u[k % 3] += x\n    x = x * 0.9\n    if u[1] > limit:\n"
    "        break\nreturn u[0] + {told}",
}


@pytest.mark.parametrize("n", [100, 700])
@pytest.mark.parametrize(("read", "left"), crossed(READ, LEFT, 3))
def test_a_number_of_the_host_after_a_loop_that_is_left(read, left, n, tmp_path):
    now, told = READ[read]
    body = LEFT[left].format(n=n, now=now or "pass", told=told)
    text = f"def f(x: float, limit: float):\n    before = 7\n{textwrap.indent(body, '    ')}\n"
    path = tmp_path / "left.py"
    path.write_text(text)
    scope = {"np": np, "table": [((3 * k) % 11) - 0.5 for k in range(700)]}
    exec(compile(text, str(path), "exec"), scope)
    plain, compiled = scope["f"], rose.jit(scope["f"], cache=False)
    for x, limit in ((1.0, 0.5), (1.0, 1e-3), (1.0, -1.0), (0.3, 0.5), (2.0, 1.7)):
        assert compiled(x, limit) == plain(x, limit)
        steps = (plain(x + 1e-7, limit) - plain(x - 1e-7, limit)) / 2e-7
        if abs(steps) < 100.0:  # no edge between
            assert rose.grad(compiled)(x, limit) == pytest.approx(steps, rel=1e-4, abs=1e-5)


def test_it_is_one_loop():
    def count(x: float) -> tuple[float, int]:
        for k in range(5000):
            x = x * 0.9
            if x < 0.01:
                break
        return x, k

    compiled = rose.jit(count)
    assert compiled(1.0) == count(1.0)
    assert compiled.lower(1.0).cost().ops < 40
