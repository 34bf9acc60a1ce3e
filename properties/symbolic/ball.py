"""What holds for every residual of a ball, in rationals: the residual of all solutions is one of them.

theta is dual feasible and w is feasible: then |r - theta|^2 <= R^2 = 2 (P(w) - D(theta)) for the residual r of the
solutions (P is strongly convex in Xw). v_b(r) moves by at most |X_b|_F |r - theta|, so

* |v_b(theta)| + |X_b|_F R < lambda: b is not in E;
* where the tight constraints of v_b(theta) keep positive multipliers, and the others stay slack, v_b(r) = P_b X_b'r
  with the projector P_b of the face, for all r of the ball. Blocks with equal X_b P_b and sign are one neuron, a
  *class*.

With free biases |Xw| <= |X|_F |w| <= |X|_F h |Sw|, h the largest |z_k|: an end of an interval of biases is some -x_k.w.
On a face w = G c, v = S w and rho = W c with [[S, F], [F', 0]]^-1 = [[G, W'], [W, .]], F the tight constraints;
without free biases S = I and G = P. Because G S G = G, the output of w is B B'r with B = X G S. (A block without
tight constraints is level, or it has none over the ball: its neurons are not known.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.cones import without_last
from properties.symbolic.numbers import Number, beside, dot, entries, norm2, root_above
from properties.symbolic.program import Block, Program


@dataclass(frozen=True)
class Class:
    """A neuron that may be active, on one face for all residuals of the ball: v = B'r, q = B B'r.

    `tight` are the constraints of the first of its blocks that vanish on the face; `forced`: in each of its blocks all
    of these have positive multipliers."""

    sign: int
    B: DomainMatrix
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
            left = p.lam - root_above(norm2(b.X) * longest(b, p) * self.R2)
            if left > 0 and norm2(c) < left * left and not p.biases:
                continue
            v, _, _ = p.dual(b, self.theta)
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
            B, tight, forced = face
            sign = self.program.blocks[i].name[0] if self.program.neurons else 1
            for k, one in enumerate(found):
                if self.program.neurons and one.sign == sign and one.B == B:
                    found[k] = Class(sign, B, (*one.blocks, i), one.tight, one.forced and forced)
                    break
            else:
                found.append(Class(sign, B, (i,), tight, forced))
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


def longest(b: Block, p: Program) -> Number:
    """1, or with free biases the largest |z_k|^2, by which |w|^2 is larger than |Sw|^2."""
    return max((norm2(b.K[:, j]) for j in range(b.K.shape[1])), default=QQ(1)) if p.biases else QQ(1)


def stable_face(b: Block, theta: DomainMatrix, R2: Number, p: Program) -> Face | None:
    """B with v_b(r) = B'r for all r of the ball, the constraints that are tight there, and whether all of them have
    positive multipliers; None if that is not shown."""
    c = b.X.transpose() * theta
    _, _, w = p.dual(b, theta)
    columns = [b.K[:, j] for j in range(b.K.shape[1]) if any(entries(b.K[:, j]))]
    moved = norm2(b.X) * longest(b, p) * R2
    near = [k for k in columns if not (dot(k, w) < 0 and dot(k, w) ** 2 > norm2(k) * moved)]
    if p.biases and not near:
        return None
    S = without_last(b.size, p.reals) if p.biases else DomainMatrix.eye(b.size, QQ).to_dense()
    rank = beside(near, b.size).rank() if near else 0
    slack = [k for k in columns if k not in near]
    for some in combinations(near, rank):
        F = beside(some, b.size)
        if rank and F.rank() < rank:
            continue
        inverse = S.hstack(F).vstack(F.transpose().hstack(DomainMatrix.zeros((rank, rank), QQ).to_dense())).inv()
        G, W = inverse[: b.size, : b.size], inverse[b.size :, : b.size]
        if all(_keeps(b.X * W[j, :].transpose(), dot(W[j, :].transpose(), c), R2) for j in range(rank)) and all(
            _keeps(b.X * (G * k), -dot(k, G * c), R2) for k in slack
        ):
            return b.X * G * S, tuple(near), _all_forced(near, some)
    return None


def _keeps(h: DomainMatrix, at: Number, R2: Number) -> bool:
    """h.r > 0 for all r of the ball, h.theta = at."""
    return bool(at > 0 and at * at > norm2(h) * R2)


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
    length = max((norm2(p.dual(b, theta)[0]) for b in p.blocks), default=QQ(0))
    return theta if length <= p.lam**2 else theta * (p.lam / root_above(length))


def upper_value(p: Program, w: Sequence[DomainMatrix], c: DomainMatrix | None = None) -> Number:
    """A rational just above F_lambda(w), least squares, delta = 0."""
    from properties.symbolic.program import fit

    return norm2(fit(p, w, c) - p.y) / 2 + p.lam * sum((root_above(norm2(p.normed(wb))) for wb in w), QQ(0))
