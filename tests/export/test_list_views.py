"""Lists of structures in pages: what Python's callers get, though they are arrays inside."""

from dataclasses import dataclass

import numpy as np

import rosejit as rose
from rosejit import Array
from rosejit.abi import Leaf, Node, Slot
from rosejit.export.list_views import listed
from tests.export.machine import javascript


@dataclass
class Body:
    at: np.ndarray
    name: str
    mass: float
    fixed: bool


@rose.jit
def bodies(x: Array[2]):
    return 1.0, [Body(x * i, "b", 2.0 * i, i > 1) for i in rose.range(3)]


def test_a_page_gets_structures(tmp_path):
    rose.export(bodies, np.ones(2), path=tmp_path)
    text = 'import load from "./bodies.mjs";\nconst { bodies } = await load();\n'
    text += "console.log(JSON.stringify(bodies([1, 2]), (key, v) => v instanceof Float64Array ? [...v] : v));"
    found = javascript(tmp_path, text)
    wanted = [{"at": [i, 2 * i], "name": "b", "mass": 2 * i, "fixed": i > 1} for i in range(3)]
    assert found in (None, [1, wanted])
    assert "{ at: Float64Array; name:" in (tmp_path / "bodies.d.mts").read_text()


def test_where_the_parts_are():
    class Rows:
        def __rose_host__(self): ...

    inside = Node("tuple", (Leaf("array", (2, 3)), Leaf("array", (2,), "bool")))
    slots = (Slot("array", 64, (2, 3)), Slot("array", 112, (2,), "bool"))
    tree, parts = listed(Node("dataclass", (inside,), ("value",), Rows), slots)
    row = Node("tuple", (Leaf("array", (3,)), Leaf("bool")))
    assert tree == Node("list", (row, row))
    assert [(part.kind, part.offset) for part in parts] == [("array", 64), ("bool", 112), ("array", 88), ("bool", 113)]
