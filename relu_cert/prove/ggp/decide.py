"""From blocks to an answer: the supports that matter, refutations first, then proofs, within a bounded effort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from relu_cert.problem.model import Problem
from relu_cert.prove.ggp.coalition import Space, form_win, least_ratio, refute_coalition, winning_coalitions
from relu_cert.prove.ggp.cones import cone_win
from relu_cert.prove.ggp.design import Design, column_design, group_design
from relu_cert.prove.ggp.model import (
    GGP,
    Answer,
    BlockVector,
    Crossing,
    FormWin,
    Proof,
    SupportProof,
    Unsettled,
    Win,
    Zero,
)
from relu_cert.prove.ggp.refute import probe, refute_columns, refute_gates, refute_kernels, refute_line, refute_samples
from relu_cert.prove.ggp.roots import TooManyTerms

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
    if problem.model == "relu":
        raise ValueError("blocks of a ReLU network come with their negatives: group general position never holds")
    effort = effort or Effort()
    return GGP(decide_position(group_design(problem), effort), decide_position(column_design(problem), effort))


def decide_position(design: Design, effort: Effort | None = None) -> Answer:
    """Whether the blocks of a design are in group general position."""
    effort = effort or Effort()
    quick = refute_gates(design) or refute_kernels(design, effort.blocks)
    if quick is not None:
        return quick
    count = comb(len(design.blocks), design.m)
    whole = count <= effort.supports and (not design.singletons or count << design.m // 2 <= effort.sums)
    proofs: list[SupportProof] = []
    missing: list[str] = []
    supports = combinations(range(len(design.blocks)), design.m) if whole else _chosen_supports(design, effort)
    for support in supports:
        answer = settle_support(design, support, effort)
        match answer:
            case Zero() | Crossing():
                return answer
            case SupportProof():
                proofs.append(answer)
                if len(proofs) > effort.proofs:
                    return Unsettled(f"more than {effort.proofs} supports have two or more null vectors")
            case Unsettled(reason):
                missing.append(reason)
                if len(missing) >= effort.tried:
                    break
            case None:
                pass
    if not whole:
        return Unsettled(f"{count} supports of {design.m} blocks are too many to prove; no refutation was found")
    return Unsettled(missing[0]) if missing else Proof(tuple(proofs))


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
        return SupportProof(support, basis, (FormWin(support, (), 0),))
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


def _chosen_supports(design: Design, effort: Effort) -> Iterator[tuple[int, ...]]:
    """Supports worth a try where all are too many: pairs, the first blocks with two null vectors, random ones."""
    blocks = range(min(len(design.blocks), effort.blocks))
    yield from islice(combinations(blocks, 2), effort.tried)
    for size in range(3, design.m + 1):
        prefix = tuple(range(size))
        if sum(len(design.blocks[b]) for b in prefix) > design.n + 1 or size == design.m:
            yield prefix
            break
    random = np.random.default_rng(2)
    for _ in range(effort.tried):
        yield tuple(sorted(random.choice(len(design.blocks), size=design.m, replace=False).tolist()))


def _names(blocks: Sequence[int]) -> str:
    return ", ".join(map(str, blocks[:8])) + (", ..." if len(blocks) > 8 else "")
