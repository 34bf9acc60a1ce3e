"""A second checker, written from verify/FORMAT.md alone."""
