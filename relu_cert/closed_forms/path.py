"""The path in formulas: where all active neurons lie on rays that the data fix, weights are linear and p* is quadratic.

Let u_a = p_a / |p_a| be the directions, p_a integers, h_a = X_a p_a their outputs, m_a = |p_a|^2, N = (H'H)^-1. From
r.h_a = lambda sqrt(m_a) and y - r = sum |w_a| h_a / sqrt(m_a):

    |w_a|(lambda) = sqrt(m_a) ((N H'y)_a - lambda sum_b N_ab sqrt(m_b)),    r(lambda) = y - H N (H'y - lambda sqrt(m)).

Such a formula is the solution on an interval if it is one at both ends: weights and r are affine in lambda, and (r,
lambda) with |v_b(r)| <= lambda for all blocks is a convex cone. Where neurons move, the same ones are proved to be
active from one breakpoint to the next (`branches`). Inside of a proved breakpoint the formulas of one side hold as far
as their conditions are strict; if one alone may fail there, they end where it does: at a root of what elimination
gives, the only one in the breakpoint.

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

from flint import Ordering, fmpq_mat, fmpz_mpoly, fmpz_mpoly_ctx

from relu_cert.closed_forms.branches import Branch, Start, part_of, same, start_at, start_in
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
from relu_cert.figures import holds_on, lies_in
from relu_cert.path.bounds import Bounds, bounds_of
from relu_cert.path.curve import Breakpoint
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import Ball, class_map, is_stable
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import LambdaMax, NeuronClass
from relu_cert.prove.field import Exact, guessed_residual, product, solve

DIGITS = (60, 250)
PLACES = 80
MANY, MOST_TERMS, MOST_DEGREE = 10**15, 400, 40
BESIDE = Fraction(1, 1 << 40)  # of a rational lambda_max
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

    def residual(self, lam: Any) -> Any:
        """r at lambda"""
        k = range(len(self.rays))
        fit = (expressions(one.h) * (self.weight(a, lam) / root(one.m)) for a, one in zip(k, self.rays, strict=True))
        return sum(fit, -expressions(self.y)) * -1


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
    """A stretch on which neurons move, lo <= lambda <= hi: the `relations` are 0, in alpha > 0 and lambda if one neuron
    moves, |w| = alpha lambda, else in the weights w_i > 0 and directions u_i; `value` is p*. `rays` are the other
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
    residual: Any = None
    near: tuple[tuple[str, str], ...] = ()  # with equations: lambda, and what solves them there, about

    @property
    def words(self) -> str:
        """Which neurons move."""
        if self.shared:
            return f"{len(self.movers)} neurons that move, the sum of |w| = alpha lambda"
        if len(self.relations) > 1:
            count = "one neuron that moves" if len(self.movers) == 1 else f"{len(self.movers)} neurons that move"
            return f"{count}, w_i = |w_i| and u_i by these equations"
        return "one neuron that moves, |w| = alpha lambda"


@dataclass(frozen=True)
class PathForm:
    """Breakpoints (None: without a formula), stretches in closed form, and those with one neuron that moves, in a
    parameter; from large lambda to small."""

    breakpoints: tuple[Any, ...]
    stretches: tuple[Stretch, ...]
    moving: tuple[Moving, ...]
    regions: int  # stretches that there are between the breakpoints
    enclosures: tuple[tuple[Fraction, Fraction], ...]  # of the breakpoints, proved

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

        near = [lies_in(*pair, 8) for pair in self.enclosures]
        told = zip(self.breakpoints, near, strict=True)
        out = [
            f"breakpoint lambda in [{lo}, {hi}]" if x is None else f"breakpoint lambda = {said(x)}"
            for x, (lo, hi) in told
        ]
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
            out.append(
                f"{unknown} of {len(self.breakpoints)} breakpoints are enclosed: where the equations of both sides meet"
            )
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
            | ({"near": dict(way.near)} if way.near else {})
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


def path_form(problem: Problem, largest: LambdaMax, cover: PathPieces, found: Sequence[Breakpoint]) -> PathForm:
    """The formulas of a path; those that are not proved are left out."""
    first = bool(found) and found[0].at_hi is None  # above it the network is zero
    limits: list[Breakpoint | None] = [*found, None] if first else [None, *found, None]
    spans = [None if one is None else (one.lo, one.hi) for one in limits]
    if not first and largest.squared <= cover.hi**2:
        at_top = sqrt_upper(largest.squared, 256)
        spans[0] = at_top * (1 - BESIDE), at_top * (1 + BESIDE)  # no network is needed above it
    ends = [(above[0] if above else cover.hi, below[1] if below else cover.lo) for above, below in pairwise(spans)]
    known = [
        _region(problem, cover, end, breaks, span)
        for end, breaks, span in zip(ends, pairwise(limits), pairwise(spans), strict=True)
    ]
    at = [known[0].exact(0) if isinstance(known[0], _Region) else None]
    at += [*(_change(above, below) for above, below in pairwise(known)), None]
    ways = list[Stretch | Moving]()
    for i, one in enumerate(known):
        if isinstance(one, _Region):
            ways.append(one.told(at[i], at[i + 1]))
        elif one is not None:
            whole = not i and one.hi >= ends[0][0] and not any(gap.hi > one.hi for gap in cover.gaps)
            hi = _top(largest, cover) if whole else expression(one.hi)
            ways.append(replace(one, lo=expression(one.lo), hi=hi))
    exact = [root(largest.squared), *at[1:-1]] if first else at[1:-1]
    stretches = tuple(one for one in ways if isinstance(one, Stretch))
    enclosed = tuple((one.lo, one.hi) for one in found)
    return PathForm(
        tuple(exact), stretches, tuple(one for one in ways if isinstance(one, Moving)), len(known), enclosed
    )


def _top(largest: LambdaMax, cover: PathPieces) -> Any:
    """The largest lambda of the path at which there is a network."""
    return root(largest.squared) if largest.squared <= cover.hi**2 else expression(cover.hi)


Event = tuple[str, Any]
Span = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class _Region:
    """The solution between two breakpoints: its neurons, their weights and r in formulas, how far these are proved
    (`ends`, from large lambda to small), and what may end that within the breakpoints there."""

    neurons: tuple[NeuronClass, ...]
    weights: tuple[Any, ...]
    residual: Any
    way: Stretch | Moving
    ends: tuple[Fraction, Fraction]
    events: tuple[list[Event] | None, ...]
    spans: tuple[Span | None, Span | None]
    problem: Problem

    def told(self, above: Any, below: Any) -> Stretch | Moving:
        """The formulas between two breakpoints, or between the lambdas at which they are proved."""
        if self.way.hi is not None:  # one that knows its own range
            return self.way
        reached = (
            (x, end) if self.events[k] else (None, end)
            for k, (x, end) in enumerate(zip((above, below), self.ends, strict=True))
        )
        hi, lo = (_inside(end, k) if x is None else x for k, (x, end) in enumerate(reached))
        return replace(self.way, lo=lo, hi=hi)

    def exact(self, side: int, known: Any = None) -> Any:
        """The lambda at which the neurons change, exactly: the only one in its span at which the formulas and the
        condition that may be no longer strict have a solution; as it is known, if that is it. Neurons that mirror each
        other tie at the same one."""
        own, span = (self.way.hi, self.way.lo)[side], self.spans[side]
        if own is not None:
            return own if span and span[0] < _rational(own) < span[1] else None
        met = {self._root(event, span, known) for event in self.events[side] or ()}
        return met.pop() if len(met) == 1 else None

    def _root(self, event: Event, span: Span | None, known: Any) -> Any:
        from sympy import Matrix, fraction, together

        kind, what = event
        lam = positive("lambda")
        if kind == "weight":
            zero = self.weights[what]
        elif kind == "face":
            zero = lam * expression(what[0]) + (expressions(what[1:]).T * self.residual)[0]
        else:
            rows = [list(map(to_fraction, row)) for row in class_map(self.problem, what).B().transpose().tolist()]
            v = Matrix([[expression(x) for x in row] for row in rows]) * self.residual
            zero = (v.T * v)[0] - lam**2
        relations = self.way.relations if isinstance(self.way, Moving) else ()
        if len(relations) > 1 or span is None:
            return None
        lo, hi = map(expression, span)
        inside = [poly for poly in _resultant(*relations, fraction(together(zero))[0]) if poly.count_roots(lo, hi)]
        if len(inside) != 1 or inside[0].count_roots(lo, hi) != 1:
            return None
        return known if known is not None and inside[0].eval(known).expand() == 0 else short_root(inside[0], lo, hi)


def _inside(end: Fraction, side: int) -> Any:
    """A short lambda beside an end, below an upper one (0) and above a lower one (1)."""
    if end.denominator < SHORT:
        return expression(end)
    unit = Fraction(1, 1 << 56) * 2 ** (end.numerator.bit_length() - end.denominator.bit_length())
    return expression((end // unit + side) * unit)


def _change(above: _Region | Moving | None, below: _Region | Moving | None) -> Any:
    """The lambda of a change exactly, where both sides have it, or have it by the same equations."""
    if not isinstance(above, _Region) or not isinstance(below, _Region):
        return None
    own = [x for x in (above.way.lo, below.way.hi) if x is not None]  # of a stretch that knows its range
    two = above.exact(1, *own[:1]), below.exact(0, *own[:1])
    if two[0] is None or two[1] is None:
        known = two[0] if two[1] is None else two[1]
        return known if known is not None and _same_change(above, below) else None
    return min(two, key=lambda x: x.count_ops()) if two[0] == two[1] or _same_change(above, below) else None


def _same_change(above: _Region, below: _Region) -> bool:
    """Whether the ends of two regions at a breakpoint solve the equations of each other: a neuron of one side has no
    weight where it ties for the other; or one turns onto a kink, where its map and that of the kink differ by what its
    multiplier is."""
    events = above.events[1], below.events[0]
    if events[0] is None or events[1] is None or len(events[0]) != 1 or len(events[1]) != 1:
        return False
    one, two = events[0][0], events[1][0]
    for (kind, what), (other, which), more, fewer in ((one, two, below, above), (two, one, above, below)):
        if (kind, other) == ("tie", "weight"):
            return same([what], [more.neurons[which]]) and same([*fewer.neurons, what], more.neurons, ordered=False)
    if (one[0], two[0]) != ("face", "face"):
        return False
    ones = [one for one in above.neurons if not any(same([one], [x]) for x in below.neurons)]
    others = [one for one in below.neurons if not any(same([one], [x]) for x in above.neurons)]
    if len(ones) != 1 or len(others) != 1:
        return False
    B, C = (class_map(above.problem, x).B().transpose() for x in (ones[0], others[0]))
    c, *g = two[1] if len(others[0].kinks) > len(ones[0].kinks) else one[1]
    rows = [*([to_fraction(x) for x in row] for row in (B - C).tolist()), g]
    return not c and ones[0].sign == others[0].sign and bool(matrix_of(rows).rank() == 1)


def _region(
    problem: Problem,
    cover: PathPieces,
    ends: tuple[Fraction, Fraction],
    breaks: tuple[Breakpoint | None, Breakpoint | None],
    spans: tuple[Span | None, Span | None],
) -> _Region | Moving | None:
    """The formulas of the neurons that are active between two breakpoints, from large lambda to small."""
    hi, lo = ends
    inside = [i for i, piece in enumerate(cover.pieces) if piece.plain and lo <= piece.hi and piece.lo <= hi]
    proved = [None if breaks[0] is None else breaks[0].at_lo, None if breaks[1] is None else breaks[1].at_hi]
    known = [
        None if end is None else start_at(bounds_of(problem, cover, end.piece), end, lam)
        for end, lam in zip(proved, ends, strict=True)
    ]
    smooth = sorted(
        (i for i in inside if len(cover.pieces[i].s) > 1), key=lambda i: cover.pieces[i].lo / cover.pieces[i].hi
    )
    middles = (start_in(bounds_of(problem, cover, i), i, 1 / cover.pieces[i].center) for i in smooth)
    starts = [next((one for one in some if one is not None and one.neurons), None) for some in (known, middles)]
    if not any(starts):
        return _together(problem, cover, lo, hi)
    best: _Region | None = None
    for start in (one for one in starts if one is not None):
        branch, made = Branch(problem, cover, start.neurons), _formulas(problem, cover, smooth, start.neurons)
        if made is None:
            return None
        at = [one if one and same(one.neurons, start.neurons) else start for one in known]
        if isinstance(made[0], Moving):  # others are linear, and hold between two lambdas at which they do
            at = [start, start]
        upper, lower = (branch.reached(one, end) for one, end in zip(at, ends, strict=True))
        if upper is None or lower is None:
            continue
        way, weights, residual = made
        if isinstance(way, Moving) and len(way.relations) > 1:
            way = replace(way, near=_near(start, problem, way, weights))
        events = tuple(
            branch.broken(node, *span) if span and lam == end else None
            for (lam, node), end, span in zip((upper, lower), ends, spans, strict=True)
        )
        found = _Region(start.neurons, weights, residual, way, (upper[0], lower[0]), events, spans, problem)
        if best is None or found.ends[0] / found.ends[1] > best.ends[0] / best.ends[1]:
            best = found
        if found.ends == ends:
            break
    return best


def _formulas(
    problem: Problem, cover: PathPieces, smooth: Sequence[int], neurons: Sequence[NeuronClass]
) -> tuple[Stretch | Moving, tuple[Any, ...], Any] | None:
    """The solution with these neurons, their weights in order, and r."""
    lam, rays = positive("lambda"), [_ray(problem, one) for one in neurons]
    known = [ray for ray in rays if ray is not None]
    if len(known) == len(rays):
        made = Formula(tuple(sorted(known, key=_key)), problem.y)
        if made.inverse is None:
            return None
        weights = {ray: made.weight(k, lam) for k, ray in enumerate(made.rays)}
        told = (PathNeuron(r.sign, r.block, expressions(r.p) / root(r.m), w) for r, w in weights.items())
        return Stretch(None, None, made.value(lam), tuple(told)), tuple(weights[r] for r in known), made.residual(lam)
    if still := _any_still(problem, cover, smooth, neurons):
        return still, (), None
    movers = [(one, class_map(problem, one).B()) for one, ray in zip(neurons, rays, strict=True) if ray is None]
    way = _system(movers, problem.y, known) if len(movers) == 1 else None
    way = _equations(movers, problem.y, known) if way is None else way
    told_weights = [iter([x.weight for x in part]) for part in (way.movers, way.rays)]
    return way, tuple(next(told_weights[ray is not None]) for ray in rays), way.residual


def _near(start: Start, problem: Problem, way: Moving, weights: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    """About what solves the equations at the start: w = alpha lambda, and u = sign B's of those that move."""
    n, out = len(problem.y), [("lambda", start.lam)]
    out += [(str(w), x * start.lam) for w, x in zip(weights, start.x[n:], strict=True)]
    units = {str(mover.weight): mover.direction for mover in way.movers}
    for one, w in zip(start.neurons, weights, strict=True):
        v = to_vector(class_map(problem, one).B().transpose() * column(start.x[:n]))
        out += [(str(u), one.sign * x) for u, x in zip(units.get(str(w), ()), v, strict=False) if not u.is_number]
    return tuple((name, str(x.limit_denominator(MANY))) for name, x in out)


def _any_still(
    problem: Problem, cover: PathPieces, smooth: Sequence[int], neurons: Sequence[NeuronClass]
) -> Stretch | None:
    """The solution where s does not move, if that is so: asked once, on a part of a piece with these neurons."""
    for share in SHARES:
        for known in (bounds_of(problem, cover, i) for i in smooth):
            center, half = known.piece.center, share * known.piece.half_width
            part = known if share == 1 else part_of(known, 1 / (center + half), 1 / (center - half))
            active = part.active()
            if active is not None and same([part.piece.classes[a] for a in active], neurons, ordered=False):
                return _still(problem, part, active)
    return None


def _equations(movers: Sequence[tuple[NeuronClass, fmpq_mat]], y: Vector, rays: Sequence[Ray]) -> Moving:
    """The conditions themselves, in the weights w_i and the directions u_i: lambda u_a = sign_a B_a'r and |u_a| = 1, or
    h'r = lambda sqrt(m) on a ray, with r = y - sum w_a sign_a B_a u_a - sum w_a h_a/sqrt(m_a). Because r.(y - r) =
    lambda sum w_a, p* = (y.r + lambda sum w_a) / 2."""
    from sympy import Matrix, Symbol

    lam, relations = positive("lambda"), list[Any]()
    weights = [positive(f"w_{i}") for i in range(1, len(movers) + len(rays) + 1)]
    columns = [[tuple(map(to_fraction, c)) for c in B.transpose().tolist()] for _, B in movers]
    units = [
        Matrix([Symbol(f"u_{i}_{j}", real=True) if any(c) else 0 for j, c in enumerate(part, 1)])
        for i, part in enumerate(columns, 1)
    ]
    r = expressions(y)
    for (one, _), part, u, w in zip(movers, columns, units, weights, strict=False):
        for c, x in zip(part, u, strict=True):
            r -= expressions(c) * (one.sign * w * x)
    for ray, w in zip(rays, weights[len(movers) :], strict=True):
        r -= expressions(ray.h) * (w / root(ray.m))
    for (one, _), part, u in zip(movers, columns, units, strict=True):
        relations += [
            (one.sign * (expressions(c).T * r)[0] - lam * x).expand() for c, x in zip(part, u, strict=True) if any(c)
        ]
        relations.append((u.T * u)[0] - 1)
    relations += [((expressions(ray.h).T * r)[0] - lam * root(ray.m)).expand() for ray in rays]
    value = ((expressions(y).T * r)[0] + lam * sum(weights)).expand() / 2
    moving = [PathNeuron(one.sign, one.block, u, w) for (one, _), u, w in zip(movers, units, weights, strict=False)]
    others = [
        PathNeuron(ray.sign, ray.block, expressions(ray.p) / root(ray.m), w)
        for ray, w in zip(rays, weights[len(movers) :], strict=True)
    ]
    return Moving(None, None, tuple(relations), value, None, tuple(others), tuple(moving), residual=r)


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
    return Moving(None, None, relations, factor(value), square, others, moving, residual=residual)


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


def _resultant(*pair: Any) -> list[Any]:
    """Factors of what is 0 in lambda where both are 0 in lambda and alpha; square roots of rationals are eliminated,
    too, with their conjugates. None if the degree would be too large."""
    from sympy import Poly, Pow, Rational

    roots = sorted({x for p in pair for x in p.atoms(Pow) if x.exp == Rational(1, 2)}, key=str)
    names = [positive(f"s{i}") for i in range(len(roots))]
    lam, alpha = positive("lambda"), positive("alpha")
    gens = [lam, alpha, *names]
    ring = fmpz_mpoly_ctx.get([str(x) for x in gens], Ordering.lex)

    def made(p: Any) -> fmpz_mpoly:
        whole = Poly(p, *gens).clear_denoms(convert=True)[1]
        return ring.from_dict({powers: int(c) for powers, c in whole.terms()})

    plain = [made(p.expand().subs(dict(zip(roots, names, strict=True)))) for p in pair]
    if sum(p.degrees()[1] or 1 for p in plain) << len(roots) > MOST_DEGREE:
        return []
    left = plain[0] if len(plain) == 1 else plain[0].resultant(plain[1], "alpha")
    for name, x in zip(names, roots, strict=True):
        left = left.resultant(made(name**2 - x.base), str(name))
    factors = (p.to_dict() for p, _ in left.factor()[1])
    return [Poly({powers[:1]: int(c) for powers, c in p.items()}, lam) for p in factors if any(k[0] for k in p)]


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


def _rational(lam: Any) -> Fraction:
    """The number to many digits."""
    from sympy import Integer, floor

    return Fraction(int(floor(lam.evalf(2 * PLACES) * Integer(10) ** PLACES)), 10**PLACES)


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


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
