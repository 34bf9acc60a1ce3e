"""The tied neurons where r* is known exactly, by a cover: FORMAT.md, `exact_set` and `algebraic_set`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from verify.cover.check import Cover
from verify.numbers.bounds import root_above
from verify.sets.in_field import InField
from verify.sets.ties import Numbers, Optimum, reaches
from verify.text import Node, mask_of


@dataclass(frozen=True)
class Covered(Optimum):
    """r = theta, which this cover proves dual feasible."""

    cover: Cover

    @property
    def listed(self) -> bool:
        """It rests on no patterns."""
        return False

    def pieces(self, sign: str, xi: int) -> Iterator[tuple[Node, int, Numbers]]:
        """The v of the ties that attain the bound: t.(Zv)_+ = lambda |v| = lambda^2. A direction that attains it is one
        of them: strict leaves have none, on the others t.(Zu)_+ <= v.u, at a face strictly off its tips."""
        problem, t = self.ball.problem, [xi * x for x in self.ball.problem.spread(self.r)]
        for tie in self.cover.ties:
            if tie.xi == xi and tie.squared == problem.lam**2:
                v = [Fraction(x, tie.q) for x in tie.v]
                positive = [max(x, self.zero) for x in self.through(problem.seen, v)]
                if self.dot(positive, t) == problem.lam**2:
                    yield self.bounds, mask_of(k for k, x in enumerate(positive) if x), v


@dataclass(frozen=True)
class CoveredInField(InField):
    """r in its field: strict leaves hold for it, too, and on the leaves of a tie xi r.(Zu)_+ <= v.u, by its shares."""

    cover: Cover

    @property
    def listed(self) -> bool:
        """It rests on no patterns."""
        return False

    def pieces(self, sign: str, xi: int) -> Iterator[tuple[Node, int, Numbers]]:
        """The v of the ties that are not out over the ball and attain the bound at r."""
        problem, cover = self.ball.problem, self.cover
        t = [xi * x for x in problem.spread(self.r)]
        moved = root_above(self.ball.zeta_squared * self.ball.R_squared)
        entries = self.own.record("shares")["shares"].array(len(cover.ties))
        self.own.require(moved < cover.slack[xi] * problem.lam, "a cover whose margin holds for the ball of residuals")
        for number, (tie, entry) in enumerate(zip(cover.ties, entries, strict=True)):
            if tie.xi != xi:
                continue
            if entry.value is None:
                entry.require(
                    root_above(tie.squared) + moved < problem.lam, "shares: the piece is not out for the ball"
                )
                continue
            entry.require(not tie.face, "a neuron, with shares")
            v = self.bound(xi, number, entry, t)
            positive = [max(x, self.zero) for x in self.through(problem.seen, v)]
            if reaches(self, v, entry) and self.dot(positive, t) == problem.lam**2:
                yield entry, mask_of(k for k, x in enumerate(positive) if x), v

    def bound(self, xi: int, number: int, node: Node, t: Numbers) -> Numbers:
        """v of a tie at r: by shares of all lines through u, in [0, 1] of concave ones, outside (0, 1) of convex ones,
        which name a side; on all leaves of the tie the convex lines have their sides."""
        lines, u = self.cover.lines, self.cover.ties[number].u
        w, v = [self.zero] * len(lines.rows), [self.zero] * lines.d
        for c, a, t_k in zip(lines.line, lines.multiple, t, strict=True):
            if c >= 0:
                w[c] += t_k * Fraction(abs(a), lines.scale)
                v = [x + t_k * Fraction(min(a, 0) * p, lines.scale) for x, p in zip(v, lines.rows[c], strict=True)]
        side = [(h > 0) - (h < 0) for h in lines.heights(u)]
        through = [c for c, s in enumerate(side) if not s]
        share = dict(zip(through, self.read(node, len(through)), strict=True))
        for c, s in share.items():
            if s < 0 or s > 1 if w[c] < 0 else w[c] > 0 and 0 < s < 1:
                raise node.reject("shares in [0, 1] of concave lines, outside (0, 1) of convex ones")
        convex = [c for c, x in enumerate(w) if x > 0]
        sides = [1 if c in share and share[c] >= 1 else s or -1 for c, s in enumerate(side)]
        node.require(self.cover.inside(xi, number, sides, convex), "leaves on the sides of the convex lines")
        for c, s in enumerate(side):
            part = share[c] if c in share else max(s, 0)
            v = [x + w[c] * part * p for x, p in zip(v, lines.rows[c], strict=True)]
        return v
