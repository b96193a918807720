"""Small typed programs as a user writes them: what all laws are checked on."""

from tests.programs import (
    aliases,
    arrays,
    branches,
    calls,
    containers,
    control,
    folds,
    forms,
    hosts,
    indexing,
    loops,
    matrices,
    modes,
    named,
    objects,
    records,
    recursion,
    rolled,
    rules,
    scalars,
    shapes,
    structures,
    sums,
    windows,
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
        indexing,
        shapes,
        folds,
        matrices,
        named,
        records,
        objects,
        containers,
        aliases,
        forms,
        windows,
    )
    for program in module.PROGRAMS
]
