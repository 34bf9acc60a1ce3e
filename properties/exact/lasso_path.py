"""The whole path of a lasso: the lambdas at which its linear pieces end.

On the interior of a piece the residual is linear in lambda, so x_j.r - lambda is linear and never positive, and a
column that ties anywhere inside ties everywhere inside. The weights that are positive inside are so everywhere inside;
another solution exists iff some dependence of the tied columns is >= 0 on the others: that does not depend on lambda.
"""

from __future__ import annotations

from fractions import Fraction

from properties.exact.lasso import piece
from properties.exact.problem import CGL


def piece_ends(p: CGL, lo: Fraction, hi: Fraction) -> tuple[Fraction, ...]:
    """lo, the ends of the linear pieces inside, hi; ascending.

    >>> from properties.exact.problem import problem
    >>> [str(end) for end in piece_ends(problem([[1, 0], [0, 1]], [1, 1], [3, 1], 1), Fraction(1, 2), Fraction(2))]
    ['1/2', '1', '2']
    """
    ends, open_parts = {lo, hi}, [(lo, hi)]
    while open_parts:
        low, high = open_parts.pop()
        found = piece(p, (low + high) / 2)
        start, stop = max(found.low, low), high if found.high is None else min(found.high, high)
        ends |= {start, stop}
        open_parts += [(a, b) for a, b in ((low, start), (stop, high)) if a < b]
    return tuple(sorted(ends))
