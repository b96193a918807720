"""`jit`, `opaque` and `make_ir`: functions that are staged, functions that stay Python, and the IR of a function.

Both kinds take a custom derivative: `f.jvp = rule`.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, get_args, overload

from rosejit.abi import Tier
from rosejit.api import sessions
from rosejit.api.calling.call_types import P, R
from rosejit.api.calling.specialisation import Staged
from rosejit.api.function import Function, FunctionSource, base_of
from rosejit.api.options import Options
from rosejit.api.public_entry import public
from rosejit.api.wrapping.callables import caller, is_plain
from rosejit.api.wrapping.kept_functions import kept
from rosejit.api.wrapping.opaque_functions import call_directly, stage_opaque
from rosejit.api.wrapping.pickled_functions import find_all_again, reduced
from rosejit.errors import StagingTypeError
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature import binding
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.syntax.translate import TRANSLATIONS

if TYPE_CHECKING:
    from rosejit.api.programs.lowered import Ir


def wrapped_like(function: Function, like: Any, name: str, signature: inspect.Signature | None = None) -> None:
    """Give `function` the attributes that `functools.wraps` copies, another name, and a signature: that of `like`."""
    functools.update_wrapper(function, like, updated=())
    function.__wrapped__ = getattr(like, "__wrapped__", like) if isinstance(like, Function) else like
    function.__name__ = name
    function.__qualname__ = name if isinstance(like, Function) else like.__qualname__
    function.__signature__ = signature or inspect.signature(like)


def from_source(
    function: Callable[..., Any],
    options: Options,
    static: tuple[str, ...],
    name: str | None,
    rule: Any = None,
    remade: tuple[Any, ...] = (),
) -> Function:
    """A function that is staged from its source. Raises UnsupportedSyntax for what cannot be staged.

    `remade` is what it is pickled as, a function and its arguments, if that is not the source.
    """
    plain: Any = function
    if is_plain(function):
        find_all_again(plain)
        bound = binding.SIGNATURES.of(function, static)
    else:
        plain, bound = caller(function, static)
    if not TRANSLATIONS.is_translated(plain.__code__):  # else it comes from staged code
        TRANSLATIONS.check(plain)

    def stage(self: Function, call: Call, at: Session) -> Staged:
        source = at.stage(plain, self.binding, call, self.__name__, (self, call.key))
        return Staged(source.function, tuple(call.trees), source.result, tuple(source.statics), source)

    def rebuilt(self: Function) -> Any:
        state = (function, options, static, self.__name__, self.rule)
        return reduced(self, by_reference(self), remade, from_source, state)

    made = Function(bound, options, FunctionSource(stage, rebuilt, source=function), rule)
    wrapped_like(made, plain, name or plain.__name__, bound.python)
    made.__wrapped__ = function
    return made


def by_reference(f: Function) -> str | None:
    """The name under which `f` is found in its module, as functions are pickled; None if it is not."""
    found: Any = sys.modules.get(f.__module__)
    for name in f.__qualname__.split("."):
        found = getattr(found, name, None)
    return f.__qualname__ if found is f else None


_TIERS: tuple[Tier, ...] = get_args(Tier)


def _check_options(**given: tuple[Any, Any]) -> None:
    """Refuse options of `jit` that mean nothing, when the function is decorated."""
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            wanted = {bool: "True or False"}.get(kind, "a string")
            raise StagingTypeError(f"the option `{name}` of `rose.jit` is {wanted}, given {value!r}")
    tier = given["tier"][0]
    if tier not in _TIERS:
        listed = ", ".join(f'"{known}"' for known in _TIERS)
        raise StagingTypeError(f"`rose.jit` knows no tier {tier!r}", help=f"the tiers are {listed}")


@overload
def jit(function: Callable[P, R], /) -> Function[P, R]: ...
@overload
def jit(
    *,
    static_argnames: str | tuple[str, ...] = ...,
    static_argnums: int | tuple[int, ...] = ...,
    cache: bool = ...,
    fastmath: bool = ...,
    tier: Tier = ...,
    blas: bool = ...,
    name: str | None = ...,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
@public
def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    static_argnames: str | tuple[str, ...] = (),
    static_argnums: int | tuple[int, ...] = (),
    cache: bool = True,
    fastmath: bool = False,
    tier: Tier = "auto",
    blas: bool = False,
    name: str | None = None,
) -> Any:
    """Compile a function of numbers, arrays and structures of them, when it is called, for the types it is called with.

    `@rose.jit`, `@rose.jit(...)` and `rose.jit(f)` all work. `static_argnames` names parameters that Python keeps,
    `static_argnums` counts them, as in JAX; `cache=False` keeps compiled code out of the disk cache; `name` is what the
    function is called in errors and in IR.
    `fastmath=True` lets sums in loops go in another order, divisions share reciprocals, and `x - x` be zero whatever x
    is, in this function and its derivatives.
    `tier` says what a first call waits for: "best" for optimised code, "fast" for code that is made at once, and stays;
    with "auto" a program begins with the latter, and the former is made beside it when it has been called often enough
    for that. All give the same bits.
    `blas=True` leaves large products and factorisations of matrices in this function, in what it calls and in their
    derivatives to NumPy's BLAS and LAPACK. These round in another way, the program stays in Python (it cannot be
    exported), and is not in the disk cache.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def norm2(x: float, y: float) -> float:
    ...     return x * x + y * y
    >>> norm2(3.0, 4.0)
    25.0
    """
    static = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    _check_options(
        cache=(cache, bool), fastmath=(fastmath, bool), tier=(tier, str), blas=(blas, bool), name=(name, str | None)
    )
    options = Options(cache, fastmath, tier, blas)
    if function is not None:
        return _decorated(function, options, static + _counted(function, static_argnums), name)

    @public
    def decorate(f: Callable[..., Any]) -> Function:
        return _decorated(f, options, static + _counted(f, static_argnums), name)

    return decorate


def _counted(f: Any, numbers: int | tuple[int, ...]) -> tuple[str, ...]:
    """The names of parameters of `f` that are given by their positions, from 0 or, negative, from the end."""
    numbers = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    if not numbers or not callable(f):
        return ()
    found = inspect.signature(f).parameters.values()
    names = [each.name for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    for number in numbers:
        if not -len(names) <= number < len(names):
            name = getattr(f, "__name__", repr(f))
            raise StagingTypeError(
                f"`static_argnums` has {number}, and `{name}` has {len(names)} parameters by position"
            )
    return tuple([names[number] for number in numbers])


def _decorated(f: Any, options: Options, static: tuple[str, ...], name: str | None) -> Function:
    if isinstance(f, Function):
        return _again(f, options, static, name)
    if not callable(f):
        raise StagingTypeError(f"`rose.jit` takes a function, given {type(f).__name__}")
    return from_source(f, options, static, name)


def _again(f: Function, options: Options, static: tuple[str, ...], name: str | None) -> Function:
    """`f` under other options. What was made of another function (a gradient, say) has no source of its own."""
    if f.kind.source is not None:
        return from_source(f.kind.source, options, static, name or f.__name__, f.rule)
    if static:
        raise StagingTypeError(
            f"`static_argnames` cannot be given for `{f.__name__}`, which was made of another function",
            help="give it where that one is decorated, or hint the parameter `rose.Static[...]` there",
        )
    made = Function(f.binding, options, f.kind)
    wrapped_like(made, f, name or f.__name__)
    return made


@public
def opaque(function: Callable[P, R]) -> Function[P, R]:
    """A function that stays Python and is called back at run time; its result must be annotated.

    Its effects happen in program order. It has a derivative only if a rule is given with `@f.jvp`.

    >>> import math
    >>> import rosejit as rose
    >>> @rose.opaque
    ... def log(x: float) -> float:
    ...     return math.log(x)
    >>> @log.jvp
    ... def _(x: rose.Dual) -> rose.Dual:
    ...     return rose.Dual(log(x.re), x.du / x.re)
    >>> rose.grad(lambda x: log(x) * x)(1.0)
    1.0
    """

    def stage(self: Function, call: Call, at: Session) -> Staged:
        return stage_opaque(function, self.binding, call)

    def rebuilt(self: Function) -> Any:
        return reduced(self, by_reference(self), (), _opaque_with, (function, self.rule))

    bound = binding.signature(function)
    made = Function(
        bound, Options(), FunctionSource(stage, rebuilt, partial(call_directly, function, bound), plain=function)
    )
    wrapped_like(made, function, function.__name__)
    return made


def _opaque_with(function: Callable[..., Any], rule: Any) -> Function:
    """An opaque function with its rule, out of a pickle."""
    made = opaque(function)
    if rule is not None:
        made.jvp = rule
    return made


def as_function(f: Callable[..., Any]) -> Function:
    """`f` decorated, if it is not; where nothing is being staged, once."""
    if not callable(f):
        raise StagingTypeError(
            f"a function is needed, given {type(f).__name__}", help="give the function, not a call of it"
        )
    if isinstance(f, Function):
        return base_of(f)
    if sessions.current() is not None or not is_plain(f) or TRANSLATIONS.is_translated(f.__code__):
        return jit(f)
    return kept(f, jit)


def make_ir(f: Callable[..., Any]) -> "Callable[..., Ir]":
    """`rose.make_ir(f)(*args)`: the IR of `f` for these arguments (values, or `rose.ShapeOf`), before it is optimised.

    >>> import rosejit as rose
    >>> print(rose.make_ir(lambda x: x * x)(3.0))
    def lambda_(x: Real): Real =
      let x1: Real = x * x in
      x1
    """
    base = as_function(f)
    return lambda *args, **kwargs: base.lower(*args, **kwargs).ir
