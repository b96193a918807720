"""An array that a loop changes in place is left as the result from the loop and behind it, as it is from CPython: every
loop, each way to change it, all forms of results. A name that only iterations bind is the array that they bind it to."""

import copy
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define, run, stage
from tests.tables import crossed

_LOOPS = {
    "range": "for k in range(n):\n{body}",
    "rolled": "for k in range(70):\n{body}",
    "unrolled": "for k in range(7):\n{body}",
    "while": "k = 0\nwhile k < n:\n{body}\n    k += 1",
    "endless": "k = 0\nwhile True:\n{body}\n    k += 1",
    "inner": "for q in range(n):\n    for k in range(2):\n{inner}",
    "elements": "for k in c:\n{body}",
}
_CHANGES = {
    "element": "u[0] += 1.0",
    "own": "u *= 1.5",
    "slice": "u[1:] = u[:-1] * 2",
    "helper": "relax(u)",
    "both": "u[0] += 1.0\nw[1] -= u[0]",
    "rebound": "u = u * 1.5",
    "exchanged": "u, w = w, u\nu[0] += 1.0",
    "old": "old = u.copy()\nu[0] += 1.0\nw = u - old",
}
_RESULTS = {
    "itself": "u",
    "beside": "(u, k)",
    "in a dict": "{'x': u, 'w': w}",
    "in an object": "Found(u, w)",
    "part": "u[1:]",
    "other": "w",
    "computed": "u + w",
    "twice": "(u, u)",
}


class Found:
    def __init__(self, x, w):
        self.x, self.w = x, w


def relax(a):
    a[2] += a[0] * 0.5 + 1.0


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))


def _source(loop: str, change: str, result: str, behind: str) -> str:
    body = f"{change}\nif u.sum() > bound:\n    return {result}"
    turns = _LOOPS[loop].format(body=_indented(body, 4), inner=_indented(body, 8))
    lines = f"u, w, k = a.copy(), a * 2, 0\n{turns}" + ("" if loop == "endless" else f"\n{behind}\nreturn {result}")
    return f"def f(a, c, n: int, bound: float):\n{_indented(lines, 4)}\n"


def _shown(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    return _shown(vars(value)) if hasattr(value, "__dict__") else value


_CALLS = ((0, 5.0), (3, 5.0), (6, 1e9))
_A = np.array([0.3, -0.7, 1.9])
_WAYS = [(change, result) for change in _CHANGES for result in _RESULTS]


def _may_be_refused(change: str, result: str) -> bool:
    """Two names that iterations exchange are changed, or a name is rebound that is also the result's."""
    return change in ("exchanged", "rebound") or result == "other"


@pytest.mark.parametrize(("loop", "way"), crossed(_LOOPS, _WAYS, 17))
def test_results(loop: str, way: tuple[str, str]) -> None:
    change, result = way
    for behind in ("pass", "u[1] += 1.0"):
        plain = define(_source(loop, _CHANGES[change], _RESULTS[result], behind), Found=Found, relax=relax)
        calls = [(_A, _A, n, min(bound, 2.0) if loop == "endless" else bound) for n, bound in _CALLS]
        try:
            staged = stage(plain, *calls[0])
        except (rose.StagingTypeError, rose.UnsupportedSyntax):
            assert _may_be_refused(change, result)
            continue
        for args in calls:
            assert _shown(run(staged, plain, *args)) == _shown(plain(*copy.deepcopy(args)))
