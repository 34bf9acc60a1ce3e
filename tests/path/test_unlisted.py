"""Paths of networks whose patterns are not listed: what covers prove agrees with what the list proves, and forged
evidence is rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from relu_cert.commands import follow
from relu_cert.data.dataset import Source
from relu_cert.errors import Unsettled
from relu_cert.path import follow as follow_module
from relu_cert.path.follow import _Search as Search
from relu_cert.path.follow import follow_path
from relu_cert.path.pieces import Piece
from relu_cert.path.tube import FollowedBranch, Refused
from relu_cert.path.unlisted import training
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import relu, unlisted_relu
from relu_cert.prove.facts import Attained, LambdaMax
from relu_cert.report.path import PathReport
from relu_cert.report.progress import Progress
from relu_cert.request import in_python, path_ends
from verify import VerifyError, check

pytestmark = pytest.mark.long

F = Fraction
SIZES = {"plane": (14, 2, F(2, 5)), "space": (14, 3, F(2, 3))}


def rows(name: str) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
    """Gaussian data of two decimals."""
    n, d, _ = SIZES[name]
    rng = np.random.default_rng(7 if d == 3 else 3)
    Z, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    return tuple(tuple(F(f"{x:.2f}") for x in z) for z in Z), tuple(F(f"{x:.2f}") for x in y)


@cache
def followed(name: str, listed: bool) -> PathReport:
    """The path, by a list or by covers."""
    Z, y = rows(name)
    problem = relu(Z, y, enumerate_patterns(Z)) if listed else unlisted_relu(Z, y)
    source = Source("nowhere", "0" * 64, "csv", target=len(Z[0]))
    with Progress(quiet=True) as stages:
        return follow(problem, source, path_ends(SIZES[name][2], 1, in_python), stages)


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts it."""
    try:
        check(json.dumps(content).encode())
    except VerifyError:
        return False
    return True


@pytest.mark.parametrize("name", SIZES)
def test_covers_and_lists_agree(name: str) -> None:
    """Both paths are complete, with the same verdicts, the same breakpoints and the same objective."""
    one, other = followed(name, True), followed(name, False)
    assert not one.cover.gaps and not other.cover.gaps
    verdicts = [
        {r.claim: r.verdict for r in report.results if r.claim != "patterns-complete"} for report in (one, other)
    ]
    assert verdicts[0] == verdicts[1] and {"continuous", "breakpoints", "curve"} <= verdicts[0].keys()
    assert len(one.breakpoints) == len(other.breakpoints) >= 1
    for a, b in zip(one.breakpoints, other.breakpoints, strict=True):
        assert max(a.lo, b.lo) < min(a.hi, b.hi)
        assert (a.kind, a.above, a.below) == (b.kind, b.above, b.below)


@pytest.mark.parametrize("name", SIZES)
def test_the_certificate_is_accepted_without_patterns(name: str) -> None:
    """The checker needs no list, and says that all of it is proved."""
    content = json.loads(followed(name, False).certificate_text)
    assert "patterns" not in content["facts"]
    assert {line.verdict for line in check(json.dumps(content).encode())} == {"PROVED"}


def smooth(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The smooth pieces with at least one neuron."""
    return [piece for piece in content["facts"]["path"]["pieces"] if len(piece["s"]) > 1 and piece["classes"]]


def covers(piece: dict[str, Any]) -> list[dict[str, Any]]:
    """The covers of its ends."""
    found: list[dict[str, Any]] = piece["multipliers"]
    return found


def swapped(piece: dict[str, Any]) -> None:
    """Each end gets the cover of the other one."""
    piece["multipliers"] = piece["multipliers"][::-1]


def without_class(piece: dict[str, Any]) -> None:
    """A class less."""
    for key in ("classes", "weights", "inverse"):
        piece[key] = piece[key][:-1]


def other_pattern(piece: dict[str, Any]) -> None:
    """A class with another pattern."""
    bits = piece["classes"][0]["pattern"]
    piece["classes"][0]["pattern"] = bits.translate({48: 49, 49: 48})


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no margin": lambda piece: [end.update(margin=0) for end in covers(piece)],
    "no tie": lambda piece: [end.update(ties=[]) for end in covers(piece)],
    "a wider ball": lambda piece: piece.update(radius=str(F(piece["radius"]) * 10**6)),
    "a narrower ball": lambda piece: piece.update(radius="0"),
    "one end": lambda piece: piece.update(multipliers=piece["multipliers"][:1], out=[None]),
    "the same end twice": lambda piece: piece.update(multipliers=piece["multipliers"][:1] * 2),
    "ends swapped": swapped,
    "trees of the other sign": lambda piece: [end.update({"+": end["-"], "-": end["+"]}) for end in covers(piece)],
    "a class less": without_class,
    "another pattern": other_pattern,
    "no covers": lambda piece: piece.update(multipliers=[None, None]),
    "outs of a list": lambda piece: piece.update(out=[{"+": [], "-": []}] * 2),
}


@pytest.mark.parametrize("wrong", FORGED)
def test_forged_covers_are_rejected(wrong: str) -> None:
    """Each change of the evidence of a smooth piece is rejected; unchanged, the certificate is accepted."""
    tried = 0
    whole = json.loads(followed("plane", False).certificate_text)
    whole["facts"].pop("curve")
    whole["claims"] = [claim for claim in whole["claims"] if claim["claim"] not in ("curve", "breakpoints")]
    assert accepted(whole)
    for number in range(len(smooth(whole))):
        content = json.loads(json.dumps(whole))
        FORGED[wrong](smooth(content)[number])
        if content != whole:
            tried += 1
            assert not accepted(content), number
    assert tried


def test_lambda_max_must_be_known() -> None:
    """Without lambda_max the path is one gap, and nothing is claimed."""
    Z, y = rows("plane")
    problem = unlisted_relu(Z, y)
    largest = LambdaMax(F(100), None, followed("plane", True).largest.attained, F(1))
    found = follow_path(problem, training(problem), largest, F(1, 10), F(1, 5))
    assert not found.pieces and [(gap.lo, gap.hi) for gap in found.gaps] == [(F(1, 10), F(1, 5))]


def test_faces_are_put_right_until_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two changes of faces that are a millionth apart, the faces of the branch before them are put right twice;
    after once the tube is too wide, however narrow a piece is tried."""
    rng = np.random.default_rng(0)
    Z = tuple(tuple(F(f"{x:.4f}") for x in z) for z in rng.standard_normal((200, 3)))
    y = tuple(F(int(x)) for x in np.sign(rng.standard_normal(200)))
    problem, tried = unlisted_relu(Z, y), []
    build = follow_module.build

    def counted(*arguments: Any) -> Piece:
        tried.append(arguments)
        return build(*arguments)

    monkeypatch.setattr(follow_module, "build", counted)
    largest = LambdaMax(F(523), None, Attained(), None)  # about lambda_max^2, which is far above the interval
    found = follow_path(problem, training(problem), largest, F(3371, 1000), F(3398, 1000))
    assert found.complete
    assert 5 <= len(tried) < 40


class Hopeless(Search):
    """A search in which nothing is settled."""

    def at(self, eta: F, h: F) -> FollowedBranch:
        """No branch anywhere."""
        raise Unsettled("nothing is known here")

    def settled(self, eta: F) -> bool:
        """It always seems worth while to look closer."""
        return True

    def onset(self, a: F, b: F) -> None:
        """No onset anywhere."""


def test_gaps_beside_each_other_widen() -> None:
    """Where nothing can be settled, the search is over after some thousand tries, not after millions."""
    Z, y = rows("plane")
    problem = unlisted_relu(Z, y)
    search = Hopeless(problem, training(problem), lambda done, total: None, (F(1), F(2)))
    search.prove_between(*search.etas)
    assert not search.pieces and search.tried < 2000
    assert search.gaps[0].hi == 1 and search.gaps[-1].lo == F(1, 2)
    assert all(one.lo == other.hi for one, other in pairwise(search.gaps))


class Blind(Search):
    """A search whose branch never goes on: whatever does not begin with a solution is refused."""

    def built(self, a: F, b: F, near: FollowedBranch) -> Piece:
        """The piece of a branch that was solved afresh."""
        if self.last is not None:
            raise Refused("the tube is wider than its radius")
        return super().built(a, b, near)


def test_a_branch_that_went_too_far_is_solved_afresh() -> None:
    """Before anything is called a gap: one that goes on beyond an event that it did not see is refused for ever."""
    Z, y = rows("plane")
    problem, largest = unlisted_relu(Z, y), followed("plane", True).largest
    root = F(float(largest.squared) ** 0.5)
    search = Blind(problem, training(problem), lambda done, total: None, (1 / (F(9, 10) * root), 1 / (F(3, 5) * root)))
    search.prove_between(*search.etas)
    assert len(search.pieces) > 1 and not search.gaps
