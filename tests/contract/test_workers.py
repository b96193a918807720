"""Functions and what is made of them in other processes: how they are pickled, and the engines that people use."""

import copy
import dataclasses
import functools
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose

cloudpickle = pytest.importorskip("cloudpickle")
ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
from __future__ import annotations
import sys, pickle
from dataclasses import dataclass
from functools import partial
import numpy as np
import rosejit as rose
from rosejit import Vec

SCALE = 3.0

@dataclass(frozen=True)
class Params:
    a: float
    b: Vec["n"]

def helper(x: float) -> float:
    return SCALE * x * x if x > 0.5 else x

@rose.jit
def twice(x: float, n: int) -> float:
    return helper(x) if n == 0 else 2.0 * twice(x, n - 1)

@rose.jit
def loss(p: Params, x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += twice(p.a * x[i], 1) * p.b[i]
    return total

@rose.jit
def ruled(x: float) -> float:
    return x

@ruled.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(ruled(x.re), 7.0 * x.du)

@rose.opaque
def shown(x: float) -> float:
    return float(np.cos(x)) + SCALE

def made(k):
    def closure(x):
        return k * x * helper(x)
    return rose.jit(closure)

def several(functions):
    return rose.jit(lambda x: sum(f(x) for f in functions))

class Shape:
    def __init__(self, side): self.side = side
    @staticmethod
    def square(x): return x * x
    @classmethod
    def unit(cls): return cls(1.0)
    @property
    def double(self): return 2.0 * self.side
    def area(self, x): return self.square(x) * self.double + self.unit().side

def row(a: float, x: float) -> float:
    return a * x * x if x > 0.5 else a

X, P = np.array([0.1, 0.9, 1.5]), Params(2.0, np.array([1.0, 0.5, 0.25]))
CALLS = {
    "function": (loss, (P, X)),
    "recursive": (twice, (1.5, 3)),
    "gradient": (rose.grad(loss), (P, X)),
    "value and gradient": (rose.value_and_grad(loss, argnums=(0, 1)), (P, X)),
    "batch": (rose.vmap(loss, in_axes=(None, 0)), (P, np.stack([X, X]))),
    "Jacobian": (rose.jacobian(lambda x: x * helper(x[0])), (X,)),
    "Hessian": (rose.hessian(lambda x: (x * x * helper(x[0])).sum()), (X,)),
    "product": (rose.hvp(lambda x: (x * x * helper(x[0])).sum()), (X, X)),
    "sparse": (rose.sparse_jacobian(lambda x: x[1:] * x[:-1]), (X,)),
    "lambda": (rose.jit(lambda x: helper(x) + 1.0), (2.0,)),
    "closure": (made(5.0), (2.0,)),
    "rule": (rose.grad(ruled), (2.0,)),
    "several": (several([lambda x: x * x, partial(lambda x, y: x * y, 3.0)]), (2.0,)),
    "members": (rose.jit(lambda x: Shape(2.0).area(x)), (3.0,)),
    "sum over rows": (rose.value_and_grad(rose.sum_over(row, over="x", rows=2)), (1.5, X)),
    "checkpoint": (rose.grad(rose.checkpoint(lambda x: helper(x))), (2.0,)),
    "opaque": (rose.jit(lambda x: shown(x) * x), (2.0,)),
    "pullback": (rose.vjp(loss, P, X)[1], (1.0,)),
    "pushforward": (rose.linearize(lambda x: x * helper(x[0]), X)[1], (X,)),
    "compiled": (loss.lower(P, X).compile(), (P, X)),
    "compiled, opaque": (rose.jit(lambda x: shown(x) * x).lower(2.0).compile(), (2.0,)),
}

def told(found):
    return repr(found.toarray() if hasattr(found, "toarray") else found)
"""
MAKER = """
{program}
import cloudpickle
import {pickler} as pickler
if __name__ == "__main__":
    made = {{}}
    for name, (f, args) in CALLS.items():
        made[name] = pickler.dumps(f), cloudpickle.dumps(args), told(f(*args))
    pickle.dump(made, open("calls", "wb"))
"""
TAKER = """
import pickle
for name, (f, args, expected) in pickle.load(open("calls", "rb")).items():
    found = pickle.loads(f)(*pickle.loads(args))
    found = repr(found.toarray() if hasattr(found, "toarray") else found)
    assert found == expected, (name, found, expected)
print("all the same")
"""


def environment(folder):
    """For a process with a disk cache of its own."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "ROSE_CACHE_DIR": str(folder / "cache")}


def run(folder, program, *args):
    command = [sys.executable, *args, program]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("from_cells", [False, True], ids=["program", "notebook"])
def test_all_kinds_reach_a_process_that_has_nothing(tmp_path, from_cells):
    program = MAKER.format(program=PROGRAM, pickler="pickle" if from_cells else "cloudpickle")
    if from_cells:  # no file: `__main__` has none, and the text is in `linecache` only
        (tmp_path / "cells.txt").write_text(program)
        program = (
            "import linecache\ntext = open('cells.txt').read()\ndel __file__\n"
            "linecache.cache['<cell 1>'] = (len(text), None, text.splitlines(True), '<cell 1>')\n"
            "exec(compile(text, '<cell 1>', 'exec'))\n"
        )
    (tmp_path / "maker.py").write_text(program)
    run(tmp_path, "maker.py")
    for file in ("maker.py", "cells.txt"):
        (tmp_path / file).unlink(missing_ok=True)
    (tmp_path / "taker.py").write_text(TAKER)
    assert run(tmp_path, "taker.py") == "all the same\n"


POOL = """
{program}
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("{method}")) as pool:
        waiting = [(name, pool.submit(f, *args), told(f(*args))) for name, (f, args) in CALLS.items()]
        for name, future, expected in waiting:
            assert told(future.result()) == expected, name
    print("all the same")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_concurrent_futures(tmp_path, method):
    (tmp_path / "pool.py").write_text(POOL.format(program=PROGRAM, method=method))
    assert run(tmp_path, "pool.py") == "all the same\n"


LOKY = """
{program}
from joblib import Parallel, delayed
if __name__ == "__main__":
    calls = [(f, args) for f, args in CALLS.values()]
    found = Parallel(n_jobs=2)(delayed(f)(*args) for f, args in calls)
    assert [*map(told, found)] == [told(f(*args)) for f, args in calls]
    print("all the same")
"""


def test_joblib(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "loky.py").write_text(LOKY.format(program=PROGRAM))
    assert run(tmp_path, "loky.py") == "all the same\n"


def test_plain_functions_of_a_program_are_derived_where_they_arrive(tmp_path):
    (tmp_path / "loky.py").write_text(
        "import rosejit as rose\nfrom joblib import Parallel, delayed\n"
        "def f(x):\n    return x * x * x if x > 0.0 else x\n"
        "def slope(x):\n    return rose.grad(f)(x)\n"
        "if __name__ == '__main__':\n    print(Parallel(n_jobs=2)(delayed(slope)(x) for x in (2.0, -1.0)))\n"
    )
    assert run(tmp_path, "loky.py") == "[12.0, 1.0]\n"


def test_a_function_of_a_module_travels_by_name():
    assert len(pickle.dumps(rose.logsumexp)) < 100


def test_copies_and_identity():
    f = rose.jit(lambda x: 2.0 * x)
    for copied in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert copied(3.0) == 6.0
        assert rose.grad(copied)(3.0) == 2.0
    f, g = cloudpickle.loads(cloudpickle.dumps([f, f]))
    assert f is g


def test_without_cloudpickle_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(rose.StagingTypeError, match=r"rosejit\[workers\]"):
        pickle.dumps(rose.jit(lambda x: x))


def test_a_worker_does_not_stage_a_compiled_program(tmp_path):
    program = rose.jit(lambda x: np.sin(x) * x).lower(1.0).compile()
    (tmp_path / "program").write_bytes(pickle.dumps(program))
    (tmp_path / "taker.py").write_text(
        "import pickle, sys\nprogram = pickle.load(open('program', 'rb'))\nprint(program(2.0))\n"
        "assert not any(name.startswith('rosejit.codegen.') for name in sys.modules)\n"
    )
    assert float(run(tmp_path, "taker.py")) == np.sin(2.0) * 2.0


def ways_to_hold(helper):
    """Functions that reach `helper` in one way each."""

    class Held:
        of_the_class = staticmethod(helper)
        as_property = property(lambda self: helper(self.x))
        as_class_method = classmethod(lambda cls, x: helper(x))

        def __init__(self, x):
            self.x, self.function = x, helper

        def method(self, x):
            return helper(x)

    held = Held(1.5)
    several, named = [helper, helper], {"h": helper, "n": (1, None)}
    partly = functools.partial(lambda k, x: k * helper(x), 1.0)
    decorated = rose.jit(helper)
    return {
        "cell": lambda x: helper(x),
        "list": lambda x: several[1](x),
        "dict": lambda x: named["h"](x),
        "partial": lambda x: partly(x),
        "decorated": lambda x: decorated(x),
        "gradient": lambda x: x * rose.grad(decorated)(x) / 2,
        "default": lambda x, h=helper: h(x),
        "inside": lambda x: (lambda y: helper(y))(x),
        "static method": lambda x: held.of_the_class(x),
        "class method": lambda x: held.as_class_method(x),
        "property": lambda x: Held(x).as_property,
        "method": lambda x: held.method(x),
        "bound": rose.jit(held.method),
        "attribute": lambda x: held.function(x),
    }


@pytest.mark.parametrize("way", ways_to_hold(abs))
def test_all_that_is_reached_is_staged_where_it_arrives(way):
    def helper(x):
        return x * x if x > 0.5 else x

    f = ways_to_hold(helper)[way]
    f = f if way == "bound" else rose.jit(f)
    for _ in range(2):  # and travels on
        f = cloudpickle.loads(cloudpickle.dumps(f))
        assert f(1.5) == 2.25
        assert rose.grad(f)(1.5) == 3.0
        assert {line.file for line in f.lower(1.5).cost().lines} == {__file__}


def test_a_function_that_travelled_without_us_is_staged_where_its_file_is():
    """Cloudpickle leaves out in which file code is written, and keeps `__file__` of its module."""

    def task(x):
        helper = lambda y: y * y

        @rose.jit
        def inner(y: float) -> float:
            return helper(y) + 1.0 if y > 0.5 else y

        return rose.grad(inner)(x), inner(x)

    def plain(x):
        return x * x if x > 0.5 else x

    assert cloudpickle.loads(cloudpickle.dumps(task))(1.5) == (3.0, 3.25)
    arrived = cloudpickle.loads(cloudpickle.dumps(plain))
    assert rose.grad(arrived)(1.5) == 3.0
    arrived = cloudpickle.loads(cloudpickle.dumps(lambda x: sum(f(x) for f in (plain,))))
    assert rose.value_and_grad(arrived)(1.5) == (2.25, 3.0)


def test_classes_are_pickled_as_they_are_written_while_they_are_staged():
    """Pools pickle in a thread of their own while the program goes on, which stages: see `special_methods`."""

    @dataclasses.dataclass
    class Point:
        a: float

        def __add__(self, other):
            return Point(self.a + other.a)

        def __repr__(self):
            return f"P({self.a})"

        def __len__(self):
            return 3

        def __call__(self, x):
            return self.a * x

        @property
        def twice(self):
            return 2.0 * self.a

    written, found = cloudpickle.loads(cloudpickle.dumps(Point)), []

    def pickle_it():
        found.append(cloudpickle.dumps(Point))

    @rose.pure
    def look():
        pickle_it()
        thread = threading.Thread(target=pickle_it)
        thread.start()
        thread.join()

    @rose.jit
    def f(x: float) -> float:
        p = Point(x) + Point(x)
        look()
        return p.twice + p(2.0) + len(p) + (1.0 if p == Point(2.0) else 0.0)

    assert f(1.0) == 12.0
    assert len(found) == 2
    for data in found:
        made = pickle.loads(data)
        kinds = {name: type(member) for name, member in vars(made).items() if name in vars(written)}
        assert kinds == {name: type(member) for name, member in vars(written).items()}
        assert (made(1.0) + made(2.0)).twice == 6.0
        assert repr(made(1.0)) == "P(1.0)"
