"""Refutations about how solutions move with y and lambda: derivatives, continuity, and the min-norm path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.optimal.ball import Ball
from verify.problem.problem import SIGNS, dot, square, times
from verify.refutations.core import (
    ZERO,
    Optimum,
    correlation,
    line,
    minus,
    multiple,
    rank,
    read_instance,
    read_optimum,
    scaled,
    solve,
)
from verify.rules.jump import Beside, check_beside, kernel
from verify.sets.ties import Tied
from verify.text import Matrix, Node, Vector


def affine(one: Optimum, other: Optimum, node: Node) -> None:
    """Between two unique solutions, of one X and K, that w is the only solution and affine in (y, lambda).

    For each block c = v + K rho at both ends, and v at one end is orthogonal to K rho at the other: so v is the
    projection in between too. |v| <= lambda there by the triangle inequality, with equality only if it holds at both
    ends; then, and where w_b is not zero, v at the ends are parallel, and |v| is affine as lambda is.
    """
    node.require(one.unique and other.unique, "independent outputs on E: unique solutions")
    for b, (v, u) in enumerate(zip(one.v, other.v, strict=True)):
        rest = [minus(correlation(at.p, b, at.r), at.v[b]) for at in (one, other)]
        node.require(not dot(v, rest[1]) and not dot(u, rest[0]), f"one face of the cone along the way, block {b}")
        tied = [b in at.E for at in (one, other)]
        if all(tied) or any(one.w[b]) or any(other.w[b]):
            t = multiple(u, v)
            node.require(all(tied) and t is not None and t > 0, f"one direction along the way, block {b}")


def differentiable(node: Node) -> str:
    """Blocks of one column without constraints, where both qualifications are empty, and two one-sided derivatives."""
    fields = node.record("problem", "w", "k", "step", "above", "below")
    p = read_instance(fields["problem"], "cgl")
    node.require(all(len(g) == 1 for g in p.groups) and (None,) * len(p.K) == p.K, "single columns, no constraints")
    k, step = fields["k"].index(p.n), fields["step"].number()
    fields["step"].require(step > 0, "a step > 0")
    at = read_optimum(p, fields["w"])
    slopes = []
    for name, t in (("below", -step), ("above", step)):
        moved = replace(p, y=tuple(y + t * (i == k) for i, y in enumerate(p.y)))
        beside = read_optimum(moved, fields[name])
        affine(at, beside, fields[name])
        slopes.append(tuple((u[0] - w[0]) / t for u, w in zip(beside.w, at.w, strict=True)))
    node.require(slopes[0] != slopes[1], "different slopes on the two sides")
    sides = f"{line(slopes[0])} from below and {line(slopes[1])} from above"
    return f"w is affine on both sides of y; dw/dy_{k + 1} is {sides}"


def jacobian(node: Node) -> str:
    """dw = D^-1 X'e_k with the printed D = X'X + M(w) does not satisfy the conditions to first order.

    D and H = X'X + lambda M(w) are regular: where Xz = 0 and Mz = 0, z_b = t_b w_b, and the outputs are independent.
    """
    fields = node.record("problem", "w", "k")
    p = read_instance(fields["problem"], "cgl")
    k = fields["k"].index(p.n)
    at = read_optimum(p, fields["w"])
    blocks = range(len(p.groups))
    node.require(at.E == at.active == list(blocks) and (None,) * len(blocks) == p.K, "E = A = all blocks, K = 0")
    node.require(at.unique, "a unique solution")
    order = [j for g in p.groups for j in g]
    columns = [tuple(row[j] for row in p.Z) for j in order]
    M = curvature(at)
    gram = [[dot(a, b) for b in columns] for a in columns]
    D, H = (
        tuple(tuple(g + t * m for g, m in zip(*rows, strict=True)) for rows in zip(gram, M, strict=True))
        for t in (Fraction(1), p.lam)
    )
    target = tuple(column[k] for column in columns)
    dw = solve(D, target)
    defect = minus(times(H, dw), target) if dw else ()
    node.require(any(defect), "a derivative that leaves a defect of first order")
    return f"the printed dw/dy_{k + 1} = {line(dw or ())} leaves {line(defect)} of X'X dw + lambda M dw = X'e_{k + 1}"


def curvature(at: Optimum) -> Matrix:
    """M(w), block diagonal: (I - u u')/|w_b| with u = w_b/|w_b| and |w_b| = alpha_b lambda, all blocks active."""
    size = sum(map(len, at.w))
    M = [[ZERO] * size for _ in range(size)]
    start = 0
    for wb, alpha in zip(at.w, at.alpha, strict=True):
        norm = alpha * at.p.lam
        for i, a in enumerate(wb):
            for j, b in enumerate(wb):
                M[start + i][start + j] = ((i == j) - a * b / norm**2) / norm
        start += len(wb)
    return tuple(map(tuple, M))


def network_path(node: Node) -> str:
    """A split network at lambda that no optimal network of its width at smaller lambda is near."""
    fields = node.record("problem", "w", "lower", "w_lower", "W", "w2")
    p = read_instance(fields["problem"], "relu")
    at = read_optimum(p, fields["w"])
    lower = fields["lower"].number()
    fields["lower"].require(0 < lower < p.lam, "0 < lower < lambda")
    below = read_optimum(replace(p, lam=lower), fields["w_lower"])
    affine(at, below, node)
    W, w2 = fields["W"].matrix(), fields["w2"].vector(fields["W"].length())
    width, images = len(W), at.images()
    fields["W"].require(all(len(u) == len(p.groups[0]) for u in W), "one weight for each feature")
    parts: dict[tuple[int, Vector], Fraction] = dict.fromkeys(images, ZERO)
    for u, a in zip(W, w2, strict=True):
        fields["W"].require(any(u) and square(u) == a * a, "balanced neurons, none of them zero")
        key, t = part(images, scaled(abs(a), u), 1 if a > 0 else -1, fields["W"])
        parts[key] += t
    fields["W"].require(parts == images, "neurons that add up to those of w")
    fields["w_lower"].require(len(below.images()) == width == len(below.active), "as many neurons as the width")
    fields["w"].require(len(at.images()) < width, "fewer neurons than the width")
    return (
        f"p-unique on [{lower}, {p.lam}], {width} different neurons below lambda = {p.lam}; the network there that "
        f"splits {len(at.images())} neuron(s) into {width} is optimal, and not a limit"
    )


def part(
    images: dict[tuple[int, Vector], Fraction], u: Vector, xi: int, node: Node
) -> tuple[tuple[int, Vector], Fraction]:
    """The neuron (xi, v) and t > 0 with u = t v."""
    for sign, v in images:
        t = multiple(u, v)
        if sign == xi and t is not None and t > 0:
            return (sign, v), t
    raise node.reject("neurons that are parts of those of w")


def openness(node: Node) -> str:
    """X of deficient rank, and y.X_b u < 0 for the directions u of every cone: w = 0 alone, at every lambda >= 0."""
    fields = node.record("problem")
    p = read_instance(fields["problem"], "cgl")
    node.require(all(len(g) == 1 for g in p.groups), "blocks of one column")
    columns = tuple(zip(*p.Z, strict=True))
    node.require(rank(columns) < len(columns), "X of deficient column rank")
    for b, (j,) in enumerate(p.groups):
        for u in (1, -1):
            admitted = all(k * u <= 0 for row in p.K[b] or () for k in row)
            node.require(not admitted or u * dot(columns[j], p.y) < 0, f"y.X_b u < 0 for block {b}, u = {u}")
    return f"rank X = {rank(columns)} < {len(columns)}, and W*(lambda) = {{0}} for every lambda >= 0: open"


def min_norm_path(node: Node) -> str:
    """At lambda a solution is shorter than the one to which the only solutions on one side tend (FORMAT.md, jump)."""
    fields = node.record("problem", "limit", "shorter", "active", "side", "farkas")
    p = read_instance(fields["problem"], "cgl", "gated", "relu")
    limit, shorter = read_optimum(p, fields["limit"]), read_optimum(p, fields["shorter"])
    lengths = [sum(map(square, at.w), ZERO) for at in (limit, shorter)]
    fields["shorter"].require(lengths[1] < lengths[0], "a shorter solution")
    tied = limit.E
    active = fields["active"].ascending(len(p.groups))
    fields["active"].require(set(limit.active) <= set(active) <= set(tied), "tied blocks, with all that `limit` uses")
    ball = Ball(p, limit.r, ZERO)
    kernels = [kernel(ball, Tied((0, b), limit.v[b], ()), node) for b in tied]
    places = tuple(i for i, b in enumerate(tied) if b in active)
    weights = tuple(limit.alpha[b] for b in tied)
    side = fields["side"]
    beside = Beside(ball, kernels, weights, places, SIGNS[side.text("+", "-")])
    check_beside(beside, fields)
    which = "smaller" if side.value == "+" else "larger"
    return (
        f"at lambda = {p.lam} a solution has |w|^2 = {lengths[1]}; at {which} lambda the only solution is another, "
        f"which tends to |w|^2 = {lengths[0]}"
    )
