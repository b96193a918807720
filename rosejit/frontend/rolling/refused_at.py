"""The text of the expression that keeps a loop from being rolled, from its plan."""

from typing import Any

from rosejit.frontend.syntax.loop_plan import Plan

_LONGEST = 72
"""So much of an expression is shown."""


def text(node: Plan) -> str:
    """An expression of a plan as Python, cut where it is long."""
    made = _text(node)
    return made if len(made) <= _LONGEST else f"{made[: _LONGEST - 3]}..."


def _text(node: Plan) -> str:
    match node:
        case ("name", str() as name):
            return name.partition("@")[0]
        case ("value", value):
            return repr(value)
        case ("binary", op, left, right):
            return f"{_operand(left)} {op} {_operand(right)}"
        case ("unary", op, operand):
            return f"{op}{' ' if op == 'not' else ''}{_operand(operand)}"
        case ("compare", ops, items):
            rest = [f" {op} {_operand(item)}" for op, item in zip(ops, items[1:], strict=True)]
            return _operand(items[0]) + "".join(rest)
        case ("circuit", word, items):
            return f" {word} ".join(map(_operand, items))
        case ("choice", test, first, second):
            return f"{_operand(first)} if {_operand(test)} else {_operand(second)}"
        case _:
            return _primary(node)


def _primary(node: Plan) -> str:
    """What needs no brackets around it."""
    match node:
        case ("item", base, ("pack", items, False)) if items:
            return f"{_operand(base)}[{_list(items)}]"
        case ("item", base, index):
            return f"{_operand(base)}[{_text(index)}]"
        case ("slice", parts):
            start, stop, step = ("" if part == ("value", None) else _text(part) for part in parts)
            return f"{start}:{stop}" + (f":{step}" if step else "")
        case ("pack", items, is_list):
            return f"[{_list(items)}]" if is_list else f"({_list(items)}{',' if len(items) == 1 else ''})"
        case ("attribute", base, name):
            return f"{_operand(base)}.{name}"
        case ("call", function, args, keywords):
            named = [f"{name}={_text(value)}" for name, value in keywords]
            return f"{_operand(function)}({', '.join([*map(_text, args), *named])})"
        case ("list", element, target, items, tests):
            kept = "".join(f" if {_text(test)}" for test in tests)
            return f"[{_text(element)} for {_text(target)} in {_text(items)}{kept}]"
        case _:
            return "a function"


def _operand(node: Plan) -> str:
    is_plain = node[0] in ("name", "value", "item", "pack", "attribute", "call")
    return _text(node) if is_plain else f"({_text(node)})"


def _list(items: Any) -> str:
    return ", ".join(map(_text, items))
