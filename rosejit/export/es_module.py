"""A bundle to the text of an ES module that loads it."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Any

from rosejit.abi import Artifact, Entry, Leaf, Node, Static, Tree
from rosejit.export import js_names
from rosejit.export.imports import PageImport, javascript, of_page, place
from rosejit.export.javascript import Writer, can_be_filled, indented
from rosejit.export.memory_cells import Place, cells_of, divided, shapes
from rosejit.export.program import Bundle, Exported
from rosejit.ir.failure import failure_error
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.decode import decode

_CLASSES = {"assertion": "Error", "raise": "Error", "trap": "Error", "unbound": "ReferenceError"}
"""The class of a failure in JavaScript, where it is not RangeError."""


_ZEROS = {"real": 0.0, "int": 0, "bool": False}


def module_text(bundle: Bundle, stem: str) -> str:
    """The ES module beside `<stem>.wasm`."""
    imports = of_page(bundle.artifact.imports, bundle.hosts)
    pages = [given for given in imports if isinstance(given, PageImport)]
    body = [*_bind(bundle, imports)]
    glue = _glue("\n".join(body))
    check = [f"$function(imports, {js_names.text(given.name)});" for given in pages if given.needed]
    if "$turn[" not in "\n".join(body):
        glue = {
            name: re.sub(r"\$said\((\w+)\)", r"\1", text)
            for name, text in glue.items()
            if name not in ("$said", "$turn")
        }
    glue |= {name: text for name, text in _glue("$module" + "$function" * bool(check)).items() if name not in glue}
    outside = [glue.pop(name) for name in ("$module", "$function") if name in glue]
    given = "{ print: console.log, ...imports }" if any(not page.needed for page in pages) else "imports"
    lines = [
        f"// {', '.join(f.name for f in bundle.functions)}: written by rosejit.",
        *outside,
        *_failures(bundle.artifact),
        *shapes("\n".join(body)),
        "const $bind = ($m, $g) => {",
        *indented([line for text in glue.values() for line in text.splitlines()]),
        *indented(body),
        "};",
        "",
        "export default async function load({",
        "  imports = {},",
        f'  source = new URL("./{stem}.wasm", import.meta.url),',
        "} = {}) {",
        *indented(check),
        f"  return $bind(await $module(source), {given});",
        "}",
    ]
    return "\n".join(lines) + "\n"


# --- what all modules share


@cache
def _definitions() -> dict[str, str]:
    text = Path(__file__).with_name("glue.mjs").read_text(encoding="utf-8")
    parts = re.split(r"\n(?=const \$)", re.sub(r"(?m)^//.*\n", "", text))[1:]
    return {match[0]: part.strip() for part in parts if (match := re.search(r"\$\w+", part))}


def _glue(text: str) -> dict[str, str]:
    """The definitions that `text` uses, and those that they use, in the order of the file."""
    known = _definitions()
    found: set[str] = set()
    todo = [text]
    while todo:
        used = {name for name in re.findall(r"\$[a-z]\w+", todo.pop()) if name in known}
        todo += [known[name] for name in used - found]
        found |= used
    return {name: part for name, part in known.items() if name in found}


# --- the instance


@dataclass(slots=True, frozen=True)
class _Ways:
    """What can happen in a call: that it fails or takes more memory, that the page calls while it is not at its end.

    Its imports may call, and where structures and arrays are read or filled a getter, a setter or a proxy may.
    """

    fails: bool
    calls: bool
    reentrant: bool

    def run(self, entry: str) -> Iterator[str]:
        """The lines that run an entry."""
        if not self.fails:
            yield f"$w.{entry}();"
            return
        yield f"try {{ $w.{entry}(); }} catch (error) {{ $fail(error); }}"
        yield "$f.length || $see();"


def _ways(bundle: Bundle, imports: Sequence[Any]) -> _Ways:
    artifact = bundle.artifact
    grows = any(f.name == "heap.extend" for f in decode(artifact.wasm).functions)
    fails = bool(artifact.failures or artifact.imports or artifact.recursive or grows)
    calls = any(isinstance(given, PageImport) for given in imports)
    return _Ways(fails, calls, calls or any(_visits(tree) for f in bundle.functions for tree in (*f.trees, f.result)))


def _visits(tree: Tree) -> bool:
    """Whether an object of the page is looked into for a part of an argument or a result."""
    return tree.kind == "array" if isinstance(tree, Leaf) else isinstance(tree, Node) and tree.kind != "none"


def _bind(bundle: Bundle, imports: Sequence[Any]) -> Iterator[str]:
    """The body of the function that makes an instance and the functions that use it."""
    artifact, ways = bundle.artifact, _ways(bundle, imports)
    kinds = _kinds(artifact)
    host = [
        line
        for k, (given, one) in enumerate(zip(imports, artifact.imports, strict=True))
        for line in javascript(k, given, one)
    ]
    yield f"let {', '.join(['$w', *kinds])};"
    yield "const $see = () => {"
    yield from (f"  {view} = new {cls}Array($w.memory.buffer);" for view, cls in kinds.items())
    yield "};"
    yield "const $start = () => {"
    if host:
        yield "  $w = new WebAssembly.Instance($m, { host: {"
        yield from (f"    {line}" for line in host)
        yield "  } }).exports;"
    else:
        yield "  $w = new WebAssembly.Instance($m).exports;"
    yield "  $see();"
    if ways.fails:
        yield "  new DataView($w.memory.buffer).setInt32(8, -2147483648, true);"
    yield "};"
    if ways.fails:
        yield "const $fail = (error) => {"
        yield f"  const found = {'$failure(error, $failures)' if artifact.failures else '$exhausted(error)'};"
        yield "  $start();"
        yield "  throw found;"
        yield "};"
    if ways.reentrant:
        yield "let $busy = false, $other;"
        yield "const $inner = () => ($other ??= $bind($m, $g));"
    for k, function in enumerate(bundle.functions):
        yield from _exported_function(k, function, artifact.entries[function.entry], ways)
    yield "$start();"
    yield f"return {{ {', '.join(f'{js_names.key(f.name)}: $e{k}' for k, f in enumerate(bundle.functions))} }};"


def _kinds(artifact: Artifact) -> dict[str, str]:
    """The views of the memory that the module needs; that of Reals always, to see whether the memory has grown."""
    slots = [slot for entry in artifact.entries.values() for slot in (*entry.params, *entry.results)]
    slots += [slot for one in artifact.imports for slot in (*one.params, *one.results)]
    found = {slot.element if slot.kind in ("array", "dyn") else slot.kind for slot in slots}
    views = {"$f": "Float64"}
    if "int" in found:
        views["$q"] = "BigInt64"
    if "bool" in found:
        views["$u"] = "Uint8"
    return views


# --- one function


def _exported_function(number: int, function: Exported, entry: Entry, ways: _Ways) -> Iterator[str]:
    shown = function.given_parameters
    outside = [_parameter(parameter, function.rest) for parameter in shown]
    handed = ", ".join(js_names.variable(parameter.name) for parameter in shown)
    cells, results = cells_of(entry.params), cells_of(entry.results)
    yield f"const $s{number} = ({handed}) => {{"
    if function.lengths:
        yield from indented(_opened(function, cells, ways))
    else:
        yield from indented(list(_written(function, cells)))
        yield from indented(list(ways.run(function.entry)))
    yield "};"
    called = function.name if js_names.is_variable(function.name) else ""  # for stack traces
    yield f"const $e{number} = function {called}({', '.join(outside)}) {{"
    yield from _at_most(function.name, len(shown), function.rest)
    inner = f"$inner()[{js_names.text(function.name)}]"
    fresh = [f"$s{number}({handed});", f"return {Writer().read(function.result, results)};"]
    visits = ways.calls or any(map(_visits, function.trees))
    yield from indented(_alone(fresh, f"{inner}(...arguments)", ways, visits))
    yield "};"
    if can_be_filled(function.result):
        yield f"$e{number}.into = function ({', '.join(['$out', *outside])}) {{"
        yield from _at_most(f"{function.name}.into", len(shown) + 1, function.rest)
        spread = ", ".join(["$out", *(_spread(parameter, function.rest) for parameter in shown)])
        filled = [*Writer().fill(function.result, results, "$out", "out")]
        lines = [f"$s{number}({handed});", *filled, "return $out;"]
        yield from indented(_alone(lines, f"{inner}.into({spread})", ways, visits=True))
        yield "};"


def _opened(function: Exported, cells: Sequence[Place], ways: _Ways) -> Iterator[str]:
    """The lines of a call whose arrays may have any length: they are allocated for it."""
    yield "const $call = { lengths: {}, held: [] };"
    yield "try {"
    yield from indented(list(_written(function, cells)))
    for name, cell in zip(function.lengths, cells[len(cells) - len(function.lengths) :], strict=True):
        yield f"  {cell.number} = BigInt($call.lengths[{js_names.text(name)}][0]);"
    yield "} catch (error) {"
    yield "  if (error instanceof WebAssembly.RuntimeError) $fail(error);"
    yield "  $free($call);"
    yield "  throw error;"
    yield "}"
    yield from ways.run(function.entry)
    yield "$free($call);"


def _alone(lines: list[str], elsewhere: str, ways: _Ways, visits: bool) -> list[str]:
    """The lines of a call, which the page may interrupt by another: that one gets an instance of its own."""
    if not ways.reentrant:
        return lines
    head = f"if ($busy) return {elsewhere};"
    return (
        [head, "$busy = true;", "try {", *indented(lines), "} finally { $busy = false; }"] if visits else [head, *lines]
    )


def _at_most(name: str, most: int, rest: Parameter | None) -> Iterator[str]:
    if rest is None:
        yield f"  if (arguments.length > {most}) $many({js_names.text(name)}, {most}, arguments.length);"


def _written(function: Exported, cells: Sequence[Place]) -> Iterator[str]:
    writer = Writer()
    whole = Node("tuple", tuple(function.trees))
    for parameter, tree, part in zip(function.parameters, function.trees, divided(whole, cells), strict=True):
        if not isinstance(tree, Static):
            yield from writer.write(tree, part, js_names.variable(parameter.name), parameter.name)


def _spread(parameter: Parameter, rest: Parameter | None) -> str:
    return "..." * (parameter is rest) + js_names.variable(parameter.name)


def _parameter(parameter: Parameter, rest: Parameter | None) -> str:
    """A parameter with its default value, if that has a form in JavaScript."""
    name = js_names.variable(parameter.name)
    if parameter is rest:
        return f"...{name}"
    if parameter.kind is Parameter.VAR_KEYWORD:
        return f"{name} = {{}}"
    if parameter.default is Parameter.empty:
        return name
    value = parameter.default
    return f"{name} = {js_names.literal(value, name)}" if js_names.has_literal(value) else name


# --- failures


def _failures(artifact: Artifact) -> Iterator[str]:
    """What the numbers mean that a failing module leaves: class, name, message, place, kinds of values."""
    if not artifact.failures:
        return
    yield "const $failures = ["
    for k, failure in enumerate(artifact.failures):
        default = ("int", "int") if failure.kind == "index" else ()
        kinds = artifact.failure_values[k] if artifact.failure_values else default
        letters = "".join(kind[0] for kind in kinds)
        cls = _CLASSES.get(failure.kind, "RangeError")
        name = type(failure_error(failure, [_ZEROS[kind] for kind in kinds])).__name__
        words = (name, failure.message or name, place(failure.span), letters)
        yield f"  [{', '.join([cls, *map(js_names.text, words)])}],"
    yield "];"
