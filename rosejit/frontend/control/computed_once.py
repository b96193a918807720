"""Properties that an object computes when it is first asked for them (`functools.cached_property`), in staged code:
where only running tells whether that was done, a staged branch does it."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.control.attribute_slots import Attributes
from rosejit.frontend.control.short_circuit import Circuits, negate
from rosejit.frontend.control.undefined import UninitialisedCarry
from rosejit.frontend.values.tape import MaybeBound, Tape


def computing(tape: Tape, circuits: Circuits, attributes: Attributes) -> Callable[[Any, str, MaybeBound], Any]:
    """What reads such a property of an object that has computed it on some paths."""

    def computed(owner: Any, name: str, known: MaybeBound) -> Any:
        circuits.choose(negate(tape, known.flag))
        value = getattr(type(owner), name).computed(owner)
        circuits.first(value)
        held = known.value.become(value) if known.value.__class__ is UninitialisedCarry else known.value
        attributes.keep(owner, name, held)
        return circuits.second(held)

    return computed
