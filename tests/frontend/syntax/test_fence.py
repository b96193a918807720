"""What cannot be staged is named, at its place, before anything runs."""

import pytest

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.translate import Translations
from tests.frontend.oracle import define, says

REFUSED = {
    "async def f(x): return x": ("`async def`", "async def f(x): return x", "remove `async`"),
    "async def g(): pass": ("`async def`", "async def g(): pass", "remove `async`"),
    "global counter": ("`counter`", "global counter", "return the new value"),
    "locals()": ("`locals()`", "locals()", "name the variables"),
    "globals()": ("`globals()`", "globals()", "name the variables"),  # would be those of ours
    "eval('x')": ("`eval()`", "eval('x')", "name the variables"),
    "exec('x = 1')": ("`exec()`", "exec('x = 1')", ""),
    "vars()": ("`vars()`", "vars()", ""),
    "raise": ("`raise` without an error", "raise", "move the `raise`"),
    "y = (t := x) if x else 1": ("`t := ...`", "t := x", "`if` statement"),
    "y = 1 if x else (t := x)": ("`t := ...`", "t := x", "`if` statement"),
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refused(statement):
    source = statement if statement.startswith("async def f") else f"def f(x):\n    {statement}\n    return x"
    word, at, remedy = REFUSED[statement]
    with pytest.raises(UnsupportedSyntax) as caught:
        Translations().of(define(source))
    says(caught.value, word, line=statement, at=at, help=remedy)
    assert isinstance(caught.value, SyntaxError)


def test_names_in_other_letters():
    f = define("def f(x):\n    ｖａｒｓ()\n    return x")  # noqa: RUF001 - Python reads the name so
    with pytest.raises(UnsupportedSyntax, match=r"`vars\(\)` cannot be staged"):
        Translations().of(f)


@pytest.mark.parametrize("statement", ["yield x", "yield from [x]", "y = [(yield x)]"])
def test_generators(statement):
    known = Translations()
    f = define(f"def f(x):\n    if x:\n        {statement}  # yields\n")
    known.of(f)
    with pytest.raises(UnsupportedSyntax) as caught:
        known.check(f)
    says(caught.value, "generator", line=f"{statement}  # yields", help="list")
    known.check(define("def f(x):\n    def g(): yield x\n    return list(g())"))


@pytest.mark.parametrize("word", ["return x", "break", "continue"])
def test_leaving_a_finally_block(word):
    source = f"def f(x):\n    for k in range(2):\n        try:\n            x = x + 1\n        finally:\n            {word}  # leave\n"
    with pytest.raises(UnsupportedSyntax) as caught:
        Translations().of(define(source))
    says(caught.value, f"`{word.split()[0]}`", line=f"{word}  # leave", at=word, help="behind the `try`")


def test_an_error_raised_again_in_its_handler():
    text = "def f(x):\n    try:\n        return g(x)\n    except ValueError:\n        for k in range(2):\n            raise"
    Translations().of(define(text))


def test_a_variable_of_the_function_around():
    source = "def outer():\n    count = 0\n    def f(x):\n        nonlocal count\n        count += 1\n        return x\n    return f"
    with pytest.raises(UnsupportedSyntax) as caught:
        Translations().of(define(source)())
    says(caught.value, "`count`", line="nonlocal count", help="return the new value")


def test_all_faults_are_told_at_once():
    f = define("def f(x):\n    global a\n    y = locals()\n    return eval(y)\n")
    with pytest.raises(UnsupportedSyntax) as caught:
        Translations().of(f)
    error = caught.value
    says(error, "`a`", line="global a")
    assert error.facts == (
        "also in line 3: `locals()` cannot be staged",
        "also in line 4: `eval()` cannot be staged",
    )


def test_the_same_fault_again():
    known = Translations()
    f = define("def f(x):\n    global a\n    return x")
    texts = set()
    for _ in range(2):
        with pytest.raises(UnsupportedSyntax) as caught:
            known.of(f)
        texts.add(str(caught.value))
    assert len(texts) == 1


ACCEPTED = [
    "def g():\n        yield 1\n    y = list(g())",
    "locals = len\n    y = locals([x])",
    "def g():\n        nonlocal x\n        x = 2\n    g()",
    "y = vars(x)",
    "if (t := x):\n        pass",
    "y = [t := k for k in [1]]",
    "with open(x) as y:\n        pass",
    "import math",
    "class A:\n        y = x",
    "try:\n        pass\n    finally:\n        for k in [1]:\n            break",
]


@pytest.mark.parametrize("statement", ACCEPTED)
def test_accepted(statement):
    assert Translations().of(define(f"def f(x):\n    {statement}\n    return x")).code.co_name == "f"
