// What one call of an exported function costs in node, in nanoseconds of CPU.
//   node exported.mjs MODULE.mjs FUNCTION ARGUMENTS.json BATCH     or FUNCTION = "rose" for x ** y by npm `rose`
import { pathToFileURL } from "node:url";
import measured from "./exported_call.mjs";

const [, , module, name, given, size] = process.argv;
const cpu = () => { const { user, system } = process.cpuUsage(); return 1e3 * (user + system); };
const job = { module: pathToFileURL(module), name, args: JSON.parse(given), size: Number(size) };
console.log(JSON.stringify(await measured(job, cpu)));
