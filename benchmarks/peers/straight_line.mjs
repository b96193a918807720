// The gradient of a straight-line program by npm `rose`: how long from the program to the first result, and how large.
//   node straight_line.mjs PROGRAM.json REPEAT     PROGRAM: { inputs, point, steps: [[op, a, b], ...] }
import { readFileSync } from "node:fs";
import * as R from "rose";

const { Real, Dual, Vec, fn, opaque } = R;

const sin = opaque([Real], Real, Math.sin);
const cos = opaque([Real], Real, Math.cos);
sin.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: sin(re), du: R.mul(du, cos(re)) }));
cos.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: cos(re), du: R.neg(R.mul(du, sin(re))) }));
const OPS = { add: R.add, sub: R.sub, mul: R.mul, div: R.div, sin: (a) => sin(a), cos: (a) => cos(a) };

const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const median = (xs) => xs.slice().sort((a, b) => a - b)[xs.length >> 1];

const { inputs, point, steps } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tap = { at: 0, bytes: 0 };
const engine = WebAssembly.compile;
WebAssembly.compile = (bytes) => { tap.at = cpu(); tap.bytes = bytes.byteLength; return engine.call(WebAssembly, bytes); };

async function once() {
  globalThis.gc?.();
  const wall = performance.now(), start = cpu();
  const X = Vec(inputs, Real);
  const f = fn([X], Real, (x) => {
    const v = [];
    for (let i = 0; i < inputs; i++) v.push(x[i]);
    for (const [op, a, b] of steps) v.push(OPS[op](v[a], v[b]));
    return v[v.length - 1];
  });
  const g = fn([X], X, (x) => R.vjp(f)(x).grad(1));
  const traced = cpu();
  const call = await R.compile(g);
  const ready = cpu();
  const gradient = call(point);
  const end = cpu();
  return {
    total: end - start, wall_s: (performance.now() - wall) / 1e3, derivatives: traced - start,
    codegen: tap.at - traced, engine: ready - tap.at + end - ready, bytes: tap.bytes,
    gradient: Array.from({ length: inputs }, (_, i) => gradient[i]),
  };
}

const runs = [];
for (let k = 0; k < Number(process.argv[3] ?? 1); k++) runs.push(await once());
const warm = runs.length > 1 ? runs.slice(1) : runs;
const of = (key) => median(warm.map((run) => run[key]));
console.log(JSON.stringify({
  ...Object.fromEntries(["total", "wall_s", "derivatives", "codegen", "engine"].map((key) => [key, of(key)])),
  first: runs[0].total, bytes: tap.bytes, gradient: runs[0].gradient,
}));
