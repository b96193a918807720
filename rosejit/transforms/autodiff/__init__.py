"""Derivatives: forward mode, unzipping, transposition and what they share."""
