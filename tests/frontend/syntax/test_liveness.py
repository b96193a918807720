"""What is summed up of most statements is what a walk over them finds."""

import ast
from pathlib import Path

import pytest

import rosejit
from rosejit.frontend.syntax.liveness import Uses
from rosejit.frontend.syntax.scope import parameters

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
