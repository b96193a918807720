"""The pages of examples/web: what they load is there, their programs run in node, and browsers use them.

Chromium is driven by Playwright, which `tox -e web` installs; `ROSE_PLAYWRIGHT` is its `index.mjs`. Firefox is tried
where there is one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest

from rosejit import demo
from tests.export.machine import CALLS, NODE, described, javascript, read
from tests.export.programs import check, jobs_of
from tests.programs import PROGRAMS

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PLAYWRIGHT = os.environ.get("ROSE_PLAYWRIGHT", "")
FIREFOX = next(filter(None, map(shutil.which, ("firefox", "firefox-esr"))), None)
PYODIDE = demo.find_pyodide()
WEBSOCKET = str(PYODIDE.parent / "ws" / "wrapper.mjs") if PYODIDE and (PYODIDE.parent / "ws").is_dir() else ""
if not (NODE and BROWSER and os.path.exists(PLAYWRIGHT)):
    print("no browser with Playwright: the pages are built and run in node only", file=sys.__stderr__)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, built."""
    folder = tmp_path_factory.mktemp("site")
    demo.build(folder, PYODIDE)
    return folder


@pytest.fixture
def address(site):
    """Where they are served."""
    running = demo.server(site)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    thread.join()
    running.server_close()


def test_everything_that_a_page_names_is_there(site):
    pages = sorted(site.glob("*.html"))
    assert {page.stem for page in pages} == {"index", "quadratic", "billiards", "robot", "diagram", "ball", "hares"}
    for file in (*pages, *site.glob("*.mjs")):
        named = re.findall(r'(?:href=|src=|from |URL\()"(?:\./)?([\w./-]+\.(?:html|css|mjs))"', file.read_text())
        assert named or file.stem in ("page", "python", "quadratic-call")
        for name in named:
            assert (site / name).is_file(), f"{file.name} names {name}"


def test_it_is_served_with_its_types_and_a_policy(address):
    for name, kind in (("", "text/html"), ("page.mjs", "text/javascript"), ("robot/robot.wasm", "application/wasm")):
        with urllib.request.urlopen(address + name) as response:
            assert response.read()
            assert response.headers["Content-Type"].startswith(kind)
            assert "script-src 'self' 'wasm-unsafe-eval'" in response.headers["Content-Security-Policy"]


def test_the_programs_of_the_pages(site):
    text = """
    import billiards from "./billiards/billiards.mjs";
    import robot from "./robot/robot.mjs";
    import diagram from "./diagram/diagram.mjs";
    import ball from "./ball/ball.mjs";
    import hares from "./hares/hares.mjs";
    const told = [];
    const { aim, play } = await billiards({ imports: { progress: (step, value) => told.push(value) } });
    const shot = aim({ cue: [0.1, 0.5], push: [0.3, 0] }, [0.9, 0.75], 10);
    const ends = play(shot.x).slice(-11), { improveA, startA } = await robot(), { layout, described } = await diagram();
    let losses = [], weights = startA();
    for (let k = 0; k < 4; k++) { const [loss, next] = improveA(weights); losses.push(loss); weights = next; }
    const [names, radii] = described();
    const places = (r) => names.map((_, k) => [400 + r * Math.cos(k), 300 + r * Math.sin(k)]);
    const found = layout({ circles: places(180), labels: places(240) }, 3, [200, 200]);
    const circles = found.x.circles.map((c) => [...c]);
    const { aim: throwInto, thrown } = await ball(), { fitted, pelts } = await hares();
    const angles = [4, 20].map((cup) => throwInto(cup, 0.8).slice(0, 2));
    const thrice = [0, 1e-5].map((more) => thrown(angles[0][0] + more, 0.8).slice(0, 2));
    const fit = fitted([0.5, 0.03, 0.8, 0.03, 30, 4].map(Math.log), ...pelts());
    const solved = { angles, thrice, fit: { ...fit, x: [...fit.x] } };
    const shown = { ...solved, told, losses, circles, radii: [...radii] };
    console.log(JSON.stringify({ ...shown, value: shot.value, end: [...ends[10]] }));
    """
    found = javascript(site, text)
    if NODE:
        assert found["told"][1] == pytest.approx(0.02930089722891727, rel=1e-9)  # Taichi's, as in examples/billiards.py
        assert found["value"] < 3e-5
        missed = [a - b for a, b in zip(found["end"], (0.9, 0.75), strict=True)]
        assert missed[0] ** 2 + missed[1] ** 2 == pytest.approx(found["value"])
        assert found["losses"][0] == pytest.approx(-0.2118618548838097, rel=1e-9)  # as in examples/robot.py
        assert len(found["losses"]) == 4
        circles, radii = found["circles"], found["radii"]
        assert circles[3] == pytest.approx([200, 200], abs=1)
        for i, (a, r) in enumerate(zip(circles, radii, strict=True)):
            for b, s in zip(circles[:i], radii[:i], strict=True):
                assert ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 > r + s
        (_, reached), (_, too_far) = found["angles"]
        assert (reached, too_far) == (True, False)
        (end, slope), (further, _) = found["thrice"]
        assert end == pytest.approx(4.0, abs=1e-8)
        assert slope == pytest.approx((further - end) / 1e-5, rel=1e-3)
        assert found["fit"]["success"]
        assert np.exp(found["fit"]["x"][:4]) == pytest.approx([0.540, 0.0272, 0.796, 0.0237], rel=2e-3)  # as SciPy


def test_a_browser_uses_them(site, address, tmp_path):
    if not (NODE and BROWSER and os.path.exists(PLAYWRIGHT)):
        return
    script = os.path.join(os.path.dirname(__file__), "pages.mjs")
    folder = os.environ.get("ROSE_SCREENSHOTS", str(tmp_path))
    jobs = [job for program in PROGRAMS for job in jobs_of(program, site / "programs")]
    (site / "calls.mjs").write_bytes(CALLS.read_bytes())
    (site / "jobs.json").write_text(json.dumps(described(jobs, lambda module: f"/{module.relative_to(site)}")))
    command = [NODE, script, address, PLAYWRIGHT, BROWSER, folder, *(["live"] if PYODIDE else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["complaints"] == []
    if PYODIDE:
        check_quadratic(found["quadratic"])
    balls = found["billiards"]
    assert float(balls["first"]) > 0.1
    assert float(balls["optimised"]) < 0.01
    assert float(balls["goalMoved"]) > 0.02
    assert balls["pushed"] != balls["goalMoved"]
    assert balls["kept"] == pytest.approx([900, 0])
    assert float(balls["ball"]) == pytest.approx((0.5 + 0.06 * 3 - 0.05) * 900)
    assert float(found["robot"]["trained"]) > float(found["robot"]["first"])
    held, other = found["diagram"]["moved"]
    assert held == pytest.approx([160, 50], abs=2)
    assert abs(other[0]) + abs(other[1]) > 1
    assert found["diagram"]["byKey"] == pytest.approx(-14.6, abs=2)
    assert found["diagram"]["kept"] == pytest.approx([0, 600], abs=15)  # what leaves the drawing stays at its edge
    ball = found["ball"]
    assert ball["aimed"] == ball["moved"] == "in the cup"
    assert float(ball["end"].split()[0]) < 4.0
    assert "m too far" in ball["byHand"]
    hares = found["hares"]
    assert float(hares["guess"]) > float(hares["dragged"]) > float(hares["fitted"])
    assert "iterations" in hares["status"]
    assert float(hares["slid"]) > float(hares["fitted"])
    assert "could not be loaded" in found["lost"]
    for job, given in zip(jobs, read(found["programs"]), strict=True):
        check(job, given)


def test_hands_and_keys_use_them(address, tmp_path):
    """A telephone with a finger, a keyboard alone, and what is shown where something is missing."""
    if not (NODE and BROWSER and os.path.exists(PLAYWRIGHT)):
        return
    script = os.path.join(os.path.dirname(__file__), "hands.mjs")
    folder, live = os.environ.get("ROSE_SCREENSHOTS", str(tmp_path)), PYODIDE is not None
    command = [NODE, script, address, PLAYWRIGHT, BROWSER, folder, *(["live"] if live else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["complaints"] == []
    assert found["overflowing"] == []
    touched, pressed, lost = found["touched"], found["pressed"], found["lost"]
    assert touched["diagram"] == pytest.approx([60, 30], abs=3)
    assert touched["energy"] >= 0.0
    assert len({*touched["missed"]}) == 4  # the goal, the push and the choice of a ball each change it
    assert float(touched["optimised"]) < float(touched["missed"][-1])
    assert float(touched["robot"][1]) > float(touched["robot"][0])
    assert pressed["diagram"] == pytest.approx(3 * 75, abs=2)
    assert len({*pressed["missed"]}) == 3
    assert pressed["stopped"] == "stopped" or pressed["stopped"].startswith("done after")
    assert (pressed["time"], pressed["robot"]) == ("0", "A")
    if live:
        before, after = touched["quadratic"][:2], touched["quadratic"][2:]
        assert before == ["0.500", "0.500"]
        assert after != before
        assert pressed["quadratic"] == ["0.750", "2"]
        assert pressed["turn"] == "180"
    assert all("is the network there?" in lost[name] for name in ("diagram", "billiards", "robot"))
    assert "the worker could not be started" in lost["worker"]
    assert "no gradient leads on from this shot" in lost["nan"]


def test_firefox_uses_them(address, tmp_path):
    """By WebDriver BiDi, with a mouse and a finger."""
    if not (NODE and FIREFOX and WEBSOCKET):
        print("no Firefox, or no npm package `ws` beside Pyodide: the pages are not tried in it", file=sys.__stderr__)
        return
    script = os.path.join(os.path.dirname(__file__), "firefox.mjs")
    folder = os.environ.get("ROSE_SCREENSHOTS", str(tmp_path))
    command = [NODE, script, address, WEBSOCKET, FIREFOX, folder, "live"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for moved in found["diagram"]:
        assert moved == pytest.approx([90, 40], abs=3)
    assert float(found["billiards"][1]) < 0.01 < float(found["billiards"][0])
    assert float(found["robot"]) > 0.2
    assert found["quadratic"][0] == "−3"
    assert found["quadratic"][1] != "0.500"


def check_quadratic(page):
    at_half = ["0.707107", "0.707107", "−0.490129", "−0.707107", "0.924084", "0.339732"]
    assert page["first"] == at_half[0]
    assert page["typed"] == at_half
    assert page["written"] == "0.375"
    a, b, fxx = (float(text.replace("−", "-")) for text in page["dragged"])
    assert a != 0.5
    assert fxx == pytest.approx(b * (b - 1) * a ** (b - 2), rel=0.02)
    assert float(page["byKey"]) == pytest.approx(a + 0.25, abs=0.002)
    assert float(page["loop"][3]) in (2.0, 4.0, 8.0)  # t * 2 + y * y + 1 from x * x on, up to two times
    assert float(page["loop"][5]) in (0.0, 2.0, 6.0)
    for name, words in (
        ("syntax", "x**2 +* y"),
        ("opaque", "`g` is opaque and has no derivative"),
        ("nan", "is not a number"),
        ("kink", "its gradient and its Hessian are not finite"),
        ("fault", "far out only"),
        ("tooDeep", "Python is started anew"),
        ("endless", "Does a loop end?"),
        ("lost", "Is the network there?"),
    ):
        assert words in page[name], (name, page[name])
    assert page["afterLoss"] != at_half[0]
    print(json.dumps({key: page[key] for key in ("live", "redrawn", "bytes")}))
