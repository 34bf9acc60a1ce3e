"""A whole certificate: its frame, its input, its problem, its facts, and the verdicts that rest on them."""

from __future__ import annotations

from dataclasses import dataclass

from verify.claims import CLAIMS, VERDICTS, judged
from verify.errors import Declined, Usage
from verify.facts import NETWORK
from verify.input import read_input
from verify.problem import read_problem
from verify.rules import check_facts
from verify.text import Limits, describe, load

FORMAT = "relu_cert certificate"
REFUTATION = "relu_cert refutation"
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
    if isinstance(top.value, dict) and top.value.get("format") == REFUTATION:
        from verify.refutations.check import check_refutation

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
        from verify.data import compare

        compare(data, input_, problem, limits)
    facts = check_facts(problem, fields["facts"])
    if network is not None:
        from verify.network.file import compare_file

        compare_file(facts.get(NETWORK), network, limits)
    lines: list[Line] = []
    for node in fields["claims"].array():
        parts = node.record("claim", "verdict")
        claim = parts["claim"].text(*CLAIMS)
        if any(line.claim == claim for line in lines):
            raise node.reject("each claim once", f"{claim} again")
        verdict = parts["verdict"].text(*VERDICTS)
        lines.append(Line(claim, verdict, judged(problem, facts, claim, verdict, node)))
    return lines
