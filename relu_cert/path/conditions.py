"""The conditions under which the optimal network is differentiable, each for itself (prop:local-sol-fn, corrected).

E = A: every optimal network uses every neuron that ties. LICQ: the constraints tight at an active neuron are
independent (each hyperplane once). Strict complementarity: an active neuron that leaves its
face loses at first order; its multipliers can be chosen strictly inside their bounds. What is needed for a derivative
is E = A and faces that are stable near r*; with strict complementarity they are. LICQ is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from relu_cert.exact import Vector, dot
from relu_cert.path.tied_faces import one_sided
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import class_map, constraints, spans
from relu_cert.prove.facts import BallSet, Exactly, ExactSet, Facts, NeuronClass, UnknownSet
from relu_cert.prove.field import Exact


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
        return _exact(facts, found)
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


def _exact(facts: Facts, exact: Exactly) -> Conditions:
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
