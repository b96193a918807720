"""The signature of an entry to a Python function that checks arguments, runs the entry and gives its results.

The function is written for the signature and compiled, as dataclasses write `__init__`: the checks of an exact `float`
or of an array of the right shape are in line, everything else is in `convert.py`. What fits no type of the signature
raises `Mismatch`. The text of the function is in its attribute `__source__`.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter
from threading import get_ident
from types import CodeType
from typing import Any

from rosejit.abi import Artifact, Entry, Tree
from rosejit.lazy_dataclass import dataclass
from rosejit.runtime.handles import Handle, Tapes
from rosejit.runtime.interrupt import CALL_FILE
from rosejit.runtime.marshalling.convert import Mismatch
from rosejit.runtime.marshalling.dynamic_arrays import unsigned
from rosejit.runtime.marshalling.read_results import Results
from rosejit.runtime.marshalling.write_arguments import Arguments
from rosejit.runtime.marshalling.zero_copy_results import Lender, is_lendable, result
from rosejit.runtime.residency.instance_pool import Binder, Pool
from rosejit.runtime.residency.tiering import Code
from rosejit.runtime.traps import Outgrown, raise_fault

__all__ = ["Mismatch", "Read", "Signature", "entry_function"]

_PREFIX = "_rose_"  # what `$` stands for
_NOT_THERE = "($py_LookupError, $py_NameError, $py_AttributeError, $py_ValueError)"


@dataclass(slots=True, frozen=True)
class Read:
    """A value that staging read outside of the arguments, to be read again at each call.

    `expression` is Python with `{0}`, `{1}`, ... for `constants`: `Read("{0}['scale']", (f.__globals__,), 2.0)`. With a
    `tree` the value becomes a hidden argument; else it must still be the object `value`.
    """

    expression: str
    constants: tuple[Any, ...] = ()
    value: Any = None
    tree: Tree | None = None


def _same(value: Any, key: Any) -> bool:
    """Whether a static argument is what was staged, where that can be told without knowing what a key is."""
    return type(value) is type(key) and type(value) in (int, str, bytes, bool) and value == key


@dataclass(slots=True, frozen=True)
class Signature:
    """What the caller of an entry sees; `trees` has the tree of each parameter of `parameters`."""

    name: str
    parameters: Sequence[Parameter]
    trees: Sequence[Tree]
    result: Tree
    reads: Sequence[Read] = ()
    same: Callable[[Any, Any], bool] = _same
    """Compares a static argument with the key of its `Static`."""
    exact: frozenset[int] = frozenset()
    """The leaves of parameters, by number, whose kind the value has decided: an int does not fit a Real there."""
    qualname: str = ""
    own: frozenset[int] = frozenset()
    """The leaves that arrays alone fit, and no lists."""
    apart: Callable[[Mapping[str, Any]], None] | None = None
    """Raises where the arguments of these names hold an object twice that the program takes for two."""


def entry_function(
    artifact: Artifact, module: Code, tapes: Tapes, name: str, signature: Signature, outgrown: Outgrown
) -> Any:
    """The Python function for the entry `name`.

    Parameters of kind `handle` come first and by position. Results of kind `handle` come after the result, in a tuple.
    Where the result has arrays and no parameter is named so, `out=` takes arrays to write instead of fresh ones.
    """
    writer = _Writer(artifact.entries[name], signature)
    header, body = writer.header(), [*writer.reads(), *writer.checks()]
    if artifact.imports:
        body.append("$headroom()")
    if writer.handles or writer.made:
        body += writer.on_tape(tapes)
    else:
        body += writer.on_any_instance(Pool(module, writer.binder, artifact.recursive))
    scope = {
        "$fail": functools.partial(raise_fault, artifact, outgrown),
        "$headroom": functools.partial(_deep),
        **writer.scope,
    }
    return _compiled(signature, header, body, scope)


def _compiled(signature: Signature, header: str, body: list[str], scope: dict[str, Any]) -> Any:
    name = signature.name if signature.name.isidentifier() else "_call"
    text = f"def {name}{header}:\n" + "\n".join(f"    {line}" for line in body)
    text = text.replace("$", _PREFIX)
    names = {key.replace("$", _PREFIX): value for key, value in scope.items()}
    exec(_code(text, CALL_FILE.format(signature.name)), names)
    function: Any = names[name]
    function.__name__, function.__qualname__ = signature.name, signature.qualname or signature.name
    function.__source__ = text
    return function


@functools.lru_cache(256)
def _code(text: str, file: str) -> CodeType:
    """Functions of one form have one code."""
    return compile(text, file, "exec")


@dataclass(slots=True, frozen=True)
class _Name:
    """Stands for a default in a signature that is printed."""

    text: str

    def __repr__(self) -> str:
        return self.text


class _Writer:
    """The parts of the function, as lines; `scope` has what they name."""

    def __init__(self, entry: Entry, signature: Signature) -> None:
        self.signature = signature
        self.entry = entry
        self.handles = [slot for slot in entry.params if slot.kind == "handle"]
        self.made = [slot for slot in entry.results if slot.kind == "handle"]
        params, results = (iter([s for s in slots if s.kind != "handle"]) for slots in (entry.params, entry.results))
        self.arguments = Arguments(params, signature.same, signature.exact, signature.own)
        for parameter, tree in zip(signature.parameters, signature.trees, strict=True):
            self.arguments.take(tree, parameter.name)
        for k, read in enumerate(signature.reads):
            if read.tree is not None:
                self.arguments.take(read.tree, f"$c{k}")
        self.results = Results(signature.result, results)
        self.takes_out = bool(self.results.views) and all(p.name != "out" for p in signature.parameters)
        self.after = self.results.after(self.arguments.changing)
        assert next(params, None) is None, "the entry has more parameters than the signature"
        assert next(results, None) is None, "the entry has more results than the signature"
        self.writes = self.arguments.writes()
        addresses = {"ints"} if self.handles or self.made else set[str]()
        memories = sorted(self.arguments.memories | self.results.memories | addresses)
        self.binder = Binder(entry.name, tuple(memories), tuple(self.arguments.views), tuple(self.results.views))
        self.scope: dict[str, Any] = {**self.arguments.scope, **self.results.scope}

    def header(self) -> str:
        """The parameters as the user wrote them, defaults by name."""
        parameters = [Parameter(f"_handle{k}", Parameter.POSITIONAL_ONLY) for k in range(len(self.handles))]
        for parameter in self.signature.parameters:
            default = parameter.default
            if default is not Parameter.empty:
                default = _Name(f"$default_{parameter.name}")
                self.scope[default.text] = parameter.default
            parameters.append(parameter.replace(default=default, annotation=Parameter.empty))
        if self.takes_out:
            out = Parameter("out", Parameter.KEYWORD_ONLY, default=None)
            parameters = sorted([*parameters, out], key=lambda parameter: parameter.kind)
        return str(inspect.Signature(parameters))

    def reads(self) -> Iterator[str]:
        """Read again what staging has read: what is gone or another object means staging again."""
        if not self.signature.reads:
            return
        yield "try:"
        others: list[str] = []
        for k, read in enumerate(self.signature.reads):
            names = [f"$g{k}_{i}" for i in range(len(read.constants))]
            self.scope.update(zip(names, read.constants, strict=True))
            expression = read.expression.format(*names)
            if read.tree is not None:
                yield f"    $c{k} = {expression}"
            else:
                self.scope[f"$v{k}"] = read.value
                others.append(f"{expression} is not $v{k}")
        if others:
            yield f'    if {" or ".join(others)}: raise $Mismatch("another value")'
        yield f"except {_NOT_THERE}:"
        yield '    raise $Mismatch("a value is gone") from None'

    def checks(self) -> list[str]:
        """Whatever can be wrong with the arguments, before an instance is touched."""
        apart: list[str] = []
        if self.signature.apart is not None:
            self.scope["$apart"] = self.signature.apart
            names = [parameter.name for parameter in self.signature.parameters]
            apart.append(f"$apart({{{', '.join([f'{name!r}: {name}' for name in names])}}})")
        return [*self.arguments.checks, *apart, *(self.results.given() if self.takes_out else [])]

    def on_any_instance(self, pool: Pool) -> list[str]:
        """Take a free instance, or make one, and give it back if all went well."""
        self.scope |= {"$pool": pool, "$thread": get_ident, "$fresh": pool.fresh}
        lends = is_lendable(self.results.views)
        if lends:
            lender = Lender(sum([slot.bytes for slot in self.results.views]))
            self.scope |= {"$lend": lender.lend, "$lent": result}
        return [
            "$free = $pool.free[$thread()]" if pool.by_thread else "$free = $pool.free",
            "try:",
            "    $bound = $free.pop()",
            "except $py_IndexError:",
            "    $bound = None",
            "if $bound is None:",
            "    $bound = $fresh()",
            f"{self._unpacked()} = $bound",
            *self._running(lends),
            "if $loan is None: $free.append($bound)" if lends else "$free.append($bound)",
            "return $result",
        ]

    def on_tape(self, tapes: Tapes) -> list[str]:
        """Use the instance of the given handles, or one on which handles are made, alone."""
        self.scope |= {"$tapes": tapes, "$Handle": Handle, "$binder": self.binder, "$unsigned": unsigned}
        handles = [f"_handle{k}" for k in range(len(self.handles))]
        given = [f"$ints[{s.offset // 8}] = {h}.address" for s, h in zip(self.handles, handles, strict=True)]
        made = [f"$Handle($tape, $unsigned($instance, $ints[{s.offset // 8}]), {s.release!r})" for s in self.made]
        inside = [
            f"{self._unpacked()} = $tape.bound($binder)",
            *given,
            *self._running(),
            *([f"$result = ($result, {', '.join(made)})"] if made else []),
        ]
        return [
            f"$tape = $tapes.of({', '.join(handles)})" if handles else "$tape = $tapes.take()",
            "$outer = $tape.enter()",
            "try:",
            *(f"    {line}" for line in inside),
            "except $py_BaseException:",
            "    $tape.instance.usable = False",
            "    raise",
            "finally:",
            "    $tape.leave($outer)",
            *([] if handles else ["    $tapes.give($tape)"]),
            "return $result",
        ]

    def _unpacked(self) -> str:
        """The names of what the binder gives."""
        memories = [f"${memory}" for memory in self.binder.memories]
        ins = [f"$in{k}" for k in range(len(self.arguments.views))]
        outs = [f"${name}{k}" for name in ("view", "copy") for k in range(len(self.results.views))]
        return ", ".join(["$instance", "$run", "$trap", *memories, *ins, *outs])

    def _running(self, lends: bool = False) -> list[str]:
        """The lines from the writing of arguments to the reading of results, which stay where they are if `lends`."""
        writes = self.writes
        if self.arguments.ints:
            refused = ["except ($py_ValueError, $PackingError):", f"    $too_big({', '.join(self.arguments.ints)})"]
            writes = ["try:", *(f"    {line}" for line in writes), *refused]
        result = self.results.into_given(lends) if self.takes_out else self.results.fresh(lends)
        return [
            *writes,
            "$status = $run()",
            "if $status or $trap:",
            "    $fail($instance, $status)",
            *result,
            *self.after,
            *self.arguments.lent,
        ]


def _deep() -> None:
    _deeper()


def _deeper() -> None:
    """Nothing. That it can be called means that a callback can be: there a `RecursionError` would be lost."""
