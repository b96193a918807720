"""What a user says of how a function is compiled, and programs compiled so."""

from rosejit.abi import Tier
from rosejit.api.programs.borders import NO_BORDERS, Borders
from rosejit.api.programs.compile_and_load import Loaded, Roots, load
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True)
class Options:
    """How a function is compiled: see `rose.jit`."""

    cache: bool = True
    fastmath: bool = False
    tier: Tier = "auto"
    blas: bool = False

    @property
    def text(self) -> str:
        """What of it decides the compiled code."""
        return f"fastmath={self.fastmath}"

    def load(self, roots: Roots, borders: Borders = NO_BORDERS) -> Loaded:
        """The program of `roots`, compiled so; `borders` say which arrays cross in few bits."""
        return load(roots, self.cache, self.text, self.tier, borders)
