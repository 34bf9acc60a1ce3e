"""The optimum in closed form: p*, the network, the vertices of the optimal set, lambda_max, degrees of freedom.

Rational and algebraic optima are exact facts. Where the optimal set is proved over a ball only, and the network is
unique, many digits of its residual propose one in a field (lattice reduction). It is taken if it is in the ball and
solves the conditions of the classes exactly: |v_a| <= lambda for all of them, and y - r = sum alpha_a q_a with alpha_a
>= 0 on those with |v_a| = lambda. All other neurons are out, and these have their faces, for every residual of the
ball: so r is dual feasible and has weights, and is the residual of all solutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from flint import arb, arb_mat, ctx, fmpq_mat

from relu_cert.closed_forms.numbers import (
    Writer,
    aligned,
    as_exact,
    as_flint,
    expression,
    expressions,
    root,
    root_of,
    said,
)
from relu_cert.errors import Unsettled
from relu_cert.evidence import Alone, Pair
from relu_cert.exact import Vector, first_independent, matrix_of, middle, norm_squared, to_fmpq, to_fraction
from relu_cert.free import outputs
from relu_cert.problem.loss import LOGISTIC, SOFTMAX
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, class_map
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import AlgebraicSet, BallSet, ExactSet, Facts, NeuronClass
from relu_cert.prove.field import Exact, guessed_residual, product, reduced_rows, solve

DIGITS = (60, 250, 800)
DEGREES = (2, 4, 8, 16, 32)  # of fields
SECONDS = 10.0  # for guesses


@dataclass(frozen=True)
class ExactNeuronForm:
    """A neuron that ties: its sign, its block or pattern, its unit direction, and its weight |w| in the network; with
    several outputs its weight is |w||v|, and `output` the unit vector of its outputs."""

    sign: int
    block: int | None
    pattern: str | None
    weight: Any
    direction: Any
    output: Any = None


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
    free: tuple[tuple[Any, ...], ...] = ()

    @property
    def network(self) -> tuple[ExactNeuronForm, ...]:
        """The neurons of the network in `tied` with a weight."""
        return tuple(neuron for neuron in self.tied if neuron.weight != 0)

    def latex(self) -> str:
        """The formulas as LaTeX, a line for each."""
        from sympy import latex

        return " \\\\\n".join(f"{latex(left)} &= {latex(right)}" for left, right in self.equations())

    def _repr_latex_(self) -> str:
        """The formulas in a notebook."""
        return aligned(self.latex())

    def equations(self) -> Iterator[tuple[Any, Any]]:
        """Names and what they are, for people."""
        from sympy import Integer, Symbol

        yield Symbol("p^{*}"), self.value
        if self.lambda_max is not None:
            yield Symbol("lambda_max"), self.lambda_max
        for i, neuron in enumerate(self.tied, 1):
            yield Symbol(f"|w_{i}|"), neuron.weight
            yield Symbol(f"u_{i}"), neuron.direction.T
            if neuron.sign < 0:
                yield Symbol(f"xi_{i}"), Integer(-1)
            if neuron.output is not None:
                yield Symbol(f"v_{i}"), neuron.output.T
        for i, c in enumerate(self.free[0] if self.free else (), 1):
            yield Symbol(f"c_{i}"), c
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
            | ({} if one.output is None else {"output": list(map(sstr, one.output))})
            for one in self.tied
        ]
        vertices = [list(map(sstr, vertex)) for vertex in self.vertices]
        content |= {"free": [list(map(sstr, c)) for c in self.free]} if self.free else {}
        return content | {"tied": tied, "vertices": vertices, "latex": self.latex()}

    @property
    def segment(self) -> tuple[Any, ...]:
        """Where there are two minimal networks: the weights of the tied neurons in all optimal ones, 0 <= t <= 1."""
        if len(self.vertices) != 2 or self.tied[0].pattern is None:
            return ()
        return _between(*self.vertices)

    def lines(self) -> list[str]:
        """The same as text."""
        out = [f"p* = {said(self.value)}"]
        if self.lambda_max is not None:
            out.append(f"lambda_max = {said(self.lambda_max)}")
        out += map(_line, self.network)
        if self.free:
            out.append("  free coefficients " + ", ".join(map(said, self.free[0])))
        if self.segment:
            out.append("all optimal networks, 0 <= t <= 1: w_i the weights, W1_i = sqrt(w_i) u_i, W2_i = +-sqrt(w_i)")
            for i, (neuron, weight) in enumerate(zip(self.tied, self.segment, strict=True), 1):
                direction = ", ".join(map(said, neuron.direction))
                out.append(f"  {'+' if neuron.sign > 0 else '-'} w_{i} = {said(weight)}, u_{i} = ({direction})")
            if len(set(self.free)) > 1:
                out.append("  free coefficients " + ", ".join(map(said, _between(*self.free))))
        elif len(self.vertices) > 1:
            what = "two different optimal networks" if self.tied[0].output is not None else "all minimal networks"
            out.append(f"{what}, the weights of {len(self.tied)} tied neurons")
            out += ["  (" + ", ".join(map(said, vertex)) + ")" for vertex in self.vertices]
            if self.tied[0].output is not None:
                out += [_line(neuron) for neuron in self.tied if neuron.weight == 0]
        if self.freedom is not None:
            out.append(f"degrees of freedom = {said(self.freedom)}")
        return out


def _between(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """a + t (b - a)"""
    from sympy import Symbol, expand

    t = Symbol("t", nonnegative=True)
    return tuple(expand(x + t * (y - x)) for x, y in zip(a, b, strict=True))


def _line(neuron: ExactNeuronForm) -> str:
    """A neuron as text."""
    direction = ", ".join(map(said, neuron.direction))
    where = f"group {neuron.block}: " if neuron.block is not None and neuron.pattern is None else ""
    weight = f"({said(neuron.weight)})" if neuron.weight.is_Add else said(neuron.weight)
    output = "" if neuron.output is None else f" -> ({', '.join(map(said, neuron.output))})"
    return f"  {'+' if neuron.sign > 0 else '-'} {where}{weight} ({direction}){output}"


Tie = tuple[int, int | None, str | None, Exact, Exact]


@dataclass(frozen=True)
class ClosedNeurons:
    """r, the tied neurons (sign, block, pattern, v, output), the weights alpha of vertices, and the free coefficients
    of each."""

    r: Exact
    tied: list[Tie]
    alphas: list[Exact]
    freedom: Any = None
    free: Sequence[Exact] = ()


def closed_form(facts: Facts) -> ClosedForm | None:
    """The optimum in closed form; None where it is not known exactly."""
    problem = facts.problem
    try:
        if problem.targets > 1:
            return _outputs_form(facts)
        if problem.loss is LOGISTIC:
            return _zero_form(facts, 2) if facts.zero and not problem.free else None
        known = None if problem.delta else _known(facts)
    except Unsettled:
        return None
    if known is None:
        return None
    lam, largest = facts.lam, facts.lambda_max
    write = Writer([x for one in known.tied for x in one[3]])
    forms = []
    for i, (sign, block, pattern, v, _) in enumerate(known.tied):
        weight = write(known.alphas[0][i] * lam)
        forms.append(ExactNeuronForm(sign, block, pattern, weight, write.column(tuple(x / lam for x in v))))
    vertices = tuple(tuple(write(a * lam) for a in alpha) for alpha in known.alphas)
    return ClosedForm(
        expression(lam),
        write(_dual_value(problem, known.r)),
        root(largest.squared) if largest.exact else None,
        write.column(known.r),
        tuple(forms),
        vertices,
        None if known.freedom is None else write(known.freedom),
        tuple(tuple(map(write, c)) for c in known.free),
    )


def _dual_value(problem: Problem, r: Exact) -> Any:
    """y.r - 1/2 |r|^2"""
    return product(problem.y, r) - product(r, r) * Fraction(1, 2)


def _zero_form(facts: Facts, classes: int) -> ClosedForm:
    """No neuron, and a logarithmic loss: each data point costs the logarithm of the number of classes."""
    from sympy import Integer, log

    problem, largest = facts.problem, facts.lambda_max
    pull = tuple(y / 2 for y in problem.y) if classes == 2 else tuple(y - Fraction(1, classes) for y in problem.y)
    top = root(largest.squared) if largest.exact else None
    return ClosedForm(expression(facts.lam), problem.n * log(Integer(classes)), top, expressions(pull), (), ((),))


def _outputs_form(facts: Facts) -> ClosedForm | None:
    """Several outputs: the only network, or two different ones."""
    from relu_cert.closed_forms.outputs import closed_outputs  # slow to load, and one output does without

    problem, alone = facts.problem, facts.alone
    if problem.loss is SOFTMAX:
        none = isinstance(alone, Alone) and not alone.classes and not problem.free
        return _zero_form(facts, problem.targets) if none else None
    if isinstance(alone, Pair):
        return _pair_form(facts, alone)
    known = closed_outputs(facts)
    if known is None:
        return None
    write = Writer([x for one in known.neurons for part in one[:2] for x in part])
    forms = []
    for u, F, weight in known.neurons:
        length = root_of(write(product(u, u)))
        direction, output = write.column(u) / length, write.column(tuple(f / facts.lam for f in F)) / length
        forms.append(ExactNeuronForm(1, None, None, write(weight), direction, output))
    weights = tuple(one.weight for one in forms)
    value, free = write(_dual_value(problem, known.theta)), (tuple(map(write, known.free)),) if known.free else ()
    residual = write.column(known.theta)
    return ClosedForm(expression(facts.lam), value, None, residual, tuple(forms), (weights,), None, free)


def _pair_form(facts: Facts, two: Pair) -> ClosedForm | None:
    """Two optimal networks in rationals, where their objective is the dual value."""
    if facts.value.lower != facts.value.upper:
        return None
    forms = []
    for one in (*two.first, *two.second):
        w, v = (expressions(x) / root(norm_squared(x)) for x in (one.w, one.v))
        forms.append(ExactNeuronForm(1, None, None, expression(one.norm), w, v))
    weights = [one.weight for one in forms]
    zeros = [[expression(0)] * len(part) for part in (two.first, two.second)]
    vertices = (*weights[: len(two.first)], *zeros[1]), (*zeros[0], *weights[len(two.first) :])
    tied = tuple(replace(one, weight=a) for one, a in zip(forms, vertices[0], strict=True))
    lam, value = expression(facts.lam), expression(facts.value.upper)
    return ClosedForm(lam, value, None, expressions(facts.dual.theta), tied, vertices)


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
    if isinstance(found, BallSet) and not found.repeated and not found.level:
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


def _solved(facts: Facts, found: BallSet) -> ClosedNeurons | None:
    """The residual exactly, from many digits, if it is proved: those of one network, the first of its superclasses."""
    problem, until = facts.problem, monotonic() + SECONDS
    single = all(len(group) == 1 for group in found.groups) and len(found.lift) == found.free
    if not (single or facts.polytope) or found.mixed:
        return None
    supports = () if (single and not found.split) or facts.polytope is None else facts.polytope.vertices
    maps = [class_map(problem, neuron) for neuron in found.classes]
    weights = {group[0]: mass for group, mass in zip(found.groups, found.masses, strict=True)}
    active = [a for a, mass in weights.items() if mass > found.mass_error]
    start, alpha = facts.dual.theta, tuple(weights[a] for a in active)
    for digits in DIGITS:
        sharp = sharpened([maps[a] for a in active], problem, facts.lam, start, alpha, digits)
        if sharp is None:
            return None
        start, alpha = sharp
        proposed: list[Exact] = [*guesses(start, digits)]
        field = guessed_residual(problem.y, facts.lam, start, digits, DEGREES)
        for r in proposed if field is None else [*proposed, tuple(field)]:
            known = solved(problem, facts.lam, found.classes, r, facts.dual.theta, facts.fit.radius_squared, supports)
            if known is not None:
                return known
        if monotonic() > until:
            break
    return None


def free_columns(problem: Problem) -> list[Vector]:
    """Independent columns that span the free ones."""
    columns = outputs(problem) if problem.free else ()
    return [columns[j] for j in first_independent(columns)] if columns else []


def sharpened(
    maps: Sequence[ClassMap], problem: Problem, lam: Fraction, r: Vector, alpha: Vector, digits: int
) -> tuple[Vector, Vector] | None:
    """Newton's method for r + sum alpha_a q_a(r) + Bc = y, |v_a(r)|^2 = lambda^2, B'r = 0, to about so many digits;
    nothing is proved."""
    bits, free = int(digits * 3.33) + 64, free_columns(problem)
    with ctx.workprec(bits):
        B = [one.B() for one in maps]
        out = [arb_mat(one.X * (one.X.transpose() if one.free else one.P * one.X.transpose())) for one in maps]
        G = [arb_mat(b * b.transpose()) for b in B]
        n, k, p = len(problem.y), len(maps), len(free)
        F = arb_mat(matrix_of(free)).transpose() if free else arb_mat(n, 0)
        x = arb_mat([[arb(to_fmpq(t))] for t in (*r, *alpha, *[Fraction(0)] * p)])
        right = arb_mat([[arb(to_fmpq(t))] for t in problem.y])
        correct = 8
        while correct < 2 * digits:
            R, c = arb_mat([[x[i, 0]] for i in range(n)]), arb_mat(p, 1, [x[n + k + j, 0] for j in range(p)])
            M = arb_mat([[arb(int(i == j)) for j in range(n)] for i in range(n)])
            for a, map_a in enumerate(out):
                M += map_a * x[n + a, 0]
            Q, N = [map_a * R for map_a in out], [Ga * R for Ga in G]
            top = [[M[i, j] for j in range(n)] + [q[i, 0] for q in Q] + F.tolist()[i] for i in range(n)]
            rows = [q.transpose().tolist()[0] + [arb(0)] * (k + p) for q in N]
            rows += [row + [arb(0)] * (k + p) for row in F.transpose().tolist()]
            first = (M * R + F * c - right).entries()
            second = [((R.transpose() * q)[0, 0] - arb(to_fmpq(lam)) ** 2) / 2 for q in N]
            third = (F.transpose() * R).entries() if p else []
            try:
                step = arb_mat(top + rows).solve(arb_mat([[t] for t in (*first, *second, *third)]))
            except ZeroDivisionError:
                return None
            x = arb_mat([[(x[i, 0] - step[i, 0]).mid()] for i in range(n + k + p)])
            correct *= 2
        found = [middle(x[i, 0]) for i in range(n + k)]
    return tuple(found[:n]), tuple(found[n:])


def solved(
    problem: Problem,
    lam: Fraction,
    classes: Sequence[NeuronClass],
    r: Exact,
    center: Vector,
    radius_squared: Fraction,
    supports: Sequence[Sequence[int]] = (),
) -> ClosedNeurons | None:
    """The optimum with the residual r, or None if r is not it: every comparison is exact. The classes are all neurons
    that can be active for the residuals of the ball, with their faces; `supports` those of all vertices, if there may
    be several."""
    off, free = [a - b for a, b in zip(r, center, strict=True)], free_columns(problem)
    if not product(off, off) <= radius_squared or any(product(b, r) for b in free):
        return None
    tied, maps = dict[int, Tie](), [class_map(problem, neuron) for neuron in classes]
    for a, (neuron, one) in enumerate(zip(classes, maps, strict=True)):
        X = [[to_fraction(x) for x in row] for row in one.X.tolist()]
        c = [product(column, r) for column in zip(*X, strict=True)]
        v = c if one.free else [product([to_fraction(x) for x in row], c) for row in one.P.tolist()]
        seen = v[:-1] if one.biases else v
        over = product(seen, seen) - lam * lam
        if over > 0:
            return None
        if not over:
            q = tuple(product(row, v) for row in X)
            tied[a] = neuron.sign, neuron.block, neuron.pattern, tuple(neuron.sign * x for x in v), q
    zero, alphas, coefficients = r[0] * 0, list[Exact](), list[Exact]()
    target = [as_flint(a - b) for a, b in zip(problem.y, r, strict=True)]
    for used in supports or [tuple(tied)]:
        if not set(used) <= set(tied):
            return None
        columns = [*(tied[a][4] for a in used), *free]
        rows = [[as_flint(x + zero) for x in row] for row in zip(*columns, strict=True)]
        weights = solve(rows, target) if columns else ([] if not any(target) else None)
        if weights is None or any(a < 0 for a in weights[: len(used)]):
            return None
        found = dict(zip(used, map(as_exact, weights), strict=False))
        alphas.append(tuple(found.get(a, zero) for a in tied))
        coefficients.append(tuple(map(as_exact, weights[len(used) :])))
    listed = list(tied.values())
    every = len(tied) == len(maps) and len(alphas) == 1 and all(alphas[0]) and not free
    freedom = _freedom([one.B() for one in maps], alphas[0], listed) if every else None
    return ClosedNeurons(r, listed, alphas, freedom, coefficients if free else ())


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
    form, _ = reduced_rows(rows)
    trace = sum((form[i][n + k + i] for i in range(n)), zero)
    return as_exact(n - trace)
