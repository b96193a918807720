"""Results that staging knows: what gives its items once is refused, and so is what would lose a mask."""

import pytest

import rosejit as rose
from tests.frontend.oracle import define

ITERATORS = [
    "iter([1.0, 2.0])", "(k for k in (1.0, 2.0))", "(k * x for k in (1.0, 2.0))", "map(abs, [1.0])", "zip([1.0], [x])",
    "itertools.chain([x], [1.0])", "enumerate([1.0])", "reversed([1.0, 2.0])", "itertools.count()", "filter(None, [1])",
    "itertools.islice([1, 2], 1)", "itertools.tee([1, 2])[0]", "map(lambda k: k * x, [1.0])",
]  # fmt: skip


@pytest.mark.parametrize("way", ["{0}", "({0}, x)", "[x, {0}]"])
@pytest.mark.parametrize("made", ITERATORS)
def test_an_iterator_is_no_result(made, way):
    f = define(f"import itertools\ndef f(x: float):\n    return {way.format(made)}\n")
    for _ in range(2):
        with pytest.raises(rose.StagingTypeError) as caught:
            rose.jit(f)(1.5)
        assert "`f` should return a value that does not change" in str(caught.value)
        assert "return a list or a tuple of what it gives" in str(caught.value)


MASKED = "np.ma.array([1.0, 2.0, 4.0], mask=[0, 1, 0])"


@pytest.mark.parametrize("use", ["{}.sum() * x", "{}.mean() * x", "np.sin({}).sum() * x", "{}.filled(3.0) * x"])
def test_a_masked_array_made_inside_stays_one(use):
    f = define(f"import numpy as np\ndef f(x: float):\n    return {use.format(MASKED)}\n")
    assert rose.jit(f)(2.0) == pytest.approx(f(2.0))


@pytest.mark.parametrize("use", ["{}", "({}, x)", "{} * 2.0", "x * {}", "{} * x"])
def test_a_masked_array_is_no_result(use):
    f = define(f"import numpy as np\ndef f(x: float):\n    return {use.format(MASKED)}\n")
    with pytest.raises(rose.StagingTypeError, match=r"mask|takes a number, given MaskedArray"):
        rose.jit(f)(2.0)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_made_inside_multiplies_as_one():
    f = define("import numpy as np\ndef f(x: float):\n    m = np.asmatrix(A)\n    return (m * m)[0, 1] * x\n", A=ROWS)
    assert rose.jit(f)(2.0) == 20.0


ROWS = [[1.0, 2.0], [3.0, 4.0]]
