"""Code of straight-line programs, made column-wise."""
