"""Fits: residuals to the least sum of their squares, linear models, and sums over rows of data."""
