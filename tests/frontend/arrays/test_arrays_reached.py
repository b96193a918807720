"""Arrays of the host: ways to reach one x what is done with it. CPython's numbers, also when it has changed; writes are
refused, and leave it as it was."""

import copy
import dataclasses
import functools
import itertools
import linecache
import operator
from typing import Any

import numpy as np
import pytest

import rosejit as rose


@dataclasses.dataclass
class Holder:
    a: Any

    def get(self) -> Any:
        return self.a

    @property
    def prop(self) -> Any:
        return self.a


WAYS = {
    "for": "for a in ARRAYS: t += USE",
    "for of a slice": "for a in ARRAYS[1:]: t += USE",
    "enumerate": "for i, a in enumerate(ARRAYS): t += USE",
    "zip": "for a, b in zip(ARRAYS, PAIR): t += USE",
    "reversed": "for a in reversed(ARRAYS): t += USE",
    "sorted": "for a in sorted(ARRAYS, key=lambda a: a[0]): t += USE",
    "chain": "for a in itertools.chain(ARRAYS, PAIR): t += USE",
    "product": "for a, b in itertools.product(ARRAYS, PAIR): t += USE",
    "unpacking": "a, b = PAIR; t += USE",
    "starred": "a, *rest = ARRAYS; t += USE",
    "values": "for a in DICT.values(): t += USE",
    "items": "for k, a in DICT.items(): t += USE",
    "key": "a = DICT['p']; t += USE",
    "get": "a = DICT.get('q'); t += USE",
    "index": "a = ARRAYS[-1]; t += USE",
    "attribute": "a = HOLDERS[0].a; t += USE",
    "method": "a = HOLDERS[1].get(); t += USE",
    "property": "a = HOLDERS[1].prop; t += USE",
    "objects": "for h in HOLDERS:\n        a = h.a; t += USE",
    "generator": "for a in generated(): t += USE",
    "function": "a = given(); t += USE",
    "next": "a = next(iter(ARRAYS)); t += USE",
    "rows": "for a in ROWS: t += USE",
    "arguments": "t += (lambda *q: [USE for a in q][1])(*ARRAYS)",
    "default": "t += (lambda a=ARRAYS[0]: USE)()",
    "list": "t += [USE for a in ARRAYS][2]",
    "sum": "t += sum(USE for a in ARRAYS)",
    "dict": "t += {k: USE for k, a in DICT.items()}['q']",
    "map": "t += sum(map(lambda a: USE, ARRAYS))",
    "pop": "a = list(ARRAYS).pop(); t += USE",
    "match": "match PAIR:\n        case (a, b): t += USE",
    "reduce": "a = functools.reduce(np.add, ARRAYS); t += USE",
    "host's sum": "a = sum(ARRAYS); t += USE",
    "itemgetter": "a = operator.itemgetter(1)(ARRAYS); t += USE",
    "vars": "a = vars(HOLDERS[0])['a']; t += USE",
    "while": "k = 0\n    while k < 3:\n        a = ARRAYS[k]; k += 1; t += USE",
    "staged for": "for k in rose.range(2):\n        for a in ARRAYS: t += USE * k",
    "staged if": "if x > 0.0:\n        for a in ARRAYS: t += USE",
}
USES = (
    "(a * x).sum()", "(x * a).sum()", "(a + x).sum()", "(x - a).sum()", "(a / x)[0]", "(a // x)[0]", "(a % x)[1]", "(x ** a).sum()", "(a ** x)[0]",
    "(a > x).sum()", "(x <= a).sum()", "(a == x).sum()", "a @ (a * x)", "np.dot(a, x * a)", "a[0] * x", "np.sum(a) * x", "a.sum() * x",
    "np.where(a > x, a, x).sum()", "np.maximum(a, x).sum()", "(-a * x).sum()", "len(a) * x", "np.sin(a * x).sum()", "[v * x for v in a][1]",
    "(a * n).sum() * x", "(n - a).sum() * x", "(a < n).sum() * x", "(a * (x > 0.0)).sum()", "(a.astype(int) << n).sum()", "divmod(a, x)[0].sum()",
    "np.sum([x, *a])",
)  # fmt: skip


HOSTS = (
    "np.stack(ARRAYS).sum()", "np.sum(ARRAYS)", "sum(ARRAYS).sum()", "sum(a[0] for a in ARRAYS)", "[a.sum() for a in ARRAYS][0]",
    "[(a * 2.0)[0] for a in ARRAYS][0]", "sum(v.sum() for v in DICT.values())", "max(map(np.max, ARRAYS))",
    "np.array([a.mean() for a in ARRAYS])[0]", "np.concatenate(list(DICT.values()))[0]", "np.linalg.norm(ARRAYS)",
    "sum(a.tolist()[0] for a in ARRAYS)", "[*ARRAYS][0][0]", "np.vstack([*ARRAYS, ARRAYS[0]]).sum()", "np.dot(*PAIR)",
    "min(ARRAYS, key=lambda a: a[0])[0]", "sorted(ARRAYS, key=lambda a: -a[0])[0][0]", "DICT.get('p').sum()", "np.array(PAIR).sum()",
    "dict(zip('ab', ARRAYS))['a'][0]", "next(a for a in ARRAYS if a[0] > 0.5)[0]", "(ARRAYS + ARRAYS)[0][0]", "len(str(ARRAYS))",
    "functools.reduce(lambda u, v: u + v[0], ARRAYS, 0.0)", "[*map(lambda a: a * 2.0, ARRAYS)][0][0]", "ARRAYS.copy().pop(0)[0]",
    "[*vars(HOLDERS[0]).values()][0].sum()", "dataclasses.asdict(HOLDERS[0])['a'].sum()", "dataclasses.astuple(HOLDERS[0])[0].sum()",
    "copy.deepcopy(HOLDERS[0]).a.sum()", "copy.copy(HOLDERS[0]).a.sum()", "operator.attrgetter('a')(HOLDERS[0]).sum()",
    "copy.deepcopy(ARRAYS)[0].sum()", "operator.itemgetter(0)(ARRAYS).sum()", "(1.0 if np.allclose(ARRAYS[0], [1.0, 2.0]) else 0.0)",
    "(1.0 if (ARRAYS[0] == 1.0).any() else 0.0)", "next(generated())[0]", "float(given()[0])",
)  # fmt: skip
"""What host code reads of the arrays."""


def outside() -> dict[str, Any]:
    arrays = [np.array([1.0, 2.0]), np.array([3.0, 1.0]), np.array([0.5, 0.25])]

    def generated() -> Any:
        yield from arrays

    return {
        "ARRAYS": arrays,
        "PAIR": (arrays[0], arrays[1]),
        "DICT": {"p": arrays[0], "q": arrays[1]},
        "HOLDERS": [Holder(arrays[0]), Holder(arrays[1])],
        "ROWS": np.arange(6.0).reshape(3, 2),
        "generated": generated,
        "given": lambda: arrays[1],
    }


MODULES = copy, dataclasses, functools, itertools, operator


def written(way: str, use: str, scope: dict[str, Any]) -> Any:
    body = WAYS[way].replace("USE", use)
    text = f"def f(x: float, n: int) -> float:\n    t = 0.0\n    {body}\n    return t * 1.0\n"
    name = f"<{way}: {use}>"
    linecache.cache[name] = (1, None, text.splitlines(True), name)
    known = {"np": np, "rose": rose, **{m.__name__: m for m in MODULES}, **scope}
    exec(compile(text, name, "exec"), known)
    return known["f"]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_computed_with_them(way: str) -> None:
    wrong = []
    for use in USES:
        scope = outside()
        f = written(way, use, scope)
        compiled = rose.jit(cache=False)(f)
        for _ in range(2):
            wanted, found = f(1.7, 2), compiled(1.7, 2)
            if found != pytest.approx(wanted, rel=1e-14):
                wrong.append((use, found, wanted))
            scope["ARRAYS"][1][0] = 2.5  # what is stale is seen here
            scope["ARRAYS"][0][1] = 4.5
            scope["ROWS"][1] = 0.5
    assert not wrong


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_host_has_read_is_no_older_than_what_staged_code_reads(host: str) -> None:
    scope = outside()
    f = written("index", f"(ARRAYS[0] * x).sum() + (HOLDERS[0].a * x).sum() + {host} * x", scope)
    compiled = rose.jit(cache=False)(f)
    for _ in range(3):
        assert compiled(1.7, 2) == pytest.approx(f(1.7, 2), rel=1e-14)
        scope["ARRAYS"][0] += 3.0


@pytest.mark.parametrize("way", WAYS)
def test_they_are_never_written(way: str) -> None:
    writes = "a += x", "a *= 2.0", "a[0] = x", "a[0] += 1.0", "a[:] = 0.0", "np.add(a, x, out=a)"
    source = WAYS[way]
    made = way in ("reduce", "host's sum")  # a new array, which may be
    if "USE" not in source.split("; ")[-1] or source.startswith("t +=") or made:
        return
    for write in writes:
        scope = outside()
        before = [a.copy() for a in scope["ARRAYS"]]
        sentence = source.replace("t += USE * k", write).replace("t += USE", write)
        WAYS["written"] = sentence
        try:
            f = written("written", "", scope)
        finally:
            del WAYS["written"]
        try:
            rose.jit(cache=False)(f)(1.7, 2)
            raise AssertionError(write)
        except rose.RoseError:
            pass
        assert all(np.array_equal(a, b) for a, b in zip(before, scope["ARRAYS"], strict=True)), write


def test_complex_ones_are_refused_in_words() -> None:
    arrays = [np.array([1j, 2.0])]
    with pytest.raises(rose.StagingTypeError, match="complex array from outside"):
        rose.jit(lambda x: sum([abs((a * x).sum()) for a in arrays]))(1.5)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_other_dtypes(dtype: str) -> None:
    arrays = [np.array([1, 200, 3]).astype(dtype), np.array([0, 7, 1]).astype(dtype)]

    def f(x: float) -> float:
        t = 0.0
        for a in arrays:
            t += float((a * x).sum())
        return t

    assert rose.jit(f)(1.5) == pytest.approx(f(1.5), rel=1e-7)


def test_gradients() -> None:
    arrays = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    assert rose.grad(lambda x: sum([(a * x * x).sum() for a in arrays]))(1.5) == 30.0
