"""A function that calls host functions into two: one that records what they give, and one that reads it back.

`record(f)(x..): y.., log` does what `f` does; `replay(f)(x.., log): y..` computes the same once more and repeats no
effect. The log has the shape of the run: a tuple for a block, a sum for a branch, a stack for a loop.
"""

from collections.abc import Callable
from dataclasses import field

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming, forms, reachable, scopes
from rosejit.ir.types import BOOL, INT, Array, Nominal, Sum, Tuple, Type
from rosejit.lazy_dataclass import dataclass

Names = list[ir.Var]


@dataclass(slots=True)
class Replayed:
    """Both functions; `log` is the type of what goes from the one to the other."""

    record: ir.Function
    replay: ir.Function
    log: Nominal


def calls_host(f: ir.Function) -> bool:
    """Whether a call of `f` reaches a host function."""
    return any(g.host is not None for g in reachable(f))


def replayed(f: ir.Function) -> Replayed:
    """The two functions of one that calls host functions."""
    if "replay" not in f.derived:
        assert f.body is not None
        log = Nominal(f"Log_{f.name}")
        record = ir.Function(f"rec_{f.name}", f.params, (*f.results, log), own=f.own, span=f.span)
        given = ir.Var(log, "log")
        again = ir.Function(f"rep_{f.name}", (*f.params, given), f.results, own=f.own, span=f.span)
        f.derived["replay"] = Replayed(record, again, log)  # before the bodies: it may call itself
        two = _block(f.body)
        log.fields = tuple(v.type for v in two.saved)
        record.body = _with(two.record, ir.Var(log, "log"), lambda: ir.MakeTuple(tuple(two.saved)))
        again.body = ir.Block(_fields(given, two.saved) + two.replay.lets, two.replay.results)
    return f.derived["replay"]


@dataclass(slots=True)
class _RecordedAndReplayed:
    """A block that records, the block that reads it back, and what goes between: variables that the first binds, and
    that are bound for the second before it begins."""

    record: ir.Block
    replay: ir.Block
    saved: Names = field(default_factory=Names)


def _with(block: ir.Block, last: ir.Var, make: Callable[[], ir.Expr]) -> ir.Block:
    """`block` with one more let and result."""
    return ir.Block([*block.lets, ir.Let((last,), make())], (*block.results, last))


def _fields(record: ir.Var, saved: Names) -> list[ir.Let]:
    return [ir.Let((v,), ir.Index(record, (ir.Field(k),), checked=False)) for k, v in enumerate(saved)]


def _acts(let: ir.Let) -> bool:
    """Whether `let` itself or a let inside of it calls a host function."""
    inner = [let] if isinstance(let.expr, ir.Call) else []
    inner += [each for _, block in scopes(let.expr) for each in forms(block)]
    return any(isinstance(each.expr, ir.Call) and calls_host(each.expr.function) for each in inner)


def _block(block: ir.Block) -> _RecordedAndReplayed:
    two = _RecordedAndReplayed(ir.Block([], block.results), ir.Block([], block.results))
    _lets(two, block.lets)
    return two


def _lets(two: _RecordedAndReplayed, lets: list[ir.Let]) -> None:
    for let in lets:
        e = let.expr
        if isinstance(e, ir.Simple) or not _acts(let):
            two.record.lets.append(let)
            two.replay.lets.append(let)
            continue
        match e:
            case ir.Call():
                _replay_call(two, let, e)
            case ir.If() | ir.Case():
                _branch(two, let, e)
            case ir.Loop():
                _loop(two, let, e)
            case ir.While():
                _while(two, let, e)
            case _:
                ir.assert_never(e)


def _add(two: _RecordedAndReplayed, record: ir.Let, replay: ir.Let | None, saved: Names) -> None:
    two.record.lets.append(record)
    if replay is not None:
        two.replay.lets.append(replay)
    two.saved += saved


def _replay_call(two: _RecordedAndReplayed, let: ir.Let, e: ir.Call) -> None:
    """A host function is not called again; another one gives a log of its own."""
    if e.function.host is not None:
        _add(two, let, None, list(let.binders))
        return
    both = replayed(e.function)
    log = ir.Var(both.log, "log")
    record = ir.Let((*let.binders, log), ir.Call(both.record, e.args), let.span)
    _add(two, record, ir.Let(let.binders, ir.Call(both.replay, (*e.args, log)), let.span), [log])


def _branch(two: _RecordedAndReplayed, let: ir.Let, e: ir.Branching) -> None:
    """The log says which side was taken, and what that side has."""
    sides = [_block(block) for _, block in scopes(e)]
    types: list[Type] = [Tuple(tuple(v.type for v in side.saved)) for side in sides]
    log = ir.Var(Sum(*types), "log")
    records: list[ir.Block] = []
    branches: list[ir.Branch] = []
    for number, (side, (params, _)) in enumerate(zip(sides, scopes(e), strict=True)):
        payload, view = ir.Var(types[number], "saved"), ir.Var(types[number], "saved")
        lets = [*side.record.lets, ir.Let((payload,), ir.MakeTuple(tuple(side.saved)))]
        injected = ir.Var(log.type, "log")
        lets.append(ir.Let((injected,), ir.Inject(number, payload)))
        records.append(ir.Block(lets, (*side.record.results, injected)))
        again = ir.Block(_fields(view, side.saved) + side.replay.lets, side.replay.results)
        branches.append(ir.Branch((view, *params), again))
    if isinstance(e, ir.If):
        first: ir.Expr = ir.If(e.condition, records[0], records[1])
        scrutinees: tuple[ir.Atom, ...] = ()
    else:
        first = ir.Case(e.scrutinees, ir.Branch(e.left.params, records[0]), ir.Branch(e.right.params, records[1]))
        scrutinees = e.scrutinees
    second = ir.Case((log, *scrutinees), branches[0], branches[1])
    _add(two, ir.Let((*let.binders, log), first, let.span), ir.Let(let.binders, second, let.span), [log])


def _loop(two: _RecordedAndReplayed, let: ir.Let, e: ir.Loop) -> None:
    """One more stack for each value that an iteration has."""
    inner = _block(e.body)
    stacks = [ir.Var(Array(e.constant_trips, v.type), f"{v.hint}s") for v in inner.saved]
    body = ir.Block(inner.record.lets, (*inner.record.results, *inner.saved))
    record = ir.Loop(e.trips, e.index, e.carries, e.inits, e.scans, body, e.down)
    scans = (*e.scans, *[ir.Scan(v, stack) for v, stack in zip(inner.saved, stacks, strict=True)])
    replay = ir.Loop(e.trips, e.index, e.carries, e.inits, scans, inner.replay, e.down)
    _add(two, ir.Let((*let.binders, *stacks), record, let.span), ir.Let(let.binders, replay, let.span), stacks)


def _while(two: _RecordedAndReplayed, let: ir.Let, e: ir.While) -> None:
    """The number of iterations is known the second time: no condition is asked again."""
    if any(_acts(inner) for inner in e.condition.lets):
        _lets(two, _asked_in_body(let, e))
        return
    iterations, *others = let.binders
    inner = _block(e.body)
    stacks = [ir.Var(Array(None, v.type), f"{v.hint}s") for v in inner.saved]
    body = ir.Block(inner.record.lets, (*inner.record.results, *inner.saved))
    record = ir.While(e.carries, e.inits, e.condition, body)
    scans = tuple([ir.Scan(v, stack) for v, stack in zip(inner.saved, stacks, strict=True)])
    replay = ir.Loop(iterations, ir.Var(INT, "i"), e.carries, e.inits, scans, inner.replay)
    again = ir.Let(tuple(others), replay, let.span)
    _add(two, ir.Let((*let.binders, *stacks), record, let.span), again, [iterations, *stacks])


def _asked_in_body(let: ir.Let, e: ir.While) -> list[ir.Let]:
    """The same loop, its condition computed before it and at the end of each iteration, and carried."""
    n = len(e.carries)
    more, results = ir.Var(BOOL, "more"), e.body.results
    first = Renaming(dict(zip(e.carries, e.inits, strict=True))).block(e.condition)
    after = Renaming(dict(zip(e.carries, results[:n], strict=True))).block(e.condition)
    body = ir.Block([*e.body.lets, *after.lets], (*results[:n], *after.results, *results[n:]))
    made = ir.While((*e.carries, more), (*e.inits, *first.results), ir.Block([], (more,)), body)
    binders = (*let.binders[: n + 1], ir.Var(BOOL, "more"), *let.binders[n + 1 :])
    return [*first.lets, ir.Let(binders, made, let.span)]
