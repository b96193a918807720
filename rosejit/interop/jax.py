"""Functions of rosejit as functions of JAX's arrays: `jit`, `vmap`, forward and reverse mode go through, to any order.

To JAX a call is one primitive. Its tangent is the same primitive of another function, which is linear in its last
operands and knows the function that is its transpose, so that all of JAX's transformations lead to calls again.
"""

# Values of users, and all that JAX has, are of any type.

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from rosejit.abi import leaves
from rosejit.api import sessions
from rosejit.api.batching.vmap import vmap
from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import value_and_grad
from rosejit.api.derivation.modes import pulled, pushed
from rosejit.api.function import Function
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import ShapeOf
from rosejit.frontend.values.pytree import Supply, build
from rosejit.interop.foreign_arguments import (
    beside,
    in_order,
    is_atom,
    leaves_of,
    mapped,
    refuse_complex,
    require_hosts,
    required,
    with_leaves,
)
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

jax = required("jax", "jax")
jnp = required("jax.numpy", "jax")
ad, batching, mlir = (required(f"jax.interpreters.{name}", "jax") for name in ("ad", "batching", "mlir"))


def wrap(f: Any, *, dtype: Any = None) -> Any:
    """`f` as a function of JAX's arrays, which JAX transforms like its own: `jit`, `grad`, `jacfwd`, `hessian`, `vmap`.

    Arguments are arrays, numbers, structures of them, and host values where `f` has such; numbers and arrays of the
    result are arrays. They are of float64 (`jax.config.update("jax_enable_x64", True)`), as `f` computes;
    `dtype=jnp.float32` takes arrays of any real type and gives results of that one.

    The functions run on the host, as callbacks where JAX compiles; a batch is a loop in compiled code (`rose.vmap`).
    """
    return _Wrapped(as_function(f), None if dtype is None else jnp.dtype(dtype))


@dataclass(slots=True, frozen=True)
class _Slot:
    """Where an array stands in a structure."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def is_real(self) -> bool:
        """Whether it has a derivative."""
        return jnp.issubdtype(self.dtype, jnp.floating)

    def batched(self, size: int) -> "_Slot":
        """The same for a batch."""
        return _Slot((size, *self.shape), self.dtype)

    def kind(self) -> Any:
        """Its class of numbers."""
        return float if self.is_real else bool if self.dtype == jnp.bool_ else int


def _is_slot(value: Any) -> bool:
    return value.__class__ is _Slot


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array)


def _reals(value: Any) -> Any:
    """Tangents of a structure: None for what has none."""
    return mapped(value, _is_slot, lambda slot: slot if slot.is_real else None)


@dataclass(slots=True, frozen=True, eq=False)
class _Program:
    """A function, and the structures of its arguments and of its result with slots for arrays. Of a linear function
    the transpose, too, and how many operands are not those that it is linear in."""

    function: Function
    args: tuple[Any, ...]
    result: Any
    transposed: "Callable[[], _Program] | None" = None
    residuals: int = 0

    @property
    def results(self) -> list[_Slot]:
        """The arrays of the result."""
        return [*leaves_of(self.result, _is_slot)]

    def run(self, *arrays: Any) -> list[Any]:
        """The arrays of the result as NumPy's."""
        found = self.function(*with_leaves(self.args, _is_slot, map(_as_numpy, arrays)))
        if _is_slot(self.result):
            return [np.asarray(found, dtype=self.result.dtype)]
        results = beside(self.result, found, _is_slot)
        return [np.asarray(x, dtype=slot.dtype) for x, slot in zip(results, self.results, strict=True)]

    @property
    def is_scalar(self) -> bool:
        """Whether the result is one real number, and no argument a structure."""
        is_number = _is_slot(self.result) and self.result.is_real and self.result.shape == ()
        return is_number and all(_is_slot(arg) or is_atom(arg) for arg in self.args)

    def gradient(self, wanted: list[bool]) -> "_Program":
        """Of a function with one real number as its result that, and its derivatives by the arrays that are wanted."""
        places = [k for k, arg in enumerate(self.args) if _is_slot(arg)]
        by = tuple([k for k, want in zip(places, wanted, strict=True) if want])
        return _Program(value_and_grad(self.function, by), self.args, (self.result, tuple([self.args[k] for k in by])))

    def tangent(self) -> "_Program":
        """Its derivative: a function of its operands, and, linear, of tangents of those that are real."""
        made = pushed(self.function, len(self.args))
        return _Program(made, (self.args, _reals(self.args)), _reals(self.result), self.cotangent, self._count())

    def cotangent(self) -> "_Program":
        """The transpose of its derivative."""
        made = pulled(self.function, len(self.args))
        return _Program(made, (self.args, _reals(self.result)), _reals(self.args), self.tangent, self._count())

    def _count(self) -> int:
        return len([*leaves_of(self.args, _is_slot)])

    def batched(self, axes: list[int | None], size: int) -> "_Program":
        """The program for a batch of the operands that have an axis, which is their first."""
        other = self.transposed

        def transposed() -> _Program:
            assert other is not None
            program = other()
            linear = program._count() - program.residuals
            return program.batched([*axes[: program.residuals], *[0] * linear], size)

        given = iter(axes)
        slots = (slot if next(given) is None else slot.batched(size) for slot in leaves_of(self.args, _is_slot))
        named = iter(axes)
        function = vmap(self.function, tuple([mapped(arg, _is_slot, lambda slot: next(named)) for arg in self.args]))
        return _Program(
            function,
            with_leaves(self.args, _is_slot, slots),
            with_leaves(self.result, _is_slot, (slot.batched(size) for slot in self.results)),
            None if other is None else transposed,
            self.residuals,
        )


def _as_numpy(array: Any) -> Any:
    """The elements as a function of rosejit takes them; an array without dimensions is a number."""
    found = np.asarray(array)
    if found.dtype != np.float64 and jnp.issubdtype(found.dtype, jnp.floating):
        found = found.astype(np.float64)
    return found if found.ndim else found.item()


class _Wrapped:
    """What `wrap` gives."""

    def __init__(self, base: Function, dtype: Any) -> None:
        functools.update_wrapper(self, base, updated=())
        self.base = base
        self.dtype = dtype

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result, of JAX's arrays."""
        args = in_order(self.base, args, kwargs)
        require_hosts(self.base, args, _is_array, "an array of JAX")
        arrays = [*leaves_of(args, _is_array)]
        slots = [_Slot(x.shape, x.dtype) for x in arrays]
        for slot in slots:
            self._require(slot)
        program = self._program(with_leaves(args, _is_array, iter(slots)))
        return with_leaves(program.result, _is_slot, iter(_CALL.bind(*arrays, program=program)))

    def _require(self, slot: _Slot) -> None:
        """Refuse complex numbers, and other types than float64 unless asked for."""
        name = self.base.__name__
        if jnp.issubdtype(slot.dtype, jnp.complexfloating):
            raise StagingTypeError(f"`{name}` takes real arrays, given one of {slot.dtype}")
        if self.dtype is None and slot.is_real and slot.dtype != jnp.float64:
            raise StagingTypeError(
                f"`{name}` computes in float64, given an array of {slot.dtype}",
                help='`jax.config.update("jax_enable_x64", True)` makes arrays of float64; '
                f"`wrap({name}, dtype=jnp.{slot.dtype})` takes and gives {slot.dtype}",
            )

    def _program(self, args: tuple[Any, ...]) -> _Program:
        """What is called for such arguments: staged, so that the shapes of its results are known."""
        given = with_leaves(args, _is_slot, (ShapeOf(x.shape, dtype=x.kind()) for x in leaves_of(args, _is_slot)))
        with sessions.session() as at:
            staged = self.base.specialised(given, {}, at)[1].staged
        staged.require_no_draws("a function of JAX")
        refuse_complex(self.base, staged.result)
        return _Program(self.base, args, build(staged.result, Supply([*self._slots(staged.result)]), _host(staged)))

    def _slots(self, tree: Any) -> Iterator[_Slot]:
        real = jnp.dtype(jnp.float64) if self.dtype is None else self.dtype
        if real == jnp.float64 and not jax.config.jax_enable_x64:
            raise StagingTypeError(
                f"`{self.base.__name__}` gives float64, which JAX has not been asked for",
                help='`jax.config.update("jax_enable_x64", True)`, or `wrap(f, dtype=jnp.float32)`',
            )
        kinds = {"real": real, "int": jax.dtypes.canonicalize_dtype(np.int64), "bool": jnp.dtype(bool)}
        for leaf in leaves(tree):
            if leaf.kind == "dyn":
                raise StagingTypeError(
                    f"`{self.base.__name__}` returns an array whose length only the run knows, which JAX has not"
                )
            yield _Slot(leaf.shape, kinds[leaf.element if leaf.kind == "array" else leaf.kind])

    def __reduce__(self) -> Any:
        return _rewrapped, (self.base, self.dtype)

    def __repr__(self) -> str:
        return f"<rose.interop.jax {self.base.__name__}{self.base.__signature__}>"


def _rewrapped(base: Function, dtype: Any) -> Any:
    """What `wrap` gave, out of a pickle."""
    return _Wrapped(base, dtype)


def _host(staged: Any) -> Supply:
    return Supply(staged.statics)


# --- the primitive


def _primitive() -> Any:
    made = required("jax.extend.core", "jax").Primitive("rose")
    made.multiple_results = True
    made.def_impl(lambda *arrays, program: [jnp.asarray(x) for x in program.run(*arrays)])
    made.def_abstract_eval(
        lambda *_, program: [jax.core.ShapedArray(slot.shape, slot.dtype) for slot in program.results]
    )
    mlir.register_lowering(made, _lowered)
    ad.primitive_jvps[made] = _jvp
    ad.primitive_transposes[made] = _transposed
    batching.primitive_batchers[made] = _batched
    return made


def _lowered(ctx: Any, *operands: Any, program: _Program) -> Any:
    """A call of the host. On one device it gets NumPy's arrays: `pure_callback` puts them on a device first, which
    takes longer than most calls."""
    if getattr(ctx.module_context.axis_context, "num_devices", None) != 1:
        return mlir.lower_fun(_by_callback, multiple_results=True)(ctx, *operands, program=program)

    def call(*arrays: Any) -> tuple[Any, ...]:
        return tuple(program.run(*arrays))

    return mlir.emit_python_callback(
        ctx, call, None, list(operands), list(ctx.avals_in), list(ctx.avals_out), has_side_effect=False
    )[0]


def _by_callback(*arrays: Any, program: _Program) -> Any:
    shapes = [jax.ShapeDtypeStruct(slot.shape, slot.dtype) for slot in program.results]
    return jax.pure_callback(program.run, shapes, *arrays)


def _jvp(primals: Any, tangents: Any, *, program: _Program) -> tuple[Any, Any]:
    count = program.residuals
    if program.transposed is not None and all(type(t) is ad.Zero for t in tangents[:count]):
        found = _CALL.bind(*primals, program=program)
        return found, _CALL.bind(*primals[:count], *map(ad.instantiate_zeros, tangents[count:]), program=program)
    slots = [*leaves_of(program.args, _is_slot)]
    if program.is_scalar:
        wanted = [slot.is_real and type(t) is not ad.Zero for slot, t in zip(slots, tangents, strict=True)]
        along = [t for t, want in zip(tangents, wanted, strict=True) if want]
        value, *slopes = _CALL.bind(*primals, program=program.gradient(wanted))
        parts = [jnp.vdot(slope, t).astype(value.dtype) for slope, t in zip(slopes, along, strict=True)]
        return [value], [functools.reduce(operator.add, parts)]
    found = _CALL.bind(*primals, program=program)
    given = [ad.instantiate_zeros(t) for slot, t in zip(slots, tangents, strict=True) if slot.is_real]
    pushed_on = iter(_CALL.bind(*primals, *given, program=program.tangent()))
    return found, [
        next(pushed_on) if slot.is_real else ad.Zero(jax.core.ShapedArray(slot.shape, jax.dtypes.float0))
        for slot in program.results
    ]


def _transposed(cotangents: Any, *operands: Any, program: _Program) -> list[Any]:
    assert program.transposed is not None, "only what is linear is transposed"
    cts = [ad.instantiate_zeros(ct) for ct in cotangents]
    count = program.residuals
    found = _CALL.bind(*operands[:count], *cts, program=program.transposed())
    linear = [ct if ad.is_undefined_primal(x) else None for x, ct in zip(operands[count:], found, strict=True)]
    return [None] * count + linear


def _batched(operands: Any, axes: Any, *, program: _Program) -> tuple[Any, Any]:
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    moved: list[Any] = []
    for k, (x, axis) in enumerate(zip(operands, axes, strict=True)):
        if axis is not None:
            moved.append(jnp.moveaxis(x, axis, 0))
        elif program.transposed is not None and k >= program.residuals:  # as what it is transposed to gives it
            moved.append(jnp.broadcast_to(x, (size, *jnp.shape(x))))
        else:
            moved.append(x)
    linear = [program.transposed is not None and k >= program.residuals for k in range(len(operands))]
    mapped = [0 if axis is not None or is_linear else None for axis, is_linear in zip(axes, linear, strict=True)]
    found = _CALL.bind(*moved, program=program.batched(mapped, size))
    return found, [0] * len(found)


_CALL = _primitive()
