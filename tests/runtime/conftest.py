"""What tests of the runtime share."""

import pytest

import rosejit as rose


@pytest.fixture
def no_spare_memory():
    """Nothing that earlier results have left, before and behind a test."""
    rose.clear_caches()
    yield
    rose.clear_caches()
