// The diagram: every move of the hand starts an optimisation from where everything is.
import load from "./diagram/diagram.mjs";
import { draw, find, loaded, movable, set, svg, tell } from "./page.mjs";

const { layout, described } = await loaded(load);
const [names, radii, arrows, [width, height]] = described();
const n = names.length;

const head = draw("marker", { id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" }, draw("defs", {}));
draw("path", { class: "head", d: "M0 0 10 5 0 10z" }, head);
const lines = Array.from(arrows, () => draw("path", { class: "arrow" }));
const nodes = names.map((_, k) => draw("circle", { class: "node", id: `node${k}`, r: radii[k] }));
const labels = names.map((name) => {
  const label = draw("text", { class: "label" });
  label.textContent = name;
  return label;
});

const around = (r, turn) => names.map((_, k) => [width / 2 + 1.4 * r * Math.cos(k * turn), height / 2 + r * Math.sin(k * turn)]);
const turn = (2 * Math.PI) / n;
let found;

function show() {
  const { circles, labels: places } = found.x;
  nodes.forEach((node, k) => set(node, { cx: circles[k][0], cy: circles[k][1] }));
  labels.forEach((label, k) => set(label, { x: places[k][0], y: places[k][1] }));
  lines.forEach((line, k) => {
    const [a, b] = arrows[k], [ax, ay] = circles[a], [bx, by] = circles[b], d = Math.hypot(bx - ax, by - ay) || 1;
    const ux = (bx - ax) / d, uy = (by - ay) / d, from = radii[a] + 4, to = d - radii[b] - 5;
    set(line, { d: `M${ax + from * ux} ${ay + from * uy}L${ax + to * ux} ${ay + to * uy}` });
  });
  find("#energy").value = found.value.toFixed(2);
  find("#steps").value = found.steps;
}

function arrange(held, at, from = found.x) {
  const start = performance.now();
  try {
    found = found ? layout.into(found, from, held, at) : layout(from, held, at);
    tell();
  } catch (error) {
    tell(error);
  }
  find("#took").value = (performance.now() - start).toFixed(1);
  show();
}

nodes.forEach((node, k) => {
  let next;
  const moved = (px, py, dx, dy) => {
    const [cx, cy] = found.x.circles[k];
    const wanted = px === null ? [cx + 3 * dx, cy + 3 * dy] : [px, py];
    node.classList.add("held");
    if (!next) requestAnimationFrame(() => { arrange(k, next); next = undefined; });
    next = wanted;
  };
  movable(node, names[k], moved, () => node.classList.remove("held"));
});
find("#shuffle").addEventListener("click", () => {
  const scatter = () => names.map(() => [width * Math.random(), height * Math.random()]);
  arrange(-1, [0, 0], { circles: scatter(), labels: scatter() });
});
arrange(-1, [0, 0], { circles: around(180, turn), labels: around(230, turn) });
svg.dataset.ready = "true";
