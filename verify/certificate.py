"""A whole certificate: its frame, its input, its problem, its facts, and the verdicts that rest on them."""

from __future__ import annotations

from dataclasses import dataclass

from verify.claims import CLAIMS, REFUTATIONS
from verify.data import compare, read_input
from verify.errors import Declined, Usage
from verify.facts import Facts, check_facts
from verify.network.file import compare_file
from verify.problem import Problem, read_problem
from verify.refutations.check import check_refutation, is_refutation
from verify.text import Limits, Node, describe, load

FORMAT = "relu_cert certificate"
VERSION = 1
DEFAULT = Limits()


@dataclass(frozen=True)
class Line:
    """One accepted claim: its verdict, and in words what is proved."""

    claim: str
    verdict: str
    proved: str


def check(
    certificate: bytes, data: bytes | None = None, limits: Limits = DEFAULT, network: bytes | None = None
) -> list[Line]:
    """The claims of a certificate, all proved; Rejected or Declined otherwise, BadData if `data` cannot be read."""
    top = load(certificate, limits)
    if is_refutation(top):
        if data is not None or network is not None:
            raise Usage("--data", "no raw data: a refutation holds its own instance", "a file")
        label, contradiction = check_refutation(certificate, top)
        return [Line(label, "REFUTED", contradiction)]
    if isinstance(top.value, dict) and top.value.get("format") == FORMAT:
        version = top.value.get("version")
        if type(version) is int and version != VERSION:
            raise Declined("certificate.version", f"version {VERSION}", describe(version))
    fields = top.record("format", "version", "input", "problem", "facts", "claims", "end")
    fields["format"].text(FORMAT)
    fields["version"].index(VERSION + 1)
    fields["end"].text(FORMAT)
    if next(reversed(fields)) != "end":
        raise top.reject("the key end at the end", f"the key {next(reversed(fields))}")
    problem = read_problem(fields["problem"])
    input_ = read_input(fields["input"], problem)
    if data is not None:
        compare(data, input_, problem, limits)
    facts = check_facts(problem, fields["facts"])
    if network is not None:
        compare_file(facts.network, network, limits, input_.bias)
    lines: list[Line] = []
    for node in fields["claims"].array():
        parts = node.record("claim", "verdict")
        claim = parts["claim"].text(*CLAIMS)
        if any(line.claim == claim for line in lines):
            raise node.reject("each claim once", f"{claim} again")
        verdict = parts["verdict"].text("PROVED", "REFUTED", "UNDECIDED")
        lines.append(Line(claim, verdict, judged(problem, facts, claim, verdict, node)))
    return lines


def judged(problem: Problem, facts: Facts, claim: str, verdict: str, node: Node) -> str:
    """In words what the facts prove about the claim; rejected if they do not prove the verdict."""
    if verdict == "UNDECIDED":
        return "nothing is claimed"
    if verdict == "PROVED":
        return CLAIMS[claim](problem, facts, node)
    if claim not in REFUTATIONS:
        raise Node(verdict, node, "verdict").reject(f"PROVED or UNDECIDED, because nothing can refute {claim}")
    return REFUTATIONS[claim](problem, facts, node)
