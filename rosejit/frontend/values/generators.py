"""Generators of random numbers: their state in staged code, and at the border NumPy's own objects.

The state of a PCG64 (O'Neill, 2014) is six Ints: the high and the low half of its number, those of the increment, and
whether half of a draw is left, with that half.
"""

# Values of users are of any type: what they are is asked while staging.

import sys
from collections.abc import Iterator
from typing import Any

from rosejit.abi import Leaf, Node
from rosejit.errors import StagingTypeError
from rosejit.frontend.values.pytree import parts
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

WORDS = 6
_SIGN, _SPAN = 1 << 63, 1 << 64
_STATE = ("state",)


@dataclass(frozen=True, eq=False, repr=False)
class Generator:
    """A `np.random.Generator` whose numbers staged code draws: `state` is an array that every draw writes."""

    state: Any

    def __repr__(self) -> str:
        return "<staged Generator>"

    @classmethod
    def __rose_given__(cls, given: Any) -> Any:
        """What stands for a generator that a caller in Python gives."""
        if not is_host_generator(given):
            return given
        return _of_sources(cls, words_of(given), [given])

    def __rose_after__(self, state: Any) -> None:
        """Let the caller's generators be where a compiled call left them."""
        sources: list[Any] = vars(self)["sources"]
        for source, before, after in zip(sources, np.atleast_2d(self.state), np.atleast_2d(state), strict=True):
            if not np.array_equal(words_of(source), before):
                raise StagingTypeError(
                    "a Generator was drawn from elsewhere while a compiled function drew from it",
                    help="give each thread, and each host function, a generator of its own: `rng.spawn(n)`",
                )
            source.bit_generator.state = _named(after)

    def __rose_host__(self) -> Any:
        """The generator that a caller in Python gets."""
        source: Any = np.random.PCG64(0)
        source.state = _named(self.state)
        return np.random.Generator(source)


@dataclass(frozen=True, eq=False, repr=False)
class Generators(Generator):
    """Generators of a batch, one a row of `state`."""

    @classmethod
    def __rose_given__(cls, given: Any) -> Any:
        """What stands for a list of generators that a caller in Python gives."""
        if not is_batch(given):
            return given
        return _of_sources(cls, np.array([words_of(one) for one in given]), list(given))


def _of_sources(cls: type[Generator], words: Any, sources: list[Any]) -> Generator:
    made = cls(words)
    vars(made)["sources"] = sources
    return made


def is_host_generator(value: Any) -> bool:
    """Whether a value is a generator of NumPy's that has a staged form."""
    return type(value).__name__ == "Generator" and is_numpys(value) and type(value.bit_generator) is np.random.PCG64


def is_numpys(value: Any) -> bool:
    """Whether a value is a `np.random.Generator` of any kind."""
    module = sys.modules.get("numpy.random")  # NumPy loads it when it is first asked for: 15 ms
    return module is not None and isinstance(value, module.Generator)


def is_batch(value: Any) -> bool:
    """Whether a value is a list of generators, of NumPy's or staged ones' rows."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(is_host_generator(one) for one in value)


def words_of(source: Any) -> Any:
    """The state of a generator, or of a bit generator, of NumPy's."""
    state = getattr(source, "bit_generator", source).state
    halves = [half for key in ("state", "inc") for half in divmod(state["state"][key], _SPAN)]
    return np.array([(word ^ _SIGN) - _SIGN for word in (*halves, state["has_uint32"], state["uinteger"])])


def _named(words: Any) -> dict[str, Any]:
    high, low, inc_high, inc_low, kept, half = (int(word) % _SPAN for word in words)
    state = {"state": high * _SPAN + low, "inc": inc_high * _SPAN + inc_low}
    return {"bit_generator": "PCG64", "state": state, "has_uint32": kept, "uinteger": half}


def node_of(cls: type[Generator], *rows: int) -> Node:
    """What generators are at the border of a function: one, or so many rows."""
    return Node("dataclass", (Leaf("array", (*rows, WORDS), "int"),), _STATE, cls)


def generators_in(value: Any) -> Iterator[Generator]:
    """The staged generators in a structure, in the order of its leaves."""
    pending, seen = [value], set[int]()  # what is static may be in itself
    while pending:
        item = pending.pop()
        if isinstance(item, Generator):
            yield item
        elif id(item) not in seen and (inside := parts(item)):
            seen.add(id(item))
            pending += reversed(inside)
