"""`.ci/run` does what README.md says, tells what pytest counted, and hides no failure."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REPORT = '<testsuites><testsuite tests="{tests}" failures="{failures}" errors="0" skipped="1"/></testsuites>'


def run(folder, command, **counts):
    """Run the script in a project whose tests are `command`; its exit code and its lines."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    for name in ("py310", "py311"):
        (folder / f"{name}.xml").write_text(REPORT.format(**counts))
    write = f"mkdir -p .tox/junit && cp *.xml .tox/junit && {command}"
    (folder / "README.md").write_text(f"```sh\nexit 9\n```\nwords\n```sh\n{write}\n```\n")
    done = subprocess.run(["bash", ".ci/run"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_that_of_the_tests(tmp_path, code):
    returned, lines = run(tmp_path, f"exit {code}", tests=5, failures=0)
    assert returned == code
    assert lines[-1] == "8 passed, 0 failed, 2 skipped"


def test_failures_are_counted(tmp_path):
    returned, lines = run(tmp_path, "false", tests=5, failures=3)
    assert returned == 1
    assert lines[-1] == "2 passed, 6 failed, 2 skipped"


def test_old_reports_do_not_count(tmp_path):
    (tmp_path / ".tox" / "junit").mkdir(parents=True)
    (tmp_path / ".tox" / "junit" / "old.xml").write_text(REPORT.format(tests=100, failures=0))
    _, lines = run(tmp_path, "true", tests=5, failures=0)
    assert lines[-1] == "8 passed, 0 failed, 2 skipped"


def test_a_readme_without_the_command_is_a_failure(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "README.md").write_text("```sh\ntrue\n```\n")
    assert subprocess.run(["bash", ".ci/run"], cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_the_readme_has_the_two_commands():
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```sh\n")[1:]
    first, second = (block.split("```")[0] for block in blocks)
    assert "examples/linear_regression.py" in first
    assert second.rstrip().endswith("tox")
