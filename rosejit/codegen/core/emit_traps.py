"""How compiled code fails: numbered failures, and the functions that write number and values where the host looks."""

from collections.abc import Callable

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, INTERRUPTED
from rosejit.abi import Scalar as AbiScalar
from rosejit.codegen.core.address_type import KINDS, AddressType, Kind
from rosejit.codegen.core.allocator import UNREACHABLE
from rosejit.ir.failure import primitive_failure
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Failure
from rosejit.ir.types import BOOL, Scalar, Type
from rosejit.span import Span
from rosejit.wasm.instructions import call, i32_const, i32_store, i64_store, local_get
from rosejit.wasm.module import ModuleBuilder


def abi_scalar(t: Type) -> AbiScalar:
    """What the host calls a scalar type."""
    return "bool" if t is BOOL else "real" if isinstance(t, Scalar) and KINDS[t] == "f64" else "int"


class Failures:
    """The failures of a module. What ends one is written once, behind all code that returns."""

    def __init__(self, builder: ModuleBuilder, address: AddressType) -> None:
        self._builder = builder
        self._zero = address.zero
        self.all: list[Failure] = []
        self.values: list[tuple[AbiScalar, ...]] = []
        """The kinds of the values of each."""
        self._numbers: dict[object, int] = {}
        self._calls: dict[str, bytes] = {}

    def number(self, failure: Failure, values: tuple[Type, ...] = ()) -> int:
        """The number of a failure; equal ones share it, but for those of users."""
        key = (failure.kind, failure.message, failure.span, failure.help, values, id(failure.exception))
        return self._number(key, failure, values)

    def primitive(self, op: Primitive, span: Span | None) -> int:
        """The number of the first kind of failure of `op`; the others follow."""
        faults = range(1, op.failure.count("|") + 2)
        numbers = [self._number((op.name, span, k), primitive_failure(op, span, k), ()) for k in faults]
        return numbers[0]

    def _number(self, key: object, failure: Failure, values: tuple[Type, ...]) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.all)
            self.all.append(failure)
            self.values.append(tuple(abi_scalar(t) for t in values))
        return number

    def fail(self) -> bytes:
        """Takes the number of a failure; does not return."""
        return self._call("fail", ("i32",), lambda: [self._zero, local_get[0], i32_store[FAILURE_NUMBER]])

    def fail_index(self) -> bytes:
        """Takes an index, a length (i64) and the number of a failure; does not return."""
        return self._call(
            "fail_index",
            ("i64", "i64", "i32"),
            lambda: [
                *(self._zero, local_get[0], i64_store[FAILURE_VALUES]),
                *(self._zero, local_get[1], i64_store[FAILURE_VALUES + 8]),
                *(self._zero, local_get[2], i32_store[FAILURE_NUMBER]),
            ],
        )

    def interrupted(self) -> bytes:
        """Does not return."""
        return i32_const[INTERRUPTED] + self.fail()

    def _call(self, name: str, params: tuple[Kind, ...], code: Callable[[], list[bytes]]) -> bytes:
        if name not in self._calls:
            index = self._builder.declare_function(params, (), name)
            self._calls[name] = call[index] + UNREACHABLE
            self._builder.define(index, (), [*code(), UNREACHABLE])
        return self._calls[name]
