"""Every public name of NumPy that computes: which are staged, with values and gradients, and which are refused.

The names are those of the NumPy installed: of `np`, `np.linalg`, `np.fft`, `np.polynomial.polynomial`, attributes and
methods of arrays, methods of ufuncs. What reads files, prints, changes settings or knows calendars is left out
(`NO_NUMBERS`). Each is called as `tests/contract/test_registry.py` calls it, compiled; its value is compared with
NumPy's, and its gradient with central differences. `python -m benchmarks.numpy_names`, `--only linalg,cov` for those
that contain one of these.
"""

import argparse
import collections
import json
import operator
import types
import warnings
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT
from rosejit.errors import RoseError
from rosejit.frontend.numpy.registry import BY_NAME, METHODS, row_of
from rosejit.frontend.numpy.row_kinds import of_places
from tests.contract.test_registry import POINTS, USUAL, code, samples_of
from tests.frontend.oracle import define

NO_NUMBERS = frozenset({
    "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "busday_count", "busday_offset",
    "datetime_as_string", "datetime_data", "format_float_positional", "format_float_scientific",
    "from_dlpack", "frombuffer", "fromfile", "fromregex", "fromstring", "genfromtxt", "get_include",
    "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "is_busday", "isnat", "load", "loadtxt",
    "printoptions", "save", "savetxt", "savez", "savez_compressed", "set_printoptions", "setbufsize",
    "seterr", "seterrcall", "show_config", "show_runtime", "test", "typename", "byteswap", "dump", "dumps",
    "getfield", "setfield", "setflags", "to_device", "tobytes", "tofile",
})  # fmt: skip
"""Files, texts, settings, calendars, and the bytes of arrays."""
CLASSES = "bool_ complex128 errstate finfo float32 float64 iinfo int32 int64 ndenumerate ndindex nditer poly1d uint8"
OBJECTS = "c_ mgrid ogrid r_ s_ vectorize"
ATTRIBUTES = "T dtype flat imag itemsize mT nbytes ndim real shape size strides"
UFUNCS = "accumulate at outer reduce reduceat"
MORE: dict[str, tuple[str, ...]] = {
    "np.angle": ("np.angle(x + 1j * x[::-1])", "np.angle(a)"),
    "np.conj": ("np.conj(x)", "np.conj(x + 1j * x[::-1])"),
    "np.conjugate": ("np.conjugate(x)",),
    "np.imag": ("np.imag(x)", "np.imag(x + 1j * x[::-1])"),
    "np.iscomplex": ("np.iscomplex(x)",),
    "np.isreal": ("np.isreal(x)",),
    "np.real_if_close": ("np.real_if_close(x)", "np.real_if_close(x + 0j)"),
    "np.polynomial.polynomial.polyvalnd": ("np.polynomial.polynomial.polyvalnd([s, 2.0], m)",),
    "np.apply_over_axes": ("np.apply_over_axes(np.sum, a, [0, 1])",),
    "np.asmatrix": ("np.asmatrix(a)",),
    "np.bartlett": ("np.bartlett(5) * s", "np.bartlett(3) * x"),
    "np.bitwise_count": ("np.bitwise_count(k)", "np.bitwise_count(i)"),
    "np.blackman": ("np.blackman(3) * x",),
    "np.bmat": ("np.bmat([[m, m]])",),
    "np.broadcast_shapes": ("np.zeros(np.broadcast_shapes(np.shape(a), np.shape(x))) + x",),
    "np.can_cast": ("x * np.can_cast(np.int32, np.float64)",),
    "np.common_type": ("np.zeros(2, np.common_type(x))",),
    "np.diag_indices": ("m[np.diag_indices(3)]",),
    "np.frexp": ("np.frexp(x)[0]", "np.frexp(a * 9.0)"),
    "np.fromiter": ("np.fromiter([s, 2.0], float)", "np.fromiter((v * s for v in (1.0, 2.0)), float)"),
    "np.frompyfunc": ("np.frompyfunc(lambda v: v * s, 1, 1)(x)",),
    "np.hamming": ("np.hamming(3) * x",),
    "np.hanning": ("np.hanning(3) * x",),
    "np.i0": ("np.i0(x)", "np.i0(a)", "np.i0(s * 9.0)"),
    "np.indices": ("np.indices((2, 3))[0] * a", "x[np.indices((3,))[0]]"),
    "np.isdtype": ("x * np.isdtype(np.dtype(float), 'real floating')",),
    "np.isfortran": ("np.isfortran(a)",),
    "np.issubdtype": ("x * np.issubdtype(np.float64, np.floating)", "x * np.issubdtype(x.dtype, np.floating)"),
    "np.kaiser": ("np.kaiser(3, 2.0) * x", "np.kaiser(5, s)"),
    "np.mask_indices": ("m[np.mask_indices(3, np.triu)]",),
    "np.may_share_memory": ("np.may_share_memory(a, x)",),
    "np.min_scalar_type": ("np.zeros(2, np.min_scalar_type(1.0))",),
    "np.mintypecode": ("np.zeros(2, np.mintypecode('fd'))",),
    "np.nested_iters": ("np.nested_iters(a, [[0], [1]])",),
    "np.nextafter": ("np.nextafter(x, 9.0)", "np.nextafter(a, s)"),
    "np.packbits": ("np.packbits(p)",),
    "np.polydiv": ("np.polydiv(x, [1.0, s])",),
    "np.promote_types": ("np.zeros(2, np.promote_types(float, int)) + s",),
    "np.require": ("np.require(a, float, 'C')", "np.require(k, float)"),
    "np.shares_memory": ("np.shares_memory(a, x)",),
    "np.sort_complex": ("np.sort_complex(x)", "np.sort_complex(x + 1j * x[::-1])"),
    "np.spacing": ("np.spacing(x)", "np.spacing(s)"),
    "np.tri": ("np.tri(3) * m",),
    "np.tril_indices": ("m[np.tril_indices(3)]", "m[np.tril_indices(3, -1)]"),
    "np.triu_indices": ("m[np.triu_indices(3)]", "m[np.triu_indices(3, 1)]"),
    "np.unpackbits": ("np.unpackbits(k.astype(np.uint8))",),
    "np.bool_": ("np.bool_(s)", "np.bool_(i)"),
    "np.complex128": ("np.complex128(s) * 1j",),
    "np.errstate": ("[0.0 for _ in (0,) if np.errstate(all='ignore')] + [s]",),
    "np.finfo": ("x + np.finfo(float).eps", "x / np.finfo(x.dtype).max"),
    "np.float32": ("np.float32(s)",),
    "np.float64": ("np.float64(s)", "np.float64(i)"),
    "np.iinfo": ("k + np.iinfo(np.int32).max",),
    "np.int32": ("np.int32(i)",),
    "np.int64": ("np.int64(s)", "np.int64(i)"),
    "np.ndindex": (
        "sum([a[j] * (1 + j[0]) for j in np.ndindex(2, 3)])",
        "sum([a[j] for j in np.ndindex(np.shape(a))])",
    ),
    "np.poly1d": ("np.poly1d(x)(s)",),
    "np.uint8": ("np.uint8(i)",),
    "np.vectorize": ("np.vectorize(lambda v: v * s if v > 1 else 0.0)(x)",),
    "np.c_": ("np.c_[x, x * s]", "np.c_[m, x]"),
    "np.mgrid": ("np.mgrid[0:2, 0:3][0] * a",),
    "np.ogrid": ("np.ogrid[0:2, 0:3][1] * a",),
    "np.r_": ("np.r_[x, s, 1.0]", "np.r_[0:3] * x"),
    "np.s_": ("a[np.s_[1, ::2]]",),
    "np.unique": ("np.unique(x)",),
    "np.roots": ("np.abs(np.sort(np.abs(np.roots(x))))", "np.sum(np.roots([1.0, s, 2.0])).real"),
    "np.fft.fft": ("np.fft.fft(x)", "np.fft.fft(a, axis=0)", "np.fft.fft(x, 5, norm='ortho')"),
    "np.fft.fft2": ("np.fft.fft2(a)", "np.fft.fft2(t, axes=(0, 1))"),
    "np.fft.fftfreq": ("np.fft.fftfreq(3) * x", "np.fft.fftfreq(3, d=0.1) * s"),
    "np.fft.fftn": ("np.fft.fftn(t)", "np.fft.fftn(a, norm='forward')"),
    "np.fft.fftshift": ("np.fft.fftshift(x)", "np.fft.fftshift(a, axes=1)"),
    "np.fft.hfft": ("np.fft.hfft(x)", "np.fft.hfft(a, 3)", "np.fft.hfft(x + 1j * x[::-1], norm='ortho')"),
    "np.fft.ifft": ("np.fft.ifft(x)", "np.fft.ifft(a, axis=0)"),
    "np.fft.ifft2": ("np.fft.ifft2(a)",),
    "np.fft.ifftn": ("np.fft.ifftn(t)",),
    "np.fft.ifftshift": ("np.fft.ifftshift(x)",),
    "np.fft.ihfft": ("np.fft.ihfft(x)", "np.fft.ihfft(a, axis=0)"),
    "np.fft.irfft": ("np.fft.irfft(x)", "np.fft.irfft(a, 3)"),
    "np.fft.irfft2": ("np.fft.irfft2(a)", "np.fft.irfft2(a, (2, 3))"),
    "np.fft.irfftn": ("np.fft.irfftn(t)", "np.fft.irfftn(a, norm='ortho')"),
    "np.fft.rfft": ("np.fft.rfft(x)", "np.fft.rfft(a, axis=0)"),
    "np.fft.rfft2": ("np.fft.rfft2(a)", "np.fft.rfft2(t, axes=(0, 1))"),
    "np.fft.rfftfreq": ("np.fft.rfftfreq(4) * x",),
    "np.fft.rfftn": ("np.fft.rfftn(t)", "np.fft.rfftn(a, (2, 2), norm='forward')"),
    "np.polynomial.polynomial.polycompanion": ("np.polynomial.polynomial.polycompanion(x)",),
    "np.polynomial.polynomial.polydiv": ("np.polynomial.polynomial.polydiv(x, [1.0, s])",),
    "np.polynomial.polynomial.polyline": ("np.polynomial.polynomial.polyline(s, 2.0)",),
    "np.polynomial.polynomial.polypow": (
        "np.polynomial.polynomial.polypow(x, 2)",
        "np.polynomial.polynomial.polypow(x, 3)",
    ),
    "np.polynomial.polynomial.polyroots": ("np.polynomial.polynomial.polyroots(x)",),
    "np.polynomial.polynomial.polytrim": ("np.polynomial.polynomial.polytrim(x)",),
    "np.polynomial.polynomial.polyvalfromroots": ("np.polynomial.polynomial.polyvalfromroots(s, x)",
        "np.polynomial.polynomial.polyvalfromroots(a, x)"),
    "np.polynomial.polynomial.polyvander2d": ("np.polynomial.polynomial.polyvander2d(x, x * s, [1, 2])",),
    "np.polynomial.polynomial.polyvander3d": ("np.polynomial.polynomial.polyvander3d(x, x, x * s, [1, 1, 1])",),
    "np.linalg.eig": ("np.linalg.eig(m)",),
    "np.linalg.eigvals": ("np.linalg.eigvals(m)",),
    "x.conjugate": ("a.conjugate()",),
    "x.resize": ("x.resize(4)",),
    "x.nonzero": ("a.nonzero()",),
    "x.searchsorted": ("x.searchsorted(s)", "x.searchsorted(a, 'right')", "x.searchsorted(v=a)"),
    "x.T": ("a.T",),
    "x.dtype": ("np.zeros(2, a.dtype) + s",),
    "x.flat": ("sum([v * v for v in a.flat])", "a.flat[3]"),
    "x.imag": ("(a + 1j * a).imag", "x.imag"),
    "x.itemsize": ("x * x.itemsize",),
    "x.mT": ("t.mT",),
    "x.nbytes": ("x * x.nbytes",),
    "x.ndim": ("x * a.ndim",),
    "x.real": ("(a * 1j).real", "x.real"),
    "x.shape": ("x * a.shape[1]",),
    "x.size": ("x * a.size",),
    "x.strides": ("x * a.strides[0]",),
    "np.add.reduceat": (
        "np.add.reduceat(x, [0, 2])", "np.add.reduceat(a, [0, 1], axis=1)", "np.add.reduceat(x, [2, 0])",
    ),
}  # fmt: skip
"""Calls of what has no samples in the registry."""
STEP = 1e-6


def names() -> list[str]:
    """All of them, as they are called."""
    spaces: tuple[tuple[str, Any], ...] = (
        ("np", np),
        ("np.linalg", np.linalg),
        ("np.fft", np.fft),
        ("np.polynomial.polynomial", np.polynomial.polynomial),
        ("x", np.ndarray),
    )
    found = [f"{prefix}.{name}" for prefix, space in spaces for name in dir(space) if _counts(space, name)]
    found += [f"np.{name}" for name in (*CLASSES.split(), *OBJECTS.split())]
    found += [f"x.{name}" for name in ATTRIBUTES.split()]
    found += [f"np.add.{name}" for name in UFUNCS.split()] + ["np.lib.stride_tricks.sliding_window_view"]
    return found


def _counts(space: Any, name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = getattr(space, name)
    is_function = callable(value) and not isinstance(value, (type, types.ModuleType))
    return is_function and not name.startswith("_") and name not in NO_NUMBERS


def calls(title: str) -> list[str]:
    """Statements that call it."""
    if title in MORE:
        return [f"return {call}" for call in MORE[title]]
    name = title.partition(".")[2]
    row = METHODS[name] if title.startswith("x.") else BY_NAME.get(name) or row_of(operator.attrgetter(name)(np))
    assert row is not None, f"{title} has no sample call"
    if row.kind is of_places:
        return [f"return {title}({'x, x' if title.endswith('1d') else 'x'})"]  # those of sets take two arrays
    found = [code(title, row, sample) for sample in samples_of(title, row)]
    return [call for call in found if not call.startswith("return s.")]  # which is a number of Python's


def written(statements: str, scope: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The function of a call, and its arguments: as users write it, without hints."""
    read = {name: value for name, value in scope.items() if name in _words(statements)}
    lines = "\n    ".join(statements.split("; "))
    return define(f"def f({', '.join(read)}):\n    {lines}", np=np), list(read.values())


def _words(statements: str) -> set[str]:
    names: set[str] = set()
    code_object = compile(f"def f():\n {statements}", "<call>", "exec").co_consts[0]
    stack = [code_object]
    while stack:
        one = stack.pop()
        names.update(one.co_names, one.co_freevars)
        stack += [c for c in one.co_consts if isinstance(c, types.CodeType)]
    return names


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers in a result."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def weights_of(value: Any) -> Any:
    """Numbers by which a result is made one: of the same structure; none of what has no derivative."""
    if isinstance(value, (list, tuple)):
        return [weights_of(item) for item in value]
    rng = np.random.default_rng(7)
    kind = np.asarray(value).dtype.kind
    return rng.normal(size=np.shape(value)) if kind in "fc" else None


def weighted(value: Any, weights: Any) -> Any:
    """A sum with weights, of imaginary parts as well."""
    if isinstance(weights, list):
        return sum([weighted(v, w) for v, w in zip(value, weights, strict=True)], 0.0)
    if weights is None:
        return 0.0
    return np.sum(np.real(value) * weights) + 2.0 * np.sum(np.imag(value) * weights)


def run(f: Any, args: list[Any]) -> Any:
    """The value of a call on arguments of its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])


def value_fault(found: Any, wanted: Any) -> str:
    """How a result differs from NumPy's."""
    ours, theirs = leaves(found), leaves(wanted)
    if [v.shape for v in ours] != [v.shape for v in theirs]:
        return f"shapes {[v.shape for v in ours]}, NumPy's {[v.shape for v in theirs]}"
    for a, b in zip(ours, theirs, strict=True):
        if a.dtype.kind != b.dtype.kind and b.size and b.dtype.kind != "O":
            return f"type {a.dtype}, NumPy's {b.dtype}"
        if b.dtype.kind in "fciub" and not np.allclose(a, b, rtol=1e-11, atol=1e-13, equal_nan=True):
            return f"{a!r:.80}, NumPy's {b!r:.80}"
    return ""


def gradient_fault(statements: str) -> str | None:
    """How the gradient differs from central differences, None where there is nothing to be compared."""
    answer = None
    for scope in POINTS:
        f, args = written(statements, scope)
        places = [k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]
        try:
            value = run(f, args)
        except Exception:
            continue
        weights = weights_of(value)
        if not places or not any(v.dtype.kind in "fc" and v.size for v in leaves(value)):
            continue
        loss = _loss(f, weights)
        wanted = differences(loss, args, places)
        if wanted is None:
            continue
        found = run(rose.grad(loss, tuple(places)), args)
        for one, other in zip(found, wanted, strict=True):
            if not np.allclose(one, other, rtol=2e-5, atol=2e-6):
                return f"gradient {one!r:.90}, differences {other!r:.90}"
        answer = ""
    return answer


def _loss(f: Any, weights: Any) -> Any:
    return lambda *args: weighted(f(*args), weights)


def differences(loss: Any, args: list[Any], places: list[int]) -> list[Any] | None:
    """Central differences; None where two steps disagree, because of a kink or a jump, or where numbers are huge."""
    found: list[Any] = []
    for k in places:
        a = np.asarray(args[k], float)
        slopes = np.zeros((2, a.size))
        for j in range(a.size):
            for turn, step in enumerate((STEP, 3 * STEP)):
                ends = []
                for sign in (1.0, -1.0):
                    moved = a.copy()
                    moved.flat[j] += sign * step
                    given = [*args[:k], moved if a.ndim else float(moved), *args[k + 1 :]]
                    ends.append(run(loss, given))
                    if not abs(ends[-1]) < 1e100:
                        return None
                slopes[turn, j] = (ends[0] - ends[1]) / (2.0 * step)
        if not np.isfinite(slopes).all() or not np.allclose(slopes[0], slopes[1], rtol=1e-5, atol=1e-6):
            return None
        found.append(slopes[0].reshape(a.shape))
    return found


def judged(title: str) -> dict[str, Any]:
    """A row: what became of a name, `right`, `refused`, `partly` (some of the calls are), `wrong` or `raw`."""
    row: dict[str, Any] = {"name": title, "calls": 0, "gradients": 0, "refused": 0, "why": ""}
    for statements in calls(title):
        row["calls"] += 1
        f, args = written(statements, USUAL)
        try:
            wanted = run(f, args)
        except Exception as error:
            return row | {"verdict": "raw", "why": f"{statements}: NumPy raises {error!r}"}
        try:
            why = value_fault(run(rose.jit(f), args), wanted)
            if not why:
                slope = gradient_fault(statements)
                why, row["gradients"] = slope or "", row["gradients"] + (slope is not None)
        except RoseError as error:
            row["refused"] += 1
            row["why"] = f"{statements}: {error.message}"
            continue
        except Exception as error:
            return row | {"verdict": "raw", "why": f"{statements}: {error!r:.200}"}
        if why:
            return row | {"verdict": "wrong", "why": f"{statements}: {why}"}
    verdict = "right" if not row["refused"] else "partly" if row["refused"] < row["calls"] else "refused"
    return row | {"verdict": verdict}


def main() -> None:
    """The counts, what is not right, and all as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parts = parser.parse_args().only.split(",")
    rows = []
    for title in (name for name in names() if any(part in name for part in parts)):
        rows.append(judged(title))
        if rows[-1]["verdict"] != "right":
            print(f"{rows[-1]['verdict']:8} {title}: {rows[-1]['why']}", flush=True)
    counts = collections.Counter(row["verdict"] for row in rows)
    slopes = sum(row["gradients"] > 0 for row in rows)
    print(
        f"{len(rows)} names of NumPy {np.__version__}: {dict(counts)}; gradients of {slopes} compared with differences"
    )
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "numpy_names.json").write_text(json.dumps({"counts": counts, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
