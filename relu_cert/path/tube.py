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

Polynomials in tau on [-1, 1], by their coefficients: exact bounds without roots.

Smooth branches in floats: the kernel equations on fixed faces, and their Taylor series in eta.

    s + sum_a alpha_a G_a s = eta y,    s'G_a s = 1,    G_a = B_a B_a'

Floats propose a path; `tube` decides what it proves.

What is asked of the classes of a piece: their faces along the path, concave kinks, or that they are pinned.

Pinned classes are neurons on faces beside which nothing is as good, though some kinks may be convex.

Let F be the face, w orthogonal to it, D the rows that are on. In the region of the class

    xi s.P(Z(f + w))_+ <= v(s).f + xi s.o(w),    o(w) = P ((z_k.w)_+ on kinks, z_k.w on D, 0 elsewhere),

and xi s.o(w) is linear on the cones into which the kinks cut their span. So it is negative everywhere if it is so on
their extreme rays, the *flanks*; then v(s) = P_F X's is the only maximiser (verify/FORMAT.md: `path`, *pinned*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_poly
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    matrix_of,
    norm_squared,
    rows_of,
    sqrt_upper,
    to_fmpq,
    to_fraction,
)
from relu_cert.path.pieces import Piece
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.classes import (
    ClassMap,
    class_map,
    face_conditions,
    idle_is_idle,
    independent,
    moving_slopes,
    size_squared,
)
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.solve import Solution
from relu_cert.solve.prepare import Floats, ResidualFace


def least(c: Sequence[fmpq]) -> fmpq:
    """A lower bound of sum c_k tau^k on [-1, 1]: by its coefficients, or by those of Bernstein's basis."""
    if len(c) <= 2:
        return _by_powers(c)
    return max(_by_powers(c), min((bernstein(len(c) - 1) * fmpq_mat([[x] for x in c])).entries()))


def negative(c: Sequence[fmpq]) -> bool:
    """Whether these bounds do not show that it is >= 0."""
    return bool(_by_powers(c) < 0 and least(c) < 0)


def lowest(c: NDArray[np.float64]) -> float:
    """The same bound in floats."""
    plain = c[0] - np.abs(c[1::2]).sum() + np.minimum(c[2::2], 0.0).sum()
    return float(max(plain, (_float_bernstein(len(c) - 1) @ c).min()))


@cache
def bernstein(m: int) -> fmpq_mat:
    """Row i, column k: the coefficient of tau^k for C(m, i) ((1 + tau)/2)^i ((1 - tau)/2)^(m - i), whose sum is 1: that
    of z^k in (1 + z)^i (1 - z)^(m - i), divided by C(m, k)."""
    rows = []
    for i in range(m + 1):
        product_i = fmpz_poly([1, 1]) ** i * fmpz_poly([1, -1]) ** (m - i)
        rows.append([fmpq(int(product_i[k]), comb(m, k)) for k in range(m + 1)])
    return fmpq_mat(rows)


@cache
def _float_bernstein(m: int) -> NDArray[np.float64]:
    return np.array([[int(x.p) / int(x.q) for x in row] for row in bernstein(m).tolist()])


def _by_powers(c: Sequence[fmpq]) -> fmpq:
    """A lower bound: odd powers lie in [-1, 1], even ones in [0, 1]."""
    total = c[0]
    for k, x in enumerate(c[1:], 1):
        if k % 2 or x < 0:
            total -= abs(x)
    return total


def most(c: Sequence[fmpq]) -> fmpq:
    """An upper bound."""
    return -least([-x for x in c])


def size(c: Sequence[fmpq]) -> fmpq:
    """A bound of |sum c_k tau^k|."""
    return max(most(c), -least(c))


def product(a: Sequence[fmpq], b: Sequence[fmpq]) -> list[fmpq]:
    """The coefficients of the product."""
    c = [fmpq(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, z in enumerate(b):
            c[i + j] += x * z
    return c


def square(A: fmpq_mat) -> list[fmpq]:
    """The coefficients of |sum_j a_j tau^j|^2, a_j the columns of A."""
    gram = (A.transpose() * A).tolist()
    m = len(gram)
    c = [fmpq(0)] * (2 * m - 1)
    for i in range(m):
        for j in range(m):
            c[i + j] += gram[i][j]
    return c


def room(A: fmpq_mat) -> list[fmpq]:
    """The coefficients of 1 - |sum_j a_j tau^j|^2."""
    first, *rest = (-x for x in square(A))
    return [1 + first, *rest]


def shifted(alpha: Sequence[fmpq], columns: int) -> fmpq_mat:
    """The matrix T with (A T)_m = sum_{i + j = m} alpha_i a_j: multiplication by the polynomial alpha."""
    rows = [[fmpq(0)] * (columns + len(alpha) - 1) for _ in range(columns)]
    for j in range(columns):
        for i, x in enumerate(alpha):
            rows[j][j + i] = x
    return fmpq_mat(rows)


NEWTON_STEPS = 6


@dataclass(frozen=True)
class Series:
    """Coefficients of s (n x (m + 1)) and alpha (k x (m + 1)) in tau = (eta - eta_c) / h."""

    s: Floats
    alpha: Floats


@dataclass(frozen=True)
class BranchPoint:
    """The float solution at one eta: the faces of its neurons, alpha > 0, and s = r/lambda."""

    eta: Fraction
    solution: Solution
    faces: tuple[ResidualFace, ...]
    alpha: Floats
    s: Floats


@dataclass(frozen=True)
class FollowedBranch:
    """A float solution followed around one eta: s(tau) and alpha(tau) of the faces of its neurons, for targets y.

    With a lift L: the faces are one for each superclass, projected on the complement of L like the targets.
    """

    eta: Fraction
    h: Fraction
    solution: Solution
    faces: tuple[ResidualFace, ...]
    series: Series
    y: Floats
    lift: Matrix = ()


def taylor(
    faces: Sequence[ResidualFace], y: Floats, s: Floats, alpha: Floats, eta: float, h: float, degree: int
) -> Series | None:
    """The series at eta from an approximate point (Newton first); None where the equations are singular."""
    if not faces:
        coefficients = np.zeros((len(y), degree + 1))
        coefficients[:, 0] = eta * y
        if degree:
            coefficients[:, 1] = h * y
        return Series(coefficients, np.zeros((0, degree + 1)))
    B = [face.B for face in faces]
    try:
        for _ in range(NEWTON_STEPS):
            V = [B_a.T @ s for B_a in B]
            first = s - eta * y + sum(a * (B_a @ v) for a, B_a, v in zip(alpha, B, V, strict=True))
            second = np.array([v @ v - 1.0 for v in V])
            step = np.linalg.solve(jacobian(B, s, alpha), -np.concatenate([first, second]))
            s, alpha = s + step[: len(y)], alpha + step[len(y) :]
            if np.linalg.norm(step) <= 1e-15 * (np.linalg.norm(s) + np.linalg.norm(alpha)):
                break
        return _series(B, y, s, alpha, h, degree)
    except np.linalg.LinAlgError:
        return None


def jacobian(B: Sequence[Floats], s: Floats, alpha: Floats) -> Floats:
    """[[M, Q], [2Q', 0]]"""
    n, k = len(s), len(alpha)
    J = np.zeros((n + k, n + k))
    J[:n, :n] = np.eye(n)
    for a, (B_a, alpha_a) in enumerate(zip(B, alpha, strict=True)):
        J[:n, :n] += (alpha_a * B_a) @ B_a.T
        J[:n, n + a] = B_a @ (B_a.T @ s)
    J[n:, :n] = 2.0 * J[:n, n:].T
    return J


def _series(B: Sequence[Floats], y: Floats, s: Floats, alpha: Floats, h: float, degree: int) -> Series | None:
    n, k = len(s), len(alpha)
    J = np.linalg.inv(jacobian(B, s, alpha))
    S, A = np.zeros((n, degree + 1)), np.zeros((k, degree + 1))
    S[:, 0], A[:, 0] = s, alpha
    GS = np.zeros((k, n, degree + 1))
    GS[:, :, 0] = [B_a @ (B_a.T @ s) for B_a in B]
    for m in range(1, degree + 1):
        first = (h * y if m == 1 else np.zeros(n)) - sum((A[:, i] @ GS[:, :, m - i] for i in range(1, m)), np.zeros(n))
        second = -sum((S[:, i] @ GS[:, :, m - i].T for i in range(1, m)), np.zeros(k))
        step = J @ np.concatenate([first, second])
        S[:, m], A[:, m] = step[:n], step[n:]
        GS[:, :, m] = [B_a @ (B_a.T @ S[:, m]) for B_a in B]
    return Series(S, A) if np.isfinite(S).all() and np.isfinite(A).all() else None


def roots_within(coefficients: Floats) -> list[float]:
    """The real zeros of a polynomial with |tau| <= 1."""
    found = np.roots(coefficients[::-1]) if np.any(coefficients[1:]) else np.zeros(0)
    return [float(x.real) for x in found if abs(x.imag) <= 1e-6 and abs(x.real) <= 1.0]


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


MOST_FLANKS = 4096
HALF = Fraction(1, 2)


def pinned_where_needed(problem: Problem, neuron: NeuronClass, s_0: Vector) -> NeuronClass:
    """The class, or the pinned one on its face where a kink is not concave at s_0, or not held by multipliers."""
    if not neuron.kinks or "biases" in problem.free:
        return neuron
    planes = parallel_classes(problem.relu.Z)
    at = problem.relu.bags.spread_matrix(column(s_0))
    for c in neuron.kinks:
        right, left = moving_slopes(planes[c], at)
        if (left - right)[0, 0] * neuron.sign <= 0:
            return pinned(problem, neuron)
    if not idle_is_idle(problem, neuron):  # a multiplier on its bound
        whole = pinned(problem, neuron)
        return replace(whole, ray=False, fixed=(HALF,) * len(whole.fixed))
    return neuron


def pinned(problem: Problem, neuron: NeuronClass) -> NeuronClass:
    """The pinned class with the pattern and the kinks of a class."""
    Z = problem.relu.Z
    basis: list[int] = []
    for c in neuron.kinks:
        if len(independent(tuple(Z[k] for k in (*basis, c)))) > len(basis):
            basis.append(c)
    fixed = (Fraction(0),) * (len(neuron.kinks) - len(basis))
    return NeuronClass(neuron.sign, neuron.pattern, None, neuron.kinks, tuple(basis), (), fixed, ray=True)


def require_faces(problem: Problem, piece: Piece, R: Fraction) -> None:
    """Refused unless every class has its face along the whole path, and its region is concave over the tube."""
    S, lift = piece.S, () if piece.even is None else piece.even.lift
    for neuron in piece.classes:
        if not idle_is_idle(problem, neuron):
            raise Refused("a neuron is zero at a data point by chance")
        if neuron.ray:
            require_pinned(problem, neuron, S, R, lift)
            continue
        signs = [row for row, _ in face_conditions(problem, neuron, S) if negative(row)]
        if signs:
            raise Refused("the face of a neuron changes on the piece", signs)
        if problem.network is not None:
            _require_concave(problem.network, neuron, S, R)


def _require_concave(network: Network, neuron: NeuronClass, S: fmpq_mat, R: Fraction) -> None:
    """l_c - p_c = -xi sum |a_k| s_k > 0 within R of the path for every kink."""
    planes, bags = parallel_classes(network.Z), network.bags
    t = bags.spread_matrix(S)
    for c in neuron.kinks:
        right, left = moving_slopes(planes[c], t)
        moved = to_fmpq(R * sqrt_upper(bags.moved_squared({k: abs(a) for k, a in planes[c].items()}), 64))
        if least(((left - right) * neuron.sign).entries()) <= moved:
            raise Refused("a kink is not concave on the piece")


def require_pinned(problem: Problem, neuron: NeuronClass, S: fmpq_mat, R: Fraction, lift: Matrix) -> None:
    """Refused unless v = P X's has its pattern within R of the path, and every flank loses, or is in the lift."""
    Z, bags = problem.relu.Z, problem.relu.bags
    planes = parallel_classes(Z)
    zeros = {k for c in neuron.kinks for k in planes[c]}
    on = neuron.pattern or ""
    v = class_map(problem, neuron).v(S if neuron.sign > 0 else -S)
    moved = sqrt_upper(size_squared(problem), 64) * R
    for k, (z, height) in enumerate(zip(Z, (rows_of(Z) * v).tolist(), strict=True)):
        if any(z) and k not in zeros:
            row = height if on[k] == "1" else [-x for x in height]
            far = to_fmpq(sqrt_upper(norm_squared(z), 64) * moved)
            if least(row) <= far:
                raise Refused("the face of a neuron changes on the piece", [[row[0] - far, *row[1:]]])
    for w in flanks([Z[c] for c in neuron.kinks], [Z[c] for c in neuron.basis]):
        heights = [dot(z, w) for z in Z]
        rows = [max(h, Fraction(0)) if k in zeros else h * int(on[k]) for k, h in enumerate(heights)]
        o = bags.pooled(rows)
        far = to_fmpq(sqrt_upper(norm_squared(o), 64) * R)
        loss = (matrix_of([[-neuron.sign * x for x in o]]) * S).tolist()[0]
        if least(loss) <= far and len(independent((*lift, o))) > len(lift):
            raise Refused("a kink is not concave on the piece", [[loss[0] - far, *loss[1:]]])


def flanks(kinks: Sequence[Vector], basis: Sequence[Vector]) -> list[Vector]:
    """The vectors of the span of `basis`, up to length, that are orthogonal to all but one of so many independent
    kinks; Refused where there are too many."""
    m = len(basis)
    if not m:
        return []
    if comb(len(kinks), m - 1) > MOST_FLANKS:
        raise Refused("a neuron on too many kinks")
    A = matrix_of(basis)
    found: list[Vector] = []
    for chosen in combinations(kinks, m - 1):
        if m == 1:
            x = [Fraction(1)]
        else:
            reduced, rank = (matrix_of(chosen) * A.transpose()).rref()
            if rank < m - 1:
                continue
            heads = [next(j for j in range(m) if reduced[i, j]) for i in range(rank)]
            (free,) = set(range(m)) - set(heads)
            x = [to_fraction(-reduced[heads.index(j), free]) if j in heads else Fraction(1) for j in range(m)]
        w = tuple(sum((x_i * b[i] for x_i, b in zip(x, basis, strict=True)), Fraction(0)) for i in range(len(basis[0])))
        found += [w, tuple(-entry for entry in w)]
    return found
