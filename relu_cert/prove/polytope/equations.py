"""The equations of the optimal weights that the facts know: exactly, over the rationals or a field of algebraic
numbers, or with errors where the residual is enclosed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from flint import fmpq, fmpq_mat, fmpz

from relu_cert.exact import Vector, dot, norm_squared, sqrt_upper
from relu_cert.prove.algebraic.linear import Exact
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, Exactly, Facts, Unknown
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.prove.polytope.system import System, exact_system
from relu_cert.prove.split import columns, split_map
from relu_cert.rationals import column

SPARE_BITS = 8
EXACT_BITS = 128
MOST_BITS = 4096


def weight_system(facts: Facts, bits: int = MOST_BITS) -> System:
    """The equations of the optimal set that the facts know, rounded to at most so many bits where they are enclosed."""
    if isinstance(exact := facts.optimal_set, Exactly):
        residual: Exact = exact.residual
        fit = tuple(y - r for y, r in zip(facts.problem.y, residual, strict=True))
        return exact_system([one.q for one in exact.tied], fit)
    if isinstance(exact, Unknown):
        raise ValueError("the optimal set is not known")
    return _enclosed(facts, exact, bits)


def _enclosed(facts: Facts, found: BallSet, bits: int) -> System:
    """F and g of the split, or the masses alone, rounded down to a grid, finer than their errors if it may be."""
    k = len(found.classes)
    zero = Fraction(0)
    if not found.split:
        S = len(found.groups)
        shares = fmpq_mat(S, k, [int(a in group) for group in found.groups for a in range(k)])
        return _rounded(shares, found.masses, (zero,) * S, (found.mass_error,) * S, tuple(range(k)), k, bits)
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
    rounded = _rounded(
        F,
        (*found.masses, *(dot(row, facts.problem.y) for row in lift)),
        (*(zero,) * masses, *(sqrt_upper(norm_squared(row), 64) * moved for row in lift)),
        (*(found.mass_error,) * masses, *(zero,) * rows),
        found.active,
        k,
        bits,
    )
    return replace(rounded, silent=silent)


def _rounded(
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
