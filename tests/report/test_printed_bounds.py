"""Every bound that a report prints, read back from its text, follows from the exact numbers of its certificate.

The texts of many reports are searched for words that announce a bound. Each must be known to one of the rules below,
and what it says is compared exactly with the certificate, or with the exact numbers of `--json`. The bounds are also
widened by parts of themselves, so that all the ways of telling a gap are met.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert import (
    certify,
    certify_group_lasso,
    certify_network,
    certify_solution,
    group_lasso_path,
    path,
)
from relu_cert.certificate import certificate
from relu_cert.claims import decide
from relu_cert.figures import holds_on, lies_in, one_number
from relu_cert.network.claims import network_verdicts
from relu_cert.network.given import given_network
from relu_cert.network.penalty import Penalty, convert
from relu_cert.path.pieces import Gap, PathPieces
from relu_cert.prove.facts import Attained, Facts, LambdaMax, UnknownSet, Unlisted, Value
from relu_cert.report.check import CheckReport, largest_text
from relu_cert.report.headline import proved_share
from relu_cert.report.html.check import check_page
from relu_cert.report.html.given import network_page
from relu_cert.report.html.page import notebook_check
from relu_cert.report.html.proof import sensitivity_section
from relu_cert.report.network import NetworkReport
from tests.report.pages import Page

F = Fraction
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?:/\d+)?"
ANNOUNCED = re.compile(
    rf"(?:at most|at least|within|proved to|relative|between|from|<=|>=|≤|≥|\[) ?(?:a relative )?{NUMBER}"
)
WIDER = (F(0), F(10265, 10**7), F(1, 3 * 10**9), F(1, 7), F(3, 2))
RNG = np.random.default_rng(3)
ROWS, TARGETS = RNG.integers(-3, 4, (30, 4)), RNG.integers(-2, 3, 30)
NETWORK = (RNG.normal(size=(5, 4)).round(2), RNG.normal(size=5).round(2))


@dataclass(frozen=True)
class Rule:
    """A phrase with groups, and what its numbers must fulfil."""

    phrase: str
    holds: Callable[..., bool]


def squared(x: F) -> F:
    """x^2, for bounds on a root."""
    return x * x


def shown_number(text: str, low: F, high: F) -> bool:
    """ "from a to b" holds both; a single number is what both round to, or the number itself."""
    ends = re.fullmatch(rf"from ({NUMBER}) to ({NUMBER})", text)
    if ends:
        return read(ends[1]) <= low <= high <= read(ends[2])
    digits = 2 if text.startswith("about ") else len(re.sub(r"e.*|[^\d]|^[-0.]+", "", text))
    off = max(abs(low - read(text)), abs(high - read(text)))
    return off <= abs(read(text)) * F(10) ** (1 - max(digits, 1)) or low == high == read(text)


def read(text: str) -> F:
    """A number as it is printed."""
    return F(text.removeprefix("about ").replace(",", "").lstrip("~"))


def of_value(value: dict[str, str]) -> Iterator[Rule]:
    """What is said of p* in the whole of a report."""
    low, high = F(value["lower"]), F(value["upper"])
    gap, above = (high - low) / high, (high - low) / low if low > 0 else None
    shown = rf"(from {NUMBER} to {NUMBER}|~?{NUMBER})"
    yield Rule(rf"relative gap(?: is)? at most ({NUMBER})", lambda x: read(x) >= gap)
    yield Rule(rf"(?:proved to|up to|at most) a relative ({NUMBER})", lambda x: read(x) >= gap)
    yield Rule(rf"relative gap ({NUMBER}) an upper bound", lambda x: read(x) >= gap)
    yield Rule(rf"at most ({NUMBER}) % above (?:it|the best)", lambda x: above is not None and read(x) >= 100 * above)
    yield Rule(rf"p\* (?:= )?{shown}", lambda x: shown_number(x, low, high))


def of_check(found: dict[str, Any], beside: dict[str, Any] | None, least: F | None) -> Iterator[Rule]:
    """What `check` says, from its certificate; `beside` is the optimum over all patterns, where only some were used,
    `least` the square below lambda_max^2 that is attained, where it is only enclosed."""
    facts = found["facts"]
    yield from of_value(facts["value"])
    if beside is not None:
        whole, away = ([F(beside[key][end]) for end in ("lower", "upper")] for key in ("value", "distance"))
        yield Rule(rf"global (from {NUMBER} to {NUMBER}|{NUMBER}) over all", lambda x: shown_number(x, *whole))
        yield Rule(
            rf"distance (from {NUMBER} to {NUMBER}|{NUMBER}), proved to ({NUMBER})",
            lambda x, width: shown_number(x, *away) and read(width) >= away[1] - away[0],
        )
        yield Rule(rf"distance ({NUMBER}) to ({NUMBER}), proved", lambda x, y: read(x) <= away[0] <= away[1] <= read(y))
        yield Rule(
            rf"above the global optimum ({NUMBER}) at most, over all patterns(?:; at least ({NUMBER}))?",
            lambda x, y: read(x) >= away[1] and (y is None or read(y) <= away[0]),
        )
    ball = F(facts["fit"]["radius_squared"])
    yield Rule(
        rf"within ({NUMBER}) of (?:the fit of the (?:network|solution)|those) found", lambda x: squared(read(x)) >= ball
    )
    yield Rule(rf"(?:lambda_max >=|λmax ≥) ({NUMBER})", lambda x: least is not None and squared(read(x)) <= least)
    yield Rule(
        rf"sqrt\(({NUMBER})\) = ({NUMBER})\.\.\.",
        lambda square, x: squared(read(x)) <= F(square) < squared(read(x) + last_digit(x)),
    )
    shortest = facts.get("min_norm") or (facts.get("polytope") or {}).get("min_norm")
    if shortest:
        lam, radius = F(found["problem"]["lambda"]), F(shortest["radius"])
        weights = [F(x) for x in shortest["weights"].split()]
        sizes = [lam**2 * sum(max(x + off, F(0)) ** 2 for x in weights if x) for off in (-radius, radius)]
        yield Rule(rf"weights within ({NUMBER})", lambda x: read(x) >= radius)
        yield Rule(rf"\|w\|\^2 (?:= )?(from {NUMBER} to {NUMBER}|~?{NUMBER}) on", lambda x: shown_number(x, *sizes))
    if derivatives := facts.get("derivatives"):
        off = F(derivatives["radius"])
        yield Rule(rf"each within ({NUMBER})", lambda x: read(x) >= off)
        rows = [row.split() for row in derivatives["y"]["r"]] if derivatives.get("y") else []
        trace = len(rows) - sum(F(row[i]) for i, row in enumerate(rows))
        yield Rule(
            rf"degrees of freedom (from {NUMBER} to {NUMBER}|~?{NUMBER})(?:\.|;| of)",
            lambda x: not rows or shown_number(x, trace - len(rows) * off, trace + len(rows) * off),
        )


def last_digit(text: str) -> F:
    """One unit of the last digit."""
    return F(1, 10 ** len(text.partition(".")[2]))


def of_network_file(told: dict[str, Any]) -> Iterator[Rule]:
    """What `network` says, from the exact numbers of its --json."""
    J = F(told["objective"])
    for name, where in (("global", "all patterns|networks of any width"), ("own_patterns", "its own patterns")):
        if told[name] is None:
            continue
        value = told[name]["optimum"]
        low, high = F(value["lower"]), F(value["upper"])
        yield Rule(
            rf"at most ({NUMBER}) above the optimum over (?:{where}) \(({NUMBER}) of J\)(?:, at least ({NUMBER}))?",
            lambda x, g, y, low=low, high=high: (
                read(x) >= J - low and read(g) >= (J - low) / J and (y is None or read(y) <= J - high)
            ),
        )
    value = told["global"]["optimum"]
    low, high = F(value["lower"]), F(value["upper"])
    yield Rule(rf"at most ({NUMBER}) above the global optimum", lambda x: read(x) >= J - low)
    yield Rule(rf"at most ({NUMBER}) % above the best", lambda x: low > 0 and read(x) >= 100 * (J - low) / low)
    yield Rule(
        rf"(from {NUMBER} to {NUMBER}|(?:about )?{NUMBER}) % above the best possible",
        lambda x: shown_number(x, 100 * (J - high) / high, 100 * (J - low) / low),
    )
    yield Rule(rf"at most ({NUMBER}) above the best", lambda x: read(x) >= J - low)
    yield Rule(rf"above the optimum ({NUMBER}) at most", lambda x: read(x) >= J - low)
    listed = (J, F(told["balanced_objective"]["upper"]), F(told["pruned"]["objective"]["upper"]))
    yield Rule(
        rf"by at most as trained \S+ ({NUMBER}) with balanced neurons \S+ ({NUMBER}) pruned to [^.]+ \S+ ({NUMBER})",
        lambda *shown: all(read(x) >= P - low for x, P in zip(shown, listed, strict=True)),
    )
    best = min(high, F(told["balanced_objective"]["upper"]))
    yield Rule(
        rf"optimum +(from {NUMBER} to {NUMBER}|~?{NUMBER}) over [\w ]+, (?:exactly|proved to a relative ({NUMBER}))",
        lambda x, g: shown_number(x, low, best) and (g is None or read(g) >= (best - low) / best),
    )
    yield Rule(rf"optimal value p\* (from {NUMBER} to {NUMBER}|~?{NUMBER})", lambda x: shown_number(x, low, high))
    if told["own_patterns"] is not None:
        own = [F(told["own_patterns"]["optimum"][end]) for end in ("lower", "upper")]
        yield Rule(
            rf"(from {NUMBER} to {NUMBER}|~?{NUMBER}) over the network's own, [a-z ]+({NUMBER})?",
            lambda x, g: shown_number(x, *own) and (g is None or read(g) >= (own[1] - own[0]) / own[1]),
        )
    away = told["stationarity"]
    for words, key in (("J has norm", "distance_squared"), ("; ", "near_distance_squared")):
        ends = [F(away[key][end]) for end in ("lower", "upper")]
        yield Rule(
            rf"{words} between ({NUMBER}) and ({NUMBER})",
            lambda x, y, ends=ends: squared(read(x)) <= ends[0] <= ends[1] <= squared(read(y)),
        )
        yield Rule(rf"{words}at most ({NUMBER}) if the", lambda x, ends=ends: squared(read(x)) >= ends[1])
    yield Rule(rf"rows within ({NUMBER}) of a kink", lambda x: read(x) >= F(1, 2**30))
    cost = [sum(F(one["excess"][end]) for one in told["scale"]) for end in ("lower", "upper")]
    yield Rule(rf"at a cost of from ({NUMBER}) to ({NUMBER})", lambda x, y: read(x) <= cost[0] <= cost[1] <= read(y))
    off = [(F(one["lower"]), F(one["upper"])) for one in told["directions"]]
    wrong = [one for one in off if one[0] > 0]
    yield Rule(
        rf"(?:it is|they are) from ({NUMBER}) to ({NUMBER}) off",
        lambda x, y: read(x) <= min(a for a, _ in wrong) and max(b for _, b in wrong) <= read(y),
    )
    yield Rule(rf"(?:it is|they are) at least ({NUMBER}) off", lambda x: read(x) <= min(a for a, _ in wrong))
    yield Rule(rf"all are within ({NUMBER}) of optimal", lambda x: max(b for _, b in off) <= read(x))
    if told["nearest_optimal"]:
        far = [F(told["nearest_optimal"]["distance"][end]) for end in ("lower", "upper")]
        yield Rule(rf"between ({NUMBER}) and ({NUMBER}) away", lambda x, y: read(x) <= far[0] <= far[1] <= read(y))
    apart = F(told["nearest"]["distance_squared"])
    yield Rule(rf"at most ({NUMBER}) apart", lambda x: squared(read(x)) >= apart)
    yield Rule(rf"2\|b2\|[^<]*<= ({NUMBER}), which", lambda x: read(x) <= F("0.3333333333"))


COUNTS = Rule(r"at most (\d+) features", lambda x: True)


def judge(text: str, rules: list[Rule], where: str) -> int:
    """Every announced number of the text belongs to a phrase, and every phrase holds. How many there were."""
    prose = " ".join(text.split())
    known: list[tuple[int, int]] = []
    for rule in (*rules, COUNTS):
        for match in re.finditer(rule.phrase, prose):
            assert rule.holds(*match.groups()), f"{where}: {match[0]!r} is not implied"
            known.append(match.span())
    for match in ANNOUNCED.finditer(prose):
        met = any(a <= match.start() and match.end() <= b for a, b in known)
        assert met, f"{where}: no rule knows {prose[max(0, match.start() - 60) : match.end() + 30]!r}"
    return len(known)


def texts(outcome: CheckReport) -> Iterator[tuple[str, str]]:
    """Everything that is printed of one run of `check`, up to where exact numbers are listed."""
    page = check_page(outcome)
    yield "headline", outcome.headline
    yield "terminal", outcome.to_text().partition("a network of width")[0]
    yield "page", Page(page).prose.partition("Everything on this page follows")[0]
    yield "notebook", notebook_check(outcome, "").replace("<", " <")


def widened(facts: Facts, part: F) -> Facts:
    """The same with wider bounds, where they are not exact."""
    value = facts.value
    bounds = Value(value.lower * (1 - part / 2), value.upper * (1 + part), value.gap)
    return replace(facts, value=bounds, fit=replace(facts.fit, radius_squared=2 * (bounds.upper - bounds.lower)))


@cache
def checked(name: str) -> CheckReport:
    """A run of `check` of each kind."""
    some = {"verify": False, "seconds": 6.0}
    made: dict[str, Callable[[], Any]] = {
        "listed": lambda: certify([[1, 1], [1, -1], [-1, 1], [-1, -2]], [1, 2, 0, 1], "1/7", **some),
        "rational": lambda: certify([[1], [2], [-1]], [1, 3, 2], "1/3", **some),
        "cover": lambda: certify(ROWS, TARGETS, lambda_ratio="1/5", max_patterns=10, **some),
        "free biases": lambda: certify(ROWS, TARGETS, "7.3", max_patterns=10, free="output-bias,biases", **some),
        "logistic": lambda: certify(ROWS, TARGETS > 0, "1/3", loss="logistic", max_patterns=10, **some),
        "gated": lambda: certify(ROWS[:6, :2], TARGETS[:6], "1/7", model="gated", **some),
        "patterns": lambda: certify(ROWS[:8, :2], TARGETS[:8], "1/7", patterns=3, seed=1, **some),
        "lasso": lambda: certify_group_lasso(ROWS[:9], 2, TARGETS[:9], "1/7", verify=False),
    }
    return made[name]().report


@pytest.mark.parametrize(
    "name", ["listed", "rational", "cover", "free biases", "logistic", "gated", "patterns", "lasso"]
)
def test_check_prints_bounds_that_its_certificate_implies(name: str) -> None:
    """Terminal, page, notebook and headline of `check`, with the gap found and with wider ones."""
    found = checked(name)
    for part in WIDER:
        if part and found.facts.zero:
            continue
        facts = widened(found.facts, part) if part else found.facts
        outcome = replace(found, facts=facts, results=decide(facts))
        proof = json.loads(json.dumps(certificate(outcome.source, facts, outcome.results)))
        rules = list(of_check(proof, outcome.to_json()["global"], facts.lambda_max.least))
        for where, text in texts(outcome):
            judge(text, rules, f"{name} + {part}, {where}")


@pytest.mark.parametrize("name", ["listed", "unlisted", "scikit-learn", "pytorch"])
def test_network_prints_bounds_that_its_numbers_imply(name: str) -> None:
    """Terminal, page and headline of `network`, with the gap found and with wider ones."""
    found = networks(name)
    for part in WIDER:
        facts = widened(found.comparison.facts, part) if part else found.comparison.facts
        comparison = replace(found.comparison, facts=facts)
        outcome = replace(found, comparison=comparison, results=network_verdicts(comparison, found.gap))
        rules = list(of_network_file(outcome.to_json()))
        page = Page(network_page(outcome)).prose.partition("The trained network and ")[0]
        for where, text in (("headline", outcome.headline), ("terminal", outcome.to_text()), ("page", page)):
            judge(text.partition("re-check it")[0], rules, f"{name} + {part}, {where}")


@cache
def networks(name: str) -> NetworkReport:
    """A run of `network` of each kind."""
    W1, w2 = NETWORK
    some = {"verify": False, "seconds": 6.0}
    b1, b2 = np.array([0.25, -0.5, 1.0, 0.0, 0.125]), 0.16666666666
    made: dict[str, Callable[[], Any]] = {
        "listed": lambda: certify_network((W1[:, :2], w2), ROWS[:9, :2], TARGETS[:9], "1/7", **some),
        "unlisted": lambda: certify_network((W1, w2), ROWS, TARGETS, "1/7", max_patterns=10, own=False, **some),
        "scikit-learn": lambda: certify_network((W1, b1, w2, b2), ROWS, TARGETS, "7", penalty="sklearn", **some),
        "pytorch": lambda: certify_network(
            (W1[:, :2], b1, w2, b2), ROWS[:9, :2], TARGETS[:9], "1/7", penalty="pytorch", bias=True,
            output_bias="neuron", **some
        ),
    }  # fmt: skip
    return made[name]().report


def of_path(told: dict[str, Any], found: dict[str, Any]) -> Iterator[Rule]:
    """What `path` says, from its --json and its certificate."""
    lo, hi = (F(x) for x in told["interval"])

    def inside(x: str, y: str) -> bool:
        return lo <= read(x) <= read(y) <= hi

    yield Rule(rf"log lambda\) from ({NUMBER}) to ({NUMBER})", lambda x, y: read(x) <= lo <= hi <= read(y))
    gaps = [(F(one["lo"]), F(one["hi"])) for one in told["gaps"]]
    yield Rule(rf"gap \[({NUMBER}), ({NUMBER})\]:", lambda x, y: any(read(x) <= a <= b <= read(y) for a, b in gaps))
    yield Rule(rf"of \[({NUMBER}), ({NUMBER})\] is open", inside)
    yield Rule(rf"every lambda from ({NUMBER}) to ({NUMBER})", inside)
    yield Rule(rf"every lambda in \[({NUMBER}), ({NUMBER})\]", inside)
    yield Rule(rf"the (?:optimal network|solution) for ({NUMBER}) <= lambda <= ({NUMBER})", inside)
    yield Rule(rf"from λ ({NUMBER})", lambda x: abs(read(x) - lo) <= lo / 10**7)
    yield Rule(rf"part of the way|each to a relative {NUMBER}", lambda: True)  # what every breakpoint is held to
    y = [F(x) for x in found["problem"]["y"].split()]
    fit, slope = sum(x * x for x in y) / lo**2, sum(x * x for x in y) / (4 * lo)
    yield Rule(
        rf"Lipschitz: fit ({NUMBER}), p\* ({NUMBER})(?=[^\d])", lambda a, b: read(a) ** 2 >= fit and read(b) >= slope
    )
    points = [(F(one["lo"]), F(one["hi"])) for one in told["breakpoints"]]
    yield Rule(
        rf"({NUMBER}) (?:a neuron|\d+ neurons) [a-z, ]+: \d+ -> \d+ \(proved to a relative ({NUMBER})\)",
        lambda x, width: any(abs(read(x) - b) <= b / 10**15 and read(width) >= (b - a) / b for a, b in points),
    )
    pieces = [(F(one["lo"]), F(one["hi"])) for one in told["pieces"] if "dimension" in one]
    yield Rule(
        rf"set \[({NUMBER}), ({NUMBER})\]: (?:a set|one network)",
        lambda x, y: min(a for a, _ in pieces) <= read(x) <= read(y) <= max(b for _, b in pieces),
    )
    radii = [F(one["radius"]) for one in told["curve"] if one["radius"] is not None]
    yield Rule(rf"(?:directions|to be) within ({NUMBER})", lambda x: read(x) >= max(radii))
    yield Rule(
        rf"for ({NUMBER}) <= lambda <= ({NUMBER}) the optimal networks form",
        lambda x, y: any(a <= read(x) <= read(y) <= b for a, b in pieces),
    )
    largest = F(told["lambda_max_squared"])
    yield Rule(
        rf"sqrt\({NUMBER}\) = ({NUMBER})\.\.\.",
        lambda x: squared(read(x)) <= largest < squared(read(x) + last_digit(x)),
    )


@pytest.mark.parametrize("name", ["network", "set", "columns twice"])
def test_path_prints_intervals_that_its_pieces_cover(name: str) -> None:
    """What holds for every lambda of an interval is said of a part of it; breakpoints are as narrow as is said."""
    found = {
        "network": lambda: path(ROWS[:6, :2], TARGETS[:6], low="1/7", high="22/7", verify=False),
        "set": lambda: path(ROWS[:3, :2], TARGETS[:3], low="1/7", high="22/7", verify=False),
        "columns twice": lambda: group_lasso_path(
            np.repeat(ROWS[:5, :2], 2, axis=1), 1, TARGETS[:5], low="1/7", high="3/7", verify=False
        ),
    }[name]()
    rules = list(of_path(found.to_json(), json.loads(found.certificate)))
    page = Page(found.html()).prose.partition("Exact numbers Interval")[0]
    for where, text in (("headline", found.headline), ("terminal", str(found)), ("page", page)):
        assert judge(text, rules, f"{name}, {where}")


@pytest.mark.parametrize("given", [["1.7", "0"], ["1.9999999", "1.75"], ["2", "1.75"]])
def test_solution_prints_bounds_that_its_numbers_imply(given: list[str]) -> None:
    """Terminal, page and headline of `solution`: objective, optimum, distance and relative gap."""
    found = certify_solution([[1, 0], [0, 2], [1, 1]], 1, [3, 4, F(1, 3)], "1/7", given, verify=False)
    told = found.to_json()
    own, best, away = (
        [F(told[key][end]) for end in ("lower", "upper")] for key in ("objective", "optimum", "distance")
    )
    gap, shown = F(told["relative_gap"]), rf"(from {NUMBER} to {NUMBER}|~?{NUMBER})"
    value = found.optimum.value
    rules = [
        Rule(rf"at most ({NUMBER})(?:, within|, above| of optimal)", lambda x: read(x) >= gap),
        Rule(rf"up to a relative ({NUMBER})", lambda x: read(x) >= gap),
        Rule(rf"(?:, within|, above) the {NUMBER} asked for", lambda: True),
        Rule(rf"at least ({NUMBER}) above the best", lambda x: read(x) <= away[0]),
        Rule(rf"objective {shown}", lambda x: shown_number(x, *own) or shown_number(x, *best)),
        Rule(
            rf"optimum {shown}, proved to a relative ({NUMBER})",
            lambda x, g: shown_number(x, *best) and read(g) >= value.relative_gap,
        ),
        Rule(rf"optimum {shown} at most; at least ({NUMBER})", lambda x, y: read(x) >= away[1] and read(y) <= away[0]),
        Rule(rf"distance ({NUMBER}) to ({NUMBER}), proved", lambda x, y: read(x) <= away[0] <= away[1] <= read(y)),
        Rule(rf"relative gap at most ({NUMBER})", lambda x: read(x) >= min(gap, value.relative_gap)),
        Rule(
            rf"their objective is {shown} % above the best one",
            lambda x: shown_number(x, 100 * (own[0] / best[1] - 1), 100 * (own[1] / best[0] - 1)),
        ),
        Rule(rf"within ({NUMBER}) of the fit", lambda x: squared(read(x)) >= found.optimum.facts.fit.radius_squared),
    ]
    for where, text in (("headline", found.headline), ("terminal", str(found)), ("page", Page(found.html()).prose)):
        assert judge(text, rules, f"{given}, {where}")


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.fractions(F(1, 10**6), 10**6), st.fractions(F(1, 10**12), 2), st.integers(2, 12))
def test_intervals_are_rounded_inwards_or_outwards(lo: F, part: F, digits: int) -> None:
    """What holds on an interval is said of a part that is not empty; what lies in one, to lie in a larger one."""
    hi = lo * (1 + part)
    (a, b), (c, d) = ([read(x) for x in ends(lo, hi, digits)] for ends in (holds_on, lies_in))
    assert c <= lo <= a < b <= hi <= d
    assert b - a >= (hi - lo) / 2 and d - c <= 2 * (hi - lo)


def test_an_interval_with_a_gap_is_never_followed_on_all_of_the_way() -> None:
    """A gap of a relative 1e-18 vanishes in floats; the share is 99.9 %, not 100 %."""
    cover = PathPieces(F(1, 10), F(1), (), (Gap(F(1, 2), F(1, 2) + F(1, 10**18), "open"),))
    assert proved_share(cover) == "99.9" and proved_share(replace(cover, gaps=())) == "100"


def test_a_number_that_is_known_exactly_is_marked_where_it_is_rounded() -> None:
    """1/3 is not "0.3333333333, exactly"."""
    assert one_number(F(1, 3), F(1, 3), 10) == "~0.3333333333" and one_number(F(1, 4), F(1, 4), 10) == "0.25"
    found = certify([[1]], [F(4, 3)], F(1), verify=False)
    assert found.value.lower == found.value.upper != read("0.8333333333")
    assert "p* ~0.8333333333 exactly" in Page(found.html()).prose
    assert "p* = ~0.833333333333, exactly" in notebook_check(found.report, "")


def test_the_biases_that_a_gap_holds_against_are_rounded_down() -> None:
    """The gap holds against networks with 2|b2| <= 4/3, and not with 1.33334."""
    network = given_network(([[1]], [1], [1], F(2, 3)))
    text = convert(Penalty.PAPER, F(1), 3).bias_text(network)
    assert "2|b2| <= 1.33333, which" in text


def test_weights_that_are_known_roughly_have_a_norm_between_bounds() -> None:
    """Ten digits of |w|^2 are printed only where the weights are known so well."""
    facts = checked("listed").facts
    shortest = facts.min_norm
    assert shortest is not None and sum(map(bool, shortest.weights)) > 1
    rough = replace(
        facts, shortest=None, vertices=replace(facts.polytope, min_norm=replace(shortest, radius=F(1, 100)))
    )
    detail = {one.claim: one.detail for one in decide(rough)}["min-norm"]
    low, high = (read(x) for x in re.findall(rf"from ({NUMBER}) to ({NUMBER})", detail)[0])
    ends = [facts.lam**2 * sum((x + off) ** 2 for x in shortest.weights if x) for off in (-F(1, 100), F(1, 100))]
    assert low <= ends[0] < ends[1] <= high


def test_a_page_calls_a_network_optimal_only_where_that_is_proved() -> None:
    """With a gap that is wider than asked for it is the best one found."""
    found = checked("cover")
    wide = widened(found.facts, F(1, 7))
    assert "trained to its global optimum" in check_page(found)
    rough = check_page(replace(found, facts=wide, results=decide(wide)))
    assert "the best one found" in rough and "trained to its global optimum" not in rough


def test_a_distance_from_zero_is_said_to_be_a_lower_bound() -> None:
    """Where the optimum is 0 there is no percentage, and what is printed is "at least"."""
    found = certify_solution([[1, 0], [0, 1]], 1, [0, 0], 1, ["1/3", 0], verify=False)
    assert read(re.findall(rf"is at least ({NUMBER}) above the best one", found.headline)[0]) <= F(1, 3) + F(1, 18)


def test_degrees_of_freedom_have_the_digits_that_their_radius_leaves() -> None:
    """With a radius of 1/1000 eight digits are not known, on the page and in the verdict."""
    facts = checked("listed").facts
    assert facts.derivatives is not None and facts.derivatives.freedom is not None
    assert facts.nearby is not None
    wide = replace(facts.derivatives, radius=F(1, 1000))
    rough = replace(facts, nearby=replace(facts.nearby, derivatives=wide))
    detail = {one.claim: one.detail for one in decide(rough)}["sensitivity"]
    section = sensitivity_section(rough)
    assert section is not None
    n, freedom = facts.problem.n, facts.derivatives.freedom
    for text in (detail, "".join(part for body in section.body for part in body.itertext())):
        low, high = (read(x) for x in re.findall(rf"freedom ?from ({NUMBER}) to ({NUMBER})", text)[0])
        assert low <= freedom - F(n, 1000) < freedom + F(n, 1000) <= high


def test_the_first_digits_of_a_root_are_its_first_digits() -> None:
    """sqrt(6) is 2.44948..., not 2.44949..."""
    assert largest_text(LambdaMax(F(6), None, Attained()), 6) == "= sqrt(6) = 2.44948..."


def test_a_reason_is_told_once() -> None:
    """Claims that are undecided for the reason of the one above them say that, in the terminal and on the page; the
    JSON says it each time. The picture of a fit is that of the network found."""
    found = checked("cover")
    wide = replace(widened(found.facts, F(1, 7)), optimal_set=UnknownSet("time was short"), vertices=Unlisted())
    rough = replace(found, facts=wide, results=decide(wide))
    page = Page(check_page(rough)).prose
    for text in (" ".join(rough.to_text().split()), page):
        assert text.count("time was short.") < text.count("for the same reason.")
    assert sum("time was short" in one["detail"] for one in rough.to_json()["claims"]) > 3
    assert "The fit of the network found against the target" in page
