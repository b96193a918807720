// Runs blocks of a page, one after the other, in the Python of the live pages.
import { load } from "../live/python.mjs";

const python = load((progress) => self.postMessage({ progress })).then((python) => python.pyimport("run_block"));

self.onmessage = async ({ data: { id, text, space } }) => {
  try {
    self.postMessage({ id, ...JSON.parse((await python).run(text, space)) });
  } catch (error) {
    self.postMessage({ id, dead: error.message });
  }
};
