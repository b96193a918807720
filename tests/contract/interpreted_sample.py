"""A module for `test_interpreted.py` to import in a process of its own."""

import rosejit as rose


@rose.jit
def cube(x: float) -> float:
    return x**3
