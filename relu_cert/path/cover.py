"""An interval of lambdas, covered by pieces on which the optimal network is proved unique.

Where a smooth branch ends (a neuron enters or leaves, a face changes) a still piece crosses the event; the smooth
pieces end beside it. What is too wide is bisected; what stays open is listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from relu_cert.exact import sqrt_upper
from relu_cert.path.build import Branch, branch, build, continued, events
from relu_cert.path.model import Cover, Gap, Piece
from relu_cert.path.tube import Refused
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.facts import LambdaMax
from relu_cert.solve import FloatProblem, Solution

CHUNK = Fraction(1, 8)  # the relative width at which the search begins
STILL = tuple(Fraction(1, 2**k) for k in (12, 18, 24, 32))  # half widths of still pieces, relative
NARROW = Fraction(1, 2**30)  # nothing smaller is tried

Told = Callable[[int, int], None]


def cover(
    problem: Problem,
    floats: FloatProblem,
    largest: LambdaMax,
    lo: Fraction,
    hi: Fraction,
    told: Told = lambda done, total: None,
) -> Cover:
    """Pieces and gaps that cover [lo, hi] up to lambda_max; lo < hi."""
    if not 0 < lo < hi:
        raise ValueError("an interval of lambdas has 0 < lo < hi")
    top = hi
    if hi * hi >= largest.squared:
        root = sqrt_upper(largest.squared, 64)
        top = min(hi, root + root / 2**24) if root > 0 else hi
    if lo * lo >= largest.squared:
        return Cover(lo, hi, (), ())
    search = _Search(problem, floats, told, (1 / top, 1 / lo))
    search.all()
    pieces = sorted(search.pieces, key=lambda piece: piece.lo)
    gaps = sorted(search.gaps, key=lambda gap: gap.lo)
    return Cover(lo, hi, tuple(pieces), _joined(gaps))


@dataclass
class _Search:
    """The work at one cover: eta ascends, warm starts follow it."""

    problem: Problem
    floats: FloatProblem
    told: Told
    etas: tuple[Fraction, Fraction]
    pieces: list[Piece] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    warm: Solution | None = None
    last: Branch | None = None
    known: dict[Fraction, bool] = field(default_factory=dict)

    def all(self) -> None:
        """Chunks of a fixed relative width, from large lambda to small."""
        a, end = self.etas
        cuts = [a]
        while cuts[-1] < end:
            cuts.append(min(end, _short(cuts[-1] * (1 + CHUNK))))
        for i, (left, right) in enumerate(pairwise(cuts)):
            self.told(i, len(cuts) - 1)
            self.settle(left, right)

    def settle(self, a: Fraction, b: Fraction) -> None:
        """[a, b] in pieces, or a gap."""
        reason = ""
        try:
            near = self.at((a + b) / 2, (b - a) / 2)
            self.pieces.append(build(self.problem, self.floats, 1 / b, 1 / a, near))
            self.last = near
            return
        except Refused as why:
            reason = str(why)
            cut = self.event(a, b, near, events(why))
            if cut is not None:
                if a < cut[0]:
                    self.settle(a, cut[0])
                if cut[1] < b:
                    self.settle(cut[1], b)
                return
        except Unsettled as why:
            reason, self.last = str(why), None
        middle = _short((a + b) / 2)
        if b - a <= NARROW * a or not (self.settled(a) or self.settled(middle) or self.settled(b)):
            self.gaps.append(Gap(1 / b, 1 / a, reason or "the piece is too narrow"))
            return
        self.settle(a, middle)
        self.settle(middle, b)

    def settled(self, eta: Fraction) -> bool:
        """Whether a still piece, as narrow as they come, settles this eta."""
        if eta not in self.known:
            try:
                still = branch(self.floats, eta, STILL[-1] * eta, self.warm, 0)
                build(self.problem, self.floats, 1 / (eta + STILL[-1] * eta), 1 / (eta - STILL[-1] * eta), still)
                self.known[eta] = True
            except Unsettled:
                self.known[eta] = False
        return self.known[eta]

    def at(self, eta: Fraction, h: Fraction) -> Branch:
        """The branch at eta: the last one continued, or solved afresh."""
        if self.last is not None and (near := continued(self.floats, self.last, eta, h)) is not None:
            return near
        near = branch(self.floats, eta, h, self.warm)
        self.warm = near.solution
        return near

    def event(self, a: Fraction, b: Fraction, near: Branch, taus: list[float]) -> tuple[Fraction, Fraction] | None:
        """A still piece across an event inside [a, b], as wide as it can be: its ends."""
        for tau in taus[:2]:
            eta = _short(near.eta + near.h * Fraction(tau))
            for width in STILL:
                left, right = max(a, _short(eta - width * eta)), min(b, _short(eta + width * eta))
                if not left < right:
                    continue
                try:
                    still = branch(self.floats, (left + right) / 2, (right - left) / 2, self.warm, 0)
                    self.pieces.append(build(self.problem, self.floats, 1 / right, 1 / left, still))
                except Unsettled:
                    continue
                return left, right
        return None


def _short(eta: Fraction) -> Fraction:
    """eta to about forty bits."""
    exponent = eta.numerator.bit_length() - eta.denominator.bit_length()
    unit = Fraction(2) ** (exponent - 40)
    return round(eta / unit) * unit


def _joined(gaps: list[Gap]) -> tuple[Gap, ...]:
    """Neighbouring gaps as one."""
    result: list[Gap] = []
    for gap in gaps:
        if result and result[-1].hi == gap.lo:
            result[-1] = Gap(result[-1].lo, gap.hi, result[-1].reason)
        else:
            result.append(gap)
    return tuple(result)
