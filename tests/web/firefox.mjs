// Uses the pages in Firefox by WebDriver BiDi: `node firefox.mjs ADDRESS WS FIREFOX FOLDER [LIVE]`, WS is the npm package `ws`.
// Prints what it read as JSON; screenshots go to FOLDER.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , address, ws, executable, folder, live] = process.argv;
const { default: WebSocket } = await import(pathToFileURL(ws));
const profile = mkdtempSync(join(tmpdir(), "firefox-"));
const firefox = spawn(executable, ["--headless", "--remote-debugging-port=0", "--profile", profile, "--no-remote"]);
const place = await new Promise((found, failed) => {
  firefox.stderr.on("data", (text) => { const at = /BiDi listening on (ws:\S+)/.exec(text); if (at) found(at[1]); });
  firefox.on("exit", () => failed(new Error("Firefox has ended")));
});
const socket = new WebSocket(`${place}/session`);
await new Promise((open) => socket.on("open", open));
const waiting = new Map();
let last = 0;
socket.on("message", (text) => {
  const { id, type, result, message } = JSON.parse(text);
  const [done, failed] = waiting.get(id) ?? [];
  if (done) (type === "success" ? done(result) : failed(new Error(message)));
});
const send = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++last, [done, failed]);
  socket.send(JSON.stringify({ id: last, method, params }));
});

await send("session.new", { capabilities: {} });
const { contexts: [{ context }] } = await send("browsingContext.getTree");
const run = async (expression) => {
  const { result, exceptionDetails } = await send("script.evaluate", { expression, target: { context }, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  return result.value;
};
const until = async (condition) => {
  for (let k = 0; k < 1200; k++) {
    if (await run(`Boolean(${condition})`)) return;
    await new Promise((on) => setTimeout(on, 100));
  }
  throw new Error(`never: ${condition}`);
};
const open = async (name) => {
  await send("browsingContext.setViewport", { context, viewport: { width: 1040, height: 860 } });
  await send("browsingContext.navigate", { context, url: `${address}${name}.html`, wait: "complete" });
  await until(`document.querySelector("svg[data-ready]")`);
};
const read = (selector) => run(`document.querySelector("${selector}").value`);
const picture = async (name) => {
  const { data } = await send("browsingContext.captureScreenshot", { context });
  writeFileSync(join(folder, `firefox-${name}.png`), Buffer.from(data, "base64"));
};
const centre = async (selector) => JSON.parse(await run(
  `(() => { const r = document.querySelector("${selector}").getBoundingClientRect(); return JSON.stringify([r.x + r.width / 2, r.y + r.height / 2]); })()`));
/** A mouse or a finger that presses, moves and lets go. */
const drag = async (selector, dx, dy, pointerType) => {
  const [x, y] = (await centre(selector)).map(Math.round);
  const actions = [
    { type: "pointerMove", x, y }, { type: "pointerDown", button: 0 },
    ...[1, 2, 3].map((k) => ({ type: "pointerMove", x: Math.round(x + (dx * k) / 3), y: Math.round(y + (dy * k) / 3), duration: 30 })),
    { type: "pause", duration: 60 }, { type: "pointerUp", button: 0 },
  ];
  await send("input.performActions", { context, actions: [{ type: "pointer", id: pointerType, parameters: { pointerType }, actions }] });
  await new Promise((on) => setTimeout(on, 200));
};

const found = {};
try {
  await open("diagram");
  found.diagram = [];
  for (const kind of ["mouse", "touch"]) {
    const before = await centre("#node5");
    await drag("#node5", 90, 40, kind);
    found.diagram.push((await centre("#node5")).map((v, k) => v - before[k]));
  }
  await picture("diagram");
  await open("billiards");
  found.billiards = [await read("#missed")];
  await run(`document.querySelector("#optimise").click()`);
  await until(`document.querySelector("#status").value.startsWith("done")`);
  found.billiards.push(await read("#missed"));
  await picture("billiards");
  await open("robot");
  await run(`document.querySelector("#robot").value = "A"; document.querySelector("#robot").dispatchEvent(new Event("change")); document.querySelector("#iterations").value = "10"; document.querySelector("#train").click()`);
  await until(`document.querySelector("#status").value.startsWith("best")`);
  found.robot = await read("#head");
  await picture("robot");
  if (live) {
    await open("quadratic");
    await until(`document.querySelector("svg[data-live]")`);
    await run(`document.querySelector("#text").value = "x^2 - 3*y"; document.querySelector("#text").dispatchEvent(new Event("input"))`);
    await until(`document.querySelector("#fxx").value === "2"`);
    await drag("#point", -80, -20, "mouse");
    found.quadratic = [await read("#fy"), await read("#x")];
    await picture("quadratic");
  }
} finally {
  firefox.removeAllListeners("exit");
  firefox.on("exit", () => rmSync(profile, { recursive: true, force: true, maxRetries: 5 }));
  firefox.kill();
}
console.log(JSON.stringify(found));
socket.terminate();
