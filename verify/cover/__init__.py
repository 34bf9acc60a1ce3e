"""Dual feasibility without a list of patterns: a tree of cones, and one vector for each leaf (FORMAT.md, `cover`)."""
