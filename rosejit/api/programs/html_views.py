"""Programs and costs as HTML, for notebooks. All text of users is escaped."""

import linecache
from collections.abc import Iterable
from html import escape

from rosejit.transforms.analysis.cost import LineCost

_COLUMN = "overflow:auto;text-align:left"


def listing(title: str, text: str) -> str:
    """A titled text, spaced as it is; or a title alone."""
    shown = f"<pre>{escape(text)}</pre>" if text else ""
    return f'<div style="{_COLUMN}"><b>{escape(title)}</b>{shown}</div>'


def beside(*columns: str) -> str:
    """Columns of equal width."""
    tracks = f"repeat({len(columns)},minmax(0,1fr))"
    return f'<div style="display:grid;grid-template-columns:{tracks};gap:1em">{"".join(columns)}</div>'


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table of texts and numbers."""
    head = "".join(f'<th style="text-align:left">{escape(each)}</th>' for each in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"<td>{value:,}</td>"
    return f'<td style="text-align:left"><code style="white-space:pre">{escape(str(value))}</code></td>'


def by_lines(lines: tuple[LineCost, ...]) -> str:
    """The user's lines with what each costs, and a bar for its part of all operations."""
    most = max([each.ops for each in lines], default=1)
    rows = [
        (each.ops, "\N{FULL BLOCK}" * round(12 * each.ops / most), each.tape_bytes, each.line, _text(each))
        for each in lines
    ]
    return table(("operations", "", "bytes kept", "line", "source"), rows)


def _text(place: LineCost) -> str:
    return linecache.getline(place.file, place.line).rstrip("\n") or place.file
