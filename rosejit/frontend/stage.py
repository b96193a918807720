"""Runs a rewritten function on staged values and gives the IR function that came of it."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

from rosejit.abi import Leaf, Tree, leaves
from rosejit.errors import RoseError, RoseMemoryError, UnrollLimit
from rosejit.frontend import array_methods, operators, scalar_methods
from rosejit.frontend.around import arounds, numbers_around
from rosejit.frontend.arrays import Array, Box, constant, fresh, is_small, of_host, parameter
from rosejit.frontend.binding import Call, Signature, conform
from rosejit.frontend.control import rows
from rosejit.frontend.dispatch import Dispatcher
from rosejit.frontend.guards import Capture, Guard, Read, aliases, chains, check_unspoilt, guard
from rosejit.frontend.hooks import Hooks
from rosejit.frontend.methods import Methods
from rosejit.frontend.observed import Seen
from rosejit.frontend.opened import Opened, Ran
from rosejit.frontend.recursion import Captures, Cycles, Member
from rosejit.frontend.rewrite import TRANSLATIONS, instantiate, rebound
from rosejit.frontend.structures import Supply, build, objects, paths
from rosejit.frontend.tape import Frame, Tape
from rosejit.frontend.trials import Trials
from rosejit.frontend.values import ATOMS, TYPES, Real, leaf_type, passed_tangent, wrap
from rosejit.frontend.views import element, number, variable
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Atom, Block, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.numeric import np

assert operators  # importing it gives staged numbers their operators
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


class Session:
    """One staging and those nested in it: they share a tape."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.tape.session = self
        dispatcher = Dispatcher(self)
        self.plain = dispatcher.plain
        self.methods = Methods(dispatcher.called_by_python)
        self.hooks = Hooks(self.tape, dispatcher.call, self.captured, self.methods)
        self.cycles = Cycles(self)
        self.functions: dict[int, Ran] = {}
        """By `id` what the function that is being staged runs: it reads from outside what they read."""
        self.code: CodeType | None = None
        """The rewritten code of the function that is being staged."""
        self._open: list[Opened] = []
        self._inlining: list[Any] = []
        self.seen: Seen | None = None
        """What watches it, if the program may get a key (`observed.py`)."""
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
        if not TRANSLATIONS.made(function.__code__):
            TRANSLATIONS.check(function)
        tape = self.tape
        label = name or function.__name__
        made = ir.Function(label if label.isidentifier() else "lambda_", (), ())
        made.span = TRANSLATIONS.of(function).span
        member = Member(owner, made, function, signature, call)
        member.around = numbers_around(function)
        opened = Opened(tape.open("function"), member)
        self._begin(opened)
        self.cycles.enter(member)
        depth = len(tape.frames) - 1
        trials, tape.trials = tape.trials, Trials()
        try:
            self._note_static_arrays(call, opened)
            arguments = self._arguments(signature, call, made)
            opened.check = lambda value, place: conform(signature, call.dims, value, place)
            value = self.run(function, arguments)
            staged = self._finished(opened, member, opened.checked or conform(signature, call.dims, value))
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

    def _begin(self, opened: Opened) -> None:
        if not self._open:
            self.methods.begin()
            if self.seen is not None:
                self.seen.begin(self.methods.meet_class)
        self._open.append(opened)
        self.functions, self.code = opened.functions, None

    def _end(self) -> None:
        for each in self._open.pop().sealed:
            self.tape.sealed.pop(id(each), None)
        self.functions = self._open[-1].functions if self._open else {}
        self.code = self._open[-1].code if self._open else None
        if not self._open:
            if self.seen is not None:
                self.seen.end()
            self.methods.end()

    def _doubt(self, member: Member, error: Exception) -> None:
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
    def nested(self) -> Generator[Opened]:
        """A function whose parameters and results the caller sees to, and what it reads from outside."""
        opened = Opened(self.tape.open("function"))
        self._begin(opened)
        self.cycles.enter(None)
        depth = len(self.tape.frames) - 1
        try:
            yield opened
        finally:
            self.cycles.leave(None)
            self._end()
            del self.tape.frames[depth:]
            self.tape.lets = self.tape.frames[-1].lets if self.tape.frames else []

    def run(self, function: FunctionType, arguments: Callable[[FunctionType], Any]) -> Any:
        """The value of the rewritten function; an error of staging that user code swallowed is raised again."""
        made = self.rewritten(function)
        opened = self._open[-1]
        self.code = opened.code = made.__code__
        if opened.member is not None:
            opened.member.code = opened.code
        try:
            value = arguments(made)
        except AttributeError as error:
            scalar_methods.reworded(error)
            raise
        if self.tape.error is not None:
            raise self.tape.error
        return value

    def inlined(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a decorated function with tangents: its body, here, where all must be linear in them."""
        if any(function is other for other in self._inlining):
            raise passed_tangent(self.tape, function.__name__)
        self._inlining.append(function)
        try:
            return self.hooks.call(function, *args, **kwargs)
        finally:
            self._inlining.pop()

    def rewritten(self, function: FunctionType) -> FunctionType:
        """`function` with its control flow rewritten, bound to this session."""
        code = function.__code__
        if TRANSLATIONS.made(code):
            self.tape.places.enter(code)
            return rebound(function, self.hooks.module)
        translation = TRANSLATIONS.of(function)
        self.tape.places.enter(translation.code)
        self.functions[id(function)] = (function, translation)
        if self.seen is not None:
            self.seen.ran(function, translation)
        return instantiate(function, translation, self.hooks.module)

    def _arguments(self, signature: Signature, call: Call, made: ir.Function) -> Callable[[FunctionType], Any]:
        statics = Supply(call.statics)
        params: list[Var] = []
        values: list[Any] = []
        for p, tree in zip(signature.parameters, call.trees, strict=True):
            if isinstance(tree, Leaf):  # most of them: a number, or an array, which is sealed by itself
                var, value = self._parameter(tree, p.name)
                params.append(var)
                values.append(value)
                continue
            pairs = [self._parameter(leaf, path) for leaf, path in paths(tree, p.name)]
            params += [var for var, _ in pairs]
            value = self.methods.meet(build(tree, Supply([value for _, value in pairs]), statics))
            why = f"`{p.name}` is an argument, and arguments are never written"
            self.tape.seal(why, *self._open[-1].own(objects(value), self.tape.sealed))
            values.append(value)
        made.params = tuple(params)
        return lambda function: signature.apply(function, values)

    def _parameter(self, leaf: Leaf, name: str) -> tuple[Var, Any]:
        var = Var(leaf_type(leaf), name)
        return var, parameter(self.tape, var, name) if leaf.kind == "array" else wrap(self.tape, var)

    def returning(self, value: Any, frame: FrameType) -> None:
        """A function is about to return `value`; if it is the one that is staged, check the result at its line."""
        opened = self._open[-1]
        caller = frame.f_back
        if opened.check is None or frame.f_code is not opened.code or caller is None or caller.f_code is not _APPLY:
            return
        opened.checked = opened.check(value, self.tape.places.of(frame))

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

    def _finished(self, opened: Opened, member: Member, checked: Call) -> Staged:
        """What is known at the end of a body; the function itself is whole when its cycle is closed."""
        tape, root, tree = self.tape, opened.root, checked.trees[0]
        results = [self.atom(leaf, v) for leaf, v in zip(leaves(tree), checked.values, strict=True)]
        self._check_writes(root)
        captured, guards = self.outside(opened)
        member.end(tree, checked.statics, Block(root.lets, tuple(results)), captured)
        boxes = tuple((box, held) for box in root.touched if (held := tape.content(box, root)) is not None)
        codes = [translation.code for _, translation in opened.functions.values()]
        codes.append(member.python.__code__)
        around = arounds(member.python, member.call.statics if len(self._open) > 1 else ())
        self.has_around = self.has_around or bool(around)
        member.staged = Staged(member.function, tree, checked.statics, (), (), (*guards, *around), boxes, tuple(codes))
        return member.staged

    def outside(self, opened: Opened) -> tuple[Captures, tuple[Guard, ...]]:
        """The arrays that a function has read from outside, and what else of it must stay as it is."""
        reads = [Read(chain) for f, t in opened.functions.values() if t.chains for chain in chains(f, t)]
        place = opened.member.function.span if opened.member is not None else None
        check_unspoilt(self.tape, [f for f, _ in opened.functions.values()], reads, place)
        named = (lambda: None) if self.gives_statics else opened.names
        found = [g for read in reads if (g := guard(read, opened.read_elements, named)) is not None]
        found += opened.of_what_ran(self.methods.known)
        captured: Captures = {}
        if not opened.captured:
            return captured, tuple(found)
        named = {key: list(places) for key, places in opened.handed.items()}
        for read in reads:
            named.setdefault(id(read.value), []).append(read.chain)
        for a, var in opened.captured.values():
            names = [] if id(a) in opened.static_arrays else named.get(id(a), [])
            captured[id(a)] = Capture(a, names[0] if names else None), var
            found += aliases(names)
        return captured, tuple(found)

    def _check_writes(self, root: Frame) -> None:
        for key in root.contents:
            if self.tape.content(key, root) is not None:
                raise self.tape.type_fault(
                    f"`{key.name}` belongs to the function around and is changed in a decorated function",
                    "return the new value, or leave out the decorator: a plain function may change it",
                )

    # --- arrays from outside

    def captured(self, data: Any) -> Array:
        """The staged array for an array of the user's that the running function reads."""
        opened = self._open[-1]
        known = opened.arrays.get(id(data))
        if known is None:
            made = self._capture(opened, data)
            known = opened.arrays[id(data)] = (data, made)
        return known[1]

    def _capture(self, opened: Opened, data: Any) -> Array:
        why = "an array from outside is never written by staged code"
        static = id(data) in opened.static_arrays
        made = of_host(self.tape, data.copy() if static else data, readonly=why, captured=None if static else data)
        if data.dtype.kind == "f" and not static:
            opened.root.contents[made.box] = self._hidden(opened, data)
        return made

    def _hidden(self, opened: Opened, data: Any) -> Var:
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
        self._open[-1].read_elements.add(id(captured))

    def _note_static_arrays(self, call: Call, opened: Opened) -> None:
        pending: list[Any] = list(call.statics)
        while pending:
            value = pending.pop()
            if isinstance(value, np.ndarray):
                opened.static_arrays.add(id(value))
            elif isinstance(value, (list, tuple)):
                pending += value
            elif isinstance(value, dict):
                pending += value.values()
            elif hasattr(value, "__dataclass_fields__"):
                pending += [getattr(value, name) for name in value.__dataclass_fields__]

    # --- calls of decorated functions

    def call(self, staged: Staged, arguments: Call) -> Any:
        """Stage a call of a specialisation, its arguments bound as they were for it."""
        leaf_list = [leaf for tree in arguments.trees for leaf in leaves(tree)]
        atoms = [self.atom(leaf, value) for leaf, value in zip(leaf_list, arguments.values, strict=True)]
        atoms += [variable(self.captured_again(capture)) for capture in staged.captures]
        atoms += staged.outer
        return self.apply(staged.function, atoms, staged.result, staged.statics)

    def captured_again(self, capture: Capture) -> Array:
        """An array that a callee reads from outside, which so becomes one of the caller."""
        opened, data = self._open[-1], capture.read()
        if capture.chain is None:
            opened.static_arrays.add(id(data))
        else:
            opened.handed.setdefault(id(data), []).append(capture.chain)
        return self.captured(data)

    def apply(self, function: ir.Function, atoms: list[Atom], result: Tree, statics: Sequence[Any]) -> Any:
        """Stage a call of an IR function: its results in the structure of `result`."""
        tape = self.tape
        if tape.trying:
            tape.refuse_in_try(f"`{function.name}`")
        binders = tuple([Var(t, function.name) for t in function.results])
        tape.bind_all(ir.Call(function, tuple(atoms)), binders)
        values = [wrap(tape, b) if isinstance(b.type, Scalar) else fresh(tape, b) for b in binders]
        return values[0] if result.__class__ is Leaf else build(result, Supply(values), Supply(statics))
