"""The derivative of a function at a point, as a function that users call: a pullback or a pushforward."""

import hashlib
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from rosejit.abi import Leaf, Node, Static, Tier, Tree, leaves
from rosejit.api import sessions
from rosejit.api.calling.specialisation import is_of_host, is_real
from rosejit.api.programs import compiled, interpreted
from rosejit.api.programs.compile_and_load import Loaded
from rosejit.api.programs.program_codec import Program
from rosejit.api.public_entry import public
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.values.pytree import with_parts
from rosejit.runtime import loaded_program
from rosejit.runtime.marshalling.marshal import Mismatch
from rosejit.runtime.marshalling.marshal import Signature as Interface


class Linear:
    """An entry of a program that takes what a forward pass has kept, then cotangents or tangents, which come structured
    as `given`."""

    def __init__(
        self, loaded: Loaded, entry: str, interface: Interface, given: tuple[Tree, ...], tier: Tier, kept: bool
    ) -> None:
        self.name = interface.name
        self.call = loaded.function(entry, interface)
        self.given = given
        self.loaded = loaded
        self._program: Program | None = None
        if not isinstance(loaded, interpreted.Interpreted):
            text = lambda: ""  # noqa: E731 - nobody is shown it
            self._program = Program(loaded.artifact, loaded.hosts, interface, (), text, tier, kept, entry, given)
        self._written: tuple[bytes, list[Any]] | None = None

    def apply(self, handle: Any, values: tuple[Any, ...]) -> Any:
        """The map at `values`. Raises ShapeError, StagingTypeError where they do not fit."""
        if len(values) > len(self.given):
            few = f"{len(self.given)} positional argument{'s' * (len(self.given) != 1)}"
            raise TypeError(f"{self.name}() takes {few} but {len(values)} were given")
        try:
            return self.call(handle, *map(_only_real_value, self.given, values))
        except Mismatch as mismatch:
            reason = str(mismatch)
        kind = ShapeError if "shape" in reason else StagingTypeError
        raise kind(f"what the {self.name} is given does not fit: {reason}")

    def written(self) -> tuple[bytes, list[Any]]:
        """The program as `program_codec.dump` gives it, once, and what goes beside it."""
        if self._program is None or isinstance(self.loaded, interpreted.Interpreted):
            raise StagingTypeError(
                f"a {self.name} that `rose.disable_jit()` interprets cannot be pickled",
                help="make it outside of that block",
            )
        if self._written is None:
            self._written = compiled.written(self._program, self.loaded)
        return self._written


class LinearMap:
    """A pullback or a pushforward: a linear map with what its forward pass has kept, which travels with it."""

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]
    """As in `Function`."""

    def __init__(self, linear: Linear, handle: Any) -> None:
        def apply(*given: Any) -> Any:
            return linear.apply(handle, given)

        self._linear, self._handle = linear, handle
        apply.__name__ = apply.__qualname__ = self.__name__ = self.__qualname__ = linear.name
        self.__call__ = public(apply)

    def __repr__(self) -> str:
        return f"<rose {self.__name__}>"

    def __copy__(self) -> "LinearMap":
        """Itself: it does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> "LinearMap":
        """As `__copy__`."""
        return self

    def __reduce__(self) -> Any:
        """The program, as that of a `rose.Compiled`, and what the forward pass has kept."""
        data, beside = self._linear.written()
        return _arrived, (data, compiled.beside_pickled(beside), self._handle.content())


_arrived_linears: "WeakValueDictionary[str, Linear]" = WeakValueDictionary()
"""Those of pullbacks that have arrived, by a digest of the program: there are many pullbacks of one."""


def _arrived(data: bytes, beside: Any, content: bytes) -> LinearMap:
    digest = hashlib.sha256(data).hexdigest()
    linear = None if beside else _arrived_linears.get(digest)
    if linear is None:
        program, loaded = compiled.unpickled(data, beside)
        linear = Linear(loaded, program.entry, program.interface, program.given, program.tier, program.kept)
        if not beside:
            _arrived_linears[digest] = linear
    assert isinstance(linear.loaded, loaded_program.Compiled)
    return LinearMap(linear, linear.loaded.handle(content))


def _only_real_value(tree: Tree, value: Any) -> Any:
    """`value`, structured as `tree`, with `None` for what has no tangent: there anything may stand."""
    if isinstance(tree, Leaf):
        return value if is_real(tree) else None
    if is_of_host(tree):
        return None
    assert isinstance(tree, Node)
    if all(is_real(leaf) for leaf in leaves(tree)) and not _has_static(tree):
        return value
    if hasattr(tree.cls, "__rose_after__"):
        return None
    value = getattr(tree.cls, "__rose_given__", lambda given: given)(value)
    try:
        inside = sessions.parts(tree, value)
    except (StagingTypeError, KeyError):
        return value  # what does not fit is refused where it is taken apart
    return with_parts(value, [_only_real_value(child, part) for child, part in zip(tree.children, inside, strict=True)])


def _has_static(tree: Tree) -> bool:
    return isinstance(tree, Static) or (isinstance(tree, Node) and any(map(_has_static, tree.children)))
