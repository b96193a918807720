"""A function as plain lines, for the messages of the verifier; `rosejit.text` prints programs, and needs valid ones."""

from collections.abc import Iterator

from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Atom, Block, Function, Let, Var, assert_never
from rosejit.ir.traversal import operands, scopes
from rosejit.ir.types import Array, Nominal, Ref, Scalar, Sum, Type, fields_of

Line = tuple[int, Let | None, str]


def type_text(t: Type) -> str:
    """`t` as it is written in programs."""
    match t:
        case Scalar() | Nominal():
            return repr(t)
        case Array(length=length, element=element):
            return f"[{'*' if length is None else length}]{type_text(element)}"
        case Sum(left=left, right=right):
            return f"({type_text(left)}|{type_text(right)})"
        case Ref(target=target):
            return f"&{type_text(target)}"
        case _:
            return f"({', '.join(type_text(field) for field in fields_of(t))})"


class Dump:
    """Names variables by hint and order of sight."""

    def __init__(self) -> None:
        self._names: dict[Var, str] = {}
        self._used: dict[str, int] = {}

    def name(self, atom: Atom) -> str:
        """What `atom` is called here."""
        if not isinstance(atom, Var):
            return repr(atom.value)
        if atom not in self._names:
            number = self._used[atom.hint] = self._used.get(atom.hint, -1) + 1
            self._names[atom] = f"{atom.hint}.{number}" if number else atom.hint
        return self._names[atom]

    def names(self, atoms: tuple[Atom, ...]) -> str:
        """What `atoms` are called, with commas."""
        return ", ".join([self.name(a) for a in atoms])

    def binders(self, variables: tuple[Var, ...]) -> str:
        """What `variables` are called, with their types."""
        return ", ".join([f"{self.name(v)}: {type_text(v.type)}" for v in variables])

    def lines(self, block: Block, depth: int = 1) -> Iterator[Line]:
        """Depth, let and text of every line of `block`."""
        for let in block.lets:
            yield depth, let, f"let {self.binders(let.binders)} = {self._head(let)}"
            for number, (bound, inner) in enumerate(scopes(let.expr)):
                yield depth, None, f"block {number} ({self.binders(bound)})"
                yield from self.lines(inner, depth + 1)
        yield depth, None, f"result {self.names(block.results)}"

    def _head(self, let: Let) -> str:
        e = let.expr
        word = type(e).__name__
        match e:
            case ir.Apply(op=op):
                word = op.name
            case ir.Call(function=function):
                word += f" {function.name}"
            case ir.Index(path=path) | ir.Update(path=path) | ir.View(path=path):
                word += f" (path of {len(path)})"
            case ir.Loop(carries=carries, inits=inits) | ir.While(carries=carries, inits=inits):
                word += f" ({self.binders(carries)} from {self.names(inits)})"
            case ir.Case(scrutinees=scrutinees):
                word += f" of {self.names(scrutinees)}"
            case (
                ir.If()
                | ir.MakeTuple()
                | ir.Untuple()
                | ir.MakeArray()
                | ir.Inject()
                | ir.Extract()
                | ir.Copy()
                | ir.Zero()
            ):
                pass
            case ir.Accum() | ir.Add() | ir.Resolve() | ir.Check():
                pass
            case _:
                assert_never(e)
        return f"{word}({self.names(operands(e))})"


def dump(f: Function, at: Let | None = None, note: str = "", around: int = 30) -> str:
    """The lines of `f` near the let `at`, with `note` under it."""
    names = Dump()
    own = "".join([f" own {p.hint}" for p in f.own])
    results = ", ".join([type_text(t) for t in f.results])
    lines = [] if f.body is None else list(names.lines(f.body))
    place = next((number for number, (_, let, _) in enumerate(lines) if let is not None and let is at), len(lines))
    near = slice(max(0, place - around), place + around)
    shown = [f"  {'  ' * depth}{text}" for depth, _, text in lines[near]]
    if place < len(lines):
        shown.insert(place - near.start + 1, f"  {'  ' * lines[place][0]}^ {note}")
    return "\n".join([f"  def {f.name}({names.binders(f.params)}): {results}{own}", *shown])
