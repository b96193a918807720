"""Loop transformations: fusion, unroll-and-jam, select sinking, layout of residuals."""
