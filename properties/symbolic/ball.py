"""What holds for every residual of a ball, in rationals: the residual of all solutions is one of them.

theta is dual feasible and w is feasible: then |r - theta|^2 <= R^2 = 2 (P(w) - D(theta)) for the residual r of the
solutions (P is strongly convex in Xw). v_b(r) moves by at most |X_b|_F |r - theta|, so

* |v_b(theta)| + |X_b|_F R < lambda: b is not in E;
* where the tight constraints of v_b(theta) keep positive multipliers, and the others stay slack, v_b(r) = P_b X_b'r
  with the projector P_b of the face, for all r of the ball. Blocks with equal X_b P_b and sign are one neuron, a
  *class*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.cones import canonical_dual
from properties.symbolic.numbers import Number, beside, column, dot, entries, norm2, root_above
from properties.symbolic.program import Block, Program


@dataclass(frozen=True)
class Class:
    """A neuron that may be active, on one face for all residuals of the ball: v = P X'r, q = B B'r with B = X P.

    `tight` are the constraints of the first of its blocks that vanish on the face; `forced`: in each of its blocks all
    of these have positive multipliers."""

    sign: int
    B: DomainMatrix
    P: DomainMatrix
    blocks: tuple[int, ...]
    tight: tuple[DomainMatrix, ...]
    forced: bool

    def output(self, r: DomainMatrix) -> DomainMatrix:
        """q = B B'r"""
        return self.B * (self.B.transpose() * r)


@dataclass(frozen=True)
class Ball:
    """All r with |r - theta|^2 <= R2."""

    program: Program
    theta: DomainMatrix
    R2: Number

    @cached_property
    def candidates(self) -> list[int]:
        """The blocks that are not proved out."""
        p, out = self.program, []
        for i, b in enumerate(p.blocks):
            c = b.X.transpose() * self.theta
            left = p.lam - root_above(norm2(b.X) * self.R2)
            if left > 0 and norm2(c) < left * left:
                continue
            v, _ = canonical_dual(b.K, c, p.reals)
            if not (left > 0 and norm2(v) < left * left):
                out.append(i)
        return out

    @cached_property
    def classes(self) -> list[Class] | None:
        """All neurons that may be active; None if the face of one is not known over the ball."""
        found: list[Class] = []
        for i in self.candidates:
            face = stable_face(self.program.blocks[i], self.theta, self.R2, self.program)
            if face is None:
                return None
            P, tight, forced = face
            b = self.program.blocks[i]
            sign = b.name[0] if self.program.neurons else 1
            B = b.X * P
            for k, one in enumerate(found):
                if self.program.neurons and one.sign == sign and one.B == B:
                    found[k] = Class(sign, B, one.P, (*one.blocks, i), one.tight, one.forced and forced)
                    break
            else:
                found.append(Class(sign, B, P, (i,), tight, forced))
        return found

    @cached_property
    def weights(self) -> tuple[list[Number], Number] | None:
        """alpha and an error: if the outputs of all classes are independent for every r of the ball, the weights of the
        only solution are within the error of alpha; None if they are not proved independent.

        Q(r) alpha = y - r, |Q(r) - Q(theta)|_F <= eps, |Qx| >= sigma |x| with sigma = 1/|Q^+|_F (rational squares).
        """
        if self.classes is None:
            return None
        p = self.program
        Q = beside([one.output(self.theta) for one in self.classes], p.n)
        target = p.y - self.theta
        if p.B is not None:
            L = p.B.transpose().nullspace()
            Q, target, stretch = L * Q, L * target, root_above(norm2(L))
        else:
            stretch = QQ(1)
        if not self.classes:
            return [], QQ(0)
        gram = Q.transpose() * Q
        if gram.rank() < len(self.classes):
            return None
        inverse = gram.inv() * Q.transpose()
        R = root_above(self.R2)
        eps = stretch * R * root_above(sum((norm2(one.B) ** 2 for one in self.classes), QQ(0)))
        sigma = 1 / root_above(norm2(inverse))
        if eps >= sigma:
            return None
        alpha = inverse * target
        off = root_above(norm2(Q * alpha - target)) + stretch * R + eps * root_above(norm2(alpha))
        return entries(alpha), off / (sigma - eps)


Face = tuple[DomainMatrix, tuple[DomainMatrix, ...], bool]


def stable_face(b: Block, theta: DomainMatrix, R2: Number, p: Program) -> Face | None:
    """P with v_b(r) = P X_b'r for all r of the ball, the constraints that are tight there, and whether all of them have
    positive multipliers; None if that is not shown."""
    c = b.X.transpose() * theta
    v, _ = canonical_dual(b.K, c, p.reals)
    moved = norm2(b.X) * R2
    identity = DomainMatrix.eye(b.size, QQ).to_dense()
    near = []
    for j in range(b.K.shape[1]):
        k = b.K[:, j]
        h = dot(k, v)
        if any(entries(k)) and not (h < 0 and h * h > norm2(k) * moved):
            near.append(k)
    if not near:
        return identity, (), True
    rank = beside(near, b.size).rank()
    for some in combinations(near, rank):
        F = beside(some, b.size)
        gram = F.transpose() * F
        if gram.rank() < rank:
            continue
        W = gram.inv() * F.transpose()
        rho = W * c
        rows = W.to_dense().to_list()
        if all(m > 0 and m * m > norm2(column(row)) * moved for m, row in zip(entries(rho), rows, strict=True)):
            P = identity - F * W
            inside = P * c
            slack = [b.K[:, j] for j in range(b.K.shape[1]) if b.K[:, j] not in near and any(entries(b.K[:, j]))]
            if all(dot(k, inside) < 0 and dot(k, inside) ** 2 > norm2(k) * moved for k in slack):
                return P, tuple(near), _all_forced(near, some)
    return None


def _all_forced(near: Sequence[DomainMatrix], some: Sequence[DomainMatrix]) -> bool:
    """Every tight constraint is (a positive multiple of) one with a positive multiplier."""
    return all(any(_same_ray(k, f) for f in some) for k in near)


def _same_ray(a: DomainMatrix, b: DomainMatrix) -> bool:
    return bool(dot(a, b) > 0 and dot(a, b) ** 2 == norm2(a) * norm2(b))


def squared_radius(p: Program, upper: Number, theta: DomainMatrix) -> Number:
    """R^2 = 2 (P(w) - D(theta)), upper >= P(w); theta dual feasible, least squares, delta = 0."""
    return 2 * (upper - (dot(p.y, theta) - norm2(theta) / 2))


def made_feasible(p: Program, theta: DomainMatrix) -> DomainMatrix:
    """theta scaled down so that |v_b(theta)| <= lambda for all blocks."""
    longest = max((norm2(canonical_dual(b.K, b.X.transpose() * theta, p.reals)[0]) for b in p.blocks), default=QQ(0))
    return theta if longest <= p.lam**2 else theta * (p.lam / root_above(longest))


def upper_value(p: Program, w: Sequence[DomainMatrix], c: DomainMatrix | None = None) -> Number:
    """A rational just above F_lambda(w), least squares, delta = 0."""
    from properties.symbolic.program import fit

    return norm2(fit(p, w, c) - p.y) / 2 + p.lam * sum((root_above(norm2(wb)) for wb in w), QQ(0))
