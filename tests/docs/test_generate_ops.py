"""docs/ops.md is what the records say, and the tables of kernels are what the fits give."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ops_md_is_not_stale():
    module = load(ROOT / "docs" / "generate_ops.py")
    assert module.TARGET.read_text(encoding="utf-8") == module.text(), "run python docs/generate_ops.py"


def test_public_names_are_not_stale():
    module = load(ROOT / "docs" / "generate_ops.py")
    assert module.NAMES.read_text(encoding="utf-8") == module.names(), "run python docs/generate_ops.py"
