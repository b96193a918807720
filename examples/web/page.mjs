// What the pages share: SVG elements, things that can be dragged or moved with arrow keys, errors where people see them.

export const svg = document.querySelector("svg");

export const find = (selector) => document.querySelector(selector);

export const draw = (kind, attributes, parent = svg) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  set(made, attributes);
  parent.append(made);
  return made;
};

export const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
};

/** Where a pointer is, in the units of the drawing; a hand that leaves it holds on to its edge. */
const at = (event) => {
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return inside(x, y);
};

/** The nearest place that is seen. */
export const inside = (x, y) => {
  const { width, height } = svg.viewBox.baseVal;
  return { x: Math.max(0, Math.min(width, x)), y: Math.max(0, Math.min(height, y)) };
};

const NEAR = 28; // a finger covers so many pixels around where it touches
const grips = new Map();

/** How far a touch is from an element, in pixels. */
const apart = (element, event) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return Math.hypot(event.clientX - (left + right) / 2, event.clientY - (top + bottom) / 2) - Math.max(right - left, bottom - top) / 2;
};

/** What is dragged: what the pointer is on or, of a touch beside everything, what is nearest. */
svg?.addEventListener("pointerdown", (event) => {
  const on = [...grips.keys()].find((element) => element.contains(event.target));
  if (!on && event.target.closest("[role=button]")) return;
  const [nearest] = on ? [on] : [...grips.keys()].sort((a, b) => apart(a, event) - apart(b, event));
  if (!nearest || (!on && (event.pointerType !== "touch" || apart(nearest, event) > NEAR))) return;
  grips.get(nearest)(event);
});

/** `moved(x, y)` while `element` is dragged, `moved(null, null, dx, dy)` for arrow keys; `done()` when it is let go. */
export const movable = (element, label, moved, done = () => {}) => {
  set(element, { tabindex: 0, role: "button", "aria-label": `${label}: drag it, or use the arrow keys` });
  element.classList.add("handle");
  grips.set(element, (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
    element.focus();
    const move = (next) => { if (next.pointerId === event.pointerId) { const { x, y } = at(next); moved(x, y); } };
    const up = (next) => {
      if (next.pointerId !== event.pointerId) return; // another finger
      for (const [name, heard] of [["pointermove", move], ["pointerup", up], ["pointercancel", up]]) element.removeEventListener(name, heard);
      done();
    };
    for (const [name, heard] of [["pointermove", move], ["pointerup", up], ["pointercancel", up]]) element.addEventListener(name, heard);
  });
  element.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const step = event.shiftKey ? 25 : 5;
    moved(null, null, dx * step, dy * step);
    done();
  });
};

/** Show what went wrong; nothing, to take it away. */
export const tell = (error) => {
  find("[role=alert]").textContent = error ? `${error.name ?? "Error"}: ${error.message ?? error}` : "";
};

/** The functions of a module, or a message in the page. */
export const loaded = async (load, options) => {
  try {
    return await load(options);
  } catch (error) {
    tell(new Error(`the program of this page could not be loaded (${error.message}); is the network there? Reload to try again.`));
    throw error;
  }
};

/** Show the frames of `count` in turn, as the slider does by hand. */
export const replay = (slider, count, show) => {
  let started = 0;
  const frame = (now) => {
    if (!started) return;
    const k = Math.floor((now - started) / 1000 * 250);
    slider.value = Math.min(k, count - 1);
    show(Number(slider.value));
    if (k < count) requestAnimationFrame(frame);
    else started = 0;
  };
  slider.max = count - 1;
  slider.addEventListener("input", () => { started = 0; show(Number(slider.value)); });
  return {
    play: () => { started = performance.now(); requestAnimationFrame(frame); },
    stop: () => { started = 0; },
  };
};
