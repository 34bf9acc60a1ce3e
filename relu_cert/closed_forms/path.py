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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm
from typing import Any

from flint import arb, arb_poly, ctx, fmpq_mat

from relu_cert.closed_forms.numbers import (
    Writer,
    aligned,
    as_exact,
    as_flint,
    expression,
    expressions,
    near,
    root,
    said,
    short_root,
)
from relu_cert.closed_forms.optimum import sharpened, solved
from relu_cert.exact import Matrix, Vector, column, matrix_of, norm_squared, sqrt_upper, to_fmpq, to_fraction, to_vector
from relu_cert.figures import holds_on
from relu_cert.path.bounds import Bounds, bounds_of
from relu_cert.path.curve import Breakpoint
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.path.tube import least, most
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import Ball, class_map, is_stable
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import LambdaMax, NeuronClass
from relu_cert.prove.field import Exact, guessed_residual, product, solve

DIGITS = (60, 250)
PLACES = 80
MANY, MOST_MOVERS, MOST_TERMS = 10**6, 3, 400
THIN, ALPHA_PLACES = Fraction(1, 10**60), 20  # the intervals of roots
SHORT = 10**6  # longer denominators of rational ends are told in decimals
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
    """A stretch on which neurons move, lo <= lambda <= hi: with symbols alpha > 0 the weight |w| of each of `movers` is
    its alpha times lambda, the `relations` (in the alphas and lambda) are 0, and `value` is p*. `rays` are the other
    neurons. `shared`: the |w| of all movers add up to alpha lambda, and they share it in any way that fits the data:
    all optimal networks. With one alpha and no rays `square` is lambda^2, and falls as alpha grows."""

    lo: Any
    hi: Any
    relations: tuple[Any, ...]
    value: Any
    square: Any = None
    rays: tuple[PathNeuron, ...] = ()
    movers: tuple[PathNeuron, ...] = ()
    shared: bool = False
    classes: tuple[NeuronClass, ...] = ()  # of the movers, then of the rays
    residual: Any = None  # in the alphas and lambda

    @property
    def words(self) -> str:
        """Which neurons move."""
        if self.shared:
            return f"{len(self.movers)} neurons that move, the sum of |w| = alpha lambda"
        if len(self.movers) > 1:
            return f"{len(self.movers)} neurons that move, |w_i| = alpha_i lambda"
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
    def ways(self) -> tuple[Stretch | Moving, ...]:
        """All stretches with a formula, from large lambda to small."""
        return tuple(sorted((*self.stretches, *self.moving), key=lambda way: -_rational(way.hi)))

    @property
    def complete(self) -> bool:
        """Whether every breakpoint is a formula, and so is the solution between each two of them, all the way."""
        if None in self.breakpoints or len(self.ways) != self.regions:
            return False
        return all(_rational(upper.lo - lower.hi) < ERROR for upper, lower in pairwise(self.ways))

    def lines(self) -> list[str]:
        """The formulas as text."""
        from sympy import sstr

        out = [f"breakpoint lambda = {said(x)}" for x in self.breakpoints if x is not None]
        for way in self.ways:
            if isinstance(way, Moving):
                out += [f"for {way_ends(way)} {way.words}", *(f"  {told}" for told in way_lines(way))]
                out += [*map(_line, way.movers), *map(_line, way.rays)]
            else:
                out += [f"for {way_ends(way)}", f"  p*(lambda) = {sstr(way.value)}", *map(_line, way.neurons)]
        left = self.regions - len(self.stretches) - len(self.moving)
        if left:
            out.append(f"{left} of {self.regions} stretches are not linear, or not known, in closed form: {SYSTEM}")
        if unknown := self.breakpoints.count(None):
            out.append(f"{unknown} of {len(self.breakpoints)} breakpoints have no formula")
        return out

    def to_json(self) -> dict[str, Any]:
        """The same as texts that sympy reads."""
        from sympy import sstr

        stretches = [
            {
                "lo": sstr(one.lo),
                "hi": sstr(one.hi),
                "value": sstr(one.value),
                "neurons": list(map(_neuron_json, one.neurons)),
            }
            for one in self.stretches
        ]
        known = [None if x is None else sstr(x) for x in self.breakpoints]
        moving = [
            {
                "lo": sstr(way.lo),
                "hi": sstr(way.hi),
                "value": sstr(way.value),
                "shared": way.shared,
                "movers": list(map(_neuron_json, way.movers)),
                "neurons": list(map(_neuron_json, way.rays)),
            }
            | ({"relations": list(map(sstr, way.relations))} if way.square is None else {})
            | ({} if way.square is None else {"lambda_squared": sstr(way.square)})
            for way in self.moving
        ]
        content = {"breakpoints": known, "stretches": stretches, "moving": moving, "complete": self.complete}
        return content | {"latex": self.latex()}

    def equations(self) -> Iterator[tuple[Any, Any]]:
        """Names and what they are, stretch by stretch, for people."""
        from sympy import Integer, Symbol

        for x in self.breakpoints:
            if x is not None:
                yield Symbol("lambda_break"), x
        for way in self.ways:
            yield Symbol("lambda_from"), way.hi
            yield Symbol("lambda_to"), way.lo
            if isinstance(way, Moving):
                ties = way.relations if way.square is None else (way.square,)
                for tie in ties:
                    yield Integer(0) if way.square is None else Symbol("lambda") ** 2, tie
            yield Symbol("p^{*}"), way.value
            neurons = (*way.movers, *way.rays) if isinstance(way, Moving) else way.neurons
            for k, neuron in enumerate(neurons, 1):
                if neuron.weight is not None:
                    yield Symbol(f"|w_{k}|"), neuron.weight
                yield Symbol(f"u_{k}"), neuron.direction.T
                if neuron.sign < 0:
                    yield Symbol(f"xi_{k}"), Integer(-1)

    def latex(self) -> str:
        """The formulas as LaTeX, a line for each."""
        from sympy import latex

        return " \\\\\n".join(f"{latex(left)} &= {latex(right)}" for left, right in self.equations())

    def _repr_latex_(self) -> str:
        """The formulas in a notebook."""
        return aligned(self.latex())


def way_ends(way: Stretch | Moving) -> str:
    """The lambdas of a stretch: exactly, or decimals for which it is proved."""
    short = holds_on(_rational(way.lo), _rational(way.hi), 8)
    lo, hi = (
        near if x.is_Rational and x.q > SHORT else said(x) for x, near in zip((way.lo, way.hi), short, strict=True)
    )
    return f"{lo} <{'=' * (way.lo != 0)} lambda <= {hi}"


def way_lines(way: Moving) -> list[str]:
    """What holds of the alphas, and p*."""
    from sympy import sstr

    ties = [f"0 = {sstr(x)}" for x in way.relations] if way.square is None else [f"lambda^2 = {sstr(way.square)}"]
    return [*ties, f"p* = {sstr(way.value)}"]


def _number(x: Any) -> Any:
    return expression(x) if isinstance(x, Fraction) else x


def _neuron_json(neuron: PathNeuron) -> dict[str, Any]:
    from sympy import sstr

    weight = None if neuron.weight is None else sstr(neuron.weight)
    direction = list(map(sstr, neuron.direction))
    return {"sign": neuron.sign, "block": neuron.block, "weight": weight, "direction": direction}


def _line(neuron: PathNeuron) -> str:
    """A neuron of a stretch."""
    from sympy import sstr

    where = "" if neuron.block is None else f" group {neuron.block}:"
    unit, weight = ", ".join(map(sstr, neuron.direction)), "w" if neuron.weight is None else sstr(neuron.weight)
    return f"  {'+' if neuron.sign > 0 else '-'}{where} ({weight}) ({unit})"


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
    for i, one in enumerate(known):
        if not isinstance(one, Moving):
            continue
        if one.shared:
            if not i and one.hi == between[0][0] and not any(gap.hi > one.hi for gap in cover.gaps):
                known[i] = replace(one, hi=_top(largest, cover))
            continue
        breaks = (found[i] if i < len(found) else None, found[i - 1] if i else None)
        told = (at[i] if i < len(found) else None, at[i - 1] if i else None)
        top_ = first[0] if first and not i else None
        known[i] = way = _widened(problem, cover, one, breaks, (between[i][1], between[i][0]), top_, told)
        for k, end in ((i, way.lo), (i - 1, way.hi)):
            if 0 <= k < len(at) and at[k] is None and not isinstance(end, Fraction):
                at[k] = end
    limits = [_top(largest, cover), *at, expression(cover.lo)]
    rays = [x for x, pair in zip(at, pairwise(known), strict=True) if all(isinstance(one, Formula) for one in pair)]
    stretches = [
        _stretch(problem, cover, one, (limits[i], limits[i + 1]), between[i], rays) for i, one in enumerate(known)
    ]
    systems = tuple(replace(one, lo=_number(one.lo), hi=_number(one.hi)) for one in known if isinstance(one, Moving))
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
        if found is None and len(movers) <= MOST_MOVERS:
            others = [ray for ray in rays if ray is not None]
            found = _moving(problem, cover, sorted(inside), known, (movers, active, others))
        if found is not None:
            return found
    return _together(problem, cover, lo, hi)


def _together(problem: Problem, cover: PathPieces, lo: Fraction, hi: Fraction) -> Moving | None:
    """The same where the residual stays orthogonal to a subspace L, in which the outputs of all classes differ: with
    the projector Pi on its complement they have one kernel, Pi B B'Pi, and the sum of their weights is that of one
    neuron for the targets Pi y. No other neuron can be active, and without it s would be y / lambda."""
    fine = [piece for piece in cover.pieces if lo <= piece.hi and piece.lo <= hi]
    lifts = [_lift(piece) for piece in fine]
    if not fine or lifts[0] is None or any(lift != lifts[0] for lift in lifts):
        return None
    if any([one.key for one in piece.classes] != [one.key for one in fine[0].classes] for piece in fine):
        return None
    L = matrix_of(lifts[0])
    Pi = L.transpose() * (L * L.transpose()).solve(L)
    maps = [(one, class_map(problem, one).B()) for one in fine[0].classes]
    seen = [B - Pi * B for _, B in maps]
    if any(B * B.transpose() != seen[0] * seen[0].transpose() for B in seen):
        return None
    y = column(problem.y)
    made = _system([(fine[0].classes[0], seen[0])], to_vector(y - Pi * y), ())
    if made is None:
        return None
    lam = positive("lambda")
    movers = tuple(_mover(one, B, made.residual, lam, None) for one, B in maps)
    ends = max(lo, min(piece.lo for piece in fine)), min(hi, max(piece.hi for piece in fine))
    return replace(made, lo=ends[0], hi=ends[1], movers=movers, shared=True)


def _lift(piece: Piece) -> Matrix | None:
    """The subspace to which s is orthogonal on all of a piece with one superclass; None if it is another one."""
    if piece.even is not None:
        return piece.even.lift if piece.even.lift and not piece.even.rays else None
    known = piece.lifted
    if known is None or piece.pinned or len(known.groups) != 1 or known.forced or known.onset is not None:
        return None
    return known.lift


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
    problem: Problem,
    cover: PathPieces,
    inside: Sequence[int],
    known: Bounds,
    who: tuple[Sequence[int], Sequence[int], list[Ray]],
) -> Moving | None:
    """The formulas of `_system` on the parts of pieces around this one where they hold. `who`: the neurons that move,
    all that are active, those of them that are on rays."""
    movers, active, rays = who
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
    made = _system([(known.piece.classes[a], known.maps[a].B()) for a in movers], problem.y, rays)
    first = [known.piece.classes[a] for a in movers]
    return (
        None
        if made is None
        else replace(made, lo=lo, hi=hi, classes=(*first, *(one for one in neurons if one not in first)))
    )


def _system(movers: Sequence[tuple[NeuronClass, fmpq_mat]], y: Vector, rays: Sequence[Ray]) -> Moving | None:
    """r = y - sum alpha_a B_a c_a - H beta with c_a = B_a'r, H'r = lambda sqrt(m) and |c_a|^2 = lambda^2. The first
    equations are linear in c and beta: c + B'B A c + B'H beta = B'y and H'B A c + H'H beta = H'y - lambda sqrt(m), with
    all B_a side by side and A of the alphas. What is left are `relations`; without rays, and with one neuron, it is
    lambda^2 = c'c, in alpha alone. p* = 1/2 |y|^2 - 1/2 |y - r|^2."""
    from sympy import QQ, Matrix, cancel, factor, fraction
    from sympy.polys.matrices import DomainMatrix

    names = ["alpha"] if len(movers) == 1 else [f"alpha_{i + 1}" for i in range(len(movers))]
    alphas, lam = [positive(name) for name in names], positive("lambda")
    columns = [[(a, list(map(to_fraction, c))) for c in B.transpose().tolist()] for a, (_, B) in enumerate(movers)]
    listed = [(alphas[a], c) for part in columns for a, c in part if any(c)]
    whose = [a for part in columns for a, c in part if any(c)]
    h, k = [ray.h for ray in rays], len(listed)
    field = QQ[tuple(alphas)].get_field()
    everything = [*(c for _, c in listed), *h]
    weights = [*(alpha for alpha, _ in listed), *[1] * len(h)]
    rows = [
        [
            field.from_sympy(expression(_dot(a, b)) * w + (1 if i == j and i < k else 0))
            for j, (b, w) in enumerate(zip(everything, weights, strict=True))
        ]
        for i, a in enumerate(everything)
    ]
    size = len(rows)
    right = [
        [
            field.from_sympy(expression(_dot(a, y))),
            *(field.from_sympy(expression(int(i == k + j))) for j in range(len(h))),
        ]
        for i, a in enumerate(everything)
    ]
    solution = DomainMatrix(rows, (size, size), field).lu_solve(DomainMatrix(right, (size, len(h) + 1), field))
    solved_ = solution.to_Matrix()
    shift = Matrix([1, *(-lam * root(ray.m) for ray in rays)])
    found = (solved_ * shift).applyfunc(cancel)
    if max(x.count_ops() for x in found) > MOST_TERMS:
        return None
    full = [expressions(tuple(c)) * (w * found[i]) for i, (c, w) in enumerate(zip(everything, weights, strict=True))]
    fit = sum(full[1:], full[0])
    squares = [factor(sum(found[i] ** 2 for i in range(k) if whose[i] == a)) for a in range(len(movers))]
    value = expression(norm_squared(y)) / 2 - (fit.T * fit)[0] / 2
    others = tuple(
        PathNeuron(ray.sign, ray.block, expressions(ray.p) / root(ray.m), factor(b * root(ray.m)))
        for ray, b in zip(rays, found[k:], strict=True)
    )
    relations = tuple(factor(fraction(cancel(one - lam**2))[0]) for one in squares)
    residual = (expressions(y) - fit).applyfunc(cancel)
    moving = tuple(_mover(one, B, residual, lam, alpha) for (one, B), alpha in zip(movers, alphas, strict=True))
    square = squares[0] if len(movers) == 1 and not rays else None
    zero = Fraction(0)
    return Moving(zero, zero, relations, factor(value), square, others, moving, residual=residual)


def positive(name: str) -> Any:
    """A positive symbol."""
    from sympy import Symbol

    return Symbol(name, positive=True)


def _mover(neuron: NeuronClass, B: fmpq_mat, residual: Any, lam: Any, alpha: Any) -> PathNeuron:
    """A neuron that moves: u = B'r / lambda, and |w| = alpha lambda, if it has an alpha of its own."""
    from sympy import Matrix, factor

    rows = Matrix([[expression(to_fraction(x)) for x in row] for row in B.transpose().tolist()])
    direction = (rows * residual * neuron.sign / lam).applyfunc(factor)
    return PathNeuron(neuron.sign, neuron.block, direction, None if alpha is None else alpha * lam)


def _widened(
    problem: Problem,
    cover: PathPieces,
    way: Moving,
    breaks: tuple[Breakpoint | None, Breakpoint | None],
    region: tuple[Fraction, Fraction],
    top: Any,
    known: tuple[Any, Any],
) -> Moving:
    """The same stretch up to the ends of its region: exact breakpoints (`known`, or found here), or rational ends.

    Going from the proved part towards an end, the active neurons stay the same until another class of a piece ties,
    |v_b| = lambda, or a weight is 0; and until then the relations hold, because the solution is continuous. So the
    stretch ends at the first lambda at which a relation and one of these equations have a solution."""
    ends: list[Any] = [way.lo, way.hi]
    inner = (way.lo + way.hi) / 2
    for side, one in enumerate(breaks):
        outer = region[side] if one is None else (one.lo, one.hi)[side]
        events = _events(problem, cover, way, min(inner, outer), max(inner, outer))
        if events is None:
            continue
        if side and top is not None:
            if way.square is not None and not any(_between_alphas(way, event, inner, None) for event in events):
                ends[side] = top
            continue
        roots = [(event, n) for event in events if (n := _crossings(way, event, inner, outer))]
        if not roots:
            ends[side] = region[side]
        elif one is not None and all(n == 1 for _, n in roots):
            met = {_crossing(way, event, one.lo, one.hi, known[side]) for event, _ in roots}
            exact = met.pop()  # neurons that mirror each other tie at the same lambda
            ends[side] = ends[side] if met or exact is None else exact
    return replace(way, lo=ends[0], hi=ends[1])


def _events(problem: Problem, cover: PathPieces, way: Moving, lo: Fraction, hi: Fraction) -> list[Any] | None:
    """What is 0 where another class of these pieces ties or a ray has no weight; None if a piece does not have them."""
    from sympy import Matrix, fraction, together

    others: dict[NeuronClass, None] = {}
    for piece in cover.pieces:
        if piece.lo <= hi and lo <= piece.hi:
            if not piece.plain or not set(way.classes) <= set(piece.classes):
                return None
            others |= dict.fromkeys(one for one in piece.classes if one not in way.classes)
    lam, out = positive("lambda"), [fraction(together(ray.weight))[0] for ray in way.rays]
    for one in others:
        rows = Matrix(
            [[expression(to_fraction(x)) for x in row] for row in class_map(problem, one).B().transpose().tolist()]
        )
        v = rows * way.residual
        level = lam**2 if way.square is None else way.square
        out.append(fraction(together((v.T * v)[0] - level))[0].expand())
    return out


def _between_alphas(way: Moving, event: Any, inner: Fraction, outer: Fraction | None) -> int:
    """How many alphas between those of two lambdas (None: lambda_max, alpha = 0) solve an event, with one alpha alone:
    lambda falls as alpha grows."""
    from sympy import Poly, Rational

    (alpha,) = way.square.free_symbols
    poly = Poly(event, alpha)
    if poly.is_zero:
        return MANY
    while outer is None and poly.eval(0) == 0:
        poly = poly.quo(Poly(alpha, alpha))
    ends = sorted((_alpha_at(way, alpha, inner), Rational(0) if outer is None else _alpha_at(way, alpha, outer)))
    return int(poly.count_roots(*ends))


def _alpha_at(way: Moving, alpha: Any, lam: Fraction) -> Any:
    """The alpha of a lambda that is equal to this one to many digits."""
    from sympy import Poly, Rational, fraction

    top, bottom = fraction(way.square)
    poly = Poly(top - expression(lam**2) * bottom, alpha)
    found = [x for x in poly.real_roots() if x.is_positive]  # one, or none above lambda_max
    return Rational(*_rational(found[0]).as_integer_ratio()) if found else Rational(0)


def _crossings(way: Moving, event: Any, inner: Fraction, outer: Fraction) -> int:
    """At most so many solutions there are of the relation and an event, between two lambdas."""
    if way.square is not None:
        return _between_alphas(way, event, inner, outer)
    if len(way.movers) > 1:
        return MANY
    lo, hi = (expression(x) for x in sorted((inner, outer)))
    places = [
        place
        for poly in _resultant(way.relations[0], event)
        for place, _ in poly.intervals(eps=expression(THIN), inf=lo, sup=hi)
    ]
    return sum(_may_meet(way, event, *map(to_fraction, place)) for place in places)


def _may_meet(way: Moving, event: Any, lo: Fraction, hi: Fraction) -> bool:
    """Whether the event may be 0 at the positive alpha that solves the relation, for some lo <= lambda <= hi, if there
    is one alone by Descartes' rule: then common solutions with other signs, or conjugates, are told from it."""
    with ctx.workprec(8 * PLACES):
        lam = arb(to_fmpq(lo)).union(arb(to_fmpq(hi)))
        relation, other = (arb_poly(_in_alpha(p, lam)) for p in (way.relations[0], event))
        signs = [x > 0 for x in relation.coeffs() if x > 0 or x < 0]
        if len(signs) < len(relation) or sum(a != b for a, b in pairwise(signs)) != 1:
            return True
        low, high = Fraction(0), Fraction(1)
        while (relation(arb(to_fmpq(high))) > 0) != signs[-1]:
            high *= 2
        while high - low > high / 10**ALPHA_PLACES:
            middle = (low + high) / 2
            at = relation(arb(to_fmpq(middle)))
            if at.contains(0):
                return True
            low, high = (low, middle) if (at > 0) == signs[-1] else (middle, high)
        return bool(other(arb(to_fmpq(low)).union(arb(to_fmpq(high)))).contains(0))


def _in_alpha(p: Any, lam: arb) -> list[arb]:
    """The coefficients of a polynomial in alpha and lambda, for a ball of lambdas."""
    from sympy import Poly

    found = dict[int, arb]()
    for (j, k), c in Poly(p.expand(), positive("alpha"), positive("lambda")).terms():
        near = arb(to_fmpq(_rational(c))) + arb(0, 1) * arb(to_fmpq(ERROR))
        found[j] = found.get(j, arb(0)) + near * lam**k
    return [found.get(j, arb(0)) for j in range(max(found) + 1)]


def _crossing(way: Moving, event: Any, lo: Fraction, hi: Fraction, known: Any) -> Any:
    """Their only solution between lo and hi: as it is known, or as the root of a factor of the resultant."""
    a, b = expression(lo), expression(hi)
    inside = [poly for poly in _resultant(way.relations[0], event) if poly.count_roots(a, b)]
    if len(inside) != 1 or inside[0].count_roots(a, b) != 1:
        return None
    if known is not None and inside[0].eval(known).expand() == 0:
        return known
    return short_root(inside[0], a, b)


def _resultant(*pair: Any) -> list[Any]:
    """Factors of what is 0 in lambda where both are 0 in lambda and alpha; square roots of rationals are eliminated,
    too, with their conjugates."""
    from sympy import Poly, Pow, Rational, factor_list, resultant

    roots = sorted({x for p in pair for x in p.atoms(Pow) if x.exp == Rational(1, 2)}, key=str)
    names = [positive(f"s{i}") for i in range(len(roots))]
    plain = [p.expand().subs(dict(zip(roots, names, strict=True))) for p in pair]
    left = resultant(plain[0], plain[1], positive("alpha"))
    for name, x in zip(names, roots, strict=True):
        left = resultant(left, name**2 - x.base, name)
    lam = positive("lambda")
    return [Poly(p, lam) for p, _ in factor_list(left)[1] if p.has(lam)]


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
    from sympy import Rational, fraction

    if len(above.movers) > 1 or len(below.movers) > 1:
        return None
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
    lo, hi = (Rational(*x.as_integer_ratio()) for x in (one.lo, one.hi))
    inside = [p for p in _resultant(more.relations[0], fraction(going[0].weight)[0]) if p.count_roots(lo, hi)]
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
