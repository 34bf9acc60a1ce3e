"""Given networks with everything that is said of them, and an oracle that recomputes it from the text alone.

The oracle shares nothing with producer and checker: plain Fractions, faces by brute force, square roots to 60 digits,
matchings by trying each, the optimum over given patterns by a whole-program solver. What optimal networks look like is
known from how the data were planted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import Any

from mpmath import mp, mpf

from relu_cert.certificate import dumps
from relu_cert.cover.limits import Limits
from relu_cert.data.read import read_csv_bytes
from relu_cert.network.claims import network_verdicts
from relu_cert.network.directions import own_problem
from relu_cert.network.examine import compare, examine, network_certificate
from relu_cert.network.penalty import Penalty, convert
from relu_cert.network.trained import Origin, TrainedNetwork
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.claims import decide
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.report.progress import Progress
from tests.variants.stated import optimal_value
from tests.verify.oracle import brute
from tests.verify.oracle.brute import Vec, dot, mat, rank, solve, vec

mp.dps = 60
SLACK = mpf(10) ** -50
QUIET = Progress(quiet=True)
ZERO = Fraction(0)
SETTLED = ("patterns-complete", "optimal", "fit", "p-unique", "optimal-set")


@dataclass(frozen=True)
class Planted:
    """Data, lambda and a network; the neurons (xi, v) that optimal networks have, and the vertices of their weights.

    `solved`: these are not planted but taken from the solver's point of 70 digits. Not `listed`: the certificate has no
    vertices of the optimal set, as if there were too many.
    """

    rows: str
    lam: str
    W1: Sequence[Sequence[int | str]]
    w2: Sequence[int | str]
    neurons: tuple[tuple[int, Vec], ...] | None = None
    vertices: tuple[Vec, ...] = ()
    solved: bool = False
    listed: bool = True
    gap: str = "1/1000"
    b2: str = "0"

    @property
    def bias(self) -> bool:
        """Whether the data has a column of ones, for an output bias."""
        return self.b2 != "0"


BOX = "x,z,y\n3,0,10\n-3,0,10\n0,4,17\n0,-4,17\n"
SMALL_BOX = "x,z,y\n3,0,8\n-3,0,8\n0,4,68/5\n0,-4,68/5\n"
CORNERS = tuple((1, vec(a, b)) for a, b in ((3, 4), (3, -4), (-3, 4), (-3, -4)))
# alpha is 1 on two opposite corners; the polytope joins the two pairs
PAIRS = (vec(1, 0, 0, 1), vec(0, 1, 1, 0))
TIED = tuple((1, tuple(Fraction(4, 5) * x for x in v)) for _, v in CORNERS)
LIFT = "x,z,y\n2,-1,-1\n1,0,4\n1,-1,-3\n-3,-1,2\n1,1,4\n3,-2,4\n"
LINE = "x,y\n1,3\n-1,2\n"  # at lambda = 1: (3 - 1) on the right, (2 - 1) on the left

CASES: dict[str, Planted] = {
    "inside the polytope, split, dead": Planted(
        BOX,
        "5",
        [["3/2", 2], ["3/2", -2], ["-3/2", 2], ["-3/4", -1], ["-3/4", -1], [0, 0], [1, 0]],
        [1, 1, 1, 1, 1, 2, 0],
        CORNERS,
        PAIRS,
    ),
    "exactly optimal": Planted(SMALL_BOX, "4", [["6/5", "8/5"], ["-6/5", "-8/5"]], [2, 2], TIED, PAIRS),
    "at kinks": Planted(BOX, "5", [[1, 0], [-1, 0], [0, 1], [0, "-1/2"]], [1, 1, 1, -1], CORNERS, PAIRS),
    "three for two": Planted(BOX, "5", [[3, 3], [3, 5], [-2, 1]], [1, "1/2", -1], CORNERS, PAIRS),
    "three for two, no vertices": Planted(
        BOX, "5", [[3, 3], [3, 5], [-2, 1]], [1, "1/2", -1], CORNERS, PAIRS, listed=False
    ),
    "lifted, no vertices": Planted(LIFT, "1/5", [["1/2", 1], [-1, "1/4"], ["1/3", -1]], [1, "1/2", 1], listed=False),
    "in a field": Planted(
        "x,z,y\n1,0,1\n0,1,2\n-1,0,2\n0,-1,1\n1,1,0\n-1,-1,3\n1,-1,1\n-1,1,4\n", "1/4", [[1, 1], [-1, 2]], [1, "1/2"]
    ),
    "above lambda_max": Planted(BOX, "100", [["1/3", "-2"], [1, 0]], ["1/2", -2], (), (vec(),)),
    "on a line": Planted(LINE, "1", [[2], [-1], ["1/2"]], [1, "1/2", 1], ((1, vec(1)), (1, vec(-1))), (vec(2, 1),)),
    "an irrational optimum": Planted(
        "x,z,y\n2,1,3\n-1,3,-1\n2,-3,2\n-4,-1,1\n1,1,-2\n",
        "1",
        [["5/8", "-1/4"], ["-3/4", 0], [1, "1/2"], ["1/3", "1/2"]],
        ["7/8", "1/2", "-1/2", "-1/4"],
        solved=True,
    ),
    "with an output bias": Planted(
        "x,y\n1,3\n-1,2\n2,1\n", "1/2", [[1, "1/2"], [-1, 1], [-1, "1/2"]], [1, "1/2", -1], b2="3/4"
    ),
    "with a negative output bias": Planted("x,y\n1,-3\n-1,-2\n2,-1\n", "1/5", [[1, 0]], [-1], b2="-2"),
    "balanced kinks, not settled elsewhere": Planted(
        "x,z,y\n1,1,1\n1,-1,1\n-1,1,-1\n2,1,1\n", "1/3", [[1, 1], [1, -1], ["1/8", 0]], [1, -1, "1/8"]
    ),
}


@dataclass(frozen=True)
class Given:
    """A certificate of a given network, as a JSON tree, with its raw data."""

    planted: Planted
    tree: dict[str, Any]
    raw: bytes

    @property
    def text(self) -> bytes:
        """The certificate's file."""
        return json.dumps(self.tree).encode()


@cache
def given(name: str) -> Given:
    """One case, certified by the producer."""
    planted = CASES[name]
    raw = planted.rows.encode()
    if planted.solved:
        planted = solved(planted, raw)
    return Given(planted, json.loads(certified(planted, raw)), raw)


def solved(planted: Planted, raw: bytes) -> Planted:
    """The same with the neurons and the weights of the only optimal network, right to about 70 digits."""
    problem = network_problem(read_csv_bytes(raw, "data.csv"), "relu", QUIET)
    lam, listed = LambdaChoice(value=Fraction(planted.lam)), Limits(by_list=True)  # the list refines to any gap
    facts = find_facts(problem, lam, Fraction(1, 10**140), QUIET, limits=listed)
    assert facts.fit.radius_squared < Fraction(1, 10**138)
    sizes = [(n.sign, n.w, Fraction(n.norm) / facts.lam) for n in facts.primal.neurons]
    neurons = tuple((xi, tuple(x / alpha for x in w)) for xi, w, alpha in sizes)
    return replace(planted, neurons=neurons, vertices=(tuple(alpha for *_, alpha in sizes),))


def certified(planted: Planted, raw: bytes) -> str:
    """The text of the certificate."""
    data = read_csv_bytes(raw, "data.csv", bias=planted.bias)
    lam, gap = Fraction(planted.lam), Fraction(planted.gap)
    network = TrainedNetwork(mat(planted.W1), vec(*planted.w2), b2=Fraction(planted.b2))
    facts = find_facts(network_problem(data, "relu", QUIET), LambdaChoice(value=lam), Fraction(1, 10**9), QUIET)
    if not planted.listed:
        facts = replace(facts, vertices=Unlisted("the vertices are left out"))
    found = examine(network, data.Z, data.y, lam)
    own = find_facts(own_problem(found.neurons, data.Z, data.y), LambdaChoice(value=lam), Fraction(1, 10**9), QUIET)
    comparison = compare(found, facts, own)
    said = (*decide(facts, SETTLED), *network_verdicts(comparison, gap))
    conversion = convert(Penalty.SCNN, lam / data.n, data.n)
    return dumps(network_certificate(data.source, comparison, conversion, Origin("json", sha256="0" * 64), gap, said))


# ------------------------------------------------------------------------------------------------ the oracle


@dataclass(frozen=True)
class Network:
    """The network that a certificate states, with its data."""

    Z: tuple[Vec, ...]
    y: Vec
    lam: Fraction
    W1: tuple[Vec, ...]
    w2: Vec
    b2: Fraction = ZERO

    def neurons(self) -> dict[int, tuple[int, Vec]]:
        """(xi, w) by number, those that are not zero."""
        ones = (*(ZERO,) * (len(self.W1[0]) - 1), Fraction(1))
        rows = enumerate(zip((*self.W1, ones), (*self.w2, self.b2), strict=True))
        return {i: (1 if v > 0 else -1, tuple(abs(v) * x for x in w)) for i, (w, v) in rows if v and any(w)}

    def residual(self) -> Vec:
        """y - f(Z)"""
        f = [sum((v * max(ZERO, dot(w, z)) for w, v in zip(self.W1, self.w2, strict=True)), ZERO) for z in self.Z]
        return tuple(a - b - self.b2 for a, b in zip(self.y, f, strict=True))


def numbers(text: str) -> Vec:
    """A vector of the certificate."""
    return tuple(map(Fraction, text.split()))


def stated(tree: dict[str, Any]) -> Network:
    """The network of a certificate."""
    problem, network = tree["problem"], tree["facts"]["network"]
    Z, W1 = (tuple(map(numbers, rows)) for rows in (problem["Z"], network["W1"]))
    b2 = Fraction(network["b2"])
    return Network(Z, numbers(problem["y"]), Fraction(problem["lambda"]), W1, numbers(network["w2"]), b2)


@cache
def root(x: Fraction) -> mpf:
    """sqrt(x) to 60 digits."""
    return mp.sqrt(number(x))


def number(x: Fraction | str) -> mpf:
    """A rational to 60 digits."""
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def output(Z: Sequence[Vec], xi: int, w: Vec) -> Vec:
    """xi (Zw)_+"""
    return tuple(xi * max(ZERO, dot(z, w)) for z in Z)


def falsehoods(tree: dict[str, Any], planted: Planted) -> Iterator[str]:
    """Everything that is said of the network and is not true."""
    fact, network = tree["facts"]["network"], stated(tree)
    neurons = network.neurons()
    J = objective(network)
    if Fraction(fact["objective"]) != J:
        yield "objective"
    if network.b2 and any(z[-1] != 1 for z in network.Z):
        yield "b2"
    n, penalty = len(network.Z), fact["penalty"]
    factor = {"paper": 1, "scnn": n, "sklearn": Fraction(n, penalty["batch"] or n), "pytorch": Fraction(n, 2)}
    if Fraction(penalty["value"]) * factor.get(penalty["convention"], Fraction(1, 2)) != network.lam:
        yield "penalty"
    yield from false_pruned(network, neurons, fact)
    if planted.neurons is not None:
        yield from false_comparisons(network, neurons, fact, planted)
    yield from false_claims(tree, network, J, planted)


def objective(network: Network) -> Fraction:
    """J, in which the output bias is a balanced neuron: its two squares are 2|b2| together."""
    r, rows = network.residual(), network.W1
    return (
        dot(r, r) / 2
        + network.lam * sum((dot(w, w) for w in rows), dot(network.w2, network.w2)) / 2
        + (network.lam * abs(network.b2))
    )


def balanced_objective(network: Network) -> mpf:
    """P, to 60 digits."""
    r, neurons = network.residual(), network.neurons().values()
    return number(dot(r, r) / 2) + number(network.lam) * sum((root(dot(w, w)) for _, w in neurons), mpf(0))


def between(bounds: dict[str, str], x: mpf) -> bool:
    """lower <= x <= upper, to 50 digits."""
    return bool(number(bounds["lower"]) <= x + SLACK and x <= number(bounds["upper"]) + SLACK)


def merged(network: Network) -> list[tuple[int, Vec]]:
    """The merged network, in the order of the first neurons: one for each sign and sign vector on the data."""
    sums: dict[tuple[int, tuple[int, ...]], Vec] = {}
    for xi, w in network.neurons().values():
        key = (xi, tuple((dot(z, w) > 0) - (dot(z, w) < 0) for z in network.Z))
        sums[key] = tuple(a + b for a, b in zip(sums.get(key, (ZERO,) * len(w)), w, strict=True))
    return [(xi, w) for (xi, _), w in sums.items() if any(w)]


def false_pruned(network: Network, neurons: dict[int, tuple[int, Vec]], fact: dict[str, Any]) -> Iterator[str]:
    """The pruned network."""
    if "pruned" not in fact:
        return
    left = [(1 if one["sign"] == "+" else -1, numbers(one["w"])) for one in fact["pruned"]]
    outputs = [output(network.Z, *neuron) for neuron in left]
    fit = [sum(column, ZERO) for column in zip(*outputs, strict=True)] or [ZERO] * len(network.y)
    if tuple(a - b for a, b in zip(network.y, fit, strict=True)) != network.residual():
        yield "pruned fit"
    size = sum((root(dot(w, w)) for _, w in left), mpf(0))
    if size > sum((root(dot(w, w)) for _, w in neurons.values()), mpf(0)) + SLACK or rank(outputs) < len(outputs):
        yield "pruned"


@cache
def stationarity(network: Network) -> Fraction:
    """The squared distance of 0 from the Clarke subdifferential: all corners, and all faces of their hull. With an
    output bias b2 = xi c^2 the gradients in c e and xi c are c times rationals."""
    r = network.residual()
    *flat, last = (dot(r, column) for column in zip(*network.Z, strict=True))
    up = network.lam - last if network.b2 > 0 else network.lam + last  # the last column is that of ones
    total = abs(network.b2) * (2 * up**2 + dot(flat, flat))
    for w, v in zip(network.W1, network.w2, strict=True):
        total += (network.lam * v - dot(r, [max(ZERO, dot(z, w)) for z in network.Z])) ** 2
        pulls = [tuple(v * r_k * x for x in z) for r_k, z in zip(r, network.Z, strict=True)]
        bent = [k for k, z in enumerate(network.Z) if any(pulls[k]) and dot(z, w) == 0]
        on = [k for k, z in enumerate(network.Z) if dot(z, w) > 0 and k not in bent]
        cells = [()] if not bent else open_cells(tuple(network.Z[k] for k in bent))
        corners = set()
        for cell in cells:
            rows = on + [k for k, s in zip(bent, cell, strict=True) if s > 0]
            corners.add(tuple(network.lam * x - sum((pulls[k][j] for k in rows), ZERO) for j, x in enumerate(w)))
        total += hull_squared(sorted(corners))
    return total


def open_cells(rows: tuple[Vec, ...]) -> list[tuple[int, ...]]:
    """The sign vectors of all open cells."""
    return [s for s in brute.covectors(rows) if 0 not in s]


def hull_squared(points: list[Vec]) -> Fraction:
    """The squared distance of 0 from the hull: the least over all sets of points whose affine minimiser is a mean."""
    best = min(dot(p, p) for p in points)
    for size in range(2, len(points[0]) + 2):
        for chosen in combinations(points, size):
            rows = [[*(dot(p, q) for q in chosen), Fraction(1)] for p in chosen]
            try:
                t = solve([*rows, [Fraction(1)] * size + [ZERO]], [ZERO] * size + [Fraction(1)])[:size]
            except ValueError:
                continue
            if all(x >= 0 for x in t):
                x = tuple(dot(t, column) for column in zip(*chosen, strict=True))
                best = min(best, dot(x, x))
    return best


def false_comparisons(
    network: Network, neurons: dict[int, tuple[int, Vec]], fact: dict[str, Any], planted: Planted
) -> Iterator[str]:
    """Directions and the nearest optimal network, against the planted optimum."""
    known = planted.neurons or ()
    for (xi, w), bounds in zip(neurons.values(), fact.get("directions", []), strict=False):
        if not between(bounds, min((apart(w, v) for sign, v in known if sign == xi), default=mpf(2))):
            yield "directions"
    if "directions" in fact and len(fact["directions"]) != len(neurons):
        yield "directions"
    left = tuple(merged(network))
    if "nearest" in fact and not between(fact["nearest"], nearest(left, known, planted.vertices)):
        yield "nearest"


@cache
def apart(w: Vec, v: Vec) -> mpf:
    """|w/|w| - v/|v||"""
    pairs = zip(w, v, strict=True)
    return mp.sqrt(sum(((number(a) / root(dot(w, w)) - number(b) / root(dot(v, v))) ** 2 for a, b in pairs), mpf(0)))


@cache
def nearest(network: tuple[tuple[int, Vec], ...], known: tuple[tuple[int, Vec], ...], vertices: tuple[Vec, ...]) -> mpf:
    """The distance from the nearest optimal network: every matching, on the segment or point of optimal weights."""
    places = [*range(len(network)), *[None] * len(known)]
    best = None
    for partners in set(permutations(places, len(known))):
        if any(i is not None and network[i][0] != known[a][0] for a, i in enumerate(partners)):
            continue
        single = sum((dot(w, w) for i, (_, w) in enumerate(network) if i not in partners), ZERO)

        def squared(alpha: Vec, partners: tuple[int | None, ...] = partners, single: Fraction = single) -> Fraction:
            total = single
            for a, (_, v) in enumerate(known):
                w = (ZERO,) * len(v) if partners[a] is None else network[partners[a]][1]
                total += sum(((x - alpha[a] * y) ** 2 for x, y in zip(w, v, strict=True)), ZERO)
            return total

        found = least_on(vertices, squared)
        best = found if best is None else min(best, found)
    return root(best if best is not None else ZERO)


def least_on(vertices: tuple[Vec, ...], squared: Any) -> Fraction:
    """The least value of a convex quadratic on a point or a segment."""
    ends = [squared(p) for p in vertices]
    if len(vertices) == 1:
        return Fraction(ends[0])
    middle = squared(tuple((a + b) / 2 for a, b in zip(*vertices, strict=True)))
    c2, c0 = 2 * (ends[0] + ends[1] - 2 * middle), ends[0]
    c1 = ends[1] - c0 - c2
    t = min(max(-c1 / (2 * c2), ZERO), Fraction(1)) if c2 else ZERO
    return Fraction(min(*ends, c0 + c1 * t + c2 * t * t))


def false_claims(tree: dict[str, Any], network: Network, J: Fraction, planted: Planted) -> Iterator[str]:
    """Verdicts that are not so."""
    gap = Fraction(tree["facts"]["network"]["gap"])
    neurons = network.neurons()
    q = [output(network.Z, *neuron) for neuron in neurons.values()]
    own = list(dict.fromkeys("".join("01"[dot(z, w) >= 0] for z in network.Z) for _, w in neurons.values()))
    best, best_own = (optimal_value(tree["problem"], list(p)) if p else 0.0 for p in (everywhere(network.Z), own))
    if "own" in tree["facts"]["network"] and not own_bounds(network, tree["facts"]["network"]["own"], best_own):
        yield "own"
    truth: dict[str, bool | None] = {
        "network-stationary": stationarity(network) == 0,
        "network-balanced": all(dot(w, w) == v * v for w, v in zip(network.W1, network.w2, strict=True)),
        "network-merged": not any(
            a[0] == b[0] and all(dot(z, a[1]) * dot(z, b[1]) >= 0 for z in network.Z)
            for a, b in combinations(neurons.values(), 2)
        ),
        "network-independent": rank(q) == len(q),
        "network-optimal": small_enough(J, best, gap),
        "network-own-optimal": small_enough(J, best_own, gap),
    }
    if planted.neurons is not None:
        truth["network-directions"] = all(
            any(sign == xi and apart(w, v) < SLACK for sign, v in planted.neurons) for xi, w in neurons.values()
        )
    for claim in tree["claims"]:
        so = truth.get(claim["claim"])
        if so is not None and claim["verdict"] == ("REFUTED" if so else "PROVED"):
            yield claim["claim"]


@cache
def everywhere(Z: tuple[Vec, ...]) -> tuple[str, ...]:
    """All of D_Z."""
    return tuple(sorted({brute.ones(s) for s in brute.covectors(Z)}))


def own_bounds(network: Network, fact: dict[str, Any], best: float) -> bool:
    """Whether the two points over the own patterns enclose the optimal value over these (to a solver's digits)."""
    theta = numbers(fact["dual"]["theta"])
    blocks = list(dict.fromkeys(tuple(dot(z, w) >= 0 for z in network.Z) for _, w in network.neurons().values()))
    left, size = network.y, ZERO
    for one in fact["primal"]["neurons"]:
        on, xi, w = blocks[one["block"] // 2], 1 - 2 * (one["block"] % 2), numbers(one["w"])
        left = tuple(a - xi * b * dot(z, w) for a, b, z in zip(left, on, network.Z, strict=True))
        size += Fraction(one["norm"])
    lower = float(dot(network.y, theta) - dot(theta, theta) / 2)
    upper = float(dot(left, left) / 2 + network.lam * size)
    near = 1e-6 * (1 + abs(best))
    return lower - near <= best <= upper + near


def small_enough(J: Fraction, optimum: float, gap: Fraction) -> bool | None:
    """Whether J - p* <= gap J; None where floats do not say."""
    left = float(J) - optimum - float(gap * J)
    return None if abs(left) < 1e-6 * float(J) else left < 0
