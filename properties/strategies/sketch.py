"""Blocks drawn as sketches, which know nothing of the problem, and fitted to its residual afterwards.

What is drawn does not depend on what was drawn before: vectors have as many entries as the largest problem needs, and
the fit uses the first of them. So a failing instance loses rows, blocks, columns and constraints one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from properties.exact.linalg import Matrix, Vector, add, combine, dot, norm2, scale, sub, unit
from properties.exact.problem import Block
from properties.strategies.numbers import points, several, stereographic, vector

Column = tuple[Vector, bool, int]
PLACES = ("new", "mean", "same", "new", "mean")


@dataclass(frozen=True)
class Sketch:
    """One block: its size, its direction (t and a sign), where its output lies, its cone, the rest of X, a weight."""

    size: int
    t: Vector
    minus: bool
    place: str
    p: Vector
    cone: tuple[Column, ...]
    free: Matrix
    weight: Fraction

    @property
    def direction(self) -> Vector:
        """A rational unit vector."""
        return stereographic(self.t[: self.size - 1], self.minus)


@cache
def sketches(
    n: int,
    weights: tuple[Fraction, ...],
    *,
    min_size: int = 1,
    max_size: int = 3,
    columns: int = 2,
    places: tuple[str, ...] = PLACES,
) -> SearchStrategy[Sketch]:
    """Blocks for at most n rows with up to so many columns in the cone; `weights` in the order of their simplicity."""
    column = st.tuples(vector(max_size, 2), st.booleans(), st.integers(0, 2))
    cone = several(column, 0, columns) if columns else st.just(())
    return st.one_of(
        [
            st.builds(
                Sketch,
                st.just(size),
                points(max_size - 1, 2, 2),
                st.booleans(),
                st.sampled_from(places),
                vector(n, 2),
                cone,
                st.tuples(*[vector(n, 2)] * (size if size > 1 else 0)),
                st.sampled_from(weights),
            )
            for size in range(min_size, max_size + 1)
        ]
    )


def orthogonal_to(r: Vector, g: Vector) -> Vector:
    """g without its part along r."""
    return sub(g, scale(dot(g, r) / norm2(r), r))


def first(n: int, entries: Vector) -> Vector:
    """The first n entries, or e_1 if they are all zero."""
    r = entries[:n]
    return r if any(r) else unit(n, 0)


def output(sketch: Sketch, r: Vector, before: Sequence[tuple[Fraction, Vector]] = ()) -> Vector:
    """The part p of X_b v orthogonal to r: new, the last one again, or the mean of the first and the last.

    The mean is by their weights; where these are positive, such a block can take the place of both.
    """
    if sketch.place == "same" and before:
        return before[-1][1]
    if sketch.place == "mean" and len(before) > 1:
        (s, p), (t, q) = before[0], before[-1]
        part = s / (s + t) if s + t else Fraction(1, 2)
        return add(scale(part, p), scale(1 - part, q))
    return orthogonal_to(r, sketch.p[: len(r)])


def fitted(sketch: Sketch, r: Vector, v: Vector, p: Vector, tight: bool = False) -> Block:
    """X_b and K_b with X_b'r = v + K rho, rho >= 0, v.K rho = 0 and, where v is not zero, X_b v = |v|^2 r/|r|^2 + p.

    `tight` makes every column of K orthogonal to v, with a positive multiplier.
    """
    K, rho = _cone(sketch, v, tight)
    return fitted_in_cone(sketch, r, v, p, K, rho)


def fitted_in_cone(sketch: Sketch, r: Vector, v: Vector, p: Vector, K: tuple[Vector, ...], rho: Vector) -> Block:
    """The same for given constraints and multipliers."""
    c = add(v, combine(rho, K, len(v)))
    s, n = norm2(v), len(r)
    free = [orthogonal_to(r, g[:n]) for g in sketch.free] or [(Fraction(0),) * n]
    drift = combine(v, free, n)
    columns = []
    for cj, vj, g in zip(c, v, free, strict=True):
        column = add(scale(cj / norm2(r), r), g)
        if s:  # N = p v'/|v|^2 + G (I - v v'/|v|^2)
            column = add(column, scale(vj / s, sub(p, drift)))
        columns.append(column)
    return Block(tuple(zip(*columns, strict=True)), K)


def _cone(sketch: Sketch, v: Vector, tight: bool) -> tuple[tuple[Vector, ...], Vector]:
    """Columns k with k.v <= 0 and multipliers rho >= 0 that are zero where k.v < 0."""
    columns, rho = [], []
    s = norm2(v)
    for entries, aside, multiplier in sketch.cone:
        k = entries[: len(v)]
        if s and (tight or (aside and len(v) > 1)):
            k = sub(k, scale(dot(k, v) / s, v))
        if dot(k, v) > 0:
            k = scale(-1, k)
        columns.append(k)
        rho.append(Fraction(max(multiplier, int(tight)) if dot(k, v) == 0 else 0))
    return tuple(columns), tuple(rho)
