"""Certificates of networks with several outputs that are made by hand, with exact truth."""

from __future__ import annotations

import base64
import copy
import lzma
from typing import Any

OBJECTIVE = "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|"
NAME = "relu_cert certificate"


def packed(raw: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(raw)).decode()


def tree(codes: bytes, multipliers: bytes = b"", shares: bytes = b"", forms: bytes = b"") -> dict[str, str]:
    """The four streams."""
    parts = {"codes": codes, "multipliers": multipliers, "shares": shares, "forms": forms}
    return {key: packed(raw) for key, raw in parts.items()}


def square() -> dict[str, Any]:
    """Z = I, Y = [[2, 1], [1, 2]] + lambda I, lambda = 1: Theta = I, all u >= 0 tie, and p* = 5."""
    neurons = [("1 1", "1 1", "2"), ("1 0", "1 0", "1"), ("0 1", "0 1", "1")]
    return {
        "format": NAME,
        "version": 2,
        "input": {
            "sha256": "0" * 64,
            "kind": "csv",
            "numbers": "decimal",
            "bias": False,
            "targets": [2, 3],
            "center": False,
            "delimiter": ",",
            "header": False,
        },
        "problem": {"model": "relu", "objective": OBJECTIVE, "lambda": "1", "Z": ["1 0", "0 1"], "Y": ["3 1", "1 3"]},
        "facts": {
            "primal": {"neurons": [{"w": w, "v": v, "norm": norm} for w, v, norm in neurons]},
            "cover": {
                "theta": "1 0 0 1",
                "proof": {"basis": ["1 0", "0 1"], "ties": [], "tree": tree(bytes([200] * 4), forms=bytes(4))},
            },
            "value": {"lower": "5", "upper": "5", "gap": "0"},
            "fit": {"center": None, "radius_squared": "0"},
        },
        "claims": [{"claim": "optimal", "verdict": "PROVED"}, {"claim": "fit", "verdict": "PROVED"}],
        "end": NAME,
    }


def changed(certificate: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The certificate with another value at one place."""
    found = copy.deepcopy(certificate)
    *way, last = path.split(".")
    at: Any = found
    for key in way:
        at = at[int(key)] if isinstance(at, list) else at[key]
    if isinstance(at, list):
        at[int(last)] = value
    else:
        at[last] = value
    return found
