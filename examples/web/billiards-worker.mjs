// One optimisation, told step by step.
import load from "./billiards/billiards.mjs";

onmessage = async ({ data: { shot, goal, target } }) => {
  try {
    const progress = (step, value) => postMessage({ step, value });
    const { aim } = await load({ imports: { progress } });
    const { x, value, gradient, steps } = aim(shot, goal, target);
    if (![...x.cue, ...x.push, ...gradient.cue, ...gradient.push].every(Number.isFinite)) throw new Error("no gradient leads on from this shot. Move the cue ball a little.");
    postMessage({ step: steps, value, shot: { cue: [...x.cue], push: [...x.push] } });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
