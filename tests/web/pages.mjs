// Uses the pages of examples/web as a person would: `node pages.mjs ADDRESS PLAYWRIGHT CHROMIUM FOLDER [LIVE]`.
// With LIVE the page that needs Pyodide is used too.
// Prints what it read as JSON; screenshots go to FOLDER.
const [, , address, playwright, executablePath, folder, live] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const context = await browser.newContext({ viewport: { width: 1040, height: 860 } });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));

const open = async (name) => {
  await page.goto(`${address}${name}.html`);
  await page.waitForSelector("svg[data-ready]");
};
const read = (selector) => page.locator(selector).evaluate((element) => element.value ?? element.textContent);
const centre = async (selector) => {
  const { x, y, width, height } = await page.locator(selector).boundingBox();
  return [x + width / 2, y + height / 2];
};
const drag = async (selector, dx, dy) => {
  const [x, y] = await centre(selector);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 5 });
  await page.waitForTimeout(100);
  await page.mouse.up();
};
const until = (selector, start) => page.waitForFunction(
  ([where, text]) => document.querySelector(where).value.startsWith(text), [selector, start], { timeout: 120_000 });
const picture = (name) => page.screenshot({ path: `${folder}/${name}.png` });

const quadratic = {};
if (live) {
  await open("quadratic");
  quadratic.first = await read("#z");
  await page.waitForSelector("svg[data-live]", { timeout: 120_000 });
  quadratic.live = Number(await page.locator("svg").getAttribute("data-live"));
  const numbers = async () => Promise.all(["z", "fx", "fy", "fxx", "fxy", "fyy"].map((name) => read(`#${name}`)));
  const type = async (text) => {
    await page.fill("#text", "");
    await page.waitForFunction(() => document.querySelector("[role=alert]").textContent.includes("type an expression"), null, { timeout: 60_000 });
    await page.fill("#text", text);
    await page.waitForFunction(() => document.querySelector("#status").value.match(/redrawn|in grey/) &&
      !document.querySelector("[role=alert]").textContent.includes("type an expression"), null, { timeout: 60_000 });
  };
  quadratic.redrawn = [];
  for (const text of ["x^y*1.5", "x^y/2", "x^y+x", "x^y-y", "x^y"]) {
    await type(text);
    quadratic.redrawn.push(await page.locator("svg").evaluate((e) => [Number(e.dataset.compiled), Number(e.dataset.redrawn)]));
  }
  quadratic.typed = await numbers();
  await type("2·x² − y³");
  quadratic.written = await read("#z");
  await type("x^y");
  await drag("#point", -90, -40);
  quadratic.dragged = [await read("#x"), await read("#y"), await read("#fxx")];
  await picture("quadratic");
  await page.locator("#point").focus();
  await page.keyboard.press("Shift+ArrowRight");
  quadratic.byKey = await read("#x");
  await page.locator("#turn").fill("-60");
  await type("def f(x: float, y: float) -> float:\n    t = x * x\n    while t < 3.0:\n        t = t * 2 + y * y + 1\n    return t");
  quadratic.loop = await numbers();
  const problem = async (text, name) => {
    await type(text);
    await page.waitForFunction(() => document.querySelector("[role=alert]").textContent, null, { timeout: 60_000 });
    quadratic[name] = await read("[role=alert]");
    await picture(`quadratic-${name}`);
  };
  await problem("x^2 +* y", "syntax");
  await problem("@rose.opaque\ndef g(x: float) -> float:\n    return x\n\n@rose.jit\ndef f(x: float, y: float) -> float:\n    return g(x) * y", "opaque");
  await problem("log(x - 9) + y", "nan");
  await problem("sqrt(x - x) + y", "kink");
  await problem("def f(x: float, y: float) -> float:\n    assert x > 9.0, 'far out only'\n    return x", "fault");
  await page.fill("#text", `${"(".repeat(2000)}x${")".repeat(2000)}`);
  await page.waitForFunction(() => document.querySelector("[role=alert]").textContent.includes("anew"), null, { timeout: 60_000 });
  quadratic.tooDeep = await read("[role=alert]");
  await page.fill("#text", "def f(x: float, y: float) -> float:\n    while x < 9.0:\n        y += 1.0\n    return y");
  await page.waitForFunction(() => document.querySelector("[role=alert]").textContent.includes("stopped"), null, { timeout: 60_000 });
  quadratic.endless = await read("[role=alert]");
  quadratic.bytes = await page.evaluate(() => performance.getEntriesByType("resource").reduce((sum, e) => sum + e.decodedBodySize, 0));
  await page.route("**/pyodide/**", (route) => route.abort());
  await page.reload();
  await page.waitForFunction(() => document.querySelector("[role=alert]").textContent, null, { timeout: 60_000 });
  quadratic.lost = await read("[role=alert]");
  await drag("#point", 40, 30);
  quadratic.afterLoss = await read("#z");
  await picture("quadratic-lost");
  await page.unroute("**/pyodide/**");
  complaints.length = 0; // the browser tells of what was not loaded
}

const billiards = {};
await open("billiards");
billiards.first = await read("#missed");
await page.click("#optimise");
await until("#status", "done");
billiards.optimised = await read("#missed");
await picture("billiards");
await drag("#goal", 60, 40);
billiards.goalMoved = await read("#missed");
await page.locator("#tip").focus();
await page.keyboard.press("ArrowUp");
billiards.pushed = await read("#missed");
await drag("#goal", 3000, -3000);
billiards.kept = await page.locator("#goal").evaluate((goal) => [goal.getAttribute("cx"), goal.getAttribute("cy")].map(Number));
await page.locator("#time").fill("0");
billiards.ball = await page.locator("#ball10").getAttribute("cx");

const robot = {};
await open("robot");
await page.selectOption("#robot", "A");
await page.selectOption("#iterations", "10");
robot.first = await read("#head");
await page.click("#train");
await until("#status", "best");
robot.trained = await read("#head");
await picture("robot");

const diagram = {};
await open("diagram");
const before = [await centre("#node5"), await centre("#node2")];
await drag("#node5", 160, 50);
const after = [await centre("#node5"), await centre("#node2")];
diagram.moved = after.map(([x, y], k) => [x - before[k][0], y - before[k][1]]);
diagram.took = await read("#took");
await page.locator("#node5").focus();
await page.keyboard.press("ArrowLeft");
await page.waitForTimeout(200);
diagram.byKey = (await centre("#node5"))[0] - after[0][0];
await picture("diagram");
await drag("#node2", -3000, 3000);
diagram.kept = await page.locator("#node2").evaluate((node) => [node.getAttribute("cx"), node.getAttribute("cy")].map(Number));

const slide = (selector, to) => page.locator(selector).evaluate((e, value) => { e.value = value; e.dispatchEvent(new Event("input")); }, to);
const ball = {};
await open("ball");
ball.aimed = await read("#status");
await drag("#cup", -100, 0);
[ball.moved, ball.end] = [await read("#status"), await read("#end")];
await picture("ball");
await slide("#angle", 0.9);
ball.byHand = await read("#status");

const hares = {};
await open("hares");
hares.guess = await read("#misfit");
await page.click("#fit");
[hares.fitted, hares.status] = [await read("#misfit"), await read("#status")];
await picture("hares");
await drag("#hares11", 0, -100);
hares.dragged = await read("#misfit");
await slide("#rate0", -0.2);
hares.slid = await read("#misfit");

const programs = await page.evaluate(async () => {
  const { run } = await import("/calls.mjs");
  return run(await (await fetch("/jobs.json")).json());
});
const works = [...complaints];
await page.route("**/*.wasm", (route) => route.abort());
await page.goto(`${address}diagram.html`);
await page.waitForFunction(() => document.querySelector("[role=alert]").textContent);
const lost = await read("[role=alert]");
await browser.close();
console.log(JSON.stringify({ quadratic, billiards, robot, diagram, ball, hares, complaints: works, lost, programs }));
