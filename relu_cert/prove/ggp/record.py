"""The fact `ggp` as the certificate writes it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from relu_cert.exact import rational
from relu_cert.prove.ggp.answers import (
    GGP,
    Answer,
    BlockVector,
    ConeWin,
    Crossing,
    FormWin,
    Proof,
    SupportProof,
    Unsettled,
    Win,
    Zero,
)


def ggp_record(found: GGP) -> dict[str, Any]:
    """Both answers; null where nothing is settled."""
    return {"groups": _answer(found.groups), "columns": _answer(found.columns)}


def _answer(answer: Answer) -> dict[str, Any] | None:
    match answer:
        case Zero(blocks, signs, u):
            return {"zero": _rows(blocks, signs, u)}
        case Crossing(blocks, signs, u, v):
            return {"crossing": _rows(blocks, signs, u, v)}
        case Proof(supports):
            return {"supports": [_support(support) for support in supports]}
        case Unsettled():
            return None


def _rows(blocks: Iterable[int], signs: Iterable[int], *vectors: BlockVector) -> list[list[Any]]:
    """[block, sign, u_b] or [block, sign, u_b, v_b] for each block."""
    return [
        [b, "+" if s > 0 else "-", *(_vector(part) for part in parts)]
        for b, s, *parts in zip(blocks, signs, *vectors, strict=True)
    ]


def _support(proof: SupportProof) -> dict[str, Any]:
    return {
        "blocks": list(proof.blocks),
        "basis": [_vector(x for part in u for x in part) for u in proof.basis],
        "wins": [_win(win) for win in proof.wins],
    }


def _win(win: Win) -> dict[str, Any]:
    match win:
        case FormWin(plus, weights, total):
            return {"plus": list(plus), "t": _vector(Fraction(w, total) for w in weights)}
        case ConeWin(plus, cuts):
            return {"plus": list(plus), "cuts": [None if cut is None else list(cut) for cut in cuts]}


def _vector(entries: Iterable[Fraction | int]) -> str:
    return " ".join(map(rational, entries))
