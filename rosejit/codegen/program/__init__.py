"""From a linked program to one module."""
