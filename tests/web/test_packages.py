"""What `rose.export` makes in other people's tools: packages in tsc without the DOM's types, esbuild, Vite; React.

One package is made of examples/react/model.py by the command line, with lengths that stay open, and is called with
arrays of 0, 1, 7 and 10,000 numbers: each tool's program gives Python's bits. `ROSE_NODE_MODULES` is the folder
that has the tools, which `tox -e web` installs; what Vite makes runs in Chromium, driven by Playwright.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from rosejit import cli
from tests.export.machine import NODE, bits
from tests.export.test_npm_package import Spring, energy, linked, packed
from tests.web.test_pages import BROWSER, PLAYWRIGHT

ROOT = Path(__file__).parent.parent.parent
TOOLS = Path(os.environ.get("ROSE_NODE_MODULES", "")) / ".bin"
if not (NODE and (TOOLS / "tsc").exists()):
    print("no tsc, esbuild and Vite: packages are not tried in them", file=sys.__stderr__)

X, SPRING = np.array([0, 1.5, 2.25, 2.5, 4]), Spring(1.0, 2.1)
CALL = "[0, 1.5, 2.25, 2.5, 4], { length: 1, stiffness: 2.1 }"
LENGTHS = 0, 1, 7, 10_000
MODEL = ROOT / "examples" / "react" / "model.py"
USER = f"""
import load from "@me/springs";
import loadChain from "@me/chain";
declare const console: {{ log(text: string): void }};
const {{ value, gradient }} = await load();
const slope: Float64Array = gradient({CALL}), energy: number = value({CALL});
gradient.into(slope, {CALL});
const told: number[] = [energy, ...slope];
const chain = await loadChain();
for (const n of {list(LENGTHS)}) {{
  const x: Float64Array = Float64Array.from({{ length: n }}, (_, i) => ((i * i) % 7) * 0.3);
  told.push(chain.energy(x, 1.25), ...chain.step(x, 1.25));
}}
console.log(JSON.stringify(told));
"""


def wanted():
    """What the program has to print, by Python."""
    told, model = [energy(X, SPRING), *rose.grad(energy)(X, SPRING)], model_of(MODEL)
    for n in LENGTHS:
        x = np.array([(i * i) % 7 * 0.3 for i in range(n)])
        told += [model.energy(x, 1.25), *model.step(x, 1.25)]
    return [float(number) for number in told]


def model_of(path):
    spec = importlib.util.spec_from_file_location("model", path)
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    return model


@pytest.fixture
def app(tmp_path):
    packed(tmp_path / "made")
    chain = [f"{MODEL}:energy,step", "rose.ShapeOf('n')", "1.0", "--npm", "@me/chain", "-o", str(tmp_path / "chain")]
    assert cli.main(["export", *chain]) == 0
    (tmp_path / "package.json").write_text('{ "type": "module" }')
    linked(tmp_path, tmp_path / "made", "@me/springs")
    (tmp_path / "node_modules/@me/chain").symlink_to(tmp_path / "chain", target_is_directory=True)
    return tmp_path


def used(app, tool, *arguments, env=None):
    """Whether there is the tool; if so, it is run and must be content."""
    if not (NODE and (TOOLS / tool).exists()):
        return False
    command, variables = [str(TOOLS / tool), *arguments], {**os.environ, **(env or {})}
    done = subprocess.run(command, cwd=app, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return True


def same_bits(app, script):
    done = subprocess.run([NODE, script], cwd=app, capture_output=True, text=True, check=True)
    assert bits(json.loads(done.stdout)) == bits(wanted())


def in_chromium(folder, name):
    """What the page of a folder says, in its console or its `output`; None where there is no browser."""
    if not (BROWSER and os.path.exists(PLAYWRIGHT)):
        return None
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        picture = Path(os.environ.get("ROSE_SCREENSHOTS", str(folder))) / f"{name}.png"
        address = f"http://127.0.0.1:{server.server_port}/"
        script = str(Path(__file__).with_name("package.mjs"))
        command = [NODE, script, address, PLAYWRIGHT, BROWSER, str(picture)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


OPTIONS = {"target": "ES2022", "module": "nodenext", "lib": ["ES2022"], "types": [], "strict": True, "outDir": "js"}


def test_tsc_without_the_types_of_the_dom(app):
    (app / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "files": ["main.mts"]}))
    (app / "main.mts").write_text(USER)
    if used(app, "tsc", "-p", "."):
        same_bits(app, "js/main.mjs")
        (app / "main.mts").write_text('import load from "@me/springs"; (await load()).value("x", { length: 1 });')
        with pytest.raises(AssertionError, match="is not assignable to parameter"):
            used(app, "tsc", "-p", ".")


def test_esbuild(app):
    bytes = 'import source from "@me/springs/springs.wasm";\nimport links from "@me/chain/chain.wasm";'
    load = USER.replace("load()", "load({ source })").replace("loadChain()", "loadChain({ source: links })")
    (app / "main.ts").write_text(bytes + load)
    options = ["--bundle", "--format=esm", "--loader:.wasm=binary", "--target=es2022", "--outfile=bundle.mjs"]
    if used(app, "esbuild", "main.ts", *options):
        same_bits(app, "bundle.mjs")


def test_vite_finds_the_wasm(app):
    (app / "index.html").write_text('<script type="module" src="main.ts"></script>')
    (app / "main.ts").write_text(USER)
    (app / "vite.config.js").write_text("export default { build: { assetsInlineLimit: 0, target: 'es2022' } };")
    if used(app, "vite", "build"):
        (script,) = (app / "dist/assets").glob("*.js")
        for package, file in ("made", "springs"), ("chain", "chain"):
            (built,) = (app / "dist/assets").glob(f"{file}*.wasm")
            assert built.read_bytes() == (app / package / f"{file}.wasm").read_bytes()
            assert built.name in script.read_text()
        told = in_chromium(app / "dist", "vite")
        assert told is None or bits(told["said"]) == bits(wanted())


def test_a_page_of_react_imports_python(tmp_path):
    """examples/react, built: Vite has the bytes that `rose.export` gives, and names the module."""
    if not (TOOLS.parent / "@vitejs/plugin-react").exists():
        return
    app = tmp_path / "react"
    shutil.copytree(ROOT / "examples/react", app, ignore=shutil.ignore_patterns("__pycache__"))
    (app / "node_modules").mkdir()  # of its own: Vite keeps things in it
    for package in TOOLS.parent.iterdir():
        (app / "node_modules" / package.name).symlink_to(package)
    model = model_of(app / "model.py")
    functions = {"energy": model.energy, "step": model.step}
    wasm, *_ = rose.export(functions, rose.ShapeOf("n"), 1.0, path=tmp_path / "made")
    if used(app, "vite", "build", env={"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}):
        (built,) = (app / "dist/assets").glob("*.wasm")
        assert built.read_bytes() == wasm.read_bytes()
        told = in_chromium(app / "dist", "react")
        assert told is None or told["first"] == f"{model.energy(np.arange(6.0) ** 2 * 0.3, 1.0):.6f}"
        assert told is None or float(told["shown"]) < float(told["first"])
        (app / "model.py").write_text("import rosejit as rose\n\ndef energy(x):\n    return x.nothing()\n")
        with pytest.raises(AssertionError, match="has no function `step`"):
            used(app, "vite", "build", env={"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)})
