"""The facts about the optimum of a network with several outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from relu_cert.clock import Until, interrupted
from relu_cert.cover.build import Exhausted
from relu_cert.cover.limits import MOST_DIRECTIONS, Limits, ProgressEvent, Tell
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector, norm_squared
from relu_cert.free import weights_of
from relu_cert.outputs.build import Unproved
from relu_cert.outputs.optimum import (
    OutputsData,
    OutputsProver,
    best_coefficients,
    left_by,
    setting,
    spread,
    top_direction,
)
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, Primal
from relu_cert.prove.prove import facts_of
from relu_cert.solve.prepare import one_thread

DEFAULT_SECONDS = 120.0
DIGITS = 10**9
MANY_FEATURES = "with so many features only a bound is proved, by directions of the outputs"
Choice = Callable[[LambdaMax], Fraction]


def optimum_with_outputs(problem: Problem, choice: Choice, gap: Fraction, limits: Limits, tell: Tell) -> Facts:
    """The facts about the optimum."""
    given = setting(problem)
    many = len(given.basis) > MOST_DIRECTIONS
    if many and given.softmax:
        raise UsageError(
            f"the softmax loss is for data of rank at most {MOST_DIRECTIONS}; these have rank {len(given.basis)}. Take "
            "fewer features, or their principal components; squares have a bound for any number."
        )
    with one_thread():
        least = reached(given)
        lam = choice(LambdaMax(least, None, Attained(), least))
        top = LambdaMax(max(least, 2 * lam * lam), None, Attained(), least)  # nothing is claimed of larger lambda
        until = limits.until if limits.seconds is not None else Limits(DEFAULT_SECONDS).until
        tell(ProgressEvent("train"))
        if many:
            return bounded(given, lam, top, gap, until)
        try:
            found = OutputsProver(given, lam, lambda: until.over or interrupted(), until).run()
        except Unproved as why:
            raise Exhausted(str(why)) from None
    neurons = tuple(ExactNeuron(w=w, v=v, norm=given.norm((w, v))) for w, v in found.primal.neurons)
    point = Primal(neurons, row_by_row(found.primal.fit(given)), row_by_row(found.primal.free))
    dual = Dual(row_by_row(found.Theta), replace(found.evidence, source=found.source))
    known = found.alone
    facts = facts_of(problem, lam, top, point, dual, gap, known if isinstance(known, str) else "")
    return facts if isinstance(known, str) else replace(facts, alone=known)


def bounded(given: OutputsData, lam: Fraction, top: LambdaMax, gap: Fraction, until: Until) -> Facts:
    """With many features: a network, and a bound by directions of the outputs."""
    from relu_cert.outputs.axes import by_axes

    found = by_axes(given, lam, until)
    if found is None:
        raise Exhausted("the leaders of single outputs found no bound")
    primal, Theta, evidence = found
    primal = OutputsProver(given, lam, lambda: until.over).completed(primal.neurons)[0]
    neurons = tuple(ExactNeuron(w=w, v=v, norm=given.norm((w, v))) for w, v in primal.neurons)
    point = Primal(neurons, row_by_row(primal.fit(given)), row_by_row(primal.free))
    return facts_of(given.problem, lam, top, point, Dual(row_by_row(Theta), evidence), gap, MANY_FEATURES)


def row_by_row(A: Matrix) -> Vector:
    """The entries of a matrix."""
    return tuple(x for row in A for x in row)


def reached(given: OutputsData) -> Fraction:
    """|F(u)|^2 / |u|^2 of the zero network at a rational u where it is about the largest: at most lambda_max^2."""
    u = top_direction(given)
    if u is None:
        return Fraction(0)
    row = tuple(Fraction(round(float(x) / float(np.abs(u).max()) * DIGITS)) for x in u)
    F = [Fraction(0)] * len(given.Y[0])
    Theta = left_by(given.free, best_coefficients(given.free, given.Y), given.Y)
    if given.softmax and not given.free:
        Theta = tuple(tuple(x - Fraction(1, len(row)) for x in row) for row in given.Y)
    for z, y in zip(given.Z, spread(given.bags, Theta), strict=True):
        h = sum((a * b for a, b in zip(z, row, strict=True)), Fraction(0))
        if h > 0:
            F = [f + h * t for f, t in zip(F, y, strict=True)]
    return sum((f * f for f in F), Fraction(0)) / norm_squared(weights_of(given.problem.free, row))
