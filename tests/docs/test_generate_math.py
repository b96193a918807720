"""docs/math.md has every function and every known loss; its tables are made from records."""

import json

from benchmarks.math_derivatives import LOSSES
from benchmarks.math_points import TRIALS
from docs import generate_math

RECORDS = {
    "math_accuracy": {"points": 10, "ulp": 0.5, "bound": 1.0, "at": "0x1p+0", "near zeros": None},
    "math_derivatives": {"d": "x", "error": 1e-16},
    "math_speed": {"scalar": 1.0, "array": 0.5, "glibc": 1.25, "numpy": None},
    "math_bytes": {"scalar": 100, "array": 1200},
    "math_bits": {"points": 10, "node": 0, "interpreter": 0},
}


def test_the_page_is_made_from_records(tmp_path):
    for table, row in RECORDS.items():
        rows = [{"function": name, **row} for name in TRIALS]
        (tmp_path / f"{table}.json").write_text(json.dumps({"rows": rows}))
    text = generate_math.text(tmp_path)
    assert "| `exp` | 10 | 0.500 | 1 | `0x1p+0` |" in text
    assert "| `exp` | 1.0 | 0.5 | 1.2 |  | 100 | 1,200 |" in text
    assert f"{10 * len(TRIALS)} in all: results differ at 0" in text


def test_math_md_has_every_function_and_loss():
    text = generate_math.TARGET.read_text(encoding="utf-8")
    assert all(text.count(f"| `{name}` |") >= 3 for name in TRIALS)
    assert all(loss.reason in text for loss in LOSSES)
    assert generate_math.HEAD in text
    assert generate_math.EDGES in text
