"""A refusal names the argument that running tells, whatever else the arguments hold: None, structures of it, texts.

6 refusals x 9 lists of arguments.
"""

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

REFUSED = {
    "repeat": "return [1.0] * k", "range": "return [0.0 for _ in range(k)][0]", "digits": "return round(x, k)",
    "key": "return {1: 2.0}.setdefault(k, 3.0)", "shape": "return np.zeros(k)", "text": "return 'a' * k",
}  # fmt: skip
BESIDE = {
    "nothing": ("", ()), "None": (", w", (None,)), "a tuple": (", p", ((None, 2.0),)), "a list": (", p", ([None, 2.0],)),
    "a dict": (", p", ({"a": None, "b": 1.0},)), "nested": (", p", ([(None, 1.0), (None, 2.0)],)), "a default": (", w=None", ()),
    "texts": (", p", (["a", None],)), "only None": (", p", ([None, None],)),
}  # fmt: skip


@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.parametrize("beside", BESIDE)
def test_the_argument_is_named(beside, refused):
    more, values = BESIDE[beside]
    f = define(f"def f(x, k{more}):\n    {REFUSED[refused]}\n", np=np)
    try:
        found = rose.jit(f)(1.5, 3, *values)
    except rose.RoseError as error:
        assert "k: rose.Static[int]" in str(error) or "`k`" in str(error), error
    else:
        assert list(np.ravel(found)) == list(np.ravel(f(1.5, 3, *values)))
