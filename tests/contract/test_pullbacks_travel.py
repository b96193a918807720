"""Pullbacks and pushforwards by pickle, with all that their forward passes have kept: here, and in other processes."""

import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import rosejit as rose
from tests.contract.pullback_cases import CASES, calls, loop, maps, search_of_arrays, told

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", CASES)
def test_there_and_back(name):
    for linear, given in maps(name).values():
        expected = told(linear(*given))
        again = pickle.loads(pickle.dumps(linear))
        assert repr(again) == repr(linear)
        for each in (again, again, pickle.loads(pickle.dumps(again)), copy.deepcopy(again), linear):
            assert told(each(*given)) == expected


@pytest.mark.parametrize("pickler", ["pickle", "cloudpickle"])
def test_in_another_process(pickler):
    pickler = pytest.importorskip(pickler)
    pickles, expected = {}, {}
    for name in CASES:
        for kind, (linear, given) in maps(name).items():
            pickles[name, kind] = pickler.dumps((linear, given))
            expected[name, kind] = told(linear(*given))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found, process = pool.submit(calls, pickles).result()
    assert process != os.getpid()
    assert found == {key: [one] * 3 for key, one in expected.items()}


def test_nothing_is_compiled_where_one_arrives(tmp_path):
    pullback = rose.vjp(rose.jit(lambda x: np.sin(x) * x), 2.0)[1]
    (tmp_path / "pullback").write_bytes(pickle.dumps([pullback, pullback]))
    program = (
        "import pickle, sys\none, other = pickle.load(open('pullback', 'rb'))\nprint(one(1.0)[0])\n"
        "assert one is other and not any(name.startswith('rosejit.codegen.') for name in sys.modules)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ROSE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert float(done.stdout) == pytest.approx(np.sin(2.0) + 2.0 * np.cos(2.0), rel=1e-15)


def test_an_arrived_one_has_memory_of_its_own():
    pullbacks = [rose.vjp(loop, np.full(3, 0.1 * k))[1] for k in range(1, 5)]
    expected = [told(each(1.0)) for each in pullbacks]
    texts = [pickle.dumps(each) for each in pullbacks]
    del pullbacks
    gc.collect()
    rose.vjp(loop, np.full(3, 7.0))
    arrived = [pickle.loads(text) for text in texts]
    assert [told(each(1.0)) for each in arrived] == expected
    del arrived[0]
    assert [told(each(1.0)) for each in arrived] == expected[1:]


def test_pullbacks_of_one_program_share_it_where_they_arrive():
    one, other = (pickle.loads(pickle.dumps(rose.vjp(loop, x)[1])) for x in (np.ones(3), np.zeros(3)))
    assert one._linear is other._linear
    assert one._handle.tape is other._handle.tape


def test_what_is_kept_is_freed():
    text = pickle.dumps(rose.vjp(search_of_arrays, np.ones(1000))[1])
    first = pickle.loads(text)
    size = first._handle.tape.instance.memory.size()
    for _ in range(50):
        pickle.loads(text)
    assert first._handle.tape.instance.memory.size() < 2 * size


def test_a_pickle_is_as_large_as_what_is_kept():
    short, long = (len(pickle.dumps(rose.vjp(search_of_arrays, np.full(n, 1e-3))[1])) for n in (10, 10_000))
    kept = rose.vjp(search_of_arrays, np.full(10_000, 1e-3))[1]
    assert long < short + 1.1 * len(kept._handle.content())


def test_a_list_of_them_has_the_program_once():
    pullbacks = [rose.vjp(loop, np.full(3, 0.1 * k))[1] for k in range(10)]
    assert len(pickle.dumps(pullbacks)) < 2 * len(pickle.dumps(pullbacks[0]))


def test_the_memory_of_64_bits(monkeypatch):
    monkeypatch.setenv("ROSE_ADDRESS_BITS", "64")
    for name in ("search in a search", "recursion", "loop of branches"):
        (linear, given) = maps(name)["pullback"]
        assert told(pickle.loads(pickle.dumps(linear))(*given)) == told(linear(*given))


def test_what_does_not_travel():
    with rose.disable_jit():
        pullback = rose.vjp(lambda x: x * x, 3.0)[1]
    with pytest.raises(rose.StagingTypeError, match=r"a pullback that `rose.disable_jit\(\)` interprets"):
        pickle.dumps(pullback)


def test_without_cloudpickle_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    @rose.opaque
    def here(x: float) -> float:
        return x

    here.jvp = lambda x: rose.Dual(here(x.re), x.du)
    pullback = rose.vjp(lambda x: here(x) * x, 3.0)[1]
    with pytest.raises(rose.StagingTypeError, match=r"here(.|\n)*rosejit\[workers\]"):
        pickle.dumps(pullback)


def test_what_is_too_much_is_refused_as_python_does():
    pullback = rose.vjp(lambda x: x * x, 3.0)[1]
    pushforward = rose.linearize(lambda x, y: x * y, 3.0, 2.0)[1]
    with pytest.raises(TypeError, match=r"pullback\(\) takes 1 positional argument but 2 were given"):
        pullback(1.0, 2.0)
    with pytest.raises(TypeError, match=r"pushforward\(\) takes 2 positional arguments but 3 were given"):
        pickle.loads(pickle.dumps(pushforward))(1.0, 2.0, 3.0)
