"""Lazy dataclasses do what the standard ones do, before and after their first call."""

import copy
import dataclasses
import pickle
import threading
from dataclasses import dataclass as standard
from dataclasses import field
from typing import Any, ClassVar

import pytest

from rosejit.lazy_dataclass import dataclass as lazy

OPTIONS = [
    {"slots": slots, "frozen": frozen, "eq": eq} for slots in (True, False) for frozen in (True, False)
    for eq in (True, False)
]  # fmt: skip


class Point:
    """Of the plane."""

    x: int
    y: Any = 2
    zs: list[int] = field(default_factory=list[int])
    hidden: int = field(default=3, repr=False, compare=False)
    made: str = field(init=False, default="here")
    kinds: ClassVar[int] = 7


def both(options: dict[str, bool], **more: Any) -> list[Any]:
    own = {key: value for key, value in vars(Point).items() if key not in ("__dict__", "__weakref__")}
    return [decorator(**options)(type("Point", (), {**own, **more})) for decorator in (standard, lazy)]


def outcome(f: Any) -> Any:
    try:
        return f()
    except Exception as error:
        return type(error), str(error).replace("Point.__init__()", "method()")


USES = {
    "repr": lambda p: repr(p(1)),
    "defaults": lambda p: [getattr(p(1), f.name) for f in dataclasses.fields(p)],
    "fresh lists": lambda p: p(1).zs is not p(1).zs,
    "by name": lambda p: repr(p(zs=[1], x=4, hidden=5)),
    "a field that is not given": lambda p: p(1, made="there"),
    "an argument is missing": lambda p: p(),
    "equal": lambda p: (p(1) == p(1), p(1) == p(2), p(1) != p(1), p(1, hidden=4) == p(1), p(1) == 1),
    "hash": lambda p: len({hash(one) for one in [p(1, 2, ()), p(1, 2, ())]}),
    "hash of what has none": lambda p: hash(p(1, 2, [])) and None,
    "set": lambda p: setattr(p(1), "x", 2),
    "delete": lambda p: delattr(p(1), "x"),
    "replace": lambda p: repr(dataclasses.replace(p(1), y=5)),
    "copy": lambda p: repr(copy.deepcopy(p(1, [2]))),
    "as a dict": lambda p: dataclasses.asdict(p(1)),
    "pattern": lambda p: p.__match_args__,
    "document": lambda p: p.__doc__,
    "slots": lambda p: getattr(p, "__slots__", None),
    "state": lambda p: getattr(p(1), "__getstate__", lambda: None)(),
}


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(name for name, on in o.items() if on) or "none")
@pytest.mark.parametrize("use", USES)
def test_as_the_standard_one(use, options):
    expected, got = both(options)
    assert expected is not got
    for _ in range(2):
        assert outcome(lambda: USES[use](got)) == outcome(lambda: USES[use](expected))


def test_methods_of_the_class_stay():
    def shown(self):
        return "mine"

    def hashed(self):
        return 5

    def equal(self, other):
        return True

    options = {"slots": True, "frozen": True}
    for made in both(options, __repr__=shown, __eq__=equal):
        assert (repr(made(1)), made(1) == 4, hash(made(1, 2, ())) != 5) == ("mine", True, True)
    for made in both(options, __hash__=hashed):
        assert hash(made(1)) == 5


def test_what_follows_the_fields():
    def after(self):
        self.y = self.x + 1

    for made in both({"slots": True}, __post_init__=after):
        assert made(4).y == 5


@lazy(slots=True)
class Base:
    """Has a field."""

    a: int


@lazy(slots=True)
class Derived(Base):
    """Has one more."""

    b: int = 2


class Plain(Base):
    """Has its own `__init__`."""

    def __init__(self) -> None:
        super().__init__(9)


@lazy(slots=True, frozen=True)
class Pickled:
    """Known by name."""

    a: int
    b: tuple[int, ...] = ()


def test_inheritance():
    assert (repr(Derived(1)), Plain().a, repr(Base(3))) == ("Derived(a=1, b=2)", 9, "Base(a=3)")
    assert Derived(1, 2) != Base(1)
    assert Derived(1, 2) == Derived(1)


def test_pickles():
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(Pickled(1, (2,)), protocol)) == Pickled(1, (2,))


def test_nothing_is_written_before_it_is_used():
    made = both({"slots": True, "frozen": True})[1]
    before = made.__init__
    made(1)
    written = made.__init__
    assert before is not written
    made(2)
    assert made.__init__ is written
    assert written.__qualname__ == "Point.__init__"


def test_threads_write_the_same():
    made = both({"slots": True, "frozen": True})[1]
    start, found = threading.Barrier(8), []

    def work() -> None:
        start.wait()
        found.append(made(1, 2, ()) == made(1, 2, ()) and hash(made(1, 2, ())))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
