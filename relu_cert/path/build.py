"""One piece of the path: floats propose it, exact arithmetic accepts or refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, columns_of, to_fmpq, to_fraction, to_vector
from relu_cert.path.candidates import FoundClasses, candidates, is_ray, moving_classes
from relu_cert.path.pieces import Even, Piece, pinned_of
from relu_cert.path.sharpen import Sharp, sharpened
from relu_cert.path.tube import (
    BranchPoint,
    FollowedBranch,
    Refused,
    Tube,
    enclose,
    least,
    lowest,
    require_faces,
    require_independence,
    roots_within,
    taylor,
)
from relu_cert.path.tube import pinned as pinned_on
from relu_cert.path.unlisted import Entered, Training, corrected, covered_candidates, joined, trained
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, class_map, independent, projector
from relu_cert.prove.facts import Multipliers, NeuronClass, PieceMultipliers
from relu_cert.prove.multipliers import binary_grid, from_grid, on_grid, to_grid
from relu_cert.prove.projection import floats as to_floats
from relu_cert.refine.newton import ExactFaces
from relu_cert.solve import FloatProblem, Solution, solve
from relu_cert.solve.oracle import oracle_of
from relu_cert.solve.prepare import Floats, ResidualFace
from relu_cert.solve.solver import carry

DEGREE = 5
DEGREES = (5, 9, 13)  # of lifted pieces: the more, the nearer to an event they can end
FARTHEST, NEAR, TIED = 4.0, 0.05, 1e-9  # how far a branch is continued, and when it is believed to be the same
VANISHES = 1e-6  # a weight below this share of the largest is taken for one that vanishes at an event
ASIDE = Fraction(1, 4)  # of its half width: how far from an event the centre of a still piece is
MOST_CORRECTED = 3  # times that faces are put right: right ones may move a neuron to another
MOST_JOINED = 4  # neurons that a still point gets beside those of training
SEEMS_ZERO = 1e-9  # by so little, relative, a weight may be negative: it is lifted
DEPENDENT = 1e-9  # relative, what floats take for 0 in a dependence of outputs
SHORT = 40  # bits of what floats propose
MATCH = 1e-5  # a face is a class if their outputs agree so far; a wrong match costs a piece, never a verdict


class Unmatched(Unsettled):
    """A face of the branch is none of the candidates': a narrower piece will not help where it is still."""


def solved(floats: FloatProblem | Training, eta: Fraction, warm: Solution | None) -> BranchPoint:
    """Solve at eta."""
    lam = float(1 / eta)
    if isinstance(floats, Training):
        solution, found, alpha = trained(floats, lam, warm)
        return BranchPoint(eta, solution, tuple(found), alpha, solution.theta / lam)
    solution = solve(floats, lam, warm=warm)
    faces = oracle_of(floats).follow(solution.neurons, solution.theta)
    alpha = carry(faces, solution.neurons, lam)
    used = [i for i, a in enumerate(alpha) if a > 0.0]
    return BranchPoint(eta, solution, tuple(faces[i] for i in used), alpha[used], solution.theta / lam)


def through(floats: FloatProblem | Training, point: BranchPoint, h: Fraction, degree: int = DEGREE) -> FollowedBranch:
    """The branch through a point."""
    faces, weights = independent_faces(point.faces, point.alpha, point.s)
    found = taylor(faces, floats.y, point.s, weights, float(point.eta), float(h), degree)
    if found is None:
        raise Unsettled("the outputs of the active neurons are dependent, or nearly so")
    return FollowedBranch(point.eta, h, point.solution, faces, found, floats.y)


def independent_faces(
    faces: Sequence[ResidualFace], alpha: Floats, s: Floats
) -> tuple[tuple[ResidualFace, ...], Floats]:
    """Faces with independent outputs, and their weights, that have the sum of all (Caratheodory)."""
    faces = list(faces)
    while len(faces) > 1:
        Q = np.array([face.B @ (face.B.T @ s) for face in faces]).T
        sizes, V = np.linalg.svd(Q, full_matrices=True)[1:]
        if len(sizes) == len(faces) and sizes[-1] > DEPENDENT * sizes[0]:
            break
        x = V[-1] if V[-1].max() >= -V[-1].min() else -V[-1]
        steps = np.where(x > DEPENDENT, alpha / np.maximum(x, DEPENDENT), np.inf)
        out = int(np.argmin(steps))
        alpha = np.delete(alpha - steps[out] * x, out)
        del faces[out]
    return tuple(faces), alpha


def continued(
    floats: FloatProblem | Training, near: FollowedBranch, eta: Fraction, h: Fraction, degree: int = DEGREE
) -> FollowedBranch | None:
    """The same branch at another eta, without a solve: its series gives the start, Newton the point, prices the test.

    None where a weight is not positive or a price above 1. That its faces are still right is left to `build`.
    """
    tau = float((eta - near.eta) / near.h) if near.h else 0.0
    if abs(tau) > FARTHEST or near.series.s.shape[1] == 1:
        return None
    powers = tau ** np.arange(near.series.s.shape[1])
    s, alpha = near.series.s @ powers, near.series.alpha @ powers
    return _moved(floats, replace(near, eta=eta, h=h), s, alpha, degree)


def _moved(
    floats: FloatProblem | Training, near: FollowedBranch, s: Floats, alpha: Floats, degree: int
) -> FollowedBranch | None:
    """The branch with its series at another point, from about s and alpha there."""
    found = taylor(near.faces, near.y, s, alpha, float(near.eta), float(near.h), degree)
    if found is None or (found.alpha[:, 0] <= 0.0).any():
        return None
    if np.linalg.norm(found.s[:, 0] - s) > NEAR * np.linalg.norm(s):
        return None
    if not isinstance(floats, Training) and oracle_of(floats).price(found.s[:, 0], 1.0)[0] > 1.0 + TIED:
        return None
    return replace(near, series=found)


def beside(floats: FloatProblem | Training, near: FollowedBranch, tau: float, h: Fraction) -> FollowedBranch | None:
    """A still branch at an event of `near`, without a solve, on the side where there are fewer neurons: one whose
    weight vanishes is left out, one that enters is not there yet. None where that is not optimal."""
    powers = tau ** np.arange(near.series.s.shape[1])
    s, alpha = near.series.s @ powers, near.series.alpha @ powers
    stays = alpha > VANISHES * near.series.alpha[:, 0].max(initial=0.0)
    away = (1 if tau > 0.0 else -1) * (1 if not stays.all() else -1)
    eta = near.eta + near.h * Fraction(tau) + away * h * ASIDE
    faces = tuple(face for face, kept in zip(near.faces, stays, strict=True) if kept)
    return _moved(floats, replace(near, eta=eta, h=h, faces=faces), s, alpha[stays], 0)


@dataclass(frozen=True)
class Start:
    """What every piece begins with: s, the multipliers at its ends, a radius, and the neurons around the chord."""

    s: tuple[Vector, ...]
    alpha: tuple[Vector, ...]
    multipliers: tuple[Multipliers, ...]
    radius: Fraction
    found: list[NeuronClass]
    out: tuple[PieceMultipliers | None, ...]
    maps: list[ClassMap]
    near: FollowedBranch


def start(problem: Problem, floats: FloatProblem | Training, near: FollowedBranch) -> Start:
    """The path of the branch, rounded, feasible up to what is judged later, and exactly orthogonal to the lift."""
    _require_weights(near)
    if isinstance(floats, Training):
        return _covered_start(problem, floats, near)
    sharp = sharpened(problem, near, ExactFaces(problem))
    rho = _guess(sharp, near)
    return _begun(problem, near, sharp, rho, candidates(problem, floats, sharp.s, rho))


def _require_weights(near: FollowedBranch) -> None:
    """Refused where floats see a weight that becomes negative."""
    falling = [row for row in near.series.alpha if lowest(row) < -SEEMS_ZERO * row[0]]
    if falling:
        signs = [[fmpq(*float(x).as_integer_ratio()) for x in row] for row in falling]
        raise Refused("a neuron enters or leaves on the piece", signs)


def _covered_start(problem: Problem, floats: Training, near: FollowedBranch) -> Start:
    """The same where patterns are not listed: faces and neurons that training did not see are put right."""
    for _ in range(MOST_JOINED):
        sharp = sharpened(problem, near, ExactFaces(problem))
        for _ in range(MOST_CORRECTED):
            if (other := corrected(problem, floats, near, sharp.s[0])) is None:
                break
            near, sharp = other, sharpened(problem, other, ExactFaces(problem))
        rho = _guess(sharp, near)
        try:
            return _begun(problem, near, sharp, rho, covered_candidates(problem, floats, near.faces, sharp.s, rho))
        except Entered as why:
            more = joined(problem, floats, near, why.neuron) if why.unseen else None
            if more is None:
                raise
            near = more
            _require_weights(near)
    raise Unsettled("neurons keep being found")


def _begun(problem: Problem, near: FollowedBranch, sharp: Sharp, rho: Fraction, found: FoundClasses) -> Start:
    maps = [class_map(problem, neuron) for neuron in found.near]
    return Start(sharp.s, sharp.alpha, found.multipliers, rho, found.near, found.out, maps, near)


def build(problem: Problem, floats: FloatProblem | Training, lo: Fraction, hi: Fraction, near: FollowedBranch) -> Piece:
    """The piece [lo, hi] around a branch point at its centre, or Unsettled with the reason.

    A branch of degree 0 gives a still piece.
    """
    begun = start(problem, floats, near)
    outputs = [output(one, begun.s[0]) for one in begun.maps]
    order = match(begun.near, outputs)
    zero = (Fraction(0),) * len(begun.s)
    weights = tuple(positive(begun.alpha[order[a]]) if a in order else zero for a in range(len(begun.found)))
    if not distinct(begun.found):
        raise Refused("two neurons have one pattern")
    if not are_independent(outputs):
        raise Dependent("the outputs of the neurons are dependent on the piece, or too near to it")
    parts = (begun.s, tuple(begun.found), weights, begun.multipliers, begun.out, pseudoinverse(outputs), begun.radius)
    piece = Piece(lo, hi, *parts, pinned=pinned_of(begun.found))
    tube = judge(problem, piece, begun.maps)
    require_independence(problem, piece, begun.maps, tube.R)
    return piece


class Dependent(Unsettled):
    """Outputs of neurons are dependent: an even piece may help."""


def pin(problem: Problem, begun: Start) -> Start:
    """The same with its classes pinned where an even piece needs that."""
    lift = begun.near.lift
    found = [
        pinned_on(problem, one) if not one.ray and (lift or is_ray(image, ())) else one
        for one, image in zip(begun.found, begun.maps, strict=True)
    ]
    return replace(begun, found=found, maps=[class_map(problem, one) for one in found])


def even(
    problem: Problem,
    begun: Start,
    lo: Fraction,
    hi: Fraction,
    weights: tuple[Vector, ...],
    shares: Vector,
) -> Piece:
    """The piece of superclasses on which outputs are dependent; Unsettled unless it is a proof."""
    lift, classes, maps = begun.near.lift, tuple(begun.found), begun.maps
    pinned = pinned_of(classes)
    independent_all = are_independent([output(one, begun.s[0]) for one in maps])
    rays = () if independent_all else tuple(a for a in pinned if is_ray(maps[a], lift))
    moving = moving_classes(maps, rays, pinned, lift)
    outputs = [output(maps[a], begun.s[0]) for a in moving]
    beside = independent(tuple(to_vector(maps[a].output(columns_of(begun.s[:1]))) for a in rays))
    inverse = inverse_beside(problem, outputs, beside)
    more = Even(lift, rays, len(moving) == len(classes), shares)
    parts = (begun.s, classes, weights, begun.multipliers, begun.out, inverse, begun.radius)
    piece = Piece(lo, hi, *parts, pinned=pinned, even=more)
    tube = judge(problem, piece, maps)
    require_independence(problem, piece, [maps[a] for a in moving], tube.R)
    return piece


def are_independent(outputs: Sequence[Floats]) -> bool:
    """Whether floats say so."""
    if not outputs:
        return True
    sizes = np.linalg.svd(np.array(outputs), compute_uv=False)
    return len(outputs) <= len(outputs[0]) and bool(sizes[-1] > DEPENDENT * sizes[0])


def inverse_beside(problem: Problem, outputs: Sequence[Floats], beside: Matrix) -> Matrix:
    """W with W Q about I for these outputs, its rows orthogonal to what is beside them."""
    if not beside or not outputs:
        return pseudoinverse(outputs)
    Pi = projector(beside, problem.n)
    seen = to_floats(Pi)
    return tuple(to_vector(Pi * column(row)) for row in pseudoinverse([seen @ q for q in outputs]))


def distinct(classes: Sequence[NeuronClass]) -> bool:
    """No block (ReLU: no sign and pattern) has two classes."""
    return len({(c.sign, c.pattern, c.block) for c in classes}) == len(classes)


def judge(problem: Problem, piece: Piece, maps: Sequence[ClassMap]) -> Tube:
    """The tube of the piece; Refused unless it encloses s(eta), and every class has its face along the path."""
    tube = enclose(problem, piece, maps)
    require_faces(problem, piece, tube.R)
    if tube.rho > piece.radius:
        raise Refused("the tube is wider than its radius")
    return tube


def output(one: ClassMap, s_0: Vector) -> Floats:
    """G s_0 in floats."""
    output: Floats = to_floats(one.output(columns_of([s_0])))[:, 0]
    return output


def events(why: Refused) -> list[float]:
    """The zeros on [-1, 1] of what should be positive, the nearest to the centre first."""
    found = [tau for c in why.signs for tau in roots_within(np.array([int(x.p) / int(x.q) for x in c]))]
    return sorted(found, key=abs)


def positive(row: Sequence[Fraction] | Floats) -> Vector:
    """Coefficients of a weight, lifted a little where it would touch 0 by rounding."""
    exact = tuple(Fraction(x) for x in row)
    low = to_fraction(least([to_fmpq(x) for x in exact]))
    lift = -low * 101 / 100 if -exact[0] * Fraction(SEEMS_ZERO) <= low < 0 else Fraction(0)
    return (exact[0] + lift, *exact[1:])


def _guess(sharp: Sharp, near: FollowedBranch) -> Fraction:
    """A radius that the tube will probably keep: how far the path is from its chord, and a little more than R."""
    S = np.array([[float(x) for x in row] for row in sharp.s]).T
    alpha = np.array([[float(x) for x in row] for row in sharp.alpha]).reshape(len(sharp.alpha), S.shape[1])
    length = float(np.linalg.norm(S[:, 0]))
    if S.shape[1] == 1:
        gap = float(np.abs(alpha).sum()) * sharp.excess + (length * sharp.excess) ** 2
        radius = length * float(near.h / near.eta) + 3.0 * float(np.sqrt(gap))
    else:
        radius = float(np.linalg.norm(S[:, 2:], axis=0).sum()) + 1.1 * _rough_tube(near, S, alpha)
    radius = 1.02 * radius + 1e-9 * length
    q = binary_grid([radius], 24)
    return from_grid(to_grid(radius, q) + 1, q)


def _rough_tube(near: FollowedBranch, S: Floats, alpha: Floats) -> float:
    """R in floats: the root of a bound of |E|^2 + sum alpha_a (1 - |v_a|^2)."""
    n, size = S.shape
    E, total = np.zeros((n, 2 * size - 1)), np.zeros(4 * size - 3)
    E[:, :size] = -S
    E[:, 0] += float(near.eta) * near.y
    E[:, 1] += float(near.h) * near.y
    for face, weight in zip(near.faces, alpha, strict=True):
        V = face.B.T @ S
        E -= np.array([np.convolve(row, weight) for row in face.B @ V])
        room = -sum((np.convolve(row, row) for row in V), np.zeros(2 * size - 1))
        room[0] += 1.0
        total[: 3 * size - 2] += np.convolve(weight, room)
    total += sum((np.convolve(row, row) for row in E), np.zeros(4 * size - 3))
    return float(np.sqrt(max(-lowest(-total), 0.0)))


def match(near: FollowedBranch, outputs: Sequence[Floats]) -> dict[int, int]:
    """For the classes that are active, the number of their face."""
    order: dict[int, int] = {}
    s_0 = near.series.s[:, 0]
    for i, face in enumerate(near.faces):
        q = face.B @ (face.B.T @ s_0)
        far = [float(np.linalg.norm(q - p)) for p in outputs]
        best = int(np.argmin(far)) if far else -1
        if best < 0 or best in order or far[best] > MATCH * float(np.linalg.norm(q)):
            raise Unmatched("an active neuron was not found among the candidates")
        order[best] = i
    return order


def pseudoinverse(columns: Sequence[Floats]) -> Matrix:
    """The pseudoinverse of the matrix with these columns, rounded."""
    return short(np.asarray(np.linalg.pinv(np.array(columns).T), dtype=np.float64)) if columns else ()


def short(A: Floats) -> Matrix:
    """What floats propose, in few bits."""
    return on_grid(A.tolist(), SHORT)
