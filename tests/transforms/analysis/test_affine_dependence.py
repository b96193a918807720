"""Where accesses meet, against all iterations of a loop tried one by one; and what a loop does with its arrays."""

from itertools import product

import pytest

from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, REAL, Array, Ref
from rosejit.ops import PRIMITIVES
from rosejit.text import parse
from rosejit.transforms.analysis.affine_dependence import Access, Iterations, reads_back, uses

TRIPS = 4
I, AT, OTHER, J = (ir.Var(INT, hint) for hint in ("i", "at", "other", "j"))
SQUARE = Array(9, Array(9, REAL))
A, B = ir.Var(SQUARE, "a"), ir.Var(SQUARE, "b")


def loop():
    return ir.Loop(ir.integer(TRIPS), I, (A, B), (A, B), (), ir.Block([], (A, B)))


def iterations():
    """Of a loop, with subscripts that grow with its index, and what they are at an iteration."""
    found = Iterations(loop())
    found.arrays.update({A: A, B: B})
    values = {I: lambda i, at, other, j: i, AT: lambda i, at, other, j: at, OTHER: lambda i, at, other, j: other}
    values[J] = lambda i, at, other, j: j  # bound inside: another one in each iteration
    found.bound.add(J)
    for base, added in product((I, AT), (ir.integer(1), ir.integer(-1), AT, OTHER)):
        e = ir.Apply(PRIMITIVES["wadd"], (base, added))
        affine = found.sum_of(e)
        if affine is not None:
            v = ir.Var(INT)
            found.affine[v] = affine
            values[v] = lambda *at, b=base, a=added: values[b](*at) + (a.value if type(a) is ir.Lit else values[a](*at))
    for constant in (0, 3, TRIPS):
        values[ir.integer(constant)] = lambda *at, c=constant: c
    return found, values


FOUND, VALUES = iterations()


@pytest.mark.parametrize("one", list(VALUES), ids=repr)
@pytest.mark.parametrize("other", list(VALUES), ids=repr)
def test_the_distance_is_true_of_all_iterations(one, other):
    """Whatever the variables from outside are; what is bound inside may differ between the two."""
    for prefix in ((), (J,), (ir.integer(0),)):
        first, second = Access(A, (*prefix, one), True), Access(A, (*prefix, other), False)
        distance = FOUND.distance(first, second, lambda a, b: False)
        for i, k, at, outer, j, l in product(range(TRIPS), range(TRIPS), (0, 2), (0, 1, 3), (0, 1), (0, 1)):
            here = [VALUES[step](i, at, outer, j) for step in first.path]
            there = [VALUES[step](k, at, outer, l) for step in second.path]
            if here == there and distance != "unknown":
                assert distance != "none"
                assert distance == k - i


def test_distances():
    def distance(one, other):
        return FOUND.distance(Access(A, one, True), Access(A, other, False), lambda a, b: False)

    ahead = next(v for v, affine in FOUND.affine.items() if affine.start is None and affine.constant == 1)
    assert distance((I,), (I,)) == 0
    assert distance((ahead,), (I,)) == 1
    assert distance((I,), (ahead,)) == -1
    assert distance((I,), (ir.integer(TRIPS),)) == "none"
    assert distance((I,), (AT,)) == "unknown"
    assert distance((J, I), (J, I)) == 0
    assert distance((J,), (J,)) == "unknown"
    assert distance((ir.Field(0), I), (ir.Field(1), I)) == "none"


def test_aliases():
    p, q, row = ir.Var(Ref(SQUARE)), ir.Var(Ref(SQUARE)), ir.Var(Ref(Array(9, REAL)))
    number, part = Access(p, (I, J), True), Access(p, (I,), True)
    assert FOUND.distance(Access(A, (I,), True), Access(B, (J,), True), lambda a, b: False) == "none"
    assert FOUND.distance(number, Access(q, (I, J), True), lambda a, b: False) == 0
    assert FOUND.distance(number, Access(row, (I,), True), lambda a, b: False) == "unknown"
    assert FOUND.distance(Access(p, (J, I), True), Access(row, (I,), True), lambda a, b: False) == 0
    assert FOUND.distance(part, Access(row, (I,), True), lambda a, b: False) == "unknown"
    assert FOUND.distance(part, Access(row, (I,), True), lambda a, b: True) == "none"


def test_an_access_that_all_iterations_share_carries_a_dependence():
    for path, carried in (((I,), False), ((AT,), True), ((J,), True)):
        found = Iterations(loop())
        found.accesses.append(Access(ir.Var(Ref(SQUARE)), path, True))
        assert found.carries_dependence(lambda a, b: False) == carried
        assert not found.carries_dependence(lambda a, b: False, but_itself=True)


def body(text):
    e = parse(text).body.lets[-1].expr
    assert isinstance(e, ir.Loop)
    return e


@pytest.mark.parametrize(
    ("lets", "result", "kinds"),
    [
        ("let z = update z[i] = 1.0 in", "z", ["w"]),
        ("let a = z[i] in let z = update z[i] = a in", "z", ["r", "w"]),
        ("let z = update z[i] = 1.0 in let a = z[0] in let z = update z[i] = a in", "z", ["w", "r", "w"]),
        ("let c = copy z in", "z", ["all"]),
        ("let c = copy z in", "c", ["all", "all"]),
        ("let u = update z[i] = 1.0 in let c = copy z0 in", "c", ["w", "all"]),
    ],
)
def test_what_a_loop_does_with_its_array(lets, result, kinds):
    e = body(f"""
def f(z0: [4]Real): [4]Real =
  let z0 = copy z0 in
  loop i < 4 carry (z: [4]Real = z0) {{ {lets} {result} }}
""")
    found = uses(e)[e.carries[0]]
    assert [("w" if a.writes else "r") if a.path else "all" for a in found] == kinds


def test_an_element_that_is_read_back():
    e = body("""
def f(z0: [4]Real): [4]Real =
  let z0 = copy z0 in
  loop i < 4 carry (z: [4]Real = z0) { let a = z[i] in let b = z[0] in let c = a + b in update z[i] = c }
""")
    update = e.body.lets[-1].expr
    assert isinstance(update, ir.Update)
    assert [reads_back(let.expr, update) for let in e.body.lets] == [True, False, False, False]
