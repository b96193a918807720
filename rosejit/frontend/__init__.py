"""From a Python function to IR: find its source, rewrite its control flow, run it once on staged values."""
