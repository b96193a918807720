"""An IR function of scalars and small arrays into the Python function that does the same steps."""

import math
from collections.abc import Callable
from typing import Any

from rosejit.ir.facts import steps
from rosejit.ir.primitive import Emit, Primitive
from rosejit.ir.syntax import Apply, Atom, Block, Call, Expr, Function, If, Index, Lit, Loop, MakeArray, Var
from rosejit.ir.types import BOOL, REAL

_SAFE = {"+", "-", "*", "<", "<=", ">", ">=", "==", "!="}
"""Operators of Python that do on floats what IEEE 754 says and never raise."""


class _Writer:
    """The lines of a Python function in the making and the objects that it refers to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Var, str] = {}
        self.scope: dict[str, Any] = {"inf": math.inf, "nan": math.nan}

    def name(self, var: Var) -> str:
        return self.names.setdefault(var, f"v{len(self.names)}")

    def atom(self, a: Atom) -> str:
        return f"({a.value!r})" if isinstance(a, Lit) else self.names[a]

    def refer(self, name: str, target: Any) -> str:
        """A global name for `target`; equal names are numbered apart."""
        unique = name
        while self.scope.setdefault(unique, target) is not target:
            unique += "_"
        return unique

    def block(self, block: Block, indent: str) -> list[str]:
        """Write the lets and give the results."""
        for let in block.lets:
            self.let(let.binders, let.expr, indent)
        return [self.atom(a) for a in block.results]

    def nested(self, block: Block, targets: tuple[Var, ...], indent: str) -> None:
        results = self.block(block, indent)
        self.line(indent, f"{', '.join(map(self.name, targets))} = {', '.join(results)}" if results else "pass")

    def line(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)

    def let(self, binders: tuple[Var, ...], expr: Expr, indent: str) -> None:
        deeper = indent + " "
        match expr:
            case If(condition=condition, then=then, orelse=orelse):
                self.line(indent, f"if {self.atom(condition)}:")
                self.nested(then, binders, deeper)
                self.line(indent, "else:")
                self.nested(orelse, binders, deeper)
            case Loop(trips=trips, index=index, carries=carries, inits=inits, scans=(), body=body, down=False):
                self.line(indent, f"{', '.join(map(self.name, carries))} = {', '.join(map(self.atom, inits))}")
                self.line(indent, f"for {self.name(index)} in range({self.atom(trips)}):")
                self.nested(body, carries, deeper)
                self.line(indent, f"{', '.join(map(self.name, binders))} = {', '.join(map(self.name, carries))}")
            case _:
                text = self.expression(expr)
                self.line(indent, f"{', '.join(map(self.name, binders))} = {text}")

    def expression(self, expr: Expr) -> str:
        match expr:
            case Apply(op=op, args=args):
                return self.application(op, [self.atom(a) for a in args])
            case Call(function=function, args=args):
                target = self.refer(function.name, python_function(function))
                return f"{target}({', '.join(map(self.atom, args))})"
            case MakeArray(items=items):
                return f"({', '.join(map(self.atom, items))},)"
            case Index(base=base, path=path):
                return self.atom(base) + "".join(f"[{self.atom(i)}]" for i in steps(path))
            case _:
                raise AssertionError(f"a kernel has no {type(expr).__name__}")

    def application(self, op: Primitive, args: list[str]) -> str:
        if op.wasm == Emit("select"):
            return f"{args[1]} if {args[0]} else {args[2]}"
        if op.symbol in _SAFE and set(op.params) == {REAL}:
            return f"{args[0]} {op.symbol} {args[1]}" if len(args) == 2 else op.symbol + args[0]
        if op.symbol in ("and", "or") and op.result is BOOL:
            return f"{args[0]} {op.symbol} {args[1]}"
        return f"{self.refer('op_' + op.name, op.evaluate)}({', '.join(args)})"


_KEY = "python"


def python_function(f: Function) -> Callable[..., Any]:
    """`f` as a Python function: a number, or a tuple of several results."""
    if _KEY not in f.derived:
        writer = _Writer()
        params = [writer.name(p) for p in f.params]
        assert f.body is not None
        results = writer.block(f.body, " ")
        text = f"def {f.name}({', '.join(params)}):\n" + "\n".join(writer.lines) + f"\n return {', '.join(results)}\n"
        exec(compile(text, f"<kernel {f.name}>", "exec"), writer.scope)
        f.derived[_KEY] = writer.scope[f.name]
    return f.derived[_KEY]
