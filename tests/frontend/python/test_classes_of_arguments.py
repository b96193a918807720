"""Arguments that are numbers of NumPy's, or arrays without dimensions, are asked what they are: Python's own answer, or
a refusal, whatever class the argument of the call before had."""

import collections.abc
import functools
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


def by_match(x):
    match x:
        case bool():
            return 1
        case int():
            return 2
        case float():
            return 3
        case _:
            return 4


@functools.singledispatch
def by_class(x):
    return 0


@by_class.register
def _(x: int):
    return 1


@by_class.register
def _(x: float):
    return 2


def handled(x):
    try:
        return 1.0 / (x - x)
    except ZeroDivisionError:
        return 7.0


QUESTIONS = {
    "int": lambda x: isinstance(x, int),
    "float": lambda x: isinstance(x, float),
    "bool": lambda x: isinstance(x, bool),
    "pair": lambda x: isinstance(x, (int, float)),
    "union": lambda x: isinstance(x, int | float),
    "Number": lambda x: isinstance(x, numbers.Number),
    "Integral": lambda x: isinstance(x, numbers.Integral),
    "Iterable": lambda x: isinstance(x, collections.abc.Iterable),
    "floating": lambda x: isinstance(x, np.floating),
    "integer": lambda x: isinstance(x, np.integer),
    "generic": lambda x: isinstance(x, np.generic),
    "bool_": lambda x: isinstance(x, np.bool_),
    "ndarray": lambda x: isinstance(x, np.ndarray),
    "branch": lambda x: x / 4 if isinstance(x, int) else x * 1.0,
    "length of name": lambda x: len(type(x).__name__),
    "is": lambda x: type(x) is int,
    "equal": lambda x: type(x) == float,  # noqa: E721 - what is tried
    "module": lambda x: type(x).__module__ == "numpy",
    "class": lambda x: len(x.__class__.__name__),
    "getattr": lambda x: len(getattr(x, "__class__").__name__),  # noqa: B009 - what is tried
    "issubclass": lambda x: issubclass(type(x), int),
    "key": lambda x: {int: 1, float: 2, bool: 3}.get(type(x), 0),
    "map": lambda x: [*map(type, [x])] == [int],
    "partial": lambda x: functools.partial(isinstance, x)(int),
    "filter": lambda x: len([*filter(lambda v: isinstance(v, int), [x])]),
    "hasattr shape": lambda x: hasattr(x, "shape"),
    "hasattr bit_length": lambda x: hasattr(x, "bit_length"),
    "hasattr is_integer": lambda x: hasattr(x, "is_integer"),
    "attribute": lambda x: getattr(x, "ndim", 7),
    "isscalar": lambda x: np.isscalar(x),
    "ndim": lambda x: np.ndim(x),
    "is True": lambda x: x is True,
    "match": by_match,
    "singledispatch": by_class,
    "computed": lambda x: isinstance(x + 1, int),
    "name of computed": lambda x: len(type(x * 2).__name__),
    "sum": lambda x: x + x,
    "difference": lambda x: x - x,
    "negative": lambda x: -x,
    "round": lambda x: round(x),
    "digits": lambda x: round(x, 1),
    "handler": handled,
    "of float": lambda x: type(float(x.real)) is float,
}
ANSWERED = (
    "int",
    "union",
    "Number",
    "floating",
    "ndarray",
    "branch",
    "length of name",
    "key",
    "hasattr shape",
    "match",
)
"""Questions that no place may refuse."""
VALUES = {
    "int": 3, "float": 2.5, "bool": True, "complex": 1 + 2j, "int64": np.int64(3), "float64": np.float64(2.5),
    "bool_": np.bool_(True), "int32": np.int32(3), "float32": np.float32(2.5), "complex128": np.complex128(1 + 2j),
    "array of int": np.array(3), "array of float": np.array(2.5), "array of bool": np.array(True),
}  # fmt: skip


@dataclass
class Box:
    v: Any


class Place:
    """A way from the caller to the question: `python` and `staged` take what `given` makes of the value."""

    def __init__(self, path, given=lambda x: x):
        self.path, self.given = path, given

    def python(self, ask):
        return self.path(ask)

    def staged(self, ask):
        return rose.jit(self.path(ask))


class Inside(Place):
    """The question is asked in a decorated function, which a decorated function calls."""

    def staged(self, ask):
        return rose.jit(self.path(rose.jit(lambda v: ask(v))))


def called(ask):
    return lambda x: ask(x)


PLACES = {
    "parameter": Place(called),
    "list": Place(lambda ask: lambda xs: ask(xs[0]), lambda x: [x]),
    "dict": Place(lambda ask: lambda d: ask(d["v"]), lambda x: {"v": x}),
    "field": Place(lambda ask: lambda b: ask(b.v), Box),
    "star": Place(lambda ask: lambda *xs: ask(xs[0])),
    "decorated": Inside(called),
    "decorated twice": Inside(lambda ask: called(called(ask))),
    "made Python's": Inside(lambda ask: lambda x: ask(x.item() if hasattr(x, "item") else x)),
    "element": Inside(lambda ask: lambda a: ask(a[0]), lambda x: np.array([x, x])),
}
OTHERS = {"first": None, "after a float": 2.5, "after NumPy's": np.float64(1.0), "after an array": np.array(1)}


def outcome(f, *args):
    try:
        with np.errstate(all="ignore"):
            return f(*args), None
    except (TypeError, AttributeError, rose.RoseError) as error:
        return None, error


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of `round`, by old versions of NumPy
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("question", "value"), crossed(QUESTIONS, VALUES, 7))
def test_the_answer_is_of_its_class(place, question, value):
    ask, at, x = QUESTIONS[question], PLACES[place], VALUES[value]
    wanted, raised = outcome(at.python(ask), at.given(x))
    found, error = outcome(at.staged(ask), at.given(x))
    if error is not None:
        assert raised is not None or isinstance(error, rose.RoseError)
        assert raised is not None or question not in ANSWERED
    elif raised is None:
        assert found == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("before", OTHERS)
@pytest.mark.parametrize("way", ["jit", "derivative", "forward"])
@pytest.mark.parametrize("value", ["float", "float64", "float32", "array of float"])
def test_the_call_before_was_of_another_class(before, way, value):
    def f(x):
        return len(type(x).__name__) * x

    made = rose.jit(f)
    ways = {
        "jit": lambda x: made(x) / x,
        "derivative": rose.grad(made),
        "forward": lambda x: rose.jvp(made, (x,), (x,))[1] / x,
    }
    if OTHERS[before] is not None:
        ways[way](OTHERS[before] * 1.0)
    for x in (VALUES[value], 2.5, VALUES[value]):
        assert ways[way](x) == len(type(x).__name__)


def test_hints_make_python_numbers():
    @rose.jit
    def of(n: int, x: float) -> bool:
        return type(n) is int and type(x) is float

    assert of(np.int64(3), np.array(2.0))


def test_compiled_is_of_one_class(tmp_path):
    half = rose.jit(lambda x: x / 4 if isinstance(x, int) else x * 1.0)
    made = half.lower(np.int64(3)).compile()
    made.save(tmp_path / "half.rose")
    for one in (made, rose.load(tmp_path / "half.rose")):
        assert one(np.int64(3)) == 3.0
        with pytest.raises(rose.StagingTypeError):
            one(3)
    with pytest.raises(rose.StagingTypeError):
        half.lower(3).compile()(np.int64(3))
