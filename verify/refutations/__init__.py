"""Refutations of printed statements: an exact instance, and what contradicts the statement (REFUTATIONS.md)."""
