"""The one tree of errors. Every message names what was read, where, what was expected, and what to do next."""

from __future__ import annotations


class ReluCertError(Exception):
    """Base of all errors that are shown to a user as one sentence, without a traceback."""


class UsageError(ReluCertError, ValueError):
    """The command line, or an argument, asks for something that cannot be done (exit code 64)."""


class DataError(ReluCertError, ValueError):
    """An input file cannot be read as exact data (exit code 65)."""


class TooManyPatterns(ReluCertError):
    """The predicted number of activation patterns is over the limit."""

    def __init__(self, predicted: int, limit: int, advice: str) -> None:
        known = f"{predicted:,}" if predicted < 10**15 else f"some 10^{len(str(predicted)) - 1}"
        super().__init__(f"up to {known} activation patterns predicted, over the limit of {limit:,}. {advice}")
        self.predicted = predicted
        self.limit = limit
