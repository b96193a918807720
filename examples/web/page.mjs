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

/** Where a pointer is, in the units of the drawing. */
const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

/** `moved(x, y)` while `element` is dragged, `moved(null, null, dx, dy)` for arrow keys; `done()` when it is let go. */
export const movable = (element, label, moved, done = () => {}) => {
  set(element, { tabindex: 0, role: "button", "aria-label": `${label}: drag it, or use the arrow keys` });
  element.classList.add("handle");
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
    element.focus();
    const move = (next) => { const { x, y } = at(next); moved(x, y); };
    const up = () => {
      element.removeEventListener("pointermove", move);
      done();
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up, { once: true });
    element.addEventListener("pointercancel", up, { once: true });
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
