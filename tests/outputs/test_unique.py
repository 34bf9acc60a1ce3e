"""Whether all optimal networks with several outputs are one: planted sets, and what the checker says of forged ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relu_cert import certify
from relu_cert.claims.optimum import OF_THE_SET
from relu_cert.outputs.optimum import setting
from relu_cert.outputs.pair import merged
from tests.outputs.data import drawn, problem_of, ratio
from verify import VerifyError, check

Certificate = dict[str, Any]
ONE = (
    ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(3))),
    ((Fraction(0), Fraction(2)), (Fraction(1), Fraction(0))),
)


def told(found: Any) -> dict[str, str]:
    """The verdicts."""
    return {result.claim: str(result.verdict) for result in found.results}


@pytest.fixture(scope="module")
def alone() -> Certificate:
    """The certificate of random data with kinks, whose optimal network is unique."""
    Z, Y = drawn(1, 12, 3, 2)
    found = certify(Z, Y, ratio(setting(problem_of(Z, Y)), 0.2))
    certificate: Certificate = json.loads(found.certificate)
    assert told(found) == dict.fromkeys(("optimal", "fit", *OF_THE_SET), "PROVED")
    assert any(one["basis"] for one in certificate["facts"]["cover_set"]["classes"])
    return certificate


def test_a_unique_network_has_all_its_claims_accepted(alone: Certificate) -> None:
    """The checker re-derives every claim from the leaves, the classes and the weights."""
    lines = check(json.dumps(alone).encode())
    assert {line.claim for line in lines} == {"optimal", "fit", *OF_THE_SET}


def test_a_continuum_is_not_called_unique() -> None:
    """Z = I, Y = S + lambda I: all u >= 0 tie, and different factorisations of S are different networks."""
    found = certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1)
    said = told(found)
    assert said["optimal"] == "PROVED" and said["p-unique"] == "REFUTED" and said["minimal"] == "UNDECIDED"
    assert found.value.lower == found.value.upper == 5
    lines = {line.claim: line.proved for line in check(found.certificate.encode())}
    assert "differ by more than splitting" in lines["p-unique"]


def test_a_multiple_value_alone_is_no_continuum() -> None:
    """Z = I, Y = (1 + lambda) I: all u >= 0 tie, but e_1 and e_2 are the only way to write S = I over them."""
    said = told(certify([[1, 0], [0, 1]], [[2, 0], [0, 2]], 1))
    assert said["optimal"] == "PROVED" and said["p-unique"] == "UNDECIDED"


def test_a_forged_pair_is_rejected() -> None:
    """The same network twice, split or in another order; one that is not optimal; wrong norms; nothing."""
    good = json.loads(certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1).certificate)
    pair = good["facts"]["pair"]
    first, second = pair["first"], pair["second"]
    neuron = first[0]
    halves = [{**neuron, "v": " ".join(str(Fraction(x) / 2) for x in neuron["v"].split())} for _ in range(2)]
    for half in halves:
        half["norm"] = str(Fraction(neuron["norm"]) / 2)
    more = {**neuron, "norm": str(Fraction(neuron["norm"]) + 1)}
    for bad in (
        {"first": first, "second": first},
        {"first": first, "second": first[::-1]},
        {"first": first, "second": [*halves, *first[1:]]},
        {"first": first, "second": second[1:]},
        {"first": first, "second": []},
        {"first": first, "second": [more, *first[1:]]},
        {"first": first, "second": [{**neuron, "norm": "0"}, *first[1:]]},
    ):
        forged = json.loads(json.dumps(good))
        forged["facts"]["pair"] = bad
        with pytest.raises(VerifyError):
            check(json.dumps(forged).encode())
    good["problem"]["objective"] = "1/2|Xw-y|^2 + lambda*sum|w_b|"
    with pytest.raises(VerifyError):
        check(json.dumps(good).encode())


def test_rows_that_are_the_same_up_to_a_swap_of_outputs() -> None:
    """Data that a swap of features and outputs maps to themselves: the one network is mapped to itself, too."""
    found = certify([[2, 1], [1, 2], [1, 0], [0, 1]], [[3, 1], [1, 3], [2, 0], [0, 2]], "1/3")
    u = np.abs(found.network.W1)
    if told(found)["p-unique"] == "PROVED":
        w = sorted(map(tuple, (u * np.linalg.norm(found.network.W2, axis=1)[:, None]).round(8).tolist()))
        assert w == sorted((b, a) for a, b in w)


def test_the_zero_network_is_unique() -> None:
    """Above lambda_max no leaf has an optimal neuron, and no class is needed."""
    Z, Y = drawn(6, 8, 2, 2)
    said = told(certify(Z, Y, ratio(setting(problem_of(Z, Y)), 1.1)))
    assert said["p-unique"] == "PROVED"


def test_most_drawn_networks_are_unique_and_accepted_as_such() -> None:
    """Many draws: every certificate is accepted with the verdicts that it states, and most networks are unique."""
    unique = 0
    for seed in range(6):
        Z, Y = drawn(20 + seed, 10, 2, 2)
        found = certify(Z, Y, ratio(setting(problem_of(Z, Y)), 0.3))
        lines = {line.claim: line.verdict for line in check(found.certificate.encode())}
        assert lines == told(found)
        unique += lines["p-unique"] == "PROVED"
    assert unique >= 4


def first(certificate: Certificate) -> dict[str, Any]:
    """The first class with a line through its direction."""
    classes: list[dict[str, Any]] = certificate["facts"]["cover_set"]["classes"]
    return next(one for one in classes if one["basis"])


def without_class(c: Certificate) -> None:
    """A class less."""
    c["facts"]["cover_set"]["classes"].pop()
    c["facts"]["cover_set"]["masses"] = c["facts"]["cover_set"]["masses"].rsplit(" ", 1)[0]


def twice(c: Certificate) -> None:
    """A class twice: its columns are dependent."""
    found = c["facts"]["cover_set"]
    found["classes"].append(found["classes"][0])
    found["masses"] += " " + found["masses"].split()[0]


def turned(c: Certificate) -> None:
    """A direction that is not on its face."""
    u = [int(x) for x in first(c)["u"].split()]
    first(c)["u"] = " ".join(str(x + (x >> 40)) if i == 0 else str(x) for i, x in enumerate(u))


def reversed_(c: Certificate) -> None:
    """The opposite direction."""
    first(c)["u"] = " ".join(str(-int(x)) for x in first(c)["u"].split())


def set_margin(x: Fraction) -> Callable[[Certificate], None]:
    """Another margin."""
    return lambda c: first(c).update(margin=str(Fraction(first(c)["margin"]) * x))


def no_basis(c: Certificate) -> None:
    """Nothing holds the neuron on its face."""
    first(c)["basis"] = []


def wrong_masses(c: Certificate) -> None:
    """Weights that are not those of the fit, but would be positive."""
    K = len(c["facts"]["cover_set"]["classes"])
    c["facts"]["cover_set"]["masses"] = " ".join(["0"] * K)


def wider(c: Certificate) -> None:
    """Bounds that are honest, but too far apart: the ball is large."""
    value = c["facts"]["value"]
    c["facts"]["primal"]["neurons"][0]["norm"] = str(Fraction(c["facts"]["primal"]["neurons"][0]["norm"]) + 1)
    value["upper"] = str(Fraction(value["upper"]) + Fraction(c["problem"]["lambda"]))
    c["facts"]["fit"]["radius_squared"] = str(2 * (Fraction(value["upper"]) - Fraction(value["lower"])))


def refused(claim: str, verdict: str) -> Callable[[Certificate], None]:
    """A claim that does not follow."""
    return lambda c: c["claims"].append({"claim": claim, "verdict": verdict})


def other_verdict(c: Certificate) -> None:
    """p-unique is refuted."""
    next(one for one in c["claims"] if one["claim"] == "p-unique")["verdict"] = "REFUTED"


FORGED = {
    "without_class": without_class,
    "twice": twice,
    "turned": turned,
    "reversed": reversed_,
    "more": set_margin(Fraction(64)),
    "tiny": set_margin(Fraction(1, 10**60)),
    "negative": set_margin(Fraction(-1)),
    "no_basis": no_basis,
    "masses": wrong_masses,
    "wider": wider,
    "convex": refused("convex-unique", "PROVED"),
    "licq": refused("licq", "PROVED"),
    "sensitivity": refused("sensitivity", "PROVED"),
    "strict": refused("strict-complementarity", "PROVED"),
    "refuted": other_verdict,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_set_is_rejected(alone: Certificate, name: str) -> None:
    """Classes that are missing, doubled, moved, or whose margin is wrong; claims that do not carry over."""
    forged = json.loads(json.dumps(alone))
    FORGED[name](forged)
    assert forged != alone
    with pytest.raises(VerifyError):
        check(json.dumps(forged).encode())


def test_one_network_that_is_written_in_two_ways_is_no_pair() -> None:
    """Neurons with other lengths of w and v, or in another order, are the same network."""
    found = certify([[0, 1], [1, 0]], [[0, -1], [-1, 0]], "1/10")
    assert str(found.claims["optimal"].verdict) == "PROVED"
    other = tuple((tuple(2 * x for x in w), tuple(x / 2 for x in v)) for w, v in ONE[::-1])
    assert merged(ONE) == merged(other) == merged((ONE[0], *((w, tuple(x / 2 for x in v)) for w, v in 2 * ONE[1:])))
