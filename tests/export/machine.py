"""Exports programs and runs them in node, where there is one."""

import dataclasses
import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from rosejit.abi import Static
from tests.backends import flat

NODE = shutil.which("node")
if NODE is None:
    print("node is missing: exported modules are written and looked at, but not run", file=sys.__stderr__)


def javascript(folder: Path, text: str) -> Any:
    """What the ES module `text`, which lies in `folder`, prints as JSON; None where there is no node."""
    if NODE is None:
        return None
    (folder / "main.mjs").write_text(text)
    return _run(str(folder / "main.mjs"))


def _run(*arguments: str) -> Any:
    assert NODE is not None
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


Job = tuple[Path, str, rose.Function, tuple[Any, ...]]
"""A module, the name of a function in it, and a call."""


def results(folder: Path, jobs: Sequence[Job]) -> list[Any] | None:
    """What node gives for each job: a list of numbers, or the text of an error; None where there is no node."""
    if NODE is None:
        return None
    path = folder / "jobs.json"
    path.write_text(json.dumps(described(jobs, lambda module: module.resolve().as_uri())))
    return read(_run(str(CALLS.with_name("run.mjs")), str(path)))


CALLS = Path(__file__).with_name("calls.mjs")


def described(jobs: Sequence[Job], address: Callable[[Path], str]) -> list[Any]:
    """The jobs for `calls.mjs`, which finds modules at their address."""
    found: dict[Path, list[Any]] = {}
    for module, name, function, call in jobs:
        found.setdefault(module, []).append([name, [encoded(a) for a in page_arguments(function, call)]])
    return [{"module": address(module), "calls": calls} for module, calls in found.items()]


def read(found: Any) -> list[Any]:
    """What `calls.mjs` gave: lists of numbers, or texts of errors."""
    return [each["error"] if "error" in each else list(_numbers(each["value"])) for each in found]


def page_arguments(function: rose.Function, call: tuple[Any, ...]) -> list[Any]:
    """The arguments that the page gives: what Python keeps is settled in the module."""
    bound = function.binding.bind(call, {})
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in function.__signature__.parameters.values()):
        return list(call)
    return [value for tree, value in zip(bound.trees, call, strict=False) if not isinstance(tree, Static)]


def encoded(value: Any) -> Any:
    """A value for `run.mjs`."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return {"real": struct.pack(">d", value).hex()}
    if isinstance(value, int):
        return {"int": str(value)}
    if dataclasses.is_dataclass(value):
        return {"object": {f.name: encoded(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {"object": {str(key): encoded(item) for key, item in value.items()}}
    return [encoded(item) for item in value]


def _numbers(value: Any) -> Iterator[float | int | bool]:
    """The numbers in a result; JavaScript does not tell small integers from reals."""
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, dict):
        yield int(value["int"]) if "int" in value else struct.unpack(">d", bytes.fromhex(value["real"]))[0]
    elif value is not None:
        yield value


def bits(value: Any) -> list[str]:
    """The numbers in a value so that they are equal if their bits are, integers as reals; all NaN are one."""
    return [repr(n if isinstance(n, bool) or abs(n) > 1 << 53 else float(n)) for n in flat(value)]
