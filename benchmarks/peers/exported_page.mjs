// What one call of an exported function costs in Chromium, in nanoseconds on the wall.
//   node exported_page.mjs PLAYWRIGHT CHROMIUM ADDRESS MODULE.mjs FUNCTION ARGUMENTS.json BATCH
const [, , playwright, executablePath, address, module, name, given, size] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const page = await browser.newPage();
await page.goto(`${address}index.html`);
const job = { module: `${address}${module}`, name, args: JSON.parse(given), size: Number(size) };
const found = await page.evaluate(async (job) => {
  const { default: measured } = await import("./peers/exported_call.mjs");
  return JSON.stringify(await measured(job, () => 1e6 * performance.now()));
}, job);
console.log(found);
await browser.close();
