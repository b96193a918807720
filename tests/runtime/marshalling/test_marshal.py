"""Every kind of argument and result, right and wrong, through functions written for their signatures."""

import dataclasses
import math
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter
from types import CellType
from typing import NamedTuple, TypedDict

import numpy as np
import pytest

from rosejit.abi import Entry, Leaf, Node, Slot, Static
from rosejit.errors import RoseOverflowError, ShapeError, StagingTypeError
from rosejit.runtime.marshalling.marshal import Mismatch, Read, Signature
from tests.runtime.programs import (
    BOOL,
    INT,
    PRODUCT,
    REAL,
    array,
    artifact,
    function,
    integer,
    product,
    real,
    signature,
)


def echo(tree, *slots, names="x", out=None, pages=1, **more):
    """The identity: results are read where the arguments were written."""
    program = artifact('(func (export "f"))', Entry("f", slots, slots), pages=pages, recursive=False)
    return function(program, signature(names, [tree], out or tree, **more))


ECHO_REAL = echo(REAL, real(64))
ECHO_INT = echo(INT, integer(64))
ECHO_BOOL = echo(BOOL, Slot("bool", 64))
VECTOR, MATRIX = Leaf("array", (3,)), Leaf("array", (2, 3))
ECHO_VECTOR = echo(VECTOR, array(64, 3))
ECHO_MATRIX = echo(MATRIX, array(64, 2, 3))
ECHO_INTS = echo(Leaf("array", (3,), "int"), array(64, 3, element="int"))
ECHO_BOOLS = echo(Leaf("array", (3,), "bool"), array(64, 3, element="bool"))


# ---- scalars


@pytest.mark.parametrize(
    "value",
    [0.0, -0.0, 1.5, math.inf, -math.inf, 5e-324, 3, True, 10**300, np.float64(2.5), np.float32(0.5), np.float16(0.5),
     np.longdouble(1.25), np.int8(-3), np.uint64(7), np.array(2.5), np.array(4), np.array(0.25, "f4"), np.bool_(True)],
)  # fmt: skip
def test_reals_come_back_as_floats(value):
    result = ECHO_REAL(value)
    assert type(result) is float
    assert math.copysign(1, result) == math.copysign(1, float(value))
    assert result == float(value)


def test_nan_stays_nan():
    assert math.isnan(ECHO_REAL(math.nan))


@pytest.mark.parametrize(
    "value",
    [None, "1", b"1", 1j, [1.0], (1.0,), np.array([1.0]), np.array(1j), np.complex128(1), Decimal(1),
     Fraction(1), 10**400, object(), np.datetime64("2020"), np.array("a"), {}, float],
)  # fmt: skip
def test_other_things_are_no_reals(value):
    with pytest.raises(Mismatch):
        ECHO_REAL(value)


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63), np.int64(5), np.uint8(200), np.array(3)])
def test_ints_come_back_as_ints(value):
    assert ECHO_INT(value) == int(value)
    assert type(ECHO_INT(value)) is int


@pytest.mark.parametrize("value", [True, 1.0, np.float64(1), np.bool_(True), "1", None, np.array([1]), np.array(True)])
def test_other_things_are_no_ints(value):
    with pytest.raises(Mismatch):
        ECHO_INT(value)


class Big(int):
    pass


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30, Big(2**64), np.uint64(2**63)])
def test_an_int_beyond_64_bits_is_an_overflow(value):
    with pytest.raises(RoseOverflowError, match="64 bits"):
        ECHO_INT(value)
    assert ECHO_INT(1) == 1


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False)])
def test_bools_come_back_as_bools(value):
    assert ECHO_BOOL(value) is bool(value)


@pytest.mark.parametrize("value", [1, 0, 1.0, None, "yes", np.int8(1), np.array([True])])
def test_other_things_are_no_bools(value):
    with pytest.raises(Mismatch):
        ECHO_BOOL(value)


# ---- arrays


@pytest.mark.parametrize(
    "value",
    [np.array([1.0, 2, 3]), [1.0, 2, 3], (1, 2, 3), [True, 2.0, 3], np.array([1, 2, 3]), np.array([1, 2, 3], ">f8"),
     np.arange(1.0, 7)[:3], np.arange(3.0, 0, -1)[::-1], np.array([1.0, 9, 2, 9, 3])[::2], np.array([1, 2, 3], "u1"),
     memoryview(np.array([1.0, 2, 3])), [np.float64(1), np.array(2), 3]],
)  # fmt: skip
def test_vectors_are_fresh_arrays_of_doubles(value):
    result = ECHO_VECTOR(value)
    assert result.tolist() == [1.0, 2.0, 3.0]
    assert result.dtype == np.float64
    assert not np.shares_memory(result, ECHO_VECTOR(value))


def test_the_argument_is_neither_kept_nor_written():
    x = np.array([1.0, 2, 3])
    x.setflags(write=False)
    result = ECHO_VECTOR(x)
    result[0] = 9
    assert x[0] == 1.0
    assert ECHO_VECTOR(x)[0] == 1.0


class Tagged(np.ndarray):
    pass


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_in_either_order(order):
    x = np.array([[1.0, 2, 3], [4, 5, 6]], order=order)
    assert ECHO_MATRIX(x).tolist() == x.tolist()
    assert ECHO_MATRIX(x.tolist()).tolist() == x.tolist()
    assert ECHO_MATRIX(x.view(Tagged)).tolist() == x.tolist()
    assert type(ECHO_MATRIX(x.view(Tagged))) is np.ndarray


@pytest.mark.parametrize(
    "value",
    [1.0, [1.0, 2], [1.0, 2, 3, 4], [[1.0, 2, 3]], np.zeros(4), np.zeros((3, 1)), ["a", "b", "c"], "abc", None,
     {1, 2, 3}, [1, 2, None], [1, [2], 3], [1j, 2, 3], np.zeros(3, complex), np.array([1, 2, "3"], object),
     np.zeros(3, "M8[s]"), iter([1.0, 2, 3]), np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), np.array(["1", "2", "3"])],
)  # fmt: skip
def test_other_things_are_no_vectors(value):
    with pytest.raises(Mismatch):
        ECHO_VECTOR(value)


def test_arrays_of_ints_take_ints_only():
    assert ECHO_INTS([1, -2, 3]).tolist() == [1, -2, 3]
    assert ECHO_INTS(np.array([1, 2, 3], "u2")).dtype == np.int64
    for wrong in ([1.0, 2, 3], np.zeros(3), [True, False, True], np.zeros(3, bool)):
        with pytest.raises(Mismatch):
            ECHO_INTS(wrong)
    for big in ([1, 2, 2**63], [1, 2, 2**70], np.array([0, 0, 2**64 - 1], "u8")):
        with pytest.raises(RoseOverflowError):
            ECHO_INTS(big)


def test_arrays_of_bools_take_bools_only():
    result = ECHO_BOOLS([True, False, True])
    assert result.tolist() == [True, False, True]
    assert result.dtype == np.bool_
    with pytest.raises(Mismatch):
        ECHO_BOOLS([1, 0, 1])


@pytest.mark.parametrize("element", ["real", "int", "bool"])
def test_arrays_without_elements(element):
    f = echo(Leaf("array", (0, 2), element), array(64, 0, 2, element=element))
    assert f(np.zeros((0, 2), {"real": float, "int": int, "bool": bool}[element])).shape == (0, 2)
    g = echo(Leaf("array", (0,), element), array(64, 0, element=element))
    assert g([]).shape == (0,)
    with pytest.raises(Mismatch):
        g([[]])


def test_a_list_may_have_ints_that_only_a_float_can_hold():
    assert ECHO_VECTOR([1, 2**63, 10**30]).tolist() == [1.0, 2.0**63, 1e30]
    with pytest.raises(Mismatch):
        ECHO_VECTOR([1, 2, 10**400])


def test_an_array_without_axes():
    f = echo(Leaf("array", ()), array(64))
    assert f(np.array(2.0)).shape == ()
    assert f(3.0) == 3.0


LAYOUTS = {
    "of C": np.ascontiguousarray,
    "of Fortran": np.asfortranarray,
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "with gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "a part": lambda x: np.concatenate([x, x])[: len(x)],
    "the same everywhere": lambda x: np.broadcast_to(x[:1, :1], x.shape),
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), "V1")[1:].view(x.dtype).reshape(x.shape),
    "of the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "that cannot be written": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "of a subclass": lambda x: x.view(Tagged),
}


@pytest.mark.parametrize("element", ["real", "int", "bool"])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 256, 4095, 4096, 4097, 32768, 32769])
def test_arrays_of_every_layout_and_size_arrive_whole(rows, element):
    """Around the sizes at which they begin to be copied in another way: 512 bytes and 64 KiB."""
    at = 64
    f = echo(Leaf("array", (rows, 2), element), array(at, rows, 2, element=element), pages=10)
    numbers = np.arange(2 * rows).reshape(rows, 2) - 7
    x = numbers % 3 == 0 if element == "bool" else numbers.astype("f8" if element == "real" else "i8")
    other = np.zeros_like(x)
    for name, arranged in LAYOUTS.items():
        given = arranged(x)
        f(other)
        assert np.array_equal(f(given), given), name
        with pytest.raises(Mismatch):
            f(given[: rows - 1])
        with pytest.raises(Mismatch):
            f(given.T if rows != 2 else given[:, :1])


def test_small_arrays_are_copied_without_numpy():
    """Its assignment takes longer than all else that a small array costs; large ones let other threads run."""
    sizes = {3: "x.tobytes()", 64: "x.tobytes()", 65: "x.flags", 8192: "x.flags", 8193: "[...] = x"}
    for size, way in sizes.items():
        assert way in echo(Leaf("array", (size,)), array(64, size), pages=10).__source__


# ---- structures


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Body:
    at: Point
    mass: float = 1.0
    made: int = dataclasses.field(default=0, compare=False)

    def __post_init__(self):
        self.made += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: float
    b: bool


class Options(TypedDict):
    rate: float
    steps: int


POINT = Node("namedtuple", (REAL, REAL), ("x", "y"), Point)
BODY = Node("dataclass", (POINT, REAL, INT), ("at", "mass", "made"), Body)


def test_tuples_nest():
    f = echo(Node("tuple", (REAL, Node("tuple", (INT, Node("tuple"))))), real(64), integer(72))
    assert f((1.5, (2, ()))) == (1.5, (2, ()))
    for wrong in ((1.5,), (1.5, 2), (1.5, (2,)), [1.5, (2, ())], (1.5, ("2", ())), None, 1.5):
        with pytest.raises(Mismatch):
            f(wrong)


def test_a_tuple_of_one():
    f = echo(Node("tuple", (REAL,)), real(64))
    assert f((1.0,)) == (1.0,)


def test_named_tuples_and_dataclasses_come_back_as_their_class():
    f = echo(BODY, real(64), real(72), real(80), integer(88))
    body = Body(Point(1.0, 2.0), 3.0)
    result = f(body)
    assert type(result) is Body
    assert type(result.at) is Point
    assert result == body
    assert result.made == 1  # what the compiled code gave: `__post_init__` is not run on it again
    for wrong in (Point(1.0, 2.0), (Point(1.0, 2.0), 3.0, 1), Body((1.0, 2.0), 3.0), Body(Point(1.0, "2"), 3.0)):
        with pytest.raises(Mismatch):
            f(wrong)


def test_frozen_dataclasses():
    f = echo(Node("dataclass", (REAL, BOOL), ("a", "b"), Frozen), real(64), Slot("bool", 72))
    assert f(Frozen(1.0, True)) == Frozen(1.0, True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        f(Frozen(1.0, True)).a = 2.0


def test_dicts_are_read_by_key():
    f = echo(Node("dict", (REAL, INT), ("rate", "steps"), Options), real(64), integer(72))
    assert f({"steps": 3, "rate": 0.5}) == {"rate": 0.5, "steps": 3}
    assert f({"steps": 2, "rate": 1}) == {"rate": 1.0, "steps": 2}
    with pytest.raises(Mismatch):  # code of its own keeps the class
        f(OrderedDict(rate=1, steps=2))
    for wrong in ({"rate": 0.5}, {"rate": 0.5, "step": 3}, {"rate": 0.5, "steps": 3, "more": 1}, [("rate", 1)], {}):
        with pytest.raises(Mismatch):
            f(wrong)
    g = echo(Node("dict", (REAL,), (("odd", 1),)), real(64))
    assert g({("odd", 1): 2.0}) == {("odd", 1): 2.0}


def test_lists_of_few_and_of_many():
    for count in (0, 1, 3, 4, 50, 300):
        slots = [real(64 + 8 * k) for k in range(count)]
        f = echo(Node("list", (REAL,) * count), *slots)
        values = [k / 2 for k in range(count)]
        assert f(values) == values
        assert f([np.float32(v) for v in values]) == values
        for wrong in (tuple(values), [*values, 1.0], [*values[:-1], "1"], None):
            if wrong != [*values[:-1], "1"] or count:
                with pytest.raises(Mismatch):
                    f(wrong)
    many = [integer(64 + 8 * k) for k in range(5)]
    g = echo(Node("tuple", (INT,) * 5), *many)
    assert g((1, 2, 3, 4, -5)) == (1, 2, 3, 4, -5)
    assert type(g((1, 2, np.int8(3), 4, 5))[2]) is int
    with pytest.raises(Mismatch):
        g((1, 2, 3, 4, 5.0))
    for big in ((1, 2, 3, 4, 2**63), (1, 2, 3, 4, 10**40)):
        with pytest.raises(RoseOverflowError):
            g(big)


def test_none_and_results_that_staging_knew():
    f = echo(Node("none"), out=Node("tuple", (Node("none"), Static("a name"))))
    assert f(None) == (None, "a name")
    with pytest.raises(Mismatch):
        f(0)


def test_static_arguments_must_be_what_was_staged():
    f = echo(Static(3), out=Node("none"))
    assert f(3) is None
    for other in (4, 3.0, True, "3"):
        with pytest.raises(Mismatch):
            f(other)
    key = [1, 2]
    g = echo(Static(key), out=Node("none"))
    assert g(key) is None
    with pytest.raises(Mismatch):
        g([1, 2])
    h = echo(Static(key), out=Node("none"), same=lambda value, key: value == key)
    assert h([1, 2]) is None


# ---- signatures


def test_names_defaults_and_counts_are_those_of_python():
    kinds = [
        Parameter("x", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("y", Parameter.POSITIONAL_OR_KEYWORD, default=3),
    ]
    f = function(product(), Signature("area", kinds, [REAL, REAL], REAL, qualname="Shape.area"))
    assert f(2) == 6.0
    assert f(y=4, x=2) == 8.0
    assert (f.__name__, f.__qualname__) == ("area", "Shape.area")
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        f()
    with pytest.raises(TypeError, match=r"takes from 1 to 2 positional arguments but 3 were given"):
        f(1, 2, 3)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'z'"):
        f(1, z=2)


def test_all_kinds_of_parameters():
    kinds = [
        Parameter("a", Parameter.POSITIONAL_ONLY),
        Parameter("b", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("rest", Parameter.VAR_POSITIONAL),
        Parameter("k", Parameter.KEYWORD_ONLY, default=5.0),
        Parameter("more", Parameter.VAR_KEYWORD),
    ]
    trees = [REAL, VECTOR, Node("tuple", (REAL, REAL)), REAL, Node("dict", (REAL,), ("z",))]
    slots = [real(64), array(72, 3), real(96), real(104), real(112), real(120)]
    program = artifact('(func (export "f"))', Entry("f", tuple(slots), tuple(slots)))
    f = function(program, Signature("f", kinds, trees, Node("tuple", tuple(trees))))
    a, b, rest, k, more = f(1, [1, 2, 3], 2, 3, z=9, out=None)
    assert (a, b.tolist(), rest, k, more) == (1.0, [1.0, 2.0, 3.0], (2.0, 3.0), 5.0, {"z": 9.0})
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        f(a=1, b=[1, 2, 3])
    with pytest.raises(Mismatch):
        f(1, [1, 2, 3], 2, z=9)


def test_names_of_parameters_do_not_meet_ours():
    names = "instance run trap reals float_ bound free status result _ _call pop real".split()
    slots = tuple(real(64 + 8 * k) for k in range(len(names)))
    program = artifact('(func (export "f"))', Entry("f", slots, slots))
    f = function(program, signature(" ".join(names), [REAL] * len(names), Node("tuple", (REAL,) * len(names))))
    assert f(**{name: k for k, name in enumerate(names)}) == tuple(map(float, range(len(names))))


def test_parameters_may_have_the_names_of_what_python_has():
    tree = Node("tuple", (REAL, INT, VECTOR, Node("list", (REAL,) * 5), Node("dict", (REAL,), ("z",)), BOOL))
    names = "type isinstance len map KeyError bool".split()
    slots = (real(64), integer(72), array(80, 3), *[real(104 + 8 * k) for k in range(5)], real(144), Slot("bool", 152))
    program = artifact('(func (export "f"))', Entry("f", slots, slots))
    f = function(
        program, signature(" ".join(names), list(tree.children), tree, reads=[Read("{0}['s']", ({"s": 1},), 1)])
    )
    for numbers in ([1.0] * 5, [1] * 5):
        given = f(1, 2, [1, 2, 3], numbers, {"z": 4}, True)
        assert (given[:2], given[2].tolist(), given[3:]) == ((1.0, 2), [1, 2, 3], ([1.0] * 5, {"z": 4.0}, True))
    with pytest.raises(Mismatch):
        f(1, 2, [1, 2, 3], [1.0] * 5, {}, True)
    with pytest.raises(RoseOverflowError):
        f(1, 2**63, [1, 2, 3], [1.0] * 5, {"z": 4}, True)
    for name in ("IndexError", "ValueError", "LookupError", "float", "list", "tuple"):
        assert function(product(), signature(f"{name} y", [REAL, REAL], REAL))(2, 3.0) == 6.0


def test_a_lambda_and_a_unicode_name():
    assert function(product(), signature("λ μ", [REAL, REAL], REAL, name="<lambda>"))(2, μ=3) == 6.0


def test_a_signature_that_is_not_that_of_the_entry_is_our_mistake():
    with pytest.raises(AssertionError):
        function(product(), signature("x", [REAL], REAL))
    with pytest.raises(AssertionError):
        function(product(), signature("x y", [REAL, INT], REAL))
    with pytest.raises(AssertionError):
        function(product(), signature("x y", [REAL, REAL], Node("none")))


# ---- what staging read outside


def test_reads_are_compared_by_identity_and_arrays_are_read_again():
    outside = {"scale": 2.0, "w": np.array([1.0, 2, 3])}
    cell = CellType("kept")
    slots = (array(64, 3),)
    program = artifact('(func (export "f"))', Entry("f", slots, slots))
    reads = (
        Read("{0}['scale']", (outside,), outside["scale"]),
        Read("{0}.cell_contents", (cell,), "kept"),
        Read("{0}['w']", (outside,), tree=VECTOR),
    )
    f = function(program, signature("", [], VECTOR, reads=reads))
    assert f().tolist() == [1, 2, 3]
    outside["w"][0] = 7
    assert f().tolist() == [7, 2, 3]
    outside["w"] = np.zeros(4)
    with pytest.raises(Mismatch):
        f()
    outside["w"] = [4, 5, 6]
    assert f().tolist() == [4, 5, 6]
    outside["scale"] = 3.0
    with pytest.raises(Mismatch):
        f()
    del outside["scale"]
    with pytest.raises(Mismatch):
        f()


# ---- out=


def test_out_is_filled_and_given_back():
    out = np.zeros(3)
    assert ECHO_VECTOR([1, 2, 3], out=out) is out
    assert out.tolist() == [1, 2, 3]
    strided = np.zeros(6)[::2]
    assert ECHO_VECTOR([1, 2, 3], out=strided) is strided
    assert strided.tolist() == [1, 2, 3]
    x = np.array([1.0, 2, 3])
    assert ECHO_VECTOR(x, out=x) is x
    assert ECHO_VECTOR(x, out=None) is not x
    tagged = np.zeros(3).view(Tagged)
    assert ECHO_VECTOR(x, out=tagged) is tagged
    assert tagged.tolist() == [1, 2, 3]
    assert "out[...] = " in ECHO_VECTOR.__source__  # no call of ours fills it


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros(2), ShapeError),
        (np.zeros((3, 1)), ShapeError),
        (np.zeros(3, "f4"), StagingTypeError),
        (np.zeros(3, int), StagingTypeError),
        ([0, 0, 0], StagingTypeError),
        (np.float64(0), StagingTypeError),
        (np.broadcast_to(0.0, 3), StagingTypeError),
        (np.array(0.0), ShapeError),
    ],
)
def test_out_must_be_a_writable_array_like_the_result(out, error):
    with pytest.raises(error, match="out"):
        ECHO_VECTOR([1, 2, 3], out=out)


def test_out_for_structures():
    tree = Node("tuple", (VECTOR, REAL, Node("dict", (MATRIX,), ("m",))))
    f = echo(tree, array(64, 3), real(88), array(96, 2, 3))
    v, m = np.zeros(3), np.zeros((2, 3))
    argument = ([1, 2, 3], 4.0, {"m": [[1, 2, 3], [4, 5, 6]]})
    first, number, rest = f(argument, out=(v, None, {"m": m}))
    assert first is v
    assert number == 4.0
    assert rest["m"] is m
    assert m.sum() == 21
    first, _, rest = f(argument, out=(None, None, {"m": m}))
    assert first is not v
    assert f(argument, out=[v, 0, None])[0] is v
    for wrong in (v, (v,), (v, None, {}), (v, None, [m]), {"m": m}):
        with pytest.raises(StagingTypeError, match="structure"):
            f(argument, out=wrong)


def test_out_is_no_option_where_there_are_no_arrays_or_a_parameter_has_that_name():
    with pytest.raises(TypeError, match="out"):
        ECHO_REAL(1.0, out=None)
    f = echo(VECTOR, array(64, 3), names="out")
    assert f(out=[1, 2, 3]).tolist() == [1, 2, 3]


# ---- arrays whose length only the run knows

FIRST_N = """
  (func (export "f") (local $n i32) (local $i i32)
    (local.set $n (i32.wrap_i64 (i64.load (i32.const 64))))
    (i32.store (i32.const 1024) (i32.const 2048))
    (i32.store (i32.const 1028) (local.get $n))
    (loop $next
      (if (i32.lt_s (local.get $i) (local.get $n)) (then
        (f64.store (i32.add (i32.const 2048) (i32.shl (local.get $i) (i32.const 3))) (f64.convert_i32_s (local.get $i)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next))))
    (i32.store (i32.const 72) (i32.const 1024)))
  (func (export "release_0") (param i32)
    (if (i32.ne (local.get 0) (i32.const 1024)) (then (unreachable)))
    (i32.store (i32.const 1028) (i32.add (i32.const 1) (i32.load (i32.const 1028)))))"""


def first_n(shape=(), wat=FIRST_N):
    slot = Slot("dyn", 72, shape, release="release_0")
    program = artifact(wat, Entry("f", (integer(64),), (slot,)))
    return function(program, signature("n", [INT], Leaf("dyn", shape)))


def test_dynamic_results_are_copied_and_released():
    f = first_n()
    for n in (0, 1, 5, 700):
        assert f(n).tolist() == list(map(float, range(n)))
    assert first_n((2,))(3).shape == (3, 2)


def test_a_dynamic_result_outside_of_the_memory_is_an_error():
    with pytest.raises(RuntimeError, match="outside"):
        first_n()(-1)
    wrong = FIRST_N.replace("(i32.const 72) (i32.const 1024)", "(i32.const 72) (i32.const -8)")
    with pytest.raises(RuntimeError, match="outside"):
        first_n(wat=wrong)(1)
    wrong = FIRST_N.replace("(i32.const 1024) (i32.const 2048)", "(i32.const 1024) (i32.const -9)")
    with pytest.raises(RuntimeError, match="outside"):
        first_n(wat=wrong)(3)


TAKEN = """
  (global $top (mut i32) (i32.const 1024))
  (global $live (mut i32) (i32.const 0))
  (func (export "allocate") (param i32) (result i32)
    (global.set $live (i32.add (global.get $live) (i32.const 1)))
    (global.get $top)
    (global.set $top (i32.add (global.get $top) (local.get 0)))
    (if (i32.gt_u (global.get $top) (i32.const 60000)) (then (unreachable))))
  (func (export "release_0") (param i32)
    (global.set $top (i32.const 1024))
    (global.set $live (i32.const 0)))
  (func (export "f") (local $at i32) (local $end i32) (local $sum f64)
    (local.set $at (i32.load (i32.load (i32.const 64))))
    (local.set $end (i32.add (local.get $at) (i32.shl (i32.load offset=4 (i32.load (i32.const 64))) (i32.const 3))))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (local.set $sum (f64.add (local.get $sum) (f64.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next))))
    (f64.store (i32.const 72) (local.get $sum))
    (i64.store (i32.const 80) (i64.extend_i32_s (global.get $live))))"""


def test_arguments_of_any_length_are_lent():
    slot = Slot("dyn", 64, release="release_0")
    program = artifact(TAKEN, Entry("f", (slot,), (real(72), integer(80))))
    f = function(program, signature("x", [Leaf("dyn")], Node("tuple", (REAL, INT))))
    for n in (0, 1, 10, 5000, 3):
        total, live = f(np.arange(float(n)))
        assert total == n * (n - 1) / 2
        assert live == (2 if n else 1)
    assert f([1, 2.5]) == (3.5, 2)
    for wrong in (1.0, None, [[1.0]], ["a"], "ab", {1.0}, iter([1.0])):
        with pytest.raises(Mismatch):
            f(wrong)
    with pytest.raises(MemoryError, match="80,000 bytes"):
        f(np.zeros(10_000))
    assert f([1.0]) == (1.0, 2)


def test_the_text_of_a_function_can_be_read():
    assert "def f(x, y):" in function(product(), PRODUCT).__source__
