"""What tests of the contract share: which functions are staged."""

from typing import Any

import pytest

from rosejit.frontend.session.session import Session


@pytest.fixture
def stagings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are staged during a test, as they come."""
    found: list[str] = []
    original = Session.stage

    def noted(self: Session, function: Any, *args: Any) -> Any:
        found.append(function.__name__)
        return original(self, function, *args)

    monkeypatch.setattr(Session, "stage", noted)
    return found
