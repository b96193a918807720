"""Stages products of arrays: sums, over indices that several arrays share, of products of their elements."""

# Values of users are of any type: what they are is asked while staging.

import itertools
import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.access import build, element, number
from rosejit.frontend.arrays.array import Array, atom_of, fresh, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, logical
from rosejit.frontend.arrays.reductions import FREE_SUM, Labels, added_up, atom, is_short, runs_along
from rosejit.frontend.numpy import blas
from rosejit.frontend.numpy.manipulation import reshape, reshaped
from rosejit.frontend.values.open_lengths import is_one
from rosejit.frontend.values.scalars import type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Block, Lit, Loop, Var, integer
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar
from rosejit.numeric import np


def contracted(tape: Tape, operands: Sequence[tuple[Array, Labels]], result: Labels, name: str) -> Any:
    """The array with the axes `result`: the products of the elements of all operands, summed over the other names."""
    lengths = _lengths(tape, operands, name)
    kind = _product_type(tape, [a.type for a, _ in operands], name)
    summed = [label for label in lengths if label not in result]
    for a, _ in operands:
        atom_of(tape, a.box)
    if blas.is_wanted(tape) and (by_routine := blas.product(tape, operands, result, lengths)) is not None:
        return by_routine

    def term(places: dict[Any, Atom]) -> Any:
        factors = [wrap(tape, _element(a, labels, places, lengths)) for a, labels in operands]
        found = factors[0]
        for factor in factors[1:]:
            found = found * factor
        return found

    def level(left: list[Any], places: dict[Any, Atom], start: Atom) -> Atom:
        if not left:
            return atom(tape, FREE_SUM.get(kind, operator.add)(wrap(tape, start), term(places)), kind)
        carry, index = Var(kind, "total"), Var(INT, "k")
        with tape.block() as lets:
            back = level(left[1:], {**places, left[0]: index}, carry)
        loop = Loop(Lit(lengths[left[0]], INT), index, (carry,), (start,), (), Block(lets, (back,)))
        return tape.bind(loop, kind, "total")

    def cell(indices: tuple[Atom, ...]) -> Atom:
        places = dict(zip(result, indices, strict=True))
        if not summed and (len(operands) == 1 or kind is not REAL):  # what NumPy multiplies it adds to zeros
            return atom(tape, term(places), kind)
        return level(summed, places, Lit(0 if kind is INT else 0.0, kind))

    def few(indices: tuple[Atom, ...]) -> Atom:
        places, total = dict(zip(result, indices, strict=True)), wrap(tape, Lit(0.0, kind))
        for at in itertools.product(*[range(lengths[label]) for label in summed]):
            now = dict(zip(summed, map(integer, at), strict=True))
            total = FREE_SUM.get(kind, operator.add)(total, term({**places, **now}))
        return atom(tape, total, kind)

    shape = tuple(lengths[label] for label in result)
    across = kind is not INT and _goes_across(operands, result, lengths)
    whole = across and _are_few([lengths[label] for label in summed])
    if across and not whole:
        order = [*result[:-1], *summed, result[-1]]
        return fresh(tape, added_up(tape, kind, {label: lengths[label] for label in order}, result, term))
    made = build(tape, shape, kind, few if whole else cell)
    return fresh(tape, made) if result and isinstance(made, Var) else number(tape, made)


FEW = 4
"""Terms of a sum up to which it is written whole: each element is then made and stored once, by loops that are
neighbours of others. With more, sums whose terms are added a row at a time have the faster derivatives."""


def _are_few(lengths: list[int]) -> bool:
    """Whether sums over axes of these lengths have few terms, and some."""
    return all([is_short(n) for n in lengths]) and 0 < prod(lengths) <= FEW


def _goes_across(operands: Sequence[tuple[Array, Labels]], result: Labels, lengths: dict[Any, int]) -> bool:
    """Whether sums are made side by side, a term of each at a time: then what lies side by side is read so."""
    if not result:
        return False
    of_column = [(a, labels) for a, labels in operands if result[-1] in labels]
    sums = any([label not in result for _, labels in of_column for label in labels])
    return sums and all([runs_along(a, labels, result[-1]) for a, labels in of_column])


def _lengths(tape: Tape, operands: Sequence[tuple[Array, Labels]], name: str) -> dict[Any, int]:
    """How long each axis is; one of length 1 is repeated where it has no partner of its own length."""
    found: dict[Any, int] = {}
    for a, labels in operands:
        for label, length in zip(labels, a.shape, strict=True):
            known = found.setdefault(label, length)
            if not is_one(known) and not is_one(length) and known != length:
                raise _misfit(tape, operands, name, f"{known} is not {length}")
            found[label] = length if is_one(known) else known
    return found


def _misfit(tape: Tape, operands: Sequence[tuple[Array, Labels]], name: str, why: str) -> Any:
    shapes = " and ".join(str(a.shape) for a, _ in operands)
    return tape.fault(ShapeError, f"`{name}`: shapes {shapes} do not fit: {why}")


def _element(a: Array, labels: Labels, places: dict[Any, Atom], lengths: dict[Any, int]) -> Atom:
    pairs = zip(labels, a.shape, strict=True)
    return element(
        a, tuple(Lit(0, INT) if is_one(n) and not is_one(lengths[label]) else places[label] for label, n in pairs)
    )


def _product_type(tape: Tape, kinds: list[Scalar], name: str) -> Scalar:
    """The type of a sum of products."""
    if BOOL in kinds and set(kinds) == {BOOL}:
        raise tape.type_fault(f"`{name}` of truth values", "count with `.astype(int)`, or use `np.any(a & b)`")
    return TAN if TAN in kinds else REAL if REAL in kinds else INT


def _known(operands: Sequence[Array], host: Callable[..., Any]) -> Any:
    """What NumPy says of operands that staging knows; None if it does not know them."""
    data = [host_data(a) for a in operands]
    if any(value is None for value in data):
        return None
    found = host(*data)
    return of_host(operands[0].tape, found) if getattr(found, "ndim", 0) else found.item()


# --- matrices


def matmul(a: Array, b: Array, name: str = "@") -> Any:
    """`a @ b`: of vectors, matrices, and stacks of matrices, which are broadcast."""
    tape = a.tape
    if not a.ndim or not b.ndim:
        raise tape.fault(ShapeError, f"`{name}` of a number and an array", help="write `*`")
    if a.shape[-1] != b.shape[-min(2, b.ndim)]:
        facts = [(a, ()), (b, ())]
        raise _misfit(tape, facts, name, f"{a.shape[-1]} is not {b.shape[-min(2, b.ndim)]}")
    found = _known((a, b), np.matmul)
    if found is not None:
        return found
    if a.ndim > b.ndim == 2 and blas.is_wanted(tape):  # one product of all rows
        rows = matmul(reshaped(a, (prod(a.shape[:-1]), a.shape[-1])), b, name)
        return reshaped(rows, (*a.shape[:-1], b.shape[-1]))
    stacks = max(a.ndim, b.ndim) - 2
    rows = "row" if a.ndim > 1 else None
    columns = "column" if b.ndim > 1 else None
    left = [*range(stacks - max(a.ndim - 2, 0), stacks), rows, "inner"] if rows else ["inner"]
    right = [*range(stacks - max(b.ndim - 2, 0), stacks), "inner", columns] if columns else ["inner"]
    result = [*range(max(stacks, 0)), *(label for label in (rows, columns) if label)]
    return contracted(tape, [(a, left), (b, right)], result, name)


def matmul_of(x1: Array, x2: Any) -> Any:
    """`np.matmul`."""
    return matmul(x1, _other(x1, x2, "matmul"), "matmul")


def dot(a: Array, b: Any, name: str = "dot") -> Any:
    """`np.dot`: sums over the last axis of `a` and the last but one of `b`; a product with a number."""
    other = b if not isinstance(b, (list, tuple)) else as_array(a.tape, b)
    if other is None or isinstance(other, (str, bytes, dict, set)):
        raise a.tape.type_fault(f"`{name}` takes an array, given {type(b).__name__}")
    if isinstance(other, np.ndarray):
        other = of_host(a.tape, other)
    if other.__class__ is not Array or not other.shape or not a.shape:
        return _times_number(a, other)
    if max(a.ndim, other.ndim) < 3:
        return matmul(a, other, name)
    left = [*(("a", k) for k in range(a.ndim - 1)), "inner"]
    right: list[Any] = [("b", k) for k in range(other.ndim)]
    right[-min(2, other.ndim)] = "inner"
    return _contracted_two(a, other, left, right, name)


def inner(a: Array, b: Any) -> Any:
    """`np.inner`: sums over the last axes."""
    other = _other(a, b, "inner")
    if not other.shape or not a.shape:
        return _times_number(a, other)
    left = [*(("a", k) for k in range(a.ndim - 1)), "inner"]
    right = [*(("b", k) for k in range(other.ndim - 1)), "inner"]
    return _contracted_two(a, other, left, right, "inner")


def vdot(a: Array, b: Any) -> Any:
    """`np.vdot`."""
    return inner(reshape(a, -1), reshape(_other(a, b, "vdot"), -1))


def outer(a: Array, b: Any) -> Any:
    """`np.outer`."""
    left, right = reshape(a, -1, 1), reshape(_other(a, b, "outer"), 1, -1)
    return _times(left, right)


def tensordot(a: Array, b: Any, axes: Any = 2) -> Any:
    """`np.tensordot`."""
    other = _other(a, b, "tensordot")
    if not a.shape and not other.shape:
        return _times(a, other)
    pairs: Any = (list(range(-axes, 0)), list(range(axes))) if isinstance(axes, int) else axes
    first, second = ([k] if isinstance(k, int) else list(k) for k in pairs)
    left: list[Any] = [("a", k) for k in range(a.ndim)]
    right: list[Any] = [("b", k) for k in range(other.ndim)]
    for number_, (k, j) in enumerate(zip(first, second, strict=True)):
        left[k] = right[j] = number_
    return _contracted_two(a, other, left, right, "tensordot")


def kron(a: Array, b: Any) -> Any:
    """`np.kron`."""
    other = _other(a, b, "kron")
    rank = max(a.ndim, other.ndim)
    shapes = [(1,) * (rank - x.ndim) + x.shape for x in (a, other)]
    apart = reshape(a, tuple(n for length in shapes[0] for n in (length, 1)))
    inside = reshape(other, tuple(n for length in shapes[1] for n in (1, length)))
    found = an_array(a.tape, _times(apart, inside))
    made = reshape(found, tuple(n * m for n, m in zip(*shapes, strict=True)))
    return made if rank else number(a.tape, element(made, ()))


def _times(a: Array, b: Any) -> Any:
    """Products of elements."""
    return broadcast_map(a.tape, logical(a.tape, operator.mul, a, b), a, b, host=operator.mul)


def _times_number(a: Array, b: Any) -> Any:
    """Products with a number, which NumPy adds to zeros: none is -0.0."""
    made = _times(a, b)
    return made + 0.0 if made.__class__ is Array and made.type is REAL and made.shape else made


def _other(a: Array, b: Any, name: str) -> Array:
    is_number = type_of(b) is not None
    found = as_array(a.tape, [b] if is_number else b)
    if found is None:
        raise a.tape.type_fault(f"`np.{name}` takes arrays, given {type(b).__name__}")
    return reshaped(found, ()) if is_number else found


def _contracted_two(a: Array, b: Array, left: Labels, right: Labels, name: str) -> Any:
    """The sum over the names that both have, which must be equally long."""
    shared = [label for label in left if label in right]
    for label in shared:
        n, m = a.shape[list(left).index(label)], b.shape[list(right).index(label)]
        if n != m:
            raise _misfit(a.tape, [(a, left), (b, right)], name, f"{n} is not {m}")
    result = [label for label in (*left, *right) if label not in shared]
    return contracted(a.tape, [(a, left), (b, right)], result, name)


# --- einsum


def einsum(tape: Tape, subscripts: Any, *operands: Any) -> Any:
    """`np.einsum`: subscripts as a string, or lists of integers behind the arrays; `...` broadcasts."""
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text(tape, (subscripts, *operands))
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    texts = inputs.split(",")
    if not arrow:
        output = "..." * ("..." in inputs)
        output += "".join(sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1))
    arrays = [_other_or_none(tape, operand) for operand in operands]
    wide = max((_more(a, text) for a, text in zip(arrays, texts, strict=False)), default=0)
    if len(arrays) != len(texts) or any(
        a is None or _more(a, text) < 0 or (_more(a, text) and "..." not in text)
        for a, text in zip(arrays, texts, strict=False)
    ):
        raise tape.fault(ShapeError, f"the subscripts {subscripts!r} do not fit the arrays that are given")
    whole = [_labels(text, _more(a, text)) for a, text in zip(arrays, texts, strict=True)]
    pairs = [_without_units(a, labels, arrays, whole) for a, labels in zip(arrays, whole, strict=True)]
    return contracted(tape, pairs, _labels(output, wide if "..." in output else 0), "einsum")


def _as_text(tape: Tape, given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """`einsum(a, [0, 1], b, [1], [0])` with letters."""
    arrays, lists = given[: len(given) // 2 * 2 : 2], [*given[1::2], *given[-1:][: len(given) % 2]]
    if not all(isinstance(names, (list, tuple)) for names in lists):
        raise tape.type_fault("`np.einsum` takes subscripts like 'ij,jk->ik'", "or lists of integers behind the arrays")
    texts = ["".join("..." if k is Ellipsis else (_LETTERS + _LETTERS.upper())[k] for k in names) for names in lists]
    inputs, output = texts[: len(arrays)], texts[len(arrays) :]
    return ",".join(inputs) + "".join(f"->{text}" for text in output), arrays


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _other_or_none(tape: Tape, value: Any) -> Any:
    if type_of(value) is None:
        return as_array(tape, value)
    found = as_array(tape, [value])
    return found if found is None else reshaped(found, ())


def _more(a: Any, text: str) -> int:
    """How many axes `...` stands for."""
    return -1 if a is None else a.ndim - len(text.replace("...", ""))


def _labels(text: str, more: int) -> list[Any]:
    """A name for each axis; those of `...` are counted from the last."""
    before, dots, after = text.partition("...")
    return [*before, *(("...", k) for k in range(-more, 0) if dots), *after]


def _without_units(a: Array, labels: list[Any], arrays: list[Any], whole: list[list[Any]]) -> tuple[Array, list[Any]]:
    """An array without the axes of `...` that have length 1 where others are longer."""

    def is_short(label: Any, length: int) -> bool:
        return length == 1 and any(
            other.shape[names.index(label)] != 1 for other, names in zip(arrays, whole, strict=True) if label in names
        )

    short = [isinstance(label, tuple) and is_short(label, n) for label, n in zip(labels, a.shape, strict=True)]
    if not any(short):
        return a, labels
    kept = [label for label, gone in zip(labels, short, strict=True) if not gone]
    return reshape(a, tuple(n for n, gone in zip(a.shape, short, strict=True) if not gone)), kept


def einsum_path(tape: Tape, *operands: Any, **options: Any) -> Any:
    """`np.einsum_path`: of the shapes, which staging knows."""
    shown = [np.empty(operand.shape) if operand.__class__ is Array else operand for operand in operands]
    return np.einsum_path(*shown, **options)


# --- of vectors in the last axis
