"""Functions that show the elements of plain arrays in another order, under NumPy's names."""

from typing import Any

from rosejit.plain.ndarray import array_of, ndarray, shape_of, stretched


def reshape(a: Any, *shape: Any) -> ndarray:
    """Under another shape."""
    return array_of(a).reshape(*shape)


def ravel(a: Any) -> ndarray:
    """As a vector."""
    return array_of(a).ravel()


def transpose(a: Any, axes: Any = None) -> ndarray:
    """With axes in another order."""
    return array_of(a).transpose() if axes is None else array_of(a).transpose(axes)


def swapaxes(a: Any, one: int, other: int) -> ndarray:
    """Two axes in each other's place."""
    order = list(range(array_of(a).ndim))
    order[one], order[other] = order[other], order[one]
    return array_of(a).transpose(order)


def moveaxis(a: Any, source: Any, target: Any) -> ndarray:
    """Some axes to another place."""
    given = array_of(a)
    sources, targets = ([x] if isinstance(x, int) else list(x) for x in (source, target))
    sources, targets = [s % given.ndim for s in sources], [t % given.ndim for t in targets]
    order = [k for k in range(given.ndim) if k not in sources]
    for to, of in sorted(zip(targets, sources, strict=True)):
        order.insert(to, of)
    return given.transpose(order)


def expand_dims(a: Any, axis: int) -> ndarray:
    """With one more axis of one element."""
    given = array_of(a)
    at = axis % (given.ndim + 1)
    return given.reshape(*given.shape[:at], 1, *given.shape[at:])


def squeeze(a: Any, axis: Any = None) -> ndarray:
    """Without axes of one element."""
    given = array_of(a)
    axes = (
        [k for k, n in enumerate(given.shape) if n == 1] if axis is None else [axis] if isinstance(axis, int) else axis
    )
    gone = {k % given.ndim for k in axes}
    if any(given.shape[k] != 1 for k in gone):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return given.reshape(*(n for k, n in enumerate(given.shape) if k not in gone)) if gone else given.view()


def atleast_1d(a: Any) -> ndarray:
    """With an axis."""
    given = array_of(a)
    return given if given.ndim else given.reshape(1)


def atleast_2d(a: Any) -> ndarray:
    """With two axes."""
    given = array_of(a)
    return given if given.ndim >= 2 else given.reshape(1, -1)


def broadcast_to(a: Any, shape: Any) -> ndarray:
    """Stretched, and not to be written."""
    found = stretched(array_of(a), shape_of(shape)).view()
    found.flags.writeable = False
    return found


def flip(a: Any, axis: Any = None) -> ndarray:
    """The other way round."""
    given = array_of(a)
    axes = range(given.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    turned = {k % given.ndim for k in axes}
    return given[tuple(slice(None, None, -1 if k in turned else None) for k in range(given.ndim))]


def flipud(a: Any) -> ndarray:
    """Upside down."""
    return flip(a, 0)


def fliplr(a: Any) -> ndarray:
    """Left to right."""
    return flip(a, 1)


def rot90(a: Any, k: int = 1) -> ndarray:
    """Quarter turns of a matrix."""
    given = array_of(a)
    for _ in range(k % 4):
        given = flip(given.transpose(), 0)
    return given
