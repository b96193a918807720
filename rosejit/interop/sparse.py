"""`sparse_jacobian`, `sparse_hessian`: derivatives as matrices of SciPy, which is imported at the first call."""

import functools
from collections.abc import Callable
from typing import Any

from rosejit.api.calling.out_argument import placed
from rosejit.api.calling.specialisation import Argnums
from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import grad
from rosejit.api.derivation.sparse_derivatives import Compressed, Entries, structured
from rosejit.api.function import Function
from rosejit.api.public_entry import public


class SparseFunction:
    """A function with the arguments of another, that gives a derivative of it as sparse matrices."""

    def __init__(self, compressed: Compressed, like: Function, transform: Callable[..., Any]) -> None:
        functools.update_wrapper(self, like, updated=())
        self.__name__ = self.__qualname__ = f"{transform.__name__}_{like.__name__}"
        self._made = transform, (like, compressed.argnums)
        self._compressed = compressed
        self._caught = public(self._matrices)
        self.structure, self.values = public(self._structure), public(self._values)

    def __reduce__(self) -> Any:
        return self._made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrices, in the structure that `rose.jacobian` gives."""
        return self._caught(args, kwargs)

    def _matrices(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plan, data = self._compressed.entries(args, kwargs)
        return structured(plan, [_matrix(data.take(block.where), block) for block in plan.blocks])

    structure: Callable[..., Any]
    """`structure(*args)`: the row and the column of each entry, two arrays of int32 that are not to be written."""
    values: Callable[..., Any]
    """`values(*args, out=None)`: the numbers of the entries alone, in the order of `structure`, by rows."""

    def _structure(self, *args: Any, **kwargs: Any) -> Any:
        plan = self._compressed.plan(args, kwargs)
        return structured(plan, [(block.rows, block.columns) for block in plan.blocks])

    def _values(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        plan, data = self._compressed.entries(args, kwargs)
        found = structured(plan, [data.take(block.where) for block in plan.blocks])
        return found if out is None else placed(self.__name__, found, out)

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        """As the call, with True for each entry that may differ from zero."""
        plan = self._compressed.plan(args, kwargs)
        return structured(plan, [_matrix(block.where >= 0, block) for block in plan.blocks])

    def colours(self, *args: Any, **kwargs: Any) -> Any:
        """For each column its colour: there is one forward sweep for each colour."""
        return self._compressed.plan(args, kwargs).colours.copy()

    def __repr__(self) -> str:
        return f"<rose.SparseFunction {self.__name__}>"


def _matrix(data: Any, block: Entries) -> Any:
    """A matrix of these numbers. SciPy looks once at what all matrices of a block share; then it is a copy of what it
    has made, by attributes."""
    kept = block.kept
    if not kept:
        from scipy.sparse import csr_array

        made = csr_array((data, block.columns, block.starts), shape=block.shape)
        if not _is_of(made, data, block):
            return made
        kept |= {"class": csr_array, "attributes": {**vars(made), "data": None}}
    made = kept["class"].__new__(kept["class"])
    vars(made).update(kept["attributes"], data=data)
    return made


def _is_of(made: Any, data: Any, block: Entries) -> bool:
    """Whether a matrix has just these arrays, and other attributes that nobody changes in place."""
    held = dict(vars(made))
    given = {"data": data, "indices": block.columns, "indptr": block.starts}
    same = [_is_view(held.pop(name, None), array) for name, array in given.items()]
    return all(same) and all([type(value) in _PLAIN for value in _flattened(held)])


def _is_view(found: Any, array: Any) -> bool:
    """Whether SciPy took an array as it is."""
    if type(found) is not type(array) or (found.dtype, found.shape) != (array.dtype, array.shape):
        return False
    return found.__array_interface__["data"] == array.__array_interface__["data"] and found.strides == array.strides


def _flattened(held: dict[str, Any]) -> list[Any]:
    return [one for value in held.values() for one in (value if type(value) is tuple else (value,))]


_PLAIN = frozenset({int, bool, str, float, type(None)})


@public
def sparse_jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> SparseFunction:
    """The Jacobian as a `scipy.sparse` matrix: rows are the elements of the result, columns those of the argument.

    Where it differs from zero is found from the program, without running it, for each kind of arguments once (integers
    among the arguments count); columns that share no row are added up in one forward sweep. What `rose.jacobian` gives
    in a structure this gives in the same structure. `.pattern(*args)` and `.colours(*args)` show what was found.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> jacobian = rose.sparse_jacobian(lambda x: x[1:] - x[:-1])
    >>> jacobian(np.array([1.0, 2.0, 4.0])).toarray()
    array([[-1.,  1.,  0.],
           [ 0., -1.,  1.]])
    """
    base = as_function(f)
    return SparseFunction(Compressed(base, argnums, symmetric=False), base, sparse_jacobian)


@public
def sparse_hessian(f: Callable[..., Any], argnums: Argnums = 0) -> SparseFunction:
    """The Hessian of a function that returns one Real as a `scipy.sparse` matrix, by forward sweeps over its gradient.

    As `sparse_jacobian`; symmetry saves colours.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> hessian = rose.sparse_hessian(lambda x: x[0] * x[1] + x[2] * x[2])
    >>> hessian(np.array([1.0, 2.0, 4.0])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 2.]])
    """
    base = as_function(f)
    return SparseFunction(Compressed(grad(base, argnums), argnums, symmetric=True), base, sparse_hessian)
