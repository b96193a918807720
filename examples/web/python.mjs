// Python in a worker: Pyodide lies in ./pyodide, rosejit and what it needs in ./python.zip.

async function bytes(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Pyodide with rosejit in it; `say` is told what is being loaded. */
export async function load(say) {
  say("loading Python");
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  const [python, packages] = await Promise.all([loadPyodide(), bytes("./python.zip")]);
  say("loading rosejit");
  python.unpackArchive(packages, "zip");
  return python;
}
