// Uses the pages of examples/web as a person would: `node pages.mjs ADDRESS PLAYWRIGHT CHROMIUM FOLDER`.
// Prints what it read as JSON; screenshots go to FOLDER.
const [, , address, playwright, executablePath, folder] = process.argv;
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
console.log(JSON.stringify({ billiards, robot, diagram, complaints: works, lost, programs }));
