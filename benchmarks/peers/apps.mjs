// Billiards and the robot by npm `rose` in node, in seconds of CPU.
//   node apps.mjs APP SPEC.json REPEAT     APP: billiards or robot; SPEC: what `benchmarks/apps.py` writes
import { readFileSync } from "node:fs";
import timed from "./apps_call.mjs";

const [, , app, path, repeat] = process.argv;
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
console.log(JSON.stringify(await timed(app, JSON.parse(readFileSync(path, "utf8")), Number(repeat), cpu)));
