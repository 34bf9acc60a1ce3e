"""From a float solution to any number of digits.

The faces of the solution's neurons are read off in floats and rebuilt exactly; their equations are solved in high
precision. Weights that turn out negative leave. A face outside the support that turns out violated enters, against the
atom that blocks it, as in the simplex method. What remains is a point whose error is as small as was asked for: on a
face, the rows that rest on it vanish exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, log2

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat

from relu_cert.clock import require_time
from relu_cert.exact import Vector, column, to_vector
from relu_cert.problem.problem import Problem
from relu_cert.refine.newton import (
    ExactFace,
    ExactFaces,
    KernelPoint,
    Singular,
    System,
    floats,
    kernel_step,
    solve_system,
)
from relu_cert.solve.kernel import enter, independent, nonnegative_lasso
from relu_cert.solve.oracle import Oracle, oracle_of
from relu_cert.solve.prepare import FloatProblem, Floats, Neuron, ResidualFace, Solution, prepare
from relu_cert.solve.solver import LogisticSolution, carry

_TIED = 1e-6  # faces this near (relative) to lambda may turn out to be violated
_EXCHANGES = 30
_MEASURED = 300  # digits of an error that floats can hold


@dataclass(frozen=True)
class RefinedNeuron:
    """A neuron with rational weights. On a face the rows that rest on it vanish exactly: z_k.w = 0 (ReLU),
    K_k.w = 0 (direct). `block` is the pattern's number (gated), the block (direct), None (ReLU)."""

    sign: int
    block: int | None
    w: Vector


@dataclass(frozen=True)
class Refined:
    """theta approximates the optimal residual r* to about `digits` digits, and so do the neurons their optimum.

    `reason` is empty where the accuracy asked for was reached, and says what stood in the way otherwise.
    """

    theta: Vector
    neurons: tuple[RefinedNeuron, ...]
    digits: int
    reason: str = ""


def refine(
    problem: Problem, solution: Solution, lam: Fraction, digits: int = 40, prepared: FloatProblem | None = None
) -> Refined:
    """A dual point and neurons with about `digits` correct digits, or the float solution where that fails."""
    if not solution.neurons:
        zero_is_optimal = bool((solution.theta == solution.residual).all())
        return Refined(problem.y, (), digits) if zero_is_optimal else _as_it_is(solution, "there are no neurons")
    data = prepare(problem) if prepared is None else prepared
    oracle = oracle_of(data)
    shrink = max(0.0, log2(float(np.linalg.norm(data.y)) / float(np.linalg.norm(solution.theta)) + 1.0))
    with ctx.workprec(ceil((digits + 6) * log2(10)) + 64 + 2 * ceil(shrink)):
        try:
            return _Refinement(problem, oracle, lam, digits).run(solution)
        except Singular as reason:
            return _as_it_is(solution, str(reason))


def _as_it_is(solution: Solution, reason: str) -> Refined:
    """The float solution, exactly as it is."""
    neurons = tuple(RefinedNeuron(n.sign, n.block, _exact(n.w)) for n in solution.neurons)
    return Refined(_exact(solution.theta), neurons, 0, reason)


def _exact(a: Floats) -> Vector:
    return tuple(Fraction(float(x)) for x in a)


class _Refinement:
    """One refinement."""

    def __init__(self, problem: Problem, oracle: Oracle, lam: Fraction, digits: int) -> None:
        self.problem, self.oracle, self.lam, self.digits = problem, oracle, lam, digits
        self.accuracy = 10.0 ** -min(digits, _MEASURED)
        self.squarings = ceil(log2(digits / _MEASURED)) + 1 if digits > _MEASURED else 0
        self.exact = ExactFaces(problem)

    def run(self, solution: Solution) -> Refined:
        """Solve, drop, exchange."""
        faces = [f for f in self.oracle.follow(solution.neurons, solution.theta) if self.exact[f] is not None]
        alpha = carry(faces, solution.neurons, solution.lam)
        used = [i for i, a in enumerate(alpha) if a > 0.0]
        r = solution.theta
        support, alpha = self.vertex([faces[i] for i in used], alpha[used], r)
        for _ in range(_EXCHANGES):
            require_time()
            support, point = self.on_faces(support, r, alpha)
            r, alpha = floats(point.r)[:, 0], np.array([float(a) for a in point.alpha])
            neurons = [Neuron(f.sign, f.block, a * (f.B.T @ r)) for f, a in zip(support, alpha, strict=True)]
            if not self.promised(neurons, r):
                support = [f for f in self.oracle.follow(neurons, r) if self.exact[f] is not None]
                alpha = carry(support, neurons, solution.lam)
                continue
            worst, violation = self.violated(support, point, r)
            if worst is None:
                return self.result(support, point, violation)
            support, alpha = self.exchange(support, point, r, alpha, worst, violation)
        raise Singular("the tied faces could not be sorted out")

    def promised(self, neurons: list[Neuron], r: Floats) -> bool:
        """Whether the neurons stay inside their blocks' cones: then their fit is y - r."""
        fit = self.oracle.outputs(self.oracle.feasible(neurons)).sum(axis=1)
        y = np.array([float(x) for x in self.problem.y])
        return float(np.linalg.norm(y - fit - r)) <= 1e-9 * float(np.linalg.norm(y))

    def system(self, faces: Sequence[ResidualFace]) -> System:
        """The equations of the faces."""
        return System([e for f in faces if (e := self.exact[f]) is not None], self.problem.y, self.lam)

    def vertex(self, faces: list[ResidualFace], alpha: Floats, r: Floats) -> tuple[list[ResidualFace], Floats]:
        """The same fit, with independent outputs."""
        if not faces:
            return faces, alpha
        Q = np.array([f.B @ (f.B.T @ r) for f in faces]).T
        names, weights = list(range(len(faces))), alpha
        if not independent(Q):
            cost = np.full(len(faces), float(self.lam) ** 2)
            names, weights = nonnegative_lasso(Q, r + Q @ alpha, cost, [], np.zeros(0), 1e-14 * cost[0])
        return [faces[i] for i in names], weights

    def on_faces(self, faces: list[ResidualFace], r: Floats, alpha: Floats) -> tuple[list[ResidualFace], KernelPoint]:
        """Solve on the faces; drop those whose weight is not positive."""
        while faces:
            require_time()
            point = solve_system(self.system(faces), r, alpha, self.accuracy / 100, self.squarings)
            weights = [float(a) for a in point.alpha]
            least = min(range(len(faces)), key=weights.__getitem__)
            if weights[least] > 0.0:
                return faces, point
            faces = [f for i, f in enumerate(faces) if i != least]
            alpha = np.maximum(np.delete(np.array(weights), least), 0.0)
            r = floats(point.r)[:, 0]
        raise Singular("no face kept a positive weight")

    def violated(
        self, support: Sequence[ResidualFace], point: KernelPoint, r: Floats
    ) -> tuple[ResidualFace | None, float]:
        """The tied face outside the support with the largest |v|^2/lambda^2 - 1, if it is above the accuracy asked
        for; and that excess."""
        known = {f.key for f in support}
        lam = float(self.lam)
        tied = [f for f in self.oracle.price(r, lam * (1.0 - _TIED))[1] if f.key not in known]
        others = [f for f in tied if self.exact[f] is not None]
        if not others:
            return None, point.error
        _, (_, second) = self.system(others).residuals(point.r, [arb(0)] * len(others))
        excess = [float(x) / (lam * lam) for x in second]
        worst = max(range(len(others)), key=excess.__getitem__)
        if excess[worst] <= self.accuracy:
            return None, max(point.error, excess[worst])
        return others[worst], excess[worst]

    def exchange(
        self,
        support: list[ResidualFace],
        point: KernelPoint,
        r: Floats,
        alpha: Floats,
        face: ResidualFace,
        violation: float,
    ) -> tuple[list[ResidualFace], Floats]:
        """Let the violated face in; if it depends on the others, the first to lose its weight leaves."""
        Q = floats(self.system([*support, face]).outputs(point.r))
        size = np.sqrt(np.einsum("ij,ij->j", Q, Q))
        gain = 0.5 * violation / size[-1]
        names, weights, moved, _ = enter(Q / size, list(range(len(support))), alpha * size[:-1], len(support), gain)
        if not moved:
            raise Singular("a violated face cannot take weight")
        return [[*support, face][i] for i in names], weights / size[names]

    def result(self, support: Sequence[ResidualFace], point: KernelPoint, error: float) -> Refined:
        """The point as rationals: r on a binary grid, weights of each neuron in an integer basis of its face."""
        exact = [e for f in support if (e := self.exact[f]) is not None]
        found = as_rationals(exact, point.r, point.alpha, point.places, self.digits)
        reached = self.digits if error <= self.accuracy else int(-np.log10(error))
        return replace(found, digits=reached, reason="" if reached >= self.digits else "Newton's method stalled")


def as_rationals(
    faces: Sequence[ExactFace], r: arb_mat, alpha: Sequence[arb], places: Sequence[arb], digits: int
) -> Refined:
    """A point of so many digits; `places` are A r of all faces."""
    bits = ceil((digits + 3) * log2(10)) + 8
    ends = [0, *accumulate(face.size for face in faces)]
    neurons = []
    for face, weight, start, end in zip(faces, alpha, ends, ends[1:], strict=False):
        coefficients = dyadic([(weight * x).mid() for x in places[start:end]], bits)
        w = to_vector(fmpq_mat(face.N) * column(coefficients))
        if any(w):
            neurons.append(RefinedNeuron(face.sign, face.block, w))
    return Refined(dyadic(r.entries(), bits), tuple(neurons), digits)


def dyadic(values: Sequence[arb], bits: int) -> Vector:
    """The midpoints rounded to one binary grid on which the largest has `bits` bits."""
    parts = [tuple(map(int, x.mid().man_exp())) for x in values]
    top = max((m.bit_length() + e for m, e in parts if m), default=0)
    grid = bits + 1 - top
    up, down = 1 << max(grid, 0), 1 << max(-grid, 0)
    return tuple(Fraction(_shift_integer(m, e + grid) * down, up) for m, e in parts)


def _shift_integer(m: int, e: int) -> int:
    """The integer nearest to m 2^e."""
    return m << e if e >= 0 else (m + (1 << (-e - 1))) >> -e


_STEPS = 14


def refine_logistic(
    problem: Problem, data: FloatProblem, solution: LogisticSolution, lam: Fraction, digits: int
) -> Refined | None:
    """A dual point and neurons with about `digits` correct digits; None where the faces are dependent, lose their
    weight, or Newton's method does not converge. Only a proposal, as everything that is refined."""
    faces = oracle_of(data).follow(solution.neurons, solution.theta)
    alpha = carry(faces, solution.neurons, float(lam))
    made = ExactFaces(problem)
    chosen = [(f, e, a) for f, a in zip(faces, alpha, strict=True) if a > 0.0 and (e := made[f]) is not None]
    if not chosen or not independent(np.array([f.B @ (f.B.T @ solution.theta) for f, _, _ in chosen]).T):
        return None
    exact = [e for _, e, _ in chosen]
    with ctx.workprec(ceil((digits + 6) * log2(10)) + 128):
        solved = _newton(problem, exact, lam, solution.theta.tolist(), [float(a) for _, _, a in chosen], digits)
        if solved is None:
            return None
        places = [x for face in exact for x in (arb_mat(face.A) * solved[0]).entries()]
        return as_rationals(exact, *solved, places, digits)


def _newton(
    problem: Problem, faces: list[ExactFace], lam: Fraction, theta: list[float], alpha: list[float], digits: int
) -> tuple[arb_mat, list[arb]] | None:
    system = System(faces, problem.y, lam)
    n = system.n
    y = [arb(int(label)) for label in problem.y]
    r, weights = arb_mat(n, 1, [arb(x) for x in theta]), [arb(x) for x in alpha]
    for _ in range(_STEPS):
        a = [y_k * x for y_k, x in zip(y, r.entries(), strict=True)]
        if not all(0 < x < 1 for x in a) or not all(w > 0 for w in weights):
            return None
        _, (first, second) = system.residuals(r, weights)  # r + sum alpha_a q_a - y: the fit of the squares leaves
        first = [
            (F - x + y_k - y_k * ((1 - a_k) / a_k).log()).mid()
            for F, x, y_k, a_k in zip(first, r.entries(), y, a, strict=True)
        ]
        M = system.kernel(weights)
        for i, a_k in enumerate(a):
            M[i, i] += 1 / (a_k * (1 - a_k)) - 1
        try:
            dr, dalpha = kernel_step(M, system.outputs(r), (first, second))
        except ZeroDivisionError:
            return None
        r = arb_mat(n, 1, [(x + d).mid() for x, d in zip(r.entries(), dr, strict=True)])
        weights = [(w + d).mid() for w, d in zip(weights, dalpha, strict=True)]
        moved = [abs(d) / abs(x) for d, x in zip([*dr, *dalpha], [*r.entries(), *weights], strict=True)]
        if all(x < arb(10) ** -(digits // 2 + 3) for x in moved):  # the next step would be the square of this one
            return r, weights
    return None
