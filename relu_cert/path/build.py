"""One piece of the path: floats propose it, exact arithmetic accepts or refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from relu_cert.exact import Matrix, Vector
from relu_cert.path.branch import Branch, Point, roots_within, taylor
from relu_cert.path.candidates import Candidate, candidates
from relu_cert.path.model import Aside, Piece
from relu_cert.path.sharpen import sharpened
from relu_cert.path.tube import Refused, Tube, enclose, is_aside, require_faces, require_independence, side_by_side
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.classes import ClassMap, class_map
from relu_cert.prove.definite import floats as to_floats
from relu_cert.prove.dual import dual_multipliers
from relu_cert.prove.facts import Multipliers, NeuronClass, PieceMultipliers
from relu_cert.prove.grid import binary_grid, from_grid, to_grid
from relu_cert.prove.multipliers import Proposals
from relu_cert.refine.faces import ExactFaces
from relu_cert.solve import FloatProblem, Solution, multipliers, solve
from relu_cert.solve.model import Floats
from relu_cert.solve.oracle import oracle_of
from relu_cert.solve.solver import carry

DEGREE = 5
THOROUGH = 0.9  # pieces below this need no sharper multiplier
FARTHEST, NEAR, TIED = 4.0, 0.05, 1e-9  # how far a branch is continued, and when it is believed to be the same
MATCH = 1e-5  # a face is a class if their outputs agree so far; a wrong match costs a piece, never a verdict


def solved(floats: FloatProblem, eta: Fraction, warm: Solution | None) -> Point:
    """Solve at eta."""
    lam = float(1 / eta)
    solution = solve(floats, lam, warm=warm)
    faces = oracle_of(floats).follow(solution.neurons, solution.theta)
    alpha = carry(faces, solution.neurons, lam)
    used = [i for i, a in enumerate(alpha) if a > 0.0]
    return Point(eta, solution, tuple(faces[i] for i in used), alpha[used], solution.theta / lam)


def branch(floats: FloatProblem, eta: Fraction, h: Fraction, warm: Solution | None, degree: int = DEGREE) -> Branch:
    """Solve at eta, and expand."""
    return through(floats, solved(floats, eta, warm), h, degree)


def through(floats: FloatProblem, point: Point, h: Fraction, degree: int = DEGREE) -> Branch:
    """The branch through a point."""
    found = taylor(point.faces, floats.y, point.s, point.alpha, float(point.eta), float(h), degree)
    if found is None:
        raise Unsettled("the outputs of the active neurons are dependent, or nearly so")
    return Branch(point.eta, h, point.solution, point.faces, found, floats.y)


def continued(floats: FloatProblem, near: Branch, eta: Fraction, h: Fraction, degree: int = DEGREE) -> Branch | None:
    """The same branch at another eta, without a solve: its series gives the start, Newton the point, prices the test.

    None where a weight is not positive or a price above 1. That its faces are still right is left to `build`.
    """
    tau = float((eta - near.eta) / near.h) if near.h else 0.0
    if abs(tau) > FARTHEST or near.series.s.shape[1] == 1:
        return None
    powers = tau ** np.arange(near.series.s.shape[1])
    s, alpha = near.series.s @ powers, near.series.alpha @ powers
    found = taylor(near.faces, near.y, s, alpha, float(eta), float(h), degree)
    if found is None or (found.alpha[:, 0] <= 0.0).any():
        return None
    if np.linalg.norm(found.s[:, 0] - s) > NEAR * np.linalg.norm(s):
        return None
    if oracle_of(floats).price(found.s[:, 0], 1.0)[0] > 1.0 + TIED:
        return None
    return replace(near, eta=eta, h=h, series=found)


@dataclass(frozen=True)
class Start:
    """What every piece begins with: s, the multipliers at s_0, a radius, and the neurons of the ball."""

    s: tuple[Vector, ...]
    alpha: tuple[Vector, ...]
    multipliers: Multipliers
    radius: Fraction
    found: list[Candidate]
    out: PieceMultipliers
    maps: list[ClassMap]


def start(problem: Problem, floats: FloatProblem, near: Branch) -> Start:
    """The path of the branch, rounded, feasible up to what is judged later, and exactly orthogonal to the lift."""
    sharp = sharpened(problem, near, ExactFaces(problem))
    s = sharp.s
    at_s_0, longest_squared = dual_multipliers(
        problem, s[0], lcm(*(x.denominator for x in s[0])), Fraction(1), _propose(floats, s[0])
    )
    if longest_squared > 1:
        raise Unsettled("the middle of the piece is not dual feasible")
    rho = _guess(s, near, sharp.excess)
    found = candidates(problem, s[0], at_s_0, rho)
    maps = [class_map(problem, one.neuron) for one in found.near]
    return Start(s, sharp.alpha, found.multipliers, rho, found.near, found.out, maps)


def build(problem: Problem, floats: FloatProblem, lo: Fraction, hi: Fraction, near: Branch) -> Piece:
    """The piece [lo, hi] around a branch point at its centre, or Unsettled with the reason.

    A branch of degree 0 gives a still piece.
    """
    begun = start(problem, floats, near)
    s, rho, found = begun.s, begun.radius, begun.found
    order = match(near, [output(one, s[0]) for one in begun.maps])
    active = [one.neuron for a, one in enumerate(found) if a in order]
    weights = [positive(begun.alpha[order[a]]) for a in range(len(found)) if a in order]
    piece = Piece(lo, hi, s, tuple(active), (), tuple(weights), begun.multipliers, begun.out, (), rho)
    tube = enclose(problem, piece, [begun.maps[a] for a in range(len(found)) if a in order])
    classes = list(active)
    aside: list[Aside | NeuronClass] = []
    for one in (one for a, one in enumerate(found) if a not in order):
        if all(is_aside(problem, part, s, rho, tube.R) for part in one.aside):
            aside += one.aside
        else:
            classes.append(one.neuron)
            weights.append((Fraction(0),) * len(s))
    if len(classes) > problem.n or not distinct(classes):
        raise Refused("too many neurons can be active")
    maps = [class_map(problem, neuron) for neuron in classes]
    inverse = pseudoinverse([output(one, s[0]) for one in maps])
    piece = replace(piece, classes=tuple(classes), aside=tuple(aside), weights=tuple(weights), inverse=inverse)
    tube = judge(problem, piece, maps)
    require_independence(problem, piece, maps, tube.R)
    return piece


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
    output: Floats = to_floats(one.output(side_by_side([s_0])))[:, 0]
    return output


def events(why: Refused) -> list[float]:
    """The zeros on [-1, 1] of what should be positive, the nearest to the centre first."""
    found = [tau for c in why.signs for tau in roots_within(np.array([int(x.p) / int(x.q) for x in c]))]
    return sorted(found, key=abs)


def _propose(floats: FloatProblem, s_0: Vector) -> Proposals | None:
    found = multipliers(floats, np.array([float(x) for x in s_0]), THOROUGH)
    return {xi: found[xi] for xi in (1, -1)} if isinstance(found, dict) else None


def positive(row: Sequence[Fraction] | Floats) -> Vector:
    """Coefficients of a weight, lifted a little where it would touch 0 by rounding."""
    exact = tuple(Fraction(x) for x in row)
    lowest = exact[0] - sum((abs(x) for x in exact[1:]), Fraction(0))
    lift = -lowest * 101 / 100 if -exact[0] / 10**9 <= lowest < 0 else Fraction(0)
    return (exact[0] + lift, *exact[1:])


def _guess(s: Sequence[Vector], near: Branch, excess: float) -> Fraction:
    """A radius that the tube will probably keep: what the path moves, and a little more than the root of the gap."""
    S = np.array([[float(x) for x in row] for row in s])
    length = float(np.linalg.norm(S[0]))
    moved = length * float(near.h / near.eta) if len(s) == 1 else float(np.sqrt(np.abs(S[1:] @ S[1:].T).sum()))
    gap = float(np.abs(near.series.alpha).sum()) * excess + (length * excess) ** 2
    radius = 1.02 * moved + 3.0 * float(np.sqrt(gap)) + 1e-9 * length
    q = binary_grid([radius], 24)
    return from_grid(to_grid(radius, q) + 1, q)


def match(near: Branch, outputs: Sequence[Floats]) -> dict[int, int]:
    """For the classes that are active, the number of their face."""
    order: dict[int, int] = {}
    s_0 = near.series.s[:, 0]
    for i, face in enumerate(near.faces):
        q = face.B @ (face.B.T @ s_0)
        far = [float(np.linalg.norm(q - p)) for p in outputs]
        best = int(np.argmin(far)) if far else -1
        if best < 0 or best in order or far[best] > MATCH * float(np.linalg.norm(q)):
            raise Unsettled("an active neuron was not found among the candidates")
        order[best] = i
    return order


def pseudoinverse(columns: Sequence[Floats]) -> Matrix:
    """The pseudoinverse of the matrix with these columns, rounded."""
    return on_grid(np.asarray(np.linalg.pinv(np.array(columns).T), dtype=np.float64)) if columns else ()


def on_grid(A: Floats, bits: int = 40) -> Matrix:
    """The matrix rounded to so many bits of its largest entry."""
    q = binary_grid([float(x) for x in A.ravel()], bits)
    return tuple(tuple(from_grid(to_grid(float(x), q), q) for x in row) for row in A)
