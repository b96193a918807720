"""Reads types and the heads of functions."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from rosejit.ir.syntax import Function, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Array, Nominal, Ref, Sum, Tuple, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.text.lexer import Cursor, Token

SCALARS: dict[str, Type] = {"Bool": BOOL, "Int": INT, "Real": REAL, "Tan": TAN}

Hosts = Mapping[str, Callable[..., Any]]
"""Host functions by name."""


@dataclass(slots=True)
class TypeNames:
    """`generics`: what the generic names of one instance stand for."""

    nominals: dict[str, Nominal]
    generics: dict[str, int | Type] = field(default_factory=dict[str, "int | Type"])


def read_type(c: Cursor, names: TypeNames) -> Type:
    """`type ::= simple {"|" simple}`."""
    t = _simple(c, names)
    return Sum(t, read_type(c, names)) if c.accept("|") else t


def _simple(c: Cursor, names: TypeNames) -> Type:
    """`simple ::= "&" simple | "[" length "]" simple | "(" types ")" | int | name | "D." name | "E." name`."""
    token = c.token
    if c.accept("&"):
        return Ref(_simple(c, names))
    if c.accept("["):
        length = None if c.accept("*") else read_length(c, names)
        c.take("]")
        return Array(length, _simple(c, names))
    if c.accept("("):
        return _tuple(c, names)
    if c.sees("number"):  # the paper's type of the indices below a number
        read_length(c, names)
        return INT
    c.take("name")
    if token.text in ("D", "E") and c.accept("."):
        inner = _simple(c, names)
        if not isinstance(inner, Nominal):
            c.fail("`D.` and `E.` are for types that are declared", token)
        return inner.tangent if token.text == "D" else inner.erased
    return _named(c, names, token)


def _named(c: Cursor, names: TypeNames, token: Token) -> Type:
    meant = names.generics.get(token.text)
    if meant is not None:
        return INT if isinstance(meant, int) else meant
    known = SCALARS.get(token.text) or names.nominals.get(token.text)
    return known if known is not None else c.fail(f"there is no type `{token.text}`", token)


def _tuple(c: Cursor, names: TypeNames) -> Type:
    """`types ::= | "," | type | type "," | type "," type {"," type}`: nothing is `()`, a comma makes a tuple."""
    if c.accept(")"):
        return UNIT
    fields: list[Type] = []
    comma = c.accept(",")
    while not c.sees(")"):
        fields.append(read_type(c, names))
        comma = c.accept(",")
        if not comma:
            break
    c.take(")")
    return fields[0] if len(fields) == 1 and not comma else Tuple(tuple(fields))


def read_length(c: Cursor, names: TypeNames) -> int:
    """A length: a number, or a generic name that stands for one."""
    token = c.token
    if c.accept("name"):
        length = names.generics.get(token.text)
        return length if isinstance(length, int) else c.fail(f"`{token.text}` is no length", token)
    c.take("number")
    return int(token.text) if token.text.isdigit() else c.fail("a length is a whole number", token)


def read_argument(c: Cursor, names: TypeNames) -> int | Type:
    """What a generic name of a call stands for: a length or a type."""
    if c.sees("number") or isinstance(names.generics.get(c.token.text), int):
        return read_length(c, names)
    return read_type(c, names)


def declare(c: Cursor, names: TypeNames) -> None:
    """Make the name of a declared type known, so that the declarations may name each other."""
    token = c.tokens[c.at + 1]
    if token.text in SCALARS or token.text in names.nominals:
        c.fail(f"two types are called `{token.text}`", token)
    names.nominals[token.text] = Nominal(token.text)


def read_nominal(c: Cursor, names: TypeNames) -> None:
    """`declaration ::= "type" name ["=" "(" types ")"]`."""
    c.take("type")
    nominal = names.nominals[c.take("name").text]
    if c.accept("="):
        token = c.take("(")
        t = _tuple(c, names)
        if t is UNIT:
            t = Tuple(())
        nominal.fields = t.items if isinstance(t, Tuple) else c.fail("a declared type is a tuple: `(T,)`", token)


# --- functions


@dataclass(slots=True)
class Head:
    """A function before its body, with its parameters and its custom derivative by name."""

    function: Function
    params: dict[str, Var]
    rule: Token | None = None


def read_head(c: Cursor, names: TypeNames, hosts: Hosts) -> Head:
    """`head ::= ["checkpoint"] ["host"] "def" name "(" [params] ")" [":" types] ["rule" name]`, without generics."""
    checkpoint, host = c.accept("checkpoint"), c.accept("host")
    c.take("def")
    name = c.take("name").text
    if c.sees("<"):
        while not c.accept(">"):
            c.at += 1
    head = Head(Function(name, (), (), checkpoint=checkpoint), {})
    c.take("(")
    own = _params(c, names, head)
    results: list[Type] = []
    if c.accept(":"):
        results.append(read_type(c, names))
        while c.accept(","):
            results.append(read_type(c, names))
    if c.accept("rule"):
        head.rule = c.take("name")
    f = head.function
    f.params, f.results, f.own = tuple(head.params.values()), tuple(results), frozenset(own)
    if host:
        f.host = hosts.get(name) or _absent(name)
    return head


def _params(c: Cursor, names: TypeNames, head: Head) -> list[Var]:
    """`params ::= ["own"] binder {"," ["own"] binder}`; gives the owned ones."""
    own: list[Var] = []
    while not c.accept(")"):
        owned = c.accept("own")
        token = c.take("name")
        if token.text in head.params:
            c.fail(f"two parameters are called `{token.text}`", token)
        c.take(":")
        var = head.params[token.text] = Var(read_type(c, names), token.text)
        if c.accept("like"):
            var.like = head.params.get(c.token.text) or c.fail("no parameter before has this name")
            c.take("name")
        if owned:
            own.append(var)
        if not c.sees(")"):
            c.take(",")
    return own


def _absent(name: str) -> Callable[..., Any]:
    def absent(*args: object) -> object:
        raise LookupError(f"the program was parsed without a host function `{name}`")

    return absent


def read_generics(c: Cursor) -> list[str]:
    """`generics ::= "<" name ":" kind {"," name ":" kind} ">"`, behind the name of a function."""
    found: list[str] = []
    c.take("<")
    while not c.accept(">"):
        name = c.take("name").text
        c.take(":")
        kind = c.take("name")
        if kind.text not in ("Type", "Value", "Index"):
            c.fail("a kind is `Type`, `Value` or `Index`", kind)
        found.append(name)
        if not c.sees(">"):
            c.take(",")
    return found
