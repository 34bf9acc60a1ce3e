"""The leaders: a lower bound of p* over networks of any width, without any pattern (verify/FORMAT.md, `leaders`)."""
