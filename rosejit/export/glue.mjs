// What exported modules share. `javascript.py` copies the definitions that a module needs: each begins with
// `const $name` in the first column. `$f`, `$u`, `$q` are the memory as f64, bytes and i64, `$w` the exports.

const $kind = (x) =>
  x === undefined ? "nothing" : x === null || typeof x === "number" ? `${x}`
    : Array.isArray(x) ? "an array" : `a ${typeof x}`.replace("a o", "an o");

const $wrong = (wanted, path, x) => {
  throw new TypeError(`\`${path}\` must be ${wanted}, not ${$kind(x)}`);
};

const $many = (name, most, given) => {
  throw new TypeError(`\`${name}\` takes ${most} arguments, not ${given}`);
};

const $real = (x, path) => (typeof x === "number" ? x : $wrong("a number", path, x));

const $int = (x, path) => {
  const given = Number.isSafeInteger(x) ? BigInt(x) : x;
  if (typeof given !== "bigint") $wrong("an integer (a BigInt beyond 2 ** 53)", path, x);
  if (BigInt.asIntN(64, given) !== given) throw new RangeError(`\`${path}\` does not fit 64 bits: ${x}`);
  return given;
};

const $bool = (x, path) => (typeof x === "boolean" ? x : $wrong("a boolean", path, x));

const $whole = (x) => (x >= -9007199254740991n && x <= 9007199254740991n ? Number(x) : x);

const $nothing = (x, path) => x == null || $wrong("null", path, x);

const $object = (x, path) => (typeof x === "object" && x !== null ? x : $wrong("an object", path, x));

const $list = (x, n, path) => {
  if (!Array.isArray(x) && !ArrayBuffer.isView(x)) $wrong("an array", path, x);
  if (x.length !== n) throw new RangeError(`\`${path}\` must have length ${n}, not ${x.length}`);
  return x;
};

const $size = (shape, axis) => (axis < shape.length ? shape[axis] * $size(shape, axis + 1) : 1);

const $where = (path, shape, axis, flat) =>
  axis ? `${$where(path, shape, axis - 1, Math.floor(flat / shape[axis - 1]))}[${flat % shape[axis - 1]}]` : path;

const $array = (view, at, shape, of, x, path, axis = 0, row = 0) => {
  const deep = axis + 1 < shape.length && !ArrayBuffer.isView(x);
  const n = deep ? shape[axis] : $size(shape, axis);
  if (x?.length !== n || typeof x !== "object") $list(x, n, $where(path, shape, axis, row));
  if (deep) {
    for (let i = 0; i < n; i++) $array(view, at, shape, of, x[i], path, axis + 1, row * n + i);
  } else {
    for (let i = 0, j = row * n; i < n; i++, j++) view[at + j] = of(x[i], path, shape, j);
  }
};

const $reals = (at, shape, x, path) => $array($f, at, shape, $realAt, x, path);

const $realAt = (x, path, shape, i) => (typeof x === "number" ? x : $real(x, $where(path, shape, shape.length, i)));

const $ints = (at, shape, x, path) => $array($q, at, shape, $intAt, x, path);

const $intAt = (x, path, shape, i) => (typeof x === "bigint" && BigInt.asIntN(64, x) === x ? x : $int(x, $where(path, shape, shape.length, i)));

const $bools = (at, shape, x, path) => $array($u, at, shape, $boolAt, x, path);

const $boolAt = (x, path, shape, i) => (x === true || x === 1 ? 1 : x === false || x === 0 ? 0 : $bool(x, $where(path, shape, shape.length, i)));

const $rows = (read, at, shape, axis = 0) => {
  if (axis + 1 === shape.length) return read(at, at + shape[axis]);
  const step = $size(shape, axis + 1);
  return Array.from({ length: shape[axis] }, (_, i) => $rows(read, at + i * step, shape, axis + 1));
};

const $f64s = (from, to) => $f.slice(from, to);

const $i64s = (from, to) => $q.slice(from, to);

const $flags = (from, to) => Array.from($u.subarray(from, to), Boolean);

const $fill = (view, at, shape, out, path, as, axis = 0, row = 0) => {
  const deep = axis + 1 < shape.length && !ArrayBuffer.isView(out);
  const n = deep ? shape[axis] : $size(shape, axis);
  if (out?.length !== n || typeof out !== "object") $list(out, n, $where(path, shape, axis, row));
  if (deep) {
    for (let i = 0; i < n; i++) $fill(view, at, shape, out[i], path, as, axis + 1, row * n + i);
  } else {
    for (let i = 0, j = at + row * n; i < n; i++, j++) out[i] = as ? as(view[j]) : view[j];
  }
};

const $dyn = (word, shape, size, read, release) => {
  const memory = new DataView($w.memory.buffer), record = memory.getUint32(word, true);
  const at = memory.getUint32(record, true) / size, n = memory.getInt32(record + 4, true);
  const found = $rows(read, at, [n, ...shape]);
  $w[release](record);
  return found;
};

const $text = (value) =>
  typeof value === "boolean" ? (value ? "True" : "False")
    : Number.isInteger(value) && Math.abs(value) < 1e16 ? `${Object.is(value, -0) ? "-0" : value}.0`
    : typeof value === "number" && !Number.isFinite(value) ? `${value}`.toLowerCase().replace("infinity", "inf")
    : `${value}`.replace(/e([+-])(\d)$/, "e$10$2");

const $shown = (value, spec, whole) => {
  const [, align, width, comma, digits, kind] = /^([<>^]?)(\d*)(,?)(?:\.(\d+))?([dfeg]?)$/.exec(spec) ?? [];
  const x = Number(value);
  let text = whole ? `${value}` : $text(value);
  const sign = Object.is(x, -0) ? "-" : "";
  if (Number.isFinite(x) && (kind === "f" || kind === "e"))
    text = sign + (kind === "f" ? x.toFixed(digits ?? 6) : x.toExponential(digits ?? 6));
  if (digits !== undefined && kind === "g") text = `${Number(x.toPrecision(digits || 1))}`;
  if (comma) text = text.replace(/^(-?)(\d+)/, (_, sign, n) => sign + n.replace(/\B(?=(\d{3})+$)/g, ","));
  if (kind) text = text.replace(/e([+-])(\d)$/, "e$10$2");
  return align === "<" ? text.padEnd(width) : align === "^" ? text.padStart((Number(width) + text.length) >> 1).padEnd(width)
    : text.padStart(width ?? 0);
};

const $exhausted = (error) => {
  const memory = new DataView($w.memory.buffer);
  if (!(error instanceof WebAssembly.RuntimeError) || memory.getInt32(8, true) !== -2) return error;
  return new RangeError(`the memory is exhausted: ${memory.getBigInt64(16, true)} bytes were asked for`);
};

const $failure = (error, failures) => {
  const memory = new DataView($w.memory.buffer);
  const [Kind, name, message, place, values] = failures[memory.getInt32(8, true)] ?? [];
  if (!(error instanceof WebAssembly.RuntimeError) || !Kind) return $exhausted(error);
  const found = Array.from(values, (kind, k) =>
    kind === "r" ? memory.getFloat64(16 + 8 * k, true) : memory.getBigInt64(16 + 8 * k, true));
  if (name === "RoseIndexError" && found[0] < 0) found[0] -= found[1];
  const text = message.replace(/\{(\d)(?:![rsa])?(?::([^{}]*))?\}/g, (gap, k, spec = "") =>
    k < found.length ? $shown(values[k] === "b" ? found[k] !== 0n : found[k], spec, values[k] === "i") : gap);
  return Object.assign(new Kind(place ? `${text}\n  ${place}` : text), { name });
};

const $module = async (source) => {
  if (source instanceof WebAssembly.Module) return source;
  if (source?.protocol === "file:" && globalThis.process) {
    const files = "node:fs/promises";
    source = await (await import(/* webpackIgnore: true */ /* @vite-ignore */ files)).readFile(source);
  }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const found = await (source instanceof URL || typeof source === "string" ? fetch(source) : source);
  if (!found.ok) throw new Error(`${found.url} cannot be loaded: ${found.status} ${found.statusText}`);
  const streams = found.headers.get("Content-Type") === "application/wasm";
  return streams ? WebAssembly.compileStreaming(found) : WebAssembly.compile(await found.arrayBuffer());
};

const $function = (imports, name) => {
  if (typeof imports[name] === "function") return;
  throw new TypeError(`the function \`${name}\` is needed: load({ imports: { ${name} } })`);
};
