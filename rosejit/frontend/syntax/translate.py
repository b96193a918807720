"""Turns a function into a code object with the same behaviour whose control flow can be staged."""

import ast
import inspect
import re
import sys
import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from rosejit.collector import deep_recursion, paused
from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax import (
    fence,
    kept_translations,
    liveness,
    loop_plan,
    lower_faults,
    lower_jumps,
    lower_match,
    scope,
)
from rosejit.frontend.syntax.ast_build import HOOKS, RUNTIME, assign, at, constant, copied, hook, inside, load, runtime
from rosejit.frontend.syntax.code_comparison import FUTURE_FLAGS
from rosejit.frontend.syntax.code_table import ByCode
from rosejit.frontend.syntax.lost_files import LOST, find_again
from rosejit.frontend.syntax.rewrite_context import Context, Counter
from rosejit.frontend.syntax.rewrite_expressions import expression
from rosejit.frontend.syntax.rewrite_statements import statement
from rosejit.frontend.syntax.scope import Scope
from rosejit.frontend.syntax.source import Source, find
from rosejit.frontend.syntax.user_code import PASSES_ON_TO
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span


@dataclass(slots=True, frozen=True, eq=False)
class Translation:
    """The rewritten code of one function; `chains` are the outside names that it reads, with attributes."""

    code: CodeType
    chains: tuple[tuple[str, ...], ...]
    span: Span
    """Where the function is written."""


class Translations:
    """The translations of all functions seen so far, while their code lives."""

    def __init__(self) -> None:
        self._known = ByCode[Translation | UnsupportedSyntax]()
        self._ours = ByCode[weakref.ref[CodeType] | None]()
        """What was made, with the code around it."""

    def of(self, function: FunctionType) -> Translation:
        """The translation of `function`; raises UnsupportedSyntax, always the same, where there is none."""
        if function.__code__.co_filename == LOST:
            find_again(function)
        code = function.__code__
        made = self._known.get(code)
        if made is None:
            try:
                with paused(), deep_recursion():
                    ours = self.is_translated(code)
                    made = _inner(function) if ours else _recalled(function)
                if not ours:
                    self._enter(made.code)
            except UnsupportedSyntax as error:
                made = error
            except RecursionError:
                made = _too_deep(function)
            self._known.put(code, made)
        if isinstance(made, UnsupportedSyntax):
            raise made.with_traceback(None)
        return made

    def check(self, function: FunctionType) -> None:
        """Raise UnsupportedSyntax if `function` cannot be staged by itself, called by nobody."""
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            fence.check(find(function), function.__globals__, alone=True)
        self.of(function)

    def is_translated(self, code: CodeType) -> bool:
        """Whether `code` is itself the result of a translation (or of a function inside one)."""
        return code in self._ours

    def around(self, code: CodeType) -> Iterator[CodeType]:
        """The code of the functions that a function of translated code stands in, innermost first."""
        outer = self._ours.get(code)
        while outer is not None and (found := outer()) is not None:
            yield found
            outer = self._ours.get(found)

    def _enter(self, code: CodeType, outer: weakref.ref[CodeType] | None = None) -> None:
        self._ours.put(code, outer)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._enter(inner, weakref.ref(code))


TRANSLATIONS = Translations()
"""A code object means the same to everybody, so its translation is made once for the process."""


def _too_deep(function: FunctionType) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"`{function.__qualname__}` has an expression, or blocks, nested too deeply",
        Span(function.__code__.co_filename, function.__code__.co_firstlineno, 0, function.__code__.co_firstlineno, 0),
        help="take it apart: several statements, a loop, or a helper",
    )


def instantiate(function: FunctionType, translation: Translation, run_time: Any) -> FunctionType:
    """The rewritten `function`, with its live globals and closure, bound to a run-time object."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells |= run_time.__cells__
    code = translation.code
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def rebound(function: FunctionType, run_time: Any) -> FunctionType:
    """A function that was made by rewritten code, bound to another run-time object (itself if it is that one's)."""
    names, cells = function.__code__.co_freevars, run_time.__cells__
    ours = [cells.get(name) for name in names]
    pairs = [(own, cell) for own, cell in zip(ours, function.__closure__ or (), strict=True) if own is not None]
    if all([own.cell_contents is cell.cell_contents for own, cell in pairs]):
        return function
    closure = tuple([own or cell for own, cell in zip(ours, function.__closure__ or (), strict=True)])
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# --- one translation


def translate(function: FunctionType) -> Translation:
    """Find, check and rewrite `function`."""
    source, names, made = _rewritten(function)
    chains = tuple(sorted(set(_chains(names))))
    return Translation(_compile(function, made, source), chains, source.span(source.node))


def _recalled(function: FunctionType) -> Translation:
    """The translation of `function`; of ours as it was kept, and kept from then on."""
    if not kept_translations.is_kept(function):
        return translate(function)
    known = kept_translations.recalled(function)
    if known is not None:
        return Translation(*known)
    made = translate(function)
    kept_translations.keep(function, kept_translations.Made(made.code, made.chains, made.span))
    return made


def _inner(function: FunctionType) -> Translation:
    """Of a function that rewritten code has made."""
    source = find(function, rewritten=True)
    return Translation(function.__code__, (), source.span(source.node))


def show(function: FunctionType) -> str:
    """The text of the rewritten `function`, as Python but for its names with `@`; plans of loops are left out."""
    made = _rewritten(function)[2]
    for node in inside(made):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Roll":
            node.args[-1] = ast.Constant(...)
    text = re.sub(rf"\b{RUNTIME}(?=\w)", f"{RUNTIME}.", ast.unparse(ast.fix_missing_locations(made)))
    return re.sub(r"(?m)^( *)\((.*)\) = ", r"\1\2 = ", text)  # 3.10 writes targets in parentheses


def _rewritten(function: FunctionType) -> tuple[Source, Scope, Any]:
    source = find(function)
    fence.check(source, function.__globals__)
    source = _lowered(source)
    names = scope.analyse(source.node)
    context, body = _context(source, names, function.__globals__, Counter(), None)
    return source, names, _definition(context, source.node, body)


def _lowered(source: Source) -> Source:
    """Without `match`, `try` and `with`, where there are some: they are looked for in the text first."""
    text = source.text
    if isinstance(source.node, ast.Lambda) or not any(word in text for word in ("match", "try", "with")):
        return source
    node = copied(source.node)
    if "match" in text:
        lower_match.lower(node.body)
    if "try" in text or "with" in text:
        lower_faults.lower(node.body)
    return Source(source.file, source.name, node, text)


def _context(
    source: Source, names: Scope, variables: dict[str, Any], counter: Counter, outer: Context | None
) -> tuple[Context, lower_jumps.Body]:
    node = names.node
    if isinstance(node, ast.Lambda):
        lowered = lower_jumps.Body([at(node.body, ast.Return(node.body))], frozenset(), returns=False)
    else:
        lowered = lower_jumps.lower(node)
    facts = liveness.analyse(lowered, names)
    tested = lowered.tested
    return Context(source, names, facts, variables, statement, _inner_function, counter, tested, outer), lowered


def _inner_function(outer: Context, node: Any) -> Any:
    names = outer.scope.of(node)
    context, body = _context(outer.source, names, outer.globals, outer.counter, outer)
    context.hidden = outer.hidden - names.bound
    made = _definition(context, node, body)
    made.args.defaults = [expression(outer, default) for default in node.args.defaults]
    made.args.kw_defaults = [None if d is None else expression(outer, d) for d in node.args.kw_defaults]
    if isinstance(made, ast.FunctionDef):
        _plain_parts(outer, node, made)
    return made


def _plain_parts(outer: Context, node: Any, made: ast.FunctionDef) -> None:
    """Decorators, which are called as any function is, and annotations, which are for Python and not for staging."""
    made.decorator_list = [
        runtime(decorator, "decorator", expression(outer, decorator)) for decorator in node.decorator_list
    ]
    was, outer.plain = outer.plain, True
    made.returns = None if node.returns is None else expression(outer, node.returns)
    annotations = {param.arg: param.annotation for param in scope.all_parameters(node)}
    for argument in _arguments(made.args):
        annotation = annotations[argument.arg]
        argument.annotation = None if annotation is None else expression(outer, annotation)
    outer.plain = was


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg)
    return [argument for argument in every if argument is not None]


def _definition(context: Context, node: Any, lowered: lower_jumps.Body) -> Any:
    """The function `node` rewritten, without decorators, defaults and annotations."""
    arguments = _parameters(node.args)
    if isinstance(node, ast.Lambda):
        return at(node, ast.Lambda(arguments, expression(context, node.body)))
    body = context.block(lowered.statements)
    if lowered.returns:
        last = body[-1]
        body.append(at(last, ast.Return(runtime(last, "returned", load(last, lower_jumps.VALUE)))))
        body.insert(0, assign(node, lower_jumps.VALUE, hook(node, "UNDEFINED")))  # every path may raise
    made = ast.FunctionDef(node.name, arguments, [*_prologue(context, node), *body], [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined]  # since 3.12
    return at(node, made)


def _parameters(arguments: Any) -> ast.arguments:
    def one(param: Any) -> ast.arg | None:
        return None if param is None else at(param, ast.arg(param.arg))

    def many(params: list[Any]) -> list[ast.arg]:
        return [at(param, ast.arg(param.arg)) for param in params]

    return ast.arguments(
        many(arguments.posonlyargs),
        many(arguments.args),
        one(arguments.vararg),
        many(arguments.kwonlyargs),
        [None] * len(arguments.kwonlyargs),  # filled in by the caller, or on the function
        one(arguments.kwarg),
        [],
    )


def _prologue(context: Context, node: Any) -> list[Any]:
    made: list[Any] = []
    names = context.scope
    for name in sorted(names.shared):
        first = load(node, name) if name in names.params else hook(node, "UNDEFINED")
        made.append(assign(node, name, runtime(node, "cell", first, constant(node, name))))
    for name in context.flow.undefined:
        if name not in names.params:
            made.append(assign(node, name, hook(node, "UNDEFINED")))
    if context.generator:
        made.append(assign(node, "generator@", runtime(node, "suspension")))
    return made


def _compile(function: FunctionType, made: Any, source: Source) -> CodeType:
    """`made` compiled where the free variables of `function` are free, under the user's file and lines."""
    node = source.node
    place: list[Any] = [at(node, ast.Expr(made))] if isinstance(made, ast.Lambda) else [made]
    if isinstance(made, ast.FunctionDef):
        made.name = "function@"  # its own name must not hide the global, or the variable, of that name
    enclosing = _class_name(function)
    if enclosing:
        body = ast.parse(f"class {enclosing}: pass").body[0]
        assert isinstance(body, ast.ClassDef)
        body.body = place
        place = [body]
        if enclosing not in function.__code__.co_freevars:  # the name of the class is a global to its methods
            place.insert(0, at(node, ast.Global([enclosing])))
    tree = ast.parse(f"def scope({', '.join(function.__code__.co_freevars)}): pass")
    outer = tree.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.args.args += [at(node, ast.arg(name)) for name in (RUNTIME, *HOOKS.values())]
    outer.body = place
    flags = function.__code__.co_flags & FUTURE_FLAGS
    code = compile(tree, source.file, "exec", flags, dont_inherit=True)
    for _ in range(3 if enclosing else 2):
        code = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return _renamed(code, function.__name__, function.__qualname__)


def _renamed(code: CodeType, name: str, qualified: str) -> CodeType:
    """`code` under the names of the user's function; functions inside it are named after it."""
    inner: list[Any] = []
    for held in code.co_consts:
        if isinstance(held, CodeType):
            held = _renamed(held, held.co_name, f"{qualified}.<locals>.{held.co_name}")
        inner.append(held)
    known: dict[str, Any] = {"co_qualname": qualified} if sys.version_info >= (3, 11) else {}
    return code.replace(co_name=name, co_consts=tuple(inner), **known)


def _class_name(function: FunctionType) -> str:
    """The class that `function` is a method of: names such as `self.__x` depend on it."""
    parts = function.__qualname__.split(".")
    within = parts[-2] if len(parts) > 1 else ""
    return within if within.isidentifier() else ""


# --- for loops that may be rolled

_plans = ByCode[tuple[frozenset[str], loop_plan.Plan, loop_plan.Plan] | str]()


def inlined_plan(function: FunctionType) -> tuple[frozenset[str], loop_plan.Plan, loop_plan.Plan] | str:
    """The variables, the statements and the result of `function` as data (`loop_plan.py`); a text says why not."""
    code = function.__code__
    known = _plans.get(code)
    return _plans.put(code, _inlined_plan(function)) if known is None else known


def _inlined_plan(function: FunctionType) -> tuple[frozenset[str], loop_plan.Plan, loop_plan.Plan] | str:
    try:
        source = find(function, rewritten=TRANSLATIONS.is_translated(function.__code__))
        fence.check(source, function.__globals__)
    except UnsupportedSyntax as error:
        return error.message
    source = _lowered(source)
    names = scope.analyse(source.node)
    context, body = _context(source, names, function.__globals__, Counter(), None)
    made = loop_plan.of_function(context, body)
    if isinstance(made, str):
        return made
    own = {*names.bound, *loop_plan.bound_names(made[0]), lower_jumps.VALUE}  # flags, and items of loops that are left
    return (frozenset(own), *made)


# --- what is read from outside


def _chains(names: Scope) -> Iterator[tuple[str, ...]]:
    """Every outside name that the function (or one inside it) reads, alone and with the attributes read from it."""
    for name in names.loads:
        if names.owner(name) is None:
            yield (name,)
    for chain in names.chains:
        if names.owner(chain[0]) is None:
            yield chain
    for inner in names.inner:
        yield from _chains(inner)


def written_at(function: FunctionType) -> Span | None:
    """Where the user wrote a function, or the one that it passes all on to; nowhere, if that is Python's."""
    written = vars(function).get(PASSES_ON_TO, function)
    return None if written is None else TRANSLATIONS.of(written).span
