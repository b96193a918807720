"""Augmented assignment to items and attributes that hold containers: these change in place, and not at another time."""

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError
from tests.frontend.oracle import define


class Holder:
    """An object with one attribute."""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, index):
        return self.held

    def __setitem__(self, index, value):
        self.held = value


TARGETS = {
    "item of a list": ("h = [0.0, {value}]", "h[1]"),
    "item of a dict": ("h = {{'a': {value}}}", "h['a']"),
    "item of a row": ("h = [[{value}]]", "h[0][0]"),
    "attribute": ("h = Holder({value})", "h.held"),
    "attribute in a list": ("h = [Holder({value})]", "h[0].held"),
    "item of an object": ("h = Holder({value})", "h[0]"),
    "its dictionary": ("h = Holder({value})", "h.__dict__['held']"),
}
VALUES = {
    "[1.0]": ("+= [2.0]", "*= 2", "+= (x,)"),
    "{1.0}": ("|= {2.0}", "&= {3.0}", "-= {1.0}", "^= {1.0, 2.0}"),
    "{'k': 1.0}": ("|= {'j': 2.0}",),
    "np.ones(2)": ("+= x", "*= 2.0", "/= 4.0"),
    "bytearray(b'a')": ("+= b'b'",),
    "1.0": ("+= x", "-= 2.0", "**= 2"),
    "(1.0,)": ("+= (2.0,)",),
}
PLACES = {
    "straight": "{change}",
    "if": "if x > 0:\n        {change}",
    "else": "if x > 0:\n        x = x + 1.0\n    else:\n        {change}",
    "loop": "for i in rose.range(3):\n        {change}",
    "while": "k = x\n    while k > 0.5:\n        {change}\n        k = k - 1.0",
    "try": "try:\n        y = 1.0 / (x - 1.0)\n        {change}\n    except ZeroDivisionError:\n        x = x + 2.0",
    "loop of the host": "for i in range(3):\n        {change}",
}
SOURCE = """
def measure(value):
    if isinstance(value, dict):
        return sum(value.values()) + len(value)
    if isinstance(value, (list, tuple, set, bytearray)):
        return sum(value) + len(value)
    return np.sum(value)


def f(x):
    {made}
    seen = {target}
    {change}
    return x + measure({target}) + 100.0 * measure(seen)
"""


def program(target, value, change, place):
    """The function with this augmented assignment at this place."""
    made, name = TARGETS[target]
    change = PLACES[place].format(change=f"{name} {change}")
    return SOURCE.format(made=made.format(value=value), target=name, change=change)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("target", TARGETS)
def test_as_python_or_refused(target, value, place):
    refused = 0
    for change in VALUES[value]:
        f = define(program(target, value, change, place), rose=rose, np=np, Holder=Holder)
        for x in (-1.0, 1.0, 3.0):
            try:
                found = rose.jit(f)(x)
            except RoseError:
                refused += 1
                continue
            assert found == f(x), (change, x)
    if place == "straight":
        assert not refused


OUTSIDE = {
    "item of a list": "held[0]",
    "item of a copy": "list(held)[0]",
    "item of a dict": "table['a']",
    "attribute": "holder.held",
    "attribute of its class": "kept().held",
    "its dictionary": "holder.__dict__['held']",
}


@pytest.mark.parametrize("change", ["+= 1.0", "*= x"])
@pytest.mark.parametrize("target", OUTSIDE)
def test_arrays_from_outside_are_not_changed_by_staging(target, change):
    """Else the first call alone would change them, or NumPy would be given staged numbers."""
    array = np.ones(2)
    kept = type("Kept", (), {"held": array})
    world = {"held": [array], "table": {"a": array}, "holder": Holder(array), "kept": kept}
    f = rose.jit(define(f"def f(x):\n    {OUTSIDE[target]} {change}\n    return x * {OUTSIDE[target]}[0]\n", **world))
    with pytest.raises(RoseError, match="an array from outside is never written by staged code"):
        f(2.0)
    assert array.tolist() == [1.0, 1.0]
