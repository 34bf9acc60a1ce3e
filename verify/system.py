"""Computing with the equations F alpha = g of the weights of all solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpz

from verify.bounds import fraction, matrix, rational
from verify.solutions import System
from verify.text import Vector

MOST_BITS = 4096


def exact_system(outputs: Sequence[Vector], fit: Vector) -> System:
    """sum_a alpha_a q_a = fit as independent rows: the reduced echelon form of [Q | fit]."""
    k = len(outputs)
    columns = [*outputs, fit]
    reduced, rank = matrix(zip(*columns, strict=True), k + 1).rref()
    rows = reduced.tolist()[:rank]
    F = fmpq_mat(rank, k, [x for row in rows for x in row[:k]])
    zero = (Fraction(0),) * rank
    return System(F, tuple(fraction(row[k]) for row in rows), zero, zero, tuple(range(k)), k, {}, exact=True)


def restricted(system: System, columns: tuple[int, ...]) -> System:
    """An exact system in the weights of some classes, where all others are known to be 0."""
    rows = list(zip(*system.F.tolist(), strict=True))
    short = exact_system([tuple(fraction(fmpq(x)) for x in rows[a]) for a in columns], system.g)
    return replace(short, names=columns, total=system.total)


def on_grid(system: System, bits: int) -> System:
    """F and g rounded down to multiples of 2^-bits, which is added to the errors: short numbers for the same set."""
    unit = Fraction(1, 1 << bits)
    entries = [fmpq(floored(fraction(x), bits), fmpz(1) << bits) for x in system.F.entries()]
    return replace(
        system,
        F=fmpq_mat(system.F.nrows(), system.F.ncols(), entries),
        g=tuple(Fraction(floored(x, bits), 1 << bits) for x in system.g),
        F_error=tuple(e + unit for e in system.F_error),
        g_error=tuple(e + unit for e in system.g_error),
    )


def floored(x: Fraction, bits: int) -> int:
    """floor(2^bits x)"""
    return (x.numerator << bits) // x.denominator


def chosen(system: System, columns: Sequence[int]) -> fmpq_mat:
    """The given columns of F."""
    width, entries = system.F.ncols(), system.F.entries()
    return fmpq_mat(system.rows, len(columns), [entries[l * width + a] for l in range(system.rows) for a in columns])


def tableau(system: System, basis: Sequence[int]) -> tuple[list[list[fmpq]] | None, list[list[fmpq]]]:
    """F_B^-1 [g | F] and F_B^-1, row by row; None if F_B, which has as many columns as rows, is singular."""
    try:
        inverse = chosen(system, basis).inv()
    except ZeroDivisionError:
        return None, []
    g = fmpq_mat(system.rows, 1, [rational(x) for x in system.g])
    solution, rest = (inverse * g).tolist(), (inverse * system.F).tolist()
    return [[*x, *row] for x, row in zip(solution, rest, strict=True)], inverse.tolist()
