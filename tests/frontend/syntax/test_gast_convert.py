"""Trees as gast makes them itself, of all the functions of the package."""

import ast
from pathlib import Path

import pytest

import rosejit
from rosejit.frontend.syntax.gast_convert import converted, gast

FOLDER = Path(rosejit.__file__).parent
ODD = """
@a.b
async def f(x: int = 1, /, *y: "z", k=None, **kw) -> T:
    async with a as b, c: await d
    try: raise E from e
    except (A, B) as e: del x[1:2, ::3], y.z
    except C: pass
    finally: global g
    match x:
        case {"a": [1, *_, -2.0], **rest} | P(q=None) as s if t: return lambda *a, b=2: (yield a)
    async for i in {**m, 1: 2}: print(f"{i!r:>{w}}|", *l, **n, sep="")
    x: int = [j async for j in (u := v)] if not a is not b < c @ d else ...
"""


def assert_alike(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            wanted = gast.dump(gast.ast_to_gast(node), include_attributes=True)
            assert gast.dump(converted(node), include_attributes=True) == wanted


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*s.py")), ids=lambda path: path.stem)
def test_functions_of_the_package(path):
    assert_alike(ast.parse(path.read_text(encoding="utf-8")))


def test_every_construct():
    assert_alike(ast.parse(ODD))
