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

from relu_cert.exact import Matrix, norm_squared, sqrt_upper
from relu_cert.path.model import Piece
from relu_cert.path.polynomial import least, most, negative, product, shifted, size, square
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.classes import (
    ClassMap,
    class_map,
    column,
    constraints,
    loose_kinks,
    parallel_classes,
    rows_of,
    to_fmpq,
    to_fraction,
)
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.optimal_set import largest_squared


class Refused(Unsettled):
    """A piece that is no proof. `signs` are the polynomials that are not surely >= 0 on it: their zeros are events."""

    def __init__(self, reason: str, signs: Sequence[Sequence[fmpq]] = ()) -> None:
        super().__init__(reason)
        self.signs = signs


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
        V = one.P * (one.X.transpose() * S)
        room = [-x for x in square(V)]
        room[0] += 1
        alpha = [to_fmpq(x) for x in weights]
        signs += [c for c in (room, alpha) if negative(c)]
        E -= one.X * V * shifted(alpha, S.ncols())
        missing = [a + b for a, b in zip(missing, product(alpha, room), strict=True)]
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


def require_faces(problem: Problem, piece: Piece, R: Fraction) -> None:
    """Refused unless every class has its face along the whole path, and its region is concave over the tube."""
    S = piece.S
    for neuron in piece.classes:
        if not idle_is_idle(problem, neuron):
            raise Refused("a neuron is zero at a data point by chance")
        values = _direct_values(problem, neuron, S) if problem.network is None else _relu_values(problem, neuron, S)
        signs = [row for row in values.tolist() if negative(row)]
        if signs:
            raise Refused("the face of a neuron changes on the piece", signs)
        if problem.network is not None:
            _require_concave(problem.network.Z, neuron, S, R)


def _require_concave(Z: Matrix, neuron: NeuronClass, S: fmpq_mat, R: Fraction) -> None:
    """l_c - p_c = -xi sum |a_k| s_k > 0 within R of the path for every kink."""
    planes = parallel_classes(Z)
    for c in neuron.kinks:
        bend = [x - z for x, z in zip(_slope(planes[c], S, -1), _slope(planes[c], S, 1), strict=True)]
        moved = to_fmpq(R * sqrt_upper(norm_squared(tuple(planes[c].values())), 64))
        if least([neuron.sign * x for x in bend]) <= moved:
            raise Refused("a kink is not concave on the piece")


def idle_is_idle(problem: Problem, neuron: NeuronClass) -> bool:
    """Whether v vanishes on the idle kinks whatever the residual: B z_c = 0."""
    rows, B = constraints(problem, neuron), class_map(problem, neuron).B()
    return not any(any((B * column(rows[c])).entries()) for c in neuron.idle)


def _relu_values(problem: Problem, neuron: NeuronClass, S: fmpq_mat) -> fmpq_mat:
    """Linear maps of s that are >= 0 where v = P X's is the maximiser: heights and multipliers, a row for each."""
    Z = problem.relu.Z
    t = S if neuron.sign > 0 else -S
    planes = parallel_classes(Z)
    one = class_map(problem, neuron)
    zero_rows = {k for c in neuron.kinks for k in planes[c]}
    start = one.X.transpose() * t
    heights = (rows_of(Z) * (one.P * start)).tolist()
    rows = [
        heights[k] if neuron.pattern and neuron.pattern[k] == "1" else [-x for x in heights[k]]
        for k, z in enumerate(Z)
        if any(z) and k not in zero_rows
    ]
    slopes = {c: (_slope(planes[c], t, 1), _slope(planes[c], t, -1)) for c in neuron.kinks}
    for c in neuron.idle:
        right, left = slopes[c]
        rows += [[-x for x in right], left]
    for c, f in zip(loose_kinks(neuron), neuron.fixed, strict=True):
        right, left = slopes[c]
        rows.append([b - a for a, b in zip(right, left, strict=True)])
        mu = [b + to_fmpq(f) * (a - b) for a, b in zip(right, left, strict=True)]
        start += column(Z[c]) * fmpq_mat([mu])
    if neuron.basis:
        A = fmpq_mat([[to_fmpq(x) for x in Z[c]] for c in neuron.basis])
        for c, row in zip(neuron.basis, ((A * A.transpose()).solve(A) * start).tolist(), strict=True):
            right, left = slopes[c]
            rows.append([-m - a for m, a in zip(row, right, strict=True)])
            rows.append([b + m for m, b in zip(row, left, strict=True)])
    return fmpq_mat(rows)


def _slope(plane: dict[int, Fraction], t: fmpq_mat, side: int) -> list[fmpq]:
    """sum of a_k t_k over the rows of one side."""
    total = [fmpq(0)] * t.ncols()
    for k, a in plane.items():
        if a * side > 0:
            total = [x + to_fmpq(a) * t[k, j] for j, x in enumerate(total)]
    return total


def _direct_values(problem: Problem, neuron: NeuronClass, S: fmpq_mat) -> fmpq_mat:
    """The same for a block with a cone: depths of the other constraints, multipliers of the basis."""
    one = class_map(problem, neuron)
    K = constraints(problem, neuron)
    start = one.X.transpose() * S
    v = one.P * start
    rows = [[fmpq(0)] * S.ncols()]
    for k, K_k in enumerate(K):
        if any(K_k) and k not in neuron.kinks:
            rows.append((-(column(K_k).transpose() * v)).tolist()[0])
    for k, rho in zip(loose_kinks(neuron), neuron.fixed, strict=True):
        for j, x in enumerate(K[k]):
            start[j, 0] -= to_fmpq(rho * x)
    if neuron.basis:
        A = fmpq_mat([[to_fmpq(x) for x in K[k]] for k in neuron.basis])
        rows += ((A * A.transpose()).solve(A) * start).tolist()
    return fmpq_mat(rows)


def require_independence(problem: Problem, piece: Piece, maps: Sequence[ClassMap], R: Fraction) -> Fraction:
    """The largest row sum of |W Q(s) - I| for all s of the tube; Unsettled unless it is below 1."""
    if not maps:
        return Fraction(0)
    S = piece.S
    W = fmpq_mat([[to_fmpq(x) for x in row] for row in piece.inverse])
    products = [(W * (one.output(S))).tolist() for one in maps]
    g = largest_squared(problem)
    worst = Fraction(0)
    for i, row in enumerate(piece.inverse):
        total = to_fmpq(len(maps) * g * R * sqrt_upper(norm_squared(row), 64))
        for a, product_a in enumerate(products):
            entry = list(product_a[i])
            if a == i:
                entry[0] -= 1
            total += size(entry)
        if total >= 1:
            raise Unsettled("the outputs of the neurons are dependent on the piece, or too near to it")
        worst = max(worst, to_fraction(total))
    return worst
