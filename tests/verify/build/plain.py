"""Small valid certificates with their raw data, built by brute force from the format's page alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import isqrt
from typing import Any

from tests.verify.oracle import brute
from tests.verify.oracle.brute import Mat, Vec, combine, dot, mat, times, vec

NAME = "relu_cert certificate"
OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
SIGNS = {"+": 1, "-": -1}


@dataclass(frozen=True)
class Case:
    """A certificate that is valid, as a JSON tree, and the raw bytes it speaks of."""

    name: str
    certificate: dict[str, Any]
    raw: bytes

    @property
    def text(self) -> bytes:
        """The certificate's file."""
        return json.dumps(self.certificate).encode()


def word(x: Fraction) -> str:
    """A number in canonical form."""
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def words(u: Iterable[Fraction]) -> str:
    """A vector in canonical form."""
    return " ".join(map(word, u))


def root(x: Fraction) -> Fraction | None:
    """The square root if it is rational."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None


# ------------------------------------------------------------------------------------------------ patterns


@dataclass(frozen=True)
class Listing:
    """The fact `patterns` and what it lists."""

    fact: dict[str, Any]
    patterns: list[str]
    open_cells: int


def list_patterns(Z: Mat) -> Listing:
    """All of D_Z: for each pattern the face with the fewest zeros that has it, grouped by the zeros."""
    faces: dict[str, tuple[frozenset[int], Vec]] = {}
    for s, u in brute.covectors(Z).items():
        flat = brute.zeros(s)
        if brute.ones(s) not in faces or len(flat) < len(faces[brute.ones(s)][0]):
            faces[brute.ones(s)] = (flat, u)
    flats: dict[frozenset[int], dict[str, Vec]] = {}
    for pattern, (flat, u) in sorted(faces.items()):
        flats.setdefault(flat, {})[pattern] = u
    ordered = sorted(flats, key=lambda flat: (len(flat), sorted(flat)))
    groups, patterns, zeros = [], [], []
    for flat in ordered:
        circuits = brute.broken_circuits(brute.restricted(Z, sorted(flat)))
        witnesses = [words(u) for u in flats[flat].values()]
        groups.append({"flat": sorted(flat), "circuits": circuits, "witnesses": witnesses})
        patterns += list(flats[flat])
        zeros += [flat] * len(flats[flat])
    covers = choose_covers(Z, patterns, zeros, len(flats[ordered[0]]))
    fact = {"columns": list(range(len(Z[0]))), "groups": groups, "covers": covers}
    return Listing(fact, patterns, len(flats[ordered[0]]))


def choose_covers(Z: Mat, patterns: list[str], zeros: list[frozenset[int]], open_cells: int) -> list[int]:
    """Covers of all dependent flats, none of which can be left out."""
    all_ones = "1" * len(Z)
    if all_ones in patterns[:open_cells]:
        return [patterns.index(all_ones)]
    needed = [*brute.dependent_flats(Z), frozenset(range(len(Z)))]
    able = {
        k: {flat for flat in needed if zeros[k] <= flat and all(patterns[k][row] == "1" for row in flat)}
        for k in range(len(patterns))
    }
    chosen = sorted(able)
    for k in sorted(able):
        if all(any(flat in able[other] for other in chosen if other != k) for flat in needed):
            chosen.remove(k)
    return chosen


# ------------------------------------------------------------------------------------------------ multipliers


def piece_entries(Z: Mat, listing: Listing, t: Vec) -> tuple[list[list[Any]], Fraction, Vec]:
    """Exactly shortest multipliers of every piece; the largest |Z'm|^2 and the Z'm that has it."""
    entries: list[list[Any]] = []
    largest, direction = Fraction(-1), vec(*[0] * len(Z[0]))
    for base in brute.piece_bases(listing.patterns[: listing.open_cells], t):
        m = brute.shortest(Z, brute.box(t, base))
        default = [t_k if on == "1" else Fraction(0) for t_k, on in zip(t, base, strict=True)]
        rows = [k for k in range(len(Z)) if m[k] != default[k]]
        entries.append([base, rows, words(m[k] for k in rows)])
        v = combine(Z, m)
        if dot(v, v) > largest:
            largest, direction = dot(v, v), v
    return entries, largest, direction


def relu_multipliers(Z: Mat, listing: Listing, theta: Vec) -> tuple[dict[str, Any], Fraction, str, Vec]:
    """Multipliers for both signs; max_b |Proj(X_b'theta)|^2, and the sign and direction that attain it."""
    fact, best = {}, (Fraction(-1), "+", vec())
    for sign, xi in SIGNS.items():
        fact[sign], largest, v = piece_entries(Z, listing, tuple(xi * x for x in theta))
        if largest > best[0]:
            best = (largest, sign, v)
    return fact, *best


def masked(pattern: str, u: Sequence[Fraction]) -> Vec:
    """Du"""
    return tuple(x if on == "1" else Fraction(0) for on, x in zip(pattern, u, strict=True))


def gated_largest(Z: Mat, listing: Listing, theta: Vec) -> tuple[Fraction, str]:
    """max_D |Z'D theta|^2 and the first pattern that attains it."""
    sums = [combine(Z, masked(p, theta)) for p in listing.patterns]
    lengths = [dot(v, v) for v in sums]
    return max(lengths), listing.patterns[lengths.index(max(lengths))]


# ------------------------------------------------------------------------------------------------ whole certificates


def table(Z: Mat, y: Vec, header: bool = True) -> bytes:
    """CSV text with the target last."""
    names = ",".join([*(f"x{j}" for j in range(len(Z[0]))), "y"])
    rows = [",".join(map(word, (*row, y_k))) for row, y_k in zip(Z, y, strict=True)]
    return "\n".join([names] * header + rows + [""]).encode()


def certificate(problem: dict[str, Any], facts: dict[str, Any], raw: bytes, **csv: Any) -> dict[str, Any]:
    """The frame around a problem and its facts, with every claim that the facts prove."""
    claims = [name for name, fact in (("patterns-complete", "patterns"), ("optimal", "value"), ("fit", "fit"))]
    claims = [name for name in claims if {"patterns-complete": "patterns", "optimal": "value"}.get(name, name) in facts]
    digest = sha256(raw).hexdigest()
    source: dict[str, Any] = {"sha256": digest, "kind": "json"}
    if problem["model"] != "cgl":
        width = len(problem["Z"][0].split(" "))
        default = {"numbers": "decimal", "bias": False, "target": width, "delimiter": ",", "header": True}
        source = {"sha256": digest, "kind": "csv", **default, **csv}
    return {
        "format": NAME,
        "version": 2,
        "input": source,
        "problem": problem,
        "facts": facts,
        "claims": [{"claim": name, "verdict": "PROVED"} for name in claims],
        "end": NAME,
    }


def value_and_fit(y: Vec, lam: Fraction, fit: Vec, penalty: Fraction, theta: Vec) -> dict[str, Any]:
    """The facts `value` and `fit`; the gap asked for is half way from the one reached to 1."""
    r = tuple(a - b for a, b in zip(fit, y, strict=True))
    upper = dot(r, r) / 2 + lam * penalty
    lower = dot(y, theta) - dot(theta, theta) / 2
    gap = (2 * upper - lower) / (2 * upper) if upper > lower else Fraction(0)
    return {
        "value": {"lower": word(lower), "upper": word(upper), "gap": word(gap)},
        "fit": {"center": words(fit), "radius_squared": word(2 * (upper - lower))},
    }


Neuron = tuple[str, Vec, Fraction]  # the sign or the pattern; w; an upper bound of |w|


def network(name: str, model: str, Z: Mat, y: Vec, lam: Fraction, neurons: Sequence[Neuron], theta: Vec) -> Case:
    """A network's certificate with all facts; theta must be feasible and the norms true."""
    listing = list_patterns(Z)
    fit = vec(*[0] * len(y))
    listed = []
    for first, w, norm in neurons:
        Zw = times(Z, w)
        positive = tuple(max(x, Fraction(0)) for x in Zw)
        output = tuple(SIGNS[first] * x for x in positive) if model == "relu" else masked(first, Zw)
        listed.append({"sign" if model == "relu" else "pattern": first, "w": words(w), "norm": word(norm)})
        fit = tuple(a + b for a, b in zip(fit, output, strict=True))
    multipliers: Any = None
    lambda_max: dict[str, Any]
    if model == "relu":
        at_y, squared, sign, u = relu_multipliers(Z, listing, y)
        lambda_max = {"squared": word(squared), "multipliers": at_y, "attained": {"sign": sign, "u": words(u)}}
        multipliers = relu_multipliers(Z, listing, theta)[0]
    else:
        squared, pattern = gated_largest(Z, listing, y)
        lambda_max = {"squared": word(squared), "multipliers": None, "attained": {"pattern": pattern}}
    facts = {
        "patterns": listing.fact,
        "lambda_max": lambda_max,
        "primal": {"neurons": listed},
        "dual": {"theta": words(theta), "multipliers": multipliers},
        **value_and_fit(y, lam, fit, sum((norm for *_, norm in neurons), Fraction(0)), theta),
    }
    rows = [words(row) for row in Z]
    problem = {"model": model, "objective": OBJECTIVE, "lambda": word(lam), "Z": rows, "y": words(y)}
    raw = table(Z, y)
    return Case(name, certificate(problem, facts, raw), raw)


def planted_relu(name: str, Z: Mat, r: Vec, alpha: Fraction = Fraction(1)) -> Case:
    """The residual r is chosen first: lambda = max_b |Proj(X_b'r)| = |v|, y = r + alpha xi (Zv)_+. No gap at all."""
    _, squared, sign, v = relu_multipliers(Z, list_patterns(Z), r)
    lam = root(squared)
    if not lam:
        raise ValueError(f"lambda^2 = {squared} is not a square")
    w = tuple(alpha * x for x in v)
    y = tuple(r_k + SIGNS[sign] * max(x, Fraction(0)) for r_k, x in zip(r, times(Z, w), strict=True))
    return network(name, "relu", Z, y, lam, [(sign, w, alpha * lam)], r)


def planted_gated(name: str, Z: Mat, r: Vec, alpha: Fraction = Fraction(1)) -> Case:
    """As for ReLU: lambda = max_D |Z'D r|, y = r + alpha D Z Z'D r."""
    squared, D = gated_largest(Z, list_patterns(Z), r)
    lam = root(squared)
    if not lam:
        raise ValueError(f"lambda^2 = {squared} is not a square")
    w = tuple(alpha * x for x in combine(Z, masked(D, r)))
    y = tuple(a + b for a, b in zip(r, masked(D, times(Z, w)), strict=True))
    return network(name, "gated", Z, y, lam, [(D, w, alpha * lam)], r)


def zero_network(name: str, Z: Mat, y: Vec, lam: Fraction, model: str = "relu") -> Case:
    """lambda >= lambda_max: the zero network, with theta = y."""
    return network(name, model, Z, y, lam, [], y)


def loose_relu(name: str, Z: Mat, y: Vec, lam: Fraction, w: Vec, norm: Fraction, shrink: Fraction) -> Case:
    """Any neuron and any feasible theta = shrink y: an honest interval that is wide."""
    return network(name, "relu", Z, y, lam, [("+", w, norm)], tuple(shrink * x for x in y))


def direct(name: str) -> Case:
    """A constrained group lasso planted at r = (1, 2, 2), lambda = 3: block 0 active with a constraint that pushes,
    block 1 active and free, block 2 out."""
    r, lam = vec(1, 2, 2), Fraction(3)
    v0, K0, rho = vec(3, 0), mat([[0], [1]]), Fraction(1, 2)
    v1 = vec("9/5", "12/5")
    c0 = tuple(v + k[0] * rho for v, k in zip(v0, K0, strict=True))
    blocks = []
    for c, N in ((c0, ((2, -1, 0), (0, 1, -1))), (v1, ((0, 1, -1), (2, 0, -1))), (vec(1), ((2, -1, 0),))):
        blocks.append([[r_k * c_j / 9 + N[j][k] for j, c_j in enumerate(c)] for k, r_k in enumerate(r)])
    X = mat([[*a, *b, *c] for a, b, c in zip(*blocks, strict=True)])
    order = [3, 1, 4, 0, 2]  # the groups take the columns of X in another order
    X = tuple(tuple(row[order.index(j)] for j in range(5)) for row in X)
    groups = [order[0:2], order[2:4], order[4:5]]
    w = [tuple(x / 3 for x in v0), tuple(x / 6 for x in v1)]
    fit = tuple(
        sum(
            (row[j] * x for group, w_b in zip(groups, w, strict=False) for j, x in zip(group, w_b, strict=True)),
            Fraction(0),
        )
        for row in X
    )
    y = tuple(a + b for a, b in zip(r, fit, strict=True))
    neurons = [
        {"block": b, "w": words(w_b), "norm": word(norm)} for b, w_b, norm in zip((0, 1), w, vec(1, "1/2"), strict=True)
    ]
    K = [[["0"], ["1"]], None, [["-1"]]]
    raw_problem = {"X": [[word(x) for x in row] for row in X], "groups": groups, "K": K, "y": [word(x) for x in y]}
    raw = json.dumps(raw_problem).encode()
    facts = {
        "primal": {"neurons": neurons},
        "dual": {"theta": words(r), "multipliers": ["1/2", None, "0"]},
        **value_and_fit(y, lam, fit, Fraction(3, 2), r),
    }
    problem = {
        "model": "cgl",
        "objective": OBJECTIVE,
        "lambda": word(lam),
        "X": [words(row) for row in X],
        "groups": groups,
        "K": [["0", "1"], None, ["-1"]],
        "y": words(y),
    }
    return Case(name, certificate(problem, facts, raw), raw)


def direct_lambda_max(name: str) -> Case:
    """lambda above lambda_max of a direct problem: X = I, a block with w_0 <= w_1, a free one, y = (3, 1, 2)."""
    X, y = mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), vec(3, 1, 2)
    # Proj of (3, 1) onto {w_0 <= w_1} is (2, 2): rho = 1 with K = (1, -1)'. Squared lengths 8 and 4.
    facts = {
        "lambda_max": {"squared": "8", "multipliers": ["1", None], "attained": {"block": 0, "u": "1 1"}},
        "primal": {"neurons": []},
        "dual": {"theta": "3 1 2", "multipliers": ["1", None]},
        **value_and_fit(y, Fraction(3), vec(0, 0, 0), Fraction(0), y),
    }
    raw = json.dumps(
        {
            "X": [[1, 0, 0], ["0", 1, 0], [0, 0, "1.0"]],
            "groups": [[0, 1], [2]],
            "K": [[[1], [-1]], None],
            "y": [3, 1, "4/2"],
        }
    )
    problem = {
        "model": "cgl",
        "objective": OBJECTIVE,
        "lambda": "3",
        "X": [words(row) for row in X],
        "groups": [[0, 1], [2]],
        "K": [["1", "-1"], None],
        "y": words(y),
    }
    return Case(name, certificate(problem, facts, raw.encode()), raw.encode())
