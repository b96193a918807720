"""Roots, fits, integrals and differential equations, as part of the program that calls them."""
