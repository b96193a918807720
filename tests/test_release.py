"""What is published in several forms says the same."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_conda_recipe_has_the_versions_of_the_project():
    project, recipe = ((ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "conda/recipe.yaml"))
    versions = [re.search(r'^ *version[ :=]+"([\d.]+)"$', text, re.MULTILINE) for text in (project, recipe)]
    assert versions[0] is not None
    assert versions[1] is not None
    assert versions[0][1] == versions[1][1]
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    needs = re.findall(r"^    [\"'](\w+)([^;\"']+)", listed[1] if listed else "", re.MULTILINE)
    assert len(needs) == 4
    for name, bounds in needs:
        assert f"- {name.replace('wasmtime', 'wasmtime-py')} {bounds}\n" in recipe
