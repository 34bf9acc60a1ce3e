"""The optimum in closed form: p*, the network, the vertices of the optimal set, lambda_max, degrees of freedom.

Rational and algebraic optima are exact facts. Where the optimal set is proved over a ball only, and the network is
unique, many digits of its residual propose one in a field (lattice reduction). It is taken if it is in the ball and
solves the conditions of the classes exactly: |v_a| <= lambda for all of them, and y - r = sum alpha_a q_a with alpha_a
>= 0 on those with |v_a| = lambda. All other neurons are out, and these have their faces, for every residual of the
ball: so r is dual feasible and has weights, and is the residual of all solutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

from flint import arb, arb_mat, ctx, fmpq_mat

from relu_cert.closed_forms.numbers import Writer, as_exact, as_flint, expression, root
from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, middle, to_fmpq, to_fraction
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Problem
from relu_cert.prove.algebraic.field import Exact, product, reduced, solve
from relu_cert.prove.algebraic.guess import guessed_residual
from relu_cert.prove.classes import class_map
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import AlgebraicSet, BallSet, ExactSet, Facts, NeuronClass

DIGITS = (60, 250, 800)
SECONDS = 10.0  # for guesses


@dataclass(frozen=True)
class ExactNeuronForm:
    """A neuron that ties: its sign, its block or pattern, its unit direction, and its weight |w| in the network."""

    sign: int
    block: int | None
    pattern: str | None
    weight: Any
    direction: Any


@dataclass(frozen=True)
class ClosedForm:
    """The optimum as sympy expressions.

    `value` is p*; `network` the neurons of one optimal network; `vertices` the weights |w| of all minimal networks, an
    entry for each tied neuron of `tied` (one vertex: the network is unique); `residual` y - yhat; `freedom` the degrees
    of freedom, where they are known exactly; `lambda_max` None where it is only enclosed.
    """

    lam: Any
    value: Any
    lambda_max: Any
    residual: Any
    tied: tuple[ExactNeuronForm, ...]
    vertices: tuple[tuple[Any, ...], ...]
    freedom: Any = None

    @property
    def network(self) -> tuple[ExactNeuronForm, ...]:
        """The neurons of the network in `tied` with a weight."""
        return tuple(neuron for neuron in self.tied if neuron.weight != 0)

    def latex(self) -> str:
        """The formulas as LaTeX, a line for each."""
        from sympy import latex

        return " \\\\\n".join(f"{latex(left)} &= {latex(right)}" for left, right in self.equations())

    def equations(self) -> Iterator[tuple[Any, Any]]:
        """Names and what they are, for people."""
        from sympy import Symbol

        yield Symbol("p^{*}"), self.value
        if self.lambda_max is not None:
            yield Symbol("lambda_max"), self.lambda_max
        for i, neuron in enumerate(self.tied, 1):
            yield Symbol(f"|w_{i}|"), neuron.weight
            yield Symbol(f"u_{i}"), neuron.direction.T
        if self.freedom is not None:
            yield Symbol("df"), self.freedom

    def to_json(self) -> dict[str, Any]:
        """The same as texts that sympy reads."""
        from sympy import sstr

        names = ("value", "lambda_max", "freedom")
        content = {name: None if getattr(self, name) is None else sstr(getattr(self, name)) for name in names}
        tied = [
            {
                "sign": one.sign,
                "block": one.block,
                "weight": sstr(one.weight),
                "direction": list(map(sstr, one.direction)),
            }
            for one in self.tied
        ]
        vertices = [list(map(sstr, vertex)) for vertex in self.vertices]
        return content | {"tied": tied, "vertices": vertices, "latex": self.latex()}

    @property
    def segment(self) -> tuple[Any, ...]:
        """Where there are two minimal networks: the weights of the tied neurons in all optimal ones, 0 <= t <= 1."""
        from sympy import Symbol, expand

        if len(self.vertices) != 2 or self.tied[0].pattern is None:
            return ()
        t = Symbol("t", nonnegative=True)
        return tuple(expand(a + t * (b - a)) for a, b in zip(*self.vertices, strict=True))

    def lines(self) -> list[str]:
        """The same as text."""
        from sympy import sstr

        out = [f"p* = {sstr(self.value)}"]
        if self.lambda_max is not None:
            out.append(f"lambda_max = {sstr(self.lambda_max)}")
        for neuron in self.network:
            direction = ", ".join(sstr(x) for x in neuron.direction)
            where = f"group {neuron.block}: " if neuron.block is not None and neuron.pattern is None else ""
            weight = f"({sstr(neuron.weight)})" if neuron.weight.is_Add else sstr(neuron.weight)
            out.append(f"  {'+' if neuron.sign > 0 else '-'} {where}{weight} ({direction})")
        if self.segment:
            out.append("all optimal networks, 0 <= t <= 1: w_i the weights, W1_i = sqrt(w_i) u_i, W2_i = +-sqrt(w_i)")
            for i, (neuron, weight) in enumerate(zip(self.tied, self.segment, strict=True), 1):
                direction = ", ".join(sstr(x) for x in neuron.direction)
                out.append(f"  {'+' if neuron.sign > 0 else '-'} w_{i} = {sstr(weight)}, u_{i} = ({direction})")
        elif len(self.vertices) > 1:
            out.append(f"all minimal networks, the weights of {len(self.tied)} tied neurons")
            out += ["  (" + ", ".join(map(sstr, vertex)) + ")" for vertex in self.vertices]
        if self.freedom is not None:
            out.append(f"degrees of freedom = {sstr(self.freedom)}")
        return out


Tie = tuple[int, int | None, str | None, Exact, Exact]


@dataclass(frozen=True)
class ClosedNeurons:
    """r, the tied neurons (sign, block, pattern, v, output) and the weights alpha of vertices."""

    r: Exact
    tied: list[Tie]
    alphas: list[Exact]
    freedom: Any = None


def closed_form(facts: Facts) -> ClosedForm | None:
    """The optimum in closed form; None where it is not known exactly."""
    problem = facts.problem
    if problem.loss is LOGISTIC or problem.delta or problem.free:
        return None
    try:
        known = _known(facts)
    except Unsettled:
        return None
    if known is None:
        return None
    lam, largest = facts.lam, facts.lambda_max
    write = Writer([x for one in known.tied for x in one[3]])
    value = product(problem.y, known.r) - product(known.r, known.r) * Fraction(1, 2)
    forms = []
    for i, (sign, block, pattern, v, _) in enumerate(known.tied):
        weight = write(known.alphas[0][i] * lam)
        forms.append(ExactNeuronForm(sign, block, pattern, weight, write.column(tuple(x / lam for x in v))))
    vertices = tuple(tuple(write(a * lam) for a in alpha) for alpha in known.alphas)
    return ClosedForm(
        expression(lam),
        write(value),
        root(largest.squared) if largest.exact else None,
        write.column(known.r),
        tuple(forms),
        vertices,
        None if known.freedom is None else write(known.freedom),
    )


def _known(facts: Facts) -> ClosedNeurons | None:
    found = facts.optimal_set
    if facts.zero and facts.lambda_max.exact:
        return ClosedNeurons(facts.problem.y, [], [()])
    if isinstance(found, ExactSet | AlgebraicSet):
        tied = [(t.sign, t.block, t.pattern, t.v, t.q) for t in found.tied]
        derivatives = facts.derivatives
        exact = derivatives is not None and not derivatives.radius and derivatives.freedom is not None
        freedom = derivatives.freedom if derivatives is not None and exact else None
        return ClosedNeurons(found.residual, tied, _vertices(facts, found), freedom)
    if isinstance(found, BallSet) and _plain(found):
        return _solved(facts, found)
    return None


def _vertices(facts: Facts, found: ExactSet | AlgebraicSet) -> list[Exact]:
    """The weights of all vertices, where they are listed: on its support each is the only solution."""
    if facts.polytope is None:
        return list(found.solutions)
    y, out = facts.problem.y, list[Exact]()
    residual: Exact = found.residual
    target = [a - b for a, b in zip(y, residual, strict=True)]
    zero = found.residual[0] * 0
    for used in facts.polytope.vertices:
        rows = [[as_flint(found.tied[a].q[k]) for a in used] for k in range(len(y))]
        weights = solve(rows, [as_flint(t) for t in target]) if used else []
        if weights is None:
            raise Unsettled("a vertex has no weights")
        alpha = [zero] * len(found.tied)
        for a, x in zip(used, weights, strict=True):
            alpha[a] = as_exact(x)
        out.append(tuple(alpha))
    return out


def _plain(found: BallSet) -> bool:
    """Whether each class has a weight of its own, and there is one network."""
    single = all(len(group) == 1 for group in found.groups)
    return single and not (found.lift or found.split or found.mixed or found.repeated or found.level)


def _solved(facts: Facts, found: BallSet) -> ClosedNeurons | None:
    """The residual exactly, from many digits, if it is proved."""
    problem, until = facts.problem, monotonic() + SECONDS
    maps = [class_map(problem, neuron).B() for neuron in found.classes]
    active = [a for a, mass in enumerate(found.masses) if mass > found.mass_error]
    start, alpha = facts.dual.theta, tuple(found.masses[a] for a in active)
    for digits in DIGITS:
        sharp = sharpened([maps[a] for a in active], problem.y, facts.lam, start, alpha, digits)
        if sharp is None:
            return None
        start, alpha = sharp
        proposed: list[Exact] = [*guesses(start, digits)]
        field = guessed_residual(problem.y, facts.lam, start, digits)
        for r in proposed if field is None else [*proposed, tuple(field)]:
            ball = facts.dual.theta, facts.fit.radius_squared
            known = solved(problem, facts.lam, found.classes, maps, r, *ball)
            if known is not None:
                return known
        if monotonic() > until:
            break
    return None


def sharpened(
    maps: Sequence[fmpq_mat], y: Vector, lam: Fraction, r: Vector, alpha: Vector, digits: int
) -> tuple[Vector, Vector] | None:
    """Newton's method for r + sum alpha_a G_a r = y, r.G_a r = lambda^2, to about so many digits; nothing is proved."""
    bits = int(digits * 3.33) + 64
    with ctx.workprec(bits):
        G = [arb_mat(B * B.transpose()) for B in maps]
        n, k = len(y), len(maps)
        x = arb_mat([[arb(to_fmpq(t))] for t in (*r, *alpha)])
        right = arb_mat([[arb(to_fmpq(t))] for t in y])
        correct = 8
        while correct < 2 * digits:
            R = arb_mat([[x[i, 0]] for i in range(n)])
            M = arb_mat([[arb(int(i == j)) for j in range(n)] for i in range(n)])
            for a, Ga in enumerate(G):
                M += Ga * x[n + a, 0]
            Q = [Ga * R for Ga in G]
            top = [[M[i, j] for j in range(n)] + [q[i, 0] for q in Q] for i in range(n)]
            J = arb_mat(top + [[q[i, 0] for i in range(n)] + [arb(0)] * k for q in Q])
            first = M * R - right
            second = [((R.transpose() * q)[0, 0] - arb(to_fmpq(lam)) ** 2) / 2 for q in Q]
            F = arb_mat([[first[i, 0]] for i in range(n)] + [[s] for s in second])
            try:
                step = J.solve(F)
            except ZeroDivisionError:
                return None
            x = arb_mat([[(x[i, 0] - step[i, 0]).mid()] for i in range(n + k)])
            correct *= 2
        found = [middle(x[i, 0]) for i in range(n + k)]
    return tuple(found[:n]), tuple(found[n:])


def solved(
    problem: Problem,
    lam: Fraction,
    classes: Sequence[NeuronClass],
    maps: Sequence[fmpq_mat],
    r: Exact,
    center: Vector,
    radius_squared: Fraction,
) -> ClosedNeurons | None:
    """The optimum with the residual r, or None if r is not it: every comparison is exact. The classes are all neurons
    that can be active for the residuals of the ball, with their faces."""
    off = [a - b for a, b in zip(r, center, strict=True)]
    if not product(off, off) <= radius_squared:
        return None
    tied = []
    for neuron, B in zip(classes, maps, strict=True):
        rows = [[to_fraction(x) for x in row] for row in B.tolist()]
        v = tuple(product(column, r) for column in zip(*rows, strict=True))
        over = product(v, v) - lam * lam
        if over > 0:
            return None
        if not over:
            q = tuple(product(row, v) for row in rows)
            tied.append((neuron.sign, neuron.block, neuron.pattern, tuple(neuron.sign * x for x in v), q))
    target = [as_flint(a - b) for a, b in zip(problem.y, r, strict=True)]
    outputs = [[as_flint(one[4][k]) for one in tied] for k in range(len(r))]
    weights = solve(outputs, target) if tied else ([] if not any(target) else None)
    if weights is None or any(a < 0 for a in weights):
        return None
    alpha = tuple(as_exact(x) for x in weights)
    every = len(tied) == len(maps) and all(alpha)
    return ClosedNeurons(r, tied, [alpha], _freedom(maps, alpha, tied) if every else None)


def _freedom(maps: Sequence[fmpq_mat], alpha: Exact, tied: Sequence[Tie]) -> Any:
    """n - trace dr/dy, where every class has weight and keeps its face: M dr + Q dalpha = dy, Q'dr = 0."""
    n, k = maps[0].nrows(), len(maps)
    kernels = [(B * B.transpose()).tolist() for B in maps]
    zero, one = as_flint(alpha[0] * 0), as_flint(alpha[0] * 0 + 1)
    rows = []
    for i in range(n):
        M = [sum((as_flint(a) * G[i][j] for a, G in zip(alpha, kernels, strict=True)), zero) for j in range(n)]
        M[i] += one
        rows.append([*M, *(as_flint(t[4][i]) for t in tied), *(one if i == j else zero for j in range(n))])
    rows += [[*(as_flint(x) for x in t[4]), *[zero] * k, *[zero] * n] for t in tied]
    form, _ = reduced(rows)
    trace = sum((form[i][n + k + i] for i in range(n)), zero)
    return as_exact(n - trace)
