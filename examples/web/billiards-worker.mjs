// One optimisation, told step by step.
import load from "./billiards/billiards.mjs";

onmessage = async ({ data: { shot, goal, target } }) => {
  try {
    const progress = (step, value) => postMessage({ step, value });
    const { aim } = await load({ imports: { progress } });
    const { x, value, steps } = aim(shot, goal, target);
    postMessage({ step: steps, value, shot: { cue: [...x.cue], push: [...x.push] } });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
