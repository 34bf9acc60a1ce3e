"""Large certificates: ten megabytes of patterns and multipliers are checked, and one wrong sign in them is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

import verify
from tests.verify.build.plain import OBJECTIVE, certificate, value_and_fit, words

pytestmark = pytest.mark.long

N = 200


def quadratics() -> Iterator[tuple[int, int, int]]:
    """One u for each cell of the rows (1, k, k^2), k < N: the quadratics with at most two sign changes, at odd 2k."""
    ends = range(1, 2 * N - 2, 2)
    for sign in (1, -1):
        yield sign, 0, 0
        yield from ((-sign * a, sign * 2, 0) for a in ends)
        yield from ((sign * a * b, -sign * 2 * (a + b), sign * 4) for a, b in combinations(ends, 2))


@cache
def large() -> tuple[bytes, int]:
    """A certificate for the rows (1, k, k^2), which are in general position, and its number of patterns."""
    Z = [(1, k, k * k) for k in range(N)]
    witnesses = list(quadratics())
    patterns = ["".join("01"[u[0] + k * (u[1] + k * u[2]) > 0] for k in range(N)) for u in witnesses]
    y = tuple(Fraction(1 + k % 5, 7) for k in range(N))
    group = {"flat": [], "circuits": [], "witnesses": [" ".join(map(str, u)) for u in witnesses]}
    entries = [[pattern, [], ""] for pattern in patterns]
    facts = {
        "patterns": {"columns": [0, 1, 2], "groups": [group], "covers": [patterns.index("1" * N)]},
        "primal": {"neurons": []},
        "dual": {"theta": words(y), "multipliers": {"+": entries, "-": [["0" * N, [], ""]]}},
        **value_and_fit(y, Fraction(10**7), (Fraction(0),) * N, Fraction(0), y),
    }
    rows = [" ".join(map(str, z)) for z in Z]
    problem = {"model": "relu", "objective": OBJECTIVE, "lambda": "10000000", "Z": rows, "y": words(y)}
    return json.dumps(certificate(problem, facts, b""), indent=1).encode(), len(patterns)


def test_ten_megabytes_are_checked() -> None:
    """Cover's number of patterns, a multiplier for each, more than ten million bytes: accepted."""
    text, patterns = large()
    assert len(text) > 10**7
    assert patterns == 2 * (1 + (N - 1) + (N - 1) * (N - 2) // 2)
    lines = verify.check(text)
    assert f"the listed patterns ({patterns}) are all of D_Z" in lines[0].proved
    assert [line.verdict for line in lines] == ["PROVED"] * 3


@pytest.mark.parametrize("part", ["witness", "multiplier", "missing"])
def test_one_wrong_place_in_ten_megabytes(part: str) -> None:
    """A witness negated, a base with one bit flipped, an entry left out: found among all the others."""
    tree = json.loads(large()[0])
    witnesses = tree["facts"]["patterns"]["groups"][0]["witnesses"]
    entries = tree["facts"]["dual"]["multipliers"]["+"]
    if part == "witness":
        witnesses[12_345] = " ".join(str(-int(x)) for x in witnesses[12_345].split())
    elif part == "multiplier":
        base = entries[12_345][0]
        entries[12_345][0] = base[:80] + "10"[int(base[80])] + base[81:]
    else:
        del entries[12_345]
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(tree).encode())
