"""Pieces on which the network need not be unique: what makes them a proof that the set of optimal networks moves
continuously.

Let L be a subspace and s_L(eta) the solution of the dual with the further condition s orthogonal to L (its primal has
one more free term in L). A path s(tau) orthogonal to L with weights alpha(tau) encloses both s(eta) and s_L(eta) in its
tube. Superclasses are classes that tie on all s orthogonal to L, with outputs that differ by elements of L. Their
outputs are independent modulo L (W orthogonal to L, |W Q - I| <= beta < 1), so the masses A of a lifted solution are
the same in all of them, continuous, and within

    delta = max |W_i| D / (1 - beta),    D = |E| + R + g R sum alpha,

of those of alpha(tau). With F the map from weights to (masses; l.sum alpha_a q_a, l in the basis of L) and a right
inverse |F V - I| <= beta_F < 1, weights near alpha(tau) have exactly these masses and exactly the sum eta y - s_L. They
are positive if alpha(tau) is larger than their change; so s(eta) = s_L(eta), and the optimal set is the polytope
{alpha >= 0 : F alpha = (A, eta l.y)}, F of full rank, with a point strictly inside: a continuous set-valued map of eta.
Superclasses without weight in alpha(tau) (*light*) may enter and leave: the polytope keeps a point strictly inside with
respect to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import (
    Matrix,
    column,
    columns_of,
    dot,
    matrix_of,
    norm_squared,
    sqrt_upper,
    to_fmpq,
    to_fraction,
    to_vector,
)
from relu_cert.path.build import (
    DEGREE,
    DEGREES,
    MATCH,
    Start,
    distinct,
    even,
    independent_faces,
    judge,
    match,
    output,
    pin,
    positive,
    pseudoinverse,
    short,
    start,
)
from relu_cert.path.candidates import active_classes, columns_seen, even_shares, path_groups, silent, void_rows
from relu_cert.path.onset import require_onset
from relu_cert.path.pieces import Lifted, Piece, pinned_of
from relu_cert.path.tube import (
    BranchPoint,
    FollowedBranch,
    Refused,
    Series,
    Tube,
    least,
    lowest,
    most,
    require_independence,
    size,
    taylor,
)
from relu_cert.path.unlisted import Training
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, independent, projector
from relu_cert.prove.optimal_set import largest_squared, superclasses
from relu_cert.prove.projection import center, inside
from relu_cert.prove.projection import floats as to_floats
from relu_cert.prove.split import SplitOutputs, forcing, void_part
from relu_cert.solve import FloatProblem
from relu_cert.solve.prepare import Floats, ResidualFace


@dataclass(frozen=True)
class Reach:
    """How far the truth can be from alpha(tau): `miss` = D, `delta` of masses, `light` of the weights elsewhere."""

    miss: Fraction
    delta: Fraction
    light: Fraction


def split_rows(
    problem: Problem, piece: Piece, lifted: Lifted, maps: Sequence[ClassMap], active: Sequence[int]
) -> list[list[list[fmpq]]]:
    """F as polynomials, a row for each superclass with weight and each row of the lift that is not void."""
    core, _ = active_classes(piece, lifted)
    S = piece.S
    zero = [fmpq(0)] * S.ncols()
    one = [fmpq(1), *zero[1:]]
    rows = [[one if a in lifted.groups[s] else zero for a in active] for s in core]
    void = void_rows(problem, lifted, maps)
    kept = [l for i, l in enumerate(lifted.lift) if i not in void]
    if kept:
        products = [(matrix_of(kept) * maps[a].output(S)).tolist() for a in active]
        rows += [[list(product[i]) for product in products] for i in range(len(kept))]
    return rows


def judge_lifted(problem: Problem, piece: Piece, maps: Sequence[ClassMap], tube: Tube) -> None:
    """Unsettled unless the lifted piece is a proof, but for its faces and what is out or aside."""
    lifted = piece.lifted
    if lifted is None:
        raise ValueError("a lifted piece")
    beside = () if lifted.onset is None else (*lifted.onset.rows, lifted.onset.normal)
    if any(dot(l, other) for l in lifted.lift for other in (*piece.s, *piece.inverse, *beside)):
        raise ValueError("s, W and the onset are orthogonal to the lift")
    core, _ = active_classes(piece, lifted)
    g = largest_squared(problem)
    total = sum((to_fraction(most([to_fmpq(x) for x in row])) for row in piece.weights), Fraction(0))
    D = tube.miss + tube.R + g * tube.R * total
    firsts = [group[0] for s, group in enumerate(lifted.groups) if lifted.onset is None or s in core]
    beta = require_independence(problem, piece, [maps[a] for a in firsts], tube.R)
    pulled = max((sqrt_upper(norm_squared(row), 64) for row in piece.inverse), default=Fraction(0)) * D
    if lifted.onset is None:
        delta = pulled / (1 - beta)
        reach = Reach(D, delta, (len(lifted.groups) - len(core)) * delta)
    else:
        delta, light = require_onset(problem, piece, maps, tube.R, D, beta)
        reach = Reach(D, delta, light)
    _require_forced(problem, piece, lifted, maps, tube.R)
    _require_inside(problem, piece, maps, tube.R, reach)


def _require_forced(problem: Problem, piece: Piece, lifted: Lifted, maps: Sequence[ClassMap], R: Fraction) -> None:
    """h.q > 0 over the tube for the forced classes; for the others h.q = 0 whatever the residual."""
    if not lifted.forced:
        return
    h = lifted.force
    free = [one for a, one in enumerate(maps) if a not in lifted.forced]
    if problem.network is not None or dot(h, problem.y) or not all(silent(one, h) for one in free):
        raise Unsettled("a tied neuron may have weight or not")
    if any(set(group) <= set(lifted.forced) for group in lifted.groups):
        raise Unsettled("a neuron that is active may have no weight")
    S = piece.S
    margin = to_fmpq(largest_squared(problem) * R * sqrt_upper(norm_squared(h), 64))
    for a in lifted.forced:
        height = (column(h).transpose() * maps[a].output(S)).tolist()[0]
        if least(height) <= margin:
            raise Refused("a tied neuron may have weight or not", [[height[0] - margin, *height[1:]]])


def _require_inside(problem: Problem, piece: Piece, maps: Sequence[ClassMap], R: Fraction, reach: Reach) -> None:
    """Exact weights near alpha(tau) are positive on the whole piece."""
    lifted = piece.lifted
    if lifted is None:
        raise ValueError("a lifted piece")
    core, active = active_classes(piece, lifted)
    F = split_rows(problem, piece, lifted, maps, active)
    void = void_rows(problem, lifted, maps)
    kept = [sqrt_upper(norm_squared(l), 64) for i, l in enumerate(lifted.lift) if i not in void]
    g = largest_squared(problem)
    V = [[to_fmpq(x) for x in row] for row in lifted.spread]
    spread = sum((abs(x) for row in lifted.spread for x in row), Fraction(0))
    beta = Fraction(0)
    for i, row in enumerate(F):
        moved = kept[i - len(core)] * g * R * spread if i >= len(core) else Fraction(0)
        total = to_fmpq(moved)
        for j in range(len(F)):
            entry = [sum((c[m] * V[a][j] for a, c in enumerate(row)), fmpq(0)) for m in range(len(piece.s))]
            if i == j:
                entry[0] -= 1
            total += size(entry)
        beta = max(beta, to_fraction(total))
    if beta >= 1:
        raise Unsettled("the map that splits the masses is not onto, or too near to it")
    missed = [reach.delta] + [l * (reach.miss + sqrt_upper(g, 64) * reach.light) for l in kept]
    z = max(missed) / (1 - beta)
    for a, V_a in zip(active, lifted.spread, strict=True):
        change = z * sum((abs(x) for x in V_a), Fraction(0))
        if least([to_fmpq(x) for x in piece.weights[a]]) <= to_fmpq(change):
            raise Unsettled("no split of the masses is proved to be strictly inside")


SMALL = 1e-7  # a weight below this share of the largest is taken for 0; a wrong choice costs a piece, never a verdict
SAFE = 4.0  # how much narrower than needed the tube should be, by floats
NODES = (0.0, -1.0, 1.0)  # where a split is looked for


def lifted_branch(
    problem: Problem,
    floats: FloatProblem | Training,
    point: BranchPoint,
    lift: Matrix,
    h: Fraction,
    degree: int = DEGREE,
) -> FollowedBranch:
    """The branch of the lifted problem through a point: one face for each superclass."""
    Pi = to_floats(projector(lift, problem.n))
    faces: list[ResidualFace] = []
    masses: list[float] = []
    s = Pi @ point.s
    for face, alpha in zip(point.faces, point.alpha, strict=True):
        seen = replace(face, B=Pi @ face.B)
        q = seen.B @ (seen.B.T @ s)
        for i, other in enumerate(faces):
            if np.linalg.norm(other.B @ (other.B.T @ s) - q) <= MATCH * np.linalg.norm(q):
                masses[i] += float(alpha)
                break
        else:
            faces.append(seen)
            masses.append(float(alpha))
    kept = [i for i, mass in enumerate(masses) if mass > SMALL * max(masses)]
    chosen, weights = independent_faces([faces[i] for i in kept], np.array([masses[i] for i in kept]), s)
    found = taylor(chosen, Pi @ floats.y, s, weights, float(point.eta), float(h), degree)
    if found is None:
        raise Unsettled("the outputs of the active neurons are dependent, or nearly so")
    return FollowedBranch(point.eta, h, point.solution, chosen, found, Pi @ floats.y, lift)


def fine_enough(problem: Problem, near: FollowedBranch) -> FollowedBranch:
    """The branch with so many coefficients that its tube will be narrow beside its lightest mass, by floats."""
    series = near.series
    if series.s.shape[1] == 1 or not near.faces:
        return near
    s, alpha = series.s[:, 0], series.alpha[:, 0]
    full = taylor(near.faces, near.y, s, alpha, float(near.eta), float(near.h), DEGREES[-1])
    if full is None:
        return near
    total, lightest = float(alpha.sum()), min(lowest(row) for row in full.alpha)
    W = np.linalg.pinv(np.array([face.B @ (face.B.T @ s) for face in near.faces]).T)
    worst = float(np.linalg.norm(W, axis=1).max()) * (2.0 + float(largest_squared(problem)) * total)
    for degree in DEGREES:
        tail = full.s[:, min(degree, DEGREES[-1] - 1) + 1 :]
        excess = max(float(np.linalg.norm(face.B.T @ tail, axis=0).sum()) for face in near.faces)
        if SAFE * worst * np.sqrt(max(2.0 * total * excess, 0.0)) <= lightest:
            break
    return replace(near, series=Series(full.s[:, : degree + 1], full.alpha[:, : degree + 1]))


def build_lifted(
    problem: Problem, floats: FloatProblem | Training, lo: Fraction, hi: Fraction, near: FollowedBranch
) -> Piece:
    """The lifted piece [lo, hi] around a branch point at its centre, or Unsettled with the reason."""
    near = fine_enough(problem, near)
    begun, groups, order = started(problem, floats, near)
    neurons = begun.found
    active = sorted(a for g in order for a in groups[g])
    face_of = {a: order[i] for i in order for a in groups[i]}
    split = propose_split(problem, near, begun, near.lift, [(a, face_of[a]) for a in active], near.series.alpha)
    rest = [a for i, group in enumerate(groups) if i not in order for a in group]
    zero = (Fraction(0),) * len(begun.s)
    classes = tuple(neurons[a] for a in (*active, *rest))
    weights = (*(positive(row) for row in split.alpha), *(zero for _ in rest))
    piece = Piece(
        lo, hi, begun.s, classes, weights, begun.multipliers, begun.out, (), begun.radius, pinned=pinned_of(classes)
    )
    _require_masses(begun, piece)
    if not distinct(classes):
        raise Refused("too many neurons can be active")
    lifted = with_forced(problem, begun, [*active, *rest], split.zero, len(active), near.lift)
    lifted = replace(lifted, groups=path_groups(problem, begun.s, begun.radius, classes, lifted.lift))
    return finish(problem, replace(piece, lifted=lifted), [begun.maps[a] for a in (*active, *rest)])


def build_even(
    problem: Problem, floats: FloatProblem | Training, lo: Fraction, hi: Fraction, near: FollowedBranch
) -> Piece:
    """The piece [lo, hi] where the neurons of a superclass share its mass evenly, or Unsettled with the reason."""
    if problem.network is None or "biases" in problem.free:
        raise Unsettled("the outputs of the neurons are dependent on the piece, or too near to it")
    begun = pin(problem, start(problem, floats, near))
    groups = superclasses(begun.maps, near.lift) if near.lift else [(a,) for a in range(len(begun.maps))]
    Pi = to_floats(projector(near.lift, problem.n))
    order = match(near, [Pi @ output(begun.maps[group[0]], begun.s[0]) for group in groups])
    shares = even_shares(problem, begun.maps, groups, near.lift)
    weights = [(Fraction(0),) * len(begun.s)] * len(begun.found)
    for g, i in order.items():
        for a in groups[g]:
            weights[a] = tuple(shares[a] * x for x in positive(begun.alpha[i]))
    if not distinct(begun.found):
        raise Refused("two neurons have one pattern")
    equal = all(shares[a] * len(group) == 1 for group in groups for a in group)
    return even(problem, begun, lo, hi, tuple(weights), () if equal else shares)


def started(
    problem: Problem, floats: FloatProblem | Training, near: FollowedBranch
) -> tuple[Start, tuple[tuple[int, ...], ...], dict[int, int]]:
    """The start of a piece, the superclasses of its neurons, and the faces of those that are active."""
    begun = start(problem, floats, near)
    if problem.network is not None and len(near.lift) > len(independent(columns_seen(problem))):
        begun = pin(problem, begun)
    groups = path_groups(problem, begun.s, begun.radius, begun.found, near.lift)
    Pi = to_floats(projector(near.lift, problem.n))
    return begun, groups, match(near, [Pi @ output(begun.maps[group[0]], begun.s[0]) for group in groups])


def _require_masses(begun: Start, piece: Piece) -> None:
    """Refused where a mass vanishes on the piece, which is an event; Unsettled where only the split is not inside."""
    signs = [mass for row in begun.alpha if least(mass := [to_fmpq(x) for x in row]) < 0]
    if signs:
        raise Refused("a neuron enters or leaves on the piece", signs)
    if any(least([to_fmpq(x) for x in row]) < 0 for row in piece.weights):
        raise Unsettled("no split of the masses is proved to be strictly inside")


def finish(problem: Problem, piece: Piece, maps: Sequence[ClassMap]) -> Piece:
    """The piece with W and V and its dimension, judged."""
    lifted = piece.lifted
    if lifted is None:
        raise ValueError("a lifted piece")
    s_0 = piece.s[0]
    core, active = active_classes(piece, lifted)
    firsts = [group[0] for i, group in enumerate(lifted.groups) if lifted.onset is None or i in core]
    Pi = projector(lifted.lift, problem.n)
    seen = to_floats(Pi)
    rough = pseudoinverse([seen @ output(maps[a], s_0) for a in firsts])
    inverse = tuple(to_vector(Pi * column(row)) for row in rough) if lifted.lift else rough
    void = void_rows(problem, lifted, maps)
    rows = [l for i, l in enumerate(lifted.lift) if i not in void]
    F = np.array(
        [[float(a in lifted.groups[i]) for a in active] for i in core]
        + [[float(np.array([float(x) for x in l]) @ output(maps[a], s_0)) for a in active] for l in rows]
    ).reshape(len(core) + len(rows), len(active))
    free = [[a for a in group if a not in lifted.forced] for group in lifted.groups]
    light = [group for i, group in enumerate(free) if i not in core]
    dimension = len(active) - len(core) - len(rows)
    unique = lifted.onset is None and dimension == 0 and all(len(group) == 1 for group in light)
    sizes = np.array([float(piece.weights[a][0]) for a in active])
    spread = short(sizes[:, None] * np.linalg.pinv(F * sizes))  # weights change in proportion
    lifted = replace(lifted, spread=spread, dimension=max(dimension, 0), unique=unique)
    piece = replace(piece, inverse=inverse, lifted=lifted)
    tube = judge(problem, piece, maps)
    judge_lifted(problem, piece, maps, tube)
    return piece


@dataclass(frozen=True)
class Split:
    """Coefficients of the weights, a row for each class; `zero` are places that have no weight in any split."""

    alpha: Floats
    zero: tuple[int, ...]


def propose_split(
    problem: Problem,
    near: FollowedBranch,
    begun: Start,
    lift: Matrix,
    members: Sequence[tuple[int, int]],
    masses: Floats,
) -> Split:
    """Weights alpha(tau) far inside, with the given masses (coefficients) and products with the lift.

    alpha_a = (mass of its superclass) sigma_a, so that a mass that nearly vanishes at an end is split into weights that
    do not change their sign there. F(tau) sigma(tau) = g(tau) as power series; the path is pulled to points far inside
    at both ends and in the middle.
    """
    size = near.series.s.shape[1]
    S = columns_of(begun.s)
    count = len(masses)
    L = np.array([[float(x) for x in l] for l in scaled(problem, lift)]).reshape(len(lift), problem.n)
    F = np.zeros((size, count + len(L), len(members)))
    for k, (a, mass) in enumerate(members):
        F[0, mass, k] = 1.0
        products = [_times(row, masses[mass]) for row in L @ to_floats(begun.maps[a].output(S))]
        F[:, count:, k] = np.array(products).reshape(len(L), size).T
    g = np.zeros((size, count + len(L)))
    g[0, :count] = 1.0
    targets = L @ np.array([float(x) for x in problem.y])
    g[0, count:] = float(near.eta) * targets
    if size > 1:
        g[1, count:] = float(near.h) * targets
    middle, zero = inside(F[0], g[0])
    kept = [k for k in range(len(members)) if k not in zero]
    wanted = _pulled(F[:, :, kept], g, middle[kept]) if size > 1 else middle[kept][:, None]
    sigma = np.zeros((len(members), size))
    inverse = np.linalg.pinv(F[0][:, kept])
    for m in range(size):
        done = sum((F[i][:, kept] @ sigma[kept, m - i] for i in range(1, m + 1)), np.zeros(F.shape[1]))
        sigma[kept, m] = wanted[:, m] + inverse @ (g[m] - done - F[0][:, kept] @ wanted[:, m])
    alpha = [_times(row, masses[mass]) for row, (_, mass) in zip(sigma, members, strict=True)]
    return Split(np.array(alpha).reshape(len(members), size), tuple(zero))


def _times(one: Floats, other: Floats) -> Floats:
    """The product of two power series, as far as they go."""
    return np.convolve(one, other)[: len(one)]


def _pulled(F: Floats, g: Floats, middle: Floats) -> Floats:
    """Coefficients of a parabola through points far inside at tau = 0, -1 and 1."""
    size = len(F)
    points = [middle]
    for tau in NODES[1:]:
        powers = tau ** np.arange(size)
        points.append(center(np.tensordot(powers, F, 1), powers @ g))
    wanted = np.zeros((F.shape[2], size))
    wanted[:, 0] = points[0]
    wanted[:, 1] = (points[2] - points[1]) / 2.0
    if size > 2:
        wanted[:, 2] = (points[2] + points[1]) / 2.0 - points[0]
    return wanted


def scaled(problem: Problem, lift: Matrix) -> Matrix:
    """The rows times powers of two that make |l||Z| about 1."""
    g = largest_squared(problem)
    rows = []
    for l in lift:
        size = norm_squared(l) * g
        exponent = (size.numerator.bit_length() - size.denominator.bit_length()) // 2
        rows.append(tuple(x / Fraction(2) ** exponent for x in l))
    return tuple(rows)


def with_forced(
    problem: Problem, begun: Start, members: Sequence[int], zero: Sequence[int], active: int, lift: Matrix
) -> Lifted:
    """The lift with its void part apart, and h, if some of the active classes (the first ones) have no weight in any
    split. Of the other classes those are forced that the void part tells apart."""
    plain = Lifted(scaled(problem, lift), (), (), (), (), 0, False)
    if not zero:
        return plain
    maps = [begun.maps[a] for a in members]
    void = void_part(problem.y, lift, [maps[k] for k in range(active) if k not in zero])
    forced = [*zero, *(k for k in range(active, len(maps)) if not all(silent(maps[k], l) for l in void))]
    s_0 = column(begun.s[0])
    Q = fmpq_mat([list(row) for row in zip(*(one.output(s_0).entries() for one in maps), strict=True)])
    h = forcing(void, SplitOutputs(Q, Fraction(0)), forced)
    kept = independent((*void, *lift))[len(void) :]
    return replace(plain, lift=scaled(problem, (*kept, *void)), forced=tuple(forced), force=h)
