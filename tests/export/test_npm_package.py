"""What makes exported files an npm package: node imports it by its name, and what people wrote in it stays."""

import json
import re
import shutil
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.export.machine import NODE, bits, javascript


class Spring(NamedTuple):
    length: float
    stiffness: float


@rose.jit
def energy(x: Vec["n"], spring: Spring) -> float:
    """The energy of a chain of springs."""
    total = 0.0
    for i in rose.range(len(x) - 1):
        stretched = x[i + 1] - x[i] - spring.length
        total += 0.5 * spring.stiffness * stretched * stretched
    return total


@rose.jit
def every_kind(m: Mat[2, 3], k: Array[2, int], on: Array[2, bool], pairs: list[tuple[float, int]], p: bool, none: None):
    return m.sum() + k[0], on[1], [a * b for a, b in pairs], p, none


FUNCTIONS = {"value": energy, "gradient": rose.grad(energy)}
EXAMPLES = np.zeros(5), Spring(1.0, 2.0)


def packed(folder, name="@me/springs"):
    return rose.export(FUNCTIONS, *EXAMPLES, path=folder, npm=name)


def linked(folder, package, name):
    """A folder whose `node_modules` has the package."""
    place = folder / "node_modules" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(package, target_is_directory=True)
    return folder


def test_node_imports_it_by_its_name(tmp_path):
    files = packed(tmp_path / "made")
    assert [file.name for file in files] == [
        "springs.wasm",
        "springs.mjs",
        "springs.d.mts",
        "package.json",
        "README.md",
    ]
    call = "[0, 1.5, 2.25, 2.5, 4], { length: 1, stiffness: 2.1 }"
    text = f"""import load from "@me/springs";
        const f = await load();
        console.log(JSON.stringify([f.value({call}), ...f.gradient({call})]));"""
    found = javascript(linked(tmp_path, tmp_path / "made", "@me/springs"), text)
    x, spring = np.array([0, 1.5, 2.25, 2.5, 4]), Spring(1.0, 2.1)
    if NODE:
        assert bits(found) == bits([energy(x, spring), *rose.grad(energy)(x, spring).tolist()])


def test_the_example_of_the_readme_runs(tmp_path):
    given = np.ones((2, 3)), np.ones(2, int), np.ones(2, bool), [(1.0, 2), (3.0, 4)], True, None
    functions = {**{name: (f, *EXAMPLES) for name, f in FUNCTIONS.items()}, "every kind": (every_kind, *given)}
    readme = rose.export(functions, path=tmp_path / "made", npm="springs")[-1].read_text()
    (code,) = re.findall(r"```js\n(.*?)```", readme, re.S)
    lines = code.replace("console.log(", "told.push(").replace("await load();", "await load(), told = [];")
    told = javascript(linked(tmp_path, tmp_path / "made", "springs"), f"{lines}console.log(JSON.stringify(told));")
    if NODE:
        assert told == [2, {"0": 1, "1": 0, "2": 0, "3": 0, "4": -1}, [7, True, [1, 1], True, None]]


def test_the_manifest_keeps_what_people_wrote(tmp_path):
    packed(tmp_path)
    manifest = json.loads((tmp_path / "package.json").read_text())
    assert manifest["exports"]["."] == {"types": "./springs.d.mts", "default": "./springs.mjs"}
    assert (manifest["type"], manifest["license"], manifest["files"]) == (
        "module", "UNLICENSED", ["springs.wasm", "springs.mjs", "springs.d.mts"],
    )  # fmt: skip
    manifest |= {"version": "1.2.3", "license": "MIT", "author": "Ada", "type": "commonjs", "files": ["more.mjs"]}
    manifest["exports"]["./more"] = "./more.mjs"
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    packed(tmp_path)
    again = json.loads((tmp_path / "package.json").read_text())
    assert [again[key] for key in ("version", "license", "author", "type")] == ["1.2.3", "MIT", "Ada", "module"]
    assert again["files"] == ["springs.wasm", "springs.mjs", "springs.d.mts", "more.mjs"]
    assert again["exports"]["./more"] == "./more.mjs"


def test_a_readme_of_ones_own_stays(tmp_path):
    first = packed(tmp_path)[-1].read_text()
    (tmp_path / "README.md").write_text(first + "\nold\n")
    assert packed(tmp_path)[-1].read_text() == first
    (tmp_path / "README.md").write_text("# Mine\n")
    assert packed(tmp_path)[-1].name == "package.json"
    assert (tmp_path / "README.md").read_text() == "# Mine\n"


def test_functions_that_the_user_of_the_package_gives(tmp_path):
    @rose.opaque
    def measure(t: float) -> float:
        return t

    readme = rose.export(lambda t: measure(t), 1.0, path=tmp_path, npm="meter")[-1].read_text()
    assert "await load({ imports: { measure } }); // functions of yours" in readme


@pytest.mark.parametrize("name", ["Springs", "", ".springs", "@me", "a b", "node_modules", "x" * 215, 3])
def test_names_that_npm_refuses(tmp_path, name):
    with pytest.raises(rose.StagingTypeError, match="is no name of an npm package"):
        packed(tmp_path / "made", name)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("content", ['{"name": "another"}', "[]", "{"])
def test_the_package_of_somebody_else_is_left_alone(tmp_path, content):
    (tmp_path / "package.json").write_text(content)
    with pytest.raises(rose.StagingTypeError, match="is not that of the package `@me/springs`"):
        packed(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["package.json"]


def test_links_are_not_needed_by_the_package(tmp_path):
    """A copy, as npm installs it, is the same package."""
    packed(tmp_path / "made", "springs")
    shutil.copytree(tmp_path / "made", tmp_path / "node_modules" / "springs")
    shutil.rmtree(tmp_path / "made")
    text = """import load from "springs";
        import { createRequire } from "node:module";
        const wasm = createRequire(import.meta.url).resolve("springs/springs.wasm");
        console.log(JSON.stringify([Object.keys(await load()), wasm.endsWith("springs.wasm")]));"""
    assert javascript(tmp_path, text) in (None, [["value", "gradient"], True])
