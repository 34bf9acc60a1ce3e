"""Classes along a path s(tau): v = P X's is the maximiser of its region for every tau (FORMAT.md: `path`)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from flint import fmpq_mat

from verify.bounds import column, matrix, rational, root_above
from verify.classes import Ball, Class, Face, direct_class, on_rows, read_class, relu_class
from verify.patterns import Patterns
from verify.polynomials import Polynomial, add, at_least, never_negative, rows
from verify.problem import square
from verify.text import Node, show


def read_moving(ball: Ball, patterns: Patterns | None, S: fmpq_mat, node: Node, known: Class | None = None) -> Class:
    """Reject unless the class, read before or not, has its face on the whole path."""
    return read_class(ball, patterns, node, partial(moving_relu, S, known=known), partial(moving_direct, S))


def moving_relu(S: fmpq_mat, ball: Ball, fields: dict[str, Node], known: Class | None = None) -> Class:
    """z_k.v >= 0 on D, <= 0 off D and the kinks, and p_c <= mu_c <= l_c on the kinks, for every tau."""
    Z = ball.problem.Z
    class_, face = (known, known.face) if known and known.face else relu_class(ball, fields)
    xi, D = class_.key
    t = S if xi > 0 else -S
    c_0 = on_rows(ball.Z, D).transpose() * t
    signed = ball.nonzero & ~class_.zeros
    for k, height in enumerate((ball.Z * (face.P * c_0)).tolist()):
        if signed >> k & 1:
            require(height if D >> k & 1 else [-x for x in height], fields["pattern"], k)
    p, l = slopes(ball, t, face)
    for c in face.idle:
        require([-x for x in p[c]], fields["idle"], c)
        require(l[c], fields["idle"], c)
    for c, part in face.loose.items():
        require(add(l[c], [-x for x in p[c]]), fields["kinks"], c)
        if not 0 <= part <= 1:
            raise fields["fixed"].reject(f"a part between 0 and 1 for row {c}", show(part))
        mu = add([(1 - part) * x for x in l[c]], [part * x for x in p[c]])
        c_0 = c_0 + column(Z[c]) * fmpq_mat(1, len(mu), mu)
    pushed = (matrix(face.W, ball.problem.d) * c_0).tolist()
    for c, minus_mu in zip(face.basis, pushed, strict=True):
        require(add([-x for x in minus_mu], [-x for x in p[c]]), fields["basis"], c)
        require(add(l[c], minus_mu), fields["basis"], c)
    return class_


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


def moving_direct(S: fmpq_mat, ball: Ball, fields: dict[str, Node]) -> Class:
    """v = Proj_C(X_b's): multipliers >= 0 on the kinks, the other constraints hold, for every tau."""
    class_, face, K = direct_class(ball, fields)
    b = class_.key[1]
    size = len(ball.problem.groups[b])
    c_0 = matrix(ball.problem.block(b), size).transpose() * S
    v = face.P * c_0
    for k, K_k in K.items():
        require([-x for x in rows(column(K_k).transpose() * v)[0]], fields["kinks"], k)
    for k, rho_k in face.loose.items():
        for j, K_kj in enumerate(K[k]):
            c_0[j, 0] -= rational(rho_k * K_kj)
    for k, rho in zip(face.basis, rows(matrix(face.W, size) * c_0), strict=True):
        require(rho, fields["basis"], k)
    return class_


def require(c: Polynomial, node: Node, k: int) -> None:
    """Reject unless the polynomial is >= 0 on the piece."""
    if not never_negative(c):
        raise node.reject(f"what stays >= 0 on the piece at {k}", f"a bound of {show(at_least(c))}")
