"""Covers where biases are free: prisms that hold every direction that counts, c and v without a bias."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import verify
from relu_cert.cover import build, lines
from tests.verify.build.free_terms import covered
from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.cover.faces import on_face
from verify.cover.lines import Lines, Weights, coarse
from verify.cover.prisms import prism_height, prisms, widest
from verify.cover.strict import directions
from verify.cover.ties import read_tie
from verify.cover.tree import Leaves, sign_cones
from verify.problem.problem import Problem
from verify.rule import unlisted
from verify.text import Node

NODE = Node(None, None, "+")
POLE = (0, 0, 1)
ROWS = mat([["1/2", 3, 1], [-2, 1, 1], [0, "-7/3", 1]])
PROBLEM = Problem("relu", F(1), ROWS, vec(1, 1, 1), biases=True)


def inside(cone: Any, u: Any) -> bool:
    """Whether u is a combination of the generators with weights >= 0."""
    G = fmpq_mat([[fmpq(x) for x in g] for g in cone]).transpose()
    found = G.solve(fmpq_mat([[fmpq(F(x).numerator, F(x).denominator)] for x in u]))
    return all(x >= 0 for x in found.entries())


def test_directions_that_count_are_in_a_prism() -> None:
    """Every u with z_k.u = 0 for some row lies in a root, those at the corners of the cones of weights, too; a prism
    that is lower by a part in ten leaves some of them out."""
    basis = [(1, 1, 0), (0, 2, 0), POLE]
    height = prism_height(PROBLEM, basis, NODE)
    assert height == 6  # |3| 2, where (0, 2) meets the first row
    rng = random.Random(0)
    weights = [*product((-2, -1, 0, 1, 2), repeat=2), *((rng.randint(-9, 9), rng.randint(-9, 9)) for _ in range(60))]
    counted = [(*w, -sum(a * b for a, b in zip(z, w, strict=False))) for w in weights for z in ROWS]
    roots = list(prisms(basis, height))
    assert len(roots) == 4 * 2 and all(len(cone) == 3 for cone in roots)
    assert all(any(inside(cone, u) for cone in roots) for u in counted)
    low = [[(10 * g[0], 10 * g[1], 9 * g[2]) for g in cone] for cone in roots]
    assert not all(any(inside(cone, u) for cone in low) for u in counted)


def test_roots_in_their_order() -> None:
    """Sign cones from all minus to all plus; of each prism first the cone with one generator below."""
    assert list(sign_cones([(1, 0), (0, 1)])) == [
        ((-1, 0), (0, -1)),
        ((1, 0), (0, -1)),
        ((-1, 0), (0, 1)),
        ((1, 0), (0, 1)),
    ]
    first, second, *others = prisms([(1, 0, 0), (0, 1, 0), POLE], 5)
    assert first == ((-1, 0, -5), (-1, 0, 5), (0, -1, 5))
    assert second == ((-1, 0, -5), (0, -1, -5), (0, -1, 5))
    assert len(others) == 6
    assert list(prisms([(1,)], 5)) == []


def test_the_producer_has_the_same_roots() -> None:
    """Generators, their order and the height are the same on both sides."""
    own = lines.lines_of(ROWS, biases=True)
    basis = lines.row_space(own)
    assert basis[-1] == POLE and not any(g[-1] for g in basis[:-1])
    height = prism_height(PROBLEM, basis, NODE)
    assert own.height(basis) == height and own.widest == widest(PROBLEM)
    made = [tuple(tuple(int(x) for x in g) for g in cone) for cone in build.prisms(basis, height)]
    assert made == list(prisms(basis, height))


@pytest.mark.parametrize(
    "basis", [[(1, 0, 0), (0, 1, 0)], [(1, 0, 1), (0, 1, 0), POLE], [(1, 0, 0), (0, 1, 0), (0, 0, 2)]]
)
def test_bases_without_the_bias(basis: list[tuple[int, ...]]) -> None:
    """The bias alone comes last, and no other vector has one."""
    with pytest.raises(Rejected, match="last that of a bias alone"):
        prism_height(PROBLEM, basis, NODE)


def test_rounding_where_the_bias_is_long() -> None:
    """sum |u_l| <= ceil sqrt 2 + ceil sqrt 10 for weights of length 1 at the rows (the longest has length sqrt 37/4):
    so much less is what c may be, for each row."""
    assert widest(PROBLEM) == 2 + 4
    bent = Weights(Lines(((1, 0, 1), (0, 1, 1)), (0, 1), (1, 1), 1, 3), (3, -2), (0, 0, 0), 2)
    plain, free = (coarse(bent, F(1), 0, width, NODE).bound for width in (2, 6))
    assert plain - free == 3 * (6 - 2)


def test_c_has_no_bias() -> None:
    """The turn's vector loses its last entry before it is scaled: all of the bound is for the weights."""
    leaves = Leaves(cones=[(0, 1, 2)], turns=[bytes([1, 1, 1])])
    U = np.array([[3, 0, 4], [0, 4, 3], [0, 0, 9]], dtype=np.int64) << 20
    cones = np.array([[0, 1, 2]])
    (free,) = directions(leaves, U, cones, 5 << 30, biases=True).tolist()
    (plain,) = directions(leaves, U, cones, 5 << 30, biases=False).tolist()
    assert free[2] == 0 < plain[2]
    assert all(abs(a - (b << 30)) < 2**10 * 2**13 for a, b in zip(free, (3, 4, 0), strict=True))


def tied(shares: str, biases: bool) -> Any:
    """f(u) = (u_1 + u_3)_+ - (u_2 + u_3)_+ at u = (1, -1, 1), on the concave line."""
    weights = Weights(Lines(((1, 0, 1), (0, 1, 1)), (0, 1), (1, 1), 1, 3), (1, -1), (0, 0, 0), 1)
    node = Node({"sign": "+", "u": "1 -1 1", "shares": shares}, None, "tie")
    return read_tie({1: weights, -1: weights}, [(1, 0, 0), (0, 1, 0), POLE], F(4), node, biases)


def test_a_neuron_with_a_bias_is_rejected() -> None:
    """v = (1, 0, 1) - share (0, 1, 1) has the bias 1 - share: allowed where it is penalised, else only if it is 0."""
    assert tied("1/2", biases=False).squared == F(3, 2)
    assert tied("1", biases=True).squared == 2
    with pytest.raises(Rejected, match="v without a bias"):
        tied("1/2", biases=True)


def test_gradients_on_faces_without_a_bias() -> None:
    """On the face u_1 = u_3 the gradient (1, 0, 1) has the product 2 with (1, 0, 1): the shortest v without a bias is
    (2, 0, 0), not (1, 0, 1). A face that holds the bias alone has none."""
    weights = Weights(Lines(((1, 0, 1), (1, 0, -1)), (0, 1), (1, 1), 1, 3), (1, -1), (0, 0, 0), 1)
    basis = [(1, 0, 0), POLE]
    assert on_face(weights, basis, 1, (1, 0, 1), (1, 0), NODE, biases=False).squared == 2
    found = on_face(weights, basis, 1, (1, 0, 1), (1, 0), NODE, biases=True)
    assert found.squared == 4 and [F(x, found.q) for x in found.v] == [2, 0, 0]
    with pytest.raises(Rejected, match="holds no bias alone"):
        on_face(weights, basis, 1, (2, 0, 1), (1, 1), NODE, biases=True)


def test_rows_without_weights() -> None:
    """Where all features are missing there is nothing to cover: no height, no root."""
    ones = Problem("relu", F(1), mat([[1], [1]]), vec(1, 1), biases=True)
    assert prism_height(ones, [(1,)], NODE) == 0 and widest(ones) == 0


def test_a_cover_by_hand() -> None:
    """It is accepted, and p* = 7/4."""
    report = verify.certificate.read(covered().text, covered().raw)
    assert "lies in [7/4, 7/4]" in next(line.proved for line in report.lines if line.claim == "optimal")


def test_where_covers_are_known() -> None:
    """ReLU networks over all patterns with delta = 0, whatever is free."""
    assert unlisted(PROBLEM) and unlisted(replace(PROBLEM, biases=False))
    for other in ({"model": "gated"}, {"patterns": ((True, True, True),)}, {"delta": F(1)}):
        assert not unlisted(replace(PROBLEM, **other))
