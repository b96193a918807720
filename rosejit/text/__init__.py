"""The textual IR: `show` turns functions into text, `parse` turns text into functions."""

from rosejit.text.parser import parse, parse_program
from rosejit.text.printer import show

__all__ = ["parse", "parse_program", "show"]
