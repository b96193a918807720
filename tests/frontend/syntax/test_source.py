"""Finding the source of a function, wherever it was written."""

import ast
import functools
import importlib.util
import linecache
import sys
import textwrap
from pathlib import Path

import pytest

import rosejit
from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax import source
from rosejit.frontend.syntax.code_comparison import every
from rosejit.frontend.syntax.source import find
from rosejit.frontend.syntax.translate import translate
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


# --- a definition from its own lines

ODD = (
    """
import os

@a.b(
    1,
)
def decorated(x,
y): return x


class Shape:
    def inside(self):
        def inner(): return """
    + "'''text\nof two lines'''"
    + """
        # a comment further in
    # and one further out
        x = (1,
2)
        y = 3 + \\
4
        return inner, x, y

    async def other(self): pass
	def tab(self):
		return 1
    def ends_in_nothing(self):
        return 1
        if 0:
            pass


def one_line(x): return x; y: int
if os:
    def twice(): return 1
else:
    def twice(): return 2

def last(): x = """
    + "'''\nif this were code\n'''"
)


def assert_alike(text):
    """Each `def` as it is in the tree of the whole text."""
    lines = text.splitlines(keepends=True)
    definitions, _ = source._definitions(text)
    found = 0
    for code in every(compile(text, "<text>", "exec")):
        nodes = definitions.get(code.co_firstlineno, ())
        whole = [node for node in nodes if getattr(node, "name", "<lambda>") == code.co_name]
        if whole and code.co_name != "<lambda>":
            alone = [source._parsed_alone(lines, code)]
            assert list(map(_dumped, alone)) == list(map(_dumped, whole)), code
            found += 1
    return found


def _dumped(node):
    return ast.dump(node, include_attributes=True)


def test_a_definition_is_told_from_the_lines_below():
    assert assert_alike(ODD.replace("\tdef", "    def").replace("\t\t", "        ")) == 10


@pytest.mark.parametrize("path", sorted(Path(rosejit.__file__).parent.glob("*/*s.py")), ids=lambda path: path.stem)
def test_definitions_of_the_package(path):
    text = path.read_text(encoding="utf-8")
    assert assert_alike(text) or "\ndef " not in text


def all_kinds(x, items, **more):
    total = 0.0
    try:
        with open(x) as file, more["lock"]:
            total += sum(item * 2 for item in file if item > 1)
    except (ValueError, KeyError) as error:
        raise RuntimeError(f"{error!r:>{x}}") from error
    match items:
        case [1, *rest]:
            total = rest[1:2, 0].y
        case {"a": rest} if rest:
            pass
        case str(a) if a:
            del total

    def inner(y: float = 1.0, *z, k=2) -> float:
        nonlocal total
        total = y
        while (n := y) < 3 and not z:
            if n in z:
                continue
            break
        return lambda q=k: [q for q in z for p in q if p]

    for i, j in enumerate(items):
        items[i].z *= j if j else -j
        assert i, "text"
    return inner, total


def test_what_the_parser_made_stays_as_it_is():
    node = find(all_kinds).node
    before = _dumped(node)
    translate(all_kinds)
    assert find(all_kinds).node is node
    assert _dumped(node) == before
