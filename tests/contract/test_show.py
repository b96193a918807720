"""`rose.show`, and what programs and costs look like in a notebook."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec


@rose.jit
def below(x: float) -> float:
    total = x if x < 1.0 else 1.0  # <b>&amp;
    for _ in rose.range(7):
        total = total * 1.5
    return total


@rose.opaque
def outside(x: float) -> float:
    return math.exp(x)


@rose.jit
def both(x: Vec["n"]) -> tuple[float, float]:
    return x[0], x[1]


def text_of(page: str) -> str:
    """The text of a page, which is well formed."""
    return "".join(ElementTree.fromstring(f"<html>{page}</html>").itertext())


def test_source_ir_and_gradient_are_told():
    found = rose.show(below)(0.5)
    assert found.source.startswith("@rose.jit\ndef below(x: float) -> float:")
    assert str(found.ir) == str(below.lower(0.5).ir)
    assert str(found.derivative) == str(rose.grad(below).lower(0.5).ir)
    assert [line for line in repr(found).splitlines() if line.startswith("---")] == [
        "--- source", "--- IR", "--- gradient",
    ]  # fmt: skip


def test_in_a_notebook_they_are_three_columns_of_escaped_text():
    found = rose.show(below)(0.5)
    page = ElementTree.fromstring(found._repr_html_())
    assert [block.text for block in page.iter("pre")] == [text for _, text in found.parts()]
    assert "<b>&amp;" in text_of(found._repr_html_())


@pytest.mark.parametrize(
    ("function", "argument", "reason"), [(both, np.ones(2), "returns"), (lambda x: outside(x), 1.0, "outside")]
)
def test_where_there_is_no_gradient_its_place_says_why(function, argument, reason):
    found = rose.show(function)(argument)
    assert found.derivative is None
    assert reason in found.reason
    assert found.reason in repr(found)


def test_shapes_will_do_for_arguments():
    assert "[3]Real" in str(rose.show(lambda x: x.sum())(rose.ShapeOf(3)).ir)


def test_wrong_arguments_are_refused_as_in_a_call():
    with pytest.raises(TypeError, match="missing 1 required"):
        rose.show(below)()


def test_a_line_costs_as_often_as_it_runs():
    cost = below.lower(0.5).cost()
    first = below.__wrapped__.__code__.co_firstlineno
    assert {each.line - first: each.ops for each in cost.lines}[4] == 7
    assert all(each.file == __file__ and each.tape_bytes == 0 for each in cost.lines)


def test_what_loops_keep_stands_by_their_lines():
    def power(x: Vec["n"]) -> float:
        total = 1.0
        for i in rose.range(len(x)):
            total += rose.sin(x[i]) * total
        return total

    cost = rose.grad(power).lower(np.ones(100)).cost()
    assert sum(each.tape_bytes for each in cost.lines) == cost.tape_bytes > 0


def test_pages_of_programs_and_costs_are_well_formed():
    lowered = below.lower(0.5)
    for page in (lowered, lowered.ir, lowered.compile()):
        assert str(lowered.ir) in text_of(page._repr_html_())
    page = text_of(lowered.cost()._repr_html_())
    assert "total = x if x < 1.0 else 1.0  # <b>&amp;" in page


def test_a_report_is_a_table():
    report = rose.check(below, 0.5)
    rows = [
        [cell.text for cell in row.iter("code")]
        for row in ElementTree.fromstring(f"<html>{report._repr_html_()}</html>").iter("tr")
    ]
    assert rows[1:] == [[name, each.status, each.words or None] for name, each in report.comparisons.items()]
    assert "rose.check of `below`: all agree" in text_of(report._repr_html_())
