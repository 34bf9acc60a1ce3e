"""Listed neurons and faces, where the bound is attained, and the leaves that rest on them; all in exact integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.cover.lines import Row, Weights, dot
from verify.cover.tree import Leaves, Special
from verify.numbers.integers import cleared
from verify.problem.problem import SIGNS
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
    v: tuple[int, ...]  # times q
    q: int
    face: tuple[Row, ...] = ()  # of a neuron: none


def read_tie(weights: dict[int, Weights], basis: Sequence[Row], squared: Fraction, node: Node, biases: bool) -> Tie:
    """Reject unless |v|^2 <= squared; `basis` spans the rows."""
    fields = node.record("sign", "u", optional=("shares",))
    xi = SIGNS[fields["sign"].text(*SIGNS)]
    here = weights[xi]
    u = tuple(fields["u"].integers(len(here.c0)))
    fields["u"].require(any(u), "a vector other than zero")
    side = tuple((h > 0) - (h < 0) for h in here.lines.heights(u))
    if "shares" in fields:
        tie = on_piece(here, xi, u, side, fields["shares"], biases)
    else:
        from verify.cover.faces import on_face

        tie = on_face(here, basis, xi, u, side, fields["u"], biases)
    node.require(tie.squared <= squared, f"|v|^2 <= {show(squared)}", show(tie.squared))
    return tie


def on_piece(weights: Weights, xi: int, u: Row, side: tuple[int, ...], node: Node, biases: bool) -> Tie:
    """A neuron, by the shares of the lines through u: those of convex ones name a side."""
    w, tight = weights.w, [c for c, x in enumerate(weights.w) if x and not side[c]]
    shares = node.vector(len(tight))
    if any(0 < s < 1 if w[c] > 0 else not 0 <= s <= 1 for c, s in zip(tight, shares, strict=True)):
        raise node.reject("shares in [0, 1] of concave lines, outside (0, 1) of convex ones")
    sides = {c: 1 if s >= 1 else -1 for c, s in zip(tight, shares, strict=True) if w[c] > 0}
    parts, q = cleared(shares)
    v = [x * q for x in weights.c0]
    for c, part in [*((c, q) for c, s in enumerate(side) if s > 0), *zip(tight, parts, strict=True)]:
        v = [x + part * w[c] * p for x, p in zip(v, weights.lines.rows[c], strict=True)]
    node.require(not biases or not v[-1], "shares of a vector v without a bias")
    squared = Fraction(dot(v, v), (q * weights.unit) ** 2)
    return Tie(xi, u, tuple(sides.get(c, s) for c, s in enumerate(side)), squared, tuple(v), q * weights.unit)


def check_special(
    leaves: Leaves, weights: Weights, ties: Mapping[int, Tie], lam: Fraction, part: Fraction, node: Node
) -> None:
    """Reject unless every leaf that names a neuron or a face of `ties` rests on it; `part` is margin / 2^bits."""
    for leaf in leaves.special:
        tie = ties.get(leaf.number)
        if tie is None or bool(tie.face) != bool(leaf.atoms):
            raise node.reject("a neuron or face of this sign", f"number {leaf.number}")
        if tie.face:
            from verify.cover.faces import face_leaf

            good = face_leaf(leaf, weights, tie, lam, part)
        else:
            good = in_piece(leaf, weights, tie.side, weights.convex)
        node.require(good, f"a cone inside the piece of neuron {leaf.number}, or proved by that face", "another")


def in_piece(leaf: Special, weights: Weights, side: Sequence[int], lines: Sequence[int]) -> bool:
    """Whether these lines have the given sides (0: any) on the whole leaf."""
    split = {weights.convex[k]: 1 if on else -1 for k, on in leaf.signs}
    rest = [c for c in lines if split.get(c) != side[c] and side[c]]
    return all(side[c] * dot(weights.lines.rows[c], g) >= 0 for g in leaf.cone for c in rest)
