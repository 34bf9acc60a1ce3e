"""From blocks to an answer: the supports that matter, refutations first, then proofs, within a bounded effort.

Coalitions P that win on all null vectors of a support, sum_P |u_b| > sum_M |u_b|: found, tested, proved.

`Space` holds the null space in floats to propose, and exactly to decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb, lcm

import numpy as np
from numpy.typing import NDArray

from relu_cert.clock import require_time
from relu_cert.exact import primitive
from relu_cert.problem.problem import Problem
from relu_cert.prove.ggp.answers import (
    GGP,
    Answer,
    BlockVector,
    Crossing,
    FormWin,
    Proof,
    SupportProof,
    TooManyTerms,
    Unsettled,
    Win,
    Zero,
    root_sum_sign,
)
from relu_cert.prove.ggp.design import (
    ALL_SIGNS,
    Design,
    Probe,
    Signs,
    column_design,
    cone_win,
    crossing_of,
    group_design,
    norms_squared,
    probe,
    refute_columns,
    refute_gates,
    refute_kernels,
    refute_line,
    refute_samples,
    without_zeros,
)

Floats = NDArray[np.float64]

ITERATIONS, STARTS = 80, 12
TOUCHING = 1e-6  # a float ratio this close to 1 makes exact zeros worth a search
DENOMINATORS = (*range(1, 65), 100, 360, 1000, 10**4, 10**6, 10**9)
WEIGHT_SCALES = (1, 12, 64, 2**12, 2**24, 2**40)


@dataclass(frozen=True)
class Space:
    """The null space of a support: `basis` as floats, block by block (rows of B_b, u_b = B_b c, scaled together)."""

    found: Probe
    B: tuple[Floats, ...]

    @staticmethod
    def of(found: Probe) -> Space:
        """The float copy of the basis; every basis vector is scaled to length about 1."""
        scales = [max(abs(x) for part in u for x in part) for u in found.basis]
        stacks = [
            np.array([[float(Fraction(x, s)) for x in u[i]] for u, s in zip(found.basis, scales, strict=True)]).T
            for i in range(len(found.blocks))
        ]
        return Space(found, tuple(stacks))

    @property
    def scales(self) -> list[int]:
        """What each basis vector was divided by."""
        return [max(abs(x) for part in u for x in part) for u in self.found.basis]

    def coordinates(self, u: BlockVector) -> Floats:
        """c with u_b = B_b c for every block, up to a positive factor."""
        flat = [x for part in u for x in part]
        largest = max(map(abs, flat))
        target = np.array([float(Fraction(x, largest)) for x in flat])
        return np.asarray(np.linalg.lstsq(np.concatenate(self.B), target, rcond=None)[0], dtype=float)

    def vector(self, c: Floats, denominator: int) -> BlockVector | None:
        """The exact null vector whose coordinates are c / max|c|, rounded to fractions of bounded denominator."""
        largest = float(np.abs(c).max())
        parts = [
            Fraction(float(x / largest)).limit_denominator(denominator) / s for x, s in zip(c, self.scales, strict=True)
        ]
        q = lcm(*(x.denominator for x in parts))
        whole = primitive([int(x * q) for x in parts])
        if not any(whole):
            return None
        return tuple(
            tuple(sum(a * u[i][j] for a, u in zip(whole, self.found.basis, strict=True)) for j in range(len(B)))
            for i, B in enumerate(self.B)
        )


def winning_coalitions(found: Probe) -> list[tuple[int, ...]] | None:
    """The minimal P (places in the support) that win on all samples; None if the signs are too many to list.

    A single block that wins alone settles every choice of signs, however many there are.
    """
    count = len(found.blocks)
    shares = found.weights.min(axis=0)
    for place in range(count):
        if shares[place] > 0.5:
            return [(place,)]
    if count > ALL_SIGNS:
        return None
    inside = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    wins = np.all(found.weights @ inside.T > 0.5, axis=0)
    minimal = [
        P for P in np.flatnonzero(wins).tolist() if not any(P >> b & 1 and wins[P & ~(1 << b)] for b in range(count))
    ]
    if not (wins | wins[::-1]).all():
        return None
    return [tuple(b for b in range(count) if P >> b & 1) for P in minimal]


def least_ratio(space: Space, P: Sequence[int]) -> tuple[float, Floats]:
    """A local minimum of sum_P |u_b| / sum_M |u_b| over the null space, and where.

    The concave part is linearised and the convex part majorised by squares, so that a step is one linear solve;
    the ratio falls at every step, also towards points where blocks of P vanish.
    """
    M = [b for b in range(len(space.B)) if b not in P]
    best, where = np.inf, np.zeros(space.B[0].shape[1])
    shares = space.found.weights[:, list(P)].sum(axis=1)
    for start in np.argsort(shares)[:STARTS]:
        c = space.coordinates(space.found.samples[int(start)])
        for _ in range(ITERATIONS):
            require_time()
            value = _ratio(space, P, M, c)
            if value < best:
                best, where = value, c
            c = _step(space, P, M, c)
            if not np.isfinite(c).all() or not c.any():
                break
    return best, where


def _ratio(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> float:
    below = sum(float(np.linalg.norm(space.B[b] @ c)) for b in M)
    above = sum(float(np.linalg.norm(space.B[b] @ c)) for b in P)
    return above / below if below > 0 else np.inf


def _step(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> Floats:
    norms = [float(np.linalg.norm(B @ c)) for B in space.B]
    floor = 1e-9 * max(norms)
    H = sum(space.B[b].T @ space.B[b] / max(norms[b], floor) for b in P)
    gradient = sum(space.B[b].T @ (space.B[b] @ c) / max(norms[b], floor) for b in M)
    try:
        c = np.linalg.solve(np.asarray(H) + 1e-13 * np.trace(H) * np.eye(len(c)), np.asarray(gradient))
    except np.linalg.LinAlgError:
        return np.zeros_like(c)
    largest = np.abs(c).max()
    return c / largest if largest > 0 else c


def refute_coalition(space: Space, P: Sequence[int], ratio: float, c: Floats) -> Zero | Crossing | None:
    """An exact null vector near c on which P does not win, where the ratio leaves room for one."""
    if ratio > 1 + TOUCHING:
        return None
    found = space.found
    signs: Signs = tuple(1 if b in P else -1 for b in range(len(found.blocks)))
    positive = max(range(len(found.samples)), key=lambda i: float(found.weights[i] @ np.array(signs)))
    for denominator in DENOMINATORS:
        v = space.vector(c, denominator)
        if v is None:
            continue
        sign = root_sum_sign(signs, norms_squared(v))
        if sign == 0:
            return without_zeros(Zero(found.blocks, signs, v))
        crossing = crossing_of(found.blocks, signs, found.samples[positive], v) if sign < 0 else None
        if crossing is not None:
            return crossing
        try:
            zero = refute_line(found.blocks, v)
        except TooManyTerms:
            zero = None
        if zero is not None:
            return zero
    return None


def form_win(space: Space, P: Sequence[int], c: Floats) -> FormWin | None:
    """Weights t for which sum_P |u_b|^2 - sum_M |u_b|^2 / t_b is positive definite, tested exactly."""
    blocks = space.found.blocks
    M = [b for b in range(len(blocks)) if b not in P]
    for t in _proposed_weights(space, P, M, c):
        for scale in WEIGHT_SCALES:
            weights = [max(1, round(scale * x / max(t))) for x in t]
            if form_is_definite(space.found.basis, P, M, weights):
                shares = tuple(Fraction(w, sum(weights)) for w in weights)
                return FormWin(tuple(blocks[b] for b in P), shares)
    return None


def _proposed_weights(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> Iterator[list[float]]:
    """Norms of the blocks against the form of P; norms where the ratio is least; the optimum of the convex problem."""
    A = sum(space.B[b].T @ space.B[b] for b in P)
    try:
        root = np.linalg.inv(np.linalg.cholesky(np.asarray(A)))
    except np.linalg.LinAlgError:
        return
    mapped = [space.B[b] @ root.T for b in M]
    norms = [float(np.linalg.norm(B, 2)) for B in mapped]
    local = [float(np.linalg.norm(space.B[b] @ c)) for b in M]
    yield _positive(norms)
    yield _positive(local)
    yield _least_largest_eigenvalue(mapped, _positive(norms))


def _positive(t: Sequence[float]) -> list[float]:
    largest = max(t) or 1.0
    return [max(x, 1e-6 * largest) for x in t]


def _least_largest_eigenvalue(mapped: Sequence[Floats], t: Sequence[float]) -> list[float]:
    """t in the simplex that nearly minimises the largest eigenvalue of sum_b B_b'B_b / t_b (convex in t).

    Mirror descent on the exponent: the gradient at t is -(|B_b x| / t_b)^2 for the top eigenvector x.
    """
    current = np.array(t) / sum(t)
    best, kept = np.inf, current
    for step in range(400):
        total = sum(B.T @ B / x for B, x in zip(mapped, current, strict=True))
        values, vectors = np.linalg.eigh(np.asarray(total))
        if values[-1] < best:
            best, kept = float(values[-1]), current
        pull = np.array([float(np.linalg.norm(B @ vectors[:, -1])) for B in mapped]) ** 2 / current**2
        current = current * np.exp(pull / pull.max() / (2 + step**0.7))
        current = np.maximum(current / current.sum(), 1e-9)
    return [float(x) for x in kept]


def form_is_definite(basis: Sequence[BlockVector], P: Sequence[int], M: Sequence[int], weights: Sequence[int]) -> bool:
    """Whether sum_P |u_b|^2 - sum_M |u_b|^2 total / weight_b is positive definite on the span of the basis, exactly."""
    total, common = sum(weights), lcm(*weights)
    factors = dict.fromkeys(P, common) | {b: -total * (common // w) for b, w in zip(M, weights, strict=True)}
    form = [
        [
            sum(factor * sum(x * y for x, y in zip(u[b], v[b], strict=True)) for b, factor in factors.items())
            for v in basis
        ]
        for u in basis
    ]
    return is_definite(form)


def is_definite(form: Sequence[Sequence[int]]) -> bool:
    """Whether a symmetric integer matrix is positive definite: all leading minors are positive (Bareiss)."""
    rows = [list(row) for row in form]
    previous = 1
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot <= 0:
            return False
        for row in rows[k + 1 :]:
            head = row[k]
            for j in range(k + 1, len(row)):
                row[j] = (pivot * row[j] - head * pivot_row[j]) // previous
        previous = pivot
    return True


TIED = 1e-9


@dataclass(frozen=True)
class Effort:
    """Bounds on the work: all supports if there are at most `supports` (and, for columns, at most `sums` signed sums),
    else `tried` of them; `proofs` supports with two null vectors; blocks looked at one by one; nodes of a subdivision
    into cones; coalitions of one support."""

    supports: int = 50_000
    proofs: int = 60
    sums: int = 20_000_000
    tried: int = 40
    blocks: int = 400
    cuts: int = 6_000
    coalitions: int = 500


def position_facts(problem: Problem, effort: Effort | None = None) -> GGP:
    """Group general position and general position of the columns of a gated ReLU or direct problem."""
    if problem.network is not None:
        raise ValueError("blocks of a ReLU network come with their negatives: group general position never holds")
    effort = effort or Effort()
    by_group, by_column = group_design(problem), column_design(problem)
    groups = decide_position(by_group, effort)
    return GGP(groups, groups if by_group.blocks == by_column.blocks else decide_position(by_column, effort))


def decide_position(design: Design, effort: Effort | None = None) -> Answer:
    """Whether the blocks of a design are in group general position."""
    effort = effort or Effort()
    quick = refute_gates(design) or refute_kernels(design, effort.blocks)
    if quick is not None:
        return quick
    count = comb(len(design.blocks), design.m)
    whole = count <= effort.supports and (not design.singletons or count << design.m // 2 <= effort.sums)
    for support in _likely_supports(design, 1 if whole else effort.tried):
        refuted = refute_support(design, support)
        if refuted is not None:
            return refuted
    if not whole:
        return Unsettled(f"{count} supports of {design.m} blocks are too many to prove; no refutation was found")
    return _decide_all(design, effort)


def _decide_all(design: Design, effort: Effort) -> Answer:
    """The answer from every support of m blocks."""
    proofs: list[SupportProof] = []
    missing: list[str] = []
    for support in combinations(range(len(design.blocks)), design.m):
        answer = settle_support(design, support, effort)
        match answer:
            case Zero() | Crossing():
                return answer
            case SupportProof():
                proofs.append(answer)
            case Unsettled(reason):
                missing.append(reason)
            case None:
                continue
        if len(missing) >= effort.tried or len(proofs) > effort.proofs:
            missing.append(f"more than {effort.proofs} supports have two or more null vectors")
            break
    return Unsettled(missing[0]) if missing else Proof(tuple(proofs))


def refute_support(design: Design, support: Sequence[int]) -> Zero | Crossing | None:
    """A tie that null vectors of one support show at once."""
    basis = design.null_basis(support)
    if not basis:
        return None
    if len(basis) == 1:
        with suppress(TooManyTerms):
            return refute_line(support, basis[0])
        return None
    return refute_columns(support, basis) if design.singletons else refute_samples(probe(design, support, basis))


def settle_support(
    design: Design, support: Sequence[int], effort: Effort
) -> Zero | Crossing | SupportProof | Unsettled | None:
    """What the null vectors of one support say; None where there is at most one and none of its sums vanishes."""
    basis = design.null_basis(support)
    if not basis:
        return None
    if len(basis) == 1:
        try:
            return refute_line(support, basis[0])
        except TooManyTerms as error:
            return Unsettled(f"on blocks {_names(support)} a partition of {error} is too large to decide")
    if design.singletons:
        return refute_columns(support, basis)
    return _settle_space(design, tuple(support), basis, effort)


def _settle_space(
    design: Design, support: tuple[int, ...], basis: tuple[BlockVector, ...], effort: Effort
) -> Zero | Crossing | SupportProof | Unsettled:
    if len(support) == 1:  # one block: the sum is its norm
        return SupportProof(support, basis, (FormWin(support, ()),))
    found = probe(design, support, basis)
    refuted = refute_samples(found)
    if refuted is not None:
        return refuted
    coalitions = winning_coalitions(found)
    if coalitions is None or len(coalitions) > effort.coalitions:
        return Unsettled(f"on blocks {_names(support)} the signed sums are too many to prove one by one")
    space = Space.of(found)
    wins: list[Win] = []
    for P in coalitions:
        names = f"sum over {_names([support[b] for b in P])} of |u_b| against the rest of blocks {_names(support)}"
        ratio, c = least_ratio(space, P)
        refuted = refute_coalition(space, P, ratio, c)
        if refuted is not None:
            return refuted
        win: Win | None = form_win(space, P, c)
        if win is None and ratio > 1 + TIED:
            win = cone_win(support, basis, P, effort.cuts)
        if win is None:
            close = f"{names} comes within a ratio {ratio:.9g} of a tie"
            return Unsettled(f"{close}, and no proof of its sign was found")
        wins.append(win)
    return SupportProof(support, basis, tuple(wins))


def _likely_supports(design: Design, tried: int) -> Iterator[tuple[int, ...]]:
    """Supports worth a try before all are looked at: small ones that must have two null vectors, and pairs."""
    count = len(design.blocks)
    random = np.random.default_rng(2)
    for start in range(tried):
        order = range(count) if start == 0 else random.choice(count, size=design.m, replace=False).tolist()
        chosen, columns = [], 0
        for b in islice(order, design.m):
            chosen.append(b)
            columns += len(design.blocks[b])
            if columns > design.n + 1:
                break
        yield tuple(sorted(chosen))
    if tried > 1:
        yield from islice(combinations(range(count), 2), tried)


def _names(blocks: Sequence[int]) -> str:
    return ", ".join(map(str, blocks[:8])) + (", ..." if len(blocks) > 8 else "")
