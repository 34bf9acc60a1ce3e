"""set-continuous: where the network is not unique, the set of optimal networks still moves continuously."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import relu_cert
from relu_cert.claims.claim import Verdict
from relu_cert.path.pieces import Piece
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import class_map
from relu_cert.prove.projection import floats as to_floats
from relu_cert.solve import prepare, solve
from tests.path.cases import certificate_text, example, facts_on, verdicts
from tests.path.sets import CASES, SEVERAL, F, facts_of, text_of
from verify import check


@pytest.mark.parametrize("name", CASES)
def test_proved_and_accepted(name: str) -> None:
    """The interval is covered without a gap; the set moves continuously and so does its shortest point; the network is
    not unique where a piece has a dimension, and unique where none has; the independent checker accepts it all."""
    said = {claim: result.verdict for claim, result in verdicts(facts_of(name)).items()}
    unique = Verdict.REFUTED if name in SEVERAL else Verdict.PROVED
    assert said == {"continuous": unique, "set-continuous": Verdict.PROVED, "min-norm-continuous": Verdict.PROVED}
    assert {line.claim: line.verdict for line in check(text_of(name).encode())} == {k: str(v) for k, v in said.items()}


def test_every_kind_of_piece_is_met() -> None:
    """Lifted pieces smooth and still, with light superclasses, with forced classes, and an onset."""
    found = [path for name in CASES if (path := facts_of(name).path) is not None]
    lifted = [(piece, piece.lifted) for path in found for piece in path.cover.pieces if piece.lifted is not None]
    idle = [
        (p, l) for p, l in lifted if any(not any(p.weights[a]) for group in l.groups for a in {*group} - {*l.forced})
    ]
    assert sum(l.onset is not None for _, l in lifted) >= 2
    assert any(l.onset is None for _, l in idle)
    assert any(l.forced for _, l in lifted)
    assert {len(p.s) > 1 for p, _ in lifted} == {True, False}


def ends(problem: Problem, piece: Piece, lam: F) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest weight of every class among all optimal networks, by linear programs in floats."""
    solution = solve(prepare(problem), float(lam))
    s = solution.theta / float(lam)
    B = [to_floats(one.B()) for one in (class_map(problem, neuron) for neuron in piece.classes)]
    Q = np.array([B_a @ (B_a.T @ s) for B_a in B]).T
    goal = np.array([float(x) for x in problem.y]) / float(lam) - s
    found = []
    for sign in (1.0, -1.0):
        for a in range(Q.shape[1]):
            cost = np.zeros(Q.shape[1])
            cost[a] = sign
            slack = 1e-6 * float(np.abs(goal).max())
            limits = np.r_[goal + slack, slack - goal]
            best = linprog(cost, A_ub=np.r_[Q, -Q], b_ub=limits, bounds=[(0, None)] * Q.shape[1])
            found.append(best.x[a])
    return np.array(found[: Q.shape[1]]), np.array(found[Q.shape[1] :])


@pytest.mark.parametrize("name", SEVERAL)
def test_dimension_agrees_with_the_polytope(name: str) -> None:
    """In the middle of the widest smooth piece of positive dimension, linear programs find weights that can move by
    as much as they please; the weights of the piece lie between their ends."""
    facts = facts_of(name)
    assert facts.path is not None
    smooth = [p for p in facts.path.cover.pieces if p.dimension and len(p.s) > 1]
    piece = max(smooth, key=lambda p: p.hi / p.lo)
    least, most = ends(facts.problem, piece, 1 / piece.center)
    size = most.max()
    assert (most - least).max() > 1e-3 * size
    weights = np.array([float(row[0]) for row in piece.weights])
    assert (weights >= least - 1e-4 * size).all()
    assert (weights <= most + 1e-4 * size).all()


def test_neighbours_agree_where_they_meet() -> None:
    """At a common end of two pieces the ranges of the weights are the same in both lists of classes, about: the set
    does not jump where the proof goes from one piece to the next."""
    facts = facts_of("a point becomes fitted")
    assert facts.path is not None
    for one, other in zip(facts.path.cover.pieces, facts.path.cover.pieces[1:], strict=False):
        total = [ends(facts.problem, piece, one.hi)[1].max() for piece in (one, other)]
        assert abs(total[0] - total[1]) <= 1e-2 * max(total)


def test_a_jump_refutes_the_set() -> None:
    """Where a network is optimal at one lambda only, the set is not continuous, and that is an exact fact."""
    facts = facts_on(example("conjecture"), F(25), F(20), F(30))
    assert {result.verdict for result in verdicts(facts).values()} == {Verdict.REFUTED}
    assert {line.verdict for line in check(certificate_text(facts).encode())} == {"REFUTED"}


def test_a_neuron_that_enters_takes_one_still_piece() -> None:
    """Where all networks fit the linear part, an event costs a piece, not a hundred halvings towards it."""
    rng = np.random.default_rng(0)
    Z, y = np.round(rng.standard_normal((12, 2)), 3), np.round(rng.standard_normal(12), 3)
    found = relu_cert.path(Z.tolist(), y.tolist(), low="1/100", high="14/1000").report.cover
    assert not found.gaps
    assert any(piece.lifted is not None and len(piece.s) == 1 for piece in found.pieces)
    assert len(found.pieces) <= 15


def test_a_larger_lift_where_no_neuron_ties_yet_is_no_crash() -> None:
    """Near lambda_max no neuron of this gated network is there to tie: the path goes on, with a gap there."""
    Z, y = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]], [0, 1, 1, 0, 3]
    found = relu_cert.path(Z, y, model="gated", bias=True, low="1/4")
    assert found.claims["continuous"].verdict is Verdict.REFUTED
    assert len(found.report.cover.gaps) <= 1
