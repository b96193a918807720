"""A call that did not return to the exception that its caller sees, raised from the user's line."""

from collections.abc import Callable
from typing import NoReturn

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, INTERRUPTED, OUT_OF_MEMORY, Artifact
from rosejit.errors import RoseMemoryError, RoseRecursionError, WasmTrap, raise_in_user_code
from rosejit.ir.failure import Failure, failure_error
from rosejit.list_room import NeedsRoom
from rosejit.list_room import Outgrown as ListOutgrown
from rosejit.runtime.backend import NO_FAILURE, Fault, Instance
from rosejit.runtime.marshalling.convert import Mismatch
from rosejit.runtime.residency.stack_limit import here

Outgrown = Callable[..., bool | None]
"""Told that the memory is exhausted, or the room for a list, and which; says whether the call may be made again, by
code that can have more. None where there is no such code."""


def raise_fault(artifact: Artifact, outgrown: Outgrown, instance: Instance, status: int) -> NoReturn:
    """Raise what ended the last call of `instance`, which is not used for ordinary calls again: `Mismatch` where that
    call is to be made again."""
    instance.usable = False
    raised = instance.take_raised(status)
    if raised is not None:
        callback = raised.__traceback__
        raise raised.with_traceback(callback and callback.tb_next)
    fault = instance.fault(status)
    number = instance.words[FAILURE_NUMBER // 4] if fault.kind == "unreachable" else NO_FAILURE
    if number >= 0:
        failure = artifact.failures[number]
        error = failure_error(failure, _values(artifact, instance, number))
        if isinstance(error, ListOutgrown):
            _raise_for_room(error, failure, outgrown(error))
        raise_in_user_code(error, failure.span)
    if number == INTERRUPTED:
        raise KeyboardInterrupt
    if number == OUT_OF_MEMORY:
        again = outgrown()
        if again:
            raise Mismatch("it needs more memory than addresses of 32 bits reach")
        _raise_exhausted(artifact, instance, fault, grows=again is not None)
    _raise_trap(artifact, fault)


def _raise_for_room(error: ListOutgrown, failure: Failure, again: bool | None) -> NoReturn:
    if again:
        raise NeedsRoom(str(error))
    remedy = "keep fewer items"
    if again is not None:
        remedy = "stage it again: another call of the function, or another `lower(...)`, has more room from now on"
    raise_in_user_code(RoseMemoryError(str(error), failure.span, help=remedy), failure.span)


def _values(artifact: Artifact, instance: Instance, number: int) -> list[float | int | bool]:
    """The values that the failure was reported with, indices as the user wrote them."""
    failure = artifact.failures[number]
    default = ("int", "int") if failure.kind == "index" else ()
    kinds = artifact.failure_values[number] if artifact.failure_values else default
    values: list[float | int | bool] = []
    for at, kind in enumerate(kinds, FAILURE_VALUES // 8):
        value = instance.reals[at] if kind == "real" else instance.ints[at]
        values.append(bool(value) if kind == "bool" else value)
    if failure.kind == "index" and len(values) == len(("index", "length")) and values[0] < 0:
        values[0] -= values[1]  # the module has added the length once, to an index that is not the bound of a window
    return values


_LESS = "a gradient keeps less of a loop over `rose.range(n, checkpoint=True)`, and `.cost().loops` says what it keeps"
_REMEDIES = {
    True: "call it again: it is compiled now for more memory, but host functions were called already, or a pullback "
    "belongs to what was kept; ",
    False: "work on parts of the arrays, or let a call take more, if the machine has it (`ROSE_MEMORY_BYTES`); ",
}
"""By whether calls can have more memory from now on."""


def _raise_exhausted(artifact: Artifact, instance: Instance, fault: Fault, *, grows: bool) -> NoReturn:
    asked = instance.ints[FAILURE_VALUES // 8]
    running = next((f for f in fault.functions if f in artifact.places), None)
    span = None if running is None else artifact.places[running]
    error = RoseMemoryError(
        f"the memory of the compiled code is exhausted: {asked:,} bytes were asked for, "
        f"{instance.memory.size():,} of at most {instance.limit:,} are in use",
        span,
        help=_REMEDIES[grows] + _LESS,
    )
    raise_in_user_code(error, span)


def _raise_trap(artifact: Artifact, fault: Fault) -> NoReturn:
    known = [f for f in fault.functions if f in artifact.functions]
    if fault.kind == "stack":
        _raise_recursion(artifact, known)
    name = f"`{artifact.functions[known[0]]}`" if known else "the compiled code"
    raise WasmTrap(f"{name} failed: {fault.message}")


def _raise_recursion(artifact: Artifact, known: list[int]) -> NoReturn:
    """The function that is running most often is the one that calls itself, not what it called last."""
    most = max(known, key=known.count, default=None)
    name = "the compiled code" if most is None else f"`{artifact.functions[most]}`"
    span = None if most is None else artifact.places.get(most)
    more = ", or call it in a thread with more (`threading.stack_size`)" if here.high else ""
    error = RoseRecursionError(
        f"{name} calls itself too deeply: the stack of the thread is exhausted",
        span,
        facts=(f"it has {here.share:,} bytes for compiled code",) if here.high else (),
        help=f"write it as a loop{more}",
    )
    raise_in_user_code(error, span)
