"""The one tree of errors. Every message names what was read, where, what was expected, and what to do next."""

from __future__ import annotations

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class ReluCertError(Exception):
    """Base of all errors that are shown to a user as one sentence, without a traceback."""


class UsageError(ReluCertError, ValueError):
    """The command line, or an argument, asks for something that cannot be done (exit code 64)."""


class NoRoom(UsageError):
    """A file cannot be written because the disk is full, or broken (exit code 74)."""


class Late(UsageError):
    """The time that was given is over, and what was done until then is worth nothing."""

    def __init__(self) -> None:
        super().__init__("the limit of time was reached before anything was proved; give more with --seconds.")


class DataError(ReluCertError, ValueError):
    """An input file cannot be read as exact data (exit code 65)."""


class TooManyPatterns(ReluCertError):
    """The predicted number of activation patterns is over the limit."""

    def __init__(self, predicted: int, limit: int, advice: str) -> None:
        known = f"{predicted:,}" if predicted < 10**15 else f"some 10^{len(str(predicted)) - 1}"
        super().__init__(f"up to {known} activation patterns predicted, over the limit of {limit:,}. {advice}")
        self.predicted = predicted
        self.limit = limit


CUT = 40


def quote(text: str) -> str:
    """The text in quotes, with every unprintable character escaped, cut at 40 characters."""
    return repr(text) if len(text) <= CUT else f"{text[:CUT]!r}..."


def file_name(name: str) -> str:
    """A file's name as it is, or escaped where it would not print on one line."""
    return name if name and name.isprintable() else repr(name)


class Unsettled(Exception):
    """A tie or a face that the ball is too wide for; the text says which."""
