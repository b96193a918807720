"""A Python function that compiled code imports to a callback the engine can call.

The engine gives an address of 16-byte places, the arguments, over which the results are written. All memory is
looked at as three arrays that start at address 0: reading a number there costs 45 ns, a ctypes object for it 300.
No exception may leave a callback (`exception_table.py`): it is kept, and a trap that was made beforehand is returned.
"""

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from rosejit.abi import Import, Slot
from rosejit.errors import RoseRecursionError
from rosejit.numeric import np
from rosejit.runtime.exception_table import whole_try
from rosejit.runtime.marshalling import convert
from rosejit.runtime.marshalling.host_results import Returned
from rosejit.runtime.residency.memory import numbers, octets_at
from rosejit.runtime.residency.stack_limit import here

TRAP, BASE, SPARE = 0, 1, 2
"""The control block of an instance: the trap of a failed call, the address of its memory, a trap to return."""

_Callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_all_memory = octets_at(0, 1 << 62)
_reals, _ints, _words = numbers(_all_memory)

_PLACE = {"real": "reals[{0}]", "int": "ints[{0}]", "bool": "words[2 * ({0})]"}
_INEXACT = {
    "real": "type({0}) is not float",
    "int": f"type({{0}}) is not int or not {convert.INT_MIN} <= {{0}} <= {convert.INT_MAX}",
    "bool": "type({0}) is not bool",
}
_TEXT = """\
def callback(control, caller, at, count):
    try:
        if not low < caller < high:
            check_room(caller)
        at >>= 3
        {result} = function({arguments})
        {writes}
    except BaseException as error:  # nothing below calls: a signal handler cannot run any more
        raised[control] = error
        trap, ints[(control >> 3) + {spare}] = ints[(control >> 3) + {spare}], 0
        return trap
"""


def callback(
    imported: Import, function: Callable[..., Any], raised: dict[int, BaseException], wide: bool = False
) -> Any:
    """The callback of `function`; what it raises goes to `raised`, under the address of the control block.

    Arrays arrive as copies that cannot be written, but for routines of NumPy's, which neither keep nor write them.
    Several results are a tuple.
    """
    count = len(imported.results)
    arguments = [_argument(slot, 2 * k, wide) for k, slot in enumerate(imported.params)]
    # Arrays first: their addresses are among the arguments, which the numbers are written over.
    order = sorted(range(count), key=lambda k: imported.results[k].kind != "array")
    body = [line for k in order for line in _result(imported, k, wide)]
    values = [f"r{k}" for k in range(count)]
    if count > 1:
        body.insert(0, f"{', '.join(values)} = several(result)")
    text = _TEXT.format(
        arguments=", ".join(arguments),
        result="result" if count != 1 else "r0",
        writes="\n        ".join(body) or "pass",
        spare=SPARE,
    )
    returned = Returned(imported)
    scope: dict[str, Any] = {
        "function": function, "raised": raised, "reals": _reals, "ints": _ints, "words": _words,
        "low": here.floor, "high": here.high, "check_room": _check_room,
        "array_at": _view if hasattr(function, "routine") else _array_at,
        "convert": returned.convert, "several": returned.several, "place": partial(_place, returned),
        "params": imported.params, "results": imported.results,
    }  # fmt: skip
    exec(compile(text, f"{__file__}<{imported.name}>", "exec"), scope)
    return _Callback(whole_try(scope["callback"]))


def _argument(slot: Slot, at: int, wide: bool) -> str:
    if slot.kind == "array":
        return f"array_at({_address(at, wide)}, params[{at // 2}])"
    place = _PLACE[slot.kind].format(_index(at))
    return f"{place} != 0" if slot.kind == "bool" else place


def _address(at: int, wide: bool) -> str:
    """Where an array lies."""
    return f"ints[(control >> 3) + {BASE}] + " + (
        f"ints[at + {at}]" if wide else f"(words[2 * (at + {at})] & 0xffffffff)"
    )


def _result(imported: Import, k: int, wide: bool) -> list[str]:
    """The lines that check result `k` and write it where the engine, or the module, wants it."""
    slot, earlier = imported.results[k], [s.kind for s in imported.results[:k]]
    if slot.kind == "array":
        at = 2 * (len(imported.params) + earlier.count("array"))
        return [f"place({_address(at, wide)}, r{k}, results[{k}])"]
    at = 2 * (k - earlier.count("array"))
    return [
        f"if {_INEXACT[slot.kind].format(f'r{k}')}: r{k} = convert({slot.kind!r}, r{k})",
        f"{_PLACE[slot.kind].format(_index(at))} = r{k}",
    ]


def _index(at: int) -> str:
    return f"at + {at}" if at else "at"


def _place(returned: Returned, address: int, value: Any, slot: Slot) -> None:
    elements = returned.array(value, slot)
    if elements.size:
        _view(address, slot)[...] = elements


def _view(address: int, slot: Slot) -> Any:
    numpy: Any = np  # its stubs for `frombuffer` want a newer Python than ours
    elements = numpy.frombuffer(_all_memory[address : address + slot.bytes], convert.dtype(slot.element))
    return elements.reshape(slot.shape)


def _array_at(address: int, slot: Slot) -> Any:
    if not slot.bytes:
        return np.zeros(slot.shape, convert.dtype(slot.element))
    elements = _view(address, slot).copy()
    elements.setflags(write=False)
    return elements


def _check_room(address: int) -> None:
    """Refuse to go on where the stack of this thread has no room for another call of compiled code."""
    if address < here.floor:
        raise RoseRecursionError("compiled code and host functions call each other too deeply: the stack is exhausted")
