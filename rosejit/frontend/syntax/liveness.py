"""Liveness and definite-assignment analysis of a function's names.

For every construct: the names it may bind, those that are bound whatever path is taken, and those that somebody reads
later (live-out). Sets of names are bit masks, since the sets are small and there are many of them. The use and def sets
of an expression are remembered: loops are walked until a fixpoint is reached.
"""

import ast
import itertools
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from rosejit.frontend.syntax.lower_jumps import VALUE, AssignFlag, Body, NoFlagSet, blocks
from rosejit.frontend.syntax.scope import COMPREHENSIONS, FUNCTIONS, Scope, children
from rosejit.lazy_dataclass import dataclass

# Values of users are of any type: what they are is asked while staging.
Mask = int
"""A set of names, one bit each: the sets are small and there are many of them."""


@dataclass(slots=True)
class Use:
    """What one expression does to names."""

    reads: Mask = 0
    sites: list[tuple[Mask, Any]] = field(default_factory=list[tuple[Mask, Any]])
    binds: Mask = 0
    """By `:=`."""
    kills: Mask = 0
    """Those of `binds` that happen whenever the expression is evaluated."""


class Uses:
    """What expressions read and bind; remembered, since loops ask more than once."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.bits: dict[str, Mask] = {name: 1 << number for number, name in enumerate(names)}
        self.known: dict[int, Use] = {}
        self.bound: dict[int, Mask] = {}
        self.known_reads: dict[int, Mask] = {}
        self.known_plain: dict[int, tuple[Mask, Mask] | None] = {}

    def mask(self, names: Iterable[str]) -> Mask:
        """The set of `names`."""
        found = 0
        for name in names:
            found |= self.bits.get(name, 0)
        return found

    def unpack(self, mask: Mask) -> tuple[str, ...]:
        """The names of a set."""
        found: list[str] = []
        mask &= (1 << len(self.names)) - 1
        while mask:  # few are set of those of a long function
            lowest = mask & -mask
            found.append(self.names[lowest.bit_length() - 1])
            mask ^= lowest
        return tuple(found)

    def of(self, *nodes: Any) -> Use:
        """What the expressions `nodes` do together."""
        key = id(nodes[0]) if len(nodes) == 1 else 0
        use = self.known.get(key) if key else None
        if use is None:
            use = Use()
            for node in nodes:
                if node is not None:
                    self._gather(node, use, False)
            if key:
                self.known[key] = use
        return use

    def plain(self, node: Any) -> tuple[Mask, Mask] | None:
        """What an assignment to one name, or an expression as a statement, reads and binds; None for other statements
        and where a part is not plain."""
        key = id(node)
        if key not in self.known_plain:
            self.known_plain[key] = self._plain(node)
        return self.known_plain[key]

    def _plain(self, node: Any) -> tuple[Mask, Mask] | None:
        kind, bound = node.__class__, 0
        if kind is ast.Assign or kind is ast.AugAssign:
            targets = [node.target] if kind is ast.AugAssign else node.targets
            target = targets[0]
            if len(targets) > 1 or target.__class__ is not ast.Name:
                return None
            bound = self.bits.get(target.id, 0)
        elif kind is not ast.Expr:
            return None
        reads = self.reads(node.value)
        return None if reads < 0 else (reads | bound if kind is ast.AugAssign else reads, bound)

    def reads(self, node: Any) -> Mask:
        """The names that a plain expression reads, one that neither binds names nor holds functions; -1 for others."""
        key = id(node)
        found = self.known_reads.get(key)
        if found is None:
            found = self.known_reads[key] = self._reads(node)
        return found

    def _reads(self, node: Any) -> Mask:
        found, pending = 0, [node]
        while pending:
            node = pending.pop()
            kind = node.__class__
            if kind is ast.Name:
                if node.ctx.__class__ is ast.Load:
                    found |= self.bits.get(node.id, 0)
            elif kind is ast.BinOp:
                pending += (node.left, node.right)
            elif kind in _NOT_PLAIN:
                return -1
            elif kind in COMPREHENSIONS:
                found |= self._read_inside(node)
            elif kind is not ast.Constant:
                pending += children(node)
        return found

    def _read_inside(self, node: Any) -> Mask:
        """The names that a comprehension reads; -1 where it is not plain."""
        first, own, inside = self._parts(node)
        masks = self._reads(first), self._reads(ast.Tuple(inside, ast.Load()))
        return -1 if min(masks) < 0 else masks[0] | (masks[1] & ~own)

    def _gather(self, node: Any, use: Use, maybe: bool) -> None:
        kind = type(node)
        if kind is ast.Name:
            bit = self.bits.get(node.id, 0)
            if bit and type(node.ctx) is ast.Load:
                use.reads |= bit & ~use.kills
                use.sites.append((bit, node))
        elif kind is ast.BinOp:
            self._gather(node.left, use, maybe)
            self._gather(node.right, use, maybe)
        elif kind is ast.NamedExpr:
            self._gather(node.value, use, maybe)
            bit = self.bits.get(node.target.id, 0)
            use.binds |= bit
            use.kills |= 0 if maybe else bit
        elif kind is NoFlagSet:
            use.reads |= self.mask(node.flags)
        elif kind in FUNCTIONS:
            for default in _around(node):
                self._gather(default, use, maybe)
        elif kind in COMPREHENSIONS:
            self._gather_inside(node, use, maybe)
        elif kind is not ast.Constant:
            self._gather_parts(node, use, maybe)

    def _gather_parts(self, node: Any, use: Use, maybe: bool) -> None:
        first = node.__class__ in (ast.BoolOp, ast.IfExp, ast.Compare)
        for child in _evaluated(node) if first else children(node):
            self._gather(child, use, maybe)
            maybe = maybe or first

    def _gather_inside(self, node: Any, use: Use, maybe: bool) -> None:
        """What a comprehension reads and binds: its own variables are others than those of the function."""
        first, own, parts = self._parts(node)
        self._gather(first, use, maybe)
        inside = Use(kills=use.kills)
        for part in parts:
            self._gather(part, inside, True)
        use.reads |= inside.reads & ~own
        use.binds |= inside.binds & ~own
        use.sites += [site for site in inside.sites if not site[0] & own]

    def _parts(self, node: Any) -> tuple[Any, Mask, list[Any]]:
        """Of a comprehension: what it goes through first, its variables, and what is computed in it."""
        own = self.targets(*(generator.target for generator in node.generators))
        made = [node.key, node.value] if node.__class__ is ast.DictComp else [node.elt]
        others = [generator.iter for generator in node.generators[1:]]
        return node.generators[0].iter, own, [*others, *(c for g in node.generators for c in g.ifs), *made]

    def binds(self, statements: list[Any]) -> Mask:
        """The names that `statements` can bind."""
        found = 0
        for node in statements:
            mask = self.bound.get(id(node))
            if mask is None:
                mask = self.bound[id(node)] = self._binds(node)
            found |= mask
        return found

    def _binds(self, node: Any) -> Mask:
        match node:
            case AssignFlag():
                return self.bits.get(node.flag, 0)
            case ast.FunctionDef() | ast.ClassDef():
                return self.bits.get(node.name, 0)
            case ast.Import() | ast.ImportFrom():
                return self.imported(node)
            case _:
                found = self._stored(node)
                for block in blocks(node):
                    found |= self.binds(block)
                return found

    def _stored(self, node: Any) -> Mask:
        """The names bound by the expressions of a statement: targets, `:=`, patterns, `as`."""
        found = 0
        pending = [child for child in children(node) if not isinstance(child, ast.stmt)]
        while pending:
            child = pending.pop()
            if isinstance(child, ast.Name):
                found |= 0 if isinstance(child.ctx, ast.Load) else self.bits.get(child.id, 0)
            elif isinstance(child, ast.pattern):
                found |= self.pattern(child)
            elif child.__class__ in COMPREHENSIONS:
                first, _, inside = self._parts(child)
                pending += [first, *inside]
            elif not isinstance(child, ast.Lambda):
                if isinstance(child, ast.ExceptHandler) and child.name is not None:
                    found |= self.bits.get(child.name, 0)
                pending += [c for c in children(child) if not isinstance(c, ast.stmt)]
        return found

    def pattern(self, node: Any) -> Mask:
        """The names that a `case` pattern binds."""
        found = 0
        for inner in ast.walk(node):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(inner, ast.pattern) and name:
                found |= self.bits.get(name, 0)
        return found

    def imported(self, node: Any) -> Mask:
        """The names that an `import` binds."""
        return self.mask((alias.asname or alias.name).split(".")[0] for alias in node.names)

    def targets(self, *nodes: Any) -> Mask:
        """The names that targets bind: `a`, `(a, b)`, `[a, *b]`, but neither `a[i]` nor `a.b`."""
        found = 0
        for node in nodes:
            kind = type(node)
            if kind is ast.Name:
                found |= self.bits.get(node.id, 0)
            elif kind is ast.Tuple or kind is ast.List:
                found |= self.targets(*node.elts)
            elif kind is ast.Starred:
                found |= self.targets(node.value)
        return found


_NOT_PLAIN = frozenset({ast.NamedExpr, NoFlagSet, *FUNCTIONS})


def _around(node: Any) -> list[Any]:
    """What is evaluated where a function is made."""
    found = (*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ()))
    return [part for part in found if part is not None]


def _evaluated(node: Any) -> list[Any]:
    """The operands of an expression that may skip some, those first that it never skips."""
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.IfExp):
        return [node.test, node.body, node.orelse]
    return [node.left, *node.comparators]


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false
_EVERYTHING: Mask = -1
_SIMPLE = frozenset({ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr})
"""Most statements."""


@dataclass(slots=True, frozen=True)
class Names:
    """What a construct can bind.

    Of a branch the first `live` names are read after it, the others only inside; of a loop the first `live` names are
    read in an iteration before it has bound them, the others only after the loop. `after` are all that are read after
    it.
    """

    names: tuple[str, ...]
    live: int
    after: tuple[str, ...] = ()


@dataclass(slots=True)
class Flow:
    """The answer for one function; keys are `id`s of nodes."""

    names: dict[int, Names] = field(default_factory=dict[int, Names])
    unsure: set[int] = field(default_factory=set[int])
    """Reads (`Name` nodes) that may come before the name is bound."""
    undefined: tuple[str, ...] = ()
    """Names that a construct may bind, or that may be read, before anything else has bound them."""


def analyse(body: Body, scope: Scope) -> Flow:
    """The flow of names through `body`, the lowered body of the function of `scope`."""
    local = sorted((scope.bound | body.tested | {VALUE}) - scope.shared)
    uses = Uses(local)
    flow = Flow()
    always = uses.mask(scope.captured)
    done = scope.straight if _begins_with(body.statements, scope) else 0
    rest, bound = body.statements[done:], uses.mask(scope.params)
    asked = itertools.dropwhile(uses.plain, rest)  # what is read before the first construct asks nobody
    _Liveness(uses, flow, always).block([*asked], uses.mask([VALUE]) if body.returns else 0)
    forward = _Definiteness(uses, flow)
    forward.block(rest, bound | uses.mask([node.targets[0].id for node in body.statements[:done]]))
    flow.undefined = uses.unpack(forward.undefined)
    return flow


def _begins_with(statements: list[Any], scope: Scope) -> bool:
    """Whether the straight statements of the scope were left as they are, in front."""
    last = scope.straight - 1
    return last >= 0 and len(statements) > last and statements[last] is scope.node.body[last]


class _Liveness:
    """Goes backwards: which names are read later. Notes for each construct what it must hand on."""

    def __init__(self, uses: Uses, flow: Flow, always: Mask) -> None:
        self.uses = uses
        self.flow = flow
        self.always = always
        """Read by inner functions, at any time; inside `try`, what the handlers read as well."""

    def block(self, statements: list[Any], after: Mask) -> Mask:
        after |= self.always
        for node in reversed(statements):
            plain = self.uses.plain(node)
            if plain is not None:
                after = (after & ~plain[1]) | plain[0] | self.always
            else:
                after = self.statement(node, after) | self.always
        return after

    def statement(self, node: Any, after: Mask) -> Mask:
        """The names that are read from `node` on, given those that are read after it."""
        if type(node) in _SIMPLE:
            return self.simple(node, after)
        match node:
            case ast.If():
                then, other = self.block(node.body, after), self.block(node.orelse, after)
                bound = self.uses.binds(node.body)
                self.note(node, bound | self.uses.binds(node.orelse), after, bound & other)
                return self.expressions(then | other, node.test)
            case ast.While():
                return self.repetition(node, after)
            case ast.For():
                return self.iteration(node, after)
            case ast.Try():
                return self.attempt(node, after)
            case ast.With():
                within = self.block(node.body, after) & ~self.uses.targets(*(i.optional_vars for i in node.items))
                return self.expressions(within, *(i.context_expr for i in node.items))
            case ast.Match():
                for case in node.cases:
                    after |= self.expressions(self.block(case.body, after), case.guard, case.pattern)
                return self.expressions(after, node.subject)
            case ast.Return():
                return self.expressions(0, node.value)
            case _:
                return self.simple(node, after)

    def simple(self, node: Any, after: Mask) -> Mask:
        """A statement without statements inside."""
        uses = self.uses
        match node:
            case ast.Assign():
                return self.expressions(after & ~uses.targets(*node.targets), node.value, *node.targets)
            case ast.AnnAssign():
                kept = after if node.value is None else after & ~uses.targets(node.target)
                return self.expressions(kept, node.value, node.target)
            case ast.AugAssign():
                return self.expressions(after, node.target, node.value) | uses.targets(node.target)
            case ast.Delete():
                return self.expressions(after, *node.targets) | uses.targets(*node.targets)
            case AssignFlag() | ast.FunctionDef():
                return self.expressions(after & ~uses.binds([node]), node)
            case ast.Import() | ast.ImportFrom():
                return after & ~uses.imported(node)
            case _:
                return self.expressions(after, node)

    def expressions(self, after: Mask, *nodes: Any) -> Mask:
        for node in nodes:
            reads = 0 if node is None else self.uses.reads(node)
            if reads >= 0:
                after |= reads
            else:
                use = self.uses.of(node)
                after = (after & ~use.kills) | use.reads
                if use.binds:
                    self.conditional(node)
        return after

    def conditional(self, node: Any) -> None:
        """Note the names that `:=` binds in those operands of `and` and `or` that may be skipped."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.BoolOp):
                bound = self.uses.of(*inner.values).binds
                if bound:
                    self.note(inner, bound, bound, 0)

    def repetition(self, node: Any, after: Mask) -> Mask:
        test = self.uses.of(node.test)
        after = self.block(node.orelse, after)
        head = self.expressions(after | self.block(node.body, 0), node.test)
        head = self.expressions(after | self.block(node.body, head), node.test)
        exposed = self.expressions(self.block(node.body, 0), node.test)
        iteration = self.block(node.body, head)  # the notes of inner constructs are those of the last visit
        exposed |= iteration & test.binds  # bound by the test of the iteration before
        self.note(node, self.uses.binds(node.body) | test.binds, exposed, head | (after & test.binds))
        return head

    def iteration(self, node: Any, after: Mask) -> Mask:
        target = self.uses.targets(node.target)
        flags = self.uses.mask(getattr(node, "leaving", ()))
        after = self.block(node.orelse, after)
        head = after
        exposed = self.expressions(self.block(node.body, flags) & ~target, node.target)
        for _ in range(2):
            iteration = self.block(node.body, head | flags) & ~target
            head = after | self.expressions(iteration, node.target)
        self.note(node, self.uses.binds([node]), exposed, head, after)
        return self.expressions(head, node.iter)

    def attempt(self, node: Any, after: Mask) -> Mask:
        final = self.block(node.finalbody, after)
        caught = final
        for handler in node.handlers:
            caught |= self.expressions(self.block(handler.body, final), handler.type)
        outer, self.always = self.always, self.always | caught
        before = self.block(node.body, self.block(node.orelse, final))
        self.always = outer
        return before | caught

    def note(self, node: Any, bound: Mask, after: Mask, inside: Mask, later: Mask = 0) -> None:
        live = self.uses.unpack(bound & after)
        names = live + self.uses.unpack(bound & inside & ~after)
        self.flow.names[id(node)] = Names(names, len(live), self.uses.unpack(bound & later))


class _Definiteness:
    """Goes forwards: which names are bound for sure."""

    def __init__(self, uses: Uses, flow: Flow) -> None:
        self.uses = uses
        self.flow = flow
        self.undefined: Mask = 0

    def block(self, statements: list[Any], bound: Mask) -> Mask:
        for node in statements:
            plain = self.uses.plain(node)
            if plain is not None and not plain[0] & ~bound:
                bound |= plain[1]
            else:
                bound = self.statement(node, bound)
        return bound

    def statement(self, node: Any, bound: Mask) -> Mask:
        """The names that are bound after `node`, given those bound before."""
        if type(node) in _SIMPLE:
            return self.simple(node, bound)
        self.enter(node, bound)
        match node:
            case ast.If():
                bound = self.expressions(bound, node.test)
                return self.block(node.body, bound) & self.block(node.orelse, bound)
            case ast.While():
                bound = self.expressions(bound, node.test)
                self.block(node.body, bound)
                return self.block(node.orelse, bound) if node.orelse else bound
            case ast.For():
                bound = self.expressions(bound, node.iter)
                self.block(node.body, self.expressions(bound, node.target) | self.uses.targets(node.target))
                return self.block(node.orelse, bound) if node.orelse else bound
            case ast.Try():
                return self.attempt(node, bound)
            case ast.With():
                bound = self.expressions(bound, *(item.context_expr for item in node.items))
                self.block(node.body, bound | self.uses.targets(*(item.optional_vars for item in node.items)))
                return bound  # the manager may swallow an exception of the body
            case ast.Match():
                bound = self.expressions(bound, node.subject)
                after = bound
                for case in node.cases:
                    inside = self.expressions(bound | self.uses.pattern(case.pattern), case.guard)
                    after &= self.block(case.body, inside)
                return after
            case ast.Return() | ast.Raise():
                self.expressions(bound, *ast.iter_child_nodes(node))
                return _EVERYTHING
            case _:
                return self.simple(node, bound)

    def simple(self, node: Any, bound: Mask) -> Mask:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = self.expressions(bound, node.value, *targets)
            return bound if node.value is None else bound | self.uses.targets(*targets)
        if isinstance(node, ast.AugAssign):
            self.read(self.uses.targets(node.target), node.target, bound)
        bound = self.expressions(bound, node)
        if isinstance(node, ast.Delete):
            for target in node.targets:
                self.read(self.uses.targets(target), target, bound)
            gone = self.uses.targets(*node.targets)
            self.undefined |= gone
            return bound & ~gone
        return bound | self.uses.binds([node])

    def attempt(self, node: Any, bound: Mask) -> Mask:
        after = self.block(node.orelse, self.block(node.body, bound))
        for handler in node.handlers:
            name = 0 if handler.name is None else self.uses.mask([handler.name])
            self.undefined |= name  # Python unbinds it at the end of the handler
            after &= self.block(handler.body, self.expressions(bound, handler.type) | name) & ~name
        return after | self.block(node.finalbody, bound)

    def enter(self, node: Any, bound: Mask) -> None:
        names = self.flow.names.get(id(node))
        if names is not None:
            self.undefined |= self.uses.mask(names.names) & ~bound

    def expressions(self, bound: Mask, *nodes: Any) -> Mask:
        for node in nodes:
            reads = 0 if node is None else self.uses.reads(node)
            if reads >= 0 and not reads & ~bound:
                continue
            use = self.uses.of(node)
            if use.reads & ~bound:
                for bit, site in use.sites:
                    self.read(bit, site, bound)
            if use.binds:
                self.undefined |= use.binds & ~use.kills & ~bound
            bound |= use.kills
        return bound

    def read(self, bit: Mask, site: Any, bound: Mask) -> None:
        if bit & ~bound:
            self.undefined |= bit
            self.flow.unsure.add(id(site))
