"""Programs as users wrote them, whose first calls took seconds: objects that change, lists of objects, lists at an
index of the loop, slices that shrink, helpers of any number of arguments."""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose

# --- a circuit: elements stamp themselves into the matrix of a net


class Element:
    """What lies between two nodes."""

    def __init__(self, a: str, b: str):
        self.a, self.b = a, b

    def drop(self, v: Any) -> Any:
        """The voltage across it."""
        return v[self.a] - v[self.b]


class Resistor(Element):
    """Ohms."""

    def __init__(self, a: str, b: str, ohms: Any):
        super().__init__(a, b)
        self.ohms = ohms

    def stamp(self, net: Any, v: Any, dt: float) -> None:
        """Its conductance."""
        net.conductance(self.a, self.b, 1 / self.ohms)


class Current(Element):
    """Amperes, which change."""

    def __init__(self, a: str, b: str, amps: Any):
        super().__init__(a, b)
        self.amps = amps

    def stamp(self, net: Any, v: Any, dt: float) -> None:
        """Its current."""
        net.current(self.a, self.b, self.amps)


class Capacitor(Element):
    """Farads, and the voltage that it holds."""

    def __init__(self, a: str, b: str, farad: Any):
        super().__init__(a, b)
        self.farad, self.charge = farad, 0.0

    def stamp(self, net: Any, v: Any, dt: float) -> None:
        """Its companion model."""
        g = self.farad / dt
        net.conductance(self.a, self.b, g)
        net.current(self.a, self.b, g * self.charge)


class Diode(Element):
    """Shockley's, linear above a knee."""

    def stamp(self, net: Any, v: Any, dt: float) -> None:
        """Its tangent at the voltage."""
        u, sat, vt, knee = self.drop(v), 1e-12, 0.025, 0.8
        if u > knee:
            i0 = sat * math.exp(knee / vt)
            g = i0 / vt
            i = i0 - sat + g * (u - knee)
        else:
            e = sat * math.exp(u / vt)
            i, g = e - sat, e / vt + 1e-12
        net.conductance(self.a, self.b, g)
        net.current(self.a, self.b, -(i - g * u))


class Net:
    """The equations of the nodes."""

    def __init__(self, nodes: list[str]):
        n = len(nodes)
        self.matrix, self.right = np.zeros((n, n)), np.zeros(n)
        self.at = {name: k - 1 for k, name in enumerate(["gnd", *nodes])}

    def conductance(self, a: str, b: str, g: Any) -> None:
        """Between two nodes."""
        i, j = self.at[a], self.at[b]
        for p, q, s in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            if p >= 0 and q >= 0:
                self.matrix[p, q] += s * g

    def current(self, a: str, b: str, amps: Any) -> None:
        """Into one node, out of the other."""
        for node, sign in (a, 1), (b, -1):
            if (k := self.at[node]) >= 0:
                self.right[k] += sign * amps

    def solve(self) -> Any:
        """The voltages."""
        x = np.linalg.solve(self.matrix, self.right)
        return {name: x[k] if k >= 0 else 0.0 for name, k in self.at.items()}


def newton(elements: list[Any], v: Any, dt: float) -> Any:
    """The voltages at which the currents balance."""
    nodes = [name for name in v if name != "gnd"]
    for _turn in range(80):
        net = Net(nodes)
        for e in elements:
            e.stamp(net, v, dt)
        new = net.solve()
        worst = max(abs(new[n] - v[n]) for n in nodes)
        v = {n: v[n] + max(-0.3, min(0.3, new[n] - v[n])) for n in net.at}
        if worst < 1e-10:
            return v
    raise RuntimeError("no convergence")


def circuit(load: float, farad: float, amplitude: float) -> float:
    """The ripple behind a rectifier."""
    elements = [
        Current("in", "gnd", 0.0), Resistor("in", "gnd", 50.0), Diode("in", "out"), Capacitor("out", "gnd", farad),
        Resistor("out", "gnd", load),
    ]  # fmt: skip
    v: Any = {"gnd": 0.0, "in": 0.0, "out": 0.0}
    outs = []
    for k in range(12):
        for e in elements:
            if isinstance(e, Current):
                e.amps = amplitude * math.sin(2 * math.pi * 50 * k * 1e-3)
        v = newton(elements, v, 1e-3)
        for e in elements:
            if isinstance(e, Capacitor):
                e.charge = e.drop(v)
        outs.append(v["out"])
    return max(outs[6:]) - min(outs[6:])


# --- control of a pendulum


class Gains(NamedTuple):
    """Of one step."""

    K: Any
    k: Any


@dataclass(frozen=True)
class Pendulum:
    """With friction."""

    length: float = 0.5
    friction: float = 0.1
    dt: float = 0.05

    def __call__(self, x: Any, u: Any) -> Any:
        """The state after a step."""
        theta, omega = x
        omega = omega + self.dt * (
            (u[0] - self.friction * omega) / self.length**2 - 9.81 / self.length * math.sin(theta)
        )
        return np.array([theta + self.dt * omega, omega])


Q, R, QF, GOAL = np.diag([0.1, 0.01]), np.array([[0.01]]), np.diag([50.0, 5.0]), np.array([math.pi, 0.0])


def stage_cost(x: Any, u: Any) -> Any:
    """Of a state and a control."""
    d = x - GOAL
    return 0.5 * d @ Q @ d + 0.5 * u @ R @ u


def rollout(f: Any, x0: Any, us: Any) -> list[Any]:
    """The states."""
    xs = [x0]
    for u in us:
        xs.append(f(xs[-1], u))
    return xs


def total_cost(us: Any, x0: Any, plant: Any) -> Any:
    """Of a path."""
    *xs, last = rollout(plant, x0, us)
    d = last - GOAL
    return sum(stage_cost(x, u) for x, u in zip(xs, us, strict=False)) + 0.5 * d @ QF @ d


def backward(f: Any, xs: Any, us: Any, reg: Any) -> list[Gains]:
    """The gains, from the last step to the first."""
    V, Vx = QF, QF @ (xs[-1] - GOAL)
    gains = []
    for x, u in zip(reversed(xs[:-1]), reversed(us), strict=False):
        A, B = rose.jacobian(f, argnums=(0, 1))(x, u)
        lx, lu = rose.grad(stage_cost, argnums=(0, 1))(x, u)
        Qx, Qu = lx + A.T @ Vx, lu + B.T @ Vx
        Qxx, Quu, Qux = Q + A.T @ V @ A, R + B.T @ V @ B + reg * np.eye(1), B.T @ V @ A
        K, k = -np.linalg.solve(Quu, Qux), -np.linalg.solve(Quu, Qu)
        V = Qxx + K.T @ Quu @ K + K.T @ Qux + Qux.T @ K
        Vx = Qx + K.T @ Quu @ k + K.T @ Qu + Qux.T @ k
        gains.append(Gains(K, k))
    return gains[::-1]


def ilqr(x0: np.ndarray, plant: Pendulum, us: np.ndarray) -> float:
    """The cost after sweeps of iterative LQR with a line search."""
    reg, xs, best = 1.0, rollout(plant, x0, us), total_cost(us, x0, plant)
    for _ in range(4):
        gains = backward(plant, xs, us, reg)
        for alpha in (1.0, 0.5, 0.25):
            x, new = x0, []
            for g, u, old in zip(gains, us, xs, strict=False):
                new.append(u + alpha * g.k + g.K @ (x - old))
                x = plant(x, new[-1])
            cost = total_cost(np.array(new), x0, plant)
            if cost < best:
                best, us, xs = cost, np.array(new), rollout(plant, x0, new)
                reg = max(reg / 2, 1e-6)
                break
        else:
            reg *= 4
    return best


# --- particles and springs


@dataclass
class Particle:
    """Of a cloth."""

    position: Any
    velocity: Any
    force: Any
    pinned: bool = False


class Spring:
    """Between two particles of a list."""

    def __init__(self, a: int, b: int, rest: float, k: Any):
        self.a, self.b, self.rest, self.k = a, b, rest, k

    def apply(self, particles: list[Particle], damping: Any) -> None:
        """Its force."""
        p, q = particles[self.a], particles[self.b]
        d = q.position - p.position
        length = np.linalg.norm(d)
        rel = np.dot(q.velocity - p.velocity, d) / length
        f = (self.k * (length - self.rest) + damping * rel) / length * d
        p.force += f
        q.force -= f


class Cloth:
    """Hung up at two corners."""

    def __init__(self, rows: int, cols: int, stiffness: Any):
        grid = {(r, c): n for n, (r, c) in enumerate((r, c) for r in range(rows) for c in range(cols))}
        pins = (0, 0), (0, cols - 1)
        self.particles = [
            Particle(np.array([0.1 * c, 0.0, 0.1 * r]), np.zeros(3), np.zeros(3), (r, c) in pins) for r, c in grid
        ]
        self.springs = [
            Spring(n, grid[r + dr, c + dc], 0.1 * math.hypot(dr, dc), stiffness)
            for (r, c), n in grid.items()
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
            if (r + dr, c + dc) in grid
        ]

    def step(self, dt: float, damping: Any, wind: Any) -> None:
        """Move."""
        for p in self.particles:
            p.force = np.array([0.0, -9.81 * 0.02, 0.0]) + wind
        for s in self.springs:
            s.apply(self.particles, damping)
        for p in self.particles:
            if p.pinned:
                continue
            p.velocity = (p.velocity + dt * p.force / 0.02) * 0.999
            p.position = p.position + dt * p.velocity
            if p.position[1] < -0.3:
                p.position[1] = -0.3
                p.velocity[1] *= -0.2


def cloth(stiffness: float, damping: float, wind: np.ndarray) -> float:
    """How low it hangs."""
    hung = Cloth(4, 4, stiffness)
    for _ in range(40):
        hung.step(0.01, damping, wind)
    return min(p.position[1] for p in hung.particles)


# --- a mixture of Gaussians


class Gaussian:
    """One of the mixture."""

    def __init__(self, weight: Any, mean: Any, cov: Any):
        self.weight, self.mean, self.cov = weight, mean, cov

    @property
    def precision(self) -> Any:
        """The inverse covariance."""
        return np.linalg.inv(self.cov)

    def logpdf(self, x: Any) -> Any:
        """The logarithm of its density."""
        d = x - self.mean
        _, logdet = np.linalg.slogdet(self.cov)
        return math.log(self.weight) - 0.5 * (len(x) * math.log(2 * math.pi) + logdet + d @ self.precision @ d)


class Mixture:
    """Gone through part by part."""

    def __init__(self, parts: list[Gaussian]):
        self.parts = parts

    def __iter__(self) -> Any:
        return iter(self.parts)

    def responsibilities(self, points: Any) -> tuple[Any, Any]:
        """Of the parts for the points, and the log likelihood."""
        logs = np.array([[g.logpdf(x) for g in self] for x in points])
        top = logs.max(axis=1, keepdims=True)
        w = np.exp(logs - top)
        total = w.sum(axis=1, keepdims=True)
        return w / total, (top + np.log(total)).sum()

    def maximise(self, points: Any, r: Any, floor: Any) -> "Mixture":
        """The parts that fit best."""
        parts = []
        for k, _ in enumerate(self):
            n = r[:, k].sum()
            mean = r[:, k] @ points / n
            d = points - mean
            cov = (r[:, k, None] * d).T @ d / n + floor * np.eye(points.shape[1])
            parts.append(Gaussian(n / len(points), mean, cov))
        return Mixture(parts)


def mixture(points: np.ndarray, means: np.ndarray, floor: float, tol: float = 1e-6) -> float:
    """The log likelihood after expectation and maximisation."""
    m, last, ll = Mixture([Gaussian(1 / len(means), c, np.eye(2)) for c in means]), -math.inf, 0.0
    for _turn in range(25):
        r, ll = m.responsibilities(points)
        if abs(ll - last) < tol:
            break
        last = ll
        m = m.maximise(points, r, floor)
    return ll


# --- lists


def softmin(gamma: Any, *values: Any) -> Any:
    """Of any number."""
    m = min(values)
    if math.isinf(m):
        return m
    return m - gamma * math.log(sum(math.exp(-(v - m) / gamma) for v in values))


def soft_dtw(x: np.ndarray, y: np.ndarray, gamma: float) -> float:
    """Soft dynamic time warping."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + softmin(gamma, D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def interpolate(x: Any, xs: Any, ys: Any) -> Any:
    """Between the points of a grid."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    i = bisect_right(xs, x) - 1
    w = (x - xs[i]) / (xs[i + 1] - xs[i])
    return (1 - w) * ys[i] + w * ys[i + 1]


def utility(c: Any) -> Any:
    """Of consumption."""
    return -1e10 if c <= 0 else -1 / c


def value_iteration(alpha: float, beta: float, k0: float, grid: list[float]) -> float:
    """Welfare by value function iteration on a list."""
    v = [utility(0.3 * k**alpha) for k in grid]
    for _ in range(5):
        v = [
            max(
                utility(k**alpha - k2) + beta * interpolate(k2, grid, v)
                for k2 in [s * k**alpha for s in (0.5, 0.6, 0.7, 0.8, 0.9)]
            )
            for k in grid
        ]
    return interpolate(k0, grid, v)


def knapsack(w: list[int], v: list[float]) -> float:
    """By dynamic programming."""
    best = [0.0] * 101
    for wi, vi in zip(w, v, strict=True):
        for c in range(100, -1, -1):
            if wi <= c:
                best[c] = max(best[c], best[c - wi] + vi)
    return best[100]


def american_lists(s: float, k: float, r: float, vol: float) -> float:
    """A put by a binomial tree on lists that shrink."""
    n = 100
    dt = 1.0 / n
    u = math.exp(vol * math.sqrt(dt))
    p = (math.exp(r * dt) - 1 / u) / (u - 1 / u)
    v = [max(k - s * u ** (2 * j - n), 0.0) for j in range(n + 1)]
    for m in range(n - 1, -1, -1):
        v = [max(math.exp(-r * dt) * (p * v[j + 1] + (1 - p) * v[j]), k - s * u ** (2 * j - m)) for j in range(m + 1)]
    return v[0]


def american_slices(strike: float, spot: float, rate: float, vol: float) -> float:
    """The same on arrays, by slices that shrink."""
    steps = 200
    dt = 1.0 / steps
    u = np.exp(vol * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / u) / (u - 1 / u)
    prices = spot * u ** (2.0 * np.arange(steps + 1) - steps)
    values = np.maximum(strike - prices, 0.0)
    for i in range(steps - 1, -1, -1):
        values[: i + 1] = np.exp(-rate * dt) * (p * values[1 : i + 2] + (1 - p) * values[: i + 1])
        prices[: i + 1] = prices[1 : i + 2] / u
        values[: i + 1] = np.maximum(values[: i + 1], strike - prices[: i + 1])
    return values[0]


def powers(a: list[list[float]]) -> float:
    """Powers of a matrix of lists."""
    n, c = len(a), a
    for _ in range(20):
        c = [[sum(c[i][k] * a[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        t = max(max(r) for r in c)
        c = [[v / t for v in r] for r in c]
    return sum(map(sum, c))


def relaxation(f: list[list[float]]) -> float:
    """Successive over-relaxation on lists of lists."""
    n = len(f)
    u = [[0.0] * n for _ in range(n)]
    for _ in range(50):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i][j] += 1.5 * (0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]) - u[i][j])
    return sum(map(sum, u))


class Body:
    """That moves."""

    def __init__(self, x: Any, y: Any, vx: Any, vy: Any, m: Any):
        self.x, self.y, self.vx, self.vy, self.m = x, y, vx, vy, m


def bodies(start: np.ndarray) -> float:
    """Objects in a list that pull one another."""
    bs = [Body(*row) for row in start]
    for _ in range(300):
        for i, a in enumerate(bs):
            for j, b in enumerate(bs):
                if i == j:
                    continue
                dx, dy = b.x - a.x, b.y - a.y
                r2 = dx * dx + dy * dy + 1e-3
                f = 0.01 * b.m / (r2 * math.sqrt(r2))
                a.vx += f * dx
                a.vy += f * dy
        for b in bs:
            b.x += 0.01 * b.vx
            b.y += 0.01 * b.vy
    return sum(b.x * b.y for b in bs)


def conjugate_gradients(a: np.ndarray, b: np.ndarray) -> float:
    """The number of the iteration that ends it is part of the result."""
    x, r = np.zeros_like(b), b
    p, rs, k = r.copy(), r @ r, 0
    for k in range(200):  # noqa: B007  # the result has it
        ap = a @ p
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        if math.sqrt(new) < 1e-10:
            break
        p, rs = r + new / rs * p, new
    return x.sum() + k


# --- measurements of several classes


@dataclass(frozen=True)
class Distance:
    """To a beacon."""

    beacon: int
    distance: float


@dataclass(frozen=True)
class Bearing:
    """And its direction."""

    beacon: int
    distance: float
    bearing: float


@dataclass
class Track:
    """A state and its covariance."""

    mean: Any
    cov: Any
    loglik: Any = 0.0


BEACONS = ((0.0, 0.0), (5.0, 0.0), (0.0, 5.0))


def wrapped(angle: Any) -> Any:
    """Between -pi and pi."""
    while angle > math.pi:
        angle -= 2 * math.pi
    while angle < -math.pi:
        angle += 2 * math.pi
    return angle


def predicted(track: Track, control: Any, noise: Any) -> Track:
    """A step later."""
    v, w = control
    x, y, th = track.mean
    mean = np.array([x + 0.1 * v * math.cos(th), y + 0.1 * v * math.sin(th), wrapped(th + 0.1 * w)])
    F = np.eye(3)
    F[0, 2] = -0.1 * v * math.sin(th)
    F[1, 2] = 0.1 * v * math.cos(th)
    return replace(track, mean=mean, cov=F @ track.cov @ F.T + np.diag([0.1, 0.1, 0.05]) * noise**2)


def updated(track: Track, z: Any, noise: Any) -> Track:
    """With a measurement."""
    bx, by = BEACONS[z.beacon]
    dx, dy = bx - track.mean[0], by - track.mean[1]
    q = dx * dx + dy * dy
    d = math.sqrt(q)
    if isinstance(z, Distance):
        H, r, N = np.array([[-dx / d, -dy / d, 0.0]]), np.array([z.distance - d]), np.array([[noise**2]])
    else:
        H = np.array([[-dx / d, -dy / d, 0.0], [dy / q, -dx / q, -1.0]])
        r = np.array([z.distance - d, wrapped(z.bearing - (math.atan2(dy, dx) - track.mean[2]))])
        N = np.diag([noise**2, 0.04 * noise**2])
    S = H @ track.cov @ H.T + N
    far = r @ np.linalg.solve(S, r)
    if far > 25.0:
        return track
    K = track.cov @ H.T @ np.linalg.inv(S)
    left = np.eye(3) - K @ H
    ll = -0.5 * (far + np.log(np.linalg.det(2 * np.pi * S)))
    return Track(track.mean + K @ r, left @ track.cov @ left.T + K @ N @ K.T, track.loglik + ll)


def measurements(noise: float, mean: np.ndarray, controls: list, seen: list) -> float:
    """The log likelihood of measurements of two classes, some of them missing, by an extended Kalman filter."""
    track = Track(mean, np.diag([0.1, 0.1, 0.05]))
    for u, z in zip(controls, seen, strict=True):
        track = predicted(track, u, noise)
        if z is None:
            continue
        track = updated(track, z, noise)
    return track.loglik


def _seen(steps: int) -> tuple[list[Any], list[Any]]:
    x, y, th, controls, seen = 1.0, 1.0, 0.3, [], []
    for k in range(steps):
        u = (1.0, 0.5 if k % 4 else 0.0)
        x, y, th = x + 0.1 * math.cos(th), y + 0.1 * math.sin(th), th + 0.1 * u[1]
        bx, by = BEACONS[k % 3]
        d, angle = math.hypot(bx - x, by - y), math.atan2(by - y, bx - x) - th
        controls.append(u)
        seen.append(None if k % 3 == 2 else Distance(k % 3, d) if k % 2 else Bearing(k % 3, d, angle))
    return controls, seen


rng = np.random.default_rng(0)
SQUARE = rng.normal(size=(8, 8))
PLAIN: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {
    "circuit": (circuit, (1000.0, 1e-5, 0.1), (0, 1, 2)),
    "iLQR": (ilqr, (np.array([0.1, 0.0]), Pendulum(), 0.1 * np.sin(np.arange(20.0))[:, None]), (0,)),
    "cloth": (cloth, (20.0, 0.05, np.array([0.05, 0.0, 0.1])), (0, 1, 2)),
    "mixture": (mixture, (rng.normal(size=(24, 2)), np.array([[0.3, 0.2], [1.5, 1.2], [0.2, 2.0]]), 1e-3), (0, 2)),
    "soft-DTW": (soft_dtw, (np.sin(np.arange(30.0)), np.cos(np.arange(40.0)), 0.5), (0, 1)),
    "value iteration": (value_iteration, (0.33, 0.95, 1.3, [0.5 * (i + 1) for i in range(6)]), (0, 1)),
    "knapsack": (knapsack, (rng.integers(1, 30, 8).tolist(), rng.random(8).tolist()), (1,)),
    "American option, lists": (american_lists, (100.0, 105.0, 0.05, 0.2), (0, 3)),
    "American option, slices": (american_slices, (105.0, 100.0, 0.05, 0.2), (1, 3)),
    "powers of a matrix": (powers, (rng.random((6, 6)).tolist(),), (0,)),
    "relaxation": (relaxation, (rng.normal(size=(8, 8)).tolist(),), (0,)),
    "bodies": (bodies, (rng.normal(size=(4, 5)) ** 2,), (0,)),
    "conjugate gradients": (conjugate_gradients, (SQUARE @ SQUARE.T + np.eye(8), np.ones(8)), (0, 1)),
    "measurements": (measurements, (0.1, np.array([1.1, 0.9, 0.25]), *_seen(36)), (0, 1)),
}
"""The programs, arguments, and what they are derived by."""
