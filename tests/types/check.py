"""mypy --strict and pyright --strict on `test_user_programs.py`: an error in each line marked `# wrong`, no other.

`tox -e types` runs it.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "test_user_programs.py"
OLDEST = "3.10"
"""The Python that programs are checked for."""


def mypy(folder: Path) -> dict[int, str]:
    """What mypy says of the programs in a folder, by lines."""
    (folder / "mypy.ini").write_text("[mypy]\nplugins = rosejit.interop.mypy\n", encoding="utf-8")
    text = output(folder, "mypy", "--strict", f"--python-version={OLDEST}", PROGRAMS.name)
    found = re.findall(r"^[^:\n]+:(\d+): error: (.*)$", text, re.MULTILINE)
    return {int(line): words for line, words in found} or {0: text}


def pyright(folder: Path) -> dict[int, str]:
    """What pyright says of the programs in a folder, by lines."""
    settings = {"typeCheckingMode": "strict", "pythonVersion": OLDEST, "reportUnusedExpression": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    text = output(folder, "pyright", "--outputjson", f"--pythonpath={sys.executable}")
    found = json.loads(text)["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1: each["message"] for each in found if each["severity"] == "error"}


def output(folder: Path, *command: str) -> str:
    """What a checker of this environment prints."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout or done.stderr


def main() -> int:
    """The number of lines where a checker and the marks differ, each of which is told."""
    text = PROGRAMS.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(text, 1) if line.endswith("# wrong")}
    differing = 0
    for checker in (mypy, pyright):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(PROGRAMS, folder)
            found = checker(Path(folder))
        for line in sorted(wrong ^ found.keys()):
            differing += 1
            print(f"{PROGRAMS.name}:{line}: {checker.__name__}: {found.get(line, 'no error where there is one')}")
        right = len(wrong & found.keys())
        print(f"{checker.__name__}: errors in {right} of {len(wrong)} wrong lines, in {len(found) - right} others")
    return differing


if __name__ == "__main__":
    sys.exit(bool(main()))
