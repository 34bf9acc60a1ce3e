"""The path in formulas: where all active neurons lie on rays that the data fix, weights are linear and p* is quadratic.

Let u_a = p_a / |p_a| be the directions, p_a integers, h_a = X_a p_a their outputs, m_a = |p_a|^2, N = (H'H)^-1. From
r.h_a = lambda sqrt(m_a) and y - r = sum |w_a| h_a / sqrt(m_a):

    |w_a|(lambda) = sqrt(m_a) ((N H'y)_a - lambda sum_b N_ab sqrt(m_b)),    r(lambda) = y - H N (H'y - lambda sqrt(m)).

Such a formula is the solution on an interval if it is one at both ends: weights and r are affine in lambda, and (r,
lambda) with |v_b(r)| <= lambda for all blocks is a convex cone. At an end the piece of the path that holds it says
which neurons can be active at all: those of the formula tie by its equations, and the others are out by a margin,
which many digits of r show. A breakpoint is where a weight vanishes that is there on one side only; both formulas have
the same weights there.

Where the active outputs q_a span y and s = r/lambda, s stays where it is: with the same s, alpha(eta) solves sum
alpha_a q_a = eta y - s for every eta, so that the neurons are the same and |w_a| = lambda alpha_a is linear, for all
lambda at which no weight is negative. s is known exactly as in `optimum`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm
from typing import Any

from flint import fmpq_mat

from relu_cert.closed_forms.numbers import Writer, as_exact, as_flint, expression, expressions, near, root, short_root
from relu_cert.closed_forms.optimum import sharpened, solved
from relu_cert.exact import Vector, column, matrix_of, norm_squared, sqrt_upper, to_fmpq, to_fraction, to_vector
from relu_cert.figures import holds_on
from relu_cert.path.bounds import Bounds, bounds_of
from relu_cert.path.curve import Breakpoint
from relu_cert.path.pieces import PathPieces
from relu_cert.path.polynomial import least, most
from relu_cert.problem.problem import Problem
from relu_cert.prove.algebraic.field import Exact, product, solve
from relu_cert.prove.algebraic.guess import guessed_residual
from relu_cert.prove.classes import Ball, class_map, is_stable
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import LambdaMax, NeuronClass

DIGITS = (60, 250)
PLACES = 80
SHARES = (Fraction(1), Fraction(3, 4), Fraction(1, 4))
ERROR = Fraction(1, 10**60)  # what the digits leave, with room to spare


@dataclass(frozen=True)
class Ray:
    """A neuron on a ray: p_a (integers, primitive), with its sign and block, and h_a = X_a p_a."""

    sign: int
    block: int | None
    p: Vector
    h: Vector

    @property
    def m(self) -> Fraction:
        """|p_a|^2"""
        return norm_squared(self.p)


@dataclass(frozen=True)
class Formula:
    """The weights as functions of lambda: |w_a| = constant_a - slope_a lambda; p* = c_0 + c_1 lambda + c_2 lambda^2."""

    rays: tuple[Ray, ...]
    y: Vector

    @cached_property
    def inverse(self) -> fmpq_mat | None:
        """(H'H)^-1; None if the outputs are dependent."""
        H = fmpq_mat([[to_fmpq(x) for x in one.h] for one in self.rays])
        gram = H * H.transpose()
        try:
            return gram.inv()
        except ZeroDivisionError:
            return None

    @cached_property
    def fitted(self) -> Vector:
        """N H'y"""
        H = fmpq_mat([[to_fmpq(x) for x in one.h] for one in self.rays])
        return to_vector(self._N * (H * column(self.y)))

    @property
    def _N(self) -> fmpq_mat:
        if self.inverse is None:
            raise ValueError("the outputs are dependent")
        return self.inverse

    def slope(self, a: int) -> Any:
        """sqrt(m_a) sum_b N_ab sqrt(m_b), for |w_a| = constant - slope lambda."""
        from sympy import expand

        row = (to_fraction(self._N[a, b]) for b in range(len(self.rays)))
        return expand(
            root(self.rays[a].m) * sum(expression(x) * root(b.m) for x, b in zip(row, self.rays, strict=True))
        )

    def constant(self, a: int) -> Any:
        """sqrt(m_a) (N H'y)_a"""
        return root(self.rays[a].m) * expression(self.fitted[a])

    def weight(self, a: int, lam: Any) -> Any:
        """|w_a| at lambda"""
        return self.constant(a) - self.slope(a) * lam

    def value(self, lam: Any) -> Any:
        """p* = 1/2 |y|^2 - 1/2 (H'y - lambda sqrt(m))'N(H'y - lambda sqrt(m))"""
        from sympy import expand

        k = range(len(self.rays))
        left = [expression(_dot(one.h, self.y)) - lam * root(one.m) for one in self.rays]
        rest = sum((left[a] * left[b] * expression(to_fraction(self._N[a, b])) for a in k for b in k), start=0 * lam)
        return expand(expression(norm_squared(self.y)) / 2 - rest / 2)

    def residual(self, lam: Fraction, roots: Sequence[Fraction]) -> Vector:
        """r at lambda, from many digits of sqrt(m)."""
        beta = [
            self.fitted[a] - lam * sum((to_fraction(self._N[a, b]) * s for b, s in enumerate(roots)), Fraction(0))
            for a in range(len(self.rays))
        ]
        return tuple(
            t - sum((x * one.h[k] for x, one in zip(beta, self.rays, strict=True)), Fraction(0))
            for k, t in enumerate(self.y)
        )


@dataclass(frozen=True)
class PathNeuron:
    """A neuron of a stretch: its unit direction, and |w| as an expression in the symbol lambda."""

    sign: int
    block: int | None
    direction: Any
    weight: Any


@dataclass(frozen=True)
class Stretch:
    """The solution for lo <= lambda <= hi (sympy numbers): p* and the neurons, in the symbol lambda."""

    lo: Any
    hi: Any
    value: Any
    neurons: tuple[PathNeuron, ...]


@dataclass(frozen=True)
class Moving:
    """A stretch on which neurons move: with the symbol alpha their |w| add up to alpha lambda, alpha > 0, `relation`
    (in alpha and lambda) is 0, and `value` is p*. `rays` are the other neurons. `neurons` is more than 1 where as many
    share the weight in any way that fits the data: all optimal networks. Without rays `square` is lambda^2, and falls
    as alpha grows. Proved for lo <= lambda <= hi."""

    lo: Fraction
    hi: Fraction
    relation: Any
    value: Any
    square: Any = None
    rays: tuple[PathNeuron, ...] = ()
    neurons: int = 1

    @property
    def words(self) -> str:
        """Which neurons move."""
        if self.neurons > 1:
            return f"{self.neurons} neurons that move, the sum of |w| = alpha lambda"
        return "one neuron that moves, |w| = alpha lambda"


@dataclass(frozen=True)
class PathForm:
    """Breakpoints (None: without a formula), stretches in closed form, and those with one neuron that moves, in a
    parameter; from large lambda to small."""

    breakpoints: tuple[Any, ...]
    stretches: tuple[Stretch, ...]
    moving: tuple[Moving, ...]
    regions: int  # stretches that there are between the breakpoints

    @property
    def complete(self) -> bool:
        """Whether every breakpoint is a formula, and so is the solution between each two of them (most of the way,
        where a neuron moves)."""
        return None not in self.breakpoints and len(self.stretches) + len(self.moving) == self.regions

    def lines(self) -> list[str]:
        """The formulas as text."""
        from sympy import sstr

        out = [f"breakpoint lambda = {sstr(x)}" for x in self.breakpoints if x is not None]
        for one in self.stretches:
            low = f"{sstr(one.lo)} <{'=' * (one.lo != 0)} lambda"
            out += [f"for {low} <= {sstr(one.hi)}", f"  p*(lambda) = {sstr(one.value)}"]
            out += map(_line, one.neurons)
        for way in self.moving:
            where = " <= lambda <= ".join(holds_on(way.lo, way.hi, 8))
            tie = f"0 = {sstr(way.relation)}" if way.square is None else f"lambda^2 = {sstr(way.square)}"
            out += [f"for {where} {way.words}", f"  {tie}", f"  p* = {sstr(way.value)}", *map(_line, way.rays)]
        left = self.regions - len(self.stretches) - len(self.moving)
        if left:
            out.append(f"{left} of {self.regions} stretches are not linear, or not known, in closed form: {SYSTEM}")
        return out

    def to_json(self) -> dict[str, Any]:
        """The same as texts that sympy reads."""
        from sympy import sstr

        stretches = [
            {
                "lo": sstr(one.lo),
                "hi": sstr(one.hi),
                "value": sstr(one.value),
                "neurons": [
                    {
                        "sign": n.sign,
                        "block": n.block,
                        "weight": sstr(n.weight),
                        "direction": list(map(sstr, n.direction)),
                    }
                    for n in one.neurons
                ],
            }
            for one in self.stretches
        ]
        known = [None if x is None else sstr(x) for x in self.breakpoints]
        moving = [
            {"value": sstr(way.value)}
            | ({"relation": sstr(way.relation)} if way.square is None else {"lambda_squared": sstr(way.square)})
            for way in self.moving
        ]
        content = {"breakpoints": known, "stretches": stretches, "moving": moving, "complete": self.complete}
        return content | {"latex": self.latex()}

    def latex(self) -> str:
        """The formulas as LaTeX, a line for each."""
        from sympy import latex

        out = []
        for one in self.stretches:
            low = f"{latex(one.lo)} {'<' if one.lo == 0 else chr(92) + 'le'} {chr(92)}lambda"
            out.append(rf"{low} \le {latex(one.hi)}: \quad & p^{{*}} = {latex(one.value)}")
            for i, neuron in enumerate(one.neurons, 1):
                out.append(rf"& |w_{{{i}}}| = {latex(neuron.weight)}, \quad u_{{{i}}} = {latex(neuron.direction.T)}")
        return " \\\\\n".join(out)


def _line(neuron: PathNeuron) -> str:
    """A neuron of a stretch."""
    from sympy import sstr

    where = "" if neuron.block is None else f" group {neuron.block}:"
    unit = ", ".join(map(sstr, neuron.direction))
    return f"  {'+' if neuron.sign > 0 else '-'}{where} ({sstr(neuron.weight)}) ({unit})"


SYSTEM = "r + sum alpha_a G_a r = y, r.G_a r = lambda^2"
Known = Formula | Stretch | Moving | None


def path_form(problem: Problem, largest: LambdaMax, cover: PathPieces, found: Sequence[Breakpoint]) -> PathForm:
    """The formulas of a path; those that are not proved are left out."""
    top, first = sqrt_upper(largest.squared, 256), list[Any]()
    ends = [(top if top < cover.hi else cover.hi,) * 2]
    if found and found[0].at_hi is None:  # above it the network is zero
        first, ends = [root(largest.squared)], [(found[0].hi, found[0].lo)]
        found = found[1:]
    ends += [*((one.hi, one.lo) for one in found), (cover.lo,) * 2]
    between = [(upper[1], lower[0]) for upper, lower in pairwise(ends)]  # (hi, lo) of every region
    known = [_region(problem, cover, lo, hi) for hi, lo in between]
    at = [_breakpoint(problem, cover, one, *pair) for one, pair in zip(found, pairwise(known), strict=True)]
    limits = [_top(largest, cover), *at, expression(cover.lo)]
    rays = [x for x, pair in zip(at, pairwise(known), strict=True) if all(isinstance(one, Formula) for one in pair)]
    stretches = [
        _stretch(problem, cover, one, (limits[i], limits[i + 1]), between[i], rays) for i, one in enumerate(known)
    ]
    systems = tuple(one for one in known if isinstance(one, Moving))
    return PathForm((*first, *at), tuple(one for one in stretches if one is not None), systems, len(known))


def _top(largest: LambdaMax, cover: PathPieces) -> Any:
    """The largest lambda of the path at which there is a network."""
    return root(largest.squared) if largest.squared <= cover.hi**2 else expression(cover.hi)


def _region(problem: Problem, cover: PathPieces, lo: Fraction, hi: Fraction) -> Known:
    """The formula of the widest piece between two breakpoints on the whole of which the same neurons are active."""
    inside = [
        i
        for i, piece in enumerate(cover.pieces)
        if len(piece.s) > 1 and piece.plain and lo <= piece.hi and piece.lo <= hi
    ]
    found: Known = None
    still = None  # whether s moves is asked once
    for known in (
        _part(bounds_of(problem, cover, i), share)
        for share in SHARES
        for i in sorted(inside, key=lambda i: cover.pieces[i].lo / cover.pieces[i].hi)
    ):
        active = known.active()
        if active is None:
            continue
        if not active:
            return None
        rays = [_ray(problem, known.piece.classes[a]) for a in active]
        if all(ray is not None for ray in rays):
            made = Formula(tuple(sorted((ray for ray in rays if ray is not None), key=_key)), problem.y)
            return made if made.inverse is not None else None
        found = _still(problem, known, active) if still is None else None
        still = found is not None
        movers = [a for a, ray in zip(active, rays, strict=True) if ray is None]
        if found is None and len(movers) == 1:
            others = [ray for ray in rays if ray is not None]
            found = _moving(problem, cover, sorted(inside), known, (movers[0], active, others))
        if found is not None:
            return found
    return _together(problem, cover, lo, hi)


def _together(problem: Problem, cover: PathPieces, lo: Fraction, hi: Fraction) -> Moving | None:
    """The same where the residual stays orthogonal to a subspace L, in which the outputs of all classes differ: with
    the projector Pi on its complement they have one kernel, Pi B B'Pi, and the sum of their weights is that of one
    neuron for the targets Pi y."""
    fine = [piece for piece in cover.pieces if lo <= piece.hi and piece.lo <= hi]
    lifted = [piece.lifted for piece in fine]
    first = lifted[0] if fine and not any(piece.pinned for piece in fine) else None
    if first is None or len(first.groups) != 1 or first.forced or first.onset is not None:
        return None
    if any(one is None or (one.lift, one.groups, one.forced) != (first.lift, first.groups, ()) for one in lifted):
        return None
    if any([one.key for one in piece.classes] != [one.key for one in fine[0].classes] for piece in fine):
        return None
    L = matrix_of(first.lift)
    Pi = L.transpose() * (L * L.transpose()).solve(L)
    B = class_map(problem, fine[0].classes[first.groups[0][0]]).B()
    y = column(problem.y)
    made = _system(B - Pi * B, to_vector(y - Pi * y), ())
    ends = max(lo, min(piece.lo for piece in fine)), min(hi, max(piece.hi for piece in fine))
    return None if made is None else replace(made, lo=ends[0], hi=ends[1], neurons=len(first.groups[0]))


def _part(known: Bounds, share: Fraction) -> Bounds:
    """What is known of the middle part of a piece, this share of its etas: beside a breakpoint a weight is small."""
    if share == 1:
        return known
    piece = known.piece
    lo, hi = 1 / (piece.center + share * piece.half_width), 1 / (piece.center - share * piece.half_width)
    powers = [to_fmpq(share) ** j for j in range(len(piece.s))]
    s = tuple(tuple(to_fraction(to_fmpq(x) * h) for x in c) for c, h in zip(piece.s, powers, strict=True))
    weights = tuple(tuple(to_fraction(to_fmpq(x) * h) for x, h in zip(w, powers, strict=True)) for w in piece.weights)
    return replace(known, piece=replace(piece, lo=lo, hi=hi, s=s, weights=weights))


def _held(known: Bounds, neurons: Sequence[NeuronClass]) -> bool:
    """Whether on the whole piece only these neurons are active, each on its face for all residuals of the tube."""
    piece = known.piece
    if [piece.classes[a].key for a in known.active() or ()] != [one.key for one in neurons]:
        return False
    spread = sum((sqrt_upper(norm_squared(c), 64) for c in piece.s[1:]), known.R)
    return all(is_stable(known.problem, one, Ball(piece.s[0], spread**2)) for one in neurons)


def _moving(
    problem: Problem, cover: PathPieces, inside: Sequence[int], known: Bounds, who: tuple[int, Sequence[int], list[Ray]]
) -> Moving | None:
    """The formulas of `_system` on the parts of pieces around this one where they hold. `who`: the neuron that moves,
    all that are active, those of them that are on rays."""
    mover, active, rays = who
    neurons = [known.piece.classes[a] for a in active]
    if not _held(known, neurons):
        return None
    lo, hi = known.piece.lo, known.piece.hi
    for k in (*inside, *reversed(inside)):  # neighbours, upwards and downwards
        if cover.pieces[k].lo in (lo, hi) or cover.pieces[k].hi in (lo, hi):
            for share in SHARES:
                piece = _part(bounds_of(problem, cover, k), share)
                if piece.piece.lo <= hi and lo <= piece.piece.hi and _held(piece, neurons):
                    lo, hi = min(lo, piece.piece.lo), max(hi, piece.piece.hi)
                    break
    made = _system(known.maps[mover].B(), problem.y, rays)
    return None if made is None else replace(made, lo=lo, hi=hi)


def _system(B: fmpq_mat, y: Vector, rays: Sequence[Ray]) -> Moving | None:
    """r = y - alpha B c - H beta with c = B'r, H'r = lambda sqrt(m) and |c|^2 = lambda^2. The first equations are
    linear in c and beta: c + alpha B'B c + B'H beta = B'y and alpha H'B c + H'H beta = H'y - lambda sqrt(m). What is
    left is `relation`; without rays it is lambda^2 = c'c, in alpha alone. p* = 1/2 |y|^2 - 1/2 |y - r|^2."""
    from sympy import Matrix, Symbol, cancel, eye, factor, fraction

    alpha, lam = Symbol("alpha", positive=True), Symbol("lambda", positive=True)
    X, k = Matrix([[expression(to_fraction(x)) for x in row] for row in B.tolist()]), B.ncols()
    H = Matrix([[expression(x) for x in ray.h] for ray in rays]).T if rays else Matrix.zeros(len(y), 0)
    t, roots = expressions(y), Matrix([root(ray.m) for ray in rays])
    upper = (eye(k) + alpha * X.T * X).row_join(X.T * H)
    lower = (alpha * H.T * X).row_join(H.T * H)
    right = (X.T * t).col_join(H.T * t - lam * roots) if rays else X.T * t
    found = upper.col_join(lower).LUsolve(right).applyfunc(cancel)
    c, beta = found[:k, :], found[k:, :]
    fit = alpha * X * c + H * beta
    square, value = factor((c.T * c)[0]), expression(norm_squared(y)) / 2 - (fit.T * fit)[0] / 2
    others = tuple(
        PathNeuron(ray.sign, ray.block, expressions(ray.p) / root(ray.m), factor(b * root(ray.m)))
        for ray, b in zip(rays, beta, strict=True)
    )
    relation = factor(fraction(cancel(square - lam**2))[0])
    return Moving(Fraction(0), Fraction(0), relation, factor(value), None if rays else square, others)


def _still(problem: Problem, known: Bounds, active: Sequence[int]) -> Stretch | None:
    """The solution where s does not move: s exactly, from many digits in the middle of the piece."""
    from sympy import Symbol

    lam = 2 / (1 / known.piece.lo + 1 / known.piece.hi)
    maps = known.maps
    start, alpha = tuple(lam * x for x in known.point(lam)), tuple(known.weights(lam)[a] for a in active)
    for digits in DIGITS:
        sharp = sharpened([maps[a] for a in active], problem, lam, start, alpha, digits)
        if sharp is None:
            return None
        start, alpha = sharp
        field = guessed_residual(problem.y, lam, start, digits)
        proposed: list[Exact] = [*guesses(start, digits), *([] if field is None else [tuple(field)])]
        for r in proposed:
            center = tuple(lam * x for x in known.point(lam))
            found = solved(problem, lam, known.piece.classes, r, center, (lam * known.R) ** 2)
            if found is None:
                continue
            tied = {(one[0], one[2], one[1]) for one in found.tied}
            s = tuple(x / lam for x in r)
            if not _faces_hold(known, lam, near(s), [neuron.key in tied for neuron in known.piece.classes]):
                return None
            rows = [[as_flint(one[4][k] / lam) for one in found.tied] for k in range(len(r))]
            by_y = solve(rows, [as_flint(x + r[0] * 0) for x in problem.y])
            by_s = solve(rows, [as_flint(x) for x in s])
            if by_y is None or by_s is None:
                return None
            symbol, write = Symbol("lambda", positive=True), Writer([x for one in found.tied for x in one[3]])
            lines = [(as_exact(a), as_exact(b)) for a, b in zip(by_y, by_s, strict=True)]
            neurons = tuple(
                PathNeuron(one[0], one[1], write.column(tuple(x / lam for x in one[3])), write(a) - write(b) * symbol)
                for one, (a, b) in zip(found.tied, lines, strict=True)
            )
            value = write(product(problem.y, s)) * symbol - write(product(s, s)) * symbol**2 / 2
            lo, hi = _range(lines)
            return None if hi is None else Stretch(write(lo), write(hi), value, neurons)
    return None


def _range(lines: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Where a - b lambda >= 0 for all (a, b), within lambda >= 0; (., None) if that is not bounded above."""
    lo: Any = Fraction(0)
    hi: Any = None
    for a, b in lines:
        if b > 0 and (hi is None or a / b < hi):
            hi = a / b
        if b < 0 and a / b > lo:
            lo = a / b
    return lo, hi


def _key(ray: Ray) -> tuple[Any, ...]:
    return -ray.sign, ray.block or 0, ray.p, ray.h


def _ray(problem: Problem, neuron: NeuronClass) -> Ray | None:
    """The direction of a class whose face is a ray: on the side that its pattern, or its block, allows."""
    one = class_map(problem, neuron)
    if one.P.rank() != 1:
        return None
    p = next(row for row in (to_vector(fmpq_mat([r])) for r in one.P.tolist()) if any(row))
    q = lcm(*(x.denominator for x in p))
    integers = [int(x * q) for x in p]
    p = tuple(Fraction(x, gcd(*integers)) for x in integers)
    h = to_vector(one.X * column(p))
    if neuron.block is None:
        if any(x < 0 for x in h):
            p, h = tuple(-x for x in p), tuple(-x for x in h)
        if any(x < 0 for x in h) or not any(h):
            return None
        return Ray(neuron.sign, None, p, tuple(neuron.sign * x for x in h))
    K = problem.blocks[neuron.block].K
    if K is not None and any(_dot(k, p) > 0 for k in zip(*K, strict=True)):
        p, h = tuple(-x for x in p), tuple(-x for x in h)
    return Ray(neuron.sign, neuron.block, p, h)


def _breakpoint(problem: Problem, cover: PathPieces, one: Breakpoint, above: Known, below: Known) -> Any:
    """The lambda of the change, exactly, and proved there; None if it is not known."""
    from sympy import radsimp, simplify

    for side, end in ((below, "hi"), (above, "lo")):
        if isinstance(side, Stretch) and one.lo < _rational(getattr(side, end)) < one.hi:
            return getattr(side, end)
    if isinstance(below, Moving) and isinstance(above, Moving):
        return _eliminated(problem, cover, one, above, below)
    if not isinstance(below, Formula) or not isinstance(above, Formula):
        return None
    more, fewer = (below, above) if len(below.rays) > len(above.rays) else (above, below)
    if not set(fewer.rays) < set(more.rays):
        return None
    going = [a for a, ray in enumerate(more.rays) if ray not in fewer.rays]
    slope = more.slope(going[0])
    if slope == 0:
        return None
    lam = radsimp(more.constant(going[0]) / slope)
    if any(simplify(more.weight(a, lam)) != 0 for a in going) or not one.lo < _rational(lam) < one.hi:
        return None
    return lam if _holds(problem, cover, more, lam, going) else None


def _eliminated(problem: Problem, cover: PathPieces, one: Breakpoint, above: Moving, below: Moving) -> Any:
    """Where a neuron on a ray enters or leaves beside one that moves: its weight and `relation` vanish, and the
    resultant by alpha has a single root between the ends.

    On the piece of the change only these neurons can be active, and the others have weight all along: at the last
    lambda at which the one has weight it still ties, and its weight is 0, by continuity."""
    from sympy import Poly, Pow, Rational, Symbol, factor_list, fraction, resultant

    more, fewer = (below, above) if len(below.rays) > len(above.rays) else (above, below)
    kept = [(ray.sign, ray.block, ray.direction) for ray in fewer.rays]
    going = [ray for ray in more.rays if (ray.sign, ray.block, ray.direction) not in kept]
    if len(going) != 1 or one.at_hi is None or one.at_lo.piece != one.at_hi.piece:
        return None
    sides = [one.at_lo.weights, one.at_hi.weights]
    changed = [a for a, pair in enumerate(zip(*sides, strict=True)) if bool(pair[0]) != bool(pair[1])]
    known = bounds_of(problem, cover, one.at_lo.piece)
    highest = [to_fraction(most([to_fmpq(x) for x in row])) for row in known.piece.weights]
    error = known.error(known.R, known.R, highest)
    rows = known.piece.weights
    if len(changed) != 1 or len(rows) != len(more.rays) + 1:
        return None
    if any(to_fraction(least([to_fmpq(x) for x in row])) <= error for a, row in enumerate(rows) if a not in changed):
        return None
    alpha, lam = Symbol("alpha", positive=True), Symbol("lambda", positive=True)
    pair = [fraction(x)[0].expand() for x in (more.relation, going[0].weight)]
    roots = sorted({x for p in pair for x in p.atoms(Pow) if x.exp == Rational(1, 2)}, key=str)
    names = [Symbol(f"s{i}") for i in range(len(roots))]
    plain = [p.subs(dict(zip(roots, names, strict=True))) for p in pair]
    left = resultant(plain[0], plain[1], alpha)
    for name, x in zip(names, roots, strict=True):
        left = resultant(left, name**2 - x.base, name)
    lo, hi = (Rational(*x.as_integer_ratio()) for x in (one.lo, one.hi))
    inside = [Poly(p, lam) for p, _ in factor_list(left)[1] if p.has(lam)]
    inside = [p for p in inside if p.count_roots(lo, hi)]
    if len(inside) != 1 or inside[0].count_roots(lo, hi) != 1:
        return None
    return short_root(inside[0], lo, hi)


def _rational(lam: Any) -> Fraction:
    """The number to many digits."""
    from sympy import Integer, floor

    return Fraction(int(floor(lam.evalf(2 * PLACES) * Integer(10) ** PLACES)), 10**PLACES)


def _holds(problem: Problem, cover: PathPieces, formula: Formula, lam: Any, going: Sequence[int] = ()) -> bool:
    """Whether the formula is the solution at lambda; the weights of `going` are 0 there."""
    at = _rational(lam)
    return any(
        _holds_in(problem, cover, i, formula, at, going)
        for i, piece in enumerate(cover.pieces)
        if piece.plain and (piece.lo + ERROR < at < piece.hi - ERROR or at in (piece.lo, piece.hi))
    )


def _holds_in(
    problem: Problem, cover: PathPieces, piece: int, formula: Formula, at: Fraction, going: Sequence[int]
) -> bool:
    """The same at a lambda that is this at, on the ground of a piece that it lies in."""
    known = bounds_of(problem, cover, piece)
    roots = [sqrt_upper(one.m, 4 * PLACES) for one in formula.rays]
    s = tuple(x / at for x in formula.residual(at, roots))
    if any(_weight(formula, a, at, roots) <= ERROR for a in range(len(formula.rays)) if a not in going):
        return False
    away = norm_squared(tuple(a - b for a, b in zip(s, known.point(at), strict=True)))
    if sqrt_upper(away, 256) + ERROR > known.R:
        return False
    return _faces_hold(known, at, s, [_ray(problem, one) in formula.rays for one in known.piece.classes])


def _faces_hold(known: Bounds, lam: Fraction, s: Vector, tied: Sequence[bool]) -> bool:
    """Whether at the true s, within ERROR of this one and in the tube of the piece, every class that ties has its face,
    and every other one is out."""
    ball, point, middle = Ball(s, ERROR**2), column(s), column(known.point(lam))
    for a, (neuron, one) in enumerate(zip(known.piece.classes, known.maps, strict=True)):
        stable = is_stable(known.problem, neuron, ball)
        inside = stable and one.length_squared(point) < 1 - ERROR
        if not (stable if tied[a] else inside or known.out(a, one.length_squared(middle), known.R)):
            return False
    return True


def _weight(formula: Formula, a: int, lam: Fraction, roots: Sequence[Fraction]) -> Fraction:
    """|w_a|, to many digits."""
    row = (to_fraction(formula._N[a, b]) for b in range(len(roots)))
    return roots[a] * (formula.fitted[a] - lam * sum((x * s for x, s in zip(row, roots, strict=True)), Fraction(0)))


def _stretch(
    problem: Problem,
    cover: PathPieces,
    formula: Known,
    limits: tuple[Any, Any],
    between: tuple[Fraction, Fraction],
    proved: Sequence[Any],
) -> Stretch | None:
    """The formula between two lambdas at which it is proved: exact breakpoints, or else rational ones inside."""
    if not isinstance(formula, Formula):
        return formula if isinstance(formula, Stretch) else None
    from sympy import Symbol, simplify

    hi, lo = limits
    ends = []
    for exact, inside in ((lo, between[1]), (hi, between[0])):
        for end in (exact, expression(inside)):
            if end is None:
                continue
            going = [a for a in range(len(formula.rays)) if simplify(formula.weight(a, end)) == 0]
            if end in proved or _holds(problem, cover, formula, end, going):
                ends.append(end)
                break
    if len(ends) != 2:
        return None
    lam = Symbol("lambda", positive=True)
    neurons = tuple(
        PathNeuron(ray.sign, ray.block, expressions(ray.p) / root(ray.m), formula.weight(a, lam))
        for a, ray in enumerate(formula.rays)
    )
    return Stretch(ends[0], ends[1], formula.value(lam), neurons)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
