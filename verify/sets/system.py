"""Computing with the equations F alpha = g of the weights of all solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat, fmpz

from verify.numbers.bounds import fraction, identity, rational
from verify.sets.solutions import System

MOST_BITS = 4096


def restricted(system: System, columns: tuple[int, ...]) -> System:
    """An exact system in the weights of some classes, where all others are known to be 0."""
    from verify.sets.ties import exact_system

    short = exact_system(chosen(system, (*columns, len(system.names))), len(columns))
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


def chosen(system: System, columns: Sequence[int]) -> Any:
    """The given columns of [F | g | I]."""
    lines = zip(system.F.tolist(), system.g, identity(system.rows).tolist(), strict=True)
    rows = [[*row, rational(g_l), *unit] for row, g_l, unit in lines]
    return type(system.F)(system.rows, len(columns), [row[a] for row in rows for a in columns])


def tableau(system: System, basis: Sequence[int]) -> list[list[Any]] | None:
    """F_B^-1 [g | F], where there are errors F_B^-1 [g | F | I], row by row; None if F_B, which has as many columns as
    rows, is singular."""
    size, k = system.rows, len(system.names)
    units = () if system.exact else range(k + 1, k + 1 + size)
    rows = chosen(system, (*basis, k, *range(k), *units)).rref()[0].tolist()
    return [row[size:] for row in rows] if not rows or rows[-1][size - 1] else None
