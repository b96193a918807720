"""A staged function into its staged derivative: the programs of `transforms.derive` with structures around them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rosejit.abi import Leaf, Node, Tree, leaves
from rosejit.api.deferred import dense, derivative_programs, numbered_gradient
from rosejit.api.derivation.derivation_recipe import Recipe
from rosejit.api.specialisation import (
    Staged,
    is_real,
    mask_of,
    pair,
    scalar_result,
    tangents_of,
    tree_map,
    with_results,
    with_states,
    zero_of,
)
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
    trees = tuple(tangents_of(staged.trees[k]) for k in selected)
    return trees[0] if single else Node("tuple", trees)


def _in_order(staged: Staged, selected: list[int], cts: Atoms) -> list[ir.Atom]:
    """Cotangents of the parameters in the mask, in the order in which the arguments were selected."""
    found = iter(cts)
    by_argument = {k: _gathered(staged.trees[k], found) for k in sorted(set(selected))}
    return [ct for k in selected for ct in by_argument[k]]


def gradient(
    staged: Staged, names: tuple[str, ...], selected: list[int], single: bool, has_aux: bool, value: bool
) -> Staged:
    """The gradient with respect to the selected arguments; with `value` the pair of value and gradient; with `has_aux`
    what comes beside the value is kept beside it."""
    aux = scalar_result(staged, has_aux, "value_and_grad" if value else "grad")
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
        return (results[0], *rest, *grads, *states) if value else (*grads, *rest, *states)

    tree = _selection(staged, selected, single)
    if value:
        first = staged.result.children[0] if has_aux and isinstance(staged.result, Node) else staged.result
        tree = pair(pair(first, aux) if has_aux else first, tree)
    elif has_aux:
        tree = pair(tree, aux)
    words = ("gradient", mask, value, staged.states, _kinds_of(staged, selected))
    return staged.derived(Recipe(name, staged.program, words, make, as_numbers), tree)


def jacobian(staged: Staged, names: tuple[str, ...], selected: list[int], single: bool, mode: str) -> Staged:
    """For each leaf of the result the structure of the selected arguments, the result's axes first."""
    mask = mask_of(staged, selected, names)
    name = f"jac_{staged.name}"

    def make(f: ir.Function) -> ir.Function:
        program = dense.jacobian(f, mask, mode)
        assert program.body is not None
        found = iter(program.body.results)
        results: list[ir.Atom] = []
        for leaf in leaves(staged.result):
            if is_real(leaf):
                row = tuple(next(found) for _ in range(sum(mask)))
                results.extend(_in_order(staged, selected, row))
            else:
                results.append(zero_of(leaf))
        return with_states(with_results(program, name, tuple(results)), f, staged.states)

    selection = _selection(staged, selected, single)

    def block(leaf: Leaf) -> Tree:
        if not is_real(leaf):
            return tangents_of(leaf)
        return tree_map(selection, lambda inner: _stacked(leaf, inner) if is_real(inner) else inner)

    words = (
        "jacobian",
        mask,
        mode,
        staged.states,
        _kinds_of(staged, selected),
        [is_real(leaf) for leaf in leaves(staged.result)],
    )
    return staged.derived(Recipe(name, staged.program, words, make), tree_map(staged.result, block))


def _kinds_of(staged: Staged, selected: list[int]) -> list[Any]:
    """What decides the results for the selected arguments: their places, and which of their numbers are Real."""
    return [(k, [(leaf.kind, leaf.element) for leaf in leaves(staged.trees[k])]) for k in selected]


def _stacked(outer: Leaf, inner: Leaf) -> Leaf:
    shape = (*outer.shape, *inner.shape)
    return Leaf("array", shape) if shape else Leaf("real")
