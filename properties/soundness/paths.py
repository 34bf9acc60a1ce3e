"""Questions about an interval of lambdas whose answers are known: lassos, one-feature networks, and planted jumps.

With blocks of one column the problem is a lasso, solved exactly for every lambda, and its optimal set is known on the
whole interval. Where one more block ties at a single lambda_0, by the equality case of an inequality, everything jumps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact import polytope
from properties.exact.lasso import solve_lasso
from properties.exact.lasso_path import piece_ends
from properties.exact.linalg import add, matmul, matvec, norm2, scale, transpose
from properties.exact.patterns import patterns
from properties.exact.problem import CGL, Block, residual
from properties.soundness.case import SILENT, Answer, Case, DirectCase, NetworkCase
from properties.soundness.held import Held, numbers, truths, wrong
from properties.soundness.truth import Truth, truth_at
from properties.strategies import orthogonal, planted_lasso, positive_rationals, rational_matrix, vector
from relu_cert.claims import decide
from relu_cert.commands import OF_A_PATH
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, optimum
from relu_cert.path.curve import breakpoints, curve
from relu_cert.path.follow import follow_path
from relu_cert.path.jumps import find_jump
from relu_cert.path.pieces import Piece
from relu_cert.prove.facts import PathFacts
from relu_cert.prove.listed import propose
from relu_cert.prove.prove import lambda_max
from relu_cert.solve import prepare

PATHS = ("continuous", "set-continuous", "min-norm-continuous")
SHORT = (Fraction(255, 256), Fraction(257, 256))


@dataclass(frozen=True)
class LassoPath:
    """A problem whose blocks have one column, on lo <= lambda <= hi."""

    case: Case
    lo: Fraction
    hi: Fraction

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """Where its linear pieces end."""
        return piece_ends(self.case.convex, self.lo, self.hi)

    def truth(self, lam: Fraction) -> Truth:
        """All that is true at one lambda."""
        p = self.case.convex.at(lam)
        return truth_at(p, residual(p, solve_lasso(p)), self.case.kind)


@dataclass(frozen=True)
class PlantedJump:
    """At lambda = `at` one more block ties, and only there; elsewhere the network is unique."""

    case: Case
    at: Fraction
    lo: Fraction
    hi: Fraction

    @property
    def known(self) -> dict[str, bool]:
        """At `at` the optimal weights are a segment, beside it one of its ends: nothing is continuous there."""
        return dict.fromkeys(PATHS, not self.lo <= self.at <= self.hi)


def at_lambda(case: Case, lam: Fraction) -> Case:
    """The case with another lambda."""
    return replace(case, lam=lam) if isinstance(case, NetworkCase) else replace(case, convex=case.convex.at(lam))


def ask_path(case: Case, lo: Fraction, hi: Fraction) -> Answer:
    """The certifier's answer about an interval, by the way of `python -m relu_cert path`."""
    problem = case.problem
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
    found = follow_path(problem, floats, largest, lo, hi, SILENT.advance)
    enclosed = [one for one in breakpoints(problem, largest, found) if one is not None]
    facts = optimum(problem, LambdaChoice(value=hi), DEFAULT_GAP, SILENT)
    jump = None if found.complete else find_jump(problem, floats, largest, facts, found)
    facts = replace(facts, path=PathFacts(found, curve(problem, found, enclosed), jump))
    return Answer(at_lambda(case, hi), facts, decide(facts, OF_A_PATH))


@dataclass(frozen=True)
class PathTruth:
    """The truth at the ends of the linear pieces, and inside each of them (at its middle)."""

    question: LassoPath
    ends: tuple[Fraction, ...]

    @cached_property
    def at_ends(self) -> tuple[Truth, ...]:
        """At the ends."""
        return tuple(map(self.question.truth, self.ends))

    @cached_property
    def inside(self) -> tuple[Truth, ...]:
        """Inside the pieces."""
        return tuple(self.question.truth((a + b) / 2) for a, b in pairwise(self.ends))

    @cached_property
    def known(self) -> dict[str, bool]:
        """Inside a piece the optimal weights are a polytope whose right side is linear in lambda, so they move
        continuously, up to its ends; there they are the polytope of the neurons that tie inside. At an end all is
        continuous iff the optimal weights there need no other neurons, on either side."""
        whole = shortest = True
        for i, here in enumerate(self.at_ends):
            for beside in self.inside[max(i - 1, 0) : i + 1]:
                tied = {b for blocks in beside.carriers for b in blocks}
                stay = {a for a, blocks in enumerate(here.carriers) if tied & set(blocks)}
                whole &= all(support <= stay for support in here.supports)
                least = here.shortest
                shortest &= least is None or set(polytope.support(least)) <= stay
        unique = all(truth.p_unique for truth in (*self.at_ends, *self.inside))
        return dict(zip(PATHS, (unique, whole, shortest), strict=True))

    def changes(self, lo: Fraction, hi: Fraction) -> bool:
        """Whether the neurons that the only network uses change at some lambda of [lo, hi]."""
        found = [i for i, end in enumerate(self.ends[1:-1]) if lo <= end <= hi]
        return any(self._active(i) != self._active(i + 1) for i in found)

    def _active(self, i: int) -> set[tuple[int, ...]]:
        return {self.inside[i].carriers[a] for a in self.inside[i].used}


def truth_of_path(question: LassoPath) -> PathTruth:
    """All that is known."""
    return PathTruth(question, question.ends)


def path_contradiction(answer: Answer, truth: PathTruth) -> str:
    """Where the answer contradicts the truth; "" if nowhere."""
    path = answer.facts.path
    if path is None or path.curve is None:
        return "the path is missing"
    drawn, found, jump = path.curve, path.cover, path.jump
    if jump is not None and truth.question.truth(jump.lam).p_unique:
        return f"a jump at {jump.lam}, where the network is unique"
    if wrong_ := wrong(answer.said, truth.known):
        return wrong_
    for one in drawn.breakpoints:
        if not truth.changes(one.lo, one.hi):
            return f"nothing changes between {float(one.lo)} and {float(one.hi)}"
    for constant in drawn.branches:
        piece: Piece = found.pieces[constant.piece]
        inside = [end for end in truth.ends[1:-1] if piece.lo < end < piece.hi]
        if any(truth.changes(end, end) for end in inside):
            return f"a neuron enters or leaves at one of {inside}, inside a smooth piece"
    for sample in drawn.samples:
        exact = truth.question.truth(sample.lam)
        if not sample.lower <= exact.value <= sample.upper:
            return f"p* = {exact.value} at lambda = {sample.lam} is not within its bounds"
        ours = sorted(sample.lam * x for x in exact.vertices[0] if x)
        theirs = sorted(sample.lam * x for x in sample.weights if x)
        if len(ours) != len(theirs):
            return f"the network at lambda = {sample.lam} has {len(ours)} neurons, not {len(theirs)}"
        radius = sample.radius or Fraction(0)
        if any(abs(a - b) > radius for a, b in zip(ours, theirs, strict=True)):
            return f"the weights at lambda = {sample.lam} are {ours}, not within {float(radius)} of {theirs}"
    return ""


def held_of_path(truth: PathTruth) -> Held:
    """What the claims are held against."""
    return truths(truth.known) | numbers(("breakpoints", "curve"))


@st.composite
def intervals(draw: DrawFn, around: Fraction) -> tuple[Fraction, Fraction]:
    """An interval that holds the number, or does not."""
    parts = [(Fraction(1, 2), Fraction(3, 2)), (Fraction(9, 10), Fraction(11, 10))]
    low, high = draw(st.sampled_from([*parts, (Fraction(1, 3), Fraction(9, 10)), (Fraction(101, 100), Fraction(5, 4))]))
    return low * around, high * around


@st.composite
def near(draw: DrawFn, jump: Fraction) -> tuple[Fraction, Fraction]:
    """A short interval that holds the jump, one that ends there, or a longer one beside it."""
    beside = [(Fraction(1, 2), Fraction(9, 10)), (Fraction(101, 100), Fraction(5, 4))]
    low, high = draw(st.sampled_from([SHORT, SHORT, (Fraction(1), SHORT[1]), *beside]))
    return low * jump, high * jump


@st.composite
def lasso_paths(draw: DrawFn) -> LassoPath:
    """A lasso with or without signs, or a network on one feature. Where the optimal weights are not unique the interval
    is a short one: a long one takes the certifier seconds."""
    found = draw(any_lasso_path())
    truth = truth_of_path(found)
    several = [t.convex.lam for t in (*truth.inside, *truth.at_ends) if not t.p_unique]
    if not several:
        return found
    at = draw(st.sampled_from(several))
    return replace(found, lo=SHORT[0] * at, hi=SHORT[1] * at)


@st.composite
def any_lasso_path(draw: DrawFn) -> LassoPath:
    """A lasso, or a network on one feature over all or some patterns; often around a planted tie."""
    model = draw(st.sampled_from(["direct", "direct", "relu", "gated"]))
    if model == "direct":
        planted = draw(planted_lasso())
        assume(len(planted.E) <= 4)
        lo, hi = draw(intervals(planted.problem.lam))
        return LassoPath(DirectCase(planted.problem), lo, hi)
    n = draw(st.integers(1, 4))
    Z, y = draw(rational_matrix(n, 1)), draw(vector(n))
    some = draw(st.booleans())
    chosen = None if not some else tuple(draw(st.lists(st.sampled_from(patterns(Z).all), min_size=1, unique=True)))
    lo, hi = draw(intervals(draw(positive_rationals(4, 2))))
    return LassoPath(NetworkCase(model, Z, y, hi, chosen), lo, hi)


SIDES = ((3, 4), (4, 3), (6, 8), (1, 2, 2), (2, 3, 6))


@st.composite
def group_jumps(draw: DrawFn) -> PlantedJump:
    """A block X = diag(c/s) and the column x = X c / lambda_0, |c| = lambda_0, at the residual s, rotated.

    On the path of the block alone r(lambda) has |X'r| = lambda, and x.r = (X's).(X'r) / lambda_0 <= lambda, with
    equality iff X'r is parallel to X's: r_k = y_k / (1 + alpha g_k), g = (c/s)^2, is parallel to s at lambda_0 only,
    unless all g_k are equal. So for every other lambda the block is alone, and at lambda_0 the column has its output.
    """
    c = draw(st.sampled_from(SIDES))
    s = tuple(Fraction(draw(st.integers(1, 4))) for _ in c)
    g = [Fraction(x, 1) / t for x, t in zip(c, s, strict=True)]
    assume(len(set(g)) > 1)
    lam, alpha = Fraction(round(sum(x * x for x in c) ** 0.5)), draw(positive_rationals(3, 4))
    X = tuple(tuple(g_i if i == j else Fraction(0) for j in range(len(g))) for i, g_i in enumerate(g))
    q = matvec(X, tuple(map(Fraction, c)))
    y = add(s, scale(alpha, q))
    Q, R = draw(orthogonal(len(c))), draw(orthogonal(len(c)))
    block = Block(matmul(matmul(Q, X), transpose(R)))
    column = Block(tuple((t,) for t in matvec(Q, scale(1 / lam, q))))
    blocks = (block, column) if draw(st.booleans()) else (column, block)
    lo, hi = draw(near(lam))
    return PlantedJump(DirectCase(CGL(blocks, matvec(Q, y), lam * lam)), lam, lo, hi)


@st.composite
def gated_jumps(draw: DrawFn) -> PlantedJump:
    """Rows a_1 e_1, a_2 e_2 and h orthogonal to v = (a_1 s_1, a_2 s_2), |v| = lambda_0, s_1 s_2 > 0; h has target 0.

    On the path of the pattern of the first two rows r_h = 0: the pattern with all three rows always ties with it, and
    its output is that of the other but for h.v(lambda) at h. So it has weight 0, unless h.v(lambda) = 0:
    v_i = a_i y_i / (1 + alpha a_i^2) is parallel to v at lambda_0 only, if |a_1| and |a_2| differ. All other patterns
    have shorter v.
    """
    v = tuple(map(Fraction, draw(st.sampled_from([(3, 4), (4, 3), (6, 8), (5, 12)]))))
    s = tuple(Fraction(draw(st.integers(1, 4))) for _ in v)
    a = tuple(x / t for x, t in zip(v, s, strict=True))
    assume(abs(a[0]) != abs(a[1]))
    h = scale(draw(st.sampled_from([Fraction(1), Fraction(-2), Fraction(1, 3)])), (v[1], -v[0]))
    lam, alpha = Fraction(round(float(norm2(v)) ** 0.5)), draw(positive_rationals(3, 4))
    Z = ((a[0], Fraction(0)), (Fraction(0), a[1]), h)
    y = (*add(s, scale(alpha, tuple(x * t for x, t in zip(a, v, strict=True)))), Fraction(0))
    sign, Q = Fraction(draw(st.sampled_from([1, -1]))), draw(orthogonal(2))
    order = draw(st.permutations(range(3)))
    rows = matmul(tuple(Z[k] for k in order), transpose(Q))
    lo, hi = draw(near(lam))
    case = NetworkCase("gated", rows, tuple(sign * y[k] for k in order), lam)
    return PlantedJump(case, lam, lo, hi)
