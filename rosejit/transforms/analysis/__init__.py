"""Analyses: what is known of a program, with nothing changed."""
