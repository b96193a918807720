"""The tables are what benchmarks/fit_kernels.py writes."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent.parent


def fits():
    spec = importlib.util.spec_from_file_location("fit_kernels", ROOT / "benchmarks" / "fit_kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(source):
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
    }


def test_tables_are_not_stale():
    """To the last bits, which depend on the release of mpmath."""
    module = fits()
    written, fitted = tables(module.TARGET.read_text(encoding="utf-8")), tables(module.text())
    assert written.keys() == fitted.keys()
    for name in written:
        assert written[name] == pytest.approx(fitted[name], rel=1e-9), f"{name}: run python benchmarks/fit_kernels.py"
