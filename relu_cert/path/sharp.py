"""A point of many digits on the branch of a piece: Newton on the kernel equations at one lambda, in ball arithmetic.

s + sum_a alpha_a G_a s = eta y,    s'G_a s = 1,    G_a = B_a B_a'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, arb_mat, ctx, fmpq

from relu_cert.exact import Vector, norm_squared
from relu_cert.path.bounds import Bounds
from relu_cert.prove.classes import column, to_fmpq, to_fraction, to_vector
from relu_cert.prove.grid import binary_grid, from_grid, to_grid

BITS, KEPT = 256, 128  # of the arithmetic, and of the point
STEPS = 7
CLOSE = arb(2) ** (-KEPT // 2)  # a step so small is the last: the next one would be its square


def sharpened(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and alpha at lambda, rounded so that |v_a| <= 1 for all classes; None where Newton fails."""
    found = followed(known, lam)
    if found is None or any(x <= 0 for x in found[1]):
        return None
    left = iter(found[1])
    return within(known, found[0]), tuple(next(left) if any(row) else Fraction(0) for row in known.piece.weights)


def followed(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and the weights of the active classes on the branch of a piece, which may have ended before this lambda."""
    active = [a for a, row in enumerate(known.piece.weights) if any(row)]
    weights = known.weights(lam)
    s, alpha = known.point(lam), [weights[a] for a in active]
    with ctx.workprec(BITS):
        return _newton(known, active, lam, s, alpha)


def within(known: Bounds, s: Vector) -> Vector:
    """s, a little shorter if that is needed for |v_a| <= 1."""
    if any(norm_squared(to_vector(one.P * (one.X.transpose() * column(s)))) > 1 for one in known.maps):
        return tuple(x * (1 - Fraction(1, 1 << KEPT - 8)) for x in s)
    return s


def _newton(
    known: Bounds, active: Sequence[int], lam: Fraction, s: Vector, alpha: Sequence[Fraction]
) -> tuple[Vector, Vector] | None:
    n, k = len(s), len(active)
    G = [arb_mat(one.B() * one.B().transpose()) for one in (known.maps[a] for a in active)]
    point = arb_mat([[arb(to_fmpq(x))] for x in (*s, *alpha)])
    right = [arb(to_fmpq(y / lam)) for y in known.problem.y]
    for _ in range(STEPS):
        S = arb_mat([[point[i, 0]] for i in range(n)])
        outputs = [G_a * S for G_a in G]
        J, F = _system(G, outputs, point, right)
        try:
            step = J.solve(F)
        except ZeroDivisionError:
            return None
        point = arb_mat([[(point[i, 0] - step[i, 0]).mid()] for i in range(n + k)])
        if all(abs(x) < CLOSE for x in step.entries()):
            break
    entries = [to_fraction(x.mid().fmpq()) for x in point.entries()]
    return _grid(entries[:n]), _grid(entries[n:])


def _system(
    G: Sequence[arb_mat], outputs: Sequence[arb_mat], point: arb_mat, right: Sequence[arb]
) -> tuple[arb_mat, arb_mat]:
    """[[M, Q], [Q', 0]], and what the equations miss (the second ones halved)."""
    n, k = len(right), len(G)
    J = [[arb(int(i == j and i < n)) for j in range(n + k)] for i in range(n + k)]
    F = [[point[i, 0] - right[i]] for i in range(n)]
    for a, (G_a, q) in enumerate(zip(G, outputs, strict=True)):
        alpha, entries = point[n + a, 0], G_a.tolist()
        size = arb(fmpq(-1))
        for i in range(n):
            F[i][0] += alpha * q[i, 0]
            size += point[i, 0] * q[i, 0]
            J[i][n + a] = J[n + a][i] = q[i, 0]
            for j in range(n):
                J[i][j] += alpha * entries[i][j]
        F.append([size / 2])
    return arb_mat(J), arb_mat(F)


def _grid(entries: Sequence[Fraction]) -> Vector:
    q = binary_grid(entries, KEPT)
    return tuple(from_grid(to_grid(x, q), q) for x in entries)
