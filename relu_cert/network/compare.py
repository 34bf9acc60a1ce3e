"""A given network against the optimum: over all patterns, over its own, and neuron by neuron."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from relu_cert.evidence import Cover
from relu_cert.exact import Matrix, Vector, dot, norm_squared, sqrt_upper
from relu_cert.network.objective import ConvexNeuron, outputs
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.facts import Facts, Unknown
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.value import fit, primal, relu_neuron, value

NORM_BITS = 64


def own_problem(neurons: Sequence[ConvexNeuron], Z: Matrix, y: Vector) -> Problem:
    """The convex program over the network's own patterns 1(Z w_i >= 0) only, with both signs for each.

    Its optimum is what a network can reach without a new pattern. A network that is optimal here and not over all
    patterns is stuck at a point that a sub-sampled program would call its solution.
    """
    patterns = dict.fromkeys(tuple(dot(z, neuron.w) >= 0 for z in Z) for neuron in neurons)
    d = len(Z[0])
    blocks = []
    for pattern in patterns:
        sides = (tuple(-x if on else x for x in z) for on, z in zip(pattern, Z, strict=True))
        K = tuple(zip(*sides, strict=True))
        for xi in (1, -1):
            X = tuple(tuple(xi * x if on else Fraction(0) for x in z) for on, z in zip(pattern, Z, strict=True))
            blocks.append(Block(X, K))
    columns = tuple(tuple(range(d * b, d * (b + 1))) for b in range(len(blocks)))
    return Problem("cgl", y, tuple(blocks), columns=columns)


def network_facts(facts: Facts, neurons: Sequence[ConvexNeuron], gap: Fraction) -> Facts:
    """The facts with the given network as their feasible point, for pictures of it and for its gap alone.

    `value.upper` is its P, rounded up, so that the claim `optimal` says that it is optimal up to the gap asked for. The
    optimal set is left out: it is proved with the better point that the solver found.
    """
    exact = [relu_neuron(facts.problem.relu.Z, neuron.sign, neuron.w, NORM_BITS) for neuron in neurons]
    point = primal(facts.problem, exact)
    bounds, dual = value(facts.problem, facts.lam, point, facts.dual, gap), facts.dual
    if isinstance(dual.multipliers, Cover):  # theta does not follow from this network
        dual = replace(dual, multipliers=replace(dual.multipliers, source=None))
    return replace(
        facts,
        primal=point,
        dual=dual,
        value=bounds,
        fit=fit(facts.problem, point, bounds),
        optimal_set=Unknown(),
        vertices=Unlisted(),
    )


def reaches(facts: Facts, neurons: Sequence[ConvexNeuron]) -> list[Fraction]:
    """xi theta.(Zw)_+ + R |(Zw)_+| of every neuron, at least xi r*.(Zw)_+."""
    theta, R = facts.dual.theta, sqrt_upper(facts.fit.radius_squared)
    known = outputs(neurons, facts.problem.relu.Z, facts.problem.relu.bags)
    return [dot(theta, q) + R * sqrt_upper(norm_squared(q)) for q in known]
