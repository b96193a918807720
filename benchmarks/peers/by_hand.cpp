// Hand tracking, minors and log-sum-exp with derivatives written by hand: what `benchmarks.by_hand` measures rosejit by.
// g++ -O3 -march=native, no -ffast-math; one thread, plain loops over arrays whose last axis is the long one.

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr long BONES = 22, FINGERS = 5, CHAIN = 4;

struct Matrix {  // the upper three rows of a rigid motion
  double m[3][4];
};

Matrix times(const Matrix& a, const Matrix& b, double last) {  // `last`: the corner of b's fourth row
  Matrix c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      double s = j == 3 ? a.m[i][3] * last : 0;
      for (int k = 0; k < 3; k++) s += a.m[i][k] * b.m[k][j];
      c.m[i][j] = s;
    }
  return c;
}

Matrix upper(const double* square) {
  Matrix a;
  for (int i = 0; i < 12; i++) a.m[i / 4][i % 4] = square[i];
  return a;
}

// The rotation by z about the third axis after x about the first, or its slope by x (1) or z (2); without a shift.
Matrix bend(double x, double z, int slope) {
  double cx = std::cos(x), sx = std::sin(x), cz = std::cos(z), sz = std::sin(z), one = 1;
  if (slope == 1) {
    double c = cx;
    cx = -sx, sx = c, one = 0;
  }
  if (slope == 2) {
    double c = cz;
    cz = -sz, sz = c;
    return {{{cz, -sz * cx, sz * sx, 0}, {sz, cz * cx, -cz * sx, 0}, {0, 0, 0, 0}}};
  }
  return {{{one * cz, -sz * cx, sz * sx, 0}, {one * sz, cz * cx, -cz * sx, 0}, {0, sx, cx, 0}}};
}

// The rotation by the vector r, and its slopes by r.
void rotation(const double* r, double R[3][3], double dR[3][3][3]) {
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], norm = std::sqrt(square), c = std::cos(norm), s = std::sin(norm);
  double a[3] = {r[0] / norm, r[1] / norm, r[2] / norm};
  auto cross = [](const double* v, int i, int j) { return i == j ? 0.0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * v[3 - i - j]; };
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[i][j] = a[i] * a[j] * (1 - c) + (i == j) * c + s * cross(a, i, j);
  for (int k = 0; k < 3; k++) {
    double da[3];
    for (int i = 0; i < 3; i++) da[i] = ((i == k) - a[i] * a[k]) / norm;
    double dc = -s * a[k], ds = c * a[k];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        dR[k][i][j] = (da[i] * a[j] + a[i] * da[j]) * (1 - c) - a[i] * a[j] * dc + (i == j) * dc + ds * cross(a, i, j) +
                      s * cross(da, i, j);
  }
}

// p += w * (t applied to the base positions), all of v points; dt has no fourth row.
void skin(long v, const Matrix& t, const double* base, const double* w, double* p) {
  for (int i = 0; i < 3; i++) {
    const double* m = t.m[i];
    for (long k = 0; k < v; k++)
      p[i * v + k] += w[k] * (m[0] * base[k] + m[1] * base[v + k] + m[2] * base[2 * v + k] + m[3]);
  }
}

void turn(long v, const double R[3][3], const double* p, const double* shift, double sign, double* q) {
  for (int i = 0; i < 3; i++)
    for (long k = 0; k < v; k++)
      q[i * v + k] = sign * (R[i][0] * p[k] + R[i][1] * p[v + k] + R[i][2] * p[2 * v + k] + shift[i]);
}

// Positions of the vertices, and minus their slopes by 26 parameters (none of the three shifts': they are one).
void hand(long v, const double* theta, const double* relative, const double* inverse, const double* base,
          const double* weights, double* at, double* slopes) {
  std::vector<double> p(3 * v, 0.0), dp(3 * v * 4 * FINGERS, 0.0);
  Matrix absolute[BONES], d[BONES][CHAIN];
  for (long bone = 0; bone < BONES; bone++) {
    long finger = (bone - 1) / CHAIN, joint = (bone - 1) % CHAIN, count = 0;
    bool moves = bone > 0 && bone < BONES - 1 && joint > 0;
    const double* t = theta + 6 + 4 * finger;
    double x = moves ? t[joint == 1 ? 0 : joint] : 0, z = moves && joint == 1 ? t[1] : 0;
    long parent = bone == 0 ? -1 : (joint == 0 || bone == BONES - 1 ? 0 : bone - 1);
    Matrix own = upper(relative + 16 * bone), local = times(own, bend(x, z, 0), 1);
    absolute[bone] = parent < 0 ? local : times(absolute[parent], local, 1);
    if (moves) {
      for (; count < (joint == 1 ? 0 : joint); count++) d[bone][count] = times(d[bone - 1][count], local, 1);
      for (int slope = 1; slope <= (joint == 1 ? 2 : 1); slope++)
        d[bone][count++] = times(absolute[parent], times(own, bend(x, z, slope), 0), 0);
    }
    Matrix back = upper(inverse + 16 * bone);
    skin(v, times(absolute[bone], back, 1), base, weights + bone * v, p.data());
    for (long j = 0; j < count; j++)
      skin(v, times(d[bone][j], back, 1), base, weights + bone * v, dp.data() + 3 * v * (4 * finger + j));
  }
  double R[3][3], dR[3][3][3], none[3] = {0, 0, 0};
  rotation(theta, R, dR);
  turn(v, R, p.data(), theta + 3, 1, at);
  for (int k = 0; k < 3; k++) turn(v, dR[k], p.data(), none, -1, slopes + 3 * v * k);
  for (int k = 0; k < 4 * FINGERS; k++) turn(v, R, dp.data() + 3 * v * k, none, -1, slopes + 3 * v * (3 + k));
}

// Chains of joints: parameters 0 and 1 of a finger bend its second bone, 2 and 3 the others.

}  // namespace

extern "C" {

// errors: 3 x n; jacobian: 3 x n x 26.
void hand_tracking(long v, long n, const double* theta, const double* relative, const double* inverse, const double* base,
                   const double* weights, const long* which, const double* points, double* errors, double* jacobian) {
  std::vector<double> at(3 * v), slopes(3 * v * 23);
  hand(v, theta, relative, inverse, base, weights, at.data(), slopes.data());
  for (int i = 0; i < 3; i++)
    for (long c = 0; c < n; c++) {
      long k = i * v + which[c];
      errors[i * n + c] = points[i * n + c] - at[k];
      double* row = jacobian + 26 * (i * n + c);
      for (int j = 0; j < 3; j++) row[j] = slopes[3 * v * j + k], row[3 + j] = i == j ? -1 : 0;
      for (int j = 0; j < 20; j++) row[6 + j] = slopes[3 * v * (3 + j) + k];
    }
}

// With points of triangles; jacobian: 3 x n x 28, the coordinates in the triangle first.
void hand_tracking_complicated(long v, long n, const double* theta, const double* us, const double* relative,
                               const double* inverse, const double* base, const double* weights, const long* triangles,
                               const long* which, const double* points, double* errors, double* jacobian) {
  std::vector<double> at(3 * v), slopes(3 * v * 23);
  hand(v, theta, relative, inverse, base, weights, at.data(), slopes.data());
  for (int i = 0; i < 3; i++)
    for (long c = 0; c < n; c++) {
      const long* corner = triangles + 3 * which[c];
      long a = i * v + corner[0], b = i * v + corner[1], e = i * v + corner[2];
      double x = us[2 * c], y = us[2 * c + 1], z = 1 - x - y;
      errors[i * n + c] = points[i * n + c] - (x * at[a] + y * at[b] + z * at[e]);
      double* row = jacobian + 28 * (i * n + c);
      row[0] = at[e] - at[a], row[1] = at[e] - at[b];
      for (int j = 0; j < 3; j++) row[5 + j] = i == j ? -1 : 0;
      for (int j = 0; j < 23; j++) {
        const double* s = slopes.data() + 3 * v * j;
        row[j < 3 ? 2 + j : 5 + j] = x * s[a] + y * s[b] + z * s[e];
      }
    }
}

double lse(long n, const double* x) {
  double top = *std::max_element(x, x + n), sum = 0;
  for (long i = 0; i < n; i++) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

void lse_gradient(long n, const double* x, double* gradient) {
  double top = *std::max_element(x, x + n), sum = 0;
  for (long i = 0; i < n; i++) sum += gradient[i] = std::exp(x[i] - top);
  for (long i = 0; i < n; i++) gradient[i] /= sum;
}
}
