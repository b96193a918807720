"""Specialisations to compiled programs, and those to files and back."""
