"""What is free in a network, and what that means for the program that is proved about.

    output-bias   f + c: the column of ones with a free coefficient
    skip          f + s.z: the inputs with free coefficients, the columns of Z without the ones that --bias appends
    biases        the last column of Z is the column of ones, and its weights are not in the norm

A constant is a neuron without weights, which free biases leave without penalty: so they bring the output bias along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from random import Random

from flint import fmpq_mat

from relu_cert.bags import EACH
from relu_cert.data.dataset import Dataset
from relu_cert.errors import UsageError
from relu_cert.exact import Vector, column, first_independent, matrix_of, to_vector
from relu_cert.problem.problem import Problem

FREE = ("output-bias", "biases", "skip")
Free = tuple[str, ...]
DEPENDENT = "the free columns depend on each other, and so do their coefficients"
WORDS = {"output-bias": "an output bias", "biases": "biases of the first layer", "skip": "a skip connection"}


def read_free(names: str | Sequence[str] | None) -> Free:
    """The names, in order; "output-bias,skip" or a sequence of names."""
    given = [] if names is None else [part.strip() for part in names.split(",")] if isinstance(names, str) else names
    for name in given:
        if name not in FREE:
            raise UsageError(f"there is no free term {name!r}; there are {', '.join(FREE)}.")
    return tuple(name for name in FREE if name in given)


def free_text(free: Free) -> str:
    """In words what is not penalised."""
    return ", ".join(WORDS[name] for name in free)


def seen(free: Free, d: int) -> tuple[int, ...]:
    """1 for the columns of Z whose weights are in the norm, 0 for the others."""
    return (1,) * (d - 1) + (0 if "biases" in free else 1,)


def free_constant(free: Free) -> bool:
    """Whether a constant has a free coefficient."""
    return "output-bias" in free or "biases" in free


def weights_of(free: Free, w: Vector) -> Vector:
    """The part of w that the norm sees."""
    return w[:-1] if "biases" in free else w


def outputs(problem: Problem) -> tuple[Vector, ...]:
    """The columns with free coefficients."""
    columns = tuple(problem.relu.bags.pooled(column) for column in zip(*problem.relu.Z, strict=True))
    constant = (((Fraction(1),) * problem.points + problem.roots),) if free_constant(problem.free) else ()
    return (*constant, *(columns[: len(columns) - problem.appended] if "skip" in problem.free else ()))


def free_parts(problem: Problem, c: Vector) -> tuple[Fraction, Vector]:
    """The constant and the skip connection, 0 at the ones that were appended, of coefficients in the order of
    `outputs`."""
    constant = int(free_constant(problem.free))
    skip = c[constant:] + (Fraction(0),) * (problem.appended and "skip" in problem.free)
    return (c[0] if constant and c else Fraction(0)), skip


def coefficients(columns: Sequence[Vector], residual: Sequence[Fraction]) -> Vector:
    """The coefficients of least squares, exactly; 0 for columns that depend on those before them."""
    chosen, found = first_independent(columns), [Fraction(0)] * len(columns)
    if chosen:
        B = matrix_of([columns[j] for j in chosen])
        solved = to_vector((B * B.transpose()).solve(B * column(residual)))
        for j, c in zip(chosen, solved, strict=True):
            found[j] = c
    return tuple(found)


def orthogonal(columns: Sequence[Vector], theta: Vector, order: Sequence[int] | None = None) -> Vector:
    """theta, changed a little in as many rows as there are independent columns, so that it is orthogonal to them: in
    the first rows of an order that will do."""
    chosen = first_independent(columns)
    if not chosen:
        return theta
    B = matrix_of([columns[j] for j in chosen])
    order = range(len(theta)) if order is None else order
    rows = [order[k] for k in _pivots(B, order)]
    square = fmpq_mat([[B[i, k] for k in rows] for i in range(B.nrows())])
    changed = list(theta)
    for k, x in zip(rows, to_vector(square.solve(B * column(theta))), strict=True):
        changed[k] -= x
    return tuple(changed)


def combined(columns: Sequence[Vector], c: Vector, n: int) -> Vector:
    """sum c_j B_j"""
    total = [Fraction(0)] * n
    for c_j, B_j in zip(c, columns, strict=True):
        if c_j:
            total = [a + c_j * b for a, b in zip(total, B_j, strict=True)]
    return tuple(total)


def _pivots(B: fmpq_mat, order: Sequence[int]) -> list[int]:
    """The places in the order of the first columns that are a basis of the range of B, whose rows are independent; few
    are looked at, because the first will mostly do."""
    most = B.nrows()
    while True:
        reduced, rank = fmpq_mat([[B[i, k] for k in order[:most]] for i in range(B.nrows())]).rref()
        if rank == B.nrows() or most >= len(order):
            return [next(k for k in range(reduced.ncols()) if reduced[i, k]) for i in range(rank)]
        most *= 2


SMALL = 10**6  # below, squares are tried one after the other
BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def roots(rho: Fraction) -> Vector:
    """At most four positive rationals whose squares add up to rho > 0."""
    p, q = rho.numerator, rho.denominator
    return tuple(Fraction(x, q) for x in four_squares(p * q) if x)


def four_squares(n: int) -> tuple[int, ...]:
    """Integers whose squares add up to n >= 0: two of them are drawn, until what is left is a prime 4 k + 1, which is a
    sum of two (Rabin and Shallit); not where 4 divides n, so that its fours are taken out."""
    if n and n % 4 == 0:
        return tuple(2 * x for x in four_squares(n // 4))
    draw = Random(0)
    if n < SMALL:
        pairs = ((a, b) for a in range(isqrt(n), -1, -1) for b in range(isqrt(n - a * a) + 1))
    else:
        pairs = ((a, draw.randint(0, isqrt(n - a * a))) for a in iter(lambda: draw.randint(0, isqrt(n)), -1))
    for a, b in pairs:
        if (rest := _two_squares(n - a * a - b * b)) is not None:
            return tuple(sorted((a, b, *rest), reverse=True))
    raise ValueError("every natural number is a sum of four squares")


def _two_squares(n: int) -> tuple[int, int] | None:
    """Integers whose squares add up to n, where that is easy: n is small, or a prime p = 4 k + 1."""
    if n < SMALL:
        return next(((c, d) for c in range(isqrt(n) + 1) if (d := isqrt(n - c * c)) ** 2 == n - c * c), None)
    if n % 4 != 1 or any(pow(a, n - 1, n) != 1 for a in BASES):
        return None
    for a in BASES:
        i = pow(a, (n - 1) // 4, n)
        if i * i % n == n - 1:  # a square root of -1: Euclid stops at the two squares
            c, d = n, i
            while d * d > n:
                c, d = d, c % d
            return (d, c % d) if d * d + (c % d) ** 2 == n else None
    return None


def with_zero_rows(data: Dataset, a: Vector) -> Dataset:
    """The data with a row of zeros, or an empty bag, and targets 0, for every entry."""
    Z, bags = data.Z, data.bags.and_empty(len(a))
    if bags is EACH:
        Z = (*Z, *((Fraction(0),) * data.d,) * len(a))
    return replace(data, Z=Z, bags=bags, y=(*data.y, *(Fraction(0),) * (len(a) * data.targets)))
