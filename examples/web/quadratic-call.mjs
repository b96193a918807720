// A module of live.py to a function: x and y lie at 64 of its memory, the six numbers of the result behind them.

/** (x, y) -> value, gradient and Hessian, six numbers; null where the call fails. */
export function caller(module) {
  const { main, memory } = new WebAssembly.Instance(module).exports;
  let numbers = new Float64Array(memory.buffer, 64, 8);
  return (x, y) => {
    numbers[0] = x;
    numbers[1] = y;
    try {
      main();
    } catch {
      return null;
    } finally {
      if (!numbers.length) numbers = new Float64Array(memory.buffer, 64, 8); // the memory has grown
    }
    return numbers.slice(2);
  };
}

export const REACH = 2, LINES = 32;

/** Where line `k` of the grid is. */
export const along = (k) => -REACH + (2 * REACH * k) / LINES;

/** The values on the grid. */
export const surface = (call) => Array.from({ length: LINES + 1 }, (_, i) =>
  Array.from({ length: LINES + 1 }, (_, j) => call(along(i), along(j))?.[0] ?? NaN));
