"""Functions that call themselves while they are staged: calls before the body has ended, and the end of all at once."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from types import CodeType, FrameType
from typing import Any

from rosejit.abi import Leaf, Node, Tree, changed, leaves
from rosejit.errors import RoseError, StagingTypeError, UnsupportedSyntax
from rosejit.frontend.control.retype import converted, retype_block
from rosejit.frontend.guards.closure_guards import numbers_around
from rosejit.frontend.guards.guards import Capture
from rosejit.frontend.session.result_inference import returned_yet, returns_nothing, returns_truth, running, tree_of
from rosejit.frontend.signature.binding import Call, Signature, conform
from rosejit.frontend.signature.describe import parameter_span
from rosejit.frontend.values.argument_identity import ArgumentObjects
from rosejit.frontend.values.locations import frame_at, last_return
from rosejit.frontend.values.scalars import leaf_type
from rosejit.frontend.values.tape import UNDEFINED
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, free
from rosejit.ir.types import INT, REAL, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.loops.outline import outline
from rosejit.transforms.loops.reroll import reroll
from rosejit.transforms.passes.insert_copies import insert_copies

Captures = dict[int, tuple[Capture, ir.Var]]
"""Arrays from outside by `id`, and the parameters that they become."""


def _nobody(_: Any) -> None:
    """Nothing waits."""


@dataclass(slots=True, eq=False)
class RecursiveFunction:
    """A function that is being staged, or that has been and waits for one it calls which has not."""

    owner: Any
    """What calls know it by."""
    function: ir.Function
    """What calls name from the beginning; its parameters are those for the arguments until its cycle ends."""
    python: Any
    """The function of the user."""
    signature: Signature
    call: Call
    objects: ArgumentObjects = field(default_factory=ArgumentObjects)
    """Those that are built for its arguments."""
    code: CodeType | None = None
    """The rewritten code that runs."""
    depth: int = 0
    """Its place in the stack of open functions."""
    low: int = 0
    """The lowest open function that it reaches by calls."""
    expected: Tree | None = None
    """What its calls give, known when the first one is staged before the end."""
    statics: list[Any] = field(default_factory=lambda: [])
    called: bool = False
    """Whether a call of it was staged before it was whole."""
    guessed: bool = False
    """Whether nothing told the result of the first call, and it was taken for a number."""
    result: Tree | None = None
    """What it returns, known at its end."""
    body: ir.Block | None = None
    captured: Captures = field(default_factory=lambda: {})
    outer: tuple[ir.Var, ...] = ()
    around: list[Any] = field(default_factory=lambda: [])
    """The numbers that it reads around it, if staged code has made it."""
    staged: Any = None
    """What the caller was given for it, filled in when its cycle ends."""
    on_complete: Callable[[Any], None] = _nobody
    """What waits for the end of the cycle."""

    @property
    def hinted(self) -> bool:
        """Whether the hint of the result says all about it."""
        return tree_of(self.signature.result, self.call.dims) is not None

    def expect(self, tree: Tree, statics: Sequence[Any]) -> None:
        """Settle what calls give from now on."""
        self.expected, self.statics = tree, list(statics)
        states = changed(self.call.trees) if self.call.sources else ()
        self.function.results = tuple([leaf_type(leaf) for leaf in (*leaves(tree), *states)])

    def assume(self, frame: FrameType | None) -> None:
        """Settle what a call gives before the body has ended: what the hint says, or what the function (running in
        `frame`) has returned on other paths; else a number, which may turn out a Real, or what its text says."""
        hinted = tree_of(self.signature.result, self.call.dims)
        returned = next(returned_yet(frame), UNDEFINED)
        if hinted is not None:
            self.expect(hinted, ())
        elif returns_nothing(self.python):
            self.expect(Node("none"), ())
        elif returned is not UNDEFINED:
            call = conform(self.signature, self.call.dims, returned)
            self.expect(call.trees[0], call.statics)
        else:
            self.guessed = True
            self.expect(Leaf("bool" if returns_truth(self.python) else "int"), ())

    def end(self, result: Tree, statics: Sequence[Any], body: ir.Block, captured: Captures) -> None:
        """The body has ended; those that it calls may not have. What was guessed is compared when they have."""
        self.guessed = False
        self.result, self.body, self.captured = result, body, captured
        if self.expected is None:
            self.expect(result, statics)

    def doubted(self, error: Exception) -> Exception:
        """`error` of staging the body, or what is to be said if it may come of the guess. What has no place is about
        the result: it is that of the last `return`."""
        if isinstance(error, RoseError) and error.span is None and self.code is not None:
            error.span = last_return(self.code)
        if not self.guessed or (isinstance(error, RoseError) and error.help == self.remedy):
            return error
        name, kind = self.function.name, "truth value" if self.expected == Leaf("bool") else "number"
        said = error.message if isinstance(error, RoseError) else f"{type(error).__name__}: {error}"
        return StagingTypeError(
            f"`{name}` calls itself before it has returned a value, and what it returns does not seem to be a {kind}",
            error.span if isinstance(error, RoseError) else None,
            facts=(said,),
            help=self.remedy,
        )

    @property
    def remedy(self) -> str:
        """What helps where calls give something else than the function returns."""
        return f"say in the hint of `{self.function.name}` what it returns: `-> float`, for instance"


class CallGraph:
    """The functions of a session that are being staged, and those that wait for them."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._open: list[RecursiveFunction | None] = []
        self._waiting: list[RecursiveFunction] = []
        """In the order of their ends."""
        self._heights: list[int] = []
        """How many were waiting when each of the open functions began."""
        self._ended: list[RecursiveFunction] = []

    def enter(self, member: RecursiveFunction | None) -> None:
        """A function begins; None for one that nobody can call, a rule."""
        if member is not None:
            member.depth = member.low = len(self._open)
        self._open.append(member)
        self._heights.append(len(self._waiting))

    def leave(self, member: RecursiveFunction | None) -> None:
        """The innermost function is left. If it has not come to its end, those that wait for it are forgotten."""
        height = self._heights.pop()
        self._open.pop()
        if member is None or member not in self._waiting:
            del self._waiting[height:]

    @property
    def in_rule(self) -> bool:
        """Whether a rule is open: there may be tangents."""
        return None in self._open

    def members(self) -> list[RecursiveFunction]:
        """Those that are being staged."""
        return [member for member in self._open if member is not None]

    def unfinished(self, owner: Any) -> RecursiveFunction | None:
        """The function of `owner`, if it is being staged, or waits for one that is."""
        for member in (*self._open, *self._waiting):
            if member is not None and member.owner == owner:
                return member
        return None

    def beginning(self, member: RecursiveFunction | None) -> str:
        """The name of the function that the cycle of `member` began with, as far as is known."""
        first = member and self._open[member.low]
        return first.function.name if first else "the function"

    def apply(self, member: RecursiveFunction, call: Call) -> Any:
        """Stage a call of a function whose body, or that of one it calls, has not ended."""
        tape, name = self._session.tape, member.function.name
        above = self._open[member.low :]
        top = above[-1]
        if top is None or None in above:
            raise tape.fault(
                UnsupportedSyntax,
                f"a rule is staged because of `{name}`, and calls `{name}`, which is not whole yet",
                help=f"let the rule call other functions than `{name}`",
            )
        if member.around != numbers_around(member.python):
            raise tape.fault(
                UnsupportedSyntax,
                f"a number that `{name}` reads around it has changed between two calls, and `{name}` is not whole yet",
                help=f"make it a parameter of `{name}`",
            )
        top.low = min(top.low, member.low)
        member.called = True
        if member.expected is None:
            same = [m for m in self._open[member.depth :] if m is not None and m.code is member.code]
            member.assume(running(member.code, frame_at(1), len(same) - 1))
        assert member.expected is not None
        leaf_list = [leaf for tree in call.trees for leaf in leaves(tree)]
        atoms = [self._session.atom(leaf, v) for leaf, v in zip(leaf_list, call.values, strict=True)]
        return self._session.apply(member.function, atoms, member.expected, member.statics, call)

    def close(self, member: RecursiveFunction, nested: bool) -> None:
        """The body of the innermost function has ended, and so its cycle, unless it reaches one that began before.
        `nested`: the code around is staged, and its variables may be read."""
        self._waiting.append(member)
        if member.low < member.depth:
            below = self._open[-2]
            assert below is not None
            below.low = min(below.low, member.low)
            return
        group = self._waiting[self._heights[-1] :]
        del self._waiting[self._heights[-1] :]
        _close(group, nested)
        for each in () if self._session.tape.keeps_unrolled else group:
            each.function.body = outline(reroll(_body(each)), each.function.name)
        for each in group:
            each.staged.function = insert_copies(each.function)
            each.staged.result = each.result
            each.staged.captures = tuple(capture for capture, _ in each.captured.values())
            each.staged.outer = each.outer
        self._ended = [each for each in group if each is not member]

    def ended(self) -> list[RecursiveFunction]:
        """The other functions of the cycle that has just ended; told once."""
        found, self._ended = self._ended, []
        return found


# --- the end of a cycle


def _close(group: Sequence[RecursiveFunction], nested: bool) -> None:
    """Give the functions of a cycle, or one that is in none, all their parameters, results and bodies."""
    if any([member.called for member in group]):
        cycle = _StronglyConnectedComponent({member.function: member for member in group})
        cycle.widen()
        cycle.share_captures()
        cycle.pass_outer(nested)
    elif nested:
        for member in group:
            member.outer = _outer(member)
    _finish(group)


def _outer(member: RecursiveFunction) -> tuple[ir.Var, ...]:
    """The variables of the staging around that a function reads."""
    return tuple(free(_body(member), (*member.function.params, *hidden(member))))


def _finish(group: Sequence[RecursiveFunction]) -> None:
    """The variables of the staging around become parameters, and the functions are whole."""
    taken = [{var: ir.Var(var.type, var.hint) for var in member.outer} for member in group]
    for member, inside in zip(group, taken, strict=True):  # all of them: the bodies call each other
        member.function.params = (*member.function.params, *hidden(member), *inside.values())
    for member, inside in zip(group, taken, strict=True):
        f, body = member.function, _body(member)
        if inside:
            retype_block(body, dict(inside))
        f.body = body
        f.results = tuple([atom.type for atom in body.results])


@dataclass(slots=True)
class _StronglyConnectedComponent:
    members: dict[ir.Function, RecursiveFunction]

    def calls(self) -> Iterator[tuple[RecursiveFunction, ir.Let, ir.Call]]:
        """The calls of members in the bodies of members."""
        for member in self.members.values():
            for let in forms(_body(member)):
                if isinstance(let.expr, ir.Call) and let.expr.function in self.members:
                    yield member, let, let.expr

    def widen(self) -> None:
        """Results that were taken for Ints, and turned out Reals, are Reals where they are used."""
        found = {f: [a.type for a in _body(member).results] for f, member in self.members.items()}
        wide = True
        while wide:
            wide = False
            changed: dict[ir.Function, RecursiveFunction] = {}
            for member, let, call in self.calls():
                for binder, kind in zip(let.binders, found[call.function], strict=False):
                    if kind is REAL and binder.type is INT:
                        binder.type = REAL
                        changed[member.function] = member
            for f, member in changed.items():
                retype_block(_body(member), {})
                types = [_wider(a.type, kind) for a, kind in zip(_body(member).results, found[f], strict=True)]
                wide, found[f] = wide or types != found[f], types
        for f, member in self.members.items():
            _retype(member, found[f])

    def share_captures(self) -> None:
        """All members take the arrays that one of them reads."""
        shared: Captures = {}
        for member in self.members.values():
            for key, (capture, var) in member.captured.items():
                if key not in shared or shared[key][0].chain is None:
                    shared[key] = (capture, var)
        for member in self.members.values():
            own = member.captured
            member.captured = {
                key: own[key] if key in own else (capture, ir.Var(var.type, var.hint))
                for key, (capture, var) in shared.items()
            }

    def pass_outer(self, nested: bool) -> None:
        """Calls hand on the captured arrays, and the variables of the staging around that the callee wants."""
        given = [(member, call, call.args) for member, _, call in self.calls()]
        wide = True
        while wide:
            for member, call, args in given:
                call.args = (*args, *hidden(member), *self.members[call.function].outer)
            wide = False
            for member in self.members.values() if nested else ():
                outer = _outer(member)
                wide = wide or outer != member.outer
                member.outer = outer


def hidden(member: RecursiveFunction) -> tuple[ir.Var, ...]:
    """The parameters for captured arrays."""
    return tuple([var for _, var in member.captured.values()])


def _body(member: RecursiveFunction) -> ir.Block:
    assert member.body is not None
    return member.body


def _wider(one: Type, other: Type) -> Type:
    return REAL if REAL in (one, other) and INT in (one, other) else one


def _retype(member: RecursiveFunction, types: list[Type]) -> None:
    """Make the results of the types that were found. Raises StagingTypeError where calls were staged for others."""
    body = _body(member)
    body.results = tuple(
        [converted(a, body.lets) if kind is REAL else a for a, kind in zip(body.results, types, strict=True)]
    )
    assert member.result is not None
    assert member.expected is not None
    member.result = _widened(member.result, iter(types))
    expected = member.expected if member.hinted else _widened(member.expected, iter(types))
    if member.result != expected:
        name, place = member.function.name, parameter_span(member.python, "return")
        made, wanted = _words(member.result), _words(expected)
        if member.hinted:
            raise StagingTypeError(
                f"`{name}` should return {wanted}, and returns {made}", place, help="correct the hint"
            )
        raise StagingTypeError(
            f"`{name}` returns something else than its calls of itself were staged for",
            place,
            facts=(f"it returns {made}, and the calls give {wanted}",),
            help=member.remedy,
        )


def _widened(tree: Tree, types: Iterator[Type]) -> Tree:
    """`tree` with Reals for the Ints that have become Reals."""
    match tree:
        case Leaf():
            kind = next(types, None)
            return Leaf("real") if tree.kind == "int" and kind is REAL else tree
        case Node():
            return replace(tree, children=tuple([_widened(child, types) for child in tree.children]))
        case _:
            return tree


def _words(tree: Tree) -> str:
    match tree:
        case Leaf(kind="array" | "dyn", shape=shape, element=element):
            return f"an array of shape {shape} of {element.capitalize()}s"
        case Leaf(kind=kind):
            return f"{'an' if kind == 'int' else 'a'} {kind.capitalize()}"
        case Node(kind="none"):
            return "None"
        case Node(kind=kind, cls=cls):
            return f"a {cls.__name__ if cls else kind} of {len(tree.children)}"
        case _:
            return "a host value"
