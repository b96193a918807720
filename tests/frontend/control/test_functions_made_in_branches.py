"""Functions that the sides of a staged `if`, or iterations of a staged loop, make and do not hold anything staged: one
is called afterwards, as in Python."""

import textwrap

import pytest

import rosejit as rose
from tests.tables import crossed

MADE = {  # for one side, and for the other
    "lambda": ("g = lambda v: 2.0 * v", "g = lambda v: v * v"),
    "lambda without operations": ("g = lambda v: v", "g = lambda v: 1.0"),
    "def": ("def g(v): return 2.0 * v", "def g(v):\n    return v if v > 0.7 else v * v"),
    "default": ("g = lambda v, k=2.0: k * v", "g = lambda v, *, k=3.0: k * v * v"),
    "around": ("g = lambda v: gain * v", "g = lambda v: gain * v * v"),
    "factory": ("g = scaled(2.0)", "g = scaled(3.0)"),
    "the same lambda": ("g = scaled(gain)", "g = scaled(gain)"),
    "of a module": ("g = math.sin", "g = lambda v: v * v"),
}
PLACES = {
    "if": "if x > 0.3:\n{one}\nelse:\n{other}\nreturn g(x)",
    "after": "g = math.cos\nif x > 0.3:\n{one}\nelif x < -0.3:\n{other}\nreturn g(x) + g(1.0)",
    "loop": "g = math.cos\nfor i in range(m):\n    if x > 0.3:\n{in_one}\n    else:\n{in_other}\n    x = x - 0.4\nreturn g(x)",
    "loop that is left": "g = math.cos\nfor i in range(m):\n    if x > 0.3:\n{in_one}\n    x = x - 0.4\n    if x < 0.0:\n"
    "        break\nreturn g(x)",
    "while": "g = math.cos\nwhile x > 0.0:\n    x = x - 0.4\n    if x > 0.3:\n{in_one}\nreturn g(x)",
    "called in the loop": "g = math.cos\ns = 0.0\nfor i in range(m):\n    s = s + g(x)\n    if x > 0.3:\n{in_one}\n    x -= 0.4\n"
    "return s",
}


@pytest.mark.parametrize(("kind", "place"), crossed(MADE, PLACES, 2))
def test_a_function_that_a_side_makes(kind, place, tmp_path):
    one, other = MADE[kind]
    deep = {"in_one": textwrap.indent(one, " " * 8), "in_other": textwrap.indent(other, " " * 8)}
    body = PLACES[place].format(one=textwrap.indent(one, "    "), other=textwrap.indent(other, "    "), **deep)
    text = "import math\n\ndef scaled(k):\n    return lambda v: k * v\n\ndef f(x: float, m: int):\n    gain = 1.5\n"
    text += textwrap.indent(body, "    ") + "\n"
    path = tmp_path / "made.py"
    path.write_text(text)
    scope = {}
    exec(compile(text, str(path), "exec"), scope)
    plain = scope["f"]
    compiled = rose.jit(plain)
    for x, m in ((0.9, 1), (0.9, 3), (-0.6, 2), (0.1, 2), (0.9, 0)):
        if m == 0 and "g = math.cos" not in text:
            continue
        assert compiled(x, m) == pytest.approx(plain(x, m), rel=1e-15)
        steps = (plain(x + 1e-6, m) - plain(x - 1e-6, m)) / 2e-6
        assert rose.grad(compiled)(x, m) == pytest.approx(steps, rel=1e-5, abs=1e-6)
        assert rose.jvp(compiled, (x, m), (1.0, None))[1] == pytest.approx(steps, rel=1e-5, abs=1e-6)


def bound_later(x: float) -> float:
    if x > 0.3:
        y = x * 2.0
        g = lambda v: v + y  # noqa: E731
    else:
        g = lambda v: v  # noqa: E731
    return g(x)


def bound_anew(x: float) -> float:
    if x > 0.3:
        y = 2.0
        g = lambda v: v + y  # noqa: E731
        y = x * x
    else:
        g = lambda v: v  # noqa: E731
    return g(x)


def list_changed_later(x: float) -> float:
    box = [1.0]
    if x > 0.3:
        g = lambda v: v * box[0]  # noqa: E731
    else:
        g = abs
    box[0] = x
    return g(x)


def list_of_the_side(x: float) -> float:
    if x > 0.3:
        box = [2.0]
        g = lambda v: v * box[0]  # noqa: E731
        box[0] = x * x
    else:
        box = [1.0]
        g = abs
    box[0] = box[0] + 1.0
    return g(x)


@pytest.mark.parametrize("plain", [bound_later, bound_anew, list_changed_later, list_of_the_side])
def test_variables_are_read_when_it_is_called(plain):
    compiled = rose.jit(plain, cache=False)
    for x in (0.5, 2.0, 0.1, -1.0):
        assert compiled(x) == plain(x)


def test_a_function_that_holds_what_is_staged_is_refused_in_words():
    def scaled(k):
        return lambda v: k * v

    @rose.jit
    def f(x: float) -> float:
        g = scaled(2.0 * x) if x > 0.3 else scaled(3.0)
        return g(x)

    with pytest.raises(rose.StagingTypeError, match="is a function on one side"):
        f(1.0)
