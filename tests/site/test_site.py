"""The site that `tox -e site` builds: its links, its size, its names, and Run in Chromium.

`ROSE_SITE` is its folder, `ROSE_PLAYWRIGHT` the `index.mjs` of Playwright. Without them only what needs neither is
tried.
"""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

import rosejit as rose
from docs import check
from rosejit.api import scalar_functions

DOCS = Path(__file__).parents[2] / "docs"
SITE = Path(os.environ.get("ROSE_SITE", ""))
BUILT = (SITE / "docs" / "index.html").is_file()
NODE = shutil.which("node")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PLAYWRIGHT = os.environ.get("ROSE_PLAYWRIGHT", "")
PAGES = {
    "docs/start": 20,
    "docs/control-flow": 20,
    "docs/how-to/contact": 5,
    "docs/errors": 6,
    "docs/reference/solvers-and-sums": 4,
}
"""The pages whose blocks are run, and how many of each at most."""
if not BUILT:
    print("no site (`tox -e site` builds it): its pages are not tried", file=sys.__stderr__)


def is_of_numbers_or_error(name):
    value = getattr(rose, name)
    return name in scalar_functions.__all__ or (isinstance(value, type) and issubclass(value, Exception))


NAMES = [name for name in rose.__all__ if name != "__version__" and not is_of_numbers_or_error(name)]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_in_the_reference_and_has_an_example(name):
    pages = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    assert re.search(rf"^\.\. auto(function|class):: {name}$", pages, re.MULTILINE)
    assert ">>>" in (inspect.getdoc(getattr(rose, name)) or "")


class Page(HTMLParser):
    """Where a page leads, and the places in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value and not re.match(r"[a-z]+:", value):
                self.links.append(value)
            if name == "id":
                self.places.add(value)


def test_links_inside_lead_somewhere():
    pages = {path: Page(path) for path in SITE.rglob("*.html")} if BUILT else {}
    lost = []
    for path, page in pages.items():
        for link in page.links:
            file, _, place = unquote(link).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            if not target.exists() or (place and target in pages and place not in pages[target].places):
                lost.append((str(path.relative_to(SITE)), link))
    assert lost == []


def test_every_page_is_light():
    """What a page needs before it is painted: itself, its styles and scripts, and pictures that do not wait. Only the
    page that searches has more: its index."""
    heavy = {}
    for path in SITE.rglob("*.html") if BUILT else ():
        text = path.read_text(encoding="utf-8")
        needed = re.findall(r'<link rel="stylesheet"[^>]* href="([^"?]+)|<script[^>]* src="([^"?]+)', text)
        needed += re.findall(r'<img (?!loading="lazy")[^>]*src="([^"?]+)()', text)
        files = {(path.parent / (a or b)).resolve() for a, b in needed if ":" not in a + b}
        weight = len(text.encode()) + sum(file.stat().st_size for file in files)
        if weight >= 200_000 and path.name != "search.html" and "live" not in path.parts:
            heavy[str(path.relative_to(SITE))] = weight
    assert heavy == {}


@pytest.fixture
def address():
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


def expected(text):
    """What a block says that its statements give, as a pattern."""
    lines, parts = text.splitlines(), []
    body = ast.parse(text).body
    for statement, following in zip(body, [*(s.lineno for s in body[1:]), len(lines) + 1], strict=True):
        found = map(check.SHOWN.search, lines[statement.end_lineno - 1 : following - 1])
        shown = [match[1] for match in found if match]
        said = "\n".join(shown) or "..."  # what is not said may print
        parts.append(f"{said.removeprefix('raises ')}..." if said.startswith("raises ") else said)
    return ".*".join(re.escape(part) for part in plainly("".join(parts)).split("..."))


def plainly(text):
    """Without spaces and lines; NumPy prints `1.`, plain arrays `1.0`."""
    return re.sub(r"(?<=\d)\.0(?!\d)", ".", re.sub(r"\s", "", text))


def agrees(name, block):
    """Whether a block of a page gave what the page says."""
    if name == "docs/errors":
        return re.match(r"\w+(Error|Syntax|Differentiable|Name|Limit): ", block["gives"])
    if ">>>" in block["text"]:
        values = [line for line in block["text"].splitlines() if not re.match(r">>>|\.\.\.", line)]
        return plainly("".join(values)) == plainly(block["gives"])
    gives = plainly(block["gives"].removesuffix("(no output)"))
    return re.fullmatch(expected(block["text"]), gives, re.DOTALL)


def test_blocks_run_in_a_browser(address, tmp_path):
    if not (BUILT and NODE and BROWSER and os.path.exists(PLAYWRIGHT)):
        return
    script = str(Path(__file__).with_name("blocks.mjs"))
    folder = os.environ.get("ROSE_SCREENSHOTS", str(tmp_path))
    command = [NODE, script, address, PLAYWRIGHT, BROWSER, folder, json.dumps(PAGES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["complaints"] == []
    assert found["overflowing"] == []
    assert max(found["bytes"].values()) < 200_000
    assert sum(map(len, found["found"].values())) >= 30
    blocks = [(name, block) for name, each in found["found"].items() for block in each]
    assert [(name, block) for name, block in blocks if not agrees(name, block)] == []
    edits = found["edits"]
    assert edits["typed"] == "12.0"
    assert edits["wrong"].startswith("StagingTypeError: ")
    assert "return [1.0, 2.0][x]" in edits["wrong"]
    assert (edits["stopped"], edits["again"]) == ("stopped", "2")
