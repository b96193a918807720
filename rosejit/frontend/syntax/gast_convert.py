"""Turns Python's syntax trees into gast's, which are the same on every version, in half the time that gast takes."""

import ast
import importlib
from typing import Any

gast: Any = importlib.import_module("gast")
"""It has no types, so it is `Any` to the checker."""
_Converter: Any = importlib.import_module("gast.ast3").Ast3ToGAst


_TEXTS = frozenset({"id", "attr", "arg", "name", "module", "level", "kind", "type_comment", "conversion", "simple"})
"""Fields that hold no nodes of those that gast copies."""


def _same_fields() -> dict[type, tuple[Any, tuple[str, ...]]]:
    """The nodes that gast copies field by field on this version, most of them, and the fields that may hold nodes."""
    kinds = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
    names = {kind: kind.__name__ for kind in kinds if not hasattr(_Converter, f"visit_{kind.__name__}")}
    names[ast.Constant] = "Constant"
    return {
        kind: (getattr(gast, name), () if kind is ast.Constant else tuple(f for f in kind._fields if f not in _TEXTS))
        for kind, name in names.items()
        if kind._fields and hasattr(gast, name)
    }


_SAME = _same_fields()
_NOT_SAME = (None, ())
_SIGNS: dict[type, Any] = {
    kind: getattr(gast, name)()
    for name, kind in vars(ast).items()
    if isinstance(kind, type)
    and issubclass(kind, ast.expr_context | ast.operator | ast.unaryop | ast.cmpop | ast.boolop)
    if not kind.__subclasses__() and hasattr(gast, name)
}
"""Contexts and operators have nothing of their own: one of each will do."""


def converted(node: Any) -> Any:
    """`node`, which the parser made, as gast has it. Names and literals keep the parser's own as `parsed`: most of
    them are in the rewritten program as they are."""
    kind = node.__class__
    if kind is ast.Name:
        made = gast.Name.__new__(gast.Name)
        made.__dict__.update(
            node.__dict__, ctx=_SIGNS[node.ctx.__class__], annotation=None, type_comment=None, parsed=node
        )
        return made
    target, names = _SAME.get(kind, _NOT_SAME)
    if target is None:
        if kind is list:
            return [converted(item) for item in node]
        if kind in _SIGNS:
            return _SIGNS[kind]
        return _REST.visit(node) if isinstance(node, ast.AST) else node
    made = target.__new__(target)
    fields = made.__dict__
    fields.update(node.__dict__)
    if kind is ast.Constant:
        fields["parsed"] = node
    for name in names:
        value = fields.get(name)
        inner = value.__class__
        if inner in _SIGNS:
            fields[name] = _SIGNS[inner]
        elif inner not in _LEAVES:
            fields[name] = converted(value)
    return made


_LEAVES = frozenset({int, str, float, type(None)})


class _Rest(_Converter):
    """What gast does more with than copying it; for the parts of these see above."""

    _visit = staticmethod(converted)


_REST = _Rest()
