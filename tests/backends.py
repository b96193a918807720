"""Runs one program on three machines: CPython, the interpreter of the IR, and compiled to Wasm."""

import dataclasses
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import rosejit as rose
from rosejit.abi import Leaf, Node, Tier
from rosejit.api import sessions
from rosejit.api.checking.plain_calls import PlainRun
from rosejit.api.function import run_plainly
from rosejit.codegen.core.address_type import NARROW, WIDE
from rosejit.codegen.program.compile import compile_program
from rosejit.errors import RoseError
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import UNIT, Array, Scalar, Tuple, Type, fields_of
from rosejit.runtime.loaded_program import load
from rosejit.runtime.marshalling.marshal import Signature
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.pipeline import optimise

ADDRESS = WIDE if os.environ.get("ROSE_ADDRESS_BITS") == "64" else NARROW
"""All tests of a process can be made with addresses of 64 bits."""

# --- values


def flat(value: Any) -> Iterator[float | int | bool]:
    """The numbers in a value of any structure, in order."""
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, dict):
        value = list(value.values())
    elif isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value


def bits(value: Any) -> list[str]:
    """The numbers in a value so that they are equal if their bits are; all NaN are one."""
    return [repr(number) for number in flat(value)]


def outcome(run: Callable[[], Any]) -> list[str]:
    """The bits of what a call gives, or the class and the words of its error."""
    try:
        return bits(run())
    except RoseError as error:
        return [type(error).__name__, str(error)]


# --- CPython


def plainly(f: rose.Function, args: Sequence[Any]) -> Any:
    """What CPython gives where all decorated functions are the plain ones."""
    assert f.plain is not None
    with run_plainly(PlainRun()):
        return f.plain(*args)


# --- the IR of a user's function


def staged(f: rose.Function, args: Sequence[Any]) -> tuple[ir.Function, list[Any]]:
    """The IR of `f` for `args`, and its arguments: the numbers and arrays in `args`, then what `f` captures."""
    function, values = specialised(f, args)
    return function, values(args)


def specialised(f: rose.Function, args: Sequence[Any]) -> tuple[ir.Function, Callable[[Sequence[Any]], list[Any]]]:
    """The IR of `f` for `args`, and what gives its arguments for these and for others of their types."""
    with sessions.session() as at:
        made = f.specialised(tuple(args), {}, at)[1].staged

    def values(args: Sequence[Any]) -> list[Any]:
        captured = [_read(read) for read in sessions.reads(made.source, ()) if read.tree is not None]
        given = [*f.binding.bind(tuple(args), {}).values, *captured]
        return [v.tolist() if isinstance(v, np.ndarray) else v for v in given]

    return made.function, values


def _read(read: Any) -> Any:
    names = {f"_{k}": constant for k, constant in enumerate(read.constants)}
    return eval(read.expression.format(*names), names)


# --- Wasm


def wasm(f: ir.Function, *, optimised: bool = True, tier: Tier = "best") -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """`f` compiled; takes and gives what `interp.run` does."""
    bordered, made = _compiled(f, optimised)
    program = load(*made, tier)
    names = [f"x{k}" for k in range(len(bordered.params))]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    result = Node("tuple", tuple(_leaf(t) for t in bordered.results))
    signature = Signature("main", parameters, [_leaf(p.type) for p in bordered.params], result)
    call = program.function("main", signature)

    def run(args: Sequence[Any]) -> tuple[Any, ...]:
        given = [part for p, a in zip(f.params, args, strict=True) for part in _taken_apart(p.type, a)]
        found = iter(call(*[_array(p.type, a) for p, a in zip(bordered.params, given, strict=True)]))
        return tuple(_put_together(t, found) for t in f.results)

    return run


@lru_cache(4)
def _compiled(f: ir.Function, optimised: bool) -> tuple[ir.Function, tuple[Any, ...]]:
    """`f` with numbers and arrays at its border, and its module: the same one for each tier."""
    bordered = _bordered(f)
    main = optimised_of(bordered) if optimised else insert_copies(bordered)
    return bordered, compile_program({"main": main}, ADDRESS.wide)


@lru_cache(4)
def optimised_of(f: ir.Function) -> ir.Function:
    """`f` as the optimiser leaves it."""
    (optimised,) = optimise(f)
    return optimised


def _leaf(t: Type) -> Leaf:
    shape: list[int] = []
    while isinstance(t, Array):
        assert t.length is not None, "only the run knows this length"
        shape.append(t.length)
        t = t.element
    kind = {"Real": "real", "Int": "int", "Bool": "bool"}[repr(t)]
    return Leaf("array", tuple(shape), kind) if shape else Leaf(kind)


def _array(t: Type, value: Any) -> Any:
    if not isinstance(t, Array):
        return value
    leaf = _leaf(t)
    return np.array(value, {"real": "f8", "int": "i8", "bool": "?"}[leaf.element]).reshape(leaf.shape)


def _bordered(f: ir.Function) -> ir.Function:
    """`f` with the fields of tuples as parameters and results of their own: no tuple crosses the border."""
    if not any(isinstance(t, Tuple) or t is UNIT for t in (*[p.type for p in f.params], *f.results)):
        return f
    b = Builder()
    params: list[ir.Var] = []

    def parameter(t: Type) -> ir.Atom:
        if isinstance(t, Tuple):
            return b.bind(ir.MakeTuple(tuple([parameter(item) for item in t.items])), t, "t")
        if t is UNIT:
            return ir.NOTHING
        params.append(ir.Var(t, "x"))
        return params[-1]

    def results(a: ir.Atom) -> list[ir.Atom]:
        if isinstance(a.type, Tuple):
            return [r for part in b.bind_all(ir.Untuple(a), fields_of(a.type), "f") for r in results(part)]
        return [] if a.type is UNIT else [a]

    args = tuple([parameter(p.type) for p in f.params])
    given = [r for a in b.bind_all(ir.Call(f, args), f.results, "y") for r in results(a)]
    return ir.Function("main", tuple(params), tuple(r.type for r in given), b.block(*given))


def _taken_apart(t: Type, value: Any) -> Iterator[Any]:
    if isinstance(t, Tuple):
        for item, part in zip(t.items, value, strict=True):
            yield from _taken_apart(item, part)
    elif t is not UNIT:
        yield value


def _put_together(t: Type, found: Iterator[Any]) -> Any:
    if isinstance(t, Tuple):
        return tuple(_put_together(item, found) for item in t.items)
    if t is UNIT:
        return None
    value = next(found)
    return value if isinstance(t, Scalar) else value.tolist()
