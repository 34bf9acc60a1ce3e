"""Every claim of the paper reaches its verdict by machine, on few instances here and on many in a campaign."""

from __future__ import annotations

import pytest

from properties.codec import decode_text, encode_text
from properties.model import Answer
from properties.registry import all_claims, load, module_names
from properties.run import run_claim, verify_witnesses

pytestmark = pytest.mark.long

EXAMPLES = 12

HOLD = """
lemma:unique-fit-cgl; prop:sol-fn-cgl; prop:cgl-alternate; cor:uniqueness-cond-cgl; lemma:unique-cgl;
prop:non-negative-regression; prop:minimal-solutions; cor:minimal-unique; lemma:maximal-sol;
cor:smallest-solution-cgl; prop:value-continuity-cgl; prop:map-continuity-cgl (closed);
prop:model-fit-continuity; prop:row-ce; prop:min-norm-interp; prop:min-norm-program; lemma:l2-reformulation;
prop:l2-convergence; prop:constraint-reduced; lemma:second-order-stationary; lemma:scaling-unique;
lemma:mapping-equality; prop:p-unique; cor:relu-sol-fn; prop:general-position-relation;
lemma:pruning-paths-equiv; lemma:bounded-solutions-cgl; lemma:lambda-convergence; prop:minimal-complexity;
corollary: columns of X_E; connected: the staircase; robust: antipodal pairs;
robust: interpolated points; robust: kernel dependence; cover: leaf lemma; cover: bisection and star; leaders: triangles
"""
FAIL = """
prop:unique-sol; m! solutions; bound on |D_Z|; alg:pruning-solutions; lemma:one-step-pruning;
alg:pruning-solutions-nn; beta~ when dependent; prop:map-continuity-cgl (open); lemma:lagrange-dual; min-norm
dual w.l.o.g.; prop:local-sol-fn; prop:local-sol-fn (hypotheses); prop:stationary-points; m >= m*; m* = dim
span; prop:relu-unique; prop:one-neuron; cor:relu-continuity; lemma:min-norm-nn; conjecture: min-norm path;
app:general-losses; max-l2 program; D_Z with >=; tables; prop:pruning-correctness
"""
EMPTY = """
def:group-dependence; prop:minimal-sol-characterization; lemma:pruning-span
"""


def labels(text: str) -> set[str]:
    """The labels of a list, separated by semicolons."""
    return {" ".join(label.split()) for label in text.split(";")}


EXPECTED = {
    **dict.fromkeys(labels(HOLD), "holds"),
    **dict.fromkeys(labels(FAIL), "refuted"),
    **dict.fromkeys(labels(EMPTY), "vacuous"),
}


def test_every_row_of_the_ledger_has_its_claim() -> None:
    """The labels of the modules are exactly those of the ledger."""
    assert {claim.label for claim in all_claims().values()} == set(EXPECTED)


def test_every_module_says_its_label_and_its_statement() -> None:
    """LABEL and STATEMENT of a module are those of its claim, one sentence in ASCII; its name comes from the label."""
    from importlib import import_module

    for name, claim in all_claims().items():
        module = import_module(f"properties.claims.{name}")
        assert claim.label == module.LABEL
        assert claim.printed.statement == module.STATEMENT
        assert module.STATEMENT.isascii()
        assert module.STATEMENT.endswith(".")
        if ":" in claim.label and " " not in claim.label:
            assert name == claim.label.replace(":", "_").replace("-", "_")


@pytest.mark.parametrize("name", module_names())
def test_the_machine_reaches_the_verdict(name: str) -> None:
    """The printed statement gets the verdict of the ledger, every witness refutes, the repaired statement survives."""
    entry = run_claim(load(name), EXAMPLES)
    assert entry.problems == ()
    assert entry.printed.verdict == EXPECTED[entry.claim.label], entry.printed.evidence
    if entry.printed.verdict == "refuted":
        assert entry.witnesses
        assert entry.repaired is not None
    if entry.printed.verdict == "holds":
        assert entry.printed.instances >= 2


@pytest.mark.parametrize("name", [n for n in module_names() if load(n).witnesses])
def test_a_witness_does_not_touch_the_repaired_statement(name: str) -> None:
    """Where both statements speak about the same instances, the witness is no witness against the repaired one."""
    claim = load(name)
    assert claim.repaired is not None
    for witness in claim.witnesses:
        try:
            outcome = claim.repaired.check(witness.instance)
        except (TypeError, ValueError, AttributeError):
            continue  # the repaired statement speaks about another kind of instance
        assert outcome.answer is not Answer.FAILS, outcome.why


@pytest.mark.parametrize("name", module_names())
def test_witnesses_survive_writing_and_reading(name: str) -> None:
    """A witness that was written as text and read again is the same instance and refutes as before."""
    claim = load(name)
    witnesses, slips = verify_witnesses(claim)
    assert all(w.refutes for w in (*witnesses, *slips))
    for witness in claim.witnesses:
        again = decode_text(encode_text(witness.instance))
        assert again == witness.instance
        assert claim.printed.check(again).answer is Answer.FAILS
