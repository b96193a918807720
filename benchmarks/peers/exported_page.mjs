// What one call of an exported function costs in Chromium, in nanoseconds on the wall.
//   node exported_page.mjs PLAYWRIGHT CHROMIUM ADDRESS MODULE.mjs FUNCTION ARGUMENTS.json BATCH
// Of an application by npm `rose` FUNCTION is its name, MODULE the address of its SPEC.json.
const [, , playwright, executablePath, address, module, name, given, size] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const page = await browser.newPage();
await page.goto(`${address}index.html`);
const job = { module: `${address}${module}`, name, args: JSON.parse(given), size: Number(size) };
const found = await page.evaluate(async (job) => {
  if (job.name === "billiards" || job.name === "robot") {
    const { default: timed } = await import("./peers/apps_call.mjs");
    const { call } = await timed(job.name, await (await fetch(job.module)).json(), job.size, () => performance.now() / 1e3);
    return JSON.stringify({ fresh: 1e9 * call });
  }
  const { default: measured } = await import("./peers/exported_call.mjs");
  return JSON.stringify(await measured(job, () => 1e6 * performance.now()));
}, job);
console.log(found);
await browser.close();
