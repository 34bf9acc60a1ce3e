"""Listed neurons and rays, where the bound is attained, and the leaves that rest on them; all in exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.cover.lines import Row, Weights
from verify.cover.strict import dot, unit
from verify.cover.tree import RAY, WEIGHT, Leaves, Special
from verify.problem import cleared
from verify.text import Node, show

TOUCHES = 48  # a row through a ray is on at p where w.p > 0 and (w.p)^2 2^48 > |w|^2 |p|^2: a choice, not a claim


@dataclass(frozen=True)
class Tie:
    """A direction u, and a side (1, -1, or 0: any) of every line.

    A neuron: wherever the convex lines have these sides, xi theta.(Zu')_+ <= v.u' with |v| <= lambda. A ray: all lines
    through u have side 0, and kappa = xi theta.(Zu)_+ / |u| <= lambda.
    """

    xi: int
    u: Row
    side: tuple[int, ...]
    ray: bool


def read_tie(weights: dict[int, Weights], squared: Fraction, node: Node) -> Tie:
    """Reject unless |v|^2 <= squared, or kappa^2 <= squared."""
    fields = node.record("sign", "u", optional=("shares",))
    xi = 1 if fields["sign"].text("+", "-") == "+" else -1
    here = weights[xi]
    u = integers(fields["u"], len(here.c0))
    side = [(h > 0) - (h < 0) for h in here.lines.heights(u)]
    if "shares" not in fields:
        if (top := here.at(u)) > 0 and top**2 > squared * dot(u, u):
            raise node.reject("xi theta.(Zu)_+ <= lambda |u| at the ray")
        return Tie(xi, u, tuple(side), ray=True)
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
    if (length := Fraction(dot(v, v), (q * here.unit) ** 2)) > squared:
        raise node.reject(f"|v|^2 <= {show(squared)}", show(length))
    return Tie(xi, u, tuple(side), ray=False)


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
        if tie is None or tie.xi != (1 if node.key == "+" else -1) or tie.ray != (leaf.code == RAY):
            raise node.reject("a neuron or ray of this sign", f"number {leaf.number}")
        cone = [leaves.vertices[g] for g in leaf.cone]
        if not tie.ray:
            if not in_piece(cone, leaf, weights, tie.side, weights.convex):
                raise node.reject(f"a cone inside the piece of neuron {leaf.number}", "one that leaves it")
        elif not ray_leaf(cone, leaf, weights, tie, lam, part):
            raise node.reject(f"a cone on which ray {leaf.number} is the only maximiser", "one that is not proved")


def in_piece(cone: Sequence[Row], leaf: Special, weights: Weights, side: Sequence[int], lines: Sequence[int]) -> bool:
    """Whether these lines have the given sides (0: any) on the whole leaf."""
    split = {weights.convex[k]: 1 if on else -1 for k, on in leaf.signs}
    if any(c in split and side[c] not in (0, split[c]) for c in lines):
        return False
    rest = [c for c in lines if c not in split and side[c]]
    return all(h * side[c] >= 0 for g in cone for c, h in zip(rest, weights.lines.heights(g, rest), strict=True))


def ray_leaf(cone: Sequence[Row], leaf: Special, weights: Weights, tie: Tie, lam: Fraction, part: Fraction) -> bool:
    """a = kappa u/|u| + (a gradient of f2 at u); a.g > f1(g) + part lambda |g| and u.g >= 0 at the other generators."""
    u = tie.u
    if sum(g == u for g in cone) != 1:
        return False
    square = dot(u, u)
    rows, w = weights.lines.rows, weights.w
    top = dot(weights.c0, u) + sum(w[c] * dot(rows[c], u) for c in range(len(rows)) if tie.side[c] > 0)
    a = [WEIGHT * top * x for x in u]  # all of this times WEIGHT |u|^2
    for c in weights.concave:
        if tie.side[c] > 0:
            a = [x - WEIGHT * square * w[c] * p for x, p in zip(a, rows[c], strict=True)]
    tight = [c for c in weights.concave if tie.side[c] == 0]
    units = [unit(g) for g in cone]
    for weight, q in leaf.atoms:
        point = [sum(t * x[l] for t, x, g in zip(q, units, cone, strict=True) if g != u) for l in range(len(u))]
        for c in tight:
            h = dot(rows[c], point)
            if h > 0 and h * h << TOUCHES > dot(rows[c], rows[c]) * dot(point, point):
                a = [x - weight * square * w[c] * p for x, p in zip(a, rows[c], strict=True)]
    split = {weights.convex[k]: on for k, on in leaf.signs}
    for g in cone:
        if g == u:
            continue
        f1 = dot(weights.c0, g)
        for c in weights.convex:
            h = dot(rows[c], g)
            f1 += w[c] * (h if split.get(c) == 1 else max(h, 0)) if split.get(c) != 0 else 0
        room = Fraction(dot(a, g) - WEIGHT * square * f1, WEIGHT * square * weights.unit)
        if dot(u, g) < 0 or room <= 0 or room**2 <= (part * lam) ** 2 * dot(g, g):
            return False
    return True
