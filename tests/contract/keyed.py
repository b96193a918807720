"""Runs the programs of `test_keys.py` in a process of its own: says what each gives, and whether it was staged.

`python keyed.py FOLDER`: in FOLDER is a folder for each program, with `main.py` in it and what that imports.
"""

import builtins
import importlib
import json
import math
import operator
import os
import sys
from pathlib import Path

import numpy

import rosejit as rose
from rosejit.frontend import contents

CHANGED = (math, operator, numpy, builtins)
"""Modules whose attributes programs replace."""


def result(folder: Path) -> list[object]:
    """What `run()` of the program gives, and how often anything was staged."""
    before = [dict(vars(module)) for module in CHANGED]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        main = importlib.import_module("main")
        try:
            found = repr(main.run())
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        return [found, main.f.cache_info().misses]
    except Exception as error:
        return [f"{type(error).__name__}: {error}", -1]
    finally:
        sys.path.remove(str(folder))
        for name in ("main", "helpers"):
            sys.modules.pop(name, None)
        for module, held in zip(CHANGED, before, strict=True):
            vars(module).update(held)


if __name__ == "__main__":
    assert rose
    if "WITHOUT_TEXTS" in os.environ:
        contents.text_of = lambda file: b""
    print(json.dumps({folder.name: result(folder) for folder in sorted(Path(sys.argv[1]).iterdir())}))
