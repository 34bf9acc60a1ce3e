"""Coefficients that were given for a direct problem, and their objective, enclosed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from verify.errors import Rejected
from verify.facts import SOLUTION, Facts, proved
from verify.numbers.bounds import root_above
from verify.problem.data import number
from verify.problem.problem import Problem, square, times, transposed
from verify.rules.value import read_gap
from verify.text import Node, Vector, show

PLACE = "certificate.facts.solution"


@dataclass(frozen=True)
class Solution:
    """lower <= the objective of the coefficients <= upper; `sha256` is that of their file, empty for none."""

    sha256: str
    coefficients: Vector
    lower: Fraction
    upper: Fraction
    gap: Fraction
    weights: Vector
    extra: Fraction


def check_solution(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the coefficients, each times the weight of its group, obey the constraints."""
    fields = node.record("file", "coefficients", "weights", "extra", "gap")
    file = fields["file"].record("sha256", "data")
    for one in file.values():
        if re.fullmatch(r"([0-9a-f]{64})?", one.text()) is None:
            raise one.reject("64 lower-case hexadecimal digits, or nothing where there is no file")
    given, weights = fields["coefficients"].vector(problem.d), fields["weights"].vector(len(problem.groups))
    fields["weights"].require(all(weight > 0 for weight in weights), "weights > 0")
    extra = fields["extra"].number()
    fields["extra"].require(extra >= 0, "what a given intercept costs, >= 0", show(extra))
    residual, above, below = problem.y, Fraction(0), Fraction(0)
    for b, (group, weight) in enumerate(zip(problem.groups, weights, strict=True)):
        w = tuple(weight * given[j] for j in group)
        if problem.K[b] is not None and any(x > 0 for x in transposed(problem.K[b] or (), w)):
            raise fields["coefficients"].reject(f"K'w <= 0 in group {b}", "more")
        residual = tuple(r - f for r, f in zip(residual, times(problem.block(b), w), strict=True))
        if length := root_above(square(w)):
            above, below = above + length, below + square(w) / length
    digest = file["sha256"].text()
    lower, upper = (square(residual) / 2 + problem.lam * size + extra for size in (below, above))
    return proved(SOLUTION, Solution(digest, given, lower, upper, read_gap(fields["gap"]), weights, extra))


def compare_coefficients(found: Solution, raw: bytes) -> None:
    """Reject unless the file has the hash that the certificate states, and exactly its coefficients: a numpy array, or
    numbers with commas, semicolons, brackets or white space between them."""
    if (digest := sha256(raw).hexdigest()) != found.sha256:
        expected = f"{digest} (the hash of the file given)"
        raise Rejected(f"{PLACE}.file.sha256", expected, found.sha256 or "no file")
    if raw[:6] == b"\x93NUMPY":
        from verify.network.file import DAMAGED, read_npy

        try:
            array = read_npy(raw)
        except DAMAGED as error:
            raise Rejected("coefficients file", "a numpy array", str(error)) from None
        if sum(side != 1 for side in array.shape) > 1:  # in which order are they?
            raise Rejected("coefficients file", "a vector, or a matrix of one row or column", str(array.shape))
        entries = array.entries
    else:
        words = re.sub(r"[\[\],;]", " ", raw.decode("utf-8-sig", "replace")).split()
        entries = tuple(
            number(word.strip('"'), "decimal", "coefficients file") for word in words[: len(found.coefficients) + 1]
        )
    if entries != found.coefficients:
        raise Rejected(PLACE, "the coefficients of the file given", "others")
