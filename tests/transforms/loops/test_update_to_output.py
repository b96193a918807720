"""Arrays that become outputs of the loop that fills them, and those that stay carried."""

import pytest

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.loops.update_to_output import updates_to_outputs
from rosejit.transforms.passes.range_checks import eliminate_range_checks

HEAD = "def f(x: [3]Real, y: Real): [3]Real =\n  let z: [3]Real = zero in\n  "


def carried(loop: str) -> int:
    """How many arrays the loop carries afterwards; the same result."""
    f = parse(HEAD + loop)
    new = updates_to_outputs(eliminate_range_checks(f))
    verify_program(new)
    args: list[object] = [[1.5, -2.25, 0.5], 0.75]
    assert interp.run(new, args) == interp.run(f, args)
    assert new.body is not None
    return sum(len(let.expr.carries) for let in lets(new.body) if isinstance(let.expr, ir.Loop))


@pytest.mark.parametrize("down", ["", "down "])
def test_each_iteration_writes_its_element(down: str) -> None:
    assert carried(f"loop i < 3 {down}carry (w: [3]Real = z) {{ let v = x[i] * y in update w[i] = v }}") == 0


@pytest.mark.parametrize(
    "body",
    [
        "update w[0] = y",
        "let v = w[i] in let u = v + y in update w[i] = u",
        "let a = update w[i] = y in update a[i] = y",
        "let c = y > 1.0 in if c { update w[i] = y } { w }",
        "let j = i + 1 in let k = j % 3 in update w[k] = y",
    ],
)
def test_others_stay_carried(body: str) -> None:
    assert carried(f"loop i < 3 carry (w: [3]Real = z) {{ {body} }}") == 1


def test_another_array_in_its_place() -> None:
    """What is written goes with the iteration (found by a random program: the optimiser kept it)."""
    assert carried("loop i < 3 carry (w: [3]Real = z) { let u = update w[i] = y in let v = copy x in v }") == 1


def test_a_loop_that_writes_a_part_stays() -> None:
    assert carried("loop i < 2 carry (w: [3]Real = z) { update w[i] = y }") == 1
