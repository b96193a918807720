"""A batch to pieces that run side by side: calls of one batched function on several threads, results put together."""

# The values are whatever a user's function takes.

import functools
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from rosejit.api import sessions
from rosejit.api.batching import axes
from rosejit.api.batching.axes import Batched
from rosejit.api.function import Function
from rosejit.api.programs import interpreted
from rosejit.errors import StagingTypeError
from rosejit.frontend.signature.binding import Call, handed_on
from rosejit.frontend.values.pytree import Supply, build, parts, with_parts
from rosejit.ir.traversal import reachable
from rosejit.numeric import np
from rosejit.runtime.interrupt import stop


def spread(batched: Function, binding: Batched, threads: int) -> Callable[[Call], Any]:
    """A call of `batched` on the host, in pieces of one length on as many threads as there are pieces. The last pieces
    may overlap: some elements are then computed twice, and one compiled function serves all."""

    ordered: dict[Any, bool] = {}

    def run(call: Call) -> Any:
        if call.sources:
            raise StagingTypeError("a batch that draws random numbers runs on one thread", help="leave out `threads`")
        length = binding.length(handed_on(call))
        size = -(-length // threads)
        if call.key not in ordered:
            ordered[call.key] = binding.apply(
                functools.partial(_calls_host, batched), _piece(binding, call, slice(None))
            )
        alone = sys.platform == "emscripten" or interpreted.is_disabled()
        if size in (0, length) or alone or ordered[call.key]:
            return binding.apply(batched, _piece(binding, call, slice(None)))
        starts = [min(start, length - size) for start in range(0, length, size)]
        pieces = [_piece(binding, call, slice(start, start + size)) for start in starts]
        found = _side_by_side(lambda piece: binding.apply(batched, piece), pieces)
        return _whole(found, starts, length)

    return run


def _calls_host(batched: Function, *args: Any, **kwargs: Any) -> bool:
    """Whether order matters: the function calls Python, whose effects are in order."""
    with sessions.session() as at:
        found = batched.specialised(args, kwargs, at)[1]
    return any(f.host is not None for f in reachable(found.staged.function))


def _piece(binding: Batched, call: Call, part: slice) -> list[Any]:
    """The arguments, of mapped arrays only a part."""
    values, statics, mapped = Supply(call.values), Supply(call.statics), iter(binding.mapped_axes(call))
    given: list[Any] = []
    for tree in call.trees:
        value = build(tree, values, statics)
        given.append(axes.pick(tree, value, mapped, lambda leaf, axis: leaf[(*(slice(None),) * axis, part)]))
    return given


def _side_by_side(run: Callable[[list[Any]], Any], pieces: list[list[Any]]) -> list[Any]:
    """`run` of each piece, the first in this thread. What the first piece that fails raises is raised, and nothing
    goes on behind it."""
    threads: list[int] = []

    def noted(piece: list[Any]) -> Any:
        threads.append(threading.get_ident())
        return run(piece)

    others = [_threads(len(pieces) - 1).submit(noted, piece) for piece in pieces[1:]]
    try:
        return [run(pieces[0]), *[other.result() for other in others]]
    except BaseException:
        _end(others, threads)
        raise


def _end(others: list[Future[Any]], threads: list[int]) -> None:
    """Interrupt what runs, until nothing does."""
    stopped: list[Any] = []
    pending = [other for other in others if not other.cancel()]
    while pending:
        stopped += stop(threads)
        pending = list(wait(pending, timeout=0.01).not_done)
    for instance in stopped:
        instance.interrupt(False)


@functools.cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Threads that stay: each has a store of the engine's."""
    return ThreadPoolExecutor(count, thread_name_prefix="rosejit-vmap")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # threads do not exist in the child


def _whole(found: list[Any], starts: list[int], length: int) -> Any:
    """The results of the pieces, one behind the other."""
    first = found[0]
    if isinstance(first, np.ndarray):
        whole = np.empty((length, *first.shape[1:]), first.dtype)
        for piece, start in zip(found, starts, strict=True):
            whole[start : start + len(piece)] = piece
        return whole
    inside = parts(first)
    if not inside:
        return first
    rows = zip(*[parts(piece) or () for piece in found], strict=True)
    return with_parts(first, [_whole(list(row), starts, length) for row in rows])
