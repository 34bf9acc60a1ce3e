"""Networks without a list of patterns: what is proved is accepted by the checker, for few features and for many."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

import verify
from relu_cert.certificate import certificate, dumps
from relu_cert.check import LambdaChoice, find_facts
from relu_cert.claims import decide
from relu_cert.claims.model import Verdict
from relu_cert.cover.model import Limits, Moment
from relu_cert.data.model import Source
from relu_cert.leaders.model import Leaders
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import relu, unlisted_relu
from relu_cert.prove.facts import Facts

F = Fraction


class Told:
    """Stages that keep the log."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []

    def stage(self, name: str) -> nullcontext[None]:
        """Nothing is shown."""
        return nullcontext()

    def advance(self, done: int, total: int) -> None:
        """Nothing is shown."""

    def tell(self, moment: Moment) -> None:
        """Kept."""
        self.moments.append(moment)


def solved(n: int, d: int, seconds: float) -> tuple[Facts, Told]:
    """Random labels and features of two decimals, lambda a fifth of lambda_max."""
    rng = np.random.default_rng(n + d)
    Z = tuple(tuple(F(int(x), 100) for x in row) for row in rng.integers(-200, 200, (n, d)))
    y = tuple(F(int(x)) for x in rng.choice([-1, 1], n))
    told = Told()
    choice = LambdaChoice(ratio=F(1, 5))
    return find_facts(unlisted_relu(Z, y), choice, F(1, 10**9), told, limits=Limits(seconds)), told


def raw_and_source(facts: Facts) -> tuple[bytes, Source]:
    """The data as a file."""
    network = facts.problem.network
    if network is None:
        raise ValueError("a network has data")
    rows = [",".join(map(str, (*z, t))) for z, t in zip(network.Z, facts.problem.y, strict=True)]
    d = len(network.Z[0])
    raw = "\n".join([",".join([*(f"x{j}" for j in range(d)), "y"]), *rows]).encode() + b"\n"
    return raw, Source("data.csv", hashlib.sha256(raw).hexdigest(), "csv", target=d, header=True)


def accepted(facts: Facts) -> dict[str, str]:
    """The verdicts that the checker accepts."""
    raw, source = raw_and_source(facts)
    results = decide(facts)
    lines = verify.check(dumps(certificate(source, facts, results)).encode(), raw)
    assert [(line.claim, line.verdict) for line in lines] == [(r.claim, str(r.verdict)) for r in results]
    return {line.claim: line.verdict for line in lines}


def test_few_features_finish_exactly() -> None:
    """Sixty points with three features: optimal to many digits by a cover, and every verdict is that of the list."""
    facts, told = solved(60, 3, 60.0)
    said = accepted(facts)
    network = facts.problem.network
    if network is None:
        raise ValueError("a network has data")
    listed = relu(network.Z, facts.problem.y, enumerate_patterns(network.Z))
    other = decide(find_facts(listed, LambdaChoice(value=facts.lam), F(1, 10**9), told))
    assert said == {one.claim: str(one.verdict) for one in other if one.claim != "patterns-complete"}
    assert facts.value.relative_gap < F(1, 10**40)
    assert any(moment.objective is not None for moment in told.moments)


def test_many_features_have_a_proved_gap() -> None:
    """Forty points with fourteen features: the leaders bound p* from below, and nothing more is claimed."""
    facts, _ = solved(40, 14, 12.0)
    said = accepted(facts)
    assert isinstance(facts.dual.multipliers, Leaders)
    assert 0 < facts.value.lower < facts.value.upper
    assert said["fit"] == str(Verdict.PROVED)
    assert said["p-unique"] == str(Verdict.UNDECIDED)


def test_many_columns_of_small_rank_are_no_cover() -> None:
    """More columns than the checker takes for a cover: the leaders, whatever the rank is."""
    rng = np.random.default_rng(7)
    some = rng.integers(-9, 9, (40, 3))
    Z = tuple(tuple(F(int(x)) for x in row) for row in some @ rng.integers(-2, 3, (3, 17)))
    y = tuple(F(int(x)) for x in rng.choice([-1, 1], 40))
    choice = LambdaChoice(ratio=F(1, 5))
    facts = find_facts(unlisted_relu(Z, y), choice, F(1, 10**9), Told(), limits=Limits(8.0))
    assert isinstance(facts.dual.multipliers, Leaders)
    assert accepted(facts)["fit"] == str(Verdict.PROVED)


def test_two_proofs_of_the_dual_point_are_rejected() -> None:
    """A certificate proves its dual point once."""
    facts, _ = solved(30, 3, 60.0)
    raw, source = raw_and_source(facts)
    content = certificate(source, facts, ())
    content["facts"]["leaders"] = {"unit": "1", "theta": " ".join(["0"] * 30), "+": {}, "-": {}}
    with pytest.raises(verify.Rejected, match="one proof of the dual point"):
        verify.check(dumps(content).encode(), raw)
