"""The dimensions of array hints: numbers, names, and expressions of names."""

import ast
import functools
import re
from dataclasses import dataclass

from rosejit.errors import StagingTypeError


@dataclass(slots=True, frozen=True)
class Dim:
    """One dimension of a hint: a number, a name or an expression of names; `many` stands for any number of them."""

    text: str
    size: int | None = None
    many: bool = False
    anonymous: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it binds a name."""
        return self.text.isidentifier() and not self.anonymous

    def value(self, known: dict[str, int]) -> int | None:
        """What an expression gives; None while a name in it is unknown."""
        if self.size is not None:
            return self.size
        if self.text.isidentifier():
            return known.get(self.text)
        if any(name not in known for name in re.findall(r"[A-Za-z_]\w*", self.text)):
            return None
        return int(
            eval(self.text, {"__builtins__": {}}, dict(known))
        )  # checked by `dimension`: names, numbers, + - * //


_ALLOWED = (ast.Expression, ast.Name, ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Load)


def dimension(given: object) -> Dim:
    """A dimension as it is written in a hint. Raises StagingTypeError for anything else."""
    if given is Ellipsis:
        return Dim("...", many=True)
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return Dim(str(given), given)
    if isinstance(given, str):
        text = given.strip().rpartition("=")[2].lstrip("#")
        if text == "..." or text.startswith("*"):
            return Dim(text, many=True)
        if text.isdecimal():
            return Dim(text, int(text))
        if text.startswith("_"):
            return Dim(text, anonymous=True)
        if is_expression(text):
            return Dim(text)
    raise StagingTypeError(
        f"`{given!r}` is no dimension",
        help='a dimension is a number, a name such as "n", an expression such as "n+1", or `...`',
    )


@functools.cache
def is_expression(text: str) -> bool:
    """Whether a text is arithmetic of names and numbers."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return all(isinstance(node, _ALLOWED) and type(getattr(node, "value", 0)) is int for node in ast.walk(tree))
