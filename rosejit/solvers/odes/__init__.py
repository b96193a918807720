"""Differential equations: methods of one step, the control of its length, events, dense output."""
