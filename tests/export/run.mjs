// `node run.mjs JOBS.json`: prints what the calls of the file give.
import { readFileSync } from "node:fs";
import { run } from "./calls.mjs";

console.log(JSON.stringify(await run(JSON.parse(readFileSync(process.argv[2], "utf8")))));
