"""What is published says where it comes from: `python docs/published.py ADDRESS TAG`, in a checkout that is built then.

ADDRESS is the repository's on GitHub. Links of README.md become absolute, since PyPI shows it alone; pyproject.toml has
`project.urls`, CITATION.cff and the conda recipe the address. The release workflow, which knows both, runs it.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path


def publish(root: Path, address: str, tag: str) -> None:
    """Rewrite the files of a checkout."""
    _rewrite(root / "README.md", lambda text: absolute(text, address, tag))
    urls = {
        "Repository": address,
        "Documentation": f"{address}/blob/{tag}/docs/index.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    _rewrite(
        root / "pyproject.toml", lambda text: text.replace("[build-system]", f"[project.urls]\n{table}\n[build-system]")
    )
    _rewrite(root / "CITATION.cff", lambda text: f"{text}repository-code: {address}\n")
    _rewrite(root / "conda" / "recipe.yaml", lambda text: text.replace("about:\n", f"about:\n  homepage: {address}\n"))


def absolute(text: str, address: str, tag: str) -> str:
    """Markdown whose links and pictures that stand in the repository are found from anywhere."""

    def found(match: re.Match[str]) -> str:
        kind = "raw" if match[1] else "blob"
        return f"{match[1]}[{match[2]}]({address}/{kind}/{tag}/{match[3]})"

    return re.sub(r"(!?)\[([^]]*)\]\((?!\w+:|#)([^)]+)\)", found, text)


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text(encoding="utf-8")
    after = change(before)
    if after == before:
        raise SystemExit(f"nothing to change in {path}")
    path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    publish(Path.cwd(), *sys.argv[1:])
