"""What Python's own functions are given that only running tells: refused in words that name it, at the line."""

import pytest

import rosejit as rose
from tests.frontend.oracle import agrees, define

REFUSED = {
    "list(itertools.islice(x, n))": "`itertools.islice` is called by Python",
    "next(itertools.islice(x, n, None), 0.0)": "`itertools.islice` is called by Python",
    "functools.reduce(lambda a, b: a * b, range(1, n + 1), 1)": "`functools.reduce` goes through a range",
    "sum(map(lambda i: i * 2, range(n)))": "`map` goes through a range",
    "max(filter(None, range(n)))": "`filter` goes through a range",
    "sum(itertools.accumulate(range(n)))": "`itertools.accumulate` goes through a range",
    "n * (1.0, 2.0)": "how often a tuple is repeated",
    "'ab' * n": "how often a str is repeated",
    "'{:{}}'.format(1.0, n)": "text needs the value of a staged Int",
    "'{:>{w}}'.format('a', w=n)": "text needs the value of a staged Int",
    "any(map(operator.lt, x if n > 1 else iter(x), [2.0]))": "the conditional expression is a list on one side",
}
SIDES = "import functools, io, itertools, operator\nimport rosejit as rose\n"


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused_by_name(text):
    f = define(f"{SIDES}def f(x: list[float], n: int):\n    return {text}\n")
    for _ in range(2):
        with pytest.raises(rose.StagingTypeError) as caught:
            rose.jit(f)([1.0, 2.0, 3.0], 2)
        assert str(caught.value).startswith(REFUSED[text])
        assert f"return {text}" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["'{0} {1!r} {n}'.format(x, n, n=n)", "'{:.{}f}'.format(x, 2)", "'{:>{w}}|'.format('a', w=5) + str(n)",
     "'{{}}{}'.format(x)", "'{a[0]:.3f} {b.real}'.format(a=[x], b=x)", "'{!s:}'.format(n)"],
)  # fmt: skip
def test_braces_in_a_message(text):
    f = define(f"def f(x: float, n: int):\n    if x < 0:\n        raise ValueError({text})\n    return x\n")
    agrees(f, (1.0, 2))
    with pytest.raises(ValueError, match=r"\S") as wanted:
        f(-2.5, 3)
    with pytest.raises(ValueError, match=r"\S") as found:
        rose.jit(f)(-2.5, 3)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("block", ["if x > 0:\n        ", "for _ in rose.range(n):\n        "])
def test_printing_to_a_file_of_the_function(block):
    text = f"def f(x: float, n: int):\n    file = io.StringIO()\n    {block}print(x, file=file)\n    return file.getvalue()\n"
    with pytest.raises(rose.UnsupportedSyntax, match="to a file that the function has made"):
        rose.jit(define(SIDES + text))(1.0, 2)


@pytest.mark.parametrize("read", ["L[5]", "D['b']", "int('a')", "math.sqrt(-1.0)", "1.0 / ZERO"])
def test_what_has_no_result_where_python_may_not_get(read):
    text = f"def f(x: float, n: int):\n    if n > 5:\n        return {read}\n    return x\n"
    f = define("import math\n" + text, L=[1.0], D={"a": 1.0}, ZERO=0.0)
    with pytest.raises(rose.UnsupportedSyntax, match="what Python computes here has no result"):
        rose.jit(f)(1.0, 2)
