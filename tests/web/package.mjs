// Opens a page: `node package.mjs ADDRESS PLAYWRIGHT CHROMIUM PICTURE`. Prints as JSON what its console said, what its
// `output` had when it was first there, and what that has a second later.
const [, , address, playwright, executablePath, picture] = process.argv;
const { chromium } = await import(playwright);
const quiet = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update"];
const browser = await chromium.launch({ executablePath, args: quiet.map((flag) => `--${flag}`) });
const page = await browser.newPage({ viewport: { width: 900, height: 500 } });
let said, complaint;
page.on("console", (message) => (message.type() === "log" ? (said = JSON.parse(message.text())) : null));
page.on("pageerror", (error) => (complaint = error.message));
await page.addInitScript(() => {
  new MutationObserver(() => (window.first ??= document.querySelector("output")?.textContent)).observe(document, { childList: true, subtree: true });
});
await page.goto(address, { waitUntil: "networkidle" });
await page.waitForTimeout(1000);
const [first, shown] = await page.evaluate(() => [window.first, document.querySelector("output")?.textContent]);
await page.screenshot({ path: picture });
await browser.close();
if (complaint) throw new Error(complaint);
console.log(JSON.stringify({ said, first, shown }));
