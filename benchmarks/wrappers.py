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


@rose.jit
def stretched(x: Vec["n"], k: float) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in rose.range(len(x) - 1):
        y[i] = k * (x[i + 1] - x[i] ** 2)
    return y


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


def numpys() -> list[Callable[[], Any]]:
    """A number, and its gradient; an array, and a pullback."""
    both = rose.value_and_grad(energy)
    along = np.ones(3)
    return [
        lambda: energy(X, 2.0),
        lambda: both(X, 2.0),
        lambda: stretched(X, 2.0),
        lambda: rose.vjp(stretched, X, 2.0)[1](along),
    ]


def of_torch() -> dict[str, Any]:
    """Calls that give a number or an array, each without a gradient, and with a backward pass."""
    import torch

    from rosejit.interop.torch import wrap

    torch.set_num_threads(1)
    plain = torch.tensor(X)
    wanted = torch.tensor(X, requires_grad=True)
    number, slope = torch.tensor(1.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64)

    class Floor(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, ready: Any) -> Any:
            ctx.save_for_backward(x)
            return ready.clone()

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:  # type: ignore[override]  # as everybody writes it
            assert ctx.saved_tensors
            return slope.clone(), None

    f, g = wrap(energy), wrap(stretched)
    value, both, array, pulled = numpys()
    return {
        "value": (value, lambda: f(plain, 2.0), lambda: Floor.apply(plain, number)),
        "value, backward": (
            both,
            lambda: torch.autograd.grad(f(wanted, 2.0), wanted),
            lambda: torch.autograd.grad(Floor.apply(wanted, number), wanted),
        ),
        "array": (array, lambda: g(plain, 2.0), lambda: Floor.apply(plain, slope)),
        "array, backward": (
            pulled,
            lambda: torch.autograd.grad(g(wanted, 2.0), wanted, slope),
            lambda: torch.autograd.grad(Floor.apply(wanted, slope), wanted, slope),
        ),
    }


def of_jax() -> dict[str, Any]:
    """Calls as they are and under `jit`, and a gradient and a pullback under `jit`."""
    import jax

    from rosejit.interop.jax import wrap

    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.asarray(X)
    f, g = (of_two(wrap(each)) for each in (energy, stretched))
    number, array = (jax_floor(ready) for ready in (np.float64(1.0), np.ones(3)))

    def called(h: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(h(x))

    def pulling(h: Callable[..., Any]) -> Callable[..., Any]:
        return jax.jit(lambda x: jax.vjp(h, x)[1](x))

    alone = numpys()
    calls = {
        "value": (f, number),
        "value, jit": (jax.jit(f), jax.jit(number)),
        "value and grad, jit": (jax.jit(jax.value_and_grad(f)), jax.jit(jax.value_and_grad(number))),
        "array": (g, array),
        "array, jit": (jax.jit(g), jax.jit(array)),
        "pullback, jit": (pulling(g), pulling(array)),
    }
    its = [alone[k] for k in (0, 0, 1, 2, 2, 3)]
    return {name: (one, *map(called, both)) for one, (name, both) in zip(its, calls.items(), strict=True)}


def of_two(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: f(x, 2.0)


def jax_floor(ready: Any) -> Callable[..., Any]:
    """A function of JAX that asks the host for what is ready, and for a matrix to multiply a tangent with."""
    import jax

    matrix = np.ones((*np.shape(ready), 3))
    like, like_matrix = (jax.ShapeDtypeStruct(np.shape(each), np.float64) for each in (ready, matrix))

    def given(_: Any) -> Any:
        return ready

    def given_matrix(_: Any) -> Any:
        return matrix

    @jax.custom_jvp
    def floor(x: Any) -> Any:
        return jax.pure_callback(given, like, x)

    @floor.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        along = jax.pure_callback(given_matrix, like_matrix, primals[0])
        return floor(*primals), along @ tangents[0]

    return floor


if __name__ == "__main__":
    main()
