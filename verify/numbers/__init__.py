"""Exact numbers: bounds of roots, integers, fields, patterns."""
