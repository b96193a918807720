"""`jit` and `opaque`: functions that are staged, and functions that stay Python; custom derivatives of both."""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, overload

from rosejit.api import sessions
from rosejit.api.entry import public
from rosejit.api.function import Function, Options, clear_caches
from rosejit.api.hosts import stage_opaque
from rosejit.api.staged import Staged
from rosejit.errors import StagingTypeError
from rosejit.frontend import binding
from rosejit.frontend.binding import Call
from rosejit.frontend.rewrite import TRANSLATIONS
from rosejit.frontend.rules import stage_rule
from rosejit.frontend.stage import Session


def wrapped_like(function: Function, like: Any, name: str) -> None:
    """Give `function` the attributes that `functools.wraps` copies, another name, and a signature."""
    functools.update_wrapper(function, like, updated=())
    function.__wrapped__ = getattr(like, "__wrapped__", like) if isinstance(like, Function) else like
    function.__name__ = name
    function.__qualname__ = name if isinstance(like, Function) else like.__qualname__
    function.__signature__ = inspect.signature(like)


class Ruled(Function):
    """A function whose derivative a user may give: `@f.jvp`, or `f.jvp = rule`."""

    _rule: Callable[..., Any] | None = None

    @property
    def jvp(self) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator that makes a function of `rose.Dual` arguments the derivative of this one."""
        return self._set_rule

    @jvp.setter
    def jvp(self, rule: Callable[..., Any]) -> None:
        self._set_rule(rule)

    def _set_rule(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        self._rule = rule
        clear_caches()  # whoever calls this function may have been compiled with its old derivative
        return rule

    def _complete(self, staged: Staged, call: Call, at: Session) -> None:
        if self._rule is not None:
            plain: Any = self._rule.__wrapped__ if isinstance(self._rule, Function) else self._rule
            staged.function.rule = stage_rule(at, plain, self.__name__, staged.trees, staged.result, list(call.statics))


class Jitted(Ruled):
    """A function that is staged from its source."""

    def __init__(
        self, function: Callable[..., Any], options: Options, static: tuple[str, ...], name: str | None
    ) -> None:
        plain: Any = function
        if not hasattr(plain, "__code__"):
            raise StagingTypeError(
                f"`rose.jit` takes a Python function, given {type(function).__name__}",
                help="wrap it: `rose.jit(lambda x: f(x))`",
            )
        if not TRANSLATIONS.made(plain.__code__):  # else it comes from staged code
            TRANSLATIONS.check(plain)  # what cannot be staged is refused at once
        super().__init__(binding.signature(function, static), options)
        self._static = static
        wrapped_like(self, function, name or function.__name__)

    def _stage(self, call: Call, at: Session) -> Staged:
        source = at.stage(self.__wrapped__, self._binding, call, self.__name__)
        return Staged(source.function, tuple(call.trees), source.result, tuple(source.statics), source)

    def __reduce__(self) -> Any:
        return by_reference(self) or (
            _again,
            (self.__wrapped__, self._options, self._static, self.__name__, self._rule),
        )


class Opaque(Ruled):
    """A function that stays Python: compiled code calls it back."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(binding.signature(function), Options())
        wrapped_like(self, function, function.__name__)

    def _stage(self, call: Call, at: Session) -> Staged:
        return stage_opaque(self.__wrapped__, self._binding, call)

    def _other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The Python function itself; with staged arguments, a staged call of it."""
        if sessions.current() is not None and sessions.staging_of([*args, *kwargs.values()]) is not None:
            return super()._other(args, kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self) -> Any:
        return by_reference(self) or (opaque, (self.__wrapped__,))


def by_reference(f: Function) -> str | None:
    """The name under which `f` is found in its module, as functions are pickled; None if it is not."""
    found: Any = sys.modules.get(f.__module__)
    for name in f.__qualname__.split("."):
        found = getattr(found, name, None)
    return f.__qualname__ if found is f else None


def _again(function: Any, options: Options, static: tuple[str, ...], name: str, rule: Any) -> Jitted:
    made = Jitted(function, options, static, name)
    if rule is not None:
        made.jvp = rule
    return made


@overload
def jit(function: Callable[..., Any], /) -> Jitted: ...
@overload
def jit(
    *,
    static_argnames: str | tuple[str, ...] = ...,
    cache: bool = ...,
    fastmath: bool = ...,
    tier: str = ...,
    name: str | None = ...,
) -> Callable[[Callable[..., Any]], Jitted]: ...
@public
def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    static_argnames: str | tuple[str, ...] = (),
    cache: bool = True,
    fastmath: bool = False,
    tier: str = "auto",
    name: str | None = None,
) -> Any:
    """Compile a function of numbers, arrays and structures of them, when it is called, for the types it is called with.

    `@rose.jit`, `@rose.jit(...)` and `rose.jit(f)` all work. `static_argnames` names parameters that Python keeps;
    `cache=False` keeps compiled code out of the disk cache; `name` is what the function is called in errors and in IR.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def norm2(x: float, y: float) -> float:
    ...     return x * x + y * y
    >>> norm2(3.0, 4.0)
    25.0
    """
    static = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    options = Options(cache, fastmath, tier)

    @public
    def decorate(f: Callable[..., Any]) -> Jitted:
        if isinstance(f, Function):
            f = f.__wrapped__
        if not callable(f):
            raise StagingTypeError(f"`rose.jit` takes a function, given {type(f).__name__}")
        return Jitted(f, options, static, name)

    return decorate if function is None else decorate(function)


@public
def opaque(function: Callable[..., Any]) -> Opaque:
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
    return Opaque(function)


def as_function(f: Callable[..., Any]) -> Function:
    """`f` decorated, if it is not."""
    return f if isinstance(f, Function) else jit(f)
