"""A question to the certifier, and its whole answer: facts, verdicts, and what the checker says to them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any

from properties.exact.linalg import Matrix, Vector, transpose
from properties.exact.patterns import Pattern, gated_problem, patterns, relu_problem
from properties.exact.problem import CGL
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import Result, decide
from relu_cert.cover import limits
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import DEFAULT_GAP, IntervalChoice, LambdaChoice, WantedDerivatives, find_facts
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, over_patterns, relu, unlisted_relu, written_out
from relu_cert.problem.loss import LOGISTIC, SQUARES
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.facts import Facts
from verify import Limits, VerifyError, check
from verify.claims import way
from verify.problem.problem import read_problem
from verify.rules import check_facts
from verify.text import load

OPPOSITE = {"PROVED": "REFUTED", "REFUTED": "PROVED"}


@dataclass(frozen=True)
class NetworkCase:
    """Data and lambda for a ReLU or gated ReLU network; the variants: some patterns only, delta, the logistic loss.

    `cover`: a ReLU network whose patterns are not listed, so that a cover has to prove what the list proves. `free`:
    its terms without penalty."""

    model: str
    Z: Matrix
    y: Vector
    lam: Fraction
    chosen: tuple[Pattern, ...] | None = None
    delta: Fraction = Fraction(0)
    logistic: bool = False
    cover: bool = False
    free: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of problem, for tables."""
        return _kind(self, self.model if self.chosen is None else f"{self.model}-some")

    @property
    def problem(self) -> Problem:
        """The certifier's problem."""
        if self.free:
            return replace(unlisted_relu(self.Z, self.y), free=self.free)
        if self.cover and self.seen:
            return unlisted_relu(self.Z, self.y)
        if self.chosen is not None:
            bits = tuple("".join("01"[on] for on in pattern) for pattern in self.chosen)
            found = over_patterns(self.Z, self.y, bits, "gated" if self.model == "gated" else "relu")
        else:
            found = (gated if self.model == "gated" else relu)(self.Z, self.y, enumerate_patterns(self.Z))
        return _variant(written_out(found) if self.delta else found, self)

    @property
    def seen(self) -> bool:
        """Whether some neuron sees the targets: lambda_max > 0. (Else there is nothing to cover.)"""
        from relu_cert.cover.lines import lines_of, weights_of

        weights = weights_of(lines_of(self.Z), self.y, 1)
        return any(weights.w) or any(weights.c0)

    @property
    def raw(self) -> bytes:
        """A CSV file with these data."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*(f"x{j}" for j in range(len(self.Z[0]))), "y"])
        writer.writerows([*map(str, z), str(t)] for z, t in zip(self.Z, self.y, strict=True))
        return out.getvalue().encode()

    @property
    def source(self) -> Source:
        """How the file is read."""
        return Source("data.csv", sha256(self.raw).hexdigest(), "csv", target=len(self.Z[0]), header=True)

    @property
    def columns(self) -> Matrix:
        """The free columns B, those of Z with a skip connection."""
        ones = ((Fraction(1),) * len(self.y),) if "output-bias" in self.free else ()
        return (*ones, *(transpose(self.Z) if "skip" in self.free else ()))

    @property
    def written_out(self) -> DirectCase:
        """The same convex program as a direct problem, block by block."""
        make = gated_problem if self.model == "gated" else relu_problem
        listed = patterns(self.Z).all if self.chosen is None else self.chosen
        return DirectCase(make(self.Z, listed, self.y, self.lam**2), self.delta, self.logistic)

    @property
    def convex(self) -> CGL:
        """The blocks of the convex program."""
        return self.written_out.convex


@dataclass(frozen=True)
class DirectCase:
    """A constrained group lasso given directly, perhaps a variant of one; lambda is rational."""

    convex: CGL
    delta: Fraction = Fraction(0)
    logistic: bool = False

    @property
    def lam(self) -> Fraction:
        """lambda"""
        return self.convex.lam

    @property
    def kind(self) -> str:
        """The kind of problem, for tables."""
        return _kind(self, "direct")

    @property
    def problem(self) -> Problem:
        """The certifier's problem."""
        blocks, columns, start = [], [], 0
        for b in self.convex.blocks:
            blocks.append(Block(b.X, transpose(b.K) if b.K else None))
            columns.append(tuple(range(start, start + b.size)))
            start += b.size
        return _variant(Problem("cgl", self.convex.y, tuple(blocks), columns=tuple(columns)), self)

    @property
    def raw(self) -> bytes:
        """A JSON file with this problem."""
        groups, start = [], 0
        for b in self.convex.blocks:
            groups.append(list(range(start, start + b.size)))
            start += b.size
        rows = [[str(x) for b in self.convex.blocks for x in b.X[k]] for k in range(self.convex.n)]
        K = [[[str(x) for x in row] for row in transpose(b.K)] if b.K else None for b in self.convex.blocks]
        return json.dumps({"X": rows, "groups": groups, "K": K, "y": [str(x) for x in self.convex.y]}).encode()

    @property
    def source(self) -> Source:
        """How the file is read."""
        return Source("problem.json", sha256(self.raw).hexdigest(), "json")


Case = NetworkCase | DirectCase


def _kind(case: Case, plain: str) -> str:
    if isinstance(case, NetworkCase) and case.free:
        return "free"
    return "logistic" if case.logistic else "elastic" if case.delta else plain


def _variant(problem: Problem, case: Case) -> Problem:
    """The problem with the penalty and the loss of the case."""
    return replace(problem, delta=case.delta, loss=LOGISTIC if case.logistic else SQUARES)


class _Silent:
    """Stages that nobody watches."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def tell(self, moment: object) -> None:
        """Nothing."""

    def advance(self, done: int, total: int) -> None:
        return


SILENT = _Silent()


@dataclass(frozen=True)
class Answer:
    """What the certifier said, and the raw bytes it spoke of."""

    case: Case
    facts: Facts
    results: tuple[Result, ...]

    @cached_property
    def said(self) -> dict[str, str]:
        """The verdict of every claim."""
        return {result.claim: str(result.verdict) for result in self.results}

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate, a JSON object."""
        return certificate(self.case.source, self.facts, self.results)


def ask(
    case: Case,
    *,
    interval: IntervalChoice | None = None,
    derivatives: WantedDerivatives | None = None,
    by_list: bool = False,
) -> Answer:
    """The certifier's answer to the case; with an interval also about every lambda of that. `by_list`: without a cover,
    where patterns are listed."""
    choice, most = LambdaChoice(value=case.lam), limits.Limits(by_list=by_list)
    facts = find_facts(case.problem, choice, DEFAULT_GAP, SILENT, interval, derivatives, most)
    return Answer(case, facts, decide(facts))


def objection(answer: Answer, network: bytes | None = None) -> str:
    """What is wrong between the answer and the checker: "" if nothing. `network`: the file of the network given.

    The certificate must be accepted with the raw data, and rejected with any one decided verdict turned round. For a
    claim that is UNDECIDED the checker must not accept both other verdicts.
    """
    tree = answer.certificate
    try:
        check(dumps(tree).encode(), answer.case.raw, network=network)
    except VerifyError as error:
        return f"the checker does not accept the certificate: {error}"
    accepts = _judge(tree)
    for claim, verdict in answer.said.items():
        turned = [OPPOSITE[verdict]] if verdict in OPPOSITE else ["PROVED", "REFUTED"]
        if all(accepts(claim, other) for other in turned):
            return f"{claim} is {verdict}, and the checker accepts {' and '.join(turned)} as well"
    return ""


def _judge(tree: dict[str, Any]) -> Callable[[str, str], bool]:
    """Whether the checker accepts a verdict on a claim, on the facts of a certificate that it has accepted."""
    fields = load(dumps(tree).encode(), Limits()).record(*tree)
    problem = read_problem(fields["problem"])
    facts = check_facts(problem, fields["facts"])

    def accepts(claim: str, verdict: str) -> bool:
        try:
            way(problem, facts, claim, verdict, fields["claims"])
        except VerifyError:
            return False
        return True

    return accepts
