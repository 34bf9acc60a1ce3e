"""Small parts at their edges: rows of leaders, roots, packed signs, counts, texts, tables, subspaces and rules."""

from __future__ import annotations

import ast
import gzip
import io
import json
import warnings
import zipfile
from dataclasses import replace
from fractions import Fraction as F
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from tests.verify.oracle.brute import mat, vec
from tests.verify.test_trusted import ROOT
from verify import BadData, Declined, Rejected, check, trusted
from verify.claims.single import one_fit
from verify.errors import bounded
from verify.facts import DUAL, FIT, PATTERNS, PRIMAL, VALUE, Fact, Facts, proved
from verify.network import file
from verify.numbers.count import count_sets
from verify.numbers.patterns import Patterns, integer_vectors
from verify.numbers.polynomials import add, at_least, at_most, by_powers, lower, multiply, never_negative
from verify.numbers.restricted import Subspaces, merged
from verify.numbers.roots import can_vanish, classes, sign_of_sum, signed_sums, splits
from verify.numbers.signs import Signs, field_width
from verify.optimal import leaders
from verify.optimal.leaders import (
    NO_TIES,
    Rows,
    check_definite,
    check_leaders,
    combined,
    read_rows,
    read_triangles,
    semidefinite,
    spanning,
)
from verify.problem.blocks import check_reached
from verify.problem.data import compare, nearest_double, number, read_direct, unzipped
from verify.problem.input import Input, read_input
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.rules import check_facts, extended
from verify.rules.fit import Fit, check_fit
from verify.rules.ggp import blocks_of, check_position, check_supports
from verify.rules.logistic.value import (
    ONE,
    alternating,
    check_logistic,
    entropy_of,
    exp_of_minus,
    log_of,
    loss_of,
    twice_artanh,
)
from verify.rules.patterns import check_circuit, dependent_flats
from verify.rules.primal import Primal, check_primal
from verify.rules.value import Dual, Value
from verify.text import Limits, Node, integer, show, within_limits
from verify.trusted import closure, grounds, loaded_by, needs, told, ways

NODE = Node(None, None, "here")
ZERO = F(0)


# ------------------------------------------------------------------------------------------------ leaders


def test_squares_of_normals_have_the_length_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """((c_i - c_j).u)^2 <= |c_i - c_j|^2 |u|^2, of the centres of this cell and of that number."""
    data, seen = read_rows(mat([[1, 0], [0, 1]]), False, [[3, 0], [0, 5], [7, 7]]), []
    monkeypatch.setattr(leaders, "check_definite", lambda *arguments: seen.extend(arguments[3]))
    empty = {"nu": "0", "rows": [], "p": "", "q": "", "leaders": []}
    cell = Node({**empty, "normals": [0, 2], "excess": "0 0", "squares": "4 6"})
    leaders.check_cell(data, [0, 0], F(1), 3, 1, cell)
    assert seen == [(4, 9 + 25, [-3, 5]), (6, 49 + 4, [-7, -2])]


def test_loads_of_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rows carry: theta, |p| + q, and the weights by which leaders lean on them, all added up."""
    data, seen = read_rows(mat([[1, 0], [0, 1]]), False, [[3, 0], [0, 5]]), []
    monkeypatch.setattr(leaders, "check_definite", lambda *arguments: seen.append(arguments[1:3]))
    first = {"row": 0, "c": "7", "near": [1], "weights": "-2", "normals": [1], "normal_weights": "4"}
    second = {"row": 1, "c": "5", "near": [0], "weights": "3", "normals": [], "normal_weights": ""}
    cell = {"nu": "0", "rows": [0], "p": "-1", "q": "6", "normals": [1], "excess": "2", "squares": "0"}
    leaders.check_cell(data, [10, 20], F(1), 2, 0, Node({**cell, "leaders": [first, second]}))
    # a = 10 + 7 + 3 and 20 + 2; less -2 z_1 + 4 (c_0 - c_1) and 3 z_0; beta = theta - p, and (2 + 4) (c_0 - c_1)
    assert seen == [(([7, 5], [[20 - 12, 2 + 20], [-3, 22]]), [11 + 18, 20 - 30])]


def test_the_matrix_with_free_biases(monkeypatch: pytest.MonkeyPatch) -> None:
    """nu I - Q with no nu at the bias, kappa there and -kappa longest / q^2 elsewhere; all times 4 2^bits."""
    seen: list[Any] = []
    monkeypatch.setattr(leaders, "semidefinite", lambda M: seen.append(M) or True)
    data = Rows(2, {0: 0}, (0,), [[1, 1]], [2], [[1, 0], [0, 0]], [[1, 1]], 12)
    check_definite(data, ([], []), [3, 5], [], F(7), (2, 9), NO_TIES, NODE)
    bits = leaders.EXTRA_BITS
    assert seen == [
        [[20 << bits, -(3 << bits), -(5 << bits)], [-(3 << bits), 8 - 108 << bits, 0], [-(5 << bits), 0, 36 << bits]]
    ]


def test_the_matrix_with_tied_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaders 1 and 3 of three are tied with each other and with 1: they leave Q, and have rows of their own."""
    ties = read_triangles(Node({"corners": "0 1 3 3 3 1 0 0 0", "signs": "1 -1 -1 1 -1 -1", "weights": "5 2 3"}), 3)
    # 5: + s_1, - s_1 s_3, - s_3; 2: - s_3 s_3, + s_3 s_1, - s_3 s_1; 3: - 1 - 1 + 1
    assert ties.price == 20
    given = {(0, 0): 6, (0, 1): -5, (1, 0): -5, (1, 3): 5, (3, 1): 5, (0, 3): 5, (3, 0): 5, (3, 3): 4}
    assert {ab: x for ab, x in ties.C.items() if x} == given
    seen: list[Any] = []
    monkeypatch.setattr(leaders, "semidefinite", lambda M: seen.append(M) or True)
    data = Rows(1, {0: 0}, (0,), [[1]], [1], [[1]], [[1]])
    check_definite(data, ([8, 16, 32], [[2], [4], [6]]), [3], [], F(151, 3), (7, 0), ties, NODE)
    bits = leaders.EXTRA_BITS + 6
    expected = [[0, -3, -5, 5], [-3, 28 - 1, -2, -6], [-5, -2, 8, 5], [5, -6, 5, 36]]
    expected = [[x << bits for x in row] for row in expected]
    expected[0][0] = (292 << bits) // 3 + (6 << bits)  # 4 (151/3 - 7) - 56 - 20, rounded down
    assert seen == [expected]
    with pytest.raises(Rejected, match="17/2 more"):
        check_definite(data, ([8, 16, 32], [[2], [4], [6]]), [3], [], F(35, 2), (7, 0), ties, NODE)


def test_too_many_rows_for_a_matrix() -> None:
    """All pairs of rows are counted before there is one."""
    with pytest.raises(Declined, match="entries of a matrix"):
        read_rows(tuple((F(k), F(1)) for k in range(8193)), True, [])


def test_centres_have_no_bias() -> None:
    """With free biases the last entry of every centre is 0, and of the others any may be another number."""
    problem = Problem("relu", F(1), mat([[1, 0, 1], [0, 1, 1]]), vec(1, 1), biases=True, free=(vec(1, 1),))
    for centre, said in (("0 0 1", "0 in the place of the free biases"), ("0 1 0", "cells")):
        side = {"centres": [centre], "cells": []}
        with pytest.raises(Rejected, match=said):
            check_leaders(problem, Node({"unit": "1", "theta": "0 0", "+": side, "-": side}))


def test_many_short_rows_in_many_columns() -> None:
    """What is bounded is the number of pairs of rows."""
    Z = tuple(tuple(F(int(i == j)) for j in range(408)) for i in range(407))
    assert len(read_rows(Z, False, []).rows[0]) == 407


def test_what_is_left_of_a_matrix_is_dominant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a factor all of it is left: each diagonal entry is at least the sum of the others in its row."""
    monkeypatch.setattr(leaders, "cholesky", lambda M: [[0] * len(M) for _ in M])
    for M, good in (
        ([[3, 2], [2, 3]], True),
        ([[3, -2], [-2, 3]], True),
        ([[2, 2], [2, 2]], True),
        ([[2, 3], [3, 2]], False),
        ([[8, 3, 3], [3, 8, 6], [3, 6, 8]], False),
        ([[8, 3, 3], [3, 8, 5], [3, 5, 8]], True),
    ):
        assert semidefinite(M) is good


def test_matrices_with_a_bad_diagonal() -> None:
    """A zero or a negative number there, in a row that is not zero, is no semidefinite matrix."""
    for M, good in (
        ([[1, 0], [0, 0]], True),
        ([[1, 1], [1, 0]], False),
        ([[0, 1], [1, 5]], False),
        ([[1, 0], [0, -1]], False),
        ([[-4]], False),
        ([[0, 0], [0, 0]], True),
    ):
        assert semidefinite(M) is good


def test_rows_with_free_biases() -> None:
    """Reach: the largest distance from a row; longest: the largest row without its last column, which is all ones."""
    Z = mat([[1, 0, 1], [3, 4, 1], [1, 0, 1], [0, "1/2", 1]])
    data = read_rows(Z, True, [[9, 9, 0]])
    assert (data.q, data.place, data.names) == (2, (0, 1, 0, 2), {0: 0, 1: 1, 3: 2})
    assert data.rows == [[2, 0, 2], [6, 8, 2], [0, 1, 2], [9, 9, 0]] and data.originals == data.rows
    assert data.lengths == [80, 85, 85, 81 + 64 + 4]
    assert data.longest == 100 and data.metric == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert data.between(0, 1) == 9 + 1 + 4 and data.normal(0, 1) == [3, 1, -2]


def test_rows_in_their_own_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    """More columns than rows: products with independent rows, in the metric of these; else the rows themselves."""
    wide = read_rows(mat([[1, 2, 0], [2, 4, 0]]), False, [])
    assert (wide.rows, wide.metric, wide.lengths) == ([[5], [10]], [[5]], [5, 20]) and wide.longest is None
    square = read_rows(mat([[1, 2], [0, 3]]), False, [])
    assert (square.rows, square.metric) == ([[1, 2], [0, 3]], [[1, 0], [0, 1]])
    with_centre = read_rows(mat([[1, 2]]), False, [[1, 0]])
    assert with_centre.rows == [[1, 2], [1, 0]] and with_centre.metric == [[1, 0], [0, 1]]
    zero = read_rows(mat([[0, 0, 0]]), False, [])
    assert zero.rows == [[0, 0, 0]] and len(zero.metric) == 3
    assert spanning([[1, 0], [2, 0], [0, 1]]) == [0, 2] and spanning([[0, 0], [1, 1]]) == [1]
    monkeypatch.setattr("verify.optimal.leaders.MOST_ENTRIES", 3)
    with pytest.raises(Declined, match="entries of a matrix"):
        read_rows(mat([[1, 2, 0], [2, 5, 0]]), False, [])


def test_combinations_of_rows() -> None:
    """Of rows and, beyond these, of normals, a normal being the cell's own centre less another."""
    data = Rows(1, {0: 0, 1: 1}, (0, 1), [[1, 0], [0, 1], [5, 7], [2, 3]], [], [], [])
    assert combined(data, 0, {0: 3, 1: -4}) == [3, -4]
    assert combined(data, 0, {3: 2}) == [6, 8] and combined(data, 1, {2: 2}) == [-6, -8]
    assert combined(data, 0, {0: 1, 3: -1}) == [1 - 3, -4] and combined(data, 0, {}) == [0, 0]


def definite(c: list[int], v: Any, beta: int, lam: Any, nu: int, bent: Any = ()) -> None:
    """[[4 (lambda - nu) - sum c, -beta], [-beta, 4 nu - sum v^2 / c + sum 2 q z^2 / |z|]] on one column."""
    data = Rows(1, {}, (), [[1]], [1], [[1]], [[1]])
    check_definite(data, (c, v), [beta], list(bent), F(lam), (nu, 0), NO_TIES, NODE)


def test_definite_forms_by_hand() -> None:
    """The product of the diagonal is at least beta^2: each term on its own side."""
    for c, v, beta, lam, nu, bent in (
        ([], [], 3, 2, 1, ()),
        ([], [], 4, 3, 1, ()),
        ([4], [[1]], 3, 3, 1, ()),  # 4 (4 - 1/4) = 15
        ([4], [[2]], 3, 3, 1, ()),  # 4 (4 - 1) = 12
        ([], [], 6, 2, 1, [(4, 1, [1])]),  # 4 (4 + 8) = 48
        ([], [], 6, 2, 1, [(4, 1, [1]), (0, 1, [1]), (1, 0, [0])]),
        ([], [], 4, 2, 1, [(4, 100, [1])]),  # 4 (4 + 8/10)
    ):
        definite(c, v, beta, lam, nu, bent)
        definite(c, v, -beta, lam, nu, bent)
    for c, v, beta, lam, nu, bent in (
        ([], [], 5, 2, 1, ()),
        ([4], [[1]], 4, 3, 1, ()),
        ([4], [[2]], 4, 3, 1, ()),
        ([1], [[3]], 0, 3, 1, ()),
        ([], [], 0, 2, -1, ()),
        ([], [], 7, 2, 1, [(4, 1, [1])]),
        ([], [], 5, 2, 1, [(4, 100, [1])]),
    ):
        for sign in (1, -1):
            with pytest.raises(Rejected, match="positive semidefinite"):
                definite(c, v, sign * beta, lam, nu, bent)
    for c, lam in (([], "1/2"), ([], "999/1000"), ([5], 2)):
        with pytest.raises(Rejected, match="nu"):
            definite(c, [[1]] * len(c), 0, lam, 1)


def test_forms_are_shown_to_be_definite() -> None:
    """Diagonals above 0 where a row is not zero, and a factor."""
    big = 1 << 300
    for M, good in (
        ([[0, 0], [0, 0]], True),
        ([[big, 0], [0, 0]], True),
        ([[0, 1], [1, big]], False),
        ([[-big]], False),
        ([[big, big // 2], [big // 2, big]], True),
        ([[big, big + 1], [big + 1, big]], False),
        ([[big, -big // 2], [-big // 2, big // 5]], False),
        ([[1, 0], [0, 1 << 2000]], True),
    ):
        assert semidefinite(M) is good


def test_frames_of_leaders() -> None:
    """A unit > 0, and no centre in the place of free biases."""
    side: dict[str, Any] = {
        "centres": [],
        "cells": [{"nu": "1", "rows": [], "p": "", "q": "", "normals": [], "excess": ""}],
    }
    side["cells"][0] |= {"squares": "", "leaders": []}
    problem = Problem("relu", F(2), mat([[1]]), vec(3))
    node = {"unit": "1/2", "theta": "0", "+": side, "-": side}
    assert check_leaders(problem, Node(node)) == vec(0)
    for unit in ("0", "-1"):
        with pytest.raises(Rejected, match="a number > 0"):
            check_leaders(problem, Node({**node, "unit": unit}))
    free = Problem("relu", F(2), mat([[5, 1], [7, 1]]), vec(3, 1), free=("biases",), biases=True, outputs=(vec(1, 1),))
    for centre, good in (("1 0", True), ("0 1", False)):
        cells = [{**side["cells"][0], "kappa": "1"}]
        two = {
            "unit": "1/2",
            "theta": "0 0",
            "+": {"centres": [centre], "cells": cells},
            "-": {"centres": [], "cells": cells},
        }
        with pytest.raises(Rejected, match="semidefinite|nu" if good else "in the place of the free biases"):
            check_leaders(free, Node(two))


# ------------------------------------------------------------------------------------------------ roots, polynomials


def test_square_classes() -> None:
    """sqrt 2 and sqrt 8 are of one class, zeros of none."""
    assert classes([2, 3, 8, 0, 12]) == [[(0, 2), (2, 4)], [(1, 3), (4, 6)]] and classes([0]) == []
    assert signed_sums([]) == {0} and signed_sums([1, 2]) == {3, 1, -1, -3}
    assert splits([1, 2, 3]) and not splits([1, 2, 4]) and splits([]) and not splits([5])
    assert can_vanish([1, 4, 9]) and not can_vanish([1, 4, 8]) and can_vanish([0, 0]) and not can_vanish([1])
    assert can_vanish([1] * 33) is None and can_vanish([*[1] * 33, 2]) is False and can_vanish([1] * 32)
    for signs, radicands, sign in (
        ([1, -1], [2, 3], -1),
        ([1, 1, -1], [2, 3, 10], -1),
        ([1, 1, -1], [2, 3, 9], 1),
        ([1, -1], [10**60 + 1, 10**60], 1),
        ([-1, 1], [10**60 + 1, 10**60], -1),
        ([1, 1, -1], [2, 8, 18], 0),
        ([1, -1, 1], [0, 0, 0], 0),
        ([1, 1, -1, -1], [10**80, 10**80 + 2, 10**80 + 1, 10**80 + 1], -1),
    ):
        assert sign_of_sum(signs, radicands) == sign


def test_bounds_of_polynomials() -> None:
    """By powers, by Bernstein, whichever is better; products and sums of any degrees."""
    assert [by_powers(c) for c in ([fmpq(1), fmpq(-2)], [fmpq(1), fmpq(0), fmpq(3)], [fmpq(1), fmpq(0), fmpq(-3)])] == [
        -1,
        1,
        -2,
    ]
    assert at_least(vec(1, 2)) == -1 and at_most(vec(1, 2)) == 3 and at_least(vec(5)) == 5
    assert at_least(vec(1, 2, 1)) == 0 and by_powers([fmpq(1), fmpq(2), fmpq(1)]) == -1  # (1 + tau)^2
    assert lower([fmpq(1), fmpq(2), fmpq(1)]) == 0
    assert at_least(vec(0, 0, 1)) == 0  # Bernstein alone says -1
    assert never_negative(vec(1, 2, 1)) and never_negative(vec(0, 0, 1)) and not never_negative(vec(0, 1))
    assert list(multiply(vec(1, 2), vec(3, 4, 5))) == [3, 10, 13, 10] and list(add(vec(1), vec(2, 3))) == [3, 3]


# ------------------------------------------------------------------------------------------------ signs, counts


def test_widths_of_packed_fields() -> None:
    """|x| <= 2^(8 w - 1) - 1 in w bytes; beyond eight bytes powers of two."""
    for bound, width in (
        (0, 1),
        (127, 1),
        (128, 2),
        (2**15 - 1, 2),
        (2**15, 3),
        (2**63 - 1, 8),
        (2**63, 16),
        (2**71, 16),
    ):
        assert field_width(bound) == width
    assert field_width(2**127 - 1) == 16 and field_width(2**127) == 32


@pytest.mark.parametrize("size", [1, 127, 128, 2**62, 2**63, 2**64, 2**130])
def test_signs_of_long_rows(size: int) -> None:
    """On and zero, by hand, for numbers just at the widths of fields; twice with one packing."""
    signs = Signs([[size, 0], [0, -size], [size, size], [0, 0]])
    assert signs.columns == 2 and signs.bound == 2 * size
    for u, on, zero in (
        ([1, 1], 0b1101, 0b1000),
        ([1, -1], 0b1111, 0b1100),
        ([0, 0], 0b1111, 0b1111),
        ([-1, 1], 0b1100, 0b1100),
        ([-1, 0], 0b1010, 0b1010),
        ([1, 1], 0b1101, 0b1000),
    ):
        assert signs.of(u) == (on, zero)


def test_sets_without_listed_ones() -> None:
    """All sets of at most two of four; those without {0, 1}; stopped above the limit."""
    assert count_sets(4, 2, [], 99) == 1 + 4 + 6 and count_sets(4, 2, [(0, 1)], 99) == 10
    assert count_sets(3, 3, [(0, 1, 2)], 99) == 7 and count_sets(3, 3, [(0,), (1, 2)], 99) == 3
    assert count_sets(0, 0, [], 99) == 1 and count_sets(4, 2, [(0, 1), (0, 2), (1, 3)], 99) == 8
    assert count_sets(6, 3, [(0, 1), (2, 3), (4, 5)], 5) > 5
    assert count_sets(6, 3, [(0, 1), (2, 3), (4, 5)], 27) == 1 + 6 + 12 + 8


# ------------------------------------------------------------------------------------------------ texts and tables


def test_limits_of_texts() -> None:
    """Bytes, commas and brackets, twice as many spaces, digits in a row: each at its limit and beyond."""

    def over(raw: bytes, **limits: int) -> str | None:
        try:
            within_limits(raw, replace(Limits(10**6, 10**4, 10**4), **limits), "here", BadData)
        except BadData as error:
            return error.expected
        return None

    assert over(b"x" * 9, size=9) is None and over(b"x" * 10, size=9) == "at most 9 bytes"
    assert over(b"[{,", values=3) is None and over(b"[{,,", values=3) == "at most 3 commas and opening brackets"
    assert over(b" " * 6, values=3) is None and over(b" " * 7, values=3) == "at most 6 spaces"
    assert over(b"a123b123", digits=3) is None and over(b"a1234", digits=3) == "at most 3 digits a number"


def test_long_integers() -> None:
    """Of any length, with any sign."""
    for digits in (3999, 4000, 4001, 4300, 9000):
        text = "1234567890" * (digits // 10) + "7" * (digits % 10)
        low = 0
        for k in range(0, len(text), 3000):
            part = text[k : k + 3000]
            low = low * 10 ** len(part) + int(part)
        assert integer(text) == low and integer("-" + text) == -low
    (entries,) = integer_vectors(Node(["1" * 4001 + " -" + "2" * 4001]), 2)
    assert entries == [integer("1" * 4001), -integer("2" * 4001)]
    (longest,) = integer_vectors(Node(["1" * 5000]), 1)
    assert longest == [integer("1" * 5000)]
    (short,) = integer_vectors(Node(["1 " + "3" * 3990]), 2)
    assert short[0] == 1 and short[1] == int("3" * 3990)


def test_numbers_for_readers() -> None:
    """Exact up to 80 bits, else twelve digits, cut."""
    assert show(F(2**80 - 1)) == str(2**80 - 1) and show(F(1, 2**80 - 1)) == f"1/{2**80 - 1}"
    for x, said in (
        (F(2**80), "about 1.20892581961e24"),
        (F(10**30), "about 1.00000000000e30"),
        (-F(10**30 - 1), "about -9.99999999999e29"),
        (F(1, 10**30), "about 1.00000000000e-30"),
        (F(2, 3 * 10**40), "about 6.66666666666e-41"),
        (F(10**200 - 1, 10**200), "about 9.99999999999e-1"),
        (F(999999999999 * 10**40), "about 9.99999999999e51"),
    ):
        assert show(x) == said


def test_numbers_of_tables() -> None:
    """Exponents at both ends of 0, fields at the longest, quotients, doubles."""
    for text, value in (
        ("12e1", 120),
        ("1.5e1", 15),
        ("1.5e0", F(3, 2)),
        ("25e-1", F(5, 2)),
        ("-3/6", F(-1, 2)),
        ("+.5", F(1, 2)),
    ):
        assert number(text, "decimal", "here") == value
    longest = "1" * Limits.digits
    assert number(longest, "decimal", "here") == integer(longest)
    with pytest.raises(BadData, match="characters"):
        number(longest + "1", "decimal", "here")
    assert number("1e5000", "decimal", "here") == 10**5000
    for text in ("1e5001", "1e-5001", "1/0", "x", "", ".", "1e"):
        with pytest.raises(Rejected):
            number(text, "decimal", "here")
    assert number("0.1", "binary64", "here") == F(0.1) and nearest_double(F(-1, 3), "here") == F(-1 / 3)
    assert nearest_double(F(2**53 + 1), "here") == 2**53 and nearest_double(F(2**53 + 3), "here") == 2**53 + 4


def test_packed_tables() -> None:
    """Unpacked up to the limit, and no further."""
    raw = gzip.compress(b"1,2\n3,4\n")
    assert unzipped(raw, Limits(size=8)) == b"1,2\n3,4\n" == unzipped(b"1,2\n3,4\n", Limits(size=1))
    with pytest.raises(BadData, match="at most 7 bytes"):
        unzipped(raw, Limits(size=7))
    with pytest.raises(BadData, match="a gzip file"):
        unzipped(raw[:-9], Limits())


def test_labels_of_the_logistic_loss() -> None:
    """0 and 1 are -1 and 1, if there are no others; other losses take them as they are."""
    table = b"1,0\n1,1\n"
    stated = Input(sha256(table).hexdigest(), "csv", target=1)
    problem = Problem("relu", F(1), mat([[1], [1]]), vec(-1, 1), logistic=True)
    compare(table, stated, problem, Limits())
    compare(table, stated, replace(problem, y=vec(0, 1), logistic=False), Limits())
    for other in (replace(problem, logistic=False), replace(problem, y=vec(0, 1))):
        with pytest.raises(Rejected, match=r"problem\.y row 0"):
            compare(table, stated, other, Limits())
    signed = b"1,-1\n1,1\n"
    compare(signed, replace(stated, sha256=sha256(signed).hexdigest()), problem, Limits())
    two = b"1,2\n1,1\n"
    with pytest.raises(Rejected, match=r"problem\.y row 0"):
        compare(two, replace(stated, sha256=sha256(two).hexdigest()), replace(problem, y=vec(3, 1)), Limits())


def test_json_networks() -> None:
    """Numbers, rows and rows of rows; rows of one length."""
    assert file.nested(["1", ["2"]][0]).shape == () and file.nested(["1", "2"]).shape == (2,)
    assert file.nested([["1"], ["2"]]).shape == (2, 1) and file.nested([]).shape == (0,)
    with pytest.raises(ValueError, match="different lengths"):
        file.nested([["1"], ["2", "3"]])


# ------------------------------------------------------------------------------------------------ enclosures


def near(x: float, enclosure: tuple[int, int]) -> bool:
    """Whether the enclosure is short and about x."""
    low, high = enclosure
    return low <= high and high - low < 2**40 and abs(low / ONE - x) < 1e-12 * max(1, abs(x))


def test_enclosures_hold_and_are_short() -> None:
    """exp, log, artanh, entropy and the loss, by other formulas: exp(-1)^2 = exp(-2), log 6 = log 2 + log 3."""
    from math import exp, log, log1p

    for x in (F(0), F(1, 10), F(1, 2), F(1), F(7), F(100)):
        assert near(exp(-x), exp_of_minus(x))
        assert near(log1p(exp(-x)), loss_of(x)) and near(log1p(exp(-x)) + float(x), loss_of(-x))
    for x in (F(1, 1000), F(1, 2), F(1), F(3, 2), F(2), F(6), F(10**20)):
        assert near(log(x), log_of(x))
    for a in (F(1, 10), F(1, 2), F(9, 10)):
        assert near(-float(a) * log(a) - float(1 - a) * log(1 - a), entropy_of(a))
    (a, b), (c, d) = exp_of_minus(F(1)), exp_of_minus(F(2))
    assert a * a // ONE <= d and c <= -(-b * b // ONE)
    (a, b), (c, d), (e, f) = log_of(F(2)), log_of(F(3)), log_of(F(6))
    assert a + c <= f and e <= b + d
    for t in (F(1, 3), F(1, 5), F(0), F(-1, 4)):
        low, high = twice_artanh(t)
        again = log_of((1 + t) / (1 - t))
        assert low <= again[1] and again[0] <= high
    e = 10**120  # e^-1/2 to 120 digits by the series, exactly
    total, term = F(0), F(1)
    for k in range(1, 90):
        total, term = total + term, -term / 2 / k
    low, high = alternating(F(1, 2))
    assert F(low, ONE) <= total + F(1, e) and total - F(1, e) <= F(high, ONE)


# ------------------------------------------------------------------------------------------------ rules


def test_the_radius_of_a_fit() -> None:
    """2 (upper - lower), half of it for probabilities."""
    problem = Problem("relu", F(1), mat([[1]]), vec(1))
    facts = Facts({PRIMAL: Primal(vec(3), 1, F(1), F(1)), VALUE: Value(F(2), F(5), ZERO)})
    for one, radius, other in ((problem, "6", "3/2"), (replace(problem, logistic=True), "3/2", "6")):
        node = {"center": "3", "radius_squared": radius}
        assert check_fit(one, facts, Node(node))[FIT].radius_squared == F(radius)
        for change in ({"radius_squared": other}, {"center": "2"}, {"radius_squared": "9"}):
            with pytest.raises(Rejected):
                check_fit(one, facts, Node({**node, **change}))


def test_lambda_max_of_gated_networks() -> None:
    """|Z'D y|^2 of a pattern that is listed."""
    problem = Problem("gated", F(1), mat([[1], [2]]), vec(3, 5))
    check_reached(problem, {0b10: 0}, problem.y, F(100), Node({"pattern": "01"}))  # type: ignore[arg-type]
    for patterns, squared, said in (({0b01: 0}, 100, "in D_Z"), (None, 100, "in D_Z"), ({0b10: 0}, 99, "found 100")):
        with pytest.raises(Rejected, match=said):
            check_reached(problem, patterns, problem.y, F(squared), Node({"pattern": "01"}))  # type: ignore[arg-type]


def test_columns_of_gated_networks() -> None:
    """Column j of pattern b has the number b d + j, on the rows of the pattern alone."""
    problem = Problem("gated", F(1), mat([[1, 2], [3, 4]]), vec(1, 1))

    class Listed:
        masks = (0b01, 0b11)

    listed: Any = Listed()
    single, whole = blocks_of(problem, listed, True), blocks_of(problem, listed, False)
    assert (single.count, [single.block(b) for b in range(4)]) == (4, [[[1, 0]], [[2, 0]], [[1, 3]], [[2, 4]]])
    assert (whole.count, [whole.block(b) for b in range(2)]) == (2, [[[1, 0], [2, 0]], [[1, 3], [2, 4]]])
    direct = Problem("cgl", F(1), mat([["1/2", 2], [3, 4]]), vec(1, 1), groups=((1,), (0,)), K=(None, None))
    assert [blocks_of(direct, None, False).block(b) for b in range(2)] == [[[4, 8]], [[1, 6]]]
    assert [blocks_of(direct, None, True).block(b) for b in range(2)] == [[[1, 6]], [[4, 8]]]


def test_ties_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal columns tie with opposite signs, of one null vector, or between two; sets are tried up to a limit."""
    three = Problem("cgl", F(1), mat([[1, 1, 2]]), vec(1), groups=((0,), (1,), (2,)), K=(None,) * 3)
    blocks = blocks_of(three, None, True)
    found = check_position(blocks, Node({"zero": [[0, "+", "1"], [1, "-", "-1"]]}))
    assert found == (False, "columns [0, 1] have a null vector whose signed norms add up to 0")
    with pytest.raises(Rejected, match="at most 2 different blocks"):
        check_position(blocks, Node({"crossing": [[0, "+", "1", "0"], [1, "-", "1", "0"], [2, "-", "-1", "0"]]}))
    for at, said in (
        ([[0, "+", "1"], [1, "+", "-1"]], "of sign 0 for vector 0"),
        ([[0, "+", "1"], [1, "-", "1"]], "not zero and Xu = 0"),
        ([[0, "+", "0"], [1, "-", "0"]], "not zero and Xu = 0"),
        ([[0, "+", "1"], [0, "-", "-1"]], "different blocks"),
    ):
        with pytest.raises(Rejected, match=said):
            check_position(blocks, Node({"zero": at}))
    plane = Problem("cgl", F(1), mat([[1, 1, 1]]), vec(1), groups=((0, 1), (2,)), K=(None,) * 2)
    wide = blocks_of(plane, None, False)
    crossing = check_position(wide, Node({"crossing": [[0, "+", "1 -1", "1 1"], [1, "-", "0", "-2"]]}))
    assert crossing == (False, "blocks [0, 1] have null vectors whose signed norms change sign")
    with pytest.raises(Rejected, match="of sign 1 for vector 0"):
        check_position(wide, Node({"crossing": [[0, "+", "1 1", "1 -1"], [1, "-", "-2", "0"]]}))
    with pytest.raises(Rejected, match="one of zero, crossing, supports"):
        check_position(blocks, Node({}))
    assert check_position(blocks, Node(None)) is None
    apart = blocks_of(replace(three, seen=mat([[1, 2, 4]])), None, True)
    monkeypatch.setattr("verify.rules.ggp.MOST_SUPPORTS", 3)
    assert check_supports(apart, Node([])).startswith("no signed norms of null vectors on 2 of the 3 columns")
    monkeypatch.setattr("verify.rules.ggp.MOST_SUPPORTS", 2)
    with pytest.raises(Declined, match="at most 2 sets of 2 blocks"):
        check_supports(apart, Node([]))


def test_subspaces_are_kept_while_there_is_room() -> None:
    """The same answer whether a subspace was kept or is made again."""
    Z = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [-1, 0, 0]]
    spaces, tight = Subspaces(Z), Subspaces(Z)
    tight.room = 0
    for rows in (0b00001, 0b00011, 0b01001, 0b00111):
        assert spaces.on(rows) == tight.on(rows) == spaces.on(rows)
    assert len(spaces.kept) == 4 and len(tight.kept) == 1 and spaces.antipodal == [0]
    one = spaces.on(0b00001)
    assert (one.flat, one.rank, one.classes) == (0b10001, 2, {1: 0b00010, 2: 0b00100, 3: 0b01000})
    assert sorted(dependent_flats(spaces, [(0, 1, 2, 3)])) == sorted(set(dependent_flats(spaces, [(0, 1, 2, 3)])))
    found = merged({0: [2, 4], 1: [-1, -2], 2: [0, 0], 3: [1, 0]}, {k: 1 << k for k in range(4)}, 0, 2, 1)
    assert (found.classes, found.flat, found.lines) == ({0: 0b0011, 3: 0b1000}, 0b0100, {0: [2, 4], 3: [1, 0]})


def test_circuits_name_classes() -> None:
    """Three or more smallest rows of classes, the first in the span of the rest."""
    space = Subspaces([[1, 0], [0, 1], [1, 1], [2, 0]]).whole
    assert check_circuit(space, Node([0, 1, 2]), 4) == (0, 1, 2)
    for names, said in (
        ([0, 1], "in the span"),
        ([], "in the span"),
        ([1, 2, 3], "names of classes"),
        ([0, 1, 3], "names"),
    ):
        with pytest.raises(Rejected, match=said):
            check_circuit(space, Node(names), 4)
    cube = Subspaces([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]).whole
    assert check_circuit(cube, Node([1, 2, 3]), 4) == (1, 2, 3)
    for names in ([0, 1, 2], [0, 2, 3], [0, 1, 2, 3]):
        with pytest.raises(Rejected, match="row 0 in the span of the rest"):
            check_circuit(cube, Node(names), 4)


def test_what_a_rule_adds() -> None:
    """What is proved stays, and what the rule proves is added; rejected without what it rests on."""
    a, b = Fact[int]("a"), Fact[int]("b")
    rule = Rule((a,), lambda *_: proved(a, 1), rests=(b,))
    problem = Problem("relu", F(1), mat([[1]]), vec(1))
    assert extended(proved(b, 2), rule, problem, NODE).proved == {a: 1, b: 2}
    with pytest.raises(Rejected, match="the fact b"):
        extended(Facts(), rule, problem, NODE)


def test_what_verdicts_rest_on() -> None:
    """The smallest sets of rules; modules that are loaded; lists only for networks."""
    a, b = Fact[int]("a"), Fact[int]("b")

    def rule(*facts: Fact[int], rests: tuple[Fact[int], ...] = (), listed: bool = False) -> Rule:
        return Rule(facts, lambda *_: Facts(), rests=rests, listed=listed)

    rules = {"both": rule(a, b), "one": rule(a), "other": rule(b, rests=(a,))}
    assert grounds((b,), rules, "relu") == {frozenset({"both"}), frozenset({"one", "other"})}
    assert grounds((a,), rules, "relu") == {frozenset({"both"}), frozenset({"one"})}
    assert needs(rule(a, rests=(b,), listed=True), "relu") == (b, PATTERNS)
    assert needs(rule(a, rests=(b,), listed=True), "cgl") == (b,) == needs(rule(a, rests=(b,)), "relu")
    text = (
        "import os.path\nfrom verify import text\nfrom . import x\nfrom flint import fmpq\ndef f():\n    import csv\n"
    )
    assert list(loaded_by(ast.parse(text).body)) == ["os.path", "verify", "verify.text", "flint"]
    files, libraries = closure("optimal", ["primal"])
    assert "verify/rules/primal.py" in files and "verify/__init__.py" in files and libraries == []
    assert closure("optimal", ["patterns", "dual"])[1] == ["flint"]
    assert "verify/claims/unique.py" in closure("p-unique", [])[0] and "verify/claims/unique.py" not in files
    assert files["verify/errors.py"] == (ROOT / "errors.py").read_text().count("\n")


def test_what_is_told_of_verdicts() -> None:
    """Each way with its rules, for the first kind of problem that has one, and what may sharpen it."""
    lines = list(told("p-unique"))
    assert lines[0].startswith("p-unique PROVED") and " for a ReLU network by " in lines[0]
    assert not any("sharpened" in line for line in told("optimal"))
    assert any("perhaps sharpened by " in line for line in told("licq"))
    assert ways("patterns-complete", "cgl") == {} and ways("patterns-complete", "relu")


def test_bounds_of_work() -> None:
    """Exactly at the limit is allowed."""
    bounded(5, 5, "things", "here")
    with pytest.raises(Declined, match="at most 5 things, found 6"):
        bounded(6, 5, "things", "here")


def test_entropies_are_taken_from_below() -> None:
    """The lower bound of a dual point is that of its entropies."""
    problem = Problem("relu", F(1), mat([[1]]), vec(1), logistic=True)
    for a in (F(1, 3), F(1, 7)):
        low, high = (F(end, ONE) for end in entropy_of(a))
        facts = Facts({PRIMAL: Primal(vec(0), 0, ZERO, ZERO), DUAL: Dual((a,))})
        stated = {"lower": str(low), "upper": "1", "gap": "0"}
        assert check_logistic(problem, facts, Node(stated))[VALUE].lower == low < high
        with pytest.raises(Rejected, match="lower <= sum H"):
            check_logistic(problem, facts, Node({**stated, "lower": str(high)}))


def test_lengths_without_free_biases() -> None:
    """All but the last entry, of any number."""
    free = Problem("relu", F(1), mat([[1, 2, 3]]), vec(1), biases=True)
    assert free.length_squared(vec(1, 2, 3)) == 5 and replace(free, biases=False).length_squared(vec(1, 2, 3)) == 14


def test_targets_of_inputs() -> None:
    """One of the columns of the file: those of Z without its bias, and the target."""
    stated = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "delimiter": ",", "header": False}
    ones = Problem("relu", F(1), mat([[5, 1]]), vec(1))
    for bias, most in ((False, 2), (True, 1)):
        assert read_input(Node({**stated, "bias": bias, "target": most}), ones).target == most
        with pytest.raises(Rejected, match="an index below"):
            read_input(Node({**stated, "bias": bias, "target": most + 1}), ones)
    with pytest.raises(Rejected, match="a last column of ones"):
        read_input(Node({**stated, "bias": True, "target": 0}), replace(ones, seen=mat([[1, 5]])))


def test_versions_of_other_formats() -> None:
    """Another version is declined; of another format it is rejected for the format."""
    for format_, error in (("relu_cert certificate", Declined), ("another", Rejected)):
        with pytest.raises(error):
            check(json.dumps({"format": format_, "version": 1}).encode())
    for raw, error in ((b" " * 2**17, Declined), (b"", Rejected)):
        text = json.dumps({"format": "relu_cert refutation", "version": 1, "claim": "x"}).encode() + raw
        with pytest.raises(error):
            check(text)


def test_fits_of_other_losses_in_words() -> None:
    """The fit itself, or its probabilities."""
    problem = Problem("relu", F(1), mat([[1]]), vec(1))
    facts = proved(FIT, Fit(F(3)))
    assert one_fit(problem, facts, NODE).endswith("at most 3 from the center")
    assert "its probabilities 1/(1 + exp(-fit_k))" in one_fit(replace(problem, logistic=True), facts, NODE)


def test_members_of_archives() -> None:
    """Stored or deflated, each name once, of at most so many bytes in all."""

    def archive(*members: tuple[str, bytes, int]) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as whole, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, content, kind in members:
                whole.writestr(name, content, compress_type=kind)
        return buffer.getvalue()

    stream = io.BytesIO()
    np.save(stream, np.array([[1.0, 2.0]]))
    one = stream.getvalue()
    stored, packed, other = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2
    most = 2 * len(one) - 6 * 256
    found = file.read_npz(archive(("W1.npy", one, stored), ("w2.npy", one, packed)), most)
    assert found["W1"].entries == found["w2"].entries == vec(1, 2)
    for members, size, said in (
        ((("W1.npy", one, stored), ("w2.npy", one, packed)), most - 1, "more numbers"),
        ((("W1.npy", one, stored), ("w2.npy", one, other)), most, "neither stored nor deflated"),
        ((("W1.npy", one, other), ("w2.npy", one, other)), most, "neither stored nor deflated"),
        ((("W1.npy", one, stored), ("W1.npy", one, stored)), most, "each once"),
        ((("W1.npy", one, stored), ("x.npy", one, stored)), most, "other than"),
    ):
        with pytest.raises(ValueError, match=said):
            file.read_npz(archive(*members), size)


def test_flats_above_an_antipodal_pair() -> None:
    """e_1 and -e_1 with three more directions: the pair with any of these, and all."""
    spaces = Subspaces([[int(i == j) for j in range(4)] for i in range(4)] + [[-1, 0, 0, 0]])
    found = list(dependent_flats(spaces, []))
    pair = 0b10001
    assert sorted(found) == sorted(pair | rest << 1 for rest in range(8)) and len(found) == 8
    line = Subspaces([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert sorted(dependent_flats(line, [(0, 1, 2)])) == [0b0111, 0b1111] and list(dependent_flats(line, [])) == [
        0b1111
    ]


def test_deep_networks_are_not_read() -> None:
    """What nests deeper than Python reads is no network, and the limits of texts hold for files of networks, too."""
    with pytest.raises(file.DAMAGED, match="recursion depth"):
        file.read_json(b"[" * 10**6, Limits())
    with pytest.raises(BadData, match="at most 3 commas"):
        file.read_json(b"[0, 0, 0, 0]", Limits(values=3))
    assert file.read_json(b'{"W1": [[1, 2]], "w2": [3.5], "b1": null}', Limits())["w2"].entries == vec("7/2")


def test_patterns_are_zeros_and_ones() -> None:
    """No other character that an integer may have, and as many as there are rows."""
    assert Node("1000").pattern(4) == 1 and Node("0001").pattern(4) == 8
    for text in ("1_1", " 11", "+11", "0b1", "11", "1111", 7):
        with pytest.raises(Rejected, match="a pattern of 3 characters"):
            Node(text).pattern(3)


def test_norms_of_points() -> None:
    """norm >= |w|, where a free bias alone has the length 0; no neuron is zero."""
    free = Problem("relu", F(1), mat([[5, 1]]), vec(1), biases=True)

    def point(w: str, norm: str, problem: Problem = free) -> Primal:
        return check_primal(problem, Facts(), Node({"neurons": [{"sign": "+", "w": w, "norm": norm}]}))[PRIMAL]

    assert point("0 2", "0").fit == vec(2) and point("3 4", "3").penalty == 3
    assert point("3 4", "5", replace(free, biases=False)).squares == 25
    for w, norm, said in (
        ("3 4", "-3", "norm >="),
        ("3 4", "29/10", "norm >="),
        ("0 2", "-1", "norm >="),
        ("0 0", "0", "other than zero"),
    ):
        with pytest.raises(Rejected, match=said):
            point(w, norm)
    with pytest.raises(Rejected, match="norm >="):
        point("3 4", "49/10", replace(free, biases=False))


def test_doubles_between_two_others() -> None:
    """2/3 is nearer to 1 than to 0, also at the last place; a power of two is itself."""
    for x, near_ in (
        (F(2**52) + F(2, 3), 2**52 + 1),
        (F(2**52) + F(1, 3), 2**52),
        (F(2**60), 2**60),
        (F(1, 8), F(1, 8)),
    ):
        assert nearest_double(x, "x") == near_ and nearest_double(-x, "x") == -near_


def test_long_tables_are_compared() -> None:
    """As many fields as the problem has numbers are read, in tables and in direct problems."""
    n = 2000
    table = b"".join(b"1,%d\n" % (k % 7) for k in range(n))
    stated = Input(sha256(table).hexdigest(), "csv", target=1)
    problem = Problem("relu", F(1), ((F(1),),) * n, tuple(F(k % 7) for k in range(n)))
    compare(table, stated, problem, Limits())
    for count, good in ((1000 + 2 * 9, True), (1001 + 2 * 9, False)):
        raw = b"[" + b"," * count
        with pytest.raises((Rejected, BadData)) as error:
            read_direct(raw, Limits(), 9)
        assert ("at most 9 numbers" in str(error.value)) is not good


def test_zero_has_one_name() -> None:
    """No minus sign before it."""
    assert Node("0").number() == 0 and Node("-1/2").number() == F(-1, 2)
    for text in ("-0", "-0/1", "00", "+1", "1/1", "2/4", "-01"):
        with pytest.raises(Rejected, match=r"a number|lowest terms"):
            Node(text).number()


def test_patterns_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are checked for the network; with delta > 0 all other facts are about the blocks that they write out."""
    seen: list[Any] = []

    def noted(facts: Facts, rule: Rule, problem: Problem, node: Node) -> Facts:
        seen.append((node.key, problem.model))
        return Facts({**facts.proved, PATTERNS: Patterns([1], {}, 1)})

    monkeypatch.setattr("verify.rules.extended", noted)
    for delta, model in ((F(0), "relu"), (F(1), "cgl")):
        seen.clear()
        check_facts(Problem("relu", F(1), mat([[1]]), vec(1), delta=delta), Node({"primal": {}, "patterns": {}}))
        assert seen == [("patterns", "relu"), ("primal", model)]
    listed = Problem("relu", F(1), mat([[1]]), vec(1), patterns=(1,))
    seen.clear()
    check_facts(listed, Node({"primal": {}}))
    assert seen == [("primal", "cgl")]


def test_lines_in_hundreds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded up; the fewest with their facts, and the most."""
    sizes = {frozenset({"a"}): 101, frozenset({"b"}): 300, frozenset({"c"}): 400}
    monkeypatch.setattr(trusted, "TABLES", {"table": ("claim",)})
    monkeypatch.setattr(trusted, "ways", lambda *_: sizes)
    monkeypatch.setattr(trusted, "closure", lambda claim, ground: ({"file": sizes[ground]}, []))
    assert list(trusted.table())[2:] == ["| claim | 3 | 200 | a | 400 |"]
