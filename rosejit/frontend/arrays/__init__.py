"""Traced arrays: storage, aliases, indexing, broadcasting, reductions."""
