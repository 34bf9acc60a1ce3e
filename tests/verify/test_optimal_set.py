"""The fact `optimal_set` and the claims p-unique and convex-unique."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from tests.verify.build import optimal_sets, plain
from tests.verify.mutate import mutants
from tests.verify.oracle.brute import mat, vec
from verify import Rejected, VerifyError, check
from verify.numbers.bounds import root_above
from verify.sets.superclasses import stretch

CORPUS = Path(__file__).parent / "corpus" / "accepted"
FLIPPED = {"PROVED": "REFUTED", "REFUTED": "PROVED", "UNDECIDED": "REFUTED"}


def accepted(tree: dict[str, Any]) -> bool:
    """Whether the checker accepts a certificate."""
    try:
        check(json.dumps(tree).encode())
    except VerifyError:
        return False
    return True


def with_verdicts(tree: dict[str, Any], **verdicts: str) -> dict[str, Any]:
    """The certificate with other verdicts on p-unique (`p`) and convex-unique (`convex`); "" leaves the claim out."""
    new = {"p-unique": verdicts.get("p", ""), "convex-unique": verdicts.get("convex", "")}
    kept = [claim for claim in tree["claims"] if claim["claim"] not in new]
    return {**tree, "claims": kept + [{"claim": c, "verdict": v} for c, v in new.items() if v]} | {"end": tree["end"]}


def in_order(tree: dict[str, Any]) -> dict[str, Any]:
    """The same with `end` last."""
    return {**{k: v for k, v in tree.items() if k != "end"}, "end": tree["end"]}


def stated(tree: dict[str, Any]) -> tuple[str, str]:
    """The verdicts on p-unique and convex-unique."""
    verdicts = {claim["claim"]: claim["verdict"] for claim in tree["claims"]}
    return verdicts["p-unique"], verdicts["convex-unique"]


@pytest.mark.parametrize("name", optimal_sets.SETS)
def test_planted_sets_are_accepted(name: str) -> None:
    """Every planted optimal set is accepted with its known verdicts, with the raw data at hand."""
    case = optimal_sets.planted_set(name)
    lines = {line.claim: line.verdict for line in check(case.text, case.raw)}
    assert (lines["p-unique"], lines["convex-unique"]) == stated(case.certificate)


@pytest.mark.parametrize("name", optimal_sets.SETS)
def test_the_opposite_verdicts_are_rejected(name: str) -> None:
    """Neither verdict can be turned round, alone or with the other."""
    tree = optimal_sets.planted_set(name).certificate
    p, convex = stated(tree)
    for verdicts in ({"p": FLIPPED[p]}, {"convex": FLIPPED[convex]}):
        assert not accepted(in_order(with_verdicts(tree, **verdicts)))
    assert accepted(in_order(with_verdicts(tree, p="UNDECIDED", convex="UNDECIDED")))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in optimal_sets.SETS if not name.endswith("R > 0")])
def test_no_change_of_the_fact_turns_a_verdict_round(name: str) -> None:
    """Whatever is changed in `optimal_set`, what is false is not accepted as PROVED or REFUTED."""
    tree = optimal_sets.planted_set(name).certificate
    p, convex = stated(tree)
    wrong = [json.dumps(in_order(with_verdicts(tree, p=FLIPPED[p]))["claims"])]
    wrong.append(json.dumps(in_order(with_verdicts(tree, convex=FLIPPED[convex]))["claims"]))
    head = {key: value for key, value in tree.items() if key not in ("claims", "end")}
    facts = {key: value for key, value in tree["facts"].items() if key not in ("lambda_max", "fit")}
    for mutant in mutants({"optimal_set": facts.pop("optimal_set")}, spread=2):
        if not mutant.place.startswith("optimal_set"):
            continue
        inner = json.dumps(facts)[:-1] + ", " * bool(facts) + mutant.text[1:]
        start = json.dumps({**head, "facts": 0})[:-2] + inner
        for claims in wrong:
            text = f'{start}, "claims": {claims}, "end": {json.dumps(tree["end"])}}}'
            with pytest.raises(VerifyError):
                check(text.encode())


def changed(name: str, edit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A planted certificate with its `optimal_set` edited in place."""
    tree = copy.deepcopy(optimal_sets.planted_set(name).certificate)
    edit(tree["facts"]["optimal_set"])
    return tree


def put(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """The edit that sets one value."""

    def edit(fact: dict[str, Any]) -> None:
        target: Any = fact
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = to

    return edit


def drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    """The edit that removes one entry."""

    def edit(fact: dict[str, Any]) -> None:
        target: Any = fact
        for key in path[:-1]:
            target = target[key]
        del target[path[-1]]

    return edit


def again(key: str, number: int) -> Callable[[dict[str, Any]], None]:
    """The edit that repeats an entry at the end."""
    return lambda fact: fact[key].append(copy.deepcopy(fact[key][number]))


def several(*edits: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Several edits, one after the other."""

    def edit(fact: dict[str, Any]) -> None:
        for each in edits:
            each(fact)

    return edit


NEAR = "1 1/1000000000000 1/1000000000000 1"
WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "lift not orthogonal to theta": ("twins, R = 0", put("lift", 0, to="1 -1 0 1"), r"lift\[0\]: expected a row orth"),
    "lift dependent": ("twins, R = 0", put("lift", 1, to="2 -2 0 0"), "lift: expected independent"),
    "lift with a row too much": ("twins, R = 0", lambda f: f["lift"].append("1 1 -1 -1"), r"\|F'x\| > 0 \|x\|"),
    "lift with a row too few": ("twins, R = 0", drop("lift", 1), "masses: expected 2 numbers"),
    "lift of another length": ("twins, R = 0", put("lift", 0, to="1 -1 0"), r"lift\[0\]: expected 4 numbers"),
    "no lift, though the outputs are dependent": ("twins, R = 0", put("lift", to=[]), r"\|A x\| > 0 \|x\|"),
    "lift where all is unique": ("line, R = 0", put("lift", to=["1 -1 0"]), "split: expected 1 numbers"),
    "class missing": ("kink, R = 0", drop("classes", 0), "out.*(class or an entry)"),
    "class missing, gated": ("interpolated, R = 0", drop("classes", 3), "a class for the pattern 100"),
    "class missing, direct": ("constrained", drop("classes", 1), "a class for block 1"),
    "class missing, of a superclass": ("twins, R > 0", drop("classes", 2), "class or an entry"),
    "class twice": ("line, R = 0", again("classes", 0), "no two classes"),
    "class twice, gated": ("gated_alone, R = 0", again("classes", 0), "no two classes"),
    "class twice, direct": ("group lasso of 1", again("classes", 0), "no two classes"),
    "class of a piece that cannot be": (
        "line, R = 0",
        lambda f: f["classes"].append({**f["classes"][0], "pattern": "001"}),
        "masses: expected 2 numbers",
    ),
    "class with the other sign": ("line, R = 0", put("classes", 0, "sign", to="-"), "strictness"),
    "pattern of another cell": ("line, R = 0", put("classes", 0, "pattern", to="100"), "pattern: expected strictness"),
    "gated pattern not in D_Z": ("gated_alone, R = 0", put("classes", 0, "pattern", to="000"), "a pattern in D_Z"),
    "kink left out": (
        "kink, R = 0",
        several(put("classes", 0, "kinks", to=[]), put("classes", 0, "basis", to=[])),
        "strictness",
    ),
    "kink left out, the row counted as active": (
        "kink, R = 0",
        several(
            put("classes", 0, "kinks", to=[]), put("classes", 0, "basis", to=[]), put("classes", 0, "pattern", to="110")
        ),
        "strictness",
    ),
    "one of three kinks left out": (
        "loose_kink, R = 0",
        several(put("classes", 0, "kinks", to=[1, 3]), put("classes", 0, "fixed", to="")),
        "strictness",
    ),
    "kink by another name": (
        "parallel_kinks, R = 0",
        several(put("classes", 0, "kinks", to=[3]), put("classes", 0, "basis", to=[3])),
        "names of hyperplanes",
    ),
    "row of a kink counted as active": (
        "opposed_kinks, R = 0",
        put("classes", 0, "pattern", to="1001"),
        "pattern is 0",
    ),
    "idle kink left out": (
        "idle_kink, R = 0",
        several(put("classes", 0, "kinks", to=[]), put("classes", 0, "idle", to=[])),
        "strictness",
    ),
    "idle kink that is needed": (
        "kink, R = 0",
        several(put("classes", 0, "idle", to=[1]), put("classes", 0, "basis", to=[])),
        "(whatever the residual|strictness)",
    ),
    "idle kink in the basis": ("idle_kink, R = 0", put("classes", 0, "basis", to=[1]), "not in the basis"),
    "idle kink as basis": (
        "idle_kink, R = 0",
        several(put("classes", 0, "idle", to=[]), put("classes", 0, "basis", to=[1])),
        "basis: expected strict",
    ),
    "idle constraint that pushes": (
        "constrained",
        several(put("classes", 0, "idle", to=[0]), put("classes", 0, "basis", to=[])),
        "whatever the residual",
    ),
    "kink where there is none": (
        "fine, R = 0",
        several(put("classes", 0, "kinks", to=[2]), put("classes", 0, "basis", to=[2])),
        "strictness",
    ),
    "kink that is active": ("kink, R = 0", put("classes", 0, "pattern", to="110"), "rows where the pattern is 0"),
    "kink on a zero row": ("zero_row, R = 0", put("classes", 0, "kinks", to=[1]), "names of hyperplanes"),
    "kinks not ascending": ("loose_kink, R = 0", put("classes", 0, "kinks", to=[3, 1, 4]), "ascending"),
    "basis with too many": (
        "loose_kink, R = 0",
        several(put("classes", 0, "basis", to=[1, 3, 4]), put("classes", 0, "fixed", to="")),
        "basis: expected independent",
    ),
    "basis with too few": (
        "loose_kink, R = 0",
        several(put("classes", 0, "basis", to=[1]), put("classes", 0, "fixed", to="1/4 1/4")),
        "a basis that spans",
    ),
    "basis outside of the kinks": ("kink, R = 0", put("classes", 0, "basis", to=[2]), "(some of the kinks|names)"),
    "fixed part above 1": ("loose_kink, R = 0", put("classes", 0, "fixed", to="9/8"), "between 0 and 1"),
    "fixed part below 0": ("loose_kink, R = 0", put("classes", 0, "fixed", to="-1/8"), "between 0 and 1"),
    "fixed part that leaves nothing": (
        "loose_kink, R = 0",
        put("classes", 0, "fixed", to="1"),
        "basis: expected strict",
    ),
    "constraint left out, direct": (
        "constrained",
        several(put("classes", 0, "kinks", to=[]), put("classes", 0, "basis", to=[])),
        "strictness",
    ),
    "kink of a free block": ("constrained", put("classes", 1, "kinks", to=[0]), "an index below 0"),
    "out entry missing": ("fine, R = 0", put("out", "+", to=[]), "class or an entry"),
    "out entry too long": ("fine, R = 0", put("out", "+", 0, 2, to="0"), r"\|Z'm\|\^2 <"),
    "out entry of the wrong sign": ("fine, R = 0", put("out", "+", 0, 2, to="1"), "a value for row . that is <= 0"),
    "out entry on a lower row": ("fine, R = 0", put("out", "+", 0, to=["100", [0, 1], "2 -3/2"]), "that is >= 3"),
    "out entry twice": ("fine, R = 0", lambda f: f["out"]["+"].append(f["out"]["+"][0]), "no entry yet"),
    "out entry for the class": ("fine, R = 0", put("out", "+", 0, 0, to="110"), "(no entry yet|that is >=)"),
    "out entry on the other side": ("fine, R = 0", put("out", "-", to=[["100", [], ""]]), "no entry yet"),
    "out for gated": ("gated_alone, R = 0", put("out", to={"+": [], "-": []}), "out: expected null"),
    "out null for relu": ("line, R = 0", put("out", to=None), "out: expected an object"),
    "a sigma, as it was": ("line, R = 0", put("sigma", to="1"), "unknown key 'sigma'"),
    "masses too many": ("line, R = 0", put("masses", to="1 1"), "masses: expected 1 numbers"),
    "masses off": ("twins, R = 0", put("masses", to="3"), "split: expected every positive weight"),
    "masses off, R > 0": ("pair, R > 0", put("masses", to="8"), "split: expected every positive weight"),
    "mass negative": ("twins, R = 0", put("masses", to="-2"), "every mass"),
    "split where there is none": ("line, R = 0", put("split", to="1"), "split: expected 0 numbers"),
    "split empty": ("twins, R = 0", put("split", to=""), "split: expected 4 numbers"),
    "split on the boundary": ("twins, R = 0", put("split", to="1 0 0 1"), "forced: expected 4 numbers"),
    "split outside": ("twins, R = 0", put("split", to="3/2 -1/2 -1/2 3/2"), "weights >= 0"),
    "split that misses the target": (
        "twins, R = 0",
        put("split", to="1 1 1/2 1/2"),
        "split: expected every positive weight",
    ),
    "split near the boundary": ("twins, R > 0", put("split", to=NEAR), "split: expected every positive weight"),
    "forced where nothing is": ("line, R = 0", put("forced", to="0 0 0"), "forced: expected 0 numbers"),
    "forced where all are active": ("twins, R = 0", put("forced", to="0 0 0 0"), "forced: expected 0 numbers"),
    "forced on a segment": (
        "twins, R = 0",
        several(put("split", to="1 0 0 1"), put("forced", to="1 -1 0 0")),
        "the span of the 0 void rows",
    ),
    "forced empty": ("forced_pair, R = 0", put("forced", to=""), "forced: expected 2 numbers"),
    "forced on the wrong side": ("forced_pair, R = 0", put("forced", to="0 1"), "h.q > "),
    "forced zero": ("forced_pair, R = 0", put("forced", to="0 0"), "h.q > "),
    "forced outside of the lift": ("forced_pair, R = 0", put("forced", to="1 -1"), "void rows"),
    "forced in a row that is not void": ("forced_segment, R = 0", put("forced", to="0 1 0 1"), "void rows"),
    "forced where the target is not 0": (
        "gated_pair, R = 0",
        several(put("split", to="4/3 0"), put("forced", to="0 -1")),
        "the span of the 0 void rows",
    ),
    "forced that leaves a superclass empty": ("pair, R = 0", put("split", to="0 0"), "in every superclass"),
    "forced class with weight": ("forced_pair, R = 0", put("split", to="1/2 1/2"), "forced: expected 0 numbers"),
    "active class as forced": ("forced_segment, R = 0", put("split", to="2 0 0 2 0 0 0 0"), "h.q > 0 for class 1"),
    "unknown key": ("line, R = 0", put("more", to="0"), "unknown key"),
    "key missing": ("line, R = 0", drop("split"), "the key split"),
    "unknown key of a class": ("line, R = 0", put("classes", 0, "more", to=0), "unknown key"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sets_are_rejected(name: str) -> None:
    """Each error is found, for the reason that it has."""
    start, edit, reason = WRONG[name]
    with pytest.raises(Rejected, match=reason):
        check(json.dumps(changed(start, edit)).encode())


@pytest.mark.parametrize("name", optimal_sets.EXACT)
def test_exact_sets_are_accepted(name: str) -> None:
    """Every exact set is accepted with its known verdicts, and with no other."""
    case = optimal_sets.exact_set(name)
    lines = {line.claim: line.verdict for line in check(case.text, case.raw)}
    p, convex = stated(case.certificate)
    assert (lines["p-unique"], lines["convex-unique"]) == (p, convex)
    for verdicts in ({"p": FLIPPED[p]}, {"convex": FLIPPED[convex]}):
        assert not accepted(in_order(with_verdicts(case.certificate, **verdicts)))


WRONG_EXACT: dict[str, tuple[str, dict[str, Any], str]] = {
    "weights off": ("line", {"solutions": ["2"]}, r"solutions\[0\]: expected the fit"),
    "weight negative": ("twins", {"solutions": ["1 0 0 1", "2 -1 -1 2"]}, "weights >= 0"),
    "the same twice": ("twins", {"solutions": ["1 0 0 1", "1 0 0 1"]}, "two that are different"),
    "three solutions": ("twins", {"solutions": ["1 0 0 1", "0 1 1 0", "1/2 1/2 1/2 1/2"]}, "one solution, or two"),
    "no solution": ("line", {"solutions": []}, "one solution, or two"),
    "a tied neuron forgotten": ("twins", {"solutions": ["1 0 1"]}, "4 numbers"),
    "one of many, dependent": ("twins", {"solutions": ["1/2 1/2 1/2 1/2"], "farkas": "0 0 0 0"}, "independent outputs"),
    "one of many, a vertex": ("twins", {"solutions": ["1 0 0 1"], "farkas": "0 0 0 0"}, "h.q > 0"),
    "one of many, equal blocks": ("equal blocks", {"solutions": ["1 0 0"], "farkas": "0 0"}, "h.q > 0"),
    "Farkas vector on the wrong side": ("kink without weight", {"farkas": "0 0 1"}, "h.q > 0"),
    "Farkas vector that vanishes": ("kink without weight", {"farkas": "0 0 0"}, "h.q > 0"),
    "Farkas vector not orthogonal": ("kink without weight", {"farkas": "1 0 -1"}, "h.q = 0"),
    "Farkas vector too short": ("line", {"farkas": "0 0"}, "farkas: expected 3 numbers"),
    "Farkas vector beside two solutions": ("twins", {"farkas": "0 0 0 0"}, "farkas: expected 0 numbers"),
}


@pytest.mark.parametrize("name", WRONG_EXACT)
def test_wrong_exact_sets_are_rejected(name: str) -> None:
    """Each error is found, for the reason that it has."""
    start, new, reason = WRONG_EXACT[name]
    tree = copy.deepcopy(optimal_sets.exact_set(start).certificate)
    tree["facts"]["exact_set"] |= new
    with pytest.raises(Rejected, match=reason):
        check(json.dumps(tree).encode())


def test_an_exact_set_needs_an_exact_optimum() -> None:
    """With lower < upper there is no exact set."""
    tree = copy.deepcopy(optimal_sets.planted_set("line, R > 0").certificate)
    del tree["facts"]["optimal_set"]
    tree["facts"]["exact_set"] = {"solutions": ["1"], "farkas": "0 0 0"}
    with pytest.raises(Rejected, match="lower = upper"):
        check(json.dumps(tree).encode())


def test_tied_entries_must_attain_lambda() -> None:
    """A multiplier as long as lambda whose neuron does not attain it says too little about its piece."""
    tree = copy.deepcopy(optimal_sets.exact_set("line").certificate)
    assert accepted(tree)
    for entry in tree["facts"]["dual"]["multipliers"]["+"]:
        if entry[0][0] == "0":  # u < 0: m = (0, 0, 2) gives |Z'm| = 2; (0, -1/2, 2) gives 3 = lambda
            entry[1], entry[2] = [1], "-1/2"
    with pytest.raises(Rejected, match=r"t\.\(Zv\)_\+ = lambda\^2"):
        check(json.dumps(tree).encode())


def test_a_kink_without_weight_decides_nothing() -> None:
    """A class with kinks whose weight may be zero neither proves nor refutes that the convex solution is unique."""
    tree = optimal_sets.planted_set("kink_without_weight, R = 0").certificate
    for verdict in ("PROVED", "REFUTED"):
        assert not accepted(in_order(with_verdicts(tree, p="PROVED", convex=verdict)))


def test_zero_is_unique_from_lambda_max_on() -> None:
    """lambda = lambda_max is enough for both claims without any `optimal_set`; lambda below it is not."""
    Z, y = mat([[1], [2], [-1]]), vec(1, 1, 2)
    case = plain.zero_network("at lambda_max", Z, y, Fraction(3))
    assert accepted(in_order(with_verdicts(case.certificate, p="PROVED", convex="PROVED")))
    assert not accepted(in_order(with_verdicts(case.certificate, p="REFUTED")))
    below = copy.deepcopy(optimal_sets.planted_set("line, R = 0").certificate)
    del below["facts"]["optimal_set"]
    assert not accepted(below)


def test_classes_of_a_superclass_in_any_order() -> None:
    """The order of the classes is free where masses and split follow it."""
    tree = changed("twins, R = 0", lambda f: f["classes"].reverse())
    assert accepted(tree)


def test_only_free_columns_leave_out_a_split() -> None:
    """Two equal blocks, and nothing is free: a set of this form says how its mass is split."""
    tree = json.loads((CORPUS / "optimal_set-04.json").read_text())
    assert accepted(tree) and not tree["facts"]["optimal_set"]["lift"]
    tree["facts"]["optimal_set"]["split"] = ""
    with pytest.raises(Rejected, match=r"facts\.optimal_set\.split"):
        check(json.dumps(tree).encode())


def test_roots_are_bounded_from_above() -> None:
    """root_above is exact for squares, and else above by at most a relative 2^-128."""
    assert root_above(Fraction(49, 9)) == Fraction(7, 3)
    assert root_above(Fraction(0)) == 0
    for x in (Fraction(2), Fraction(1, 3), Fraction(10**40 + 1, 7), Fraction(1, 10**91)):
        above = root_above(x)
        assert above**2 > x > (above * (1 - Fraction(2, 2**128))) ** 2


def test_the_stretch_is_that_of_the_inverse() -> None:
    """1 / |A^-1|_F, a little less: 12/5 for diag(3, 4), also with long entries; 0 where columns are dependent."""
    q = 10**300 + 1
    for A in (fmpq_mat([[3, 0], [0, 4], [0, 0]]), fmpq_mat([[fmpq(3 * q + 1, q), fmpq(1, q)], [0, 4]])):
        assert Fraction(12, 5) - Fraction(1, 10**35) < stretch(A) <= Fraction(12, 5)
    assert stretch(fmpq_mat([[1, 1], [1, 1]])) == stretch(fmpq_mat([[1, 2]])) == stretch(fmpq_mat([[0], [0]])) == 0
