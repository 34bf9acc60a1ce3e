"""That every direction is out over a ball of residuals or in the region of a class, by a cover (FORMAT.md: `path`)."""

from __future__ import annotations

from collections.abc import Sequence

from verify.cover.check import Cover, check_cover
from verify.numbers.bounds import root_above
from verify.optimal.ball import Ball, Class
from verify.text import Node


def check_around(ball: Ball, classes: Sequence[Class], node: Node) -> None:
    """Reject unless strict leaves hold for the whole ball, and the leaves of every tie lie in the region of a class."""
    cover = check_cover(ball.problem, ball.theta, ball.problem.lam**2, node)
    moved = root_above(ball.zeta_squared * ball.R_squared)
    for xi, slack in cover.slack.items():
        if moved >= slack * ball.problem.lam:
            raise node.reject("a cover whose margin holds for the whole ball of residuals", f"too small for {xi:+}")
    node.require(len({a.key for a in classes}) == len(classes), "no two classes of the same sign and pattern", "two")
    regions = [(a.key[0], region(ball, cover, a, node)) for a in classes]
    for i, tie in enumerate(cover.ties):
        inside = (not tie.face and cover.inside(xi, i, side, range(len(side))) for xi, side in regions if xi == tie.xi)
        node.require(any(inside), f"a class whose region holds all leaves of tie {i}", "none")


def region(ball: Ball, cover: Cover, class_: Class, node: Node) -> list[int]:
    """The side of each line with rows in P' that are no kinks, on which all of them agree; 0: any."""
    xi, D = class_.key
    rows = ball.fine[xi] & ~class_.zeros
    side = [0] * len(cover.lines.rows)
    for k, (c, a) in enumerate(zip(cover.lines.line, cover.lines.multiple, strict=True)):
        if c >= 0 and rows >> k & 1:
            here = (1 if D >> k & 1 else -1) * (1 if a > 0 else -1)
            node.require(side[c] != -here, "classes whose pattern has one side of every line", f"both at row {k}")
            side[c] = here
    return side
