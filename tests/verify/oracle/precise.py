"""What a certificate says where numbers are irrational, in sixty digits: sets in a field, the logistic loss, ggp.

A residual is that of all solutions iff no direction is longer than lambda along it and the fit is a sum of the outputs
of those that are as long: both are tried here, face by face and support by support. What is neither clearly so nor
clearly not so is left open. Nothing is shared with the checker or the producer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from mpmath import mp, mpf

from tests.verify.oracle import brute
from tests.verify.oracle.lasso import Lasso, apart, lasso_of, numbers

DIGITS = 60
ZERO, UNSURE = mpf(10) ** -30, mpf(10) ** -12
Row = list[Any]


class Open(Exception):
    """Neither clearly so nor clearly not so."""


def is_zero(x: Any) -> bool:
    """Whether x is 0."""
    if abs(x) <= ZERO:
        return True
    if abs(x) < UNSURE:
        raise Open
    return False


def real(x: Fraction) -> Any:
    """A rational."""
    return mpf(x.numerator) / x.denominator


def dot(u: Row, v: Row) -> Any:
    """u.v"""
    return mp.fsum(a * b for a, b in zip(u, v, strict=True))


def off(c: Row, rows: list[Row]) -> Row:
    """c without its part in the span of the rows."""
    basis: list[Row] = []
    for row in [*rows, c]:
        left = list(row)
        for b in [*basis, *basis]:
            s = dot(left, b)
            left = [x - s * y for x, y in zip(left, b, strict=True)]
        if row is c:
            return left
        if not is_zero(size := mp.sqrt(dot(left, left))):
            basis.append([x / size for x in left])
    return list(c)


def independent(rows: list[Row]) -> bool:
    """Whether they are."""
    return all(any(not is_zero(x) for x in off(row, rows[:k])) for k, row in enumerate(rows))


@dataclass(frozen=True)
class Direction:
    """The longest direction of a block or of a face, v = B'r, and the constraints that are tight at it."""

    B: list[Row]
    v: Row
    tight: list[Row]

    @classmethod
    def of(cls, rows: list[Row], flat: list[Row], tight: list[Row], r: Row) -> Direction:
        """v = P X'r, X with these rows, P onto the complement of the flat."""
        B = [off(row, flat) if any(row) else row for row in rows]
        return cls(B, [dot(r, list(column)) for column in zip(*B, strict=True)], tight)

    @property
    def output(self) -> Row:
        """B v"""
        return [dot(row, self.v) for row in self.B]


def directions(problem: dict[str, Any], r: Row) -> Iterator[Direction]:
    """All that can be longest along r: Proj(X_b'r) of each block; of a ReLU network, on each face of the arrangement
    the longest one, if it lies inside."""
    if problem["model"] == "cgl":
        columns = [*zip(*map(numbers, problem["X"]), strict=True)]
        for b, group in enumerate(problem["groups"]):
            X = [[real(columns[j][k]) for j in group] for k in range(len(r))]
            K = problem["K"][b]
            cone = [] if K is None else [[real(x) for x in k] for k in zip(*map(numbers, K), strict=True) if any(k)]
            faces = [list(face) for size in range(len(group) + 1) for face in combinations(cone, size)]
            tried = [Direction.of(X, face, [], r) for face in faces]
            inside = [one for one in tried if all(dot(k, one.v) < ZERO for k in cone)]
            best = max(inside, key=lambda one: dot(one.v, one.v))  # of projections on faces the nearest is the longest
            yield Direction(best.B, best.v, [k for k in cone if is_zero(dot(k, best.v))])
        return
    Z = tuple(numbers(row) for row in problem["Z"])
    rows, none = [[real(x) for x in row] for row in Z], [mpf(0)] * len(Z[0])
    faces_of = brute.covectors(Z)
    if problem["model"] == "gated":
        for gate in sorted({brute.ones(s) for s in faces_of}):
            yield Direction.of([row if g == "1" else none for row, g in zip(rows, gate, strict=True)], [], [], r)
        return
    for s in faces_of:
        flat = [row for row, side in zip(rows, s, strict=True) if side == 0 and any(row)]
        for xi in (1, -1):
            X = [[xi * x for x in row] if side > 0 else none for row, side in zip(rows, s, strict=True)]
            one = Direction.of(X, flat, flat, r)
            heights = [dot(row, one.v) for row in rows]
            if all((not side and abs(h) <= ZERO) or h * side > ZERO for h, side in zip(heights, s, strict=True)):
                yield one


def tied(problem: dict[str, Any], lam: Any, r: Row) -> list[Direction] | None:
    """Those of length lambda; None if one is longer."""
    found = []
    for one in directions(problem, r):
        more = mp.sqrt(dot(one.v, one.v)) - lam
        if is_zero(more):
            found.append(one)
        elif more > 0:
            return None
    return found


def vertices(found: list[Direction], fit: Row) -> list[dict[int, Any]]:
    """All sums of independent outputs with weights >= 0 that are the fit."""
    points: list[dict[int, Any]] = []
    for size in range(len(fit) + 1):
        for names in combinations(range(len(found)), size):
            A = [found[a].output for a in names]
            if not independent(A):
                continue
            weights = (
                mp.lu_solve(mp.matrix([[dot(a, b) for b in A] for a in A]), mp.matrix([dot(a, fit) for a in A]))
                if A
                else []
            )
            made = [mp.fsum(w * a[k] for w, a in zip(weights, A, strict=True)) for k in range(len(fit))]
            if all(is_zero(x - y) for x, y in zip(made, fit, strict=True)) and all(
                w > 0 or is_zero(w) for w in weights
            ):
                point = {a: w for a, w in zip(names, weights, strict=True) if not is_zero(w)}
                if set(point) not in [set(other) for other in points]:
                    points.append(point)
    return points


def residual_of(facts: dict[str, Any]) -> Row | None:
    """r* as it is stated, exactly."""
    if "algebraic_set" in facts:
        field = facts["algebraic_set"]["field"]
        coefficients = [real(x) for x in numbers(field["polynomial"])][::-1]
        lo, hi = (real(Fraction(field[key])) for key in ("lo", "hi"))
        low = mp.polyval(coefficients, lo) < 0
        for _ in range(8 * DIGITS):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if (mp.polyval(coefficients, middle) < 0) == low else (lo, middle)
        return [mp.polyval([real(x) for x in numbers(row)][::-1], lo) for row in facts["algebraic_set"]["residual"]]
    if "exact_set" in facts:
        theta = (facts.get("dual") or facts.get("cover") or {}).get("theta")
        return [real(x) for x in numbers(theta)] if isinstance(theta, str) else None
    return None


def set_judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The residual that is stated, and all that is said of the set of solutions."""
    problem, facts = tree["problem"], tree["facts"]
    if (
        set(problem) - {"model", "objective", "lambda", "Z", "y", "X", "groups", "K"}
        or (r := residual_of(facts)) is None
    ):
        return
    found = tied(problem, real(Fraction(problem["lambda"])), r)
    yield "the residual is dual feasible", found is not None
    if found is None:
        return
    fit = [real(y) - x for y, x in zip(numbers(problem["y"]), r, strict=True)]
    points = vertices(found, fit)
    yield "the fit is made of tied neurons", bool(points)
    if not points:
        return
    if "value" in facts:
        p = dot(r, r) / 2 + real(Fraction(problem["lambda"])) ** 2 * mp.fsum(points[0].values())
        lower, upper = (real(Fraction(facts["value"][key])) for key in ("lower", "upper"))
        yield "value", lower - ZERO <= p <= upper + ZERO
    one, used = len(points) == 1, set().union(*points)
    bent = problem["model"] == "relu" and any(found[a].tight for a in used)
    truths: dict[str, Any] = {
        "p-unique": lambda: one,
        "convex-unique": lambda: one and not bent,
        "e-equals-a": lambda: one and used == set(range(len(found))),
        "licq": lambda: all(independent(distinct(found[a].tight)) for a in used),
    }
    for claim in tree["claims"]:
        if claim["verdict"] in ("PROVED", "REFUTED") and claim["claim"] in truths:
            yield f"{claim['claim']} {claim['verdict']}", truths[claim["claim"]]() == (claim["verdict"] == "PROVED")
        if claim == {"claim": "optimal-set", "verdict": "PROVED"} and "polytope" in facts:
            yield "optimal-set", len(facts["polytope"]["vertices"]) == len(points)


def distinct(rows: list[Row]) -> list[Row]:
    """Of all multiples one."""
    found: list[Row] = []
    for row in rows:
        size = mp.sqrt(dot(row, row))
        unit = [x / size for x in row]
        if not any(
            all(is_zero(x - s * y) for x, y in zip(unit, other, strict=True)) for other in found for s in (1, -1)
        ):
            found.append(unit)
    return found


# ------------------------------------------------------------------------------------------------ along lambda

STEP, NEAR, FAR = mpf(10) ** -4, mpf(10) ** -3, mpf(10) ** -2
Solution = dict[int, Any]


def solutions(problem: dict[str, Any], lam: Any, near: Row) -> tuple[Row, list[Solution], list[Direction]]:
    """The residual at lambda, from one that is near it, by Newton's method on sets of directions that are about as long
    as lambda; all vertices of the set of solutions, and the directions that tie."""
    y = [real(x) for x in numbers(problem["y"])]
    about = [one for one in directions(problem, near) if dot(one.v, one.v) > (lam * (1 - NEAR)) ** 2]
    if len(about) > 6:
        raise Open
    for size in range(len(y) + 1):
        for chosen in combinations(about, size):
            if not independent([one.output for one in chosen]):
                continue
            r = stationary([one.B for one in chosen], y, lam, near)
            if r is None or (found := tied(problem, lam, r)) is None:
                continue
            if points := vertices(found, [a - b for a, b in zip(y, r, strict=True)]):
                return r, points, found
    raise Open


def stationary(maps: list[list[Row]], y: Row, lam: Any, start: Row) -> Row | None:
    """r + sum alpha_a G_a r = y and r'G_a r = lambda^2, G = BB', by Newton's method from r; None if that fails."""
    n, k = len(y), len(maps)
    G = [[[dot(p, q) for q in B] for p in B] for B in maps]
    r = list(start)
    q = [[dot(row, r) for row in g] for g in G]
    alpha: Row = []
    if k:
        gram = mp.matrix([[dot(a, b) for b in q] for a in q])
        alpha = list(mp.lu_solve(gram, mp.matrix([dot(a, [s - t for s, t in zip(y, r, strict=True)]) for a in q])))
    for _ in range(40):
        q = [[dot(row, r) for row in g] for g in G]
        wrong = [y[i] - r[i] - mp.fsum(a * o[i] for a, o in zip(alpha, q, strict=True)) for i in range(n)]
        wrong += [(lam**2 - dot(r, o)) / 2 for o in q]
        if max(map(abs, wrong)) < mpf(10) ** -45:
            return r
        J = mp.matrix(n + k, n + k)
        for i in range(n):
            for j in range(n):
                J[i, j] = (i == j) + mp.fsum(a * g[i][j] for a, g in zip(alpha, G, strict=True))
            for a in range(k):
                J[i, n + a] = J[n + a, i] = q[a][i]
        try:
            step = list(mp.lu_solve(J, mp.matrix(wrong)))
        except ZeroDivisionError:
            return None
        r = [a + b for a, b in zip(r, step[:n], strict=True)]
        alpha = [a + b for a, b in zip(alpha, step[n:], strict=True)]
        if max(map(abs, step)) > 10**6:
            return None
    return None


def shortest(points: list[Solution]) -> Any:
    """The least square of a length in the convex hull of at most a few points."""
    best = None
    for size in range(1, len(points) + 1):
        for chosen in combinations(points, size):
            system = mp.matrix(size + 1, size + 1)
            for i, a in enumerate(chosen):
                for j, b in enumerate(chosen):
                    system[i, j] = mp.fsum(x * b.get(k, mpf(0)) for k, x in a.items())
                system[i, size] = system[size, i] = 1
            try:
                shares = mp.lu_solve(system, mp.matrix([0] * size + [1]))
            except ZeroDivisionError:
                continue
            if all(x > -ZERO for x in shares[:size]):
                square = -shares[size]  # G s = mu 1 with mu = -shares: s'G s = mu
                best = square if best is None or square < best else best
    return best


def path_judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """At both ends of each piece and between: the residual is in the tube; on a plain piece the solution is unique."""
    problem = tree["problem"]
    if not plain(problem):
        return
    for piece in tree["facts"].get("path", {"pieces": []})["pieces"]:
        lo, hi, radius = (Fraction(piece[key]) for key in ("lo", "hi", "radius"))
        s = [numbers(row) for row in piece["s"]]
        ends = [
            tuple(sum((x * e**j for j, x in enumerate(row)), Fraction(0)) for row in zip(*s, strict=True))
            for e in (-1, 1)
        ]
        for lam in (lo, 2 * lo * hi / (lo + hi), hi):
            tau = (1 / lam - (1 / lo + 1 / hi) / 2) / ((1 / lo - 1 / hi) / 2) if lo < hi else Fraction(0)
            here = [
                real(lam * sum((x * tau**j for j, x in enumerate(row)), Fraction(0))) for row in zip(*s, strict=True)
            ]
            try:
                r, points, _ = solutions(problem, real(lam), here)
                exact = tuple(Fraction(str(x)) / lam for x in r)
                yield "a tube", apart(exact, *ends) <= (radius + Fraction(1, 10**25)) ** 2
                if "lifted" not in piece and "even" not in piece:
                    yield "a plain piece", len(points) == 1
            except Open:
                continue


def samples_judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Of each sample of a curve the bounds of p*, that the network is the only one, and how many neurons it has."""
    problem = tree["problem"]
    for one in tree["facts"].get("curve", {"samples": []})["samples"] if plain(problem) else ():
        lam = real(Fraction(one["lambda"]))
        with suppress(Open):
            r, points, _ = solutions(problem, lam, [lam * real(x) for x in numbers(one["s"])])
            p = dot(r, r) / 2 + lam**2 * mp.fsum(points[0].values())
            yield "a sample", real(Fraction(one["lower"])) - ZERO <= p <= real(Fraction(one["upper"])) + ZERO
            width = sum(map(bool, numbers(one["weights"])))
            yield "the neurons of a sample", len(points) == 1 and len(points[0]) == width


def jump_judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """At the lambda of a jump the shortest solution is shorter than the only one beside it, which is about `limit`."""
    jump = tree["facts"].get("jump")
    if jump is None or not plain(tree["problem"]) or not isinstance(jump["theta"], str):
        return
    lam, theta = real(Fraction(jump["lambda"])), [real(x) for x in numbers(jump["theta"])]
    here = tied(tree["problem"], lam, theta)
    yield "theta of a jump is dual feasible", here is not None
    if here is None:
        return
    points = vertices(here, [real(y) - x for y, x in zip(numbers(tree["problem"]["y"]), theta, strict=True)])
    yield "theta of a jump is the residual", bool(points)
    side = lam * (1 + STEP * (1 if jump["side"] == "-" else -1))
    _, beside, _ = solutions(tree["problem"], side, theta)
    limit, shorter = (real(sum((x * x for x in numbers(jump[key])), Fraction(0))) for key in ("limit", "shorter"))
    yield "one solution beside a jump", len(beside) == 1
    yield "the limit", abs(shortest(beside) - limit) < FAR * (1 + limit)
    yield "shorter weights", shortest(points) <= shorter + ZERO and shorter < limit


def plain(problem: dict[str, Any]) -> bool:
    """The squared loss, and nothing else."""
    return not (
        set(problem) - {"model", "objective", "lambda", "Z", "y", "X", "groups", "K"}
        or "log" in problem["objective"]
        or "delta" in problem["objective"]
    )


# ------------------------------------------------------------------------------------------------ the logistic loss


def least_logistic(lasso: Lasso, lam: Any) -> tuple[Any, Row] | None:
    """p* and the fit: Newton's method on every support, until one meets the conditions; None if none is found."""
    y = [real(x) for x in lasso.y]
    for size in range(len(y) + 1):
        for names in combinations(range(len(lasso.vectors)), size):
            A = [[real(x) for x in lasso.vectors[i]] for i in names]
            if not independent(A) or (weights := newton(A, y, lam)) is None or any(w < -ZERO for w in weights):
                continue
            fit = [mp.fsum(w * a[k] for w, a in zip(weights, A, strict=True)) for k in range(len(y))]
            g = [t / (1 + mp.exp(t * f)) for t, f in zip(y, fit, strict=True)]
            if all(dot([real(x) for x in a], g) <= lam + ZERO for a in lasso.vectors):
                return logistic(y, fit) + lam * mp.fsum(weights), fit
    return None


def logistic(y: Row, fit: Row) -> Any:
    """sum log(1 + exp(-y_k f_k))"""
    return mp.fsum(mp.log1p(mp.exp(-t * f)) for t, f in zip(y, fit, strict=True))


def newton(A: list[Row], y: Row, lam: Any) -> list[Any] | None:
    """The w at which the loss with lambda sum w is stationary, by damped steps; None if they do not get there."""
    w = [mpf(0)] * len(A)
    for _ in range(60 if A else 0):
        fit = [mp.fsum(x * a[k] for x, a in zip(w, A, strict=True)) for k in range(len(y))]
        s = [1 / (1 + mp.exp(t * f)) for t, f in zip(y, fit, strict=True)]
        slope = [lam - mp.fsum(t * x * p for t, x, p in zip(y, a, s, strict=True)) for a in A]
        bend = [[mp.fsum(x * z * p * (1 - p) for x, z, p in zip(a, b, s, strict=True)) for b in A] for a in A]
        try:
            step = mp.lu_solve(mp.matrix(bend), mp.matrix(slope))
        except ZeroDivisionError:
            return None
        if (size := mp.sqrt(dot(list(step), list(step)))) < mpf(10) ** -45:
            return w
        if max(map(abs, w)) > 10**4:
            return None
        w = [x - d * min(1, 1 / size) for x, d in zip(w, step, strict=True)]
    return None if A else w


def logistic_judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Bounds, the ball of the probabilities, and a given network, with the logistic loss."""
    problem, facts = tree["problem"], tree["facts"]
    lasso = lasso_of({**problem, "objective": ""}) if "log" in problem["objective"] else None
    lam = Fraction(problem["lambda"])
    best = None if lasso is None else least_logistic(lasso, real(lam))
    if lasso is None or best is None:
        return
    p, fit = best
    if "value" in facts:
        yield (
            "value",
            real(Fraction(facts["value"]["lower"])) <= p + ZERO and p <= real(Fraction(facts["value"]["upper"])) + ZERO,
        )
    if "fit" in facts and "primal" in facts:
        made = [real(x) for x in primal_fit(problem, facts["primal"]["neurons"])]
        apart = [1 / (1 + mp.exp(-a)) - 1 / (1 + mp.exp(-b)) for a, b in zip(fit, made, strict=True)]
        yield "fit", dot(apart, apart) <= real(Fraction(facts["fit"]["radius_squared"])) + ZERO
    if "network" in facts:
        net = facts["network"]
        weights = [*(x for row in net["W1"] for x in numbers(row)), *numbers(net["w2"])]
        rows = list(zip(map(numbers, net["W1"]), numbers(net["w2"]), strict=True))
        outs = [
            real(sum((v * max(brute.dot(w, numbers(z)), Fraction(0)) for w, v in rows), Fraction(net["b2"])))
            for z in problem["Z"]
        ]
        J = (
            logistic([real(x) for x in lasso.y], outs)
            + real(lam) / 2 * mp.fsum(real(x * x) for x in weights)
            + real(lam * abs(Fraction(net["b2"])))
        )
        yield "network.objective", real(Fraction(net["objective"])) + ZERO >= J
        for claim in tree["claims"]:
            if (
                claim["claim"] == "network-optimal"
                and claim["verdict"] != "UNDECIDED"
                and abs(J - p - real(Fraction(net["gap"])) * J) > UNSURE**2
            ):
                yield (
                    f"network-optimal {claim['verdict']}",
                    (J - p <= real(Fraction(net["gap"])) * J) == (claim["verdict"] == "PROVED"),
                )


def primal_fit(problem: dict[str, Any], neurons: list[dict[str, str]]) -> list[Fraction]:
    """The sum of the outputs."""
    fit = [Fraction(0)] * len(numbers(problem["y"]))
    for one in neurons:
        w = numbers(one["w"])
        if problem["model"] == "cgl":
            group = problem["groups"][one["block"]]
            outs = [
                sum((row[j] * x for j, x in zip(group, w, strict=True)), Fraction(0))
                for row in map(numbers, problem["X"])
            ]
        else:
            outs = [brute.dot(numbers(z), w) for z in problem["Z"]]
            if problem["model"] == "relu":
                outs = [max(h, Fraction(0)) * (1 if one["sign"] == "+" else -1) for h in outs]
            else:
                outs = [h if g == "1" else Fraction(0) for h, g in zip(outs, one["pattern"], strict=True)]
        fit = [f + x for f, x in zip(fit, outs, strict=True)]
    return fit


# ------------------------------------------------------------------------------------------------ general position


def blocks_of(problem: dict[str, Any], single: bool) -> list[list[brute.Vec]] | None:
    """The columns of each block, or each column as a block."""
    if problem["model"] == "cgl":
        columns = [*zip(*map(numbers, problem["X"]), strict=True)]
        parts = [[columns[j] for j in group] for group in problem["groups"]]
    elif problem["model"] == "gated" and "patterns" not in problem:
        Z = tuple(numbers(row) for row in problem["Z"])
        gates = sorted({brute.ones(s) for s in brute.covectors(Z)})
        parts = [
            [
                tuple(x if g == "1" else Fraction(0) for x, g in zip(column, gate, strict=True))
                for column in zip(*Z, strict=True)
            ]
            for gate in gates
        ]
    else:
        return None
    return [[column] for part in parts for column in part] if single else parts


def tie(blocks: list[list[brute.Vec]], n: int, draw: Random, tries: int) -> bool | None:
    """Whether some null vector on at most n + 1 blocks has signed norms that add up to 0: exactly (to thirty digits)
    where a set of blocks has one null vector, by a change of sign where it has more; None: none was found."""
    sure = True
    for chosen in combinations(range(len(blocks)), min(n + 1, len(blocks))):
        columns = [column for b in chosen for column in blocks[b]]
        null = brute.kernel(list(zip(*columns, strict=True)), len(columns)) if columns else []
        sure = sure and len(null) < 2
        tests = [null[0]] if len(null) == 1 else [combined(null, draw) for _ in range(tries * (len(null) > 1))]
        seen: dict[tuple[int, ...], set[bool]] = {}
        for u in tests:
            lengths, at = [], 0
            for b in chosen:
                part = u[at : at + len(blocks[b])]
                at += len(part)
                lengths.append(mp.sqrt(real(sum((x * x for x in part), Fraction(0)))))
            for signs in product((1, -1), repeat=len(chosen) - 1):
                total = mp.fsum(s * x for s, x in zip((1, *signs), lengths, strict=True))
                if is_zero(total) or len(seen.setdefault(signs, set()) | {total > 0}) > 1:
                    return True
                seen[signs].add(total > 0)
    return False if sure else None


def combined(null: list[brute.Vec], draw: Random) -> brute.Vec:
    """A vector of their span; simple ones, too."""
    shares = [draw.choice((0, 1, -1, draw.randint(-20, 20))) for _ in null]
    if not any(shares):
        shares[0] = 1
    return tuple(sum((s * x for s, x in zip(shares, row, strict=True)), Fraction(0)) for row in zip(*null, strict=True))


def position_judged(tree: dict[str, Any], tries: int = 40) -> Iterator[tuple[str, bool]]:
    """General position of blocks and of columns."""
    for claim in tree["claims"]:
        if claim["claim"] in ("ggp", "general-position") and claim["verdict"] in ("PROVED", "REFUTED"):
            blocks = blocks_of(tree["problem"], claim["claim"] == "general-position")
            if blocks is None or len(blocks) > 9:
                continue
            found = tie(blocks, len(numbers(tree["problem"]["y"])), Random(1), tries)
            if found is not None:
                yield f"{claim['claim']} {claim['verdict']}", found == (claim["verdict"] == "REFUTED")


def judged(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Of each thing that it says, and that this can judge, whether it is true."""
    with mp.workdps(DIGITS):
        for part in (set_judged, path_judged, samples_judged, jump_judged, logistic_judged, position_judged):
            with suppress(Open):
                yield from part(tree)
