"""Listed neurons and faces, where the bound is attained, and the leaves that rest on them; all in exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat, fmpz_mat

from verify.bounds import fraction
from verify.cover.lines import Row, Weights
from verify.cover.strict import dot, unit
from verify.cover.tree import RAY, WEIGHT, Leaves, Special
from verify.problem import cleared
from verify.text import Node, show

TOUCHES = 48  # a row through a face is on at p where w.p > 0 and (w.p)^2 2^48 > |w|^2 |p|^2: a choice, not a claim


@dataclass(frozen=True)
class Tie:
    """A direction u, and a side (1, -1, or 0: any) of every line.

    A neuron: wherever the convex lines have these sides, xi theta.(Zu')_+ <= v.u' with |v| <= lambda. A face: all lines
    through u have side 0, `face` spans what they leave of the row space, v is the gradient at u, projected on the face:
    where the pattern on the face is that of u, xi theta.(Zu')_+ = v.u'. With free biases v has none.
    """

    xi: int
    u: Row
    side: tuple[int, ...]
    squared: Fraction  # |v|^2
    face: tuple[Row, ...] = ()  # of a neuron: none
    v: tuple[int, ...] = ()  # of a face, times q
    q: int = 1


def read_tie(weights: dict[int, Weights], basis: Sequence[Row], squared: Fraction, node: Node, biases: bool) -> Tie:
    """Reject unless |v|^2 <= squared; `basis` spans the rows."""
    fields = node.record("sign", "u", optional=("shares",))
    xi = 1 if fields["sign"].text("+", "-") == "+" else -1
    here = weights[xi]
    u = integers(fields["u"], len(here.c0))
    side = [(h > 0) - (h < 0) for h in here.lines.heights(u)]
    if "shares" not in fields:
        tie = on_face(here, basis, xi, u, tuple(side), fields["u"], biases)
        if tie.squared > squared:
            raise node.reject(f"|v|^2 <= {show(squared)}", show(tie.squared))
        return tie
    on = [c for c, s in enumerate(side) if s > 0]
    tight = [c for c, w in enumerate(here.w) if w and not side[c]]
    shares = fields["shares"].vector(len(tight))
    for c, share in zip(tight, shares, strict=True):
        if here.w[c] > 0:
            side[c] = 1 if share >= 1 else -1
        if 0 < share < 1 if here.w[c] > 0 else not 0 <= share <= 1:
            raise fields["shares"].reject("shares in [0, 1] of concave lines, outside (0, 1) of convex ones")
    s, q = cleared(shares)
    v = [x * q for x in here.c0]
    for c, factor in [*((c, q) for c in on), *zip(tight, s, strict=True)]:
        v = [x + factor * here.w[c] * p for x, p in zip(v, here.lines.rows[c], strict=True)]
    if biases and v[-1]:
        raise node.reject("a vector v without a bias")
    if (length := Fraction(dot(v, v), (q * here.unit) ** 2)) > squared:
        raise node.reject(f"|v|^2 <= {show(squared)}", show(length))
    return Tie(xi, u, tuple(side), length)


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
    numerators, q = cleared(fraction(x) for x in part.entries())
    q *= weights.unit
    face = tuple(tuple(int(x) for x in row) for row in F.tolist())
    return Tie(xi, u, side, Fraction(dot(numerators, numerators), q * q), face, tuple(numerators), q)


def integers(node: Node, length: int) -> Row:
    """A vector of integers, not zero."""
    found = node.vector(length)
    if any(x.denominator != 1 for x in found) or not any(found):
        raise node.reject("integers, not all zero")
    return tuple(x.numerator for x in found)


def check_special(
    leaves: Leaves, weights: Weights, ties: Sequence[Tie], lam: Fraction, part: Fraction, node: Node
) -> None:
    """Reject unless every leaf that names a neuron or a ray rests on it; `part` is margin / 2^bits."""
    for leaf in leaves.special:
        tie = ties[leaf.number] if leaf.number < len(ties) else None
        if tie is None or tie.xi != (1 if node.key == "+" else -1) or bool(tie.face) != (leaf.code == RAY):
            raise node.reject("a neuron or face of this sign", f"number {leaf.number}")
        cone = [leaves.vertices[g] for g in leaf.cone]
        if not tie.face:
            if not in_piece(cone, leaf, weights, tie.side, weights.convex):
                raise node.reject(f"a cone inside the piece of neuron {leaf.number}", "one that leaves it")
        elif not face_leaf(cone, leaf, weights, tie, lam, part):
            raise node.reject(f"a cone whose maximisers are on face {leaf.number}", "one that is not proved")


def in_piece(cone: Sequence[Row], leaf: Special, weights: Weights, side: Sequence[int], lines: Sequence[int]) -> bool:
    """Whether these lines have the given sides (0: any) on the whole leaf."""
    split = {weights.convex[k]: 1 if on else -1 for k, on in leaf.signs}
    if any(c in split and side[c] not in (0, split[c]) for c in lines):
        return False
    rest = [c for c in lines if c not in split and side[c]]
    return all(h * side[c] >= 0 for g in cone for c, h in zip(rest, weights.lines.heights(g, rest), strict=True))


def face_leaf(cone: Sequence[Row], leaf: Special, weights: Weights, tie: Tie, lam: Fraction, part: Fraction) -> bool:
    """a = v + (a gradient of f2 at u): a.g = f1(g) at the tips, generators on the face that have the pattern of u, and
    a.g > f1(g) + 2 part lambda |g| at the others."""
    rows, w, q = weights.lines.rows, weights.w, tie.q
    a = [WEIGHT * weights.unit * x for x in tie.v]  # all of this times WEIGHT q unit
    for c in weights.concave:
        if tie.side[c] > 0:
            a = [x - WEIGHT * q * w[c] * p for x, p in zip(a, rows[c], strict=True)]
    others = [(t, g) for t, g in enumerate(cone) if not is_tip(weights, tie, g)]
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
