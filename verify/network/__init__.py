"""A network that was given: its exact weights, and what is proved about them. FORMAT.md has the definitions."""
