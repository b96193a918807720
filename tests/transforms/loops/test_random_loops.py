"""Random loops over neighbours, and random cells: the bits of the program as it stands, derivatives included;
`python -m tests.random_loops` runs many more."""

import pytest

from rosejit.transforms.autodiff import residuals
from rosejit.transforms.loops.shifted_fusion import fuse_shifted_loops
from tests import random_loops


@pytest.mark.parametrize("seed", range(20))
def test_bits_and_laws(seed):
    random_loops.check(seed)


def test_loops_are_joined():
    samples = [random_loops.sample(seed)[0] for seed in range(0, 200, 4)]
    assert sum([fuse_shifted_loops(f) is not f for f in samples]) > 5


def test_outputs_are_made_again(monkeypatch):
    found = []
    made = residuals.output_slice
    monkeypatch.setattr(residuals, "output_slice", lambda *given: found.append(made(*given)) or found[-1])
    for seed in range(3, 43, 4):
        f, args, _ = random_loops.sample(seed)
        [*random_loops.derived(f, args, seed)]
    assert any(found)
