"""Gradients by hand, as `programs.cpp` has them, for numba."""

import numba
import numpy as np


@numba.njit
def slope(a, b, c, d, x, y):
    return a * x - b * x * y, d * x * y - c * y


@numba.njit
def back(a, b, c, d, x, y, kx, ky):
    """The cotangent of a state, from that of the slope there."""
    return kx * (a - b * y) + ky * d * y, ky * (d * x - c) - kx * b * x


@numba.njit
def lotka_volterra_gradient(a, b, c, d, steps, dt):
    path = np.empty((steps, 2))
    x, y, h, sixth = 1.0, 1.0, dt / 2, dt / 6
    for i in range(steps):
        path[i, 0], path[i, 1] = x, y
        x1, y1 = slope(a, b, c, d, x, y)
        x2, y2 = slope(a, b, c, d, x + h * x1, y + h * y1)
        x3, y3 = slope(a, b, c, d, x + h * x2, y + h * y2)
        x4, y4 = slope(a, b, c, d, x + dt * x3, y + dt * y3)
        x, y = x + sixth * (x1 + 2 * x2 + 2 * x3 + x4), y + sixth * (y1 + 2 * y2 + 2 * y3 + y4)
    da = db = dc = dd = 0.0
    u, v = 2 * x, 2 * y
    for i in range(steps - 1, -1, -1):
        x, y = path[i, 0], path[i, 1]
        x1, y1 = slope(a, b, c, d, x, y)
        p2, q2 = x + h * x1, y + h * y1
        x2, y2 = slope(a, b, c, d, p2, q2)
        p3, q3 = x + h * x2, y + h * y2
        x3, y3 = slope(a, b, c, d, p3, q3)
        p4, q4 = x + dt * x3, y + dt * y3
        k4, l4 = sixth * u, sixth * v
        u4, v4 = back(a, b, c, d, p4, q4, k4, l4)
        k3, l3 = 2 * sixth * u + dt * u4, 2 * sixth * v + dt * v4
        u3, v3 = back(a, b, c, d, p3, q3, k3, l3)
        k2, l2 = 2 * sixth * u + h * u3, 2 * sixth * v + h * v3
        u2, v2 = back(a, b, c, d, p2, q2, k2, l2)
        k1, l1 = sixth * u + h * u2, sixth * v + h * v2
        u1, v1 = back(a, b, c, d, x, y, k1, l1)
        da += k1 * x + k2 * p2 + k3 * p3 + k4 * p4
        db -= k1 * x * y + k2 * p2 * q2 + k3 * p3 * q3 + k4 * p4 * q4
        dc -= l1 * y + l2 * q2 + l3 * q3 + l4 * q4
        dd += l1 * x * y + l2 * p2 * q2 + l3 * p3 * q3 + l4 * p4 * q4
        u, v = u + u1 + u2 + u3 + u4, v + v1 + v2 + v3 + v4
    return da, db, dc, dd


@numba.njit
def n_body_gradient(at, mass):
    gradient = np.zeros_like(at)
    for i in range(len(mass)):
        for j in range(i):
            dx, dy, dz = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1], at[i, 2] - at[j, 2]
            s = dx * dx + dy * dy + dz * dz
            f = mass[i] * mass[j] / (s * np.sqrt(s))
            gradient[i, 0] += f * dx
            gradient[i, 1] += f * dy
            gradient[i, 2] += f * dz
            gradient[j, 0] -= f * dx
            gradient[j, 1] -= f * dy
            gradient[j, 2] -= f * dz
    return gradient
