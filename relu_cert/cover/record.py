"""Covers as they are written in certificates."""

from __future__ import annotations

import base64
import lzma
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from relu_cert.cover.evidence import Cover, Streams, Tie
from relu_cert.exact import rational
from relu_cert.prove.facts import Dual

NAMES = ("codes", "multipliers", "data", "rows")


def packed(raw: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(raw, preset=6)).decode()


def cover_record(cover: object) -> dict[str, Any]:
    """The evidence of a cover."""
    if not isinstance(cover, Cover):
        raise ValueError("where patterns are not listed a cover proves it")
    return {
        "basis": [_numbers(g) for g in cover.basis],
        "ties": [_tie(tie) for tie in cover.ties],
        "margin": cover.margin,
        "+": _side(cover.plus),
        "-": _side(cover.minus),
    }


def theta_record(dual: Dual) -> Any:
    """How theta follows from the network, or theta itself."""
    cover = dual.multipliers
    if isinstance(cover, Cover) and cover.tau is not None:
        moves = {"moves": [[k, rational(m)] for k, m in cover.moves]} if cover.moves else {}
        return {"tau": rational(cover.tau), "bits": cover.bits} | moves
    return _numbers(dual.theta)


def _numbers(v: Sequence[int | Fraction]) -> str:
    return " ".join(map(rational, v))


def _side(s: Streams) -> dict[str, str]:
    return {name: packed(getattr(s, name)) for name in NAMES}


def _tie(tie: Tie) -> dict[str, str]:
    shares = {} if tie.shares is None else {"shares": _numbers(tie.shares)}
    return {"sign": "+" if tie.xi > 0 else "-", "u": _numbers(tie.u)} | shares
