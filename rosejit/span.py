"""Places in the user's source, and how they are quoted in messages."""

import linecache
import os

from rosejit.lazy_dataclass import dataclass

PACKAGE = os.path.dirname(__file__)
"""The folder of this package: code below it is ours, not the user's."""


@dataclass(slots=True, frozen=True)
class Span:
    """A range of source text; lines count from 1 and columns from 0, as in `ast`."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    function: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.col + 1}"
        return f"{where} in {self.function}" if self.function else where


def quote(span: Span) -> list[str]:
    """The line of `span` and a line of carets under its first line, or nothing where the text is gone."""
    text = linecache.getline(span.file, span.line).rstrip("\n")
    if not text.strip():
        return []
    encoded = text.encode()  # `ast` counts columns in UTF-8 bytes
    start = len(encoded[: span.col].decode(errors="replace"))
    end = len(text)
    if span.end_line == span.line:
        end = len(encoded[: span.end_col].decode(errors="replace"))
    indent = len(text) - len(text.lstrip())
    carets = " " * (max(start, indent) - indent) + "^" * max(1, end - max(start, indent))
    return [f"    {text[indent:]}", f"    {carets}"]
