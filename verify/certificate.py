"""A whole certificate: its frame, its input, its problem, its facts, and the verdicts that rest on them."""

from __future__ import annotations

from dataclasses import dataclass

from verify.claims import CLAIMS, VERDICTS, way
from verify.errors import Usage
from verify.frame import REFUTATION, frame
from verify.problem.input import Input, read_input
from verify.problem.problem import Problem, read_problem
from verify.rule import plain
from verify.rules import check_facts
from verify.text import Fields, Limits, Node, load

FORMAT = "relu_cert certificate"
VERSION = 2
DEFAULT = Limits()
Raw = bytes | None


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
    """A certificate, its problem (None: a refutation, which has none), and its claims, all proved."""

    top: Node
    problem: Problem | None
    lines: list[Line]


def check(certificate: bytes, data: Raw = None, limits: Limits = DEFAULT, network: Raw = None) -> list[Line]:
    """The claims of a certificate, all proved; Rejected or Declined otherwise, BadData if `data` cannot be read."""
    return read(certificate, data, limits, network).lines


def read(certificate: bytes, data: Raw = None, limits: Limits = DEFAULT, network: Raw = None) -> Report:
    """The same with the certificate and its problem."""
    top = load(certificate, limits)
    if isinstance(top.value, dict) and top.value.get("format") == REFUTATION:
        from verify.refutations.statements import check_refutation

        if data is not None or network is not None:
            raise Usage("--data", "no raw data: a refutation holds its own instance", "a file")
        label, contradiction = check_refutation(certificate, top)
        return Report(top, None, [Line(label, "REFUTED", contradiction)])
    fields = frame(top, FORMAT, VERSION, "input", "problem", "facts", "claims")
    problem, input_ = read_statement(fields, data, limits)
    about = ""
    if problem.model == "gated" or problem.patterns is not None or problem.bags or not plain(problem):
        from verify.problem.variants import under

        about = under(problem, input_)
    facts = check_facts(problem, fields["facts"])
    if network is not None:
        from verify.network.file import compare_given

        compare_given(facts, network, limits, input_)
    lines: list[Line] = []
    for node in fields["claims"].array():
        parts = node.record("claim", "verdict")
        claim = parts["claim"].text(*CLAIMS)
        node.require(all(line.claim != claim for line in lines), "each claim once", f"{claim} again")
        verdict = parts["verdict"].text(*VERDICTS)
        said, by = way(problem, facts, claim, verdict, node)
        lines.append(Line(claim, verdict, said, about, by))
    return Report(top, problem, lines)


def read_statement(fields: Fields, data: bytes | None, limits: Limits) -> tuple[Problem, Input]:
    """The problem that is solved, and how the raw file was read, which is compared where it is given."""
    problem = read_problem(fields["problem"])
    input_ = read_input(fields["input"], problem)
    if input_.bias and problem.free:
        from verify.problem.variants import without_ones

        problem = without_ones(problem)
    if data is not None:
        from verify.problem.data import compare

        compare(data, input_, problem, limits)
    if problem.roots:
        from verify.problem.variants import with_zero_rows

        problem = with_zero_rows(problem)
    return problem, input_
