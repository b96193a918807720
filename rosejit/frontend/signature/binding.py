"""Binds the arguments of a call to the parameters of a function: what crosses the border, and the key of the call."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import (
    ArrayOf,
    Description,
    Hints,
    Inferred,
    Repeated,
    Scalar,
    Static,
    parameter_hints,
)
from rosejit.frontend.signature.describe import Binder, Call, Parameter, admits_reals, check_expressions
from rosejit.frontend.syntax.code_table import ByCode
from rosejit.frontend.values.host_scalars import Bound, UnpassedInt
from rosejit.frontend.values.scalars import Real
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

__all__ = ["Call", "Parameter", "Signature", "conform", "signature"]


_IN_ORDER = frozenset({inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD})


@dataclass(slots=True)
class Signature:
    """The parameters of a function. `arrange(*args, **kwargs)` gives their values in order, or CPython's own error."""

    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    result: Description
    result_hint: Any
    arrange: Callable[..., tuple[Any, ...]]
    python: inspect.Signature
    """As Python shows it."""

    @property
    def descriptions(self) -> tuple[Description, ...]:
        """What the hints of the parameters say, or those of the function that is mapped."""
        return tuple([parameter.description for parameter in self.parameters])

    @property
    def reals(self) -> int:
        """How many parameters there are, if all are taken in order and admit Reals; else -1."""
        simple = [p.kind in _IN_ORDER and admits_reals(p.description) for p in self.parameters]
        return len(simple) if all(simple) else -1

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The call with these arguments; raises StagingTypeError or ShapeError where they do not fit."""
        call = Call()
        for parameter, value in zip(self.parameters, self.arrange(*args, **kwargs), strict=True):
            if value.__class__ is Real and admits_reals(parameter.description):  # most of them
                call.values.append(value)
                call.trees.append(Real.leaf)
                continue
            binder = Binder(self.function, parameter, call)
            call.trees.append(binder.tree(parameter.description, value, parameter.name))
        check_expressions(self.function, call)
        return call

    def returns(self, value: Any) -> Description:
        """What `value`, which the function returns, has to be."""
        return self.result

    def apply(self, function: Callable[..., Any], values: list[Any]) -> Any:
        """Call `function` with one value for each parameter."""
        if all([parameter.kind in _IN_ORDER for parameter in self.parameters]):
            return function(*values)
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for parameter, value in zip(self.parameters, values, strict=True):
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                args += value
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                kwargs |= value
            elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = value
            else:
                args.append(value)
        return function(*args, **kwargs)


def conform(signature: Signature, dims: dict[str, int], value: Any, place: Span | None = None) -> Call:
    """The value that a function returns (at `place`), checked against its hint."""
    call = Call(dict(dims))
    description = signature.returns(value)
    if value.__class__ is Real and admits_reals(description):
        call.values.append(value)
        call.trees.append(Real.leaf)
        return call
    parameter = Parameter("return", description, signature.result_hint)
    call.trees.append(Binder(signature.function, parameter, call, place).tree(description, value, "return"))
    check_expressions(signature.function, call)
    return call


class Signatures:
    """The signatures of functions that one `def` makes again and again, by code object: as long as that lives."""

    def __init__(self) -> None:
        self._known = ByCode[dict[tuple[Any, ...], Signature]]()

    def of(self, function: FunctionType, static: tuple[str, ...]) -> Signature:
        """As `signature`. What a hint in quotes means depends on the function, and defaults are its own."""
        hints = tuple(function.__annotations__.items())
        if function.__defaults__ or function.__kwdefaults__ or any([isinstance(hint, str) for _, hint in hints]):
            return signature(function, static)
        code = function.__code__
        known, key = self._known.get(code), (static, hints)
        if known is None:
            known = self._known.put(code, {})
        try:
            one = known.get(key)
        except TypeError:  # a hint without a hash
            return signature(function, static)
        if one is None:
            one = known[key] = replace(signature(function, static), function=_nobody)  # or that would live as long
        return Signature(function, one.parameters, one.result, one.result_hint, one.arrange, one.python)


def _nobody() -> None: ...


SIGNATURES = Signatures()
"""A code object means the same to everybody, so its parameters are looked at once for the process."""


def signature(
    function: Callable[..., Any], static: tuple[str, ...] = (), scope: dict[str, Any] | None = None
) -> Signature:
    """The signature of `function`; `static` names parameters that the host keeps, `scope` helps to read hints."""
    target = inspect.unwrap(function)
    found = inspect.signature(function)
    hints = parameter_hints(target)
    reader = Hints(_scope(target, scope), getattr(target, "__qualname__", "function"))
    _require_known(target, static, found)
    parameters: list[Parameter] = []
    plain: dict[str, inspect.Parameter] = {}
    for name, parameter in found.parameters.items():
        hint = hints.get(name, parameter.annotation)
        missing = hint is inspect.Parameter.empty
        try:
            description = Inferred() if missing else reader.description(hint)
        except StagingTypeError:
            if name not in static:
                raise
            description = Static(Any)  # a host value may be of a class that has no name while the program runs
        if name in static:
            description = description if isinstance(description, Static) else Static(Any if missing else hint)
        if parameter.kind is parameter.VAR_POSITIONAL:
            description = Repeated("tuple", description)
        elif parameter.kind is parameter.VAR_KEYWORD:
            description = Repeated("dict", description)
        parameters.append(Parameter(name, description, None if missing else hint, parameter.kind))
        default = _default(parameter.default, description, missing)
        if default is not parameter.default:
            plain[name] = parameter.replace(default=default)
    if plain:
        found = found.replace(parameters=[plain.get(name, p) for name, p in found.parameters.items()])
    returned = hints.get("return", inspect.Parameter.empty)
    known = returned is not inspect.Parameter.empty
    result = reader.description(returned) if known else Inferred()
    return Signature(target, tuple(parameters), result, returned if known else None, _arrange(target, found), found)


def _require_known(target: Any, static: tuple[str, ...], found: inspect.Signature) -> None:
    """Raise for a name in `static_argnames` that no parameter has."""
    unknown = [name for name in static if name not in found.parameters]
    if unknown:
        raise StagingTypeError(
            f"`{target.__qualname__}` has no parameter `{unknown[0]}`",
            facts=(f"its parameters are {', '.join(f'`{name}`' for name in found.parameters)}",),
            help="name parameters of the function in `static_argnames`",
        )


def _default(given: Any, description: Description, missing: bool) -> Any:
    """What a parameter has by default, as a call is given it."""
    if given.__class__ is Bound and isinstance(description, ArrayOf):  # which converts and checks it
        return given.value
    return UnpassedInt(given) if type(given) is int and (missing or description == Scalar("int")) else given


def _scope(function: Any, extra: dict[str, Any] | None) -> dict[str, Any]:
    """Where the hints of `function` are evaluated: its globals, then the variables it closes over."""
    scope = {**getattr(function, "__globals__", {}), **(extra or {})}
    code = getattr(function, "__code__", None)
    for name, cell in zip(code.co_freevars if code else (), getattr(function, "__closure__", None) or (), strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return scope


def _arrange(function: Any, found: inspect.Signature) -> Callable[..., tuple[Any, ...]]:
    """A function with the same parameters that returns them: CPython binds and words the errors."""
    names: dict[str, Any] = {f"default_{name}": p.default for name, p in found.parameters.items()}
    label = function.__name__ if function.__name__.isidentifier() else "function"
    results = "".join(f"{name}, " for name in found.parameters)
    exec(_code(f"def {label}({', '.join(_header(found))}): return ({results})"), names)
    made = names[label]
    made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    return made


def _header(found: inspect.Signature) -> Iterator[str]:
    """The parameters as they are written, without hints; a default is the variable that holds it."""
    last: Any = None
    for name, p in found.parameters.items():
        if last is p.POSITIONAL_ONLY and p.kind is not last:
            yield "/"
        if p.kind is p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            yield "*"
        last = p.kind
        yield _STARS.get(last, "") + name + ("" if p.default is p.empty else f"=default_{name}")
    if last is inspect.Parameter.POSITIONAL_ONLY:
        yield "/"


_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@lru_cache(maxsize=1024)
def _code(text: str) -> CodeType:
    """Names of parameters, and nothing else, so many functions have one code."""
    return compile(text, "<string>", "exec")
