"""One command a table, `python -m benchmarks.<table>`; figures go to `build/benchmarks/<table>.json` as well.

Peers (JAX, numba, npm `rose` under node) are optional, and named where they are absent.
"""
