"""Subspaces L to which the residual seems to be orthogonal: proposals for the lifted proof.

Two things happen robustly, on open sets of data: Z'r* = 0 (then optimal neurons come in antipodal pairs), and
sum |a_k| r*_k = 0 over rows z_k = a_k z_c of one hyperplane that are switched together (a point that is fitted exactly,
or repeated points whose mean is: all patterns that differ only there tie). On symmetric data r*_j = r*_k or -r*_k for
points that a symmetry joins, and the neurons of one orbit tie: then e_j - e_k or e_j + e_k is in L. Floats propose;
whether r* is orthogonal to L is decided by the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from relu_cert.bags import EACH
from relu_cert.exact import Matrix, Vector, column, first_independent, matrix_of, to_vector
from relu_cert.problem.blocks import parallel_classes
from relu_cert.problem.problem import Problem

SEEMS_ZERO = 1e-6  # relative; a wrong proposal costs time, never a verdict
MOST_ROWS = 2**12  # of data in which symmetries, which join pairs of them, are looked for
SEEMS_EQUAL = 1e-12  # likewise


def proposed_lifts(problem: Problem, theta: NDArray[np.float64]) -> list[Matrix]:
    """Bases of subspaces worth trying, the plain one (no rows) first."""
    lifts: list[Matrix] = [()]
    fitted, ranges = orthogonal_rows(problem, theta, SEEMS_ZERO)
    equal = equal_entries(theta)
    for proposal in (fitted, ranges, (*fitted, *ranges), equal, (*equal, *fitted), (*equal, *fitted, *ranges)):
        basis = independent(proposal)
        if basis and basis not in lifts:
            lifts.append(basis)
    return lifts


def orthogonal_rows(problem: Problem, theta: NDArray[np.float64], seems: float) -> tuple[Matrix, Matrix]:
    """Vectors to which theta seems to be orthogonal: of rows that are switched together, and the columns of Z."""
    size = float(np.linalg.norm(theta))
    fitted: list[Vector] = []
    ranges: Matrix = ()
    rows_of_Z, bags = data_of(problem), EACH if problem.network is None else problem.network.bags
    if rows_of_Z:
        t, little = bags.spread_floats(theta), seems * size * bags.widest
        for rows in parallel_classes(rows_of_Z).values():
            for together in ([k for k, a in rows.items() if a > 0], [k for k, a in rows.items() if a < 0], [*rows]):
                if together and abs(sum(abs(float(rows[k])) * t[k] for k in together)) <= little:
                    fitted.append(bags.pooled(_entries({k: abs(rows[k]) for k in together}, len(rows_of_Z))))
        Z = np.array([[float(x) for x in z] for z in rows_of_Z])
        if np.linalg.norm(Z.T @ t) <= seems * size * np.linalg.norm(bags.pooled_floats(Z)):
            ranges = tuple(bags.pooled(column) for column in zip(*rows_of_Z, strict=True))
    return tuple(dict.fromkeys(fitted)), ranges


def _entries(entries: Mapping[int, Fraction], n: int) -> Vector:
    """The vector with these entries, and 0 elsewhere."""
    return tuple(entries.get(k, Fraction(0)) for k in range(n))


def equal_entries(theta: NDArray[np.float64], seems: float = SEEMS_EQUAL) -> Matrix:
    """e_j - e_k or e_j + e_k for entries that seem to be equal or opposite: those that a symmetry of the data joins."""
    size = float(np.abs(theta).max(initial=0.0))
    if len(theta) > MOST_ROWS or (np.diff(np.sort(np.abs(theta))) > seems * size).all():
        return ()  # most data have no symmetry
    rows: list[Vector] = []
    for k, x in enumerate(theta):
        for j, z in enumerate(theta[:k]):
            sign = next((s for s in (1, -1) if abs(x - s * z) <= seems * size), 0)
            if sign and abs(x) > SEEMS_ZERO * size:
                rows.append(tuple(Fraction(-sign * (i == j) + (i == k)) for i in range(len(theta))))
                break
    return tuple(rows)


def data_of(problem: Problem) -> Matrix:
    """Z of a network, over all patterns or over some; no rows for a direct problem."""
    source = problem.source
    return () if source is None else source.Z


def independent(rows: Matrix) -> Matrix:
    """A basis of the span, taken from the rows."""
    return tuple(rows[j] for j in first_independent(rows))


def orthogonal_part(theta: Vector, lift: Matrix) -> Vector:
    """theta, moved in as few entries as L has dimensions, so that it is orthogonal to L, exactly.

    A projection would move it less, but make every entry as long as the determinant of the basis: the entries that are
    moved are those where the basis is largest (pivots of its elimination).
    """
    if not lift:
        return theta
    _, _, pivots = qr(np.array([[float(x) for x in row] for row in lift]), mode="economic", pivoting=True)
    places = sorted(int(k) for k in pivots[: len(lift)])
    L = matrix_of(lift)
    inside = matrix_of([[row[k] for k in places] for row in lift])
    moved = dict(zip(places, to_vector(inside.solve(L * column(theta))), strict=True))
    return tuple(x - moved.get(k, 0) for k, x in enumerate(theta))
