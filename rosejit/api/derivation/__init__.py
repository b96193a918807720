"""Functions to functions: derivatives, and what custom rules and checkpoints add to them."""
