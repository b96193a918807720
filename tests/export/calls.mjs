// Calls of exported functions whose arguments and results travel as JSON, numbers as the bits of a double.
const word = new DataView(new ArrayBuffer(8));

const decode = (x) => {
  if (Array.isArray(x)) return x.map(decode);
  if (x === null || typeof x !== "object") return x;
  if ("real" in x) {
    word.setBigUint64(0, BigInt(`0x${x.real}`));
    return word.getFloat64(0);
  }
  if ("int" in x) return BigInt(x.int);
  return Object.fromEntries(Object.entries(x.object).map(([key, value]) => [key, decode(value)]));
};

const encode = (x) => {
  if (typeof x === "number") {
    word.setFloat64(0, x);
    return { real: word.getBigUint64(0).toString(16).padStart(16, "0") };
  }
  if (typeof x === "bigint") return { int: `${x}` };
  if (x === null || typeof x !== "object") return x;
  return (ArrayBuffer.isView(x) || Array.isArray(x) ? Array.from(x) : Object.values(x)).map(encode);
};

// What the opaque functions of tests/programs do.
const PAGE = {
  log: Math.log, power: Math.pow, sine: Math.sin, cosine: Math.cos, print: () => {},
  parity: (n) => ((n % 2) + 2) % 2,
  total: (x) => x.reduce((a, b) => a + b, 0),
};

/** The results, or errors, of jobs `{ module, calls: [[name, args], ...] }` in order. */
export async function run(jobs) {
  const found = [];
  for (const { module, calls } of jobs) {
    let functions, failed;
    try {
      functions = await (await import(module)).default({ imports: PAGE });
    } catch (error) {
      failed = { error: `${error}` };
    }
    for (const [name, args] of calls) {
      try {
        found.push(failed ?? { value: encode(functions[name](...args.map(decode))) });
      } catch (error) {
        found.push({ error: `${error.name}: ${error.message}` });
      }
    }
  }
  return found;
}
