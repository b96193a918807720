"""Code for loops: counted and while loops, unrolling, SIMD vectorisation."""
