"""Binds the arguments of a call to the parameters of a function: what crosses the border, and the key of the call."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.access import store
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.hints.hints import ArrayOf, Description, Inferred, Repeated, Scalar, Static, Structure
from rosejit.frontend.hints.read_hints import Hints, parameter_hints
from rosejit.frontend.signature.describe import (
    Binder,
    Call,
    Parameter,
    admits_reals,
    check_expressions,
    parameter_span,
)
from rosejit.frontend.syntax.code_table import ByCode
from rosejit.frontend.values.host_scalars import HOST_INTS, Bound, NeededInt, UnpassedInt, is_passed_int
from rosejit.frontend.values.pytree import host_places
from rosejit.frontend.values.scalars import Real
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

__all__ = ["Call", "Parameter", "Signature", "advanced", "conform", "signature"]


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
    unread: Callable[[], tuple[tuple[Parameter, ...], Description]] | None
    """Gives `parameters` and `result` when they are first asked for: a hint named what was not there yet."""
    needed: set[str] | None
    """Parameters for which staging has to know the int that is passed; None where none has an int by default."""
    asks: list[bool]
    """Whether the program asks what classes its arguments have: then these are part of the key of a call."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("parameters", "result") or self.unread is None:
            raise AttributeError(name)
        self.parameters, self.result = self.unread()
        self.unread = None
        return getattr(self, name)

    @property
    def descriptions(self) -> tuple[Description, ...]:
        """What the hints of the parameters say, or those of the function that is mapped."""
        return tuple([parameter.description for parameter in self.parameters])

    @property
    def reals(self) -> int:
        """How many parameters there are, if all are known, taken in order and admit Reals; else -1."""
        if self.unread is not None:
            return -1
        simple = [p.kind in _IN_ORDER and admits_reals(p.description) for p in self.parameters]
        return len(simple) if all(simple) else -1

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The call with these arguments; raises StagingTypeError or ShapeError where they do not fit."""
        call = Call()
        for parameter, value in zip(self.parameters, self.arranged(args, kwargs), strict=True):
            if value.__class__ is Real and not self.asks[0] and admits_reals(parameter.description):  # most of them
                call.values.append(value)
                call.trees.append(Real.leaf)
                continue
            binder = Binder(self.function, parameter, call, asks=self.asks[0])
            call.trees.append(binder.tree(parameter.description, value, parameter.name))
        check_expressions(self.function, call)
        return call

    def arranged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters."""
        return self.marked(self.arrange(*args, **kwargs))

    def marked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values of the first parameters, the ints among them that staging has to know as such."""
        if not self.needed:
            return values
        named = (
            _known(v) if n in self.needed and _is_passed(v) else v
            for n, v in zip(self.python.parameters, values, strict=False)
        )
        return (*named, *values[len(self.python.parameters) :])

    def passed_for_defaults(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """The parameters that have an int by default, and for which a call passes another, which is staged."""
        pairs = zip(self.python.parameters.values(), self.arranged(args, kwargs), strict=True)
        return [p.name for p, value in pairs if _is_int(p.default) and _is_passed(value)]

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


def handed_on(call: Call) -> Call:
    """`call`, for a function that only hands its arguments on: an int of the host is still one."""
    keys = [place.key for tree in call.trees for place in host_places(tree)]
    given = zip(keys, call.statics, strict=True)
    call.statics = [key if key.__class__ in HOST_INTS else value for key, value in given]
    return call


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
        return Signature(
            function, one.parameters, one.result, one.result_hint, one.arrange, one.python, None, one.needed, one.asks
        )


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
    _require_known(target, static, found)
    written = _Written(target, found, hints, static, scope)
    returned = hints.get("return")
    known = "return" in hints
    try:
        parameters, result = written.read(waits=True)
        unread = None
    except NameError:
        parameters, result, unread = (), Inferred(), written.read
    read = {parameter.name: parameter.description for parameter in parameters}
    defaults = [_default(p, read.get(name), hints.get(name, p.annotation)) for name, p in found.parameters.items()]
    pairs = [*zip(found.parameters.values(), defaults, strict=True)]
    if any(default is not p.default for p, default in pairs):
        found = found.replace(parameters=[p.replace(default=default) for p, default in pairs])
    hint, arrange = returned if known else None, _arrange(target, found)
    made = Signature(target, parameters, result, hint, arrange, found, unread, _needed(found), [False])
    if unread is not None:
        del made.parameters, made.result
    return made


@dataclass(slots=True)
class _Written:
    """The hints of a function as they are written."""

    function: Any
    found: inspect.Signature
    hints: dict[str, Any]
    static: tuple[str, ...]
    scope: dict[str, Any] | None

    def read(self, waits: bool = False) -> tuple[tuple[Parameter, ...], Description]:
        """The parameters, and what the result has to be. Raises NameError if it `waits` for a name."""
        subject = getattr(self.function, "__qualname__", "function")
        reader = Hints(_scope(self.function, self.scope), subject, waits)
        parameters = [self._parameter(parameter, reader) for parameter in self.found.parameters.values()]
        returned = self.hints.get("return", inspect.Parameter.empty)
        return tuple(parameters), self._description("return", returned, reader)

    def _parameter(self, parameter: inspect.Parameter, reader: Hints) -> Parameter:
        hint = self.hints.get(parameter.name, parameter.annotation)
        of_one = self._static if parameter.name in self.static else self._description
        description = of_one(parameter.name, hint, reader)
        if parameter.kind is parameter.VAR_POSITIONAL:
            description = Repeated("tuple", description)
        elif parameter.kind is parameter.VAR_KEYWORD:
            description = Repeated("dict", description)
        missing = hint is inspect.Parameter.empty
        return Parameter(parameter.name, description, None if missing else hint, parameter.kind)

    def _static(self, name: str, hint: Any, reader: Hints) -> Description:
        try:
            description = self._description(name, hint, reader)
        except (NameError, StagingTypeError):
            return Static(Any)  # a host value may be of a class that has no name while the program runs
        return description if isinstance(description, Static) else Static(Any if description == Inferred() else hint)

    def _description(self, name: str, hint: Any, reader: Hints) -> Description:
        try:
            return Inferred() if hint is inspect.Parameter.empty else reader.description(hint)
        except StagingTypeError as error:
            error.span = error.span or (None if reader.waits else parameter_span(self.function, name))
            raise


def _require_known(target: Any, static: tuple[str, ...], found: inspect.Signature) -> None:
    """Raise for a name in `static_argnames` that no parameter has."""
    unknown = [name for name in static if name not in found.parameters]
    if unknown:
        raise StagingTypeError(
            f"`{target.__qualname__}` has no parameter `{unknown[0]}`",
            facts=(f"its parameters are {', '.join(f'`{name}`' for name in found.parameters)}",),
            help="name parameters of the function in `static_argnames`",
        )


def _default(parameter: inspect.Parameter, description: Description | None, hint: Any) -> Any:
    """What a parameter has by default, as a call is given it; of no `description` where its hint waits for a name."""
    given = parameter.default
    if given.__class__ is Bound and isinstance(description, ArrayOf):  # which converts and checks it
        return given.value
    of_ints = hint is inspect.Parameter.empty or _is_of_ints(description) or (description is None and hint is int)
    return _unpassed(given) if of_ints else given


def _is_of_ints(description: Description | None) -> bool:
    """Whether a parameter is an int, or a tuple of such."""
    if isinstance(description, Structure) and description.kind == "tuple":
        return bool(description.items) and all(map(_is_of_ints, description.items))
    return description == Scalar("int")


def _unpassed(given: Any) -> Any:
    """A default whose ints nobody has passed: those in tuples too, which do not change."""
    if type(given) is tuple:
        return tuple(map(_unpassed, given))
    return UnpassedInt(given) if type(given) is int else given


def _is_int(default: Any) -> bool:
    """Whether a parameter has an int by default, or a tuple of such."""
    if default.__class__ is tuple:
        return bool(default) and all(map(_is_int, default))
    return default.__class__ is UnpassedInt or (default.__class__ is Bound and type(default.value) is int)


def _is_passed(value: Any) -> bool:
    return all(map(_is_passed, value)) if value.__class__ is tuple else is_passed_int(value)


def _known(value: Any) -> Any:
    return tuple(map(_known, value)) if value.__class__ is tuple else NeededInt(value)


def _needed(found: inspect.Signature) -> set[str] | None:
    return set() if any([_is_int(p.default) for p in found.parameters.values()]) else None


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


def advanced(tape: Tape, arguments: Call, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put the generators of a call where it left them: the states are its last results. Gives the others."""
    states = arguments.states()
    first = len(results) - len(states)
    for state, after in zip(states, results[first:], strict=True):
        if state.__class__ is not Array:
            raise tape.type_fault(
                "a Generator from outside is passed on, which every call would find where it was when staged",
                "make it an argument of the function that is called from Python",
            )
        store(state, after)
    return results[:first]
