"""Values next to where they are written; the same results, and the order of what may fail."""

from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.sink_values import MANY, sink_values

HEAD = f"def f(x: [5]Real, k: Int): [5][{MANY}]Real =\n"


def writes(inside: str, stored: str, count: int = MANY) -> str:
    """A loop that computes, and then writes `stored` at each place of a row."""
    updates = "".join(
        f"let c{k + 1}: [5][{MANY}]Real = update c{k}@[i, {k}] = {stored.format(k=k)} in\n" for k in range(count)
    )
    start = f"let z: [5][{MANY}]Real = zero in\n"
    return f"{HEAD}{start}loop i < 5 carry (c0: [5][{MANY}]Real = z) {{\n{inside}{updates}c{count} }}"


def reordered(text: str) -> list[ir.Let]:
    """The lets of the loop, after a look at the results."""
    f = parse(text)
    new = sink_values(f)
    verify_program(new)
    args: list[object] = [[1.5, -2.25, 0.3, 4.0, -0.5], 2]
    assert repr(interp.run(new, args)) == repr(interp.run(f, args))
    assert new.body is not None
    return next(let.expr for let in forms(new.body) if isinstance(let.expr, ir.Loop)).body.lets


def kinds(lets: list[ir.Let]) -> str:
    return "".join(type(let.expr).__name__[0] for let in lets)


VALUES = "".join(f"let v{k}: Real = x@[i] in let w{k}: Real = v{k} * {k}.5 in\n" for k in range(MANY))


def test_each_value_stands_before_its_update() -> None:
    assert kinds(reordered(writes(VALUES, "w{k}"))) == "IAU" * MANY


def test_few_updates_stay_as_they_are() -> None:
    assert kinds(reordered(writes(VALUES, "w{k}", MANY - 1))) == "IA" * MANY + "U" * (MANY - 1)


def test_what_is_read_of_a_row_is_read_before_that_changes() -> None:
    before = "".join(f"let v{k}: Real = c0@[i, {MANY - 1 - k}] in\n" for k in range(MANY))
    assert kinds(reordered(writes(before, "v{k}")))[:MANY] == "I" * MANY


def test_what_may_fail_keeps_its_order() -> None:
    inside = VALUES + "let b: Real = x[k] in let h: Int = k // k in\n"
    found = reordered(writes(inside, "w{k}"))
    assert isinstance(found[0].expr, ir.Index)
    assert found[0].expr.checked
    assert isinstance(found[1].expr, ir.Apply)
    assert found[1].expr.op.failure


def test_long_chains() -> None:
    chain = "let v0: Real = x@[i] in\n" + "".join(f"let v{k + 1}: Real = v{k} + 1.0 in\n" for k in range(1500))
    assert len(reordered(writes(chain, "v1500"))) == 1501 + MANY
