"""What users call: a function that is staged and compiled for each kind of arguments, and cached."""

import functools
import inspect
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, TypeVar, overload

from rosejit.api import sessions
from rosejit.api.calling.call_interface import interface_of, known_as
from rosejit.api.calling.call_types import Parameters, Result
from rosejit.api.calling.needed_ints import settle, settle_classes, staged_with_needed
from rosejit.api.calling.out_argument import placed
from rosejit.api.calling.specialisation import Staged
from rosejit.api.calling.specialisation_cache import Key, Known, Specialisation, reckon
from rosejit.api.checking.plain_calls import PLAIN, PlainRun
from rosejit.api.deferred import check, lowered
from rosejit.api.derivation.derivation_recipe import source_of
from rosejit.api.options import Options
from rosejit.api.programs import interpreted
from rosejit.api.programs.borders import borders_of
from rosejit.api.public_entry import entry, public
from rosejit.errors import NotDifferentiable, RoseError, StagingTypeError
from rosejit.frontend.control.if_for import tell_of_compilation
from rosejit.frontend.guards.guards import Defaults, Guard
from rosejit.frontend.session.custom_jvp import stage_rule
from rosejit.frontend.session.raised_classes import as_hinted, is_caught
from rosejit.frontend.session.result_identity import restored
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call
from rosejit.frontend.signature.binding import Signature as Binding
from rosejit.frontend.values.argument_identity import Questions, ask_of_callee
from rosejit.frontend.values.pytree import has_tangent
from rosejit.ir.traversal import reachable, size
from rosejit.lazy_dataclass import dataclass
from rosejit.logs import note
from rosejit.runtime.marshalling.marshal import Mismatch
from rosejit.runtime.marshalling.result_buffers import spare
from rosejit.span import PACKAGE

if TYPE_CHECKING:
    from rosejit.api.calling.call_types import A, P, R
    from rosejit.api.programs.lowered import Lowered

_clock = getattr(time, "thread_time", time.process_time)
"""Seconds of work; in Pyodide threads have no clock of their own."""

Rule = TypeVar("Rule", bound=Callable[..., Any])
Made = TypeVar("Made")

_STAGING = threading.RLock()
"""One thread stages at a time: two that enter a cycle of functions at two places would wait for each other."""

_TRIALS = 8
"""So often a call is staged anew that is never of what is there when it runs."""


class CacheInfo(NamedTuple):
    """Calls that found compiled code, calls that had to stage, and for how many kinds of arguments there is code."""

    hits: int
    misses: int
    size: int


@dataclass(slots=True, eq=False)
class FunctionSource:
    """What tells one function from another: how it is staged, how it is pickled, what it does where nothing is staged
    (`rose.opaque`), and the Python that it is staged from, unless it was made of another function."""

    stage: "Callable[[Function, Call, Session], Staged]"
    rebuilt: "Callable[[Function], Any]"
    python: Callable[[Call], Any] | None = None
    source: Callable[..., Any] | None = None
    plain: Callable[..., Any] | None = None
    """What CPython runs in its place, if that is not its source."""
    made_of: "Function | None" = None
    """The function whose derivative it is, which takes the same arguments."""


def _refused_to_be_set(name: str) -> property:
    """An attribute of plain functions that a decorated one lacks: what was decorated is known by then."""

    def missing(self: "Function") -> Any:
        raise AttributeError(f"{self.__name__!r}, decorated, has no attribute {name!r}", name=name, obj=self)

    def refused(self: "Function", _: Any) -> None:
        raise StagingTypeError(
            f"`{self.__name__}.{name}` is set, but `{self.__name__}` was decorated with the old one",
            help="change the plain function before it is decorated, or decorate a new one",
        )

    return property(missing, public(refused))


class Function(Generic[Parameters, Result]):
    """A decorated function: it is compiled once for each kind of arguments, when it is called with them.

    `lower(*args)` gives its programs, `jvp` takes a rule for its derivative, `cache_info()` says what is compiled.

    >>> import rosejit as rose
    >>> square = rose.jit(lambda x: x * x)
    >>> square(3.0), square(4.0)
    (9.0, 16.0)
    >>> isinstance(square, rose.Function), isinstance(rose.grad(square), rose.Function)
    (True, True)
    """

    if TYPE_CHECKING:

        def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            """Run the compiled function; with staged arguments, stage a call."""
            ...

    else:  # no method: its frame would be in tracebacks; a place of its own, which Python finds without a call
        __slots__ = ("__call__", "__dict__", "__weakref__")

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]
    __signature__: inspect.Signature

    def __init__(
        self, binding: Binding, options: Options, kind: "FunctionSource", rule: Callable[..., Any] | None = None
    ) -> None:
        self._binding = binding
        self._options = options
        self._kind = kind
        self._rule = rule
        self.known = Known()
        self._running: set[Key] = set()
        self._checked: set[Key] = set()
        self._lock = threading.RLock()
        self.latest: Callable[..., Any] = _unstaged
        self._calls = [0]
        self._misses = 0
        self.along: dict[tuple[str, int], Function] = {}
        """By what they are, and the number of primals: derivatives of this function along tuples of such."""
        self.maps: dict[int, Any] = {}
        """By the number of primals: what served the latest call of `vjp` and `linearize`."""
        self._shared: dict[tuple[Any, ...], Known] = {}
        self._made: dict[tuple[Any, ...], Function] = {}
        self._first: Function | None = None
        """The function that was made in the same way first, which stands for this one wherever users do not see it."""
        self._reals = binding.reals
        self._defaults: Defaults | None = None
        setattr(self, "__call__", entry(self, binding.function, self._calls))  # noqa: B010 - no assignment for checkers
        FUNCTIONS.add(self)

    def __reduce__(self) -> Any:
        return self._kind.rebuilt(self)

    __code__, __defaults__, __kwdefaults__ = map(_refused_to_be_set, ("__code__", "__defaults__", "__kwdefaults__"))

    # --- its derivative

    @property
    def jvp(self) -> Callable[[Rule], Rule]:
        """A decorator that makes a function of `rose.Dual` arguments the derivative of this one."""
        return self._set_rule

    @jvp.setter
    def jvp(self, rule: Callable[..., Any]) -> None:
        self._set_rule(rule)

    def _set_rule(self, rule: Rule) -> Rule:
        self._rule = rule
        self.known = Known()  # what it shares does not have the rule
        self.along, self.maps, self._shared, self._made, self._first = {}, {}, {}, {}, None
        clear_caches()  # whoever calls this function may have been compiled with its old derivative
        return rule

    def _stage_rule(self, made: Specialisation, call: Call, at: Session) -> None:
        """Give the staged function its rule. It is known by then: the rule may call it."""
        if self._rule is None:
            return
        plain: Any = self._rule.__wrapped__ if isinstance(self._rule, Function) else self._rule
        with sessions.collecting() as inherited:
            ruled = stage_rule(at, plain, made.staged.primal(self.__name__), list(call.statics))
        made.staged = made.staged.ruled(ruled)
        made.guards = sessions.distinct(made.guards, ruled.guards, *sessions.lasting(at, made.staged.source, inherited))

    # --- calling

    def other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
        """The result of a call that the latest code does not fit, or what it raises."""
        try:
            return self._other(args, kwargs), None
        except Exception as error:
            return None, error

    def _other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        takes_out = "out" in kwargs and "out" not in self.__signature__.parameters
        given = {name: value for name, value in kwargs.items() if not (takes_out and name == "out")}
        plain = PLAIN.get() if interpreted.may_be_disabled() else None
        if plain is not None and self.plain is not None and sessions.staging_of([*args, *kwargs.values()]) is None:
            rule = getattr(self._rule, "__wrapped__", self._rule)
            found = plain.call(self.plain, rule, args, given)
            return placed(self.__name__, found, kwargs["out"]) if takes_out else found
        if self._kind.python is not None and sessions.staging_of([*args, *kwargs.values()]) is None:
            found = self._kind.python(self._bound(args, given))
            return placed(self.__name__, found, kwargs["out"]) if takes_out else found
        call = self._bound(args, given)
        at = sessions.staging_of(call.values)
        if at is not None:
            return self._call_inside(at, args, given)
        if "ROSE_CHECK" in os.environ:
            self._check_once(call, args, given)
        found = ready(self, call)
        run = None if found is None or found.outgrown else found.call
        if run is None:
            with sessions.session() as made:
                call, run = self._staged(args, given, made, lambda call: self._compiled(call, made))
        fits, result = True, None
        try:
            result = run(*args, **kwargs)
        except Mismatch:  # a value from outside is equal, but not the same object any more; or it needs more memory
            fits = False
        if not fits:  # here nothing holds the memory that was exhausted
            run, result = self._anew(given, args, kwargs)
        if not interpreted.may_be_disabled():
            self.latest = run
            if self._first is not None:
                self._first.latest = run
        return result

    def _check_once(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compare this function, or the one that it is made of, with CPython, once for each kind of arguments."""
        if self._kind.made_of is not None:
            self._kind.made_of._check_once(call, args, kwargs)
        elif self.plain is not None and call.key not in self._checked and check.is_wanted():
            self._checked.add(call.key)
            check.check_once(self, args, kwargs)

    def _anew(
        self, given: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], Any]:
        """Code that is staged for just these arguments, and its result; another thread may change what it reads."""
        mismatch: Mismatch | None = None
        for _ in range(_TRIALS):
            with sessions.session() as made:
                _, run = self._staged(args, given, made, lambda call: self._compiled(call, made, anew=True))
            try:
                return run, run(*args, **kwargs)
            except Mismatch as found:
                mismatch = found
        error = StagingTypeError(
            f"an argument of `{self.__name__}` does not fit: {mismatch}",
            facts=(f"so it was {_TRIALS} times, staged anew for each: it may change while it is called",),
            help="if another thread changes it, let it wait (a lock), or hand in a copy",
        )
        error.blames_call = True
        raise error

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        try:
            return self._binding.bind(args, kwargs)
        except RoseError as error:
            error.blames_call = True
            raise

    def __rose_stage__(self, at: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call in staged code; arrays are written to those of `out`, as in a compiled call."""
        is_plain = len(args) == self._reals and not kwargs and not at.tape.catching
        found = sessions.of_reals(at, self.known, args) if is_plain else None
        if found is not None:
            return sessions.applied(at, found, [arg.atom for arg in args])
        if self._kind.source is not None and at.cycles.in_rule and "out" not in kwargs and has_tangent((args, kwargs)):
            return at.inlined(self._kind.source, args, kwargs)
        if "out" not in kwargs or "out" in self.__signature__.parameters:
            return self._call_inside(at, args, kwargs)
        out = kwargs.pop("out")
        return sessions.filled(at, self._call_inside(at, args, kwargs), out)

    def _call_inside(self, at: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._staged(args, kwargs, at, lambda call: self._apply_inside(at, call, args, kwargs))[1]

    def _apply_inside(self, at: Session, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        owner = (self, call.key)
        at.gives_statics = at.gives_statics or bool(call.statics)
        unfinished = at.cycles.unfinished(owner)
        if unfinished is None:
            found = self._specialised(call, at)
            staged = found.staged
            unfinished = at.cycles.unfinished(owner)  # it may call one that is
            if unfinished is None:
                sessions.used(found.guards)
                source = self._kind.source
                if at.tape.catching and self._rule is None and source and is_caught(at, source, staged.source.function):
                    return self._in_place(at, source, call, self._binding.arrange(*args, **kwargs))
                self._ask_inside(at, staged.source.objects.asks, args, kwargs)
                atoms = sessions.arguments(at, staged, call)
                value = at.apply(staged.function, atoms, staged.result, staged.statics, call)
                return self._restored(at, value, staged.source.objects.aliases, args, kwargs)
        self._ask_inside(at, unfinished.objects.asks, args, kwargs)
        return at.cycles.apply(unfinished, call)

    def _in_place(self, at: Session, source: Callable[..., Any], call: Call, values: tuple[Any, ...]) -> Any:
        """The body in place of a call, in a `try` whose handlers are asked of what it raises."""
        given = [as_hinted(at.tape, tree, value) for tree, value in zip(call.trees, values, strict=True)]
        return self._binding.apply(lambda *xs, **named: at.inlined(source, xs, named), given)

    def _ask_inside(self, at: Session, asks: Questions | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Ask of staged arguments what the code asks of its own: which of their places hold one object."""
        if asks:
            ask_of_callee(at.tape, at.hooks.same, self.__name__, asks, self._named(args, kwargs))

    def _restored(self, at: Session, value: Any, aliases: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call in staged code gave, with the caller's objects in it: that of a function of the user's."""
        if not aliases or self._kind.source is None:
            return value
        return restored(at.tape, self.__name__, value, aliases, self._named(args, kwargs), self._rule is not None)

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        return zip(self.__signature__.parameters, self._binding.arrange(*args, **kwargs), strict=True)

    # --- specialising

    @property
    def options(self) -> Options:
        """How it is compiled."""
        return self._options

    @property
    def kind(self) -> FunctionSource:
        """What tells it from others."""
        return self._kind

    @property
    def plain(self) -> Callable[..., Any] | None:
        """The plain Python function that it is; None where it was made of another one, or is ours."""
        found = self._kind.plain or self._kind.source
        code = getattr(found, "__code__", None)
        return None if isinstance(code, CodeType) and code.co_filename.startswith(PACKAGE + os.sep) else found

    @property
    def binding(self) -> Binding:
        """Its parameters, and how arguments are bound to them."""
        return self._binding

    @property
    def rule(self) -> Callable[..., Any] | None:
        """Its custom derivative."""
        return self._rule

    def _staged(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
    ) -> tuple[Call, Made]:
        """The call with these arguments, and what `stage` makes of it in the staging `at`."""
        return staged_with_needed(self._binding, args, kwargs, at, stage)

    def specialised(self, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session) -> tuple[Call, Specialisation]:
        """The call with these arguments, and what is staged for it."""
        return self._staged(args, kwargs, at, lambda call: self.specialisation(call, at))

    def specialisation(self, call: Call, at: Session) -> Specialisation:
        """`self` staged for the arguments of `call`, anew where what it read has changed. Raises `NotDifferentiable`
        where its body has not ended."""
        owner = (self, call.key)
        found = None if at.cycles.unfinished(owner) else self._specialised(call, at)
        unfinished = at.cycles.unfinished(owner)
        if found is None or unfinished is not None:
            raise self._unfinished(at, at.cycles.beginning(unfinished))
        return found

    def _unfinished(self, at: Session, name: str) -> RoseError:
        calls = "" if name == self.__name__ else f", which calls `{name}`,"
        return at.tape.fault(
            NotDifferentiable,
            f"the derivative of `{self.__name__}`{calls} is taken in `{name}` itself",
            facts=("a function may call itself, but its own derivative would have no end",),
            help="make what decides how deep it goes a host value: `rose.Static`, or a Python structure",
        )

    def _specialised(self, call: Call, at: Session) -> Specialisation:
        key = known_as(call, at)
        with _STAGING:
            found = self.known.get(key)
            if found is not None and sessions.is_current(found.staged.source, found.guards, at):
                self._collect(found.guards)
                at.tape.unrolled += found.unrolled
                if found.staged.source.asks:
                    settle_classes(at, self._binding, call)
                return found
            if found is not None:
                note("compile", lambda: f"staging {self.__name__} again: {sessions.what_changed(found)}")
            if key in self._running:
                raise self._unfinished(at, self.__name__)
            self._misses += 1
            self._running.add(key)
            before = len(at.tape.unrolled)
            try:
                with (
                    sessions.entered(at),
                    sessions.with_blas(at, self._options.blas),
                    at.tape.undo,
                    sessions.collecting() as inherited,
                ):
                    staged = self._kind.stage(self, call, at)
                    settle(at.tape)
                    staged.given = tuple(call.statics)
                    read = sessions.lasting(at, staged.source, inherited)
                    made = Specialisation(staged, sessions.owned(sessions.distinct(staged.source.guards, *read)))
                    self._know_when_complete(made, call, at, key)
            except BaseException:
                self.known.pop(key, None)
                raise
            finally:
                self._running.discard(key)
            made.unrolled = tuple(dict.fromkeys(at.tape.unrolled[before:]))
            self._collect(made.guards)
            if staged.source.asks:
                settle_classes(at, self._binding, call)
            return made

    def _collect(self, guards: tuple[Guard, ...]) -> None:
        """Make what was read the concern of who calls this in staged code, the content of defaults too."""
        if sessions.is_collecting():
            if self._defaults is None:
                self._defaults = Defaults(self._binding.python.parameters.values())
            sessions.collect(self._defaults.guards())
        sessions.collect(guards)

    def _know_when_complete(self, made: Specialisation, call: Call, at: Session, key: Key) -> None:
        """Know `made` from now on; if it is part of a cycle of calls, when all of that is staged."""
        unfinished = at.cycles.unfinished((self, call.key))
        if unfinished is not None:
            unfinished.on_complete = lambda guards: self._know(made, call, at, key, guards)
            return
        self._know(made, call, at, key, made.guards)
        for member in at.cycles.ended():
            member.on_complete(made.guards)

    def _know(self, made: Specialisation, call: Call, at: Session, key: Key, guards: tuple[Guard, ...]) -> None:
        made.guards = guards
        made.staged = made.staged.with_sum_order_fixed(self._options.fastmath)
        self.known[key] = made
        self._stage_rule(made, call, at)

    def _compiled(self, call: Call, at: Session, anew: bool = False) -> Callable[..., Any]:
        began = _clock()
        found = self.specialisation(call, at)
        with self._lock:
            interface = None
            if found.loaded is None:
                interface = interface_of(self, found)
                found.loaded = self._options.load({"main": found.staged.program}, borders_of({"main": interface}))
                has_code(self, call)
                if found.unrolled:
                    ops = sum(map(size, reachable(source_of(found.staged.program))))
                    tell_of_compilation(found.unrolled, ops, _clock() - began)
            anew = anew or found.outgrown
            if found.loaded.outgrown:
                found.loaded.grow()
            if found.call is None or anew:
                found.call = found.loaded.function("main", interface or interface_of(self, found))
            return found.call

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> "Function[Parameters, Result]": ...
        @overload  # a method. The last is for a function in a field of an object, which it does not take
        def __get__(
            self: "Function[Concatenate[A, P], R]", instance: A, owner: type | None = None
        ) -> "Function[P, R]": ...
        @overload
        def __get__(self, instance: object, owner: type | None = None) -> "Function[Parameters, Result]": ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As functions do: a method when read from an instance."""
        return self if instance is None else functools.partial(self, instance)

    # --- looking inside

    @public
    def lower(self, *args: Any, **kwargs: Any) -> "Lowered":
        """The function for these arguments, or for `rose.ShapeOf(...)` in their place, opened up."""
        self._bound(args, kwargs)
        with sessions.session() as at:
            call, found = self.specialised(args, kwargs, at)
        interface = interface_of(self, found, bound=True)
        return lowered.Lowered(found.staged.program, interface, tuple(call.statics), self._options)

    def cache_info(self) -> CacheInfo:
        """What the memory cache holds, and how often it served."""
        calls = self._calls[0]
        return CacheInfo(max(calls - self._misses, 0), self._misses, len(self.known))

    def cache_clear(self) -> None:
        """Forget all compiled code of this function; the disk cache stays."""
        with self._lock:
            for known in (self.known, *self._shared.values()):
                known.clear()
            self._calls[0] = self._misses = 0
            self.latest = _unstaged
            self.maps.clear()

    def __repr__(self) -> str:
        return f"<rose.Function {self.__name__}{self.__signature__}>"


FUNCTIONS: "weakref.WeakSet[Function]" = weakref.WeakSet()
"""All functions, for `rose.clear_caches`."""


@contextmanager
def disable_jit() -> Generator[None]:
    """A block in which functions of `rose` run in the reference interpreter: slowly, and with the same results.

    It holds for this thread (and task). `ROSE_DISABLE_JIT=1` in the environment does it for a whole process. Errors
    are the same, and derivatives, which are made of the same program, too.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def cube(x: float) -> float:
    ...     return x**3
    >>> with rose.disable_jit():
    ...     print(cube(2.0), rose.grad(cube)(2.0))
    8.0 12.0
    """

    with interpreted.disabled(_forget):
        yield


def run_plainly(run: PlainRun) -> AbstractContextManager[None]:
    """A block in which functions of `rose` are the plain Python that they are written in."""
    return interpreted.asking(_forget, PLAIN, run)


def _forget() -> None:
    for function in list(FUNCTIONS):
        function.latest = _unstaged


def clear_caches() -> None:
    """Forget the compiled code of all functions, and the memory kept for their results; the disk cache stays (see
    `python -m rosejit cache clear`).

    >>> import rosejit as rose
    >>> rose.clear_caches()
    """
    for function in list(FUNCTIONS):
        function.cache_clear()
    spare().clear()


def share(function: Function, base: Function, *made: Any) -> None:
    """Give `function` one memory with all that were `made` of `base` in the same way: `rose.grad(f)(x)` may be written
    anew for each call."""
    function.known = base._shared.setdefault(made, Known())


def made_once(base: Function, made: tuple[Any, ...], make: Callable[[], Function]) -> Function:
    """What `make` makes of `base`, set up once for all that is `made` in the same way: a function of its own, with the
    memory, and the compiled code, of those before it. `rose.grad(f)(x)` may be written anew for each call."""
    first = base._made.get(made)
    if first is None:
        first = make()
        share(first, base, *made)
        base._made[made] = first
    return _another(first)


def base_of(function: Function) -> Function:
    """What others are made of: the first of those made alike, unless this one has its own rule."""
    return function._first or function


def _another(first: Function) -> Function:
    """A function like `first`, which may be given attributes and a rule of its own."""
    found = Function.__new__(Function)
    found.__dict__.update(vars(first))
    found._running, found._checked, found._lock = set(), set(), threading.RLock()
    found._calls, found._misses, found._first = [0], 0, first
    found.__call__ = entry(found, first.binding.function, found._calls)
    FUNCTIONS.add(found)
    return found


def with_needed(function: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call from Python for a function that takes them in a tuple: ints that staging has to know are
    marked."""
    if function.binding.needed is not None and function.binding.passed_for_defaults(args, {}):
        with sessions.session() as at:
            function.specialised(args, {}, at)
    return function.binding.marked(args)


def has_code(function: Function, call: Call) -> None:
    """Reckon with code that was compiled for the arguments of `call`."""
    reckon(function.known, known_as(call))


def ready(function: Function, call: Call) -> Specialisation | None:
    """What `function` knows for the arguments of `call`, if it is right as it is; where nothing is being staged."""
    found = function.known.get(known_as(call))
    if found is None or (call.classed is not None and found.staged.source.asks):
        return None
    return found if sessions.is_current(found.staged.source, found.guards, None) else None


def _unstaged(*args: Any, **kwargs: Any) -> Any:
    raise Mismatch
