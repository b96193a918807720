// GradBench's functions and their derivatives, written by hand: what `benchmarks.gradbench_times` measures rosejit by.
// Plain loops over contiguous arrays, one thread, for g++ -O3 -march=native (no -ffast-math). Results go to the caller's
// memory; scratch memory lives as long as a call, as in a program that is called once an iteration.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using Row = std::vector<double>;

double log_sum_exp(const double* x, long n) {
  double top = *std::max_element(x, x + n), sum = 0;
  for (long i = 0; i < n; i++) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

// What the likelihood adds to: constant terms left out here are in `gmm_constant`.
double gmm_constant(long d, long k, long n) {
  double freedom = d + 1, logs = d * (d - 1) / 4.0 * std::log(M_PI);
  for (long j = 1; j <= d; j++) logs += std::lgamma(freedom / 2 + (1 - j) / 2.0);
  return k * (freedom * d * std::log(1 / std::sqrt(2.0)) - logs) - n * (d / 2.0 * std::log(2 * M_PI));
}

// z = Q y, Q's diagonal in e, its lower part column by column in below.
void triangle_times(long d, const double* e, const double* below, const double* y, double* z) {
  for (long i = 0; i < d; i++) z[i] = e[i] * y[i];
  const double* column = below;
  for (long j = 0; j < d; j++) {
    for (long i = j + 1; i < d; i++) z[i] += column[i - j - 1] * y[j];
    column += d - j - 1;
  }
}

double sg(double z) { return 1 / (1 + std::exp(-z)); }

struct Turned {
  double value[2];
  double jacobian[2][15];
};

// The error of one observation; with `slopes` its derivatives by camera (11), point (3) and weight.
template <bool slopes>
void observation(const double* cam, const double* x, double w, const double* feat, Turned& out) {
  const double *r = cam, *c = cam + 3;
  double y[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
  double squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  double z[3], dr[3][3], dy[3][3];  // dr[a][b]: of z[a] by r[b]; dy likewise by y
  if (squared != 0) {
    double angle = std::sqrt(squared), inverse = 1 / angle;
    double a[3] = {r[0] * inverse, r[1] * inverse, r[2] * inverse};
    double co = std::cos(angle), si = std::sin(angle), rest = 1 - co;
    double cross[3] = {a[1] * y[2] - a[2] * y[1], a[2] * y[0] - a[0] * y[2], a[0] * y[1] - a[1] * y[0]};
    double dot = a[0] * y[0] + a[1] * y[1] + a[2] * y[2], t = dot * rest;
    for (int i = 0; i < 3; i++) z[i] = y[i] * co + cross[i] * si + a[i] * t;
    if constexpr (slopes) {
      double skew[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
      double turn[3][3] = {{0, y[2], -y[1]}, {-y[2], 0, y[0]}, {y[1], -y[0], 0}};
      for (int i = 0; i < 3; i++) {
        double by_angle = -y[i] * si + cross[i] * co + a[i] * dot * si;
        double by_axis[3], along = 0;
        for (int j = 0; j < 3; j++) {
          dy[i][j] = (i == j ? co : 0) + skew[i][j] * si + a[i] * a[j] * rest;
          by_axis[j] = turn[i][j] * si + a[i] * y[j] * rest + (i == j ? t : 0);
          along += by_axis[j] * a[j];
        }
        for (int j = 0; j < 3; j++) dr[i][j] = a[j] * by_angle + (by_axis[j] - along * a[j]) * inverse;
      }
    }
  } else {
    z[0] = y[0] + r[1] * y[2] - r[2] * y[1];
    z[1] = y[1] + r[2] * y[0] - r[0] * y[2];
    z[2] = y[2] + r[0] * y[1] - r[1] * y[0];
    if constexpr (slopes) {
      double by_y[3][3] = {{1, -r[2], r[1]}, {r[2], 1, -r[0]}, {-r[1], r[0], 1}};
      double by_r[3][3] = {{0, y[2], -y[1]}, {-y[2], 0, y[0]}, {y[1], -y[0], 0}};
      std::copy(&by_y[0][0], &by_y[0][0] + 9, &dy[0][0]);
      std::copy(&by_r[0][0], &by_r[0][0] + 9, &dr[0][0]);
    }
  }
  double deep = 1 / z[2], p[2] = {z[0] * deep, z[1] * deep};
  double s = p[0] * p[0] + p[1] * p[1], bend = 1 + cam[9] * s + cam[10] * s * s;
  for (int k = 0; k < 2; k++) out.value[k] = w * (p[k] * bend * cam[6] + cam[7 + k] - feat[k]);
  if constexpr (slopes) {
    double by_s = cam[9] + 2 * cam[10] * s, f = cam[6] * w;
    for (int k = 0; k < 2; k++) {
      double by_p[2];
      for (int l = 0; l < 2; l++) by_p[l] = f * ((k == l ? bend : 0) + p[k] * by_s * 2 * p[l]);
      double by_z[3] = {by_p[0] * deep, by_p[1] * deep, -(by_p[0] * p[0] + by_p[1] * p[1]) * deep};
      double* row = out.jacobian[k];
      for (int j = 0; j < 3; j++) {
        row[j] = by_z[0] * dr[0][j] + by_z[1] * dr[1][j] + by_z[2] * dr[2][j];
        double by_y = by_z[0] * dy[0][j] + by_z[1] * dy[1][j] + by_z[2] * dy[2][j];
        row[3 + j] = -by_y;
        row[11 + j] = by_y;
      }
      row[6] = p[k] * bend * w;
      row[7] = k == 0 ? w : 0;
      row[8] = k == 1 ? w : 0;
      row[9] = f * p[k] * s;
      row[10] = f * p[k] * s * s;
      row[14] = p[k] * bend * cam[6] + cam[7 + k] - feat[k];
    }
  }
}

// The cost of a charge's path, as a function of the charge: value and derivative, the second by hand as well.
struct Path {
  double value, slope;
};

template <bool slopes>
Path path(double w) {
  double x = 0, y = 8, vx = 0.75, vy = 0, dx = 0, dy = 0, dvx = 0, dvy = 0;
  const double dt = 0.1;
  while (true) {
    double ax = 0, ay = 0, dax = 0, day = 0;
    for (int k = 0; k < 2; k++) {
      double px = x - 10, py = y - (k ? 0 : 10 - w), s = px * px + py * py, q = 1 / (s * std::sqrt(s));
      ax += px * q;
      ay += py * q;
      if constexpr (slopes) {
        double dpx = dx, dpy = dy + (k ? 0 : 1), dq = -3 * q / s * (px * dpx + py * dpy);
        dax += dpx * q + px * dq;
        day += dpy * q + py * dq;
      }
    }
    x += dt * vx;
    y += dt * vy;
    if constexpr (slopes) dx += dt * dvx, dy += dt * dvy;
    if (y <= 0) {
      double t = y / vy, end = x - t * vx;
      if constexpr (slopes) {
        double d_end = dx - (dy - t * dvy) / vy * vx - t * dvx;
        return {end * end, 2 * end * d_end};
      }
      return {end * end, 0};
    }
    vx += dt * ax;
    vy += dt * ay;
    if constexpr (slopes) dvx += dt * dax, dvy += dt * day;
  }
}

}  // namespace

extern "C" {

double gmm_objective(long d, long k, long n, const double* alpha, const double* mu, const double* q, const double* below,
                     const double* x) {
  long t = d * (d - 1) / 2;
  Row e(k * d), weight(k), y(d), z(d), terms(k);
  double squares = 0, total = 0;
  for (long a = 0; a < k; a++) {
    weight[a] = alpha[a];
    for (long j = 0; j < d; j++) {
      e[a * d + j] = std::exp(q[a * d + j]);
      weight[a] += q[a * d + j];
      squares += e[a * d + j] * e[a * d + j];
    }
    for (long j = 0; j < t; j++) squares += below[a * t + j] * below[a * t + j];
  }
  for (long i = 0; i < n; i++) {
    for (long a = 0; a < k; a++) {
      for (long j = 0; j < d; j++) y[j] = x[i * d + j] - mu[a * d + j];
      triangle_times(d, &e[a * d], &below[a * t], y.data(), z.data());
      double s = 0;
      for (long j = 0; j < d; j++) s += z[j] * z[j];
      terms[a] = weight[a] - 0.5 * s;
    }
    total += log_sum_exp(terms.data(), k);
  }
  return total - n * log_sum_exp(alpha, k) + gmm_constant(d, k, n) - 0.5 * squares;
}

void gmm_jacobian(long d, long k, long n, const double* alpha, const double* mu, const double* q, const double* below,
                  const double* x, double* d_alpha, double* d_mu, double* d_q, double* d_below) {
  long t = d * (d - 1) / 2;
  Row e(k * d), weight(k), terms(k), ys(k * d), zs(k * d), back(d);
  std::fill(d_mu, d_mu + k * d, 0.0);
  std::fill(d_q, d_q + k * d, 0.0);
  std::fill(d_below, d_below + k * t, 0.0);
  double all = log_sum_exp(alpha, k);
  for (long a = 0; a < k; a++) {
    weight[a] = alpha[a];
    d_alpha[a] = -n * std::exp(alpha[a] - all);
    for (long j = 0; j < d; j++) e[a * d + j] = std::exp(q[a * d + j]), weight[a] += q[a * d + j];
  }
  Row share(k, 0.0);
  for (long i = 0; i < n; i++) {
    for (long a = 0; a < k; a++) {
      double *y = &ys[a * d], *z = &zs[a * d], s = 0;
      for (long j = 0; j < d; j++) y[j] = x[i * d + j] - mu[a * d + j];
      triangle_times(d, &e[a * d], &below[a * t], y, z);
      for (long j = 0; j < d; j++) s += z[j] * z[j];
      terms[a] = weight[a] - 0.5 * s;
    }
    double top = log_sum_exp(terms.data(), k);
    for (long a = 0; a < k; a++) {
      double p = terms[a] - top < -690 ? 0 : std::exp(terms[a] - top);  // below: denormal numbers, which are slow
      share[a] += p;
      const double *y = &ys[a * d], *z = &zs[a * d], *column = &below[a * t];
      double *to = &d_below[a * t], *to_q = &d_q[a * d], *to_mu = &d_mu[a * d];
      for (long j = 0; j < d; j++) back[j] = -p * z[j];
      for (long j = 0; j < d; j++) {
        to_q[j] += back[j] * y[j] * e[a * d + j];
        double sum = back[j] * e[a * d + j];
        for (long l = 0; l < d - j - 1; l++) to[l] += back[j + 1 + l] * y[j];
        for (long l = 0; l < d - j - 1; l++) sum += column[l] * back[j + 1 + l];
        to_mu[j] -= sum;
        column += d - j - 1;
        to += d - j - 1;
      }
    }
  }
  for (long a = 0; a < k; a++) {
    d_alpha[a] += share[a];
    for (long j = 0; j < d; j++) d_q[a * d + j] += share[a] - e[a * d + j] * e[a * d + j];
    for (long j = 0; j < t; j++) d_below[a * t + j] -= below[a * t + j];
  }
}

void ba_objective(long n, long m, long p, const double* cams, const double* points, const double* w, const double* feats,
                  double* errors, double* weights) {
  Turned turned;
  for (long i = 0; i < p; i++) {
    observation<false>(cams + 11 * (i % n), points + 3 * (i % m), w[i], feats + 2 * i, turned);
    errors[2 * i] = turned.value[0];
    errors[2 * i + 1] = turned.value[1];
  }
  for (long i = 0; i < p; i++) weights[i] = 1 - w[i] * w[i];
}

void ba_jacobian(long n, long m, long p, const double* cams, const double* points, const double* w, const double* feats,
                 int64_t* rows, int64_t* cols, double* vals) {
  Turned turned;
  rows[0] = 0;
  for (long i = 0; i < p; i++) {
    long cam = i % n, point = i % m;
    observation<true>(cams + 11 * cam, points + 3 * point, w[i], feats + 2 * i, turned);
    for (int k = 0; k < 2; k++) {
      long at = 30 * i + 15 * k;
      rows[2 * i + k + 1] = at + 15;
      for (int j = 0; j < 11; j++) cols[at + j] = 11 * cam + j;
      for (int j = 0; j < 3; j++) cols[at + 11 + j] = 11 * n + 3 * point + j;
      cols[at + 14] = 11 * n + 3 * m + i;
      std::copy(turned.jacobian[k], turned.jacobian[k] + 15, vals + at);
    }
  }
  for (long i = 0; i < p; i++) {
    rows[2 * p + i + 1] = 30 * p + i + 1;
    cols[30 * p + i] = 11 * n + 3 * m + i;
    vals[30 * p + i] = -2 * w[i];
  }
}

double lstm_objective(long layers, long c, long b, const double* params, const double* extra, const double* state,
                      const double* sequence) {
  Row s(state, state + 2 * layers * b), v(b), y(b);
  double total = 0;
  for (long t = 0; t + 1 < c; t++) {
    for (long j = 0; j < b; j++) v[j] = sequence[t * b + j] * extra[j];
    for (long k = 0; k < layers; k++) {
      const double *w = params + 8 * k * b, *bias = w + 4 * b;
      double *hidden = &s[2 * k * b], *cell = hidden + b;
      for (long j = 0; j < b; j++) {
        double f = sg(v[j] * w[j] + bias[j]), i = sg(hidden[j] * w[b + j] + bias[b + j]);
        double o = sg(v[j] * w[2 * b + j] + bias[2 * b + j]), g = std::tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]);
        cell[j] = cell[j] * f + i * g;
        v[j] = hidden[j] = o * std::tanh(cell[j]);
      }
    }
    double sum = 2;
    for (long j = 0; j < b; j++) y[j] = v[j] * extra[b + j] + extra[2 * b + j], sum += std::exp(y[j]);
    for (long j = 0; j < b; j++) total += sequence[(t + 1) * b + j] * (y[j] - std::log(sum));
  }
  return -total / ((c - 1) * b);
}

void lstm_jacobian(long layers, long c, long b, const double* params, const double* extra, const double* state,
                   const double* sequence, double* d_params, double* d_extra) {
  struct Kept {
    double f, i, o, g, t, v, hidden, cell;
  };
  std::vector<Kept> tape((c - 1) * layers * b);
  Row s(state, state + 2 * layers * b), v(b), y(b), shares((c - 1) * b), ends((c - 1) * b);
  std::fill(d_params, d_params + 8 * layers * b, 0.0);
  std::fill(d_extra, d_extra + 3 * b, 0.0);
  Kept* kept = tape.data();
  for (long t = 0; t + 1 < c; t++) {
    for (long j = 0; j < b; j++) v[j] = sequence[t * b + j] * extra[j];
    for (long k = 0; k < layers; k++) {
      const double *w = params + 8 * k * b, *bias = w + 4 * b;
      double *hidden = &s[2 * k * b], *cell = hidden + b;
      for (long j = 0; j < b; j++, kept++) {
        *kept = {sg(v[j] * w[j] + bias[j]),
                 sg(hidden[j] * w[b + j] + bias[b + j]),
                 sg(v[j] * w[2 * b + j] + bias[2 * b + j]),
                 std::tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]),
                 0,
                 v[j],
                 hidden[j],
                 cell[j]};
        cell[j] = cell[j] * kept->f + kept->i * kept->g;
        kept->t = std::tanh(cell[j]);
        v[j] = hidden[j] = kept->o * kept->t;
      }
    }
    double sum = 2, targets = 0;
    double *share = &shares[t * b], *end = &ends[t * b];
    for (long j = 0; j < b; j++) {
      end[j] = v[j];
      share[j] = std::exp(v[j] * extra[b + j] + extra[2 * b + j]);
      sum += share[j];
      targets += sequence[(t + 1) * b + j];
    }
    for (long j = 0; j < b; j++) share[j] = sequence[(t + 1) * b + j] - share[j] * (targets / sum);
  }
  double scale = -1.0 / ((c - 1) * b);
  Row ct(2 * layers * b, 0.0), down(b);
  for (long t = c - 2; t >= 0; t--) {
    for (long j = 0; j < b; j++) {
      double ct_y = scale * shares[t * b + j];
      d_extra[b + j] += ct_y * ends[t * b + j];
      d_extra[2 * b + j] += ct_y;
      down[j] = ct_y * extra[b + j];
    }
    for (long k = layers - 1; k >= 0; k--) {
      const double* w = params + 8 * k * b;
      double *dw = d_params + 8 * k * b, *dbias = dw + 4 * b, *ct_hidden = &ct[2 * k * b], *ct_cell = ct_hidden + b;
      const Kept* row = &tape[(t * layers + k) * b];
      for (long j = 0; j < b; j++) {
        const Kept& r = row[j];
        double h = down[j] + ct_hidden[j];
        double cell = ct_cell[j] + h * r.o * (1 - r.t * r.t);
        double f = cell * r.cell * r.f * (1 - r.f), i = cell * r.g * r.i * (1 - r.i);
        double o = h * r.t * r.o * (1 - r.o), g = cell * r.i * (1 - r.g * r.g);
        dbias[j] += f;
        dbias[b + j] += i;
        dbias[2 * b + j] += o;
        dbias[3 * b + j] += g;
        dw[j] += f * r.v;
        dw[b + j] += i * r.hidden;
        dw[2 * b + j] += o * r.v;
        dw[3 * b + j] += g * r.hidden;
        ct_cell[j] = cell * r.f;
        ct_hidden[j] = i * w[b + j] + g * w[3 * b + j];
        down[j] = f * w[j] + o * w[2 * b + j];
      }
    }
    for (long j = 0; j < b; j++) d_extra[j] += down[j] * sequence[t * b + j];
  }
}

double kmeans_cost(long k, long n, long d, const double* centroids, const double* points) {
  double total = 0;
  for (long i = 0; i < n; i++) {
    double least = INFINITY;
    for (long j = 0; j < k; j++) {
      double s = 0;
      for (long l = 0; l < d; l++) s += (points[i * d + l] - centroids[j * d + l]) * (points[i * d + l] - centroids[j * d + l]);
      least = std::min(least, s);
    }
    total += least;
  }
  return total;
}

void kmeans_dir(long k, long n, long d, const double* centroids, const double* points, double* direction) {
  Row sums(k * d, 0.0), counts(k, 0.0);
  for (long i = 0; i < n; i++) {
    double least = INFINITY;
    long nearest = 0;
    for (long j = 0; j < k; j++) {
      double s = 0;
      for (long l = 0; l < d; l++) s += (points[i * d + l] - centroids[j * d + l]) * (points[i * d + l] - centroids[j * d + l]);
      if (s < least) least = s, nearest = j;
    }
    counts[nearest] += 2;
    for (long l = 0; l < d; l++) sums[nearest * d + l] += 2 * (centroids[nearest * d + l] - points[i * d + l]);
  }
  for (long j = 0; j < k; j++)
    for (long l = 0; l < d; l++) direction[j * d + l] = sums[j * d + l] / counts[j];
}

double llsq_primal(long m, long n, const double* x) {
  double total = 0;
  for (long i = 0; i < n; i++) {
    double t = -1 + i * 2.0 / (n - 1), rest = (t > 0) - (t < 0), power = 1;
    for (long j = 0; j < m; j++) rest -= x[j] * power, power *= t;
    total += rest * rest;
  }
  return total / 2;
}

void llsq_gradient(long m, long n, const double* x, double* gradient) {
  Row powers(m);
  std::fill(gradient, gradient + m, 0.0);
  for (long i = 0; i < n; i++) {
    double t = -1 + i * 2.0 / (n - 1), rest = (t > 0) - (t < 0), power = 1;
    for (long j = 0; j < m; j++) powers[j] = power, rest -= x[j] * power, power *= t;
    for (long j = 0; j < m; j++) gradient[j] -= rest * powers[j];
  }
}

double particle(double w) {
  Path here = path<true>(w);
  double step = 1e-5;
  int i = 0;
  while (std::abs(here.slope) > 1e-5) {
    if (i == 10) {
      step *= 2;
      i = 0;
      continue;
    }
    double next = w - step * here.slope;
    if (std::abs(w - next) <= 1e-5) return w;
    double value = path<false>(next).value;
    if (value < here.value) {
      w = next;
      here = path<true>(w);
      i++;
    } else {
      step /= 2;
      i = 0;
    }
  }
  return w;
}
}
