"""Data as exact rationals."""
