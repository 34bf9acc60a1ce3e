"""The set of all optimal networks."""
