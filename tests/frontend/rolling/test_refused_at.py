"""Expressions of plans as Python."""

import ast

import pytest

from rosejit.frontend.rolling.refused_at import text

NAME = ("name", "i")
PLANS = {
    "-(i + 1)": ("unary", "-", ("binary", "+", NAME, ("value", 1))),
    "not i": ("unary", "not", NAME),
    "0 < i <= 9": ("compare", ("<", "<="), (("value", 0), NAME, ("value", 9))),
    "i and (i or 2)": ("circuit", "and", (NAME, ("circuit", "or", (NAME, ("value", 2))))),
    "i if (not i) else 2.5": ("choice", ("unary", "not", NAME), NAME, ("value", 2.5)),
    "i[1, i:]": ("item", NAME, ("pack", (("value", 1), ("slice", (NAME, ("value", None), ("value", None)))), False)),
    "i[:2:3]": ("item", NAME, ("slice", (("value", None), ("value", 2), ("value", 3)))),
    "[(i,), []]": ("pack", (("pack", (NAME,), False), ("pack", (), True)), True),
    "i.f(2, axis='x')": ("call", ("attribute", NAME, "f"), (("value", 2),), (("axis", ("value", "x")),)),
    "a function(i)": ("call", ("lambda", (), (), NAME), (NAME,), ()),
}


@pytest.mark.parametrize("shown", PLANS)
def test_an_expression_is_shown_as_it_would_be_written(shown):
    found = text(PLANS[shown])
    if "a function" in shown:
        assert found == f"({shown[:10]})(i)"
    else:
        assert found == shown
        assert ast.unparse(ast.parse(found)).replace("(", "").replace(")", "") == shown.replace("(", "").replace(
            ")", ""
        )


def test_a_long_one_is_cut():
    shown = text(("pack", (NAME,) * 99, True))
    assert len(shown) == 72
    assert shown.startswith("[i, i, ")
    assert shown.endswith("...")
