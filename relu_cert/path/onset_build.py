"""A still piece across the lambda at which the residual becomes orthogonal to more: floats propose it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, column, to_vector
from relu_cert.path.build import distinct, output, positive, short
from relu_cert.path.candidates import path_groups
from relu_cert.path.lifted import finish, propose_split, scaled, started, with_forced
from relu_cert.path.onset import joined_by
from relu_cert.path.pieces import Onset, Piece, pinned_of
from relu_cert.path.tube import FollowedBranch, Refused, taylor
from relu_cert.path.unlisted import Training
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import independent, projector
from relu_cert.prove.projection import floats as to_floats
from relu_cert.solve import FloatProblem
from relu_cert.solve.prepare import Floats

FIRST_STEP, SECANTS, FARTHEST = 1e-7, 5, 1e-3  # of the search for the eta of an onset, relative


def build_onset(
    problem: Problem, floats: FloatProblem | Training, lo: Fraction, hi: Fraction, near: FollowedBranch, lift: Matrix
) -> Piece:
    """The still piece [lo, hi]; `near` is a branch of degree 0 at its centre of the larger lift, which sets in."""
    begun, outer, order = started(problem, floats, near)
    neurons = begun.found
    near_one = sorted(a for i in order for a in outer[i])
    inner = path_groups(problem, begun.s, begun.radius, [neurons[a] for a in near_one], lift)
    groups = [tuple(near_one[k] for k in group) for group in inner]
    Pi = to_floats(projector(lift, problem.n))
    Q = np.array([Pi @ output(begun.maps[group[0]], begun.s[0]) for group in groups]).T
    goal = Pi @ (float(near.eta) * floats.y - near.series.s[:, 0])
    core, masses = _vertex(Q, goal, len(order) + len(near.lift) - len(lift) - 1)
    active = [a for s in core for a in groups[s]]
    late = [a for s, group in enumerate(groups) if s not in core for a in group]
    members = [(a, i) for i, s in enumerate(core) for a in groups[s]]
    split = propose_split(problem, near, begun, lift, members, masses[:, None])
    weights = tuple(positive(row) for row in split.alpha)
    if len(near_one) < len(neurons):
        raise Unsettled("a neuron enters where the residual becomes orthogonal to more")
    classes = tuple(neurons[a] for a in (*active, *late))
    if not distinct(classes):
        raise Refused("too many neurons can be active")
    maps = [begun.maps[a] for a in (*active, *late)]
    zero = (Fraction(0),) * len(begun.s)
    parts = (classes, (*weights, *(zero for _ in late)), begun.multipliers, begun.out, (), begun.radius)
    piece = Piece(lo, hi, begun.s, *parts, pinned=pinned_of(classes))
    lifted = with_forced(problem, begun, [*active, *late], split.zero, len(active), lift)
    lifted = replace(lifted, groups=path_groups(problem, begun.s, begun.radius, classes, lifted.lift))
    outputs = [output(one, begun.s[0]) for one in maps]
    onset = _onset(problem, piece, lifted.groups, outputs, lift, near.lift)
    return finish(problem, replace(piece, lifted=replace(lifted, onset=onset)), maps)


def locate(problem: Problem, floats: FloatProblem | Training, near: FollowedBranch, lift: Matrix) -> Fraction:
    """The eta, near that of a branch of degree 0, at which the larger lift sets in: H.(eta y - s) = 0, by secants.

    Unsettled where there seems to be none.
    """
    begun, outer, order = started(problem, floats, near)
    neurons = begun.found
    tied = sorted(a for i in order for a in outer[i])
    groups = [tied[group[0]] for group in path_groups(problem, begun.s, begun.radius, [neurons[a] for a in tied], lift)]
    if not groups:
        raise Unsettled("no neuron is to tie")
    B = [to_floats(begun.maps[a].B()) for a in groups]
    Pi = to_floats(projector(lift, problem.n))

    def height(eta: float) -> float:
        found = taylor(near.faces, near.y, near.series.s[:, 0], near.series.alpha[:, 0], eta, 0.0, 0)
        if found is None:
            raise Unsettled("the outputs of the active neurons are dependent, or nearly so")
        s = found.s[:, 0]
        Q = np.array([Pi @ (B_a @ (B_a.T @ s)) for B_a in B]).T
        core, _ = _vertex(Q, Pi @ (eta * floats.y - s), len(order) + len(near.lift) - len(lift) - 1)
        normal = _normal(Q, core)
        return float(normal @ (eta * floats.y - s))

    one, two = float(near.eta), float(near.eta) * (1.0 + FIRST_STEP)
    at_one, at_two = height(one), height(two)
    for _ in range(SECANTS):
        if at_one == at_two:
            break
        one, at_one, two = two, at_two, two - at_two * (two - one) / (at_two - at_one)
        if abs(two - float(near.eta)) > FARTHEST * float(near.eta):
            raise Unsettled("no onset is near")
        at_two = height(two)
    return Fraction(two)


def _vertex(Q: Floats, goal: Floats, count: int) -> tuple[list[int], Floats]:
    """Masses >= 0 on at most so many superclasses: those that have the most in a non-negative solution."""
    from scipy.optimize import nnls

    size = max(float(np.abs(Q).max(initial=0.0)), 1e-300)
    masses, _ = nnls(Q / size, goal / size)
    core = sorted(np.argsort(-masses)[:count].tolist())
    fitted = np.linalg.lstsq(Q[:, core], goal, rcond=None)[0]
    return core, np.asarray(fitted, dtype=np.float64)


def _normal(Q: Floats, core: list[int]) -> Floats:
    """The unit vector H with H.q = 0 on the core, positive on the sum of the others."""
    late = [s for s in range(Q.shape[1]) if s not in core]
    if not late:
        raise Unsettled("no neuron is to tie")
    beside = Q[:, late].sum(axis=1)
    normal = beside - Q[:, core] @ np.linalg.lstsq(Q[:, core], beside, rcond=None)[0]
    unit: Floats = normal / max(float(np.linalg.norm(normal)), 1e-300)
    return unit


def _onset(
    problem: Problem,
    piece: Piece,
    groups: tuple[tuple[int, ...], ...],
    outputs: list[Floats],
    lift: Matrix,
    larger: Matrix,
) -> Onset:
    """M, H and the matrices U."""
    exact = projector(lift, problem.n)
    Pi = to_floats(exact)
    fresh = independent((*lift, *larger))[len(lift) :]
    rows = scaled(problem, tuple(to_vector(exact * column(l)) for l in fresh) if lift else fresh)
    core = [s for s, group in enumerate(groups) if any(any(piece.weights[a]) for a in group)]
    late = [s for s in range(len(groups)) if s not in core]
    firsts = [Pi @ outputs[group[0]] for group in groups]
    (H,) = short(_normal(np.array(firsts).T, core)[None, :])
    H = to_vector(exact * column(H)) if lift else H
    M = np.array([[float(x) for x in row] for row in rows])
    first_of = joined_by(problem, piece, lift, rows, groups, core)

    def difference(s: int) -> Floats:
        return M @ (outputs[groups[s][0]] - outputs[groups[first_of[s]][0]])

    known = [difference(s) for s in core if s != first_of[s]]
    apart = (short(np.linalg.pinv(np.array([*known, difference(s)]))) for s in late)
    return Onset(rows, H, tuple(apart))
