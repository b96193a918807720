"""What the builtins of Python do with staged values."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.frontend import functions, reductions
from rosejit.frontend.arrays import Array, host_data
from rosejit.frontend.born import consumed
from rosejit.frontend.columns import Columns
from rosejit.frontend.control import rows
from rosejit.frontend.host import number_kind
from rosejit.frontend.masks import Selection
from rosejit.frontend.methods import own
from rosejit.frontend.powers import power
from rosejit.frontend.printing import staged_print
from rosejit.frontend.ranges import StagedRange, staged_range
from rosejit.frontend.tape import UNDEFINED, Cell, Tape
from rosejit.frontend.texts import text
from rosejit.frontend.truth import truth
from rosejit.frontend.unbound import Part, settled, split
from rosejit.frontend.values import NUMBERS, Bool, Int, P, Real, Tan, int_atom, real_atom, stage, type_of
from rosejit.ir.syntax import Failure
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Handler = Callable[[Any, Any, Args, Options], Any]


def _range(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if any(arg.__class__ in NUMBERS for arg in args):
        return staged_range(session.tape, args)
    return range(*args, **kwargs)


def _rose_range(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return staged_range(session.tape, args)


def _len(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if len(args) == 1 and args[0].__class__ is Selection:
        return args[0].lengths[0]
    if len(args) == 1 and args[0].__class__ in NUMBERS:
        raise session.tape.type_fault(
            "a number has no length", "an array without dimensions is a number; `np.size(x)` is 1 for it"
        )
    ask = own(args[0], "__len__") if len(args) == 1 else None
    return len(*args) if ask is None else ask()


def _float(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    value = _single(args)
    if value.__class__ in (Real, Int, Bool):
        return Real(session.tape, real_atom(session.tape, value) or value.atom)
    if value.__class__ is Tan:
        return value
    ask = own(value, "__float__")
    if ask is not None:
        return _float(session, function, (ask(),), kwargs)
    return float(value) if len(args) == 1 else float(*args)


def _int(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    value = _single(args)
    tape = session.tape
    if value.__class__ is Real:
        return Int(tape, tape.apply(P["to_int"], value.atom))
    if value.__class__ in (Int, Bool):
        return value if value.__class__ is Int else Int(tape, int_atom(tape, value) or value.atom, 0)
    ask = own(value, "__int__") or own(value, "__index__")
    if ask is not None:
        return _int(session, function, (ask(),), kwargs)
    return int(value) if len(args) == 1 and not kwargs else int(*args, **kwargs)


def _bool(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return truth(session.tape, _single(args)) if args else False


def _single(args: Args) -> Any:
    """The one argument; an array of one element is that element."""
    value: Any = args[0] if len(args) == 1 else None
    if value.__class__ is Array and value.shape in ((), (1,)):
        return value[(0,) * value.ndim]
    return value


def _pow(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    staged = [arg for arg in args if arg.__class__ in NUMBERS]
    return power(*args) if staged and len(args) == 2 else pow(*args, **kwargs)


# --- types of values


_CLASSES: dict[type, tuple[type, ...]] = {
    Real: (Real, float, numbers.Real, numbers.Complex, numbers.Number, object),
    Int: (Int, int, numbers.Integral, numbers.Rational, numbers.Real, numbers.Complex, numbers.Number, object),
    Bool: (Bool, bool, int, numbers.Integral, numbers.Rational, numbers.Real, numbers.Complex, numbers.Number, object),
}


def _isinstance(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    value, classes = args
    if value.__class__ in NUMBERS:
        own = _CLASSES.get(value.__class__, (object,)) + type(value).__mro__
        return any(cls in own for cls in _flat(classes))
    if value.__class__ is Array:
        return any(cls in (Array, np.ndarray, object) for cls in _flat(classes))
    if value.__class__ is Columns:
        return any(cls in (list, object, Sequence) for cls in _flat(classes))
    return isinstance(value, classes)


def _flat(classes: Any) -> list[Any]:
    if isinstance(classes, tuple):
        items: Any = classes
        return [cls for item in items for cls in _flat(item)]
    return list(getattr(classes, "__args__", (classes,)))


def _type(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if len(args) != 1:
        return type(*args, **kwargs)
    plain: dict[type, type] = {Real: float, Int: int, Bool: bool, Columns: list}
    return np.ndarray if args[0].__class__ is Array else plain.get(args[0].__class__, type(args[0]))


# --- folds


def fold(session: Any, generator: Any, start: Any, step: Callable[[Any, Any], Any], name: str) -> Any:
    """Everything a generator gives combined, in order. Staged loops in it carry the value so far."""
    tape: Tape = session.tape
    whole = session.hooks.comprehensions.of(generator)
    if whole is None:
        return functools.reduce(step, iter(generator), start)  # `reduce` would hide what `iter` raises
    cell = Cell(tape, name, lambda tape, value, name: value)
    tape.frames[-1].contents[cell] = start
    whole.folds = True
    for value in generator:
        cell.v = step(cell.v, value)
    result = tape.content(cell)
    del tape.frames[-1].contents[cell]
    return result


def _items(session: Any, value: Any) -> Any:
    return rows(session.tape, value)


def _sum(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items, start = args[0], (args[1] if len(args) > 1 else kwargs.get("start", 0))
    if (
        items.__class__ is Array
        and items.ndim == 1
        and host_data(items) is None
        and number_kind(start) == "int"
        and not start
    ):
        return reductions.total(items)
    return fold(session, _items(session, items), start, operator.add, "sum")


def _all(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return _quantified(session, args[0], "and")


def _any(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return _quantified(session, args[0], "or")


def _quantified(session: Any, items: Any, name: str) -> Any:
    """`all` and `any`: Python stops at the first that decides, on the host; staged values are combined."""
    tape = session.tape
    decides = name == "or"
    if session.hooks.comprehensions.of(items) is not None:
        return fold(session, items, not decides, lambda s, x: _combined(tape, s, truth(tape, x), name), name)
    found: Any = not decides
    for item in _items(session, items):
        found = _combined(tape, found, truth(tape, item), name)
        if found is decides:
            break
    return found


def _combined(tape: Tape, a: Any, b: Any, name: str) -> Any:
    if a.__class__ is Bool and b.__class__ is Bool:
        return Bool(tape, tape.apply(P[name], a.atom, b.atom))
    known, other = (a, b) if a.__class__ is not Bool else (b, a)
    return other if known is (name == "and") else known


def _extreme(name: str) -> Handler:
    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if kwargs.get("key") is not None:
            key = functools.partial(session.hooks.call, kwargs["key"])
            return function(*args, **{**kwargs, "key": key})
        if len(args) > 1:
            return functools.reduce(lambda best, x: pick(session.tape, name, best, x), args)
        items = args[0]  # pyright: ignore[reportGeneralTypeIssues]  # the count was checked
        if items.__class__ is Array and items.ndim == 1 and host_data(items) is None:
            return reductions.extreme(items, name, propagate=False)
        if session.hooks.comprehensions.of(items) is None:
            return _extreme_of_items(session, name, list(_items(session, items)), kwargs)
        best = fold(session, items, UNDEFINED, lambda best, x: _better(session.tape, name, best, x), name)
        return _settled_extreme(session, name, best, kwargs)

    return handler


def _extreme_of_items(session: Any, name: str, items: list[Any], kwargs: Options) -> Any:
    if not items:
        return {"max": max, "min": min}[name](items, **kwargs)
    return functools.reduce(lambda best, x: pick(session.tape, name, best, x), items)


_REALS = frozenset({Real, float})


def pick(tape: Tape, name: str, best: Any, x: Any) -> Any:
    """`max(best, x)` or `min(best, x)`, as CPython compares: the first of equals."""
    if best.__class__ in _REALS and x.__class__ in _REALS and (best.__class__ is Real or x.__class__ is Real):
        return stage(tape, P[name], (best, x))
    kinds = {type_of(best), type_of(x)}
    if not (best.__class__ in NUMBERS or x.__class__ in NUMBERS):
        return (x if x > best else best) if name == "max" else (x if x < best else best)
    if None in kinds:
        raise tape.type_fault(f"`{name}` compares numbers, given {type(best).__name__} and {type(x).__name__}")
    whole = kinds <= {INT, BOOL}
    return P[f"i{name}" if whole else name].__call__(best, x)


def _better(tape: Tape, name: str, best: Any, x: Any) -> Any:
    """One step of `max` over a staged loop, which begins with nothing."""
    held, flag = split(best)
    if held is UNDEFINED:
        return x
    number = held.read() if hasattr(held, "read") else held
    if flag is True:
        return pick(tape, name, number, x)
    greater = (x > number) if name == "max" else (x < number)
    chosen = _combined(tape, greater, truth(tape, _negated(tape, flag)), "or")
    kind = REAL if REAL in (type_of(x), type_of(number)) else INT
    return P["select" if kind is REAL else "iselect"].__call__(chosen, x, number)


def _negated(tape: Tape, flag: Any) -> Any:
    return Bool(tape, tape.apply(P["not"], flag.atom)) if flag.__class__ is Bool else not flag


def _settled_extreme(session: Any, name: str, best: Any, kwargs: Options) -> Any:
    message = f"{name}() arg is an empty sequence"
    if best is UNDEFINED:
        if "default" in kwargs:
            return kwargs["default"]
        raise ValueError(message)
    if best.__class__ is not Part or best.flag is True:
        return best
    if best.flag.__class__ is Bool:
        failure = Failure("raise", message, session.tape.here(), exception=ValueError(message))
        session.tape.check(best.flag.atom, failure)
        return best.value
    return settled(session.tape, best, name)


# --- iterables


def _with_rows(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A builtin that iterates: arrays give their rows."""
    return session.hooks.new(function(*[_items(session, a) if a.__class__ is Array else a for a in args], **kwargs))


def _reversed(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items = args[0]
    if items.__class__ is StagedRange:
        first, step = items.start, items.step
        count = (items.stop - first + step - (1 if step > 0 else -1)) // step
        return staged_range(session.tape, (first + (count - 1) * step, first - step, -step))
    return session.hooks.new(reversed(list(_items(session, items)) if items.__class__ is Array else items))


def _text(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if kwargs or len(args) not in ((1, 2) if function is format else (1,)):
        return function(*args, **kwargs)
    how = {repr: "r", ascii: "a", str: "s"}.get(function, "")
    return text(session.tape, (args[0], how, args[1] if len(args) == 2 else ""))


def _sorted(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """Numbers in ascending order; with a key of the host, as Python sorts."""
    items = list(_items(session, *args))
    numbers = any(item.__class__ in NUMBERS for item in items)
    if not numbers or kwargs.keys() - {"reverse"}:
        return session.hooks.new(session.plain(function, (items,), kwargs))
    ordered = list(_items(session, session.hooks.call(np.sort, items)))
    return session.hooks.new(ordered[::-1] if kwargs.get("reverse") else ordered)


def _next(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if args and hasattr(args[0], "__next__"):
        consumed(session.tape, args[0])
    return next(*args)


def _attribute(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`setattr`, `delattr`."""
    return function(session.hooks.owner(args[0]), *args[1:])


def _attribute_itself(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`object.__setattr__`."""
    session.hooks.assign(*args)


def _unroll(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items = args[0]
    if items.__class__ is StagedRange:
        raise session.tape.type_fault("`rose.unroll` takes an iterable of the host", "write `rose.unroll(range(n))`")
    return items


def _asked(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """What Python says of an object, whatever is in it."""
    return function(*args, **kwargs)


BUILTINS: dict[Any, Handler] = {
    range: _range, len: _len, float: _float, int: _int, bool: _bool, pow: _pow, isinstance: _isinstance, type: _type,
    sum: _sum, all: _all, any: _any, max: _extreme("max"), min: _extreme("min"), enumerate: _with_rows, zip: _with_rows,
    list: _with_rows, tuple: _with_rows, reversed: _reversed, str: _text, repr: _text, ascii: _text, format: _text,
    print: staged_print, next: _next, sorted: _sorted, callable: _asked, setattr: _attribute, delattr: _attribute,
    object.__setattr__: _attribute_itself,
    functions.range: _rose_range, functions.unroll: _unroll,
}  # fmt: skip

_ = BOOL
