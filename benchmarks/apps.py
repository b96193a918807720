"""The applications of the Rose paper, beside Taichi and npm `rose`: milliseconds of CPU for one loss and gradient.

`billiards` is `examples/billiards.py`; `billiards, arrays` the same with NumPy rows of two numbers where that has
dataclasses; `robot` is robot D of `examples/robot.py`. The peers are programs of our own in `benchmarks/peers`, one
thread each; Taichi may be in another interpreter, `PEER_PYTHON`. Errors are relative to the largest entry of Taichi's
recorded gradient.
"""

import importlib.util
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import billiards_arrays
from benchmarks.measure import PEER_PYTHON, PEERS, ROOT, Row, Table, has_rose, node, once, options, peer_has, process


def example(name: str) -> Any:
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec
    assert spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


billiards, robot = example("billiards"), example("robot")
CUE, PUSH = np.array([0.1, 0.5]), np.array([0.3, 0.0])
WALKER = robot.Robot("D")
WEIGHTS = robot.first_weights(WALKER)

EXPECTED = {
    "billiards": np.array(billiards.GRADIENT),
    "robot": np.load(ROOT / "examples" / "data" / "robot_gradients.npz")["D"],
}


def billiards_spec() -> Row:
    """What a peer needs to play."""
    rack = [[ball.at.x, ball.at.y] for ball in billiards.table(CUE, PUSH)[1:]]
    facts = {"steps": billiards.STEPS, "dt": billiards.DT, "radius": billiards.RADIUS, "goal": billiards.GOAL}
    return {**facts, "elasticity": billiards.ELASTICITY, "rack": rack, "params": [*CUE, *PUSH]}


def robot_spec() -> Row:
    """What a peer needs to walk."""
    names = ("steps", "dt", "gravity", "drag", "ground", "waves", "hidden")
    parts = zip(WALKER.ends.tolist(), WALKER.length, WALKER.stiffness, WALKER.actuation, strict=True)
    return {
        **{name: getattr(robot, name.upper()) for name in names},
        "goal": robot.GOAL.tolist(),
        "objects": WALKER.objects.tolist(),
        "springs": [[*ends, length, stiffness, actuation] for ends, length, stiffness, actuation in parts],
        "params": {name: value.tolist() for name, value in WEIGHTS._asdict().items()},
    }


def flat(gradient: Sequence[Any]) -> list[float]:
    return np.concatenate([np.ravel(part) for part in gradient]).tolist()


def ours(gradient: Any, args: tuple[Any, ...], repeat: int) -> Row:
    """One program of ours, compiled anew."""
    total, (_, first) = once(lambda: gradient(*args))
    call = statistics.median(once(lambda: gradient(*args))[0] for _ in range(repeat))
    lowered = gradient.lower(*args)
    facts = {"bytes": len(lowered.wasm), "tape": lowered.cost().tape_bytes}
    return {"total": total, "call": call, **facts, "gradient": flat(first)}


def peers(app: str, spec: Row, repeat: int, absent: Sequence[str]) -> list[tuple[str, Row]]:
    """The same by those that are here."""
    runs: dict[str, Callable[[str], Row]] = {
        "rose": lambda path: node(PEERS / "apps.mjs", app, path, str(repeat)),
        "taichi": lambda path: process([PEER_PYTHON, str(PEERS / "taichi_apps.py"), app, path, str(repeat)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.json"
        path.write_text(json.dumps(spec))
        return [(name, run(str(path))) for name, run in runs.items() if name not in absent]


def main() -> None:
    asked = options(__doc__ or "", repeat=9)
    here = {"rose": has_rose(), "taichi": peer_has("taichi")}
    absent = [name for name, found in here.items() if not found or name in asked.without]
    title = "one loss and gradient of an application (ms of CPU; first: from the Python function to its first result)"
    form = {"app": "", "system": "", "first": ".0f", "call": ".2f", "bytes": ",", "tape": ",", "error": ".0e"}
    table = Table("apps", title, form, absent=absent)

    def add(app: str, system: str, row: Row, expected: Any) -> None:
        off = np.abs(np.array(row.pop("gradient")) - expected).max() / np.abs(expected).max()
        row = {key: value for key, value in row.items() if key not in ("total", "call", "loss")} | {
            "first": 1e3 * row["total"],
            "call": 1e3 * row["call"],
        }
        table.add(app=app, system=system, **row, error=off)

    ball, walk = EXPECTED["billiards"], EXPECTED["robot"]
    add("billiards", "rosejit", ours(billiards.gradient, (CUE, PUSH), asked.repeat), ball)
    add("billiards, arrays", "rosejit", ours(billiards_arrays.gradient, (CUE, PUSH), asked.repeat), ball)
    for name, row in peers("billiards", billiards_spec(), asked.repeat, absent):
        add("billiards", name, row, ball)
    add("robot", "rosejit", ours(robot.gradient, (WALKER, WEIGHTS), asked.repeat), walk)
    for name, row in peers("robot", robot_spec(), asked.repeat, absent):
        add("robot", name, row, walk)
    table.finish(asked.json)


if __name__ == "__main__":
    main()
