// Training, told iteration by iteration; the weights that walked farthest in the end.
import load from "./robot/robot.mjs";

onmessage = async ({ data: { name, weights, iterations } }) => {
  try {
    const improve = (await load())[`improve${name}`];
    let best = weights, distance = -Infinity;
    for (let iteration = 1; iteration <= iterations; iteration++) {
      const [loss, next] = improve(weights);
      if (!Number.isFinite(loss)) throw new Error(`the gradient has led to weights with which the robot falls apart (iteration ${iteration})`);
      if (-loss > distance) [best, distance] = [weights, -loss];
      weights = next;
      postMessage({ iteration, distance: -loss });
    }
    postMessage({ iteration: iterations, distance, best });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
