"""The rules that are others where delta > 0."""
