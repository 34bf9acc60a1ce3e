"""The classes of an optimal set: faces on which the maximiser v(r) = P X'r of its piece is the same linear map for
every residual r of the ball |r - theta| <= R. FORMAT.md has the inequalities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from operator import mul
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_mat

from verify.numbers.bounds import column, dual_basis, identity, matrix, rational, rows
from verify.optimal.ball import Ball, Class, Face, Plane, on_rows
from verify.problem.problem import SIGNS, square
from verify.text import Fields, Node, Vector, bit_text, mask_of, show

if TYPE_CHECKING:
    from verify.numbers.patterns import Patterns

Sides = Mapping[int, int]
NO_SIDES: Sides = {}


def read_class(
    ball: Ball, patterns: Patterns | None, node: Node, sides: Sides = NO_SIDES, known: Class | None = None
) -> Class:
    """Reject unless the face, read before or not, is stable over the ball, or along a path."""
    if ball.problem.model != "relu":
        from verify.sets.direct import read_block

        return read_block(ball, patterns, node)
    return read_relu(ball, node.record("sign", "pattern", "kinks", "basis", "idle", "fixed"), sides, known)


def read_relu(ball: Ball, fields: Fields, sides: Sides = NO_SIDES, known: Class | None = None) -> Class:
    """v = P sum_D t_k z_k with v.z_k > 0 on D, < 0 off D and the kinks, and p_c <= mu_c <= l_c on the kinks; where only
    one side of a kink is looked at, p_c <= mu_c (side 1) or mu_c <= l_c (side -1) is enough."""
    R_squared = ball.R_squared
    class_, face = (known, known.face) if known and known.face else relu_class(ball, fields)
    if ball.problem.biases and not face.kinks:  # level: its bias, and so its heights, follow from the weights
        return class_
    xi, D = class_.key
    room = rational(ball.zeta_squared * R_squared)
    c_0 = on_rows(ball.Z, D).transpose() * matrix(ball.powers, ball.problem.N).transpose() * xi
    heights = (ball.Z * (face.P * c_0)).tolist()
    on, seen = (bit_text(mask, ball.problem.N) for mask in (D, ball.nonzero & ~class_.zeros))
    for k, (height, (z, q)) in enumerate(zip(heights, ball.problem.rows, strict=True)):
        if seen[k] == "1":
            moved = fmpq(sum(map(mul, z, z)), q * q) * room
            ball.holds(height if on[k] == "1" else [-x for x in height], moved, fields["pattern"], k)
    p, l = ({c: bent(ball.planes[c], ball.powers, side) * xi for c in face.kinks} for side in (0, 1))
    for c in face.idle:
        for slope, squared in zip((-p[c], l[c]), ball.bends(c), strict=False):
            if squared:
                ball.holds(slope.entries(), rational(squared * R_squared), fields["idle"], c)
    stretch = Fraction(1)
    for c, part in face.loose.items():
        bend, side = l[c] - p[c], sides.get(c, 0)
        moved = rational(ball.bends(c)[2] * R_squared)
        ball.holds((-bend if side else bend).entries(), moved, fields["kinks"], c)
        if not {0: 0 <= part <= 1, 1: part >= 1, -1: part <= 0}[side]:
            raise fields["fixed"].reject(f"a part between 0 and 1 for row {c}, or beyond its side", show(part))
        c_0 += column(ball.problem.seen[c]) * (l[c] - rational(part) * bend)
        stretch = max(stretch, part, 1 - part)  # c_0 has part t_k z_k and (1 - part) t_k z_k
    for c, W_c, push in zip(face.basis, rows(face.W), (face.W * c_0).tolist(), strict=True):
        mu, size = fmpq_mat(1, len(push), [-x for x in push]), square(tuple(W_c)) * ball.zeta_squared * stretch**2
        moved = rational(2 * (size + ball.bends(c)[2]) * R_squared)
        if sides.get(c, 0) >= 0:
            ball.holds((mu - p[c]).entries(), moved, fields["basis"], c)
        if sides.get(c, 0) <= 0:
            ball.holds((l[c] - mu).entries(), moved, fields["basis"], c)
    return class_


def bent(plane: Plane, powers: Sequence[Vector], side: int) -> fmpq_mat:
    """p_c (side 0) or l_c of a plane, by the coefficients of t."""
    return matrix([[plane.slopes(t)[side] for t in powers]], len(powers))


def relu_class(ball: Ball, fields: Fields) -> tuple[Class, Face]:
    """A class as it is written: its sign, D and face; on idle kinks v vanishes whatever the residual."""
    D = fields["pattern"].pattern(ball.problem.N) & ball.nonzero
    face = read_face(ball.problem.seen, ball.problem.d, ball.planes, fields)
    zeros = mask_of(k for c in face.kinks for k in ball.planes[c].a)
    fields["kinks"].require(not zeros & D, "hyperplanes of rows where the pattern is 0")
    if ball.problem.biases:
        from verify.sets.biases import for_weights, of_weights

        face = for_weights(face, fields["basis"])
    B = ball.pooled(on_rows(ball.Z, D)) * face.P
    check_idle(ball.problem.seen, face, B, fields["idle"])
    B = of_weights(B) if ball.problem.biases else B
    key = SIGNS[fields["sign"].text("+", "-")], D
    return Class(key, face.kinks, zeros, B, ball.zeta_squared, face), face


def check_idle(vectors: Sequence[Vector], face: Face, B: fmpq_mat, node: Node) -> None:
    """Reject unless v vanishes on the idle kinks whatever the residual."""
    for c in face.idle:
        if any((B * column(vectors[c])).entries()):
            raise node.reject(f"a kink on which v vanishes whatever the residual, at {c}")


def read_face(vectors: Sequence[Vector], dimension: int, names: Collection[int], fields: Fields) -> Face:
    """Kinks among `names`; a basis among them that spans the loose ones, and idle ones."""
    kinks, basis, idle = (fields[key].ascending(len(vectors)) for key in ("kinks", "basis", "idle"))
    if any(k not in names for k in kinks):
        raise fields["kinks"].reject("names of hyperplanes (their smallest row), or constraints other than zero")
    fields["basis"].require(set(basis) <= set(kinks), "some of the kinks")
    fields["idle"].require(set(idle) <= set(kinks) - set(basis), "some of the kinks that are not in the basis")
    rest = [k for k in kinks if k not in basis and k not in idle]
    loose = dict(zip(rest, fields["fixed"].vector(len(rest)), strict=True))
    A = matrix((vectors[k] for k in basis), dimension)
    W = dual_basis(A)
    if W is None:
        raise fields["basis"].reject("independent vectors")
    P = identity(dimension) - A.transpose() * W
    if any((matrix((vectors[k] for k in rest), dimension) * P).entries()):
        raise fields["basis"].reject("a basis that spans the kinks that are not idle")
    return Face(kinks, basis, idle, loose, P, W)
