// The layout energies of Penrose by npm `rose`, as the Rose paper builds them, and the layouts by the optimiser of
// benchmarks/penrose/layout.py, step for step.
//   node --expose-gc penrose.mjs GRAPH.json.gz REPEAT BUDGET_MS
import fs from "node:fs";
import zlib from "node:zlib";
import * as R from "rose";

// ---- graphs and clocks ---------------------------------------------------------------------------------------------
const SPECIAL = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity, "-0": -0 };
const number = (v) => (typeof v === "string" ? SPECIAL[v] : v);
const LEAF = new Set(["input", "param", "const", "bconst"]);

const absolutise = (nodes) =>
  nodes.map((n, i) => {
    if (LEAF.has(n[0])) return n;
    if (n[0] === "out") return ["out", i - n[1], n[2]];
    const skip = n[0] === "call" ? 2 : 1;
    return n.map((v, p) => (p < skip ? v : i - v));
  });

function loadGraph(path) {
  let raw = fs.readFileSync(path);
  if (path.endsWith(".gz")) raw = zlib.gunzipSync(raw);
  const g = JSON.parse(raw.toString("utf8"));
  if (g.operands === "relative") {
    g.nodes = absolutise(g.nodes);
    for (const f of g.fns) f.nodes = absolutise(f.nodes);
  }
  g.x0 = g.x0.map(number);
  g.opCount = g.nodes.filter((n) => !LEAF.has(n[0])).length;
  return g;
}

/** Node operands as a list of node ids. */
const operands = (n) =>
  LEAF.has(n[0]) ? [] : n[0] === "out" ? [n[1]] : n.slice(n[0] === "call" ? 2 : 1);

/** Ids of all nodes a root needs, ascending (= topological). */
function reachable(nodes, roots) {
  const seen = new Uint8Array(nodes.length);
  const todo = [];
  for (const r of roots) if (!seen[r]) { seen[r] = 1; todo.push(r); }
  const ids = [];
  while (todo.length) {
    const i = todo.pop();
    ids.push(i);
    for (const j of operands(nodes[i])) if (!seen[j]) { seen[j] = 1; todo.push(j); }
  }
  return ids.sort((a, b) => a - b);
}

const bits = (s) => Array.from(s, (ch) => ch === "1");
function masks(g, stage) {
  if (stage >= 0) {
    const s = g.stages[stage];
    return { inp: bits(s.input_mask), obj: bits(s.obj_mask), con: bits(s.constr_mask) };
  }
  const on = (k) => new Array(k).fill(true);
  return { inp: on(g.n_inputs), obj: on(g.objectives.length), con: on(g.constraints.length) };
}

const gap = (got, want, scale) => {
  if (got === want || (got !== got && want !== want)) return 0;
  if (!Number.isFinite(got) || !Number.isFinite(want)) return Infinity;
  return Math.abs(got - want) / Math.max(scale, Math.abs(want), 1e-300);
};

/** evaluate(x, weight, masks) -> {phi, grad}; returns worst errors over the stored reference points.
 * Gradient errors are relative to the largest entry of the reference gradient. "final" points, where residuals
 * cancel to ~0, are kept apart. */
function compare(g, evaluate) {
  const worst = { phi: 0, grad: 0, phi_final: 0, grad_final: 0, points: 0 };
  for (const r of g.ref) {
    const x = r.x ? r.x.map(number) : g.x0;
    const m = masks(g, r.stage);
    const got = evaluate(x, r.weight, m);
    const want = r.grad.map(number);
    let scale = 0;
    for (const v of want) if (Number.isFinite(v)) scale = Math.max(scale, Math.abs(v));
    let e = 0;
    want.forEach((v, i) => { e = Math.max(e, gap(m.inp[i] ? got.grad[i] : 0, v, scale)); });
    const p = gap(got.phi, number(r.phi), 0);
    const tail = r.point === "final" ? "_final" : "";
    worst["phi" + tail] = Math.max(worst["phi" + tail], p);
    worst["grad" + tail] = Math.max(worst["grad" + tail], e);
    worst.points++;
  }
  return worst;
}

const cpuMs = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; };
const median = (a) => {
  const s = Float64Array.from(a).sort(), h = s.length >> 1;
  return s.length ? (s.length & 1 ? s[h] : (s[h - 1] + s[h]) / 2) : null;
};

/** Median CPU microseconds per call of f, in 7 batches of at least batchMs each, stopping at budgetMs. */
function usPerCall(f, { batchMs = 15, budgetMs = 3000, batches = 7 } = {}) {
  const t0 = cpuMs();
  let n = 1, t = 0;
  for (;;) {
    const a = cpuMs();
    for (let i = 0; i < n; i++) f();
    t = cpuMs() - a;
    if (t >= batchMs || n >= 1e7 || cpuMs() - t0 > budgetMs) break;
    n = t < batchMs / 8 ? n * 4 : n * 2;
  }
  const out = [(1000 * t) / n];
  if (cpuMs() - t0 < budgetMs) {
    out.length = 0;
    for (let k = 0; k < batches && (k < 3 || cpuMs() - t0 < budgetMs); k++) {
      const a = cpuMs();
      for (let i = 0; i < n; i++) f();
      out.push((1000 * (cpuMs() - a)) / n);
    }
  }
  return median(out);
}

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
/** Waits until the process uses (almost) no CPU while idle: V8's background compile jobs are done. */
async function quiet(limitMs) {
  const t0 = cpuMs();
  for (;;) {
    const a = cpuMs();
    await sleep(25);
    if (cpuMs() - a < 3) { // look twice: a starved background thread also looks idle
      const b = cpuMs();
      await sleep(60);
      if (cpuMs() - b < 4) return;
    }
    if (cpuMs() - t0 > limitMs) return;
  }
}
/** Calls f in rounds until V8 has nothing left to compile and rounds stop getting faster, or budgetMs of CPU is spent. */
async function warmUp(f, budgetMs) {
  const t0 = cpuMs();
  let best = Infinity, stale = 0;
  while (stale < 5 && cpuMs() - t0 < budgetMs) {
    const a = cpuMs();
    let n = 0;
    do f(); while (++n < 1e6 && (n < 32 || n & 7 || cpuMs() - a < 80));
    const t = (cpuMs() - a) / n;
    await quiet(budgetMs - (cpuMs() - t0));
    if (t < 0.95 * best) { best = t; stale = 0; } else stale++;
  }
}


const { Real, Bool, Dual, Vec, fn, opaque } = R;

// ---- scalar builtins with hand-written derivatives -------------------------------------------------------------
const pick = (cond, a, b) => R.select(cond, Real, a, b);
const larger = (a, b) => pick(R.gt(a, b), a, b);
const smaller = (a, b) => pick(R.lt(a, b), a, b);
const sq = (a) => R.mul(a, a);

const root = fn([Real], Real, (x) => R.sqrt(x));
root.jvp = fn([Dual], Dual, ({ re, du }) => {
  const y = root(re);
  return { re: y, du: R.mul(du, R.div(0.5, larger(1e-5, y))) };
});

const M = {};
const NAMES1 = "acos acosh asin asinh atan atanh cbrt cos cosh exp expm1 log log10 log1p log2 sin sinh tan tanh".split(" ");
for (const k of NAMES1) M[k] = opaque([Real], Real, Math[k]);
// tangent of y = f(x) as a function of (dx, x, y)
const TANGENT = {
  acos: (d, x) => R.div(d, R.neg(root(R.sub(1, sq(x))))),
  acosh: (d, x) => R.div(d, R.mul(root(R.sub(x, 1)), root(R.add(x, 1)))),
  asin: (d, x) => R.div(d, root(R.sub(1, sq(x)))),
  asinh: (d, x) => R.div(d, root(R.add(1, sq(x)))),
  atan: (d, x) => R.div(d, R.add(1, sq(x))),
  atanh: (d, x) => R.div(d, R.sub(1, sq(x))),
  cbrt: (d, x, y) => R.mul(d, R.div(1 / 3, sq(y))),
  cos: (d, x) => R.mul(d, R.neg(M.sin(x))),
  cosh: (d, x) => R.mul(d, M.sinh(x)),
  exp: (d, x, y) => R.mul(d, y),
  expm1: (d, x, y) => R.mul(d, R.add(y, 1)),
  log: (d, x) => R.div(d, x),
  log10: (d, x) => R.mul(d, R.div(Math.LOG10E, x)),
  log1p: (d, x) => R.div(d, R.add(1, x)),
  log2: (d, x) => R.mul(d, R.div(Math.LOG2E, x)),
  sin: (d, x) => R.mul(d, M.cos(x)),
  sinh: (d, x) => R.mul(d, M.cosh(x)),
  tan: (d, x, y) => R.mul(d, R.add(1, sq(y))),
  tanh: (d, x, y) => R.mul(d, R.sub(1, sq(y))),
};
for (const k of NAMES1)
  M[k].jvp = fn([Dual], Dual, ({ re: x, du: dx }) => {
    const y = M[k](x);
    return { re: y, du: TANGENT[k](dx, x, y) };
  });
M.atan2 = opaque([Real, Real], Real, Math.atan2);
M.atan2.jvp = fn([Dual, Dual], Dual, (y, x) => ({
  re: M.atan2(y.re, x.re),
  du: R.div(R.sub(R.mul(y.du, x.re), R.mul(x.du, y.re)), R.add(sq(x.re), sq(y.re))),
}));
M.pow = opaque([Real, Real], Real, Math.pow);
M.pow.jvp = fn([Dual, Dual], Dual, (x, y) => {
  const z = M.pow(x.re, y.re);
  return { re: z, du: R.mul(R.add(R.mul(x.du, R.div(y.re, x.re)), R.mul(y.du, M.log(x.re))), z) };
});

// ---- one node -> one Rose value ----------------------------------------------------------------------------------
const EMIT = {
  add: R.add, sub: R.sub, mul: R.mul, div: R.div, neg: R.neg, squared: sq, inverse: (x) => R.div(1, x),
  sqrt: root, sqrt_raw: R.sqrt, abs: R.abs, sign: R.sign, ceil: R.ceil, floor: R.floor, trunc: R.trunc,
  max: larger, min: smaller, select: pick,
  gt: R.gt, lt: R.lt, ge: R.geq, le: R.leq, eq: R.eq, ne: R.neq, and: R.and, or: R.or, xor: R.xor, not: R.not,
  addN: (...a) => a.reduce((p, q) => R.add(p, q)), maxN: (...a) => a.reduce(larger), minN: (...a) => a.reduce(smaller),
  ...M,
};

function emit(nodes, ids, leaf, callees) {
  const val = new Map();
  for (const i of ids) {
    const n = nodes[i], op = n[0];
    let v;
    if (op === "input" || op === "param") v = leaf(n[1]);
    else if (op === "const") v = typeof n[1] === "string" ? Number(n[1]) : n[1];
    else if (op === "bconst") v = n[1] === 1;
    else if (op === "call") {
      const c = callees[n[1]];
      const r = c.f(...n.slice(2).map((j) => val.get(j)));
      v = c.width === 1 ? [r] : r;
    } else if (op === "out") v = val.get(n[1])[n[2]];
    else v = EMIT[op](...n.slice(1).map((j) => val.get(j)));
    val.set(i, v);
  }
  return val;
}

const hinge = fn([Real], Real, (g) => sq(larger(g, 0)));
const total = (k, at) => {
  if (k === 0) return 0;
  let s = at(0);
  for (let i = 1; i < k; i++) s = R.add(s, at(i));
  return s;
};

/** Traces everything and differentiates; what remains is R.compile. */
function trace(g) {
  const n = g.n_inputs, o = g.objectives.length, c = g.constraints.length;
  const X = Vec(n, Real), O = Vec(o, Real), C = Vec(c, Real);
  const callees = [];
  for (const d of g.fns) {
    const ids = d.nodes.map((_, i) => i), width = d.rets.length;
    callees.push({
      width,
      f: fn(d.params.map(() => Real), width === 1 ? Real : Vec(width, Real), (...p) => {
        const val = emit(d.nodes, ids, (k) => p[k], callees);
        return width === 1 ? val.get(d.rets[0]) : d.rets.map((r) => val.get(r));
      }),
    });
  }
  const term = (r) => fn([X], Real, (x) => emit(g.nodes, reachable(g.nodes, [r]), (k) => x[k], callees).get(r));
  const fs = g.objectives.map(term), gs = g.constraints.map(term);
  const basic = fn([X], { f: O, g: C }, (x) => ({ f: fs.map((t) => t(x)), g: gs.map((t) => t(x)) }));
  return fn([X, Real, Vec(o, Bool), Vec(c, Bool)], { phi: Real, grad: X, f: O, g: C }, (x, w, om, cm) => {
    const { ret, grad } = R.vjp(basic)(x);
    const Two = R.struct({ v: Real, c: Real }), off = { v: 0, c: 0 };
    const a = R.vec(o, Two, (i) => R.select(om[i], Two, { v: ret.f[i], c: 1 }, off));
    const b = R.vec(c, Two, (i) => {
      const h = R.vjp(hinge)(ret.g[i]);
      return R.select(cm[i], Two, { v: h.ret, c: h.grad(w) }, off);
    });
    return {
      phi: R.add(total(o, (i) => a[i].v), R.mul(w, total(c, (i) => b[i].v))),
      grad: grad({ f: R.vec(o, Real, (i) => a[i].c), g: R.vec(c, Real, (i) => b[i].c) }),
      f: ret.f,
      g: ret.g,
    };
  });
}

// Rose calls WebAssembly.compile/instantiate itself: note the moment and the bytes, and keep the raw export and its
// arguments so that an evaluation can also be timed without the array copying around it.
const tap = { at: 0, bytes: 0, raw: null, args: null };
{
  const comp = WebAssembly.compile, inst = WebAssembly.instantiate;
  WebAssembly.compile = (buf) => { tap.at = cpuMs(); tap.bytes = buf.byteLength; return comp.call(WebAssembly, buf); };
  WebAssembly.instantiate = async (mod, imp) => {
    const { exports } = await inst.call(WebAssembly, mod, imp);
    tap.raw = exports.f;
    return { exports: { f: (...a) => { tap.args = a; return exports.f(...a); } } };
  };
}
const memory = new WebAssembly.Memory({ initial: 0 });

async function build(g) {
  globalThis.gc?.();
  const w0 = performance.now(), t0 = cpuMs();
  const full = trace(g);
  const t1 = cpuMs();
  const call = await R.compile(full, { memory });
  const t2 = cpuMs(), w2 = performance.now();
  return { call, cpu: t2 - t0, wall: w2 - w0, trace: t1 - t0, codegen: tap.at - t1, wasm: t2 - tap.at };
}

// ---- the optimiser: see benchmarks/penrose/layout.py ---------------------------------------------------------------
const HISTORY = 17, TINY = 1e-11;
const dot = (a, b) => {
  let s = 0;
  for (let i = 0; i < a.length; i++) s += a[i] * b[i];
  return s;
};
const axpy = (k, a, b) => a.map((v, i) => k * v + b[i]);

function direction(g, s, y) {
  let q = Float64Array.from(g);
  const factors = [];
  for (let i = s.length - 1; i >= 0; i--) {
    factors[i] = dot(s[i], q) / (dot(y[i], s[i]) + TINY);
    for (let k = 0; k < q.length; k++) q[k] -= factors[i] * y[i][k];
  }
  if (s.length) {
    const [a, b] = [s.at(-1), y.at(-1)], scale = dot(a, b) / (dot(b, b) + TINY);
    for (let k = 0; k < q.length; k++) q[k] *= scale;
  }
  for (let i = 0; i < s.length; i++) {
    const c = factors[i] - dot(y[i], q) / (dot(y[i], s[i]) + TINY);
    for (let k = 0; k < q.length; k++) q[k] += c * s[i][k];
  }
  return q;
}

function search(at, x, weight, value, gradient, p) {
  const slope = -dot(gradient, p);
  let low = 0, high = Infinity, t = 1;
  for (let turn = 0; turn < 12; turn++) {
    const [found, there] = at(axpy(-t, p, x), weight), along = -dot(there, p);
    if (!(Number.isFinite(found) && Number.isFinite(along)) || found > value + 1e-3 * t * slope) high = t;
    else if (along < 0.9 * slope) low = t;
    else break;
    t = high < Infinity ? (low + high) / 2 : 2 * low;
    if (high - low < 1e-9) break;
  }
  return t;
}

function round1(at, x, weight) {
  const s = [], y = [];
  let before = null, value = Infinity;
  for (let step = 0; step < 2000; step++) {
    let gradient;
    [value, gradient] = at(x, weight);
    if (before) {
      if (s.length === HISTORY) { s.shift(); y.shift(); }
      s.push(axpy(-1, before[0], x));
      y.push(axpy(-1, before[1], gradient));
    }
    const p = direction(gradient, s, y);
    if (!(dot(gradient, p) >= 1e-2)) break;
    const t = search(at, x, weight, value, gradient, p);
    before = [x, gradient];
    x = axpy(-t, p, x);
  }
  return [x, value];
}

function optimise(g, call) {
  let x = Float64Array.from(g.x0), value = Infinity, calls = 0;
  for (let k = 0; k < g.stages.length; k++) {
    const m = masks(g, k);
    const at = (x, weight) => {
      calls++;
      const { phi, grad } = call(x, weight, m.obj, m.con);
      return [phi, Float64Array.from(grad, (v, i) => (m.inp[i] ? v : 0))];
    };
    value = Infinity;
    for (let weight = 1e3, rounds = 1; ; weight *= 10, rounds++) {
      const [found, now] = round1(at, x, weight);
      const d = axpy(-1, x, found), moved = Math.sqrt(dot(d, d)), change = Math.abs(now - value);
      const last = value;
      x = found;
      value = now;
      if (!Number.isFinite(value) || (rounds >= 3 && (moved < 1e-3 || change < 1e-3 * Math.abs(last))) || rounds > 12) break;
    }
  }
  return { value, calls };
}

const [file, repeat, budget] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const g = loadGraph(file), m = masks(g, 0), begun = cpuMs();
const builds = [], laid = [];
let last, found;
for (let k = 0; k < repeat && (k === 0 || cpuMs() - begun < budget); k++) {
  await quiet(budget / 10); // background compilation of the previous build must not count here
  last = await build(g);
  builds.push(last.cpu);
  const start = cpuMs();
  found = optimise(g, last.call);
  laid.push(last.cpu + cpuMs() - start);
}
const err = compare(g, (x, w, mm) => last.call(x, w, mm.obj, mm.con));
last.call(g.x0, 1000, m.obj, m.con);
const raw = tap.raw, args = tap.args;
await warmUp(() => raw(...args), budget / 4);
const evalCall = usPerCall(() => last.call(g.x0, 1000, m.obj, m.con), { budgetMs: budget / 8 });
const evalRaw = usPerCall(() => raw(...args), { budgetMs: budget / 8 });
const warm = (a) => median(a.length > 1 ? a.slice(1) : a);
console.log(JSON.stringify({
  build: warm(builds), build_first: builds[0], layout: warm(laid), calls: found.calls, value: String(found.value),
  eval: evalRaw, call: evalCall, bytes: tap.bytes, error: err.phi, gradient_error: err.grad,
}));
