"""`rose.interop.torch.wrap`: autograd's own checks, to order two, and values against PyTorch's own functions."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

torch = pytest.importorskip("torch")
pytest.importorskip("rosejit.interop.torch")
from rosejit.interop.torch import wrap  # noqa: E402 - PyTorch may be missing


@rose.jit
def energy(x: Vec["n"], k: float) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += k * (x[i + 1] - x[i] ** 2) ** 2
    return total


@rose.jit
def product(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    return np.sin(a @ x) * x[0]


@rose.jit
def several(p: dict[str, float], x: Vec["n"], n: int):
    return {"value": p["a"] * math.exp(p["b"]) * x.sum(), "pair": (x * p["a"], n + 1), "big": p["a"] > 0.0}


def tensor(*shape, seed=0):
    made = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
    return torch.tensor(made, requires_grad=True)


CASES = {
    "number": (energy, (tensor(4), tensor())),
    "array": (product, (tensor(2, 3), tensor(3))),
    "transposed": (lambda a, x: wrap(product)(a.T, x), (tensor(3, 2), tensor(3))),
    "structure": (lambda a, x: wrap(several)({"a": a, "b": 0.3}, x, 2)["pair"][0], (tensor(), tensor(3))),
    "same twice": (lambda x: wrap(product)(torch.outer(x, x), x), (tensor(3),)),
    "a constant among them": (lambda x: wrap(energy)(x, 2.0), (tensor(3),)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradcheck_and_gradgradcheck(name):
    f, args = CASES[name]
    f = wrap(f) if isinstance(f, rose.Function) else f
    assert torch.autograd.gradcheck(f, args)
    assert torch.autograd.gradgradcheck(f, args)


def test_values_and_double_backward_are_those_of_torch():
    def own(x, k):
        return (k * (x[1:] - x[:-1] ** 2) ** 2).sum()

    x, k = tensor(5), tensor()
    for f in (wrap(energy), own):
        (dx,) = torch.autograd.grad(f(x, k), x, create_graph=True)
        (dk,) = torch.autograd.grad((dx**2).sum(), k)
        assert dk.item() == pytest.approx(torch.autograd.grad(sum_of_squares(own, x, k), k)[0].item(), rel=1e-12)
    assert wrap(energy)(x, k).item() == pytest.approx(own(x, k).item(), rel=1e-14)
    hessian = torch.autograd.functional.hessian(lambda x: wrap(energy)(x, 2.0), x.detach())
    assert torch.allclose(hessian, torch.autograd.functional.hessian(lambda x: own(x, 2.0), x.detach()))


def sum_of_squares(f, x, k):
    return (torch.autograd.grad(f(x, k), x, create_graph=True)[0] ** 2).sum()


def test_structures_keep_what_has_no_derivative():
    found = wrap(several)({"a": tensor(), "b": torch.tensor(1.0, dtype=torch.float64)}, tensor(3), torch.tensor(4))
    assert [found["pair"][1].item(), found["pair"][1].dtype, found["big"].dtype] == [5, torch.int64, torch.bool]
    assert found["value"].requires_grad
    assert not found["pair"][1].requires_grad
    found["value"].backward()


def test_a_result_that_is_not_used_costs_nothing_but_zeros():
    a = tensor()
    wrap(several)({"a": a, "b": 0.0}, tensor(3), 1)["pair"][0].sum().backward()
    assert a.grad.item() == pytest.approx(tensor(3).sum().item())


def test_float32_is_given_where_it_is_asked_for():
    x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError, match="computes in float64"):
        wrap(energy)(x, 2.0)
    y = wrap(energy, dtype=torch.float32)(x, 2.0)
    (dx,) = torch.autograd.grad(y, x, create_graph=True)
    (ddx,) = torch.autograd.grad(dx.sum(), x)
    assert {y.dtype, dx.dtype, ddx.dtype} == {torch.float32}
    assert np.allclose(ddx.numpy(), rose.hessian(energy)(x.detach().numpy(), 2.0).sum(0))


def test_names_defaults_and_no_gradient():
    @rose.jit
    def scaled(x: float, k: float = 3.0) -> float:
        return x * k

    x = tensor()
    assert wrap(scaled)(k=2.0, x=x).item() == 2.0 * x.item()
    assert not wrap(scaled)(x.detach()).requires_grad
    with torch.no_grad():
        assert not wrap(scaled)(x).requires_grad


def test_what_changed_in_place_is_not_differentiated_twice():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x * 1.0
    z = wrap(energy)(y, 1.0)
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="inplace"):
        z.backward()


def branching(x: Vec["n"]) -> float:
    return np.sqrt(x[0]) if x[1] > 0.0 else 2.0 * x[1]


@pytest.mark.parametrize("ct", [1.0, -0.3, 0.0, math.inf, math.nan])
def test_a_cotangent_goes_back_as_through_a_pullback(ct):
    x = torch.tensor([0.0, -1.0], dtype=torch.float64, requires_grad=True)
    y = wrap(branching)(x)
    for _ in range(2):  # as autograd adds gradients into what it was given, the second starts anew
        x.grad = None
        y.backward(torch.tensor(ct, dtype=torch.float64), retain_graph=True)
        expected = rose.vjp(branching, x.detach().numpy())[1](ct)[0]
        assert np.array_equal(x.grad.numpy(), expected, equal_nan=True)
        x.grad.mul_(7.0)


def test_a_pullback_is_called_twice():
    x = tensor(3)
    y = wrap(product)(torch.eye(3, dtype=torch.float64), x)
    for ct in (torch.ones(3, dtype=torch.float64), torch.ones(()).double().expand(3), torch.arange(6.0).double()[::2]):
        x.grad = None
        y.backward(ct, retain_graph=True)
        expected = rose.vjp(product, np.eye(3), x.detach().numpy())[1](ct.numpy().copy())[1]
        assert np.array_equal(x.grad.numpy(), expected)
        x.grad.mul_(7.0)


@pytest.mark.parametrize("first", ["same", "sum", "flag"])
def test_another_static_argument_decides_what_is_returned(first):
    results = {"sum": lambda x: x.sum(), "same": lambda x: x * 2.0, "flag": lambda x: x[0] > 0.0}
    f = wrap(rose.jit(lambda x, kind: results[kind](x), static_argnames="kind"))
    x = tensor(3)
    f(x, first)
    for _ in range(2):
        assert torch.autograd.grad(f(x, "sum"), x)[0].tolist() == [1.0, 1.0, 1.0]
        assert torch.autograd.grad(f(x, "same").sum(), x)[0].tolist() == [2.0, 2.0, 2.0]
        assert f(x, "flag").item() is True


def test_a_static_argument_decides_what_is_returned():
    f = wrap(
        rose.jit(lambda x, kind: {"sum": x.sum(), "same": x * 2.0, "flag": x[0] > 0.0}[kind], static_argnames="kind")
    )
    x = tensor(3)
    assert f(x, "sum").shape == ()
    (f(x, "sum") + f(x, "same").sum() + f(x, "sum")).backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]
    assert f(x.detach(), "sum").shape == ()
    assert f(x.detach(), "flag").dtype is torch.bool


REFUSED = {
    "complex": lambda: wrap(energy)(torch.zeros(3, dtype=torch.complex128), 1.0),
    "sparse": lambda: wrap(energy)(torch.zeros(3, dtype=torch.float64).to_sparse(), 1.0),
    "meta": lambda: wrap(energy)(torch.zeros(3, dtype=torch.float64, device="meta"), 1.0),
    "static": lambda: wrap(rose.jit(lambda x, n: x * n, static_argnames="n"))(tensor(), torch.tensor(3)),
    "a dtype of integers": lambda: wrap(energy, dtype=torch.int64),
    "a number for an array": lambda: wrap(energy)(tensor(), tensor()),
    "a complex result": lambda: wrap(rose.jit(lambda x: {"z": x * 1j}))(tensor()),
    "complex results": lambda: wrap(rose.jit(lambda x: x * 1j))(tensor(3)),
    "by name only": lambda: wrap(rose.jit(by_name))(tensor(), k=tensor()),
}


def by_name(x, *, k):
    return x * k


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused_in_our_words(name):
    with pytest.raises(rose.StagingTypeError):
        REFUSED[name]()


def own_energy(x, k):
    return (k * (x[1:] - x[:-1] ** 2) ** 2).sum()


def own_product(a, x):
    return torch.sin(a @ x) * x[0]


def own_several(a, x):
    return {"value": a * math.exp(0.3) * x.sum(), "pair": (x * a, torch.tensor(3)), "big": a > 0.0}


OURS = {
    "number": (wrap(energy), own_energy, (tensor(4).detach(), tensor().detach())),
    "array": (wrap(product), own_product, (tensor(2, 3).detach(), tensor(3).detach())),
    "structure": (
        lambda a, x: wrap(several)({"a": a, "b": 0.3}, x, 2)["pair"][0],
        lambda a, x: own_several(a, x)["pair"][0],
        (tensor().detach(), tensor(3).detach()),
    ),
}


def summed(f):
    return lambda *args: (f(*args) ** 2).sum()


def batch(*args):
    return [torch.stack([arg, 0.5 * arg, arg + 0.1], dim=arg.ndim) for arg in args]  # the axis is the last


def first(*args):
    return [each.movedim(-1, 0) for each in batch(*args)]


def ends(args):
    return tuple(arg.ndim for arg in args)


TRANSFORMS = {
    "grad": lambda f, args: torch.func.grad(summed(f), (0, 1))(*args),
    "value": lambda f, args: torch.func.grad_and_value(summed(f))(*args),
    "vjp": lambda f, args: torch.func.vjp(f, *args)[1](f(*args)),
    "jvp": lambda f, args: torch.func.jvp(f, args, tuple(map(torch.sin, args))),
    "jvp by one": lambda f, args: torch.func.jvp(lambda y: f(args[0], y), args[1:], args[1:]),
    "jacrev": lambda f, args: torch.func.jacrev(f, (0, 1))(*args),
    "jacfwd": lambda f, args: torch.func.jacfwd(f, (0, 1))(*args),
    "hessian": lambda f, args: torch.func.hessian(summed(f), 1)(*args),
    "reverse twice": lambda f, args: torch.func.jacrev(torch.func.grad(summed(f), 1), 0)(*args),
    "vmap": lambda f, args: torch.vmap(f, in_dims=ends(args))(*batch(*args)),
    "vmap by one": lambda f, args: torch.vmap(f, in_dims=(None, args[1].ndim))(args[0], *batch(args[1])),
    "vmap twice": lambda f, args: torch.vmap(torch.vmap(f, (None, 0)), (0, None))(*first(*args)),
    "grads of a batch": lambda f, args: torch.vmap(torch.func.grad(summed(f), (0, 1)))(*first(*args)),
    "grad of a batch": lambda f, args: torch.func.grad(
        lambda *args: torch.vmap(summed(f), in_dims=ends(args))(*batch(*args)).sum(), (0, 1)
    )(*args),
    "functional": lambda f, args: torch.func.functional_call(Through(f), {"k": args[1]}, args[0]),
}  # fmt: skip


class Through(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f, self.k = f, torch.nn.Parameter(torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        return self.f(x, self.k)


FORWARD = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
"""PyTorch's forward mode loads what it calls old itself."""


@FORWARD
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", OURS)
def test_the_transforms_of_torch_func(name, transform):
    ours, own, args = OURS[name]
    found, expected = (torch.utils._pytree.tree_leaves(TRANSFORMS[transform](f, args)) for f in (ours, own))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype is other.dtype
        assert one.shape == other.shape
        assert torch.allclose(one, other, rtol=1e-11, atol=1e-12)


@FORWARD
def test_all_of_a_structure_is_transformed():
    a, x = tensor().detach(), tensor(3).detach()
    for of in (
        lambda f: torch.vmap(f, (None, 0))(a, torch.stack([x, 2.0 * x])),
        lambda f: torch.func.jvp(lambda a: f(a, x), (a,), (a,), has_aux=False)[0],
        lambda f: torch.func.grad(lambda a: (f(a, x)["pair"][0].sum(), f(a, x)), has_aux=True)(a)[1],
    ):
        found, expected = of(lambda a, x: wrap(several)({"a": a, "b": 0.3}, x, 2)), of(own_several)
        assert torch.allclose(found["value"], expected["value"])
        assert torch.allclose(found["pair"][0], expected["pair"][0])
        assert found["pair"][1].flatten()[0] == 3
        assert found["big"].all()
    with pytest.raises(rose.StagingTypeError, match="computes in float64"):
        torch.func.grad(wrap(energy))(x.float(), 1.0)
    single = wrap(energy, dtype=torch.float32)
    assert torch.vmap(torch.func.grad(single), (0, None))(torch.ones(2, 3), 1.0).dtype is torch.float32
