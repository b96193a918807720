"""What staged code has of NumPy, by name: so that plain arrays, which stand for NumPy, know what they have not."""

from typing import Any

STAGED: dict[str, Any] = {}
"""What computes the function of a number, or None where only staged code has it. The registry fills it."""
