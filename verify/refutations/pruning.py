"""Refutations about pruning: the algorithms, lemma:one-step-pruning, and beta~ where outputs are dependent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.problem.problem import Problem, times
from verify.refutations.core import (
    Weights,
    combine,
    line,
    minus,
    nearest,
    rank,
    read_instance,
    read_optimum,
    read_weights,
    scaled,
)
from verify.text import Node, Vector


def circle(node: Node) -> str:
    """Steps with t = 1/max|beta| that lead from a solution back to it: the algorithm need not end."""
    fields = node.record("problem", "iterates", "betas")
    p = read_instance(fields["problem"], "cgl")
    iterates, betas = fields["iterates"].array(), fields["betas"].array()
    node.require(len(iterates) == len(betas) + 1 >= 2, "one step or more: a beta between any two iterates")
    w = read_optimum(p, iterates[0]).w
    start = w
    for beta_node, after in zip(betas, iterates[1:], strict=True):
        w = pruned(p, w, beta_node)
        after.require(w == read_weights(p, after), "the point to which the step leads")
    node.require(w == start, "steps that lead back to the first point")
    count = len(betas)
    return f"after {count} step{'s' * (count > 1)} with t = 1/max|beta| the optimal w is back: so it runs for ever"


def pruned(p: Problem, w: Weights, node: Node) -> Weights:
    """w_b (1 - t beta_b), t = 1/max|beta|, for a dependence beta of the active outputs."""
    beta = node.vector(len(w))
    outputs = [times(p.block(b), wb) for b, wb in enumerate(w)]
    dependence = any(beta) and not any(combine(beta, outputs, p.n))
    node.require(dependence and all(any(wb) or not x for wb, x in zip(w, beta, strict=True)), "an active dependence")
    t = 1 / max(map(abs, beta))
    return tuple(scaled(1 - t * x, wb) for wb, x in zip(w, beta, strict=True))


def one_step(node: Node) -> str:
    """A step multiplies by 1 - t beta with max |t beta| = 1, so it cannot reach a weight more than twice as large."""
    fields = node.record("problem", "start", "target")
    p = read_instance(fields["problem"], "cgl")
    start, target = read_optimum(p, fields["start"]), read_optimum(p, fields["target"])
    used = {b for alpha in start.vertices(node) for b, a in enumerate(alpha) if a}
    fields["start"].require(set(start.active) == used, "a solution whose support is S")
    active = target.active
    fields["target"].require(rank(target.outputs(active)) == len(active), "a minimal solution")
    factor = max((target.alpha[b] / start.alpha[b] for b in start.active), default=Fraction(0))
    node.require(factor > 2, "a weight that must grow more than twofold")
    return f"a weight must grow {factor}-fold, and a step multiplies by 1 - t beta <= 2 for every dependence beta"


def network(node: Node) -> str:
    """The step without beta_j: factors 1 - t beta_i on the other neurons, 1 on neuron j. The fit loses t q_j != 0."""
    fields = node.record("q", "j")
    q = fields["q"].matrix()
    fields["q"].require(all(x >= 0 for row in q for x in row) and len(q) > 1, "outputs >= 0 of several neurons")
    j = fields["j"].index(len(q))
    others = [row for i, row in enumerate(q) if i != j]
    fields["q"].require(rank(others) == len(others), "independent outputs of the other neurons (one beta)")
    beta = nearest(others, q[j])
    n = len(q[j])
    node.require(combine(beta, others, n) == q[j] and any(beta), "an output q_j != 0 in the span of the others")
    t = 1 / max(map(abs, beta))
    factors = tuple(1 - t * x for x in beta)
    before, after = total(q, n), total([*(scaled(f, u) for f, u in zip(factors, others, strict=True)), q[j]], n)
    return f"beta = {line(beta)}, factors {line(factors)}: the fit {line(before)} becomes {line(after)}"


def total(vectors: Sequence[Vector], n: int) -> Vector:
    """The sum."""
    return combine([Fraction(1)] * len(vectors), vectors, n)


def approximate(node: Node) -> str:
    """X_j w_j is not in the span of the others: every least-squares beta~ and every t != 0 change the fit."""
    fields = node.record("problem", "w", "j")
    p = read_instance(fields["problem"], "cgl")
    at = read_optimum(p, fields["w"])
    j, active = fields["j"].index(len(at.w)), at.active
    q = at.outputs(active)
    node.require(rank(q) < len(q), "dependent active outputs")
    others = at.outputs([b for b in active if b != j])
    fields["j"].require(rank(others) < rank(q), "an output X_j w_j outside the span of the others")
    yhat = line(minus(p.y, at.r))
    return f"{len(q)} outputs of rank {rank(q)}, X_j w_j outside the others' span: the step leaves the only fit {yhat}"
