"""The conditions under which the optimal network is differentiable, each for itself (prop:local-sol-fn, corrected).

E = A: every optimal network uses every neuron that ties. LICQ: the constraints tight at an active neuron are
independent (each hyperplane once). Strict complementarity: an active neuron that leaves its
face loses at first order; its multipliers can be chosen strictly inside their bounds. What is needed for a derivative
is E = A and faces that are stable near r*; with strict complementarity they are. LICQ is not needed.

How the tied neurons sit on their faces: which faces are stable, and in which directions one is left at no cost.

A neuron v with tight constraints T (relu: kinks) has multipliers: c - v = sum_T rho_k K_k with rho >= 0 (direct), or
v = sum_D t_k z_k + sum_T mu_c z_c with p_c <= mu_c <= l_c (relu). Where all can be strictly inside their bounds, it
keeps its face. Where some cannot, there is a direction u of the critical cone: it leaves its face along u and loses
nothing at first order. If moreover the output along u is not in the span of all tied outputs, take h orthogonal to that
span: along residuals r + t h + o(t) on which all neurons stay tied, v moves off its face for t > 0 in a way that is not
opposite to that for t < 0, and the network has no derivative in y.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq_mat

from relu_cert.exact import Vector, column, dot, first_independent, matrix_of, to_fmpq, to_vector
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import Ball, class_map, constraints, is_stable, slopes, spans
from relu_cert.prove.facts import BallSet, Exactly, ExactSet, Facts, NeuronClass, Tied, UnknownSet
from relu_cert.prove.field import Exact
from relu_cert.prove.projection import combine, deepest
from relu_cert.prove.split import null_space

SEEMS_POSITIVE = 1e-7  # a wrong proposal costs a verdict that could be had, never a right one
SHORT = 10**6


@dataclass(frozen=True)
class Leaving:
    """Along u the neuron leaves its face, and the gain is 0 at first order; h, if there is one, as above."""

    neuron: int
    u: Vector
    h: Vector = ()


@dataclass(frozen=True)
class Faces:
    """`stable`: for each tied neuron of an exact optimum the class that shows its face to be stable, or None (also
    where there is nothing to show)."""

    stable: tuple[NeuronClass | None, ...]
    leaving: tuple[Leaving, ...]


@dataclass(frozen=True)
class _Kinks:
    """Constraints tight at v: `names` and vectors; multipliers x in [0, size] (None: no bound) with sum x_c a_c = pull.

    Leaving towards the side where x = 0 must be <= 0 in a_c, towards the other >= 0.
    """

    names: tuple[int, ...]
    a: tuple[Vector, ...]
    size: tuple[Fraction | None, ...]
    pull: Vector


def faces(facts: Facts) -> Faces | None:
    """What can be shown of the faces; None where the optimal set says it all."""
    match facts.optimal_set:
        case ExactSet(tied=tied):
            found = _exact(facts.problem, facts.dual.theta, tied)
            return found if any(found.stable) or found.leaving else None
        case BallSet() as known:
            leaving = _idle_directions(facts.problem, known)
            return Faces((), leaving) if leaving else None
        case _:
            return None


def _exact(problem: Problem, theta: Vector, tied: Sequence[Tied]) -> Faces:
    stable: list[NeuronClass | None] = []
    leaving: list[Leaving] = []
    for a, one in enumerate(tied):
        kinks = None if _shared(problem, one) else _kinks(problem, theta, one)
        if kinks is None or not kinks.names:
            stable.append(None)
            continue
        strict, shares = _strict(kinks)
        neuron = _class(problem, one, kinks, strict, shares)
        stable.append(neuron if neuron is not None and is_stable(problem, neuron, Ball(theta, Fraction(0))) else None)
        if len(strict) == len(kinks.names):
            continue
        u = _leaving(kinks, strict, shares)
        if u is not None:
            bent = all(size is None or size > 0 for size in kinks.size)
            h = () if stable[-1] is not None or not bent else _breaking(problem, tied, one, u)
            leaving.append(Leaving(a, u, h))
    return Faces(tuple(stable), tuple(leaving))


def _shared(problem: Problem, one: Tied) -> bool:
    """Whether several blocks of a network over some patterns carry the neuron."""
    return problem.patterned is not None and one.kinks


def _kinks(problem: Problem, theta: Vector, one: Tied) -> _Kinks | None:
    """The tight constraints of a tied neuron; None where a kink is not concave."""
    if problem.network is None:
        block = problem.blocks[one.block or 0]
        columns = () if block.K is None else tuple(zip(*block.K, strict=True))
        names = tuple(k for k, K_k in enumerate(columns) if any(K_k) and not dot(K_k, one.v))
        c = tuple(dot(col, theta) for col in zip(*block.X, strict=True))
        pull = tuple(x - v for x, v in zip(c, one.v, strict=True))
        return _Kinks(names, tuple(columns[k] for k in names), (None,) * len(names), pull)
    Z = problem.network.Z
    t = theta if one.sign > 0 else tuple(-x for x in theta)
    planes = parallel_classes(Z)
    names = tuple(c for c in planes if not dot(Z[c], one.v))
    both = [slopes(planes[c], t) for c in names]
    if any(right > left for right, left in both):
        return None
    on = combine(Z, [t_k if dot(z, one.v) > 0 else Fraction(0) for z, t_k in zip(Z, t, strict=True)])
    # v = on + sum mu_c z_c with mu_c = l_c - x_c: on + sum l_c z_c - v = sum x_c z_c, 0 <= x_c <= l_c - p_c
    start = combine([on, *(Z[c] for c in names)], [Fraction(1), *(left for _, left in both)])
    pull = tuple(x - v for x, v in zip(start, one.v, strict=True))
    return _Kinks(names, tuple(Z[c] for c in names), tuple(left - right for right, left in both), pull)


def _strict(kinks: _Kinks) -> tuple[list[int], list[float]]:
    """The places whose multiplier can be strictly inside its bounds, and a solution in which all of these are."""
    A = np.array([[float(x) for x in a] for a in kinks.a]).T
    b = np.array([float(x) for x in kinks.pull])
    size = max(float(np.abs(A).max()), float(np.abs(b).max()), 1e-300)
    k = len(kinks.names)
    mean = np.zeros(k)
    inside: list[int] = []
    for j in range(k):
        rows, right, bound = [-np.eye(k)[j]], [0.0], kinks.size[j]
        if bound is not None:
            rows.append(np.eye(k)[j])
            right.append(float(bound))
        box = [(0.0, None if s is None else float(s)) for s in kinks.size]
        found = deepest(np.array(rows), np.array(right), box, 1.0, A / size, b / size)
        if found is None:
            return [], []
        mean += found[0] / k
        if found[1] > SEEMS_POSITIVE:
            inside.append(j)
    return inside, mean.tolist()


def _class(
    problem: Problem, one: Tied, kinks: _Kinks, strict: Sequence[int], shares: Sequence[float]
) -> NeuronClass | None:
    """The class of the face, as the optimal set writes it: a basis of strict kinks; loose ones; idle ones."""
    basis = [strict[i] for i in first_independent([kinks.a[j] for j in strict])]
    chosen = [kinks.a[i] for i in basis]
    loose = [j for j in range(len(kinks.names)) if j not in basis and spans(chosen, [kinks.a[j]])]
    idle = [j for j in range(len(kinks.names)) if j not in basis and j not in loose]
    fixed = []
    for j in loose:
        x, size = Fraction(max(shares[j], 0.0)), kinks.size[j]
        share = x if size is None else min(x / size, Fraction(1)) if size else Fraction(0)  # 0: the kink has no force
        fixed.append(share.limit_denominator(SHORT))
    parts = [tuple(kinks.names[j] for j in part) for part in (range(len(kinks.names)), basis, idle)]
    if problem.network is None:
        return NeuronClass(block=one.block, kinks=parts[0], basis=parts[1], idle=parts[2], fixed=tuple(fixed))
    pattern = bit_string([dot(z, one.v) > 0 for z in problem.network.Z])
    return NeuronClass(one.sign, pattern, None, parts[0], parts[1], parts[2], tuple(fixed))


def _leaving(kinks: _Kinks, strict: Sequence[int], shares: Sequence[float]) -> Vector | None:
    """u in the span of the kinks, 0 on the strict ones, and leaving the others on the side of their multiplier."""
    fixed, signed = [], []
    for j, (a, size) in enumerate(zip(kinks.a, kinks.size, strict=True)):
        if j in strict:
            fixed.append(a)
        elif size is None or shares[j] < float(size) / 2:
            signed.append(a)
        else:
            signed.append(tuple(-x for x in a))
    return direction(fixed, signed)


def direction(zero: Sequence[Vector], negative: Sequence[Vector]) -> Vector | None:
    """u in the span of all vectors with a.u = 0 for `zero`, a.u <= 0 for `negative`, and < 0 for as many as can be."""
    while negative:
        gram = matrix_of((*zero, *negative))
        # u = sum of y_i a_i over all vectors, orthogonal to those of `zero`
        conditions = matrix_of(zero) * gram.transpose() if zero else None
        free = null_space(conditions) if conditions is not None else null_space(fmpq_mat(1, gram.nrows()))
        basis = [u for y in free if any(u := to_vector(gram.transpose() * y))]
        if not basis:
            return None
        H = np.array([[float(dot(a, u)) for u in basis] for a in negative])
        size = max(float(np.abs(H).max()), 1e-300)
        k, m = len(basis), len(negative)
        from scipy.optimize import linprog

        result = linprog(
            np.r_[np.zeros(k), -np.ones(m)],
            A_ub=np.c_[H / size, np.eye(m)],
            b_ub=np.zeros(m),
            bounds=[(-1, 1)] * k + [(0, 1)] * m,
        )
        if result.x is None:
            return None
        falls = [i for i in range(m) if result.x[k + i] > SEEMS_POSITIVE]
        if len(falls) == m:
            weights = [Fraction(float(x)).limit_denominator(SHORT) for x in result.x[:k]]
            return combine(basis, weights)
        zero, negative = (
            [*zero, *(a for i, a in enumerate(negative) if i not in falls)],
            [negative[i] for i in falls],
        )
    return None


def _breaking(problem: Problem, tied: Sequence[Tied], one: Tied, u: Vector) -> Vector:
    """The part of the output along u that is orthogonal to all tied outputs; empty where there is none."""
    moved = column(_output_along(problem, one, u))
    Q = fmpq_mat([[to_fmpq(x) for x in other.q] for other in tied])
    gram = Q * Q.transpose()
    if gram.det() == 0:
        return ()
    h = to_vector(moved - Q.transpose() * gram.solve(Q * moved))
    return h if any(h) else ()


def _output_along(problem: Problem, one: Tied, u: Vector) -> Vector:
    if problem.network is None:
        return tuple(dot(row, u) for row in problem.blocks[one.block or 0].X)
    zero = Fraction(0)
    moved = []
    for z in problem.network.Z:
        height, slope = dot(z, one.v), dot(z, u)
        moved.append(one.sign * (slope if height > 0 else max(slope, zero) if height == 0 else zero))
    return tuple(moved)


def one_sided(problem: Problem, neuron: NeuronClass) -> tuple[int, ...]:
    """The idle kinks whose multiplier, 0, is on its bound: all of direct problems; relu: no row looks the other way."""
    if problem.network is None:
        return neuron.idle
    planes = parallel_classes(problem.network.Z)
    return tuple(c for c in neuron.idle if all(a > 0 for a in planes[c].values()))


def _idle_directions(problem: Problem, found: BallSet) -> tuple[Leaving, ...]:
    """For classes with one-sided idle kinks: a direction along which these are left, if there is one."""
    leaving = []
    for a, neuron in enumerate(found.classes):
        free = one_sided(problem, neuron)
        if not free:
            continue
        vectors = constraints(problem, neuron)
        kept = [vectors[c] for c in neuron.kinks if c not in free]
        u = direction(kept, [vectors[c] for c in free])
        if u is not None:
            leaving.append(Leaving(a, u))
    return tuple(leaving)


@dataclass(frozen=True)
class KnownTie:
    """What is known of a neuron that ties, or may tie; None: not known.

    `active`: some optimal network uses it. `independent`: its tight constraints are. `tight`: it has some.
    `strict`: to leave its face costs. `stable`: its face is the same for all residuals near r*. `breaks`: its direction
    has no derivative.
    """

    active: bool | None
    independent: bool
    tight: bool
    strict: bool | None
    stable: bool
    breaks: bool = False


@dataclass(frozen=True)
class Conditions:
    """The neurons; `unique`: whether there is one optimal network."""

    unique: bool
    neurons: tuple[KnownTie, ...]

    @property
    def all_active(self) -> bool:
        """E = A is proved."""
        return self.unique and all(one.active for one in self.neurons)

    @property
    def used(self) -> tuple[int, int]:
        """How many neurons that may be active have tight constraints, and how many there are."""
        used = [one for one in self.neurons if one.active is not False]
        return sum(one.tight for one in used), len(used)

    @property
    def some_idle(self) -> bool:
        """E = A is refuted: the vertices of a polytope that is no point leave tied neurons out."""
        return not self.unique or any(one.active is False for one in self.neurons)


def conditions(facts: Facts) -> Conditions | None:
    """What the facts say; None where nothing is settled, or lambda >= lambda_max."""
    found = facts.optimal_set
    if isinstance(found, UnknownSet):
        return None
    if isinstance(found, Exactly):
        return _conditions_exactly(facts, found)
    left = {one.neuron for one in facts.faces.leaving} if facts.faces is not None else set()
    neurons = []
    for a, neuron in enumerate(found.classes):
        if found.split or found.lift or len(found.groups) < len(found.classes):
            active: bool | None = a in found.active
        else:
            active = found.masses[a] > found.mass_error or None
        strict = None if one_sided(facts.problem, neuron) else True
        strict = False if a in left else strict
        independent = _independent_class(facts.problem, neuron)
        neurons.append(KnownTie(active, independent, bool(neuron.kinks), strict, stable=True))
    return Conditions(found.network_dimension == 0, tuple(neurons))


def _conditions_exactly(facts: Facts, exact: Exactly) -> Conditions:
    """Where r* is irrational, faces are not looked at, unless nothing is tight."""
    problem, faces, polytope = facts.problem, facts.faces, facts.polytope
    left = {leaving.neuron: bool(leaving.h) for leaving in faces.leaving} if faces is not None else {}
    neurons = []
    for a, (tied, used) in enumerate(zip(exact.tied, exact.used, strict=True)):
        active = a in polytope.used if used is None and polytope is not None else used
        kinks = [k for k in _constraints(problem, tied.block) if not _along(tied.v, k)]  # the same lines in all blocks
        tight = bool(kinks)
        shown = faces.stable[a] if faces is not None and faces.stable else None
        stable = not tight or shown is not None
        strict: bool | None = True if stable else None
        if shown is not None and one_sided(problem, shown):
            strict = None
        if a in left:
            strict = False
        stable = stable and isinstance(exact, ExactSet)
        neurons.append(KnownTie(active, _independent(kinks), tight, strict, stable, left.get(a, False)))
    return Conditions(len(exact.solutions) == 1, tuple(neurons))


def _along(v: Exact, k: Vector) -> Any:
    """k.v"""
    return sum((a * b for a, b in zip(v, k, strict=True) if b), v[0] * 0)


def _constraints(problem: Problem, block: int | None) -> list[Vector]:
    """The constraints on a neuron, other than zero (relu: one row of each hyperplane)."""
    if problem.network is not None:
        return [problem.network.Z[c] for c in parallel_classes(problem.network.Z)]
    K = problem.blocks[block or 0].K
    return [] if K is None else [k for k in zip(*K, strict=True) if any(k)]


def _independent_class(problem: Problem, neuron: NeuronClass) -> bool:
    rows = constraints(problem, neuron)
    return _independent(rows[c] for c in neuron.kinks)


def _independent(vectors: Iterable[Vector]) -> bool:
    """Whether these constraints are independent; all multiples are one hyperplane."""
    directions = {tuple(x / _lead(a) for x in a) for a in vectors if any(a)}
    return spans(list(directions), ())


def _lead(a: Vector) -> Fraction:
    return next(x for x in a if x)


def active_classes(facts: Facts) -> tuple[tuple[NeuronClass, ...], Vector, Fraction]:
    """Where E = A and all faces are stable: the neurons as classes, their weights, and how far these can be off."""
    problem = facts.problem
    found = facts.optimal_set
    if isinstance(found, BallSet) and not found.split:
        return found.classes, found.masses, found.mass_error
    if isinstance(found, BallSet):
        return _merged(problem, found.classes, found.split, found.split_error)
    if not isinstance(found, ExactSet):
        raise ValueError("the optimal set is not settled")
    faces = facts.faces
    classes = []
    for a, tied in enumerate(found.tied):
        shown = faces.stable[a] if faces is not None and faces.stable else None
        pattern = tied.pattern
        if problem.network is not None:  # the rows on which it is positive
            pattern = "".join("1" if dot(z, tied.v) > 0 else "0" for z in problem.network.Z)
        classes.append(shown or NeuronClass(tied.sign, pattern, tied.block))
    return tuple(classes), found.solutions[0], Fraction(0)


def _merged(
    problem: Problem, classes: tuple[NeuronClass, ...], weights: Vector, error: Fraction
) -> tuple[tuple[NeuronClass, ...], Vector, Fraction]:
    """Blocks of a network over some patterns that carry one neuron, as one class with the sum of their weights."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for a, neuron in enumerate(classes):
        groups.setdefault(tuple(class_map(problem, neuron).B().entries()), []).append(a)
    merged = list(groups.values())
    total = tuple(sum((weights[a] for a in group), Fraction(0)) for group in merged)
    return tuple(classes[group[0]] for group in merged), total, error * max(map(len, merged))
