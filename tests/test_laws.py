"""The laws, over all programs of tests/programs and some random ones; `python -m tests.random_ir` runs many more."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.abi import Static, leaves
from rosejit.api import sessions
from rosejit.api.derivation.modes import given_trees
from rosejit.ir.traversal import reachable
from rosejit.ir.types import has_real
from rosejit.ir.verify import verify_program
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, pushforward
from rosejit.transforms.pipeline import prepared
from tests import random_ir
from tests.backends import bits, flat, plainly, staged
from tests.laws import check_laws
from tests.programs import PROGRAMS
from tests.programs.record import Call, Program

CALLS = [
    pytest.param(program, call, id=f"{program.name}-{kind}{k}")
    for program in PROGRAMS
    for kind, calls in (("", program.calls), ("kink", program.kinks))
    for k, call in enumerate(calls)
]
each_call = pytest.mark.parametrize(("program", "call"), CALLS)
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def close(given: Any, wanted: Any, tolerance: float = 1e-12) -> bool:
    pairs = list(zip(flat(given), flat(wanted), strict=True))
    return all(math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in pairs)


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 70
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


# --- values


@each_program
def test_the_staged_program_verifies_and_reads_back(program: Program) -> None:
    for call in program.calls:
        ir = rose.make_ir(program.function)(*call).function
        verify_program(ir)
        if not any(f.host for f in reachable(ir)):
            random_ir.check_text(ir)


@each_call
def test_the_answer_is_the_known_one(program: Program, call: Call) -> None:
    given = program.function(*call)
    if program.answer is not None:
        assert close(given, program.answer(*call))
    if program.plain:
        plain = plainly(program.function, call)
        assert close(given, plain, 1e-15 if program.exact else 1e-13)
        assert same_kind(given, plain)


def same_kind(given: Any, plain: Any) -> bool:
    """Whether the same structure came back, arrays for the lists of comprehensions and Python's numbers for NumPy's."""
    if isinstance(given, np.ndarray):
        return np.shape(plain) == given.shape
    if isinstance(given, dict):
        return given.keys() == plain.keys() and all(same_kind(given[key], plain[key]) for key in given)
    if isinstance(given, (tuple, list)):
        return type(given) is type(plain) and all(map(same_kind, given, plain))
    if isinstance(given, bool) or isinstance(plain, (bool, np.bool_)):
        return isinstance(given, bool) and isinstance(plain, (bool, np.bool_))
    return isinstance(plain, type(given)) or (isinstance(given, float) and isinstance(plain, int))


@each_call
def test_the_interpreter_gives_the_bits_of_cpython(program: Program, call: Call) -> None:
    if program.plain and program.exact:
        function, args = staged(program.function, call)
        wanted = [
            float(v) if t == "Real" else v for v, t in zip(flat(plainly(program.function, call)), scalars(function))
        ]
        assert bits(interp.run(function, args)) == bits(wanted)


def scalars(function: Any) -> list[str]:
    """The type of each number of the results; an int that CPython gives widens where a Real is declared."""
    found: list[str] = []
    for t in function.results:
        count = 1
        while hasattr(t, "length"):
            count, t = count * t.length, t.element
        found += [repr(t)] * count
    return found


@each_call
def test_wasm_gives_the_bits_of_the_interpreter(program: Program, call: Call) -> None:
    function, args = staged(program.function, call)
    wanted = bits(interp.run(function, args))
    assert bits(program.function(*call)) == wanted
    assert bits(random_ir.compiled(function, optimised=False)(args)) == wanted
    assert bits(random_ir.compiled(function, tier="fast")(args)) == wanted


# --- derivatives


@each_call
def test_the_gradient_is_the_known_one(program: Program, call: Call) -> None:
    if program.slope is not None:
        assert close(rose.grad(program.function)(*call), program.slope(*call))


@each_call
def test_derivatives_have_the_bits_of_the_interpreter(program: Program, call: Call) -> None:
    function, args = staged(program.function, call)
    if any(has_real(t) for t in function.results):
        for derivative, given in random_ir.derived(function, args, seed=1):
            random_ir.check_machines(derivative, given)


@each_call
def test_what_users_call_gives_the_bits_of_the_interpreter(program: Program, call: Call) -> None:
    """`vjp`, `linearize`, `jvp`: the border with its structures; arguments and results are their own tangents."""
    f = program.function
    function, args = staged(f, call)
    with sessions.session() as at:
        trees = given_trees(f, f.specialised(call, {}, at)[1].staged, len(call))
    own = sum(len(leaves(tree)) for tree in trees)
    mask = tuple(on and k < own for k, on in enumerate(differentiable(function)))
    tangents = [None if isinstance(tree, Static) else linear(x) for tree, x in zip(trees, call, strict=True)]
    y = interp.run(function, args)
    function = prepared(function)
    assert bits(interp.run(function, args)) == bits(y)
    reals = [v for v, t in zip(y, function.results, strict=True) if has_real(t)]
    back = bits(interp.run(cotangents(function, mask), [*args, *reals])[len(y) :])
    dx = [a for a, on in zip(args, mask, strict=True) if on]
    along = bits(interp.run(pushforward(function, mask), [*args, *dx])[len(y) :])
    given, pullback = rose.vjp(f, *call)
    ct = linear(given)
    for _ in range(2):
        assert bits(real_leaves(pullback(ct), call)) == back
    value, pushed = rose.linearize(f, *call)
    for _ in range(2):
        assert bits(real_leaves((pushed(*tangents),), (value,))) == along
    value, dy = rose.jvp(f, call, tangents)
    assert bits(real_leaves((dy,), (value,))) == along
    assert bits(given) == bits(value) == bits(y)


def linear(value: Any) -> Any:
    """`value` as a tangent or cotangent of itself: what is no real has none."""
    if isinstance(value, dict):
        return {key: linear(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [linear(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{f.name: linear(getattr(value, f.name)) for f in dataclasses.fields(value)})
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind == "f" else None
    return value if isinstance(value, float) else None


def real_leaves(derivatives: Sequence[Any], values: Sequence[Any]) -> list[float]:
    """The numbers of derivatives that stand for reals; host values have None, arrays of no reals one zero."""
    pairs = [(d, x) for d, x in zip(derivatives, values, strict=True) if d is not None]
    return [d for dx, x in pairs for d, v in zip(flat(dx), flat(marked(x)), strict=True) if isinstance(v, float)]


def marked(value: Any) -> Any:
    return 0 if isinstance(value, np.ndarray) and value.dtype.kind != "f" else value


@each_call
def test_the_laws_hold_to_order_2(program: Program, call: Call) -> None:
    function, args = staged(program.function, call)
    smooth = program.differences and not any(call is kink for kink in program.kinks)
    check_laws(function, args, order=2, differences=smooth)


@each_program
def test_second_derivatives_agree_in_all_modes(program: Program) -> None:
    """Forward and reverse on each other, as users nest them."""
    x, *rest = program.calls[0]
    if program.slope is not None and isinstance(x, float):
        f = program.function

        def along(g: Any) -> Any:
            return lambda t: rose.jvp(g, (t, *rest), (1.0, *(None for _ in rest)))[1]

        wanted = rose.grad(rose.grad(f))(x, *rest)
        assert close(rose.jvp(rose.grad(f), (x, *rest), (1.0, *(None for _ in rest)))[1], wanted, 1e-9)
        assert close(rose.grad(along(f))(x), wanted, 1e-9)
        assert close(rose.jvp(along(f), (x,), (1.0,))[1], wanted, 1e-9)


# --- random programs


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_obey_the_laws(seed: int) -> None:
    random_ir.check(seed)


def test_random_programs_branch_and_loop() -> None:
    found = [random_ir.forms(random_ir.sample(seed)[0]) & {"If", "Case", "Loop", "While"} for seed in range(100)]
    assert sum(map(bool, found)) >= 30
    assert len({name for names in found for name in names}) == 4
