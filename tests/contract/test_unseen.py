"""Objects that raise where one asks what they are: refused in words of ours, at the line of the member that raises."""

import linecache

import pytest

import rosejit as rose

TEXT = """
import functools
class Metaclass(type):
    def __hash__(cls): raise KeyError("hash")
class Hidden:
    {}
    k = 2.0
kept = {}
def f(x): return kept.k * x
def g(x, held): return held.k * x
"""
MEMBERS = {
    "__getattribute__": "def __getattribute__(self, name): raise KeyError(name)",
    "__class__": "def __class__(self): raise KeyError('class')\n    __class__ = property(__class__)",
    "__getattr__": "def __getattr__(self, name): raise KeyError(name)",
    "__dict__": "def __dict__(self): raise KeyError('dict')\n    __dict__ = property(__dict__)",
    "__hash__": "def __hash__(self): raise KeyError('hash')",
    "__eq__": "def __eq__(self, other): raise KeyError('eq')",
    "__len__": "def __len__(self): raise KeyError('len')",
}
PLACES = ("global", "argument", "static", "gradient")


def called(scope, place):
    """What a function gives that is given, or reads, the object."""
    f, g, kept = scope["f"], scope["g"], scope["kept"]
    match place:
        case "global":
            return rose.jit(f)(3.0)
        case "argument":
            return rose.jit(g)(3.0, kept)
        case "static":
            return rose.jit(static_argnames="held")(g)(3.0, kept)
    return 3.0 * rose.grad(f)(3.0)


def outcome(scope, place):
    """What it gives, or the error of ours."""
    try:
        return called(scope, place)
    except rose.RoseError as error:
        return error


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("member", MEMBERS)
def test_what_an_object_raises_when_it_is_looked_at(member, place):
    text = TEXT.format(MEMBERS[member], "Hidden()")
    name = f"<unseen {member} {place}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"__name__": "unseen"}
    exec(compile(text, name, "exec"), scope)
    found = outcome(scope, place)
    assert found == 6.0 or (found.span.file == name and found.help)
