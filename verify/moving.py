"""Classes along a path s(tau): v = P X's is the maximiser of its region for every tau (FORMAT.md: `path`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from flint import fmpq_mat

from verify.bounds import column, dual_basis, identity, matrix, rational, root_above
from verify.classes import Ball, Class, Face, frobenius, on_rows, read_class, read_face
from verify.patterns import Patterns, mask_of
from verify.polynomials import Polynomial, add, at_least, at_most, length_squared, rows
from verify.problem import SIGNS, square
from verify.text import Node, show


def read_moving(ball: Ball, patterns: Patterns | None, S: fmpq_mat, node: Node) -> Class:
    """Reject unless the class has its face on the whole path, and its region is concave over the ball."""
    return read_class(ball, patterns, node, partial(moving_relu, S), partial(moving_direct, S))


def moving_relu(S: fmpq_mat, ball: Ball, fields: dict[str, Node]) -> Class:
    """z_k.v >= 0 on D, <= 0 off D and the kinks, and p_c <= mu_c <= l_c on the kinks, for every tau."""
    Z, n = ball.problem.Z, ball.problem.n
    xi = SIGNS[fields["sign"].text("+", "-")]
    t = S if xi > 0 else -S
    nonzero = mask_of(k for k in range(n) if any(Z[k]))
    D = fields["pattern"].pattern(n) & nonzero
    face = read_face(Z, ball.problem.d, ball.planes, fields)
    zeros = mask_of(k for c in face.kinks for k in ball.planes[c].a)
    if zeros & D:
        raise fields["kinks"].reject("hyperplanes of rows where the pattern is 0")
    B = on_rows(ball.Z, D) * face.P
    c_0 = on_rows(ball.Z, D).transpose() * t
    for k, height in enumerate(rows(ball.Z * (face.P * c_0))):
        if (nonzero & ~zeros) >> k & 1:
            never_negative(height if D >> k & 1 else [-x for x in height], fields["pattern"], k)
    p, l = slopes(ball, t, face)
    for c in face.idle:
        if any((B * column(Z[c])).entries()):
            raise fields["idle"].reject(f"a hyperplane on which v vanishes whatever the residual, for row {c}")
        never_negative([-x for x in p[c]], fields["idle"], c)
        never_negative(l[c], fields["idle"], c)
    for c, part in face.loose.items():
        never_negative(add(l[c], [-x for x in p[c]]), fields["kinks"], c)
        if not 0 <= part <= 1:
            raise fields["fixed"].reject(f"a part between 0 and 1 for row {c}", show(part))
        mu = add([(1 - part) * x for x in l[c]], [part * x for x in p[c]])
        c_0 = c_0 + column(Z[c]) * matrix([mu], len(mu))
    pushed = rows(matrix(face.W, ball.problem.d) * c_0) if face.basis else []
    for c, minus_mu in zip(face.basis, pushed, strict=True):
        never_negative(add([-x for x in minus_mu], [-x for x in p[c]]), fields["basis"], c)
        never_negative(add(l[c], minus_mu), fields["basis"], c)
    return Class((xi, D), face.kinks, zeros, B, ball.zeta_squared)


def slopes(ball: Ball, t: fmpq_mat, face: Face) -> tuple[dict[int, list[Fraction]], dict[int, list[Fraction]]]:
    """p_c and l_c of the kinks, as polynomials."""
    by_power = list(zip(*rows(t), strict=True))
    both = {c: [ball.planes[c].slopes(coefficients) for coefficients in by_power] for c in face.kinks}
    return {c: [p for p, _ in b] for c, b in both.items()}, {c: [l for _, l in b] for c, b in both.items()}


def check_concave(ball: Ball, S: fmpq_mat, class_: Class, R: Fraction, node: Node) -> None:
    """relu: l_c - p_c = -xi sum |a_k| s_k > 0 for every kink and every s within R of the path."""
    if ball.problem.model != "relu":
        return
    for c in class_.kinks:
        a = ball.planes[c].a
        row = matrix([[-class_.key[0] * abs(a.get(k, Fraction(0))) for k in range(ball.problem.n)]], ball.problem.n)
        bend, moved = at_least(rows(row * S)[0]), root_above(square(tuple(a.values()))) * R
        if bend <= moved:
            raise node.reject(f"a kink that stays concave, l_c - p_c > {show(moved)} at row {c}", show(bend))


def read_aside(ball: Ball, patterns: Patterns | None, S: fmpq_mat, R: Fraction, node: Node) -> Class:
    """Reject unless |v| + |X| R < 1 on the whole path, by multipliers that stay in their box."""
    relu = ball.problem.model == "relu"
    class_ = aside_piece(ball, S, node) if relu else read_moving(ball, patterns, S, node)
    room = 1 - root_above(class_.bound) * R
    longest = at_most(length_squared(class_.B.transpose() * S))
    if room <= 0 or longest >= room**2:
        raise node.reject(f"|v|^2 < {show(max(room, Fraction(0)) ** 2)} on the piece", f"up to {show(longest)}")
    return class_


def aside_piece(ball: Ball, S: fmpq_mat, node: Node) -> Class:
    """relu: m = D t, with a change on the free rows that makes v = Z'm orthogonal to them, stays in the piece's box."""
    problem = ball.problem
    fields = node.record("sign", "base", "rows")
    xi = SIGNS[fields["sign"].text("+", "-")]
    base = fields["base"].pattern(problem.n)
    free = fields["rows"].ascending(problem.n)
    t = S if xi > 0 else -S
    A = matrix((problem.Z[k] for k in free), problem.d)
    W = dual_basis(A)
    if W is None:
        raise fields["rows"].reject("rows that are independent")
    P = identity(problem.d) - A.transpose() * W
    change = rows(-(W * (on_rows(ball.Z, base).transpose() * t))) if free else []
    for k, change_k in zip(free, change, strict=True):
        t_k = rows(t)[k]
        if not (t_k[0] < 0 and t_k[0] ** 2 > ball.R_squared):  # k in P'
            never_negative(change_k if base >> k & 1 else [-x for x in change_k], fields["rows"], k)
        else:
            m_k = add(change_k, t_k) if base >> k & 1 else change_k
            never_negative([-x for x in m_k], fields["rows"], k)
            never_negative(add(m_k, [-x for x in t_k]), fields["rows"], k)
    return Class((xi, base), (), 0, on_rows(ball.Z, base) * P, ball.zeta_squared)


def moving_direct(S: fmpq_mat, ball: Ball, fields: dict[str, Node]) -> Class:
    """v = Proj_C(X_b's): multipliers >= 0 on the kinks, the other constraints hold, for every tau."""
    problem = ball.problem
    b = fields["block"].index(len(problem.groups))
    X, size = problem.block(b), len(problem.groups[b])
    K = tuple(zip(*(problem.K[b] or ()), strict=True))
    nonzero = [k for k, K_k in enumerate(K) if any(K_k)]
    face = read_face(K, size, nonzero, fields)
    B = matrix(X, size) * face.P
    c_0 = matrix(X, size).transpose() * S
    v = face.P * c_0
    for k in nonzero:
        if k not in face.kinks:
            never_negative([-x for x in rows(column(K[k]).transpose() * v)[0]], fields["kinks"], k)
    for k in face.idle:
        if any((B * column(K[k])).entries()):
            raise fields["idle"].reject(f"a constraint on which v vanishes whatever the residual, for column {k}")
    for k, rho_k in face.loose.items():
        if rho_k < 0:
            raise fields["fixed"].reject(f"a multiplier >= 0 for constraint {k}", show(rho_k))
        for j, K_kj in enumerate(K[k]):
            c_0[j, 0] -= rational(rho_k * K_kj)
    for k, rho in zip(face.basis, rows(matrix(face.W, size) * c_0) if face.basis else [], strict=True):
        never_negative(rho, fields["basis"], k)
    return Class((0, b), face.kinks, 0, B, frobenius(X))


def never_negative(c: Polynomial | Sequence[Fraction], node: Node, k: int) -> None:
    """Reject unless the polynomial is >= 0 on [-1, 1], by its coefficients."""
    if (lowest := at_least(c)) < 0:
        raise node.reject(f"what stays >= 0 on the piece at {k}", f"a bound of {show(lowest)}")
