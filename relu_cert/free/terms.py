"""What is free in a network, and what that means for the program that is proved about.

    output-bias   f + c: the column of ones with a free coefficient
    skip          f + s.z: the inputs with free coefficients, the columns of Z without the ones that --bias appends
    biases        the last column of Z is the column of ones, and its weights are not in the norm

A constant is a neuron without weights, which free biases leave without penalty: so they bring the output bias along.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from relu_cert.errors import UsageError
from relu_cert.exact import Vector
from relu_cert.problem.problem import Problem
from relu_cert.rationals import column, first_independent, matrix_of, to_vector

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
    rows = [order[k] for k in _pivots(fmpq_mat([[B[i, k] for k in order] for i in range(B.nrows())]))]
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


def _pivots(B: fmpq_mat) -> list[int]:
    """Columns of B that are a basis of its range."""
    reduced, rank = B.rref()
    found: list[int] = []
    for i in range(rank):
        found.append(next(k for k in range(B.ncols()) if reduced[i, k]))
    return found
