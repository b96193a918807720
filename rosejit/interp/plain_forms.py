"""The closures of the forms without blocks."""

from rosejit.errors import VerifyError
from rosejit.interp.machine import Frame, Step, fail
from rosejit.interp.slots import Slots, out_of_range
from rosejit.interp.values import SCALAR_ZEROS, Handle, Place, Tagged, add_to, copied, zeros
from rosejit.ir import syntax as ir
from rosejit.ir.failure import FAULTS, fault_of, primitive_failure
from rosejit.ir.types import REAL, TAN, is_boxed


def simple(slots: Slots, let: ir.Let, e: ir.Simple) -> Step:
    """What `let` does, where its expression has no block."""
    match e:
        case ir.Apply():
            return _apply(slots, let, e)
        case ir.Index():
            return _index(slots, let, e)
        case ir.Update():
            return _update(slots, let, e)
        case ir.MakeTuple(items=items) | ir.MakeArray(items=items):
            return _make(slots, let, items)
        case ir.Untuple():
            return _untuple(slots, let, e)
        case ir.Inject():
            return _inject(slots, let, e)
        case ir.Extract():
            return _extract(slots, let, e)
        case ir.Copy():
            return _copy(slots, let, e)
        case ir.Zero():
            return _zero(slots, let, e)
        case ir.Accum():
            return _accum(slots, let, e)
        case ir.Add():
            return _add(slots, e)
        case ir.View():
            return _view(slots, let, e)
        case ir.Resolve():
            return _resolve(slots, let, e)
        case ir.Check():
            return _check(slots, e)
        case _:
            return ir.assert_never(e)


def _apply(slots: Slots, let: ir.Let, e: ir.Apply) -> Step:
    op, evaluate = e.op, e.op.evaluate
    args = [slots.read(a) for a in e.args]
    target = slots.bind(let.binders[0])
    if op.failure:

        def failing(frame: Frame) -> None:
            try:
                frame[target] = evaluate(*[frame[a] for a in args])
            except FAULTS as error:
                fail(primitive_failure(op, let.span, fault_of(op, error)))

        return failing
    if len(args) == 1:
        (one,) = args

        def unary(frame: Frame) -> None:
            frame[target] = evaluate(frame[one])

        return unary
    if len(args) == 2:
        left, right = args

        def binary(frame: Frame) -> None:
            frame[target] = evaluate(frame[left], frame[right])

        return binary

    def several(frame: Frame) -> None:
        frame[target] = evaluate(*[frame[a] for a in args])

    return several


# --- arrays, tuples, sums


def _make(slots: Slots, let: ir.Let, items: tuple[ir.Atom, ...]) -> Step:
    moves, put = slots.moves(items), slots.put(let.binders[0])

    def make(frame: Frame) -> None:
        frame[0].counters.allocations += 1
        put(frame, [move(frame) for move in moves])

    return make


def _untuple(slots: Slots, let: ir.Let, e: ir.Untuple) -> Step:
    move, puts = slots.move(e.value), slots.puts(let.binders)

    def untuple(frame: Frame) -> None:
        for put, item in zip(puts, move(frame), strict=True):
            put(frame, item)

    return untuple


def _inject(slots: Slots, let: ir.Let, e: ir.Inject) -> Step:
    side, move, put = e.side, slots.move(e.value), slots.put(let.binders[0])

    def inject(frame: Frame) -> None:
        frame[0].counters.allocations += 1
        put(frame, Tagged((side, move(frame))))

    return inject


def _extract(slots: Slots, let: ir.Let, e: ir.Extract) -> Step:
    side, move, put = e.side, slots.move(e.value), slots.put(let.binders[0])

    def extract(frame: Frame) -> None:
        tag, value = move(frame)
        if tag != side:
            raise VerifyError(f"side {side} of a sum is taken out, but it has side {tag}")
        put(frame, value)

    return extract


def _index(slots: Slots, let: ir.Let, e: ir.Index) -> Step:
    base, span, checked = slots.read(e.base), let.span, e.checked
    first = e.path[0]
    (binder,) = let.binders
    if len(e.path) == 1 and not isinstance(first, ir.Field) and not is_boxed(binder.type):
        at = slots.read(first)
        target = slots.bind(binder)

        def element(frame: Frame) -> None:
            data = frame[base].read()
            index = frame[at]
            if not 0 <= index < len(data):
                out_of_range(checked, span, index, len(data))
            frame[target] = data[index]

        return element
    walk, boxed, hint = slots.walk(e.path, checked, span), is_boxed(binder.type), binder.hint
    target = slots.bind(binder)

    def index(frame: Frame) -> None:
        handle = frame[base]
        container, key = walk(frame, handle.read())
        frame[target] = Handle(container[key], hint, handle.owner) if boxed else container[key]

    return index


def _update(slots: Slots, let: ir.Let, e: ir.Update) -> Step:
    move, walk, value = slots.move(e.base), slots.walk(e.path, e.checked, let.span), slots.read(e.value)
    boxed, put = is_boxed(e.value.type), slots.put(let.binders[0])

    def update(frame: Frame) -> None:
        new = frame[value]
        if boxed:
            new = copied(new.read(), frame[0].counters)
            frame[0].counters.allocations -= 1  # into memory that is there
        data = move(frame)
        container, key = walk(frame, data)
        container[key] = new
        put(frame, data)

    return update


def _copy(slots: Slots, let: ir.Let, e: ir.Copy) -> Step:
    value, put = slots.read(e.value), slots.put(let.binders[0])

    def copy(frame: Frame) -> None:
        put(frame, copied(frame[value].read(), frame[0].counters))

    return copy


def _zero(slots: Slots, let: ir.Let, e: ir.Zero) -> Step:
    (binder,) = let.binders
    like = None if e.like is None else slots.read(e.like)
    t, put = binder.type, slots.put(binder)
    if not is_boxed(t):
        return lambda frame: put(frame, SCALAR_ZEROS[t])

    def zero_of(frame: Frame) -> None:
        put(frame, zeros(t, None if like is None else frame[like].read(), frame[0].counters))

    return zero_of


# --- places


def _accum(slots: Slots, let: ir.Let, e: ir.Accum) -> Step:
    move, target, hint = slots.move(e.value), slots.bind(let.binders[0]), let.binders[0].hint

    def accum(frame: Frame) -> None:
        frame[target] = Place([move(frame)], 0, hint)

    return accum


def _add(slots: Slots, e: ir.Add) -> Step:
    place, value, t = slots.read(e.place), slots.read(e.value), e.value.type

    def add_scalar(frame: Frame) -> None:
        into: Place = frame[place]
        into.check()
        into.container[into.key] += frame[value]

    def add_boxed(frame: Frame) -> None:
        into: Place = frame[place]
        into.check()
        add_to(into.container[into.key], frame[value].read(), frame[0].counters)

    def nothing(frame: Frame) -> None:
        frame[place].check()

    return add_boxed if is_boxed(t) else add_scalar if t in (REAL, TAN) else nothing


def _view(slots: Slots, let: ir.Let, e: ir.View) -> Step:
    place, walk = slots.read(e.place), slots.walk(e.path, e.checked, let.span)
    target, hint = slots.bind(let.binders[0]), let.binders[0].hint

    def view(frame: Frame) -> None:
        outer: Place = frame[place]
        outer.check()
        container, key = walk(frame, outer.container[outer.key])
        frame[target] = Place(container, key, hint, outer.owner)

    return view


def _resolve(slots: Slots, let: ir.Let, e: ir.Resolve) -> Step:
    place, put = slots.read(e.place), slots.put(let.binders[0])

    def resolve(frame: Frame) -> None:
        put(frame, frame[place].resolve())

    return resolve


def _check(slots: Slots, e: ir.Check) -> Step:
    condition, failure = slots.read(e.condition), e.failure
    values = [slots.read(v) for v in e.values]

    def check(frame: Frame) -> None:
        if not frame[condition]:
            fail(failure, *[frame[v] for v in values])

    return check
