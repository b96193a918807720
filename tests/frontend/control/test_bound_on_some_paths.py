"""What is asked of an object that has an attribute on some paths: CPython's answer, or a refusal that names it."""

import copy

import pytest

import rosejit as rose
from tests.frontend.oracle import define

WAYS = {
    "if": "if x > 0.0:\n        s.w = x * 3.0",
    "both": "if x > 0.0:\n        s.w = x * 3.0\n    else:\n        s.w = 2.0",
    "loop": "for _ in rose.range(n):\n        s.w = x * 3.0",
    "while": "k = 0\n    while k < n:\n        s.w = x * 3.0\n        k += 1",
    "deleted": "s.w = 1.0\n    if x > 0.0:\n        del s.w",
}
ANSWERED = {
    "plain": "s.w", "getattr": "getattr(s, 'w')", "default": "getattr(s, 'w', 7.0)", "hasattr": "hasattr(s, 'w')",
    "chosen": "s.w if hasattr(s, 'w') else -1.0", "of a copy": "hasattr(copy.copy(s), 'w')",
    "copied": "copy.copy(s).w", "other": "hasattr(s, 'a')", "missing": "getattr(s, 'zzz', x)",
}  # fmt: skip
AT_ONCE = {
    "dict": "'w' in s.__dict__", "vars": "len(vars(s))", "get": "s.__dict__.get('w', 7.0)", "dir": "'w' in dir(s)",
    "values": "sum(vars(s).values())", "unpacked": "len({**vars(s)})", "repr": "len(repr(s))",
    "copied dict": "len(dict(s.__dict__))", "pop": "s.__dict__.pop('w', 9.0)",
}  # fmt: skip
CALLS = [(1.5, 2), (-1.5, 0)]


class Record:
    def __init__(self):
        self.a = 1.0

    def __repr__(self):
        return f"Record{sorted(self.__dict__)}"


def outcome(run, args):
    try:
        return run(*args)
    except AttributeError as error:
        return str(error).partition("\n")[0]
    except rose.UnsupportedSyntax as error:
        return error


def both(way, use):
    text = f"def f(x: float, n: int):\n    s = Record()\n    {WAYS[way]}\n    return {use}\n"
    plain = define(text, Record=Record, copy=copy, rose=rose)
    return plain, rose.jit(plain)


@pytest.mark.parametrize("use", ANSWERED)
@pytest.mark.parametrize("way", WAYS)
def test_one_attribute(way, use):
    plain, staged = both(way, ANSWERED[use])
    for args in CALLS:
        assert outcome(staged, args) == outcome(plain, args)


@pytest.mark.parametrize("use", AT_ONCE)
@pytest.mark.parametrize("way", WAYS)
def test_all_at_once(way, use):
    plain, staged = both(way, AT_ONCE[use])
    for args in CALLS:
        found = outcome(staged, args)
        assert "whether it has `w` only running tells" in str(found) if way != "both" else found == plain(*args)
