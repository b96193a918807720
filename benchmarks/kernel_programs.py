"""The loop kernels of `kernels.py`: each as loops, as calls of NumPy and in C, with arguments."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec

# --- as loops


def dot(x: Vec["n"], y: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i] * y[i]
    return total


def matvec(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    y = np.zeros(len(a))
    for i in rose.range(len(a)):
        total = 0.0
        for j in rose.range(len(x)):
            total += a[i, j] * x[j]
        y[i] = total
    return y


def matmul(a: Mat["n", "k"], b: Mat["k", "m"]) -> Mat["n", "m"]:
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in rose.range(a.shape[0]):
        for k in rose.range(a.shape[1]):
            for j in rose.range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def energy(p: Mat["n", 3], m: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(m)):
        for j in rose.range(i):
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            total -= m[i] * m[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return total


def forces(p: Mat[3, "n"], m: Vec["n"]) -> Mat[3, "n"]:
    """The gradient of the energy of softened bodies, written by hand: all pairs, coordinates in rows."""
    f = np.zeros(p.shape)
    for i in rose.range(len(m)):
        x = y = z = 0.0
        for j in rose.range(len(m)):
            dx, dy, dz = p[0, i] - p[0, j], p[1, i] - p[1, j], p[2, i] - p[2, j]
            s = dx * dx + dy * dy + dz * dz + 1e-3
            g = m[j] / (s * math.sqrt(s))
            x += g * dx
            y += g * dy
            z += g * dz
        f[0, i], f[1, i], f[2, i] = x, y, z
    return f


def recurrence(a: Vec["n"], b: Vec["n"]) -> float:
    x = 0.5
    for i in rose.range(len(a)):
        x = a[i] * x + b[i]
    return x


def logsumexp(x: Vec["n"]) -> float:
    top = x[0]
    for i in rose.range(len(x)):
        top = max(top, x[i])
    total = 0.0
    for i in rose.range(len(x)):
        total += math.exp(x[i] - top)
    return top + math.log(total)


def saxpy(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    z = np.zeros(len(x))
    for i in rose.range(len(x)):
        z[i] = 1.5 * x[i] + y[i]
    return z


def exps(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in rose.range(len(x)):
        y[i] = math.exp(x[i])
    return y


def total(x: Vec["n"]) -> float:
    found = 0.0
    for i in rose.range(len(x)):
        found += x[i]
    return found


def largest(x: Vec["n"]) -> float:
    found = x[0]
    for i in rose.range(len(x)):
        found = max(found, x[i])
    return found


def stencil(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in rose.range(1, len(x) - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]
    return y


def laplace(u: Mat["n", "m"]) -> Mat["n", "m"]:
    v = np.zeros(u.shape)
    for i in rose.range(1, u.shape[0] - 1):
        for j in rose.range(1, u.shape[1] - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return v


def products(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    product = 1.0
    for i in rose.range(len(x)):
        product *= x[i]
        y[i] = product
    return y


# --- as calls of NumPy


def np_dot(x: Vec["n"], y: Vec["n"]) -> float:
    return x @ y


def np_matvec(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    return a @ x


def np_matmul(a: Mat["n", "k"], b: Mat["k", "m"]) -> Mat["n", "m"]:
    return a @ b


def np_energy(p: Mat["n", 3], m: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(m)):
        for j in rose.range(i):
            d = p[i] - p[j]
            total -= m[i] * m[j] / np.sqrt((d * d).sum())
    return total


def np_forces(p: Mat[3, "n"], m: Vec["n"]) -> Mat[3, "n"]:
    f = np.zeros(p.shape)
    for i in rose.range(len(m)):
        d = p[:, i][:, None] - p
        s = (d * d).sum(axis=0) + 1e-3
        f[:, i] = (m / (s * np.sqrt(s)) * d).sum(axis=1)
    return f


def np_logsumexp(x: Vec["n"]) -> float:
    top = x.max()
    return top + np.log(np.exp(x - top).sum())


def np_saxpy(x: Vec["n"], y: Vec["n"]) -> Vec["n"]:
    return 1.5 * x + y


def np_exps(x: Vec["n"]) -> Vec["n"]:
    return np.exp(x)


def np_total(x: Vec["n"]) -> float:
    return x.sum()


def np_largest(x: Vec["n"]) -> float:
    return x.max()


def np_stencil(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    y[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return y


def np_laplace(u: Mat["n", "m"]) -> Mat["n", "m"]:
    v = np.zeros(u.shape)
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return v


def np_products(x: Vec["n"]) -> Vec["n"]:
    return np.cumprod(x)


# --- in C: pointers to the arguments, then to the result

C = """
#include <math.h>
#define LOOP(i, n) for (long i = 0; i < (n); i++)
void dot(const double *restrict x, const double *restrict y, double *restrict r) {
  double t = 0; LOOP(i, 1000) t += x[i] * y[i]; *r = t; }
void matvec(const double *restrict a, const double *restrict x, double *restrict r) {
  LOOP(i, 100) { double t = 0; LOOP(j, 100) t += a[100 * i + j] * x[j]; r[i] = t; } }
void matmul(const double *restrict a, const double *restrict b, double *restrict r) {
  LOOP(i, 48 * 48) r[i] = 0;
  LOOP(i, 48) LOOP(k, 48) LOOP(j, 48) r[48 * i + j] += a[48 * i + k] * b[48 * k + j]; }
void energy(const double *restrict p, const double *restrict m, double *restrict r) {
  double t = 0;
  LOOP(i, 40) LOOP(j, i) {
    double x = p[3*i] - p[3*j], y = p[3*i+1] - p[3*j+1], z = p[3*i+2] - p[3*j+2];
    t -= m[i] * m[j] / sqrt(x*x + y*y + z*z); }
  *r = t; }
void energy_gradient(const double *restrict p, const double *restrict m, double *restrict r) {
  LOOP(i, 120) r[i] = 0;
  LOOP(i, 40) LOOP(j, i) {
    double x = p[3*i] - p[3*j], y = p[3*i+1] - p[3*j+1], z = p[3*i+2] - p[3*j+2];
    double s = x*x + y*y + z*z, f = m[i] * m[j] / (s * sqrt(s));
    r[3*i] += f * x; r[3*i+1] += f * y; r[3*i+2] += f * z;
    r[3*j] -= f * x; r[3*j+1] -= f * y; r[3*j+2] -= f * z; } }
void forces(const double *restrict p, const double *restrict m, double *restrict r) {
  LOOP(i, 40) {
    double x = 0, y = 0, z = 0;
    LOOP(j, 40) {
      double a = p[i] - p[j], b = p[40+i] - p[40+j], c = p[80+i] - p[80+j];
      double s = a*a + b*b + c*c + 1e-3, g = m[j] / (s * sqrt(s));
      x += g * a; y += g * b; z += g * c; }
    r[i] = x; r[40+i] = y; r[80+i] = z; } }
void recurrence(const double *restrict a, const double *restrict b, double *restrict r) {
  double x = 0.5; LOOP(i, 1000) x = a[i] * x + b[i]; *r = x; }
void logsumexp(const double *restrict x, const double *restrict unused, double *restrict r) {
  double m = x[0], t = 0;
  LOOP(i, 1000) m = x[i] > m ? x[i] : m;
  LOOP(i, 1000) t += exp(x[i] - m);
  *r = m + log(t); }
void saxpy(const double *restrict x, const double *restrict y, double *restrict r) {
  LOOP(i, 1000) r[i] = 1.5 * x[i] + y[i]; }
void exps(const double *restrict x, const double *restrict unused, double *restrict r) {
  LOOP(i, 1000) r[i] = exp(x[i]); }
void total(const double *restrict x, const double *restrict unused, double *restrict r) {
  double t = 0; LOOP(i, 1000) t += x[i]; *r = t; }
void largest(const double *restrict x, const double *restrict unused, double *restrict r) {
  double m = x[0]; LOOP(i, 1000) m = x[i] > m ? x[i] : m; *r = m; }
void stencil(const double *restrict x, const double *restrict unused, double *restrict r) {
  LOOP(i, 1000) r[i] = 0;
  for (long i = 1; i < 999; i++) r[i] = 0.25 * x[i-1] + 0.5 * x[i] + 0.25 * x[i+1]; }
void laplace(const double *restrict u, const double *restrict unused, double *restrict r) {
  LOOP(i, 64 * 64) r[i] = 0;
  for (long i = 1; i < 63; i++) for (long j = 1; j < 63; j++)
    r[64*i+j] = 0.25 * (u[64*i-64+j] + u[64*i+64+j] + u[64*i+j-1] + u[64*i+j+1]); }
void products(const double *restrict x, const double *restrict unused, double *restrict r) {
  double p = 1; LOOP(i, 1000) { p *= x[i]; r[i] = p; } }
typedef void kernel(const double *, const double *, double *);
void repeat(kernel *volatile f, long times, const double *x, const double *y, double *r) { LOOP(i, times) f(x, y, r); }
"""


@dataclass(frozen=True)
class Program:
    """One kernel: loops, the same by NumPy if there is such a way, its name in C, and arguments."""

    name: str
    loops: Callable[..., Any]
    arrays: Callable[..., Any] | None
    arguments: tuple[Any, ...]
    gradient: bool = False


def programs() -> list[Program]:
    """All of them, with the same arguments every time."""
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-1.0, 1.0, (2, 1000))
    matrix, vector = rng.uniform(-1.0, 1.0, (100, 100)), y[:100].copy()
    left, right = rng.uniform(-1.0, 1.0, (2, 48, 48))
    bodies = rng.normal(size=(40, 3)), rng.uniform(0.5, 2.0, 40)
    near_one = rng.uniform(0.99, 1.01, 1000)
    return [
        Program("dot", dot, np_dot, (x, y)),
        Program("matvec", matvec, np_matvec, (matrix, vector)),
        Program("matmul", matmul, np_matmul, (left, right)),
        Program("energy", energy, np_energy, bodies),
        Program("energy_gradient", energy, np_energy, bodies, gradient=True),
        Program("forces", forces, np_forces, (bodies[0].T.copy(), bodies[1])),
        Program("recurrence", recurrence, None, (x, y)),
        Program("logsumexp", logsumexp, np_logsumexp, (10.0 * x,)),
        Program("saxpy", saxpy, np_saxpy, (x, y)),
        Program("exps", exps, np_exps, (x,)),
        Program("total", total, np_total, (x,)),
        Program("largest", largest, np_largest, (x,)),
        Program("stencil", stencil, np_stencil, (x,)),
        Program("laplace", laplace, np_laplace, (rng.uniform(size=(64, 64)),)),
        Program("products", products, np_products, (near_one,)),
    ]
