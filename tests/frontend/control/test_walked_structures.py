"""Objects of the host of which running chooses one after the other, as on the way through a tree: structures x ways to walk,
against CPython, with gradients."""

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest

import rosejit as rose
from tests.tables import crossed


@dataclass
class Leaf:
    value: float

    def told(self, x):
        return self.value * x


@dataclass
class Split:
    feature: int
    threshold: float
    left: Any
    right: Any
    name: str = "split"

    def told(self, x):
        return self.threshold + x


class Node:
    def __init__(self, key, weight, left=None, right=None):
        self.key, self.weight, self.left, self.right = key, weight, left, right


@dataclass(frozen=True)
class State:
    name: str
    gain: float
    limit: float


class Circle:
    def __init__(self, r):
        self.r = r

    def area(self, x):
        return math.pi * self.r * x


class Square:
    def __init__(self, a):
        self.a = a

    @property
    def r(self):
        return 0.5 * self.a

    def area(self, x):
        return self.a * self.a * x * x


def grown(depth, k=1):
    if depth == 0:
        return Leaf(0.5 * k)
    return Split(k % 2, 0.3 + 0.37 * (k % 5), grown(depth - 1, 2 * k), grown(depth - 1, 2 * k + 1), f"s{k % 3}")


def searched(keys):
    if not keys:
        return None
    middle = len(keys) // 2
    return Node(keys[middle], 1.0 + 0.1 * middle, searched(keys[:middle]), searched(keys[middle + 1 :]))


TREES = {
    "stump": "Split(0, 1.0, Leaf(2.0), Leaf(3.0))",
    "uneven": "Split(0, 0.5, Leaf(1.0), Split(1, 0.2, Leaf(2.0), Split(0, 2.0, Leaf(3.0), Leaf(4.0))))",
    "three deep": "grown(3)",
    "six deep": "grown(6)",
    "shared": "Split(0, 1.0, Split(1, 0.5, TWIN, Leaf(7.0)), Split(1, 1.5, Leaf(5.0), TWIN))",
}
TWIN = Leaf(4.0)
STEP = "node = node.left if xs[node.feature] < node.threshold else node.right"
WALKS = {
    "isinstance": f"while isinstance(node, Split):\n    {STEP}\nreturn node.value * x",
    "statements": "while isinstance(node, Split):\n    v = xs[node.feature]\n    if v < node.threshold:\n        node = node.left\n"
    "    else:\n        node = node.right\nreturn node.value * x",
    "not a leaf": f"while not isinstance(node, Leaf):\n    {STEP}\nreturn node.value + x",
    "attribute": f"while hasattr(node, 'left'):\n    {STEP}\nreturn node.value + x * x",
    "counted": f"k = 0\nwhile isinstance(node, Split):\n    {STEP}\n    k += 1\nreturn node.value * x * k",
    "sum on the way": f"t = 0.0\nwhile isinstance(node, Split):\n    t += node.threshold * x\n    {STEP}\nreturn t + node.value",
    "names": f"t = 0.0\nwhile isinstance(node, Split):\n    if node.name == 's1':\n        t += x\n    {STEP}\nreturn t + node.value",
    "for": f"for _ in range(n):\n    if isinstance(node, Split):\n        {STEP}\nreturn (node.value if isinstance(node, Leaf) else x) * x",
    "break": f"while True:\n    if isinstance(node, Leaf):\n        break\n    {STEP}\nreturn node.value * x",
    "method": f"while isinstance(node, Split):\n    {STEP}\nreturn node.told(x)",
    "for that is left": f"for _ in range(9):\n    if isinstance(node, Leaf):\n        break\n    {STEP}\nreturn node.value * x",
}
CHOSEN = {
    "strategies": "s = CIRCLE if x < 1.0 else SQUARE\nreturn s.area(x) + s.r",
    "in a loop": "t = 0.0\nfor i in range(n):\n    s = CIRCLE if x < 1.0 else SQUARE\n    t += s.area(x)\n    x = x + 0.2\nreturn t",
    "searched": "node = SEARCHED\nt = 0.0\nwhile node is not None:\n    t += node.weight * x\n"
    "    node = node.left if x < node.key else node.right\nreturn t",
    "searched to a key": "node = SEARCHED\nt = 0.0\nk = 0\nwhile node is not None and k < n:\n    t += node.weight * x\n    k += 1\n"
    "    if x < node.key:\n        node = node.left\n    else:\n        node = node.right\nreturn t + (0.0 if node is None else node.key)",
    "table": "s = {'a': CIRCLE, 'b': SQUARE}['a' if x < 1.0 else 'b']\nreturn s.area(x)",
    "list": "return [CIRCLE, SQUARE, CIRCLE][n % 3].area(x)",
    "states": "s = CALM\nfor i in range(n):\n    s = WILD if x > s.limit else CALM\n    x = x * s.gain\nreturn x if s.name == 'wild' else 2.0 * x",
}
CIRCLE, SQUARE = Circle(2.0), Square(3.0)
CALM, WILD = State("calm", 1.1, 1.25), State("wild", 0.9, 0.75)
SEARCHED = searched([0.2, 0.4, 0.7, 1.1, 1.3, 1.9, 2.2])


def made(body, path):
    text = "def f(x: float, n: int):\n" + textwrap.indent(body, "    ")
    path.write_text(text)
    scope = {**globals()}
    exec(compile(text, str(path), "exec"), scope)
    return scope["f"]


def agree(plain):
    compiled = rose.jit(plain, cache=False)
    for x, n in ((0.13, 0), (0.53, 2), (0.93, 3), (1.37, 1), (1.61, 4), (2.57, 9)):
        assert compiled(x, n) == pytest.approx(plain(x, n), rel=1e-15)
        slope = (plain(x + 1e-6, n) - plain(x - 1e-6, n)) / 2e-6
        assert rose.grad(compiled)(x, n) == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert rose.jvp(compiled, (x, n), (1.0, None))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("tree", "walk"), crossed(TREES, WALKS, 2))
def test_walks_through_trees(tree, walk, tmp_path):
    path = tmp_path / "walked.py"
    plain = made(f"xs = [x, x * x]\nnode = TREE\n{WALKS[walk]}", path)
    plain.__globals__["TREE"] = eval(TREES[tree])  # noqa: S307 - a row of the table above
    agree(plain)


@pytest.mark.parametrize("chosen", CHOSEN)
def test_objects_that_running_chooses(chosen, tmp_path):
    agree(made(CHOSEN[chosen], tmp_path / "chosen.py"))


def test_the_object_leaves_as_itself(tmp_path):
    plain = made(
        f"xs = [x, x * x]\nnode = TREE\nwhile isinstance(node, Split):\n    {STEP}\nreturn node", tmp_path / "o.py"
    )
    plain.__globals__["TREE"] = tree = grown(4)
    compiled = rose.jit(plain, cache=False)
    for x in (0.13, 0.53, 1.37, 2.57):
        assert compiled(x, 0) is plain(x, 0)
    assert isinstance(tree, Split)


def test_edits_of_a_tree_are_seen(tmp_path):
    plain = made(
        f"xs = [x, x * x]\nnode = TREE\nwhile isinstance(node, Split):\n    {STEP}\nreturn node.value * x",
        tmp_path / "e.py",
    )
    plain.__globals__["TREE"] = tree = grown(3)
    compiled = rose.jit(plain)

    def edits():
        yield None
        tree.threshold = 0.9
        yield None
        tree.left.left = Leaf(11.0)
        yield None
        tree.right.right.left.value = 13.0
        yield None
        tree.left.feature = 1 - tree.left.feature
        yield None

    for _ in edits():
        for x in (0.13, 0.53, 0.85, 1.37, 2.57):
            assert compiled(x, 0) == plain(x, 0)


def test_an_attribute_that_the_chosen_one_lacks(tmp_path):
    plain = made("s = CIRCLE if x < 1.0 else SQUARE\nreturn s.a * x", tmp_path / "lacks.py")
    assert rose.jit(plain)(1.5, 0) == 4.5
    with pytest.raises(AttributeError, match="'Circle' object has no attribute 'a'"):
        rose.jit(plain)(0.5, 0)


def test_what_is_chosen_is_not_changed(tmp_path):
    plain = made("s = Circle(2.0) if x < 1.0 else Square(1.0)\ns.r = x\nreturn s.r", tmp_path / "changed.py")
    with pytest.raises(rose.RoseError):
        rose.jit(plain)(0.5, 0)


MATCHED = {
    "named": "match node:\n    case Split(threshold=t):\n        return t * x\nreturn -1.0",
    "classes": "match node:\n    case Leaf():\n        return x\n    case Split():\n        return 2.0 * x\nreturn -1.0",
    "positional": "match node:\n    case Leaf(v):\n        return v * x\n    case Split(k, t):\n        return t * x + k\nreturn -1.0",
    "inner": "match node:\n    case Split(left=Leaf(v), right=Leaf(w)):\n        return v * x + w\n    case Split(right=Split(threshold=t)):\n"
    "        return t * x\n    case Leaf(value=v):\n        return v\nreturn -1.0",
    "value": "match node:\n    case Split(name='s1', threshold=t):\n        return t * x\n    case Split(feature=0):\n        return 3.0 * x\nreturn -1.0",
    "guard": "match node:\n    case Leaf(v) if v * x > 1.0:\n        return v * x\n    case Split(threshold=t) if t < x:\n        return t + x\n    case _:\n        return -x",
    "alternatives": "match node:\n    case Leaf() | Split(feature=1):\n        return x\n    case _:\n        return 2.0 * x",
    "walk": "while True:\n    match node:\n        case Leaf(value=v):\n            return v * x\n        case Split(feature=k, threshold=t, left=a, right=b):\n"
    "            node = a if xs[k] < t else b",
}


@pytest.mark.parametrize("way", MATCHED)
@pytest.mark.parametrize("tree", TREES)
def test_patterns_of_what_was_chosen(tmp_path, tree, way):
    body = f"xs = [x, x * x]\nnode = TREE\n{STEP}\n{MATCHED[way]}"
    plain = made(body, tmp_path / "matched.py")
    plain.__globals__["TREE"] = eval(TREES[tree])  # noqa: S307 - a row of the table above
    agree(plain)


ANEW = {
    "a name": "o = {0}\nfor _ in range(n):\n    o = {1}\nreturn o.r * x",
    "while": "o = {0}\nwhile n > 0:\n    n -= 1\n    o = {1}\nreturn o.r * x",
    "an element": "a = [{0}, {1}]\nfor _ in range(n):\n    a[1] = {2}\nreturn a[1].r * x + a[0].r",
    "an item": "d = {{'a': {0}, 'b': {1}}}\nfor _ in range(n):\n    d['b'] = {2}\nreturn d['b'].r * x",
    "an attribute": "b = Circle({0})\nfor _ in range(n):\n    b.r = {1}\nreturn b.r.r * x",
    "exchanged": "a, b = {0}, {1}\nfor _ in range(n):\n    a, b = b, {2}\nreturn a.r * x + b.r",
    "inside another": "a = Circle({0})\nfor _ in range(n):\n    a = Circle({1})\nreturn a.r.r * x",
    "changed then": "a = Circle({0})\nfor _ in range(n):\n    a = Circle(a.r)\n    a.r.r += x\nreturn a.r.r",
    "in a branch": "o = {0}\nfor k in range(n):\n    if k > 0:\n        o = {1}\nreturn o.r * x",
}


@dataclass
class Round:
    r: float
    n: int = 0


@pytest.mark.parametrize("way", ANEW)
@pytest.mark.parametrize("cls", ["Circle", "Round"])
def test_an_object_of_constants_is_made_in_each_iteration(tmp_path, cls, way):
    """It was staged for ever: each iteration left another one."""
    agree(made(ANEW[way].format(*[f"{cls}({r})" for r in (0.7, 0.2, 0.1)]), tmp_path / "anew.py"))
