"""What blocks read and bind."""

import pytest

from rosejit.errors import VerifyError
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import require_bound
from rosejit.ir.types import REAL


def test_what_is_read_is_bound():
    x, y = ir.Var(REAL, "x"), ir.Var(REAL, "y")
    f = ir.Function("f", (x,), (REAL,))
    f.body = ir.Block([], (x,))
    require_bound([f])
    f.body = ir.Block([], (y,))
    with pytest.raises(VerifyError, match="`y` of `f` is read, but not in scope"):
        require_bound([f])
