"""Several outputs in closed form: Theta and the network in rationals or in a field of algebraic numbers.

Many digits propose a residual in a field. It is taken if it is an optimum's, exactly, on the faces of the classes: with
A_j = N_j'Theta, N_j = P D_j Z X_j (X_j a basis of the face) the kernel of lambda^2 X_j'X_j - A_j A_j' is one direction
u_j, D_j are the rows where it is positive, and Y - Theta = sum a_j P(Zu_j)_+ F(u_j)' + Bc with a_j > 0, B'Theta = 0.

That makes its network stationary there: the gradient of 1/2 |fit - Y|^2 + lambda/2 sum (|w_j|^2 + |v_j|^2) in the
(w_j, v_j), |w_j| = |v_j|, is 0. So it is for the optimal network, which is the only one, has all these classes, and
lies in a box around the one that was found (`Alone`). If the other one does, too, and |I - C H| < 1 on all of the box,
H the second derivative and C fixed, then there is one stationary network in the box, and both are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat, fmpz_mat

from relu_cert.closed_forms.numbers import as_exact, as_flint, to_ball
from relu_cert.evidence import Alone, Direction, Row
from relu_cert.exact import Matrix, Vector, norm_squared, sqrt_upper, to_fmpq, to_fraction
from relu_cert.outputs.optimum import OutputsPoint, best_coefficients, left_by, setting
from relu_cert.outputs.sharpen import NeuronFaces, columns_on, equations, middle, newton, products_of
from relu_cert.outputs.train import Net
from relu_cert.outputs.unique import face_of
from relu_cert.problem.loss import SQUARES
from relu_cert.prove.exact_optimum import guesses
from relu_cert.prove.facts import Facts
from relu_cert.prove.field import Exact, guessed_residual, product, reduced_rows, solve

DIGITS = (60, 250, 800)
DEGREES = (2, 4, 8, 16, 32)  # of fields
MOST_ENTRIES = 40  # of Theta
BOX_BITS = 512
NEAR = 1e-6  # the directions of a class and of its neuron


@dataclass(frozen=True)
class ClosedOutputs:
    """Theta row by row, and the neurons: u, F(u) = lambda |u| v for the unit vector v, and |w||v|."""

    theta: Exact
    neurons: tuple[tuple[Exact, Exact, Any], ...]
    free: Exact = ()


def closed_outputs(facts: Facts) -> ClosedOutputs | None:
    """The only optimal network, exactly; None where it is not known to be the only one, or not found."""
    problem, alone = facts.problem, facts.alone
    if problem.loss is not SQUARES or not isinstance(alone, Alone) or len(problem.y) > MOST_ENTRIES:
        return None
    if not alone.classes:
        return ClosedOutputs(problem.y, ()) if not problem.free else None
    return _solved(facts, alone) if alone.active else None


def _solved(facts: Facts, alone: Alone) -> ClosedOutputs | None:
    """The network by its digits, proved."""
    problem, given = facts.problem, setting(facts.problem)
    classes = _matched(alone, facts)
    if classes is None:
        return None
    faces = _faces(given.lines.rows, given.basis, alone.classes)
    found = Net(*(np.array([[float(x) for x in getattr(one, part)] for one in classes]) for part in ("w", "v")))
    balance = np.sqrt(np.linalg.norm(found.V, axis=1) / np.linalg.norm(found.W, axis=1))[:, None]
    found = Net(found.W * balance, found.V / balance)
    spans, J, unit = columns_on(problem, given.lines, faces)
    at = np.cumsum([0, *(span.ncols() for span in spans)])
    listed = (fmpq_mat(J) * to_fmpq(unit)).tolist()
    maps = [fmpq_mat([row[a:b] for row in listed]) for a, b in pairwise(at)]
    for digits in DIGITS:
        bits = int(digits * 3.33) + 40
        with ctx.workprec(bits + 240):
            products = products_of(problem, facts.lam, given.lines, given.free, faces)
            sharp = newton(products, found, bits)
        if sharp is None:
            return None
        R = OutputsPoint(sharp.neurons).residual(given)
        if given.free:
            R = left_by(given.free, best_coefficients(given.free, R), R)
        flat = tuple(x for row in R for x in row)
        proposed: list[Exact] = [*guesses(flat, digits)]
        field = guessed_residual(problem.y, facts.lam, flat, digits, DEGREES)
        for theta in proposed if field is None else [*proposed, tuple(field)]:
            stationary = _stationary(facts, alone, theta, list(zip(spans, maps, strict=True)), given.free)
            if stationary is not None and _only(facts, alone, faces, stationary):
                return stationary
    return None


def _matched(alone: Alone, facts: Facts) -> list[Any] | None:
    """The neurons that were found, in the order of the classes."""
    kept = []
    for one in alone.classes:
        near = [n for n in facts.primal.neurons if np.linalg.norm(_unit(n.w) - _unit(one.u)) < NEAR]
        if len(near) != 1:
            return None
        kept += near
    return kept


def _unit(u: Sequence[Fraction | int]) -> Any:
    x = np.array([float(a) for a in u])
    return x / np.linalg.norm(x)


def _faces(rows: Sequence[Row], basis: Any, classes: Sequence[Direction]) -> NeuronFaces:
    """The faces of the classes, exactly."""
    zero, on, bases = [], [], list[fmpz_mat]()
    for one in classes:
        heights = [sum(a * b for a, b in zip(p, one.u, strict=True)) for p in rows]
        tight = tuple(c for c, h in enumerate(heights) if not h)
        zero.append(tight)
        on.append(tuple(c for c, h in enumerate(heights) if h > 0))
        bases.append(face_of(basis, [rows[c] for c in tight]))
    return NeuronFaces(tuple(zero), tuple(on), tuple(bases))


def _stationary(
    facts: Facts, alone: Alone, theta: Exact, faces: list[tuple[fmpz_mat, fmpq_mat]], free: Sequence[Vector]
) -> ClosedOutputs | None:
    """The network whose residual is theta, if it is one of these faces."""
    problem, lam = facts.problem, facts.lam
    C, Z, zero = len(problem.Y[0]), problem.relu.Z, theta[0] * 0
    rows = [theta[k : k + C] for k in range(0, len(theta), C)]
    if any(product(b, column) for b in free for column in zip(*rows, strict=True)):
        return None
    neurons, columns = [], []
    for one, (span, N) in zip(alone.classes, faces, strict=True):
        entries = [[to_fraction(x) for x in row] for row in N.transpose().tolist()]
        A = [[product(row, column) for column in zip(*rows, strict=True)] for row in entries]
        gram = (span.transpose() * span).tolist()
        Q = [[as_flint(lam * lam * int(gram[i][j]) - product(a, b)) for j, b in enumerate(A)] for i, a in enumerate(A)]
        x = _kernel(Q)
        if x is None:
            return None
        X = [[Fraction(int(e)) for e in row] for row in span.tolist()]
        u = tuple(product(row, x) + zero for row in X)
        if product(tuple(map(Fraction, one.u)), u) < 0:
            u, x = tuple(-a for a in u), [-a for a in x]
        if not _same_side(Z, one.u, u):
            return None
        h = [product(row, x) for row in zip(*entries, strict=True)]
        F = tuple(product(column, x) for column in zip(*A, strict=True))
        neurons.append((u, F))
        columns.append([a * b for a in h for b in F])
    columns += [[b if j == k else Fraction(0) for b in one for k in range(C)] for one in free for j in range(C)]
    target = [as_flint(a - b + zero) for a, b in zip(problem.y, theta, strict=True)]
    weights = solve([[as_flint(a + zero) for a in row] for row in zip(*columns, strict=True)], target)
    if weights is None:
        return None
    known = [as_exact(a) for a in weights]
    if any(a <= 0 for a in known[: len(neurons)]):
        return None
    told = ((u, F, a * lam * product(u, u)) for (u, F), a in zip(neurons, known, strict=False))
    return ClosedOutputs(theta, tuple(told), tuple(known[len(neurons) :]))


def _kernel(Q: list[list[Any]]) -> list[Any] | None:
    """The direction with Qx = 0, if it is one."""
    size = len(Q)
    form, pivots = reduced_rows(Q)
    if len(pivots) != size - 1:
        return None
    (last,) = set(range(size)) - set(pivots)
    one = as_exact(Q[0][0] * 0 + 1)
    x = [one] * size
    for row, j in zip(form, pivots, strict=True):
        x[j] = -as_exact(row[last])
    return x


def _same_side(Z: Matrix, near: Sequence[int], u: Exact) -> bool:
    """Whether the same rows are on, off and on the face."""
    for z in Z:
        side, height = sum((a * b for a, b in zip(z, near, strict=True)), Fraction(0)), product(z, u)
        if (side > 0) != (height > 0) or (side < 0) != (height < 0):
            return False
    return True


def _only(facts: Facts, alone: Alone, faces: NeuronFaces, network: ClosedOutputs) -> bool:
    """Whether the network lies in the box of the optimal one, and the box has one stationary network."""
    given, lam = setting(facts.problem), facts.lam
    with ctx.workprec(BOX_BITS):
        products = products_of(facts.problem, lam, given.lines, given.free, faces)
        x, V = [], []
        for i, (u, F, weight) in enumerate(network.neurons):
            in_face, v = _box(facts, alone, i, products.spans[i])
            x.append(in_face)
            V.append(v)
            size, root = to_ball(product(u, u)).sqrt(), to_ball(weight).sqrt()
            own = _coordinates(products.spans[i], [to_ball(a) * root / size for a in u]).entries()
            mine = [*own, *(to_ball(f) * root / (size * arb(to_fmpq(lam))) for f in F)]
            if not all(a.contains(b) for a, b in zip([*in_face.entries(), *v.entries()], mine, strict=True)):
                return False
        H = arb_mat(equations(products, x, V)[1])
        try:
            T = (middle(H).inv() * H).tolist()
        except ZeroDivisionError:
            return False
        return all(sum((abs(a - int(i == j)) for j, a in enumerate(row)), arb(0)) < 1 for i, row in enumerate(T))


def _box(facts: Facts, alone: Alone, i: int, span: fmpz_mat) -> tuple[arb_mat, arb_mat]:
    """Where the neuron of a class is, in the coordinates of its face, |w| = |v| (the bounds of `outputs.unique`)."""
    problem, lam, one = facts.problem, facts.lam, alone.classes[i]
    zeta, R = sqrt_upper(problem.relu.size_squared), sqrt_upper(facts.fit.radius_squared)
    rho, Lambda = zeta * R, sqrt_upper(problem.relu.size_squared * norm_squared(facts.dual.theta))
    near = Fraction(3, 2) * sqrt_upper((lam**2 - (lam - rho) ** 2) / one.margin)
    size = arb(sum(a * a for a in one.u)).sqrt()
    root = _about(arb(to_fmpq(alone.masses[i])), alone.error).sqrt()
    heights = (sum((a * b for a, b in zip(z, one.u, strict=True)), Fraction(0)) for z in problem.relu.Z)
    seen = problem.relu.bags.pooled([max(h, Fraction(0)) for h in heights])
    C = len(problem.Y[0])
    F = [product(seen, facts.dual.theta[c::C]) for c in range(C)]
    eps = (rho + Lambda * near) / lam
    w = [_about(arb(a) / size, near) * root for a in one.u]
    v = [_about(arb(to_fmpq(f / lam)) / size, eps) * root for f in F]
    return _coordinates(span, w), arb_mat([[a] for a in v])


def _about(x: arb, radius: Fraction) -> arb:
    """x, give or take."""
    return x + arb(0, 1) * arb(to_fmpq(radius))


def _coordinates(span: fmpz_mat, w: Sequence[arb]) -> arb_mat:
    """x with X x = w."""
    return arb_mat(fmpq_mat(span.transpose() * span).inv() * fmpq_mat(span.transpose())) * arb_mat([[a] for a in w])
