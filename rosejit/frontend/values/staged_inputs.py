"""Which inputs a staged number is computed from, and how each of them becomes a host value: words for errors."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from inspect import Parameter
from typing import Any

from rosejit.abi import Leaf, Node, Tree
from rosejit.containers import COMPLEX, NARROW, of_node
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Var
from rosejit.ir.traversal import captures, operands
from rosejit.lazy_dataclass import dataclass

_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_A_LAMBDA = "a lambda that closes over it"
_KINDS = {"real": "float", "int": "int", "bool": "bool"}


@dataclass(slots=True, frozen=True)
class Input:
    """A leaf of an argument, or the index of a staged loop: `path` is what users write for it."""

    path: str
    argument: str = ""
    """The parameter that it is in; empty for an index."""
    hint: str = ""
    """What hints it as a host value; empty where that is not a number's."""
    record: str = ""
    """The class whose field it is."""
    closed_over: str = _A_LAMBDA
    """A function of the other parameters."""

    def kept(self) -> str:
        """The edit that makes it a host value."""
        or_pass = f", or pass {self.closed_over}" if self.closed_over else ""
        by_name = f"name `{self.argument}` in `static_argnames` of `rose.jit`{or_pass}"
        if not self.argument:
            return "let Python run the loop: `range` for `rose.range`, with a count that it knows"
        if not self.hint:
            return f"make `{self.argument}` known to Python: {by_name}"
        where = f" in `{self.record}`" if self.record else ""
        return f"make `{self.path}` known to Python: hint it{where} as `{self.hint}`, {by_name}"


def inputs_of(tape: Tape, atoms: Sequence[Atom]) -> tuple[list[Input], bool]:
    """The inputs that atoms are computed from, and whether arrays from outside are among them."""
    made = {binder: let for frame in tape.frames for let in (*frame.lets, *tape.lets) for binder in let.binders}
    arguments = {var: found for member in tape.session.cycles.members() for var, found in _arguments(member)}
    pending, seen = list[Atom](atoms), set[Atom]()
    inputs, reads_arrays = list[Input](), False
    outside = {var for _, var in tape.session.opened.captured.values()}
    while pending:
        atom = pending.pop()
        if not isinstance(atom, Var) or atom in seen:
            continue
        seen.add(atom)
        if atom in made:
            pending += [*operands(made[atom].expr), *captures(made[atom].expr)]
        elif atom in outside:
            reads_arrays = True
        elif atom in arguments or atom.hint:
            inputs.append(arguments.get(atom) or Input(atom.hint))
    return inputs, reads_arrays


def to_know(tape: Tape, *atoms: Atom) -> str:
    """The edit that makes staged numbers such that Python knows."""
    inputs, _ = inputs_of(tape, atoms)
    arguments = [each for each in inputs if each.argument]
    if len(inputs) == 1 or len(arguments) == 1:
        return (arguments or inputs)[0].kept()
    several = " and ".join([f"`{each.path}`" for each in arguments[:2]])
    of = f"what it is computed from, {several}," if several else "what it is computed from"
    return f"make {of} known to Python: hint that `rose.Static[...]`, or close over it with a lambda"


def _closed_over(member: Any, argument: str) -> str:
    """`lambda x: f(x, n)`, for the argument `n` of `f`; nothing where `f` is decorated: its arguments are staged."""
    name, kept = member.python.__name__, [each.name for each in member.signature.parameters]
    found = member.python.__globals__.get(name)
    if hasattr(type(found), "__rose_stage__"):
        return ""
    if found is not member.python or any([each.kind not in _BY_PLACE for each in member.signature.parameters]):
        return _A_LAMBDA
    others = ", ".join([each for each in kept if each != argument])
    return f"`lambda{' ' * bool(others)}{others}: {name}({', '.join(kept)})`, which closes over it"


def _arguments(member: Any) -> Iterator[tuple[Var, Input]]:
    """The parameters of a function that is being staged, and which leaves they are."""
    found = [
        replace(each, closed_over=_closed_over(member, parameter.name))
        for parameter, tree in zip(member.signature.parameters, member.call.trees, strict=True)
        for each in _leaves(tree, parameter.name, parameter.name, "")
    ]
    return zip(member.function.params, found, strict=False)


def _leaves(tree: Tree, path: str, argument: str, record: str) -> Iterator[Input]:
    if isinstance(tree, Leaf):
        name = path.rpartition(".")[2]
        kind = _KINDS.get(tree.kind, "")
        in_field = record or path == argument
        yield Input(path, argument, f"{name}: rose.Static[{kind}]" if kind and in_field else "", record)
    elif isinstance(tree, Node) and tree.kind in (COMPLEX.name, NARROW.name):
        for child in tree.children:
            yield from _leaves(child, path, argument, "")
    elif isinstance(tree, Node) and tree.kind != "none":
        kind = of_node(tree)
        keys = tree.keys or tuple(range(len(tree.children)))
        for key, child in zip(keys, tree.children, strict=True):
            step = kind.step(key)
            name = getattr(tree.cls, "__name__", "") if step.startswith(".") else ""
            yield from _leaves(child, path + step, argument, name)
