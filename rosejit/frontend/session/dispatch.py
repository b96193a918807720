"""Decides what a call in staged code does: an operation of the IR, a rewritten helper, or a plain call."""

# Values of users are of any type: what they are is asked while staging.

import contextlib
import dataclasses
import functools
import heapq
import itertools
import operator
import re
from collections.abc import Callable
from dataclasses import MISSING
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from rosejit.errors import RoseError, UnsupportedSyntax
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.arrays.asarray import in_64_bits
from rosejit.frontend.arrays.complex_array import ComplexArray, made_outside
from rosejit.frontend.arrays.host_tables import UNKNOWN, tabled
from rosejit.frontend.arrays.narrow_array import Narrow, NarrowArray, is_narrow
from rosejit.frontend.control import chosen_operators
from rosejit.frontend.control.chosen import Chosen, as_number, compared
from rosejit.frontend.control.if_for import branched
from rosejit.frontend.control.join import described
from rosejit.frontend.control.optional import Optional, required, told
from rosejit.frontend.control.special_methods import member_of
from rosejit.frontend.control.staged_counts import why_counted
from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.control.undefined import Poison, check_known, require_single_value
from rosejit.frontend.guards.answers import warn_of_once
from rosejit.frontend.guards.change_guards import check_unchanged
from rosejit.frontend.lists.dynamic_dict import DYNAMIC
from rosejit.frontend.numpy import building, random, refusals, registry, scipy_linalg, scipy_special
from rosejit.frontend.numpy.row_kinds import of_elements
from rosejit.frontend.python import grown_calls, list_calls
from rosejit.frontend.python.builtins import BUILTINS, of_sequence
from rosejit.frontend.python.cmath import CMATH
from rosejit.frontend.python.lookups import got, is_looked_up, member_for
from rosejit.frontend.python.math import MATH, OF_REALS
from rosejit.frontend.rolling.abstract_tables import is_computed, is_method_computed
from rosejit.frontend.scalar_ops import faults
from rosejit.frontend.scalar_ops.staged_text import braces
from rosejit.frontend.session import refused_calls
from rosejit.frontend.session.host_arguments import as_numpy
from rosejit.frontend.session.host_effects import HostEffects
from rosejit.frontend.session.refused_calls import is_numpys, title_of
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.generators import Generator
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.host_values import attributes_of
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.open_lengths import as_staged, is_of_open_length, refuse
from rosejit.frontend.values.pytree import (
    is_mutable,
    is_record,
    objects,
    parts,
    staged_leaf,
)
from rosejit.frontend.values.reachable_state import Look, View, is_container, is_object, reachable
from rosejit.frontend.values.rose_functions import is_declared_pure
from rosejit.frontend.values.rose_functions import range as rose_range
from rosejit.frontend.values.scalars import NUMBERS, kind_word, made_real, reals
from rosejit.frontend.values.tape import base_of, kind_fault, waits_on_host
from rosejit.frontend.values.undo_log import is_changed
from rosejit.ir.syntax import Var
from rosejit.numeric import loaded

Handler = Callable[..., Any]

_CONTAINERS = frozenset({list, dict, set})
_OPERATORS = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.neg, operator.pos, operator.abs, operator.lt, operator.le, operator.gt, operator.ge, operator.eq,
    operator.ne, operator.and_, operator.or_, operator.xor, operator.invert, operator.matmul,
})  # fmt: skip
"""Functions that are operators of Python, which staged numbers have."""
_COMPARING = frozenset({operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne})
_NUMERIC = NUMBERS | {float, int, bool}
_ASKING_KIND: frozenset[Any] = frozenset({iter, dict, set, frozenset, operator.getitem})
"""Builtins whose TypeError says what kind of value they were given."""
_OF_ROWS = DYNAMIC | {StructOfArrays}
_NO_FUNCTIONS = NUMBERS | {Array, ComplexArray, NarrowArray}
_METHODS = {vars(Array)[name]: name for name in registry.METHODS if name in vars(Array)}
"""The names of methods of arrays."""
_GIVEN = NUMBERS | {tuple}
"""Classes of results that are numbers, or in which numbers are."""
_LOOKING = frozenset({isinstance, type, callable, repr, str, print, setattr, object.__setattr__, next})
"""Builtins that use up no iterators that they are given."""
_ASKING_NOTHING = frozenset({isinstance, type, callable, id, len, hasattr, getattr})
"""Builtins that read nothing of what is in a container."""
_SEVERAL = frozenset({Optional, Chosen})
_UNTOLD = _SEVERAL | {Poison}
"""Classes of values of which only running tells what they are."""
_HOLDING = frozenset({Chosen, list, tuple})
_OF_EACH = frozenset({isinstance, len, type, callable, hasattr})
"""Builtins that are asked of each of several values."""
_NEEDING = frozenset({abs, float, int, round, pow, divmod, complex, range, rose_range})
"""Builtins that refuse None."""
_HIGHER_ORDER: dict[Any, int] = {
    map: 0, filter: 0, functools.reduce: 0, itertools.starmap: 0, itertools.takewhile: 0, itertools.dropwhile: 0,
    itertools.filterfalse: 0, itertools.accumulate: 1, itertools.groupby: 1, re.sub: 1, re.subn: 1,
    heapq.nlargest: 2, heapq.nsmallest: 2, heapq.merge: -1, sorted: -1,
}  # fmt: skip
"""Functions that call the function they are given, and its place; -1 where it is only given by name."""
_OF_NUMBERS = frozenset({type, float, int, bool, complex})
"""Classes that are asked of numbers, or made of them."""
_CALLED = ("key", "func", "default", "object_hook", "parse_float")
"""Keywords under which any function of a library calls what it is given."""
_CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__
"""The code of what `contextlib.contextmanager` gives, which calls a function of the user's."""
_SINGLE_DISPATCH = getattr(functools.singledispatch(lambda value: value), "__code__", None)
"""The code of what `functools.singledispatch` gives, which chooses a function of the user's by a class."""


class Dispatcher:
    """Calls of one session."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tape = session.tape
        self.effects = HostEffects(session)
        self._macros: dict[int, tuple[FunctionType, FunctionType, Any]] = {}
        """The user's functions that were called, by `id`: as they are rewritten, and what the session notes of them."""

    def called_by_python(self, function: FunctionType, /, *args: Any, **kwargs: Any) -> Any:
        """A special method, or the function of a property, that Python itself calls."""
        if function.__name__ == "__post_init__":  # of an object that nobody has seen yet
            self._session.tape.record_allocation(args[0])
        return self.call(function, *args, **kwargs)

    def called_as_it_is(self, function: FunctionType, /, *args: Any, **kwargs: Any) -> Any:
        """A special method that describes an object: in a staged block it may have no effect."""
        opened, snapshots = self._session.opened, self._session.snapshots
        check_known(self._tape, attributes_of(args[0]))
        if not self._tape.is_staged:
            opened.begins_as_it_is(function, snapshots)
            return function(*args, **kwargs)
        before, look = opened.unchanged_around(function, snapshots), Look(args[0], View())
        found = function(*args, **kwargs)
        check_unchanged(self._tape, before)
        if not look.is_same(args[0]):
            name = function.__name__
            raise self._tape.fault(
                UnsupportedSyntax,
                f"`{name}` of {described(args[0])} changes the object, in a staged branch or loop",
                help=f"leave the object as it is in `{name}`: Python calls it for itself",
            )
        return found

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`function(*args, **kwargs)` in staged code."""
        kind = type(function)
        called = grown_calls.called(self._session, function, args, kwargs) if self._tape.has_grown else NotImplemented
        if called is not NotImplemented:
            return called
        if kind is FunctionType:
            known = self._macros.get(id(function))
            if known is not None and known[0] is function:
                if known[2] is not None:
                    self._session.opened.begins(known[2], self._session.snapshots)
                value = known[1](*args, **kwargs)
                return value if value.__class__ is not GeneratorType else self._fresh(value)
        elif kind is BuiltinFunctionType:
            op = OF_REALS.get(function) if self._tape.faults is None and self._tape.rolled is None else None
            if op is not None and len(args) == len(op.params) and not kwargs:
                tape = self._tape
                atoms = reals(tape, args)
                if atoms:  # as what is below does, in half the time
                    return made_real(tape, op, atoms, frame_at(1))
            if function in _OPERATORS and _NUMERIC.issuperset(map(type, args)):
                return function(*args, **kwargs)
        elif kind is MethodType:
            return self._method(function, args, kwargs)
        return self._looked_up(kind, function, args, kwargs)

    def _tabled(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, where the host knows all that is given in each iteration of a rolled loop; else UNKNOWN."""
        if self._tape.rolled is None or not _is_hashed(function) or not is_computed(function):
            return UNKNOWN
        return tabled(self._tape, functools.partial(self.call, function), args, kwargs)

    def _tabled_method(self, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same of a method of an array."""
        if self._tape.rolled is None or method.__self__.__class__ is not Array:
            return UNKNOWN
        name = _METHODS.get(method.__func__, "")
        if not is_method_computed(name):
            return UNKNOWN
        return tabled(self._tape, functools.partial(self._of_array, name), (method.__self__, *args), kwargs)

    def _of_array(self, name: str, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.call(getattr(owner, name), *args, **kwargs)

    def _looked_up(self, kind: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = self._tabled(function, args, kwargs)
        return self._staged(kind, function, args, kwargs) if found is UNKNOWN else found

    def _staged(self, kind: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        stage = getattr(kind, "__rose_stage__", None)
        if stage is not None:
            return self._decorated(stage, function, args, kwargs)
        if kind in _SEVERAL:
            return self._one_of_several(function, args, kwargs)
        if kind in _NO_FUNCTIONS:
            said = f"'{kind_word(function)}' object is not callable"
            raise kind_fault(self._session.tape, said, f"{described(function)} is called, and is no function")
        args = tuple(map(as_number, args)) if _takes_numbers(function, args) else args
        untold = [value for value in (*args, *kwargs.values()) if value.__class__ in _UNTOLD]
        if untold and (_may_ask(kind, function) or chosen_operators.is_asked(function, untold)):
            return self._of_untold(untold, function, args, kwargs)
        handler = (_handler(function) or random.handler_of(function)) if _is_hashed(function) else None
        if handler is not None:
            if function not in _LOOKING:
                self.effects.check_iterators(args)
            return self._handled(handler, function, args, kwargs)
        if kind is FunctionType:
            return self._call_function(function, args, kwargs)
        if kind is BuiltinFunctionType:
            return self._builtin(function, args, kwargs)
        if isinstance(function, type) and kind is not GenericAlias:  # which Python 3.10 calls a type
            return self._class(function, args, kwargs)
        return self._object(function, args, kwargs)

    def _one_of_several(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of what only running tells."""
        if function.__class__ is Chosen:
            return branched(function, lambda option: self.call(option, *args, **kwargs))
        return self.call(required(function), *args, **kwargs)

    def _of_untold(self, untold: list[Any], function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call, with values of which only running tells what they are, of what may ask: who computes needs values."""
        if len(untold) == 1 and untold[0].__class__ is Chosen and function in _OF_EACH and not kwargs:
            return compared(untold[0], lambda o: self.call(function, *[o if v is untold[0] else v for v in args]))
        found = chosen_operators.called(self.call, function, args, kwargs)
        if found is not NotImplemented:
            return found
        for value in untold:
            require_single_value(value)
        known = [told(value) for value in args]
        if any(value is not arg for value, arg in zip(known, args, strict=True)):
            return self.call(function, *known, **kwargs)
        needs = function in MATH or function in _NEEDING or (function in (max, min) and not kwargs)
        if not needs and type(function).__name__ != "ufunc":
            name = getattr(function, "__name__", function)
            raise self._tape.type_fault(
                f"`{name}` is given a value that may be None, which only running tells",
                "ask `is None` before, which is staged: `if q is not None: ...`",
            )
        given = {name: required(value) for name, value in kwargs.items()}
        return self._looked_up(type(function), function, tuple([required(value) for value in args]), given)

    def _handled(self, handler: Handler, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function that is staged without looking inside."""
        tape = self._tape
        if function not in _ASKING_NOTHING:
            self._gone_through((*args, *kwargs.values()), False)
        if function in MATH:
            args = tuple([in_64_bits(arg) if is_narrow(arg) else arg for arg in args])
        if tape.faults is not None and function in MATH and has_staged((args, kwargs)):
            return faults.function(
                tape, function.__name__, args, lambda *given: handler(self._session, function, given, kwargs)
            )
        if tape.has_open:
            args = self._of_lengths(function, args, kwargs)
        value = handler(self._session, function, args, kwargs)
        if value.__class__ in _GIVEN and is_numpys(function):
            found = value if value.__class__ is tuple else (value,)
            tape.numpys.update([x.atom for x in found if x.__class__ in NUMBERS and isinstance(x.atom, Var)])
        return value

    def _gone_through(self, values: tuple[Any, ...], objects_too: bool) -> None:
        opened = self._session.opened
        for value in values:
            opened.goes_through(value, objects_too)

    def _of_lengths(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a function that is given lengths that stay open, or arrays of such: numbers are staged."""
        row = registry.row_of(function) if loaded() is not None else None
        if function in MATH or (row is not None and row.kind is of_elements):
            return tuple(map(as_staged, args))
        if row is None and function not in BUILTINS and any(map(is_of_open_length, (*args, *kwargs.values()))):
            refuse(self._tape, f"`{function.__name__}`")
        return args

    def _decorated(self, stage: Handler, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return stage(function, self._session, args, kwargs)
        except RoseError as error:
            raise self._session.tape.places.chained(error, frame_at(1)) from error.__cause__

    def _method(self, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        owner = method.__self__
        found = self._tabled_method(method, args, kwargs)
        if found is not UNKNOWN:
            return found
        if owner.__class__ in (Array, ComplexArray, NarrowArray, Narrow) or isinstance(owner, Generator):
            return method(*args, **kwargs)
        drawn = random.handler_of(method)
        if drawn is not None:
            return drawn(self._session, method, args, kwargs)
        if is_declared_pure(method) and not has_staged((args, kwargs)):
            return self.plain(method, args, kwargs)
        return self.call(method.__func__, method.__self__, *args, **kwargs)

    def _call_function(self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A Python function: the user's are rewritten, others are called as they are."""
        if function.__code__ is _SINGLE_DISPATCH and args:
            chosen: Any = function
            return self.call(chosen.dispatch(self.call(type, args[0])), *args, **kwargs)
        if function.__code__ is _CONTEXT_MANAGER:
            generator = functools.partial(self.call, function.__wrapped__)
            return contextlib.contextmanager(generator)(*args, **kwargs)
        if not is_users_code(function.__code__) or (is_declared_pure(function) and not has_staged((args, kwargs))):
            return self.plain(function, args, kwargs)
        try:
            made = self._session.rewritten(function)
        except UnsupportedSyntax:
            if has_staged((args, kwargs)) or self._tape.is_staged:
                raise
            self._session.opened.begins_as_it_is(function, self._session.snapshots)
            return self.plain(function, args, kwargs)
        self._macros[id(function)] = (function, made, self._session.opened.functions.get(id(function)))
        return self._fresh(made(*args, **kwargs))

    def _fresh(self, value: Any) -> Any:
        """What a function of the user's gave; a generator is a new one."""
        return self._session.hooks.record_allocation(value) if value.__class__ is GeneratorType else value

    def _builtin(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        owner = function.__self__
        if owner.__class__ is str:
            found = chosen_operators.method(function, args, kwargs)
            if found is not NotImplemented:
                return found
        if function in _COMPARING and len(args) == 2 and not kwargs:
            return getattr(self._session.hooks, function.__name__)(*args)
        if function.__name__ == "append" and owner.__class__ is list and len(args) == 1 and not kwargs:
            return self._session.hooks.append(owner, *args)
        if function.__name__ == "format" and isinstance(owner, str) and has_staged((args, kwargs)):
            return braces(self._session.tape, owner, args, kwargs)
        if function.__name__ == "get" and 0 < len(args) < 3 and not kwargs and is_looked_up(owner, args[0]):
            return got(self._tape, owner, args[0], args[1] if len(args) == 2 else None, self._session.hooks.read_outer)
        if owner.__class__ is list or owner.__class__ is tuple:
            found = of_sequence(self._session, owner, function, args, kwargs)
            if found is not NotImplemented:
                return found
        return self.plain(function, args, kwargs)

    def _class(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An instance; a constructor that the user wrote is rewritten too."""
        self._session.methods.instrument_class(cls)
        if _is_made_by_user(cls):
            made = self.call(cls.__new__, cls, *args, **kwargs) if _is_users(cls.__new__) else _new(cls, args, kwargs)
            if isinstance(made, cls):
                self._session.tape.record_allocation(made)
                if _is_users(type(made).__init__):
                    self.call(type(made).__init__, made, *args, **kwargs)
                elif type(made).__init__ is not object.__init__:
                    self.plain(type(made).__init__, (made, *args), kwargs)
            return made
        if len(args) == 1 and not kwargs and is_looked_up(cls, args[0]):
            return member_for(self._tape, cls, args[0], self._session.hooks.read_outer)
        if cls in list_calls.TABLES and len(args) == 1 and not kwargs:
            made = list_calls.table_of(self._session, cls, args[0])
            if made is not NotImplemented:
                return made
        made = cls(*args, **self._defaults(cls, args, kwargs)) if is_record(cls) else self.plain(cls, args, kwargs)
        if is_mutable(made):
            self._session.tape.record_allocation(*objects(made, (*args, *kwargs.values())))
        return self.effects.made(made)

    def _defaults(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a record, with what the default factories of its fields make here, as staged code does."""
        fields = [field for field in getattr(cls, "__dataclass_fields__", {}).values() if field.init]
        factories = {field.name: field.default_factory for field in fields if field.default_factory is not MISSING}
        if not factories:
            return kwargs
        given = {field.name for field in [field for field in fields if not field.kw_only][: len(args)]}
        return {
            **{name: self.call(factory) for name, factory in factories.items() if name not in given | kwargs.keys()},
            **kwargs,
        }

    def _object(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(require_single_value(function), functools.partial):
            whole: Any = function
            return self.call(whole.func, *whole.args, *args, **{**whole.keywords, **kwargs})
        if isinstance(function, staticmethod):
            return self.call(function.__func__, *args, **kwargs)
        if function.__class__ is MethodWrapperType and function.__name__ == "__setattr__":
            return self.call(object.__setattr__, function.__self__, *args, **kwargs)
        if _sets_element(function, args):
            owner = (function.__self__,) if function.__class__ is MethodWrapperType else ()
            return self._session.hooks.assign_element(*owner, *args)
        if function.__class__ is operator.methodcaller and len(args) == 1 and not kwargs:
            return self._method_called(function, args[0])
        if function.__class__ is operator.attrgetter and len(args) == 1 and args[0].__class__ is Chosen:
            found = [self._attribute_of(args[0], name) for name in function.__reduce__()[1]]
            return found[0] if len(found) == 1 else tuple(found)
        if (type(function).__module__, type(function).__name__) == ("numpy", "vectorize"):
            return building.vectorized(self._tape, function, args, kwargs)
        origin = getattr(function, "__origin__", None)
        if isinstance(origin, type):  # a class with its parameters
            return self.call(origin, *args, **kwargs)
        own = member_of(type(function), "__call__")
        if type(own) is FunctionType and is_users_code(own.__code__):
            self._session.methods.instrument(function)
            return self.call(own, function, *args, **kwargs)
        return self.plain(function, args, kwargs)

    def _method_called(self, caller: Any, owner: Any) -> Any:
        """What `operator.methodcaller(name, *args)` does with `owner`."""
        make, rest = caller.__reduce__()
        name, *args = (*make.args, *rest) if isinstance(make, functools.partial) else rest
        kwargs = make.keywords if isinstance(make, functools.partial) else {}
        method = self._attribute_of(owner, name) if owner.__class__ is Chosen else getattr(owner, name)
        return self.call(method, *args, **kwargs)

    def _attribute_of(self, owner: Any, path: str) -> Any:
        """`owner.a.b` for the path "a.b"."""
        for name in path.split("."):
            owner = self.call(getattr, owner, name)
        return owner

    def plain(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that Python makes. Arrays that are known go in as NumPy's, and come out as ours."""
        higher = _is_hashed(function) and function in _HIGHER_ORDER
        if higher:
            self._refuse_ranges(function, args)
            place = _HIGHER_ORDER[function]
            args = tuple([self._rewritten(arg) if k == place else arg for k, arg in enumerate(args)])
        if kwargs:
            kwargs = {name: self._rewritten(x) if name in _CALLED else x for name, x in kwargs.items()}
        if is_numpys(function) and has_staged((args, kwargs)):
            raise self._session.tape.type_fault(
                f"`{title_of(function)}` of staged values is not staged",
                refusals.reason_of(title_of(function)),
                "docs/arrays.md lists what is",
            )
        effect = self.effects.check(function, args, kwargs)
        owner = getattr(function, "__self__", None)
        self._gone_through((owner, *args, *kwargs.values()), not is_container(owner))
        if higher:
            return self._session.hooks.record_allocation(function(*args, **kwargs))
        if _outside_arrays(function):
            args = tuple(as_numpy(arg) for arg in args)
            kwargs = {name: as_numpy(value) for name, value in kwargs.items()}
        computed = len(self._tape.lets)
        try:
            found = self._watched(function, args, kwargs) if effect is None else function(*args, **kwargs)
            if hasattr(type(found), "__next__") and not any(found is arg for arg in args):
                self._session.hooks.record_allocation(found)
            elif effect is not None and effect.is_fresh:
                self._session.hooks.record_allocation(found)
                self._session.tape.record_allocation(*objects(found, args))
            warn_of_once(self._tape, function, args)
            is_kept = self._session.opened.answers.note(self._session, function, args, kwargs, found)
            is_outer = is_array(found) and (is_kept or _is_part(found, owner, (*args, *kwargs.values())))
            return self._session.hooks.read_outer(found if is_outer else made_outside(self._session.tape, found))
        except Exception as error:
            self._refuse(function, error, functools.partial(self._met_staged, computed, args, kwargs))
            raise

    def _refuse(self, function: Any, error: Exception, met: Callable[[], bool]) -> None:
        """Raise for an error that says nothing to users; most say it all, and handlers ask for those of a kind."""
        asks_kind = _is_hashed(function) and function in _ASKING_KIND and type(error) is TypeError
        if asks_kind and waits_on_host(self._tape, TypeError):
            return
        if refused_calls.says_of_staged(function, error, met):
            refused_calls.refuse(self._tape, function, error)

    def _refuse_ranges(self, function: Any, args: tuple[Any, ...]) -> None:
        """What goes through its arguments while the function is staged takes no range whose length running tells."""
        for each in args:
            if each.__class__ is StagedRange:
                raise self._tape.type_fault(
                    f"`{title_of(function)}` goes through a range, and how long that is only running tells",
                    "write the loop as a `for` statement or a comprehension, as `sum(f(i) for i in range(n))`",
                    *why_counted(each),
                )

    def _met_staged(self, computed: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call had staged arguments, or there are more operations than the `computed` before it."""
        return len(self._tape.lets) > computed or has_staged((args, kwargs))

    def _note(self, args: tuple[Any, ...]) -> None:
        """Keep what containers hold that a function nobody knows may change."""
        for value in args:
            if value.__class__ in _CONTAINERS:
                self._session.tape.undo.note(value)

    def _watched(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function that nobody can look into: it may change no list, dict or set that is an argument."""
        self._note(args)
        frozen = self._session.tape.frozen_containers
        reached = [each for each in _reached(function, args, kwargs) if id(each) in frozen]
        held = [(value, value.copy()) for value in reached if value.__class__ in _CONTAINERS]
        found = function(*args, **kwargs)
        for value, before in held:
            if is_changed(value, before):
                after = value.copy()
                _fill(value, before)
                _fill(self._session.hooks.written(value), after)
        return found

    def _rewritten(self, value: Any) -> Any:
        """A function that a builtin will call, so that the call is staged."""
        if callable(require_single_value(value)) and (not isinstance(value, type) or value in _OF_NUMBERS):
            return functools.partial(self.call, value)
        return value


def _sets_element(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call is one of `dict.__setitem__`, or of a list's, as methods of classes derived from these write."""
    given = {MethodWrapperType: 2, WrapperDescriptorType: 3}.get(function.__class__)
    if given != len(args) or function.__name__ != "__setitem__":
        return False
    owner = function.__self__ if function.__class__ is MethodWrapperType else args[0]
    return base_of(owner.__class__) not in (None, owner.__class__)


def _fill(container: Any, items: Any) -> None:
    """Let a list, dict or set hold these."""
    container.clear()
    container.extend(items) if isinstance(container, list) else container.update(items)


def _takes_numbers(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function asks only for numbers, and one of its arguments may be a member of an `Enum`."""
    may_be = not _HOLDING.isdisjoint(map(type, args)) and _is_hashed(function)
    return may_be and (function in _NEEDING or function in MATH or is_numpys(function))


def _may_ask(kind: Any, function: Any) -> bool:
    """Whether a function may ask what its arguments are; those of users are staged, others may only keep them."""
    if kind is BuiltinFunctionType:
        return function not in (setattr, delattr) and isinstance(function.__self__, ModuleType)
    if kind is FunctionType:
        return not is_users_code(function.__code__) and function is not dataclasses.replace
    return function is type or is_numpys(function)


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and is_users_code(function.__code__)


def _is_made_by_user(cls: Any) -> bool:
    """Whether the user wrote what makes the objects of a class, or what fills them."""
    return type(cls).__call__ is type.__call__ and (_is_users(cls.__init__) or _is_users(cls.__new__))


def _new(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return cls.__new__(cls) if cls.__new__ is object.__new__ else cls.__new__(cls, *args, **kwargs)


def _reached(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What a call can change: what it is given, and what a special method belongs to."""
    owner = (function.__self__,) if function.__class__ is MethodWrapperType else ()
    return (*owner, *args, *kwargs.values())


def _is_hashed(function: Any) -> bool:
    """Whether a callable has a hash made in C, of itself alone: that of a frozen dataclass may ask staged fields."""
    return type(type(function).__hash__) is WrapperDescriptorType and not isinstance(function, tuple)


def _is_part(found: Any, owner: Any, given: tuple[Any, ...]) -> bool:
    """Whether an array that a method of `owner`, or a function, gave is one of those in what it was given, or a view of
    one. The containers of Python make no arrays."""
    if is_container(owner) and not is_array(owner):
        return True
    inside = reachable([value for value in (owner, *given) if is_container(value) or is_object(value)])
    return any(each is found or each is found.base for each in inside if is_array(each))


def _outside_arrays(function: Any) -> bool:
    """Whether a function is not the user's, so that it knows nothing of staged arrays."""
    return type(function) is not FunctionType or not is_users_code(function.__code__)


def _handler(function: Any) -> Handler | None:
    if not _is_hashed(function):
        return None
    try:
        found = BUILTINS.get(function) or MATH.get(function) or CMATH.get(function)
        if found is not None or loaded() is None:
            return found
        return registry.handler_of(function) or scipy_linalg.handler_of(function) or scipy_special.handler_of(function)
    except TypeError:  # something in it has no hash
        return None


def is_staged_itself(function: Any) -> bool:
    """Whether a call of `function` (a builtin, one of `math` or NumPy) is staged without looking inside."""
    return _handler(function) is not None


def has_staged(value: Any) -> bool:
    """Whether a staged number or array is in `value`, in a container or a structure."""
    if staged_leaf(value) is not None:
        return value.__class__ is not Array or host_data(value) is None
    return value.__class__ in _OF_ROWS or any(has_staged(item) for item in parts(value) or ())
