"""Stages `np.random`: generators of PCG64, and the methods that draw NumPy's own bits from them.

What is drawn has no derivative; a number made of it has one in `loc`, `scale` and the bounds. Every other source of
random numbers draws on the host, once while staging, and is refused.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownLambdaType=false

import math
import operator
import sys
from collections.abc import Callable
from functools import cache, partial
from math import prod
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import copy, element
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.arrays.call_binding import bound, called, kind_of, signature_of
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control.undefined import require_single_value
from rosejit.frontend.numpy import array_methods, manipulation, sorting
from rosejit.frontend.numpy import random_algorithms as algorithms
from rosejit.frontend.numpy.array_methods import cumulative
from rosejit.frontend.values.generators import WORDS, Generator, words_of
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import ATOMS, CLASSES, P, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Block, Failure, Lit, Var
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import loaded, np

Make = Callable[..., Any]
_WITH_LOGARITHM = frozenset({"standard_normal", "standard_exponential"})
_HELP = "make the generator an argument (`rng: np.random.Generator`), or here with `np.random.default_rng(seed)`"


@dataclass(frozen=True, eq=False)
class BitGenerator:
    """A `np.random.PCG64` made in staged code."""

    state: Any


# --- functions of the program


def _function(tape: Tape, name: str, words: int, operands: int) -> ir.Function:
    """The algorithm of that name, which takes `words` of the state and then operands."""

    def made() -> ir.Function:
        params = tuple([Var(INT, "word") for _ in range(words + operands)])
        with tape.session.nested() as opened:
            given = [wrap(tape, v) for v in params]
            if name in _WITH_LOGARITHM:
                given.append(lambda u: _log_of_rest(tape, u))
            found = tape.session.run(getattr(algorithms, name), lambda f: f(*given))
            results = tuple([_atom(tape, value) for value in found])
        types = tuple([atom.type for atom in results])
        return ir.Function(name, params, types, Block(opened.root.lets, results))

    return tape.session.routines.get(name, tape.here, made)


def _log_of_rest(tape: Tape, u: Any) -> Any:
    return tape.session.run(algorithms.log_of_rest, lambda f: f(u))


def _atom(tape: Tape, value: Any) -> ir.Atom:
    kind = type_of(value)
    assert kind is not None
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    return atom


def _applied(tape: Tape, function: ir.Function, args: list[ir.Atom]) -> list[Any]:
    binders = tuple([Var(t, function.name) for t in function.results])
    tape.bind_all(ir.Call(function, tuple(args)), binders)
    return [wrap(tape, var) for var in binders]


def _drawn(generator: Generator, name: str, *operands: Any) -> Any:
    """One draw; the generator is where that leaves it."""
    state, words = generator.state, WORDS if operands else 4
    tape: Tape = state.tape
    if state.box.readonly or state.box.held:
        raise tape.type_fault(
            f"a Generator cannot be drawn from here: {state.box.readonly or state.box.held}",
            "go through the list with `for rng in rngs`, or map over it with `rose.vmap`",
        )
    given = [element(state, (Lit(k, INT),)) for k in range(words)]
    function = _function(tape, name, words, len(operands))
    *after, drawn = _applied(tape, function, [*given, *[_atom(tape, value) for value in operands]])
    for k, word in zip((0, 1, 4, 5), after, strict=False):
        state[k] = word
    return drawn


# --- arguments


@cache
def _numpys_error(name: str, *args: Any) -> Exception:
    """What NumPy raises for these arguments, in the words of its release."""
    try:
        getattr(np.random.default_rng(0), name)(*args)
    except (ValueError, OverflowError) as error:
        return error
    raise AssertionError(name)


def _require(tape: Tape, holds: Any, error: Exception) -> None:
    """Raise as NumPy does, when the code runs, unless a condition holds."""
    if holds is not True:
        raised = type(error)(*error.args)
        tape.check(_atom(tape, holds), Failure("raise", str(error), tape.here(), exception=raised))


def _all(tape: Tape, test: Make, *operands: Any) -> Any:
    """Whether a condition holds for all elements."""
    if all(value.__class__ is not Array for value in operands):
        return test(*operands)
    return reductions.every(broadcast_map(tape, test, *operands))


def _operand(tape: Tape, name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """A number, or an array of numbers."""
    value = require_single_value(value)
    if isinstance(value, np.generic):
        value = value.item()
    found = value if type_of(value) is not None else as_array(tape, value)
    kind = None if found is None else found.type if found.__class__ is Array else type_of(found)
    if kind not in kinds:
        words = "numbers" if REAL in kinds else "integers"
        raise tape.type_fault(f"a draw takes {words} for `{name}`, given {type(value).__name__}")
    return found


def _shape(tape: Tape, size: Any, *operands: Any) -> tuple[int, ...]:
    """The shape of a draw: `size`, or that of the operands together."""
    shapes = [value.shape for value in operands if value.__class__ is Array]
    try:
        common = np.broadcast_shapes(*shapes)
        if size is None:
            return common
        found = tuple(map(operator.index, size)) if isinstance(size, (tuple, list)) else (operator.index(size),)
        if np.broadcast_shapes(found, common) != found or min(found, default=0) < 0:
            raise ValueError("they do not fit")
        return found
    except TypeError:
        raise tape.type_fault(
            "the size of a draw must be known while staging",
            "make it a host value (`rose.Static`), or draw one by one: `[rng.random() for _ in rose.range(n)]`",
        ) from None
    except ValueError:
        raise tape.type_fault(f"a draw of size {size} does not fit operands of the shapes {shapes}") from None


def _several(generator: Generator, shape: tuple[int, ...], kind: Any, draw: Make) -> Any:
    """Draws one after the other, in an array; `draw` takes the number of the element."""
    if not shape:
        return draw(0)
    tape = generator.state.tape
    out = of_host(tape, np.zeros(prod(shape), float if kind is REAL else int))
    tape.session.run(algorithms.filled, lambda f: f(out, draw))
    return out if len(shape) == 1 else manipulation.reshaped(out, shape)


def _standard(generator: Generator, name: str, shape: tuple[int, ...]) -> Any:
    return _several(generator, shape, REAL, lambda _: _drawn(generator, name))


def _is_float64(generator: Generator, dtype: Any) -> None:
    if np.dtype(dtype) != np.float64:
        raise generator.state.tape.type_fault(f"a draw of {np.dtype(dtype)} is not staged", "draw float64")


def _of_elements(tape: Tape, make: Make, *operands: Any) -> Any:
    if all(value.__class__ is not Array for value in operands):
        return make(*operands)
    return broadcast_map(tape, make, *operands)


# --- the methods


def random(generator: Generator, size: Any = None, dtype: Any = float) -> Any:
    """`rng.random`."""
    _is_float64(generator, dtype)
    return _standard(generator, "random", _shape(generator.state.tape, size))


def standard_normal(generator: Generator, size: Any = None, dtype: Any = float) -> Any:
    """`rng.standard_normal`."""
    _is_float64(generator, dtype)
    return _standard(generator, "standard_normal", _shape(generator.state.tape, size))


def standard_exponential(generator: Generator, size: Any = None, dtype: Any = float) -> Any:
    """`rng.standard_exponential`."""
    _is_float64(generator, dtype)
    return _standard(generator, "standard_exponential", _shape(generator.state.tape, size))


_NUMBERS = (REAL, INT, BOOL)


def _unsigned(x: Any) -> Any:
    """Whether NumPy takes a number for one that is not negative: NaN is, -0.0 is not."""
    real = x * 1.0
    return (P["copysign"](1.0, real) > 0.0) | (real != real)


def uniform(generator: Generator, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """`rng.uniform`."""
    tape = generator.state.tape
    low, high = _operand(tape, "low", low, _NUMBERS), _operand(tape, "high", high, _NUMBERS)
    shape = _shape(tape, size, low, high)
    finite = _all(tape, lambda a, b: abs(b * 1.0 - a) < math.inf, low, high)
    is_array = low.__class__ is Array or high.__class__ is Array
    _require(tape, finite, _numpys_error("uniform", 0.0, (math.inf,) if is_array else math.inf))
    _require(tape, _all(tape, lambda a, b: _unsigned(b * 1.0 - a), low, high), _numpys_error("uniform", 1.0, 0.0))
    drawn = _standard(generator, "random", shape)
    return _of_elements(tape, lambda a, b, u: a + (b * 1.0 - a) * u, low, high, drawn)


def normal(generator: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """`rng.normal`."""
    tape = generator.state.tape
    loc, scale = _operand(tape, "loc", loc, _NUMBERS), _operand(tape, "scale", scale, _NUMBERS)
    shape = _shape(tape, size, loc, scale)
    _require(tape, _all(tape, _unsigned, scale), _numpys_error("normal", 0.0, -1.0))
    return _of_elements(tape, lambda a, b, z: a + b * z, loc, scale, _standard(generator, "standard_normal", shape))


def exponential(generator: Generator, scale: Any = 1.0, size: Any = None) -> Any:
    """`rng.exponential`."""
    tape = generator.state.tape
    scale = _operand(tape, "scale", scale, _NUMBERS)
    shape = _shape(tape, size, scale)
    _require(tape, _all(tape, _unsigned, scale), _numpys_error("exponential", -1.0))
    return _of_elements(tape, operator.mul, scale, _standard(generator, "standard_exponential", shape))


def integers(
    generator: Generator, low: Any, high: Any = None, size: Any = None, dtype: Any = int, endpoint: Any = False
) -> Any:
    """`rng.integers`."""
    tape = generator.state.tape
    if kind_of(tape, dtype) is not INT:
        raise tape.type_fault(f"a draw of {np.dtype(dtype)} is not staged", "draw int64, and compare or convert")
    if high is None:
        low, high = 0, low
    closed = bool(endpoint)
    if type_of(high) is INT and isinstance(high, int) and not closed:
        high, closed = high - 1, True  # 2**63 is no Int
    low, high = _operand(tape, "low", low, (INT, BOOL)), _operand(tape, "high", high, (INT, BOOL))
    shape = _shape(tape, size, low, high)
    ordered = _all(tape, operator.le if closed else operator.lt, low, high)
    inclusive = bool(endpoint)
    zero = _all(tape, lambda a: a == 0, low)
    if ordered is not True:
        _require(tape, ordered | zero, _numpys_error("integers", 5, 4, None, np.int64, inclusive))
        _require(tape, ordered, _numpys_error("integers", 0, -1, None, np.int64, inclusive))

    def between(a: Any, b: Any) -> Any:
        most = P["wsub"](P["wsub"](b, a), 0 if closed else 1)
        return P["wadd"](a, _drawn(generator, "bounded", most))

    if low.__class__ is not Array and high.__class__ is not Array:
        return _several(generator, shape, INT, lambda _: between(low, high))
    rows = [_flat(tape, value, shape) for value in (low, high)]
    return _several(generator, shape, INT, lambda i: between(*[row(i) for row in rows]))


def _flat(tape: Tape, value: Any, shape: tuple[int, ...]) -> Make:
    """The elements of a number or an array, as if it had that shape, in order."""
    if value.__class__ is not Array:
        return lambda _: value
    whole = manipulation.reshaped(copy(manipulation.broadcast(value, shape)), (prod(shape),))
    return lambda i: get(whole, i)


def choice(
    generator: Generator, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: int = 0,
    shuffle: Any = True,
) -> Any:  # fmt: skip
    """`rng.choice`."""
    tape = generator.state.tape
    a = require_single_value(a)
    items = None if type_of(a) is INT else as_array(tape, a)
    if items is None and type_of(a) is not INT:
        raise tape.type_fault(
            f"`rng.choice` takes an integer or an array of numbers, given {type(a).__name__}",
            "draw the index: `rng.integers(len(a))`",
        )
    shape = _shape(tape, size)
    count = a if items is None else items.shape[axis]
    _require(
        tape, (count > 0) | (size is not None and prod(shape) == 0), _numpys_error("choice", 0 if items is None else ())
    )
    if not replace:
        places = _sample(generator, count, shape, p, bool(shuffle))
    elif p is None:
        places = integers(generator, 0, count, None if size is None else shape)
    else:
        places = _weighted(generator, count, shape, p)
    return places if items is None else array_methods.take(items, places, axis)


def _weighted(generator: Generator, count: Any, shape: tuple[int, ...], p: Any) -> Any:
    """Places drawn with these probabilities."""
    tape = generator.state.tape
    weights = as_array(tape, p)
    if weights is None or weights.ndim != 1 or weights.shape[0] != count:
        raise tape.type_fault(f"`rng.choice` takes as `p` a vector of {count} probabilities", "one for each item")
    if weights.type is not REAL:
        weights = broadcast_map(tape, lambda x: x * 1.0, weights)
    total = reductions.total(weights)
    _require(tape, total == total, _numpys_error("choice", 2, None, True, (math.nan, 1.0)))
    _require(tape, _all(tape, lambda x: x >= 0.0, weights), _numpys_error("choice", 2, None, True, (-1.0, 2.0)))
    close = abs(total - 1.0) <= math.sqrt(2.0**-52)
    _require(tape, close, _numpys_error("choice", 2, None, True, (0.3, 0.3)))
    running = cumulative(operator.add, -0.0)(weights)
    last = get(running, -1)
    running = broadcast_map(tape, lambda x: x / last, running)
    return sorting.searchsorted(running, _standard(generator, "random", shape), side="right")


def _sample(generator: Generator, count: Any, shape: tuple[int, ...], p: Any, shuffle: bool) -> Any:
    """Different places."""
    tape, size = generator.state.tape, prod(shape)
    if p is not None or not isinstance(count, int):
        what = "of given probabilities" if p is not None else "from a staged number of items"
        raise tape.type_fault(f"a sample without replacement {what} is not staged", "draw it outside, and pass it")
    _require(tape, size <= count, _numpys_error("choice", 1, 2, False))
    run, below = tape.session.run, lambda most: _drawn(generator, "bounded", most)
    if count > 10_000 and size > count // (50 if shuffle else 20):
        places = of_host(tape, np.arange(count))
        run(algorithms.shuffled, lambda f: f(places, max(count - size, 1), below, _same))
        found = copy(get(places, slice(count - size, None)))
    else:
        found, taken = of_host(tape, np.zeros(size, int)), of_host(tape, np.zeros(count, int))
        run(algorithms.sampled, lambda f: f(found, taken, below))
        if shuffle:
            run(algorithms.shuffled, lambda f: f(found, 1, below, _same))
    return manipulation.reshaped(found, shape) if shape else get(found, 0)


def _same(value: Any) -> Any:
    return value


def shuffle(generator: Generator, x: Any, axis: int = 0) -> None:
    """`rng.shuffle`."""
    tape = generator.state.tape
    if x.__class__ is not Array:
        raise tape.type_fault(
            f"`rng.shuffle` of a {type(x).__name__} is not staged: its places are only known when the code runs",
            "shuffle an array: `x = np.array(...)`, or `rng.permutation(x)`",
        )
    if axis not in (0, -x.ndim):
        raise tape.type_fault("`rng.shuffle` along another axis than the first is not staged", "use `rng.permutation`")
    held = _same if x.ndim == 1 else copy
    below = partial(_drawn, generator, "interval")
    tape.session.run(algorithms.shuffled, lambda f: f(x, 1, below, held))


def permutation(generator: Generator, x: Any, axis: int = 0) -> Any:
    """`rng.permutation`."""
    tape = generator.state.tape
    x = require_single_value(x)
    if type_of(x) is not None:
        if isinstance(x, (int, np.integer)):
            found = of_host(tape, np.arange(x))
            shuffle(generator, found)
            return found
        raise tape.type_fault("a permutation of a staged length is not staged", "make the length a host value")
    items = as_array(tape, x)
    if items is None:
        raise tape.type_fault(f"`rng.permutation` takes an integer or an array, given {type(x).__name__}")
    if items.ndim == 1:
        found = copy(items)
        shuffle(generator, found)
        return found
    return array_methods.take(items, permutation(generator, items.shape[axis]), axis)


_METHODS: dict[str, tuple[Make, str]] = {
    "random": (random, "size=None, dtype=float, out=None"),
    "uniform": (uniform, "low=0.0, high=1.0, size=None"),
    "normal": (normal, "loc=0.0, scale=1.0, size=None"),
    "standard_normal": (standard_normal, "size=None, dtype=float, out=None"),
    "exponential": (exponential, "scale=1.0, size=None"),
    "standard_exponential": (standard_exponential, "size=None, dtype=float, method='zig', out=None"),
    "integers": (integers, "low, high=None, size=None, dtype=int, endpoint=False"),
    "choice": (choice, "a, size=None, replace=True, p=None, axis=0, shuffle=True"),
    "permutation": (permutation, "x, axis=0"),
    "shuffle": (shuffle, "x, axis=0"),
}
STAGED = tuple(_METHODS)


def _method(name: str, make: Make, text: str) -> Make:
    title, signature = f"rng.{name}", signature_of(text)

    def method(self: Generator, *args: Any, **options: Any) -> Any:
        tape = self.state.tape
        given = bound(tape, title, signature, args, options)
        dtype = given.pop("dtype", None)
        made = called(tape, title, make, signature, (self,), given) if dtype is None else partial(make, dtype=dtype)
        return made if dtype is None else called(tape, title, made, signature, (self,), given)

    return method


def _missing(self: Generator, name: str) -> Any:
    """What NumPy's generators have and staged ones have not."""
    if name.startswith("_") or loaded() is None or not hasattr(np.random.Generator, name):
        raise AttributeError(f"'Generator' object has no attribute {name!r}")
    raise self.state.tape.type_fault(
        f"`rng.{name}` is not staged",
        "spawn outside, and pass the list" if name == "spawn" else "draw outside, and pass the numbers",
        f"staged are {', '.join(f'`{each}`' for each in STAGED)}",
    )


def _deepcopied(self: Generator, memo: Any) -> Generator:
    return type(self)(copy(self.state))


for _name, (_make, _text) in _METHODS.items():
    setattr(Generator, _name, _method(_name, _make, _text))
for _attribute, _value in (
    ("__getattr__", _missing),
    ("__deepcopy__", _deepcopied),
    ("bit_generator", property(lambda self: BitGenerator(self.state))),
):
    setattr(Generator, _attribute, _value)


# --- making generators, and what is refused


def _words(session: Any, title: str, seed: Any, make: Make) -> Array:
    """The state that a seed gives."""
    tape: Tape = session.tape
    seed = require_single_value(seed)
    if type_of(seed) is INT and seed.__class__ is CLASSES[INT]:
        _require(tape, seed >= 0, ValueError("expected non-negative integer"))
        found = _applied(tape, _function(tape, "seeded", 0, 1), [seed.atom])
        state: Any = of_host(tape, np.zeros(WORDS, int))
        for k, word in enumerate(found):
            state[k] = word
        return state
    if seed is None:
        raise tape.type_fault(f"`{title}` without a seed takes another one at each staging", "give it a seed")
    try:
        return of_host(tape, words_of(make(seed)))
    except (TypeError, AttributeError, KeyError):
        raise tape.type_fault(f"`{title}` takes a seed, given {type(seed).__name__}", _HELP) from None


def _default_rng(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    given = bound(session.tape, "np.random.default_rng", signature_of("seed=None"), args, kwargs)
    seed = given.get("seed")
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed.state)
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator, np.random.RandomState)):
        _refuse(session.tape, f"a {type(seed).__name__} from outside")
    return Generator(_words(session, "np.random.default_rng", seed, np.random.default_rng))


def _pcg64(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    given = bound(session.tape, "np.random.PCG64", signature_of("seed=None"), args, kwargs)
    return BitGenerator(_words(session, "np.random.PCG64", given.get("seed"), np.random.PCG64))


def _generator(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    given = bound(session.tape, "np.random.Generator", signature_of("bit_generator"), args, kwargs)["bit_generator"]
    if not isinstance(given, BitGenerator):
        _refuse(session.tape, f"a generator of {type(given).__name__}")
    return Generator(given.state)


def _refuse(tape: Tape, what: str) -> Any:
    raise tape.fault(
        UnsupportedSyntax,
        f"{what} is no source of random numbers for staged code: they would be drawn once, while staging",
        help=f"{_HELP}; or draw outside, and pass the numbers",
    )


def _seeded(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """A generator of the host that is made from a seed: what is drawn where it was made is the same at each call."""
    if not args and not kwargs:
        _refuse(session.tape, f"a `{function.__name__}` without a seed")
    made = function(*args, **kwargs)
    session.tape.record_allocation(made)
    return made


def _refused(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    owner = getattr(function, "__self__", None)
    is_own = owner is not None and not session.tape.is_staged and id(owner) in session.tape.frames[-1].allocated
    if is_own and (_is_pythons(owner) or not is_staged_deep((args, kwargs))):  # NumPy's copy rows, which are views
        return function(*args, **kwargs)
    module = "random" if _is_pythons(owner) else "np.random"
    whose = "" if owner is None else f" of a `{type(owner).__name__}`"
    return _refuse(session.tape, f"`{function.__name__}`{whose} of the module `{module}`")


def _is_pythons(owner: Any) -> bool:
    """Whether something is a `random.Random`, if anybody has loaded that."""
    module = sys.modules.get("random")
    return module is not None and isinstance(owner, module.Random)


def handler_of(function: Any) -> Make | None:
    """What stages a call of a function of `np.random`, or refuses one that draws on the host; None for all others."""
    owner = getattr(function, "__self__", None)
    if _is_pythons(owner):
        return _refused
    if isinstance(function, type) and function.__module__ == "random" and function.__name__ == "Random":
        return _seeded
    if "numpy.random" not in sys.modules or loaded() is None or not hasattr(np, "random"):
        return None
    if isinstance(owner, (np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
        return _refused
    makers: dict[Any, Make] = {
        np.random.RandomState: _seeded,
        np.random.default_rng: _default_rng,
        np.random.PCG64: _pcg64,
        np.random.Generator: _generator,
    }
    try:
        found = makers.get(function)
    except TypeError:  # a callable that has no hash
        return None
    is_of_module = not isinstance(function, type) and getattr(function, "__module__", None) == "numpy.random"
    return _refused if found is None and is_of_module else found
