"""A whole certificate: its frame, its input, its problem, its facts, and the verdicts that rest on them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce

from verify.claims import CLAIMS, VERDICTS, way
from verify.errors import Declined, Usage
from verify.facts import NETWORK
from verify.input import read_input
from verify.problem import Problem, read_problem
from verify.rules import check_facts
from verify.text import Limits, Node, describe, load, show

FORMAT = "relu_cert certificate"
REFUTATION = "relu_cert refutation"
VERSION = 2
DEFAULT = Limits()


@dataclass(frozen=True)
class Line:
    """One accepted claim: its verdict, in words what is proved, and about what: `under` names what is not the plain
    problem of the data, and is empty if nothing is. `rule` are the facts on which it rests."""

    claim: str
    verdict: str
    proved: str
    under: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Report:
    """What a certificate states, key by key, and its claims, all proved."""

    statement: dict[str, str]
    lines: list[Line]


def check(
    certificate: bytes, data: bytes | None = None, limits: Limits = DEFAULT, network: bytes | None = None
) -> list[Line]:
    """The claims of a certificate, all proved; Rejected or Declined otherwise, BadData if `data` cannot be read."""
    return read(certificate, data, limits, network).lines


def read(
    certificate: bytes, data: bytes | None = None, limits: Limits = DEFAULT, network: bytes | None = None
) -> Report:
    """The same with the statement."""
    top = load(certificate, limits)
    if isinstance(top.value, dict) and top.value.get("format") == REFUTATION:
        from verify.refutations.check import check_refutation
        from verify.refutations.statements import REFUTABLE

        if data is not None or network is not None:
            raise Usage("--data", "no raw data: a refutation holds its own instance", "a file")
        label, contradiction = check_refutation(certificate, top)
        return Report({"refuted": REFUTABLE[label].statement}, [Line(label, "REFUTED", contradiction)])
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

        compare_file(facts.get(NETWORK), network, limits, input_.bias)
    lines: list[Line] = []
    for node in fields["claims"].array():
        parts = node.record("claim", "verdict")
        claim = parts["claim"].text(*CLAIMS)
        if any(line.claim == claim for line in lines):
            raise node.reject("each claim once", f"{claim} again")
        verdict = parts["verdict"].text(*VERDICTS)
        said, by = way(problem, facts, claim, verdict, node)
        lines.append(Line(claim, verdict, said, under(problem), by))
    return Report(statement(top, problem, data is not None, network is not None), lines)


# What the certificate has chosen, beside its data: the names under which it is printed and expected, and the places.
CHOSEN = {
    **{key: ("problem", key) for key in ("model", "objective", "lambda", "delta", "free")},
    **{"gap": ("facts", "value", "gap"), "lo": ("facts", "path", "lo"), "hi": ("facts", "path", "hi")},
    **{f"jump-{key}": ("facts", "jump", key) for key in ("lo", "hi")},
    **{f"network-{key}": ("facts", "network", "file", key) for key in ("sha256", "origin")},
    **{f"network-{key}": ("facts", "network", "penalty", key) for key in ("convention", "value", "batch")},
    "network-gap": ("facts", "network", "gap"),
}


def statement(top: Node, problem: Problem, data: bool, network: bool) -> dict[str, str]:
    """What the claims are about, for a reader and for --expect, as it is written; and what was compared."""
    said = {"data": "compared" if data else "not compared, Z and y are the certificate's own (--data RAW)"}
    said |= {key: value if isinstance(value, str) else json.dumps(value) for key, value in top.value["input"].items()}
    said |= {"n": str(problem.n), "d": str(problem.d)}
    if problem.model != "cgl":
        said["patterns"] = "all" if problem.patterns is None else str(len(problem.patterns))
    for key, path in CHOSEN.items():
        value = reduce(lambda at, name: at.get(name) if isinstance(at, dict) else None, path, top.value)
        if value is not None:
            said[key] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if "network-sha256" in said:
        said["network"] = "compared" if network else "not compared, the weights are the certificate's own (--network)"
    return said


def under(problem: Problem) -> str:
    """What a claim's truth needs besides the data and lambda."""
    parts = ["gated networks"] if problem.model == "gated" else []
    if problem.patterns is not None:
        parts.append(f"over the {len(problem.patterns)} listed pattern{'s' * (len(problem.patterns) > 1)} only")
    if problem.free:
        parts.append(f"with these terms free of penalty: {', '.join(problem.free)}")
    if problem.delta:
        parts.append(f"with delta = {show(problem.delta)}")
    if problem.logistic:
        parts.append("for the logistic loss")
    return ", ".join(parts)
