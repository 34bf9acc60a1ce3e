"""By hand: pairs of networks, the penalty of a given one, its parts, and enclosures of the softmax."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from tests.verify.oracle.brute import mat, vec
from tests.verify.score import CORPUS
from verify import Rejected, check
from verify.network.check import check_penalty, parts_of, required
from verify.outputs import softmax
from verify.problem.problem import Problem
from verify.rules.logistic.value import ONE
from verify.rules.pair import network, squares
from verify.text import Node

SIX = Problem("relu", F(2), mat([[1]] * 6), vec(*[1, 0] * 6), targets=2)
NODE = Node(None, None, "network")


@pytest.mark.parametrize(
    ("problem", "convention", "value", "batch", "right"),
    [
        (SIX, "paper", "2", None, True),
        (SIX, "paper", "2", 6, True),
        (SIX, "paper", "2", 3, False),
        (SIX, "sklearn", "2", None, True),
        (SIX, "sklearn", "1", 3, True),
        (SIX, "sklearn", "4/3", 4, False),  # 4 does not divide 6
        (SIX, "sklearn", "2", 0, False),
        (SIX, "pytorch", "1/3", None, True),  # n C / 2
        (SIX, "pytorch", "2/3", None, False),
        (SIX, "pytorch-sum", "4", None, True),
        (SIX, "scnn", "1/3", None, False),
        (replace(SIX, logistic=True), "pytorch", "1/3", None, True),  # n
        (replace(SIX, logistic=True), "pytorch-sum", "2", None, True),
        (replace(SIX, logistic=True), "pytorch-sum", "4", None, False),
        (replace(SIX, logistic=True), "scnn", "1/3", None, False),
        (replace(SIX, logistic=True), "sklearn", "1", 3, True),
        (replace(SIX, logistic=True, targets=1, y=vec(*[1] * 6)), "paper", "2", None, True),
        (replace(SIX, logistic=True, targets=1, y=vec(*[1] * 6)), "scnn", "1/3", None, False),
        (replace(SIX, logistic=True, targets=1, y=vec(*[1] * 6)), "pytorch", "1/3", None, True),
        (replace(SIX, targets=1, y=vec(*[1] * 6)), "scnn", "1/3", None, True),
    ],
)
def test_penalties_of_several_outputs(
    problem: Problem, convention: str, value: str, batch: int | None, right: bool
) -> None:
    """lambda = 2 on six points and two outputs: squares are a mean over all entries, the softmax over the points."""
    node = Node({"convention": convention, "value": value, "batch": batch}, None, "penalty")
    if right:
        check_penalty(problem, node)
    else:
        with pytest.raises(Rejected):
            check_penalty(problem, node)


def test_parts_of_given_networks() -> None:
    """Which parts there may be, and which keys there must be, for each kind of problem."""
    one = replace(SIX, targets=1, y=vec(*[1] * 6))
    assert parts_of(one) == ("stationary", "own", "pruned", "directions", "nearest")
    assert parts_of(replace(one, logistic=True)) == ("pruned",)
    assert parts_of(replace(one, free=("skip",))) == ("stationary", "pruned")
    assert (parts_of(SIX), parts_of(replace(SIX, logistic=True))) == (("stationary",), ())
    keys = ("file", "penalty", "W1", "w2", "b2", "gap", "objective")
    assert required(one, NODE) == keys and required(replace(one, free=("skip",)), NODE) == (*keys, "skip")
    assert required(SIX, NODE) == tuple("W2" if key == "w2" else key for key in keys)
    with pytest.raises(Rejected, match="no skip connection beside several outputs"):
        required(replace(SIX, free=("skip",)), NODE)


def told(*neurons: tuple[str, str, str], lower: Any = 200, y: Any = (0, 0, 0, 0)) -> Any:
    """What is told of these neurons on z = (1, 0), (0, 1)."""
    problem = Problem("relu", F(1), mat([[1, 0], [0, 1]]), vec(*y), targets=2)
    entries = [{"w": w, "v": v, "norm": norm} for w, v, norm in neurons]
    return network(problem, F(lower), Node(entries, None, "first"))


def test_networks_that_are_told_apart() -> None:
    """By the directions of w and v, with the sums of |w||v|; neurons of other directions stand by themselves."""
    assert told(("3 4", "1 0", "5"), ("6 8", "1/2 0", "5"), ("3 4", "0 2", "10")) == {
        ((3, 4), (1, 0)): 10,
        ((3, 4), (0, 1)): 10,
    }
    assert told() == {}
    for wrong in (("0 0", "1 0", "0"), ("3 4", "0 0", "0")):
        with pytest.raises(Rejected, match="vectors other than zero"):
            told(wrong)
    for norm in ("0", "-5", "4"):
        with pytest.raises(Rejected, match="exactly"):
            told(("3 4", "1 0", norm))
    assert told(("1 0", "1 0", "1"), lower=2) and not told(lower=0)
    with pytest.raises(Rejected, match="an objective of 1"):
        told(("1 0", "1 0", "1"), lower=1)
    assert told(("1 0", "1 0", "1"), y=(3, 2, 0, 1), lower="11/2")  # (4 + 4 + 1) / 2 + 1
    with pytest.raises(Rejected, match="an objective of 5"):
        told(("1 0", "1 0", "1"), y=(3, 2, 0, 1), lower=5)


@pytest.mark.parametrize(
    "row", [(0, "1/2", "1/2"), (1, 1, -1), (1, 0, 1), (0, 0, 0), ("1/3", "1/3", "1/3"), (2, 0, -1)]
)
def test_rows_that_are_no_class(row: Any) -> None:
    """A single 1, and 0 elsewhere."""
    problem = Problem("relu", F(1), mat([[1], [2]]), vec(0, 1, 0, *row), targets=3)
    with pytest.raises(Rejected, match="rows with a single 1"):
        softmax.with_classes(problem, NODE)
    assert softmax.with_classes(replace(problem, y=vec(0, 1, 0, 1, 0, 0)), NODE).logistic


def test_where_there_are_pairs() -> None:
    """With squares and several outputs, and nothing that is free or decayed."""
    assert squares(SIX)
    for other in ({"targets": 1}, {"logistic": True}, {"free": ("skip",)}, {"roots": vec(1)}):
        assert not squares(replace(SIX, **other))


def test_ends_of_the_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lower ends make the lower bound and the upper ones the other; the widest enclosure counts for all chances."""
    monkeypatch.setattr(softmax, "exp_of_minus", lambda x: (ONE // 2, ONE))
    monkeypatch.setattr(softmax, "log_of", lambda x: (int(x * 100), int(x * 300)))
    assert softmax.loss_between(vec(0, 0), vec(1, 0)) == (100, 600)
    top = softmax.loss_between(vec(3, 1), vec(0, 1))
    assert top == (2 * ONE + 100, 2 * ONE + 600)
    monkeypatch.setattr(softmax, "log_of", lambda x: (-7, -6) if x < F(1, 2) else (-20, -3))
    problem = Problem("relu", F(2), mat([[1]]), vec(1, 0), targets=2)
    logs, far = softmax.logarithms(problem, vec("1/4", "3/4"), F(1, 8), NODE)
    assert sum(logs) == 0 and far == 1 + F(2 * 17 * 2, ONE)


@pytest.mark.parametrize(("key", "sign", "message"), [("lower", 1, "entropies"), ("upper", -1, "the objective of the")])
def test_bounds_of_the_softmax_are_checked(key: str, sign: int, message: str) -> None:
    """A bound that is better by 10^-30 is rejected."""
    tree = json.loads((CORPUS / "accepted" / "given-outputs-softmax.json").read_bytes())
    value = tree["facts"]["value"]
    value[key] = str(F(value[key]) + sign * F(1, 10**30))
    with pytest.raises(Rejected, match=message):
        check(json.dumps(tree).encode())
