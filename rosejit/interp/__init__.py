"""The meaning of the IR in plain Python: slow, exact, and the oracle of all tests."""

from rosejit.interp.run import run
from rosejit.interp.values import Counters, Residual

__all__ = ["Counters", "Residual", "run"]
