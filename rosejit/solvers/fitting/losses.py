"""Losses of squared residuals z: the loss, its first and its second derivative, as SciPy defines them."""

from rosejit.api.math_functions import FUNCTIONS
from rosejit.numeric import np


def linear(z):
    """z: the squares themselves."""
    return z, np.ones_like(z), np.zeros_like(z)


def soft_l1(z):
    """2 (√(1 + z) - 1): smooth, and like |r| for outliers."""
    t = 1.0 + z
    return 2.0 * (np.sqrt(t) - 1.0), 1.0 / np.sqrt(t), -0.5 / (t * np.sqrt(t))


def huber(z):
    """z up to 1, and 2 √z - 1 beyond."""
    outer = np.maximum(z, 1.0)
    root = np.sqrt(outer)
    inside = z <= 1.0
    return (
        np.where(inside, z, 2.0 * root - 1.0),
        np.where(inside, 1.0, 1.0 / root),
        np.where(inside, 0.0, -0.5 / (outer * root)),
    )


def cauchy(z):
    """log(1 + z)."""
    t = 1.0 + z
    return np.log1p(z), 1.0 / t, -1.0 / (t * t)


def arctan(z):
    """arctan z: no outlier costs more than π/2."""
    t = 1.0 + z * z
    return FUNCTIONS["atan"](z), 1.0 / t, -2.0 * z / (t * t)


LOSSES = {"linear": linear, "soft_l1": soft_l1, "huber": huber, "cauchy": cauchy, "arctan": arctan}
