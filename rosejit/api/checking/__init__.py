"""Runs a function several ways and says where they part: `rose.check`, `check_grads`."""
