"""Fourier transforms beside NumPy's: microseconds a call, of the gradient of a power spectrum too.

python benchmarks/fft.py
"""

import time

import numpy as np

import rosejit as rose

LENGTHS = (8, 64, 1000, 1009, 4096)


def transform(z):
    """The spectrum."""
    return np.fft.fft(z)


def power(z):
    """A loss of the spectrum."""
    return np.sum(np.abs(np.fft.fft(z)) ** 4)


def best(f, *args, seconds=0.3):
    """The fastest of many calls, in microseconds."""
    f(*args)
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        f(*args)
        found = min(found, time.perf_counter() - start)
    return found * 1e6


def main():
    """Print the table."""
    rng = np.random.default_rng(0)
    compiled, gradient = rose.jit(transform), rose.grad(power)
    print(f"{'n':>6} {'numpy':>9} {'rosejit':>9} {'gradient':>9} {'first call, ms':>15} {'error':>9}")
    for n in LENGTHS:
        z = rng.normal(size=n) + 1j * rng.normal(size=n)
        start = time.perf_counter()
        found = compiled(z)
        first = (time.perf_counter() - start) * 1e3
        wanted = np.fft.fft(z)
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        times = best(np.fft.fft, z), best(compiled, z), best(gradient, z)
        print(f"{n:>6} {times[0]:>9.1f} {times[1]:>9.1f} {times[2]:>9.1f} {first:>15.0f} {error:>9.1e}")


if __name__ == "__main__":
    main()
