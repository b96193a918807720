"""What every primitive must satisfy, by being in the table."""

import math
import random
from typing import Any

import pytest

from rosejit import interp
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Emit, Instr, Kernel, Primitive
from rosejit.ir.syntax import Function, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, erased
from rosejit.ir.verify import verify_program
from rosejit.ops import OPERATORS, PRIMITIVES
from rosejit.ops.kernels import DEFINITIONS, KERNELS
from rosejit.ops.traced_value import define
from rosejit.wasm.opcodes import OPCODES
from tests.laws import check_laws
from tests.ops.points import awkward, for_each, identical, inside, proven

WASM_TYPES = {BOOL: "i", INT: "l", REAL: "d", TAN: "d"}
EMITTED = {"select"}


def function_of(op: Primitive) -> Function:
    params = tuple(Var(t) for t in op.params)
    builder = Builder()
    return Function(op.name, params, (op.result,), builder.block(builder.apply(op, *params)))


def kernel_of(op: Primitive) -> Function:
    assert isinstance(op.wasm, Kernel)
    return KERNELS[op.wasm.name]()


def outcome(op: Primitive, args: list[Any]) -> Any:
    """The result, or the kind of failure."""
    try:
        return op.evaluate(*args)
    except ZeroDivisionError:
        return "zero division"
    except OverflowError:
        return "overflow"
    except ValueError:
        return "no integer"


def is_kernel(op: Primitive) -> bool:
    return isinstance(op.wasm, Kernel)


# --- the record


def test_names_are_those_of_the_table():
    assert all(name == op.name for name, op in PRIMITIVES.items())
    assert all((op.symbol, op.params) == key for key, op in OPERATORS.items())


@for_each(lambda op: isinstance(op.wasm, Instr))
def test_instructions_have_the_types_of_the_operation(op):
    signatures = [OPCODES[name].signature.split(":") for name in op.wasm.names]
    assert signatures[0][0] == "".join(WASM_TYPES[t] for t in op.params)
    assert signatures[-1][1] == WASM_TYPES[op.result]


@for_each(is_kernel)
def test_kernels_have_the_types_of_the_operation(op):
    f = kernel_of(op)
    assert f is kernel_of(op)
    compiled = PRIMITIVES[op.erased] if op.erased else op  # tangents are Reals by then
    assert tuple(p.type for p in f.params) == compiled.params
    op = compiled
    assert f.results == ((op.result, INT) if op.failure else (op.result,))


def test_emitted_sequences_are_few():
    assert {op.wasm.name for op in PRIMITIVES.values() if isinstance(op.wasm, Emit)} == EMITTED


@for_each(lambda op: TAN in op.params)
def test_a_linear_operation_has_a_twin_on_reals(op):
    twin = PRIMITIVES[op.erased]
    assert twin.params == tuple(erased(t) for t in op.params)
    assert twin.result == erased(op.result)
    assert twin.wasm == op.wasm


@for_each(lambda op: op.failure)
def test_a_checked_operation_has_an_unchecked_twin(op):
    twin = PRIMITIVES[op.unchecked]
    assert (twin.params, twin.result, twin.failure) == (op.params, op.result, "")


@for_each(lambda op: op.unchecked)
def test_the_unchecked_twin_gives_the_same_results(op):
    twin = PRIMITIVES[op.unchecked]
    for args in awkward(op, 400):
        if proven(op, args):
            assert outcome(op, args) in (outcome(twin, args), *op.failure.split("|"))


@for_each(lambda op: op.commutes)
def test_operands_may_be_exchanged(op):
    for args in awkward(op, 100):
        assert identical(outcome(op, args), outcome(op, args[::-1]))


@for_each(lambda op: True)
def test_results_are_of_the_type_and_never_an_exception(op):
    kinds = {BOOL: bool, INT: int, REAL: float, TAN: float}
    for args in awkward(op, 200):
        if proven(op, args):
            result = outcome(op, args)
            assert type(result) is kinds[op.result] or (op.failure and result in op.failure.split("|")), args


# --- kernels


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_valid_programs(name):
    verify_program(KERNELS[name]())


@for_each(is_kernel)
def test_evaluation_and_kernel_give_the_same_bits(op):
    """The kernel as the interpreter runs it, and `evaluate`, which is Python made from it or written beside it."""
    f = kernel_of(op)
    for args in awkward(op, 30 if len(f.body.lets) > 20 else 150):
        if not proven(op, args):
            continue
        result, *fault = interp.run(f, args)
        if fault and fault[0]:
            result = op.failure.split("|")[fault[0] - 1]
        assert identical(result, outcome(op, args)), args


@for_each(is_kernel)
def test_kernel_as_python_gives_the_same_bits_as_evaluation(op):
    for args in awkward(op, 400):
        if op.failure or not proven(op, args):
            continue
        assert identical(DEFINITIONS[op.wasm.name].evaluate(*args), op.evaluate(*args)), args


# --- derivatives


STEPS = ("single",)
"""What is a staircase, whose derivative is said to be that of the line that it follows."""


@for_each(lambda op: op.differentiable and op.name not in STEPS)
def test_derivatives_of_order_1_and_2_satisfy_the_laws(op):
    """Tangents against differences, transposes against tangents, and all of it again for the derivative."""
    rng = random.Random(op.name)
    for _ in range(2):
        check_laws(function_of(op), inside(op, rng), 2)


@for_each(lambda op: op.partials and op.name not in STEPS)
def test_partials_agree_with_finite_differences(op):
    rng = random.Random(op.name)
    for _ in range(20):
        args = inside(op, rng)
        partials = op.partials(*args, op.evaluate(*args))
        assert len(partials) == len(args)
        for k, partial in enumerate(partials):
            if op.params[k] is REAL:
                ends = [op.evaluate(*args[:k], args[k] + h, *args[k + 1 :]) for h in (-1e-6, 1e-6)]
                assert (partial or 0.0) == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-5, abs=1e-7)
            else:
                assert partial is None


@for_each(lambda op: op.partials)
def test_rules_stage_what_they_compute(op):
    """On Values a rule appends the operations that it does on numbers: the same bits."""
    f = define(f"rule_{op.name}", (*op.params, op.result), lambda *values: tuple(
        p for p in op.partials(*values) if p is not None
    ))  # fmt: skip
    verify_program(f)
    rng = random.Random(op.name)
    for _ in range(5):
        args = inside(op, rng)
        numbers = [p for p in op.partials(*args, op.evaluate(*args)) if p is not None]
        assert all(map(identical, interp.run(f, [*args, op.evaluate(*args)]), numbers))


@for_each(lambda op: op.transpose)
def test_transpose_is_the_adjoint(op):
    """<ct, A x> = <A' ct, x>, and no cotangent for what is not linear."""
    rng = random.Random(op.name)
    for _ in range(20):
        args = inside(op, rng)
        ct = rng.uniform(-2.0, 2.0)
        cotangents = op.transpose(ct, *args)
        assert [c is None for c in cotangents] == [t is not TAN for t in op.params]
        back = math.fsum(c * x for c, x in zip(cotangents, args, strict=True) if c is not None)
        assert back == pytest.approx(ct * op.evaluate(*args), rel=1e-14)


@for_each(lambda op: not op.differentiable and TAN not in op.params and op.result is REAL)
def test_what_has_no_derivative_is_flat(op):
    """Selections of a step, and conversions that no Real goes into."""
    rng = random.Random(op.name)
    for _ in range(20):
        args = inside(op, rng)
        moved = [a + 1e-9 if isinstance(a, float) else a for a in args]
        assert op.evaluate(*moved) == op.evaluate(*args)
