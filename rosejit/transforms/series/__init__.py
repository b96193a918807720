"""Taylor mode: a function to the truncated power series of its results along a line."""
