"""Says whether a text is what a code object was compiled from: its definition is compiled again, and they are compared.

What differs without meaning does not count: where the text stands, names of the functions around, the level of `-O`.
Of code that pytest has rewritten (its names have an `@`), the names and constants are compared, `assert` left out.
"""

import __future__

import ast
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from rosejit.frontend.syntax.ast_build import at
from rosejit.lazy_dataclass import dataclass

FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names[2:])
"""The bits of `co_flags` that stand for `from __future__ import ...` and change what code means."""
_KINDS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200
"""The bits that say whether there are `*args` and `**kwargs`, and whether it is a generator or a coroutine."""
_SAME = ("co_code", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount")
_NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
_PRIVATE = re.compile(r"_([^\W_]\w*?)__\w*(?<!__)$")
"""`_C__x`, which `__x` is in a class `C`."""


@dataclass(slots=True, frozen=True)
class Definition:
    """A definition in a text; `imported` are the names that the module of it imports: calls of what is in modules
    compile to other code than calls of methods."""

    node: Any
    imported: frozenset[str]

    def gave(self, code: CodeType) -> bool:
        """Whether `code` was compiled from it."""
        owners = _classes(code)
        if any(_same(made, code) for owner in owners for made in self._compiled(code, owner)):
            return True
        if any("@" in name for inner in every(code) for name in inner.co_names):
            asserting = Definition(_WithoutAssert().visit(_copy(self.node)), self.imported)
            return any(_is_within(made, code) for made in asserting._compiled(code, owners[0]))
        alone = Definition(self.node, frozenset())  # statements that are compiled one by one, as doctest does
        if self.imported and any(_same(made, code) for owner in owners for made in alone._compiled(code, owner)):
            return True
        others = [(owner, level, above) for owner in owners for level in (0, 1, 2) for above in ("", "super\n")]
        return any(_same(made, code) for other in others for made in self._compiled(code, *other))

    def _compiled(self, code: CodeType, owner: str, level: int = -1, above: str = "") -> list[CodeType]:
        """What it compiles to, in a class `owner`, where the free variables of `code` are those of a function around.
        A module that has another use for `super` (in a text `above`) makes other calls of it."""
        node, free = self.node, code.co_freevars
        known = {name for inner in every(code) for part in _NAMES for name in getattr(inner, part)}
        lines = [above, *(f"import {name}\n" for name in sorted(self.imported & known))]
        tree = ast.parse(f"{''.join(lines)}def scope({', '.join(filter(str.isidentifier, free))}): pass")
        body: Any = tree.body[-1]
        own = owner or getattr(node, "name", "")
        if own and own not in free:
            body.body.insert(0, at(node, ast.Global([own])))
        if owner:
            within: Any = ast.parse(f"class {owner}: pass").body[0]
            body.body.append(within)
            body = within
        body.body.append(at(node, ast.Expr(node)) if isinstance(node, ast.Lambda) else node)
        flags = code.co_flags & FUTURE_FLAGS
        made = compile(tree, code.co_filename, "exec", flags, dont_inherit=True, optimize=level)
        wanted = (code.co_name, code.co_firstlineno)
        return [each for each in every(made) if (each.co_name, each.co_firstlineno) == wanted]

    def first_difference(self, code: CodeType) -> tuple[int, str, str]:
        """The line of the text in which they part, and what each of them does there."""
        import dis  # only for the message

        def steps(of: CodeType) -> Iterator[tuple[int, str]]:
            line = of.co_firstlineno
            for step in dis.get_instructions(of):
                position: Any = getattr(step, "positions", None)
                line = (position.lineno if position else getattr(step, "starts_line", None)) or line
                value: Any = step.argval
                shown = value.co_name if isinstance(value, CodeType) else step.argrepr
                yield line, f"{step.opname} {shown}".strip()
                if isinstance(value, CodeType):
                    yield from steps(value)

        text: Any = next((steps(made) for owner in _classes(code) for made in self._compiled(code, owner)), iter(()))
        line = code.co_firstlineno
        for ran in steps(code):
            said = next(text, None)
            if said is None or said[1] != ran[1]:
                return (line, "the end", ran[1]) if said is None else (said[0], said[1], ran[1])
            line = said[0]
        said = next(text, None)
        return (line, "other constants", "its own") if said is None else (said[0], said[1], "the end")


def _classes(code: CodeType) -> list[str]:
    """The classes that it may be written in, as far as its names depend on that; none first where they do not."""
    names = [name for inner in every(code) for part in _NAMES for name in getattr(inner, part)]
    found = {match[1] for name in names if (match := _PRIVATE.match(name))}
    return [*sorted(found), ""]


def every(code: CodeType) -> Iterator[CodeType]:
    """`code` and the code of the functions inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from every(inner)


def _same(left: CodeType, right: CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    if any(getattr(left, part) != getattr(right, part) for part in (*_SAME, *_NAMES)):
        return False
    return (left.co_flags ^ right.co_flags) & _KINDS == 0 and _same_constant(left.co_consts, right.co_consts)


def _same_constant(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, CodeType):
        return _same(a, b)
    if isinstance(a, tuple):
        left: Any = a
        return len(left) == len(b) and all(map(_same_constant, left, b))
    if isinstance(a, str) and "<locals>" in a and "<locals>" in b:
        return a.rpartition("<locals>")[2] == b.rpartition("<locals>")[2]  # names of inner functions
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)  # zeros have signs, and nan is nan
    return a == b


# --- code that pytest has rewritten


class _WithoutAssert(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        """Nothing in its place."""
        return ast.copy_location(ast.Pass(), node)


def _copy(node: Any) -> Any:
    import copy  # only for tests of the user's

    return copy.deepcopy(node)


def _is_within(part: CodeType, whole: CodeType) -> bool:
    """Whether all that `part` names is in `whole`, as far as both can have it."""
    known = {name for kind in _NAMES for name in getattr(whole, kind)}
    names = known.issuperset(name for kind in _NAMES for name in getattr(part, kind))
    plain = [value for value in part.co_consts if not isinstance(value, (CodeType, str)) and value is not None]
    return names and all(any(_same_constant(value, other) for other in whole.co_consts) for value in plain)
