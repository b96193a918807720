"""Turns Python's syntax trees into gast's, which are the same on every version, in half the time that gast takes."""

import ast
import importlib
from typing import Any

gast: Any = importlib.import_module("gast")
"""It has no types, so it is `Any` to the checker."""
_Converter: Any = importlib.import_module("gast.ast3").Ast3ToGAst


def _same_fields() -> dict[type, Any]:
    """The nodes that gast copies field by field on this version: most of them."""
    kinds = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
    names = {kind: kind.__name__ for kind in kinds if not hasattr(_Converter, f"visit_{kind.__name__}")}
    return {kind: getattr(gast, name) for kind, name in names.items() if kind._fields and hasattr(gast, name)}


_SAME = _same_fields()
_SIGNS: dict[type, Any] = {
    kind: getattr(gast, name)()
    for name, kind in vars(ast).items()
    if isinstance(kind, type)
    and issubclass(kind, ast.expr_context | ast.operator | ast.unaryop | ast.cmpop | ast.boolop)
    if not kind.__subclasses__() and hasattr(gast, name)
}
"""Contexts and operators have nothing of their own: one of each will do."""


def converted(node: Any) -> Any:
    """`node`, which the parser made, as gast has it."""
    kind = node.__class__
    if kind is list:
        return [converted(item) for item in node]
    if kind is ast.Name:
        made = gast.Name.__new__(gast.Name)
        made.__dict__.update(node.__dict__, ctx=_SIGNS[node.ctx.__class__], annotation=None, type_comment=None)
        return made
    target = _SAME.get(kind)
    if target is not None:
        made = target.__new__(target)
        fields = made.__dict__
        fields.update(node.__dict__)
        for name in kind._fields:
            value = fields.get(name)
            if value.__class__ not in _LEAVES:
                fields[name] = converted(value)
        return made
    sign = _SIGNS.get(kind)
    if sign is not None:
        return sign
    return _REST.visit(node) if isinstance(node, ast.AST) else node


_LEAVES = frozenset({int, str, float, type(None)})


class _Rest(_Converter):
    """What gast does more with than copying it; for the parts of these see above."""

    _visit = staticmethod(converted)


_REST = _Rest()
