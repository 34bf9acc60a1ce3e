"""Several outputs where Theta is known to a ball: whether the optimal network is unique, in rationals.

theta is dual feasible, the optimal Theta* too, and |Theta* - theta|_F <= R. With |P(Zx)_+ - P(Zy)_+| <= zeta |x - y|
and rho = zeta R, |F*(x) - F(x)| <= rho |x|; Lambda = zeta |theta|_F is a Lipschitz constant of F.

* On a cone where (lambda - rho)^2 |x|^2 > |F(x)|^2, no x ties for Theta*.
* On a cone where lambda^2 |x|^2 - |F(x)|^2 >= m |x_|^2, x_ the part of x orthogonal to u, and x.u >= 0: ties have
  m |x_|^2 <= (lambda^2 - (lambda - rho)^2) |x|^2, so that they are near u, |x/|x| - u/|u|| <= near.

Let every cone be one of these two, for some directions u. Let the rows that are not 0 at u keep their signs near u.
Then a tie x near u lies in the closure of a cell around u, x = sum a_i g_i over its rays, a_i >= 0, and q(x) =
lambda^2 |x|^2 - |F*(x)|^2 is quadratic there, at least 0, and 0 at x: its derivative along g_i is 0 if a_i > 0. If that
is positive for all rays off the face of u, for all Theta* and x near, then x is on the face. There q is quadratic and
at least 0 around x, so that x is in its kernel; two such x would make a second singular value of F* on the span of the
face lambda, that of F at least lambda - rho. If it is less, at most one direction ties near u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, beside, column, dot, entries, norm2, root_above
from properties.symbolic.patterns import Signs, signs_of
from properties.symbolic.position import positive_definite
from properties.symbolic.several import Several, centred_logs, copositive, form, span_of

MOST_CONES, MOST_HALVES = 3_000, 30
NEAREST = QQ(1, 2)


@dataclass(frozen=True)
class Around:
    """All Theta* with |Theta* - theta|_F^2 <= R2; `proposed`: directions u with margins m."""

    p: Several
    theta: DomainMatrix
    R2: Number
    proposed: tuple[tuple[DomainMatrix, Number], ...]

    @cached_property
    def R(self) -> Number:
        """R"""
        return root_above(self.R2, 200)

    @cached_property
    def zeta(self) -> Number:
        """|P|_F |Z|_F, from above"""
        return root_above(norm2(self.p.Z) * (norm2(self.p.P) if self.p.P is not None else 1))

    @property
    def rho(self) -> Number:
        """|F*(x) - F(x)| <= rho |x|"""
        return self.zeta * self.R

    @cached_property
    def steep(self) -> Number:
        """Lambda"""
        return self.zeta * root_above(norm2(self.theta))

    def near(self, margin: Number) -> Number | None:
        """|x/|x| - u/|u|| is at most that where |x_| <= delta |x|; None if delta is not small."""
        delta = root_above((self.p.lam**2 - (self.p.lam - self.rho) ** 2) / margin, 200)
        return delta * QQ(3, 2) if self.rho < self.p.lam and delta < NEAREST else None

    @cached_property
    def covered(self) -> bool:
        """Whether every cone is without ties, or has them only near one of the directions."""
        todo, seen = [(list(cone), 0) for cone in self.p.simplices], 0
        while todo:
            (cone, depth), seen = todo.pop(), seen + 1
            if self._out(cone) or any(self._beside(cone, u, margin) for u, margin in self.proposed):
                continue
            if seen > MOST_CONES or depth == MOST_HALVES or len(cone) == 1:
                return False
            todo += [(half, depth + 1) for half in halves(cone)]
        return True

    def _out(self, cone: Sequence[DomainMatrix]) -> bool:
        return copositive(form(self.p, self.theta, cone, self.p.lam - self.rho), strictly=True)

    def _beside(self, cone: Sequence[DomainMatrix], u: DomainMatrix, margin: Number) -> bool:
        heights = [dot(g, u) for g in cone]
        if min(heights) < 0:
            return False
        G, along = beside(cone, self.p.Z.shape[1]), column(heights)
        apart = G.transpose() * G - along * along.transpose() * (1 / norm2(u))
        return copositive(form(self.p, self.theta, cone, self.p.lam) - apart * margin)

    def _single(self, u: DomainMatrix, near: Number) -> bool:
        """Whether at most one direction near u ties."""
        p, s, size = self.p, signs_of(self.p.Z, entries(u)), norm2(u)
        rows = [column(row) for row in p.Z.to_dense().to_list()]
        if any(e and dot(z, u) ** 2 <= norm2(z) * size * near * near for z, e in zip(rows, s, strict=True)):
            return False
        span = span_of(p.Z, s)
        if span.vstack(u.transpose()).rank() > span.shape[0]:
            return False
        off = p.lam * (p.lam * near + 2 * self.rho + self.steep * near)
        image = p.F(self.theta, u)
        for g in self._rays_beside(s):
            if p.lam**2 * dot(u, g) - dot(image, p.F(self.theta, g)) <= root_above(size * norm2(g)) * off:
                return False
        across = (span * u).transpose().nullspace() * span
        if not across.shape[0]:
            return True
        images = across * (p.by_row(self.theta).transpose() * p.seen(s)).transpose()
        level = (p.lam - self.rho) ** 2
        return positive_definite(
            (across * across.transpose() * level - images * images.transpose()).to_dense().to_list()
        )

    def _rays_beside(self, s: Signs) -> list[DomainMatrix]:
        """The rays, off the face s, of the cells whose closure holds it."""
        around = [t for t in self.p.cells if all(a in (0, b) for a, b in zip(s, t, strict=True))]
        return [
            g
            for signs, g in self.p.directions.items()
            if any(b and not a for a, b in zip(s, signs, strict=True))
            and any(all(a in (0, b) for a, b in zip(signs, t, strict=True)) for t in around)
        ]

    @cached_property
    def columns(self) -> tuple[DomainMatrix, Number] | None:
        """The columns P(Zu)_+ v', u and v of length 1, less their parts in the free ones, and how far all of them
        together are from those of Theta* at most; None if a class may have several directions."""
        p, total, listed = self.p, QQ(0), list[DomainMatrix]()
        for u, margin in self.proposed:
            near = self.near(margin)
            if near is None or not self._single(u, near):
                return None
            size = norm2(u)
            listed.append(self._across(p.output(u, p.F(self.theta, u)) * (1 / (p.lam * size))))
            seen = root_above(norm2(column(p.hidden(u))) / size)
            total += (self.zeta * near + seen * (self.rho + self.steep * near) / p.lam) ** 2
        return beside(listed, p.y.shape[0]), root_above(total, 200)

    def _across(self, a: DomainMatrix) -> DomainMatrix:
        B = self.p.columns
        return a if B is None else a - B * ((B.transpose() * B).inv() * (B.transpose() * a))

    @cached_property
    def _fit(self) -> tuple[DomainMatrix, Number] | None:
        """About the optimal fit, less its part in the free columns, and how far it is off at most. Softmax: centred
        logarithms of the probabilities; these differ by at most |p* - p| / min(p, p*)."""
        shares = self.p.y - self.theta
        if not self.p.softmax:
            return self._across(shares), self.R
        least = min(entries(shares))
        if least <= self.R:
            return None
        return self._across(centred_logs(self.p, shares)), self.R / (least - self.R) + QQ(1, 10**40)

    @cached_property
    def weights(self) -> tuple[list[Number], Number] | None:
        """|w||v| of the only network, a weight for each direction, and an error; None if it is not proved unique.

        Q* alpha* = fit*, |Q* - Q|_F <= kappa and |Qx| >= sigma |x|: |alpha* - alpha| (sigma - kappa) <= |Q* (alpha* -
        alpha)| <= |Q alpha - fit| + |fit* - fit| + kappa |alpha|.
        """
        if self.columns is None or self._fit is None or not self.covered:
            return None
        if not self.proposed:
            return [], QQ(0)
        (Q, kappa), (fit, off) = self.columns, self._fit
        gram = Q.transpose() * Q
        if gram.rank() < gram.shape[0]:
            return None
        inverse = gram.inv() * Q.transpose()
        sigma = 1 / root_above(norm2(inverse))
        if kappa >= sigma:
            return None
        alpha = inverse * fit
        missed = root_above(norm2(Q * alpha - fit), 200) + off + kappa * root_above(norm2(alpha))
        return entries(alpha), missed / (sigma - kappa)


def halves(cone: Sequence[DomainMatrix]) -> list[list[DomainMatrix]]:
    """The cone cut in two between the generators that are farthest apart."""
    sizes = [norm2(g) for g in cone]
    pairs = [(i, j) for i in range(len(cone)) for j in range(i)]

    def cosine(pair: tuple[int, int]) -> Number:
        c = dot(cone[pair[0]], cone[pair[1]])
        return c * abs(c) / (sizes[pair[0]] * sizes[pair[1]])

    i, j = min(pairs, key=cosine)
    if sizes[i] < sizes[j]:
        i, j = j, i
    times = int(root_above(sizes[i] / sizes[j], 2) * 16)  # of 16, so that both parts are about as long
    middle = cone[i] + cone[j] * QQ(times, 16)
    return [[middle if k == one else g for k, g in enumerate(cone)] for one in (i, j)]
