"""Arrays whose elements are known to fit a dtype of few bits are stored in it, and no others: read off the program, by
every form of the IR; what is computed stays the same."""

import struct
from typing import Any

import pytest

from rosejit import interp
from rosejit.abi import Border, Slot
from rosejit.codegen.program.compile import compile_program
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import lets
from rosejit.ir.types import STORED, Array, Type
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.passes.select_storage import select_storage


def selected(text: str, params: tuple[str, ...] = ("uint8",), results: tuple[str, ...] = ("uint8",)) -> ir.Function:
    f = parse(text)
    verify_program(f)
    return select_storage({"main": f}, {"main": Border(params, results)})["main"]


def element(t: Type) -> str:
    while isinstance(t, Array):
        t = t.element
    return repr(t) if t in STORED.values() else ""


def crossing(f: ir.Function) -> tuple[list[str], list[str]]:
    """What arrays that a function takes and gives are stored as."""
    params = [element(p.type) for p in f.params if isinstance(p.type, Array)]
    return params, [element(t) for t in f.results if isinstance(t, Array)]


def inside(f: ir.Function) -> list[str]:
    """And those that lets bind, for which there is a dtype."""
    assert f.body is not None
    return [name for let in lets(f.body) for b in let.binders if (name := element(b.type))]


BOTH, NONE = (["uint8"], ["uint8"]), ([""], [""])
FORMS = {
    "a stack": ("loop i < 9 scan (x: Int in u) { let y = wadd(x, 3) in let z = iand(y, 255) in z }", BOTH),
    "a smaller mask": ("loop i < 9 scan (x: Int in u) { let z = iand(x, 7) in z }", BOTH),
    "one that is too large": ("loop i < 9 scan (x: Int in u) { let z = iand(x, 256) in z }", (["uint8"], [""])),
    "no mask": ("loop i < 9 scan (x: Int in u) { let z = wadd(x, 1) in z }", (["uint8"], [""])),
    "a mask with a sign": ("loop i < 9 scan (x: Int in u) { let z = iand(x, -1) in z }", (["uint8"], [""])),
    "a choice": ("loop i < 9 scan (x: Int in u) { let z = iselect(true, x, 200) in z }", BOTH),
    "a choice of too much": ("loop i < 9 scan (x: Int in u) { let z = iselect(true, x, 300) in z }", (["uint8"], [""])),
    "of less": ("loop i < 9 scan (x: Int in u) { let z = imax(x, -1) in z }", (["uint8"], [""])),
    "a sign": ("loop i < 9 scan (x: Int in u) { let y = shl(x, 56) in let z = shr(y, 56) in z }", (["uint8"], [""])),
    "a copy": ("copy u", BOTH),
    "an index": ("loop i < 9 { let x = u[i] in x }", BOTH),
    "a carry": ("loop i < 9 scan (x: Int in u) { let c = loop k < 3 carry (c: Int = 0) { x } in c }", BOTH),
    "a carry that grows": (
        "loop i < 9 scan (x: Int in u) { let c = loop k < 3 carry (c: Int = x) { let d = wadd(c, 1) in d } in c }",
        (["uint8"], [""]),
    ),
    "a branch": ("loop i < 9 scan (x: Int in u) { let y = if true { x } { 9 } in y }", BOTH),
    "a branch with a sign": (
        "loop i < 9 scan (x: Int in u) { let y = if true { x } { -9 } in y }",
        (["uint8"], [""]),
    ),
    "the index of a loop": ("loop i < 9 { i }", (["uint8"], [""])),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_what_numbers_fit(name: str):
    text, wanted = FORMS[name]
    assert crossing(selected(f"def f(u: [9]Int): [9]Int =\n  let y: [9]Int = {text} in\n  y\n")) == wanted


PROGRAMS = {
    "an update": (
        """
def f(u: [9]Int): [9]Int =
  let z: [9]Int = zero in
  let y: [9]Int = loop i < 9 carry (c: [9]Int = z) { let x = u[i] in let d = update c[i] = x in d } in
  y
""",
        BOTH,
    ),
    "an update that does not fit": (
        """
def f(u: [9]Int): [9]Int =
  let c: [9]Int = copy u in
  let y: [9]Int = update c[2] = 256 in
  y
""",
        (["uint8"], [""]),
    ),
    "rows": (
        """
def f(u: [3][3]Int): [3][3]Int =
  let y: [3][3]Int = loop i < 3 { let row: [3]Int = u[i] in let mine: [3]Int = copy row in mine } in
  y
""",
        BOTH,
    ),
    "a branch of arrays": (
        """
def f(u: [9]Int): [9]Int =
  let y: [9]Int = if true { let a: [9]Int = copy u in a } { let b: [9]Int = zero in b } in
  y
""",
        BOTH,
    ),
    "a call": (
        """
def g(v: [9]Int, k: Int): [9]Int =
  let y: [9]Int = loop i < 9 scan (x: Int in v) { k } in
  y

def f(u: [9]Int): [9]Int =
  let a: [9]Int = g(u, 7) in
  let b: [9]Int = g(a, 255) in
  b
""",
        BOTH,
    ),
    "a call with what does not fit": (
        """
def g(v: [9]Int, k: Int): [9]Int =
  let y: [9]Int = loop i < 9 scan (x: Int in v) { k } in
  y

def f(u: [9]Int): [9]Int =
  let a: [9]Int = g(u, 7) in
  let b: [9]Int = g(a, 256) in
  b
""",
        NONE,
    ),
    "a tuple": (
        """
def f(u: [9]Int): [9]Int =
  let a: [9]Int = copy u in
  let t: ([9]Int, Int) = (a, 1) in
  let b: [9]Int, k: Int = untuple t in
  b
""",
        (["uint8"], [""]),
    ),
    "a tuple in a loop": (
        """
def f(u: [9]Int): [9]Int =
  let a: [9]Int = copy u in
  let t: ([9]Int, Int) = (a, 1) in
  let s: ([9]Int, Int) = loop i < 3 carry (c: ([9]Int, Int) = t) { c } in
  let y: [9]Int = loop i < 9 { let x = s[.0, i] in x } in
  y
""",
        (["uint8"], [""]),
    ),
    "a sum": (
        """
def f(u: [9]Int): [9]Int =
  let a: [9]Int = copy u in
  let s: [9]Int|Int = inl a in
  let y: [9]Int = outl s in
  y
""",
        (["uint8"], [""]),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_arrays_share(name: str):
    text, wanted = PROGRAMS[name]
    assert crossing(selected(text)) == wanted


def test_places_that_are_added_to_are_in_64_bits():
    f = selected(
        """
def f(a: [9]Real): [9]Real =
  let b: [9]Real = copy a in
  let p: &[9]Real = accum b in
  let _ = p += a in
  let y: [9]Real = resolve p in
  y
""",
        ("float32",),
        ("float32",),
    )
    assert crossing(f) == ([""], [""])


def test_singles():
    text = "def f(a: [9]Real): [9]Real =\n  let y: [9]Real = loop i < 9 scan (x: Real in a) {{ {} }} in\n  y\n"
    border = ("float32",), ("float32",)
    fits = ["let y = x * 2.0 in let z = single(y) in z", "let z = neg(x) in z", "0.5", "let z = maximum(x, 1.5) in z"]
    for body in fits:
        assert crossing(selected(text.format(body), *border)) == (["float32"], ["float32"]), body
    for body in ("let z = x * 2.0 in z", "0.1", "let z = maximum(x, 0.1) in z", "1e300"):
        assert crossing(selected(text.format(body), *border)) == (["float32"], [""]), body


def test_the_host_decides():
    text = "def f(u: [9]Int): [9]Int =\n  let y: [9]Int = loop i < 9 scan (x: Int in u) { x } in\n  y\n"
    assert crossing(selected(text, ("uint8",), ("int32",))) == (["uint8"], ["int32"])
    assert crossing(selected(text, ("uint8",), ("int8",))) == (["uint8"], [""])
    assert crossing(selected(text, ("uint8",), ("",))) == (["uint8"], [""])
    assert crossing(selected(text, ("",), ("uint8",))) == NONE
    assert crossing(selected(text, ("uint64",), ("uint64",))) == NONE
    same = "def f(u: [9]Int): [9]Int =\n  let y: [9]Int = loop i < 2 carry (c: [9]Int = u) { c } in\n  y\n"
    assert crossing(selected(same.replace("= u", "= v").replace("let y", "let v: [9]Int = copy u in\n  let y"))) == BOTH


def test_what_nothing_of_few_bits_gets_into_stays():
    f = selected(
        """
def f(u: [9]Int, k: Int): [9]Int =
  let counts: [5]Int = zero in
  let more: [5]Int = update counts[0] = 3 in
  let n = more[0] in
  let few: [9]Int = loop i < 9 scan (x: Int in u) { let z = iand(x, 1) in z } in
  let y: [9]Int = loop i < 9 scan (x: Int in few) { let z = wmul(x, n) in let w = iand(z, 255) in w } in
  y
"""
    )
    assert inside(f) == ["int8", "uint8"] or inside(f) == ["uint8", "uint8"]


def test_programs_without_such_arrays_are_as_they_were():
    f = parse("def f(u: [9]Int): [9]Int =\n  let y: [9]Int = copy u in\n  y\n")
    assert select_storage({"main": f}, {})["main"] is f
    assert select_storage({"main": f}, {"main": Border(("",), ("",))})["main"] is f
    assert crossing(select_storage({"main": f}, {"main": Border(("uint8",), ("uint8",))})["main"]) == BOTH
    assert crossing(f) == NONE, "the program itself is derived and compiled again"


FORMATS = {
    "real": "d", "int": "q", "float32": "f",
    "int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "uint32": "I",
}  # fmt: skip
ENDS = {
    "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1),
    "uint8": (0, 255), "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1),
}  # fmt: skip
MOVED = """
def f(u: [2][7]@): [2][7]@, [2][7]@, [7]@ =
  let a: [2][7]@ = copy u in
  let b: [2][7]@ = loop i < 2 carry (c: [2][7]@ = a) {
    let d: [2][7]@ = loop k < 7 carry (e: [2][7]@ = c) {
      let x = u[i, k] in
      let j = wsub(6, k) in
      let g: [2][7]@ = update e[i, j] = x in
      g
    } in
    d
  } in
  let row: [7]@ = u[1] in
  let mine: [7]@ = copy row in
  let s: [2][7]@ = loop i < 2 scan (r: [7]@ in u) {
    let t: [7]@ = loop k < 7 scan (x: @ in r) { x } in
    t
  } in
  b, s, mine
"""


def run(f: ir.Function, values: list[Any]) -> list[list[Any]]:
    import wasmtime

    artifact, _ = compile_program({"main": f})
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    exports = wasmtime.Instance(store, wasmtime.Module(engine, artifact.wasm), []).exports(store)
    memory, entry = exports["memory"], artifact.entries["main"]
    assert isinstance(memory, wasmtime.Memory)
    slot = entry.params[0]
    memory.write(store, struct.pack(f"<14{FORMATS[slot.element]}", *values), slot.offset)
    main = exports["main"]
    assert isinstance(main, wasmtime.Func)
    main(store)

    def read(slot: Slot) -> list[Any]:
        data = memory.read(store, slot.offset, slot.offset + slot.bytes)
        size = struct.calcsize(FORMATS[slot.element])
        return list(struct.unpack(f"<{len(data) // size}{FORMATS[slot.element]}", data))

    return [read(slot) for slot in entry.results]


@pytest.mark.parametrize("dtype", STORED)
def test_every_dtype_moves_as_it_is(dtype: str):
    text = MOVED.replace("@", "Real" if dtype == "float32" else "Int")
    if dtype == "float32":
        values: list[Any] = [0.0, -0.0, 0.5, -(2.0**127), 2.0**-149, float("inf"), -float("inf"), *map(float, range(7))]
    else:
        low, high = ENDS[dtype]
        values = [low, high, low + 1, high - 1, *range(10)]
    f = selected(text, (dtype,), (dtype,) * 3)
    assert crossing(f) == ([dtype], [dtype] * 3)
    found = run(f, values)
    wanted = interp.run(parse(text), ([values[:7], values[7:]],))
    flat = [[x for row in rows for x in (row if isinstance(row, list) else [row])] for rows in wanted]
    assert repr(found) == repr(flat)
