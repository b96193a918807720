"""What a program of two numbers and two counts comes to when it is staged, beside CPython."""

from typing import Any

import rosejit as rose
from tests.frontend.oracle import define, run, same, stage

HEAD = "class P:\n    def __init__(self, u, w):\n        self.u = u\n        self.w = w\n\n"
"""A class whose objects have two attributes."""
KINDS = {
    "list": ("[{0}, {1}]", "{0}[0]", "{0}[1]"),
    "dict": ("{{'u': {0}, 'w': {1}}}", "{0}['u']", "{0}['w']"),
    "object": ("P({0}, {1})", "{0}.u", "{0}.w"),
    "nested": ("[[{0}], [{1}]]", "{0}[0][0]", "{0}[1][0]"),
    "holder": ("P([{0}], {1})", "{0}.u[0]", "{0}.w"),
    "pairs": ("([{0}], {1}, [{1}])", "{0}[0][0]", "{0}[2][0]"),
}
"""How one is made of two numbers, and the two places that are changed."""
CALLS = ((0.75, 0.25, 1, 2), (-0.5, 1.5, 0, 3), (1.25, 2.0, 2, 0), (2.0, 1.0, 1, 1))
"""The numbers `x` and `y`, an index `i` below 3, and a small count `n`."""


def outcome(source: str) -> str:
    """`right` or `wrong`, or what it is refused for."""
    f: Any = define(source, rose=rose)
    try:
        staged = stage(f, *CALLS[0])
    except rose.RoseError as error:
        return str(error).splitlines()[0]
    for call in CALLS:
        try:
            wanted = f(*call)
        except Exception as error:
            wanted = type(error)
        try:
            found = run(staged, f, *call)
        except Exception as error:
            if not isinstance(wanted, type) or not isinstance(error, wanted):
                return f"wrong: {error!r} for {wanted!r}"
            continue
        if isinstance(wanted, type) or not same(found, wanted):
            return f"wrong: {found!r} for {wanted!r} at {call}"
    return "right"
