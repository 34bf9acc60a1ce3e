"""Global proofs without a list of patterns: a tree of cones with one vector a leaf."""
