// The diagram: every move of the hand starts an optimisation from where everything is.
import load from "./diagram/diagram.mjs";
import { draw, find, inside, loaded, movable, set, svg, tell } from "./page.mjs";

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

/** Places on a ring, from an angle on and in a direction, each as far beside it as `apart` at most. */
const around = (r, from = 0, turn = 1, apart = 0) => {
  const beside = () => apart * (2 * Math.random() - 1), at = (k) => from + (turn * 2 * Math.PI * k) / n;
  return names.map((_, k) => [width / 2 + 1.4 * r * Math.cos(at(k)) + beside(), height / 2 + r * Math.sin(at(k)) + beside()]);
};
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
    const { x, y } = px === null ? inside(cx + 3 * dx, cy + 3 * dy) : { x: px, y: py };
    node.classList.add("held");
    if (!next) requestAnimationFrame(() => { arrange(k, next); next = undefined; });
    next = [x, y];
  };
  movable(node, names[k], moved, () => node.classList.remove("held"));
});
find("#shuffle").addEventListener("click", () => {
  const way = [2 * Math.PI * Math.random(), Math.random() < 0.5 ? 1 : -1, 60];
  arrange(-1, [0, 0], { circles: around(180, ...way), labels: around(230, ...way) });
});
arrange(-1, [0, 0], { circles: around(180), labels: around(230) });
svg.dataset.ready = "true";
