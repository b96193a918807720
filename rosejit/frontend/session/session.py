"""The staging session: runs a rewritten function on staged values and gives the IR function that came of it.

An `OpenFunction` is the record of one function being staged: what it runs, and what it reads from outside. Records
nest.
"""

import sys
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import CodeType, FrameType, FunctionType
from typing import Any

from rosejit.abi import Leaf, Tree, leaves
from rosejit.errors import RoseError, RoseMemoryError, UnrollLimit
from rosejit.frontend.arrays import narrow_array
from rosejit.frontend.arrays.access import element, number, variable
from rosejit.frontend.arrays.array import Array, Box, constant, fresh, is_small, of_host, parameter
from rosejit.frontend.arrays.zero_dimensional import check_in_place
from rosejit.frontend.control.grown_lists import is_grown
from rosejit.frontend.control.if_for import rows
from rosejit.frontend.control.special_methods import Methods
from rosejit.frontend.guards import code_guards
from rosejit.frontend.guards.answers import Answers, modules
from rosejit.frontend.guards.change_guards import Snapshot, Snapshots, change_guards, check_iterators
from rosejit.frontend.guards.closure_guards import ClosureGuard, arounds, numbers_around
from rosejit.frontend.guards.guards import (
    AccessPath,
    Capture,
    Guard,
    Outside,
    PathValue,
    aliases,
    chains,
    check_unspoilt,
    elements_guard,
    guard,
    imported,
)
from rosejit.frontend.guards.made_here import fresh_each_call
from rosejit.frontend.lists.list_sites import ListSites, received
from rosejit.frontend.numpy import array_methods, narrow_methods, scalar_methods
from rosejit.frontend.scalar_ops import complex_operators, operators
from rosejit.frontend.scalar_ops.origins import check_asked
from rosejit.frontend.session import refused_calls
from rosejit.frontend.session.dispatch import Dispatcher
from rosejit.frontend.session.hooks import Hooks
from rosejit.frontend.session.kept_outside import check_kept
from rosejit.frontend.session.raised_classes import check_in_try
from rosejit.frontend.session.recursion import CallGraph, Captures, RecursiveFunction
from rosejit.frontend.session.result_identity import note_result
from rosejit.frontend.session.result_inference import stand_in
from rosejit.frontend.session.routines import Routines
from rosejit.frontend.signature.binding import Call, Signature, advanced, conform
from rosejit.frontend.signature.numeric_kinds import exact, note_class
from rosejit.frontend.syntax.code_table import names_in, texts_in
from rosejit.frontend.syntax.translate import TRANSLATIONS, instantiate, rebound, written_at
from rosejit.frontend.syntax.user_code import is_users_code, outside_names
from rosejit.frontend.values import generators
from rosejit.frontend.values.argument_identity import ArgumentObjects, note_new
from rosejit.frontend.values.deferred_effects import DeferredEffects
from rosejit.frontend.values.pytree import Supply, build, objects, paths
from rosejit.frontend.values.reachable_state import Look, is_container, is_object, reachable
from rosejit.frontend.values.scalars import ATOMS, TYPES, Real, leaf_type, passed_tangent, wrap
from rosejit.frontend.values.tape import Frame, Tape, open_handlers
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Atom, Block, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.span import Span

RanFunction = tuple[FunctionType, CodeType, tuple[tuple[str, ...], ...]]
"""A plain function that staged code runs, the code that runs, and the outside names that it reads."""


class OpenFunction:
    """A function that is being staged; `member` is what others know of it, if they may call it."""

    def __init__(self, root: Frame, member: RecursiveFunction | None = None) -> None:
        self.root = root
        self.member = member
        self.captured: dict[int, tuple[Any, Var]] = {}
        """Arrays from outside, by `id`, and the parameters that they become."""
        self.arrays: dict[int, tuple[Any, Array]] = {}
        self.functions: dict[int, RanFunction] = {}
        self.snapshots: list[Snapshot] = []
        """What its functions read from outside, as that was before the staging."""
        self.unchanged: list[Snapshot] = []
        """Those that were so still when it began, in a staged block."""
        self.arounds: list[ClosureGuard] = []
        """What it reaches of the staging around it, as that was when it began."""
        self.check: Callable[[Any, Span | None], Call] | None = None
        """Checks the result of the function."""
        self.code: CodeType | None = None
        """The rewritten code of it."""
        self.checked: tuple[Any, Call] | None = None
        """What its last `return` gave, and that as the signature says."""
        self.given: list[Any] = []
        """The host values among its arguments."""
        self.static_arrays: set[int] = set()
        self.unnamed: set[int] = set()
        """Arrays that functions which are called have found where no name leads."""
        self.read_elements: dict[int, Any] = {}
        """By `id`: arrays whose elements the host has read."""
        self.gone_through: dict[bool, dict[int, Any]] = {False: {}, True: {}}
        """By `id`: what host code has gone through, or was given; under True what is in objects of it was read too."""
        self.frozen: list[Any] = []
        """Arguments that may not be changed before it ends."""
        self.generators: list[generators.Generator] = []
        """Those among its arguments, whose states it gives behind its result."""
        self.around: tuple[Any, ...] = ()
        """The handlers that wait in the function around it, and what is asked there of numbers."""
        self.handed: dict[int, list[AccessPath]] = {}
        """By `id` of an array where those that are called find it."""
        self.objects = ArgumentObjects() if member is None else member.objects
        self.answers = Answers()
        """What calls have given that is kept elsewhere."""

    def goes_through(self, value: Any, objects_too: bool = False) -> None:
        """Note that host code may read what is in a container, an array or another object of the host's."""
        if is_container(value) or (objects_too and is_object(value)):
            self.gone_through[objects_too][id(value)] = value

    def own(self, arguments: Iterable[Any], frozen_before: Container[int]) -> list[Any]:
        """Those of `arguments` that nobody has sealed: until it ends they are its arguments, then the caller's."""
        found = [each for each in arguments if id(each) not in frozen_before]
        self.frozen += found
        return found

    def of_what_ran(self, classes: Iterable[type], view: Outside) -> Iterator[Guard]:
        """Guards for the functions that it runs, itself excepted, and for methods of these classes among them."""
        own = self.member.python if self.member is not None else None
        functions = [function for function, _, _ in self.functions.values() if function is not own]
        return chain(code_guards.of_functions(functions, view), code_guards.of_classes(classes, functions, view))

    def begins(self, ran: RanFunction, snapshots: Snapshots) -> None:
        """Note that a function is about to run, and what it reads from outside."""
        function, _, names = ran
        if id(function) not in self.functions:
            self.functions[id(function)] = ran
            found = snapshots.of(function, names)
            self.snapshots += found
            if self.root.staged:
                self.unchanged += [each for each in found if each.look is not None and not each.is_changed()]

    def begins_as_it_is(self, function: FunctionType, snapshots: Snapshots) -> None:
        """The same, of a function of the user's which cannot be rewritten, and of those that it names."""
        code, inside = function.__code__, function.__globals__
        if id(function) in self.functions or not is_users_code(code):
            return
        names = outside_names(function)
        self.begins((function, code, tuple([(name,) for name in names])), snapshots)
        for name in names:
            if isinstance(inside.get(name), FunctionType):
                self.begins_as_it_is(inside[name], snapshots)

    def unchanged_around(self, function: FunctionType, snapshots: Snapshots) -> list[Snapshot]:
        """What a function that runs as it is can read from outside, as far as nobody has changed it yet."""
        self.begins_as_it_is(function, snapshots)
        found = snapshots.of(function, [(name,) for name in outside_names(function)])
        return [each for each in found if each.look is not None and not each.is_changed()]

    def runs(self, made: FunctionType) -> FunctionType:
        """Note that `made` is the rewritten function; gives it."""
        self.code = made.__code__
        if self.member is not None:
            self.member.code = self.code
        return made

    def result(self, value: Any) -> Call:
        """What the function has given, as its signature says."""
        assert self.check is not None
        if self.checked is None or self.checked[0] is not value:
            return self.check(value, None)
        return self.checked[1]

    def codes(self) -> tuple[CodeType, ...]:
        """The rewritten code that it runs, and its own."""
        own = (self.member.python.__code__,) if self.member is not None else ()
        return (*[code for _, code, _ in self.functions.values()], *own)

    def names(self) -> frozenset[str]:
        """All names in the functions that it runs."""
        return frozenset().union(*[names_in(function.__code__) for function, _, _ in self.functions.values()])


# Values of users are of any type: what they are is asked while staging.
assert operators  # importing it gives staged numbers their operators
assert narrow_methods  # and numbers of few bits theirs
assert complex_operators
assert array_methods

_APPLY = Signature.apply.__code__


@dataclass(slots=True)
class Staged:
    """A specialisation: `function` takes the leaves of the arguments, then `captures`, then `outer`."""

    function: ir.Function
    result: Tree
    statics: list[Any]
    """The host values in the result."""
    captures: tuple[Capture, ...]
    outer: tuple[Atom, ...]
    """Values of the staging around this one that the function closes over."""
    guards: tuple[Guard, ...]
    boxes: tuple[tuple[Box, Any], ...]
    """Arrays of the staging around this one, and what they held."""
    codes: tuple[CodeType, ...]
    """The rewritten code that ran."""
    asks: bool
    """Whether it holds for arguments of Python's own classes only: it has asked what class a number is."""
    objects: ArgumentObjects
    """What it has asked of the objects in its arguments, and which are in its result."""


_OF_VALUES = (ArithmeticError, LookupError, ValueError)
"""What Python raises for values, not for their types."""


class Session:
    """One staging and those nested in it: they share a tape."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.tape.session, self.tape.sites = self, ListSites()
        dispatcher = Dispatcher(self)
        self.plain = dispatcher.plain
        self.methods = Methods(dispatcher.called_by_python, dispatcher.called_as_it_is)
        self.hooks = Hooks(self.tape, dispatcher.call, self.captured, self.methods, dispatcher.effects.entered)
        self.cycles = CallGraph(self)
        self.routines = Routines()
        self.blas = False
        """Whether large ones are calls of NumPy's routines."""
        self.snapshots = Snapshots()
        self._open: list[OpenFunction] = []
        self._nobody = OpenFunction(Frame("function"))
        self.opened = self._nobody
        """The function that is being staged, the innermost; nobody's where rewritten code runs after staging."""
        self.inlining: list[Any] = []
        self.gives_statics = False
        """Whether functions were called with values of the host."""
        self.has_around = False
        """Whether functions that were made in it have been staged."""
        self.marks: tuple[Tree, ...] = ()
        """What the keys of calls in it end with."""

    # --- staging

    def stage(
        self, function: FunctionType, signature: Signature, call: Call, name: str = "", owner: Any = None
    ) -> Staged:
        """Stage `function` for arguments that are bound to its signature; calls of `owner` in it are recursive."""
        if not TRANSLATIONS.is_translated(function.__code__):
            TRANSLATIONS.check(function)
        tape = self.tape
        label = name or function.__name__
        made = ir.Function(label if label.isidentifier() else "lambda_", (), ())
        made.span = written_at(function)
        member = RecursiveFunction(owner, made, function, signature, call)
        member.around = numbers_around(function)
        opened = OpenFunction(tape.open("function"), member)
        self._begin(opened)
        self.cycles.enter(member)
        depth = len(tape.frames) - 1
        trials, tape.trials = tape.trials, DeferredEffects(tape.trials.heard)
        try:
            self._note_outside(function, call, opened)
            arguments = self._arguments(signature, call, made)
            opened.check = self._checking(opened, signature, call.dims)
            value = self._value(opened, self.rewritten(function), arguments)
            staged = self._finished(opened, member, opened.result(value))
            self.cycles.close(member, nested=len(tape.frames) > 1)
            return staged
        except RecursionError as error:
            if isinstance(error, RoseError):
                raise
            raise self._too_deep(error) from None
        except (RoseError, TypeError, AttributeError) as error:
            self._doubt(member, error)
            raise
        except MemoryError as error:  # NumPy's, of an array that the host makes
            raise RoseMemoryError(str(error), tape.places.of_traceback(error.__traceback__)) from None
        finally:
            tape.trials.end()
            tape.trials = trials
            self.cycles.leave(member)
            self._end()
            del tape.frames[depth:]
            tape.lets = tape.frames[-1].lets if tape.frames else []

    def _checking(
        self, opened: OpenFunction, signature: Signature, dims: dict[str, int]
    ) -> Callable[[Any, Span | None], Call]:
        """What checks a result at its line; one that is never reached is replaced."""
        return lambda value, place: conform(
            signature, dims, stand_in(self.tape, opened.root, signature, dims, value), place
        )

    def _value(self, opened: OpenFunction, made: FunctionType, arguments: Callable[[FunctionType], Any]) -> Any:
        """What the function gives; an error that leaves it, and shows values that running tells, is raised then."""
        tape = self.tape
        try:
            value = self._run(opened.runs(made), arguments)
            note_result(tape, opened.objects, value)
            return value
        except Exception as error:
            raising, inside = tape.raising, tape.frames[-1] is not opened.root
            if raising is None or raising[0] is not error or len(self._open) > 1 or inside:
                if inside and isinstance(error, _OF_VALUES) and not isinstance(error, RoseError):
                    raise refused_calls.fails_inside(tape, error) from error
                raise
            raising[1]()
            tape.frames[-1].diverges = True
            return None

    def _begin(self, opened: OpenFunction) -> None:
        if not self._open:
            self.methods.begin()
        self._open.append(opened)
        self.opened, tape = opened, self.tape
        opened.around = tape.faults, tape.operators, tape.asked_kinds, tape.weak, tape.handlers_around
        tape.faults, tape.operators, tape.asked_kinds, tape.weak = None, [], [], []
        tape.handlers_around = len(tape.catching)

    def _end(self) -> None:
        ended, tape = self._open.pop(), self.tape
        tape.faults, tape.operators, tape.asked_kinds, tape.weak, tape.handlers_around = ended.around
        for each in map(id, ended.frozen):
            tape.frozen_containers.pop(each, None)
        self.opened = self._open[-1] if self._open else self._nobody
        if not self._open:
            self.methods.end()

    def _doubt(self, member: RecursiveFunction, error: Exception) -> None:
        """Raise another error if this one may come of a result that was only a guess."""
        found = member.doubted(error)
        if found is not error:
            assert isinstance(found, RoseError)
            found.span = found.span or self.tape.places.of_traceback(error.__traceback__)
            raise found from None

    def _too_deep(self, error: RecursionError) -> UnrollLimit:
        """What Python's own limit means here, at the innermost line of the user's."""
        return UnrollLimit(
            "a function calls itself more often, while it is staged, than Python allows",
            self.tape.places.of_traceback(error.__traceback__),
            facts=(f"the limit is {sys.getrecursionlimit()} calls",),
            help="end the recursion on a host value; recursion on staged values needs a decorated function",
        )

    @contextmanager
    def nested(self) -> Generator[OpenFunction]:
        """A function whose parameters and results the caller sees to, and what it reads from outside."""
        opened = OpenFunction(self.tape.open("function"))
        self._begin(opened)
        self.cycles.enter(None)
        depth = len(self.tape.frames) - 1
        try:
            yield opened
            check_asked(self.tape, opened.root, ())
            check_in_place(self.tape, opened.root.lets, ())
        finally:
            self.cycles.leave(None)
            self._end()
            del self.tape.frames[depth:]
            self.tape.lets = self.tape.frames[-1].lets if self.tape.frames else []

    def run(self, function: FunctionType, arguments: Callable[[FunctionType], Any]) -> Any:
        """The value of the rewritten function; an error of staging that user code swallowed is raised again."""
        return self._run(self.rewritten(function), arguments)

    def _run(self, made: FunctionType, arguments: Callable[[FunctionType], Any]) -> Any:
        try:
            value = arguments(made)
        except (AttributeError, TypeError) as error:
            scalar_methods.reworded(error)
            raise
        if self.tape.error is not None:
            raise self.tape.error
        return value

    def inlined(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a decorated function: its body, here. With tangents, where all must be linear in them; and in a
        `try` of which a handler waits for what it may raise."""
        if any(function is other for other in self.inlining):
            raise passed_tangent(self.tape, function.__name__)
        self.inlining.append(function)
        try:
            return self.hooks.call(function, *args, **kwargs)
        finally:
            self.inlining.pop()

    def rewritten(self, function: FunctionType) -> FunctionType:
        """`function` with its control flow rewritten, bound to this session."""
        code = function.__code__
        if TRANSLATIONS.is_translated(code):
            self.tape.places.enter(code)
            return rebound(function, self.hooks.module)
        translation = TRANSLATIONS.of(function)
        self.tape.places.enter(translation.code)
        self.opened.begins((function, translation.code, translation.chains), self.snapshots)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.methods.instrument(default)
        return instantiate(function, translation, self.hooks.module)

    def _arguments(self, signature: Signature, call: Call, made: ir.Function) -> Callable[[FunctionType], Any]:
        statics = Supply(call.statics)
        params: list[Var] = []
        values: list[Any] = []
        for p, tree in zip(signature.parameters, call.trees, strict=True):
            if isinstance(tree, Leaf):  # most of them: a number, or an array, which is sealed by itself
                var, value = self._parameter(tree, p.name, *exact(p.description, tree))
                params.append(var)
                values.append(value)
                continue
            flags = exact(p.description, tree)
            pairs = [self._parameter(*found, flag) for found, flag in zip(paths(tree, p.name), flags, strict=True)]
            params += [var for var, _ in pairs]
            value = self.methods.instrument(build(tree, Supply([value for _, value in pairs]), statics))
            why = f"`{p.name}` is an argument, and arguments are never written"
            self.tape.freeze(why, *self.opened.own(objects(received(self, value)), self.tape.frozen_containers))
            for generator in generators.generators_in(value):
                generator.state.box.readonly = ""
                generator.state.box.name = generator.state.box.name.removesuffix("_state")
                self.opened.generators.append(generator)
            values.append(value)
        self.opened.objects.note(self.tape, call.trees, [p.name for p in signature.parameters], values)
        made.params = tuple(params)
        return lambda function: signature.apply(function, values)

    def _parameter(self, leaf: Leaf, name: str, flag: int) -> tuple[Var, Any]:
        var = Var(leaf_type(leaf), name)
        note_class(self.tape, var, leaf.cls, flag)
        return var, parameter(self.tape, var, name) if leaf.kind == "array" else wrap(self.tape, var)

    def returning(self, value: Any, frame: FrameType) -> None:
        """A function is about to return `value`; if it is the one that is staged, check the result at its line."""
        opened = self.opened
        caller = frame.f_back
        if opened.check is None or frame.f_code is not opened.code or caller is None or caller.f_code is not _APPLY:
            return
        for each in objects(value) if self.tape.has_grown else ():
            if is_grown(each):
                self.tape.sites.opens(self.tape, each)
        opened.checked = value, opened.check(value, self.tape.places.of(frame))

    def atom(self, leaf: Leaf, value: Any) -> Atom:
        """A value as the atom that stands for it at the border of a function."""
        if value.__class__ is Real and leaf.kind == "real":
            return value.atom
        tape = self.tape
        if getattr(value, "type", None) is TAN:
            raise passed_tangent(tape)
        if leaf.kind == "array":
            held = value if value.__class__ is Array else of_host(tape, value)
            return variable(held)
        if value.__class__ is Array:
            value = number(tape, element(value, ()))
        atom = ATOMS[TYPES[leaf.kind]](tape, value)
        assert atom is not None
        return atom

    def _finished(self, opened: OpenFunction, member: RecursiveFunction, checked: Call) -> Staged:
        """What is known at the end of a body; the function itself is whole when its cycle is closed."""
        tape, root, tree = self.tape, opened.root, checked.trees[0]
        results = [self.atom(leaf, v) for leaf, v in zip(leaves(tree), checked.values, strict=True)]
        if opened.generators:
            results += self._states(opened.generators, checked)
        check_kept(tape, root, member.function.params, member.python)
        asks = check_asked(tape, root, member.function.params)
        check_in_place(tape, root.lets, tuple(results))
        captured, guards = self.outside(opened)
        statics = fresh_each_call(member.python, checked.statics, opened.given, opened.snapshots)
        member.end(tree, statics, Block(root.lets, tuple(results)), captured)
        boxes = tuple((box, held) for box in root.reads_outer if (held := tape.content(box, root)) is not None)
        around = [each if each.holds() else each.changed() for each in opened.arounds]
        self.has_around |= bool(around)
        facts = (*guards, *around), boxes, opened.codes(), asks, opened.objects
        member.staged = Staged(member.function, tree, statics, (), (), *facts)
        return member.staged

    def _states(self, given: list[generators.Generator], result: Call) -> list[Atom]:
        """Where a function leaves the generators that it was given."""
        boxes = [generator.state.box for generator in given]
        if any(box in boxes for box in result.sources):
            raise self.tape.type_fault(
                "a Generator that is an argument is returned, which would be two of one",
                "leave it out of the result: the caller's own generator is advanced by the call",
            )
        return [variable(generator.state) for generator in given]

    def outside(self, opened: OpenFunction) -> tuple[Captures, tuple[Guard, ...]]:
        """The arrays that a function has read from outside, and what else of it must stay as it is."""
        ran = opened.functions.values()
        answers, changed = opened.answers.of(opened.codes())
        reads = [PathValue(chain) for function, _, names in ran if names for chain in chains(function, names)] + answers
        place = opened.member.function.span if opened.member is not None else None
        functions = [function for function, _, _ in ran]
        brought = [*map(PathValue, imported(functions, opened.names())), *modules(answers)]
        check_unspoilt(self.tape, functions, [*reads, *brought], place)
        check_iterators(self.tape, [*reads, *brought])
        changes = change_guards(self.tape, functions, opened.snapshots, opened.unchanged)
        if opened.captured:  # what the host has read of an array is in the program
            within = [reachable(list(each.values()), into) for into, each in opened.gone_through.items()]
            opened.read_elements.update({id(a): a for a in chain(*within) if id(a) in opened.captured})
        live = opened.captured.keys() - opened.read_elements.keys()
        texts = [texts_in(code.co_consts) for code in opened.codes()]
        names = None if self.gives_statics else opened.names().union(*texts)
        view, by_content = Outside(live, names), Outside(names=names)
        kept = opened.static_arrays | opened.unnamed
        guarded = [guard(read, view, kept, opened.read_elements, self.snapshots.unchanged) for read in reads]
        found = [each for each in guarded if each is not None]
        by_name = {id(read.value) for read in reads}
        found += [Guard(read.chain, read.value, Look(read.value, by_content)) for read in brought]
        found += [*changes, *changed]
        found += [elements_guard(a) for key, a in opened.read_elements.items() if key not in by_name]
        found += opened.of_what_ran(self.methods.known, view)
        captured: Captures = {}
        if not opened.captured:
            return captured, tuple(found)
        named = {key: list(places) for key, places in opened.handed.items()}
        for read in reads:
            named.setdefault(id(read.value), []).append(read.chain)
        for a, var in opened.captured.values():
            names = [] if id(a) in kept else named.get(id(a), [])
            captured[id(a)] = Capture(a, names[0] if names else None), var
            found += aliases(names)
        return captured, tuple(found)

    # --- arrays from outside

    def captured(self, data: Any) -> Any:
        """The staged array for an array of the user's that the running function reads."""
        opened = self.opened
        known = opened.arrays.get(id(data))
        if known is None:
            made = narrow_array.captured(self.tape, data, self._capture(opened, data))
            known = opened.arrays[id(data)] = (data, made)
        return known[1]

    def _capture(self, opened: OpenFunction, data: Any) -> Array:
        why = "an array from outside is never written by staged code"
        static = id(data) in opened.static_arrays
        made = of_host(self.tape, data.copy() if static else data, readonly=why, captured=None if static else data)
        if data.dtype.kind == "f" and not static:
            opened.root.contents[made.box] = self._hidden(opened, data)
        return made

    def _hidden(self, opened: OpenFunction, data: Any) -> Var:
        known = opened.captured.get(id(data))
        if known is None:
            kind = {"f": REAL, "i": INT, "u": INT, "b": BOOL}[data.dtype.kind]
            known = opened.captured[id(data)] = (data, Var(array(data.shape, kind), "captured"))
        return known[1]

    def rows(self, value: Any) -> Any:
        """What Python iterates over."""
        return rows(self.tape, value)

    def constant(self, data: Any, captured: Any, frame: Frame) -> Atom:
        """The atom for the content of an array of the host, in the function that `frame` belongs to."""
        opened = next(o for o in reversed(self._open) if self._depth(o.root) <= self._depth(frame))
        if captured is not None:
            return self._hidden(opened, captured)
        if is_small(data):
            return constant(self.tape, data)
        opened.static_arrays.add(id(data))
        return self._hidden(opened, data)

    def _depth(self, frame: Frame) -> int:
        return next(k for k, open_frame in enumerate(self.tape.frames) if open_frame is frame)

    def read_elements(self, captured: Any) -> None:
        """Note that the host read the elements of an array from outside."""
        self.opened.read_elements[id(captured)] = captured

    def _note_outside(self, function: FunctionType, call: Call, opened: OpenFunction) -> None:
        opened.given = call.statics
        opened.arounds = arounds(function, call.statics if len(self._open) > 1 else ())
        opened.static_arrays |= {
            id(a) for a in reachable(call.statics, through_objects=False) if isinstance(a, np.ndarray)
        }

    # --- calls of decorated functions

    def call(self, staged: Staged, arguments: Call) -> Any:
        """Stage a call of a specialisation, its arguments bound as they were for it."""
        leaf_list = [leaf for tree in arguments.trees for leaf in leaves(tree)]
        atoms = [self.atom(leaf, value) for leaf, value in zip(leaf_list, arguments.values, strict=True)]
        atoms += [variable(self.captured_again(capture)) for capture in staged.captures]
        atoms += staged.outer
        return self.apply(staged.function, atoms, staged.result, staged.statics, arguments)

    def captured_again(self, capture: Capture) -> Array:
        """An array that a callee reads from outside, in 64 bits, which so becomes one of the caller."""
        opened, data = self.opened, capture.read()
        if capture.chain is None:
            opened.unnamed.add(id(data))
        else:
            opened.handed.setdefault(id(data), []).append(capture.chain)
        found = self.captured(data)
        return found.wide if isinstance(found, narrow_array.NarrowArray) else found

    def apply(
        self,
        function: ir.Function,
        atoms: list[Atom],
        result: Tree,
        statics: Sequence[Any],
        arguments: Call | None = None,
    ) -> Any:
        """Stage a call of an IR function: its results in the structure of `result`."""
        tape = self.tape
        quiet = open_handlers(tape) and check_in_try(tape, function)
        types = function.results
        if tape.has_open:  # a derivative is of arrays whose lengths only the run knows; here they have names
            own = [leaf_type(leaf) for leaf in leaves(result)]
            types = (*own, *types[len(own) :])
        binders = tuple([Var(t, function.name) for t in types])
        made = ir.Call(function, tuple(atoms))
        tape.lets.append(ir.Let(binders, made, tape.here())) if quiet else tape.bind_all(made, binders)
        if arguments is not None and arguments.sources:
            binders = advanced(self.tape, arguments, binders)
        values = [wrap(tape, b) if isinstance(b.type, Scalar) else fresh(tape, b) for b in binders]
        made = values[0] if result.__class__ is Leaf else build(result, Supply(values), Supply(statics))
        return made if result.__class__ is Leaf else received(self, note_new(tape, made), is_new=True)
