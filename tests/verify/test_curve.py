"""The fact `curve`: breakpoints, branches and samples that their evidence does not prove are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.path.curve import breakpoints, curve
from relu_cert.prove.facts import Facts
from relu_cert.prove.listed import Goal, refine_and_prove
from relu_cert.solve import prepare, solve
from tests.path.cases import facts_on, network
from tests.verify.mutate import mutants
from tests.verify.score import CORPUS
from verify import Limits, Rejected, VerifyError, check
from verify.facts import CURVE
from verify.facts import Facts as Checked
from verify.problem.problem import Problem, read_problem
from verify.rules import check_facts
from verify.rules.curve import Curve, check_curve
from verify.text import Node, load

F = Fraction
RELU = network([[2, 1], [-1, 3], [2, -3], [-4, -1], [1, 1]], [3, -1, 2, 1, -2])
GATED = network([[2, 1], [-1, 3], [2, -3]], [3, -1, 2], "gated")


@cache
def facts_of(name: str) -> Facts:
    """A path with one neuron that enters (relu also one that changes its face), and its curve."""
    problem, lo, hi = {"relu": (RELU, F(3, 2), F(4)), "gated": (GATED, F(9), F(20))}[name]
    facts = facts_on(problem, F(hi), lo, hi)
    if facts.path is None:
        raise AssertionError("no path")
    found = facts.path.cover
    enclosed = [one for one in breakpoints(problem, facts.lambda_max, found) if one is not None]
    return replace(facts, path=replace(facts.path, curve=curve(problem, found, enclosed)))


@cache
def text_of(name: str) -> str:
    """Its certificate."""
    facts = facts_of(name)
    net = facts.problem.source
    source = Source("", "0" * 64, "csv", target=len(net.Z[0]) if net else 0)
    return dumps(certificate(source, facts, decide(facts, ("continuous", "breakpoints", "curve"))))


@cache
def ground(name: str) -> tuple[Problem, Checked]:
    """What a curve rests on in this certificate, checked."""
    content = json.loads(text_of(name))
    fields = load(json.dumps(content).encode(), Limits()).record(*content)
    problem = read_problem(fields["problem"])
    earlier = {key: value for key, value in content["facts"].items() if key in ("patterns", "lambda_max", "path")}
    known = check_facts(problem, Node(earlier))
    return problem, known


def judge(name: str, fact: Any) -> Curve:
    """The checker's own judgement of another fact `curve` in this certificate, whose path is accepted."""
    return check_curve(*ground(name), Node(fact))[CURVE]


def reason(name: str, fact: Any) -> str:
    """Why the fact is rejected; "" if it is not."""
    try:
        judge(name, fact)
    except VerifyError as error:
        return str(error)
    return ""


def short(name: str) -> dict[str, Any]:
    """The last breakpoint, one branch and one sample."""
    fact = json.loads(text_of(name))["facts"]["curve"]
    active = [i for i, branch in enumerate(fact["branches"]) if branch["active"]]
    at = fact["branches"][active[0]]["piece"]
    return {
        "breakpoints": fact["breakpoints"][-1:],
        "branches": [fact["branches"][active[0]]],
        "samples": [next(one for one in fact["samples"] if one["piece"] == at)],
    }


@pytest.mark.parametrize("name", ["relu", "gated"])
def test_the_certificate_is_accepted(name: str) -> None:
    """All of it: every breakpoint, every branch, every sample, and the claims that rest on them."""
    facts = facts_of(name)
    assert facts.path is not None and facts.path.curve is not None
    found = facts.path.curve
    assert found.breakpoints and found.branches and found.samples
    lines = {line.claim: line for line in check(text_of(name).encode())}
    assert {line.verdict for line in lines.values()} == {"PROVED"}
    assert f"intervals: {len(found.breakpoints)};" in lines["breakpoints"].proved
    smooth = [piece for piece in facts.path.cover.pieces if len(piece.s) > 1]
    ends = {lam for piece in smooth for lam in (piece.lo, piece.hi)}
    assert ends <= {sample.lam for sample in found.samples} and found.samples == found.all


@pytest.mark.parametrize(("part", "claim"), [("breakpoints", "breakpoints"), ("samples", "curve")])
def test_empty_lists_prove_nothing(part: str, claim: str) -> None:
    """What is said of every entry of an empty list is not PROVED, by checker and producer alike."""
    tree = json.loads(text_of("relu"))
    tree["facts"]["curve"][part] = []
    with pytest.raises(Rejected, match="at least one"):
        check(json.dumps(tree).encode())
    tree["claims"] = [one for one in tree["claims"] if one["claim"] != claim]
    assert check(json.dumps(tree).encode())
    facts = facts_of("relu")
    assert facts.path is not None and facts.path.curve is not None
    less = replace(facts.path, curve=replace(facts.path.curve, **{part: ()}))
    (result,) = decide(replace(facts, path=less), (claim,))
    assert str(result.verdict) == "UNDECIDED"


def point(content: dict[str, Any]) -> dict[str, Any]:
    """The end at larger lambda of the breakpoint."""
    found: dict[str, Any] = content["breakpoints"][0]["above"]
    return found


def scaled(text: str, by: Fraction) -> str:
    """A vector times a number."""
    return " ".join(str(F(x) * by) for x in text.split())


def wide(fact: dict[str, Any]) -> None:
    """An interval that is wider than it may be."""
    fact["breakpoints"][0]["lo"] = str(F(fact["breakpoints"][0]["lo"]) * (1 - F(1, 10**12)))


def same(fact: dict[str, Any]) -> None:
    """Both ends on one side: nothing happens in between."""
    one = fact["breakpoints"][0]
    one["lo"], one["below"] = str(F(one["hi"]) * (1 - F(1, 10**30))), one["above"]


def no_weight(fact: dict[str, Any]) -> None:
    """An active neuron is said to have no weight."""
    weights = point(fact)["weights"].split()
    place = next(i for i, x in enumerate(weights) if x != "0")
    weights[place] = "0"
    point(fact)["weights"] = " ".join(weights)


def other_sign(fact: dict[str, Any]) -> None:
    """The neuron of the other sign."""
    entry = point(fact)["classes"][0]
    entry["sign"] = {"+": "-", "-": "+"}[entry["sign"]]


def fewer(fact: dict[str, Any]) -> None:
    """An active class is left out of a branch."""
    fact["branches"][0]["active"].pop()


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "too wide": (wide, "10^-12"),
    "turned round": (lambda f: f["breakpoints"][0].update(lo=f["breakpoints"][0]["hi"]), "lo < hi"),
    "nothing happens": (same, "the same"),
    "the same breakpoint counted twice": (
        lambda f: f["breakpoints"].append(f["breakpoints"][0]),
        "below the one before",
    ),
    "zero above, below lambda_max": (lambda f: f["breakpoints"][0].update(above=None), "lambda_max"),
    "a piece elsewhere": (lambda f: point(f).update(piece=0), "a lambda of the piece|smooth"),
    "no such piece": (lambda f: point(f).update(piece=10**6), "index"),
    "a point off the tube": (lambda f: point(f).update(s=scaled(point(f)["s"], F(1, 2))), "within"),
    "a point that is not feasible": (
        lambda f: point(f).update(s=scaled(point(f)["s"], 1 + F(1, 10**9))),
        "|v| <= 1|stays",
    ),
    "a point that is not sharp": (
        lambda f: point(f).update(s=scaled(point(f)["s"], 1 - F(1, 10**9))),
        "proved positive|not tied|strictness|stays",
    ),
    "negative weights": (
        lambda f: point(f).update(weights=scaled(point(f)["weights"], F(-1))),
        "a weight that stays >= 0",
    ),
    "no weight": (no_weight, "not tied|proved positive|strictness"),
    "the other sign": (other_sign, "stays|region|gain|vanishes|rows where"),
    "a sample elsewhere": (lambda f: f["samples"][0].update({"lambda": "1000"}), "a lambda of the piece"),
    "a sample that is too sure": (lambda f: f["samples"][0].update(radius="0"), "radius"),
    "an objective too high": (
        lambda f: f["samples"][0].update(lower=str(F(f["samples"][0]["upper"]) + F(1, 10**20))),
        "bound",
    ),
    "an objective too low": (
        lambda f: f["samples"][0].update(upper=str(F(f["samples"][0]["lower"]) - F(1, 10**20))),
        "bound",
    ),
    "a class less": (fewer, "not tied"),
    "a branch that is still": (
        lambda f: f["branches"][0].update(piece=f["breakpoints"][0]["above"]["piece"]),
        "smooth",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_rejected(wrong: str) -> None:
    """For the reason that is wrong with it; unchanged, it is accepted."""
    fact = short("relu")
    assert reason("relu", fact) == ""
    change, words = WRONG[wrong]
    change(fact)
    said = reason("relu", fact)
    assert any(word in said for word in words.split("|")), said
    tree = json.loads(text_of("relu"))
    tree["facts"]["curve"] = fact
    with pytest.raises(Rejected):
        check(json.dumps(tree).encode())


@cache
def objective(name: str, lam: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of p* at lambda, by another way."""
    facts = facts_of(name)
    floats = prepare(facts.problem)
    found = refine_and_prove(
        Goal(facts.problem, floats, lam, facts.lambda_max, F(1, 10**40)), solve(floats, float(lam))
    )
    return found.value.lower, found.value.upper


def is_true(name: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether what a changed fact states (not how it is shown) is true."""
    (a,), (b,) = old["breakpoints"], new["breakpoints"]
    # the change lies strictly between: an interval that holds most of the old one is as good
    room = (F(a["hi"]) - F(a["lo"])) / 1000
    if abs(F(a["lo"]) - F(b["lo"])) > room or abs(F(a["hi"]) - F(b["hi"])) > room:
        return False
    if not all(branch in json.loads(text_of(name))["facts"]["curve"]["branches"] for branch in new["branches"]):
        return False
    (sample,) = new["samples"]
    lower, upper = objective(name, F(sample["lambda"]))
    return (
        F(sample["lower"]) <= upper
        and F(sample["upper"]) >= lower
        and F(sample["radius"]) >= F(old["samples"][0]["radius"]) / 2
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["relu", "gated"])
def test_no_mutant_that_is_accepted_states_something_false(name: str) -> None:
    """Every small change of every field is rejected, or is other evidence for what is true."""
    fact = short(name)
    tried = survived = 0
    for mutant in mutants(fact, 2):
        tried += 1
        if name == "relu" and tried % 3:
            continue  # time: the gated one has them all
        try:
            new = load(mutant.text.encode(), Limits()).value
            judge(name, new)
        except VerifyError:
            continue
        if not (isinstance(new, dict) and all(new.get(key) for key in fact)):
            continue  # a shorter list states less
        if any(len(new[key]) != 1 for key in fact):
            continue  # the same twice
        survived += 1
        assert is_true(name, fact, new), mutant.name
    assert tried > 100
    assert survived < tried / 2


def test_a_curve_needs_its_path() -> None:
    """Without the path nothing is known between two lambdas."""
    content = json.loads(text_of("gated"))
    del content["facts"]["path"]
    content["claims"] = []
    with pytest.raises(VerifyError, match="path"):
        check(json.dumps(content).encode())


def test_the_claims_need_the_curve() -> None:
    """And they cannot be refuted."""
    content = json.loads(text_of("gated"))
    del content["facts"]["curve"]
    for claim in ("breakpoints", "curve"):
        for verdict in ("PROVED", "REFUTED"):
            content["claims"] = [{"claim": claim, "verdict": verdict}]
            with pytest.raises(VerifyError):
                check(json.dumps(content).encode())


def test_points_stay_in_the_regions_of_their_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every class that is read at a point is compared with that of the piece."""

    def other(ball: Any, class_: Any, known: Any, where: Node) -> None:
        raise where.reject("another region")

    assert reason("gated", short("gated")) == ""
    monkeypatch.setattr("verify.rules.curve.same_region", other)
    assert "another region" in reason("gated", short("gated"))


@pytest.mark.parametrize("part", ["branches", "samples"])
def test_what_is_listed_twice_is_not_counted_twice(part: str) -> None:
    """The numbers of pieces and of lambdas in the verdicts are of different ones: an entry again is rejected."""
    fact = json.loads(text_of("gated"))["facts"]["curve"]
    fact[part] = [*fact[part], fact[part][-1]]
    assert "in ascending order" in reason("gated", fact)


def test_the_sentence_of_a_curve_has_its_bounds() -> None:
    """Bounds may be as wide as they like, if the words say so: a radius of 10^9 is accepted as one of 10^9."""
    text = (CORPUS / "accepted" / "curve-of-wide-bounds.json").read_bytes()
    (said,) = (one.proved for one in check(text) if one.claim == "curve")
    samples = json.loads(text)["facts"]["curve"]["samples"]
    widest = max(F(one["upper"]) - F(one["lower"]) for one in samples)
    assert max(F(one["radius"]) for one in samples) == 10**9
    assert said.endswith(f"an interval of length at most {widest}, weights and directions within 1000000000")
