"""A call: what its arguments are described by, and the compiled program that serves such a description."""
