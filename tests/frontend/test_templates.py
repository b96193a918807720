"""What text becomes: the templates of docs/frontend.md, with the names that each construct hands on."""

import re

import pytest

from rosejit.frontend.syntax.translate import show
from tests.frontend.oracle import define

HANDED_ON = {
    "read after": ("def f(x):\n    y = z = x\n    if x:\n        y = 1\n        z = 2\n    return y", ["y", 1]),
    "read inside only": ("def f(x):\n    if x:\n        y = 1\n        x = y\n    return x", ["x", 1]),
    "read in the next iteration": ("def f(x):\n    y = 0\n    for i in x:\n        y = y + 1\n    return 0", ["y", 1]),
    "bound before it is read": ("def f(x):\n    for i in x:\n        y = i\n        x = y\n    return 0", ["", 0]),
    "read after the loop": ("def f(x):\n    y = 0\n    for i in x:\n        y = 2\n    return y", ["y", 0]),
    "the variable of the loop": ("def f(x):\n    i = 0\n    for i in x:\n        pass\n    return i", ["i", 0]),
    "a walrus in a test": ("def f(x):\n    while (y := x):\n        x = y - 1\n    return x", ["x y", 2]),
    "a walrus that is read": ("def f(x):\n    while (y := x):\n        x = y - 1\n    return y", ["x y", 2]),
    "of an inner function": ("def f(x):\n    y = 1\n    g = lambda: y\n    if x:\n        y = 2\n    return g()", ["y", 1]),
    "rebound inside": ("def f(x):\n    y = 1\n    def g():\n        nonlocal y\n        y = 3\n    if x:\n        g()\n    return y", ["", 0]),
    "global": ("def f(x):\n    if x:\n        len(x)\n    return math", ["", 0]),
    "deleted": ("def f(x):\n    y = 1\n    if x:\n        del y\n    return y", ["y", 1]),
    "of a handler": (
        "def f(x):\n    y = 1\n    try:\n        if x:\n            y = 2\n        g()\n    except E:\n        return y\n    return 0",
        ["y", 1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HANDED_ON)
def test_names_that_are_handed_on(case):
    source, (names, live) = HANDED_ON[case]
    found = re.search(r"rose@\.(?:If|For|Roll|While)\(.*?(\([^()]*\)), (\d+)[,)]", show(define(source)))
    assert found is not None
    assert re.findall(r"'(\w+)'", found[1]) == names.split()
    assert int(found[2]) == live


def body(source):
    """The rewritten statements, without the line of the `def`."""
    # CPython 3.10 writes the targets of a comprehension in parentheses.
    return [
        re.sub(r"for \(([^()]*)\) in", r"for \1 in", line.strip()) for line in show(define(source)).splitlines()[1:]
    ]


def test_straight_lines_stay():
    assert body("def f(x, y):\n    z = x * y\n    a = b = z\n    return -a") == [
        "z = rose@.fresh(x * y)",
        "a = b = z",
        "return rose@.returned(-a)",
    ]


def test_an_early_return_absorbs_the_rest():
    found = body("def f(x):\n    if x:\n        return 1\n    y = 2\n    return y")
    assert any(line.startswith("if@1 = rose@.If(x, (") for line in found)
    assert "returned@ = False" not in found, "nobody tests the flag"
    assert found.index("if if@1 is not True:") < found.index("y = 2")
    assert found[-1] == "return rose@.returned(value@)"


def test_a_jump_guards_what_follows():
    found = show(
        define(
            "def f(x):\n    for i in x:\n        if i:\n            if x:\n                continue\n        y = i\n"
        )
    )
    assert "continue@" in found
    assert re.search(r"rose@\.If\(rose@\.no_flag_set\(continue@\d\)", found)
    assert "                continue\n" not in found


def test_a_break_leaves_the_loop_of_the_host_too():
    found = show(define("def f(x):\n    for i in x:\n        if i:\n            break\n        g(i)\n    return i"))
    assert re.search(r"if rose@\.any_flag_set\(break@\d\):\s+break", found)


def test_jumps_in_inner_functions_are_their_own():
    assert "value@" not in show(define("def f(x):\n    def g():\n        return 1\n    return g()"))


def test_match_becomes_if():
    found = show(
        define(
            "def f(x):\n    match x:\n        case 1 | 2:\n            return 3\n        case y if y > 5:\n            return y"
        )
    )
    assert "match " not in found
    assert found.count("rose@.If(") == 2


def test_match_that_binds_in_an_or_stays_with_the_host():
    assert "match rose@.decided(x):" in show(
        define("def f(x):\n    y = 0\n    match x:\n        case (a, 0) | [a]:\n            y = a\n    return y")
    )


@pytest.mark.parametrize(
    ("expression", "rewritten"),
    [
        ("x and y", "rose@.right(y) if rose@.left(x, False) else rose@.skipped()"),
        ("x or y", "rose@.right(y) if rose@.left(x, True) else rose@.skipped()"),
        ("not x", "rose@.negate(x)"),
        ("x < y", "rose@.lt(x, y)"),
        ("x is None", "rose@.same(x, None, False)"),
        ("x[y]", "rose@.getitem(x, y)"),
        ("g(x, *y, k=1)", "rose@.call(g, x, *rose@.starred(y), k=1)"),
        ("x.append(y)", "rose@.append(x, y)"),
        ("x.append(*y)", "rose@.call(x.append, *rose@.starred(y))"),
        ("[x, y]", "rose@.record_allocation([x, y])"),
        (
            "[k for k in x if k]",
            "rose@.listed([comp@1.put(k) for comp@1, comp@1@items in rose@.listing(x, False, False, False)"
            " for k in comp@1@items for comp@1@if in comp@1.when(k)])",
        ),
        (
            "[k + y for k in x]",
            "rose@.listed([rose@.fresh(k + y) for k in x]) if rose@.few(x) else"
            " rose@.listed([comp@1.put(rose@.fresh(k + y))"
            " for comp@1, comp@1@items in rose@.listing(x, False, True, False) for k in comp@1@items])",
        ),
        (
            "[k for k in g(x)]",
            "rose@.listed([comp@1.put(k) for comp@1, comp@1@items in rose@.listing(rose@.call(g, x), False, True, False)"
            " for k in comp@1@items])",
        ),
        ("lambda k: x", "lambda k: x"),
        ("f'{x!r:>{y}}|'", "rose@.text((x, 'r', rose@.text('>', (y, '', ''))), '|')"),
    ],
)
def test_expressions(expression, rewritten):
    assert body(f"def f(x, y, g):\n    return {expression}") == [f"return rose@.returned({rewritten})"]


def test_names_that_may_be_unbound_are_asked_for():
    found = body("def f(x):\n    if x:\n        y = 1\n    return y")
    assert found[0] == "y = rose@.UNDEFINED"
    assert found[-1] == "return rose@.returned(rose@.bound(y, 'y'))"


def test_variables_that_inner_functions_rebind_are_cells():
    found = body("def f(x):\n    y = x\n    def g():\n        nonlocal y\n        y = 2\n    g()\n    return y")
    assert found[:2] == ["y = rose@.cell(rose@.UNDEFINED, 'y')", "y.v = x"]
    assert "y.v = 2" in found
