// A Vite plugin: functions of a Python file are imported, compiled to WebAssembly.
//
//   import load from "./model.py?functions=energy,step&args=rose.ShapeOf('n');1.0";
//   const { energy, step } = await load();
//
// `functions` are names in the file; `args`, apart by `;`, are Python expressions for examples of their arguments where
// hints do not tell the shapes. It runs `python -m rosejit export`; while Vite serves, a changed Python file is exported
// again, and the page loaded anew.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

export default function rose({ python = "python3" } = {}) {
  let config;
  const asked = (id) => {
    const [file, query] = id.split("?");
    const options = new URLSearchParams(query);
    return file.endsWith(".py") && options.has("functions") ? { file, options } : null;
  };
  return {
    name: "rosejit",
    enforce: "pre",
    configResolved(resolved) {
      config = resolved;
    },
    async load(id) {
      const found = asked(id);
      if (!found) return null;
      const { file, options } = found;
      this.addWatchFile(file);
      const kept = path.join(config.cacheDir, "rosejit");
      await mkdir(kept, { recursive: true });
      const fresh = await mkdtemp(path.join(kept, "new-"));
      const examples = (options.get("args") ?? "").split(";").filter((text) => text.trim());
      const place = `${file}:${options.get("functions")}`;
      try {
        await promisify(execFile)(python, ["-m", "rosejit", "export", "-o", fresh, place, ...examples]);
      } catch (error) {
        await rm(fresh, { recursive: true });
        this.error(error.stderr || `${error}`);
      }
      const files = await readdir(fresh);
      const [module, wasm] = [".mjs", ".wasm"].map((end) => files.find((name) => name.endsWith(end)));
      const key = createHash("sha256").update(module).update(await readFile(path.join(fresh, wasm))).digest("hex");
      const out = path.join(kept, key.slice(0, 16)); // what has changed has another name, and no cache knows it
      await rename(fresh, out).catch(() => rm(fresh, { recursive: true }));
      return `export { default } from ${JSON.stringify(path.join(out, module))};`;
    },
    handleHotUpdate({ file, server }) {
      if (file.endsWith(".py")) server.ws.send({ type: "full-reload" });
    },
  };
}
