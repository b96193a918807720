"""What is told of unrolled loops here is told of loops as they are staged."""

import pytest


@pytest.fixture(autouse=True)
def as_staged(never_rerolled):
    """For every test of this folder."""
