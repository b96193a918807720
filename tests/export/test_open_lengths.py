"""Modules whose arrays have any length: the bits of Python's own specialisations, and what is refused."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.export.machine import NODE, bits, javascript, results

N, M, POINTS = rose.ShapeOf("n"), rose.ShapeOf("m"), rose.ShapeOf("n", 3)
WHOLE, TRUE = rose.ShapeOf("n", dtype=int), rose.ShapeOf("n", dtype=bool)
LENGTHS = 0, 1, 7, 10_000


@rose.jit
def energy(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += (x[i + 1] - x[i] - 1.0) ** 2 + 0.1 * x[i] ** 4
    return total


class Cloud(NamedTuple):
    places: Mat["n", 3]
    masses: Vec["n"]


CENTRE = np.array([0.5, -1.0, 0.25])


def work(cloud: Cloud, scale: float) -> float:
    total = 0.0
    for i in rose.range(len(cloud.masses)):
        apart = cloud.places[i] - CENTRE
        total += scale * cloud.masses[i] * math.sqrt(1.0 + apart @ apart)
    return total


def prefix(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] if i == 0 else y[i - 1] + x[i]
    return y


def means(x, y):
    return (x * y + 1.0).sum() / (1 + len(x)), np.where(x > 0.0, x, -y).mean() if len(x) > 1 else 0.0


def walked(x):
    total, at = 0.0, 0
    for v in x:
        total += math.sin(v)
    while at < len(x) and x[at] < 1.5:
        at += 1
    return (total if len(x) % 2 else -total), at, len(x), math.sqrt(len(x)), sum(v * v for v in x)


def built(x):
    y, z = np.ones((len(x), 2)), np.arange(len(x)) * 2
    for i in rose.range(len(x)):
        y[i, 1] += x[i] * z[i]
    return {
        "y": y,
        "z": z,
        "mirror": [x[len(x) - 1 - i] for i in rose.range(len(x))],
        "apart": x[1:] - x[:-1],
        "all": x[: len(x)],
        "on": x > 0.0,
    }


def sides(points, w):
    return points @ w, points.T @ points, (points * w).sum(axis=0), points[1:, 0]


def descent(x):
    value, slope = rose.value_and_grad(energy)(x)
    return x - 0.1 * slope / (1.0 + value)


def numbers(k, on):
    return k * 2 + 1, on & (k > 1), k.sum()


CASES = {
    "energy": (energy, (N,)),
    "slope": (rose.grad(energy), (N,)),
    "work": (work, (Cloud(POINTS, N), 2.0)),
    "forces": (rose.grad(work, argnums=(0, 1)), (Cloud(POINTS, N), 2.0)),
    "prefix": (prefix, (N,)),
    "prefixes": (rose.value_and_grad(lambda x: (prefix(x) * x).sum()), (N,)),
    "means": (means, (N, N)),
    "walked": (walked, (N,)),
    "built": (built, (N,)),
    "sides": (sides, (POINTS, CENTRE)),
    "descent": (descent, (N,)),
    "numbers": (numbers, (WHOLE, TRUE)),
    "curvature": (rose.grad(lambda x: (rose.grad(energy)(x) ** 2).sum()), (N,)),
}


def given(example, n, rng):
    """An argument of length `n` like an example."""
    if isinstance(example, tuple):
        return type(example)(*(given(part, n, rng) for part in example))
    if not isinstance(example, rose.ShapeOf):
        return example
    shape = tuple(length if isinstance(length, int) else n for length in example.shape)
    if example.kind == "real":
        return rng.normal(size=shape)
    return rng.integers(0, 5, shape) if example.kind == "int" else rng.random(shape) < 0.5


def test_the_bits_of_python(tmp_path):
    functions = {name: (f, *examples) for name, (f, examples) in CASES.items()}
    _, module, declared = rose.export(functions, path=tmp_path)
    rng = np.random.default_rng(7)
    calls = [(name, *case, n) for name, case in CASES.items() for n in LENGTHS]
    jobs = [(module, name, rose.jit(f), tuple(given(e, n, rng) for e in examples)) for name, f, examples, n in calls]
    found = results(tmp_path, jobs) if NODE else None
    for (name, _, _, n), (_, _, f, args), got in zip(calls, jobs, found or (), strict=bool(found)):
        assert (name, n, bits(got)) == (name, n, bits(f(*args)))
    text = declared.read_text()
    assert "prefix(x: ArrayLike<number>): Float64Array;" in text
    assert "places: ArrayLike<ArrayLike<number>> | Float64Array; masses: ArrayLike<number>" in text


def test_lengths_of_two_names(tmp_path):
    module = rose.export(lambda x, y: (x.sum() * y.sum(), np.zeros(len(x) + 2 * len(y))), N, M, path=tmp_path)[1]
    text = f"""import load from "./{module.name}";
        const f = (await load()).lambda, [value, zeros] = f([1, 2, 3], new Float64Array(2).fill(0.5));
        console.log(JSON.stringify([value, zeros.length]));"""
    assert javascript(tmp_path, text) in (None, [6, 7])


def test_what_the_page_gives_wrongly(tmp_path):
    functions = {"work": (work, Cloud(POINTS, N), 2.0), "dot": (lambda x, y: x @ y, N, N), "at": (lambda x: x[5], N)}
    module = rose.export(functions, path=tmp_path)[1]
    text = f"""import load from "./{module.name}";
        const {{ work, dot, at }} = await load(), told = [];
        const cloud = {{ places: [[0, 0, 0]], masses: [1, 2] }};
        const flat = {{ places: new Float64Array(4), masses: [1] }}, short = {{ places: [[1, 2]], masses: [1] }};
        for (const call of [
          () => work(cloud, 1), () => dot([1, 2], [1]), () => dot("ab", [1, 2]), () => dot([1, 2], [1, "x"]),
          () => work(flat, 1), () => work(short, 1), () => at([1, 2]),
        ])
          try {{ told.push(call()); }} catch (error) {{ told.push(`${{error}}`.split("\\n")[0]); }}
        for (let i = 0; i < 1000; i++) try {{ dot(new Float64Array(10000), [1]); }} catch {{}}
        const two = {{ places: new Float64Array(6), masses: [0, 0] }};
        told.push(dot([1, 2, 3], [1, 1, 1]), at([0, 0, 0, 0, 0, 8]), work(two, 1));
        console.log(JSON.stringify(told));"""
    assert javascript(tmp_path, text) in (
        None,
        [
            "RangeError: `cloud.masses` must have length 1, as `cloud.places` has (both are `n`), not 2",
            "RangeError: `y` must have length 2, as `x` has (both are `n`), not 1",
            "TypeError: `x` must be an array, not a string",
            "TypeError: `y[1]` must be a number, not a string",
            "RangeError: `cloud.places` must have rows of 3 numbers, not 4 numbers",
            "RangeError: `cloud.places[0]` must have length 3, not 2",
            "RoseIndexError: index 5 is out of range for length 2",
            6,
            8,
            0,
        ],
    )


def test_memory_is_given_back(tmp_path):
    module = rose.export({"prefix": (prefix, N), "dot": (lambda x, y: x @ y, N, N)}, path=tmp_path)[1]
    text = f"""import load from "./{module.name}";
        const Instance = WebAssembly.Instance, made = [], sizes = [];
        WebAssembly.Instance = function (...given) {{ return (made.push(new Instance(...given)), made.at(-1)); }};
        const {{ prefix, dot }} = await load(), x = new Float64Array(1e5).fill(1);
        for (let i = 0; i < 50; i++) {{
          if (prefix(x)[99999] !== 1e5) throw new Error("wrong");
          try {{ dot(x, [1]); }} catch {{}}
          if (i % 40 === 9) sizes.push(made[0].exports.memory.buffer.byteLength);
        }}
        console.log(JSON.stringify([sizes[0] === sizes[1], made.length]));"""
    assert javascript(tmp_path, text) in (None, [True, 1])


@rose.opaque
def outside(x: Vec["n"]) -> float:
    return float(x.sum())


def checkpointed(x):
    total = 0.0
    for i in rose.range(len(x), checkpoint=True):
        total = math.sin(total + x[i])
    return total


REFUSED = {
    "a list": lambda x: [0.0] * len(x),
    "a number of the host": lambda x: list(range(3))[len(x)],
    "a sort": lambda x: np.sort(x),
    "a mask": lambda x: x[x > 0.0],
    "a gather": lambda x: x[np.array([0, 1])],
    "a part": lambda x: x[0:3],
    "an empty part": lambda x: x[:0],
    "a part from behind": lambda x: x[-2:],
    "every other element": lambda x: x[::2],
    "a truth value as an index": lambda x: x[True],
    "a number with a fraction as an index": lambda x: x[1.0],
    "a window": lambda x: sum(x[i : i + 2].sum() for i in rose.range(len(x) - 1)),
    "a reshape": lambda x: x.reshape(-1, 1),
    "a matrix": lambda x: x[:, None] * x[None, :],
    "a text": lambda x: (f"{len(x)}", x.sum()),
    "a print": lambda x: (print(x), x.sum())[1],
    "an opaque function": lambda x: outside(x),
    "a tangent": lambda x: rose.jvp(energy, (x,), (x,))[1],
    "a Jacobian": rose.jacobian(prefix),
    "a Hessian": rose.hessian(energy),
    "a complex array": lambda x: (x * 1j).imag,
    "checkpoints": checkpointed,
    "arrays of two lengths": lambda x: x if x[0] > 0.0 else x[1:],
    "a sum of two lengths": lambda x: x[1:] + x,
    "a minimum": lambda x: min(len(x), 3),
    "the flat elements": lambda x: sum(x.flat),
    "a stack": lambda x: np.stack([x, x]),
    "a list of structures": lambda x: [Cloud(x[i], 1.0) for i in rose.range(len(x))],
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_a_number_is_refused(tmp_path, what):
    with pytest.raises(rose.RoseError) as caught:
        rose.export({"f": REFUSED[what]}, N, path=tmp_path / "made")
    assert "internal" not in str(caught.value)
    assert not (tmp_path / "made").exists()


def test_the_refusal_names_the_line_and_what_to_do():
    with pytest.raises(rose.StagingTypeError) as caught:
        rose.make_ir(lambda x: np.kron(x, x))(N)
    told = str(caught.value)
    assert "`np.kron` of an array whose length stays open is not staged" in told
    assert "np.kron(x, x)" in told
    assert "export for one length: `rose.ShapeOf(10)`" in told


def test_other_lengths_than_the_first():
    with pytest.raises(
        rose.StagingTypeError, match="only the first length of an array can be open: `n` is that of axis 1"
    ):
        rose.ShapeOf(3, "n")
    with pytest.raises(rose.StagingTypeError, match="is no name of a length"):
        rose.ShapeOf("n + 1")
    assert repr(rose.ShapeOf("n", 3)) == "ShapeOf(n, 3)"


def test_hints_and_names_must_agree():
    @rose.jit
    def dot(x: Vec["n"], y: Vec["n"]) -> float:
        return x @ y

    with pytest.raises(rose.ShapeError):
        dot.lower(N, M)
    assert "[n]Real" in str(dot.lower(N, N).ir)


def test_it_is_lowered_but_not_compiled_for_python():
    lowered = energy.lower(N)
    assert str(lowered.ir).startswith("def energy(x: [n]Real): Real")
    for use in (lowered.compile, lowered.cost, lowered.wat):
        with pytest.raises(rose.StagingTypeError, match="the length `n` of `energy` is open"):
            use()
