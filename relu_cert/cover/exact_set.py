"""Optima that are known exactly, over a cover: where ties are exact no ball of residuals settles them.

A residual r, rational or in a field of algebraic numbers, is guessed from the many digits of a refined network. A cover
shows that r is dual feasible: one of its own, or, in a field, the cover of a theta near by, whose strict leaves hold
for r, too, with shares at r of the lines through its ties. A direction that ties at r is the v of one of the ties, with
|v| = lambda. If y - r is a non-negative combination of the outputs of these, then r is the optimal residual, and all
optimal networks are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq_mat, fmpz_mat

from relu_cert.cover.build import Exhausted, Missed, Stuck
from relu_cert.cover.lines import SignedLines, weights_of
from relu_cert.cover.prover import Covered, Prover
from relu_cert.cover.refine import RefineData, Unrefined, face_basis
from relu_cert.cover.ties import Untied, longest_squared, pieces_near, signs_at, tie_vector, tight_lines, unit
from relu_cert.evidence import Cover, Row, Tie
from relu_cert.exact import Vector, dot, norm_squared, sqrt_upper, to_fraction
from relu_cert.prove.exact_optimum import above, facts_at, guesses, set_in_field, tied_neurons
from relu_cert.prove.facts import Dual, Facts, FieldShares, Tied
from relu_cert.prove.field import Exact, Number, guessed_residual, product

DIGITS = 60  # of the residual of a refined network
FIELD_DIGITS, FIELD_BITS = 240, 900
SHORT = 10**6
HALF = Fraction(1, 2)
AROUND = 1e-9  # lines as near as this to a tie pass through it


def exact_facts(prover: Prover, facts: Facts, found: Covered) -> Facts | None:
    """The facts of a rational optimum near the network that was found, if there is one."""
    for r in guesses(prover.residual(found.neurons), DIGITS):
        weights = {xi: weights_of(prover.data.lines, r, xi) for xi in (1, -1)}
        try:
            cover = prover.cover_at(r, weights, _ties(prover, weights, found.cover.ties))
        except (Untied, Stuck, Missed, Exhausted):
            continue
        tied = _tied(prover, weights, cover, r)
        exact = facts_at(facts.problem, facts.lam, facts.lambda_max, facts.value.gap, Dual(r, cover), tied)
        if exact is not None:
            return exact
    return None


def _ties(prover: Prover, weights: dict[int, SignedLines], near: Sequence[Tie]) -> list[Tie]:
    """The ties of a cover near by, at the exact residual: with the best shares, which are rational."""
    found: list[Tie] = []
    for tie in near:
        pieces = [tie]
        if tie.shares is not None:
            pieces = pieces_near(prover.data, weights[tie.xi], tie.xi, unit(tie.u), AROUND)
        found += [t for t in pieces if not any(o.xi == t.xi and o.side == t.side for o in found)]
    return found


def _tied(prover: Prover, weights: dict[int, SignedLines], cover: Cover, r: Vector) -> list[Tied]:
    """The neurons that tie at r, in the order of the evidence."""
    Z, squared = prover.given.Z, prover.data.lam**2
    found: list[Tied] = []
    for xi in (1, -1):
        vectors = [tie_vector(prover.data, weights[xi], tie) for tie in cover.ties if tie.xi == xi]
        long = [v for v in vectors if norm_squared(v) == squared]
        found += [one for one in tied_neurons(Z, xi, long) if dot(r, one.q) == squared]
    return found


def algebraic_facts(prover: Prover, facts: Facts, found: Covered) -> Facts | None:
    """The facts with the optimal set at a residual in a field of algebraic numbers, if there is one."""
    problem, lam = facts.problem, facts.lam
    try:
        residual = prover.residual(prover.more_digits(found.neurons, FIELD_BITS))
    except (Unrefined, Exhausted):
        return None
    r = guessed_residual(problem.y, lam, residual, FIELD_DIGITS)
    if r is None or any(r_k and (r_k * t_k).sign() <= 0 for r_k, t_k in zip(r, found.theta, strict=True)):
        return None
    off = [r_k - t_k for r_k, t_k in zip(r, found.theta, strict=True)]
    moved = sqrt_upper(prover.data.size_squared * above(product(off, off).near(1024)), 64)
    tied, shares = list[Tied](), dict[int, Exact | None]()
    for xi in (1, -1):
        weights, vectors = weights_of(prover.data.lines, found.theta, xi), list[Exact]()
        at = _FieldWeights.of(weights, r, xi)
        for i, tie in enumerate(found.cover.ties):
            if tie.xi != xi:
                continue
            shares[i] = None
            if sqrt_upper(longest_squared(prover.data, weights, tie), 64) + moved >= lam:
                solved = at.solve(prover.data, tie)
                if solved is None:
                    return None
                shares[i], v = solved
                vectors += [v] if product(v, v) == lam**2 else []
        own = tied_neurons(prover.given.Z, xi, vectors)
        tied += [one for one in own if product(r, one.q) == lam**2]
    known = set_in_field(problem, r, tied, FieldShares(tuple(shares[i] for i in range(len(found.cover.ties)))))
    return None if known is None else replace(facts, optimal_set=known)


@dataclass(frozen=True)
class _FieldWeights:
    """The weights of the lines at a residual in a field, and c0."""

    weights: SignedLines
    w: Exact
    c0: Exact

    @classmethod
    def of(cls, weights: SignedLines, r: Sequence[Number], xi: int) -> _FieldWeights:
        """Those at r for one sign."""
        lines, zero = weights.lines, r[0] * 0
        w, c0 = [zero] * len(lines.rows), [zero] * lines.D
        for c, a, r_k in zip(lines.line, lines.multiple, r, strict=True):
            if c >= 0:
                w[c] = w[c] + r_k * Fraction(xi * abs(a), lines.scale)
                if a < 0:
                    c0 = [x + r_k * Fraction(xi * a * p, lines.scale) for x, p in zip(c0, lines.rows[c], strict=True)]
        return cls(weights, tuple(w), tuple(c0))

    def solve(self, data: RefineData, tie: Tie) -> tuple[Exact, Exact] | None:
        """Shares at r of all lines through u for which v is the projection of the gradient on the face, and v."""
        if tie.shares is None:
            return None
        rows, zero = data.lines.rows, self.c0[0] * 0
        high = signs_at(self.weights, tie.u)
        through = [c for c, h in enumerate(high) if not h]
        near = dict(zip(tight_lines(self.weights, tie), tie.shares, strict=True))
        v = list(self.c0)
        for c, h in enumerate(high):
            if h > 0:
                v = [x + self.w[c] * p for x, p in zip(v, rows[c], strict=True)]
        goal = [a - b for a, b in zip(_projected(face_basis(data, through), v), v, strict=True)]
        share: dict[int, Any] = {c: zero + Fraction(round(near.get(c, 0))) for c in through}
        loose = [c for c in through if c in near and near[c] not in (0, 1) and self.w[c]]
        chosen = list[int]()
        for c in sorted(loose, key=lambda c: abs(near[c] - HALF)):
            if fmpz_mat([list(rows[k]) for k in (*chosen, c)]).rank() > len(chosen):
                chosen.append(c)
            else:
                share[c] = zero + near[c].limit_denominator(SHORT)
        for c in through:
            if c not in chosen and share[c]:
                goal = [x - share[c] * self.w[c] * p for x, p in zip(goal, rows[c], strict=True)]
        for c, x in zip(chosen, _coordinates([rows[c] for c in chosen], goal), strict=True):
            share[c] = x / self.w[c]
        for c, s in share.items():
            v = [x + s * self.w[c] * p for x, p in zip(v, rows[c], strict=True)]
        return tuple(share[c] for c in through), tuple(v)


def _coordinates(rows: Sequence[Row], x: Sequence[Any]) -> list[Any]:
    """a with sum a_i rows_i nearest to x; the rows are independent."""
    if not rows:
        return []
    A = fmpq_mat(fmpz_mat([list(row) for row in rows]))
    return [product(x, list(map(to_fraction, row))) for row in (A * A.transpose()).solve(A).tolist()]


def _projected(basis: Sequence[Row], x: Sequence[Any]) -> list[Any]:
    """x projected on the span of the basis."""
    parts = _coordinates(basis, x)
    return [product(parts, [row[l] for row in basis]) if basis else x_l * 0 for l, x_l in enumerate(x)]
