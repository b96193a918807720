"""Loops inside others, whose numbers of iterations come of indices and are bounded by them."""

import pytest

from rosejit.abi import INTERRUPTED
from rosejit.codegen.core.function_facts import LONG
from rosejit.ir.lane_sums import FEWEST
from rosejit.text import parse
from tests.codegen.loops.test_vectorize import paired, values
from tests.codegen.machine import Failed, Machine, agrees, fails

TRIPS = {"i": "wadd(i, 0)", "from the end": "wsub({n}, wadd(i, 1))", "twice i": "wadd(i, i)", "below 0": "wsub(i, 2)"}
BODIES = {
    "a sum in lanes": "let d = x[j] * c in let s = fadd(t, d) in b, s",
    "a sum in order": "let d = x[j] * c in let s = t + d in b, s",
    "a recurrence": "let d = x[j] * c in let p = t * 0.5 in let s = p + d in b, s",
    "elements": "let d = x[j] * c in let u = update b[j] = d in u, t",
    "elements behind i": "let k = wadd(j, i) in let d = b[k] * c in let u = update b[k] = d in u, t",
    "elements and a sum": "let d = b[j] * x[j] in let u = update b[j] = d in let s = fadd(t, d) in u, s",
    "the iteration before": "let d = t * c in let u = update b[j] = d in let s = x[j] in u, s",
}


def triangle(n: int, trips: str, body: str, size: int) -> str:
    return f"""
def f(x: [{size}]Real, y: [{size}]Real, c: Real): [{size}]Real, Real =
  let z = copy y in
  loop i < {n} carry (a: [{size}]Real = z, s: Real = c) {{
    let m = {trips.format(n=n)} in
    loop j < m carry (b: [{size}]Real = a, t: Real = s) {{ {body} }}
  }}
"""


@pytest.mark.parametrize("n", [1, 3, 4, 5, 6, 9, FEWEST // 2, FEWEST, FEWEST + 1, FEWEST + 7])
@pytest.mark.parametrize("trips", TRIPS.values(), ids=TRIPS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_numbers_of_iterations_that_indices_bound(n, trips, body):
    size = 3 * n
    agrees(triangle(n, trips, body, size), (values(size), values(size, -1.0), 0.25))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_first_test_that_fails(body):
    text = triangle(12, "wadd(i, i)", body, 10)
    fails(text, values(10), values(10, -1.0), 0.25)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("n", [8, 40])
def test_they_go_two_at_a_time(n, body):
    assert paired(triangle(n, "wadd(i, 0)", body, 2 * n))


@pytest.mark.parametrize("n", [100, LONG])
def test_bounded_loops_look_at_the_flag_where_all_iterations_may_take_long(n):
    turn = "loop j < m carry (d: Int = c) { wadd(d, j) }"
    text = f"def f(n: Int): Int = loop i < {n} carry (c: Int = 0) {{ let m = wsub(i, 1) in {turn} }}"
    machine = Machine(parse(text))
    machine.interrupt()
    if n < LONG:
        assert machine(3) == (sum(j for i in range(n) for j in range(i - 1)),)
        return
    with pytest.raises(Failed) as caught:
        machine(3)
    assert caught.value.number == INTERRUPTED
