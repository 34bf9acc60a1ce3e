"""How many patterns to expect, before any enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import Arrangement, Hyperplanes, arrangement, hyperplanes
from relu_cert.patterns.circuits import cover_bound


@dataclass(frozen=True)
class Prediction:
    """What is known beforehand about |D_Z|.

    `classes`  m, the number of different hyperplanes.
    `cells`    Cover's bound 2 sum_{k < r} C(m-1, k) on the open cells, reached in general position.
    `bound`    an upper bound on all patterns, lower faces included.
    `exact`    `cells` and `bound` are known to be the exact numbers.
    """

    n: int
    d: int
    rank: int
    classes: int
    cells: int
    bound: int
    exact: bool

    @property
    def text(self) -> str:
        """One sentence."""
        if self.exact:
            return f"exactly {self.bound:,} patterns, {self.cells:,} of them open cells"
        if self.bound == self.cells:
            return f"at most {self.bound:,} patterns, all open cells (exactly that many in general position)"
        return (
            f"at most {self.cells:,} open cells and {self.bound:,} patterns in all "
            f"({self.cells + 1:,} at most in general position)"
        )


def predict(Z: Matrix) -> Prediction:
    """Bounds on the number of patterns of Z, from its size, rank and parallel rows alone."""
    a = arrangement(Z)
    return predict_arrangement(a, hyperplanes(a.rows))


def predict_arrangement(a: Arrangement, planes: Hyperplanes) -> Prediction:
    """The same from an arrangement.

    Lower faces add nothing if some u is positive on all rows (a column of one sign is one). Otherwise the sets
    {k : z_k.u >= 0} of q different directions shatter at most r points: at most sum_{k <= r} C(q, k) of them.
    """
    m, r = len(planes), a.rank
    cells = cover_bound(m, r)
    directions = m + sum(1 for mask in planes.opposite if mask)
    if one_sided(planes):
        bound = cells
        exact = r <= 2 or m == r
    elif r <= 1:
        bound, exact = cells + 1, True
    else:
        bound = min(sum(comb(directions, k) for k in range(r + 1)), 1 << directions)
        exact = False
    return Prediction(a.n, a.d, r, m, cells, bound, exact)


def one_sided(planes: Hyperplanes) -> bool:
    """True if some u that is easy to find has z_k.u > 0 for all non-zero rows (False says nothing)."""
    if any(planes.opposite):
        return False
    if not planes.normals:
        return True
    if len(planes) == len(planes.normals[0]):  # independent
        return True
    columns = [list(column) for column in zip(*planes.normals, strict=True)]
    strict = [1 if all(x > 0 for x in c) else -1 if all(x < 0 for x in c) else 0 for c in columns]
    if any(strict):
        return True
    # columns that never change their sign: their sum is positive unless a row vanishes in all of them
    weak = [1 if all(x >= 0 for x in c) else -1 if all(x <= 0 for x in c) else 0 for c in columns]
    return all(any(w and x for w, x in zip(weak, z, strict=True)) for z in planes.normals)
