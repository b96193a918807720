"""Loops that change each element one after the other become one: the same bits, and only where no iteration meets
another."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable
from rosejit.transforms.loops.sweep_fusion import join_sweeps
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.backends import wasm
from tests.laws import check_laws

TWO = """
def f(x: [4]Real, y: [4]Real, k: Int): [2][4]Real =
  let a: [2][4]Real = zero in
  let b = loop {one} carry (c: [2][4]Real = a) {{ {first} }} in
  {between}
  let d = loop {other} carry (c: [2][4]Real = b) {{ {second} }} in
  d
"""
ADD = "let v = c@[{row}, {at}] in let w = x@[{at}] in let s = v + w * {by} in let u = update c@[{row}, {at}] = s in u"
SET = "let w = y@[{at}] in let u = update c@[{row}, {at}] = w in u"
FIRST = ADD.format(row=1, at="i", by=2.0)


def text(first=FIRST, second="", one="i < 4", other="j < 4", between=""):
    second = second or ADD.format(row=1, at="j", by=3.0)
    return TWO.format(one=one, other=other, first=first, second=second, between=between)


JOINED = {
    "two terms": text(),
    "a row that only the run knows": text(ADD.format(row="k", at="i", by=2.0), ADD.format(row="k", at="j", by=3.0)),
    "down": text(one="i < 4 down", other="j < 4 down"),
    "the second writes only": text(second=SET.format(row=1, at="j")),
    "the first writes only": text(SET.format(row=1, at="i")),
    "a diagonal": text(
        "let v = c@[i, i] in let s = v + 2.0 in let u = update c@[i, i] = s in u",
        "let v = c@[j, j] in let s = v * 3.0 in let u = update c@[j, j] = s in u",
        "i < 2",
        "j < 2",
    ),
}
APART = {
    "other rows": text(second=ADD.format(row=0, at="j", by=3.0)),
    "the other way": text(other="j < 4 down"),
    "fewer iterations": text(other="j < 3"),
    "a fixed element": text(second=ADD.format(row=1, at="0", by=3.0)),
    "an index that is computed": text(second="let n = wsub(3, j) in " + ADD.format(row=1, at="n", by=3.0)),
    "another element is read": text(second="let v = c@[1, 0] in let s = v + 2.0 in let u = update c@[1, j] = s in u"),
    "a row is read": text(
        second="let r: [4]Real = c@[1] in let v = r@[0] in let s = v + 2.0 in let u = update c@[1, j] = s in u"
    ),
    "two updates": text(second="let u = update c@[1, j] = 1.0 in let q = update u@[1, 0] = 2.0 in q"),
    "it is read after its update": text(
        second="let u = update c@[1, j] = 1.0 in let v = u@[1, 0] in let q = update u@[1, j] = v in q"
    ),
    "something may fail": text(
        second="let v = c@[1, j] in let w = x[k] in let s = v + w in let u = update c@[1, j] = s in u"
    ),
}
ARGS = [[0.5, -1.0, 2.0, 3.0], [1.0, 2.0, -0.0, 0.25], 1]


def loops(f):
    return sum(isinstance(let.expr, ir.Loop) for let in forms(f.body))


@pytest.mark.parametrize("name", [*JOINED, *APART])
def test_the_same_bits(name):
    f = insert_copies(parse((JOINED | APART)[name]))
    new = join_sweeps(f)
    verify_program(new)
    assert loops(new) == (1 if name in JOINED else loops(f))
    wanted = repr(interp.run(f, [*ARGS]))
    assert repr(interp.run(new, [*ARGS])) == wanted
    assert repr(wasm(new)([*ARGS])) == wanted
    assert join_sweeps(new) is new


@pytest.mark.parametrize("name", JOINED)
def test_laws(name):
    f = join_sweeps(insert_copies(parse(JOINED[name])))
    check_laws(f, ARGS, order=2)
    back = cotangents(f, differentiable(f))
    verify_program(join_sweeps(back))
