"""NumPy for staged arrays: the registry of functions and their implementations."""
