"""What `rose.interop.torch.wrap` and `rose.interop.jax.wrap` add to a call: microseconds beside the frameworks' floors.

A floor does all that a framework asks of anybody, and computes nothing: `torch.autograd.Function` and `jax.custom_jvp`
of a host function that returns a number kept ready. `ours alone` is the compiled function with NumPy's arrays.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, has, options, per_call_each
from rosejit import Vec


@rose.jit
def energy(x: Vec["n"], k: float) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += k * (x[i + 1] - x[i] ** 2) ** 2
    return total


X = np.array([0.5, 1.2, 0.8])


def main() -> None:
    asked = options(__doc__ or "")
    columns = {"framework": "", "call": "", "alone": ".2f", "wrapped": ".2f", "floor": ".2f", "over": ".2f"}
    table = Table("wrappers", "Wrapped functions, us of process CPU a call", columns)
    for name, calls in {"torch": of_torch, "jax": of_jax}.items():
        if not has(name):
            table.absent.append(name)
            continue
        for call, fs in calls().items():
            alone, wrapped, floor = (1e6 * seconds for seconds in per_call_each(*fs))
            table.add(framework=name, call=call, alone=alone, wrapped=wrapped, floor=floor, over=wrapped - floor)
    table.finish(asked.json)


def numpys() -> tuple[Callable[[], Any], Callable[[], Any]]:
    gradient = rose.grad(energy)

    def forward_and_back() -> Any:
        return rose.vjp(energy, X, 2.0)[1](1.0)

    gradient(X, 2.0)
    return lambda: energy(X, 2.0), forward_and_back


def of_torch() -> dict[str, Any]:
    """A call without a gradient, and one with a backward pass."""
    import torch

    from rosejit.interop.torch import wrap

    torch.set_num_threads(1)
    plain = torch.tensor(X)
    wanted = torch.tensor(X, requires_grad=True)
    ready, slope = torch.tensor(1.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64)

    class Floor(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return ready.clone()

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:  # type: ignore[override]  # as everybody writes it
            assert ctx.saved_tensors
            return slope.clone()

    f = wrap(energy)
    value, both = numpys()
    return {
        "value": (value, lambda: f(plain, 2.0), lambda: Floor.apply(plain)),
        "value, backward": (
            both,
            lambda: torch.autograd.grad(f(wanted, 2.0), wanted),
            lambda: torch.autograd.grad(Floor.apply(wanted), wanted),
        ),
    }


def of_jax() -> dict[str, Any]:
    """A call as it is and under `jit`, and a gradient under `jit`."""
    import jax

    from rosejit.interop.jax import wrap

    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.asarray(X)
    number = jax.ShapeDtypeStruct((), np.float64)
    ready, slope = np.float64(1.0), np.ones(3)

    def given(x: Any) -> Any:
        return ready

    def given_slope(x: Any) -> Any:
        return slope

    @jax.custom_jvp
    def floor(x: Any) -> Any:
        return jax.pure_callback(given, number, x)

    @floor.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        along = jax.pure_callback(given_slope, jax.ShapeDtypeStruct((3,), np.float64), primals[0])
        return floor(*primals), along @ tangents[0]

    f = wrap(energy)
    value, both = numpys()

    def called(g: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(g(x))

    def of(g: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: g(x, 2.0)

    return {
        "value": (value, called(of(f)), called(floor)),
        "value, jit": (value, called(jax.jit(of(f))), called(jax.jit(floor))),
        "value and grad, jit": (
            both,
            called(jax.jit(jax.value_and_grad(of(f)))),
            called(jax.jit(jax.value_and_grad(floor))),
        ),
    }


if __name__ == "__main__":
    main()
