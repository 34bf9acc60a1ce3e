"""Refutations: every witness of the registry is accepted, nothing that refutes nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.claims import tables as printed_tables
from properties.cli import main as properties_main
from properties.exact.cone import project_by_enumeration
from properties.exact.patterns import patterns
from properties.exact.problem import is_optimal
from properties.model import Claim
from properties.refutations import direct, refutation, refutations
from properties.registry import all_claims
from properties.strategies import PlantedCGL, planted_cgl, rational_matrix, vector, with_candidate
from tests.verify.build import witnesses
from verify import Declined, Rejected, Usage, VerifyError, check
from verify.__main__ import main as verify_main
from verify.problem.problem import read_problem
from verify.refutations import core
from verify.refutations import tables as tables_of_the_checker
from verify.refutations.statements import REFUTABLE
from verify.text import Node

CLAIMS = all_claims()
BY_LABEL = {claim.label: claim for claim in CLAIMS.values()}
FILES = refutations(CLAIMS)
WORDS = dict(line.split("\t") for line in Path(__file__).with_name("refuted.tsv").read_text().splitlines())
SLOW = {"bound on |D_Z|": 12, "prop:relu-unique": 12}  # at most that many changes are tried
MOST = 80

SETTINGS = settings(max_examples=60, derandomize=True, deadline=None)


def accepted(certificate: dict[str, Any]) -> bool:
    """Whether the checker accepts the file."""
    try:
        check(witnesses.encoded(certificate))
    except VerifyError:
        return False
    return True


def spread(entries: list[Any], most: int) -> list[Any]:
    """At most so many of them, evenly."""
    return entries[:: max(1, -(-len(entries) // most))]


def test_every_refuted_claim_has_a_checker() -> None:
    """The labels and statements that the checker knows are those of the claims with a witness, and no other."""
    expected = {c.label: c.printed.statement for c in CLAIMS.values() if c.witnesses}
    assert {label: entry.statement for label, entry in REFUTABLE.items()} == expected
    assert len(FILES) == sum(len(c.witnesses) for c in CLAIMS.values())


@pytest.mark.parametrize("name", FILES)
def test_accepted(name: str) -> None:
    """Every witness of the registry is accepted under its label, and what is said about it is exact, word for word."""
    (line,) = check(witnesses.encoded(FILES[name]))
    assert (line.claim, line.verdict, line.proved) == (FILES[name]["claim"], "REFUTED", WORDS[name])


@pytest.mark.parametrize("name", FILES)
def test_changed_numbers(name: str) -> None:
    """A witness with one number changed is rejected, unless the claim's own check finds that it still refutes."""
    certificate = FILES[name]
    label = certificate["claim"]
    changes = spread(list(witnesses.changed_numbers(certificate["witness"])), SLOW.get(label, MOST))
    rejected = 0
    for change, witness in changes:
        if not accepted(certificate | {"witness": witness}):
            rejected += 1
            continue
        assert witnesses.still_refutes(BY_LABEL[label], witness), f"{change} is accepted"
    assert rejected > 0 or not changes


@pytest.mark.parametrize("name", FILES)
def test_changed_structure(name: str) -> None:
    """Unknown keys, missing keys, missing entries and nulls are rejected or leave another exact refutation."""
    certificate = FILES[name]
    label = certificate["claim"]
    for change, witness in spread(list(witnesses.structure_changes(certificate["witness"])), SLOW.get(label, MOST)):
        if accepted(certificate | {"witness": witness}):
            assert witnesses.still_refutes(BY_LABEL[label], witness), f"{change} is accepted"


@pytest.mark.parametrize("name", FILES)
def test_frame(name: str) -> None:
    """Another statement, label, format, version, order or key is not accepted."""
    certificate = FILES[name]
    for change in (
        {"statement": certificate["statement"] + " "},
        {"statement": ""},
        {"claim": "lemma:unique-cgl"},
        {"claim": "no such claim"},
        {"claim": None},
        {"format": "relu_cert certificate", "version": 2},  # that of certificates
        {"end": "relu_cert certificate"},
        {"version": 0},
        {"version": "1"},
        {"extra": 1},
    ):
        with pytest.raises(Declined if change == {"version": 0} else Rejected):
            check(witnesses.encoded(certificate | change))
    with pytest.raises(Declined):
        check(witnesses.encoded(certificate | {"version": 2}))
    for key in certificate:
        with pytest.raises(Rejected):
            check(witnesses.encoded({k: v for k, v in certificate.items() if k != key}))
    with pytest.raises(Rejected):
        check(witnesses.encoded({"end": certificate["end"], **certificate}))


SAME_FACTS = {
    frozenset({"alg:pruning-solutions", "prop:pruning-correctness"}),
    frozenset({"m >= m*", "m* = dim span"}),
}


def test_witnesses_are_not_exchanged() -> None:
    """A witness is accepted under another label only if the same facts, or the other claim's check, contradict it."""
    for certificate in FILES.values():
        for label, entry in REFUTABLE.items():
            pair = {label, certificate["claim"]}
            if len(pair) == 1 or frozenset(pair) in SAME_FACTS:
                continue
            if accepted(certificate | {"claim": label, "statement": entry.statement}):
                assert witnesses.still_refutes(BY_LABEL[label], certificate["witness"]), pair


@pytest.mark.parametrize("label", [c.label for c in CLAIMS.values() if not c.witnesses])
def test_a_claim_that_holds(label: str) -> None:
    """No refutation of it is written, and none under its label is accepted."""
    claim: Claim = BY_LABEL[label]
    with pytest.raises(KeyError):
        refutation(claim, None)
    some = next(iter(FILES.values()))
    with pytest.raises(Rejected):
        check(witnesses.encoded(some | {"claim": label, "statement": claim.printed.statement}))


def test_large_files_are_declined() -> None:
    """A refutation is tiny; what is not is declined: by bytes, by digits, by rows of which all patterns are tried."""
    certificate = FILES["bound_on_patterns.refutation.json"]
    big = [["0"] * 40_000, ["1" * 300], ["1"] * 9]
    for Z in big:
        with pytest.raises(Declined):
            check(witnesses.encoded(certificate | {"witness": {"Z": Z}}))


def test_many_constraints_are_declined() -> None:
    """A block with more constraints than the checker projects with is declined, not worked on."""
    witness = FILES["prop_map_continuity_cgl_open.refutation.json"]["witness"]["problem"]
    crowded = witness | {"K": [[" ".join(["-1"] * 65)], None]}
    certificate = FILES["app_general_losses.refutation.json"]
    with pytest.raises(Declined, match="64 constraints"):
        check(witnesses.encoded(certificate | {"witness": {"problem": crowded, "w": ["0", "0"]}}))


def test_no_raw_data() -> None:
    """--data and --network make no sense with a refutation."""
    with pytest.raises(Usage):
        check(witnesses.encoded(next(iter(FILES.values()))), b"1,2\n")
    with pytest.raises(Usage):
        check(witnesses.encoded(next(iter(FILES.values()))), network=b"{}")


def test_command_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`properties --refutations` writes files that `verify` accepts by name, after what it refutes, without a note."""
    assert properties_main(["--refutations", str(tmp_path), "--only", "prop:unique-sol", "--quiet"]) == 0
    (path,) = map(Path, capsys.readouterr().out.split())
    assert path.name == "prop_unique_sol.refutation.json"
    assert json.loads(path.read_text()) == FILES[path.name]
    assert verify_main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"statement problem: {REFUTABLE['prop:unique-sol'].statement}",
        "accepted  prop:unique-sol    REFUTED    two solutions; any two blocks have at least 4 > n + 1 = 3 columns",
    ]
    path.write_text(path.read_text().replace('"6 8"', '"6 7"'))
    assert verify_main([str(path)]) == 1
    assert capsys.readouterr().out.startswith("rejected  certificate.witness.w: expected an optimal point")


def test_the_tables() -> None:
    """The checker's copy of the paper's tables is that of the claim."""
    found = tables_of_the_checker.FULL
    assert [most for _, small, _, most, _ in found if small == "small"] == list(printed_tables.SMALL.values())
    assert {name: (int(n), entries, most) for name, _, n, most, entries in found} == printed_tables.FULL


@SETTINGS
@given(st.integers(1, 3).flatmap(lambda d: st.tuples(st.lists(vector(d), max_size=4), vector(d))))
def test_projection(instance: Any) -> None:
    """The checker's projection is the one found by trying every set of constraints."""
    K, c = instance
    assert core.project(K, c) == project_by_enumeration(K, c)


@SETTINGS
@given(st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(lambda shape: rational_matrix(*shape)))
def test_patterns_by_trial(Z: Any) -> None:
    """D_Z and its open cells by trying every pattern are those by composition of cocircuits."""
    found, expected = core.d_z(Z, Node(None)), patterns(Z)
    texts = {tuple(bool(mask >> k & 1) for k in range(len(Z))): is_open for mask, is_open in found.items()}
    assert set(texts) == set(expected.all)
    assert {p for p, is_open in texts.items() if is_open} == set(expected.open)


@SETTINGS
@given(with_candidate(planted_cgl()))
def test_optimal_points(instance: tuple[PlantedCGL, Any]) -> None:
    """A point passes iff it is optimal; the tied blocks and the vertices are the planted ones."""
    planted, w = instance
    if not _rational(planted):
        return
    p = read_problem(Node(direct(planted.problem)))
    try:
        at = core.optimum(p, w, Node(None))
    except Rejected:
        assert not is_optimal(planted.problem, w)
        return
    assert is_optimal(planted.problem, w)
    assert tuple(at.E) == planted.E
    assert set(at.vertices(Node(None))) == set(planted.vertices)


def _rational(planted: PlantedCGL) -> bool:
    try:
        return planted.problem.lam > 0
    except ValueError:
        return False
