"""The instructions of WebAssembly by name: the one table that knows their bytes, operands and types.

A row reads `code type signature immediates names`; codes count on from the first, `.` is a hole. `fc:` and `fd:` are
pages of further instructions. Signatures spell i32 i64 f32 f64 v128 as `i l f d v` and are `*` where the context
decides. `@8` is an offset in memory, with a natural alignment of 8.
Left out: exceptions, references, threads, and tables but for `call_indirect`.
"""

from typing import NamedTuple

from rosejit.wasm.leb128 import unsigned

_TABLE = """
00      -      *     -           unreachable nop
02      -      *     block       block loop if
05      -      *     -           else
0b      -      *     -           end
0c      -      *     label       br br_if
0e      -      *     labels      br_table
0f      -      *     -           return
10      -      *     func        call
11      -      *     type,table  call_indirect
12      -      *     func        return_call
13      -      *     type,table  return_call_indirect
1a      -      *     -           drop select
20      local  *     local       get set tee
23      global *     global      get set

28      i32    i:i   @4          load
29      i64    i:l   @8          load
2a      f32    i:f   @4          load
2b      f64    i:d   @8          load
2c      i32    i:i   @1          load8_s load8_u
2e      i32    i:i   @2          load16_s load16_u
30      i64    i:l   @1          load8_s load8_u
32      i64    i:l   @2          load16_s load16_u
34      i64    i:l   @4          load32_s load32_u
36      i32    ii:   @4          store
37      i64    il:   @8          store
38      f32    if:   @4          store
39      f64    id:   @8          store
3a      i32    ii:   @1          store8
3b      i32    ii:   @2          store16
3c      i64    il:   @1          store8
3d      i64    il:   @2          store16
3e      i64    il:   @4          store32
3f      memory :i    memory      size
40      memory i:i   memory      grow
fc:08   memory iii:  data,memory init
fc:09   data   :     data        drop
fc:0a   memory iii:  memory,memory copy
fc:0b   memory iii:  memory      fill

41      i32    :i    i32         const
42      i64    :l    i64         const
43      f32    :f    f32         const
44      f64    :d    f64         const
45      i32    i:i   -           eqz
46      i32    ii:i  -           eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
50      i64    l:i   -           eqz
51      i64    ll:i  -           eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
5b      f32    ff:i  -           eq ne lt gt le ge
61      f64    dd:i  -           eq ne lt gt le ge
67      i32    i:i   -           clz ctz popcnt
6a      i32    ii:i  -           add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr
79      i64    l:l   -           clz ctz popcnt
7c      i64    ll:l  -           add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr
8b      f32    f:f   -           abs neg ceil floor trunc nearest sqrt
92      f32    ff:f  -           add sub mul div min max copysign
99      f64    d:d   -           abs neg ceil floor trunc nearest sqrt
a0      f64    dd:d  -           add sub mul div min max copysign
a7      i32    l:i   -           wrap_i64
a8      i32    f:i   -           trunc_f32_s trunc_f32_u
aa      i32    d:i   -           trunc_f64_s trunc_f64_u
ac      i64    i:l   -           extend_i32_s extend_i32_u
ae      i64    f:l   -           trunc_f32_s trunc_f32_u
b0      i64    d:l   -           trunc_f64_s trunc_f64_u
b2      f32    i:f   -           convert_i32_s convert_i32_u
b4      f32    l:f   -           convert_i64_s convert_i64_u
b6      f32    d:f   -           demote_f64
b7      f64    i:d   -           convert_i32_s convert_i32_u
b9      f64    l:d   -           convert_i64_s convert_i64_u
bb      f64    f:d   -           promote_f32
bc      i32    f:i   -           reinterpret_f32
bd      i64    d:l   -           reinterpret_f64
be      f32    i:f   -           reinterpret_i32
bf      f64    l:d   -           reinterpret_i64
c0      i32    i:i   -           extend8_s extend16_s
c2      i64    l:l   -           extend8_s extend16_s extend32_s
fc:00   i32    f:i   -           trunc_sat_f32_s trunc_sat_f32_u
fc:02   i32    d:i   -           trunc_sat_f64_s trunc_sat_f64_u
fc:04   i64    f:l   -           trunc_sat_f32_s trunc_sat_f32_u
fc:06   i64    d:l   -           trunc_sat_f64_s trunc_sat_f64_u

fd:00   v128   i:v   @16         load
fd:01   v128   i:v   @8          load8x8_s load8x8_u load16x4_s load16x4_u load32x2_s load32x2_u
fd:07   v128   i:v   @1          load8_splat
fd:08   v128   i:v   @2          load16_splat
fd:09   v128   i:v   @4          load32_splat
fd:0a   v128   i:v   @8          load64_splat
fd:0b   v128   iv:   @16         store
fd:54   v128   iv:v  @1,lane     load8_lane
fd:55   v128   iv:v  @2,lane     load16_lane
fd:56   v128   iv:v  @4,lane     load32_lane
fd:57   v128   iv:v  @8,lane     load64_lane
fd:58   v128   iv:   @1,lane     store8_lane
fd:59   v128   iv:   @2,lane     store16_lane
fd:5a   v128   iv:   @4,lane     store32_lane
fd:5b   v128   iv:   @8,lane     store64_lane
fd:5c   v128   i:v   @4          load32_zero
fd:5d   v128   i:v   @8          load64_zero

fd:0c   v128   :v    v128        const
fd:0d   i8x16  vv:v  lanes       shuffle
fd:0e   i8x16  vv:v  -           swizzle
fd:0f   i8x16  i:v   -           splat
fd:10   i16x8  i:v   -           splat
fd:11   i32x4  i:v   -           splat
fd:12   i64x2  l:v   -           splat
fd:13   f32x4  f:v   -           splat
fd:14   f64x2  d:v   -           splat
fd:15   i8x16  v:i   lane        extract_lane_s extract_lane_u
fd:17   i8x16  vi:v  lane        replace_lane
fd:18   i16x8  v:i   lane        extract_lane_s extract_lane_u
fd:1a   i16x8  vi:v  lane        replace_lane
fd:1b   i32x4  v:i   lane        extract_lane
fd:1c   i32x4  vi:v  lane        replace_lane
fd:1d   i64x2  v:l   lane        extract_lane
fd:1e   i64x2  vl:v  lane        replace_lane
fd:1f   f32x4  v:f   lane        extract_lane
fd:20   f32x4  vf:v  lane        replace_lane
fd:21   f64x2  v:d   lane        extract_lane
fd:22   f64x2  vd:v  lane        replace_lane
fd:23   i8x16  vv:v  -           eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
fd:2d   i16x8  vv:v  -           eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
fd:37   i32x4  vv:v  -           eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
fd:d6   i64x2  vv:v  -           eq ne lt_s gt_s le_s ge_s
fd:41   f32x4  vv:v  -           eq ne lt gt le ge
fd:47   f64x2  vv:v  -           eq ne lt gt le ge
fd:4d   v128   v:v   -           not
fd:4e   v128   vv:v  -           and andnot or xor
fd:52   v128   vvv:v -           bitselect
fd:53   v128   v:i   -           any_true

fd:60   i8x16  v:v   -           abs neg popcnt
fd:63   i8x16  v:i   -           all_true bitmask
fd:65   i8x16  vv:v  -           narrow_i16x8_s narrow_i16x8_u
fd:6b   i8x16  vi:v  -           shl shr_s shr_u
fd:6e   i8x16  vv:v  -           add add_sat_s add_sat_u sub sub_sat_s sub_sat_u . . min_s min_u max_s max_u . avgr_u
fd:7c   i16x8  v:v   -           extadd_pairwise_i8x16_s extadd_pairwise_i8x16_u
fd:7e   i32x4  v:v   -           extadd_pairwise_i16x8_s extadd_pairwise_i16x8_u
fd:80   i16x8  v:v   -           abs neg
fd:82   i16x8  vv:v  -           q15mulr_sat_s
fd:83   i16x8  v:i   -           all_true bitmask
fd:85   i16x8  vv:v  -           narrow_i32x4_s narrow_i32x4_u
fd:87   i16x8  v:v   -           extend_low_i8x16_s extend_high_i8x16_s extend_low_i8x16_u extend_high_i8x16_u
fd:8b   i16x8  vi:v  -           shl shr_s shr_u
fd:8e   i16x8  vv:v  -           add add_sat_s add_sat_u sub sub_sat_s sub_sat_u . mul min_s min_u max_s max_u . avgr_u
fd:9c   i16x8  vv:v  -           extmul_low_i8x16_s extmul_high_i8x16_s extmul_low_i8x16_u extmul_high_i8x16_u
fd:a0   i32x4  v:v   -           abs neg
fd:a3   i32x4  v:i   -           all_true bitmask
fd:a7   i32x4  v:v   -           extend_low_i16x8_s extend_high_i16x8_s extend_low_i16x8_u extend_high_i16x8_u
fd:ab   i32x4  vi:v  -           shl shr_s shr_u
fd:ae   i32x4  vv:v  -           add . . sub . . . mul min_s min_u max_s max_u dot_i16x8_s
fd:bc   i32x4  vv:v  -           extmul_low_i16x8_s extmul_high_i16x8_s extmul_low_i16x8_u extmul_high_i16x8_u
fd:c0   i64x2  v:v   -           abs neg
fd:c3   i64x2  v:i   -           all_true bitmask
fd:c7   i64x2  v:v   -           extend_low_i32x4_s extend_high_i32x4_s extend_low_i32x4_u extend_high_i32x4_u
fd:cb   i64x2  vi:v  -           shl shr_s shr_u
fd:ce   i64x2  vv:v  -           add . . sub . . . mul
fd:dc   i64x2  vv:v  -           extmul_low_i32x4_s extmul_high_i32x4_s extmul_low_i32x4_u extmul_high_i32x4_u

fd:67   f32x4  v:v   -           ceil floor trunc nearest
fd:e0   f32x4  v:v   -           abs neg . sqrt
fd:e4   f32x4  vv:v  -           add sub mul div min max pmin pmax
fd:74   f64x2  v:v   -           ceil floor
fd:7a   f64x2  v:v   -           trunc
fd:94   f64x2  v:v   -           nearest
fd:ec   f64x2  v:v   -           abs neg . sqrt
fd:f0   f64x2  vv:v  -           add sub mul div min max pmin pmax
fd:5e   f32x4  v:v   -           demote_f64x2_zero
fd:5f   f64x2  v:v   -           promote_low_f32x4
fd:f8   i32x4  v:v   -           trunc_sat_f32x4_s trunc_sat_f32x4_u
fd:fa   f32x4  v:v   -           convert_i32x4_s convert_i32x4_u
fd:fc   i32x4  v:v   -           trunc_sat_f64x2_s_zero trunc_sat_f64x2_u_zero
fd:fe   f64x2  v:v   -           convert_low_i32x4_s convert_low_i32x4_u

fd:100  i8x16  vv:v  -           relaxed_swizzle
fd:101  i32x4  v:v   -           relaxed_trunc_f32x4_s relaxed_trunc_f32x4_u
fd:103  i32x4  v:v   -           relaxed_trunc_f64x2_s_zero relaxed_trunc_f64x2_u_zero
fd:105  f32x4  vvv:v -           relaxed_madd relaxed_nmadd
fd:107  f64x2  vvv:v -           relaxed_madd relaxed_nmadd
fd:109  i8x16  vvv:v -           relaxed_laneselect
fd:10a  i16x8  vvv:v -           relaxed_laneselect
fd:10b  i32x4  vvv:v -           relaxed_laneselect
fd:10c  i64x2  vvv:v -           relaxed_laneselect
fd:10d  f32x4  vv:v  -           relaxed_min relaxed_max
fd:10f  f64x2  vv:v  -           relaxed_min relaxed_max
"""

VALUE_TYPES: dict[str, bytes] = {
    "i32": b"\x7f",
    "i64": b"\x7e",
    "f32": b"\x7d",
    "f64": b"\x7c",
    "v128": b"\x7b",
    "funcref": b"\x70",
}
NO_RESULT = b"\x40"
"""Stands for the type of a block that leaves nothing."""


class Opcode(NamedTuple):
    """What the binary format says of an instruction."""

    name: str
    code: bytes
    signature: str
    immediates: tuple[str, ...]
    alignment: int
    """Natural, in bytes, of an instruction that touches memory; else 0."""


def _rows() -> list[Opcode]:
    found: list[Opcode] = []
    for row in filter(None, _TABLE.splitlines()):
        first, prefix, signature, kinds, *names = row.split()
        page, _, number = first.rpartition(":")
        at, _, rest = kinds.partition(",")
        alignment = int(at[1:]) if at.startswith("@") else 0
        immediates = tuple(("offset" if alignment else at, *filter(None, (rest,)))) if at != "-" else ()
        for n, name in enumerate(names, int(number, 16)):
            if name != ".":
                code = bytes.fromhex(page) + unsigned(n) if page else bytes((n,))
                full = name if prefix == "-" else f"{prefix}.{name}"
                found.append(Opcode(full, code, signature, immediates, alignment))
    return found


OPCODES: dict[str, Opcode] = {opcode.name: opcode for opcode in _rows()}

OP: dict[str, bytes] = {name: opcode.code for name, opcode in OPCODES.items()}
"""The bytes of an instruction without its immediates: `OP["f64.add"]`."""
