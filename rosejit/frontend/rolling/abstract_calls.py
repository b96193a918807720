"""What is known of the result of a call in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

import inspect
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend.arrays.host_tables import constant
from rosejit.frontend.hints import hints
from rosejit.frontend.hints.hints import ShapeOf
from rosejit.frontend.numpy import registry
from rosejit.frontend.numpy.row_kinds import definite, making
from rosejit.frontend.python.math import MATH
from rosejit.frontend.rolling import abstract_arrays, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import AbstractArray, AbstractElements, Contents
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure, leaves, of_tree, required, standing_for
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import P
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import loaded, np

_KINDS: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}


@dataclass(slots=True)
class AbstractCalls:
    """Calls, given what the arrays hold."""

    contents: Contents
    session: Any

    def call(self, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """`function(*args, **named)`; a list stands for a tuple."""
        if function.__class__ is not Constant:
            unroll("what is called is staged")
        called = function.value
        if hasattr(type(called), "__rose_stage__"):
            return self._decorated(called, args, named)
        args = [required(value) for value in args]
        primitive = getattr(called, "__rose_primitive__", None)
        if primitive is not None:
            return self._primitive(called, primitive, args)
        try:
            builtin, of_math, of_numpy = called in _BUILTINS, called in MATH, called in _numpy()
        except TypeError:
            unroll("a call of an object")
        if not (builtin or of_math or of_numpy):
            unroll(f"a call of `{getattr(called, '__name__', 'an object')}`")
        if all(value.__class__ is Constant for value in (*args, *named.values())):
            return self._on_host(called, args, named)
        if called is isinstance:
            return Constant(_is_instance(*args))
        if builtin:
            return unroll("a keyword") if named else self._builtin(called, args)
        return self._math(called, args) if of_math else self._of_numpy(called, args, named)

    def method(self, grid: AbstractArray, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """A method of an array."""
        if name not in registry.METHODS or registry.METHODS[name].gives == "writes":
            unroll("a method of an array")
        if name != "copy" and self.contents[grid.place].is_lifted:
            unroll("a method of an array of the host")
        content = self.contents[grid.place]
        made = abstract_arrays.result(
            self.contents, lambda a, *rest, **more: getattr(a, name)(*rest, **more), [grid, *args], named
        )
        if name == "copy":
            self.contents[made.place] = content
        return self._view(name, grid, made)

    def _view(self, name: str, grid: Any, made: Any) -> Any:
        """Some functions give the same array under another shape, and some do not copy."""
        row = registry.BY_NAME.get(name) or registry.METHODS.get(name)
        if row is None or row.gives != "view" or made.__class__ is not AbstractArray:
            return made
        if grid.__class__ is not AbstractArray:
            unroll("a view of the host")
        return AbstractArray(made.shape, made.kind, grid.place, False, grid.is_fresh)

    # --- by what is called

    def _on_host(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        values = [arg.value for arg in args]
        if called is not len and any(is_staged_deep(value) for value in (*values, *(v.value for v in named.values()))):
            unroll("a function of a container")
        try:
            found = definite(called)(*values, **{name: value.value for name, value in named.items()})
        except Exception:
            unroll("the host fails")
        if isinstance(found, np.ndarray):
            known = abstract_arrays.of_data(found)
            content = AbstractElements(known.hosts, known.low, known.high, constant(found))
            return abstract_arrays.of_result(self.contents, found, content)
        return Constant(found.item() if isinstance(found, np.generic) else found)

    def _builtin(self, called: Any, args: list[Any]) -> Any:
        if called is len and args[0].__class__ is AbstractArray and args[0].shape:
            return Constant(args[0].shape[0])
        if any(arg.__class__ is AbstractArray for arg in args):
            return unroll("a builtin of an array")
        if called in (max, min) and len(args) == 1 and getattr(args[0], "made", None) in (list, tuple):
            args = args[0].items
            if len(args) == 1 and abstract_numbers.number(args[0]):
                return args[0]
        if called in (max, min) and len(args) > 1:
            return abstract_numbers.largest(called.__name__, args)
        if len(args) != 1:
            unroll("arguments of a builtin")
        if called is abs:
            return abstract_numbers.magnitude(args[0])
        value = abstract_numbers.number(args[0])
        if called is float:
            return abstract_numbers.as_real(value)
        if called in (int, round) and value.kind is not BOOL and (value.kind is INT or not value.is_lifted):
            return value if value.kind is INT else abstract_numbers.staged(INT)
        return unroll("a builtin of a value of the host")

    def _math(self, called: Any, args: list[Any]) -> Any:
        name = called.__name__
        if name == "fabs":
            return abstract_numbers.magnitude(abstract_numbers.as_real(args[0]))
        if name in ("floor", "ceil", "trunc"):
            return self._builtin(int, args)
        if name in P and len(P[name].params) == len(args) and name != "pow":
            return abstract_numbers.elementary(called, P[name].evaluate, P[name].result, args)
        if name in ("pow", "log", "degrees", "radians") and not all(
            abstract_numbers.number(arg).is_lifted for arg in args
        ):
            return abstract_numbers.staged(REAL)
        return unroll(f"`math.{name}` of values of the host")

    def _primitive(self, called: Any, primitive: Any, args: list[Any]) -> Any:
        """A function of `rose`: the host computes what the compiled code does."""
        if any(arg.__class__ is AbstractArray for arg in args):
            if all(abstract_arrays.is_lifted(self.contents, arg) for arg in args):
                unroll("arithmetic of arrays on the host")
            shape = np.broadcast_shapes(*(arg.shape for arg in args if arg.__class__ is AbstractArray))
            return abstract_arrays.fresh(self.contents, shape, primitive.result)
        numbers = [abstract_numbers.number(arg) for arg in args]
        if len(args) != len(primitive.params) or any(n.kind is not REAL for n in numbers):
            unroll("arguments of a function of reals")
        if any(n.is_lifted and n.hosts is None for n in numbers) and all(n.is_lifted for n in numbers):
            return AbstractNumber(primitive.result, None)
        return abstract_numbers.elementary(called, primitive.evaluate, primitive.result, args)

    def _of_numpy(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        row = registry.row_of(called)
        if row is None or row.gives in ("writes", "several"):
            unroll("a function that writes an array, or gives several")
        every = [*args, *named.values()]
        flat = [leaf for value in every for leaf in leaves(value)]
        if row.kind is making and all(value.__class__ is Constant for value in flat):
            shown = {name: Constant(abstract_arrays.dummy(value)) for name, value in named.items()}
            return self._on_host(called, [Constant(abstract_arrays.dummy(value)) for value in args], shown)
        if all(abstract_arrays.is_lifted(self.contents, value) for value in flat):
            op = row.make
            if not isinstance(op, Primitive) or named or any(value.__class__ is AbstractArray for value in every):
                unroll("NumPy on the host")
            return abstract_numbers.elementary(called, op.evaluate, op.result, args)
        return self._view(called.__name__, args[0], abstract_arrays.result(self.contents, called, args, named))

    # --- decorated functions

    def _decorated(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        binding = getattr(called, "binding", None)
        if binding is None:
            unroll("a call of a transformed function")
        given = [standing_for(arg) for arg in args]
        more = {name: standing_for(value) for name, value in named.items()}
        try:
            arranged = binding.arrange(*given, **more)
            for parameter, value in zip(binding.parameters, arranged, strict=True):
                if isinstance(parameter.description, hints.Static) and isinstance(value, ShapeOf):
                    unroll("a static argument that changes")
            call = binding.bind(tuple(given), more)
        except (RoseError, TypeError):
            unroll("arguments that do not fit")
        if called.kind.made_of is None:
            found = self._returned(binding.result, call.dims)
            if found is not None:
                return found
        return of_tree(self._specialised(called, call), self.contents)

    def _specialised(self, called: Any, call: Any) -> Any:
        """What a decorated function gives, which it is staged for: the loop calls it with such arguments anyway."""
        tape = self.session.tape
        before = tape.error
        try:
            return called.specialisation(call, self.session).staged.result
        except RoseError as error:
            tape.error = before
            return unroll(f"`{called.__name__}` cannot be staged by itself: {error.message}")

    def _returned(self, description: Any, dims: dict[str, int]) -> Any:
        """What a hint of a result tells; None where it does not."""
        match description:
            case hints.Scalar(kind):
                return abstract_numbers.staged(_KINDS[kind])
            case hints.ArrayOf(dims=tuple() as wanted, element=str() as element):
                shape = tuple(-1 if dim.many or (n := dim.value(dims)) is None else n for dim in wanted)
                return None if -1 in shape else abstract_arrays.fresh(self.contents, shape, _KINDS[element])
            case hints.Structure(kind="tuple"):
                items = [self._returned(item, dims) for item in description.items]
                return None if any(item is None for item in items) else AbstractStructure(items, tuple)
            case _:
                return None


def _is_instance(value: Any, classes: Any) -> bool:
    """`isinstance` of a record, or of a number that may be of any kind."""
    known = classes.value if isinstance(classes.value, tuple) else (classes.value,)
    if value.__class__ is AbstractStructure:
        return issubclass(value.made, known)
    if value.__class__ is AbstractNumber and value.kind is not BOOL and {int, float} <= {*known}:
        return True
    return unroll("a class of a number") if any(is_numbers(cls) for cls in known) else False


def is_numbers(cls: Any) -> bool:
    """Whether a class may be that of staged numbers or arrays."""
    return not is_users_class(cls) or inspect.isabstract(cls)


def _numpy() -> Any:
    return registry.table() if loaded() is not None else {}


_BUILTINS = frozenset({len, abs, max, min, float, int, round, bool, range, isinstance})
