"""What leaves Python: bytes of exported programs, plain and gzipped, and what a call costs in node beside npm `rose`,
and in Chromium with `--playwright node_modules/playwright-core/index.mjs` (nanoseconds on the wall there).

`value, gradient and Hessian of x ** y` is the program of the Rose paper's page; billiards and the robot are the
examples. Sizes of the originals are those that the paper's repository gives; its library comes on top (72,316 bytes).
"""

import gzip
import json
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.apps import CUE, PUSH, WALKER, WEIGHTS, billiards, billiards_spec, robot, robot_spec
from benchmarks.measure import PEERS, Row, Table, has_rose, node, options, per_call
from rosejit import Mat, Vec


@rose.jit
def least_squares(x: Mat["n", "m"], y: Vec["n"], b0: float, b: Vec["m"]) -> float:
    """The sum of squares of what a line leaves."""
    total = 0.0
    for i in rose.range(len(y)):
        y_hat = b0
        for j in range(len(b)):
            y_hat += x[i, j] * b[j]
        total += (y[i] - y_hat) ** 2
    return total


@rose.jit
def power(x: float, y: float) -> float:
    """x ** y."""
    return x**y


@rose.jit
def everything(x: float, y: float):
    """Value, gradient and Hessian of x ** y."""
    return power(x, y), rose.grad(power, (0, 1))(x, y), rose.hessian(power, (0, 1))(x, y)


X, Y = np.linspace(4.0, 14.0, 11)[:, None], np.linspace(4.0, 11.0, 11)
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], int | None, int]] = {
    "Anscombe gradient": (rose.grad(least_squares, (2, 3)), (X, Y, 3.0, np.array([0.5])), 6_352, 200_000),
    "x ** y, to order 2": (everything, (2.5, 1.5), 6_997, 200_000),
    "billiards": (billiards.gradient, (CUE, PUSH), 380_079, 3),
    "robot D": (robot.gradient, (WALKER, WEIGHTS), 1_527_341, 3),
}
"""The function, a call, the bytes of Wasm of the original, calls in a batch."""


def page_arguments(args: tuple[Any, ...]) -> str:
    """The arguments of a call as a page gives them."""
    given = [arg._asdict() if hasattr(arg, "_asdict") else arg for arg in args if not isinstance(arg, robot.Robot)]
    return json.dumps(given, default=lambda array: array.tolist())


def numbers(value: Any) -> list[str]:
    """All numbers in a result; JSON has made objects of typed arrays."""
    if isinstance(value, dict):
        return numbers(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in numbers(item)]
    return numbers(value.tolist()) if isinstance(value, np.ndarray) else [repr(float(value))]


def zipped(file: Path) -> int:
    """Bytes of the file as a server sends it."""
    return len(gzip.compress(file.read_bytes(), 9, mtime=0))


PAGE = """<!doctype html><script type="importmap">{"imports": {
"rose": "./peers/node_modules/rose/dist/index.js",
"@rose-lang/wasm": "./peers/node_modules/@rose-lang/wasm/dist/browser.js"}}</script>"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def guess_type(self, path: Any) -> str:
        """Modules must be called so, whatever the system thinks of `.mjs`."""
        return "text/javascript" if str(path).endswith(".mjs") else super().guess_type(path)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a page finds what is in `folder`, and the peers."""
    (folder / "index.html").write_text(PAGE)
    if not (folder / "peers").exists():
        (folder / "peers").symlink_to(PEERS)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def in_page(playwright: str, folder: Path, jobs: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, Row]]:
    """What a call costs in Chromium, by program."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with served(folder) as address:
        for name, job in jobs.items():
            yield name, node(PEERS / "exported_page.mjs", str(Path(playwright).resolve()), chromium, address, *job)


def add_pages(table: Table, playwright: str, folder: Path) -> None:
    """What was exported to `folder`, in Chromium."""
    jobs: dict[str, tuple[str, ...]] = {}
    for name, (_, args, _, batch) in PROGRAMS.items():
        (module,) = folder.rglob(f"kernels{len(name)}.mjs")
        jobs[name] = (str(module.relative_to(folder)), "f", page_arguments(args), str(batch))
    found = dict(in_page(playwright, folder, jobs))
    for name, row in found.items():
        table.add(program=name, system="rosejit, kernels, Chromium", fresh=row["fresh"], into=row["into"])
    if "rose" not in table.absent:
        theirs = {"x ** y, to order 2": ("-", "rose", *jobs["x ** y, to order 2"][2:])}
        theirs |= {
            name: (f"{app}.json", app, "[]", "3") for name, app in (("billiards", "billiards"), ("robot D", "robot"))
        }
        for name, row in in_page(playwright, folder, theirs):
            table.add(program=name, system="npm rose, Chromium", fresh=row["fresh"])


def exported(name: str, math: str, folder: Path) -> Row:
    """One program: its bytes, and its calls in node and in Python."""
    f, args, original, batch = PROGRAMS[name]
    wasm, module, _ = rose.export({"f": f}, *args, path=folder / f"{math}{len(name)}", math=math)
    row = node(PEERS / "exported.mjs", str(module), "f", page_arguments(args), str(batch))
    times = {"fresh": row["fresh"], "into": row["into"], "python": 1e9 * per_call(lambda: f(*args))}
    same = numbers(row["found"]) == numbers(f(*args))
    assert same or math == "js", f"{name}: node gives other bits"
    sizes = {"wasm": wasm.stat().st_size, "wasm.gz": zipped(wasm), "mjs.gz": zipped(module)}
    return {**sizes, "all.gz": sizes["wasm.gz"] + sizes["mjs.gz"], "original": original, **times}


def main() -> None:
    asked = options(__doc__ or "", repeat=3, playwright="")
    absent = [] if has_rose() and "rose" not in asked.without else ["rose"]
    title = "exported programs (bytes, and ns of CPU a call: fresh results, `into`, and the same from Python)"
    form = {"program": "", "system": "", **dict.fromkeys(("wasm", "wasm.gz", "mjs.gz", "all.gz", "original"), ",")}
    form |= dict.fromkeys(("fresh", "into", "python"), ",.0f")
    table = Table("exported", title, form, absent=absent)
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            for math in ("kernels", "js") if name != "Anscombe gradient" else ("kernels",):
                table.add(program=name, system=f"rosejit, {math}", **exported(name, math, Path(folder)))
        if not absent:
            args = PROGRAMS["x ** y, to order 2"][1]
            row = node(PEERS / "exported.mjs", "-", "rose", json.dumps(args), "200000")
            table.add(program="x ** y, to order 2", system="npm rose", wasm=row["bytes"], fresh=row["fresh"])
            for name, app, spec in (("billiards", "billiards", billiards_spec()), ("robot D", "robot", robot_spec())):
                path = Path(folder) / f"{app}.json"
                path.write_text(json.dumps(spec))
                row = node(PEERS / "apps.mjs", app, str(path), str(asked.repeat))
                table.add(program=name, system="npm rose", wasm=row["bytes"], fresh=1e9 * row["call"])
        if asked.playwright:
            add_pages(table, asked.playwright, Path(folder))
    table.finish(asked.json)


if __name__ == "__main__":
    main()
