"""The work at an interval of lambdas is bounded, whatever is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F

import pytest

from relu_cert.driver.optimum import solver_of_path
from relu_cert.errors import Late, Unsettled
from relu_cert.path import follow as module
from relu_cert.path.pieces import Piece
from relu_cert.path.tube import FollowedBranch
from tests.path.cases import example, facts_on


def test_an_interval_whose_points_are_settled_and_whose_pieces_are_not_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bound it would be bisected some 10^7 times. What was not settled is a gap: nothing is left out."""
    tried = []
    around = module._Search.around

    def points_only(search: module._Search, a: F, b: F, near: FollowedBranch, *, even: bool = False) -> Piece:
        tried.append((a, b))
        if b - a > 4 * module.POINT * a:
            raise Unsettled("no piece")
        return around(search, a, b, near, even=even)

    monkeypatch.setattr(module._Search, "around", points_only)
    monkeypatch.setattr(module, "TRIES", 40)
    found = facts_on(example("xor"), F(1, 10), F(1, 10), F(1, 9)).path
    assert found is not None
    assert not found.cover.pieces
    assert [(gap.lo, gap.hi) for gap in found.cover.gaps] == [(F(1, 10), F(1, 9))]
    assert 40 < len(tried) < 400


def test_time_that_is_over_in_a_solve_is_a_gap_and_keeps_what_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver itself ends with Late; the pieces that were proved before stay, the rest is gaps that say so."""
    solve, calls = module.solved, []

    def late(*given: object) -> object:
        calls.append(given)
        if len(calls) > 2:
            raise Late
        return solve(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "solved", late)
    found = facts_on(example("conjecture-relu"), F(1), F(1, 50), F(8)).path
    assert found is not None
    pieces, gaps = found.cover.pieces, found.cover.gaps
    assert pieces and gaps and all(gap.reason == module.LATE for gap in gaps)
    assert not any(piece.lo < gap.hi and gap.lo < piece.hi for piece in pieces for gap in gaps)
    assert sum(one.hi - one.lo for one in (*pieces, *gaps)) >= F(8) - F(1, 50)


def test_a_still_piece_that_was_refused_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every wider interval that is bisected comes to the same event: its still pieces are refused once."""
    still: list[tuple[F, F]] = []
    even: list[tuple[F, F]] = []

    def refuse(tried: list[tuple[F, F]]) -> Callable[..., Piece]:
        def built(search: module._Search, a: F, b: F, *rest: object) -> Piece:
            tried.append((a, b))
            raise Unsettled("no piece")

        return built

    monkeypatch.setattr(module._Search, "built", refuse(still))
    monkeypatch.setattr(module._Search, "evenly", refuse(even))
    problem = example("xor")
    floats = solver_of_path(problem)
    search = module._Search(problem, floats, lambda done, total: None, (F(9), F(10)))
    near = search.branched(search.solved(F(19, 2)), F(1, 2))
    for _ in range(2):
        assert search.across_event(F(9), F(10), near, 0.5, F(1, 100)) is None
        assert search.across_evenly(F(9), F(10), near, 0.5, F(1, 100)) is None
    assert len(still) == len(even) == 1
