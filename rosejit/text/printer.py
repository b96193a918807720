"""Turns functions into text that names everything anew: equal programs give equal text.

The text is the identity of a program, for golden tests and for the compile cache: this is on the way of every call
that misses the memory cache, so lets are written by type of form, and what can be remembered is.
"""

import json
import os

from rosejit.errors import VerifyError
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import (
    Accum,
    Add,
    Apply,
    Atom,
    Block,
    Branch,
    Call,
    Case,
    Check,
    Control,
    Copy,
    Extract,
    Field,
    Function,
    If,
    Index,
    Inject,
    Let,
    Loop,
    MakeArray,
    MakeTuple,
    Path,
    Resolve,
    Simple,
    Untuple,
    Update,
    Var,
    View,
    While,
    Zero,
    assert_never,
)
from rosejit.ir.traversal import fails, reachable
from rosejit.ir.types import Array, Nominal, Ref, Scalar, Sum, Type, fields_of
from rosejit.ops import OPERATORS, PRIMITIVES
from rosejit.text.identifiers import KEYWORDS, TYPE_NAMES, clean, literal_text

INDENT = "  "


def show(*functions: Function, alone: bool = False, complete: bool = False) -> str:
    """`functions` and all they reach, callees first, as a text that `parse` reads; `alone`: nothing but `functions`.

    `complete` adds, as comments, what else can get into a compiled artifact: lines of failures and calls, names,
    exceptions. A digest of that text is a key for the artifact.
    """
    return _Printer(complete).program(list(functions) if alone else closure(functions))


def closure(roots: tuple[Function, ...]) -> list[Function]:
    """`roots`, what they call, and the rules of all these, callees before callers where there is no cycle."""
    seeds = list(roots)
    while True:
        found = dict.fromkeys(reachable(*seeds))
        rules = [f.rule for f in found if f.rule is not None and f.rule not in found]
        if not rules:
            return list(found)
        seeds = [*dict.fromkeys(rules), *seeds]


class _Bound(dict[Atom, str]):
    """The names of variables, by variable."""

    def __missing__(self, v: Atom) -> str:
        raise VerifyError(f"`{v.hint if isinstance(v, Var) else v}` is read, but not in scope")


class _Names:
    """Gives out every name once: the hint, then hint1, hint2, ..."""

    __slots__ = ("last", "taken")

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = set(taken)
        self.last: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        number = self.last.get(hint)
        if number is None:
            name = clean(hint)
            if name != hint:
                return self.fresh(name)
            if name not in self.taken:
                self.last[hint] = 0
                self.taken.add(name)
                return name
            number = 0
        number += 1
        while (name := f"{hint}{number}") in self.taken:
            number += 1
        self.last[hint] = number
        self.taken.add(name)
        return name


class _Printer:
    def __init__(self, complete: bool) -> None:
        self.complete = complete
        self.function_names = _Names(KEYWORDS | frozenset(PRIMITIVES))
        self.type_names = _Names(KEYWORDS | TYPE_NAMES)
        self.functions: dict[Function, str] = {}
        self.nominals: dict[Nominal, str] = {}
        self.types: dict[int, tuple[Type, str]] = {}  # by identity; the type is kept alive
        self.styles: dict[Primitive, tuple[str, str, str]] = {}
        self.lines: list[str] = []
        self.local = _Names(KEYWORDS)
        self.names = _Bound()

    def program(self, functions: list[Function]) -> str:
        for f in functions:
            self._name(f)
        for f in functions:
            self._print_function(f)
        return "\n".join([*self._declarations(), *self.lines])

    # --- names and types

    def _name(self, f: Function) -> str:
        if f not in self.functions:
            self.functions[f] = self.function_names.fresh(f.name)
        return self.functions[f]

    def _type(self, t: Type) -> str:
        known = self.types.get(id(t))
        if known is None:
            known = self.types[id(t)] = (t, self._type_text(t))
        return known[1]

    def _type_text(self, t: Type) -> str:
        match t:
            case Scalar(name=name):
                return name
            case Array(length=length, element=element):
                return f"[{'*' if length is None else repr(length)}]{self._type(element)}"
            case Sum(left=left, right=right):
                return f"({self._type(left)}|{self._type(right)})"
            case Ref(target=target):
                return f"&{self._type(target)}"
            case Nominal():
                return self._nominal(t)
            case _:
                return self._fields(t)

    def _nominal(self, t: Nominal) -> str:
        if t.of is not None:
            return f"{t.map}.{self._nominal(t.of)}"
        if t not in self.nominals:
            self.nominals[t] = self.type_names.fresh(t.name)
        return self.nominals[t]

    def _fields(self, t: Type) -> str:
        texts = [self._type(field) for field in fields_of(t)]
        return f"({', '.join(texts)}{',' if len(texts) < 2 else ''})"

    def _declarations(self) -> list[str]:
        lines: list[str] = []
        done: set[Nominal] = set()
        while len(done) < len(self.nominals):  # fields name further types
            for t, name in list(self.nominals.items()):
                if t not in done:
                    done.add(t)
                    lines.append(f"type {name} = {self._fields(t)}" if t.defined else f"type {name}")
        return lines

    def _bind(self, v: Var) -> str:
        name = self.names[v] = self.local.fresh(v.hint)
        known = self.types.get(id(v.type))
        text = f"{name}: {self._type(v.type) if known is None else known[1]}"
        return text if v.like is None or v.like not in self.names else f"{text} like {self.names[v.like]}"

    def _binders(self, variables: tuple[Var, ...]) -> str:
        if len(variables) == 1:
            return self._bind(variables[0])
        return ", ".join([self._bind(v) for v in variables]) or "()"

    def _atom(self, a: Atom) -> str:
        return self.names[a] if type(a) is Var else literal_text(a)

    def _atoms(self, atoms: tuple[Atom, ...]) -> str:
        names = self.names
        return ", ".join([names[a] if type(a) is Var else self._atom(a) for a in atoms])

    # --- functions and blocks

    def _print_function(self, f: Function) -> None:
        self.local, self.names = _Names(KEYWORDS), _Bound()
        params = ", ".join([("own " if p in f.own else "") + self._bind(p) for p in f.params])
        results = ": " + ", ".join([self._type(t) for t in f.results]) if f.results else ""
        words = ("checkpoint " if f.checkpoint else "") + ("host " if f.host is not None else "")
        rule = f" rule {self._name(f.rule)}" if f.rule is not None else ""
        if self.complete:
            self.lines.append(f"-- {f.name!r} {f.span!r}")
        body = f.body
        equals = " =" if body is not None else ""
        self.lines.append(f"{words}def {self._name(f)}({params}){results}{rule}{equals}")
        if body is not None:
            self._block(body, INDENT)

    def _block(self, block: Block, pad: str) -> None:
        lines, names, styles, fresh = self.lines, self.names, self.styles, self.local.fresh
        for let in block.lets:
            e = let.expr
            if isinstance(e, Apply):
                v = let.binders[0]
                before, between, after = styles.get(e.op) or self._style(e.op)
                args = [names[a] if type(a) is Var else literal_text(a) for a in e.args]
                if not between and type(e.args[0]) is not Var:  # `-1.0` is a number
                    before, after = f": {self._type(v.type)} = {e.op.name}(", ") in"
                name = names[v] = fresh(v.hint)
                text = f"{pad}let {name}{before}{between.join(args)}{after}"
            elif isinstance(e, Control):
                text = self._nested(let, e, pad)
            else:
                text = self._expr(e)
                text = f"{pad}let {self._binders(let.binders)} = {text} in"
            lines.append(f"{text}{self._comment(let)}" if self.complete else text)
        if block.results:
            lines.append(f"{pad}{self._atoms(block.results)}")

    def _style(self, op: Primitive) -> tuple[str, str, str]:
        """What is written before, between and behind the operands, from the name of the result to the end."""
        head = f": {self._type(op.result)} = "
        if OPERATORS.get((op.symbol, op.params)) is not op:
            style = (f"{head}{op.name}(", ", ", ") in")
        elif len(op.params) == 1:
            style = (f"{head}{op.symbol} " if op.symbol.isidentifier() else head + op.symbol, "", " in")
        else:
            style = (head, f" {op.symbol} ", " in")
        self.styles[op] = style
        return style

    def _expr(self, e: Simple | Call) -> str:
        match e:
            case Apply():  # of most of a program, and written in `_block`
                raise AssertionError(e.op.name)
            case Index(base=base, path=path, checked=checked):
                return f"{self._atom(base)}{self._path(path, checked)}"
            case Add(place=place, value=value):
                return f"{self._atom(place)} += {self._atom(value)}"
            case View(place=place, path=path, checked=checked):
                return f"&{self._atom(place)}{self._path(path, checked)}"
            case Call(function=function, args=args):
                return f"{self._name(function)}({self._atoms(args)})"
            case Update(base=base, path=path, value=value, checked=checked):
                return f"update {self._atom(base)}{self._path(path, checked)} = {self._atom(value)}"
            case Zero(like=like):
                return "zero" if like is None else f"zero like {self._atom(like)}"
            case MakeTuple(items=items):
                return f"({self._atoms(items)}{',' if len(items) < 2 else ''})"
            case MakeArray(items=items):
                return f"[{self._atoms(items)}]"
            case Untuple(value=value):
                return f"untuple {self._atom(value)}"
            case Inject(side=side, value=value):
                return f"{'inr' if side else 'inl'} {self._atom(value)}"
            case Extract(side=side, value=value):
                return f"{'outr' if side else 'outl'} {self._atom(value)}"
            case Copy(value=value):
                return f"copy {self._atom(value)}"
            case Accum(value=value):
                return f"accum {self._atom(value)}"
            case Resolve(place=place):
                return f"resolve {self._atom(place)}"
            case Check(condition=condition, failure=failure, values=values):
                texts = [self._atom(condition), json.dumps(failure.kind), json.dumps(failure.message)]
                return "check " + ", ".join([*texts, *[self._atom(v) for v in values]])
            case _:
                return assert_never(e)

    def _path(self, path: Path, checked: bool) -> str:
        names = self.names
        steps = [
            names[step] if type(step) is Var else f".{step.number}" if isinstance(step, Field) else self._atom(step)
            for step in path
        ]
        return f"{'' if checked else '@'}[{', '.join(steps)}]"

    def _nested(self, let: Let, e: Control, pad: str) -> str:
        """All lines but the last, which is given."""
        deeper, line = pad + INDENT, f"{pad}let {self._binders(let.binders)} ="
        match e:
            case If(condition=condition, then=then, orelse=orelse):
                self.lines.append(f"{line} if {self._atom(condition)} {{")
                self._block(then, deeper)
                self.lines.append(f"{pad}}} {{")
                self._block(orelse, deeper)
            case Case(scrutinees=scrutinees, left=left, right=right):
                self.lines.append(f"{line} case {self._atoms(scrutinees)} {{ inl {self._payloads(left)} ->")
                self._block(left.block, deeper)
                self.lines.append(f"{pad}}} {{ inr {self._payloads(right)} ->")
                self._block(right.block, deeper)
            case Loop():
                self.lines.append(f"{line} {self._loop_head(e)}")
                self._block(e.body, deeper)
            case While(carries=carries, inits=inits, condition=condition, body=body):
                self.lines.append(f"{line} while{self._carries(carries, inits)} {{")
                self._block(condition, deeper)
                self.lines.append(f"{pad}}} {{")
                self._block(body, deeper)
            case _:
                assert_never(e)
        return f"{pad}}} in"

    def _payloads(self, branch: Branch) -> str:
        for p in branch.params:
            self._bind(p)
        return self._atoms(branch.params)

    def _carries(self, carries: tuple[Var, ...], inits: tuple[Atom, ...]) -> str:
        starts = [self._atom(a) for a in inits]
        texts = [f"{self._bind(c)} = {start}" for c, start in zip(carries, starts, strict=True)]
        return f" carry ({', '.join(texts)})" if texts else ""

    def _loop_head(self, e: Loop) -> str:
        trips = self._atom(e.trips)
        arrays = [self._atom(scan.array) for scan in e.scans]
        index = self.names[e.index] = self.local.fresh(e.index.hint)
        carries = self._carries(e.carries, e.inits)
        scans = [
            f"{self._bind(scan.param)} {'from' if scan.consumes else 'in'} {array}"
            for scan, array in zip(e.scans, arrays, strict=True)
        ]
        scanned = f" scan ({', '.join(scans)})" if scans else ""
        return f"loop {index} < {trips}{' down' if e.down else ''}{carries}{scanned} {{"

    def _comment(self, let: Let) -> str:
        """What the let adds to an artifact besides its text."""
        e = let.expr
        if isinstance(e, Check):
            return f" -- {e.failure.span!r} {e.failure.help!r} {_exception_text(e.failure.exception)}"
        return f" -- {let.span!r}" if isinstance(e, Call) or fails(e) else ""


def _exception_text(exception: object) -> str:
    """The identity of what a user raises; a text that never comes again where it cannot be told."""
    made = type(exception) if isinstance(exception, BaseException) else exception
    args = exception.args if isinstance(exception, BaseException) else ()
    if exception is None or (isinstance(made, type) and all(type(a) in (str, int, float, bool) for a in args)):
        return f"{getattr(made, '__module__', '')}.{getattr(made, '__qualname__', '')} {args!r}"
    return os.urandom(16).hex()
