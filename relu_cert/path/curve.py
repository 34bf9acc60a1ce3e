"""The curve: lambda, objective and neurons at points of the pieces, read off their proved paths."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.exact import dot, norm_squared
from relu_cert.path.model import Cover, Piece
from relu_cert.path.tube import enclose
from relu_cert.problem.model import Problem
from relu_cert.prove.classes import class_map
from relu_cert.prove.definite import floats as to_floats

TAUS = (Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-1, 2), Fraction(-1))  # tau; lambda ascends


@dataclass(frozen=True)
class CurveNeuron:
    """A neuron at one lambda: |w| = alpha lambda and its unit direction, about; `block` for direct problems."""

    sign: int
    pattern: str | None
    block: int | None
    weight: float
    direction: tuple[float, ...]


@dataclass(frozen=True)
class Sample:
    """One lambda of a piece: lower <= p* <= upper exactly; the neurons are near the optimal ones (within the tube)."""

    lam: Fraction
    lower: Fraction
    upper: Fraction
    neurons: tuple[CurveNeuron, ...]
    piece: int


def samples(problem: Problem, found: Cover) -> list[Sample]:
    """Samples of all smooth pieces, lambda ascending."""
    return [sample for i, piece in enumerate(found.pieces) if len(piece.s) > 1 for sample in _of(problem, piece, i)]


def _of(problem: Problem, piece: Piece, number: int) -> list[Sample]:
    """The value is lambda^2 (eta y.s - |s|^2/2), at most lambda^2 R^2/2 below p*."""
    maps = [class_map(problem, neuron) for neuron in piece.classes]
    tube = enclose(problem, piece, maps)
    B = [to_floats(one.X * one.P) for one in maps]
    result = []
    for tau in TAUS:
        eta = piece.center + piece.half_width * tau
        lam = 1 / eta
        s = tuple(sum((x * tau**j for j, x in enumerate(c)), Fraction(0)) for c in zip(*piece.s, strict=True))
        alpha = [sum((x * tau**j for j, x in enumerate(row)), Fraction(0)) for row in piece.weights]
        lower = lam**2 * (eta * dot(problem.y, s) - norm_squared(s) / 2)
        floats = np.array([float(x) for x in s])
        neurons = []
        for neuron, weight, B_a in zip(piece.classes, alpha, B, strict=True):
            if weight:
                v = neuron.sign * (B_a.T @ floats)
                unit = v / max(float(np.linalg.norm(v)), 1e-300)
                neurons.append(
                    CurveNeuron(neuron.sign, neuron.pattern, neuron.block, float(weight * lam), tuple(unit.tolist()))
                )
        result.append(Sample(lam, lower, lower + lam**2 * tube.R**2 / 2, tuple(neurons), number))
    return result
