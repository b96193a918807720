"""Texts of staged values: quoted in messages, refused elsewhere; never a text that says something else."""

import numpy as np
import pytest

from rosejit import jit
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
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


FORMS = [
    "f'{x:.3f}|{n:03d}|{b}'", "f'{x!r:>8}' + f'{n:+}'", "'a {} b {:.1e}'.format(n, x)", "str(x) + ' ' + repr(n)", "str((x, [n]))",
    "f'{(x, n)} {[b]!r}'", "f'{{0}} {x:{width}.2f} {\"text\"!r}'", "inside(x)", "format(x, '.1f') + format(n)",
    "f'{x}{n}{b}{x + 1}{n * 2}{-x}'", "f'{v} {v * x}'", "f'{inside(n)}!'",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_texts_at_run_time(form, capsys):
    def inside(y):
        return f"<{y}>"

    f = define(
        f"""
        def f(x: float, n: int, b: bool, v: Vec[2]):
            width = 9
            text = {form}
            print(text, "and", {form}, sep="; ")
            if x > 2:
                raise ValueError("it is " + text)
            assert n < 5, {form}
            return x
        """,
        inside=inside,
        **SCOPE,
    )
    for args in ((1.0, 2, True, np.ones(2)), (3.0, 2, False, np.ones(2)), (1.0, 7, True, np.array([0.5, 2.0]))):
        found = []
        for run_it in (f, lambda *given: evaluate(f, *given)):
            try:
                outcome = run_it(*args)
            except (ValueError, AssertionError) as error:
                outcome = (isinstance(error, ValueError), str(error).splitlines()[0])
            found.append((outcome, capsys.readouterr().out))
        assert found[0] == found[1]


def test_exceptions_of_users_hold_values():
    class Bad(Exception):
        def __init__(self, where, value, factor=1):
            super().__init__(f"{where}: {value:.2f}")
            self.where, self.value = where, value * factor

    def f(x: float, n: int):
        if x > 1:
            raise Bad("left", x, factor=n)
        if n > 5:
            raise KeyError("n", n, (x, [n]))
        return x

    assert evaluate(f, 0.5, 2) == 0.5
    with pytest.raises(Bad, match=r"^left: 2\.50$") as caught:
        evaluate(f, 2.5, 3)
    assert (caught.value.where, caught.value.value) == ("left", 7.5)
    with pytest.raises(KeyError) as caught:
        evaluate(f, 0.5, 7)
    assert caught.value.args == ("n", 7, (0.5, [7]))


def test_exceptions_whose_constructor_wants_more():
    class Bad(Exception):
        def __init__(self, code, reason):
            super().__init__(reason)
            self.code = code

    def f(x: float):
        if x > 1:
            raise Bad(17, "constant")
        return x

    with pytest.raises(Bad, match=r"^constant$") as caught:
        evaluate(f, 2.0)
    assert caught.value.code == 17


def test_an_error_that_python_raises_at_once_shows_what_running_tells():
    def f(x: float, mode: str):
        if mode not in ("a", "b"):
            raise ValueError(f"no mode {mode} for {x}")
        return x

    with pytest.raises(ValueError, match=r"no mode c for 1\.0"):
        jit(f, static_argnames=("mode",))(1.0, "c")
