"""Turns text into tokens, and walks over them."""

import linecache
import re
from bisect import bisect_right
from typing import NamedTuple, NoReturn

from rosejit.errors import ParseError
from rosejit.ops import OPERATORS
from rosejit.span import Span
from rosejit.text.identifiers import KEYWORDS

FILE = "<rose>"

_SYMBOLS = {symbol for symbol, _ in OPERATORS if not symbol.isidentifier()}
_PUNCTUATION = _SYMBOLS.union(("->", "+=", *"()[]{}<>,:=.|&?@*-"))
_TOKEN = re.compile(
    r"\s*(?:--[^\n]*\s*)*(?:"
    r"(?P<name>[^\W\d]\w*)"
    r"|(?P<number>0x[0-9a-f]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?t?)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<symbol>" + "|".join(re.escape(s) for s in sorted(_PUNCTUATION, key=len, reverse=True)) + ")"
    r"|(?P<end>\Z)"
    r"|(?P<unknown>.))"
)


class Token(NamedTuple):
    """`kind` is number, name, string or end; of a keyword or symbol it is the text itself."""

    kind: str
    text: str
    start: int


class Source:
    """A text, and the places in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *[match.end() for match in re.finditer("\n", text)]]

    def span(self, start: int, end: int) -> Span:
        """The place of `text[start:end]`; columns in UTF-8 bytes, as everywhere."""
        line, end_line = bisect_right(self._lines, start), bisect_right(self._lines, end)
        col = len(self.text[self._lines[line - 1] : start].encode())
        end_col = len(self.text[self._lines[end_line - 1] : end].encode())
        return Span(FILE, line, col, end_line, end_col)

    def fail(self, message: str, token: Token) -> NoReturn:
        """Raise a `ParseError` at `token`, with its line to be quoted."""
        linecache.cache[FILE] = (len(self.text), None, self.text.splitlines(keepends=True), FILE)
        raise ParseError(message, self.span(token.start, token.start + len(token.text)))

    def tokens(self) -> list[Token]:
        """All tokens; the last one has the kind "end"."""
        found: list[Token] = []
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup or ""
            text, start = match[kind], match.start(kind)
            if kind == "symbol" or (kind == "name" and text in KEYWORDS):
                kind = text
            elif kind == "unknown":
                self.fail(f"`{text}` means nothing here", Token(kind, text, start))
            found.append(Token(kind, text, start))
            if kind == "end":
                break
        return found


class Cursor:
    """A position among tokens. Every rule looks before it takes, so that an error has the place of what is wrong."""

    def __init__(self, source: Source, tokens: list[Token], at: int = 0) -> None:
        self.source = source
        self.tokens = tokens
        self.at = at

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def sees(self, *kinds: str) -> bool:
        """Whether the next token is of one of these kinds."""
        return self.tokens[self.at].kind in kinds

    def follows(self, kind: str) -> bool:
        """Whether the token after the next one is of this kind."""
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind == kind

    def accept(self, kind: str) -> bool:
        """Take the next token if it is of this kind."""
        if self.tokens[self.at].kind == kind:
            self.at += 1
            return True
        return False

    def take(self, kind: str) -> Token:
        """Take the next token, which must be of this kind."""
        token = self.tokens[self.at]
        if token.kind != kind:
            wanted = {"name": "a name", "number": "a number", "string": "a text in quotes", "end": "the end"}
            found = f"`{token.text}`" if token.text else "the end"
            if kind == "name" and token.kind in KEYWORDS:
                found += ", which is a word of the language"
            self.fail(f"{wanted.get(kind, f'`{kind}`')} is needed, found {found}")
        self.at += 1
        return token

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise a `ParseError` at `token`, or at the next one."""
        self.source.fail(message, self.token if token is None else token)
