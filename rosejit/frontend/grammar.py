"""The grammar of Python as gast has it: the same on every version. It has no types, so it is `Any` to the checker."""

import importlib
from typing import Any

gast: Any = importlib.import_module("gast")
