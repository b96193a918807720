// Hares and lynxes: sliders solve the equations again, a number that is dragged fits them again.
import load from "./hares/hares.mjs";
import { draw, find, inside, loaded, movable, set, svg, tell } from "./page.mjs";

const LEFT = 30, YEAR = 42, FLOOR = 400, SCALE = 4.2, LEAST = 0.5;
const x = (year) => LEFT + year * YEAR, y = (thousands) => FLOOR - thousands * SCALE;
const first = () => [0.5, 0.03, 0.8, 0.03, 30, 4].map(Math.log);
const { fitted, curves, pelts } = await loaded(load);
let counted = pelts().map((each) => Float64Array.from(each)), p = first();

draw("line", { class: "ground", x1: 0, x2: 900, y1: FLOOR + 2, y2: FLOOR + 2 });
for (let year = 0; year <= 20; year += 5) draw("text", { class: "year", x: x(year), y: FLOOR + 13 }).textContent = 1900 + year;
const KINDS = [["hares", "ball"], ["lynxes", "target"]];
const lines = KINDS.map(([, kind]) => draw("polyline", { class: `run ${kind}` }));
const points = KINDS.map(([name, kind], k) => Array.from(counted[k], (_, year) => {
  const point = draw("circle", { class: kind, id: `${name}${year}`, r: 7 });
  movable(point, `${name} of ${1900 + year}`, (px, py, dx, dy) => {
    counted[k][year] = Math.max(LEAST, (FLOOR - inside(0, py ?? y(counted[k][year]) + dy).y) / SCALE);
    fit();
  });
  return point;
}));
KINDS.forEach(([name, kind], k) => {
  draw("circle", { class: kind, cx: 760, cy: 24 + 24 * k, r: 7 });
  draw("text", { class: "key", x: 775, y: 24 + 24 * k }).textContent = name;
});
const rates = [0, 1, 2, 3].map((k) => find(`#rate${k}`));

function show() {
  const [populations, misfit] = curves(p, ...counted);
  lines.forEach((line, k) => set(line, { points: Array.from(populations[k], (value, i) => `${x(i / 10).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
  points.forEach((each, k) => each.forEach((point, year) => set(point, { cx: x(year), cy: y(counted[k][year]) })));
  rates.forEach((rate, k) => { rate.value = p[k]; rate.nextElementSibling.value = Math.exp(p[k]).toPrecision(3); });
  find("#misfit").value = misfit.toFixed(4);
}

function fit() {
  try {
    const started = performance.now(), found = fitted(p, ...counted);
    const took = performance.now() - started;
    if (found.success) p = [...found.x];
    show();
    find("#status").value = found.success ? `${found.nit} iterations, ${took.toFixed(1)} ms` : "no fit was found from here";
    tell();
  } catch (error) {
    tell(error);
  }
}

rates.forEach((rate, k) => rate.addEventListener("input", () => { p[k] = Number(rate.value); find("#status").value = ""; show(); }));
find("#fit").addEventListener("click", fit);
find("#reset").addEventListener("click", () => { counted = pelts().map((each) => Float64Array.from(each)); p = first(); find("#status").value = ""; show(); });
show();
svg.dataset.ready = "true";
