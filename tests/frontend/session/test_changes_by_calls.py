"""Lists, dicts and sets of the caller changed by functions of C: refused, in and outside of staged branches.

15 calls x 3 places: 45 cells.
"""

import operator

import pytest

import rosejit as rose
from rosejit.errors import RoseError
from tests.frontend.oracle import define

CALLS = [
    "list.append(v, 2.0)", "list.insert(v, 0, 2.0)", "list.extend(v, [2.0])", "list.pop(v)", "list.clear(v)",
    "list.reverse(v)", "list.__setitem__(v, 0, 2.0)", "list.__delitem__(v, 0)", "list.__iadd__(v, [2.0])",
    "operator.setitem(v, 0, 2.0)", "operator.delitem(v, 0)", "operator.iadd(v, [2.0])", "operator.iconcat(v, [2.0])",
    "operator.methodcaller('append', 2.0)(v)", "v.__setitem__(0, 2.0)",
]  # fmt: skip
PLACES = ("    {}\n", "    if x > 0.0:\n        {}\n", "    for i in rose.range(2):\n        {}\n")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("call", CALLS)
def test_an_argument_is_not_changed(call, place):
    text = "def f(v: list[float], x: float) -> float:\n" + place.format(call) + "    return v[0] + x"
    f = rose.jit(define(text, operator=operator, rose=rose))
    given = [1.0, 3.0]
    with pytest.raises(RoseError, match="cannot be changed|is changed"):
        f(given, 1.0)
    assert given == [1.0, 3.0]
