"""The leaf of the producer in integers: the same form as the checker's, and an upper bound of true values."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from relu_cert.cover.lines import lines_of, row_space
from relu_cert.outputs.bound import bound, least
from relu_cert.outputs.build import Unproved, build, nonnegative_part, sign_cones
from relu_cert.outputs.descent import Descent
from relu_cert.outputs.exact import Pull, definite, pull_of
from tests.outputs.data import drawn
from verify.outputs.check import shortened
from verify.outputs.descent import Cone as CheckedCone
from verify.outputs.descent import Table
from verify.outputs.forms import Crossing, form
from verify.outputs.rounded import Weights as CheckedWeights

SPECIAL = {
    "zero rows": [[0, 0, 0], [1, 2, 0], [0, 0, 0], [3, -1, 1]],
    "antipodal rows": [[1, 2, 1], [-1, -2, -1], [2, 4, 2], [0, 1, -1], [-3, 3, -3]],
    "one line": [[2, 1, 0], [4, 2, 0], [-2, -1, 0]],
}


@pytest.mark.parametrize("name", [*SPECIAL, "drawn"])
def test_both_programs_have_one_form(name: str) -> None:
    """Entry by entry, for random cones and shares, also with merged lines."""
    if name == "drawn":
        Z, Y = drawn(3, 30, 3, 2)
    else:
        Z = tuple(tuple(map(Fraction, row)) for row in SPECIAL[name])
        Y = tuple((Fraction(k), Fraction(3 - k, 7)) for k in range(len(Z)))
    pull = pull_of(lines_of(Z), Y, Fraction(5, 3))
    descent = Descent(pull)
    for seed in range(30):
        r = random.Random(seed)
        cone = [tuple(r.randint(-9, 9) for _ in range(3)) for _ in range(3)]
        if any(not any(g) for g in cone):
            continue
        seen = descent.root(cone)
        crossing = seen.lines.tolist()
        shares = [r.randint(0, 255) for _ in crossing]
        heights = [[dot(pull.lines.rows[c], g) for g in cone] for c in crossing]
        given = Crossing([pull.W[c] for c in crossing], [pull.lengths[c] for c in crossing], heights, shares, 255)
        gram = [[dot(g, h) for h in cone] for g in cone]
        assert descent.form(seen, np.array(shares, dtype=object), 255) == form(
            pull.level, gram, [value(pull, g) for g in cone], given
        )


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


def value(pull: Pull, u: Sequence[int]) -> list[int]:
    """M0'u + sum W_c (p_c.u)_+"""
    F = [dot(column, u) for column in zip(*pull.M0, strict=True)]
    for p, w in zip(pull.lines.rows, pull.W, strict=True):
        F = [f + max(dot(p, u), 0) * x for f, x in zip(F, w, strict=True)]
    return F


@pytest.mark.parametrize("bits", [0, 12, 30])
def test_cones_further_down_and_short_numbers(bits: int) -> None:
    """A child knows what a root would, and its form in 64-bit integers is nowhere more than the exact one, in both
    programs the same, and nearly the same where numbers are long."""
    Z, Y = drawn(bits, 90, 3, 2)
    pull = pull_of(lines_of(Z), tuple(tuple(x / 7 for x in y) for y in Y), Fraction(9))
    descent, tried = Descent(pull), 0
    for seed in range(20):
        r = random.Random(seed)
        g, h, other = ([(r.randint(-9, 9) << bits) + r.randint(0, 5) for _ in range(3)] for _ in range(3))
        middle = tuple(2 * x + y for x, y in zip(g, h, strict=True))
        cone = descent.root([tuple(g), tuple(h), tuple(other)])
        child = descent.child(cone, 1, middle, descent.heights(cone.lines, middle))
        fresh = descent.root([tuple(g), middle, tuple(other)])
        assert child.lines.tolist() == fresh.lines.tolist() and (child.on == fresh.on).all()
        for whole in (1, 255):
            kinked = whole > 1 and bool(seed % 2)  # then kappa counts, which the short form leaves out
            shares = [r.randint(0, whole) if kinked else r.choice([0, whole]) for _ in fresh.on]
            whole_shares = np.array(shares, dtype=np.int64)
            exact = descent.form(child, whole_shares, whole)
            assert exact == descent.form(fresh, whole_shares, whole)
            below = descent.below(child, whole_shares, whole)
            if below is None:
                continue
            tried += 1
            table = Table.of(pull.lines.rows, pull.W, pull.M0)
            theirs = shortened(
                table,
                CheckedWeights.of(table.W, pull.lengths),
                (pull.level, child.gram),
                CheckedCone(child.generators, child.lines, child.heights, child.linear),
                whole_shares,
                whole,
            )
            assert theirs == below
            if not kinked:
                assert all(x <= y for rows in zip(below, exact, strict=True) for x, y in zip(*rows, strict=True))
            for _ in range(20):
                c = [r.randint(0, 9) for _ in range(3)]
                u = [dot(c, column) for column in zip(*child.generators, strict=True)]
                room = 2 * whole**2 * (pull.level * dot(u, u) - dot(F := value(pull, u), F))
                assert dot(c, [dot(row, c) for row in below]) <= room
    assert tried > 10


@pytest.mark.parametrize("name", [*SPECIAL, "drawn"])
def test_lines_and_linear_part_give_the_true_value(name: str) -> None:
    """Theta'(Zu)_+ row by row is M0'u + sum W_c (p_c.u)_+ over the lines."""
    Z, Y = drawn(5, 12, 3, 2)
    if name != "drawn":
        Z = tuple(tuple(map(Fraction, row)) for row in SPECIAL[name])
        Y = Y[: len(Z)]
    pull = pull_of(lines_of(Z), Y, Fraction(1))
    for seed in range(50):
        r = random.Random(seed)
        u = tuple(r.randint(-9, 9) for _ in range(3))
        F = [Fraction(0), Fraction(0)]
        for z, y in zip(Z, Y, strict=True):
            h = max(sum((a * b for a, b in zip(z, u, strict=True)), Fraction(0)), Fraction(0))
            F = [f + h * t for f, t in zip(F, y, strict=True)]
        assert value(pull, u) == [f * pull.unit for f in F]


def test_floats_and_integers_have_one_bound() -> None:
    """The compiled bound is the exact form up to rounding."""
    Z, Y = drawn(7, 40, 3, 2)
    Y = tuple(tuple(x + Fraction(1, 2**60) for x in row) for row in Y)  # so that lengths, rounded up, have many digits
    pull = pull_of(lines_of(Z), Y, Fraction(9))
    descent, (P, W, M0) = Descent(pull), pull.floats
    r = random.Random(0)
    for _ in range(20):
        cone = [tuple(r.randint(-9, 9) for _ in range(3)) for _ in range(3)]
        seen = descent.root(cone)
        crossing = seen.lines.tolist()
        shares = [r.randint(0, 255) for _ in crossing]
        G = np.array(cone, dtype=float)
        heights = G @ P.T
        on = [c for c in range(len(P)) if heights[:, c].min() > -1e-12]
        lin = G @ M0 + heights[:, on] @ W[on]
        m, lengths = len(crossing), np.linalg.norm(W, axis=1)
        V, index = np.ascontiguousarray(heights[:, crossing]), np.array(crossing, dtype=np.int64)
        B = np.empty((3, 3))
        s = np.array(shares) / 255
        bound(V, m, lin, W, lengths, index, s, np.empty((3, 2)), np.empty((m, 3)), np.empty((m, 3)), B)
        exact = descent.form(seen, np.array(shares), 255)
        size = 2 * 255**2 * pull.level
        assert np.allclose(G @ G.T - B, [[x / size for x in row] for row in exact], rtol=1e-9, atol=1e-9)


def test_a_nonnegative_part_is_found_where_the_least_value_is_positive() -> None:
    """Q - N is definite, N has no negative entry and no diagonal."""
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((4, 4))
        Q = A @ A.T + rng.uniform(0, 2, (4, 4))
        Q = (Q + Q.T) / 2
        N = nonnegative_part(Q)
        if N is not None:
            found += 1
            assert N.min() >= 0 and not N.diagonal().any() and np.linalg.eigvalsh(Q - N)[0] > 0
    assert found > 50


def test_the_least_value_is_a_lower_bound_on_the_simplex() -> None:
    """c'Qc is at least what is said at all points that are tried."""
    room = [np.empty((3, 3)) for _ in range(3)]
    for seed in range(100):
        rng = np.random.default_rng(seed)
        Q = rng.standard_normal((3, 3))
        Q = Q + Q.T
        t, x, free, index = np.empty(3), np.empty(3), np.empty(3, np.int64), np.empty(3, np.int64)
        low = least(Q, t, *room, x, free, index, np.ones(3))
        C = rng.dirichlet(np.ones(3), 500)
        assert ((C @ Q) * C).sum(axis=1).min() >= low - 1e-9


def test_a_dual_point_that_is_too_long_is_not_proved() -> None:
    """A lambda below the largest |F(u)| / |u| makes the tree end with a violator."""
    Z, Y = drawn(11, 15, 2, 2)
    lines = lines_of(Z)
    pull = pull_of(lines, Y, Fraction(1, 100))
    with pytest.raises(Unproved) as why:
        build(pull, row_space(lines), (), lambda: False)
    u = why.value.violators[0]
    F = np.maximum(np.array(Z, dtype=float) @ u, 0) @ np.array(Y, dtype=float)
    assert np.linalg.norm(F) > 0.1 * np.linalg.norm(u)


def test_sign_cones_are_all_orthants() -> None:
    """2^d cones, in the order of the certificate."""
    assert sign_cones(((1, 0), (0, 2))).tolist() == [
        [[-1, 0], [0, -2]],
        [[1, 0], [0, -2]],
        [[-1, 0], [0, 2]],
        [[1, 0], [0, 2]],
    ]


def test_definite_is_not_semidefinite() -> None:
    """As in the checker."""
    assert definite([[2, 1], [1, 2]]) and not definite([[1, 1], [1, 1]]) and not definite([[1, 2], [2, 1]])
