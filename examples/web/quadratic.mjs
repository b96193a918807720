// The quadratic approximation: modules come from the worker, calls of them happen here, while a person drags.
import { LINES, REACH, along, caller, surface } from "./quadratic-call.mjs";
import { find, movable, set, svg, tell } from "./page.mjs";

const EXAMPLES = {
  "x^y": "x^y",
  "a saddle": "x^2 - y^2",
  "ripples": "cos(3*x) * cos(2*y) * exp(-(x*x + y*y)/3)",
  "two bells": "exp(-4*((x-0.6)^2 + y^2)) - exp(-3*((x+0.7)^2 + (y-0.4)^2))",
  "a banana": "((1 - x)^2 + 5*(y - x^2)^2) / 6",
  "a root by Newton's method": "def f(x: float, y: float) -> float:\n    a = x*x + y*y + 0.1\n    r = 1.0\n    while abs(r*r - a) > 1e-12:\n        r = (r + a/r) / 2\n    return r",
  "a pendulum in steps": "def f(x: float, y: float) -> float:\n    angle, speed = 2*x, 2*y\n    for i in rose.range(40):\n        speed -= 0.05 * sin(angle)\n        angle += 0.05 * speed\n    return cos(angle)",
  "a kink": "abs(x) + y*y/2",
  "a place without numbers": "log(x) + y^2/2",
};
const RADIUS = 0.65, SCALE = 118, CENTRE = [360, 270], TALL = 0.8;
const NAMES = ["z", "fx", "fy", "fxx", "fxy", "fyy"];

const point = [0.5, 0.5];
let call = null; // (x, y) -> Float64Array of NAMES, or null where the call failed
let heights = [], lift = 1, lost = false;

// --- the module

async function start() {
  try {
    const response = await fetch(new URL("quadratic/start.wasm", import.meta.url));
    if (!response.ok) throw new Error(response.statusText);
    use(new WebAssembly.Module(await response.arrayBuffer()));
  } catch (error) {
    status(`the first module could not be loaded (${error.message}); is the network there?`);
  }
}

function use(module, grid) {
  call = caller(module);
  heights = grid ?? surface(call);
  const sizes = heights.flat().filter(Number.isFinite).map(Math.abs).sort((a, b) => a - b);
  const usual = sizes[Math.floor(0.9 * sizes.length)] ?? 1;
  lift = usual > 0 ? Math.min(1, TALL / usual) : 1;
}

// --- the worker

let worker, waiting = null, running = 0, sent = 0, watch = 0, ready = false, asked = 0;

function employ() {
  ready = lost = false;
  running = 0;
  find("#again").hidden = true;
  worker = new Worker(new URL("quadratic-worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => hear[data.kind](data);
  worker.onerror = (event) => hear.lost({ text: event.message || "the worker could not be loaded" });
}

const hear = {
  progress: ({ text }) => status(`${text} …`),
  ready: ({ ms }) => {
    ready = true;
    svg.dataset.live = Math.round(ms);
    status(`ready after ${(ms / 1000).toFixed(1)} s: type`);
    if (!waiting) return;
    waiting.at = performance.now(); // it was typed long ago
    send();
  },
  dead: ({ text }) => {
    worker.terminate();
    clearTimeout(watch);
    employ();
    tell({ name: "Too much", message: `this is more than Python in a page can hold (${text}). Python is started anew.` });
  },
  lost: ({ text }) => {
    worker.terminate();
    clearTimeout(watch);
    lost = true;
    status("");
    tell({ name: "No Python", message: `it could not be loaded (${text}). Is the network there? What you see still works, and can be dragged; typing needs Python.` });
    find("#again").hidden = false;
  },
  compile: ({ id, module, bytes, grid, wrong, ms }) => {
    clearTimeout(watch);
    const { at } = running;
    running = 0;
    if (waiting) return send();
    find("#text").classList.toggle("wrong", Boolean(wrong));
    find("#text").setAttribute("aria-invalid", String(Boolean(wrong)));
    svg.classList.toggle("stale", Boolean(wrong));
    if (wrong) {
      numbers(null);
      tell({ name: "Not a function yet", message: wrong });
      return status("this text is not a function; the picture, in grey, still shows the last one that was");
    }
    tell();
    use(module, grid);
    show();
    const whole = performance.now() - at;
    svg.dataset.redrawn = whole.toFixed(1);
    svg.dataset.compiled = ms.toFixed(1);
    svg.dataset.version = id;
    status(`${bytes.toLocaleString("en")} bytes of WebAssembly; redrawn ${whole.toFixed(0)} ms after the key`);
  },
  why: ({ id, text, wrong }) => {
    if (id === asked && (text || wrong)) tell({ name: "The call fails at this point", message: text || wrong });
  },
};

function send() {
  running = waiting;
  waiting = null;
  worker.postMessage({ kind: "compile", id: running.id, text: running.text });
  watch = setTimeout(() => {
    worker.terminate();
    employ();
    tell({ name: "Too long", message: "this takes more than 10 seconds, so it was stopped. Does a loop end? Python is started anew." });
  }, 10_000);
}

function typed() {
  const text = find("#text");
  text.rows = Math.max(1, text.value.split("\n").length);
  waiting = { id: ++sent, text: text.value, at: performance.now() };
  if (ready && !running) send();
}

// --- the drawing

const turn = () => (Number(find("#turn").value) * Math.PI) / 180;
const tilt = () => (Number(find("#tilt").value) * Math.PI) / 180;
let view;

function look() {
  const c = Math.cos(turn()), s = Math.sin(turn()), up = Math.sin(tilt()), flat = Math.cos(tilt());
  view = {
    to: (x, y, z) => [CENTRE[0] + SCALE * (c * x - s * y), CENTRE[1] - SCALE * (flat * (s * x + c * y) + up * z)],
    back: (px, py) => {
      const u = (px - CENTRE[0]) / SCALE, v = (CENTRE[1] - py) / SCALE / Math.max(flat, 0.05);
      return [c * u + s * v, -s * u + c * v];
    },
  };
}

const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
const place = (x, y, z) => text(view.to(x, y, z));
function mesh() {
  const parts = [], near = (a, b) => Math.abs((heights[a]?.[b] ?? NaN) * lift) < 2 * TALL;
  const drawn = (a, b) => near(a, b) && (near(a - 1, b) || near(a + 1, b)) && (near(a, b - 1) || near(a, b + 1));
  for (let i = 0; i <= LINES; i += 2) {
    for (const across of [false, true]) {
      let pen = "M";
      for (let j = 0; j <= LINES; j++) {
        const [a, b] = across ? [j, i] : [i, j], seen = drawn(a, b);
        if (seen) parts.push(pen + place(along(a), along(b), heights[a][b] * lift));
        pen = seen ? "L" : "M";
      }
    }
  }
  return parts.join("");
}

function ground() {
  const parts = [];
  for (let k = -REACH; k <= REACH; k++) {
    parts.push(`M${place(k, -REACH, 0)}L${place(k, REACH, 0)}M${place(-REACH, k, 0)}L${place(REACH, k, 0)}`);
  }
  const axis = (x, y, name) => `<text x="${view.to(x, y, 0)[0]}" y="${view.to(x, y, 0)[1]}">${name}</text>`;
  find("#floor").innerHTML = `<path d="${parts.join("")}"/>${axis(REACH + 0.18, 0, "x")}${axis(0, REACH + 0.18, "y")}`;
}

/** The approximating surface: its edge, and 8 + 8 parabolas, each exactly one Bézier curve. */
function approximation([z, fx, fy, fxx, fxy, fyy]) {
  const [a, b] = point;
  const height = (u, v) => (z + fx * u + fy * v + (fxx * u * u + fyy * v * v) / 2 + fxy * u * v) * lift;
  const edge = Array.from({ length: 72 }, (_, k) => {
    const u = RADIUS * Math.cos((k * Math.PI) / 36), v = RADIUS * Math.sin((k * Math.PI) / 36);
    return (k ? "L" : "M") + place(a + u, b + v, height(u, v));
  });
  const lines = [];
  for (let k = -3.5; k <= 3.5; k++) {
    const w = (k * RADIUS) / 4, r = Math.sqrt(RADIUS * RADIUS - w * w);
    for (const across of [false, true]) {
      const h = across ? (t) => height(w, t) : (t) => height(t, w);
      const at = across ? (t, q) => place(a + w, b + t, q) : (t, q) => place(a + t, b + w, q);
      const middle = 2 * h(0) - (h(-r) + h(r)) / 2; // the control point of a parabola
      lines.push(`M${at(-r, h(-r))}Q${at(0, middle)} ${at(r, h(r))}`);
    }
  }
  return [`${edge.join("")}Z`, lines.join("")];
}

function form([, fx, fy, fxx, fxy, fyy]) {
  const det = fxx * fyy - fxy * fxy, level = Math.hypot(fx, fy) < 1e-3 ? ", and level: " : "";
  const size = Math.max(Math.abs(fxx), Math.abs(fxy), Math.abs(fyy));
  if (size < 1e-9) return "a plane";
  if (det < -1e-9 * size * size) return `a saddle${level && ", and level"}`;
  if (det <= 1e-9 * size * size) return fxx + fyy > 0 ? "a trough" : "a ridge";
  return fxx > 0 ? `a bowl${level && `${level}a minimum`}` : `a dome${level && `${level}a maximum`}`;
}

const digits = (v) => (Number.isFinite(v) ? String(Number(v.toPrecision(6))).replace("-", "−") : Number.isNaN(v) ? "NaN" : v > 0 ? "∞" : "−∞");

function numbers(found) {
  find("#x").value = point[0].toFixed(3).replace("-", "−");
  find("#y").value = point[1].toFixed(3).replace("-", "−");
  const known = found && !Number.isNaN(found[0]);
  NAMES.forEach((name, k) => { find(`#${name}`).value = found && (k === 0 || known) ? digits(found[k]) : "–"; });
  find("#fyx").value = find("#fxy").value;
  find("#form").value = found && found.every(Number.isFinite) ? form(found) : "–";
}

function complain(found) {
  if (!call || svg.classList.contains("stale")) return;
  if (!found) return worker.postMessage({ kind: "why", id: ++asked, x: point[0], y: point[1] });
  asked++;
  if (Number.isNaN(found[0])) return tell({ name: "No number here", message: `f(${point.map(digits).join(", ")}) is not a number, so there is nothing to approximate. Drag the point back to where the grid is drawn.` });
  if (!Number.isFinite(found[0])) return tell({ name: "No end here", message: `f(${point.map(digits).join(", ")}) is infinite: there is nothing to approximate. Drag the point away.` });
  const which = [["gradient", found.slice(1, 3)], ["Hessian", found.slice(3)]].filter(([, part]) => !part.every(Number.isFinite)).map(([name]) => name);
  if (which.length) return tell({ name: "Not smooth here", message: `f has a value at this point, but its ${which.join(" and its ")} ${which.length > 1 ? "are" : "is"} not finite: no quadratic fits. Drag the point a little.` });
  if (!lost) tell();
}

/** Draw everything for the point, and the function if it is another one. */
function show() {
  look();
  ground();
  set(find("#mesh"), { d: mesh() });
  moved();
}

function moved() {
  const found = call?.(...point), fine = found?.every(Number.isFinite), [a, b] = point;
  numbers(svg.classList.contains("stale") ? null : found);
  complain(found);
  const [disc, lines] = fine ? approximation(found) : ["", ""];
  set(find("#disc"), { d: disc });
  set(find("#lines"), { d: lines });
  const [px, py] = view.to(a, b, 0), [tx, ty] = view.to(a, b, fine ? found[0] * lift : 0);
  set(find("#point"), { cx: px, cy: py });
  set(find("#top"), { cx: tx, cy: ty, visibility: fine ? "visible" : "hidden" });
  set(find("#stem"), { d: `M${px} ${py}L${tx} ${ty}` });
  const steep = fine ? Math.hypot(found[1], found[2]) : 0, most = Math.min(1, 0.9 / steep);
  set(find("#slope"), { d: steep > 1e-9 ? `M${px} ${py}L${place(a + found[1] * most, b + found[2] * most, 0)}` : "" });
  find("#point").classList.toggle("lost", !fine);
}

// --- hands

const inside = (v) => Math.max(-REACH, Math.min(REACH, v));
movable(find("#point"), "the point", (px, py, dx, dy) => {
  const [x, y] = px === null ? [point[0] + dx / 100, point[1] - dy / 100] : view.back(px, py);
  point.splice(0, 2, inside(x), inside(y));
  moved();
});
find("#text").addEventListener("input", typed);
for (const name of ["#turn", "#tilt"]) find(name).addEventListener("input", show);
for (const name of Object.keys(EXAMPLES)) find("#examples").append(new Option(name, name));
find("#examples").addEventListener("change", ({ target }) => {
  if (!target.value) return;
  find("#text").value = EXAMPLES[target.value];
  target.value = "";
  typed();
});
find("#again").addEventListener("click", () => { tell(); employ(); });

function status(message) {
  find("#status").value = message;
}

await start();
show();
svg.dataset.ready = "true";
employ();
