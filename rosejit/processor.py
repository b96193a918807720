"""The kind of processor that this process runs on, as `platform.machine` names it; importing that module takes 3 ms."""

import os
import sys


def _named() -> str:
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_ARCHITEW6432") or os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return os.uname().machine


PROCESSOR = _named()
