"""Passes, `ir.Function -> ir.Function`: each expects a valid program, leaves a valid one, and changes none in place."""
