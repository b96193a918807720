"""Values of the host to the memory of an instance and back."""
