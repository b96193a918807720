"""What is known of the result of a call in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from dataclasses import dataclass
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend import annotations as hints
from rosejit.frontend import grids, lifted, numpy_calls
from rosejit.frontend.annotations import ShapeOf
from rosejit.frontend.grids import Contents, Grid
from rosejit.frontend.lifted import Known, Number, unroll
from rosejit.frontend.math_calls import MATH
from rosejit.frontend.structures import is_staged_deep
from rosejit.frontend.values import P
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.numeric import loaded, np

_KINDS: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}
_TYPES: dict[Scalar, type] = {REAL: float, INT: int, BOOL: bool}
_METHODS = frozenset({"sum", "mean", "prod", "min", "max", "dot", "copy", "reshape", "ravel", "argmin", "argmax"})


@dataclass(slots=True)
class Applied:
    """Calls, given what the arrays hold."""

    contents: Contents

    def call(self, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """`function(*args, **named)`; a list stands for a tuple."""
        if function.__class__ is not Known:
            unroll("what is called is staged")
        called = function.value
        if hasattr(type(called), "__rose_stage__"):
            return self._decorated(called, args, named)
        primitive = getattr(called, "__rose_primitive__", None)
        if primitive is not None:
            return self._primitive(called, primitive, args)
        try:
            builtin, of_math, of_numpy = called in _BUILTINS, called in MATH, called in _numpy()
        except TypeError:
            unroll("a call of an object")
        if not (builtin or of_math or of_numpy):
            unroll(f"a call of `{getattr(called, '__name__', 'an object')}`")
        if all(value.__class__ is Known for value in (*args, *named.values())):
            return self._on_host(called, args, named)
        if builtin:
            return unroll("a keyword") if named else self._builtin(called, args)
        return self._math(called, args) if of_math else self._of_numpy(called, args, named)

    def method(self, grid: Grid, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """A method of an array."""
        if name not in _METHODS:
            unroll("a method of an array")
        if name != "copy" and self.contents[grid.place].is_lifted:
            unroll("a method of an array of the host")
        content = self.contents[grid.place]
        made = grids.result(
            self.contents, lambda a, *rest, **more: getattr(a, name)(*rest, **more), [grid, *args], named
        )
        if name == "copy":
            self.contents[made.place] = content
        return self._view(name, grid, made)

    def _view(self, name: str, grid: Any, made: Any) -> Any:
        """Some functions give the same array under another shape, and some do not copy."""
        if name not in numpy_calls.VIEWS or made.__class__ is not Grid:
            return made
        if grid.__class__ is not Grid:
            unroll("a view of the host")
        return Grid(made.shape, made.kind, grid.place, False, grid.is_fresh)

    # --- by what is called

    def _on_host(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        values = [arg.value for arg in args]
        if called is not len and any(is_staged_deep(value) for value in (*values, *(v.value for v in named.values()))):
            unroll("a function of a container")
        try:
            found = called(*values, **{name: value.value for name, value in named.items()})
        except Exception:
            unroll("the host fails")
        if isinstance(found, np.ndarray):
            return grids.of_result(self.contents, found, grids.of_data(found))
        return Known(found.item() if isinstance(found, np.generic) else found)

    def _builtin(self, called: Any, args: list[Any]) -> Any:
        if called is len and args[0].__class__ is Grid and args[0].shape:
            return Known(args[0].shape[0])
        if any(arg.__class__ is Grid for arg in args):
            return unroll("a builtin of an array")
        if called in (max, min) and len(args) > 1:
            return lifted.largest(called.__name__, args)
        if len(args) != 1:
            unroll("arguments of a builtin")
        if called is abs:
            return lifted.magnitude(args[0])
        value = lifted.number(args[0])
        if called is float:
            return lifted.as_real(value)
        if called in (int, round) and value.kind is not BOOL and (value.kind is INT or not value.is_lifted):
            return value if value.kind is INT else lifted.staged(INT)
        return unroll("a builtin of a value of the host")

    def _math(self, called: Any, args: list[Any]) -> Any:
        name = called.__name__
        if name == "fabs":
            return lifted.magnitude(lifted.as_real(args[0]))
        if name in ("floor", "ceil", "trunc"):
            return self._builtin(int, args)
        if name in P and len(P[name].params) == len(args) and name != "pow":
            return lifted.elementary(called, P[name].evaluate, P[name].result, args)
        if name in ("pow", "log", "degrees", "radians") and not all(lifted.number(arg).is_lifted for arg in args):
            return lifted.staged(REAL)
        return unroll(f"`math.{name}` of values of the host")

    def _primitive(self, called: Any, primitive: Any, args: list[Any]) -> Any:
        """A function of `rose`: the host computes what the compiled code does."""
        if any(arg.__class__ is Grid for arg in args):
            if all(grids.is_lifted(self.contents, arg) for arg in args):
                unroll("arithmetic of arrays on the host")
            shape = np.broadcast_shapes(*(arg.shape for arg in args if arg.__class__ is Grid))
            return grids.fresh(self.contents, shape, primitive.result)
        numbers = [lifted.number(arg) for arg in args]
        if len(args) != len(primitive.params) or any(n.kind is not REAL for n in numbers):
            unroll("arguments of a function of reals")
        if any(n.is_lifted and n.hosts is None for n in numbers) and all(n.is_lifted for n in numbers):
            return Number(primitive.result, None)
        return lifted.elementary(called, primitive.evaluate, primitive.result, args)

    def _of_numpy(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        if called.__name__ in numpy_calls.UNLIKE:
            unroll("a function that writes an array, or gives several")
        every = [*args, *named.values()]
        flat = [item for value in every for item in (value.items if hasattr(value, "items") else [value])]
        if all(grids.is_lifted(self.contents, value) for value in flat):
            name = numpy_calls.PRIMITIVES.get(called.__name__)
            if name is None or named or any(value.__class__ is Grid for value in every):
                unroll("NumPy on the host")
            return lifted.elementary(called, P[name].evaluate, P[name].result, args)
        return self._view(called.__name__, args[0], grids.result(self.contents, called, args, named))

    # --- decorated functions

    def _decorated(self, called: Any, args: list[Any], named: dict[str, Any]) -> Any:
        binding = getattr(called, "binding", None)
        if binding is None:
            unroll("a call of a transformed function")
        given = [_standing_for(arg) for arg in args]
        more = {name: _standing_for(value) for name, value in named.items()}
        try:
            arranged = binding.arrange(*given, **more)
            for parameter, value in zip(binding.parameters, arranged, strict=True):
                if isinstance(parameter.description, hints.Static) and isinstance(value, ShapeOf):
                    unroll("a static argument that changes")
            call = binding.bind(tuple(given), more)
        except (RoseError, TypeError):
            unroll("arguments that do not fit")
        return self._returned(binding.result, call.dims)

    def _returned(self, description: Any, dims: dict[str, int]) -> Any:
        """What a hint of a result tells."""
        match description:
            case hints.Scalar(kind):
                return lifted.staged(_KINDS[kind])
            case hints.ArrayOf(dims=tuple() as wanted, element=str() as element):
                shape = tuple(-1 if dim.many or (n := dim.value(dims)) is None else n for dim in wanted)
                if -1 not in shape:
                    return grids.fresh(self.contents, shape, _KINDS[element])
            case hints.Structure(kind="tuple"):
                return [self._returned(item, dims) for item in description.items]
            case _:
                pass
        return unroll("a decorated function whose result has no hint that tells what it is")


def _standing_for(value: Any) -> Any:
    """What stands for an argument when a call is bound."""
    if value.__class__ is Known:
        return value.value
    if value.__class__ is Grid:
        return ShapeOf(*value.shape, dtype=_TYPES[value.kind])
    if value.__class__ is Number:
        return ShapeOf(dtype=_TYPES[value.kind])
    return unroll("a tuple is an argument")


def _numpy() -> Any:
    return numpy_calls.table() if loaded() is not None else {}


_BUILTINS = frozenset({len, abs, max, min, float, int, round, bool, range})
