"""The signature of an entry to a Python function that checks arguments, runs the entry and gives its results.

The function is written for the signature and compiled, as dataclasses write `__init__`: the checks of an exact `float`
or of an array of the right shape are in line, everything else is in `convert.py`. What fits no type of the signature
raises `Mismatch`. The text of the function is in its attribute `__source__`.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from rosejit.abi import Artifact, Tree
from rosejit.runtime import convert
from rosejit.runtime.arguments import Arguments
from rosejit.runtime.backend import Instance, Module
from rosejit.runtime.convert import Mismatch
from rosejit.runtime.faults import raise_fault
from rosejit.runtime.interrupt import CALL_FILE
from rosejit.runtime.pool import Bound, Pool
from rosejit.runtime.results import Results
from rosejit.runtime.tape import Handle, Tapes

__all__ = ["Mismatch", "Read", "Signature", "entry_function"]

_PREFIX = "_rose_"  # what `$` stands for
_NOT_THERE = "(LookupError, NameError, AttributeError, ValueError)"


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
    qualname: str = field(default="")


def entry_function(artifact: Artifact, module: Module, tapes: Tapes, name: str, signature: Signature) -> Any:
    """The Python function for the entry `name`.

    Parameters of kind `handle` come first and by position. Results of kind `handle` come after the result, in a tuple.
    Where the result has arrays and no parameter is named so, `out=` takes arrays to write instead of fresh ones.
    """
    return _Writer(artifact, module, tapes, name, signature).function()


@dataclass(slots=True, frozen=True)
class _Name:
    """Stands for a default in a signature that is printed."""

    text: str

    def __repr__(self) -> str:
        return self.text


class _Writer:
    def __init__(self, artifact: Artifact, module: Module, tapes: Tapes, name: str, signature: Signature) -> None:
        entry = artifact.entries[name]
        self.artifact, self.signature, self.entry = artifact, signature, entry
        self.handles = [slot for slot in entry.params if slot.kind == "handle"]
        self.made = [slot for slot in entry.results if slot.kind == "handle"]
        self.on_tape = bool(self.handles or self.made)
        params, results = (iter([s for s in ss if s.kind != "handle"]) for ss in (entry.params, entry.results))
        self.arguments = Arguments(params, signature.same)
        self.captured: list[tuple[Read, str]] = [
            (read, f"$c{k}") for k, read in enumerate(signature.reads) if read.tree is not None
        ]
        for parameter, tree in zip(signature.parameters, signature.trees, strict=True):
            self.arguments.take(tree, parameter.name)
        for read, variable in self.captured:
            assert read.tree is not None
            self.arguments.take(read.tree, variable)
        self.results = Results(signature.result, results)
        assert next(params, None) is None, "the entry has more parameters than the signature"
        assert next(results, None) is None, "the entry has more results than the signature"
        named = {parameter.name for parameter in signature.parameters}
        self.takes_out = bool(self.results.views) and "out" not in named
        self.memories = sorted(
            self.arguments.memories | self.results.memories | ({"words"} if self.on_tape else set[str]())
        )
        self.given = self.results.given if self.takes_out else ""
        self.scope: dict[str, Any] = {**self.arguments.scope, **self.results.scope}
        self.scope |= {
            "$fail": functools.partial(raise_fault, artifact), "$outputs": self.results.outputs,
            "$too_big": convert.too_big, "$headroom": functools.partial(_deep), "$Handle": Handle,
            "$entry": name, "$bind": self.bind, "$tapes": tapes,
        }  # fmt: skip
        self.pool = Pool(module, self.bind, artifact.recursive)

    def bind(self, instance: Instance) -> Bound:
        """What the function needs of an instance, in the order in which it unpacks it."""
        views = [*self.arguments.views, *self.results.views]
        memories = [getattr(instance, name) for name in self.memories]
        arrays = [instance.array(slot.offset, slot.shape, slot.element) for slot in views]
        return (instance, instance.entry(self.entry.name), instance.trap, *memories, *arrays)

    def function(self) -> Callable[..., Any]:
        signature = self.signature
        lines = [*self.reads(), *self.arguments.checks]
        if self.takes_out:
            lines.append(f"$out = {self.given}")
        if self.artifact.imports:
            lines.append("$headroom()")
        lines += self.on_its_tape() if self.on_tape else self.on_any_instance()
        name = signature.name if signature.name.isidentifier() else "_call"
        text = f"def {name}{self.header()}:\n" + "\n".join(f"    {line}" for line in lines)
        text = text.replace("$", _PREFIX)
        scope = {key.replace("$", _PREFIX): value for key, value in self.scope.items()}
        exec(compile(text, CALL_FILE.format(signature.name), "exec"), scope)
        made: Any = scope[name]
        made.__name__, made.__qualname__ = signature.name, signature.qualname or signature.name
        made.__source__ = text
        return made

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

    def reads(self) -> Iterable[str]:
        """Read again what staging has read: what is gone or another object means staging again."""
        if not self.signature.reads:
            return
        variables = {id(read): variable for read, variable in self.captured}
        yield "try:"
        for k, read in enumerate(self.signature.reads):
            names = [f"$g{k}_{i}" for i in range(len(read.constants))]
            self.scope.update(zip(names, read.constants, strict=True))
            expression = read.expression.format(*names)
            if read.tree is not None:
                yield f"    {variables[id(read)]} = {expression}"
            else:
                self.scope[f"$v{k}"] = read.value
                yield f'    if {expression} is not $v{k}: raise $Mismatch("another value")'
        yield f"except {_NOT_THERE}:"
        yield '    raise $Mismatch("a value is gone") from None'

    def unpacked(self) -> str:
        ins = [f"$in{k}" for k in range(len(self.arguments.views))]
        outs = [f"$view{k}" for k in range(len(self.results.views))]
        return ", ".join(["$instance", "$run", "$trap", *(f"${memory}" for memory in self.memories), *ins, *outs])

    def running(self) -> list[str]:
        """The lines from the writing of arguments to the reading of results."""
        lines = self.arguments.writes
        if self.arguments.ints:
            refused = f"    $too_big({', '.join(self.arguments.ints)})"
            lines = ["try:", *(f"    {line}" for line in lines), "except (ValueError, OverflowError):", refused]
        lines = [*lines, "$status = $run()", "if $status or $trap[0]:", "    $fail($instance, $status)"]
        if self.takes_out:
            value = f"{self.results.expression} if $out is None else {self.results.into_given}"
        else:
            value = self.results.expression
        return [*lines, f"$result = {value}"]

    def on_any_instance(self) -> list[str]:
        if self.artifact.recursive:
            self.scope["$local"] = self.pool.place
            take, pop, push = ["$free = $local.free"], "$free.pop", "$free.append"
        else:
            free = self.pool.place.free
            self.scope |= {"$pop": free.pop, "$push": free.append}
            take, pop, push = [], "$pop", "$push"
        self.scope["$fresh"] = self.pool.fresh
        return [
            *take,
            "try:",
            f"    $bound = {pop}()",
            "except IndexError:",
            "    $bound = $fresh()",
            f"{self.unpacked()} = $bound",
            *self.running(),
            f"{push}($bound)",
            "return $result",
        ]

    def on_its_tape(self) -> list[str]:
        given = [f"$words[{slot.offset // 4}] = _handle{k}.address" for k, slot in enumerate(self.handles)]
        made = [f"$Handle($tape, $words[{s.offset // 4}], {s.release!r})" for s in self.made]
        results = [f"$result = ($result, {', '.join(made)})"] if made else []
        take = [f"$tape = $tapes.of({', '.join(f'_handle{k}' for k in range(len(self.handles)))})"]
        inside = [f"{self.unpacked()} = $tape.bound($entry, $bind)", *given, *self.running(), *results]
        return [
            *(take if self.handles else ["$tape = $tapes.take()"]),
            "$outer = $tape.enter()",
            "try:",
            *(f"    {line}" for line in inside),
            "except BaseException:",
            "    $tape.instance.usable = False",
            "    raise",
            "finally:",
            "    $tape.leave($outer)",
            *([] if self.handles else ["    $tapes.give($tape)"]),
            "return $result",
        ]


def _deep() -> None:
    _deeper()


def _deeper() -> None:
    """Nothing. That it can be called means that a callback can be: there a `RecursionError` would be lost."""
