"""Paths of networks whose patterns are not listed: training in the place of the float solver, and at both ends of a
piece a cover, which shows that every direction is out over a ball or in the region of a class.

What a cover cannot settle is a neuron that ties, or nearly so: it becomes a class, or an event if it is longer than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from relu_cert.bags import Each
from relu_cert.cover.build import Exhausted, Missed, Stuck, tree
from relu_cert.cover.limits import Limits
from relu_cert.cover.lines import SignedLines, coarse, coarse_bits, margin_for, side_of, weights_of
from relu_cert.cover.refine import RefineData
from relu_cert.cover.setting import CoverData, setting
from relu_cert.cover.stack import Floats
from relu_cert.cover.state import Serial
from relu_cert.cover.ties import engine_ties, exact_shares, shortened, signs_at, tight_lines
from relu_cert.cover.train import TrainingTask, ascend, train
from relu_cert.errors import Unsettled
from relu_cert.evidence import Cover, Row, Tie
from relu_cert.exact import Vector, column, columns_of, primitive, scaled_rows, to_vector
from relu_cert.path.candidates import FoundClasses, fine
from relu_cert.path.pieces import path_ends
from relu_cert.path.tube import FollowedBranch, Refused, least, negative, room, taylor
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import class_map, face_conditions
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.multipliers import solve_piece
from relu_cert.prove.projection import exact_face, neuron_on_face
from relu_cert.solve.prepare import Neuron, ResidualFace, Solution, Stats, one_thread

VANISHES = 1e-7  # a row so near to a neuron, relative, is taken for one of its kinks
MOST_CLASSES = 60
VIOLATION = 1.0 + 1e-7
NODES = 2_000_000
HALF = Fraction(1, 2)
UNSEEN = fmpq(1, 10**5)


@dataclass(frozen=True)
class Training:
    """What stands for the float solver: the data in the forms that training and covers need."""

    given: CoverData

    @cached_property
    def y(self) -> Floats:
        """The targets."""
        return np.array([float(x) for x in self.given.y])

    @cached_property
    def data(self) -> RefineData:
        """The data for lambda = 1."""
        return replace(self.given.data, lam=Fraction(1))

    @property
    def Z(self) -> Floats:
        """The rows."""
        return self.given.data.floats

    @property
    def bags(self) -> Each:
        """P"""
        return self.given.data.bags


def training(problem: Problem) -> Training:
    """The data of a network, prepared."""
    return Training(setting(problem))


def trained(floats: Training, lam: float, warm: Solution | None) -> tuple[Solution, list[ResidualFace], Floats]:
    """A network at lambda, and the faces of its neurons with their alpha."""
    frame, Z = floats.given.frame, floats.Z
    V = xi = None
    if warm is not None and warm.neurons:
        V = np.array([neuron.w for neuron in warm.neurons]) @ frame.T
        xi = np.array([float(neuron.sign) for neuron in warm.neurons])
    with one_thread():
        found = train(TrainingTask(Z @ frame.T, floats.y, lam, bags=floats.bags), V, xi)
    W = found.V @ frame
    neurons = tuple(Neuron(int(s), None, w) for s, w in zip(found.xi, W, strict=True))
    solution = Solution(lam, neurons, found.residual, found.residual, found.objective, 0.0, Stats(0, 0.0, "solved"))
    faces: dict[object, ResidualFace] = {}
    alpha: dict[object, float] = {}
    for one in neurons:
        face = face_at(floats, one.sign, one.w, found.residual, VANISHES)
        faces.setdefault(face.key, face)
        alpha[face.key] = alpha.get(face.key, 0.0) + float(np.linalg.norm(one.w)) / lam
    return solution, list(faces.values()), np.array([alpha[key] for key in faces])


def face_at(floats: Training, sign: int, w: Floats, residual: Floats, tolerance: float) -> ResidualFace:
    """The face of a neuron: the concave rows that it nearly vanishes on, and all that depend on them."""
    Z, t = floats.Z, sign * floats.bags.spread_floats(residual)
    lengths = np.maximum(np.linalg.norm(Z, axis=1), 1e-300)
    height = Z @ w / (lengths * np.linalg.norm(w))
    G = Z[(np.abs(height) <= tolerance) & (t < 0.0)]
    P = np.eye(Z.shape[1]) - np.linalg.pinv(G) @ G if len(G) else np.eye(Z.shape[1])
    ZP = Z @ P
    vanishing = np.linalg.norm(ZP, axis=1) <= 1e-12 * lengths
    on = (height > 0.0) & ~vanishing
    B = floats.bags.pooled_floats((on * float(sign))[:, None] * ZP)
    kinks = tuple(np.flatnonzero(vanishing).tolist())
    return ResidualFace(sign, None, kinks, B, B.T @ residual, P, np.packbits(on).tobytes())


def class_of(problem: Problem, face: ResidualFace) -> NeuronClass:
    """The class of a face; shares of kinks that depend on others are in the middle."""
    Z = problem.relu.Z
    on = np.unpackbits(np.frombuffer(face.on, dtype=np.uint8), count=len(Z)).astype(bool).tolist()
    vanishing = set(face.kinks)
    kinks = [c for c in parallel_classes(Z) if c in vanishing]
    return neuron_on_face(Z, 1 if face.sign > 0 else -1, on, kinks, kinks, dict.fromkeys(kinks, HALF))


class Entered(Refused):
    """A neuron that becomes longer than 1 on the piece."""

    def __init__(self, room: Sequence[fmpq], neuron: NeuronClass) -> None:
        super().__init__("a neuron enters or leaves on the piece", [room])
        self.neuron = neuron
        self.before = bool(room[0] < 0)  # already at the centre,
        self.unseen = self.before and bool(room[0] > -UNSEEN)  # but by so little that training does not see it


def joined(problem: Problem, floats: Training, near: FollowedBranch, neuron: NeuronClass) -> FollowedBranch | None:
    """The branch with one neuron more, which training did not see; None where it has no weight at the centre."""
    if near.lift:
        return None
    faces = (*near.faces, _face(problem, floats, neuron))
    s, alpha = near.series.s[:, 0], np.append(near.series.alpha[:, 0], 0.0)
    found = taylor(faces, near.y, s, alpha, float(near.eta), float(near.h), near.series.s.shape[1] - 1)
    if found is None or found.alpha[-1, 0] <= 0.0:
        return None
    return replace(near, faces=faces, series=found)


def covered_candidates(
    problem: Problem, floats: Training, faces: Sequence[ResidualFace], s: Sequence[Vector], rho: Fraction
) -> FoundClasses:
    """The classes within rho of the chord, and a cover for each end; Refused at an event, Unsettled where cones are
    left."""
    S, ends = columns_of(s), path_ends(s)
    rows = {xi: fine(floats.bags, ends, xi, rho) for xi in (1, -1)}
    classes: list[NeuronClass] = []
    at = columns_of(s[:1])
    for face in faces:
        _add(problem, classes, _exact(problem, class_of(problem, face), s[0], at, rows[face.sign]))
    done: list[Cover] = []
    while len(done) < len(ends):
        for neuron in classes:
            signs = [row for row, _ in face_conditions(problem, neuron, S) if negative(row)]
            if signs:
                raise Refused("the face of a neuron changes on the piece", signs)
        end = ends[len(done)]
        try:
            with one_thread():
                done.append(around(problem, floats, end, rows, classes, rho))
        except (Stuck, Missed) as why:
            neuron = _near(problem, floats, why.xi, why.u, end, rows[why.xi])
            left = room(class_map(problem, neuron).v(S))
            if least(left) < 0:
                raise Entered(left, neuron) from None
            _add(problem, classes, neuron)
            done = []
        except Exhausted:
            raise Unsettled("a cover has too many cones") from None
    return FoundClasses(classes, tuple(done), (None,) * len(ends))


def corrected(problem: Problem, floats: Training, near: FollowedBranch, s_0: Vector) -> FollowedBranch | None:
    """The branch with the faces that its neurons have at s_0, exactly, where floats chose others; None if they are
    right, or if there is a lift."""
    if near.lift:
        return None
    faces: list[ResidualFace] = []
    rows, at = {xi: fine(floats.bags, [s_0], xi, Fraction(0)) for xi in (1, -1)}, columns_of([s_0])
    for face in near.faces:
        known = class_of(problem, face)
        neuron = _exact(problem, known, s_0, at, rows[face.sign])
        faces.append(face if neuron is known else _face(problem, floats, neuron))
    if all(a is b for a, b in zip(faces, near.faces, strict=True)):
        return None
    series = near.series
    degree = series.s.shape[1] - 1
    found = taylor(faces, near.y, series.s[:, 0], series.alpha[:, 0], float(near.eta), float(near.h), degree)
    return None if found is None else replace(near, faces=tuple(faces), series=found)


def _face(problem: Problem, floats: Training, neuron: NeuronClass) -> ResidualFace:
    """The face of a class in floats."""
    Z = floats.Z
    planes = parallel_classes(problem.relu.Z)
    kinks = tuple(sorted(k for c in neuron.kinks for k in planes[c]))
    on = np.array([c == "1" for c in neuron.pattern or ""])
    P = np.eye(Z.shape[1]) - np.linalg.pinv(Z[list(kinks)]) @ Z[list(kinks)] if kinks else np.eye(Z.shape[1])
    B = floats.bags.pooled_floats((on * float(neuron.sign))[:, None] * (Z @ P))
    return ResidualFace(neuron.sign, None, kinks, B, np.zeros(Z.shape[1]), P, np.packbits(on).tobytes())


def _exact(problem: Problem, neuron: NeuronClass, s_0: Vector, at: fmpq_mat, rows: Bits) -> NeuronClass:
    """The class, or where floats chose a face that is not the one at s_0, that of the exact maximiser; `at` is s_0 as a
    matrix."""
    if all(x >= 0 for (x,), _ in face_conditions(problem, neuron, at)):
        return neuron
    Z = problem.relu.Z
    t = tuple(neuron.sign * x for x in problem.relu.bags.spread(s_0))
    best = solve_piece(Z, t, [c == "1" for c in neuron.pattern or ""], rows)
    return exact_face(Z, 1 if neuron.sign > 0 else -1, t, best)


def _add(problem: Problem, classes: list[NeuronClass], neuron: NeuronClass) -> None:
    """One class more, unless it is known or there are too many."""
    if any((one.sign, one.pattern, one.kinks) == (neuron.sign, neuron.pattern, neuron.kinks) for one in classes):
        raise Unsettled("a cone could not be settled")
    if len(classes) >= MOST_CLASSES:
        raise Unsettled("too many neurons can be active")
    classes.append(neuron)


def _near(problem: Problem, floats: Training, xi: int, u: Floats, end: Vector, rows: Bits) -> NeuronClass:
    """The class of the exact maximum at an end, in the concave piece where a local ascent from u ends."""
    frame, Z = floats.given.frame, problem.relu.Z
    t = tuple(xi * x for x in floats.bags.spread(end))
    at, _ = ascend(floats.Z @ frame.T, np.array([float(x) for x in t]), (frame @ u)[None, :], 120, 1e-2)
    base = (floats.Z @ (frame.T @ at[0]) > 0.0).tolist()
    return exact_face(Z, 1 if xi > 0 else -1, t, solve_piece(Z, t, base, rows))


def around(
    problem: Problem,
    floats: Training,
    end: Vector,
    fine_rows: dict[int, Bits],
    classes: Sequence[NeuronClass],
    rho: Fraction,
) -> Cover:
    """The cover at an end: strict over the ball of radius rho but for the regions of the classes."""
    data, one = floats.data, Fraction(1)
    weights = {xi: weights_of(data.lines, end, xi) for xi in (1, -1)}
    ties = [tie_of(problem, data, weights[neuron.sign], neuron, end) for neuron in classes]
    bits = [coarse_bits(here, one) for here in weights.values()]
    if min(bits) < 8:
        raise Unsettled("lambda is too small for short integers")
    margin = max(margin_for(data.size_squared, one, rho**2, b) for b in bits)
    found = {}
    for xi, here in weights.items():
        rows = coarse(here, one, margin)
        if rows.bound <= 0:
            raise Unsettled("the ball of residuals is too wide")
        unsure = {data.lines.line[k] for k in np.flatnonzero(fine_rows[xi]).tolist()}
        doubts = [c for c, w in enumerate(here.w) if w <= 0 and c in unsure]
        side = side_of(here, rows, floats.given.frame, doubts)
        pool = Serial(Limits(nodes=NODES))
        found[xi] = tree(side, engine_ties(data, ties, here, side, xi, doubts), data.basis, xi, pool, VIOLATION)
    return Cover(data.basis, tuple(ties), margin, found[1], found[-1])


def tie_of(problem: Problem, data: RefineData, weights: SignedLines, neuron: NeuronClass, end: Vector) -> Tie:
    """The class as a tie of the cover at an end, where it need not be tight."""
    (v,), _ = scaled_rows([to_vector(class_map(problem, neuron).v(column(end)))])
    u: Row = tuple(neuron.sign * x for x in primitive(v))
    side = signs_at(weights, u)
    short = shortened(data, weights, u, side, [c for c, s in enumerate(side) if s == 0])
    tie = Tie(neuron.sign, short, side, ())
    tight = tight_lines(weights, tie)
    tie = replace(tie, shares=(HALF,) * len(tight))
    exact = exact_shares(data, weights, tie)
    if tight and exact is tie:
        raise Unsettled("a tie has no multipliers")
    return exact
