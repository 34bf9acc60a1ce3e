"""A whole certificate: its frame, its input, its problem, its facts, and the verdicts that rest on them."""

from __future__ import annotations

from dataclasses import dataclass

from verify.claims import CLAIMS
from verify.data import compare, read_input
from verify.errors import Declined
from verify.facts import check_facts
from verify.problem import read_problem
from verify.text import Limits, describe, load

FORMAT = "relu_cert certificate"
VERSION = 1
DEFAULT = Limits()


@dataclass(frozen=True)
class Line:
    """One accepted claim: its verdict, and in words what is proved."""

    claim: str
    verdict: str
    proved: str


def check(certificate: bytes, data: bytes | None = None, limits: Limits = DEFAULT) -> list[Line]:
    """The claims of a certificate, all proved; Rejected or Declined otherwise, BadData if `data` cannot be read."""
    top = load(certificate, limits)
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
    lines: list[Line] = []
    for node in fields["claims"].array():
        parts = node.record("claim", "verdict")
        claim = parts["claim"].text(*CLAIMS)
        if any(line.claim == claim for line in lines):
            raise node.reject("each claim once", f"{claim} again")
        verdict = parts["verdict"].text("PROVED", "REFUTED", "UNDECIDED")
        if verdict == "REFUTED":
            raise parts["verdict"].reject(f"PROVED or UNDECIDED, because nothing can refute {claim}")
        proved = CLAIMS[claim](problem, facts, node) if verdict == "PROVED" else "nothing is claimed"
        lines.append(Line(claim, verdict, proved))
    return lines
