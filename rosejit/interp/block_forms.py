"""The closures of the forms with blocks and of calls, and the code of whole functions."""

from collections import deque
from collections.abc import Callable
from itertools import chain
from typing import Any

from rosejit.errors import VerifyError
from rosejit.interp.machine import Code, Frame, Inner, Step
from rosejit.interp.plain_forms import simple
from rosejit.interp.slots import Put, Slots
from rosejit.interp.values import Handle, Place, from_python, to_host
from rosejit.ir import syntax as ir
from rosejit.ir.lane_sums import EMPTY, FEWEST, LANES, in_lanes, total
from rosejit.ir.types import Ref, is_boxed
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class FunctionCode:
    """A function ready to run; every activation starts from a copy of `frame`."""

    body: ir.Block
    params: tuple[int, ...]
    frame: Frame
    code: Code


def code_of(f: ir.Function) -> FunctionCode:
    """The code of `f`, made once."""
    known: FunctionCode | None = f.derived.get("interp")
    if known is None or known.body is not f.body:
        if f.body is None:
            raise VerifyError(f"`{f.name}` has no body yet")
        slots = Slots(f.name)
        params = tuple([slots.bind(p) for p in f.params])
        code = _block(slots, f.body)
        known = f.derived["interp"] = FunctionCode(f.body, params, slots.frame, code)
    return known


def _block(slots: Slots, block: ir.Block) -> Code:
    steps = [_step(slots, let) for let in block.lets]
    return Code(slots.name, steps, slots.moves(block.results))


def _step(slots: Slots, let: ir.Let) -> Step:
    e = let.expr
    if isinstance(e, ir.Simple):
        return simple(slots, let, e)
    match e:
        case ir.If():
            return _if(slots, let, e)
        case ir.Case():
            return _case(slots, let, e)
        case ir.Loop():
            return _loop(slots, let, e)
        case ir.While():
            return _while(slots, let, e)
        case ir.Call():
            return _call(slots, let, e)
        case _:
            return ir.assert_never(e)


def _store(frame: Frame, puts: list[Put], values: list[Any]) -> None:
    for put, value in zip(puts, values, strict=True):
        put(frame, value)


def _if(slots: Slots, let: ir.Let, e: ir.If) -> Step:
    condition = slots.read(e.condition)
    then, orelse = _block(slots, e.then), _block(slots, e.orelse)
    puts = slots.puts(let.binders)

    def branch(frame: Frame) -> Inner:
        side = then if frame[condition] else orelse
        yield side, frame
        _store(frame, puts, side.take(frame))

    return branch


def _case(slots: Slots, let: ir.Let, e: ir.Case) -> Step:
    scrutinees = [slots.read(s) for s in e.scrutinees]
    sides = (_side(slots, e.left, e.scrutinees), _side(slots, e.right, e.scrutinees))
    puts = slots.puts(let.binders)

    def case(frame: Frame) -> Inner:
        sums = [frame[s] for s in scrutinees]
        tags = [_content(s)[0] for s in sums]
        if any(tag != tags[0] for tag in tags):
            raise VerifyError("the scrutinees of a `case` have different tags")
        opens, code = sides[1] if tags[0] else sides[0]
        for open_, s in zip(opens, sums, strict=True):
            open_(frame, s)
        yield code, frame
        _store(frame, puts, code.take(frame))

    return case


def _side(slots: Slots, side: ir.Branch, scrutinees: tuple[ir.Atom, ...]) -> tuple[list[Put], Code]:
    opens = [_payload(slots, p, s) for p, s in zip(side.params, scrutinees, strict=True)]
    return opens, _block(slots, side.block)


def _content(s: Handle | Place) -> Any:
    if isinstance(s, Handle):
        return s.read()
    s.check()
    return s.container[s.key]


def _payload(slots: Slots, param: ir.Var, scrutinee: ir.Atom) -> Put:
    """How a branch sees what is in a scrutinee: a value, a view or a place."""
    target, hint = slots.bind(param), param.hint
    if isinstance(scrutinee.type, Ref):

        def place(frame: Frame, s: Place) -> None:
            frame[target] = Place(_content(s), 1, hint, s.owner)

        return place
    if is_boxed(param.type):

        def view(frame: Frame, s: Handle) -> None:
            frame[target] = Handle(s.data[1], hint, s.owner)

        return view

    def scalar(frame: Frame, s: Handle) -> None:
        frame[target] = s.data[1]

    return scalar


# --- loops


Rows = Callable[[Frame], Callable[[int], None]]
"""At the entry of a loop: takes hold of a scanned array; then, each iteration: gives the row its name."""


def _scan(slots: Slots, scan: ir.Scan, trips: int) -> Rows:
    array, take = slots.read(scan.array), slots.move(scan.array)
    target, hint, boxed, consumes = slots.bind(scan.param), scan.param.hint, is_boxed(scan.param.type), scan.consumes

    def enter(frame: Frame) -> Callable[[int], None]:
        handle: Handle = frame[array]
        data = take(frame) if consumes else handle.read()
        if len(data) != max(frame[trips], 0):
            raise VerifyError(f"a loop of {frame[trips]} iterations scans an array of length {len(data)}")
        owner = None if consumes else handle.owner

        def row(i: int) -> None:
            frame[target] = Handle(data[i], hint, owner) if boxed else data[i]

        return row

    return enter


def _loop(slots: Slots, let: ir.Let, e: ir.Loop) -> Step:
    trips, inits = slots.read(e.trips), slots.moves(e.inits)
    index, carries = slots.bind(e.index), slots.puts(e.carries)
    scans = [_scan(slots, scan, trips) for scan in e.scans]
    body, down, carried = _block(slots, e.body), e.down, len(e.carries)
    puts = slots.puts(let.binders)
    stacked = len(puts) - carried
    summed = [k for k, on in enumerate(in_lanes(e)) if on]

    def loop(frame: Frame) -> Inner:
        n = max(frame[trips], 0)
        values = [init(frame) for init in inits]
        many = summed if n >= FEWEST else ()
        sums = [(k, deque([values[k], *[EMPTY] * (LANES - 1)])) for k in many]
        rows = [scan(frame) for scan in scans]
        stacks: list[list[Any]] = [[None] * n for _ in range(stacked)]
        for i in reversed(range(n)) if down else range(n):
            frame[index] = i
            _store(frame, carries, values)
            for row in rows:
                row(i)
            yield body, frame
            values = body.take(frame)
            for stack, item in zip(stacks, values[carried:], strict=True):
                stack[i] = item
            del values[carried:]
            for k, lanes in sums:
                lanes.rotate(-1)
                lanes[-1], values[k] = values[k], lanes[0]
        for k, lanes in sums:
            values[k] = total(lanes)
        _count(frame, n, stacked)
        _store(frame, puts, values + stacks)

    return loop


def _count(frame: Frame, trips: int, stacked: int) -> None:
    counters = frame[0].counters
    counters.operations += trips
    counters.allocations += stacked
    counters.stacked += trips * stacked


def _while(slots: Slots, let: ir.Let, e: ir.While) -> Step:
    inits, carries = slots.moves(e.inits), slots.puts(e.carries)
    condition, body, carried = _block(slots, e.condition), _block(slots, e.body), len(e.carries)
    puts = slots.puts(let.binders)
    stacked = len(puts) - carried - 1

    def loop(frame: Frame) -> Inner:
        values = [init(frame) for init in inits]
        stacks: list[list[Any]] = [[] for _ in range(stacked)]
        trips = 0
        while True:
            _store(frame, carries, values)
            yield condition, frame
            if not condition.take(frame)[0]:
                break
            yield body, frame
            values = body.take(frame)
            for stack, item in zip(stacks, values[carried:], strict=True):
                stack.append(item)
            del values[carried:]
            trips += 1
        _count(frame, trips, stacked)
        _store(frame, puts, list(chain((trips,), values, stacks)))

    return loop


# --- calls


def _call(slots: Slots, let: ir.Let, e: ir.Call) -> Step:
    f = e.function
    if f.host is not None:
        return _host_call(slots, let, e)
    passes = [_pass(slots, a, p, p in f.own) for a, p in zip(e.args, f.params, strict=True)]
    puts = slots.puts(let.binders)

    def call(frame: Frame) -> Inner:
        callee = code_of(f)
        inner = callee.frame.copy()
        inner[0] = run = frame[0]
        run.counters.calls[f] += 1
        for slot, argument in zip(callee.params, passes, strict=True):
            inner[slot] = argument(frame)
        run.enter()
        yield callee.code, inner
        run.depth -= 1
        _store(frame, puts, callee.code.take(inner))

    return call


def _pass(slots: Slots, argument: ir.Atom, param: ir.Var, own: bool) -> Callable[[Frame], Any]:
    """An argument as the callee sees it."""
    slot, hint = slots.read(argument), param.hint
    if isinstance(param.type, Ref):

        def place(frame: Frame) -> Place:
            outer: Place = frame[slot]
            outer.check()
            return Place(outer.container, outer.key, hint, outer.owner)

        return place
    if not is_boxed(param.type):
        return lambda frame: frame[slot]

    def borrow(frame: Frame) -> Handle:
        handle: Handle = frame[slot]
        return Handle(handle.read(), hint, handle.owner)

    return (lambda frame: Handle(frame[slot].take(), hint)) if own else borrow


def _host_call(slots: Slots, let: ir.Let, e: ir.Call) -> Step:
    f = e.function
    args, types = [slots.read(a) for a in e.args], [a.type for a in e.args]
    puts = slots.puts(let.binders)

    def call(frame: Frame) -> None:
        assert f.host is not None
        frame[0].counters.calls[f] += 1
        values = [frame[a].read() if is_boxed(t) else frame[a] for a, t in zip(args, types, strict=True)]
        given = f.host(*[to_host(t, value) for t, value in zip(types, values, strict=True)])
        results = () if not f.results else (given,) if len(f.results) == 1 else given
        _store(frame, puts, [from_python(t, r) for t, r in zip(f.results, results, strict=True)])

    return call
