"""Small typed programs as a user writes them: what all laws are checked on."""

from tests.programs import (
    arrays,
    branches,
    calls,
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
    for module in (scalars, branches, loops, arrays, sums, calls, structures, hosts, rules, recursion, rolled, modes)
    for program in module.PROGRAMS
]
