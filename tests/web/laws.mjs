// The laws in Pyodide: `node laws.mjs PYODIDE REPOSITORY PACKAGES START STEP ANSWERS` prints them as JSON.
// PACKAGES has beartype and pytest, all of them pure Python; ANSWERS is what tests/web/answers.py has written.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , pyodide, repository, packages, start, step, answers] = process.argv;
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${pyodide}/` });
for (const [place, root] of [["/repository", repository], ["/packages", packages]]) {
  python.FS.mkdir(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, place);
}
process.on("uncaughtException", (error) => {
  console.error(error.message); // without the megabyte of source around it
  process.exit(1);
});
const used = () => process.cpuUsage().user / 1e6;
python.runPython("import sys; sys.dont_write_bytecode = True; sys.path += ['/repository', '/packages']");
python.runPython("sys.modules['numpy'] = None"); // that of CPython, which may be among the packages, is of no use here
const times = {};
const timed = (name, text) => {
  const before = used();
  python.runPython(text, { filename: `/${name}.py` });
  times[name] = used() - before;
};
timed("import", "import rosejit as rose");
timed("gradient", `
@rose.jit(cache=False)
def f(x: float, y: float) -> float:
    return x ** y
assert rose.grad(f, (0, 1))(2.0, 3.0) == (12.0, 5.545177444479562)
`);
if (!Number(start)) timed("faults", "from tests.web import faults_in_page; faults_in_page.check()");
const laws = python.pyimport("tests.web.laws_in_page").run(Number(start), Number(step), readFileSync(answers, "utf8"));
console.log(JSON.stringify({ times, laws: JSON.parse(laws) }));
