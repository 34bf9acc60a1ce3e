"""Refutations about other losses, the dual, one neuron, and stationary points of networks."""

from __future__ import annotations

from fractions import Fraction

from verify.errors import Rejected
from verify.numbers.bounds import root_above
from verify.problem.blocks import written_out
from verify.problem.problem import Problem, dot, square, times
from verify.refutations.core import (
    ZERO,
    combine,
    correlation,
    d_z,
    dual_vectors,
    fit,
    line,
    minus,
    multiple,
    nearest,
    optimum,
    project,
    rank,
    read_instance,
    read_weights,
    scaled,
)
from verify.text import Matrix, Node, Vector

# prop:one-neuron: x_k and y_k, and the printed lambda of the jump
X, Y = (Fraction(-100), Fraction(1)), (Fraction(1), Fraction(10))
PRINTED_JUMP = Fraction(9900, 999)


def general_loss(node: Node) -> str:
    """L = sum e^2 + e^4, e = Xw - y: w is optimal for 1/2 L, and not alpha Proj(X_b' grad L) with |.| = lambda."""
    fields = node.record("problem", "w")
    p = read_instance(fields["problem"], "cgl")
    w = read_weights(p, fields["w"])
    e = minus(fit(p, w), p.y)
    at = optimum(p, w, fields["w"], tuple(-(x + 2 * x**3) for x in e))
    printed = dual_vectors(p, tuple(2 * x + 4 * x**3 for x in e))
    for b in at.active:
        t = multiple(w[b], printed[b])
        if t is None or t <= 0 or square(printed[b]) != p.lam**2:
            return f"block {b}: w_b = {line(w[b])} is optimal for 1/2 L, and Proj(X_b' grad L) = {line(printed[b])}"
    raise node.reject("an active block that is not alpha Proj(X_b' grad L)")


def lagrange_dual(node: Node) -> str:
    """|X'theta - K rho| <= lambda for each block, and the dual objective is above P(w) of a feasible w."""
    fields = node.record("problem", "w", "theta", "rho")
    p = read_instance(fields["problem"], "cgl")
    w, theta = read_weights(p, fields["w"]), fields["theta"].vector(p.n)
    for b, rho in enumerate(fields["rho"].array(len(p.groups))):
        K = p.constraints(b)
        fields["w"].require(all(dot(k, w[b]) <= 0 for k in K), "a point of the cones")
        eta = minus(correlation(p, b, theta), combine(rho.vector(len(K)), K, len(w[b])))
        rho.require(square(eta) <= p.lam**2, "|eta_b| <= lambda")
    primal = square(minus(p.y, fit(p, w))) / 2 + p.lam * sum((root_above(square(wb)) for wb in w), ZERO)
    dual = square(p.y) / 2 - square(on_range(p, minus(theta, p.y))) / 2
    node.require(dual > primal, "a dual value above P(w)")
    return f"the printed dual has the value {dual} > {primal} >= P(w) >= p*"


def on_range(p: Problem, u: Vector) -> Vector:
    """The projection of u on the range of X."""
    basis: list[Vector] = []
    for column in zip(*p.Z, strict=True):
        if rank([*basis, column]) > len(basis):
            basis.append(column)
    return combine(nearest(basis, u), basis, p.n)


def one_neuron(node: Node) -> str:
    """The printed solution is beaten by another weight v."""
    fields = node.record("lambda", "v")
    lam, v = fields["lambda"].number(), fields["v"].number()
    fields["lambda"].require(0 < lam < 100 and lam != PRINTED_JUMP, "0 < lambda < 100 other than the printed jump")
    printed = lam / 100**2 - Fraction(1, 100) if lam > PRINTED_JUMP else Fraction(1, 10) - lam / 100
    values = [min(objective(u, sign, lam) for sign in signs) for u, signs in ((printed, (1, -1)), (v, (1,)))]
    fields["v"].require(values[1] < values[0], "a smaller objective than the printed solution has")
    return f"at lambda = {lam} the printed {printed} has the objective {values[0]}, and {v} has {values[1]}"


def objective(v: Fraction, sign: int, lam: Fraction) -> Fraction:
    """1/2 sum (sign (x_k v)_+ - y_k)^2 + lambda |v|"""
    errors = (sign * max(x * v, ZERO) - y for x, y in zip(X, Y, strict=True))
    return sum((e**2 for e in errors), ZERO) / 2 + lam * abs(v)


def stationary(node: Node) -> str:
    """One neuron is Clarke stationary or optimal for some sub-sampled program, but not both."""
    fields = node.record("Z", "y", "lambda", "W", "w2")
    Z = fields["Z"].matrix()
    fields["Z"].require(bool(Z) and bool(Z[0]), "data")
    y, W = fields["y"].vector(len(Z)), fields["W"].vector(len(Z[0]))
    lam, w2 = fields["lambda"].number(), fields["w2"].number()
    node.require(lam > 0 and any(W) and w2 != 0, "lambda > 0 and a neuron other than zero")
    is_open = d_z(Z, node)
    r = minus(y, scaled(w2, tuple(max(x, ZERO) for x in times(Z, W))))
    clarke = is_clarke(Z, r, lam, W, w2, [D for D in is_open if is_open[D]])
    member = is_member(Problem("relu", lam, Z, y), W, w2, list(is_open), fields["W"])
    node.require(clarke != member, "a network in exactly one of the two sets")
    return f"W = {line(W)}, w2 = {w2} is Clarke stationary: {clarke}; optimal for a sub-sampled program: {member}"


def is_clarke(Z: Matrix, r: Vector, lam: Fraction, W: Vector, w2: Fraction, cells: list[int]) -> bool:
    """lambda w2 = r.(ZW)_+, and lambda W = w2 Z'D r for a mean D of the open cells whose closure holds W."""
    s = times(Z, W)
    if dot(r, [max(x, ZERO) for x in s]) != lam * w2:
        return False
    gradients = []
    for D in cells:
        if all(not x or (x > 0) == bool(D >> k & 1) for k, x in enumerate(s)):
            on = [w2 * r_k if D >> k & 1 else ZERO for k, r_k in enumerate(r)]
            gradients.append((*combine(on, Z, len(W)), Fraction(1)))
    return in_cone_of(gradients, (*scaled(lam, W), Fraction(1)))


def in_cone_of(vectors: list[Vector], b: Vector) -> bool:
    """b = sum x_j u_j with x >= 0: by Moreau iff the projection of b on the polar cone is zero."""
    return not any(project(vectors, b))


def is_member(network: Problem, W: Vector, w2: Fraction, masks: list[int], node: Node) -> bool:
    """|W| = |w2|, and |w2| W alone is optimal for the program of one pattern that W conforms to."""
    if square(W) != w2**2:
        return False
    for D in masks:
        w = (scaled(abs(w2), W), scaled(0, W))
        try:
            optimum(written_out(network, [D]), w if w2 > 0 else w[::-1], node)
        except Rejected:
            continue
        return True
    return False
