"""Signed sums of square roots of integers: their exact sign, and whether any signs make them vanish.

sqrt(r) and sqrt(t) are of one square class if r t is a square. Roots of different classes are linearly independent
over the rationals, so a sum is zero iff its part in every class is.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

LARGEST_CLASS = 32


def classes(radicands: Iterable[int]) -> list[list[tuple[int, int]]]:
    """By square class, (place, c) with sqrt(r_place) = c / sqrt(r_first), first the first place of the class."""
    found: list[tuple[int, list[tuple[int, int]]]] = []
    for place, r in enumerate(radicands):
        for first, members in found:
            if r and (root := isqrt(first * r)) ** 2 == first * r:
                members.append((place, root))
                break
        else:
            if r:
                found.append((r, [(place, r)]))
    return [members for _, members in found]


def sign_of_sum(signs: list[int], radicands: list[int]) -> int:
    """The sign of sum s_i sqrt(r_i): 0 if it vanishes in every class, else by intervals, finer until they exclude 0."""
    terms = []
    for members in classes(radicands):
        coefficient = sum(signs[place] * c for place, c in members)
        if coefficient:
            terms.append((coefficient, radicands[members[0][0]]))  # coefficient / sqrt(radicand)
    bits = 64
    while terms:
        low = high = 0
        for coefficient, r in terms:
            floor = isqrt((coefficient**2 << 2 * bits) // r)
            low += floor if coefficient > 0 else -floor - 1
            high += floor + 1 if coefficient > 0 else -floor
        if low > 0:
            return 1
        if high < 0:
            return -1
        bits *= 2
    return 0


def can_vanish(radicands: list[int]) -> bool | None:
    """Whether sum s_i sqrt(r_i) = 0 for some signs; None if a class is too large to be searched."""
    parts = [[c for _, c in members] for members in classes(radicands)]
    verdicts = [splits(part) if len(part) <= LARGEST_CLASS else None for part in parts]
    return False if False in verdicts else None if None in verdicts else True


def splits(numbers: list[int]) -> bool:
    """Whether some signed sum of the integers is zero: the sums of both halves meet."""
    half = len(numbers) // 2
    return not signed_sums(numbers[:half]).isdisjoint(signed_sums(numbers[half:]))


def signed_sums(numbers: list[int]) -> set[int]:
    """All sums of +-a_i, a set that contains -x with x."""
    sums = {0}
    for a in numbers:
        sums = {x + a for x in sums} | {x - a for x in sums}
    return sums
