"""The set of all optimal networks over a cover: every leaf is out, or lies in the region of the class of its tie.

A leaf of a tie with |v| + Zeta R < lambda is out, too: xi r.P(Zu)_+ <= (|v| + Zeta R) |u| for all residuals r of the
ball. On a face v(r) is the gradient, projected; if it keeps the pattern of u, |v(r)| <= lambda at the residual of every
optimal network, so that a maximiser in a leaf of the face has a part of tips only, and is v(r) (FORMAT.md, `cover`).
"""

from __future__ import annotations

from fractions import Fraction

from verify.cover.check import Cover
from verify.cover.ties import Tie
from verify.facts import COVER, DUAL, VALUE, Facts
from verify.numbers.bounds import column, root_above
from verify.optimal.ball import Ball, Class
from verify.problem.problem import Problem
from verify.sets.classes import read_class, relu_class
from verify.sets.masses import KEYS, check_set
from verify.sets.solutions import OptimalSet, lifted, set_rule
from verify.text import Node, bit_text, mask_of


def check(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds: a class for each tie of the cover, in their order; equal ones are one class."""
    fields = node.record(*KEYS, optional=("mixed",))
    value, cover = facts[VALUE], facts[COVER]
    ball = Ball(problem, facts[DUAL].theta, 2 * (value.upper - value.lower))
    moved = root_above(ball.zeta_squared * ball.R_squared)
    for xi, slack in cover.slack.items():
        if moved >= slack * problem.lam:
            raise node.reject("a cover whose margin holds for the whole ball of residuals", f"too small for {xi:+}")
    classes: dict[tuple[int, int], Class] = {}
    for i, (tie, entry) in enumerate(zip(cover.ties, fields["classes"].array(len(cover.ties)), strict=True)):
        if entry.value is None:
            if root_above(tie.squared) + moved >= problem.lam:
                raise entry.reject("a class: the piece is not out for the whole ball")
            continue
        found = checked(ball, cover, i, tie, entry, fields["lift"])
        first = classes.setdefault(found.key, found)
        if first.B != found.B or bool(first.kinks) != bool(found.kinks):  # without kinks a free bias is open
            raise entry.reject("the same v as the class before it with this sign and pattern")
        if found.face is not None and found.face.idle:  # on this side it may cost nothing to leave the face
            classes[found.key] = found
    return check_set(ball, list(classes.values()), fields)


def checked(ball: Ball, cover: Cover, number: int, tie: Tie, node: Node, lift: Node) -> Class:
    """The class of a tie; all leaves that name the tie lie in its region, for every residual of the ball, or at a level
    class for those orthogonal to the lift."""
    if tie.face:
        node.require(not ball.problem.biases, "a neuron: with free biases a face has no class")
        return face_class(ball, cover, tie, node)
    first = names(cover)
    heights = cover.lines.heights(tie.u)
    sides = {first[c]: tie.side[c] for c in cover.weights[tie.xi].convex if not heights[c]}
    found = read_class(ball, None, node, sides=sides)
    xi, D = found.key
    side = [sides.get(first[c], 0) for c in range(len(cover.lines.rows))]
    on, zeros = (bit_text(mask, len(cover.lines.line)) for mask in (D, found.zeros))
    for k, (c, a) in enumerate(zip(cover.lines.line, cover.lines.multiple, strict=True)):
        if c >= 0 and zeros[k] == "0":
            side[c] = (1 if on[k] == "1" else -1) * (1 if a > 0 else -1)
    doubtful = [c for c, sure in enumerate(surely_concave(ball, cover, xi)) if side[c] and not sure]
    if ball.problem.biases and not found.kinks:
        from verify.sets.split import spanned

        L = tuple(row.vector(ball.problem.n) for row in lift.array())
        pooled = ball.problem.pooled
        ones = {c: column(pooled([Fraction(c == one) for one in cover.lines.line])) for c in doubtful}
        doubtful = [c for c in doubtful if cover.weights[xi].w[c] or not spanned(L, ones[c])]
    if xi != tie.xi or not cover.inside(xi, number, side, doubtful):
        raise node.reject(f"a class whose region holds all leaves of tie {number}")
    return found


def names(cover: Cover) -> dict[int, int]:
    """The first row of every line."""
    return {c: k for k, c in reversed([*enumerate(cover.lines.line)])}


def surely_concave(ball: Ball, cover: Cover, xi: int) -> list[bool]:
    """For each line, whether w_c < 0 for every residual of the ball."""
    w, unit = cover.weights[xi].w, cover.weights[xi].unit
    moved = ball.R_squared * Fraction(unit, cover.lines.scale) ** 2
    sizes: list[dict[int, Fraction]] = [{} for _ in w]  # |multiple_k| of the rows of each line
    for k, (c, a) in enumerate(zip(cover.lines.line, cover.lines.multiple, strict=True)):
        if c >= 0:
            sizes[c][k] = Fraction(abs(a))
    reach = ball.problem.reach
    return [w_c < 0 and w_c * w_c > reach(a) * moved for w_c, a in zip(w, sizes, strict=True)]


def face_class(ball: Ball, cover: Cover, tie: Tie, node: Node) -> Class:
    """A face: its kinks are all lines through it, v(r) has the pattern of u, and the maximiser stays on it."""
    fields = node.record("sign", "pattern", "kinks", "basis", "idle", "fixed")
    class_, face = relu_class(ball, fields)
    first = names(cover)
    tight = sorted(first[c] for c in range(len(cover.lines.rows)) if tie.side[c] == 0)
    rows = zip(cover.lines.line, cover.lines.multiple, strict=True)
    D = mask_of(k for k, (c, a) in enumerate(rows) if c >= 0 and a * tie.side[c] > 0)
    node.require(class_.key == (tie.xi, D), "the sign and the pattern of the face")
    if list(face.kinks) != tight or face.idle or any(face.loose.values()):
        raise fields["kinks"].reject("all lines through the face, none of them idle, shares 0")
    for c, h in enumerate(cover.lines.heights(tie.v)):
        moved = ball.zeta_squared * ball.R_squared * sum(x * x for x in cover.lines.rows[c])
        if tie.side[c] and (h * tie.side[c] <= 0 or Fraction(h, tie.q) ** 2 <= moved):
            raise node.reject("a v(r) with the pattern of u for every residual of the ball")
    return class_


RULE = set_rule(check, by=COVER, applies=lifted)
