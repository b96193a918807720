// The loss and its gradient of billiards and of the robot by npm `rose`: how long, how large, and what comes out.
import * as R from "rose";

const { Real, Dual, Vec, fn, opaque, vec, sum, select, add, sub, mul, div, neg, lt, and } = R;

const adding = (xs) => xs.reduce((a, b) => add(a, b));
const min = (a, b) => select(lt(a, b), Real, a, b);
const sqr = (x) => mul(x, x);

const sqrt = fn([Real], Real, (x) => R.sqrt(x));
const sin = opaque([Real], Real, Math.sin);
const cos = opaque([Real], Real, Math.cos);
const tanh = opaque([Real], Real, Math.tanh);
sin.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: sin(re), du: mul(du, cos(re)) }));
tanh.jvp = fn([Dual], Dual, ({ re, du }) => {
  const y = tanh(re);
  return { re: y, du: mul(du, sub(1, mul(y, y))) };
});

function billiards({ steps, dt, radius, elasticity, rack, goal }) {
  const n = rack.length + 1;
  const Ball = { x: Real, y: Real, vx: Real, vy: Real };
  const Push = { ix: Real, iy: Real, sx: Real, sy: Real };
  const collide = fn([Ball, Ball], Push, (a, b) => {
    const dx = sub(add(a.x, mul(dt, a.vx)), add(b.x, mul(dt, b.vx)));
    const dy = sub(add(a.y, mul(dt, a.vy)), add(b.y, mul(dt, b.vy)));
    const distance = sqrt(add(sqr(dx), sqr(dy)));
    const scale = div(1, add(distance, 1e-6));
    const ux = mul(scale, dx), uy = mul(scale, dy);
    const approach = add(mul(ux, sub(a.vx, b.vx)), mul(uy, sub(a.vy, b.vy)));
    const hit = and(lt(distance, 2 * radius), lt(approach, 0));
    const impulse = select(hit, Real, mul(-(1 + elasticity) * 0.5, approach), 0);
    const toi = div(sub(distance, 2 * radius), min(-1e-3, approach));
    const shift = mul(min(sub(toi, dt), 0), impulse);
    return { ix: mul(impulse, ux), iy: mul(impulse, uy), sx: mul(shift, ux), sy: mul(shift, uy) };
  });
  const Balls = Vec(n, Ball);
  const step = fn([Balls], Balls, (balls) => {
    const later = [];
    for (let i = 0; i < n; i++) {
      const a = balls[i], pushes = [];
      for (let j = 0; j < n; j++) if (i !== j) pushes.push(collide(a, balls[j]));
      const vx = adding([a.vx, ...pushes.map((p) => p.ix)]), vy = adding([a.vy, ...pushes.map((p) => p.iy)]);
      const x = adding([a.x, mul(dt, vx), ...pushes.map((p) => p.sx)]);
      const y = adding([a.y, mul(dt, vy), ...pushes.map((p) => p.sy)]);
      later.push({ x, y, vx, vy });
    }
    return later;
  });
  const Params = Vec(4, Real);
  const loss = fn([Params], Real, (p) => {
    let balls = [{ x: p[0], y: p[1], vx: p[2], vy: p[3] }, ...rack.map(([x, y]) => ({ x, y, vx: 0, vy: 0 }))];
    for (let t = 0; t < steps; t++) balls = step(balls);
    return add(sqr(sub(balls[n - 1].x, goal[0])), sqr(sub(balls[n - 1].y, goal[1])));
  });
  return { Params, loss, flat: (p) => Array.from({ length: 4 }, (_, i) => p[i]) };
}

function robot({ steps, dt, gravity, drag, ground, goal, waves, hidden, objects, springs }) {
  const n = objects.length, senses = waves + 4 * n + 2, muscles = springs.length;
  const Mass = { x: Real, y: Real, vx: Real, vy: Real };
  const Body = Vec(n, Mass);
  const Params = {
    w1: Vec(hidden, Vec(senses, Real)), b1: Vec(hidden, Real), w2: Vec(muscles, Vec(hidden, Real)), b2: Vec(muscles, Real),
  };
  const layer = (w, b, z, rows, columns) => vec(rows, Real, (i) => tanh(add(sum(columns, (j) => mul(w[i][j], z[j])), b[i])));
  const Senses = Vec(senses, Real), Act = Vec(muscles, Real);
  const control = fn([Params, Senses], Act, (p, z) => {
    const first = layer(p.w1, p.b1, z, hidden, senses);
    return layer(p.w2, p.b2, first, muscles, hidden);
  });
  const sense = fn([Real, Body], Senses, (t, body) => {
    const cx = mul(1 / n, sum(n, (j) => body[j].x)), cy = mul(1 / n, sum(n, (j) => body[j].y));
    const z = [];
    for (let k = 0; k < waves; k++) z.push(sin(add(mul(10, t), ((2 * Math.PI) / waves) * k)));
    for (let j = 0; j < n; j++) {
      const { x, y, vx, vy } = body[j];
      z.push(mul(0.05, sub(x, cx)), mul(0.05, sub(y, cy)), mul(0.05, vx), mul(0.05, vy));
    }
    return [...z, sub(goal[0], cx), sub(goal[1], cy)];
  });
  const Point = { x: Real, y: Real };
  const pull = fn([Point, Point, Real, Real, Real], Point, (a, b, target, stiffness, _) => {
    const dx = sub(a.x, b.x), dy = sub(a.y, b.y);
    const length = add(sqrt(add(sqr(dx), sqr(dy))), 1e-4);
    const q = div(mul(mul(dt, sub(length, target)), stiffness), length);
    return { x: mul(q, dx), y: mul(q, dy) };
  });
  const move = fn([Mass, Point], Mass, ({ x, y, vx, vy }, change) => {
    const fx = add(mul(drag, vx), change.x), fy = add(add(mul(drag, vy), dt * gravity), change.y);
    const touches = and(lt(add(y, mul(dt, fy)), ground), lt(fy, -1e-4));
    const toi = select(touches, Real, div(neg(sub(y, ground)), fy), 0);
    const nx = select(touches, Real, 0, fx), ny = select(touches, Real, 0, fy);
    const rest = sub(dt, toi);
    return { x: add(add(x, mul(toi, fx)), mul(rest, nx)), y: add(add(y, mul(toi, fy)), mul(rest, ny)), vx: nx, vy: ny };
  });
  const step = fn([Params, Real, Body], Body, (p, t, body) => {
    const act = control(p, sense(t, body));
    const changes = objects.map(() => [{ x: 0, y: 0 }]);
    springs.forEach(([a, b, length, stiffness, actuation], i) => {
      const target = mul(length, add(1, mul(actuation, act[i])));
      const q = pull({ x: body[a].x, y: body[a].y }, { x: body[b].x, y: body[b].y }, target, stiffness, 0);
      changes[a].push({ x: neg(q.x), y: neg(q.y) });
      changes[b].push(q);
    });
    return changes.map((c, k) => move(body[k], { x: adding(c.map((q) => q.x)), y: adding(c.map((q) => q.y)) }));
  });
  const loss = fn([Params], Real, (p) => {
    let body = objects.map(([x, y]) => ({ x, y, vx: 0, vy: 0 }));
    for (let t = 0; t < steps; t++) body = step(p, t * dt, body);
    return neg(body[0].x);
  });
  const flat = (p) => [...p.w1.flat(), ...p.b1, ...p.w2.flat(), ...p.b2];
  return { Params, loss, flat };
}

const median = (xs) => xs.slice().sort((a, b) => a - b)[xs.length >> 1];

/** What the gradient of `app` costs in this engine, in the seconds of `clock`: to the first, and the median of `repeat`. */
export default async function timed(app, spec, repeat, clock) {
  let bytes = 0;
  const engine = WebAssembly.compile;
  WebAssembly.compile = (code) => { bytes = code.byteLength; return engine.call(WebAssembly, code); };
  const start = clock();
  const { Params, loss, flat } = { billiards, robot }[app](spec);
  const both = fn([Params], { loss: Real, gradient: Params }, (p) => {
    const { ret, grad } = R.vjp(loss)(p);
    return { loss: ret, gradient: grad(1) };
  });
  const call = await R.compile(both);
  const found = call(spec.params);
  const total = clock() - start;
  const times = [];
  for (let k = 0; k < repeat; k++) {
    globalThis.gc?.();
    const before = clock();
    call(spec.params);
    times.push(clock() - before);
  }
  return { total, call: median(times), bytes, loss: found.loss, gradient: flat(found.gradient) };
}
