"""Small typed programs as a user writes them: what all laws are checked on."""

from tests.programs import (
    arrays,
    branches,
    calls,
    control,
    hosts,
    loops,
    modes,
    recursion,
    rolled,
    rules,
    scalars,
    structures,
    sums,
)

PROGRAMS = [
    program
    for module in (
        scalars,
        branches,
        loops,
        arrays,
        sums,
        calls,
        structures,
        hosts,
        rules,
        recursion,
        rolled,
        modes,
        control,
    )
    for program in module.PROGRAMS
]
