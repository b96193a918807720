"""Guards: whether what a specialisation read from outside is what it was."""
