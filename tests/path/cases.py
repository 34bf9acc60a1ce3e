"""Problems with an interval, and their certificates."""

from __future__ import annotations

from fractions import Fraction

from relu_cert import examples
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.claims.claim import Result
from relu_cert.data import read_csv
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import DEFAULT_GAP, IntervalChoice, LambdaChoice, find_facts
from relu_cert.exact import matrix, vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, read_problem_json, relu
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from relu_cert.report.progress import Progress

CLAIMS = ("continuous", "set-continuous", "min-norm-continuous")
KINDS = {"relu": relu, "gated": gated}


def network(Z: list[list[int | str]], y: list[int | str], model: str = "relu") -> Problem:
    """The network problem over all patterns."""
    rows = matrix(Z)
    return KINDS[model](rows, vector(y), enumerate_patterns(rows))


def example(name: str) -> Problem:
    """A bundled example."""
    what = examples.describe(name)
    if what.model == "cgl":
        return read_problem_json(examples.path(name))[0]
    data = read_csv(examples.path(name), bias=what.bias)
    return KINDS[what.model](data.Z, data.y, enumerate_patterns(data.Z))


def facts_on(problem: Problem, lam: Fraction, lo: Fraction, hi: Fraction) -> Facts:
    """All facts at lambda, and the path from lo to hi."""
    with Progress(quiet=True) as stages:
        return find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, stages, IntervalChoice(lo, hi))


def verdicts(facts: Facts) -> dict[str, Result]:
    """What is said about the path."""
    return {result.claim: result for result in decide(facts, CLAIMS)}


def certificate_text(facts: Facts) -> str:
    """The certificate of the claims about the path."""
    network = facts.problem.source
    source = Source("nowhere", "0" * 64, "csv", target=len(network.Z[0])) if network else Source("", "0" * 64, "json")
    return dumps(certificate(source, facts, decide(facts, CLAIMS)))
