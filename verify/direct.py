"""Direct problems: the classes of their blocks, projections on faces of the cones, and that the others are out."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from verify.blocks import pushed
from verify.bounds import column, matrix, rational, rows
from verify.classes import Ball, Class, check_idle, frobenius, read_face
from verify.problem import square, transposed
from verify.text import Node, show


def read_direct(ball: Ball, fields: dict[str, Node]) -> Class:
    """v = Proj_C(X_b'r) = P X_b'r: multipliers >= 0 on the kinks, the other constraints slack."""
    problem = ball.problem
    b = fields["block"].index(len(problem.groups))
    X, size = problem.block(b), len(problem.groups[b])
    vectors = problem.constraints(b)
    K = {k: K_k for k, K_k in enumerate(vectors) if any(K_k)}
    face = read_face(vectors, size, K, fields)
    class_ = Class((0, b), face.kinks, 0, matrix(X, size) * face.P, frobenius(X), face)
    check_idle(vectors, face, class_.B, fields["idle"])
    room = class_.bound * ball.R_squared
    c_0 = matrix(X, size).transpose() * ball.residuals
    v = face.P * c_0
    for k, K_k in K.items():
        if k not in face.kinks:
            slack = column(K_k).transpose() * -v
            ball.holds(slack.entries(), rational(square(K_k) * room), fields["kinks"], k)
    for k, rho_k in face.loose.items():
        if rho_k < 0:
            raise fields["fixed"].reject(f"a multiplier >= 0 for constraint {k}", show(rho_k))
        for j, K_kj in enumerate(K[k]):
            c_0[j, 0] -= rational(rho_k * K_kj)
    for k, W_k, rho in zip(face.basis, rows(face.W), (face.W * c_0).tolist(), strict=True):
        ball.holds(rho, rational(square(tuple(W_k)) * room), fields["basis"], k)
    return class_


def check_blocks_out(ball: Ball, classes: Collection[int], multipliers: Node, out: Node) -> None:
    """Reject unless every block has a class or is out."""
    for b, entry in enumerate(multipliers.array(len(ball.problem.groups))):
        if not is_out(ball, b, entry) and b not in classes:
            found = f"none, and |X_b'theta - K_b rho|^2 = {show(bound(ball, b, entry))}"
            raise out.reject(f"a class for block {b}", found)


def bound(ball: Ball, b: int, entry: Node) -> Fraction:
    """|X_b'theta - K_b rho|^2 with the rho of `dual` or with none, whichever is shorter."""
    plain = square(transposed(ball.problem.block(b), ball.theta))
    return min(plain, square(pushed(ball.problem, ball.theta, b, entry)))


def is_out(ball: Ball, b: int, entry: Node) -> bool:
    """Whether a block of a direct problem is out by this bound."""
    return bound(ball, b, entry) < ball.threshold(frobenius(ball.problem.block(b)))
