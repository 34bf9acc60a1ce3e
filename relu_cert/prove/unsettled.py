"""What is raised where a proof needs more digits, or another way."""


class Unsettled(Exception):
    """A tie or a face that the ball is too wide for; the text says which."""
