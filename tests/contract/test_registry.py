"""Every row of the registry of NumPy's functions against NumPy: its sample calls, and what is made of them.

Of each sample: every parameter at its default and at other values, by place and by name; arguments of other shapes
(none, one, no elements), types and values; a parameter that nobody has. Where NumPy gives a value we give it, with its
shape and type, or refuse with the user's line; where NumPy raises we raise. Derivatives obey the laws to order two.
"""

import ast
import inspect
import math
import re
import warnings
from collections.abc import Iterator
from inspect import Parameter
from typing import Any

import numpy as np
import pytest

from rosejit import Array, interp
from rosejit.errors import RoseError
from rosejit.frontend.numpy.registry import BY_NAME, METHODS, ROWS
from rosejit.frontend.numpy.row_kinds import Row, of_elements, of_places
from rosejit.frontend.signature.binding import signature
from rosejit.ir.types import has_real
from rosejit.transforms.autodiff.derivative_programs import differentiable
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.frontend.oracle import define, run, same, stage
from tests.laws import check_laws, numbers
from tests.tables import IS_QUICK, stride

A = np.array([[1.0, -2.0, 0.5], [4.0, 0.25, 6.0]])
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
USUAL: dict[str, Any] = {
    "a": A, "x": np.array([0.5, 1.0, 2.0]), "k": np.array([2, 3, -1]), "p": np.array([True, False, True]),
    "t": np.arange(24.0).reshape(2, 3, 4) * 0.25 - 1.1, "m": M, "s": 1.5, "i": 1,
}  # fmt: skip
"""What the names in sample calls stand for."""


def _each(change: Any) -> dict[str, Any]:
    return {name: change(value) if isinstance(value, np.ndarray) else value for name, value in USUAL.items()}


def _of_type(kind: type) -> dict[str, Any]:
    found = _each(lambda v: v.astype(kind))
    return found | {"s": kind(USUAL["s"])}


def _with_holes(value: Any) -> Any:
    if value.dtype.kind != "f":
        return value
    found = value.copy()
    found.flat[0], found.flat[-1], found.flat[1] = np.nan, -np.inf, 0.0
    return found


OTHERS: dict[str, dict[str, Any]] = {
    "no elements": _each(lambda v: np.zeros((*v.shape[:-1], 0), v.dtype)),
    "no rows": _each(lambda v: np.zeros((0, *v.shape[1:]), v.dtype)),
    "one element": _each(lambda v: np.full((1,) * v.ndim, 0.75).astype(v.dtype)),
    "numbers": _each(lambda v: v.flat[0].item()),
    "higher": _each(lambda v: np.stack([v, v + v])),
    "Ints": _of_type(int),
    "Bools": _of_type(bool),
    "nan": _each(_with_holes) | {"s": float("nan")},
}
VALUES: dict[str, tuple[str, ...]] = {
    "axis": ("0", "1", "-1", "None", "(0, 1)", "5", "(0,)"), "keepdims": ("True",), "out": ("np.zeros(3)",),
    "dtype": ("float", "int", "bool", "np.float32", "np.uint8", "'i2'"), "where": ("p", "False"), "initial": ("2.0",),
    "k": ("1", "-2"), "n": ("0", "2"), "offset": ("1", "-1"), "ddof": ("1",), "correction": ("1",),
    "order": ("'F'", "'C'"), "equal_nan": ("True",), "endpoint": ("False",), "retstep": ("True",), "subok": ("True",),
    "casting": ("'unsafe'",), "copy": ("True", "False"), "decimals": ("1", "-1"), "side": ("'right'",),
    "sorter": ("[0, 1, 2]",), "right": ("True",), "mode": ("'clip'",), "method": ("'lower'",), "ndmin": ("3",),
    "returned": ("True",), "include_initial": ("True",), "prepend": ("0.0",), "append": ("1.0",), "period": ("2.0",),
    "wrap": ("True",), "edge_order": ("2",), "axis1": ("1",), "axis2": ("0",), "upper": ("True",), "ord": ("2",),
    "sparse": ("True",), "stable": ("True",), "kind": ("'stable'",), "like": ("x",), "device": ("'cpu'",),
    "left": ("0.0",), "step": ("2",), "stop": ("5",), "M": ("4",), "default": ("1",), "nan": ("1.0",),
    "posinf": ("1.0",), "axisa": ("0",), "axes": ("0",), "shape": ("(2, 2)",), "min": ("0.5",), "max": ("1.0",),
    "reps": ("3",), "optimize": ("True",), "mean": ("0.0",),
    "UPLO": ("'U'",), "p": ("1",), "tol": ("0.5",), "rtol": ("0.1",), "rcond": ("0.1",),
    "weights": ("None",), "descending": ("True",),
}  # fmt: skip
"""What parameters are given beside their defaults."""
CALLS = {f"np.{name}": row for name, row in BY_NAME.items()} | {f"x.{name}": row for name, row in METHODS.items()}
for refused in ("np.linalg.eig", "np.linalg.eigvals", "x.nonzero"):
    del CALLS[refused]  # a row that says why
IS_CURRENT = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
"""Whether it is the NumPy whose signatures the registry has: others lack a parameter here, and have another there."""
HAS_TYPES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether its results have the types of the newest: older ones gave others here and there."""
STRIDE = stride(8 if IS_QUICK else 3)


def samples_of(title: str, row: Row) -> list[str]:
    """The arguments of the sample calls."""
    if row.kind is of_elements and not row.samples:
        return {1: ["x", "a", "s", "x - 0.5", "k"], 2: ["x, a", "a, s", "k, 2", "x, x", "s, 2"]}.get(row.operands, [])
    if title.startswith("x.") and row.is_method:
        apart = map(_apart, row.samples.split("; "))
        return [f"{first}; {rest}" for first, rest in apart if isinstance(_parsed(first), (ast.Name, ast.Subscript))]
    if title.startswith("x."):
        return [f"a; {sample}" for sample in row.samples.split("; ")]
    return row.samples.split("; ") if row.samples else []


def _apart(sample: str) -> tuple[str, str]:
    """The first argument, and the others."""
    call = _parsed(f"f({sample})")
    assert isinstance(call, ast.Call)
    first = ast.unparse(call.args[0])
    return first, sample.removeprefix(first).removeprefix(", ")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def code(title: str, row: Row, sample: str, more: str = "") -> str:
    """The statements that a call is."""
    owner, arguments = sample.split("; ") if title.startswith("x.") else ("", sample)
    arguments = ", ".join(part for part in (arguments, more) if part)
    if row.gives == "writes":
        target = owner or ("m" if "diagonal" in title else "x")
        call = f"y.{title[2:]}({arguments})" if owner else f"{title}(y, {arguments})"
        return f"y = {target} * 1; {call}; return y"
    call = f"{owner}.{title[2:]}({arguments})" if owner else f"{title}({arguments})"
    if title in SIGNS and "compute_uv=False" not in call:
        return f"found = {call}; return [np.abs(v) for v in found]"
    return SHOWN.get(title, "return {}").format(call)


SHOWN = {
    "np.empty": "return np.zeros_like({})", "np.empty_like": "return np.zeros_like({})",
    "np.partition": "return np.sort({}, -1)", "np.argpartition": "return np.sort({}, -1)",
    "x.argpartition": "return np.sort({}, -1)", "np.ndenumerate": "return sum([v * (1 + sum(i)) for i, v in {}])",
    "np.nditer": "return sum([np.sum(v) * 2 for v in {}])", "np.einsum_path": "return len({}[0])",
    "np.result_type": "return np.zeros(2, {})", "np.polynomial.laguerre.lagint": "return 1.0 + {}",
}  # fmt: skip
"""What is compared of numbers that nobody knows, of orders of which several are right, and of what is no number."""


def variants(title: str, row: Row, sample: str) -> Iterator[str]:
    """More arguments for a sample: each parameter that it does not give, by name and by place."""
    binds = row.method if title.startswith("x.") else row.binds
    call = _parsed(f"f({sample.split('; ')[-1] if title.startswith('x.') else sample})")
    assert isinstance(call, ast.Call)
    given = list(binds.bind_partial(*call.args, **{str(k.arg): k.value for k in call.keywords}).arguments)
    before: list[str] = []
    yield "nonsense=1"
    for name, p in list(binds.parameters.items()) if row.gives != "writes" else ():
        if name in given or p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        by_place = p.kind is not Parameter.KEYWORD_ONLY and not call.keywords
        for value in (*([] if p.default is ... else [repr(p.default)]), *VALUES.get(name, ())):
            value = value.replace("<class 'float'>", "float")
            if p.kind is not Parameter.POSITIONAL_ONLY:
                yield f"{name}={value}"
            if by_place:
                yield ", ".join([*before, value])
        if by_place:
            if p.default is ...:
                return
            before.append(repr(p.default).replace("<class 'float'>", "float"))


SIGNS = ("np.linalg.eigh", "np.linalg.svd")
"""What is determined up to signs: sizes are compared."""
SCALARS: dict[type, Any] = {float: np.array, int: np.array, bool: np.array}
"""Numbers have the methods of arrays, as NumPy's have."""


def outcome(f: Any, args: list[Any]) -> Any:
    """What a call gives in CPython; the exception if it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*[np.array(a) if isinstance(a, np.ndarray) else a for a in args])
        except Exception as error:
            return error


def kinds(value: Any) -> Any:
    """The types of the elements."""
    if isinstance(value, (list, tuple)):
        return [kinds(item) for item in value]
    return np.asarray(value).dtype.kind if np.size(value) else ""


def shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [shapes(item) for item in value]
    return np.shape(value)


def written(statements: str, scope: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The function of a call, and its arguments."""
    used = {node.id for node in ast.walk(ast.parse(f"def f():\n {statements}")) if isinstance(node, ast.Name)}
    names = [name for name in scope if name in used]
    hints = [_hint(scope[name]) for name in names]
    header = ", ".join(f"{name}: {hint}" for name, hint in zip(names, hints, strict=True))
    lines = "\n    ".join(statements.split("; "))
    return define(f"def f({header}):\n    {lines}", np=np, Array=Array), [scope[name] for name in names]


def _hint(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    kind = {"f": "float", "i": "int", "b": "bool"}[value.dtype.kind]
    return f"Array[{', '.join(map(str, value.shape))}, {kind}]"


def fault_of(statements: str, scope: dict[str, Any], must: bool) -> str:
    """What is wrong with a call; nothing if it is right, or refused and need not be accepted."""
    f, args = written(statements, scope)
    is_method = "return a." in statements or any(f"return {n}." in statements for n in USUAL)
    wanted = outcome(f, [SCALARS[type(a)](a) if is_method and type(a) in SCALARS else a for a in args])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            staged = stage(f, *args)
            try:
                found = run(staged, f, *args)
            except (ArithmeticError, ValueError, IndexError):  # what compiled code raises at the user's line
                if isinstance(wanted, Exception) or not must:
                    return ""
                raise
        except Exception as error:
            if isinstance(wanted, Exception):
                ours = isinstance(error, (RoseError, type(wanted)))
                return "" if ours else f"raises {error!r}, NumPy {wanted!r}"
            if must or not isinstance(error, RoseError) or error.span is None:
                return f"raises {type(error).__name__}: {str(error).partition(chr(10))[0]}"
            COUNTS["refused"] += 1
            return ""
    COUNTS["values"] += 1
    if isinstance(wanted, Exception):
        return "" if not IS_CURRENT else f"gives {found!r}, NumPy raises {wanted!r}"
    if not equal(found, wanted):
        return f"gives {found!r}, NumPy {wanted!r}"
    return ""


def is_narrow(value: Any) -> bool:
    """Whether NumPy computed with fewer bits than we have: of Bools it makes float16 and int8."""
    if isinstance(value, (list, tuple)):
        return any(map(is_narrow, value))
    return np.asarray(value).dtype.itemsize < 8 and np.asarray(value).dtype.kind != "b"


def equal(found: Any, wanted: Any) -> bool:
    """The same shapes, types and numbers."""
    if shapes(found) != shapes(wanted) or (HAS_TYPES and kinds(found) != kinds(wanted)):
        return False
    return is_narrow(wanted) or same(plain(found), plain(wanted))


def plain(value: Any) -> Any:
    """Nested lists of Python's numbers."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return np.asarray(value).tolist()


IN_ORDER = re.compile("linalg|polynomial")
"""Where what becomes of NaN depends on the order of operations."""
COUNTS = dict.fromkeys(("calls", "values", "refused", "gradients"), 0)
"""What was compared, for whoever asks."""


def faults(title: str) -> Iterator[str]:
    """All that is wrong with a function or method."""
    row = CALLS[title]
    for number, sample in enumerate(samples_of(title, row)):
        cases = [("", USUAL, "usual")]
        if not number or row.kind is not of_elements:  # what functions of elements do with parameters is one thing
            cases += [(more, USUAL, "usual") for more in variants(title, row, sample)]
        skipped = {*left_out(title), *(("nan",) if IN_ORDER.search(title) else ())}
        cases += [("", scope, name) for name, scope in OTHERS.items() if name not in skipped]
        for turn, (more, scope, name) in enumerate(cases):
            if turn and (turn + number) % STRIDE:
                continue
            statements = code(title, row, sample, more)
            COUNTS["calls"] += 1
            why = fault_of(statements, scope, must=not more and scope is USUAL)
            if why:
                yield f"{statements}  [{name}]: {why}"


def left_out(title: str) -> tuple[str, ...]:
    """What is not compared: of singular matrices rounding errors, which are tested in `test_linalg.py`."""
    if "linalg" not in title:
        return ()
    factors = title.rpartition(".")[2] in ("eigh", "eigvalsh", "svd", "svdvals", "qr", "lstsq", "cond", "norm")
    return ("nan", "Bools", "higher") if factors else ("nan",)


def exists(title: str) -> bool:
    """Whether this release of NumPy has it."""
    try:
        eval(title, {"np": np, "x": np.zeros(2)})
    except AttributeError:
        return False
    return True


def _first(title: str, row: Row) -> str:
    """The first of the names of a function that this release has."""
    owner = title.partition(".")[0]
    return next((name for name in row.names.split() if exists(f"{owner}.{name}")), "")


TITLES = [
    title for title, row in CALLS.items() if row.kind is not of_places and title.split(".", 1)[1] == _first(title, row)
]


@pytest.mark.parametrize("title", TITLES)
def test_calls(title: str) -> None:
    found = list(faults(title))
    assert samples_of(title, CALLS[title]), f"{title} has no sample call"
    assert not found, "\n".join(found)


RNG = np.random.default_rng(5)
APART = _each(
    lambda v: (
        RNG.permutation(np.linspace(0.113 + v.size / 1000, 0.961 - v.size / 500, v.size)).reshape(v.shape)
        if v.dtype.kind == "f"
        else v
    )
)
"""Where functions are smooth: no two numbers are equal, none is whole or a half."""
POINTS = (
    APART | {"s": 0.37, "m": M},
    APART | {"s": 1.37, "m": M, "x": APART["x"] + 1.0, "a": APART["a"] + 1.0},
)
AT_ZERO = APART | {"s": 0.0, "m": M, "x": np.array([0.0, 0.3, -0.4]), "a": APART["a"] - APART["a"][0, 0]}


def laws(title: str, sample: str, scope: dict[str, Any]) -> bool:
    """Check the laws of derivatives of a sample call; False where it is not finite, or nothing to be differentiated."""
    f, args = written(code(title, CALLS[title], sample), scope)
    staged = stage(f, *args)
    program = insert_copies(staged.function)
    read = [*signature(f).bind(tuple(args), {}).values, *(capture.read() for capture in staged.captures)]
    given = [value.tolist() if isinstance(value, np.ndarray) else value for value in read]
    results = interp.run(program, given)
    if not any(differentiable(program)) or not any(map(has_real, program.results)):
        return False
    if not all(map(math.isfinite, numbers(list(results)))):
        return False
    check_laws(program, given, order=2)
    COUNTS["gradients"] += 1
    return True


def can_be_called(title: str) -> bool:
    """Whether it is no function under another name."""
    return title.startswith("np.") or not CALLS[title].is_method


ALIKE = re.compile(r"np\.polynomial\.(hermite|hermite_e|laguerre|legendre)\.")
"""Families that differ from that of Chebyshev in the numbers of a recurrence, which are compared with NumPy's."""


@pytest.mark.parametrize("title", [t for t in TITLES if can_be_called(t) and not ALIKE.match(t)])
@pytest.mark.filterwarnings("ignore:Mean of empty slice|All-NaN|Degrees of freedom|invalid value")
def test_derivatives(title: str) -> None:
    samples = samples_of(title, CALLS[title])
    for sample in samples[: 2 if title.startswith("np.linalg.") else None]:  # tests/frontend/numpy has the others
        any(laws(title, sample, scope) for scope in POINTS)


SMOOTH = [title for title in TITLES if CALLS[title].kind is of_elements and CALLS[title].operands == 1]


@pytest.mark.parametrize("title", SMOOTH)
def test_second_derivatives_at_zero(title: str) -> None:
    """Where the definition divides zero by zero, too."""
    if "s" in samples_of(title, CALLS[title]) and title not in STEPS:
        laws(title, "s", AT_ZERO)


STEPS = (
    "np.sign",
    "np.floor",
    "np.ceil",
    "np.trunc",
    "np.fix",
    "np.rint",
    "np.sqrt",
    "np.cbrt",
    "np.absolute",
    "np.fabs",
)
"""What has no derivative at zero."""


def test_every_name_is_in_one_row() -> None:
    names = [name for row in ROWS for name in row.names.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("title", TITLES)
def test_signatures_are_those_of_numpy(title: str) -> None:
    """Every parameter of the NumPy that is installed is known, in its place and of its kind."""
    row = CALLS[title]
    if not IS_CURRENT:
        return
    try:
        theirs = inspect.signature(eval(title, {"np": np, "x": np.zeros(2)}))
    except (TypeError, ValueError):
        return  # written in C, and says nothing
    ours = dict((row.method if title.startswith("x.") else row.binds).parameters)
    places = [p for p in theirs.parameters.values() if p.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)]
    for number, p in enumerate(places):
        if p.kind is Parameter.POSITIONAL_ONLY:
            assert len(ours) > number, f"{title} has `{p.name}`"
            continue
        assert p.name in ours, f"{title} has `{p.name}`"
        if p.kind is not Parameter.KEYWORD_ONLY:
            assert list(ours).index(p.name) == number, f"`{p.name}` of {title} has another place"
