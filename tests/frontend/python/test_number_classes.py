"""What `isinstance`, `type`, `is`, `round` and `match` say of numbers: CPython's answer, or a refusal, never another.

Numbers from 10 sources x 16 questions; and what is refused names the way out.
"""

import functools
import numbers

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

SOURCES = {
    "a float": "x", "an int": "i", "a bool": "q", "an element": "a[0]", "an int64": "k[0]", "a bool_": "p[0]",
    "computed of an element": "a[0] * 2.0", "a comparison": "a[0] > 0.0", "of math": "math.sin(a[0])",
    "of a function of NumPy": "np.sin(x)", "converted": "float(a[0])", "converted int": "int(k[0])",
    "converted bool": "bool(p[0])", "listed": "k.tolist()[1]", "an item": "k[0].item()", "known": "np.arange(3)[1]",
    "a length": "len(a)", "a reduction": "k.sum()",
}  # fmt: skip
QUESTIONS = (
    "isinstance(v, float)", "isinstance(v, int)", "isinstance(v, bool)", "isinstance(v, np.floating)",
    "isinstance(v, np.integer)", "isinstance(v, np.generic)", "isinstance(v, (int, float))",
    "isinstance(v, (int, np.integer))", "isinstance(v, numbers.Integral)", "isinstance(v, numbers.Number)",
    "isinstance(v, np.bool_)", "type(v) is float", "type(v) is int", "type(v) == np.float64", "v is True",
    "v is not False", "round(v)", "kind(v)", "dispatched(v)",
)  # fmt: skip
ARGS = 1.5, 3, True, np.array([1.5, -2.0]), np.array([1, 2]), np.array([True, False])
PRELUDE = """
def kind(v):
    match v:
        case True:
            return 1
        case int():
            return 2
        case np.floating():
            return 3
        case float():
            return 4
        case _:
            return 5
"""


@functools.singledispatch
def dispatched(v):
    return 1


dispatched.register(int, lambda v: 2)
dispatched.register(float, lambda v: 3)


def _function(source, question):
    scope = {"np": np, "numbers": numbers, "math": __import__("math"), "dispatched": dispatched}
    text = f"{PRELUDE}\ndef f(x, i, q, a, k, p):\n    v = {SOURCES[source]}\n    return {question}\n"
    return define(text, **scope)


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions(question):
    right = 0
    for source in SOURCES:
        f = _function(source, question)
        try:
            wanted = f(*ARGS)
        except TypeError:  # `round` of NumPy's truth values
            with pytest.raises(TypeError):
                rose.jit(f)(*ARGS)
            continue
        try:
            found = rose.jit(f)(*ARGS)
        except rose.StagingTypeError as error:
            assert "may be NumPy's" in str(error), error
            continue
        assert found == wanted, (source, question, found, wanted)
        right += 1
    assert right >= len(SOURCES) // 2


def test_a_refusal_names_the_way_out():
    with pytest.raises(rose.StagingTypeError, match=r"neither True nor False itself(.|\n)*help:.*bool\(p\) is True"):
        rose.jit(lambda a: (a[0] > 0.0) is True)(ARGS[3])
    with pytest.raises(rose.StagingTypeError, match=r"may be NumPy's(.|\n)*help: convert before"):
        rose.jit(lambda a: isinstance(a[0] * 2.0, np.floating))(ARGS[3])
