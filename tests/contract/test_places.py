"""Where decorated functions live and travel: pickles, child processes, threads, notebooks, generated source."""

import copy
import linecache
import math
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec

ROOT = Path(__file__).parent.parent.parent


@rose.jit
def squared(x: float, n: int = 2) -> float:
    return x * x * n


@rose.jit
def scaled(x: Vec["n"], c: float) -> float:
    return sum(x[i] * squared(c) for i in rose.range(len(x)))


def run(code: str, folder: Path) -> str:
    """What a program prints that is run in its own process from a file."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    command = [sys.executable, "-W", "error", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- pickles


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_function_pickles_by_reference(protocol):
    assert pickle.loads(pickle.dumps(squared, protocol)) is squared


def test_a_gradient_pickles():
    again = pickle.loads(pickle.dumps(rose.grad(scaled, 1)))
    assert again([1.0, 2.0], 3.0) == rose.grad(scaled, 1)([1.0, 2.0], 3.0) == 36.0


def test_cloudpickle_by_reference():
    assert cloudpickle.loads(cloudpickle.dumps(squared)) is squared


def test_cloudpickle_by_value():
    factor = 3.0

    @rose.jit
    def local(x: float) -> float:
        return squared(x) * factor

    assert local(2.0) == 24.0
    again = cloudpickle.loads(cloudpickle.dumps(local))
    assert again is not local
    assert again(2.0) == 24.0
    assert rose.grad(again)(2.0) == 24.0
    assert cloudpickle.loads(cloudpickle.dumps(rose.grad(local)))(2.0) == 24.0


def test_cloudpickle_reaches_another_process(tmp_path):
    pickled = run(
        """
        import sys, cloudpickle, rosejit as rose

        def make(k):
            @rose.jit
            def f(x: float) -> float:
                return x * x * k
            return f

        f = make(2.5)
        f(1.0)
        print(cloudpickle.dumps((f, rose.grad(f))).hex())
        """,
        tmp_path,
    )
    (tmp_path / "other").mkdir()
    code = f"""
        import cloudpickle
        f, g = cloudpickle.loads(bytes.fromhex("{pickled}"))
        print(f(2.0), g(2.0))
    """
    assert run(code, tmp_path / "other") in ("10.0 10.0", "10.0 10.0\n")


# --- child processes

CHILDREN = """
    import multiprocessing, sys
    import numpy as np
    import rosejit as rose
    from rosejit import Vec

    @rose.jit
    def f(x: Vec["n"]) -> float:
        return sum(x[i] * x[i] for i in rose.range(len(x)))

    gradient = rose.grad(f)

    def work(k):
        return f(np.arange(float(k))), gradient(np.full(2, float(k))).tolist()

    if __name__ == "__main__":
        work(3)
        _, pullback = rose.vjp(f, np.ones(2))
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            assert pool.map(work, range(6)) == [work(k) for k in range(6)]
        assert pullback(1.0)[0].tolist() == [2.0, 2.0]
        print("same")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_processes(method, tmp_path):
    assert run(CHILDREN.format(method=method), tmp_path) == "same"


def test_a_forked_child_uses_what_its_parent_compiled(tmp_path):
    code = """
        import os
        import rosejit as rose

        @rose.jit
        def f(x: float) -> float:
            return x * x

        y, pullback = rose.vjp(f, 3.0)
        g = rose.grad(f)
        g(2.0)
        child = os.fork()
        if child == 0:
            ok = f(2.0) == 4.0 and g(2.0) == 4.0 and rose.grad(g)(1.0) == 2.0
            os._exit(0 if ok else 1)
        _, status = os.waitpid(child, 0)
        assert pullback(1.0) == (6.0,)
        print(os.waitstatus_to_exitcode(status))
    """
    assert run(code, tmp_path) == "0"


# --- threads


def test_threads_share_a_function():
    @rose.jit
    def fresh(x: Vec["n"], c: float) -> float:
        total = 0.0
        for i in rose.range(len(x)):
            total += math.exp(-x[i]) * c
        return total

    gradient = rose.grad(fresh, (0, 1))
    start = threading.Barrier(8)

    def work(k):
        start.wait()
        found = []
        for n in (3, 5, 3):
            x = np.linspace(0.0, 1.0, n) + k
            for _ in range(20):
                found.append((fresh(x, k), *gradient(x, float(k))))
        return found

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    for k, found in enumerate(results):
        for value, dx, dc in found:
            n = len(dx)
            e = np.exp(-(np.linspace(0.0, 1.0, n) + k))
            assert value == pytest.approx(e.sum() * k, rel=1e-13)
            assert dx == pytest.approx(-e * k, rel=1e-13)
            assert dc == pytest.approx(e.sum(), rel=1e-13)


def test_a_pullback_in_another_thread():
    _, pullback = rose.vjp(scaled, np.array([1.0, 2.0]), 3.0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(pullback, [1.0, 2.0, 3.0, 4.0]))
    assert [ct[1] for ct in found] == [36.0, 72.0, 108.0, 144.0]
    assert found[0][0].tolist() == [18.0, 18.0]


def test_staging_in_two_threads_at_once():
    inside = threading.Event()

    def helper(v):
        inside.wait(1.0)
        return v * 2.0

    @rose.jit
    def slow(x: float) -> float:
        return helper(x)

    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(slow, 1.0)
        try:
            assert rose.jit(lambda x: x + 1.0)(1.0) == 2.0
        finally:
            inside.set()
        assert waiting.result() == 2.0


def test_calls_release_the_interpreter():
    """Python runs on while compiled code does."""
    started, done = threading.Event(), threading.Event()

    @rose.opaque
    def meet(x: float) -> float:
        started.set()
        return x

    @rose.jit
    def spin(x: float, n: int) -> float:
        y = meet(x)
        for _ in rose.range(n):
            y = y * 0.5 + x
        return y

    spin(1.0, 1)
    started.clear()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(spin, 1.0, 30_000_000)
        running.add_done_callback(lambda _: done.set())
        assert started.wait(10.0)
        ticks = 0
        while not done.is_set():
            ticks += 1
        assert ticks > 10
        assert running.result() == pytest.approx(2.0)


# --- source


def test_ipython(tmp_path):
    code = """
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance()
        cells = [
            "import rosejit as rose",
            "k = 2.0\\ndef helper(v):\\n    return v * k",
            "@rose.jit\\ndef f(x: float) -> float:\\n    return helper(x) * x",
            "g = rose.grad(f)\\nfirst = (f(3.0), g(3.0))",
            "k = 5.0",
            "second = (f(3.0), g(3.0))",
            "@rose.jit\\ndef f(x: float) -> float:\\n    return x + k",
            "third = f(1.0)",
            "fourth = rose.jit(lambda x: x * x)(4.0)",
        ]
        for cell in cells:
            result = shell.run_cell(cell)
            result.raise_error()
        print(*[shell.user_ns[name] for name in ("first", "second", "third", "fourth")])
    """
    assert run(code, tmp_path).splitlines()[-1] == "(18.0, 12.0) (45.0, 30.0) 6.0 16.0"


def test_exec_with_linecache():
    source = "@rose.jit\ndef f(x: float) -> float:\n    y = x * 2.0\n    return y + undefined\n"
    name = "<generated for a test>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"rose": rose, "undefined": 1.0}
    exec(compile(source, name, "exec"), scope)
    assert scope["f"](3.0) == 7.0
    assert rose.grad(scope["f"])(3.0) == 2.0
    scope["undefined"] = "text"
    with pytest.raises(rose.StagingTypeError) as caught:
        scope["f"](3.0)
    assert f"{name}:4:" in str(caught.value)
    assert "return y + undefined" in str(caught.value)


def test_main_modules_and_modules_with_odd_indentation(tmp_path):
    code = '''
        import rosejit as rose

        class Model:
            """A class whose text has column 0 strings."""

            rate = 0.5

            @rose.jit
            def decay(self, x: float) -> float:
                text = """
left margin
"""
                return x * self.rate * len(text)

            @staticmethod
            @rose.jit
            def twice(x: float) -> float:
                return 2.0 * x

        if True:
          @rose.jit
          def shallow(x: float) -> float:
             return (
          x + 1.0
             )
        print(Model().decay(2.0), Model.twice(3.0), shallow(1.0))
    '''
    lines = code.splitlines(keepends=True)
    margin = "".join(line if line.startswith(("left", '"""')) else line[8:] or "\n" for line in lines)
    assert run(margin, tmp_path) == "13.0 6.0 2.0"


def test_several_lambdas_in_one_line():
    f, g, h = rose.jit(lambda x: x + 1.0), rose.jit(lambda x: x * 2.0), rose.jit(lambda x: x * 2.0 - x)
    assert (f(3.0), g(3.0), h(3.0)) == (4.0, 6.0, 3.0)
    both = [rose.jit(k) for k in (lambda x: x - 1.0, lambda x: x / 2.0)]
    assert [k(3.0) for k in both] == [2.0, 1.5]


def test_a_function_wrapped_by_another_decorator_below():
    import functools

    def logged(function):
        @functools.wraps(function)
        def inner(x: float) -> float:
            return function(x) + 0.5

        return inner

    @rose.jit
    @logged
    def f(x: float) -> float:
        return x * 2.0

    assert f(3.0) == 6.5
    assert rose.grad(f)(3.0) == 2.0


# --- what else is handed out


@pytest.mark.parametrize(
    "made", [rose.grad, rose.value_and_grad, rose.jacobian, rose.jacfwd, rose.jacrev, rose.hessian, rose.hvp, rose.vmap,
             rose.checkpoint],
)  # fmt: skip
def test_what_is_made_of_a_function_pickles(made):
    f = made(squared)
    args = (np.array([2.0]),) if made is rose.vmap else (2.0, 1.0) if made is rose.hvp else (2.0,)
    for again in (
        pickle.loads(pickle.dumps(f)),
        cloudpickle.loads(cloudpickle.dumps(f)),
        copy.copy(f),
        copy.deepcopy(f),
    ):
        assert np.all(np.asarray(again(*args)) == np.asarray(f(*args)))


def test_the_functions_of_rose_pickle():
    for f in (rose.sin, rose.max, rose.softmax, rose.stop_gradient, rose.range, rose.logsumexp):
        assert pickle.loads(pickle.dumps(f)) is f


def test_an_opaque_function_keeps_its_rule():
    @rose.opaque
    def local(x: float) -> float:
        return x * x

    local.jvp = lambda x: rose.Dual(local(x.re), 3.0 * x.re * x.du)
    again = cloudpickle.loads(cloudpickle.dumps(local))
    assert (again(2.0), rose.grad(again)(2.0)) == (4.0, 6.0)


@pytest.mark.parametrize("made", [rose.vjp, rose.linearize])
def test_a_copy_of_a_linear_map_is_itself(made):
    _, linear = made(squared, 3.0)
    assert copy.copy(linear) is copy.deepcopy(linear) is linear


def test_programs_pickle_as_their_text():
    lowered = squared.lower(2.0)
    for again in (pickle.loads(pickle.dumps(lowered.ir)), copy.deepcopy(lowered.ir), copy.deepcopy(lowered).ir):
        assert str(again) == str(lowered.ir)
        assert len(again) == len(lowered.ir)
    assert pickle.loads(pickle.dumps(lowered.cost())) == lowered.cost()
    with pytest.raises(rose.StagingTypeError, match="cannot be pickled"):
        pickle.dumps(lowered)
