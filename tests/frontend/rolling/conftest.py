"""What is told of unrolled loops here is told of loops as they are staged."""

import pytest

from rosejit.transforms.loops import reroll


@pytest.fixture(autouse=True)
def never_again(monkeypatch):
    """What is unrolled stays unrolled."""
    monkeypatch.setattr(reroll, "LEAST", 10**15)
