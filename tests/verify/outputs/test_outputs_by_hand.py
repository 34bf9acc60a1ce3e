"""Certificates for several outputs: what is true is accepted, and everything that is changed in it is noticed."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from unittest.mock import patch

import pytest

from tests.verify.outputs.planted import (
    bag,
    changed,
    in_bags,
    in_bags_with_decayed_bias,
    packed,
    square,
    tree,
    with_decayed_bias,
    with_free_bias,
    with_skip,
)
from verify import VerifyError, check
from verify.errors import Rejected

PROOF = "facts.cover.proof"


def accepted(certificate: dict[str, Any], data: bytes | None = None) -> list[str]:
    """The accepted lines."""
    return [line.proved for line in check(json.dumps(certificate).encode(), data)]


def test_a_planted_optimum_is_accepted_exactly() -> None:
    """Z = I, Y = S + lambda I: the minimum is 5, on the ground of a network whose neurons are a continuum's."""
    first, second = check(json.dumps(square()).encode())
    assert "the global minimum lies in [5, 5]" in first.proved and "relative gap at most 0" in first.proved
    assert first.under == second.under == "networks with 2 outputs"


def test_another_network_of_the_continuum_is_as_good() -> None:
    """Other neurons, other predictions, the same objective."""
    neurons = [{"w": "1 1/2", "v": "2 1", "norm": "5/2"}, {"w": "0 1", "v": "0 3/2", "norm": "3/2"}]
    assert accepted(changed(square(), "facts.primal.neurons", neurons))


def test_a_splitted_tree_is_accepted() -> None:
    """A bisection that is not needed does no harm."""
    codes = bytes([200, 0, 200, 200, 200, 200])
    split = tree(codes, multipliers=bytes([0]), forms=bytes(5))
    assert accepted(changed(square(), f"{PROOF}.tree", split))


def test_a_form_that_is_zero_is_semidefinite() -> None:
    """N = 0 proves Q = 0, as its entries do."""
    assert accepted(changed(square(), f"{PROOF}.tree", tree(bytes([200] * 4), forms=bytes([0, 0, 0, 1, 0, 128, 0]))))


FORGED: list[tuple[str, Any]] = [
    ("problem.lambda", "999999999/1000000000"),
    ("problem.lambda", "0"),
    ("problem.lambda", "-1"),
    ("problem.objective", "1/2|Xw-y|^2 + lambda*sum|w_b|"),
    ("problem.model", "gated"),
    ("problem.Y", ["3 1"]),
    ("problem.Y", ["3", "1"]),
    ("problem.Y", ["3 1", "1"]),
    ("problem.Z", ["1 0", "0 1", "0 0"]),
    ("facts.cover.theta", "1000000001/1000000000 0 0 1"),
    ("facts.cover.theta", "1 0 0"),
    ("facts.cover.theta", "1 0 0 1 0"),
    ("facts.primal.neurons.0.norm", "1999999999/1000000000"),
    ("facts.primal.neurons.0.norm", "-2"),
    ("facts.primal.neurons.0.v", "1 1 1"),
    ("facts.primal.neurons.0.v", "1"),
    ("facts.primal.neurons.0.w", "0 0"),
    ("facts.primal.neurons.0.v", "0 0"),
    ("facts.primal.neurons.1.w", "0 1"),
    ("facts.primal.neurons.0", {"sign": "+", "w": "1 1", "norm": "2"}),
    ("facts.value.lower", "6"),
    ("facts.value.upper", "4"),
    ("facts.fit.radius_squared", "1"),
    (f"{PROOF}.basis", ["1 0", "2 0"]),
    (f"{PROOF}.basis", ["1 0"]),
    (f"{PROOF}.basis", ["1 0", "0 1", "1 1"]),
    (f"{PROOF}.tree", tree(bytes([200] * 3), forms=bytes(3))),
    (f"{PROOF}.tree", tree(bytes([200] * 5), forms=bytes(5))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), forms=bytes(5))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), forms=bytes(3))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), shares=b"\0", forms=bytes(4))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), multipliers=b"\0", forms=bytes(4))),
    (f"{PROOF}.tree", tree(bytes([199] * 4), forms=bytes(4))),
    (f"{PROOF}.tree", tree(bytes([204] * 4), forms=bytes(4))),
    (f"{PROOF}.tree", tree(bytes([203, 0] * 4), forms=bytes(4))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), forms=bytes([0, 0, 0, 33]))),
    (f"{PROOF}.tree", tree(bytes([200] * 4), forms=bytes([0, 0, 0, 1, 0, 128, 1]))),
    (f"{PROOF}.tree.codes", "no stream"),
    (f"{PROOF}.tree.codes", packed(bytes([200] * 4))[:-4]),
    (f"{PROOF}.ties", [{"lines": [0], "shares": "2"}]),
    (f"{PROOF}.ties", [{"lines": [0], "shares": "-1/2"}]),
    (f"{PROOF}.ties", [{"lines": [2], "shares": "1/2"}]),
    (f"{PROOF}.ties", [{"lines": [1, 0], "shares": "1/2 1/2"}]),
    ("input.targets", [2, 2]),
    ("input.targets", [2]),
    ("input.center", 1),
    ("input.labels", ["a"]),
    ("claims.0.verdict", "REFUTED"),
    ("claims.1.claim", "p-unique"),
]


@pytest.mark.parametrize("where", FORGED, ids=lambda where: f"{where[0]}={str(where[1])[:40]}")
def test_a_forged_certificate_is_not_accepted(where: tuple[str, Any]) -> None:
    """Each part is needed as it is."""
    with pytest.raises(VerifyError):
        accepted(changed(square(), *where))


@pytest.mark.parametrize("fact", ["patterns", "dual", "lambda_max", "cover_lambda_max", "optimal_set", "solution"])
def test_facts_of_one_output_are_unknown_here(fact: str) -> None:
    """No rule for one output is asked about several."""
    with pytest.raises(Rejected, match="such a problem can have"):
        accepted(changed(square(), f"facts.{fact}", {}))


def test_a_checker_without_the_test_of_leaves_would_accept_a_wrong_theta() -> None:
    """It is the leaf that rejects Theta = 2 I, and nothing else: lower would be 4, above what it is worth."""
    wrong = changed(changed(square(), "facts.cover.theta", "2 0 0 1"), "facts.value.lower", "13/2")
    wrong = changed(changed(wrong, "facts.value.upper", "5"), "facts.fit.radius_squared", "-3")
    with pytest.raises(Rejected, match="at every leaf"):
        accepted(wrong)
    with patch("verify.outputs.check.nonnegative", lambda _: True):
        assert accepted(wrong)


def test_a_form_that_is_nowhere_negative_needs_its_nonnegative_part() -> None:
    """Where N is written, Q - N must be semidefinite: Q = 0 on the tied cone is, but not less anything."""
    forms = bytes([0, 0, 0, 1]) + (2**15).to_bytes(2, "little")
    assert accepted(changed(square(), f"{PROOF}.tree", tree(bytes([200] * 4), forms=forms + b"\0")))
    wrong = changed(square(), f"{PROOF}.tree", tree(bytes([200] * 4), forms=forms + b"\1"))
    with pytest.raises(Rejected, match="at every leaf"):
        accepted(wrong)
    with patch("verify.outputs.check.semidefinite", lambda _: True):
        assert accepted(wrong)


def named(raw: bytes, **input_: Any) -> dict[str, Any]:
    """The planted certificate for a file."""
    found = changed(square(), "input.sha256", sha256(raw).hexdigest())
    for key, value in input_.items():
        found = changed(found, f"input.{key}", value)
    return found


def test_the_raw_file_is_read_again() -> None:
    """Targets in their order; another number, column or order is noticed."""
    raw = b"1,0,3,1\n0,1,1,3\n"
    assert accepted(named(raw), raw)
    for wrong in (b"1,0,3,1\n0,1,1,4\n", b"1,0,3,1\n0,2,1,3\n"):
        with pytest.raises(Rejected):
            accepted(named(wrong), wrong)
    other = b"3,1,0,1\n1,0,1,3\n"
    assert accepted(named(other, targets=[0, 3]), other)
    with pytest.raises(Rejected, match="row 0"):
        accepted(named(raw, targets=[1, 3]), raw)


def test_classes_are_read_again() -> None:
    """One column for each label, in the order of the labels, less the means; a label too many or too few is noticed."""
    raw = b"a,b,kind\n1,0,x\n0,1,y\n"
    own = changed(
        named(raw, targets=[2], labels=["x", "y"], center=True, header=True), "problem.Y", ["1/2 -1/2", "-1/2 1/2"]
    )
    theta = "1/2 -1/2 -1/2 1/2"
    own = changed(changed(own, "facts.cover.theta", theta), "facts.primal.neurons", [])
    own = changed(changed(own, "facts.value.lower", "1/2"), "facts.value.upper", "1/2")
    assert accepted(own, raw)
    for labels in (["y", "x"], ["x", "z"], ["x", "x"]):
        with pytest.raises(Rejected):
            accepted(changed(own, "input.labels", labels), raw)
    with pytest.raises(Rejected, match="row 0"):
        accepted(changed(own, "input.center", False), raw)
    with pytest.raises(Rejected, match="header"):
        accepted(changed(own, "input.header", False), raw)


def test_no_rows_but_zeros_need_no_cone() -> None:
    """With Z = 0 the only cone is {0}, and Theta = Y."""
    zero = changed(changed(square(), "problem.Z", ["0 0", "0 0"]), f"{PROOF}.basis", [])
    zero = changed(changed(zero, f"{PROOF}.tree", tree(bytes([200]), forms=b"\0")), "facts.primal.neurons", [])
    zero = changed(changed(zero, "facts.cover.theta", "3 1 1 3"), "facts.value.lower", "10")
    assert accepted(changed(zero, "facts.value.upper", "10"))


PARTS = {
    "bags": (in_bags, "11/2"),
    "free bias": (with_free_bias, "6"),
    "decayed bias": (with_decayed_bias, "6"),
    "bags and decayed bias": (in_bags_with_decayed_bias, "6"),
    "skip": (with_skip, "3/2"),
}


@pytest.mark.parametrize("name", PARTS)
def test_bags_and_free_columns_are_parts_of_the_one_problem(name: str) -> None:
    """T = P'Theta, B'Theta = 0 and c for every output: planted optima are accepted exactly."""
    make, value = PARTS[name]
    first, second = check(json.dumps(make()).encode())
    assert f"lies in [{value}, {value}]" in first.proved
    assert ("bags" in second.under) == ("bags" in name) and ("bias" in second.under) == ("bias" in name)


FORGED_PARTS: list[tuple[str, str, Any]] = [
    ("bags", "problem.bags", [bag("1", 0, 1), bag("1", 0, 1)]),  # a row joined to a bag
    ("bags", "problem.bags", [bag("1", 0), bag("1", 1)]),  # left out of one
    ("bags", "problem.bags.1.scale", "1/2"),  # the mean for the sum
    ("bags", "problem.bags.1.times", [2, 1]),
    ("bags", "problem.bags.1.times", [0, 1]),
    ("bags", "problem.bags.1.scale", "-1"),
    ("bags", "problem.bags", [bag("1", 0), bag("1", 0, 1), bag("1", 1)]),
    ("bags", "problem.bags", [bag("1", 0), bag("1", 0)]),
    ("bags", "facts.cover.theta", "1 0 0 1"),
    ("bags", "input.pool", "mean"),
    ("bags", "input.conv", "1d:3:stride=2"),
    ("free bias", "problem.free", []),  # the free column dropped
    ("free bias", "problem.free", ["skip"]),
    ("free bias", "problem.free", ["biases"]),
    ("free bias", "problem.free", ["output-bias", "skip"]),
    ("free bias", "facts.primal.free", "1 1"),
    ("free bias", "facts.primal.free", "1"),
    ("free bias", "facts.primal.free", ["1 2"]),
    ("free bias", "facts.primal.free", "1 2 0 0"),
    ("free bias", "facts.cover.theta", "1 0 0 1 -1 0"),
    ("free bias", "facts.cover.theta", "1 0 0 1 0 -1"),
    ("decayed bias", "problem.decayed.rho", "2"),
    ("decayed bias", "problem.decayed.roots", ["1", "1"]),
    ("decayed bias", "facts.cover.theta", "1 0 0 1"),
    ("decayed bias", "facts.primal.free", "1 0"),
    ("bags and decayed bias", "facts.cover.theta", "1 -1 0 1 -1 1"),
    ("skip", "facts.primal.free", "1 0"),
    ("skip", "facts.cover.theta", "1/2 0 0 1/2 1/2 0 0 0"),
]


@pytest.mark.parametrize(("name", "place", "value"), FORGED_PARTS, ids=lambda part: str(part)[:40])
def test_a_forged_part_is_not_accepted(name: str, place: str, value: Any) -> None:
    """A bag joined, the mean for the sum, a free column dropped, another dual point: each is noticed."""
    make, _ = PARTS[name]
    with pytest.raises(VerifyError):
        accepted(changed(make(), place, value))


def test_a_free_column_that_is_left_out_is_noticed_by_its_keys() -> None:
    """Without the key `free` of the problem, coefficients have no place."""
    wrong = with_free_bias()
    del wrong["problem"]["free"]
    with pytest.raises(Rejected):
        accepted(wrong)
    del wrong["facts"]["primal"]["free"]
    with pytest.raises(Rejected, match="fit - y"):
        accepted(wrong)


def test_only_the_test_of_orthogonality_notices_a_wrong_dual_point() -> None:
    """F does not see the row of zeros; without B'Theta = 0 a bound above the truth would be accepted."""
    wrong = changed(with_free_bias(), "facts.cover.theta", "1 0 0 1 0 1")
    wrong = changed(changed(wrong, "facts.value.lower", "17/2"), "facts.fit.radius_squared", "-5")
    with pytest.raises(Rejected, match="orthogonal to the free column 0"):
        accepted(wrong)
    with patch("verify.problem.variants.check_orthogonal", lambda *_: None):
        assert accepted(wrong)


WINDOWS = b"1,0,0,0,3,0\n0,1,1,0,3,4\n"
RECORDS = b"3,a,1,0,0\n3,b,0,1,4\n3,b,1,0,4\n"


def test_windows_are_unfolded_again() -> None:
    """From the raw file, with the targets at any place; another entry, target or rule is noticed."""
    own = changed(in_bags(), "input.sha256", sha256(WINDOWS).hexdigest())
    assert accepted(own, WINDOWS)
    for wrong in (b"1,0,0,0,3,0\n0,1,2,0,3,4\n", b"1,0,0,0,3,0\n0,1,1,0,3,5\n", b"1,0,1,0,3,0\n0,1,1,0,3,4\n"):
        with pytest.raises(Rejected):
            accepted(changed(own, "input.sha256", sha256(wrong).hexdigest()), wrong)
    for key, value in [("conv", "1d:2"), ("targets", [4, 3]), ("targets", [0, 1]), ("center", True)]:
        with pytest.raises(Rejected):
            accepted(changed(own, f"input.{key}", value), WINDOWS)


def test_records_are_gathered_again() -> None:
    """Rows with one text in the column of bags, between targets; targets that differ in a bag are noticed."""
    own = changed(in_bags(), "input.sha256", sha256(RECORDS).hexdigest())
    del own["input"]["conv"]
    own["input"] |= {"bags": "1", "targets": [0, 4]}
    assert accepted(own, RECORDS)
    for wrong in (RECORDS.replace(b"1,0,4", b"1,0,3"), RECORDS.replace(b"b,1", b"a,1"), RECORDS.replace(b"b", b"a")):
        with pytest.raises(Rejected):
            accepted(changed(own, "input.sha256", sha256(wrong).hexdigest()), wrong)
    for targets in ([0, 1], [4, 0], [0, 5]):
        with pytest.raises(Rejected):
            accepted(changed(own, "input.targets", targets), RECORDS)


def test_classes_of_bags_are_centred_over_bags() -> None:
    """The mean is that of data points, bags, not of records; the labels are those of the records."""
    raw = b"name,a,b,kind\np,1,0,x\nq,0,1,y\nq,1,0,y\n"
    own = changed(in_bags(), "input.sha256", sha256(raw).hexdigest())
    del own["input"]["conv"]
    own["input"] |= {"bags": "name", "targets": [3], "labels": ["x", "y"], "center": True, "header": True}
    own["problem"]["Y"], own["facts"]["primal"]["neurons"] = ["1/2 -1/2", "-1/2 1/2"], []
    own["facts"]["cover"]["theta"] = "1/2 -1/2 -1/2 1/2"
    own["facts"]["value"] |= {"lower": "1/2", "upper": "1/2"}
    assert accepted(own, raw)
    with pytest.raises(Rejected, match="labels"):
        other = raw.replace(b",y", b",x")
        accepted(changed(own, "input.sha256", sha256(other).hexdigest()), other)
