"""What a host function gave to what the module expects, whichever engine runs it; the errors name the function."""

from typing import Any, Literal

from rosejit.abi import Import, Slot
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.runtime.marshalling import convert

WasmType = Literal["f64", "i64", "i32"]
_WASM: dict[str, WasmType] = {"real": "f64", "int": "i64", "bool": "i32", "array": "i32"}
_CONVERT = {"real": convert.real, "int": convert.integer, "bool": convert.boolean}


def signature(imported: Import, wide: bool = False) -> tuple[list[WasmType], list[WasmType]]:
    """The Wasm types of the parameters and the results of an import."""
    places = [slot for slot in imported.results if slot.kind == "array"]
    returned = [slot for slot in imported.results if slot.kind != "array"]
    types: dict[str, WasmType] = {**_WASM, "array": "i64"} if wide else _WASM
    return [types[slot.kind] for slot in (*imported.params, *places)], [types[slot.kind] for slot in returned]


class Returned:
    """The results of one import."""

    def __init__(self, imported: Import) -> None:
        self.name = imported.name
        self.count = len(imported.results)

    def convert(self, kind: str, value: Any) -> Any:
        """A number of that kind."""
        try:
            return _CONVERT[kind](value)
        except convert.Mismatch as mismatch:
            raise StagingTypeError(f"`{self.name}` gave {value!r}: {mismatch}") from None

    def several(self, values: Any) -> list[Any]:
        """As many values as there are results."""
        if isinstance(values, (tuple, list)):
            found: list[Any] = [*values]
            if len(found) == self.count:
                return found
        raise StagingTypeError(f"`{self.name}` gave {values!r}: {self.count} values are needed")

    def array(self, value: Any, slot: Slot) -> Any:
        """The elements for a slot."""
        try:
            return convert.array(value, slot.shape, slot.element)
        except convert.Mismatch as mismatch:
            raise ShapeError(f"the result of `{self.name}` does not fit: {mismatch}") from None
