"""What the site has beyond Sphinx: blocks that run, peers side by side, functions of numbers, live pages."""

import ast
import contextlib
import math
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

import rosejit as rose
from rosejit import demo
from rosejit.api import scalar_functions

DOCS = Path(__file__).parent
IN_PAGE = sys.stdlib_module_names | {"rosejit", "numpy"}
"""What a block may import that is to run in a page."""
ABSENT = ("concurrent", "multiprocessing", "threading", "subprocess")


def imports(text: str) -> set[str]:
    """The packages that a program imports, anywhere in it; `` where it is no program."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {""}
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


class RunnableBlocks(SphinxPostTransform):
    """Marks the blocks that can run in the page, and puts those of a peer beside ours."""

    default_priority = 5
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Blocks in ```python are one program, up to the first that a page cannot run; the others stand alone."""
        for block in self.document.findall(nodes.literal_block):
            language = block.get("language")
            if language in ("python", "py") and self.runs(block.astext()):
                block["classes"] += ["run"] if language == "python" else ["run", "run-alone"]
        for block in self.document.findall(nodes.doctest_block):
            block["classes"] += ["run", "run-alone"]
        if "coming-from" in self.env.docname:
            self.beside()

    def runs(self, text: str) -> bool:
        """Whether a page has what a block imports."""
        found = imports(text)
        return found <= IN_PAGE and not found & set(ABSENT)

    def beside(self) -> None:
        """A block that does not run in the page, and the one behind it that does, become two columns."""
        for block in list(self.document.findall(nodes.literal_block)):
            following = block.next_node(descend=False, siblings=True)
            if "run" in block["classes"] or not isinstance(following, nodes.literal_block):
                continue
            columns = nodes.container("", classes=["beside"])
            block.replace_self(columns)
            following.parent.remove(following)
            columns += [block, following]


class Names(SphinxDirective):
    """`.. names:: numbers` and `.. names:: errors`: public names that no docstring in a file tells of one by one."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """As RST, which Sphinx reads."""
        text = functions_of_numbers() if self.arguments[0] == "numbers" else errors()
        return self.parse_text_to_nodes(text)


def functions_of_numbers() -> str:
    """Each with its sentence and an example, whose value is computed here."""
    return "\n".join(
        f".. py:function:: {name}({', '.join('xyz'[: len(arguments)])})\n\n   {doc}\n\n"
        f"   >>> rose.{name}({', '.join(map(repr, arguments))})\n   {value!r}\n"
        for name, doc, arguments, value in map(sample, scalar_functions.__all__)
    )


def sample(name: str) -> tuple[str, str, tuple[float, ...], Any]:
    """A function of numbers: its name, what it says of itself, arguments at which it is finite, and its value there."""
    function = getattr(rose, name)
    for arguments in ((0.5,), (1.5,), (2.5, 0.5), (2.0, 3.0, 0.5)):
        with contextlib.suppress(TypeError):
            value = function(*arguments)
            if math.isfinite(value):
                said = function.__doc__.partition("\n\n")[0].replace("\n", " ")
                return name, re.sub(r"[|*]", r"\\\g<0>", said), arguments, value
    raise ValueError(f"no sample of {name}")


def errors() -> str:
    """The classes, in the order of their names."""
    found = [
        name
        for name in rose.__all__
        if isinstance(getattr(rose, name), type) and issubclass(getattr(rose, name), Exception)
    ]
    return "\n".join(f".. autoexception:: {name}" for name in found)


def draw_functions(path: Path) -> None:
    """Every function of one number, and its derivative, in one picture."""
    from matplotlib import pyplot as plt

    names = [name for name in scalar_functions.__all__ if len(sample(name)[2]) == 1 and not name.startswith("is")]
    figure, places = plt.subplots(-(-len(names) // 6), 6, figsize=(12, 14), layout="constrained")
    for place in places.flat:
        place.set_axis_off()
    points = [0.02 * k - 3.0 for k in range(301)]
    for name, place in zip(names, places.flat, strict=False):
        function = rose.jit(getattr(rose, name))
        for each, colour in ((function, "#3b5bdb"), (rose.grad(function), "#d6336c")):
            heights = rose.vmap(each)(np.array(points))
            place.plot(points, np.where(abs(heights) < 6, heights, np.nan), colour, linewidth=1.5)
        place.set_axis_on()
        place.set(title=name, ylim=(-4, 4), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    figure.savefig(path, dpi=80)
    plt.close(figure)


_PLAIN = re.compile(r"""<span class="(?:(?:n|p)">([^<]*)|pre">([\w.,:;=*()\[\]'"&#@+]*))</span>""")
"""Names and punctuation in blocks, and the words of code in sentences that no line breaks inside anyway."""


def lighten(app: Sphinx, failed: Exception | None) -> None:
    """Pages without marks around words that no style colours, and with pictures that load when they come into sight."""
    if failed or app.builder.name != "html":
        return
    styles = (Path(app.outdir) / "_static" / "pygments.css").read_text(encoding="utf-8")
    assert not re.search(r"\.highlight \.[np] ", styles), "names or punctuation have a colour now"
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_PLAIN.sub(r"\1\2", text).replace("<img ", '<img loading="lazy" '), encoding="utf-8")


def add_live_pages(app: Sphinx, failed: Exception | None) -> None:
    """The pages of examples/web, and beside them the Python that Run needs; the picture of the functions."""
    if failed or app.builder.name != "html":
        return
    draw_functions(Path(app.outdir) / "_static" / "functions.png")
    live = Path(app.outdir) / "live"
    demo.build(live, demo.find_pyodide())
    with zipfile.ZipFile(live / "python.zip", "a", zipfile.ZIP_DEFLATED) as archive:
        for name in ("check.py", "run_block.py"):
            archive.write(DOCS / name, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx asks for this."""
    app.add_directive("names", Names)
    app.add_post_transform(RunnableBlocks)
    app.connect("build-finished", lighten)  # before there are pages that are not Sphinx's
    app.connect("build-finished", add_live_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
