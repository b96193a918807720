"""What `rose.export` makes in other people's tools: a package in tsc without the DOM's types, esbuild, Vite; React.

`ROSE_NODE_MODULES` is the folder that has them, which `tox -e web` installs.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from tests.export.machine import NODE, bits
from tests.export.test_npm_package import Spring, energy, linked, packed

ROOT = Path(__file__).parent.parent.parent
TOOLS = Path(os.environ.get("ROSE_NODE_MODULES", "")) / ".bin"
if not (NODE and (TOOLS / "tsc").exists()):
    print("no tsc, esbuild and Vite: packages are not tried in them", file=sys.__stderr__)

X, SPRING = np.array([0, 1.5, 2.25, 2.5, 4]), Spring(1.0, 2.1)
CALL = "[0, 1.5, 2.25, 2.5, 4], { length: 1, stiffness: 2.1 }"


@pytest.fixture
def app(tmp_path):
    packed(tmp_path / "made")
    (tmp_path / "package.json").write_text('{ "type": "module" }')
    return linked(tmp_path, tmp_path / "made", "@me/springs")


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
    assert bits(json.loads(done.stdout)) == bits([energy(X, SPRING), *rose.grad(energy)(X, SPRING).tolist()])


USER = f"""
import load from "@me/springs";
declare const console: {{ log(text: string): void }};
const {{ value, gradient }} = await load();
const slope: Float64Array = gradient({CALL}), energy: number = value({CALL});
gradient.into(slope, {CALL});
console.log(JSON.stringify([energy, ...slope]));
"""
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
    load = f'import source from "@me/springs/springs.wasm";{USER}'.replace("load()", "load({ source })")
    (app / "main.ts").write_text(load)
    options = ["--bundle", "--format=esm", "--loader:.wasm=binary", "--target=es2022", "--outfile=bundle.mjs"]
    if used(app, "esbuild", "main.ts", *options):
        same_bits(app, "bundle.mjs")


def test_vite_finds_the_wasm(app):
    (app / "index.html").write_text('<script type="module" src="main.ts"></script>')
    (app / "main.ts").write_text(USER)
    (app / "vite.config.js").write_text("export default { build: { assetsInlineLimit: 0, target: 'es2022' } };")
    if used(app, "vite", "build"):
        (built,) = (app / "dist/assets").glob("*.wasm")
        assert built.read_bytes() == (app / "made/springs.wasm").read_bytes()
        (script,) = (app / "dist/assets").glob("*.js")
        assert re.search(rf"{built.name}", script.read_text())


def test_a_page_of_react_imports_python(tmp_path):
    """examples/react, built: Vite has the bytes that `rose.export` gives, and names the module."""
    if not (TOOLS.parent / "@vitejs/plugin-react").exists():
        return
    app = tmp_path / "react"
    shutil.copytree(ROOT / "examples/react", app, ignore=shutil.ignore_patterns("__pycache__"))
    (app / "node_modules").mkdir()  # of its own: Vite keeps things in it
    for package in TOOLS.parent.iterdir():
        (app / "node_modules" / package.name).symlink_to(package)
    spec = importlib.util.spec_from_file_location("model", app / "model.py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    functions = {"energy": model.energy, "step": model.step}
    wasm, *_ = rose.export(functions, rose.ShapeOf("n"), 1.0, path=tmp_path / "made")
    if used(app, "vite", "build", env={"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}):
        (built,) = (app / "dist/assets").glob("*.wasm")
        assert built.read_bytes() == wasm.read_bytes()
        (app / "model.py").write_text("import rosejit as rose\n\ndef energy(x):\n    return x.nothing()\n")
        with pytest.raises(AssertionError, match="has no function `step`"):
            used(app, "vite", "build", env={"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)})
