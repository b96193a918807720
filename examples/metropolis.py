"""Random numbers in staged code: a Metropolis walk and an option price, the bits of NumPy's own generator.

A `np.random.Generator` is an argument, whose state comes back advanced, or is made inside from a seed. The price has
derivatives with respect to what it is computed from: the draws stay the same.
"""

import math

import numpy as np

import rosejit as rose


def walk(steps: int, width: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """How many steps of a Metropolis walk on a normal density are accepted, and mean and mean square of its places."""
    x, accepted, total, squares = 0.0, 0, 0.0, 0.0
    for _ in range(steps):
        proposed = x + width * rng.uniform(-1.0, 1.0)
        if rng.random() < math.exp(0.5 * (x * x - proposed * proposed)):
            x = proposed
            accepted += 1
        total += x
        squares += x * x
    return accepted / steps, total / steps, squares / steps


def price(spot: float, volatility: float, seed: int) -> float:
    """The price of a call that ends at 100, by Monte Carlo."""
    rng = np.random.default_rng(seed)
    total, paths = 0.0, 20_000
    for _ in rose.range(paths):
        end = spot * math.exp(volatility * rng.normal() - 0.5 * volatility * volatility)
        total += max(end - 100.0, 0.0)
    return total / paths


ours, numpys = np.random.default_rng(7), np.random.default_rng(7)
for _ in range(2):  # the second walk goes on where the first one left the generator
    found = rose.jit(walk)(20_000, 1.0, ours)
    assert found == walk(20_000, 1.0, numpys), "the last bit is CPython's"
    print("accepted {:.4f}   mean {:.4f}   mean square {:.4f}".format(*found))
assert ours.bit_generator.state == numpys.bit_generator.state

staged = rose.jit(price)
value, (delta, vega) = rose.value_and_grad(staged, argnums=(0, 1))(100.0, 0.2, 3)
assert value == price(100.0, 0.2, 3)
print(f"price {value:.4f}   delta {delta:.4f}   vega {vega:.4f}")
exact = 0.5 * (1.0 + math.erf(0.1 / math.sqrt(2.0)))
assert abs(delta - exact) < 0.01, "Black and Scholes"
