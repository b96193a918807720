"""Control flow at run time of the rewritten code: branches, loops, joins, loop-carried values."""
