"""A staged function into its staged derivative: the programs of `transforms.derive` with structures around them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api.calling.specialisation import (
    Staged,
    cotangents_of,
    held,
    holds_complex,
    is_real,
    mask_of,
    only_complex,
    pair,
    refuse_complex,
    require_holomorphic,
    scalar_result,
    slopes_held,
    tangents_of,
    tree_map,
    with_results,
    with_states,
    zero_of,
)
from rosejit.api.deferred import dense, derivative_programs, numbered_gradient
from rosejit.api.derivation.derivation_recipe import Recipe
from rosejit.containers import CHOSEN, COMPLEX, CONJUGATE
from rosejit.ir import syntax as ir

if TYPE_CHECKING:
    from rosejit.transforms.straightline.op_rows import OpRows
    from rosejit.transforms.straightline.routine_ir import RoutineProgram

Atoms = tuple[ir.Atom, ...]


def _gathered(tree: Tree, found: Iterator[ir.Atom]) -> list[ir.Atom]:
    """For each leaf its derivative; zeros for numbers that have none."""
    return [next(found) if is_real(leaf) else zero_of(leaf) for leaf in leaves(tree)]


def _selection(staged: Staged, selected: list[int], single: bool) -> Tree:
    """The structure of the selected arguments: the argument itself, or a tuple."""
    given = slopes_held(staged)
    trees = tuple(cotangents_of(given[k]) for k in selected)
    return trees[0] if single else Node("tuple", trees)


def _in_order(staged: Staged, selected: list[int], cts: Atoms) -> list[ir.Atom]:
    """Cotangents of the parameters in the mask, in the order in which the arguments were selected."""
    found = iter(cts)
    by_argument = {k: _gathered(staged.trees[k], found) for k in sorted(set(selected))}
    return [ct for k in selected for ct in by_argument[k]]


def gradient(
    staged: Staged,
    names: tuple[str, ...],
    selected: list[int],
    single: bool,
    *,
    has_aux: bool,
    value: bool,
    holomorphic: bool = False,
) -> Staged:
    """The gradient with respect to the selected arguments; with `value` the pair of value and gradient; with `has_aux`
    what comes beside the value is kept beside it. Of a holomorphic function that of the real part says all."""
    who = "value_and_grad" if value else "grad"
    staged = replace(staged, result=held(staged)[1])
    aux = scalar_result(staged, has_aux, who, holomorphic)
    if holomorphic:
        require_holomorphic(staged, selected, who)
    mask = mask_of(staged, selected, names)
    name = f"grad_{staged.name}"

    def make(f: ir.Function) -> ir.Function:
        program = derivative_programs.gradient(f, mask, value=True)
        assert program.body is not None
        return with_results(program, name, arranged(program.body.results))

    def as_numbers(given: "OpRows") -> "RoutineProgram | None":
        return numbered_gradient.gradient(given, mask, name, arranged)

    def arranged(results: tuple[Any, ...]) -> tuple[Any, ...]:
        n = sum(mask)
        grads = tuple(_in_order(staged, selected, results[1 : 1 + n]))
        rest, states = results[1 + n : len(results) - staged.states], results[len(results) - staged.states :]
        return (results[0], *rest, *grads, *states) if value else (*grads, *rest[holomorphic:], *states)

    tree = _selection(staged, selected, single)
    if value:
        first = staged.result.children[0] if has_aux and isinstance(staged.result, Node) else staged.result
        tree = pair(pair(first, aux) if has_aux else first, tree)
    elif has_aux:
        tree = pair(tree, aux)
    words = ("gradient", mask, value, holomorphic, staged.states, _kinds_of(staged, selected))
    return staged.derived(Recipe(name, staged.program, words, make, as_numbers), tree)


def jacobian(
    staged: Staged, names: tuple[str, ...], selected: list[int], single: bool, mode: str, holomorphic: bool = False
) -> Staged:
    """For each leaf of the result the structure of the selected arguments, the result's axes first. What is complex
    counts as one leaf."""
    _check_complex(staged, selected, mode, holomorphic)
    tangents_of(staged.result)  # raises where there are none
    mask = mask_of(staged, selected, names)
    name = f"jac_{staged.name}"
    tree, order = _Blocks(_selection(staged, selected, single)).of(held(staged)[1])

    def make(f: ir.Function) -> ir.Function:
        program = dense.jacobian(f, mask, mode)
        assert program.body is not None
        found = iter(program.body.results)
        rows: list[list[ir.Atom]] = []
        for leaf in leaves(staged.result):
            row = tuple(next(found) for _ in range(sum(mask))) if is_real(leaf) else None
            rows.append([zero_of(leaf)] if row is None else _in_order(staged, selected, row))
        results = tuple([rows[i][j] for i, j in order])
        return with_states(with_results(program, name, results), f, staged.states)

    words = ("jacobian", mask, mode, staged.states, _kinds_of(staged, selected), order)
    return staged.derived(Recipe(name, staged.program, words, make), tree)


def _check_complex(staged: Staged, selected: list[int], mode: str, holomorphic: bool) -> None:
    """Raise where the Jacobian has no meaning by JAX's conventions."""
    who = {"fwd": "jacfwd", "rev": "jacrev"}.get(mode, "jacobian")
    given = any(holds_complex(staged.trees[k]) for k in selected)
    if holomorphic:
        require_holomorphic(staged, selected, who)
    if holomorphic and not only_complex(staged.result):
        refuse_complex(staged, f"`{who}` with `holomorphic=True` needs complex results", "leave out `holomorphic=True`")
    if given and not holomorphic and (mode == "fwd" or holds_complex(staged.result)):
        what = f"`{who}` with respect to complex arguments needs a function with real results, and reverse mode"
        refuse_complex(staged, what, f"of a holomorphic function write `rose.{who}(f, holomorphic=True)`")


class _Blocks:
    """Makes the structure of a Jacobian; each of its leaves is a leaf of the result by one of the selected arguments.
    Of these `selection` is the structure of cotangents."""

    def __init__(self, selection: Tree) -> None:
        self._selection = selection
        self._row = 0

    def of(self, tree: Tree) -> tuple[Tree, list[tuple[int, int]]]:
        """The blocks of a part of the result, and the leaves of result and arguments that meet there."""
        if isinstance(tree, Node) and tree.kind in (COMPLEX.name, CONJUGATE.name):
            row, self._row = self._row, self._row + 2
            return self._complex(tree, row, self._selection, iter(range(len(leaves(self._selection)))))
        if isinstance(tree, Node) and tree.kind == CHOSEN.name:
            self._row += 1
            return tangents_of(tree), [(self._row - 1, 0)]
        if isinstance(tree, Node):
            parts = [self.of(child) for child in tree.children]
            whole = replace(tree, children=tuple([part for part, _ in parts]), ordered=False)
            return whole, [place for _, places in parts for place in places]
        if not isinstance(tree, Leaf):
            return tree, []
        row, self._row = self._row, self._row + 1
        if not is_real(tree):
            return tangents_of(tree), [(row, 0)]
        block = tree_map(self._selection, lambda inner: _stacked(tree, inner) if is_real(inner) else inner)
        return block, [(row, column) for column in range(len(leaves(self._selection)))]

    def _complex(
        self, whole: Node, row: int, selection: Tree, columns: Iterator[int]
    ) -> tuple[Tree, list[tuple[int, int]]]:
        """Of a complex part of the result: by a complex argument the derivatives along the real axis say all."""
        if isinstance(selection, Leaf):
            column = next(columns)
            if not is_real(selection):
                return selection, [(row, column)]
            return replace(whole, children=(_stacked(leaves(whole)[0], selection),) * 2), [
                (row, column),
                (row + 1, column),
            ]
        if isinstance(selection, Node) and selection.kind == CONJUGATE.name:
            found = self._complex(whole, row, selection.children[0], columns)
            next(columns)
            return found
        assert isinstance(selection, Node)
        parts = [self._complex(whole, row, child, columns) for child in selection.children]
        made = replace(selection, children=tuple([part for part, _ in parts]))
        return made, [place for _, places in parts for place in places]


def _kinds_of(staged: Staged, selected: list[int]) -> list[Any]:
    """What decides the results for the selected arguments: their places, and which of their numbers are Real."""
    return [(k, [(leaf.kind, leaf.element) for leaf in leaves(staged.trees[k])]) for k in selected]


def _stacked(outer: Leaf, inner: Leaf) -> Leaf:
    shape = (*outer.shape, *inner.shape)
    return Leaf("array", shape) if shape else Leaf("real")
