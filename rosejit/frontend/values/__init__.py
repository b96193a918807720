"""Traced scalars, the tape that they are written to, and what is known of host values."""
