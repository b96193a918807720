"""A compiled program with all that its caller needs to the bytes of a file, and back.

The file has the format of the disk cache (`runtime/cache_format.py`) and no native code: Wasm, which is validated
again, and a description of it. A value that a program was bound to is in the file; classes, functions and exceptions of
the user's are named.
"""

# Values of users are of any type.

import keyword
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import Parameter
from itertools import groupby
from typing import Any, NoReturn, get_args

from rosejit.abi import Artifact, Entry, HostSignature, Leaf, Node, Static, Tier, Tree, leaf_of, leaves
from rosejit.api.deferred import decorators, host_scalars, opaque_functions, print_, reachable_state
from rosejit.api.programs.value_codec import Reader, Writer
from rosejit.errors import CacheError, StagingTypeError
from rosejit.host_routines import host_routine
from rosejit.lazy_dataclass import dataclass
from rosejit.made_anew import MadeAnew, anew, plain
from rosejit.narrow_values import HELD, NarrowValue
from rosejit.numeric import np
from rosejit.processor import PROCESSOR
from rosejit.runtime import cache_format
from rosejit.runtime.marshalling.marshal import Read, Signature
from rosejit.span import Span

_VERSION = getattr(sys.modules["rosejit"], "__version__", "")
MADE_BY = f"rosejit {_VERSION} on {sys.platform} {PROCESSOR}"
"""What has to be the same where a program is loaded."""
ENTRY = "main"
_SCALARS: dict[str, str] = {"real": "r", "int": "i", "bool": "b"}
_LEAVES: dict[str, Leaf] = {letter: Leaf(kind) for kind, letter in _SCALARS.items()}  # type: ignore[arg-type]  # kinds
_ATOMS = (int, str, bytes, bool, type(None))
_KINDS = {int(kind): kind for kind in type(Parameter.POSITIONAL_ONLY)}
_CLASSES: dict[str, Any] = {
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "deque": deque,
    "namedtuple": tuple,
    "dataclass": object,
    "complex": complex,
    "conjugate": complex,
    "optional": object,
    "chosen": object,
    "narrow": NarrowValue,
    "derived tuple": tuple,
    "derived list": list,
    "derived dict": dict,
    "derived deque": deque,
}
_KEEPING = ("deque", *[kind for kind in _CLASSES if kind.startswith("derived")])
"""Kinds whose values may keep something beside their parts."""


@dataclass(slots=True, eq=False)
class Program:
    """A compiled program, `hosts` being the functions that it imports, and how its caller sees it."""

    artifact: Artifact
    hosts: tuple[Callable[..., Any], ...]
    interface: Signature
    statics: tuple[Any, ...]
    """The host values that it takes as arguments, in order."""
    text: Callable[[], str]
    """Gives its IR."""
    tier: Tier
    kept: bool
    """Whether its native code goes to the disk cache."""
    entry: str = ENTRY
    given: tuple[Tree, ...] = ()
    """Of a linear map: how what it takes is structured, numbers without a tangent and all."""

    @property
    def exceptions(self) -> list[Any]:
        """What its failures raise, in order."""
        return [f.exception for f in self.artifact.failures if f.exception is not None]


def dump(program: Program, pickled: list[Any] | None = None) -> bytes:
    """The file of a program; `pickled` takes what a pickle has beside it. Raises StagingTypeError for what only this
    process has."""
    signature = program.interface
    writer = Writer(signature.name, pickled)
    captured = [read.constants[0] for read in signature.reads]
    text = zlib.compress(program.text().encode(), 1)
    description = {
        "made_by": MADE_BY,
        "tier": program.tier,
        "kept": program.kept,
        "entry": program.entry,
        "given": [_tree(writer, tree) for tree in program.given],
        "name": [signature.name, signature.qualname],
        "parameters": [_parameter(writer, parameter) for parameter in signature.parameters],
        "trees": [_tree(writer, tree) for tree in signature.trees],
        "statics": [
            _static(writer, *pair) for pair in zip(_static_keys(signature.trees), program.statics, strict=True)
        ],
        "result": _tree(writer, signature.result),
        "result_statics": [writer.value(plain(v), "a value that it returns") for v in _static_keys([signature.result])],
        "made_anew": [k for k, v in enumerate(_static_keys([signature.result])) if isinstance(v, MadeAnew)],
        "exact": sorted(signature.exact),
        "own": sorted(signature.own),
        "captured": [[_array_kind(array), list(np.shape(array))] for array in captured],
        "hosts": [_host(writer, host) for host in program.hosts],
        "text": len(text),
        **cache_format.described(
            program.artifact, lambda e: None if e is None else writer.value(e, "an exception that it raises")
        ),
    }
    data = b"".join([text, *[np.asarray(array).tobytes() for array in captured]])
    return cache_format.packed(description, program.artifact.wasm, data=data)


def read(file: bytes, title: str, trusted: bool = True, pickled: list[Any] | None = None) -> Program:
    """The program of a file, which errors call `title`. Raises CacheError for anything but what `dump` wrote here.

    `trusted`: what the file names may be imported, which runs it.
    """
    try:
        found = cache_format.sections(file)
        made_by = found.description["made_by"]
        if type(made_by) is not str:
            raise ValueError("no program")
    except (ValueError, KeyError, TypeError) as error:
        _damaged(title, error)
    if made_by != MADE_BY:
        raise CacheError(
            f"{title} was made by {made_by[:80]}",
            facts=(f"this is {MADE_BY}",),
            help="compile the function and save it again here: `f.lower(...).compile().save(path)`",
        )
    try:
        return _program(found, Reader(title, trusted, pickled))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, AssertionError, RecursionError) as error:
        _damaged(title, error)


def _damaged(title: str, error: Exception) -> NoReturn:
    raise CacheError(
        f"{title} is no saved program, or it is damaged: {error}",
        help="compile the function and save it again: `f.lower(...).compile().save(path)`",
    ) from None


def _program(found: cache_format.Sections, reader: Reader) -> Program:
    words, data = found.description, found.data
    artifact = cache_format.artifact_of(words, found.wasm, reader.exception)
    statics = tuple([reader.value(value) for value in words["statics"]])
    name, qualname = words["name"]
    exact, own = (frozenset([k for k in words.get(each, ()) if type(k) is int]) for each in ("exact", "own"))
    keys = iter([Static(_key(value)) for value in statics])
    trees = tuple([_tree_of(reader, tree, keys) for tree in words["trees"]])
    returned = anew([reader.value(v) for v in words["result_statics"]], words["made_anew"], {})
    result = _tree_of(reader, words["result"], iter(map(Static, returned)))
    parameters = tuple([_parameter_of(reader, *each) for each in words["parameters"]])
    reads = tuple(_captured(words["captured"], data[words["text"] :]))
    signature = Signature(str(name), parameters, trees, result, reads, _same, exact, str(qualname), own)
    entry = str(words["entry"])
    given = tuple([_tree_of(reader, tree, iter(())) for tree in words["given"]])
    _check(artifact.entries[entry], signature)
    hosts = tuple([_host_of(reader, each) for each in words["hosts"]])
    if len(hosts) != len(artifact.imports) or words["tier"] not in get_args(Tier):
        raise ValueError("not the description of a program")
    text = bytes(data[: words["text"]])
    kept = bool(words["kept"])
    shown = lambda: zlib.decompress(text).decode()  # noqa: E731 - short
    return Program(artifact, hosts, signature, statics, shown, words["tier"], kept, entry, given)


def _check(entry: Entry, signature: Signature) -> None:
    """That the caller, which is written as the signature says, reads and writes what the module has."""
    trees = [*signature.trees, *[read.tree for read in signature.reads if read.tree is not None]]
    given = [leaf for tree in trees for leaf in leaves(tree)]
    for wanted, slots in ((given, entry.params), (leaves(signature.result), entry.results)):
        found = [(slot.kind, slot.shape) for slot in slots if slot.kind != "handle"]
        if [(leaf.kind, leaf.shape) for leaf in wanted] != found:
            raise ValueError("the entry does not fit the signature")
    if len(signature.trees) != len(signature.parameters):
        raise ValueError("not the description of a program")


# --- parameters and structures


def _parameter(writer: Writer, parameter: Parameter) -> list[Any]:
    words = [parameter.name, int(parameter.kind)]
    if parameter.default is not Parameter.empty:
        words.append(writer.value(parameter.default, f"the default value of `{parameter.name}`"))
    return words


def _parameter_of(reader: Reader, name: Any, kind: Any, *default: Any) -> Parameter:
    given = {"default": reader.value(*default)} if default else {}
    return Parameter(_identifier(name), _KINDS[kind], **given)


def _identifier(name: Any) -> str:
    """A name that may stand in Python as it is."""
    if not (type(name) is str and name.isidentifier()) or keyword.iskeyword(name):
        raise ValueError("no name")
    return name


def _tree(writer: Writer, tree: Tree) -> Any:
    match tree:
        case Static():
            return None
        case Leaf(kind=kind, cls=cls) if cls is not None:
            return ["of class", _SCALARS[kind], writer.name(cls, "the class")]
        case Leaf(kind=kind, shape=shape, element=element):
            return _SCALARS.get(kind) or [kind, element, *shape]
        case Node(kind=kind, children=children, keys=keys, cls=cls, ordered=ordered, state=state):
            runs = [[len([*run]), _tree(writer, child)] for child, run in groupby(children)]
            named = None if cls is None else writer.name(cls, "the class")
            if kind in _KEEPING:
                state = writer.value(state, "what a container keeps beside its items")
            elif kind not in ("narrow", "chosen"):
                state = ordered or state == "any"  # of complex numbers
            return [kind, runs, [writer.value(key, "a key") for key in keys], named, state]


def _tree_of(reader: Reader, words: Any, statics: Iterator[Static]) -> Tree:
    if words is None:
        return next(statics, Static())
    if type(words) is str:
        return _LEAVES[words]
    kind, *rest = words
    if kind in ("array", "dyn"):
        element, *shape = rest
        if element not in ("real", "int", "bool") or not all([type(n) is int and n >= 0 for n in shape]):
            raise ValueError("no array")
        return Leaf(kind, tuple(shape), element)
    if kind == "of class":
        letter, cls = rest
        return replace(_LEAVES[letter], cls=reader.named(cls, type))
    runs, keys, named, ordered = rest
    children: list[Tree] = []
    for count, child in runs:
        if count == 1 or _has_static(child):
            children += [_tree_of(reader, child, statics) for _ in range(count)]
        else:
            children += [_tree_of(reader, child, statics)] * count
    names = tuple([reader.value(key) for key in keys])
    cls = named if named is None else reader.named(named, type)
    if kind in _KEEPING:
        made = _node(kind, tuple(children), names, cls, kind == "derived dict")
        return replace(made, state=reader.value(ordered))
    return _node(kind, tuple(children), names, cls, ordered)


def _has_static(words: Any) -> bool:
    return words is None or (
        type(words) is list and type(words[1]) is list and any(_has_static(c) for _, c in words[1])
    )


def _node(kind: Any, children: tuple[Tree, ...], keys: tuple[Any, ...], cls: Any, ordered: Any) -> Node:
    """A structure of which names and class are what its kind has."""
    if kind == "none":
        return Node("none")
    known = _CLASSES[kind]
    if kind == "optional" and len(children) == len(("flag", "value")):
        return Node(kind, children)
    if kind == "chosen" and len(children) > 1 and isinstance(children[0], Leaf):
        return Node(kind, children, state=ordered)
    if known is NarrowValue:
        if len(children) != 1 or ordered not in HELD:
            raise ValueError("no dtype")
        return Node(kind, children, state=ordered)
    ordered = bool(ordered)
    if known is complex:
        if len(children) != len(("real", "imag")):
            raise ValueError("no complex number")
        return Node(kind, children, state="any" if ordered else None)
    wrong = not issubclass(known if cls is None else cls, known) or (
        cls is None and (kind in ("namedtuple", "dataclass") or kind.startswith("derived"))
    )
    named = kind in ("dict", "dataclass", "derived dict")
    if wrong or (named and len(keys) != len(children)) or (kind == "namedtuple" and not hasattr(cls, "_make")):
        raise ValueError("no structure")
    if kind == "dataclass":
        keys = tuple(map(_identifier, keys))
    return Node(kind, children, keys, cls, ordered)


# --- values that it is bound to


def _static_keys(trees: Any) -> Iterator[Any]:
    for tree in trees:
        if isinstance(tree, Static):
            yield tree.key
        elif isinstance(tree, Node):
            yield from _static_keys(tree.children)


def _static(writer: Writer, key: Any, value: Any) -> Any:
    """A static argument; raises StagingTypeError where it is not what it was when the function was lowered."""
    is_default = type(key) in host_scalars.HOST_INTS and value == int(key)
    if value is not key and not is_default and not _same(value, key):
        raise StagingTypeError(
            f"`{writer.title}` cannot be saved: a static argument, {type(value).__name__}, has been changed",
            help="lower the function again: what is saved is what was lowered",
        )
    return writer.value(value, "a static argument")


def _key(value: Any) -> Any:
    """What a static argument is compared with."""
    return value if type(value) in (*_ATOMS, host_scalars.Bound) else reachable_state.structural_key(value)


def _same(given: Any, key: Any) -> bool:
    if type(key) in _ATOMS:
        return type(given) is type(key) and given == key
    return key.fits(given)


def _array_kind(array: Any) -> str:
    return {"f": "real", "i": "int", "b": "bool"}[np.asarray(array).dtype.kind]


_DTYPES: dict[Any, str] = {"real": "float64", "int": "int64", "bool": "bool"}


def _captured(words: Any, data: memoryview) -> Iterator[Read]:
    """Arrays from outside, handed in at each call."""
    at = 0
    for kind, shape in words:
        dtype = np.dtype(_DTYPES[kind])
        count = 1
        for n in shape:
            count *= n
        numpy: Any = np  # its stubs for `frombuffer` want a newer Python than ours
        array = numpy.frombuffer(bytes(data[at : at + count * dtype.itemsize]), dtype).reshape(shape)
        at += count * dtype.itemsize
        yield Read("{0}", (array if shape else array.item(),), tree=leaf_of(tuple(shape), kind))
    if at != len(data):
        raise ValueError("not the description of a program")


# --- host functions


def _host(writer: Writer, host: Any) -> Any:
    """What a host function is made of again."""
    found = vars(host)
    if "routine" in found:
        return {"routine": found["routine"]}
    signature: HostSignature = found["signature"]
    what = "what it gives to a function of Python"
    words = {
        "trees": [_tree(writer, tree) for tree in signature.trees],
        "result": _tree(writer, signature.result),
        "statics": [writer.value(value, what) for value in signature.statics],
        "forms": signature.forms,
        "raises": signature.raises,
        "span": signature.span and cache_format.place_words(signature.span),
    }
    if "opaque" in found:
        function, dims = found["opaque"]
        return {"opaque": [writer.name(function, "the opaque function"), dims], **words}
    if "printed" in found:
        return {
            "printed": [[name, writer.value(v, f"`{name}` of `print`")] for name, v in found["printed"].items()],
            **words,
        }
    return {"raised": writer.value(found["raised"], "an exception that it raises"), **words}


def _host_of(reader: Reader, words: Any) -> Callable[..., Any]:
    if "routine" in words:
        name, shapes = words["routine"]
        return host_routine(name, tuple([tuple(map(int, shape)) for shape in shapes]))
    statics = tuple([reader.value(value) for value in words["statics"]])
    kept = iter([Static(value) for value in statics])
    trees = tuple([_tree_of(reader, tree, kept) for tree in words["trees"]])
    forms = tuple([(k, tuple([i if type(i) is str else tuple(i) for i in form])) for k, form in words["forms"]])
    signature = HostSignature(
        trees, _tree_of(reader, words["result"], kept), statics, "printed" in words, forms, words["raises"],
        words["span"] and Span(*words["span"]),
    )  # fmt: skip
    if "opaque" in words:
        name, dims = words["opaque"]
        found = reader.named(name)
        made = found if hasattr(found, "__rose_stage__") else decorators.opaque(found)
        return opaque_functions.caller_of(made.__wrapped__, made.binding, signature, dims)
    if "printed" in words:
        return print_.printer(signature, {name: reader.value(value) for name, value in words["printed"]})
    return print_.raiser(signature, reader.exception(words["raised"]))
