// A Run button on every block of Python that runs in a page. Python is loaded at the first click, into a worker.
// The blocks of a page are one program: those before a block run first, if they have not.

let worker, last = 0;
const waiting = new Map();

function employ(tell) {
  worker = new Worker(new URL("run-worker.mjs", import.meta.url), { type: "module" });
  const end = (dead) => {
    worker?.terminate();
    worker = undefined;
    for (const program of programs.values()) for (const block of program) block.done = false;
    for (const answer of waiting.values()) answer({ text: "", error: dead });
    waiting.clear();
  };
  worker.onmessage = ({ data }) => {
    if (data.progress) return tell(`${data.progress} …`);
    if (data.dead) return end(`Python could not go on (${data.dead}). Is the network there? Run starts it anew.`);
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  worker.onerror = (event) => end(`Python could not be loaded (${event.message || "no worker"}). Is the network there?`);
  return end;
}

let stop;
const ask = (text, space, tell) => new Promise((answer) => {
  if (!worker) stop = employ(tell);
  waiting.set(++last, answer);
  worker.postMessage({ id: last, text, space });
});

const programs = new Map(); // space -> its blocks, in order

function dress(place, number) {
  const pre = place.querySelector("pre");
  const space = place.classList.contains("run-alone") ? `alone${number}` : "page";
  const block = { done: false, text: () => pre.innerText };
  if (!programs.has(space)) programs.set(space, []);
  const program = programs.get(space);
  program.push(block);

  const make = (text) => Object.assign(document.createElement("button"), { type: "button", textContent: text });
  const button = make("Run"), copy = make("Copy"), buttons = document.createElement("div");
  button.className = "run-button";
  copy.onclick = () => navigator.clipboard.writeText(block.text());
  buttons.className = "run-buttons";
  buttons.append(copy, button);
  const output = document.createElement("output");
  output.className = "run-output";
  output.hidden = true;
  button.title = "run this block in the page (Shift+Enter); the text can be edited";
  const tell = (text, kind = "") => {
    output.hidden = false;
    output.textContent = text;
    place.dataset.state = kind;
  };
  const run = async () => {
    if (button.textContent === "Stop") return stop?.("stopped");
    button.textContent = "Stop";
    tell("running …", "running");
    let answer;
    for (const each of program.slice(0, program.indexOf(block) + 1)) {
      if (each.done && each !== block) continue;
      answer = await ask(each.text(), space, tell);
      each.done = !answer.error;
      if (!each.done) break;
    }
    button.textContent = "Run";
    tell([answer.text, answer.error].filter(Boolean).join("\n") || "(no output)", answer.error ? "wrong" : "done");
  };
  button.onclick = run;
  pre.contentEditable = "plaintext-only";
  pre.spellcheck = false;
  pre.setAttribute("role", "textbox");
  pre.setAttribute("aria-multiline", "true");
  pre.setAttribute("aria-label", "Python, can be edited");
  pre.onkeydown = (event) => {
    if (event.key !== "Enter" || !event.shiftKey) return;
    event.preventDefault();
    run();
  };
  pre.oninput = () => { block.done = false; };
  place.append(buttons, output);
}

document.querySelectorAll("div.run").forEach(dress);
