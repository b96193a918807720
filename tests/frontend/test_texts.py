"""Texts of staged values: quoted in messages, refused elsewhere; never a text that says something else."""

import numpy as np
import pytest

from rosejit.errors import StagingTypeError
from rosejit.frontend import functions as rose
from rosejit.frontend.annotations import Vec
from tests.frontend.oracle import agrees, define, evaluate, fault, says

SCOPE = {"rose": rose, "Vec": Vec, "np": np}


@pytest.mark.parametrize(
    "text", ["f'{x}'", "f'{x!r}'", "f'{x!s}'", "repr(x)", "str(x)", "format(x)", "'{}'.format(x)", "'%s' % x"]
)
def test_messages_quote_numbers(text):
    f = define(f"def f(x: float):\n    if x > 0:\n        raise ValueError('it is ' + {text})\n    return x", **SCOPE)
    assert evaluate(f, -1.0) == -1.0
    with pytest.raises(ValueError, match=r"^it is 2\.5$"):
        evaluate(f, 2.5)


@pytest.mark.parametrize(
    "text",
    [
        "f'{x!r}'", "f'{x:.2f}'", "f'{(x, 1)}'", "f'{[x]!r}'", "f'{v}'", "f'{v!r}'", "str([x])", "repr(v)", "ascii(x)",
        "'%s' % x", "'{}'.format(v)", "str(v)",
    ],
)  # fmt: skip
def test_other_texts_are_refused(text):
    f = define(f"def f(x: float, v: Vec[2]):\n    return len({text}) * 1.0  # text", **SCOPE)
    error = fault(f, 1.0, np.ones(2))
    assert isinstance(error, StagingTypeError)
    says(error, "text needs the value", line=f"return len({text}) * 1.0  # text")


def test_texts_of_the_host():
    def f(x: float):
        d = {
            f"k{1}": x,
            f"{'a'!r:>5}|{2.5:.1f}|{[1, 'b']!a}|{None!s}": 2.0,
            str(np.zeros(2)): 3.0,
            f"{np.ones(1)}": 4.0,
        }
        return d["k1"] + d["  'a'|2.5|[1, 'b']|None"] + d["[0. 0.]"] + d["[1.]"]

    agrees(f, (1.5,))
