"""What crosses the border: slots, entries that share the block, values that the host owns."""

from rosejit.abi import EXCHANGE, Slot
from rosejit.codegen.core.entry_points import entry_layout, slot_of
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, INT, REAL, UNIT, Array, Nominal, Sum, Tuple
from rosejit.ops import PRIMITIVES as P
from rosejit.text import parse, parse_program
from tests.codegen.machine import Machine


def test_kinds_of_slots():
    releases = {}
    assert slot_of(REAL, releases) == Slot("real")
    assert slot_of(BOOL, releases) == Slot("bool")
    assert slot_of(Array(2, Array(3, INT)), releases) == Slot("array", 0, (2, 3), "int")
    assert slot_of(Array(None, REAL), releases) == Slot("dyn", 0, (), "real", "release_0")
    assert slot_of(Array(None, Array(4, BOOL)), releases) == Slot("dyn", 0, (4,), "bool", "release_1")
    assert slot_of(Tuple((REAL, REAL)), releases) == Slot("handle", release="release_2")
    assert slot_of(Array(2, Array(None, REAL)), releases).kind == "handle"
    assert slot_of(Array(None, REAL), releases).release == "release_0"
    assert slot_of(Sum(UNIT, REAL), releases).release == "release_4"


def test_a_word_for_each_value_and_elements_behind_them():
    f = parse("def f(x: Real, a: [3]Bool, c: Bool, u: ()): [2]Real, Int = let r = [x, x] in r, 1")
    place = entry_layout("f", f, {})
    assert [slot.offset - EXCHANGE for slot in place.entry.params] == [0, 40, 16]
    assert [slot.offset - EXCHANGE for slot in place.entry.results] == [48, 32]
    assert place.end == EXCHANGE + 64


def test_entries_share_a_module():
    square = "def f(x: Real): Real = x * x "
    program = parse_program(
        square + "def g(x: Real, a: [2]Real): [2]Real = let y = f(x) in let b = copy a in update b[0] = y"
    )
    machine = Machine(program)
    assert machine.call("f", 3.0) == (9.0,)
    assert machine.call("g", 3.0, [1.0, 2.0]) == ([9.0, 2.0],)
    assert list(machine.artifact.entries) == ["f", "g"]


def test_arguments_are_not_changed():
    machine = Machine(parse("def f(own a: [2]Real): [2]Real = update a[0] = 9.0"))
    (slot,) = machine.artifact.entries["main"].params
    assert machine([1.0, 2.0]) == ([9.0, 2.0],)
    assert machine.read(slot.offset, "<d") == 1.0


def pullback():
    """A function into value and handle, and one that reads the handle."""
    res = Nominal("Saved")
    res.fields = (REAL, Array(None, REAL), Array(3, REAL))
    n, x = Var(INT, "n"), Var(REAL, "x")
    rows = parse("def rows(n: Int, x: Real): [*]Real = loop i < n { x }")
    b = Builder()
    column = b.bind(ir.Call(rows, (n, x)), res.fields[1])
    a = b.bind(ir.MakeArray((x, x, x)), res.fields[2])
    first = ir.Function("first", (n, x), (REAL, res), b.block(x, b.bind(ir.MakeTuple((x, column, a)), res)))
    r, k = Var(res, "r"), Var(INT, "k")
    b = Builder()
    y = b.bind(ir.Index(r, (ir.Field(1), k)), REAL)
    z = b.bind(ir.Index(r, (ir.Field(2), ir.integer(1))), REAL)
    return first, ir.Function("back", (r, k), (REAL,), b.block(b.apply(P["add"], y, z)))


def test_handles_stay_until_they_are_released():
    first, back = pullback()
    machine = Machine({"first": first, "back": back})
    machine.open_residuals = False
    slot = machine.artifact.entries["first"].results[1]
    assert slot.kind == "handle"
    handles = [machine.call("first", 4, float(k))[1] for k in range(5)]
    assert [machine.call("back", handle, 3)[0] for handle in handles] == [2.0 * k for k in range(5)]
    assert [machine.call("back", handle, 0)[0] for handle in handles] == [2.0 * k for k in range(5)]
    top = machine.top
    for handle in handles:
        machine.release(slot, handle)
    for _ in range(3):
        for handle in [machine.call("first", 4, 1.0)[1] for _ in range(5)]:
            machine.release(slot, handle)
    assert machine.top == top


def test_columns_cross_as_an_address_and_a_length():
    machine = Machine(parse("def f(n: Int, x: Real): [*][2]Real = loop i < n { let y = [x, 1.0] in y }"))
    assert machine(3, 0.5) == ([[0.5, 1.0]] * 3,)
    assert machine(0, 0.5) == ([],)


def test_names_of_functions():
    text = "def g(x: Real): Real = sin(x) def f(x: Real): Real = g(x) + 1.0"
    assert sorted(Machine(parse(text)).artifact.functions.values()) == ["f", "g"]


def test_columns_that_the_host_brings():
    text = """
def f(a: [*][2]Real, own b: [*]Real, i: Int): Real, [*]Real =
  let x = a[i, 1] + b[i] in
  let c = update b[i] = x in
  x, c
"""
    machine = Machine(parse(text))
    slots = machine.artifact.entries["main"].params

    def bring(slot, values):
        size = len(values) * Slot("array", 0, slot.shape, slot.element).bytes if slot.shape else 8 * len(values)
        data = machine.exports["allocate"](machine.store, size)
        machine.write_array(data, slot, values)
        record = machine.exports["allocate"](machine.store, 2 * machine.address.bytes)
        machine.write(record, machine.word, data)
        machine.write(record + machine.address.length, machine.word, len(values))
        return record

    tops = []
    for n in (1, 2, 5, 1, 2, 5, 1, 2, 5):
        records = [bring(slots[0], [[0.5, 1.5]] * n), bring(slots[1], [2.0] * n)]
        assert machine(*records, n - 1) == (3.5, [2.0] * (n - 1) + [3.5])
        for slot, record in zip(slots, records, strict=False):
            machine.release(slot, record)
        tops.append(machine.top)
    assert tops[2] == tops[-1]


def test_the_allocator_is_exported_only_where_the_host_needs_it():
    made = Machine(parse("def f(n: Int): [*]Real = loop i < n { 1.0 }"))
    assert "allocate" not in made.exports
    assert "allocate" in Machine(parse("def f(a: [*]Real): Real = a[0]")).exports
