"""Listed faces, where the bound is attained by a gradient: the stars that they cut cones into, and their leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd

from flint import fmpq_mat, fmpz_mat

from verify.cover.lines import Row, Weights, dot
from verify.cover.strict import unit
from verify.cover.ties import Tie
from verify.cover.tree import WEIGHT, Reader, Special
from verify.numbers.integers import cleared
from verify.text import Node

TOUCHES = 48  # a row through a face is on at p where w.p > 0 and (w.p)^2 2^48 > |w|^2 |p|^2: a choice, not a claim


def on_face(
    weights: Weights, basis: Sequence[Row], xi: int, u: Row, side: tuple[int, ...], node: Node, biases: bool
) -> Tie:
    """The face of the lines through u, and the gradient on it; with free biases as a vector without one."""
    rows = weights.lines.rows
    F = E = fmpz_mat([list(e) for e in basis])
    tight = [list(rows[c]) for c, s in enumerate(side) if not s]
    if tight:
        kernel, free = (fmpz_mat(tight) * E.transpose()).nullspace()
        F = fmpz_mat(int(free), E.nrows(), [int(kernel[i, j]) for j in range(int(free)) for i in range(E.nrows())]) * E
    if not F.nrows() or fmpz_mat([*F.tolist(), list(u)]).rank() != F.nrows():
        raise node.reject("a vector in the span of the rows")
    v = list(weights.c0)
    for c, s in enumerate(side):
        if s > 0:
            v = [x + weights.w[c] * p for x, p in zip(v, rows[c], strict=True)]
    right = fmpq_mat(F * fmpz_mat([[x] for x in v]))
    seen = fmpz_mat([[*row[:-1], 0] for row in F.tolist()]) if biases else F
    try:
        part = fmpq_mat(seen.transpose()) * fmpq_mat(seen * seen.transpose()).solve(right)
    except ZeroDivisionError:
        raise node.reject("a face that holds no bias alone") from None
    numerators, q = cleared(Fraction(int(x.p), int(x.q)) for x in part.entries())
    q *= weights.unit
    face = tuple(tuple(int(x) for x in row) for row in F.tolist())
    return Tie(xi, u, side, Fraction(dot(numerators, numerators), q * q), tuple(numerators), q, face)


def face_leaf(leaf: Special, weights: Weights, tie: Tie, lam: Fraction, part: Fraction) -> bool:
    """a = v + (a gradient of f2 at u): a.g = f1(g) at the tips, generators on the face that have the pattern of u, and
    a.g > f1(g) + 2 part lambda |g| at the others."""
    rows, w, q = weights.lines.rows, weights.w, tie.q
    a = [WEIGHT * weights.unit * x for x in tie.v]  # all of this times WEIGHT q unit
    for c in weights.concave:
        if tie.side[c] > 0:
            a = [x - WEIGHT * q * w[c] * p for x, p in zip(a, rows[c], strict=True)]
    others = [(t, g) for t, g in enumerate(leaf.cone) if not is_tip(weights, tie, g)]
    tight = [c for c in weights.concave if tie.side[c] == 0]
    units = {t: unit(g) for t, g in others}
    for weight, times in leaf.atoms:
        point = [sum(times[t] * units[t][l] for t, _ in others) for l in range(len(tie.u))]
        for c in tight:
            h = dot(rows[c], point)
            if h > 0 and h * h << TOUCHES > dot(rows[c], rows[c]) * dot(point, point):
                a = [x - weight * q * w[c] * p for x, p in zip(a, rows[c], strict=True)]
    split = {weights.convex[k]: on for k, on in leaf.signs}
    for _, g in others:
        f1 = dot(weights.c0, g)
        for c in weights.convex:
            h = dot(rows[c], g)
            f1 += w[c] * (h if split.get(c) == 1 else max(h, 0)) if split.get(c) != 0 else 0
        room = Fraction(dot(a, g) - WEIGHT * q * f1, WEIGHT * q * weights.unit)
        if room <= 0 or room**2 <= 4 * (part * lam) ** 2 * dot(g, g):
            return False
    return True


def is_tip(weights: Weights, tie: Tie, g: Row) -> bool:
    """Whether g has the pattern of u, and so lies on its face."""
    return all((h > 0) - (h < 0) == s for h, s in zip(weights.lines.heights(g), tie.side, strict=True))


def centre(generators: Sequence[Row], ties: Mapping[int, Tie], reader: Reader, on_facet: bool) -> tuple[Row, int]:
    """The centre of a star, a listed vector or where its plane meets a facet; in bits, whose place it takes."""
    number, chosen, node = reader.byte(), int.from_bytes(reader.take("data", 3), "little"), reader.node
    tie = ties.get(number)
    if tie is None or not tie.face:
        raise node.reject("a face of this sign", f"number {number}")
    u = meeting(generators, tie.face, reader.byte(), node) if on_facet else tie.u
    check_star(generators, u, chosen, node)
    return u, chosen


def check_star(generators: Sequence[Row], u: Row, chosen: int, node: Node) -> None:
    """Reject unless u = sum x_i g_i != 0 with x >= 0, and every i with x_i > 0 is chosen; u is in the span of the rows,
    which is that of the generators."""
    weights = parts(generators, [u], node).entries()
    if any(w < 0 or (w > 0 and not chosen >> i & 1) for i, w in enumerate(weights)):
        raise node.reject("a vector inside the cone, and a child for every generator that it uses")


def meeting(generators: Sequence[Row], face: Sequence[Row], facet: int, node: Node) -> Row:
    """A vector of the plane without a part of generator `facet`; of the two the one with a part >= 0 of the others."""
    node.require(len(face) == 2 and facet < len(generators), "a plane and a facet")
    X = parts(generators, face, node)
    a, b = X[facet, 1], -X[facet, 0]
    if any(a * X[i, 0] + b * X[i, 1] < 0 for i in range(len(generators))):
        a, b = -a, -b
    q = a.q * b.q
    v = [int(a * q) * x + int(b * q) * y for x, y in zip(*face, strict=True)]
    divisor = gcd(*v)
    node.require(divisor, "a plane that is not in the facet")
    return tuple(x // divisor for x in v)


def parts(generators: Sequence[Row], vectors: Sequence[Row], node: Node) -> fmpq_mat:
    """x with sum_i x_i g_i = v, a column for each vector v of their span."""
    G, V = (fmpq_mat(fmpz_mat([list(g) for g in A])) for A in (generators, vectors))
    try:
        return (G * G.transpose()).solve(G * V.transpose())
    except ZeroDivisionError:
        raise node.reject("independent generators at a star") from None
