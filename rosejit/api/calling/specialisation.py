"""A function staged for one key, and what derivatives make of it: IR, and the structures of arguments and result."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from rosejit.abi import Leaf, Node, Static, Tree, changed, leaves
from rosejit.api.deferred import apply_fastmath, value_words
from rosejit.api.derivation.derivation_recipe import Program, Recipe, function_of, source_of
from rosejit.containers import CHOSEN, COMPLEX, CONJUGATE, NARROW, OPTIONAL
from rosejit.errors import NotDifferentiable, StagingTypeError
from rosejit.frontend.session.custom_jvp import Primal, Ruled
from rosejit.frontend.values.host_scalars import Bound, number_kind
from rosejit.frontend.values.pytree import attributes, is_object
from rosejit.ir import syntax as ir
from rosejit.ir.types import is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span
from rosejit.transforms.passes.insert_copies import insert_copies, known_owned
from rosejit.transforms.passes.lengths_to_variables import open_names


@dataclass(slots=True, eq=False)
class Staged:
    """`program` takes the leaves of `trees`, then those of `source.captures` and of `source.outer`, and returns the
    leaves of `result`; `statics` are the host values in the result."""

    program: Program
    trees: tuple[Tree, ...]
    result: Tree
    statics: tuple[Any, ...]
    source: Any
    """What the frontend gave: what the code read from outside, and from the staging around it."""
    given: tuple[Any, ...] = ()
    """The host values in the arguments, in the order of `trees`: derivatives have them in the same places."""

    @property
    def function(self) -> ir.Function:
        """The program itself, derived now if it has not been."""
        return function_of(self.program)

    @property
    def name(self) -> str:
        """What the program is called."""
        return self.program.name

    @property
    def parameters(self) -> int:
        """How many parameters the program has."""
        return len(source_of(self.program).params) + len(open_lengths(self))

    @property
    def states(self) -> int:
        """How many of its last results are the states of generators of random numbers."""
        return len(changed(self.trees))

    def require_no_draws(self, what: str) -> None:
        """Refuse for `what` a function that is given generators of random numbers."""
        if self.states:
            raise StagingTypeError(
                f"{what} takes no function with a Generator among its arguments, as `{_title(self)}` has",
                self.span,
                help="make the generator inside, of a seed that is an argument: `np.random.default_rng(seed)`",
            )

    @property
    def span(self) -> Span | None:
        """Where the function is written."""
        return source_of(self.program).span

    def with_sum_order_fixed(self, fastmath: bool) -> "Staged":
        """The same, once the cycle of calls that it is in has been staged: then what the source says may be new."""
        program = self.program
        if isinstance(program, Recipe):
            if not fastmath:
                return self
            return replace(self, program=Recipe(program.name, program, ("fastmath",), apply_fastmath.apply_fastmath))
        if program.host is not None:
            return self
        program = self.source.function
        if fastmath:
            program.body = apply_fastmath.apply_fastmath(program).body  # in place: others may call it already
        if program is self.program and self.source.result is self.result:  # it calls nothing that was not whole
            return self
        return replace(self, program=program, result=self.source.result)

    def primal(self, title: str) -> Primal:
        """What a rule for `title` belongs to. Raises `NotDifferentiable` if that closes over staged values."""
        if self.states:
            raise NotDifferentiable(
                f"`{title}` has a rule and draws random numbers",
                self.span,
                help=f"draw outside, and give `{title}` the numbers: draws themselves have no derivative",
            )
        if self.source.outer:
            raise NotDifferentiable(
                f"`{title}` has a rule and closes over values that are staged",
                self.span,
                facts=("what the derivative with respect to these would be the rule does not say",),
                help=f"make them parameters of `{title}`: its rule gets the same parameters",
            )
        return Primal(title, self.function, self.trees, self.result, tuple(self.source.captures))

    def ruled(self, found: Ruled) -> "Staged":
        """The same with its rule."""
        return replace(self, program=found.function, source=replace(self.source, captures=found.captures))

    def derived(self, program: Program, result: Tree) -> "Staged":
        """The same arguments, another function of them, of whose result the host values are `Held`."""
        keys = [*static_keys(result)]
        if not any(key.__class__ is Held for key in keys):
            return replace(self, program=program, result=result)
        bare = with_host_values(result, iter([key.key for key in keys]))
        return replace(self, program=program, result=bare, statics=tuple([key.value for key in keys]))


@dataclass(slots=True, frozen=True)
class Held:
    """Takes the place of the key of a `Static` while the structure of a derivative is made: the key, and the value."""

    key: Any
    value: Any


def _holding(tree: Tree, values: Iterator[Any]) -> Tree:
    """`tree` with `Held` in place of the keys of its host values."""
    keys = [*static_keys(tree)]
    return with_host_values(tree, iter([Held(key, next(values)) for key in keys])) if keys else tree


def held(staged: Staged) -> tuple[tuple[Tree, ...], Tree]:
    """The structures of the arguments and of the result with their host values in them, as `Held`."""
    values = iter(staged.given)
    trees = tuple([_holding(tree, values) for tree in staged.trees])
    return trees, _holding(staged.result, iter(staged.statics))


def slopes_held(staged: Staged) -> tuple[Tree, ...]:
    """The structures of derivatives by the arguments, with what stands there for their host values."""
    values = map(slope_of, staged.given)
    return tuple([_holding(tree, values) for tree in staged.trees])


def static_keys(tree: Tree) -> Iterator[Any]:
    """The keys of the host values in a structure, in order."""
    if isinstance(tree, Static):
        yield tree.key
    elif isinstance(tree, Node):
        for child in tree.children:
            yield from static_keys(child)


def of_arguments(trees: Sequence[Tree], values: Sequence[Any]) -> tuple[tuple[Tree, ...], list[Any]]:
    """The structures of the arguments in derivatives, and the host values in them: an argument that is one is None."""
    found, kept, rest = [], [], iter(values)
    for tree in trees:
        own = [value for _, value in zip(static_keys(tree), rest, strict=False)]
        found.append(Node("none") if isinstance(tree, Static) else tree)
        kept += [] if isinstance(tree, Static) else own
    return tuple(found), kept


def slope_of(value: Any) -> Any:
    """What stands in a derivative where the host keeps a value: zero for a number, so that `p - rate * gradient` leaves
    it what it is, and all else itself.
    """
    return value.__class__(0) if value.__class__ in (bool, int, float) else value


def open_lengths(staged: Staged) -> tuple[str, ...]:
    """The names of the lengths that are open: the program takes an Int for each, behind all else."""
    return open_names(source_of(staged.program))


def require_lengths(staged: Staged, what: str) -> None:
    """Refuse for `what` arrays whose lengths stay open."""
    if open_lengths(staged):
        raise StagingTypeError(
            f"{what} of `{_title(staged)}` is not made for arrays whose lengths stay open",
            staged.span,
            help="`rose.ShapeOf(10)` has a length; what may be open are functions, `grad` and `value_and_grad`",
        )


def _title(staged: Staged) -> str:
    """The name of the function as users write it."""
    return staged.span.function.rpartition(".")[2] if staged.span is not None else staged.name


def _kind(leaf: Leaf) -> str:
    return leaf.element if leaf.kind in ("array", "dyn") else leaf.kind


def is_real(leaf: Leaf) -> bool:
    """Whether a derivative with respect to the leaf exists."""
    return _kind(leaf) == "real"


def tree_map(tree: Tree, change: Callable[[Leaf], Tree], keeps: bool = True) -> Tree:
    """`tree` with its leaves changed; host values stay, or become `None` (what running chose among some does), and
    dicts may have their keys in any order."""
    match tree:
        case Leaf(cls=cls):
            return change(tree if cls is None else replace(tree, cls=None))
        case Node() if changed((tree,)) and hasattr(tree.cls, "__rose_after__"):
            return change(leaves(tree)[0])
        case Node() if not keeps and is_of_host(tree):
            return Node("none")
        case Node(cls=type() as cls) if hasattr(cls, "__rose_dynamic__"):
            raise NotDifferentiable(
                f"there is no derivative of, or by, a {cls.__name__} whose length only running tells",
                help="differentiate a number that is made of it, or put its items in an array of a known length",
            )
        case Node(kind=CHOSEN.name):
            return replace(tree, state="nothing")
        case Node():
            children = tuple([tree_map(child, change, keeps) for child in tree.children])
            return replace(tree, children=children, ordered=False)
        case Static():
            return tree if keeps else Node("none")


def is_of_host(tree: Tree) -> bool:
    """Whether a part of a result is a value of the host, or one of several, or such a one or None."""
    told = isinstance(tree, Static) or (isinstance(tree, Node) and tree.kind in (CHOSEN.name, OPTIONAL.name))
    return told and not any(map(is_real, leaves(tree)))


def with_host_values(tree: Tree, values: Iterator[Any]) -> Tree:
    """`tree` with the host values themselves in place of their keys."""
    match tree:
        case Leaf():
            return tree
        case Node():
            return replace(tree, children=tuple(with_host_values(child, values) for child in tree.children))
        case Static():
            return Static(next(values))


def tangents_of(tree: Tree) -> Tree:
    """The structure of tangents of `tree`: numbers without a derivative stay in it, as zeros of their kind, and host
    values as they are."""
    return tree_map(tree, lambda leaf: leaf if is_real(leaf) else Leaf("bool" if _kind(leaf) == "bool" else "int"))


def require_real(staged: Staged, what: str) -> None:
    """Refuse for `what` a function that takes or gives complex numbers."""
    if holds_complex(staged.result) or any(map(holds_complex, staged.trees)):
        refuse_complex(staged, f"{what} takes no function of complex numbers", "split them: `z.real`, `z.imag`")


def holds_conjugate(tree: Tree) -> bool:
    """Whether gradients by complex numbers are in a structure, as derivative programs leave them."""
    return isinstance(tree, Node) and (tree.kind == CONJUGATE.name or any(map(holds_conjugate, tree.children)))


_CONJUGATED = {COMPLEX.name: CONJUGATE.name, CONJUGATE.name: COMPLEX.name}


def cotangents_of(tree: Tree) -> Tree:
    """As `tangents_of`, for cotangents: that of a complex number `x + yi` is du/dx - i du/dy, as JAX has it."""
    return conjugated(tangents_of(tree))


def conjugated(tree: Tree) -> Tree:
    """The structure of cotangents of `tree`."""
    if not isinstance(tree, Node):
        return tree
    return replace(tree, kind=_CONJUGATED.get(tree.kind, tree.kind), children=tuple(map(conjugated, tree.children)))


def holds_complex(tree: Tree) -> bool:
    """Whether complex numbers are in a structure."""
    return isinstance(tree, Node) and (tree.kind in _CONJUGATED or any(map(holds_complex, tree.children)))


def holds_narrow(tree: Tree) -> bool:
    """Whether numbers of few bits are in a structure."""
    return isinstance(tree, Node) and (tree.kind == NARROW.name or any(map(holds_narrow, tree.children)))


def only_complex(tree: Tree) -> bool:
    """Whether nothing but complex numbers is in a structure."""
    return isinstance(tree, Node) and (tree.kind in _CONJUGATED or all(map(only_complex, tree.children)))


def only_real(tree: Tree) -> Tree:
    """The structure of tangents and cotangents that are given: `None` for what has no derivative. Of numbers of few
    bits they may be wider."""
    return tree_map(_of_64_bits(tree), lambda leaf: leaf if is_real(leaf) else Node("none"), keeps=False)


def _of_64_bits(tree: Tree) -> Tree:
    if not isinstance(tree, Node):
        return tree
    if tree.kind == NARROW.name:
        return tree.children[0]
    return replace(tree, children=tuple(map(_of_64_bits, tree.children)))


def pair(one: Tree, other: Tree) -> Node:
    """A tuple of two."""
    return Node("tuple", (one, other))


# --- which arguments

Argnums = int | str | tuple[int | str, ...]


_ARGNUMS = "`argnums` is a number, a name, or a tuple of them"


def normalised_argnums(argnums: Any) -> Argnums:
    """`argnums` as a user may write it (a list, an integer of NumPy), told from its equals: `True` is no 1."""
    if isinstance(argnums, (tuple, list)):
        return tuple([_normalised_argnum(each) for each in argnums])
    return _normalised_argnum(argnums)


def _normalised_argnum(each: Any) -> int | str:
    if isinstance(each, str):
        return each
    if number_kind(each) != "int":
        raise NotDifferentiable(f"there is no argument {each!r}", help=_ARGNUMS)
    return operator.index(each)


def positions(argnums: Argnums, names: tuple[str, ...], title: str) -> list[int]:
    """Argument numbers or names as numbers. Raises `NotDifferentiable` for one that does not exist."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    found: list[int] = []
    for each in wanted:
        if isinstance(each, str) and each in names:
            found.append(names.index(each))
        elif isinstance(each, int) and -len(names) <= each < len(names):
            found.append(each % len(names))
        else:
            raise NotDifferentiable(
                f"`{title}` has no argument `{each}`" if isinstance(each, str) else f"`{title}` has no argument {each}",
                facts=(f"its arguments are {', '.join(f'`{name}`' for name in names) or 'none'}",),
                help=_ARGNUMS,
            )
    return found


def mask_of(staged: Staged, selected: list[int], names: tuple[str, ...]) -> tuple[bool, ...]:
    """For each parameter of the IR whether it belongs to a selected argument and is real."""
    flags: list[bool] = []
    for k, tree in enumerate(staged.trees):
        own = [k in selected and is_real(leaf) for leaf in leaves(tree)]
        if k in selected and not any(own) and not _is_empty(tree):
            raise NotDifferentiable(
                f"`{_title(staged)}` has no derivative with respect to `{names[k]}`",
                staged.span,
                facts=(f"`{names[k]}` is {_words(held(staged)[0][k])}",),
                help=_remedy(staged, k, names),
            )
        flags += own
    return tuple(flags) + (False,) * (staged.parameters - len(flags))


def _is_empty(tree: Tree) -> bool:
    return isinstance(tree, Node) and not leaves(tree)


def _words(tree: Tree) -> str:
    if isinstance(tree, Static):
        bound = " that `functools.partial` binds" if tree.key.value.__class__ is Bound else ""
        return f"a host value{bound}: {value_words.described(tree.key.value)}"
    kinds = {_kind(leaf) for leaf in leaves(tree)}
    return f"made of {' and '.join(sorted(kind.capitalize() for kind in kinds))}"


def _remedy(staged: Staged, k: int, names: tuple[str, ...]) -> str:
    """How to make argument `k` one with a derivative, or which others have one."""
    tree, name = held(staged)[0][k], names[k]
    tree = tree.children[0] if isinstance(tree, Node) and tree.kind == NARROW.name else tree
    others = [other for other, each in enumerate(staged.trees) if other != k and any(map(is_real, leaves(each)))]
    rest = "".join([f"; or differentiate with respect to `{names[other]}`: `argnums={other}`" for other in others[:1]])
    if isinstance(tree, Static):
        return _remedy_of_value(tree.key.value, name) + rest
    kinds = {_kind(leaf) for leaf in leaves(tree)}
    if "int" not in kinds:
        return f"pass numbers in place of truth values: `1.0` and `0.0`{rest}"
    if isinstance(tree, Leaf) and tree.kind in ("int", "bool"):
        return f"pass a float: `float({name})`; where its hint is `int`, make that `float`{rest}"
    if isinstance(tree, Leaf):
        return f"pass floats: `{name}.astype(float)`; where its hint says `int`, leave that out{rest}"
    return f"pass floats in it, as `1.0` for `1`; where a hint says `int`, write `float`{rest}"


def _remedy_of_value(value: Any, name: str) -> str:
    """What to pass in place of a host value."""
    cls = type(value)
    if cls is Bound:
        return f"pass it in the call, `{name}=...`, or write a function that takes `{name}` in place of the partial"
    if number_kind(value) is not None:
        return f"pass it in the call, as a float: `{name}={float(value)!r}`"
    if hasattr(cls, "__next__") or isinstance(value, (set, frozenset, range)):
        return f"pass a list of its numbers: `list({name})`"
    if is_object(value):
        first = [*attributes(value).items()][:1]
        fields = "".join([f", with `{field}: {type(held).__name__}`" for field, held in first])
        return f"make `{cls.__name__}` a `@dataclass` that declares its fields{fields}, or pass its numbers themselves"
    return f"pass numbers, arrays, or structures of such, in place of `{name}`"


# --- results


def refuse_complex(staged: Staged, what: str, help_text: str) -> NoReturn:
    """Raise for a derivative that complex numbers do not have."""
    raise NotDifferentiable(
        what, staged.span, facts=(f"`{_title(staged)}` returns {_shown(staged.result)}",), help=help_text
    )


def require_holomorphic(staged: Staged, selected: list[int], who: str) -> None:
    """Raise `NotDifferentiable` where `holomorphic=True` is said of arguments that are not complex."""
    for k in selected:
        if not only_complex(staged.trees[k]):
            raise NotDifferentiable(
                f"`{who}` with `holomorphic=True` needs complex arguments",
                staged.span,
                facts=(f"argument {k} of `{_title(staged)}` is {_shown(staged.trees[k])}",),
                help="pass `complex(x)`, or leave out `holomorphic=True`",
            )


def scalar_result(staged: Staged, has_aux: bool, who: str, holomorphic: bool = False) -> Tree:
    """The structure of what `has_aux` sets apart (an empty one without). Raises `NotDifferentiable` where the function
    is not one Real (or complex number, where it is `holomorphic`), or not a pair that begins with one."""
    tree = staged.result
    if has_aux:
        if not (isinstance(tree, Node) and tree.kind == "tuple" and len(tree.children) == 2):
            raise NotDifferentiable(
                f"`{who}` with `has_aux` needs a function that returns a pair",
                staged.span,
                facts=(f"`{_title(staged)}` returns {_shown(tree)}",),
                help="return `(value, aux)`",
            )
        tree, aux = tree.children
    else:
        aux = Node("none")
    if holomorphic and not _is_complex_number(tree):
        raise NotDifferentiable(
            f"`{who}` with `holomorphic=True` needs a function that returns one complex number",
            staged.span,
            facts=(f"`{_title(staged)}` returns {_shown(tree)}",),
            help="leave out `holomorphic=True` for a function with a real result",
        )
    if not holomorphic and _is_complex_number(tree):
        raise NotDifferentiable(
            f"`{who}` needs a function that returns one Real",
            staged.span,
            facts=(f"`{_title(staged)}` returns a complex number",),
            help=f"if it is holomorphic, write `rose.{who}(f, holomorphic=True)`; else return `abs(z)`, `z.real`, ...",
        )
    tree = tree.children[0] if isinstance(tree, Node) and tree.kind == NARROW.name else tree
    if not holomorphic and tree not in (Leaf("real"), Leaf("int")):  # an Int is a constant as far as derivatives go
        raise NotDifferentiable(
            f"`{who}` needs a function that returns one Real",
            staged.span,
            facts=(f"`{_title(staged)}` returns {_shown(tree)}",),
            help=_remedy_of_result(tree),
        )
    return aux


def _remedy_of_result(tree: Tree) -> str:
    """How to make a result one Real."""
    if tree == Node("none"):
        return NO_RETURN
    if isinstance(tree, Static) or tree == Leaf("bool") or tree.kind == CHOSEN.name:
        return "return the number that is to be differentiated"
    if isinstance(tree, Leaf):
        return "make it one number, as `.sum()` does; the derivative of each element is `rose.jacobian`, or `rose.vjp`"
    if tree.kind == "tuple" and len(tree.children) == 2 and tree.children[0] == Leaf("real"):
        return "with `has_aux=True` only the first is differentiated; `rose.jacobian` and `rose.vjp` take other results"
    return "use `rose.jacobian` or `rose.vjp` for other results, or return one number of it"


NO_RETURN = "`return` what it has computed: it ends without a `return`, or with one of nothing"


def _is_complex_number(tree: Tree) -> bool:
    return isinstance(tree, Node) and tree.kind in _CONJUGATED and tree.children[0] == Leaf("real")


def _shown(tree: Tree) -> str:
    match tree:
        case Leaf(kind="array", shape=shape):
            return f"an array of shape {shape}"
        case Leaf(kind="dyn"):
            return "an array whose length only the run knows"
        case Leaf(kind=kind):
            return {"real": "a Real", "int": "an Int", "bool": "a Bool"}[kind]
        case Node(kind="none"):
            return "None"
        case Node(kind="complex" | "conjugate"):
            return "complex"
        case Node(kind="optional", children=(_, held)):
            return f"{_shown(held)} or None"
        case Node(kind="chosen", children=(_, *options)):
            return f"one of {len(options)} host values"
        case Node(kind="narrow", children=children, state=name):
            return f"{_shown(children[0])}, in {name}"
        case Node(kind=kind, cls=cls):
            return f"a {cls.__name__ if cls else kind}"
        case Static():
            return "a host value"


def zero_of(leaf: Leaf) -> ir.Atom:
    """What stands in a gradient for a number that has none."""
    return ir.FALSE if _kind(leaf) == "bool" else ir.integer(0)


def with_states(made: ir.Function, f: ir.Function, count: int) -> ir.Function:
    """`made`, which takes the parameters of `f`, with the last `count` results of `f` behind its own."""
    if not count:
        return made
    assert made.body is not None
    found = tuple([ir.Var(t, "state") for t in f.results])
    call = ir.Let(found, ir.Call(f, made.params), made.span)
    results = (*made.body.results, *found[-count:])
    types = tuple([a.type for a in results])
    body = ir.Block([*made.body.lets, call], results)
    return insert_copies(ir.Function(made.name, made.params, types, body, made.own, span=made.span))


def of_values(staged: Staged) -> Staged:
    """`staged` for derivatives: of what may be None and has numbers with derivatives the value, without which the
    running code raises."""
    if not may_be_none(staged.result):
        return staged
    f = staged.function
    params = tuple([ir.Var(v.type, v.hint) for v in f.params])
    found = tuple([ir.Var(t, "found") for t in f.results])
    lets: list[ir.Let] = [ir.Let(found, ir.Call(f, params), f.span)]
    kept: list[ir.Atom] = []
    atoms = iter(found)
    result = _valued(staged, staged.result, atoms, lets, kept)
    results = (*kept, *atoms)  # and the states of generators
    types = tuple([a.type for a in results])
    made = ir.Function(f.name, params, types, ir.Block(lets, results), f.own, span=f.span)
    return staged.derived(insert_copies(made), result)


def may_be_none(tree: Tree) -> bool:
    """Whether a part of a result that has numbers with derivatives is one or None, which only running tells."""
    if not isinstance(tree, Node):
        return False
    return (tree.kind == OPTIONAL.name and any(map(is_real, leaves(tree)))) or any(map(may_be_none, tree.children))


def _valued(staged: Staged, tree: Tree, found: Iterator[ir.Var], lets: list[ir.Let], kept: list[ir.Atom]) -> Tree:
    if isinstance(tree, Leaf):
        kept.append(next(found))
        return tree
    if not isinstance(tree, Node):
        return tree
    if tree.kind != OPTIONAL.name or not may_be_none(tree):
        return replace(tree, children=tuple([_valued(staged, child, found, lets, kept) for child in tree.children]))
    words = f"the derivative of `{_title(staged)}` is taken where its result is None"
    lets.append(ir.Let((), ir.Check(next(found), ir.Failure("none", words, staged.span)), staged.span))
    return _valued(staged, tree.children[1], found, lets, kept)


def with_results(f: ir.Function, name: str, results: tuple[ir.Atom, ...]) -> ir.Function:
    """`f` with other results, of variables of its body and constants."""
    assert f.body is not None
    body = ir.Block(f.body.lets, results)
    made = ir.Function(name, f.params, tuple(a.type for a in results), body, f.own, span=f.span)
    boxed = [a for a in results if is_boxed(a.type)]
    kept = len(set(boxed)) == len(boxed) and set(boxed) <= set(f.body.results)
    return known_owned(made) if kept and f.derived.get("own") is f else insert_copies(made)
