"""continuous: whole intervals of lambdas, with every kind of event inside."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import numpy as np
import pytest

from relu_cert.claims.claim import Verdict
from relu_cert.claims.path import lipschitz_fit_squared, lipschitz_value
from relu_cert.problem import problem_from_json
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from relu_cert.solve import prepare, solve
from tests.path.cases import certificate_text, example, facts_on, network, verdicts
from verify import check

F = Fraction
MIXED = [[2, 1], [-1, 3], [2, -3], [-4, -1], [1, 1]]
CASES = {
    "two points": (network([[1], [-1]], [3, 2]), F(1), F(1, 2), F(29, 10)),
    "neurons enter and turn": (network(MIXED, [3, -1, 2, 1, -2]), F(1), F(1, 2), F(4)),
    "short residuals, long multipliers": (network([[0, 1], [1, 1], [0, 1]], [-1, -1, 2]), F(3, 4), F(1, 2), F(1)),
    "beyond lambda_max": (network(MIXED, [3, -1, 2, 1, -2]), F(9), F(5), F(40)),
    "gated": (network([[2, 1], [-1, 3], [1, -2]], [3, -1, 2], "gated"), F(2), F(1), F(5)),
    "group lasso away from its jump": (example("conjecture"), F(35), F(30), F(60)),
}


@pytest.fixture(scope="module", params=CASES)
def facts(request: pytest.FixtureRequest) -> Facts:
    """The facts of one case."""
    return facts_on(*CASES[request.param])


def test_proved_and_accepted(facts: Facts) -> None:
    """The interval is covered without a gap, the verdicts say so, and the independent checker accepts them."""
    assert facts.path is not None
    assert not facts.path.cover.gaps
    assert {result.verdict for result in verdicts(facts).values()} == {Verdict.PROVED}
    assert {line.verdict for line in check(certificate_text(facts).encode())} == {"PROVED"}


def test_tubes_hold_the_solutions(facts: Facts) -> None:
    """At the ends and in the middle of every piece the residual over lambda, solved afresh, is near its chord, and
    no more neurons are found there than it has classes."""
    assert facts.path is not None
    floats = prepare(facts.problem)
    for piece in facts.path.cover.pieces:
        for lam in (piece.lo, (piece.lo + piece.hi) / 2, piece.hi):
            solution = solve(floats, float(lam))
            ends = np.array([[float(x) for x in end] for end in piece.ends])
            part = float((1 / lam - 1 / piece.hi) / (1 / piece.lo - 1 / piece.hi)) if len(ends) > 1 else 0.0
            chord = (1.0 - part) * ends[0] + part * ends[-1]
            off = np.linalg.norm(solution.theta / float(lam) - chord)
            assert off <= float(piece.radius) * (1 + 1e-6) + 1e-7
            strong = [n for n in solution.neurons if np.linalg.norm(n.w) > 1e-5]
            assert len(strong) <= len(piece.classes)


def test_pieces_join(facts: Facts) -> None:
    """The pieces cover the interval up to lambda_max, each beginning where the one before ended."""
    assert facts.path is not None
    reached = facts.path.cover.lo
    for piece in facts.path.cover.pieces:
        assert piece.lo <= reached < piece.hi
        reached = piece.hi
    assert reached >= facts.path.cover.hi or reached**2 >= facts.lambda_max.squared


def test_both_kinds_of_piece_are_used() -> None:
    """Smooth pieces between events, still ones across: a path with events needs both."""
    found = facts_on(*CASES["neurons enter and turn"]).path
    assert found is not None
    assert {len(piece.s) == 1 for piece in found.cover.pieces} == {True, False}
    assert len(found.cover.pieces) <= 60


@pytest.mark.parametrize("name", ["two points", "neurons enter and turn", "gated"])
def test_lipschitz_bounds(name: str) -> None:
    """|fit(l') - fit(l)| <= |y|/lo |l' - l| and |p*(l') - p*(l)| <= |y|^2/(4 lo) |l' - l| for lambdas above lo."""
    problem, _, lo, hi = CASES[name]
    lams = [lo + (hi - lo) * F(k, 7) for k in range(8)]
    solutions = [solve(problem, float(lam)) for lam in lams]
    some = facts_on(problem, lo, lo, lo + F(1, 1000))
    for a, first in zip(lams, solutions, strict=True):
        for b, second in zip(lams, solutions, strict=True):
            step = float(abs(a - b))
            moved = np.linalg.norm(first.residual - second.residual)
            assert moved <= float(lipschitz_fit_squared(some, lo)) ** 0.5 * step + 1e-7
            assert abs(first.primal - second.primal) <= float(lipschitz_value(some, lo)) * step + 1e-7


def scaled(problem: Problem, by: int) -> Problem:
    """The same network problem with targets times `by`."""
    assert problem.network is not None
    return network([list(z) for z in problem.network.Z], [by * x for x in problem.y])


def test_scaling_y_and_lambda_keeps_the_path() -> None:
    """(y, lambda) -> (3 y, 3 lambda) multiplies the weights by 3 and changes no verdict."""
    problem, lam, lo, hi = CASES["neurons enter and turn"]
    found = facts_on(scaled(problem, 3), 3 * lam, 3 * lo, 3 * hi).path
    assert found is not None
    assert found.cover.complete


@pytest.mark.long
def test_not_unique_is_not_proved() -> None:
    """Antipodal points: at lambda = 5 four neurons tie and two networks are optimal; the set of all moves continuously,
    and the network is unique on no piece around 5."""
    facts = facts_on(example("twins"), F(5), F(4), F(6))
    assert facts.path is not None
    assert not any(piece.unique for piece in facts.path.cover.pieces if piece.lo <= 5 <= piece.hi)
    assert verdicts(facts)["continuous"].verdict is Verdict.REFUTED
    assert verdicts(facts)["set-continuous"].verdict is Verdict.PROVED
    check(certificate_text(facts).encode())


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_said_is_accepted(seed: int) -> None:
    """Small integers make ties, orthogonal rows and neurons that are zero at points by chance; whatever the verdict,
    the checker accepts it, and no interval is PROVED with a gap."""
    rng = random.Random(seed)
    Z = [[rng.randint(-3, 3) for _ in range(2)] for _ in range(5)]
    y = [rng.randint(-3, 3) for _ in range(5)]
    problem = network(Z, y, "gated" if seed % 2 else "relu")
    facts = facts_on(problem, F(2), F(3, 2), F(3))
    assert facts.path is not None
    assert (verdicts(facts)["continuous"].verdict is Verdict.PROVED) == (not facts.path.cover.gaps)
    check(certificate_text(facts).encode())


@pytest.mark.parametrize(
    ("Z", "y", "lo", "hi"),
    [
        ([[2, 2], [4, 0], [2, 0]], [3, -2, 0], Fraction(9, 4), Fraction(9, 2)),
        ([[2, 0], [2, 0], [-4, 0], [-1, 2], [-2, 0]], [0, 0, 1, 2, -3], Fraction(5, 4), Fraction(55, 32)),
    ],
)
def test_pieces_whose_middle_ties_exactly(
    Z: list[list[int | str]], y: list[int | str], lo: Fraction, hi: Fraction
) -> None:
    """A neuron with |v| = 1 exactly in the middle of a piece: its multiplier, which rounding would make too long, is
    written as it is, and the certificate is accepted."""
    facts = facts_on(network(Z, y), lo, lo, hi)
    assert {line.verdict for line in check(certificate_text(facts).encode())} == {"PROVED"}


def test_a_block_that_its_projection_shows_to_be_out_has_that_multiplier() -> None:
    """Once such a block was called out while the multiplier in the certificate was null, and the checker refused."""
    stated = {"X": [["1", "1/2"], ["-2", "-4"]], "groups": [[0], [1]], "K": [None, [["-1"]]], "y": ["1", "0"]}
    found = facts_on(problem_from_json(json.dumps(stated)), F(1, 2), F(1, 3), F(9, 10))
    assert found.path is not None and not found.path.cover.gaps
    check(certificate_text(found).encode())


@pytest.mark.parametrize("seed", range(12))
def test_paths_with_cones_are_accepted(seed: int) -> None:
    """Group lassos whose weights have signs, and others that have not: whatever is proved, the checker accepts it."""
    draw = random.Random(seed)
    X = [[str(draw.randint(-4, 4)) for _ in range(3)] for _ in range(3)]
    stated = {
        "X": X,
        "groups": [[0], [1, 2]],
        "K": [[["-1"]], draw.choice([None, [["-1"], ["1"]]])],
        "y": ["3", "-2", "1"],
    }
    found = facts_on(problem_from_json(json.dumps(stated)), F(1), F(1, 2), F(3))
    check(certificate_text(found).encode())
