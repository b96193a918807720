"""A bundle to what makes its files an npm package: `package.json`, and a README with a call of each function."""

import json
import re
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.containers import of_node
from rosejit.errors import StagingTypeError
from rosejit.export import js_names
from rosejit.export.imports import PageImport, of_page
from rosejit.export.program import Bundle, Exported

_LONGEST = 214
_PART = r"[a-z0-9~-][a-z0-9._~-]*"
_NAME = re.compile(rf"(?:@{_PART}/)?({_PART})")
_TAKEN = ("node_modules", "favicon.ico")
_MARK = "<!-- Written by rosejit, and again at every export; without this line it stays as it is. -->"


class PackageName:
    """A name that npm admits."""

    def __init__(self, name: str) -> None:
        found = _NAME.fullmatch(name) if isinstance(name, str) and len(name) <= _LONGEST else None
        if found is None or name in _TAKEN:
            raise StagingTypeError(
                f"{name!r} is no name of an npm package",
                facts=("lower-case letters, digits, `-`, `.`, `_` and `~`, which begin with a letter, a digit or `-`",),
                help='write `npm="shapes"`, or with a scope `npm="@me/shapes"`',
            )
        self.name = name
        self.stem = found[1]

    def require_own(self, folder: Path) -> dict[str, Any]:
        """What the `package.json` of the folder says by now. Raises where it is another package's."""
        path = folder / "package.json"
        if not path.is_file():
            return {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("name", self.name) != self.name:
            raise StagingTypeError(
                f"`{path}` is not that of the package `{self.name}`",
                help="export to a folder of its own: `path=...`, on the command line `-o`",
            )
        return found


def package_files(bundle: Bundle, package: PackageName, folder: Path, files: Sequence[str]) -> dict[str, bytes]:
    """What is to be written beside `files`: all but a README of the user's own."""
    made = {"package.json": json.dumps(_manifest(bundle, package, folder, files), indent=2, ensure_ascii=False) + "\n"}
    readme = folder / "README.md"
    if not readme.is_file() or readme.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
        made["README.md"] = "\n".join([_MARK, *_readme(bundle, package)]) + "\n"
    return {name: text.encode() for name, text in made.items()}


def _manifest(bundle: Bundle, package: PackageName, folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """The content of `package.json`: what is there stays, but for what says where the files are."""
    known = package.require_own(folder)
    stem = package.stem
    types = f"./{stem}.d.mts"
    exports = {".": {"types": types, "default": f"./{stem}.mjs"}, f"./{stem}.wasm": f"./{stem}.wasm"}
    given = known.get("exports")
    listed = known.get("files", [])
    return {
        "name": package.name,
        "version": "0.1.0",
        "description": _description(bundle),
        "license": "UNLICENSED",
        **known,
        "type": "module",
        "sideEffects": False,
        "types": types,
        "exports": {**(given if isinstance(given, dict) else {}), **exports},
        "files": [*files, *(name for name in listed if name not in files)],
    }


def _description(bundle: Bundle) -> str:
    documented = [f.doc.splitlines()[0] for f in bundle.functions if f.doc]
    return documented[0] if documented else f"{', '.join(f.name for f in bundle.functions)} as WebAssembly"


# --- the README


def _readme(bundle: Bundle, package: PackageName) -> Iterator[str]:
    needed = [
        given.name
        for given in of_page(bundle.artifact.imports, bundle.hosts)
        if isinstance(given, PageImport) and given.needed
    ]
    yield f"# {package.name}"
    yield ""
    yield _description(bundle)
    yield ""
    yield "WebAssembly that [rosejit](https://pypi.org/project/rosejit/) compiled from Python, and the ES module that"
    yield "calls it: for pages, workers, node and bundlers, without dependencies, with types."
    yield ""
    yield "```js"
    yield f"import load from {js_names.text(package.name)};"
    yield ""
    if needed:
        imported = ", ".join(js_names.key(name) for name in needed)
        yield f"const program = await load({{ imports: {{ {imported} }} }}); // functions of yours"
    else:
        yield "const program = await load();"
    for function in bundle.functions:
        yield f"console.log({js_names.member('program', function.name)}({', '.join(_arguments(function))}));"
    yield "```"
    yield ""
    for function in bundle.functions:
        names = ", ".join(parameter.name for parameter in function.given_parameters)
        words = f": {function.doc.splitlines()[0]}" if function.doc else ""
        yield f"- `{function.name}({names})`{words}"
    yield ""
    yield f"`load` fetches `{package.stem}.wasm` from beside the module; Vite and webpack find it by themselves."
    yield f'esbuild and Rollup leave it, and are handed it: `import source from "{package.name}/{package.stem}.wasm"`,'
    yield "`await load({ source })` (esbuild: `--loader:.wasm=binary --target=es2022`)."


def _arguments(function: Exported) -> Iterator[str]:
    """A value for each parameter, of the right types and shapes."""
    for parameter, tree in zip(function.parameters, function.trees, strict=True):
        if not isinstance(tree, Static):
            sample = _sample(tree)
            yield f"...{sample}" if parameter is function.rest else sample


_ARRAYS = {"real": "Float64Array", "int": "BigInt64Array", "bool": "Uint8Array"}
_FEW = 3
"""So many parts that are alike are written out."""
_ONES = {"real": "1", "int": "1n", "bool": "1"}


def _sample(tree: Tree) -> str:
    match tree:
        case Leaf(kind="array", shape=shape, element=element):
            return f"new {_ARRAYS[element]}({prod(shape)}).fill({_ONES[element]})"
        case Leaf(kind="dyn", shape=shape, element=element):
            return f"new {_ARRAYS[element]}({_FEW * prod(shape)}).fill({_ONES[element]})"
        case Leaf(kind="bool"):
            return "true"
        case Leaf():
            return "1"
        case Static() | Node(kind="none"):
            return "null"
        case Node(children=children) if of_node(tree).is_named:
            pairs = [f"{js_names.key(key)}: {_sample(child)}" for key, child in zip(tree.keys, children, strict=True)]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case Node(children=children):
            samples = [_sample(child) for child in children]
            if len(samples) > _FEW and len(set(samples)) == 1:
                return f"Array.from({{ length: {len(samples)} }}, () => ({samples[0]}))"
            return f"[{', '.join(samples)}]"
