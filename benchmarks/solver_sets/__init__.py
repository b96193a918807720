"""Published problems for solvers, which SciPy and rosejit solve: systems, least squares and differential equations."""
