"""Finding the source of a function, wherever it was written."""

import functools
import importlib.util
import linecache
import sys
import textwrap

import pytest

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.source import find
from tests.frontend.oracle import define


def plain(x):
    return x + 1


def in_file(tmp_path, text, name="user_code"):
    """The module of a file with that text."""
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def first_line(function):
    """The text of the line in which the definition of `function` begins."""
    found = find(function)
    return linecache.getline(found.file, found.node.lineno).strip()


def test_functions_nested_functions_and_methods():
    def inner(x):
        return x

    class Shape:
        def area(self):
            return 1.0

    assert first_line(plain) == "def plain(x):"
    assert first_line(inner) == "def inner(x):"
    assert first_line(Shape.area) == "def area(self):"
    assert find(Shape.area).name.endswith("Shape.area")


def test_positions_are_those_of_the_file():
    found = find(plain)
    body = found.node.body[0]
    assert linecache.getline(found.file, body.lineno)[body.col_offset : body.end_col_offset] == "return x + 1"
    assert found.span(body).function == "plain"
    assert found.text == "def plain(x):\n    return x + 1\n"


def test_decorators_above_and_below():
    def above(f):
        return f

    @above
    @functools.lru_cache
    def cached(x):
        return x

    assert find(cached.__wrapped__).node.name == "cached"


def test_several_lambdas_in_one_line():
    f, g, h = lambda x: x + 1, lambda x: x * 2, lambda x: (lambda y: x + y)  # fmt: skip
    inner = h(3)
    texts = []
    for function in (f, g, h, inner):
        node = find(function).node
        line = linecache.getline(find(function).file, node.lineno)
        texts.append(line[node.col_offset : node.end_col_offset])
    assert texts == ["lambda x: x + 1", "lambda x: x * 2", "lambda x: (lambda y: x + y)", "lambda y: x + y"]


def test_lambdas_in_lines_of_their_own():
    table = {
        "double": lambda x: 2 * x,
        "triple": (
            lambda x: 3
            * x
        ),
    }  # fmt: skip
    assert find(table["double"]).node.body.left.value == 2
    assert find(table["triple"]).node.body.left.value == 3


def test_text_in_the_first_column(tmp_path):
    text = 'def outer():\n    def inner(x):\n        s = """\nin the first column\n"""\n        return x + len(s)\n    return inner\n'
    assert find(in_file(tmp_path, text).outer()).node.name == "inner"


def test_the_last_of_several_definitions(tmp_path):
    module = in_file(tmp_path, "def f(x):\n    return 1\n\ndef f(x):\n    return 2\n")
    assert find(module.f).node.body[0].value.value == 2


def test_wide_characters():
    f = define("def f(x):\n    return 'é', x + 1")
    assert find(f).node.body[0].col_offset == 4


def test_text_that_linecache_has():
    assert find(define("def f(x):\n    return x * 3")).node.name == "f"


def test_no_text():
    names = {}
    exec("def f(x):\n    return x", names)
    with pytest.raises(UnsupportedSyntax, match="the source of `f` cannot be found") as caught:
        find(names["f"])
    assert "linecache" in caught.value.help


def test_text_that_changed(tmp_path):
    module = in_file(tmp_path, "x = 1\n\ndef moved(x):\n    return x\n", "moving")
    (tmp_path / "moving.py").write_text("# nothing is left of it, and the file is longer now\n", encoding="utf-8")
    with pytest.raises(UnsupportedSyntax, match="`moved` is not where it was") as caught:
        find(module.moved)
    assert caught.value.help == "reload the module"


def test_text_that_is_no_python_any_more(tmp_path):
    module = in_file(tmp_path, "def broken(x):\n    return x\n", "breaking")
    (tmp_path / "breaking.py").write_text("def broken(x:\n    return x, and more\n", encoding="utf-8")
    with pytest.raises(UnsupportedSyntax, match="is not where it was"):
        find(module.broken)
