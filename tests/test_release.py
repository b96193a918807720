"""What is published in several forms says the same."""

import re
import shutil
from pathlib import Path

from docs import published

ROOT = Path(__file__).parent.parent


def test_the_conda_recipe_has_the_versions_of_the_project():
    project, recipe = ((ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "conda/recipe.yaml"))
    versions = [re.search(r'^ *version[ :=]+"([\d.]+)"$', text, re.MULTILINE) for text in (project, recipe)]
    assert versions[0] is not None
    assert versions[1] is not None
    assert versions[0][1] == versions[1][1]
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    needs = re.findall(r"^    [\"'](\w+)([^;\"']+)", listed[1] if listed else "", re.MULTILINE)
    assert len(needs) == 3
    for name, bounds in needs:
        assert f"- {name.replace('wasmtime', 'wasmtime-py')} {bounds}\n" in recipe


def test_what_is_published_says_where_it_comes_from(tmp_path):
    files = "README.md", "pyproject.toml", "CITATION.cff", "conda/recipe.yaml"
    (tmp_path / "conda").mkdir()
    for file in files:
        shutil.copy(ROOT / file, tmp_path / file)
    address = "https://github.com/someone/rosejit"
    published.publish(tmp_path, address, "v1.2.3")
    readme, project, citation, recipe = ((tmp_path / file).read_text(encoding="utf-8") for file in files)
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) == len(re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))) > 5
    for link in links:
        place = link.removeprefix(f"{address}/blob/v1.2.3/").removeprefix(f"{address}/raw/v1.2.3/")
        assert place != link
        assert (ROOT / place).exists()
    assert f"{address}/raw/v1.2.3/docs/images/quadratic.png" in links
    assert f'[project.urls]\nRepository = "{address}"\n' in project
    assert project.index("[project.urls]") < project.index("[build-system]")
    assert f"repository-code: {address}\n" in citation
    assert f"about:\n  homepage: {address}\n" in recipe


def test_pictures_and_links_elsewhere():
    text = "![a](b.png) [c](d/e.md#f) [g](#h) [i](https://j.org)"
    found = published.absolute(text, "https://k", "v1")
    assert found == "![a](https://k/raw/v1/b.png) [c](https://k/blob/v1/d/e.md#f) [g](#h) [i](https://j.org)"
