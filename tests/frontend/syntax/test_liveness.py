"""What is summed up of most statements is what a walk over them finds."""

import ast
from pathlib import Path

import pytest

import rosejit
from rosejit.frontend.syntax import liveness
from rosejit.frontend.syntax.liveness import Uses
from rosejit.frontend.syntax.lower_jumps import lower
from rosejit.frontend.syntax.scope import analyse, parameters

FOLDER = Path(rosejit.__file__).parent
ODD = """
def f(a, b, c):
    d = [a for a in b if (lambda: c)()]
    d += a[b].c(*d, k=c) if a < b else {c: d}
    (e := a) + b
    [b for b in c]
    a.b = c = d
    return e
"""


def uses_agree(function):
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    uses = Uses(sorted(names | set(parameters(function))))
    plain = 0
    for node in ast.walk(function):
        if isinstance(node, ast.expr):
            reads, walked = uses.reads(node), uses.of(node)
            assert reads == walked.reads or (reads == -1 and _has_more(node))
            plain += reads >= 0
        elif isinstance(node, ast.stmt) and (found := uses.plain(node)) is not None:
            assert found[1] == uses.binds([node]) & found[1]
    return plain


def _has_more(node):
    return any(isinstance(inner, (ast.NamedExpr, ast.Lambda)) for inner in ast.walk(node))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("frontend/syntax/*.py")), ids=lambda path: path.stem)
def test_functions_of_the_package(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert not functions or sum(uses_agree(node) for node in functions) > 0


def test_odd_ones():
    assert uses_agree(ast.parse(ODD).body[0]) > 0


STRAIGHT = """
def f(a, b):
    c = a + b
    d = c.x.y(b, k=-a)[c:d]
    g = [c, (d, e)] < c
    e = math.sin(g)
    {last}
    return h
"""
LAST = ["h = c", "e = [h for h in e]; h = e", "h = lambda: c", "h = (c := 1)", "c += b; h = c", "del c; h = c"]
LAST += ["for h in e: b = c", "def h(): nonlocal d; d = e", "h = g if a else k", "while (h := c): a = b"]


def flows(node):
    """What is found of a function, its first statements looked at once, and as all others."""
    found = []
    for keep in (True, False):
        names = analyse(node)
        straight, names.straight = names.straight, names.straight if keep else 0
        flow = liveness.analyse(lower(node), names)
        found.append((straight, (flow.undefined, flow.unsure, [*flow.names.values()])))
    return found


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("read", [", d, e", ", d", ", e", ""])
def test_what_begins_straight_is_found_as_all_else(last, read):
    text = STRAIGHT.format(last=last)
    for name in ("d", "e"):
        if name not in read:
            text = text.replace("[c:d]", "[c:a]") if name == "d" else text.replace("(d, e)", "(d, a)")
    (straight, once), (_, walked) = flows(ast.parse(text).body[0])
    assert once == walked
    assert (straight >= 4) == (read == "")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("frontend/**/*.py")), ids=lambda path: path.stem)
def test_functions_that_begin_straight(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            (_, once), (_, walked) = flows(node)
            assert once == walked
