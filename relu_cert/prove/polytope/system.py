"""The equations of the optimal weights: F alpha = g, over the rationals or a field, exactly or with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz
from numpy.typing import NDArray

from relu_cert.exact import Vector, column, dot, norm_squared, sqrt_upper, to_fmpq, to_fraction
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, Exactly, Facts, UnknownSet
from relu_cert.prove.field import Exact, matrix, reduced_rows
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.prove.projection import floats
from relu_cert.prove.split import columns, split_map

Scalar = Any  # fmpq, or a Number of a field: exact numbers that mix with rationals
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Basic:
    """A basis B of b columns: T = F_B^-1 F by its rows and x = F_B^-1 g, with the errors

        |x* - x| <= dx = (max_i sum_l |F_B^-1|_il g_error_l + h |x|_1) / left
        |T_j* - T_j| <= h (1 + |T_j|_1) / left

    of the true ones, h = max_i sum_l |F_B^-1|_il F_error_l and left = 1 - b h. If left <= 0 nothing is known of them.
    """

    rows: list[list[Scalar]]
    x: list[Scalar]
    dx: Scalar
    h: Scalar
    left: Scalar


@dataclass(frozen=True)
class System:
    """{alpha >= 0 : F alpha = g}; column a belongs to the neuron names[a] of `total`.

    Entries of row l of F are within F_error[l], g[l] within g_error[l] of the truth. `silent` are rows in which g is
    exactly 0, with the columns where F is: a target 0 that is fitted exactly, and the gates that are closed there.
    """

    F: Any  # a matrix of flint, or over a field
    g: Exact
    F_error: Vector
    g_error: Vector
    names: tuple[int, ...]
    total: int
    bits: int
    silent: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rank of F."""
        return len(self.g)

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded."""
        return self.bits == 0

    @property
    def rational(self) -> bool:
        """Whether F and g are, and not of a field."""
        return isinstance(self.F, fmpq_mat)

    def equations(self) -> list[list[Scalar]]:
        """The rows of [F | g]."""
        right = [to_fmpq(x) for x in self.g] if self.rational else self.g
        return [[*row, x] for row, x in zip(self.F.tolist(), right, strict=True)]

    def floats(self) -> tuple[Floats, Floats, Floats]:
        """F and g in floats, each row divided by its largest entry of F, and these."""
        F, g = floats(self.F), np.array([float(x) for x in self.g])
        scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
        return F / scale[:, None], g / scale, scale

    def on(self, chosen: Sequence[int]) -> fmpq_mat:
        """The given columns of F."""
        return columns(self.F, chosen) if chosen and self.rows else fmpq_mat(self.rows, len(chosen))

    def basic(self, basis: Sequence[int]) -> Basic:
        """What is known of a basis; ZeroDivisionError if its columns are dependent."""
        size, k, zero = len(basis), len(self.names), fmpq(0)
        units = [[fmpq(int(i == l)) for l in range(0 if self.exact else size)] for i in range(size)]
        rows = [[*(row[a] for a in basis), *row, *unit] for row, unit in zip(self.equations(), units, strict=True)]
        found, pivots = reduced_rows(rows)
        if pivots != list(range(size)):
            raise ZeroDivisionError
        T, x = [row[size : size + k] for row in found], [row[size + k] for row in found]
        if self.exact:
            return Basic(T, x, zero, zero, fmpq(1))
        inverse = [row[size + k + 1 :] for row in found]
        h, moved = (_largest(inverse, errors) for errors in (self.F_error, self.g_error))
        left = 1 - size * h
        return Basic(T, x, (moved + h * sum(map(abs, x), zero)) / left if left > 0 else zero, h, left)

    def restricted(self, chosen: tuple[int, ...]) -> System:
        """An exact system in the weights of some neurons, where all others are known to be 0."""
        rows = [[*(row[a] for a in chosen), row[-1]] for row in self.equations()]
        return replace(_reduced_system(rows, len(chosen)), names=chosen, total=self.total)

    def rank(self, chosen: Sequence[int]) -> int:
        """The rank of the given columns of F."""
        return len(reduced_rows([[row[a] for a in chosen] for row in self.F.tolist()])[1])


def exact_system(outputs: Sequence[Exact], fit: Exact) -> System:
    """The reduced echelon form of [Q | fit]: Fractions, or numbers of a field."""
    rows = [[to_fmpq(x) if isinstance(x, Fraction) else x for x in row] for row in zip(*outputs, fit, strict=True)]
    return _reduced_system(rows, len(outputs))


def _reduced_system(rows: list[list[Scalar]], k: int) -> System:
    """The same from the rows of [Q | fit]."""
    kept, _ = reduced_rows(rows)
    F = matrix([row[:k] for row in kept], k)
    g = tuple(to_fraction(row[k]) if isinstance(F, fmpq_mat) else row[k] for row in kept)
    zero = (Fraction(0),) * len(kept)
    return System(F, g, zero, zero, tuple(range(k)), k, 0)


def _largest(rows: Sequence[Sequence[fmpq]], errors: Vector) -> fmpq:
    """The largest of the sums sum_l |M_il| error_l over the rows i."""
    weights = [to_fmpq(e) for e in errors]
    return max((sum((abs(m) * e for m, e in zip(row, weights, strict=True)), fmpq(0)) for row in rows), default=fmpq(0))


SPARE_BITS = 8
EXACT_BITS = 128
MOST_BITS = 4096


def weight_system(facts: Facts, bits: int = MOST_BITS) -> System:
    """The equations of the optimal set that the facts know, rounded to at most so many bits where they are enclosed."""
    if isinstance(exact := facts.optimal_set, Exactly):
        residual: Exact = exact.residual
        fit = tuple(y - r for y, r in zip(facts.problem.y, residual, strict=True))
        return exact_system([one.q for one in exact.tied], fit)
    if isinstance(exact, UnknownSet):
        raise ValueError("the optimal set is not known")
    return _enclosed_system(facts, exact, bits)


def _enclosed_system(facts: Facts, found: BallSet, bits: int) -> System:
    """F and g of the split, or the masses alone, rounded down to a grid, finer than their errors if it may be."""
    k = len(found.classes)
    zero = Fraction(0)
    if not found.split:
        S = len(found.groups)
        shares = fmpq_mat(S, k, [int(a in group) for group in found.groups for a in range(k)])
        return _round_system(shares, found.masses, (zero,) * S, (found.mass_error,) * S, tuple(range(k)), k, bits)
    theta = column(facts.dual.theta)
    maps = [class_map(facts.problem, neuron) for neuron in found.classes]
    outputs = [one.output(theta).entries() for one in maps]
    lift = found.equations
    Q = fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    F = columns(split_map(lift, found.groups, Q, found.mixed), found.active)
    moved = largest_squared(facts.problem) * sqrt_upper(facts.fit.radius_squared, 64)
    masses, rows = len(found.masses), len(lift)
    silent = {
        masses + l: frozenset(
            i for i, a in enumerate(found.active) if not any((maps[a].B().transpose() * column(row)).entries())
        )
        for l, row in enumerate(lift)
        if not dot(row, facts.problem.y)
    }
    rounded = _round_system(
        F,
        (*found.masses, *(dot(row, facts.problem.y) for row in lift)),
        (*(zero,) * masses, *(sqrt_upper(norm_squared(row), 64) * moved for row in lift)),
        (*(found.mass_error,) * masses, *(zero,) * rows),
        found.active,
        k,
        bits,
    )
    return replace(rounded, silent=silent)


def _round_system(
    F: fmpq_mat, g: Vector, F_error: Vector, g_error: Vector, names: tuple[int, ...], total: int, most: int
) -> System:
    """The same on a grid of 2^-bits, which is added to the errors."""
    errors = [e for e in (*F_error, *g_error) if e]
    bits = min(most, EXACT_BITS if not errors else SPARE_BITS + ceil(1 / min(errors)).bit_length())
    unit, scale = Fraction(1, 1 << bits), fmpz(1) << bits
    entries = [fmpq((x.p << bits) // x.q, scale) for x in F.entries()]
    return System(
        fmpq_mat(F.nrows(), F.ncols(), entries),
        tuple(Fraction((x.numerator << bits) // x.denominator, 1 << bits) for x in g),
        tuple(e + unit for e in F_error),
        tuple(e + unit for e in g_error),
        names,
        total,
        bits,
    )
