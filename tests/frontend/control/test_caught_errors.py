"""What the name in `except E as name` is, of an error that the user's `raise` made in staged code: what errors hold x
where they are raised x what is asked of them, against CPython."""

import textwrap

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed


class Oops(Exception):
    def __init__(self, k, name="p"):
        super().__init__(k, name)
        self.k, self.name = k, name

    @property
    def twice(self):
        return 2.0 * self.k


class Bare(Exception):
    pass


class Deep(Oops):
    pass


class Sums(ValueError):
    def __init__(self, parts):
        self.parts = parts


RAISED = {  # what is raised; a number of it
    "attribute": ("Oops(2.0 * x)", "err.k"),
    "property": ("Oops(2.0 * x)", "err.twice"),
    "argument": ("Bare(2.0 * x, x)", "err.args[0] * err.args[1]"),
    "unpacked": ("Bare(2.0 * x, 3)", "of_args(*err.args)"),
    "text beside": ('Oops(2.0 * x, "q")', '(err.k if err.name == "q" else x)'),
    "list": ("Sums([x, 2.0 * x])", "sum(err.parts)"),
    "pair": ("Sums((x, (2.0 * x, n)))", "err.parts[1][0] * err.parts[1][1]"),
    "array": ("Sums(np.array([x, 2.0]))", "err.parts[0] * err.parts[1]"),
    "nothing": ("Bare()", "x * len(err.args)"),
    "text": ('Bare("far")', '(3.0 * x if err.args[0] == "far" else x)'),
    "below": ("Deep(2.0 * x)", "err.k"),
    "known": ("Oops(3.0)", "err.k * x"),
    "int": ("Bare(n)", "err.args[0] * x"),
    "message too": ('Bare(f"at {x}", x)', "err.args[1]"),
}
PLACES = {
    "body": "try:\n    if x > 1.0:\n        raise {e}\n    y = x\nexcept {c} as err:\n    y = {u}\nreturn y",
    "helper": "def h(x):\n    if x > 1.0:\n        raise {e}\n    return x\ntry:\n    y = h(x)\nexcept {c} as err:\n    y = {u}\nreturn y",
    "returned": "try:\n    if x > 1.0:\n        raise {e}\n    return x\nexcept {c} as err:\n    return {u}",
    "twice": "try:\n    if x > 2.0:\n        raise {e}\n    x = 3.0 * x\n    if x > 3.0:\n        raise {e}\n    y = x\n"
    "except {c} as err:\n    y = {u}\nreturn y",
    "in a loop": "t = 0.0\nfor i in range(n):\n    try:\n        if x > 1.0:\n            raise {e}\n        t = t + x\n"
    "    except {c} as err:\n        t = t + {u}\n    x = x + 0.5\nreturn t",
    "from a loop": "def h(x):\n    for i in range(n):\n        if x > 1.0:\n            raise {e}\n        x = x + 0.25\n    return x\n"
    "try:\n    y = h(x)\nexcept {c} as err:\n    y = {u}\nreturn y",
    "other handler": "try:\n    if x > 1.0:\n        raise {e}\n    y = x\nexcept KeyError as err:\n    y = 0.0\nexcept {c} as err:\n"
    "    y = {u}\nreturn y",
    "above": "try:\n    if x > 1.0:\n        raise {e}\n    y = x\nexcept Exception as err:\n    y = {u}\nreturn y",
    "around": "try:\n    try:\n        if x > 1.0:\n            raise {e}\n        y = x\n    except KeyError:\n        y = 0.0\n"
    "except {c} as err:\n    y = {u}\nreturn y",
    "and another": "try:\n    if x > 2.0:\n        raise KeyError(x)\n    if x > 1.0:\n        raise {e}\n    y = x\nexcept KeyError:\n"
    "    y = 0.0\nexcept {c} as err:\n    y = {u}\nreturn y",
    "finally": "try:\n    if x > 1.0:\n        raise {e}\n    y = x\nexcept {c} as err:\n    y = {u}\nelse:\n    y = 2.0 * y\nreturn y",
}


def of_args(a, b):
    return a * b


def made(body, path):
    text = "def f(x: float, n: int):\n" + textwrap.indent(body, "    ")
    path.write_text(text)
    scope = {**globals(), "np": np}
    exec(compile(text, str(path), "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize(("error", "place"), crossed(RAISED, PLACES, 3))
def test_what_a_handler_is_given(error, place, tmp_path):
    raised, told = RAISED[error]
    plain = made(PLACES[place].format(e=raised, c=raised.partition("(")[0], u=told), tmp_path / "caught.py")
    compiled = rose.jit(plain, cache=False)
    for x, n in ((0.53, 3), (0.53, 0), (1.53, 1), (1.27, 4), (2.51, 2)):
        assert compiled(x, n) == pytest.approx(plain(x, n), rel=1e-15)
        slope = (plain(x + 1e-6, n) - plain(x - 1e-6, n)) / 2e-6
        assert rose.grad(compiled)(x, n) == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert rose.jvp(compiled, (x, n), (1.0, None))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)


UNTOLD = {
    "arithmetic too": (
        "try:\n    if x > 2.0:\n        raise ValueError(x)\n    y = math.sqrt(x - 1.0)\nexcept ValueError as err:\n    y = err.args[0]\nreturn y",
        "has no object",
    ),
    "two classes": (
        "try:\n    if x > 2.0:\n        raise Oops(x)\n    if x > 1.0:\n        raise Bare(x)\n    y = x\nexcept (Oops, Bare) as err:\n    y = err.args[0]\nreturn y",
        "which error it is only running tells",
    ),
    "other arguments": (
        "try:\n    if x > 2.0:\n        raise Bare(x)\n    if x > 1.0:\n        raise Bare(x, n)\n    y = x\nexcept Bare as err:\n    y = err.args[0]\nreturn y",
        "only its class is known",
    ),
    "its text": (
        "try:\n    if x > 1.0:\n        raise Bare(f'at {x}')\n    y = x\nexcept Bare as err:\n    y = x * len(str(err))\nreturn y",
        "text needs the value of a staged Real",
    ),
}


@pytest.mark.parametrize("text", UNTOLD)
def test_what_no_handler_is_told(text, tmp_path):
    body, said = UNTOLD[text]
    plain = made("import math\n" + body, tmp_path / "untold.py")
    with pytest.raises(rose.RoseError, match=said):
        rose.jit(plain)(1.5, 1)
