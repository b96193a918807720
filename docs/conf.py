"""The site: `sphinx-build -W -c docs . build/site`, or `tox -e site`. Its source is the Markdown of the repository."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from rosejit import __version__  # noqa: E402 - from this folder

project, author, release = "rosejit", "The rosejit authors", __version__
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "site_build"]
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**.md"]
exclude_patterns = [".*", "build", "rosejit", "tests", "examples", "benchmarks", "conda", "typings", "**/node_modules"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
default_role = "literal"  # docstrings write `x`
autodoc_member_order = "bysource"
autodoc_typehints = "none"
python_display_short_literal_types = True

html_theme = "furo"
html_title = "rosejit"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
templates_path = ["_templates"]
html_additional_pages = {"index": "redirect.html"}
html_css_files = ["run.css"]
html_js_files = [("run.mjs", {"type": "module"})]
html_copy_source = False
html_show_sphinx = html_show_copyright = False
pygments_style, pygments_dark_style = "friendly", "github-dark"
