// The robot: a worker trains, the page replays how it walks.
import load from "./robot/robot.mjs";
import { draw, find, loaded, replay, set, svg, tell } from "./page.mjs";

const SCALE = 760, GROUND = 0.1, TIMES = 682;
const x = (value) => value * SCALE + 20, y = (value) => 400 - value * SCALE;

const functions = await loaded(load);
let lines = [], masses = [], places = [], weights, worker;
draw("line", { class: "ground", x1: 0, x2: 900, y1: y(GROUND) + 5, y2: y(GROUND) + 5 });
const body = draw("g", {});
const ticks = replay(find("#time"), TIMES, show);

function show(t) {
  const now = places[t];
  lines.forEach(([line, a, b]) => set(line, { x1: x(now[a][0]), y1: y(now[a][1]), x2: x(now[b][0]), y2: y(now[b][1]) }));
  masses.forEach((mass, k) => set(mass, { cx: x(now[k][0]), cy: y(now[k][1]) }));
  find("#head").value = now[0][0].toFixed(4);
}

function walk() {
  places = functions[`walk${find("#robot").value}`](weights);
}

function choose() {
  halt();
  ticks.stop();
  const name = find("#robot").value;
  weights = functions[`start${name}`]();
  body.replaceChildren();
  lines = functions[`springs${name}`]().map(([a, b, actuation]) => [draw("line", { class: actuation ? "muscle" : "bone" }, body), a, b]);
  walk();
  masses = places[0].map(() => draw("circle", { class: "mass", r: 5 }, body));
  find("#progress").value = 0;
  find("#time").value = 0;
  show(0);
}

function halt(status = "") {
  worker?.terminate();
  worker = undefined;
  find("#status").value = status;
  find("#train").textContent = "Train";
}

function train() {
  if (worker) return halt("stopped");
  ticks.stop();
  const iterations = Number(find("#iterations").value);
  find("#progress").max = iterations;
  find("#train").textContent = "Stop";
  worker = new Worker(new URL("./robot-worker.mjs", import.meta.url), { type: "module" });
  worker.onerror = () => { halt(); tell(new Error("the worker could not be started")); };
  worker.onmessage = ({ data }) => {
    if (data.error) { halt(); tell(new Error(data.error)); return; }
    find("#progress").value = data.iteration;
    find("#status").value = `iteration ${data.iteration}: ${data.distance.toFixed(4)}`;
    if (!data.best) return;
    weights = data.best;
    halt(`best of ${data.iteration} iterations: ${data.distance.toFixed(4)}`);
    walk();
    show(TIMES - 1);
    find("#time").value = TIMES - 1;
  };
  worker.postMessage({ name: find("#robot").value, weights, iterations });
}

find("#robot").addEventListener("change", choose);
find("#train").addEventListener("click", train);
find("#play").addEventListener("click", ticks.play);
choose();
svg.dataset.ready = "true";
