"""Every example runs to its end in a process of its own, without a warning; each asserts its own numbers."""

import os
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    command = [sys.executable, "-W", "error", str(example)]
    environment = {**os.environ, "ROSE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    if example.stem in SHOWS:
        SHOWS[example.stem](done.stdout, tmp_path / f"{example.stem}.svg")


def shows_progress_and_leaves_a_plot(printed, path):
    assert printed.count("steps   loss") > 10
    assert "y = 3.00009090909 + 0.500090909091 x" in printed
    plot = tree.parse(path).getroot()
    assert sum(shape.get("class") == "point" for shape in plot.iter()) == 4 * 11
    assert sum(shape.get("class") == "fit" for shape in plot.iter()) == 4


def shows_a_bar_and_draws_both_runs(printed, path):
    assert printed.count("\n[") >= 100  # written with `\r`
    drawing = tree.parse(path).getroot()
    assert sum(shape.get("class") == "run" for shape in drawing.iter()) == 2


def shows_a_bar_and_draws_a_tree(printed, path):
    assert printed.count("\n[") >= 100
    drawing = tree.parse(path).getroot()
    nodes, edges = (sum(shape.get("class") == name for shape in drawing.iter()) for name in ("node", "edge"))
    assert nodes == edges + 1 > 10


def draws_curves_and_pelts(printed, path):
    assert "the births depend most on the hares of 1917" in printed
    drawing = tree.parse(path).getroot()
    found = [sum(shape.get("class") == name for shape in drawing.iter()) for name in ("run", "point")]
    assert found == [2, 42]


def reads_digits_and_draws_kernels(printed, path):
    assert printed.count("loss") == 8
    drawing = tree.parse(path).getroot()
    found = [sum(shape.get("class") == name for shape in drawing.iter()) for name in ("kernel", "loss")]
    assert found == [6, 1]


def draws(**shapes):
    """A drawing with so many shapes of each class."""

    def look(printed, path):
        found = [shape.get("class") for shape in tree.parse(path).getroot().iter()]
        assert {name: found.count(name) for name in shapes} == shapes

    return look


SHOWS = {
    "lenet": reads_digits_and_draws_kernels,
    "bouncing_ball": draws(flight=8, cup=1),
    "camera_calibration": draws(picture=5, ring=90, corner=90),
    "kepler": draws(area=12, comet=12),
    "pendulum": draws(bob=21, torque=20),
    "ridge": draws(fit=2, point=48),
    "robertson": draws(amount=3, share=3),
    "lynx_and_hare": draws_curves_and_pelts,
    "linear_regression": shows_progress_and_leaves_a_plot,
    "billiards": shows_a_bar_and_draws_both_runs,
    "tree_lstm": shows_a_bar_and_draws_a_tree,
    "robot": shows_a_bar_and_draws_both_runs,
}
