"""What a hint takes, what tells calls apart and what compiled code looks for are one fact: code for one value takes
another exactly if both have one key."""

import collections
import enum
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from rosejit.errors import RoseError
from rosejit.runtime.marshalling.marshal import Mismatch
from tests.tables import part


class Pair(NamedTuple):
    a: float
    b: float


class Ints(NamedTuple):
    a: int
    b: int


class Level(enum.IntEnum):
    LOW = 1


@dataclass
class Point:
    a: float


@dataclass
class Wider(Point):
    b: float = 2.0


class Family(typing.Protocol):
    def loss(self, z: float) -> float: ...


NUMBERS = [
    1, 2.5, True, 1j, None, Level.LOW, np.float64(2.5), np.int64(3), np.float32(1.5), np.int8(3), np.bool_(True),
    np.complex128(1j), np.array(2.5), np.array(2), np.array(True), np.array(1j),
]  # fmt: skip
ROWS = [
    [1.0, 2.0], [1, 2], [True, False], [1.0, 2], (1.0, 2.0), (1, 2), Pair(1.0, 2.0), Ints(1, 2), np.array([1.0, 2.0]),
    np.array([1, 2]), np.array([True, False]), np.array([1.0, 2.0], np.float32), np.array([1j, 2.0]),
    collections.deque([1.0, 2.0]), [np.float64(1.0), 2.0], [np.int64(1), 2], [np.float32(1.0), 2.0], [], (), [[1.0]],
    np.eye(2),
]  # fmt: skip
OTHERS = [
    {"a": 1.0}, {"a": 1}, collections.OrderedDict(a=1.0), Point(1.0), Point(1), Wider(1.0), Point(np.float64(1.0)),
    "word", len,
]  # fmt: skip
HINTS: list[Any] = [
    Any, float, int, bool, complex, np.float64, object, float | int, int | bool, float | bool, complex | float,
    int | complex, float | None, int | None, complex | None, float | np.ndarray, np.ndarray | float, int | np.ndarray,
    np.ndarray | None, float | str, Union[float, typing.Literal["auto"]], Union[typing.Literal[1, 2], float], Level | float,
    Union[float, Callable[..., float]], float | Family,
    Vec["n"], Array["n", int], np.ndarray, list[float], list[int], list, tuple, tuple[float, float], tuple[float, ...],
    Sequence[float], Sequence, Iterable[float], collections.deque, Union[Vec["n"], list[float]], Union[list[float], Vec["n"]],
    Union[Vec["n"], Mat["n", "m"]], Union[Array["n", int], Vec["n"]], list[int] | list[float], list[float] | tuple[float, ...],
    list | None, float | list[float], list[float | int], list[float | None], Union[tuple[float, float], Vec["n"]],
    dict, dict[str, float], Mapping[str, float], Mapping[str, float] | None, Point, Wider, Point | None, Point | Wider,
    Family, list[Point] | Point, typing.TypeVar("T"), Pair, Pair | tuple[float, float],
]  # fmt: skip


def same(value):
    return value


@pytest.mark.parametrize("hint", part(HINTS, 5), ids=str)
def test_code_takes_what_has_its_key(hint):
    def f(x):
        return same(x)

    f.__annotations__["x"] = hint
    found = []
    for value in NUMBERS + ROWS + OTHERS:
        try:
            found.append((rose.jit(f).binding.bind((value,), {}).key, value))
        except RoseError as error:
            assert error.span is not None, error
    codes: dict[Any, Any] = {}
    for key, value in found:
        if key not in codes:
            decorated = rose.jit(f)
            decorated(value)
            codes[key] = decorated.latest
    wrong = []
    for key, code in codes.items():
        for other, value in found:
            try:
                code(value)
                takes = True
            except Mismatch:
                takes = False
            if takes != (other == key):
                wrong.append(f"code of {key} {'takes' if takes else 'refuses'} {value!r}, of {other}")
    assert not wrong, "\n".join(wrong)
