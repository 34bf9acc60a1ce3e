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


def planted(problem: dict[str, Any], theta: str, bounds: str, primal: dict[str, Any] | None = None) -> dict[str, Any]:
    """`square` with other data, another dual point and optimum, whose F(u) is the same; keys of `primal` besides."""
    found = square()
    found["problem"] |= problem
    found["facts"]["primal"] |= primal or {}
    found["facts"]["cover"]["theta"] = theta
    found["facts"]["value"] |= {"lower": bounds, "upper": bounds}
    return found


def bag(scale: str, *rows: int) -> dict[str, Any]:
    """Rows that are there once."""
    return {"scale": scale, "rows": list(rows), "times": [1] * len(rows)}


def in_bags() -> dict[str, Any]:
    """P = [[1, 0], [1, 1]], Theta = [[1, -1], [0, 1]]: P'Theta = I, and p* = 1/2 |Theta|^2 + 4; windows of length 2."""
    bags = [bag("1", 0), bag("1", 0, 1)]
    found = planted({"Y": ["3 0", "3 4"], "bags": bags}, "1 -1 0 1", "11/2")
    found["input"] |= {"targets": [4, 5], "conv": "1d:2:stride=2", "pool": "sum"}
    return found


def with_free_bias() -> dict[str, Any]:
    """A row of zeros with Theta = (-1, -1), so that Theta'1 = 0, and every output has (1, 2) more."""
    problem = {"Z": ["1 0", "0 1", "0 0"], "Y": ["4 3", "2 5", "0 1"], "free": ["output-bias"]}
    return planted(problem, "1 0 0 1 -1 -1", "6", {"free": "1 2"})


def with_decayed_bias() -> dict[str, Any]:
    """That row is appended for a bias that costs |c|^2 / 2: c = (1, 1)."""
    decayed = {"rho": "1", "roots": ["1"]}
    return planted({"Y": ["4 2", "2 4"], "decayed": decayed}, "1 0 0 1 -1 -1", "6", {"free": "1 1"})


def in_bags_with_decayed_bias() -> dict[str, Any]:
    """The same for bags: an empty one is appended, Theta = (-1, 0) there, and c = (1, 0)."""
    found = in_bags()
    found["problem"] |= {"Y": ["4 0", "4 4"], "decayed": {"rho": "1", "roots": ["1"]}}
    found["facts"]["primal"]["free"] = "1 0"
    found["facts"]["cover"]["theta"] = "1 -1 0 1 -1 0"
    found["facts"]["value"] |= {"lower": "6", "upper": "6"}
    return found


def with_skip() -> dict[str, Any]:
    """Rows e1, e2, -e1, -e2 with Theta = e1/2, e2/2, e1/2, e2/2: Z'Theta = 0, |F(u)| = |u|/2."""
    problem = {"lambda": "1/2", "Z": ["1 0", "0 1", "-1 0", "0 -1"], "Y": ["5/2 1", "1 3/2", "-1/2 0", "0 1/2"]}
    primal = {"neurons": [{"w": "1 1", "v": "1 1", "norm": "2"}], "free": "1 0 0 0"}
    return planted(problem | {"free": ["skip"]}, "1/2 0 0 1/2 1/2 0 0 1/2", "3/2", primal)
