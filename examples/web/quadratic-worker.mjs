// All of rosejit in a worker: takes what a person types, posts compiled modules to the page.

import { load as start } from "./python.mjs";
import { caller, surface } from "./quadratic-call.mjs";

const started = performance.now();
const say = (message) => self.postMessage(message);

async function load() {
  const python = await start((text) => say({ kind: "progress", text }));
  const live = python.pyimport("live");
  return { session: live.Live(), said: live.said, python };
}

let busy = load();
busy.then(({ session }) => {
  session.compiled("x^y").destroy?.(); // what is only done once is done before anybody waits for it
  say({ kind: "ready", ms: performance.now() - started });
}).catch((error) => say({ kind: "lost", text: error.message }));

const jobs = {
  compile({ session }, { text }) {
    const began = performance.now(), made = session.compiled(text), wasm = made.toJs?.() ?? made;
    made.destroy?.();
    const ms = performance.now() - began, module = new WebAssembly.Module(wasm);
    return { module, bytes: wasm.length, ms, grid: surface(caller(module)) }; // a loop that never ends is found here, where it can be stopped
  },
  why({ session }, { x, y }) {
    return { text: session.why(x, y) };
  },
};

self.onmessage = async ({ data }) => {
  const system = await busy.catch(() => undefined);
  if (!system) return;
  try {
    const made = jobs[data.kind](system, data);
    say({ ...made, kind: data.kind, id: data.id });
  } catch (error) {
    if (error.name !== "PythonError") return say({ kind: "dead", text: error.message }); // as where the stack is not enough
    say({ kind: data.kind, id: data.id, wrong: system.python.runPython("import live, sys; live.said(sys.last_exc)") });
  }
};
