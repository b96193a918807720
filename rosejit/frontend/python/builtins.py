"""What the builtins of Python do with staged values."""

# Values of users are of any type: what they are is asked while staging.

import contextlib
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.arrays.asarray import side_by_side
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.call_binding import bound_arguments, signature_of
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control.checkpointed_loop import checked_schedule
from rosejit.frontend.control.exception_handlers import Suppressed
from rosejit.frontend.control.if_for import rows
from rosejit.frontend.control.list_iteration import rows_of_list
from rosejit.frontend.control.row_iterators import RowIterator, remembering
from rosejit.frontend.control.short_circuit import negate
from rosejit.frontend.control.special_methods import own
from rosejit.frontend.control.staged_counts import why_counted
from rosejit.frontend.control.staged_range import StagedRange, staged_range
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import MaybeBound, read_bound, split
from rosejit.frontend.lists.dynamic_list import NO_ITEMS, DynamicList
from rosejit.frontend.python import ordering
from rosejit.frontend.python.assert_raise import raised_unless
from rosejit.frontend.python.attributes import ATTRIBUTES
from rosejit.frontend.python.bisection import BISECTIONS
from rosejit.frontend.python.grown_items import is_popped, popped
from rosejit.frontend.python.heaps import HEAPS
from rosejit.frontend.python.in_step import in_step, whole_count
from rosejit.frontend.python.number_classes import class_of, is_instance
from rosejit.frontend.python.print_ import staged_print
from rosejit.frontend.scalar_ops import faults
from rosejit.frontend.scalar_ops.integer_math import MODULAR_POWER
from rosejit.frontend.scalar_ops.operators import power
from rosejit.frontend.scalar_ops.origins import pythons
from rosejit.frontend.scalar_ops.staged_text import Text, text
from rosejit.frontend.scalar_ops.whole_zeros import surely_float
from rosejit.frontend.values import rose_functions
from rosejit.frontend.values.complexes import complex_of, parts_of
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.open_lengths import OpenLength, as_staged, has_open
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import (
    NUMBERS,
    Bool,
    Int,
    P,
    Real,
    Tan,
    bool_atom,
    int_atom,
    kind_word,
    stage,
    type_of,
)
from rosejit.frontend.values.tape import UNDEFINED, NonlocalCell, Tape, kind_fault, refuse_outer_iterator
from rosejit.ir.syntax import Failure
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.narrow_values import NarrowValue
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Handler = Callable[[Any, Any, Args, Options], Any]


def _range(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if any(arg.__class__ in NUMBERS or arg.__class__ is OpenLength for arg in args):
        made = staged_range(session.tape, args)
        made.is_pythons = True
        return made
    return range(*args, **kwargs)


def _rose_range(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    schedule = checked_schedule(session.tape, kwargs.get("checkpoint"), kwargs.get("snapshots"))
    return staged_range(session.tape, args, schedule)


def _len(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if len(args) == 1 and args[0].__class__ is MaskedArray:
        return args[0].lengths[0]
    if len(args) == 1 and args[0].__class__ is StagedRange:
        return whole_count(args[0])
    if len(args) == 1 and args[0].__class__ in NUMBERS:
        raise kind_fault(
            session.tape,
            f"object of type '{kind_word(args[0])}' has no len()",
            "a number has no length",
            "an array without dimensions is a number; `np.size(x)` is 1 for it",
        )
    if len(args) == 1 and args[0].__class__ is Array and has_open(args[0].shape[:1]):
        return args[0].shape[0]
    ask = own(args[0], "__len__") if len(args) == 1 else None
    return len(*args) if ask is None else ask()


def _float(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    value = _single(args)
    if value.__class__ is Text:
        value.use()
    value = as_staged(value)
    if value.__class__ in (Real, Int, Bool):
        return pythons(session.tape, Real(session.tape, surely_float(session.tape, value)))
    if value.__class__ is Tan:
        return value
    ask = own(value, "__float__")
    if ask is not None:
        return _float(session, function, (ask(),), kwargs)
    return float(value) if len(args) == 1 else float(*args)


def _int(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    value = _single(args)
    tape = session.tape
    if value.__class__ is Text:
        value.use()
    if value.__class__ is Real:
        return Int(tape, faults.surely(tape, P["to_int"], faults.finite(tape, value.atom, "int")))
    if value.__class__ is OpenLength:
        return value
    if value.__class__ in (Int, Bool):
        return pythons(tape, value if value.__class__ is Int else Int(tape, int_atom(tape, value) or value.atom, 0))
    ask = own(value, "__int__") or own(value, "__index__")
    if ask is not None:
        return _int(session, function, (ask(),), kwargs)
    return int(value) if len(args) == 1 and not kwargs else int(*args, **kwargs)


def _complex(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    values = [_single((arg,)) for arg in (*args, *kwargs.values())]
    parts = [parts_of(value) for value in values]
    if not is_staged_deep(values) or len(values) > 2 or None in parts:
        return complex(*values) if not kwargs else complex(*args, **kwargs)
    one, *other = parts
    if "imag" in kwargs and len(values) == 1:
        one, other = (0.0, 0.0), [one]
    if not other:
        return complex_of(*one)  # pyright: ignore[reportOptionalIterable]  # numbers
    (a, b), (c, d) = one, other[0]  # pyright: ignore[reportGeneralTypeIssues]  # numbers
    return complex_of(a if number_kind(d) is not None and d == 0.0 else a - d, c if type_of(values[0]) else b + c)


def _bool(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not args:
        return False
    made = truth(session.tape, _single(args))
    return pythons(session.tape, made) if made.__class__ is Bool else bool(made)


def _single(args: Args) -> Any:
    """The one argument; an array of one element is that element."""
    value: Any = args[0] if len(args) == 1 else None
    value = value.wide if isinstance(value, NarrowValue) else value
    if value.__class__ is Array and value.shape in ((), (1,)):
        return value[(0,) * value.ndim]
    return value


def _pow(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    staged = [arg for arg in args if arg.__class__ in NUMBERS]
    if not staged:
        return pow(*args, **kwargs)
    base, exponent, modulus = (*args, None)[:3] if len(args) < 3 else args
    if modulus is None:
        return power(base, exponent)
    if not all(type_of(arg) in (INT, BOOL) for arg in args):
        raise session.tape.type_fault("`pow` with a modulus takes integers", "convert them: `int(x)`")
    return MODULAR_POWER(base, exponent, modulus)


# --- folds


def fold(session: Any, generator: Any, start: Any, step: Callable[[Any, Any], Any], name: str) -> Any:
    """Everything a generator gives combined, in order. Staged loops in it carry the value so far."""
    tape: Tape = session.tape
    whole = session.hooks.comprehensions.of(generator)
    if whole is None:
        return functools.reduce(step, iter(generator), start)  # `reduce` would hide what `iter` raises
    cell = NonlocalCell(tape, name, lambda tape, value, name: value)
    tape.frames[-1].contents[cell] = start
    whole.folds = True
    for value in generator:
        cell.v = step(cell.v, value)
    result = tape.content(cell)
    del tape.frames[-1].contents[cell]
    return result


def _product(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return fold(session, _items(session, args[0]), kwargs.get("start", 1), operator.mul, "prod")


def _items(session: Any, value: Any) -> Any:
    return rows(session.tape, value)


def _sum(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items, start = args[0], (args[1] if len(args) > 1 else kwargs.get("start", 0))
    if items.__class__ is StagedRange and items.pick is None:
        return start + _total(items)
    is_from_nothing = number_kind(start) == "int" and not start
    if items.__class__ is Array and items.ndim == 1 and host_data(items) is None and is_from_nothing:
        return reductions.total(items)
    return fold(session, _items(session, items), start, operator.add, "sum")


def _total(numbers: StagedRange) -> Any:
    """The sum of a range, in parts none of which is larger than it."""
    count = whole_count(numbers)
    ends = numbers.start * 2 + (count - 1) * numbers.step
    return (count // 2) * ends + (count % 2) * (ends // 2)


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
        key = kwargs.get("key")
        if key is not None:
            return _extreme_by_key(session, name, args, kwargs)
        if len(args) > 1 and any(isinstance(item, (tuple, list)) for item in args):
            return ordering.extreme(session.tape, name, args, None)
        if len(args) > 1:
            return functools.reduce(lambda best, x: pick(session.tape, name, best, x), args)
        items = args[0]  # pyright: ignore[reportGeneralTypeIssues]  # the count was checked
        if items.__class__ is Array and items.ndim == 1 and host_data(items) is None:
            return reductions.extreme(items, name, propagate=False)
        if session.hooks.comprehensions.of(items) is None:
            return _extreme_of_items(session, name, list(_items(session, items)), kwargs)
        best = fold(session, items, UNDEFINED, lambda best, x: _better(session.tape, name, best, x), name)
        return _finished_extreme(session, name, best, kwargs, lambda found: found)

    return handler


def _extreme_by_key(session: Any, name: str, args: Args, kwargs: Options) -> Any:
    """The first of the best items; the key is asked once of each, in order."""
    asked = functools.partial(session.hooks.call, kwargs["key"])
    if len(args) == 1 and session.hooks.comprehensions.of(args[0]) is not None:
        best = fold(session, args[0], UNDEFINED, lambda best, x: _better_by(session.tape, name, asked, best, x), name)
        return _finished_extreme(session, name, best, kwargs, lambda pair: pair[1])
    items = list(args) if len(args) != 1 else list(_items(session, args[0]))
    if not items or (len(args) > 1 and "default" in kwargs):
        return {"max": max, "min": min}[name](*args, **kwargs)
    return ordering.extreme(session.tape, name, items, asked)


def _extreme_of_items(session: Any, name: str, items: list[Any], kwargs: Options) -> Any:
    if not items:
        return {"max": max, "min": min}[name](items, **kwargs)
    if any(isinstance(item, (tuple, list)) for item in items):
        return ordering.extreme(session.tape, name, items, None)
    return functools.reduce(lambda best, x: pick(session.tape, name, best, x), items)


_REALS = frozenset({Real, float})


def pick(tape: Tape, name: str, best: Any, x: Any) -> Any:
    """`max(best, x)` or `min(best, x)`, as CPython compares: the first of equals."""
    if best.__class__ in _REALS and x.__class__ in _REALS and (best.__class__ is Real or x.__class__ is Real):
        return stage(tape, P[name], (best, x))
    kinds = {type_of(best), type_of(x)}
    if not (best.__class__ in NUMBERS or x.__class__ in NUMBERS):
        return ordering.choose(tape, truth(tape, x > best if name == "max" else x < best), x, best, name)
    if None in kinds:
        raise tape.type_fault(f"`{name}` compares numbers, given {type(best).__name__} and {type(x).__name__}")
    if kinds == {BOOL}:
        return stage(tape, P["or" if name == "max" else "and"], (best, x))
    whole = kinds <= {INT, BOOL}
    made = P[f"i{name}" if whole else name].__call__(best, x)
    if REAL in kinds and not kinds <= {REAL}:
        tape.mixed.add(made.atom)
    return made


def _better(tape: Tape, name: str, best: Any, x: Any) -> Any:
    """One step of `max` over a staged loop, which begins with nothing."""
    held, flag = split(best)
    if held is UNDEFINED:
        return x
    if type_of(x) is None:
        return _better_by(tape, name, None, best, x)
    number = held.read() if hasattr(held, "read") else held
    if flag is True:
        return pick(tape, name, number, x)
    greater = (x > number) if name == "max" else (x < number)
    chosen = _combined(tape, greater, truth(tape, _negated(tape, flag)), "or")
    kinds = {type_of(x), type_of(number)}
    choose = "select" if REAL in kinds else "bselect" if kinds == {BOOL} else "iselect"
    return P[choose].__call__(chosen, x, number)


def _better_by(tape: Tape, name: str, key: Callable[[Any], Any] | None, best: Any, x: Any) -> Any:
    """The same of what is no number; of pairs of a key and an item, if there is a key."""
    held, flag = split(best)
    new = x if key is None else (key(x), x)
    if held is UNDEFINED:
        return new
    known = held.become(new) if hasattr(held, "become") else held
    keys = (new, known) if key is None else (new[0], known[0])
    better = truth(tape, ordering.compared(tape, "gt" if name == "max" else "lt", *keys))
    return ordering.choose(tape, ordering.either(tape, better, _negated(tape, flag)), new, known, name)


def _negated(tape: Tape, flag: Any) -> Any:
    return Bool(tape, tape.apply(P["not"], flag.atom)) if flag.__class__ is Bool else not flag


def _finished_extreme(session: Any, name: str, best: Any, kwargs: Options, item: Callable[[Any], Any]) -> Any:
    message = f"{name}() {NO_ITEMS}"
    if best is UNDEFINED:
        if "default" in kwargs:
            return kwargs["default"]
        raise ValueError(message)
    if best.__class__ is not MaybeBound or best.flag is True:
        return item(best)
    if best.flag.__class__ is not Bool:
        return item(read_bound(session.tape, best, name))
    if "default" in kwargs:
        return ordering.choose(session.tape, best.flag, item(best.value), kwargs["default"], name)
    failure = Failure("raise", message, session.tape.here(), exception=ValueError(message))
    session.tape.check(best.flag.atom, failure)
    return item(best.value)


# --- iterables


def _with_rows(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A builtin that iterates: arrays give their rows."""
    if (function is list or function is tuple) and args and session.hooks.comprehensions.of(args[0]) is not None:
        found = session.hooks.comprehensions.all_of(args[0])
        made = session.hooks.call(function, found) if found.__class__ is DynamicList else function(found)
        return session.hooks.record_allocation(made)
    if function is zip or function is enumerate:
        args = tuple([rows_of_list(session.tape, a) if a.__class__ is DynamicList else a for a in args])
    if any(a.__class__ is StagedRange for a in args) and (function is zip or function is enumerate):
        return in_step(session, function, args, kwargs)
    rows_of = [_items(session, a) if a.__class__ is Array else a for a in args]
    return session.hooks.record_allocation(remembering(function, args, rows_of, kwargs))


def _reversed(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items = args[0]
    if items.__class__ is StagedRange and items.pick is None:
        first, step = items.start, items.step
        count = (items.stop - first + step - (1 if step > 0 else -1)) // step
        return staged_range(session.tape, (first + (count - 1) * step, first - step, -step))
    made: Any = None
    if items.__class__ is range:
        made = RowIterator(items[::-1])
    elif items.__class__ is Array:
        made = rows(session.tape, items)
        made.source = get(items, slice(None, None, -1))
    return session.hooks.record_allocation(reversed(items) if made is None else made)


def _text(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if kwargs or len(args) not in ((1, 2) if function is format else (1,)):
        return function(*args, **kwargs)
    how = {repr: "r", ascii: "a", str: "s"}.get(function, "")
    return text(session.tape, (args[0], how, args[1] if len(args) == 2 else ""))


def _sorted(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """Numbers in ascending order, equals in theirs; with a key of the host, as Python sorts."""
    if session.hooks.comprehensions.of(args[0]) is not None:
        return session.hooks.call(function, session.hooks.comprehensions.all_of(args[0]), **kwargs)
    items = list(_items(session, *args))
    key = kwargs.get("key")
    if key is not None or ordering.is_put_in_order(session.tape, items):
        by = None if key is None else functools.partial(session.hooks.call, key)
        return session.hooks.record_allocation(ordering.ordered(session.tape, items, by, bool(kwargs.get("reverse"))))
    if not any(item.__class__ in NUMBERS for item in items):
        return session.hooks.record_allocation(session.plain(function, (items,), kwargs))
    _check_order(session, items)
    step = -1 if kwargs.get("reverse") else 1  # Python turns the list around before and after: equals keep their order
    ordered = list(_items(session, side_by_side(session.tape, session.hooks.call(np.sort, items[::step]), items)))
    return session.hooks.record_allocation(ordered[::step])


def _check_order(session: Any, items: list[Any]) -> None:
    """Fail at run time if a number to be sorted is NaN: Python's order is then one of its algorithm."""
    if not any(item.__class__ is Real or (item.__class__ is float and item != item) for item in items):
        return
    tape: Tape = session.tape
    found = session.hooks.call(np.any, session.hooks.call(np.isnan, items))
    message = "`sorted` of numbers of which one is nan: Python's order depends on its version (`np.sort` puts nan last)"
    held = bool_atom(tape, negate(tape, found))
    assert held is not None
    tape.check(held, Failure("raise", message, tape.here(), exception=ValueError(message)))


def _sort(session: Any, owner: list[Any], kwargs: Options) -> None:
    """`list.sort`: to the key the list is empty, as in CPython."""
    session.hooks.written(owner)
    items = owner[:]
    owner.clear()
    try:
        items = session.hooks.call(sorted, items, **kwargs)
        if owner:
            raise ValueError("list modified during sort")
    finally:
        owner[:] = items


def of_sequence(session: Any, owner: Any, method: Any, args: Args, kwargs: Options) -> Any:
    """The methods of lists and tuples that compare, where only running tells, and `extend`, which appends one by one in
    staged branches; NotImplemented for others."""
    tape, name = session.tape, method.__name__
    if name in ("extend", "pop") and not kwargs and owner.__class__ is list:
        return _changed_length(session, owner, method, args)
    if name == "sort" and not args and owner.__class__ is list:
        _sort(session, owner, kwargs)
        return None
    if name not in ("index", "count", "remove") or len(args) != 1 or kwargs:
        return NotImplemented
    (item,) = args
    if not is_staged_deep(item) and not is_staged_deep(owner):
        return NotImplemented
    if name == "count":
        return functools.reduce(operator.add, [_as_int(tape, ordering.equal(tape, x, item)) for x in owner], 0)
    at, found = ordering.position(tape, owner, item)
    words = f"{owner.__class__.__name__}.{name}(x): x not in {owner.__class__.__name__}"
    if found.__class__ is Bool:
        tape.check(found.atom, Failure("raise", words, tape.here(), exception=ValueError(words)))
    elif not found:
        raise ValueError(words)
    if name == "index":
        return at
    session.hooks.written(owner)
    pairs = enumerate(itertools.pairwise(list(owner)))
    owner[:] = [ordering.choose(tape, truth(tape, at > k), a, b, "remove") for k, (a, b) in pairs]
    return None


def _changed_length(session: Any, owner: list[Any], method: Any, args: Args) -> Any:
    """`extend` and `pop`."""
    hooks = session.hooks
    if method.__name__ == "pop":
        return popped(session, owner, *args) if is_popped(args) and hooks.grows_in_branch(owner) else NotImplemented
    if len(args) == 1 and hooks.comprehensions.of(args[0]) is not None:
        return hooks.call(method, hooks.comprehensions.all_of(args[0]))
    return None if len(args) == 1 and hooks.extended(owner, args[0]) else NotImplemented


def _as_int(tape: Tape, value: Any) -> Any:
    return Int(tape, int_atom(tape, value) or value.atom, 0) if value.__class__ is Bool else int(value)


def _filter(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`filter` and `itertools.takewhile`, of items that are staged as a generator expression."""
    test, items = args
    if items.__class__ not in (list, tuple) or not callable(test) or not is_staged_deep(items):
        return session.plain(function, args, kwargs)
    asked = functools.partial(session.hooks.call, test)
    return session.hooks.comprehensions.filtered(items, asked, function is itertools.takewhile)


def _next(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if args and hasattr(args[0], "__next__"):
        refuse_outer_iterator(session.tape, args[0])
    whole = session.hooks.comprehensions.of(args[0]) if args else None
    return next(*args) if whole is None else _first(session.tape, whole, *args)


def _first(tape: Tape, whole: Any, generator: Any, default: Any = UNDEFINED) -> Any:
    """`next(generator, default)` of a generator expression: its staged `if`s say which element is the first."""
    cell = NonlocalCell(tape, "next", lambda tape, value, name: value)
    depth, tape.frames[-1].contents[cell] = len(tape.frames), UNDEFINED
    whole.folds, last = True, default
    for value in generator:
        if len(tape.frames) == depth:  # in no staged block: it is there
            last = value
            break
        held, flag = split(cell.v)
        known = held.become(value) if hasattr(held, "become") else held
        cell.v = value if held is UNDEFINED else ordering.choose(tape, flag, known, value, "next")
    whole.folds = False
    held, flag = split(tape.content(cell))
    del tape.frames[-1].contents[cell]
    if held is UNDEFINED:
        if last is UNDEFINED:
            raise StopIteration
        return last
    if last is UNDEFINED:
        if isinstance(flag, Bool):
            raised_unless(tape, flag, StopIteration)
        last = held
    tape.left_early[id(generator)] = generator  # the others are computed: how far Python goes only running tells
    return ordering.choose(tape, flag, held, last, "next")


def _unroll(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    items = args[0]
    if items.__class__ is StagedRange:
        raise session.tape.type_fault(
            "`rose.unroll` unrolls what is known while staging, and how long this range is only running tells",
            "give it a count that staging knows: an `int` parameter as `rose.Static`, a length, elements of a list",
            *why_counted(items),
        )
    session.tape.keeps_unrolled = True
    return items


def _asked(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """What Python says of an object, whatever is in it."""
    return function(*args, **kwargs)


def _suppress(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`contextlib.suppress`, of what staged arithmetic raises too."""
    return Suppressed(session.tape, function(*args), args)


_STAGED: dict[Any, tuple[Handler, str]] = {
    range: (_range, "start, stop=..., step=..., /"),
    rose_functions.range: (_rose_range, "start, stop=..., step=..., /, *, checkpoint=None, snapshots=None"),
    len: (_len, "obj, /"), float: (_float, "x=0.0, /"), int: (_int, "x=0, /, base=10"), bool: (_bool, "x=False, /"),
    complex: (_complex, "real=0, imag=..."),
    pow: (_pow, "base, exp, mod=None"), isinstance: (is_instance, "obj, class_or_tuple, /"),
    type: (class_of, "object, bases=..., dict=..., /, **kwds"), sum: (_sum, "iterable, /, start=0"),
    math.prod: (_product, "iterable, /, *, start=1"),
    all: (_all, "iterable, /"), any: (_any, "iterable, /"), max: (_extreme("max"), "*args, key=None, default=..."),
    min: (_extreme("min"), "*args, key=None, default=..."), enumerate: (_with_rows, "iterable, start=0"),
    zip: (_with_rows, "*iterables, strict=False"), list: (_with_rows, "iterable=(), /"),
    tuple: (_with_rows, "iterable=(), /"), reversed: (_reversed, "sequence, /"), repr: (_text, "obj, /"),
    str: (_text, "object='', encoding=..., errors=..."), ascii: (_text, "obj, /"),
    format: (_text, "value, format_spec='', /"),
    print: (staged_print, "*args, sep=' ', end='\\n', file=None, flush=False"),
    next: (_next, "iterator, default=..., /"), sorted: (_sorted, "iterable, /, *, key=None, reverse=False"),
    filter: (_filter, "function, iterable, /"), itertools.takewhile: (_filter, "predicate, iterable, /"),
    contextlib.suppress: (_suppress, "*exceptions"),
    callable: (_asked, "obj, /"), rose_functions.unroll: (_unroll, "items"), **HEAPS, **BISECTIONS, **ATTRIBUTES,
    **ordering.KEYS,
}  # fmt: skip
"""What builtins, and our functions for loops, do with staged values, and their signatures."""


def _bound(function: Any, handler: Handler, text: str) -> Handler:
    """The same for a call whose arguments the signature has places for."""
    binds = signature_of(text)
    places = [p for p in binds.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least, most = sum(p.default is p.empty for p in places), len(places)
    if any(p.kind is p.VAR_POSITIONAL for p in binds.parameters.values()):
        least, most = 0, 1 << 30
    title = (
        f"rose.{function.__name__}"
        if str(getattr(function, "__module__", "")).startswith("rosejit")
        else function.__name__
    )

    def bind(session: Any, called: Any, args: Args, kwargs: Options) -> Any:
        if kwargs or not least <= len(args) <= most:
            arguments = bound_arguments(session.tape, title, binds, args, kwargs)
            args, kwargs = arguments.args, arguments.kwargs
        return handler(session, called, args, kwargs)

    return bind


BUILTINS: dict[Any, Handler] = {f: _bound(f, handler, text) for f, (handler, text) in _STAGED.items()}

_ = BOOL
