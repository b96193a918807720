// Uses Run on blocks of the site as a person would: `node blocks.mjs ADDRESS PLAYWRIGHT CHROMIUM FOLDER PAGES`, PAGES as JSON.
// Prints what each block gave as JSON; screenshots go to FOLDER.
const [, , address, playwright, executablePath, folder, given] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));

const found = {}, bytes = {};
for (const [name, most] of Object.entries(JSON.parse(given))) {
  await page.goto(`${address}${name}.html`, { waitUntil: "networkidle" });
  bytes[name] = await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, entry) => sum + entry.decodedBodySize, 0));
  const blocks = page.locator("div.run");
  found[name] = [];
  for (let k = 0; k < Math.min(most, await blocks.count()); k++) {
    const block = blocks.nth(k);
    await block.locator(".run-button").click();
    const output = block.locator(".run-output");
    await page.waitForFunction((one) => ["done", "wrong"].includes(one.dataset.state), await block.elementHandle(), { timeout: 120_000 });
    if (name === "docs/how-to/contact") await page.screenshot({ path: `${folder}/site-run.png` });
    found[name].push({ text: await block.locator("pre").textContent(), gives: await output.textContent() });
  }
}

// Edits, an endless loop, the keyboard.
await page.goto(`${address}docs/index.html`);
const first = page.locator("div.run").first();
const pre = first.locator("pre"), output = first.locator(".run-output");
const settled = async () => {
  await page.waitForFunction((one) => ["done", "wrong"].includes(one.dataset.state), await first.elementHandle(), { timeout: 120_000 });
  return output.textContent();
};
const edits = {};
await pre.fill("import rosejit as rose\n\nrose.grad(lambda x: x**3)(2.0)");
await pre.press("Shift+Enter");
edits.typed = await settled();
await pre.fill("import rosejit as rose\n\n@rose.jit\ndef f(x: float) -> float:\n    return [1.0, 2.0][x]\n\nf(1.0)");
await first.locator(".run-button").click();
edits.wrong = await settled();
await pre.fill("while True:\n    pass");
await first.locator(".run-button").click();
await page.waitForTimeout(1000);
await first.locator(".run-button").click();
edits.stopped = await settled();
await pre.fill("1 + 1");
await first.locator(".run-button").click();
edits.again = await settled();

const overflowing = [];
for (const [width, height] of [[1280, 900], [390, 844]]) {
  await page.setViewportSize({ width, height });
  for (const name of ["docs/index", "docs/start", "docs/gallery", "docs/coming-from/jax", "docs/reference/functions", "docs/how-to/contact"]) {
    await page.goto(`${address}${name}.html`);
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) overflowing.push(`${name} ${width}`);
    const shown = page.locator(".beside, div.run").first();
    if (await shown.count()) await shown.scrollIntoViewIfNeeded();
    await page.screenshot({ path: `${folder}/site-${name.replaceAll("/", "-")}-${width}.png` });
  }
}
await browser.close();
console.log(JSON.stringify({ found, bytes, edits, complaints, overflowing }));
