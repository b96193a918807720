"""Small modules in the text format that keep the conventions of `rosejit/abi.py`."""

import os
import subprocess
import sys
from collections.abc import Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any

import wasmtime

from rosejit.abi import Artifact, Entry, Import, Leaf, Slot, Tree
from rosejit.runtime.loaded_program import load
from rosejit.runtime.marshalling.marshal import Signature

ROOT = Path(__file__).parent.parent.parent
REAL, INT, BOOL = Leaf("real"), Leaf("int"), Leaf("bool")


def real(offset: int = 0) -> Slot:
    return Slot("real", offset)


def integer(offset: int = 0) -> Slot:
    return Slot("int", offset)


def array(offset: int, *shape: int, element: Any = "real") -> Slot:
    return Slot("array", offset, shape, element)


def artifact(wat: str, *entries: Entry, pages: int = 1, **more: Any) -> Artifact:
    """The module of the functions in `wat`, which exports its memory."""
    imports = "".join(f'(import "host" "{k}" {host_type(i)})' for k, i in enumerate(more.get("imports", ())))
    text = f'(module {imports} (memory (export "memory") {pages}) {wat})'
    return Artifact(bytes(wasmtime.wat2wasm(text)), {entry.name: entry for entry in entries}, **more)


def host_type(imported: Import) -> str:
    kinds = {"real": "f64", "int": "i64", "bool": "i32", "array": "i32"}
    places = [slot for slot in imported.results if slot.kind == "array"]
    params = " ".join(kinds[slot.kind] for slot in (*imported.params, *places))
    results = " ".join(kinds[slot.kind] for slot in imported.results if slot.kind != "array")
    return f"(func ${imported.name} (param {params}) (result {results}))"


def signature(names: str, trees: Sequence[Tree], result: Tree, name: str = "f", **more: Any) -> Signature:
    parameters = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names.split()]
    return Signature(name, parameters, trees, result, **more)


def function(program: Artifact, sig: Signature, hosts: Sequence[Any] = (), entry: str = "f") -> Any:
    return load(program, hosts).function(entry, sig)


def product() -> Artifact:
    """`f(x, y) = x * y`."""
    body = "(f64.store (i32.const 80) (f64.mul (f64.load (i32.const 64)) (f64.load (i32.const 72))))"
    return artifact(f'(func (export "f") {body})', Entry("f", (real(64), real(72)), (real(80),)))


PRODUCT = signature("x y", [REAL, REAL], REAL)


def spinning() -> Artifact:
    """`f(x) = x`; polls the interrupt flag for ever where x < 0, else returns."""
    body = """
      (if (f64.lt (f64.load (i32.const 64)) (f64.const 0)) (then
        (loop $again
          (if (i32.load (i32.const 4)) (then (i32.store (i32.const 8) (i32.const -1)) (unreachable)))
          (br $again))))"""
    return artifact(f'(func (export "f") {body})', Entry("f", (real(64),), (real(64),)))


SPINNING = signature("x", [REAL], REAL)


def recursive(**more: Any) -> Artifact:
    """`f(n) = n` in n nested calls."""
    wat = """
      (func $down (param f64) (result f64)
        (if (result f64) (f64.le (local.get 0) (f64.const 0)) (then (f64.const 0))
          (else (f64.add (f64.const 1) (call $down (f64.sub (local.get 0) (f64.const 1)))))))
      (func (export "f") (f64.store (i32.const 72) (call $down (f64.load (i32.const 64)))))"""
    return artifact(wat, Entry("f", (real(64),), (real(72),)), functions={0: "down"}, **more)


# The runtime needs nothing of the package but the modules it imports, and a process starts in half the time.
ALONE = """
import sys, types
sys.modules["rosejit"] = types.ModuleType("rosejit")
sys.modules["rosejit"].__path__ = ["rosejit"]
"""


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a process of its own; a crash is then a failed test and no more."""
    return subprocess.run(
        [sys.executable, "-c", ALONE + code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def prints(code: str, expected: str, *arguments: str, **environment: str) -> None:
    """Check that `code` prints exactly that, and nothing to the error output."""
    done = python(code, *arguments, **environment)
    found = f"exit {done.returncode}\n{done.stdout.strip()}\n{done.stderr}"
    assert found == f"exit 0\n{expected}\n", found
