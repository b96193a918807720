"""Hints and arguments: what is taken, what is refused, what the key is."""

import dataclasses
import enum
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

import jaxtyping
import numpy as np
import pytest
from beartype.vale import Is
from numpy.typing import NDArray

from rosejit.abi import Leaf, Node, Static
from rosejit.errors import RoseOverflowError, ShapeError, StagingTypeError
from rosejit.frontend.hints import hints
from rosejit.frontend.hints.hints import Array, Mat, ShapeOf, Vec
from rosejit.frontend.signature.binding import signature
from tests.frontend.oracle import define, says


class Point(NamedTuple):
    x: float
    y: "float"


@dataclasses.dataclass
class Layer:
    weight: Mat["n", "m"]
    bias: Vec["n"]
    name: str = "layer"


@dataclasses.dataclass(frozen=True)
class Group:
    items: list["Group | Point"]


class Options(TypedDict):
    rate: float
    steps: int


class Mode(enum.Enum):
    FAST = 1


def bound(hint, value, static=()):
    """The call of a function of one parameter with that hint."""
    f = define("def f(x): return x")
    f.__annotations__["x"] = hint
    return signature(f, static).bind((value,), {})


def tree(hint, value):
    return bound(hint, value).trees[0]


REAL, INT, BOOL = Leaf("real"), Leaf("int"), Leaf("bool")


@pytest.mark.parametrize("hint", [float, hints.Real, np.float64, "float"])
@pytest.mark.parametrize("value", [2.0, 2, np.float64(2), np.float32(2), np.int8(2), np.array(2.0)])
def test_reals(hint, value):
    call = bound(hint, value)
    assert call.trees == [REAL]
    assert call.values == [2.0]
    assert type(call.values[0]) is float


@pytest.mark.parametrize("value", [2, np.int64(2), np.uint8(2), np.array(2)])
def test_ints(value):
    call = bound(int, value)
    assert (call.trees, call.values, type(call.values[0])) == ([INT], [2], int)


@pytest.mark.parametrize("value", [True, np.bool_(True)])
def test_truth_values(value):
    call = bound(bool, value)
    assert (call.trees, call.values, type(call.values[0])) == ([BOOL], [True], bool)


def real(*shape):
    return Leaf("array", shape)


ARRAYS = [
    (Vec["n"], [1, 2.0], real(2)),
    (Vec[3], (1, 2, 3), real(3)),
    (Vec, np.zeros(2, "f4"), real(2)),
    (Mat[2, "n"], [[1.0], [2.0]], real(2, 1)),
    (Mat["n", "n"], np.eye(2), real(2, 2)),
    (Array["b", "n", 3], np.zeros((1, 2, 3)), real(1, 2, 3)),
    (Array["a b"], np.zeros((1, 2)), real(1, 2)),
    (Array[..., float], np.zeros((1, 2, 3)), real(1, 2, 3)),
    (Array["n", ..., 2], np.zeros((4, 5, 2)), real(4, 5, 2)),
    (Array["n", int], [1, 2], Leaf("array", (2,), "int")),
    (Array["n", bool], [True], Leaf("array", (1,), "bool")),
    (Vec["n+1"], [1.0], None),
    (NDArray[np.float64], np.zeros((2, 2)), real(2, 2)),
    (NDArray[np.int64], np.zeros(2, int), Leaf("array", (2,), "int")),
    (np.ndarray, np.zeros(2, bool), Leaf("array", (2,), "bool")),
    (jaxtyping.Float[np.ndarray, "n m"], np.zeros((2, 1)), real(2, 1)),
    (jaxtyping.Float64[np.ndarray, "2 *rest"], np.zeros((2, 1, 1)), real(2, 1, 1)),
    (jaxtyping.Int[np.ndarray, "_"], [1, 2], Leaf("array", (2,), "int")),
    (jaxtyping.Bool[np.ndarray, "..."], [[True]], Leaf("array", (1, 1), "bool")),
    (None, np.zeros(2, int), None),
]


@pytest.mark.parametrize(("hint", "value", "leaf"), ARRAYS, ids=lambda v: str(v)[:40])
def test_arrays(hint, value, leaf):
    if leaf is None:
        with pytest.raises((ShapeError, StagingTypeError)):
            bound(hint, value)
        return
    call = bound(hint, value)
    assert call.trees == [leaf]
    assert call.values[0].dtype == {"real": "f8", "int": "i8", "bool": "?"}[leaf.element]
    assert call.values[0].flags.c_contiguous


def test_the_dims_of_a_call():
    f = define(
        """
        def f(a: Mat["n", "m"], x: Vec["m"], y: Vec["n+1"], z: Vec["2*m"]): ...
        """,
        Mat=Mat, Vec=Vec,
    )  # fmt: skip
    known = signature(f)
    call = known.bind((np.zeros((2, 3)), np.zeros(3), np.zeros(3), np.zeros(6)), {})
    assert call.dims == {"n": 2, "m": 3}
    with pytest.raises(ShapeError) as caught:
        known.bind((np.zeros((2, 3)), np.zeros(4), np.zeros(3), np.zeros(6)), {})
    says(caught.value, "`x`", '`Vec["m"]`', "`m` is 3", "(4,)", line="def f(", at='x: Vec["m"]')
    with pytest.raises(ShapeError, match="`n\\+1`"):
        known.bind((np.zeros((2, 3)), np.zeros(3), np.zeros(4), np.zeros(6)), {})
    lonely = signature(define('def f(x: Vec["k+1"]): ...', Vec=Vec))
    with pytest.raises(ShapeError, match="not known"):
        lonely.bind((np.zeros(4),), {})


STRUCTURES = [
    (tuple[float, Vec[2]], (1, [1, 2]), Node("tuple", (REAL, real(2)))),
    (tuple[float, ...], (1, 2.0), Node("tuple", (REAL, REAL))),
    (Point, Point(1, 2), Node("namedtuple", (REAL, REAL), ("x", "y"), Point)),
    (list[float], [1, 2], Node("list", (REAL, REAL))),
    (list[Point], [Point(1, 2)], Node("list", (Node("namedtuple", (REAL, REAL), ("x", "y"), Point),))),
    (dict[str, float], {"a": 1, "b": 2}, Node("dict", (REAL, REAL), ("a", "b"), ordered=True)),
    (Options, {"steps": 1, "rate": 2}, Node("dict", (REAL, INT), ("rate", "steps"))),
    (Optional[float], None, Node("none")),
    (Optional[float], 1, REAL),
    (Union[int, float], 1, INT),
    (int | float, 1.5, REAL),
    (Point | None, Point(1, 2), Node("namedtuple", (REAL, REAL), ("x", "y"), Point)),
    (Any, 3, INT),
    (Any, [1.0, (2, True)], Node("list", (REAL, Node("tuple", (INT, BOOL))))),
    (Any, {"a": None}, Node("dict", (Node("none"),), ("a",), ordered=True)),
    (Annotated[float, "metres"], 3, REAL),
]


@pytest.mark.parametrize(("hint", "value", "wanted"), STRUCTURES, ids=lambda v: str(v)[:40])
def test_structures(hint, value, wanted):
    assert tree(hint, value) == wanted


def test_classes_with_static_parts():
    found = tree(Layer, Layer(np.zeros((2, 3)), [1, 2]))
    assert found.children[:2] == (real(2, 3), real(2))
    assert isinstance(found.children[2], Static)
    assert found.cls is Layer


def test_classes_that_contain_themselves():
    found = tree(Group, Group([Point(1, 2), Group([])]))
    (items,) = found.children
    assert [child.kind for child in items.children] == ["namedtuple", "dataclass"]


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_lists_of_one_kind_are_one_key(count):
    """The trees are equal, and made of other objects."""
    one, other = [Node("list", tuple(Leaf(kind) for kind in ["real"] * count)) for _ in range(2)]
    assert one == other
    assert hash(one) == hash(other)
    mixed = [Node("list", (*one.children, Leaf(kind), Static(("x", count)))) for kind in ("int", "int", "real")]
    assert mixed[0] == mixed[1] != mixed[2]
    assert hash(mixed[0]) == hash(mixed[1])


def test_statics():
    for value in (3, "s", [1, {"a": (2,)}], np.arange(3), Mode.FAST, Point(1, 2), len):
        (one,) = bound(hints.Static, value).trees
        (again,) = bound(hints.Static[Any], value).trees
        assert isinstance(one, Static)
        assert one == again
        assert hash(one) == hash(again)
    assert bound(hints.Static, 1).key != bound(hints.Static, 1.0).key
    assert bound(hints.Static, True).key != bound(hints.Static, 1).key
    assert bound(hints.Static, 0.0).key != bound(hints.Static, -0.0).key
    assert bound(hints.Static, np.arange(3)).key != bound(hints.Static, np.arange(4)).key
    assert bound(hints.Static, float("nan")).key == bound(hints.Static, float("nan")).key
    assert bound(float, 3, static=("x",)).statics == [3]
    assert isinstance(tree(str, "text"), Static)
    assert isinstance(tree(Literal["a", "b"], "a"), Static)
    assert isinstance(tree(Any, "text"), Static)


def test_shapes_in_the_place_of_values():
    assert tree(Vec["n"], ShapeOf(3)) == real(3)
    assert (
        tree(Vec["n"], ShapeOf((3,))) == tree(Vec["n"], ShapeOf([3])) == tree(Vec["n"], ShapeOf(np.ones(3))) == real(3)
    )
    assert tree(float, ShapeOf()) == tree(float, ShapeOf(2.0)) == tree(float, ShapeOf(())) == REAL
    assert tree(Any, ShapeOf(np.ones((2, 1), bool))) == Leaf("array", (2, 1), "bool")
    assert tree(Any, ShapeOf(2, dtype=int)) == Leaf("array", (2,), "int")
    with pytest.raises(ShapeError):
        bound(Vec[2], ShapeOf(3))


MISFITS = [
    (float, "1", "a number", "str '1'"),
    (float, None, "a number", "NoneType"),
    (float, 1j, "a number", "complex"),
    (float, [1.0], "a number", "a list of 1"),
    (float, np.zeros(1), "a number", "shape (1,)"),
    (float, Decimal(1), "a number", "Decimal"),
    (int, 1.0, "an integer", "float 1.0"),
    (int, True, "an integer", "bool True"),
    (int, 2**63, "64 bits", str(2**63)),
    (bool, 1, "a truth value", "int 1"),
    (Vec["n"], 1.0, "Vec", "float 1.0"),
    (Vec["n"], [[1.0]], "Vec", "a list of 1"),
    (Vec["n"], ["a"], "Vec", "a list of 1"),
    (Vec["n"], [[1.0], [1.0, 2.0]], "Vec", "a list of 2"),
    (Vec["n"], np.array([1, None]), "Vec", "object"),
    (Vec["n"], np.array([1j]), "Vec", "complex"),
    (Array["n", int], [1.5], "Array", "a list of 1"),
    (Array["n", bool], [1], "Array", "a list of 1"),
    (Point, (1.0, 2.0), "`Point`", "a tuple of 2"),
    (tuple[float, float], (1.0,), "a tuple of 2", "a tuple of 1"),
    (dict[str, float], [1.0], "a dict", "a list of 1"),
    (list[float], 1.0, "a list", "float 1.0"),
    (Options, {"rate": 1.0}, "'steps'", "dict"),
    (hints.Static[int], "a", "`int`", "str 'a'"),
    (Literal["a"], "b", "Literal", "str 'b'"),
    (Annotated[float, Is[lambda x: x > 0]], -1.0, "Annotated", "float -1.0"),
    (Optional[float], "a", "float", "str 'a'"),
]


@pytest.mark.parametrize(("hint", "value", "wanted", "given"), MISFITS, ids=lambda v: str(v)[:30])
def test_misfits(hint, value, wanted, given):
    with pytest.raises((StagingTypeError, ShapeError, RoseOverflowError)) as caught:
        bound(hint, value)
    says(caught.value, "`f`", "`x`", wanted, given, line="def f(x): return x", at="x")


def test_the_part_that_does_not_fit_is_named():
    f = define("def f(p: Point, d: dict): ...", Point=Point)
    f.__annotations__["d"] = dict[str, list[float]]
    with pytest.raises(StagingTypeError, match=r"`p\.y`"):
        signature(f).bind((Point(1.0, "a"), {}), {})
    with pytest.raises(StagingTypeError, match=r"`d\['k'\]\[1\]`"):
        signature(f).bind((Point(1.0, 2.0), {"k": [1.0, "a"]}), {})


def test_counts_are_cpythons_own():
    f = define("def f(a, b=1, *, c): ...")
    known = signature(f)
    for args, kwargs in (
        ((), {}),
        ((1, 2, 3), {"c": 1}),
        ((1,), {}),
        ((1,), {"c": 1, "d": 2}),
        ((1,), {"a": 1, "c": 1}),
    ):
        with pytest.raises(TypeError) as wanted:
            f(*args, **kwargs)
        with pytest.raises(TypeError) as found:
            known.bind(args, kwargs)
        assert str(found.value) == str(wanted.value)
    call = known.bind((5,), {"c": 2.0})
    assert (call.values, call.statics) == ([5, 2.0], [1])  # an int that nobody has passed is a host value


def test_parameters_of_every_kind():
    f = define("def f(a, /, *rest: float, k: int = 3, **more: float): return a, rest, k, more")
    known = signature(f)
    call = known.bind((1.0, 2, 3), {"u": 4})
    assert (call.values, call.statics) == ([1.0, 2.0, 3.0, 4.0], [3])
    assert known.apply(f, [1.0, (2.0,), 3, {"u": 4.0}]) == (1.0, (2.0,), 3, {"u": 4.0})


def test_hints_as_text():
    f = define("from __future__ import annotations\ndef f(x: Vec['n'], p: Point, k: 'int'): ...", Vec=Vec, Point=Point)
    assert signature(f).bind(([1.0], Point(1, 2), 3), {}).trees[0] == real(1)
    g = define("def f(x: 'Nowhere'): ...")
    with pytest.raises(StagingTypeError, match="`Nowhere`.*cannot be evaluated"):
        signature(g).bind((1.0,), {})


def test_hints_of_enclosing_functions():
    outer = define(
        """
        from __future__ import annotations
        def outer():
            size = 2
            class Pair(NamedTuple):
                u: float
                v: float
            def f(p: Pair, x: Vec[size]): return Pair, size
            return f, Pair
        """,
        NamedTuple=NamedTuple, Vec=Vec,
    )  # fmt: skip
    f, pair = outer()
    assert signature(f).bind((pair(1, 2), [1, 2]), {}).trees[0].cls is pair


def test_bad_hints():
    for make in (lambda: Vec[1.5], lambda: Vec["n", "m"], lambda: Mat["n"], lambda: Array["n-"], lambda: Array[-1]):
        with pytest.raises(StagingTypeError) as caught:
            make()
        assert caught.value.help


def test_unknown_static_names():
    f = define("def f(x): ...")
    with pytest.raises(StagingTypeError, match="no parameter `y`") as caught:
        signature(f, ("y",))
    assert "`x`" in str(caught.value)


def test_hints_print_as_they_were_written():
    shown = [Vec["n"], Mat[2, "m"], Array["b", "n+1", 3], Array["n", int], Array[..., bool]]
    assert [str(hint) for hint in shown] == [
        'Vec["n"]',
        'Mat[2, "m"]',
        'Array["b", "n+1", 3]',
        'Array["n", int]',
        "Array[..., bool]",
    ]
