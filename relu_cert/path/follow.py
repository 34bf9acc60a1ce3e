"""An interval of lambdas, covered by pieces on which the optimal networks are proved to move continuously.

Where a smooth branch ends (a neuron enters or leaves, a face changes) a still piece crosses the event; the smooth
pieces end beside it. Where the residual is orthogonal to a subspace (the network may not be unique) the pieces are
lifted, and a still piece crosses the lambda where that sets in. What is too wide is bisected; what stays open is
listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import log

import numpy as np

from relu_cert.clock import require_time, stopped
from relu_cert.errors import Late, Unsettled
from relu_cert.exact import Matrix, dot, sqrt_upper
from relu_cert.path.build import DEGREE, Dependent, Unmatched, beside, build, continued, events, solved, through
from relu_cert.path.candidates import columns_seen
from relu_cert.path.lifted import build_even, build_lifted, lifted_branch
from relu_cert.path.onset_build import build_onset, locate
from relu_cert.path.pieces import Gap, PathPieces, Piece
from relu_cert.path.tube import BranchPoint, FollowedBranch, Refused
from relu_cert.path.unlisted import Entered, Training, trained
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import (
    MOST_RELATED,
    data_of,
    equal_entries,
    independent,
    integer_relations,
    orthogonal_rows,
)
from relu_cert.prove.facts import LambdaMax
from relu_cert.solve import FloatProblem, Solution, solve
from relu_cert.solve.prepare import Floats

CHUNK = Fraction(1, 4)  # the relative width at which the search begins
STILL = tuple(Fraction(1, 2**k) for k in (18, 24, 32))  # half widths of still pieces, relative
LIFTED_STILL = tuple(Fraction(1, 2**k) for k in (21, 24, 26, 28, 32))  # of lifted ones: what is beside them is nearer
ONSET = tuple(Fraction(1, 2**k) for k in (10, 12, 13, 14, 15, 16, 18, 20, 24, 32))  # the same for onsets
POINT = Fraction(1, 2**44)  # the half width of a still piece that stands for a point
NARROW = Fraction(1, 2**26)  # nothing smaller is tried
DOUBTFUL = Fraction(1, 2**7)  # from here on a point is settled before what is around it is bisected
GAPS = 4  # so many times as wide as a gap is what is tried after it, and not bisected: there may be many
WHOLE = 2  # after so many steps that were not halved the next one is wider
TRIES = 2000  # after so many, what is refused and doubtful is a gap: no interval is worth hours
LOOKED_AT = 16  # gaps, at most, at which a second look is taken
TOLD = 100  # parts in which progress is told
CLOSE = Fraction(1, 2**26)  # how near floats look for the lambda at which s becomes orthogonal to more, relative
SEEMS_ZERO = 1e-7  # relative; a wrong proposal costs time, never a verdict
SHARES = (0.03, 0.11, 0.29, 0.53)  # of log lambda: where it is looked for entries of s that stay equal
SEEMS_EQUAL = 1e-8  # relative
MOST_SYMMETRIC = 100  # rows: among more, equal entries are those of rows that are there twice, and cost n^3
FAR = 0.01  # the same for what is surely not 0 nearby

LATE = "the limit of time was reached"

Told = Callable[[int, int], None]


def follow_path(
    problem: Problem,
    floats: FloatProblem | Training,
    largest: LambdaMax,
    lo: Fraction,
    hi: Fraction,
    told: Told = lambda done, total: None,
) -> PathPieces:
    """Pieces and gaps that cover [lo, hi] up to lambda_max; lo < hi."""
    if not 0 < lo < hi:
        raise ValueError("an interval of lambdas has 0 < lo < hi")
    if not is_known(largest):
        return PathPieces(lo, hi, (), (Gap(lo, hi, "lambda_max is not known"),))
    top = hi
    if hi * hi >= largest.squared:
        root = sqrt_upper(largest.squared, 64)
        top = min(hi, root + root / 2**24) if root > 0 else hi
    if lo * lo >= largest.squared:
        return PathPieces(lo, hi, (), ())
    search = _Search(problem, floats, told, (1 / top, 1 / lo))
    search.prove_between(*search.etas)
    pieces, gaps = search.pieces, list(_joined(sorted(search.gaps, key=lambda gap: gap.lo)))
    if len(gaps) <= LOOKED_AT and not stopped():  # a fresh start, from other points, often settles what is left
        again = [_Search(problem, floats, lambda done, total: None, (1 / gap.hi, 1 / gap.lo)) for gap in gaps]
        for one in again:
            one.prove_between(*one.etas)
        pieces, gaps = [p for one in (search, *again) for p in one.pieces], [g for one in again for g in one.gaps]
    return PathPieces(
        lo, hi, tuple(sorted(pieces, key=lambda piece: piece.lo)), _joined(sorted(gaps, key=lambda g: g.lo))
    )


@dataclass
class _Search:
    """The work at one cover: eta ascends, warm starts follow it."""

    problem: Problem
    floats: FloatProblem | Training
    told: Told
    etas: tuple[Fraction, Fraction]
    pieces: list[Piece] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    warm: Solution | None = None
    last: FollowedBranch | None = None
    used: FollowedBranch | None = None
    lifts: dict[Fraction, Matrix] = field(default_factory=dict)
    known: dict[Fraction, bool] = field(default_factory=dict)
    refused: set[tuple[Fraction | str, ...]] = field(default_factory=set)  # ends of still pieces, and whether even
    tried: int = 0
    narrow: Fraction = NARROW
    even: bool = False  # whether the last piece is

    def prove_between(self, a: Fraction, b: Fraction) -> None:
        """[a, b] in pieces and gaps, in steps as wide as the last one, or wider after some that were not halved."""
        begin, end = self.etas
        width, whole = CHUNK, 0
        while a < b:
            if stopped():
                self.gaps.append(Gap(1 / b, 1 / a, LATE))
                return
            self.told(round(TOLD * log(a / begin) / log(end / begin)), TOLD)
            count, goal = len(self.pieces), min(b, _short(a * (1 + width)))
            reached = self.step(a, goal)
            self.narrow = NARROW
            if len(self.pieces) == count and reached / a - 1 < DOUBTFUL:  # a gap: the next one may be wider
                width = min(DOUBTFUL, GAPS * (reached / a - 1))
                self.narrow = 2 * width
            elif all(len(piece.s) > 1 for piece in self.pieces[count:]):  # no event was crossed
                whole = whole + 1 if reached == goal else 0
                width = min(CHUNK, (1 + whole // WHOLE) * (reached / a - 1))
            a = reached

    def step(self, a: Fraction, b: Fraction) -> Fraction:
        """Pieces, or a gap, from a as far as it goes towards b: how far that is; to b where time is over."""
        try:
            require_time()
            return self.tried_step(a, b)
        except Late:
            self.gaps.append(Gap(1 / b, 1 / a, LATE))
            return b

    def tried_step(self, a: Fraction, b: Fraction) -> Fraction:
        """The same; Late while nothing is written where time is over."""
        self.tried += 1
        reason, apart, dependent = "", False, False
        taus: list[tuple[FollowedBranch, float]] = []
        try:
            near = self.at((a + b) / 2, (b - a) / 2)
            apart = self.far_from_orthogonal(near.series.s[:, 0])
            try:
                try:
                    piece = self.around(a, b, near, even=True) if self.even else self.built(a, b, near)
                except Entered as why:
                    if not why.before:
                        raise
                    near = self.branched(self.solved((a + b) / 2), (b - a) / 2)  # the branch had missed an event
                    piece = self.built(a, b, near)
                self.pieces.append(piece)
                self.last, self.even = self.used, piece.even is not None
                return b
            except Refused as why:
                reason, taus = str(why), [(why.branch or near, tau) for tau in events(why)]
        except Unsettled as why:
            reason, self.last, dependent = str(why), None, isinstance(why, Dependent)
        cut = self.event(a, b, taus, even=self.even) or (None if apart else self.onset(a, b))
        if cut is None and not self.even and (self.symmetric or dependent):
            try:
                self.pieces.append(self.evenly(a, b))
                self.last, self.even = self.used, True
                return b
            except Refused as why:
                if self.used is not None:
                    cut = self.event(a, b, [(self.used, tau) for tau in events(why)], even=True)
            except Unsettled:
                pass
        if cut is None and not self.even:
            try:
                self.pieces.append(self.related(a, b))
                self.last = self.used
                return b
            except Unsettled:
                pass
        if self.even:  # beyond an event it may be an ordinary one
            self.last, self.even = None, False
        if cut is not None:
            self.prove_between(a, cut[0])
            return cut[1]
        if taus:  # the branch may have gone on beyond an event that it did not see
            self.last = None
        middle = _short((a + b) / 2)
        if b - a <= self.narrow * a or (b - a <= DOUBTFUL * a and not self.promising(a, middle, b)):
            if self.last is not None:
                self.last = None
                return self.step(a, b)
            self.gaps.append(Gap(1 / b, 1 / a, reason or "the piece is too narrow"))
            return b
        return self.step(a, middle)

    def built(self, a: Fraction, b: Fraction, near: FollowedBranch) -> Piece:
        """The piece, lifted or plain as the branch is, or else the other way; or Unsettled."""
        try:
            piece = self.around(a, b, near)
        except Entered:
            raise
        except Unsettled as why:
            return self.otherwise(a, b, near, why)
        if not near.lift or piece.dimension:
            return piece
        try:  # without a lift all neurons may still be independent, and a plain piece says more
            return self.around(a, b, self.other(a, b, near))
        except Unsettled:
            return piece

    def around(self, a: Fraction, b: Fraction, near: FollowedBranch, *, even: bool = False) -> Piece:
        """The piece around a branch."""
        make = build_even if even else build_lifted if near.lift else build
        self.used = near
        return make(self.problem, self.floats, 1 / b, 1 / a, near)

    def evenly(self, a: Fraction, b: Fraction, degree: int = DEGREE) -> Piece:
        """The piece on which neurons that mirror each other have equal weights; or Unsettled."""
        self.used = None
        near = self.branched(self.solved((a + b) / 2), (b - a) / 2, degree, self.symmetric)
        return self.around(a, b, near, even=True)

    def related(self, a: Fraction, b: Fraction) -> Piece:
        """The piece with a lift of all integer relations that s seems to have from a to b; or Unsettled."""
        if self.problem.kind != "relu" or self.problem.n > MOST_RELATED:
            raise Unsettled("relations are looked for in networks of few points")
        point = self.solved((a + b) / 2)
        lift = independent((*self.lifts[point.eta], *integer_relations([point.s, self.solved(b).s])))
        if len(lift) == len(self.lifts[point.eta]):
            raise Unsettled("the residual has no relations")
        return self.around(a, b, self.branched(point, (b - a) / 2, DEGREE, lift))

    def other(self, a: Fraction, b: Fraction, near: FollowedBranch) -> FollowedBranch:
        """The plain branch where this one is lifted, and the other way round; Unsettled where there is no lift."""
        point = self.solved((a + b) / 2)
        if near.lift:
            return through(self.floats, point, near.h, _degree(near))
        if not self.lifts[point.eta]:
            raise Unsettled("the residual is not orthogonal to a subspace")
        return self.branched(point, near.h, _degree(near))

    def otherwise(self, a: Fraction, b: Fraction, near: FollowedBranch, first: Unsettled) -> Piece:
        """The piece without a lift where the lifted one was refused, or with one; the events are those of a plain
        branch, if it has some."""
        if _degree(near) and isinstance(first, Refused) and events(first):
            raise first
        if not near.lift and not self.orthogonal(near.series.s[:, 0]):  # so there is no other way, and no solve for it
            raise first
        try:
            other = self.other(a, b, near)
            return self.around(a, b, other)
        except Refused as why:
            if other.lift or not events(why):
                raise first from None
            why.branch = other
            raise
        except Unsettled:
            raise first from None

    def promising(self, *etas: Fraction) -> bool:
        """Whether one of these is settled, and there has been little work so far."""
        return self.tried <= TRIES and any(self.settled(eta) for eta in etas)

    def settled(self, eta: Fraction) -> bool:
        """Whether a still piece, as narrow as they come, settles this eta."""
        if eta not in self.known:
            self.known[eta] = self.still(eta - POINT * eta, eta + POINT * eta) is not None
        return self.known[eta]

    def still(self, left: Fraction, right: Fraction) -> Piece | None:
        """A still piece, or none; what was refused once is not tried again."""
        if (left, right) in self.refused:
            return None
        try:
            point = self.solved((left + right) / 2)
            return self.built(left, right, self.branched(point, (right - left) / 2, 0))
        except Unsettled:
            self.refused.add((left, right))
            return None

    def solved(self, eta: Fraction) -> BranchPoint:
        """The solution at eta; what it seems to be orthogonal to is remembered. Late where time is over."""
        require_time()
        point = solved(self.floats, eta, self.warm)
        self.warm = point.solution
        self.lifts[eta] = self.orthogonal(point.s)
        return point

    def orthogonal(self, s: Floats) -> Matrix:
        """What s seems to be orthogonal to; for ReLU the range of Z or nothing."""
        if self.problem.kind != "relu":
            fitted, ranges = orthogonal_rows(self.problem, s, SEEMS_ZERO)
            return independent((*fitted, *ranges))
        return self.rows[1] if self.slope(s) <= SEEMS_ZERO else ()

    def slope(self, s: Floats) -> float:
        """|Z's| for ReLU, relative."""
        Z = self.rows[0]
        return float(np.linalg.norm(Z.T @ s) / (np.linalg.norm(s) * np.linalg.norm(Z) or 1.0))

    def far_from_orthogonal(self, s: Floats) -> bool:
        """Whether it is too early to look for an onset: s moves continuously, so that near to one it is not far."""
        return self.problem.kind == "relu" and self.slope(s) > FAR

    @cached_property
    def symmetric(self) -> Matrix:
        """e_j - e_k or e_j + e_k for entries of s that seem to be equal or opposite on the whole path."""
        if self.problem.kind != "relu" or self.problem.n > MOST_SYMMETRIC:
            return ()
        a, b = map(float, self.etas)
        points = [solved(self.floats, Fraction(a * (b / a) ** share), None).s for share in SHARES]
        mixed = np.sum([(i + 1) * s / np.linalg.norm(s) for i, s in enumerate(points)], axis=0)
        found = equal_entries(mixed, SEEMS_EQUAL)
        return () if any(dot(row, self.problem.y) for row in found) else found

    @cached_property
    def rows(self) -> tuple[Floats, Matrix]:
        """Z in floats, and a basis of its columns."""
        Z = data_of(self.problem)
        if self.problem.network is not None:
            Z = tuple(zip(*columns_seen(self.problem), strict=True))
        return np.array([[float(x) for x in z] for z in Z]), independent(tuple(zip(*Z, strict=True)))

    def lift(self, eta: Fraction) -> Matrix:
        """What s(eta) seems to be orthogonal to."""
        if eta not in self.lifts:
            self.solved(eta)
        return self.lifts[eta]

    def branched(
        self, point: BranchPoint, h: Fraction, degree: int = DEGREE, lift: Matrix | None = None
    ) -> FollowedBranch:
        """The branch through a point, lifted if that is asked for, or seems right."""
        lift = self.lifts[point.eta] if lift is None else lift
        if lift:
            return lifted_branch(self.problem, self.floats, point, lift, h, degree)
        return through(self.floats, point, h, degree)

    def at(self, eta: Fraction, h: Fraction) -> FollowedBranch:
        """The branch at eta: the last one continued, or solved afresh."""
        if self.last is not None and (near := continued(self.floats, self.last, eta, h)) is not None:
            return near
        return self.branched(self.solved(eta), h)

    def onset(self, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction] | None:
        """A still piece across an eta in [a, b] where s becomes, or ceases to be, orthogonal to more: its ends."""
        if not _nested(self.lift(a), self.lift(b)):
            return None
        left, right = a, b
        while right - left > CLOSE * left:
            middle = _short((left + right) / 2)
            if not left < middle < right:
                break
            if self.lift(middle) == self.lift(a):
                left = middle
            elif self.lift(middle) == self.lift(b):
                right = middle
            else:
                return None
        smaller, larger = sorted((self.lift(a), self.lift(b)), key=len)
        point = self.solved(left if self.lift(left) == larger else right)
        try:
            near = lifted_branch(self.problem, self.floats, point, larger, Fraction(0), 0)
            eta = _short(locate(self.problem, self.floats, near, smaller), 60)
        except Unsettled:
            return None
        for make, widths in ((self.before, STILL), (self.across, ONSET)):
            for width in widths:
                ends = max(a, _short(eta - width * eta)), min(b, _short(eta + width * eta))
                if ends[0] < ends[1] and (piece := make(ends, point, smaller, larger)) is not None:
                    self.pieces.append(piece)
                    return ends
        return None

    def before(
        self, ends: tuple[Fraction, Fraction], point: BranchPoint, smaller: Matrix, larger: Matrix
    ) -> Piece | None:
        """A still piece of the smaller lift across an onset of the larger one: where it is enough, it proves more."""
        try:
            return self.built(*ends, self.branched(self.solved((ends[0] + ends[1]) / 2), _half(ends), 0, smaller))
        except Unsettled:
            return None

    def across(
        self, ends: tuple[Fraction, Fraction], point: BranchPoint, smaller: Matrix, larger: Matrix
    ) -> Piece | None:
        """A still piece across an onset."""
        try:
            near = self.branched(replace(point, eta=(ends[0] + ends[1]) / 2), _half(ends), 0, larger)
            return build_onset(self.problem, self.floats, 1 / ends[1], 1 / ends[0], near, smaller)
        except Unsettled:
            return None

    def event(
        self, a: Fraction, b: Fraction, taus: Sequence[tuple[FollowedBranch, float]], *, even: bool = False
    ) -> tuple[Fraction, Fraction] | None:
        """A still piece across an event inside [a, b], as wide as it can be: its ends."""
        for near, tau in taus[:2]:
            widths = LIFTED_STILL if near.lift else STILL[isinstance(self.floats, Training) :]  # covers: rarely wide
            eta = near.eta + near.h * Fraction(tau)
            for still in (self.across_evenly,) if even else (self.aside, self.across_event):
                try:
                    tries = (still(a, b, near, tau, _short(width * eta)) for width in widths)
                    piece = next((one for one in tries if one is not None), None)
                except Unmatched:
                    continue
                if piece is not None:
                    self.pieces.append(piece)
                    return 1 / piece.hi, 1 / piece.lo
        return None

    def aside(self, a: Fraction, b: Fraction, near: FollowedBranch, tau: float, h: Fraction) -> Piece | None:
        """A still piece across an event of a branch, its centre on the side where there are fewer neurons."""
        found = beside(self.floats, near, tau, h)
        if found is None:
            return None
        left, right = _short(found.eta - h), _short(found.eta + h)
        if not a <= left < right <= b:
            return None
        try:
            return self.built(left, right, replace(found, eta=(left + right) / 2, h=(right - left) / 2))
        except Unmatched:
            raise
        except Unsettled:
            return None

    def across_event(self, a: Fraction, b: Fraction, near: FollowedBranch, tau: float, h: Fraction) -> Piece | None:
        """The same from a solution in the middle."""
        eta = _short(near.eta + near.h * Fraction(tau))
        left, right = max(a, _short(eta - h)), min(b, _short(eta + h))
        return self.still(left, right) if left < right else None

    def across_evenly(self, a: Fraction, b: Fraction, near: FollowedBranch, tau: float, h: Fraction) -> Piece | None:
        """The same, where neurons that mirror each other have equal weights."""
        eta = _short(near.eta + near.h * Fraction(tau))
        left, right = max(a, _short(eta - h)), min(b, _short(eta + h))
        if left >= right or (left, right, "even") in self.refused:
            return None
        try:
            return self.evenly(left, right, 0)
        except Unsettled:
            self.refused.add((left, right, "even"))
            return None


def is_known(largest: LambdaMax) -> bool:
    """Whether lambda_max is known, or enclosed so narrowly that a still piece crosses the interval."""
    return largest.least is None or largest.squared <= largest.least * (1 + NARROW)


def _degree(near: FollowedBranch) -> int:
    return int(near.series.s.shape[1]) - 1


def _half(ends: tuple[Fraction, Fraction]) -> Fraction:
    return (ends[1] - ends[0]) / 2


def _nested(one: Matrix, other: Matrix) -> bool:
    """Whether one lift is a part of the other, and not the same."""
    smaller, larger = sorted((one, other), key=len)
    return len(smaller) < len(larger) == len(independent((*larger, *smaller)))


def _short(eta: Fraction, bits: int = 40) -> Fraction:
    """eta to about so many bits."""
    exponent = eta.numerator.bit_length() - eta.denominator.bit_length()
    unit = Fraction(2) ** (exponent - bits)
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


POINTS = 13
ACTIVE = 1e-7  # of the largest weight: what counts as a neuron


@dataclass(frozen=True)
class Drafted:
    """What floats say at one lambda: nothing of it is proved."""

    lam: float
    objective: float
    width: int


def draft(floats: FloatProblem | Training, lo: Fraction, hi: Fraction) -> Iterator[Drafted]:
    """From hi down to lo, in equal ratios."""
    warm: Solution | None = None
    for lam in np.geomspace(float(hi), float(lo), POINTS).tolist():
        if stopped():
            return
        if isinstance(floats, Training):
            warm = trained(floats, lam, warm)[0]
        else:
            warm = solve(floats, lam, warm=warm, tol=1e-9)
        sizes = [float(np.linalg.norm(neuron.w)) for neuron in warm.neurons]
        yield Drafted(lam, warm.primal, sum(size > ACTIVE * max(sizes) for size in sizes))
