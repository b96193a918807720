"""Scalar code into code that does it to two lanes at a time: bit for bit what one at a time gives.

A Real or a Tan is a lane of an f64x2, an Int one of an i64x2, a Bool one of all ones or zeros. Both sides of a branch
are computed, the second one only if a lane takes it: kernels have their usual side first. Code that can be left when
that happens has no second sides.
"""

from collections.abc import Callable, Iterable, Sequence

from rosejit.codegen.core.address_type import KINDS, Kind
from rosejit.codegen.core.function_body import Body
from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.ir.primitive import Emit, Instr, Kernel, Primitive, Table
from rosejit.ir.syntax import Apply, Atom, Block, Call, Function, If, Let, Lit, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Type
from rosejit.ops.kernels import is_kernel, small_kernel
from rosejit.wasm.instructions import (
    Immediate,
    br_if,
    call,
    f64x2_const,
    i32_const,
    i64_const,
    i64x2_const,
    if_,
    local_get,
    local_set,
    shuffle,
    v128_load,
)
from rosejit.wasm.opcodes import OP

_BITS = "i64.reinterpret_f64 f64.reinterpret_i64"
_NATIVE: dict[str, bytes] = {
    **dict.fromkeys(_BITS.split(), b""),
    **{f"i64.{name}": OP[f"v128.{name}"] for name in ("and", "or", "xor")},
    **{f"i32.{name}": OP[f"v128.{name}"] for name in ("and", "or", "xor")},
    "i32.eqz": OP["v128.not"],
    "i32.ne": OP["v128.xor"],
    "i32.eq": OP["v128.xor"] + OP["v128.not"],
    "i64.extend_i32_u": OP["i64x2.neg"],
    "f64.copysign": f64x2_const(-0.0, -0.0) + OP["v128.bitselect"],
    "f32.demote_f64": OP["f32x4.demote_f64x2_zero"],
    "f64.promote_f32": OP["f64x2.promote_low_f32x4"],
}
"""What stands for an instruction behind its operands, where it has not the same name."""
_SHIFTS = ("i64.shl", "i64.shr_s", "i64.shr_u")
_CONVERSIONS = ("f64.convert_i64_s",)
"""Done to one lane after the other, which is still worth it."""

INLINED = 84

_SCALARS: tuple[Type, ...] = (REAL, TAN, INT, BOOL)
_GET: dict[Kind, Immediate] = {"f64": Immediate("f64x2.extract_lane"), "i64": Immediate("i64x2.extract_lane")}
_PUT: dict[Kind, Immediate] = {"f64": Immediate("f64x2.replace_lane"), "i64": Immediate("i64x2.replace_lane")}
_SPLAT: dict[Kind, bytes] = {"f64": OP["f64x2.splat"], "i64": OP["i64x2.splat"]}
COLUMNS = [shuffle([*range(k, k + 8), *range(k + 16, k + 24)]) for k in (0, 8)]
"""What makes of two rows of a table the lanes of a column."""
ENDS = shuffle([*range(8), *range(24, 32)])
"""The first lane of one, and the second of another."""
MIDDLE = shuffle(range(8, 24))
"""The second lane of one, and the first of another."""
_TO_MASK = OP["i64.extend_i32_u"] + i64_const[-1] + OP["i64.mul"]
_FROM_MASK = OP["i32.wrap_i64"] + i32_const[1] + OP["i32.and"]


def _native(op: Primitive, args: Sequence[Atom]) -> bytes | None:
    """What does to both lanes what `op` does, behind the operands, if there is something."""
    if not isinstance(op.wasm, Instr) or op.failure:
        return None
    if any([name in _SHIFTS for name in op.wasm.names]) and not isinstance(args[1], Lit):
        return None
    codes = [_in_lanes(name) for name in op.wasm.names]
    return None if None in codes else b"".join([code for code in codes if code is not None])


def _in_lanes(name: str) -> bytes | None:
    """What does to both lanes what an instruction does, if there is something."""
    if name in _SHIFTS:
        return OP[name.replace("i64.", "i64x2.")]
    if name in _NATIVE:
        return _NATIVE[name]
    prefix, _, rest = name.partition(".")
    return OP.get(f"{prefix}x2.{rest}") if prefix in ("f64", "i64") else None


def can_apply(module: ModuleContext, op: Primitive, args: Sequence[Atom]) -> bool:
    """Whether two lanes of `op` are faster than one after the other."""
    if op.failure or any(t not in _SCALARS for t in (*op.params, op.result)):
        return False
    if isinstance(op.wasm, Emit | Table):
        return True
    if isinstance(op.wasm, Kernel):
        return _worthwhile(module, module.kernel(op))
    return _native(op, args) is not None or op.wasm.names[0] in _CONVERSIONS


def _worthwhile(module: ModuleContext, f: Function) -> bool:
    """Whether a kernel has a usual way without loops and tables, and is known to be right for two lanes."""
    known = module.worthwhile.get(f)
    if known is None:
        assert f.body is not None
        known = module.worthwhile[f] = _usual(module, f.body) and all(_possible(b) for b in _rare(f.body))
    return known


def can_call(module: ModuleContext, f: Function) -> bool:
    """Whether a function that is called is a kernel that is done faster to two lanes than to one after the other."""
    return is_kernel(f) and _worthwhile(module, f)


def _usual(module: ModuleContext, block: Block) -> bool:
    for let in block.lets:
        match let.expr:
            case Apply(op=op, args=args):
                if not can_apply(module, op, args):
                    return False
            case If(then=then):
                if not _usual(module, then):
                    return False
            case Call(function=f):
                if not _worthwhile(module, f):
                    return False
            case _:
                return False
    return True


def _rare(block: Block) -> Iterable[Block]:
    """The second sides of all branches on the usual way."""
    for let in block.lets:
        if isinstance(let.expr, If):
            yield let.expr.orelse
            yield from _rare(let.expr.then)


def _possible(block: Block) -> bool:
    """Whether the code can be written, and does not fail on lanes that do not take it."""
    for let in block.lets:
        match let.expr:
            case Apply(op=op):
                if op.failure or (isinstance(op.wasm, Instr) and op.wasm.names[0] in ("i64.div_s", "i64.rem_s")):
                    return False
            case If(then=then, orelse=orelse):
                if not (_possible(then) and _possible(orelse)):
                    return False
            case Call():
                pass
            case _:
                return False
    return True


def paired(module: ModuleContext, f: Function) -> int:
    """The function that does `f`, a worthwhile kernel, to two lanes of each argument."""
    index = module.paired.get(f)
    if index is None:
        body = Body(len(f.params))
        results = ("v128",) * len(f.results)
        index = module.builder.declare_function(("v128",) * len(f.params), results, f"{f.name}.x2")
        module.paired[f] = index
        lanes = Lanes(module, body)
        made = lanes.inline(f, [local_get[k] for k in range(len(f.params))])
        body.out = [b"".join((*lanes.code, *made))]
        module.builder.define(index, *body.finish(b"", b""))
    return index


def _length(block: Block | None) -> int:
    """The lets of the usual way."""
    assert block is not None
    return sum(_length(let.expr.then) if isinstance(let.expr, If) else 1 for let in block.lets)


class Lanes:
    """Two lanes of straight-line code: each variable in a local of its own."""

    inlines = False
    """Whether kernels of at most `INLINED` lets on their usual way are written where they are used."""

    rare: int | None = None
    """The depth of the block to leave if a lane takes the second side of a branch; None: both sides are written."""

    even = False
    """Whether second sides are not rare, here: then both are written all the same."""

    def __init__(self, module: ModuleContext, body: Body, outside: Callable[[Var], bytes] | None = None) -> None:
        self._module = module
        self._body = body
        self._outside = outside
        self._rows: dict[tuple[str, Atom], tuple[int, int]] = {}
        """The locals that hold what lies in a table for both lanes of a variable."""
        self.codes: dict[Var, bytes] = {}
        """What leaves both lanes of a variable."""
        self.code: list[bytes] = []

    def bind(self, v: Var, *code: bytes) -> None:
        """`v` is what `code` leaves."""
        local = self._body.fresh("v128")
        self.code += (*code, local_set[local])
        self.codes[v] = local_get[local]

    def value(self, a: Atom) -> bytes:
        """What leaves both lanes of an atom."""
        if isinstance(a, Lit):
            if a.type is INT or a.type is BOOL:
                value = int(a.value or 0)
                return i64x2_const(*(-value if a.type is BOOL else value,) * 2)
            assert a.value is not None
            return f64x2_const(*(float(a.value),) * 2)
        known = self.codes.get(a)
        if known is None:
            assert self._outside is not None
            kind = KINDS[a.type]  # type: ignore[index]  # a Scalar
            known = self._outside(a) + (_TO_MASK + _SPLAT["i64"] if kind == "i32" else _SPLAT[kind or "f64"])
        return known

    def extracted(self, v: Var, lane: int) -> bytes:
        """What leaves one lane of a variable."""
        return self.codes[v] + _GET[_kind(v.type)][lane] + (_FROM_MASK if v.type is BOOL else b"")

    def inline(self, f: Function, args: Sequence[bytes]) -> list[bytes]:
        """Write the steps of a kernel; what leaves its results. Written twice, its variables are others each time, and
        so are the rows of tables that were looked up by them."""
        rows, self._rows = self._rows, {}
        results = self._steps(f, args)
        self._rows = rows
        return results

    def _steps(self, f: Function, args: Sequence[bytes]) -> list[bytes]:
        """If a lane goes the rare way at the end of a kernel, both are done alone."""
        assert f.body is not None
        self.codes.update(zip(f.params, args, strict=True))
        lets, results = f.body.lets, f.body.results
        last = lets[-1].expr if lets else None
        if not isinstance(last, If) or results != lets[-1].binders or len(results) != 1:
            self.run(lets)
            return list(map(self.value, results))
        if self.rare is not None or self.even:
            self.run(lets)
            return [self.value(results[0])]
        self.run((*lets[:-1], *last.then.lets))
        result = self._body.fresh("v128")
        self.code += (self.value(last.then.results[0]), local_set[result])
        self.code += (*self._not_all(last.condition), if_())
        self._one_by_one(self._module.callee(f).code, f.params, (result,), f.results)
        self.code.append(OP["end"])
        return [local_get[result]]

    def run(self, lets: Iterable[Let]) -> None:
        """Write lets, and leave their results in locals."""
        for let in lets:
            match let.expr:
                case Apply(op=op, args=args):
                    self.apply(let.binders[0], op, args)
                case If() as e:
                    self._branch(let.binders, e)
                case Call(function=f, args=args):
                    self._call(let.binders, f, args)
                case _:
                    raise AssertionError("these lanes cannot go together")

    def apply(self, v: Var, op: Primitive, args: Sequence[Atom]) -> None:
        """A primitive."""
        native = _native(op, args)
        if native is not None and isinstance(op.wasm, Instr):
            if op.wasm.names[0] in _SHIFTS:
                assert isinstance(args[1], Lit)
                assert isinstance(args[1].value, int)
                self.bind(v, self.value(args[0]), i32_const[args[1].value & 63], native)
            elif op.wasm.names[0] == "f64.copysign":
                self.bind(v, self.value(args[1]), self.value(args[0]), native)
            else:
                self.bind(v, *map(self.value, args), native)
        elif isinstance(op.wasm, Emit):  # a selection
            condition, chosen, other = map(self.value, args)
            self.bind(v, chosen, other, condition, OP["v128.bitselect"])
        elif isinstance(op.wasm, Kernel):
            self._kernel(v, op, args)
        elif isinstance(op.wasm, Table):
            first, second = self._look_up(op.wasm, args[0])
            self.bind(v, local_get[first], local_get[second], COLUMNS[op.wasm.column])
        else:
            params = tuple(Var(t) for t in op.params)
            self.codes.update(zip(params, map(self.value, args), strict=True))
            local = self._body.fresh("v128")
            code = b"".join([OP[name] for name in op.wasm.names])
            self._one_by_one(code, params, (local,), (op.result,))
            self.codes[v] = local_get[local]

    def _look_up(self, table: Table, i: Atom) -> tuple[int, int]:
        """The locals that hold the rows of both lanes, which are loaded once for all columns."""
        known = self._rows.get((table.name, i))
        if known is None:
            known = self._rows[table.name, i] = self._body.fresh("v128"), self._body.fresh("v128")
            row, address = self._module.row(table)
            numbers = (_GET["f64"][0] + OP["i64.reinterpret_f64"], _GET["i64"][1])  # for lane 0 engines know a move
            for local, number in zip(known, numbers, strict=True):
                self.code += (
                    self.value(i),
                    number,
                    self._module.address.of_int,
                    row,
                    v128_load[address],
                    local_set[local],
                )
        return known

    def _kernel(self, v: Var, op: Primitive, args: Sequence[Atom]) -> None:
        small = small_kernel(op)
        if small is None:
            assert isinstance(op.wasm, Kernel)
            self.even = op.wasm.even
            self._call((v,), self._module.kernel(op), args)
            self.even = False
        else:
            (self.codes[v],) = self.inline(small, list(map(self.value, args)))

    def _call(self, binders: Sequence[Var], f: Function, args: Sequence[Atom]) -> None:
        """To the function for two lanes, where there is one; what is short is written in its place."""
        given = list(map(self.value, args))
        if not _worthwhile(self._module, f):
            locals_ = [self._body.fresh("v128") for _ in binders]
            self.codes.update(zip(f.params, given, strict=True))
            self._one_by_one(self._module.callee(f).code, f.params, locals_, f.results)
        elif self.inlines and _length(f.body) <= INLINED * len(binders):
            self.codes.update(zip(binders, self.inline(f, given), strict=True))
            return
        else:
            locals_ = [self._body.fresh("v128") for _ in binders]
            self.code += (*given, call[paired(self._module, f)])
            self.code += [local_set[local] for local in reversed(locals_)]
        self.codes.update(zip(binders, (local_get[local] for local in locals_), strict=True))

    def _branch(self, binders: Sequence[Var], e: If) -> None:
        if self.rare is not None and not self.even:
            self.run(e.then.lets)
            self.code += (*self._not_all(e.condition), br_if[self.rare])
            self.codes.update(zip(binders, map(self.value, e.then.results), strict=True))
            return
        self.run(e.then.lets)
        locals_ = [self._body.fresh("v128") for _ in binders]
        for local, usual in zip(locals_, e.then.results, strict=True):
            self.code += (self.value(usual), local_set[local])
        self.code += (*self._not_all(e.condition), if_())
        rows, outside = dict(self._rows), (self.inlines, self.rare)
        self.inlines, self.rare = False, None
        self.run(e.orelse.lets)
        self.inlines, self.rare = outside
        self._rows = rows
        condition = self.value(e.condition)
        for local, rare in zip(locals_, e.orelse.results, strict=True):
            self.code += (local_get[local], self.value(rare), condition, OP["v128.bitselect"], local_set[local])
        self.code.append(OP["end"])
        self.codes.update(zip(binders, (local_get[local] for local in locals_), strict=True))

    def _not_all(self, condition: Atom) -> tuple[bytes, ...]:
        return self.value(condition), OP["i64x2.bitmask"], i32_const[3], OP["i32.ne"]

    def _one_by_one(self, code: bytes, params: Sequence[Var], locals_: Sequence[int], results: Sequence[Type]) -> None:
        """Do `code` to the first lanes of `params`, then to the second; its results go into the lanes of locals."""
        scratch = [self._body.local(_kind(t)) for t in results]
        for lane in (0, 1):
            for p in params:
                self.code.append(self.extracted(p, lane))
            self.code.append(code)
            for t, place in reversed(list(zip(results, scratch, strict=True))):
                self.code += (_TO_MASK if t is BOOL else b"", local_set[place])
            for t, place, local in zip(results, scratch, locals_, strict=True):
                put = _PUT[_kind(t)][1] if lane else _SPLAT[_kind(t)]
                self.code += (local_get[local] if lane else b"", local_get[place], put, local_set[local])
        for t, place in zip(results, scratch, strict=True):
            self._body.release(_kind(t), place)


def _kind(t: Type) -> Kind:
    """Of a lane."""
    return "i64" if t is INT or t is BOOL else "f64"
