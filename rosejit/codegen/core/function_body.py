"""A Wasm function in the making: its code, collected from the end to the start, its locals, and where it fails."""

from rosejit.codegen.core.address_type import Kind
from rosejit.wasm.instructions import block, br_if, f64_load, f64_store, i32_load, i32_store, i64_load, i64_store
from rosejit.wasm.module import Locals, ValueType
from rosejit.wasm.opcodes import OP

LOADS = {"f64": f64_load, "i64": i64_load, "i32": i32_load}
STORES = {"f64": f64_store, "i64": i64_store, "i32": i32_store}
"""By offset, of a value of each Wasm type in 8 bytes of its own."""


class Frame:
    """The memory of one activation of a function; handed out from the end, like locals.

    What lies in it is free above its definition. Large functions keep their variables there, all functions places that
    callees add to and small structures that die where they were made; through the first `area` bytes go arguments and
    results of calls with very many. Nobody clears it.
    """

    __slots__ = ("_free", "bytes")

    def __init__(self, area: int) -> None:
        self.bytes = area
        self._free: dict[int, list[int]] = {}

    def slot(self, size: int = 8) -> int:
        """The offset of `size` free bytes."""
        size = -(-max(size, 1) // 8) * 8
        free = self._free.get(size)
        if free:
            return free.pop()
        self.bytes += size
        return self.bytes - size

    def release(self, offset: int, size: int = 8) -> None:
        """Let others have the bytes at `offset`."""
        self._free.setdefault(-(-max(size, 1) // 8) * 8, []).append(offset)


class Body:
    """Instructions are appended last one first: the first sight of a variable is then its last use.

    A local is free above the definition of what lies in it, so one pass gives every variable a local that is shared as
    far as lifetimes allow.
    """

    __slots__ = ("_address", "_frame", "_handlers", "_next", "_runs", "depth", "free", "out")

    def __init__(self, params: int, address: Kind = "i32", frame: int | None = None) -> None:
        self._address: Kind = address
        self.out: list[bytes] = []
        self.depth = 0
        """How many blocks of Wasm enclose the code that is being written."""
        self._frame = frame
        self._next = params
        self._runs: list[tuple[int, ValueType]] = []
        self.free: dict[Kind, list[int]] = {"f64": [], "i64": [], "i32": []}
        """Locals that hold nothing that is still needed."""
        self._handlers: dict[bytes, int] = {}

    def local(self, kind: Kind) -> int:
        """A free local."""
        free = self.free[kind]
        return free.pop() if free else self.fresh(kind)

    def fresh(self, kind: ValueType) -> int:
        """A local that nothing used before."""
        if self._runs and self._runs[-1][1] == kind:
            self._runs[-1] = (self._runs[-1][0] + 1, kind)
        else:
            self._runs.append((1, kind))
        self._next += 1
        return self._next - 1

    def release(self, kind: Kind, local: int) -> None:
        """Let others have `local`."""
        self.free[kind].append(local)

    @property
    def frame(self) -> int:
        """The local that holds the address of the frame."""
        if self._frame is None:
            self._frame = self.fresh(self._address)
        return self._frame

    @property
    def uses_frame(self) -> bool:
        """Whether the address of the frame is needed."""
        return self._frame is not None

    def fail_if(self, handler: bytes) -> bytes:
        """Takes an i32; if it is not 0 the function goes to `handler`, code behind its end that does not return."""
        return br_if[self.depth + self._handlers.setdefault(handler, len(self._handlers))]

    def finish(self, prologue: bytes, epilogue: bytes) -> tuple[Locals, list[bytes]]:
        """The locals and the whole code."""
        code = [prologue, *reversed(self.out), epilogue]
        if self._handlers:
            code[:0] = [block()] * len(self._handlers)
            code.append(OP["return"])
            for handler in self._handlers:
                code += (OP["end"], handler)
        return tuple(self._runs), code
