"""Straight-line programs as numbers: value numbering, gradients and routines without trees of lets."""
