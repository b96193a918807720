// The table: every change is played through at once; a worker optimises.
import load from "./billiards/billiards.mjs";
import { draw, find, inside, loaded, movable, replay, set, svg, tell } from "./page.mjs";

const SCALE = 900, LEFT = 0.05, TOP = 0.95, RADIUS = 0.03, BALLS = 11, TIMES = 1024, REACH = 0.5;
const x = (value) => (value - LEFT) * SCALE, y = (value) => (TOP - value) * SCALE;
const first = () => ({ cue: [0.1, 0.5], push: [0.3, 0] });

const { play } = await loaded(load, { imports: { progress() {} } });
const places = new Float64Array(TIMES * BALLS * 2);
let shot = first(), goal = [0.9, 0.75], target = BALLS - 1, worker;

const kind = (k) => (k === 0 ? "cue" : k === target ? "target" : "ball");
const traces = Array.from({ length: BALLS }, () => draw("polyline", {}));
const balls = Array.from({ length: BALLS }, (_, k) => draw("circle", { r: RADIUS * SCALE, id: `ball${k}` }));
const arrow = draw("line", { class: "push" });
const start = draw("circle", { class: "cue", id: "cue", r: RADIUS * SCALE, "fill-opacity": 0.5 });
const tip = draw("circle", { class: "tip", id: "tip", r: 12 });
const goalMark = draw("circle", { class: "goal", id: "goal", r: 1.25 * RADIUS * SCALE });
const ticks = replay(find("#time"), TIMES, show);

function show(t) {
  balls.forEach((ball, k) => {
    const i = 2 * (t * BALLS + k);
    set(ball, { cx: x(places[i]), cy: y(places[i + 1]), class: kind(k) });
  });
}

function update() {
  try {
    play.into(places, shot);
    tell();
  } catch (error) {
    tell(error);
    return;
  }
  traces.forEach((trace, k) => {
    const points = [];
    for (let t = 0; t < TIMES; t += 8) points.push(`${x(places[2 * (t * BALLS + k)])},${y(places[2 * (t * BALLS + k) + 1])}`);
    set(trace, { points: points.join(" "), class: `trace ${kind(k)}` });
  });
  const { cue, push } = shot;
  set(start, { cx: x(cue[0]), cy: y(cue[1]) });
  set(tip, { cx: x(cue[0] + REACH * push[0]), cy: y(cue[1] + REACH * push[1]) });
  set(arrow, { x1: x(cue[0]), y1: y(cue[1]), x2: x(cue[0] + REACH * push[0]), y2: y(cue[1] + REACH * push[1]) });
  set(goalMark, { cx: x(goal[0]), cy: y(goal[1]) });
  const last = 2 * ((TIMES - 1) * BALLS + target), d = Math.hypot(places[last] - goal[0], places[last + 1] - goal[1]);
  find("#missed").value = d.toFixed(4);
  find("#loss").value = (d * d).toExponential(3);
  show(Number(find("#time").value));
}

const moved = (point, change) => (px, py, dx, dy) => {
  const next = px === null ? inside(x(point()[0]) + dx, y(point()[1]) + dy) : { x: px, y: py };
  change([next.x / SCALE + LEFT, TOP - next.y / SCALE]);
  halt();
  update();
};
movable(goalMark, "the goal", moved(() => goal, (p) => { goal = p; }));
movable(start, "the cue ball", moved(() => shot.cue, (p) => { shot = { ...shot, cue: p }; }));
movable(tip, "the push", moved(
  () => [shot.cue[0] + REACH * shot.push[0], shot.cue[1] + REACH * shot.push[1]],
  ([a, b]) => { shot = { ...shot, push: [(a - shot.cue[0]) / REACH, (b - shot.cue[1]) / REACH] }; },
));
balls.forEach((ball, k) => {
  if (!k) return;
  set(ball, { tabindex: 0, role: "button", "aria-label": `ball ${k}: choose it` });
  const choose = () => { target = k; halt(); update(); };
  ball.addEventListener("click", choose);
  ball.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") choose(); });
});

function halt(status = "") {
  worker?.terminate();
  worker = undefined;
  find("#status").value = status;
  find("#optimise").textContent = "Optimise";
}

function optimise() {
  if (worker) return halt("stopped");
  ticks.stop();
  find("#optimise").textContent = "Stop";
  worker = new Worker(new URL("./billiards-worker.mjs", import.meta.url), { type: "module" });
  worker.onerror = () => { halt(); tell(new Error("the worker could not be started")); };
  worker.onmessage = ({ data }) => {
    if (data.error) { halt(); tell(new Error(data.error)); return; }
    find("#progress").value = data.step;
    find("#loss").value = data.value.toExponential(3);
    find("#status").value = `update ${data.step}`;
    if (!data.shot) return;
    shot = data.shot;
    halt(`done after ${data.step} updates`);
    find("#time").value = TIMES - 1;
    update();
  };
  worker.postMessage({ shot, goal, target });
}

find("#optimise").addEventListener("click", optimise);
find("#play").addEventListener("click", ticks.play);
find("#reset").addEventListener("click", () => { shot = first(); goal = [0.9, 0.75]; target = BALLS - 1; halt(); update(); });
update();
svg.dataset.ready = "true";
