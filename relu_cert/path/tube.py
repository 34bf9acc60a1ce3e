"""What makes a piece a proof: s(eta) is enclosed in a tube, and over the tube the neurons are independent.

The path s(tau) is dual feasible for lambda = 1, and w_a = alpha_a(tau) v_a(tau) is feasible for the targets eta y.
Their duality gap bounds the distance of s(tau) from s(eta) (strong concavity of the dual):

    |s(eta) - s(tau)|^2 <= R^2 = |E|^2 + sum_a alpha_a (1 - |v_a|^2),    E = eta y - s - sum_a alpha_a G_a s,

polynomials in tau. A still point needs them at eta_c only, because s(eta) lies in the ball with diameter
[s(eta_c), (eta/eta_c) s(eta_c)]: (y - s/eta).(z - s/eta) <= 0 for z in B/eta, twice. So it is within
R + (|s_0| + R) h / eta_c of s_0.

Within rho of the chord from s(-1) to s(1) (for a still point: of s_0) every fine piece is out or in the region of a
class, where xi s.(Zu)_+ - |u|^2/2 is concave with modulus 1: its maximiser v_a(s) is |Z|-Lipschitz in s whatever its
face, and the output |Z|^2-Lipschitz. The outputs are independent on the whole piece if |W Q(s) - I| < 1, row sums
over the tube.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import column, matrix_of, norm_squared, sqrt_upper, to_fmpq, to_fraction
from relu_cert.path.branch import FollowedBranch
from relu_cert.path.pieces import Piece
from relu_cert.path.polynomial import most, negative, product, room, shifted, size, square
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap
from relu_cert.prove.optimal_set import largest_squared


class Refused(Unsettled):
    """A piece that is no proof. `signs` are the polynomials that are not surely >= 0 on it: their zeros are events
    of `branch`, if it is not the one that was asked for."""

    def __init__(self, reason: str, signs: Sequence[Sequence[fmpq]] = ()) -> None:
        super().__init__(reason)
        self.signs = signs
        self.branch: FollowedBranch | None = None


@dataclass(frozen=True)
class Tube:
    """|s(eta) - s(tau)| <= R on the piece, all of it within rho of the chord (or the still point), and |E| <= miss."""

    R: Fraction
    rho: Fraction
    miss: Fraction


def enclose(problem: Problem, piece: Piece, maps: Sequence[ClassMap]) -> Tube:
    """R and rho of the piece, or Unsettled if the path is not feasible on it."""
    S = piece.S
    still = S.ncols() == 1
    h, center = to_fmpq(piece.half_width), to_fmpq(piece.center)
    y = column(problem.y)
    width = 2 * S.ncols() - 1
    E = fmpq_mat(S.nrows(), width)
    for i in range(S.nrows()):
        E[i, 0] = center * y[i, 0]
        if width > 1:
            E[i, 1] = h * y[i, 0]
        for j in range(S.ncols()):
            E[i, j] -= S[i, j]
    signs: list[list[fmpq]] = []
    missing: list[fmpq] = [fmpq(0)] * (3 * S.ncols() - 2)
    for one, weights in zip(maps, piece.weights, strict=True):
        V, alpha = one.v(S), [to_fmpq(x) for x in weights]
        left = room(V)
        signs += [c for c in (left, alpha) if negative(c)]
        E -= one.X * V * shifted(alpha, S.ncols())
        missing = [a + b for a, b in zip(missing, product(alpha, left), strict=True)]
    if signs:
        raise Refused("a neuron enters or leaves on the piece", signs)
    total = square(E)
    for k, x in enumerate(missing):
        total[k] += x
    R = _root(most(total))
    if still:
        s_0 = sqrt_upper(norm_squared(piece.s[0]), 64)
        rho = R + (s_0 + R) * piece.half_width / piece.center
        return Tube(rho, rho, R + piece.half_width * sqrt_upper(norm_squared(problem.y), 64))
    return Tube(R, R + sum((sqrt_upper(norm_squared(s_j), 64) for s_j in piece.s[2:]), Fraction(0)), R)


def _root(x: fmpq) -> Fraction:
    return sqrt_upper(max(to_fraction(x), Fraction(0)), 64)


def require_independence(problem: Problem, piece: Piece, maps: Sequence[ClassMap], R: Fraction) -> Fraction:
    """The largest row sum of |W Q(s) - I| for all s of the tube; Unsettled unless it is below 1."""
    moved = len(maps) * largest_squared(problem) * R
    worst = dependence(piece, maps, [moved * sqrt_upper(norm_squared(row), 64) for row in piece.inverse])
    if worst >= 1:
        raise Unsettled("the outputs of the neurons are dependent on the piece, or too near to it")
    return worst


def dependence(piece: Piece, maps: Sequence[ClassMap], moved: Sequence[Fraction]) -> Fraction:
    """The largest row sum of |W Q(s) - I| on the path, to which so much is added, row by row."""
    if not maps:
        return Fraction(0)
    W = matrix_of(piece.inverse)
    products = [(W * one.output(piece.S)).tolist() for one in maps]
    largest = Fraction(0)
    for i, total in enumerate(moved):
        entries = [list(product_a[i]) for product_a in products]
        entries[i][0] -= 1
        largest = max(largest, total + to_fraction(sum(map(size, entries), fmpq(0))))
    return largest
