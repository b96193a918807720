"""Scalar replacement of small arrays and accumulators."""
