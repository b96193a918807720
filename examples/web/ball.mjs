// The ball: every change of cup or bounce is aimed anew, every change of the angle thrown anew, in the page.
import load from "./ball/ball.mjs";
import { draw, find, inside, loaded, movable, set, svg, tell } from "./page.mjs";

const SCALE = 130, FLOOR = 390, LEFT = 30;
const x = (value) => LEFT + value * SCALE, y = (value) => FLOOR - value * SCALE;
const { aim, thrown } = await loaded(load);
let cup = 4;

draw("line", { class: "ground", x1: 0, x2: 900, y1: FLOOR + 3, y2: FLOOR + 3 });
const ways = Array.from({ length: 4 }, () => draw("polyline", { class: "run target" }));
const ball = draw("circle", { class: "target", r: 8 });
const mark = draw("g", { id: "cup" });
draw("rect", { x: -24, y: -44, width: 48, height: 52, fill: "transparent" }, mark);
draw("path", { class: "cup", d: "M-14 -34 L-10 0 H10 L14 -34" }, mark);
find("#angle").title = "radians above the floor";

const value = (name) => Number(find(name).value);

function show(angle) {
  const [end, further, flights] = thrown(angle, value("#bounce"));
  flights.forEach(([places, heights], k) =>
    set(ways[k], { points: Array.from(places, (place, i) => `${x(place).toFixed(1)},${y(heights[i]).toFixed(1)}`).join(" ") }));
  set(ball, { cx: x(end), cy: y(0) - 8 });
  set(mark, { transform: `translate(${x(cup)} ${FLOOR})` });
  find("#degrees").value = `${(angle * 180 / Math.PI).toFixed(2)}°`;
  find("#end").value = `${end.toFixed(3)} m`;
  find("#slope").value = `${(further * Math.PI / 180 * 100).toFixed(1)} cm`;
  find("#kept").value = value("#bounce").toFixed(3);
  find("#status").value = Math.abs(end - cup) < 0.05 ? "in the cup" : `${Math.abs(end - cup).toFixed(2)} m ${end < cup ? "short" : "too far"}`;
}

function aimed() {
  try {
    const [angle, found] = aim(cup, value("#bounce"));
    if (found) find("#angle").value = angle;
    show(found ? angle : value("#angle"));
    if (!found) find("#status").value = "no throw at this speed reaches the cup";
    tell();
  } catch (error) {
    tell(error);
  }
}

movable(mark, "the cup", (px, py, dx) => {
  cup = (inside(px ?? x(cup) + dx, 0).x - LEFT) / SCALE;
  aimed();
});
find("#bounce").addEventListener("input", aimed);
find("#angle").addEventListener("input", () => show(value("#angle")));
aimed();
svg.dataset.ready = "true";
