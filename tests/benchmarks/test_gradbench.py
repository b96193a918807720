"""The tool side of GradBench answers recorded exchanges as recorded, and speaks the protocol."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gradbench.protocol import answer, serve
from benchmarks.gradbench.task import MODULES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def exchanges(module):
    lines = (HERE / "data" / f"{module}.jsonl").read_text().splitlines()
    return [(recorded["message"], recorded["response"]) for recorded in map(json.loads, lines)]


def differences(found, expected):
    """How far numbers in the same places are apart, relative to those larger than one."""
    match expected:
        case dict():
            assert found.keys() == expected.keys()
            for key, part in expected.items():
                yield from differences(found[key], part)
        case list():
            for one, other in zip(found, expected, strict=True):
                yield from differences(one, other)
        case _:
            yield abs(found - expected) / max(1, abs(expected))


@pytest.mark.parametrize("module", MODULES)
def test_recorded_exchanges(module):
    evaluated = 0
    for message, expected in exchanges(module):
        found = json.loads(json.dumps(answer(message)))
        assert found["id"] == expected["id"]
        assert found.get("success") == expected.get("success"), found.get("error")
        if message["kind"] == "evaluate":
            assert max(differences(found["output"], expected["output"])) <= 1e-10
            assert "error" not in found
            evaluated += 1
    assert evaluated >= 2


@pytest.mark.parametrize("mode", ["rr", "rf", "fr", "ff"])
def test_particle_in_all_modes(mode):
    message = {"id": 7, "kind": "evaluate", "module": "particle", "function": mode, "input": {"w": 0.0}}
    message["input"] |= {"min_runs": 3, "min_seconds": 0}
    found = answer(message)
    assert found["success"], found["error"]
    assert abs(found["output"] - 0.2071918746486116) < 1e-9
    names = [timing["name"] for timing in found["timings"]]
    assert names == ["prepare", "evaluate", "evaluate", "evaluate"]
    assert all(timing["nanoseconds"] > 0 for timing in found["timings"])


def test_runs_last_as_long_as_is_asked_for():
    given = {"x": [0.5, 0.25], "n": 4, "min_runs": 1, "min_seconds": 0.02}
    found = answer({"id": 1, "kind": "evaluate", "module": "llsq", "function": "primal", "input": given})
    times = [timing["nanoseconds"] for timing in found["timings"] if timing["name"] == "evaluate"]
    assert sum(times) >= 0.02e9
    assert sum(times[:-1]) < 0.02e9


def test_what_is_not_here_fails_and_the_session_goes_on():
    undefined = answer({"id": 1, "kind": "define", "module": "ray"})
    assert (undefined["id"], undefined["success"]) == (1, False)
    assert "no eval `ray`" in undefined["error"]
    assert "output" not in undefined
    unknown = answer({"id": 2, "kind": "evaluate", "module": "hello", "function": "cube", "input": 1.0})
    assert (unknown["id"], unknown["success"]) == (2, False)
    wrong = answer({"id": 3, "kind": "evaluate", "module": "llsq", "function": "primal", "input": {"n": 4}})
    assert (wrong["id"], wrong["success"]) == (3, False)
    assert answer({"id": 4, "kind": "analysis", "of": 3, "valid": True}) == {"id": 4}
    assert answer({"id": 5, "kind": "farewell"}) == {"id": 5}


def test_one_answer_a_line():
    out = io.StringIO()
    messages = [message for message, _ in exchanges("hello")]
    serve(iter([json.dumps(message) + "\n" for message in messages]), out)
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == [message["id"] for message in messages]


def test_the_module_talks_over_pipes():
    text = "".join(json.dumps(message) + "\n" for message, _ in exchanges("hello"))
    command = [sys.executable, "-W", "error", "-m", "benchmarks.gradbench"]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    outputs = [json.loads(line).get("output") for line in done.stdout.splitlines()]
    assert outputs == [expected.get("output") for _, expected in exchanges("hello")]
