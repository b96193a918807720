"""The operators and functions of traced scalars."""
