// Uses the pages on a telephone, by touch, and with nothing but a keyboard: `node hands.mjs ADDRESS PLAYWRIGHT CHROMIUM FOLDER [LIVE]`.
// Prints what it read as JSON; screenshots go to FOLDER.
const [, , address, playwright, executablePath, folder, live] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const complaints = [], overflowing = [];

const visit = async (options) => {
  const page = await (await browser.newContext(options)).newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const open = async (name) => {
    await page.goto(`${address}${name}.html`);
    await page.waitForSelector("svg[data-ready]");
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) overflowing.push(name);
  };
  const read = (selector) => page.locator(selector).evaluate((element) => element.value ?? element.textContent);
  const until = (selector, start) => page.waitForFunction(
    ([where, text]) => document.querySelector(where).value.startsWith(text), [selector, start], { timeout: 120_000 });
  const picture = (name) => page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  return { page, open, read, until, picture };
};

// --- a telephone
const { page, open, read, until, picture } = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
const finger = await page.context().newCDPSession(page);
const centre = async (selector) => {
  const { x, y, width, height } = await page.locator(selector).boundingBox();
  return [x + width / 2, y + height / 2];
};
/** A finger that lands `beside` pixels to the right of the middle of an element, and moves. */
const drag = async (selector, dx, dy, beside = 0) => {
  await page.locator(selector).scrollIntoViewIfNeeded();
  const [x, y] = await centre(selector);
  const touch = (type, ...at) => finger.send("Input.dispatchTouchEvent", { type, touchPoints: at.length ? [{ x: at[0], y: at[1] }] : [] });
  await touch("touchStart", x + beside, y);
  for (let k = 1; k <= 5; k++) await touch("touchMove", x + beside + (dx * k) / 5, y + (dy * k) / 5);
  await touch("touchEnd");
  await page.waitForTimeout(100);
};

const touched = {};
await open("diagram");
const node = await centre("#node5");
await drag("#node5", 60, 30);
touched.diagram = (await centre("#node5")).map((v, k) => v - node[k]);
await page.tap("#shuffle");
touched.energy = Number(await read("#energy"));
await picture("phone-diagram");

await open("billiards");
touched.missed = [await read("#missed")];
await drag("#goal", -30, 30);
touched.missed.push(await read("#missed"));
await drag("#tip", 10, -5, 20); // fingers are wide: beside the tip will do
touched.missed.push(await read("#missed"));
await page.tap("#ball5");
touched.missed.push(await read("#missed"));
await page.tap("#optimise");
await until("#status", "done");
touched.optimised = await read("#missed");
await picture("phone-billiards");

await open("robot");
await page.selectOption("#robot", "A");
await page.selectOption("#iterations", "10");
touched.robot = [await read("#head")];
await page.tap("#train");
await until("#status", "best");
touched.robot.push(await read("#head"));
await picture("phone-robot");

if (live) {
  await open("quadratic");
  const before = [await read("#x"), await read("#y")];
  await drag("#point", 30, 10, 15);
  touched.quadratic = [...before, await read("#x"), await read("#y")];
  await page.waitForSelector("svg[data-live]", { timeout: 120_000 });
  await page.selectOption("#examples", "a saddle");
  await until("#form", "a saddle");
  await picture("phone-quadratic");
}

// --- a keyboard
const desk = await visit({ viewport: { width: 1040, height: 860 }, reducedMotion: "reduce" });
const keys = desk.page.keyboard;
/** Tab until an element is reached; how many elements lie before it. */
const reach = async (selector) => {
  for (let k = 0; k < 40; k++) {
    if (await desk.page.evaluate((s) => document.activeElement.matches(s), selector)) return k;
    await keys.press("Tab");
  }
  throw new Error(`${selector} cannot be reached with the Tab key`);
};
const pressed = {};
await desk.open("diagram");
await reach("#node5");
const at = async () => Number(await desk.page.locator("#node5").getAttribute("cx"));
const start = await at();
for (let k = 0; k < 3; k++) {
  await keys.press("Shift+ArrowRight");
  await desk.page.waitForTimeout(60);
}
pressed.diagram = (await at()) - start;
await reach("#shuffle");
await keys.press("Enter");

await desk.open("billiards");
await reach("#ball3");
pressed.missed = [await desk.read("#missed")];
await keys.press("Enter");
pressed.missed.push(await desk.read("#missed"));
await reach("#cue");
await keys.press("ArrowUp");
pressed.missed.push(await desk.read("#missed"));
await reach("#optimise");
await keys.press("Enter");
await desk.page.waitForFunction( // a busy machine may have done all updates before it looks
  () => /^(update|done)/.test(document.querySelector("#status").value), null, { timeout: 120_000 });
if ((await desk.page.locator("#optimise").textContent()) === "Stop") await keys.press("Enter");
pressed.stopped = await desk.read("#status");
await reach("#play");
const shown = Number(await desk.page.locator("#time").inputValue());
await keys.press("Enter");
await desk.page.waitForFunction((then) => { // what was shown before may be the end
  const now = Number(document.querySelector("#time").value);
  return now > 20 && now !== then;
}, shown);
await reach("#time");
await keys.press("Home");
pressed.time = await desk.read("#time");

await desk.open("robot");
await reach("#robot");
await keys.press("a");
await reach("#iterations");
await keys.press("1");
await reach("#train");
await keys.press("Enter");
await desk.until("#status", "best of 10");
pressed.robot = await desk.read("#robot");

if (live) {
  await desk.open("quadratic");
  await desk.page.waitForSelector("svg[data-live]", { timeout: 120_000 });
  await reach("#text");
  await keys.press("Control+A");
  await keys.type("x^2+3*y");
  await desk.until("#fy", "3");
  await reach("#point");
  await keys.press("Shift+ArrowUp");
  await desk.page.waitForTimeout(60);
  pressed.quadratic = [await desk.read("#y"), await desk.read("#fxx")];
  await reach("#turn");
  await keys.press("End");
  pressed.turn = await desk.read("#turn");
}

// --- what is lost
const lost = {};
await desk.page.route("**/*.wasm", (route) => route.abort());
const works = [...complaints];
for (const name of ["diagram", "billiards", "robot"]) {
  await desk.page.goto(`${address}${name}.html`);
  await desk.page.waitForFunction(() => document.querySelector("[role=alert]").textContent);
  lost[name] = await desk.read("[role=alert]");
}
await desk.page.unroute("**/*.wasm");
await desk.open("billiards");
await desk.page.route("**/billiards*", (route) => route.abort());
await desk.page.click("#optimise");
await desk.page.waitForFunction(() => document.querySelector("[role=alert]").textContent);
lost.worker = await desk.read("[role=alert]");
await desk.page.unroute("**/billiards*");
lost.nan = await desk.page.evaluate(() => new Promise((done) => {
  const worker = new Worker("billiards-worker.mjs", { type: "module" });
  worker.onmessage = ({ data }) => data.error && done(data.error);
  worker.postMessage({ shot: { cue: [NaN, 0.5], push: [0.3, 0] }, goal: [0.9, 0.75], target: 10 });
}));
await browser.close();
console.log(JSON.stringify({ touched, pressed, lost, overflowing, complaints: works }));
