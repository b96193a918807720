// What exported modules share. `javascript.py` copies the definitions that a module needs: each begins with
// `const $name` in the first column. `$f`, `$u`, `$q` are the memory as f64, bytes and i64, `$w` the exports.

const $kind = (x) =>
  x === undefined ? "nothing" : x === null || typeof x === "number" ? `${x}`
    : Array.isArray(x) ? "an array" : `a ${x[Symbol.toStringTag] || typeof x}`.replace(/^a(?= [oI])/, "an");

// Where loops over alike parts of a structure are; a path has the number of the loop behind a NUL.
const $turn = [0];

const $said = (path) => path.replace(/\0(\d)/g, (_, k) => $turn[k]);

const $wrong = (wanted, path, x) => {
  throw new TypeError(`\`${$said(path)}\` must be ${wanted}, not ${$kind(x)}`);
};

const $many = (name, most, given) => {
  throw new TypeError(`\`${name}\` takes ${most} arguments, not ${given}`);
};

const $real = (x, path) => (typeof x === "number" ? x : $wrong("a number", path, x));

const $int = (x, path) => {
  const given = Number.isSafeInteger(x) ? BigInt(x) : x;
  if (typeof given !== "bigint") $wrong("an integer (a BigInt beyond 2 ** 53)", path, x);
  if (BigInt.asIntN(64, given) !== given) throw new RangeError(`\`${$said(path)}\` does not fit 64 bits: ${x}`);
  return given;
};

const $bool = (x, path) => (typeof x === "boolean" ? x : $wrong("a boolean", path, x));

const $whole = (x) => (x >= -9007199254740991n && x <= 9007199254740991n ? Number(x) : x);

const $nothing = (x, path) => x == null || $wrong("null", path, x);

const $object = (x, path) => (typeof x === "object" && x !== null && !Array.isArray(x) ? x : $wrong("an object", path, x));

const $list = (x, n, path) => {
  if (!Array.isArray(x) && !(ArrayBuffer.isView(x) && "length" in x)) $wrong("an array", path, x);
  if (x.length !== n) throw new RangeError(`\`${$said(path)}\` must have length ${n}, not ${x.length}`);
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

// The first length of an array; of a flat one the numbers in it by those of a row.
const $count = (x, row, path) => {
  if (typeof x !== "object" || x === null || !Number.isInteger(x.length)) $wrong("an array", path, x);
  if (!row.length || !ArrayBuffer.isView(x)) return x.length;
  const n = x.length / $size(row, 0);
  if (!Number.isInteger(n)) throw new RangeError(`\`${$said(path)}\` must have rows of ${$size(row, 0)} numbers, not ${x.length} numbers`);
  return n;
};

// An array of any length, which takes memory until the call is over; those whose lengths have one name agree.
const $open = (call, word, row, size, write, name, release, x, path) => {
  const n = $count(x, row, path), [known, first] = (call.lengths[name] ??= [n, path]);
  if (n !== known) throw new RangeError(`\`${$said(path)}\` must have length ${known}, as \`${$said(first)}\` has (both are \`${name}\`), not ${n}`);
  const bytes = n * $size(row, 0) * size;
  if (bytes >= 2 ** 31) throw new RangeError(`the memory is exhausted: ${bytes} bytes were asked for`);
  const at = bytes && $w.allocate(bytes) >>> 0, record = $w.allocate(12) >>> 0;
  $f.length || $see();
  const memory = new DataView($w.memory.buffer);
  memory.setUint32(record, at, true);
  memory.setInt32(record + 4, n, true);
  memory.setInt32(record + 8, bytes, true);
  memory.setUint32(word, record, true);
  call.held.push([release, record]);
  write(at / size, [n, ...row], x, path);
};

const $free = (call) => {
  for (const [release, record] of call.held) $w[release](record);
};

const $rows = (read, at, shape, axis = 0) => {
  if (axis + 1 === shape.length) return read(at, at + shape[axis]);
  const step = $size(shape, axis + 1);
  return Array.from({ length: shape[axis] }, (_, i) => $rows(read, at + i * step, shape, axis + 1));
};

const $f64s = (from, to) => $f.slice(from, to);

const $i64s = (from, to) => $q.slice(from, to);

const $flags = (from, to) => Array.from($u.subarray(from, to), Boolean);

// An array that holds numbers of another kind would round them.
const $holds = (view, as, out) => out[Symbol.toStringTag][0] === (as ? "U" : view[Symbol.toStringTag][0]);

const $fill = (view, at, shape, out, path, as, axis = 0, row = 0) => {
  const typed = ArrayBuffer.isView(out), deep = axis + 1 < shape.length && !typed;
  if (typed && !$holds(view, as, out)) $wrong(`an array or a ${view[Symbol.toStringTag]}`, $where(path, shape, axis, row), out);
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

// Numbers as Python writes them: an exponent has two digits, and stands where there would be many zeros.
const $power = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");

const $text = (value) =>
  typeof value === "boolean" ? (value ? "True" : "False")
    : typeof value === "object" ? `[${Array.from(value, $text).join(", ")}]`
    : typeof value !== "number" ? `${value}`
    : !Number.isFinite(value) ? `${value}`.toLowerCase().replace("infinity", "inf")
    : value && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e16) ? $power(value.toExponential())
    : `${Object.is(value, -0) ? "-" : ""}${value}${Number.isInteger(value) ? ".0" : ""}`;

// The magnitude `x` by one of Python's kinds of format; exact halves are rounded up, as JavaScript has it.
const $written = (x, digits, kind) => {
  if (!Number.isFinite(x)) return $text(x);
  if (kind === "e") return $power(x.toExponential(digits));
  if (kind !== "g") return x < 1e21 ? x.toFixed(digits) : `${BigInt(x)}${digits ? "." + "0".repeat(digits) : ""}`;
  const [whole, power] = x.toExponential((digits || 1) - 1).split("e");
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return power < -4 || power >= (digits || 1) ? $power(`${bare(whole)}e${power}`) : bare(x.toFixed((digits || 1) - 1 - power));
};

const $shown = (value, spec, whole) => {
  const [, fill, align, plus, zero, width, comma, digits, kind] =
    /^(?:(.?)([<>=^]))?([+ -]?)(0?)(\d*)([,_]?)(?:\.(\d+))?([dfegx%]?)$/.exec(spec) ?? [];
  if (!spec) return $text(whole ? BigInt(value) : value);
  if (typeof value === "boolean") return $shown(Number(value), spec, true);
  const x = Math.abs(Number(value)), many = Number(digits ?? 6);
  let text = kind === "x" ? BigInt(value).toString(16)
    : kind === "%" ? `${$written(100 * x, many, "f")}%`
    : kind && kind !== "d" ? $written(x, many, kind)
    : digits === undefined ? (whole ? `${value}` : $text(value)) : $written(x, many, "g");
  text = text.replace(/^-/, "");
  if (comma) text = text.replace(/^\d+/, (n) => n.replace(/\B(?=(\d{3})+$)/g, comma));
  const sign = value < 0 || Object.is(value, -0) ? "-" : plus === "-" ? "" : plus ?? "";
  const missing = Math.max(0, width - sign.length - text.length) || 0, blank = fill || zero || " ";
  const before = align === "<" ? 0 : align === "^" ? missing >> 1 : missing;
  const behind = blank.repeat(missing - before), front = blank.repeat(before);
  return zero && !align || align === "=" ? sign + front + text : front + sign + text + behind;
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
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (/^file:/.test(source) && globalThis.process) {
    const files = "node:fs/promises", { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ files);
    return WebAssembly.compile(await readFile(new URL(source)));
  }
  const found = await (source instanceof URL || typeof source === "string" ? fetch(source) : source);
  if (!found.ok) throw new Error(`${found.url} cannot be loaded: ${found.status} ${found.statusText}`);
  const streams = found.headers.get("Content-Type") === "application/wasm";
  return streams ? WebAssembly.compileStreaming(found) : WebAssembly.compile(await found.arrayBuffer());
};

const $function = (imports, name) => {
  if (typeof imports[name] === "function") return;
  throw new TypeError(`the function \`${name}\` is needed: load({ imports: { ${name} } })`);
};
