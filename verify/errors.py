"""The ways in which checking ends without acceptance. Each says where, what was expected, and what was found."""

from __future__ import annotations


class VerifyError(Exception):
    """Base of all outcomes other than "accepted"."""

    outcome, exit_code = "rejected", 1

    def __init__(self, place: str, expected: str, found: str) -> None:
        super().__init__(f"{place}: expected {expected}, found {found}")
        self.place = place
        self.expected = expected
        self.found = found


class Rejected(VerifyError):
    """The certificate is malformed, or does not prove what it says."""


class Declined(VerifyError):
    """The certificate is of an unknown version or over a limit; nothing is said about it."""

    outcome, exit_code = "declined", 2


class Usage(VerifyError):
    """The command line cannot be carried out."""

    outcome, exit_code = "usage", 64


class BadData(VerifyError):
    """The raw data given with --data cannot be read."""

    outcome, exit_code = "data", 65


def bounded(amount: int, limit: int, what: str, place: str, over: type[VerifyError] = Declined) -> None:
    """Decline what needs more memory than a small file should ask for; of other files it is another error."""
    if amount > limit:
        raise over(place, f"at most {limit} {what}", str(amount))
