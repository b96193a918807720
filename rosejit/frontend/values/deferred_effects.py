"""What Python prints in an iteration of a loop that may be forgotten: said when the iteration counts, and not twice."""

from collections.abc import Callable

Action = Callable[[], None]


class DeferredEffects:
    """The iterations that are tried, innermost last, and what was to be said in each. `heard` is given what counts:
    it does it, or keeps it where the whole staging is a trial."""

    def __init__(self, heard: Callable[[Action], None] | None = None) -> None:
        self._open: list[list[Action]] = []
        self.heard = heard or _done

    def say(self, action: Action) -> None:
        """Do something that can be heard: now, or when it is known that it counts."""
        if self._open:
            self._open[-1].append(action)
        else:
            self.heard(action)

    @property
    def running(self) -> bool:
        """Whether an iteration is being tried."""
        return bool(self._open)

    def begin(self) -> list[Action]:
        """An iteration is tried."""
        self._open.append([])
        return self._open[-1]

    def commit_trial(self, trial: list[Action], counts: bool) -> None:
        """It is known whether the iteration counts; iterations in it that an exception has left are over too."""
        position = next((k for k, other in enumerate(self._open) if other is trial), len(self._open))
        over = self._open[position:]
        del self._open[position:]
        for action in [action for each in over for action in each] if counts else ():
            self.say(action)

    def end(self) -> None:
        """Nothing is tried any more."""
        if self._open:
            self.commit_trial(self._open[0], counts=True)


def _done(action: Action) -> None:
    action()
