"""The language: first-order, typed, in A-normal form, with structured control flow."""
