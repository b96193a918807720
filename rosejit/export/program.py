"""Functions and examples to one compiled module, with what the files around it say of each entry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, cleandoc
from typing import Any

from rosejit import collector
from rosejit.abi import Artifact, Entry, Leaf, Node, Static, Tree
from rosejit.api import sessions
from rosejit.api.calling.specialisation import Staged, holds_conjugate, holds_narrow, open_lengths, with_host_values
from rosejit.api.decorators import as_function
from rosejit.api.function import Function
from rosejit.codegen.program.compile import compile_program
from rosejit.errors import StagingTypeError
from rosejit.export.example_arguments import completed
from rosejit.export.js_math import with_page_functions
from rosejit.export.list_views import listed
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.lengths import Length
from rosejit.ir.traversal import reachable, require_bound
from rosejit.ir.types import BOOL, INT, REAL, Array, Scalar, array
from rosejit.lazy_dataclass import dataclass
from rosejit.made_anew import plain
from rosejit.transforms.passes.insert_copies import insert_copies
from rosejit.transforms.passes.lengths_to_variables import with_open_lengths
from rosejit.transforms.passes.sincos import fuse_sincos
from rosejit.transforms.pipeline import optimise


@dataclass(slots=True, frozen=True)
class Exported:
    """A function that the page calls: its name there, the name of its entry, and what it takes and gives."""

    name: str
    entry: str
    parameters: Sequence[Parameter]
    trees: Sequence[Tree]
    result: Tree
    doc: str
    lengths: tuple[str, ...] = ()
    """The names of its open lengths: its entry takes an Int for each behind all else."""

    @property
    def given_parameters(self) -> list[Parameter]:
        """The parameters that the page gives: what Python keeps is settled in the module."""
        pairs = zip(self.parameters, self.trees, strict=True)
        return [parameter for parameter, tree in pairs if not isinstance(tree, Static)]

    @property
    def rest(self) -> Parameter | None:
        """A last parameter `*args`; with others behind it, it is one array."""
        last = self.given_parameters[-1:]
        return last[0] if last and last[0].kind is Parameter.VAR_POSITIONAL else None


@dataclass(slots=True, frozen=True)
class Bundle:
    """A compiled program and the functions that it exports; `hosts` are what it imports, in order."""

    functions: tuple[Exported, ...]
    artifact: Artifact
    hosts: tuple[Callable[..., Any], ...]


def bundle(given: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]], math: str) -> Bundle:
    """The program of functions by name, each with its examples."""
    functions: list[Exported] = []
    roots: dict[str, ir.Function] = {}
    with collector.paused():
        for k, (name, (f, examples)) in enumerate(given.items()):
            function = as_function(f)
            staged = _staged(function, completed(function, examples))
            staged.require_no_draws("an exported program")
            _require_plain(name, staged)
            roots[f"f{k}"] = f = _closed(staged)
            _require_flat(name, f)
            functions.append(_exported(name, f"f{k}", function, staged))
        require_bound(reachable(*roots.values()))
        optimised = optimise(*roots.values())
        if math == "js":
            optimised = with_page_functions(optimised)
        fuse_sincos(*optimised)
        artifact, hosts = compile_program(dict(zip(roots, optimised, strict=True)))
    made = [_for_pages(function, artifact.entries[function.entry]) for function in functions]
    entries = artifact.entries | {entry.name: entry for _, entry in made}
    return Bundle(tuple(function for function, _ in made), replace(artifact, entries=entries), hosts)


def _require_plain(name: str, staged: Staged) -> None:
    """Refuse what a page would read as something else (cotangents of complex numbers have another sign inside), and
    what it has not: NumPy."""
    if any(map(holds_narrow, (*staged.trees, staged.result))):
        raise StagingTypeError(
            f"`{name}` takes or gives numbers of few bits, which are not exported",
            help="give examples of float64, int64 or bool; the page converts what it has",
        )
    if any(hasattr(f.host, "routine") for f in reachable(staged.function)):
        raise StagingTypeError(
            f"`{name}` leaves products or factorisations of matrices to NumPy (`blas=True`), which no page has",
            staged.span,
            help="export it without `blas=True`: they are compiled into the module then",
        )
    if holds_conjugate(staged.result):
        raise StagingTypeError(
            f"`{name}` gives a gradient with respect to a complex number, which is not exported by itself",
            help="export a function of your own that returns it: `rose.jit(lambda z: rose.grad(f)(z))`",
        )


def _for_pages(function: Exported, entry: Entry) -> tuple[Exported, Entry]:
    """A function whose lists of structures are such for the page, and its entry."""
    given, params = listed(Node("tuple", tuple(function.trees)), entry.params)
    params += entry.params[len(entry.params) - len(function.lengths) :]
    result, results = listed(function.result, entry.results)
    assert isinstance(given, Node)
    return replace(function, trees=given.children, result=result), replace(entry, params=params, results=results)


def _staged(function: Function, examples: tuple[Any, ...]) -> Staged:
    if function.kind.python is not None:
        raise StagingTypeError(
            f"`{function.__name__}` is opaque: it stays Python and has no WebAssembly",
            help="export a function that calls it: the page then gives it to `load({ imports })`",
        )
    with sessions.session() as at:
        return function.specialised(examples, {}, at)[1].staged


def _closed(staged: Staged) -> ir.Function:
    """The function with the arrays that it captures as constants: what they hold now."""
    f, captures, lengths = with_open_lengths(staged.function), staged.source.captures, len(open_lengths(staged))
    if not captures:
        return f
    b = Builder(f.span)
    own = len(f.params) - len(captures) - lengths
    params = tuple(ir.Var(p.type, p.hint) for p in (*f.params[:own], *f.params[own + len(captures) :]))
    arrays = [_constant(b, capture.read()) for capture in captures]
    results = b.bind_all(ir.Call(f, (*params[:own], *arrays, *params[own:])), f.results)
    return insert_copies(ir.Function(f.name, params, f.results, b.block(*results), span=f.span))


def _require_flat(name: str, f: ir.Function) -> None:
    """Refuse results that have rows of open length: they lie apart, and a page reads what lies together."""
    for t in f.results:
        while isinstance(t, Array):
            t = t.element
            if isinstance(t, Array) and t.length is None:
                raise StagingTypeError(
                    f"`{name}` gives an array in which another length than the first is open",
                    f.span,
                    help="return the array transposed or summed, or export for one length: `rose.ShapeOf(10)`",
                )


def _with_names(tree: Tree) -> Tree:
    """A structure with the names of open lengths, as the files around the module take them."""
    if isinstance(tree, Leaf) and tree.shape and isinstance(tree.shape[0], Length):
        return Leaf("dyn", tree.shape[1:], tree.element, repr(tree.shape[0]))
    return replace(tree, children=tuple(map(_with_names, tree.children))) if isinstance(tree, Node) else tree


_TYPES: dict[str, Scalar] = {"f": REAL, "i": INT, "u": INT, "b": BOOL}


def _constant(b: Builder, data: Any) -> ir.Var:
    """A NumPy array as one of the IR."""
    kind = _TYPES[data.dtype.kind]
    if not data.size:
        return b.bind(ir.Zero(), array(data.shape, kind))
    if data.ndim == 1:
        items: tuple[ir.Atom, ...] = tuple(ir.Lit(value, kind) for value in data.tolist())
    else:
        items = tuple(_constant(b, row) for row in data)
    return b.bind(ir.MakeArray(items), array(data.shape, kind))


def _exported(name: str, entry: str, function: Function, staged: Staged) -> Exported:
    return Exported(
        name,
        entry,
        tuple(function.__signature__.parameters.values()),
        tuple(map(_with_names, staged.trees)),
        with_host_values(_with_names(staged.result), map(plain, staged.statics)),
        _documentation(function),
        open_lengths(staged),
    )


def _documentation(function: Function) -> str:
    """The docstring; of a function made of another, that one's under its own name."""
    text = cleandoc(function.__doc__ or "")
    return text if function.kind.source is not None or not text else f"`{function.__name__}`: {text}"
