"""What was found for the last few data sets, known by identity: hashing rationals takes longer than most questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
KEPT = 8


def recent(function: Callable[[A], B]) -> Callable[[A], B]:
    """The function of one argument that is never changed, with its last answers kept; do not change these either."""
    known: list[tuple[A, B]] = []

    def answer(of: A) -> B:
        for one, found in known:
            if one is of:
                return found
        found = function(of)
        known.insert(0, (of, found))
        del known[KEPT:]
        return found

    answer.__doc__ = function.__doc__
    return answer
