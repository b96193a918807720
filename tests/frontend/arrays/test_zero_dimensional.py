"""Numbers that are arrays without dimensions in NumPy: what gives them x operators in place x who else sees them."""

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import RoseError
from rosejit.frontend.hints.hints import Vec
from tests.frontend.oracle import define, evaluate, fault, same, says

MADE = """
np.where(c, x, 2.0)
np.where(x > 0, x, y)
np.where(c, n, 2)
np.where(c, x > 0, False)
np.where(True, x, y)
np.squeeze(v[:1])
np.squeeze(np.array([x]))
np.squeeze(np.array([1.0]))
np.squeeze(x)
v.copy()[:1].squeeze()
np.expand_dims(x, ())
np.array([x, y])[0, ...]
np.array([1.0, 2.0])[..., 1]
np.array([[x]])[0, 0, ...]
np.broadcast_to(x, ())
np.select([c], [x], y)
np.piecewise(x, [x > 0], [1.0, 2.0])
np.vectorize(lambda t: t * 2)(x)
np.vectorize(lambda t: t)(x)
np.tensordot(v, v, 1)
np.isin(x, [1.0, 2.0])
np.apply_along_axis(lambda r: r.sum(), 0, v)
np.cov(v)
np.array(x)
np.full((), x)
np.array([x]).reshape(())
np.where(c, np.float32(1.5), np.float32(2.5))
np.array(x, dtype=np.float32)
np.where(c, 1j * x, 2j)
np.array(x * 1j)
np.real(x)
np.kron(x, y)
np.clip(x, 0, 1)
v[0]
np.sum(v)
""".strip().splitlines()
UPDATES = ("-= 1.0", "*= 2", "/= 2.0", "**= 2", "//= 2", "%= 2.0")
WAYS = {
    "a name": "a = {made}; b = a; a {update}; return a * 1.0, b * 1.0",
    "a list": "a = {made}; b = [a]; a {update}; return a * 1.0, b[0] * 1.0",
    "an element": "a = {made}; b = [a]; b[0] {update}; return a * 1.0, b[0] * 1.0",
    "a helper": "a = {made}; b = helped(a); return a * 1.0, b * 1.0",
    "a branch": "a = {made}; b = a\n    if x > 1: a {update}\n    return a * 1.0, b * 1.0",
    "one of two": "a = {made}; b = a if x > 1 else y\n    b {update}\n    return a * 1.0, b * 1.0",
    "a loop": "a = {made}; b = a\n    for _ in rose.range(2): a {update}\n    return a * 1.0, b * 1.0",
    "the next iteration": "a = {made}; s = 0.0\n    for _ in rose.range(3):\n        b = a; b {update}; s += b\n    return s",
    "a while": "a = {made}; b = a; k = 0\n    while k < n and x > 0: a {update}; k += 1\n    return a * 1.0, b * 1.0",
    "the array": "q = v.copy(); a = q[0, ...]; a {update}; return q * 1.0",
    "written": "q = v.copy(); a = q[0, ...]; q[0] = 9.0; return a * 1.0",
    "an argument": "a = {made}; a {update}; return a * 1.0, x * 1.0, v * 1.0",
}
ALONE = {
    "a number": "a = {made}; a {update}; a {update}; return a * 1.0",
    "a loop": "a = {made}\n    for _ in rose.range(3): a {update}\n    return a * 1.0",
    "a branch": "a = {made}\n    if x > 1: a {update}\n    else: a = y\n    return a * 1.0",
    "used before": "a = {made}; s = a * x; b = a; s += b; a {update}; return a * s",
    "bound again": "a = {made}; b = a; b = b - 1.0; a = a * b; a {update}; return a * b",
    "a while": "a = {made}\n    while a < 30.0: a += 7.5; a = a * 1.5\n    return a * 1.0",
    "made a number": "a = {made}; b = float(a); d = b; b {update}; a {update}; return a * b * d",
    "of many": "s = 0.0\n    for k in rose.range(4):\n        a = {made}; a {update}; s += a\n    return s",
}
NUMBERS = ("np.where(c, x, 2.0)", "np.where(x > 0, x, y)", "np.select([c], [x], y)", "np.tensordot(v, v, 1)")
ARGUMENTS = (3.0, 0.5, 5, True, np.array([1.5, 2.5, 4.0]))
SCOPE = {"np": np, "rose": rose, "Vec": Vec}


def program(body: str, made: str, update: str):
    """A function whose body has what is made and the update in it."""
    filled = body.format(made=made, update=update)
    helped = f"def helped(q):\n    q {update}\n    return q\n"
    return define(f"{helped}\ndef f(x: float, y: float, n: int, c: bool, v: Vec[3]):\n    {filled}\n", **SCOPE)


@pytest.mark.parametrize("way", WAYS)
def test_what_sees_an_update_in_place_is_refused_or_right(way: str) -> None:
    refused = 0
    for made in MADE:
        for update in UPDATES if made in NUMBERS else UPDATES[:2]:
            f = program(WAYS[way], made, update)
            try:
                found = evaluate(f, *ARGUMENTS)
            except RoseError:
                refused += 1
                continue
            wanted = f(*ARGUMENTS)
            assert same(found, wanted), f"{way}: {made}, {update}: {found!r}, CPython says {wanted!r}"
    assert refused < len(MADE) * len(UPDATES)


@pytest.mark.parametrize("way", ALONE)
def test_what_nobody_else_sees_is_updated(way: str) -> None:
    for made in NUMBERS:
        for update in UPDATES:
            f = program(ALONE[way], made, update)
            found, wanted = evaluate(f, *ARGUMENTS), f(*ARGUMENTS)
            assert same(found, wanted), f"{way}: {made}, {update}: {found!r}, CPython says {wanted!r}"


def test_what_an_update_in_place_says() -> None:
    f = program(WAYS["a name"], "np.where(c, x, y)", "-= 1.0")
    error = fault(f, *ARGUMENTS)
    says(error, "changed in place by another name", "`np.where`", line="a = np.where", help="y = y - 1")
    f = program(WAYS["an argument"], "np.where(c, n, 2)", "-= 1.0")
    says(fault(f, *ARGUMENTS), "`-=` gives another type", line="a = np.where")
    f = program(WAYS["the array"], "", "-= 1.0")
    says(fault(f, *ARGUMENTS), "`-=` of a view without dimensions", "`x[..., k]`", line="q = v.copy()")
