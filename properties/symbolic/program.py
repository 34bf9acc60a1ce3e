"""The constrained group lasso (eq:constrained-gl), its dual and its KKT system; networks are instances of it.

    p*(lambda) = min_w 1/2 |Xw - y|^2 + lambda sum_b |w_b|   subject to   K_b'w_b <= 0

ReLU: a block for each D_i in D_Z and sign xi, X_b = xi D_i Z and K_b = -Z'(2 D_i - I) (eq:convex-relu-mlp). Gated
ReLU: X_b = D_i Z, no constraint (eq:convex-gated-relu-mlp). With bags the rows of D_i Z are pooled: X_b = xi P D_i Z.
Variants: the penalty delta/2 |w|^2 more (eq:l2-penalized-cgl), the logistic loss (app:general-losses), free columns B:
Xw + Bc, free biases: |w_b| without its last entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sympy import QQ, Matrix, exp, log, sqrt
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.cones import canonical_dual, in_cone, level_dual, without_last
from properties.symbolic.numbers import (
    RATIONAL,
    Number,
    Reals,
    dot,
    entries,
    matrix,
    norm2,
)
from properties.symbolic.patterns import Pattern, activation_patterns, cone, masked

NONE = QQ(0)


@dataclass(frozen=True)
class Block:
    """X_b and K_b. `name` is its number, or (xi, D) in a ReLU network, where equal v with equal xi are one neuron."""

    X: DomainMatrix
    K: DomainMatrix
    name: Any

    @property
    def size(self) -> int:
        """|b|"""
        return int(self.X.shape[1])


@dataclass(frozen=True)
class Program:
    """CGL. `neurons`: blocks are those of a ReLU network, and a neuron may lie in several of them. `biases`: the norm
    leaves out the last entry of w_b."""

    blocks: tuple[Block, ...]
    y: DomainMatrix
    lam: Number
    neurons: bool = False
    delta: Number = NONE
    logistic: bool = False
    B: DomainMatrix | None = None
    biases: bool = False
    reals: Reals = RATIONAL

    @property
    def n(self) -> int:
        """The number of targets."""
        return int(self.y.shape[0])

    def over(self, reals: Reals) -> Program:
        """The same program with numbers of a larger field."""
        K = reals.domain
        blocks = tuple(Block(b.X.convert_to(K), b.K.convert_to(K), b.name) for b in self.blocks)
        B = None if self.B is None else self.B.convert_to(K)
        return replace(self, blocks=blocks, y=self.y.convert_to(K), lam=reals.of(self.lam), B=B, reals=reals)

    def dual(self, b: Block, r: DomainMatrix) -> tuple[DomainMatrix, list[Number], DomainMatrix]:
        """v_b = c_b - K_b rho_b with c_b = X_b'r, rho_b by eq:non-negative-regression, and w with X_b w the output of a
        neuron along v_b: v_b itself, but for a free bias."""
        c = b.X.transpose() * r
        if self.biases:
            return level_dual(b.K, c, self.reals)
        v, rho = canonical_dual(b.K, c, self.reals)
        return v, rho, v

    def normed(self, w: DomainMatrix) -> DomainMatrix:
        """What |w_b| is the length of."""
        return without_last(w.shape[0], self.reals) * w if self.biases else w

    def at(self, lam: Number) -> Program:
        """The same program with another lambda."""
        return replace(self, lam=lam)


def relu_program(
    Z: DomainMatrix, y: DomainMatrix, lam: Number, some: Sequence[Pattern] | None = None, P: DomainMatrix | None = None
) -> Program:
    """eq:convex-relu-mlp over D_Z, or over some patterns; P pools the rows of Z."""
    blocks = []
    for D in activation_patterns(Z) if some is None else some:
        X = masked(Z, D) if P is None else P * masked(Z, D)
        blocks += [Block(X * QQ(xi), cone(Z, D), (xi, D)) for xi in (1, -1)]
    return Program(tuple(blocks), y, lam, neurons=True)


def gated_program(
    Z: DomainMatrix, y: DomainMatrix, lam: Number, some: Sequence[Pattern] | None = None, P: DomainMatrix | None = None
) -> Program:
    """eq:convex-gated-relu-mlp"""
    listed = activation_patterns(Z) if some is None else some
    d = Z.shape[1]
    free = matrix([[] for _ in range(d)], 0)
    return Program(tuple(Block(masked(Z, D) if P is None else P * masked(Z, D), free, D) for D in listed), y, lam)


Weights = Sequence[DomainMatrix]  # w_b for each block


def fit(p: Program, w: Weights, c: DomainMatrix | None = None) -> DomainMatrix:
    """Xw (+ Bc)"""
    total = DomainMatrix.zeros((p.n, 1), p.reals.domain)
    for b, wb in zip(p.blocks, w, strict=True):
        total = total + b.X * wb
    return total if c is None or p.B is None else total + p.B * c


def objective(p: Program, w: Weights, c: DomainMatrix | None = None) -> Any:
    """F_lambda(w) = 1/2 |Xw - y|^2 + lambda sum_b |w_b| (+ delta/2 |w|^2), a sympy number; or with the logistic
    loss."""
    number = p.reals.expression
    yhat = fit(p, w, c)
    if p.logistic:
        scores = [number(t * f) for t, f in zip(entries(p.y), entries(yhat), strict=True)]
        loss = sum(log(1 + exp(-s)) for s in scores)
    else:
        loss = number(norm2(yhat - p.y)) / 2
    norms = sum(sqrt(number(norm2(p.normed(wb)))) for wb in w)
    squares = sum(number(norm2(wb)) for wb in w)
    return loss + number(p.lam) * norms + number(p.delta) / 2 * squares


def dual_vectors(p: Program, r: DomainMatrix) -> list[DomainMatrix]:
    """v_b = c_b - K_b rho_b with c_b = X_b'r and rho_b by eq:non-negative-regression, for all blocks."""
    return [p.dual(b, r)[0] for b in p.blocks]


def dual_value(p: Program, theta: DomainMatrix) -> Any:
    """lemma:lagrange-dual, in the residual: y.theta - 1/2 |theta|^2, for theta with |v_b(theta)| <= lambda for all b
    and B'theta = 0. With delta > 0 every theta will do, and block b costs (|v_b| - lambda)_+^2 / (2 delta). Logistic
    loss: sum H(y_k theta_k), H(a) = -a log a - (1 - a) log(1 - a), for 0 <= y_k theta_k <= 1."""
    number = p.reals.expression
    if p.logistic:
        shares = [number(t * a) for t, a in zip(entries(p.y), entries(theta), strict=True)]
        value = sum(_entropy(a) for a in shares)
    else:
        value = number(dot(p.y, theta)) - number(norm2(theta)) / 2
    if p.delta:
        for v in dual_vectors(p, theta):
            length = norm2(v)
            if p.reals.sign(length - p.lam**2) > 0:
                value -= (sqrt(number(length)) - number(p.lam)) ** 2 / (2 * number(p.delta))
    return value


def _entropy(a: Any) -> Any:
    return 0 if a in (0, 1) else -a * log(a) - (1 - a) * log(1 - a)


def kkt_failures(
    p: Program, w: Weights, rho: Sequence[Sequence[Number]], coefficients: DomainMatrix | None = None
) -> list[str]:
    """What is wrong with (w, rho) as a primal-dual pair of eq:kkt-cgl; empty iff it is optimal.

    X_b'(Xw + Bc - y) + K_b rho_b + s_b = 0 with s_b in the subdifferential of lambda |w_b|, K_b'w_b <= 0,
    [rho_b]_j [K_b]_j'w_b = 0 and rho_b >= 0; and B'(Xw + Bc - y) = 0.
    """
    wrong = []
    sign = p.reals.sign
    residual = fit(p, w, coefficients) - p.y
    if p.B is not None and any(entries(p.B.transpose() * residual)):
        wrong.append("B'(Xw + Bc - y) is not 0")
    for b, wb, rho_b in zip(p.blocks, w, rho, strict=True):
        multipliers = matrix([[a] for a in rho_b], 1, p.reals)
        s = -(b.X.transpose() * residual) - (b.K * multipliers if rho_b else residual.zeros(wb.shape, p.reals.domain))
        if p.biases and entries(s)[-1]:
            wrong.append(f"block {b.name}: a bias costs nothing, and s_b has one")
        u = p.normed(wb)
        if any(entries(u)):  # s_b = lambda w_b / |w_b|: parallel to w_b, on its side, and of length lambda
            parallel = all(
                not (s_i * u_j - s_j * u_i)
                for i, (s_i, u_i) in enumerate(zip(entries(s), entries(u), strict=True))
                for s_j, u_j in list(zip(entries(s), entries(u), strict=True))[i:]
            )
            if not parallel or sign(dot(s, u)) <= 0 or sign(norm2(s) - p.lam**2) != 0:
                wrong.append(f"block {b.name}: no subgradient lambda w_b/|w_b|")
        elif sign(norm2(s) - p.lam**2) > 0:
            wrong.append(f"block {b.name}: |s_b| > lambda where w_b = 0")
        heights = entries(b.K.transpose() * wb) if rho_b else []
        if not in_cone(b.K, wb, p.reals):
            wrong.append(f"block {b.name}: K_b'w_b > 0")
        if any(m * h for m, h in zip(rho_b, heights, strict=True)):
            wrong.append(f"block {b.name}: rho_j K_j'w_b is not 0")
        if any(sign(m) < 0 for m in rho_b):
            wrong.append(f"block {b.name}: rho_b < 0")
    return wrong


def lambda_max2(p: Program) -> Number:
    """lambda_max^2 = max_b |Proj_{C_b}(X_b'y)|^2: from there on w = 0 solves the program (logistic: of y/2)."""
    start = p.y * p.reals.of(QQ(1, 2)) if p.logistic else p.y
    return max((norm2(v) for v in dual_vectors(p, start)), default=p.reals.domain.zero)


def as_matrix(A: DomainMatrix, reals: Reals) -> Matrix:
    """A sympy Matrix of expressions."""
    return Matrix(A.shape[0], A.shape[1], [reals.expression(a) for a in entries(A)])
