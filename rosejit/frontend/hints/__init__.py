"""Type hints: annotations to the types, shapes and named dimensions that a parameter may have."""
