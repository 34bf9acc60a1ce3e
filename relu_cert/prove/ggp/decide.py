"""From blocks to an answer: the supports that matter, refutations first, then proofs, within a bounded effort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

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
)
from relu_cert.prove.ggp.coalition import Space, form_win, least_ratio, refute_coalition, winning_coalitions
from relu_cert.prove.ggp.design import Design, column_design, cone_win, group_design
from relu_cert.prove.ggp.refute import probe, refute_columns, refute_gates, refute_kernels, refute_line, refute_samples

TOUCHING = 1e-9


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
        if win is None and ratio > 1 + TOUCHING:
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
