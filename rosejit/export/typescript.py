"""A bundle to the TypeScript declarations of its ES module."""

from collections.abc import Iterator, Sequence
from inspect import Parameter
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.containers import of_node
from rosejit.export import js_names
from rosejit.export.imports import PageImport, of_page
from rosejit.export.javascript import can_be_filled, indented
from rosejit.export.program import Bundle, Exported

_NUMBERS = {"real": "number", "int": "number | bigint", "bool": "boolean"}
_ARRAYS = {"real": "Float64Array", "int": "BigInt64Array", "bool": "boolean[]"}
_FILLED = {"real": "Float64Array | number[]", "int": "BigInt64Array | bigint[]", "bool": "Uint8Array | boolean[]"}
_MANY = 8
"""A tuple with more parts that are alike is declared as an array."""


def declarations(bundle: Bundle) -> str:
    """The text of the `.d.mts`."""
    pages = [given for given in of_page(bundle.artifact.imports, bundle.hosts) if isinstance(given, PageImport)]
    lines = [
        *_exports(bundle.functions),
        *_imports(pages),
        "export interface LoadOptions {",
        *(["  /** The functions that stayed Python, for the page to give. */"] if pages else []),
        *([f"  imports{_mark(pages)}: Imports;"] if pages else []),
        "  /**",
        "   * An address (text or `URL`), a `Response` or a promise of one, bytes, or a `WebAssembly.Module`; else the",
        "   * file beside this one. Some of these types exist only where those of the DOM do: hence `object`.",
        "   */",
        "  source?: string | object;",
        "}",
        "",
        "/** Load the module: every call makes an instance of its own. */",
        f"export default function load(options{_mark(pages)}: LoadOptions): Promise<Exports>;",
    ]
    return "\n".join(lines) + "\n"


def _mark(pages: Sequence[PageImport]) -> str:
    return "" if any(page.needed for page in pages) else "?"


def _exports(functions: Sequence[Exported]) -> Iterator[str]:
    yield "export interface Exports {"
    for function in functions:
        yield from indented(_documentation(function.doc))
        parameters = ", ".join(_parameters(function))
        call = f"({parameters}): {gives(function.result)}"
        if can_be_filled(function.result):
            out = filled(function.result)
            yield f"  {js_names.key(function.name)}: {{"
            yield f"    {call};"
            yield "    /** The same, into `out`: nothing is allocated. */"
            yield f"    into<Out extends {out}>({', '.join(['out: Out', *_parameters(function)])}): Out;"
            yield "  };"
        else:
            yield f"  {_method(function.name)}{call};"
    yield "}"
    yield ""


def _method(name: str) -> str:
    """The name of a method; `new` without quotes would declare a constructor."""
    return js_names.text(name) if name == "new" else js_names.key(name)


def _documentation(doc: str) -> Iterator[str]:
    if doc:
        lines = doc.replace("*/", "*\\/").splitlines()
        if len(lines) == 1:
            yield f"/** {lines[0]} */"
        else:
            yield "/**"
            yield from (f" * {line}".rstrip() for line in lines)
            yield " */"


def _parameters(function: Exported) -> Iterator[str]:
    for parameter, tree in zip(function.parameters, function.trees, strict=True):
        if isinstance(tree, Static):
            continue
        name = js_names.variable(parameter.name)
        if parameter is function.rest:
            yield f"...{name}: {takes(tree)}"
        else:
            yield f"{name}{'?' * _is_optional(parameter)}: {takes(tree)}"


def _is_optional(parameter: Parameter) -> bool:
    if parameter.kind is Parameter.VAR_KEYWORD:
        return True
    if parameter.default is Parameter.empty:
        return False
    return js_names.has_literal(parameter.default)


def _imports(pages: Sequence[PageImport]) -> Iterator[str]:
    if not pages:
        return
    yield "export interface Imports {"
    if any(not page.needed for page in pages):
        yield "  /** What the program prints; `console.log` if not given. */"
        yield "  print?(...words: unknown[]): void;"
    for page in pages:
        if not page.needed:
            continue
        parameters = ", ".join(f"x{k}: {gives(tree)}" for k, tree in enumerate(page.trees))
        result = "void" if page.result == Node("none") else takes(page.result)
        yield f"  {_method(page.name)}({parameters}): {result};"
    yield "}"
    yield ""


# --- types


def takes(tree: Tree) -> str:
    """The type of an argument."""
    match tree:
        case Leaf(kind="array" | "dyn", shape=shape, element=element):
            axes = len(shape) + (tree.kind == "dyn")
            number = _NUMBERS[element]
            nested = number
            for _ in range(axes):
                nested = f"ArrayLike<{nested}>"
            if axes == 1 and element != "bool":
                return nested
            return f"{nested} | {'Uint8Array' if element == 'bool' else _ARRAYS[element]}"
        case Leaf(kind=kind):
            return _NUMBERS[kind]
        case Static():
            return "unknown"
        case Node(children=children) if _is_array(tree):
            if _is_uniform(tree):
                return f"ArrayLike<{takes(children[0])}>"
            return f"readonly [{', '.join(map(takes, children))}]"
        case Node():
            return _record(tree, takes)


def gives(tree: Tree) -> str:
    """The type of a result."""
    match tree:
        case Leaf(kind="array" | "dyn", shape=shape, element=element):
            return _ARRAYS[element] + "[]" * (len(shape) + (tree.kind == "dyn") - 1)
        case Leaf(kind=kind):
            return _NUMBERS[kind]
        case Static(key=value):
            return _of_host(value)
        case Node(kind="optional", children=(_, held)):
            return f"{gives(held)} | null"
        case Node(kind="chosen", children=(Leaf() as position, *options)):
            given = "null" if tree.state else " | ".join(dict.fromkeys(map(gives, options)))
            return f"{_grouped(given)}[]" if position.kind == "array" else given
        case Node(children=children) if _is_array(tree):
            if _is_uniform(tree):
                return f"{_grouped(gives(children[0]))}[]"
            return f"[{', '.join(map(gives, children))}]"
        case Node():
            return _record(tree, gives)


def filled(tree: Tree) -> str:
    """The type of what a result can be written into."""
    match tree:
        case Leaf(kind="array", shape=shape, element=element):
            flat = _FILLED[element]
            return flat if len(shape) == 1 else f"({flat}){'[]' * (len(shape) - 1)} | {flat.partition(' |')[0]}"
        case Node(kind="optional", children=(_, held)):
            return f"{gives(held)} | null"
        case Node(kind="chosen"):
            return gives(tree)
        case Node(children=children) if _is_array(tree):
            if _is_uniform(tree):
                return f"{_grouped(filled(children[0]))}[]"
            return f"[{', '.join(map(filled, children))}]"
        case Node():
            return _record(tree, filled)
        case _:
            return gives(tree)


def _grouped(text: str) -> str:
    return f"({text})" if " | " in text else text


def _is_array(tree: Node) -> bool:
    return tree.kind != "none" and not of_node(tree).is_named


def _is_uniform(tree: Node) -> bool:
    alike = bool(tree.children) and all(child == tree.children[0] for child in tree.children)
    return alike and (not of_node(tree).is_fixed or len(tree.children) > _MANY)


def _record(tree: Node, of: Any) -> str:
    if tree.kind == "none":
        return "null"
    fields = [f"{js_names.key(key)}: {of(child)}" for key, child in zip(tree.keys, tree.children, strict=True)]
    return f"{{ {'; '.join(fields)} }}" if fields else "{}"


def _of_host(value: Any) -> str:
    """The type of a part of a result that staging knew."""
    if isinstance(value, (bool, str, type(None))):
        return js_names.literal(value, "")
    return "number" if isinstance(value, (int, float)) else "any"
