"""Passes: `ir.Function -> ir.Function`. A pass expects a valid program, leaves a valid one, and changes none in place."""
