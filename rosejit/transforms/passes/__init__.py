"""Passes from IR to IR that keep the meaning: simplification, dead code, inlining, loop-invariant code motion."""
