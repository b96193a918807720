"""`vmap`: which axes are mapped, the loop over them, its threads."""
