"""Listed neurons and faces, where the bound is attained, and the leaves that rest on them; all in exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.cover.lines import Row, Weights
from verify.cover.strict import dot
from verify.cover.tree import RAY, Leaves, Special
from verify.problem import cleared
from verify.text import Node, show


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
        from verify.cover.faces import on_face

        tie = on_face(here, basis, xi, u, tuple(side), fields["u"], biases)
        node.require(tie.squared <= squared, f"|v|^2 <= {show(squared)}", show(tie.squared))
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
    node.require(not biases or not v[-1], "a vector v without a bias")
    if (length := Fraction(dot(v, v), (q * here.unit) ** 2)) > squared:
        raise node.reject(f"|v|^2 <= {show(squared)}", show(length))
    return Tie(xi, u, tuple(side), length)


def integers(node: Node, length: int) -> Row:
    """A vector of integers, not zero."""
    found = node.vector(length)
    node.require(all(x.denominator == 1 for x in found) and any(found), "integers, not all zero")
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
            continue
        from verify.cover.faces import face_leaf

        if not face_leaf(cone, leaf, weights, tie, lam, part):
            raise node.reject(f"a cone whose maximisers are on face {leaf.number}", "one that is not proved")


def in_piece(cone: Sequence[Row], leaf: Special, weights: Weights, side: Sequence[int], lines: Sequence[int]) -> bool:
    """Whether these lines have the given sides (0: any) on the whole leaf."""
    split = {weights.convex[k]: 1 if on else -1 for k, on in leaf.signs}
    if any(c in split and side[c] not in (0, split[c]) for c in lines):
        return False
    rest = [c for c in lines if c not in split and side[c]]
    return all(h * side[c] >= 0 for g in cone for c, h in zip(rest, weights.lines.heights(g, rest), strict=True))
