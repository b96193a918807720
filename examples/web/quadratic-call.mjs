// A module of live.py to a function: x and y lie at 64 of its memory, the six numbers of the result behind them.

/** (x, y) -> value, gradient and Hessian, six numbers; null where the call fails. */
export function caller(wasm) {
  const { main, memory } = new WebAssembly.Instance(new WebAssembly.Module(wasm)).exports;
  return (x, y) => {
    new Float64Array(memory.buffer, 64, 2).set([x, y]);
    try {
      main();
    } catch {
      return null;
    }
    return new Float64Array(memory.buffer, 80, 6).slice();
  };
}

export const REACH = 2, LINES = 32;

/** Where line `k` of the grid is. */
export const along = (k) => -REACH + (2 * REACH * k) / LINES;

/** The values on the grid. */
export const surface = (call) => Array.from({ length: LINES + 1 }, (_, i) =>
  Array.from({ length: LINES + 1 }, (_, j) => call(along(i), along(j))?.[0] ?? NaN));
