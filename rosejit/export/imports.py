"""Host functions of a program to the JavaScript that stands for them: the page's, `Math`'s, `console.log`."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rosejit.abi import HostSignature, Import, Leaf, Node, Slot, Static, Tree
from rosejit.api.calling.specialisation import with_host_values
from rosejit.export import js_names
from rosejit.export.javascript import Writer, indented
from rosejit.export.js_math import PageFunction
from rosejit.export.memory_cells import Passed, Place, divided
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span, quote

_NUMBERS = {"real": "$real({}, {})", "int": "$int({}, {})", "bool": "$bool({}, {}) ? 1 : 0"}


@dataclass(slots=True, frozen=True)
class PageImport:
    """A function that the page gives to `load`; `print`, one for all that the program prints, may be left out."""

    name: str
    trees: tuple[Tree, ...]
    result: Tree
    needed: bool
    forms: tuple[tuple[int, tuple["str | tuple[str, str]", ...]], ...] = ()
    """Of `print`: see `HostSignature`."""


@dataclass(slots=True, frozen=True)
class PageFailure:
    """A failed check whose message shows more than a module can leave in its memory: an import that throws."""

    signature: HostSignature


Given = PageImport | PageFailure | PageFunction


def of_page(imported: Sequence[Import], hosts: Sequence[Callable[..., Any]]) -> list[Given]:
    """What each import is, in order; functions that share a name are numbered."""
    found: list[Given] = []
    taken: dict[str, int] = {}
    for one, host in zip(imported, hosts, strict=True):
        if isinstance(host, PageFunction):
            found.append(host)
            continue
        signature = getattr(host, "signature", None)
        if not isinstance(signature, HostSignature):
            signature = HostSignature(tuple(map(_leaf, one.params)), Node("tuple", tuple(map(_leaf, one.results))))
        if signature.raises:
            found.append(PageFailure(signature))
            continue
        supply = iter(signature.statics)
        trees = tuple(with_host_values(tree, supply) for tree in signature.trees)
        taken[one.name] = taken.get(one.name, 0) + 1
        number = "" if signature.prints or taken[one.name] == 1 else taken[one.name]
        name = f"{one.name}{number}"
        found.append(PageImport(name, trees, signature.result, not signature.prints, signature.forms))
    return found


def _leaf(slot: Slot) -> Leaf:
    if slot.kind == "handle":
        raise AssertionError("no handle goes to a host function")
    assert slot.element == "real" or slot.element == "int" or slot.element == "bool", "nor do arrays of few bits"
    return Leaf(slot.kind, slot.shape, slot.element)


def javascript(number: int, given: Given, imported: Import) -> Iterator[str]:
    """The property of the imports that the module finds under its number."""
    if isinstance(given, PageFunction):
        yield f"{number}: {given.javascript},"
        return
    if isinstance(given, PageFailure):
        yield from _thrown(number, given.signature, imported)
        return
    writer = Writer()
    params = [Passed(slot, f"$a{k}") for k, slot in enumerate(imported.params)]
    arrays = [k for k, slot in enumerate(imported.results) if slot.kind == "array"]
    places = {k: Passed(imported.results[k], f"$p{k}") for k in arrays}
    variables = ", ".join([*(p.variable for p in params), *(places[k].variable for k in arrays)])
    arguments = ", ".join(_arguments(writer, given, params))
    called = f"{js_names.member('$g', given.name)}({arguments})"
    lines: list[str] = []
    numbers: list[str] = []
    for k, (leaf, value, path) in enumerate(_taken("$y", given.result, f"{given.name}()", lines)):
        if k in places:
            lines += writer.write(leaf, [places[k]], value, path)
        else:
            numbers.append(_NUMBERS[leaf.kind].format(value, js_names.text(path)))
    yield f"{number}: ({variables}) => {{"
    yield "  $f.length || $see();"
    yield f"  const $y = {called};"
    yield "  $f.length || $see();"
    yield from indented(lines)
    if numbers:
        listed = ", ".join(numbers)
        yield f"  return {listed if len(numbers) == 1 else f'[{listed}]'};"
    yield "},"


def _thrown(number: int, signature: HostSignature, imported: Import) -> Iterator[str]:
    params = [Passed(slot, f"$a{k}") for k, slot in enumerate(imported.params)]
    ((_, form),) = signature.forms
    where = place(signature.span)
    message = " + ".join([*_pieces(Writer(), form, params), *([js_names.text(f"\n  {where}")] if where else [])])
    yield f"{number}: ({', '.join(p.variable for p in params)}) => {{"
    yield "  $f.length || $see();"
    yield f"  throw Object.assign(new Error({message}), {{ name: {js_names.text(signature.raises)} }});"
    yield "},"


def place(span: Span | None) -> str:
    """The file, without the folders it is in, the line and its text."""
    if span is None:
        return ""
    line = quote(span)[:1]
    where = f"{Path(span.file).name}:{span.line}"
    return f"{where}: {line[0].strip()}" if line else where


def _arguments(writer: Writer, given: PageImport, params: Sequence[Place]) -> Iterator[str]:
    forms = dict(given.forms)
    for k, (tree, cells) in enumerate(zip(given.trees, divided(Node("tuple", given.trees), params), strict=True)):
        if k in forms:
            yield " + ".join(_pieces(writer, forms[k], cells)) or '""'
        else:
            yield writer.read(tree, cells)


def _pieces(writer: Writer, form: Sequence["str | tuple[str, str]"], cells: Sequence[Place]) -> Iterator[str]:
    """A text with gaps as JavaScript."""
    values = iter(cells)
    for piece in form:
        if isinstance(piece, str):
            yield js_names.text(piece)
            continue
        cell = next(values)
        leaf = _leaf(cell.slot)
        value = writer.read(leaf, [cell])
        yield f"$shown({value}, {js_names.text(piece[1])}, {'true' if leaf.kind == 'int' else 'false'})"


def _taken(value: str, tree: Tree, path: str, lines: list[str]) -> Iterator[tuple[Leaf, str, str]]:
    """The numbers and arrays in what the page gives, with their names; `lines` gets the checks of structures."""
    match tree:
        case Static() | Node(kind="none"):
            pass
        case Leaf():
            yield tree, value, path
        case Node(children=children, keys=keys) if keys:
            lines.append(f"$object({value}, {js_names.text(path)});")
            for key, child in zip(keys, children, strict=True):
                yield from _taken(js_names.member(value, key), child, js_names.member(path, key), lines)
        case Node(children=children):
            lines.append(f"$list({value}, {len(children)}, {js_names.text(path)});")
            for k, child in enumerate(children):
                yield from _taken(f"{value}[{k}]", child, f"{path}[{k}]", lines)
