#include <algorithm>
// Gradients written by hand that `benchmarks.programs` measures rosejit by: g++ -O3 -march=native, no -ffast-math.

#include <cmath>
#include <vector>

namespace {

struct State {
  double x, y;
};

struct Rates {
  double a, b, c, d;
};

State slope(const Rates& r, State s) { return {r.a * s.x - r.b * s.x * s.y, r.d * s.x * s.y - r.c * s.y}; }

State ahead(State s, double h, State k) { return {s.x + h * k.x, s.y + h * k.y}; }

// What a cotangent k of the slope at s adds to those of the rates, and what it is for s.
State slope_back(const Rates& r, State s, State k, Rates& ct) {
  ct.a += k.x * s.x;
  ct.b -= k.x * s.x * s.y;
  ct.c -= k.y * s.y;
  ct.d += k.y * s.x * s.y;
  return {k.x * (r.a - r.b * s.y) + k.y * r.d * s.y, k.y * (r.d * s.x - r.c) - k.x * r.b * s.x};
}

// The determinant of the rows from `row` on, of the columns that are left; `ct` times its gradient is added.
double minor(long n, const double* a, long row, unsigned columns, double ct, double* gradient) {
  if (row == n) return 1.0;
  double sum = 0, sign = 1;
  for (long j = 0; j < n; j++) {
    if (!(columns >> j & 1)) continue;
    double factor = sign * a[n * row + j], rest = minor(n, a, row + 1, columns & ~(1u << j), ct * factor, gradient);
    sum += factor * rest;
    gradient[n * row + j] += ct * sign * rest;
    sign = -sign;
  }
  return sum;
}

}  // namespace

extern "C" {

double determinant(long n, const double* a, double* gradient) {
  for (long i = 0; i < n * n; i++) gradient[i] = 0;
  return minor(n, a, 0, (1u << n) - 1, 1.0, gradient);
}

double lotka_volterra(double a, double b, double c, double d, long steps, double dt, double* gradient) {
  Rates r{a, b, c, d}, ct{0, 0, 0, 0};
  std::vector<State> path(steps);
  State s{1.0, 1.0};
  double h = dt / 2, sixth = dt / 6;
  for (long i = 0; i < steps; i++) {
    path[i] = s;
    State k1 = slope(r, s), k2 = slope(r, ahead(s, h, k1)), k3 = slope(r, ahead(s, h, k2)), k4 = slope(r, ahead(s, dt, k3));
    s = {s.x + sixth * (k1.x + 2 * k2.x + 2 * k3.x + k4.x), s.y + sixth * (k1.y + 2 * k2.y + 2 * k3.y + k4.y)};
  }
  double result = s.x * s.x + s.y * s.y;
  State back{2 * s.x, 2 * s.y};
  for (long i = steps - 1; i >= 0; i--) {
    s = path[i];
    State k1 = slope(r, s), s2 = ahead(s, h, k1), k2 = slope(r, s2), s3 = ahead(s, h, k2), k3 = slope(r, s3);
    State s4 = ahead(s, dt, k3);
    State b4 = slope_back(r, s4, {sixth * back.x, sixth * back.y}, ct);
    State b3 = slope_back(r, s3, {2 * sixth * back.x + dt * b4.x, 2 * sixth * back.y + dt * b4.y}, ct);
    State b2 = slope_back(r, s2, {2 * sixth * back.x + h * b3.x, 2 * sixth * back.y + h * b3.y}, ct);
    State b1 = slope_back(r, s, {sixth * back.x + h * b2.x, sixth * back.y + h * b2.y}, ct);
    back = {back.x + b1.x + b2.x + b3.x + b4.x, back.y + b1.y + b2.y + b3.y + b4.y};
  }
  gradient[0] = ct.a;
  gradient[1] = ct.b;
  gradient[2] = ct.c;
  gradient[3] = ct.d;
  return result;
}

double n_body(long n, const double* at, const double* mass, double* gradient) {
  double energy = 0;
  for (long i = 0; i < 3 * n; i++) gradient[i] = 0;
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < i; j++) {
      double dx = at[3 * i] - at[3 * j], dy = at[3 * i + 1] - at[3 * j + 1], dz = at[3 * i + 2] - at[3 * j + 2];
      double s = dx * dx + dy * dy + dz * dz, r = std::sqrt(s), part = mass[i] * mass[j] / r, f = part / s;
      energy -= part;
      gradient[3 * i] += f * dx;
      gradient[3 * i + 1] += f * dy;
      gradient[3 * i + 2] += f * dz;
      gradient[3 * j] -= f * dx;
      gradient[3 * j + 1] -= f * dy;
      gradient[3 * j + 2] -= f * dz;
    }
  }
  return energy;
}

// The sums of roots of x³ = a for `times` numbers from a on, and of their slopes.
double newton(double a, long times, double* slopes) {
  double total = 0;
  *slopes = 0;
  for (long i = 0; i < times; i++) {
    double v = a + 0.001 * i, x = v, dx = 1;
    while (std::abs(x * x * x - v) > 1e-12 * v) {
      double by_x = 2.0 / 3 * (1 - v / (x * x * x));
      dx = by_x * dx + 1 / (3 * x * x);
      x = x - (x * x * x - v) / (3 * x * x);
    }
    total += x;
    *slopes += dx;
  }
  return total;
}
}

namespace {
void ode_slope(long n, const double* __restrict__ x, const double* __restrict__ y, double* __restrict__ z) {
  z[0] = x[0];
  for (long i = 1; i < n; i++) z[i] = x[i] * y[i - 1];
}
}

extern "C" double ode(long n, long steps, const double* __restrict__ x, double* __restrict__ y) {
  const double h = 2.0 / steps;
  std::vector<double> k1(n), k2(n), k3(n), k4(n), t(n);
  std::fill(y, y + n, 0.0);
  for (long step = 0; step < steps; step++) {
    ode_slope(n, x, y, k1.data());
    for (long i = 0; i < n; i++) t[i] = y[i] + h * k1[i] / 2;
    ode_slope(n, x, t.data(), k2.data());
    for (long i = 0; i < n; i++) t[i] = y[i] + h * k2[i] / 2;
    ode_slope(n, x, t.data(), k3.data());
    for (long i = 0; i < n; i++) t[i] = y[i] + h * k3[i];
    ode_slope(n, x, t.data(), k4.data());
    for (long i = 0; i < n; i++) y[i] += h * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
  }
  return y[n - 1];
}
