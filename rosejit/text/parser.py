"""Turns text into functions: the grammar, and programs; `signatures` reads heads, `body` reads blocks.

::

    program  ::= {declaration | function}
    declaration ::= "type" name ["=" "(" types ")"]
    function ::= ["checkpoint"] ["host"] "def" name [generics] "(" [param {"," param}] ")" [":" types] ["rule" name]
                 ["=" block]                                        -- a host function has no block
    param    ::= ["own"] name ":" type ["like" name]
    generics ::= "<" name ":" kind {"," name ":" kind} ">"          kind ::= "Type" | "Value" | "Index"
    type     ::= simple {"|" simple}                                types ::= type {"," type}
    simple   ::= "()" | "Bool" | "Int" | "Real" | "Tan" | int | name | "D." simple | "E." simple
               | "&" simple | "[" (int | name | "*") "]" simple | "(" types [","] ")" | "(,)"
    block    ::= {"let" binders "=" expr "in"} [expr {"," expr}]
    binders  ::= "()" | binder {"," binder}                         binder ::= name [":" type] ["like" name]
    expr     ::= "if" expr "{" block "}" "{" block "}"
               | "case" expr {"," expr} "{" "inl" names "->" block "}" "{" "inr" names "->" block "}"
               | "loop" name "<" unary ["down"] [carries] [scans] "{" block "}"
               | "while" [carries] "{" block "}" "{" block "}"
               | "update" name path "=" expr | "zero" ["like" unary] | "check" expr "," text "," text {"," expr}
               | ("inl" | "inr" | "outl" | "outr" | "untuple" | "copy" | "accum" | "resolve") unary
               | "accum" name "from" unary "in" block             -- the paper's: what it held, the result of the block
               | binary ["+=" expr | "?" expr ":" expr]
    carries  ::= "carry" "(" binder "=" expr {"," binder "=" expr} ")"
    scans    ::= "scan" "(" binder ("in" | "from") expr {"," binder ("in" | "from") expr} ")"
    binary   ::= unary {operator unary}                             -- with the usual precedences
    unary    ::= operator unary | "fst" unary | "snd" unary | "&" ("fst" | "snd") unary | "&" name [path] | postfix
    postfix  ::= primary {path}
    path     ::= ["@"] "[" step {"," step} "]" | "." int            step ::= expr | "." int
    primary  ::= name | literal | name "(" [exprs] ")" | name "<" type {"," type} ">" "(" [exprs] ")"
               | "(" exprs [","] ")" | "(,)" | "[" exprs "]" | "[" "for" name ":" length "," block "]"
    literal  ::= number | "-" number | "inf" | "nan" ["(" bits ")"] | "true" | "false" | "()"

What is printed has an atom for every inner `expr`, and types for all binders. A whole number is an Int where one fits,
else a Real; a number that ends in `t` is a Tan. A name of a primitive is an operation, any other a call.
"""

from rosejit.ir.dump import type_text
from rosejit.ir.syntax import Function
from rosejit.ir.types import Type
from rosejit.text.identifiers import clean
from rosejit.text.lexer import Cursor, Source, Token
from rosejit.text.parse_block import Body
from rosejit.text.parse_expression import Environment
from rosejit.text.parse_signature import Head, Hosts, TypeNames, declare, read_generics, read_head, read_nominal

STARTS = ("type", "checkpoint", "host", "def")


def parse(text: str, *, hosts: Hosts | None = None, **generics: int | Type) -> Function:
    """The last function of `text`; `generics` are what its generic names stand for."""
    return _Program(text, hosts or {}).last(generics)


def parse_program(text: str, *, hosts: Hosts | None = None) -> dict[str, Function]:
    """All functions of `text` by name, and the instances of generic ones that it uses."""
    return _Program(text, hosts or {}).functions


class _Program:
    """The functions of a text. A generic one is read again, from where it starts, for every instance."""

    def __init__(self, text: str, hosts: Hosts) -> None:
        self.source = Source(text)
        self.tokens = self.source.tokens()
        self.hosts = hosts
        self.functions: dict[str, Function] = {}
        self.generic: dict[str, int] = {}
        self.instances: dict[str, Function] = {}
        self.types = TypeNames({})
        self.final: Token | None = None
        self._read()

    def last(self, generics: dict[str, int | Type]) -> Function:
        """The last function, or an instance of it."""
        if self.final is None:
            self._cursor(0).fail("a function is needed")
        if self.final.text not in self.generic:
            return self.functions[self.final.text]
        names = self._names(self.final.text)
        missing = [name for name in names if name not in generics]
        if missing:
            self.source.fail(f"`{self.final.text}` is generic: say what `{missing[0]}` is", self.final)
        return self._instance(self.final, [generics[name] for name in names])

    def _cursor(self, at: int) -> Cursor:
        return Cursor(self.source, self.tokens, at)

    def _read(self) -> None:
        starts = self._starts()
        for at in starts:
            if self.tokens[at].kind == "type":
                declare(self._cursor(at), self.types)
        for at in starts:
            if self.tokens[at].kind == "type":
                c = self._cursor(at)
                read_nominal(c, self.types)
                self._end(c)
        heads = [self._head(at) for at in starts if self.tokens[at].kind != "type"]
        for c, head in heads:
            if head is not None:
                self._body(c, head, self.types)

    def _starts(self) -> list[int]:
        kinds = [token.kind for token in self.tokens]
        if kinds[0] not in (*STARTS, "end"):
            self._cursor(0).fail("a function is needed")
        flags = ("checkpoint", "host")
        return [i for i, kind in enumerate(kinds) if kind in STARTS and not (i and kinds[i - 1] in flags)]

    def _end(self, c: Cursor) -> None:
        if not c.sees(*STARTS, "end"):
            c.fail("this function has ended")

    def _head(self, at: int) -> tuple[Cursor, Head | None]:
        """The head of the function at `at`, and the cursor behind it; none of a generic one."""
        c = self._cursor(at)
        while not c.accept("def"):
            c.at += 1
        name = self.final = c.take("name")
        if name.text in self.functions or name.text in self.generic:
            c.fail(f"two functions are called `{name.text}`", name)
        if c.sees("<"):
            self.generic[name.text] = at
            return c, None
        c.at = at
        head = read_head(c, self.types, self.hosts)
        self.functions[name.text] = head.function
        return c, head

    def _names(self, generic: str) -> list[str]:
        """The generic names of a function."""
        c = self._cursor(self.generic[generic])
        while not c.sees("<"):
            c.at += 1
        return read_generics(c)

    def _body(self, c: Cursor, head: Head, types: TypeNames) -> None:
        f = head.function
        if head.rule is not None:
            f.rule = self.functions.get(head.rule.text) or c.fail("there is no such function", head.rule)
        if f.host is None:
            c.take("=")
            environment = Environment(types, self.functions, self.generic, self._instance)
            f.body = Body(c, environment, head).block(f.results)
        self._end(c)

    def _instance(self, token: Token, arguments: list[int | Type]) -> Function:
        """The generic function that `token` names, for these lengths and types."""
        names = self._names(token.text)
        if len(names) != len(arguments):
            self.source.fail(f"`{token.text}` has {len(names)} generic names", token)
        key = "_".join([token.text, *[str(a) if isinstance(a, int) else type_text(a) for a in arguments]])
        if key not in self.instances:
            types = TypeNames(self.types.nominals, dict(zip(names, arguments, strict=True)))
            c = self._cursor(self.generic[token.text])
            head = read_head(c, types, self.hosts)
            f = self.instances[key] = head.function
            f.name = clean(key)
            while f.name in self.functions:
                f.name += "_"
            self.functions[f.name] = f
            self._body(c, head, types)
        return self.instances[key]
