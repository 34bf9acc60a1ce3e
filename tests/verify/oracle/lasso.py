"""Problems whose blocks have one column, exactly, for every lambda: what is true of what a certificate says about them.

A block of one column is one vector or two, a and -a, each with a weight >= 0; a ReLU network on one feature has four,
(z)_+ and (-z)_+ with both signs. For a set S of independent ones the weights are p - lambda q, linear in lambda, and
S carries a solution exactly for the lambdas of an interval: where all weights are >= 0 and no other vector is longer
than lambda along the residual. These intervals are the whole path. Nothing is shared with the checker or the producer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

from tests.verify.oracle.brute import Vec, dot, rank, solve, vec

Point = dict[int, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Support:
    """Independent vectors with the weights p - lambda q; a solution for lo <= lambda <= hi (None: no end)."""

    names: tuple[int, ...]
    p: Vec
    q: Vec
    lo: Fraction
    hi: Fraction | None

    def holds(self, lam: Fraction) -> bool:
        """Whether they carry one."""
        return self.lo <= lam and (self.hi is None or lam <= self.hi)

    def point(self, lam: Fraction) -> Point:
        """It."""
        weights = (p - lam * q for p, q in zip(self.p, self.q, strict=True))
        return {name: w for name, w in zip(self.names, weights, strict=True) if w}


@dataclass(frozen=True)
class Lasso:
    """min 1/2 |sum w_i a_i - y|^2 + lambda sum w_i over w >= 0; `block` of a vector: what carries it."""

    vectors: tuple[Vec, ...]
    block: tuple[int, ...]
    y: Vec

    @cached_property
    def supports(self) -> list[Support]:
        """All that carry a solution for some lambda > 0."""
        found = []
        for size in range(len(self.y) + 1):
            for names in combinations(range(len(self.vectors)), size):
                A = [self.vectors[i] for i in names]
                if rank(A) == size:
                    gram = [[dot(a, b) for b in A] for a in A]
                    p = solve(gram, [dot(a, self.y) for a in A]) if A else ()
                    q = solve(gram, [ONE] * size) if A else ()
                    if (ends := self.interval(A, p, q)) is not None:
                        found.append(Support(names, p, q, *ends))
        return found

    def interval(self, A: list[Vec], p: Vec, q: Vec) -> tuple[Fraction, Fraction | None] | None:
        """Where p - lambda q >= 0 and a.(r0 + lambda r1) <= lambda for all vectors a."""
        r0 = tuple(y - sum((w * a[k] for w, a in zip(p, A, strict=True)), ZERO) for k, y in enumerate(self.y))
        r1 = tuple(sum((w * a[k] for w, a in zip(q, A, strict=True)), ZERO) for k in range(len(self.y)))
        bounds = [*zip(p, [-x for x in q], strict=True), *((-dot(a, r0), 1 - dot(a, r1)) for a in self.vectors)]
        lo, hi = ZERO, None
        for c, s in bounds:  # c + lambda s >= 0
            if s > 0:
                lo = max(lo, -c / s)
            elif s < 0:
                hi = -c / s if hi is None else min(hi, -c / s)
            elif c < 0:
                return None
        return None if hi is not None and (hi < lo or hi <= 0) else (lo, hi)

    @cached_property
    def ends(self) -> list[Fraction]:
        """Where something changes, ascending."""
        return sorted({x for one in self.supports for x in (one.lo, one.hi) if x})

    def places(self, lo: Fraction, hi: Fraction) -> list[Fraction]:
        """Both ends, all changes in between, and two points between any two of these."""
        marks = sorted({lo, hi, *(x for x in self.ends if lo < x < hi)})
        return sorted(
            {*marks, *(a + (b - a) * t for a, b in pairwise(marks) for t in (Fraction(1, 3), Fraction(1, 2)))}
        )

    def vertices(self, lam: Fraction) -> list[Point]:
        """Of the set of solutions."""
        found: list[Point] = []
        for one in self.supports:
            if one.holds(lam) and (point := one.point(lam)) not in found:
                found.append(point)
        return found

    def unique(self, lam: Fraction) -> bool:
        """Whether there is one solution."""
        return len(self.vertices(lam)) == 1

    def beside(self, lam: Fraction, side: int) -> list[Point]:
        """Where the vertices of the sets just above (1) or below (-1) tend."""
        near = [x for x in self.ends if side * (x - lam) > 0]
        other = (lam + (min(near) if side > 0 else max(near))) / 2 if near else lam + side * lam / 2
        found: list[Point] = []
        for one in self.supports:
            if one.holds(other) and one.holds(lam) and (point := one.point(lam)) not in found:
                found.append(point)
        return found

    def jumps(self, lam: Fraction, side: int) -> bool:
        """Whether a solution is no limit of solutions from this side."""
        near = self.beside(lam, side)
        return any(point not in near for point in self.vertices(lam))

    def residual(self, lam: Fraction) -> Vec:
        """That of all solutions."""
        point = self.vertices(lam)[0]
        return tuple(y - sum((w * self.vectors[i][k] for i, w in point.items()), ZERO) for k, y in enumerate(self.y))

    def optimum(self, lam: Fraction) -> Fraction:
        """p*."""
        r, point = self.residual(lam), self.vertices(lam)[0]
        return dot(r, r) / 2 + lam * sum(point.values(), ZERO)

    def tied(self, lam: Fraction) -> set[int]:
        """The vectors a with a.r* = lambda."""
        r = self.residual(lam)
        return {i for i, a in enumerate(self.vectors) if dot(a, r) == lam}

    def shortest(self, points: list[Point]) -> Fraction:
        """The least square of a length in their convex hull: on some face it is that of the whole flat."""
        best = None
        for size in range(1, len(points) + 1):
            for chosen in combinations(points, size):
                gram = [[sum((a[i] * b.get(i, ZERO) for i in a), ZERO) for b in chosen] for a in chosen]
                system = [[*row, ONE] for row in gram] + [[ONE] * size + [ZERO]]
                if rank(system) == size + 1:
                    shares = solve(system, [ZERO] * size + [ONE])[:-1]
                    if all(x >= 0 for x in shares):
                        square = sum(
                            (
                                s * t * g
                                for s, row in zip(shares, gram, strict=True)
                                for t, g in zip(shares, row, strict=True)
                            ),
                            ZERO,
                        )
                        best = square if best is None else min(best, square)
        if best is None:
            raise ValueError("no point")
        return best

    def shortest_jumps(self, lam: Fraction, side: int) -> bool:
        """Whether the shortest solution is not where those beside it tend."""
        return self.shortest(self.vertices(lam)) != self.shortest(self.beside(lam, side))


def lasso_of(problem: dict[str, Any]) -> Lasso | None:
    """The problem of a certificate, if it is one."""
    if set(problem) - {"model", "objective", "lambda", "Z", "y", "X", "groups", "K"} or "log" in problem["objective"]:
        return None
    y = numbers(problem["y"])
    columns = [*zip(*map(numbers, problem["X" if problem["model"] == "cgl" else "Z"]), strict=True)]
    sides: list[tuple[int, Vec]] = []
    if problem["model"] == "cgl":
        if any(len(group) != 1 for group in problem["groups"]):
            return None
        for b, (group, K) in enumerate(zip(problem["groups"], problem["K"], strict=True)):
            bounds = [] if K is None else [k for row in K for k in numbers(row)]
            x = columns[group[0]]
            sides += [(b, x)] * all(k <= 0 for k in bounds)
            sides += [(b, tuple(-a for a in x))] * all(k >= 0 for k in bounds)
    elif len(columns) != 1:
        return None
    else:
        gates = [tuple(ONE if u * z >= 0 else ZERO for z in columns[0]) for u in (0, 1, -1)]
        if problem["model"] == "gated":
            parts = [tuple(g * z for g, z in zip(gate, columns[0], strict=True)) for gate in dict.fromkeys(gates)]
        else:
            parts = [tuple(max(u * z, ZERO) for z in columns[0]) for u in (1, -1)]
        sides = [
            (2 * b + (s < 0 and problem["model"] == "relu"), tuple(s * x for x in a))
            for b, a in enumerate(parts)
            for s in (1, -1)
        ]
    shown = [(b, a) for b, a in sides if any(a)]
    if len(shown) > 8 or len(y) > 6:
        return None
    return Lasso(tuple(a for _, a in shown), tuple(b for b, _ in shown), y)


def numbers(text: str) -> Vec:
    """A vector."""
    return vec(*text.split()) if text else ()


def judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Of each thing that it says, and that this can judge, whether it is true."""
    lasso = lasso_of(tree["problem"])
    if lasso is None:
        return
    facts, lam = tree["facts"], Fraction(tree["problem"]["lambda"])
    said = {one["claim"]: one["verdict"] for one in tree["claims"]}
    yield from at_lambda(lasso, lam, facts, said)
    if "path" in facts or "jump" in facts:
        yield from along(lasso, facts.get("path") or facts["jump"], said)
    yield from on_pieces(lasso, facts.get("path", {"pieces": []})["pieces"])
    if "curve" in facts:
        yield from on_curve(lasso, facts)


def at_lambda(lasso: Lasso, lam: Fraction, facts: dict[str, Any], said: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """At the lambda of the problem."""
    points, p = lasso.vertices(lam), lasso.optimum(lam)
    used = set().union(*points)
    truths = {
        "p-unique": len(points) == 1,
        "convex-unique": len(points) == 1,
        "e-equals-a": len(points) == 1 and used == lasso.tied(lam),
    }
    for claim, true in truths.items():
        if said.get(claim) in ("PROVED", "REFUTED"):
            yield f"{claim} {said[claim]}", true == (said[claim] == "PROVED")
    if "value" in facts:
        yield "value", Fraction(facts["value"]["lower"]) <= p <= Fraction(facts["value"]["upper"])
    if "lambda_max" in facts and "squared" in facts["lambda_max"]:
        top = max((dot(a, lasso.y) for a in lasso.vectors), default=ZERO)
        yield "lambda_max", Fraction(facts["lambda_max"]["squared"]) == max(top, ZERO) ** 2
    if facts.get("polytope") and said.get("optimal-set") == "PROVED":
        yield "optimal-set", len(facts["polytope"]["vertices"]) == len(points)
    if "derivatives" in facts and facts["derivatives"]["lambda"] and said.get("sensitivity") == "PROVED":
        slopes = [(lasso.residual(x)) for x in (lam * (1 - TINY), lam * (1 + TINY))]
        r, radius = numbers(facts["derivatives"]["lambda"]["r"]), Fraction(facts["derivatives"]["radius"])
        true = [(b - a) / (2 * lam * TINY) for a, b in zip(*slopes, strict=True)]
        off = sum(((a - b) ** 2 for a, b in zip(r, true, strict=True)), ZERO)
        yield "derivatives", off <= radius**2 and not any(abs(x - lam) <= lam * TINY for x in lasso.ends)


TINY = Fraction(1, 10**40)


def along(lasso: Lasso, fact: dict[str, Any], said: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """For all lambdas of an interval."""
    lo, hi = Fraction(fact["lo"]), Fraction(fact["hi"])
    places = lasso.places(lo, hi)
    sides = [(x, side) for x in places for side in (1, -1) if (x, side) not in ((lo, -1), (hi, 1))]
    truths = {
        "continuous": lambda: all(map(lasso.unique, places)),
        "set-continuous": lambda: not any(lasso.jumps(*at) for at in sides),
        "min-norm-continuous": lambda: not any(lasso.shortest_jumps(*at) for at in sides),
    }
    for claim, truth in truths.items():
        if said.get(claim) in ("PROVED", "REFUTED"):
            yield f"{claim} {said[claim]}", truth() == (said[claim] == "PROVED")


def on_pieces(lasso: Lasso, pieces: list[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    """One solution on a plain piece; r*/lambda lies about the chord of its ends."""
    for piece in pieces:
        lo, hi, radius = (Fraction(piece[key]) for key in ("lo", "hi", "radius"))
        places = lasso.places(lo, hi)
        if "lifted" not in piece and "even" not in piece:
            yield "a plain piece", all(map(lasso.unique, places))
        s = [numbers(row) for row in piece["s"]]
        first, last = (tuple(sum(x * e**j for j, x in enumerate(row)) for row in zip(*s, strict=True)) for e in (-1, 1))
        for lam in places:
            here = tuple(r / lam for r in lasso.residual(lam))
            yield "a tube", apart(here, first, last) <= radius**2


def apart(x: Vec, a: tuple[Any, ...], b: tuple[Any, ...]) -> Fraction:
    """The square of the distance of x from the chord of a and b."""
    way = tuple(q - p for p, q in zip(a, b, strict=True))
    size = dot(way, way)
    t = min(max(dot(tuple(u - p for u, p in zip(x, a, strict=True)), way) / size, ZERO), ONE) if size else ZERO
    left = tuple(u - p - t * w for u, p, w in zip(x, a, way, strict=True))
    return dot(left, left)


def on_curve(lasso: Lasso, facts: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Breakpoints, pieces of one width, and samples."""
    curve, pieces = facts["curve"], facts["path"]["pieces"]
    for one in curve["breakpoints"]:
        ends = [Fraction(one[key]) for key in ("lo", "hi")]
        points = [lasso.vertices(lam) for lam in ends]
        yield "a breakpoint", all(len(p) == 1 for p in points) and set(points[0][0]) != set(points[1][0])
    for branch in curve["branches"]:
        piece = pieces[branch["piece"]]
        for lam in lasso.places(Fraction(piece["lo"]), Fraction(piece["hi"])):
            points = lasso.vertices(lam)
            yield "a branch", len(points) == 1 and len(points[0]) == len(branch["active"])
    for sample in curve["samples"]:
        lam, radius = Fraction(sample["lambda"]), Fraction(sample["radius"])
        yield "a sample", Fraction(sample["lower"]) <= lasso.optimum(lam) <= Fraction(sample["upper"])
        stated = sorted(lam * x for x in numbers(sample["weights"]) if x)
        true = [sorted(w for w in point.values()) for point in lasso.vertices(lam)]
        same = len(true) == 1 and len(true[0]) == len(stated)
        yield "its neurons", same and all(abs(a - b) <= radius for a, b in zip(stated, true[0], strict=True))
