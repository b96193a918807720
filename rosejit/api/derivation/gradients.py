"""`grad`, `value_and_grad`, Jacobians, `hessian`, `hvp`: functions to functions with the same arguments."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Literal, overload

from rosejit.abi import Node, Tree
from rosejit.api.calling.specialisation import (
    Argnums,
    Staged,
    normalised_argnums,
    of_values,
    positions,
    require_lengths,
)
from rosejit.api.decorators import as_function, from_source, wrapped_like
from rosejit.api.derivation import derivatives
from rosejit.api.derivation.modes import jvp
from rosejit.api.function import Function, FunctionSource, Options, made_once
from rosejit.api.public_entry import public
from rosejit.errors import NotDifferentiable
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call

if TYPE_CHECKING:
    from rosejit.api.calling.call_types import A, B, C, First, FirstThree, FirstTwo, P, R, Second
    from rosejit.api.public_hints import Mat, Vec

Derive = Callable[[Staged, tuple[str, ...]], Staged]


def is_additive(f: Any) -> Any:
    """Whether `f` is a sum (`rose.sum_over`), which says itself what a transform makes of it."""
    return hasattr(type(f), "__rose_additive__")


def derived(base: Function, name: str, derive: Derive, transform: Callable[..., Any], *arguments: Any) -> Function:
    """A function made of another by a derivation of its staged form; it takes the same arguments."""

    def stage(self: Function, call: Call, at: Session) -> Staged:
        staged = of_values(base.specialisation(call, at).staged)
        names = tuple(parameter.name for parameter in base.binding.parameters)
        try:
            return derive(staged, names)  # of the kinds of arguments; what follows from the body shows in `Recipe`
        except NotDifferentiable as error:
            error.blames_call = True
            raise

    def rebuilt(self: Function) -> Any:
        return transform, (base, *arguments)

    def make() -> Function:
        made = Function(base.binding, base.options, FunctionSource(stage, rebuilt, made_of=base))
        wrapped_like(made, base, name)
        return made

    return made_once(base, (transform, *arguments), make)


if TYPE_CHECKING:

    @overload
    def grad(
        f: First[P, A, Any], argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, A]: ...

    @overload
    def grad(
        f: Second[P, B, Any], argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, B]: ...

    @overload
    def grad(
        f: First[P, A, Any], argnums: tuple[Literal[0]], has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, tuple[A]]: ...

    @overload
    def grad(
        f: FirstTwo[P, A, B, Any],
        argnums: tuple[Literal[0], Literal[1]],
        has_aux: Literal[False] = ...,
        holomorphic: bool = ...,
    ) -> Function[P, tuple[A, B]]: ...

    @overload
    def grad(
        f: FirstThree[P, A, B, C, Any],
        argnums: tuple[Literal[0], Literal[1], Literal[2]],
        has_aux: Literal[False] = ...,
        holomorphic: bool = ...,
    ) -> Function[P, tuple[A, B, C]]: ...

    @overload
    def grad(
        f: First[P, A, tuple[Any, R]], argnums: Literal[0] = ..., *, has_aux: Literal[True], holomorphic: bool = ...
    ) -> Function[P, tuple[A, R]]: ...

    @overload
    def grad(
        f: Callable[P, Any], argnums: Argnums = ..., has_aux: bool = ..., holomorphic: bool = ...
    ) -> Function[P, Any]: ...


@public
def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Function:
    """The gradient of a function that returns one Real.

    `argnums` says with respect to which arguments: a number or a name, or a tuple of them (then the result is a tuple).
    A structure has the same structure as its gradient. With `has_aux` the function returns `(value, aux)`, and the
    result is `(gradient, aux)`. Raises `NotDifferentiable` where there is no gradient.

    With respect to a complex number x + yi a real result u has the gradient du/dx - i du/dy. With `holomorphic` the
    function takes complex numbers and returns one, and the result is its complex derivative.

    >>> import rosejit as rose
    >>> rose.grad(lambda x: x * x * x)(3.0)
    27.0
    """
    return _gradient(f, argnums, has_aux, holomorphic, value=False)


if TYPE_CHECKING:

    @overload
    def value_and_grad(
        f: First[P, A, R], argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, tuple[R, A]]: ...

    @overload
    def value_and_grad(
        f: Second[P, B, R], argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, tuple[R, B]]: ...

    @overload
    def value_and_grad(
        f: First[P, A, R], argnums: tuple[Literal[0]], has_aux: Literal[False] = ..., holomorphic: bool = ...
    ) -> Function[P, tuple[R, tuple[A]]]: ...

    @overload
    def value_and_grad(
        f: FirstTwo[P, A, B, R],
        argnums: tuple[Literal[0], Literal[1]],
        has_aux: Literal[False] = ...,
        holomorphic: bool = ...,
    ) -> Function[P, tuple[R, tuple[A, B]]]: ...

    @overload
    def value_and_grad(
        f: FirstThree[P, A, B, C, R],
        argnums: tuple[Literal[0], Literal[1], Literal[2]],
        has_aux: Literal[False] = ...,
        holomorphic: bool = ...,
    ) -> Function[P, tuple[R, tuple[A, B, C]]]: ...

    @overload
    def value_and_grad(
        f: First[P, A, tuple[Any, R]], argnums: Literal[0] = ..., *, has_aux: Literal[True], holomorphic: bool = ...
    ) -> Function[P, tuple[tuple[float, R], A]]: ...

    @overload
    def value_and_grad(
        f: Callable[P, Any], argnums: Argnums = ..., has_aux: bool = ..., holomorphic: bool = ...
    ) -> Function[P, tuple[Any, Any]]: ...


@public
def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Function:
    """As `grad`, but gives `(value, gradient)`, or `((value, aux), gradient)`, from one evaluation.

    >>> import rosejit as rose
    >>> rose.value_and_grad(lambda x: x * x * x)(3.0)
    (27.0, 27.0)
    """
    return _gradient(f, argnums, has_aux, holomorphic, value=True)


def _gradient(f: Callable[..., Any], argnums: Argnums, has_aux: bool, holomorphic: bool, value: bool) -> Function:
    argnums = normalised_argnums(argnums)
    if is_additive(f):
        return f.derived(value_and_grad if value else grad, argnums, has_aux)
    base = as_function(f)

    def derive(staged: Staged, names: tuple[str, ...]) -> Staged:
        by_number, names = counted(base, staged, names, argnums)
        selected = positions(argnums, names, base.__name__)
        single = not isinstance(argnums, tuple)
        made = derivatives.gradient(
            by_number, names, selected, single, has_aux=has_aux, value=value, holomorphic=holomorphic
        )
        return replace(made, trees=staged.trees)

    transform, name = (value_and_grad, "value_and_grad") if value else (grad, "grad")
    return derived(base, f"{name}_{base.__name__}", derive, transform, argnums, has_aux, holomorphic)


def counted(base: Function, staged: Staged, names: tuple[str, ...], argnums: Argnums) -> tuple[Staged, tuple[str, ...]]:
    """Arguments as numbers count them: those of `*args` one by one; a name means all of them."""
    if isinstance(argnums, str) or (isinstance(argnums, tuple) and any(isinstance(each, str) for each in argnums)):
        return staged, names
    trees: list[Tree] = []
    titles: list[str] = []
    for parameter, tree, name in zip(base.__signature__.parameters.values(), staged.trees, names, strict=True):
        if parameter.kind is parameter.VAR_POSITIONAL and isinstance(tree, Node):
            trees += tree.children
            titles += [f"{name}[{k}]" for k in range(len(tree.children))]
        else:
            trees.append(tree)
            titles.append(name)
    return replace(staged, trees=tuple(trees)), tuple(titles)


if TYPE_CHECKING:

    @overload
    def jacfwd(f: First[P, A, float], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, A]: ...

    @overload
    def jacfwd(f: First[P, Vec, Vec], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, Mat]: ...

    @overload
    def jacfwd(f: Callable[P, Any], argnums: Argnums = ..., holomorphic: bool = ...) -> Function[P, Any]: ...


@public
def jacfwd(f: Callable[..., Any], argnums: Argnums = 0, holomorphic: bool = False) -> Function:
    """The dense Jacobian, one forward sweep an element of the arguments: axes of the result, then of the argument.

    >>> import rosejit as rose
    >>> rose.jacfwd(lambda x, y: (x * y, x + y))(2.0, 3.0)
    (3.0, 1.0)
    """
    return _jacobian(f, argnums, holomorphic, "fwd", jacfwd)


if TYPE_CHECKING:

    @overload
    def jacrev(f: First[P, A, float], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, A]: ...

    @overload
    def jacrev(f: First[P, Vec, Vec], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, Mat]: ...

    @overload
    def jacrev(f: Callable[P, Any], argnums: Argnums = ..., holomorphic: bool = ...) -> Function[P, Any]: ...


@public
def jacrev(f: Callable[..., Any], argnums: Argnums = 0, holomorphic: bool = False) -> Function:
    """As `jacfwd`, with one reverse sweep for each element of the result.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> rose.jacrev(lambda x: np.array([x @ x, x.sum()]))(np.array([1.0, 2.0, 3.0]))
    array([[2., 4., 6.],
           [1., 1., 1.]])
    """
    return _jacobian(f, argnums, holomorphic, "rev", jacrev)


if TYPE_CHECKING:

    @overload
    def jacobian(f: First[P, A, float], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, A]: ...

    @overload
    def jacobian(f: First[P, Vec, Vec], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, Mat]: ...

    @overload
    def jacobian(f: Callable[P, Any], argnums: Argnums = ..., holomorphic: bool = ...) -> Function[P, Any]: ...


@public
def jacobian(f: Callable[..., Any], argnums: Argnums = 0, holomorphic: bool = False) -> Function:
    """The dense Jacobian, by the mode with fewer sweeps.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> rose.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(f, argnums, holomorphic, "auto", jacobian)


def _jacobian(
    f: Callable[..., Any], argnums: Argnums, holomorphic: bool, mode: str, transform: Callable[..., Function]
) -> Function:
    argnums = normalised_argnums(argnums)
    if is_additive(f):
        return f.derived(transform, argnums)
    base = as_function(f)

    def derive(staged: Staged, names: tuple[str, ...]) -> Staged:
        by_number, names = counted(base, staged, names, argnums)
        selected = positions(argnums, names, base.__name__)
        require_lengths(staged, "the Jacobian")
        made = derivatives.jacobian(by_number, names, selected, not isinstance(argnums, tuple), mode, holomorphic)
        return replace(made, trees=staged.trees)

    return derived(base, f"{transform.__name__}_{base.__name__}", derive, transform, argnums, holomorphic)


if TYPE_CHECKING:

    @overload
    def hessian(f: First[P, float, Any], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, float]: ...

    @overload
    def hessian(f: First[P, Vec, Any], argnums: Literal[0] = ..., holomorphic: bool = ...) -> Function[P, Mat]: ...

    @overload
    def hessian(f: Callable[P, Any], argnums: Argnums = ..., holomorphic: bool = ...) -> Function[P, Any]: ...


@public
def hessian(f: Callable[..., Any], argnums: Argnums = 0, holomorphic: bool = False) -> Function:
    """The matrix of second derivatives of a function that returns one Real: forward over reverse.

    >>> import rosejit as rose
    >>> rose.hessian(lambda x: x * x * x)(3.0)
    18.0
    """
    if is_additive(f):
        return f.derived(hessian, normalised_argnums(argnums))
    return jacfwd(grad(f, argnums, False, holomorphic), argnums, holomorphic)


@public
def hvp(f: "Callable[Concatenate[A, P], Any]") -> "Function[Concatenate[A, A, P], A]":
    """`rose.hvp(f)(x, v, ...)`: the Hessian of `f(x, ...)` with respect to `x`, applied to `v` (forward over reverse).

    >>> import rosejit as rose
    >>> rose.hvp(lambda x: x * x * x)(3.0, 2.0)
    36.0
    """
    if is_additive(f):
        return f.derived(hvp)
    base = as_function(f)

    def make() -> Function:
        gradient = grad(base)

        def product(x, v, *rest):
            return jvp(gradient, (x, *rest), (v, *[None for _ in rest]))[1]

        return from_source(
            product,
            Options(base.options.cache, blas=base.options.blas),
            (),
            f"hvp_{base.__name__}",
            remade=(hvp, (base,)),
        )

    return made_once(base, (hvp,), make)


_KINDS: dict[Any, str] = {
    grad: "gradient", value_and_grad: "value and gradient", jacobian: "jacobian", jacfwd: "jacobian",
    jacrev: "jacobian", hessian: "hessian", hvp: "other",
}  # fmt: skip
for _transform, _kind in _KINDS.items():
    _transform.__rose_transform__ = _kind  # what rolled loops ask, which stand below
