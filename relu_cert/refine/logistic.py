"""The logistic loss to any number of digits: Newton's method on the faces of a float solution.

With theta_k = y_k a_k, the optimality conditions on fixed faces are

    F1(theta, alpha) = sum_a alpha_a q_a - f = 0,   f_k = y_k log((1 - a_k)/a_k),       F2_a = theta'q_a - lambda^2 = 0,

q_a = E_a A_a theta: those of the squares with the fit f(theta) in the place of y - theta. The Jacobian is
[[diag(1/(a_k (1 - a_k))) + sum alpha_a E_a A_a, Q], [2Q', 0]].
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np
from flint import arb, arb_mat, ctx

from relu_cert.problem.problem import Problem
from relu_cert.refine.exact_faces import ExactFace, ExactFaces
from relu_cert.refine.newton import System, kernel_step
from relu_cert.refine.refinement import Refined, as_rationals
from relu_cert.solve.lasso import independent
from relu_cert.solve.logistic import LogisticSolution
from relu_cert.solve.oracle import oracle_of
from relu_cert.solve.prepare import FloatProblem
from relu_cert.solve.solver import carry

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
