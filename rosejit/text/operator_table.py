"""Which operation an operator or a name of a primitive means, and what literals mean."""

from collections.abc import Iterator

from rosejit.ir.syntax import FALSE, TRUE, Apply, Atom, Lit
from rosejit.ir.types import INT, REAL, TAN
from rosejit.ops import OPERATORS, PRIMITIVES
from rosejit.text.identifiers import real_of_bits
from rosejit.text.lexer import Cursor, Token
from rosejit.text.name_scope import Made, fit

_LEVELS = (
    ("or",),
    ("xor",),
    ("and",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "//", "%"),
    tuple(sorted({symbol for symbol, types in OPERATORS if len(types) == 2})),
)
PRECEDENCE = {symbol: level for level, symbols in reversed(list(enumerate(_LEVELS))) for symbol in symbols}
UNARY = frozenset(symbol for symbol, types in OPERATORS if len(types) == 1)


def operation(c: Cursor, token: Token, args: tuple[Atom, ...]) -> Made:
    """The operator at `token`, by the types of its operands."""
    for reading in _readings(args):
        op = OPERATORS.get((token.text, tuple([a.type for a in reading])))  # type: ignore[arg-type]  # others are not found
        if op is not None:
            return Made(Apply(op, reading), (op.result,))
    types = " and ".join([repr(a.type) for a in args])
    return c.fail(f"`{token.text}` does not take {types}", token)


def _readings(args: tuple[Atom, ...]) -> Iterator[tuple[Atom, ...]]:
    """`args`, first as they are, then with numbers read as Reals, then as Tans."""
    yield args
    yield tuple([fit(a, REAL) for a in args])
    yield tuple([fit(a, TAN) for a in args])


def primitive(c: Cursor, token: Token, args: tuple[Atom, ...]) -> Made:
    """The primitive that is named at `token`."""
    op = PRIMITIVES[token.text]
    if len(args) != len(op.params):
        c.fail(f"`{op.name}` takes {len(op.params)} operands, given {len(args)}", token)
    return Made(Apply(op, tuple([fit(a, t) for a, t in zip(args, op.params, strict=True)])), (op.result,))


def starts_literal(c: Cursor) -> bool:
    """Whether a literal comes next, perhaps a negative one."""
    at = c.at + 1 if c.sees("-") else c.at
    return c.tokens[at].kind in ("number", "inf", "nan", "inft", "nant") or c.sees("true", "false")


def literal(c: Cursor) -> Lit:
    """`literal ::= number | "-" number | "inf" | "nan" ["(" bits ")"] | "true" | "false"`."""
    if c.accept("true"):
        return TRUE
    if c.accept("false"):
        return FALSE
    negative = c.accept("-")
    token = c.token
    c.at += 1
    text = token.text
    if text == "nan" and c.accept("("):
        value = real_of_bits(int(c.take("number").text, 16))
        c.take(")")
        return Lit(value, REAL)
    if text.isdigit():
        return Lit(-int(text) if negative else int(text), INT)
    tan = text.endswith("t")
    value = float(text.removesuffix("t"))
    return Lit(-value if negative else value, TAN if tan else REAL)
