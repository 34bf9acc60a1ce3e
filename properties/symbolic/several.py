"""Networks with several outputs, f(Z) = sum_j P (Z w_j)_+ v_j' + Bc, v_j in R^C, by definition.

    p*(lambda) = min 1/2 |f(Z) - Y|_F^2 + lambda sum_j |w_j||v_j|
               = max <Y, Theta> - 1/2 |Theta|_F^2  subject to  |F(u)| <= lambda |u| for all u,  B'Theta = 0,

F(u) = Theta'P(Zu)_+. On a cone of the arrangement F is linear, F(u) = Mu, and the constraint says that lambda^2 I - M'M
is copositive there: on each simplex of a triangulation that is decided by principal minors (Hadeler). A network is
optimal iff its fit is Y - Theta, |F(w_j)| = lambda |w_j| and v_j is along F(w_j). With q_u = P(Zu)_+ F(u)'/lambda the
optimal networks are {alpha >= 0 : sum alpha_u q_u = Y - Theta} over the directions u that tie, as for one output. On
the relative interior of a face, u ties iff it is in the kernel of lambda^2 I - M'M on the span of the face (the form is
at least 0 there): a kernel of two dimensions that meets it is a *continuum* of neurons.

Matrices n x C are columns of n C numbers, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from sympy import QQ, Rational, exp, log
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, beside, column, dot, entries, matrix, norm2
from properties.symbolic.optimum import Neuron, NotOptimalError, Optimum
from properties.symbolic.patterns import Signs, covectors, masked, rays, signs_of
from properties.symbolic.program import Program

ZERO = QQ(0)


@dataclass(frozen=True)
class Several:
    """The problem; y is the column of Y."""

    Z: DomainMatrix
    y: DomainMatrix
    outputs: int
    lam: Number
    P: DomainMatrix | None = None
    B: DomainMatrix | None = None
    softmax: bool = False
    biases: bool = False  # lengths do not see the last entry of u: the column of ones, which is free

    def seen_part(self, u: DomainMatrix) -> DomainMatrix:
        """What lengths see of the columns of u."""
        return u[: u.shape[0] - 1, :] if self.biases else u

    @property
    def columns(self) -> DomainMatrix | None:
        """The free columns of all outputs: B on every one of them."""
        if self.B is None:
            return None
        places = range(self.outputs)
        listed = [
            [b if j == k else ZERO for b in row for j in places] for row in self.B.to_dense().to_list() for k in places
        ]
        return matrix(listed, self.B.shape[1] * self.outputs)

    def hidden(self, u: DomainMatrix) -> list[Number]:
        """P(Zu)_+"""
        seen = column([max(h, ZERO) for h in entries(self.Z * u)])
        return entries(seen if self.P is None else self.P * seen)

    def output(self, u: DomainMatrix, v: DomainMatrix) -> DomainMatrix:
        """P(Zu)_+ v'"""
        return column([h * a for h in self.hidden(u) for a in entries(v)])

    def F(self, theta: DomainMatrix, u: DomainMatrix) -> DomainMatrix:
        """F(u) = Theta'P(Zu)_+"""
        return self.by_row(theta).transpose() * column(self.hidden(u))

    def by_row(self, a: DomainMatrix) -> DomainMatrix:
        """The matrix n x C of a column."""
        listed, C = entries(a), self.outputs
        return matrix([listed[k : k + C] for k in range(0, len(listed), C)], C)

    def seen(self, s: Signs) -> DomainMatrix:
        """P D Z on the face s."""
        DZ = masked(self.Z, tuple(int(a > 0) for a in s))
        return DZ if self.P is None else self.P * DZ

    @cached_property
    def faces(self) -> set[Signs]:
        """sign(Zu), u in R^d: the faces of the arrangement."""
        return covectors(self.Z)

    @cached_property
    def directions(self) -> dict[Signs, DomainMatrix]:
        """The rays, by their signs."""
        found: dict[Signs, DomainMatrix] = {}
        for u in rays(self.Z):
            found.setdefault(signs_of(self.Z, u), column(u))
        return found

    @cached_property
    def seen_rows(self) -> list[int]:
        """The rows that are not 0."""
        return [k for k, row in enumerate(self.Z.to_dense().to_list()) if any(row)]

    @cached_property
    def cells(self) -> list[Signs]:
        """The faces that are open in the span of the rows."""
        return [s for s in self.faces if all(s[k] for k in self.seen_rows)]

    @cached_property
    def simplices(self) -> list[list[DomainMatrix]]:
        """Generators of simplicial cones that cover the span of the rows: the cells, triangulated. With free biases a
        vector that no row sees may shorten the others, so that all of them are there, too, and their opposites."""
        found = self.directions
        cones = [[found[t] for t in some] for s in self.cells for some in triangulated(s, list(found), self.seen_rows)]
        unseen = self.Z.nullspace().to_dense().to_list() if self.biases else []
        for row in unseen:
            cones = [[*cone, column([e * a for a in row])] for cone in cones for e in (1, -1)]
        return cones


def triangulated(s: Signs, directions: Sequence[Signs], seen: Sequence[int]) -> Iterator[tuple[Signs, ...]]:
    """Simplices of rays, given by their signs, whose union is the closure of the cell s: the first ray, with those of
    the facets that it is not on."""
    yield from _pulled([t for t in directions if all(a in (0, b) for a, b in zip(t, s, strict=True))], seen)


def _pulled(inside: list[Signs], seen: Sequence[int]) -> Iterator[tuple[Signs, ...]]:
    if len(inside) <= 1:
        yield tuple(inside)
        return
    first = inside[0]
    sides = {frozenset(t for t in inside if not t[k]) for k in seen if first[k]}
    for side in sides:
        if side and not any(side < other for other in sides):
            yield from ((first, *some) for some in _pulled([t for t in inside if t in side], seen))


def copositive(Q: DomainMatrix, *, strictly: bool = False) -> bool:
    """c'Qc >= 0 (or > 0) for all c >= 0, c != 0. Hadeler: if all smaller principal submatrices have it, Q does not iff
    det Q < 0 and the adjugate is >= 0 entry by entry (or det Q <= 0 and the adjugate > 0)."""
    for size in range(1, Q.shape[0] + 1):
        for some in combinations(range(Q.shape[0]), size):
            part = Q.extract(list(some), list(some))
            det = part.det()
            if (det <= 0 if strictly else det < 0) and all(a > 0 if strictly else a >= 0 for a in adjugate(part)):
                return False
    return True


def adjugate(A: DomainMatrix) -> list[Number]:
    """The entries of the adjugate of a symmetric matrix."""
    k = A.shape[0]
    rest = [[j for j in range(k) if j != i] for i in range(k)]
    return [
        (-1) ** (i + j) * (A.extract(rest[i], rest[j]).det() if k > 1 else QQ(1)) for i in range(k) for j in range(k)
    ]


def form(p: Several, theta: DomainMatrix, cone: Sequence[DomainMatrix], level: Number) -> DomainMatrix:
    """level^2 g_i.g_j - F(g_i).F(g_j) over the generators of a cone on which F is linear."""
    G, images = p.seen_part(beside(cone, p.Z.shape[1])), beside([p.F(theta, u) for u in cone], p.outputs)
    return G.transpose() * G * (level * level) - images.transpose() * images


def feasible(p: Several, theta: DomainMatrix) -> bool:
    """B'Theta = 0 and |F(u)| <= lambda |u| for all u; softmax: the rows of Y - Theta are probabilities, too."""
    B = p.columns
    if B is not None and any(entries(B.transpose() * theta)):
        return False
    shares = p.by_row(p.y - theta).to_list()
    if p.softmax and not all(min(row) >= 0 and sum(row) == 1 for row in shares):
        return False
    return all(copositive(form(p, theta, cone, p.lam)) for cone in p.simplices)


def loss(p: Several, fit: DomainMatrix) -> Any:
    """1/2 |fit - Y|^2, or with softmax sum_k log sum_c exp(f_kc) - y_k.f_k; a sympy number."""
    if not p.softmax:
        return number(norm2(fit - p.y) / 2)
    rows = [[number(a) for a in row] for row in p.by_row(fit).to_list()]
    return sum(log(sum(exp(a) for a in f)) for f in rows) - number(dot(fit, p.y))


def dual_value(p: Several, theta: DomainMatrix) -> Any:
    """<Y, Theta> - 1/2 |Theta|^2, or with softmax sum_k H(y_k - theta_k), H the entropy of probabilities."""
    if not p.softmax:
        return number(dot(p.y, theta) - norm2(theta) / 2)
    shares = [number(a) for a in entries(p.y - theta) if a]
    return -sum(a * log(a) for a in shares)


def centred_logs(p: Several, shares: DomainMatrix) -> DomainMatrix:
    """log shares, row by row less their mean, to 50 digits: the fit of the softmax up to a constant for each row."""
    logs = [[QQ.from_sympy(Rational(str(log(number(a)).evalf(60)))) for a in row] for row in p.by_row(shares).to_list()]
    return column([a - sum(row) / len(row) for row in logs for a in row])


@dataclass(frozen=True)
class Ties:
    """The directions that tie alone, and the faces on which infinitely many do."""

    single: tuple[DomainMatrix, ...]
    continua: tuple[Signs, ...]


def ties(p: Several, theta: DomainMatrix) -> Ties:
    """{u : |F(u)| = lambda |u|}, theta feasible, face by face."""
    single, continua = list[DomainMatrix](), list[Signs]()
    for s in p.faces - {(0,) * p.Z.shape[0]}:
        N = span_of(p.Z, s)
        images = N * (p.by_row(theta).transpose() * p.seen(s)).transpose()
        kernel = (N * N.transpose() * (p.lam * p.lam) - images * images.transpose()).nullspace()
        if kernel.shape[0] == 1:
            u = (kernel * N).transpose()
            single += [w for w in (u, -u) if signs_of(p.Z, entries(w)) == s]
        elif kernel.shape[0] > 1 and s in covectors(p.Z * (kernel * N).transpose()):
            continua.append(s)
    return Ties(tuple(single), tuple(continua))


def span_of(Z: DomainMatrix, s: Signs) -> DomainMatrix:
    """A basis (rows) of the span of the face s: the vectors of the span of Z, orthogonal to the rows where s is 0."""
    width = list(range(Z.shape[1]))
    base = Z.extract(list(Z.transpose().rref()[1]), width)
    flat = [k for k, a in enumerate(s) if not a]
    return (Z.extract(flat, width) * base.transpose()).nullspace() * base if flat else base


def several_optimum(p: Several, theta: DomainMatrix) -> tuple[Optimum, Ties]:
    """The optimal networks whose residual is theta, weights of the neurons that tie alone; NotOptimalError if there are
    none, or theta is not feasible."""
    if not feasible(p, theta):
        raise NotOptimalError("theta is not dual feasible")
    found, E = ties(p, theta), list[Neuron]()
    for u in found.single:
        v = p.F(theta, u) * (1 / p.lam)
        E.append(Neuron(1, v, u, p.output(u, v), ()))
    best = Optimum(Program((), p.y, p.lam, B=p.columns), theta, tuple(E))
    if not best.vertices:
        raise NotOptimalError("no network of these neurons has the fit Y - Theta")
    return best, found


def number(q: Number) -> Any:
    """A rational as a sympy number."""
    return QQ.to_sympy(q)
