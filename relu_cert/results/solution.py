"""Given coefficients of a lasso or a group lasso: how far they are from optimal, and whether the solution is unique.

Two certificates prove it. One holds the given coefficients and the verdict on them, with the hash of their file, beside
all that is proved about the optimum. The other one is about the optimum alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.certificate import certificate, dumps
from relu_cert.checker import accepted
from relu_cert.claims.claim import Result, Verdict
from relu_cert.commands import Request, check_lasso
from relu_cert.driver.optimum import DEFAULT_GAP as OPTIMUM_GAP
from relu_cert.driver.optimum import LambdaChoice, Stages
from relu_cert.driver.variant import Variant
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Vector, dot, norm_squared, sqrt_lower
from relu_cert.figures import about, at_least, at_most, count, decimal, one_number, percent, with_decimal
from relu_cert.files import Place, write_files
from relu_cert.lasso import Lasso
from relu_cert.network.objective import Interval
from relu_cert.prove.facts import Facts
from relu_cert.prove.prove import HALF, block_neuron, fit, primal, value
from relu_cert.report.shown import Shown, plain
from relu_cert.report.terminal import columns, report
from relu_cert.results.certified import Certified
from relu_cert.serialize import number, vector

FORMAT, VERSION = "relu_cert solution", 1
DEFAULT_GAP = Fraction(1, 10**6)
OF_THE_OPTIMUM = ("optimal", "fit", "p-unique", "convex-unique")
BITS = 120  # of norms: a little less than the checker takes, so that its bounds are within these
SHOWN = 20
NAME = "solution-optimal"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Files:
    """The hashes of the files that were given: of the coefficients and of the data; empty where there was none."""

    coefficients: str = ""
    data: str = ""


NO_FILES = Files()


class CertifiedGroupLasso(Certified):
    """What `certify_group_lasso` found: as `Certified`, with the coefficients in the scale that they were asked in."""

    @property
    def lasso(self) -> Lasso:
        """The problem as it was given."""
        if self.report.lasso is None:
            raise DataError("the problem as it was given is not known.")
        return self.report.lasso

    @cached_property
    def coefficients(self) -> Vector:
        """All coefficients, exactly, one for each column of X."""
        return self.lasso.from_plain((n.block, n.w) for n in self.facts.primal.neurons if n.block is not None)

    @property
    def coef_(self) -> Floats:
        """The same in floats."""
        return np.array([float(x) for x in self.coefficients])

    @property
    def intercept_(self) -> float:
        """mean(y - Xw), or 0 where there is no intercept."""
        return float(self.lasso.best_intercept(self.coefficients))

    @property
    def objective(self) -> Interval:
        """The optimal objective in the units of the problem as it was given, enclosed."""
        return Interval(self.lasso.objective(self.value.lower), self.lasso.objective(self.value.upper))


@dataclass(frozen=True, repr=False)
class CertifiedSolution(Shown):
    """What `certify_solution` found about given coefficients.

    >>> from relu_cert import certify_solution
    >>> found = certify_solution([[1, 0], [0, 2]], 1, [3, 4], 1, [2, "1.7"])
    >>> found
    <CertifiedSolution: These coefficients are not optimal: their objective is 0.114 % above the best one; the \
solution is unique; proved.>
    >>> found.optimum.coef_
    array([2.  , 1.75])
    """

    optimum: CertifiedGroupLasso
    given: Vector
    intercept: Fraction
    facts: Facts  # the given coefficients beside the dual point of the optimum
    gap: Fraction
    files: Files = NO_FILES

    @property
    def lasso(self) -> Lasso:
        """The problem as it was given."""
        return self.optimum.lasso

    @cached_property
    def certificate(self) -> str:
        """All that is proved about the optimum, the given coefficients, and the verdict on them."""
        report = self.optimum.report
        content = certificate(report.source, report.facts, (*report.results, self.result))
        content["facts"]["solution"] = {
            "file": {"sha256": self.files.coefficients, "data": self.files.data},
            "coefficients": vector(self.given),
            "weights": vector(self.lasso.omega),
            "extra": number(self._extra),
            "gap": number(self.gap),
        }
        return dumps(content)

    @property
    def objective(self) -> Interval:
        """The objective of the given coefficients, enclosed (norms are square roots)."""
        lower, upper = self._plain_objective
        return Interval(self.lasso.objective(lower), self.lasso.objective(upper))

    @property
    def distance(self) -> Interval:
        """How far that is above the optimum."""
        best, (lower, upper) = self.optimum.value, self._plain_objective
        least, most = lower - best.upper, upper - max(best.lower, self.facts.value.lower)
        return Interval(self.lasso.objective(max(least, Fraction(0))), self.lasso.objective(most))

    @property
    def relative_gap(self) -> Fraction:
        """(objective - lower bound) / objective, an upper bound."""
        _, upper = self._plain_objective
        return (upper - max(self.optimum.value.lower, self.facts.value.lower)) / upper if upper else Fraction(0)

    @cached_property
    def result(self) -> Result:
        """The verdict about the given coefficients."""
        shown = at_most(self.relative_gap)
        if self.relative_gap <= self.gap:
            detail = f"relative gap at most {shown}, within the {about(self.gap)} asked for."
            return Result(NAME, Verdict.PROVED, "duality", detail)
        least = self.distance.lower
        if least > self.gap * self.objective.upper:
            return Result(
                NAME, Verdict.REFUTED, "duality", f"the objective is at least {at_least(least)} above the best."
            )
        return Result(
            NAME, Verdict.UNDECIDED, "", f"the relative gap is at most {shown}, above the {about(self.gap)} asked for."
        )

    @property
    def claims(self) -> Mapping[str, Result]:
        """The verdict about the coefficients, then those about the optimum."""
        return MappingProxyType({NAME: self.result} | dict(self.optimum.claims))

    @property
    def unique(self) -> Verdict:
        """Whether the solution is unique."""
        return self.optimum.claims["convex-unique"].verdict

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        said = {
            Verdict.PROVED: f"are optimal up to a relative {at_most(self.relative_gap)}",
            Verdict.REFUTED: f"are not optimal: their objective is {self._above} above the best one",
            Verdict.UNDECIDED: f"are within a relative {at_most(self.relative_gap)} of optimal",
        }[self.result.verdict]
        unique = {
            Verdict.PROVED: "; the solution is unique; proved.",
            Verdict.REFUTED: "; there are other solutions; proved.",
            Verdict.UNDECIDED: "; proved. Whether the solution is unique is not settled.",
        }[self.unique]
        return f"These coefficients {said}{unique}"

    @property
    def _above(self) -> str:
        best, objective = self.optimum.value, self._plain_objective
        if best.lower <= 0:
            return f"at least {at_least(self.distance.lower)}"
        return percent(objective[0] / best.upper - 1, objective[1] / best.lower - 1)

    @cached_property
    def _plain_objective(self) -> tuple[Fraction, Fraction]:
        """Of the plain problem, with what a given intercept costs."""
        extra, problem, lam = self._extra, self.facts.problem, self.facts.lam
        residual = [a - b for a, b in zip(self.facts.primal.fit, problem.y, strict=True)]
        norms = sum((sqrt_lower(norm_squared(n.w), BITS) for n in self.facts.primal.neurons), Fraction(0))
        return HALF * norm_squared(residual) + lam * norms + extra, self.facts.value.upper + extra

    @property
    def _extra(self) -> Fraction:
        """What a given intercept costs."""
        away = self.lasso.best_intercept(self.given) - self.intercept if self.lasso.intercept else Fraction(0)
        return HALF * self.lasso.n * away * away

    def recheck(self) -> None:
        """Give both certificates to the independent checker; ReluCertError if it does not accept them."""
        accepted(self.certificate, self.optimum.raw)
        self.optimum.recheck()

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        optimum: str | os.PathLike[str] | None = None,
        data: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        """Write the certificate about the coefficients, and if they are named, that of the optimum and the file of the
        plain problem, which both speak of."""
        files = [(Place("path", Path(path)), self.certificate)]
        if optimum is not None:
            files.append((Place("optimum", Path(optimum)), self.optimum.certificate))
        if data is not None:
            files.append((Place("data", Path(data)), self.optimum.raw.decode()))
        write_files(files, force=force)

    def rows(self) -> list[tuple[int, str, str, str]]:
        """For every group in use, in the given or the optimal coefficients: both, and how far apart they are."""
        best, found = self.optimum.coefficients, []
        for b, group in enumerate(self.lasso.groups):
            ours, theirs = [best[j] for j in group], [self.given[j] for j in group]
            if any(ours) or any(theirs):
                away = max(abs(x - t) for x, t in zip(ours, theirs, strict=True))
                found.append((b, _shown(theirs), _shown(ours), at_most(away)))
        return found

    def to_text(self) -> str:
        """The report of `solution`."""
        lasso, rows, own, best = self.lasso, self.rows(), self.objective, self.optimum.objective
        table = _table(rows[:SHOWN])
        if len(rows) > SHOWN:
            table.append(f"  ... and {len(rows) - SHOWN} more (all with --json)")
        results = [self.result, *(r for r in self.optimum.report.results if r.claim != "fit")]
        proved = f"proved to a relative {at_most(self.optimum.value.relative_gap)}"
        head = [
            f"{count(lasso.n, 'row')}, {count(lasso.d, 'column')} in {count(len(lasso.groups), 'group')}",
            f"objective    {one_number(own.lower, own.upper, 15)}",
            f"optimum      {one_number(best.lower, best.upper, 15)}, {proved}",
            f"distance     {at_least(self.distance.lower)} to {at_most(self.distance.upper)}, proved",
            f"lambda       {with_decimal(self.facts.lam)} for the plain problem",
        ]
        return report(self.headline, head, results, *table)

    def to_json(self) -> dict[str, Any]:
        """The object of `solution --json`."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "n": self.lasso.n,
            "columns": self.lasso.d,
            "groups": self.lasso.groups,
            "lambda": self.facts.lam / (self.lasso.n if self.lasso.average else 1),
            "objective": self.objective,
            "optimum": self.optimum.objective,
            "distance": self.distance,
            "relative_gap": self.relative_gap,
            "claims": list(self.claims.values()),
            "given": self.given,
            "optimal": self.optimum.coefficients,
            "intercept": self.lasso.best_intercept(self.optimum.coefficients),
        }
        return dict(plain(content))

    def html(self, commands: Sequence[str] = ()) -> str:
        """The report as one page, with the commands that check its certificates again, if they are given."""
        from relu_cert.report.html.given import solution_page

        return solution_page(self, commands)


def certified_solution(
    lasso: Lasso,
    lam: Fraction,
    w: Vector,
    intercept: Fraction | None,
    gap: Fraction,
    stages: Stages,
    files: Files = NO_FILES,
) -> CertifiedSolution:
    """The given coefficients beside the optimum; without an intercept its best value is taken."""
    if gap >= 1:
        raise UsageError("a relative gap is below 1: everything is optimal up to 1.")
    asked = Request.of(LambdaChoice(value=lam), OPTIMUM_GAP, OF_THE_OPTIMUM)
    report = check_lasso(asked, lasso, Variant(), stages, lasso.source(), Path("problem.cert.json"))
    best = report.facts
    blocks = lasso.to_plain(w)
    for b, (block, entries) in enumerate(zip(best.problem.blocks, blocks, strict=True)):
        if block.K is not None and any(dot(column, entries) > 0 for column in zip(*block.K, strict=True)):
            raise DataError(f"the coefficients of group {b} do not obey its constraints: K'w <= 0 fails.")
    neurons = [block_neuron(None, b, entries, BITS) for b, entries in enumerate(blocks) if any(entries)]
    point = primal(best.problem, neurons)
    bounds = value(best.problem, best.lam, point, best.dual, gap)
    facts = Facts(best.problem, best.lam, best.lambda_max, point, best.dual, bounds, fit(best.problem, point, bounds))
    at = lasso.best_intercept(w) if intercept is None else intercept
    return CertifiedSolution(CertifiedGroupLasso(report, lasso.raw), w, at, facts, gap, files)


def _table(rows: list[tuple[int, str, str, str]]) -> list[str]:
    """A line for each group; where that is too wide for the terminal, one for its given and one for its best values."""
    heads = ("group", "given", "optimal", "largest difference")
    cells = [(str(b), *rest) for b, *rest in rows]
    wide = [max(len(row[i]) for row in (heads, *cells)) for i in range(4)]
    if sum(wide) + 6 <= columns():
        return [
            f"{b:>{wide[0]}}  {given:<{wide[1]}}  {best:<{wide[2]}}  {away}" for b, given, best, away in (heads, *cells)
        ]
    lines = [f"{heads[0]:>{wide[0]}}  given, and below it optimal", " " * wide[0] + f"  ({heads[3]})"]
    for b, given, best, away in cells:
        lines += [f"{b:>{wide[0]}}  {given}", f"{'':>{wide[0]}}  {best}", f"{'':>{wide[0]}}  ({away})"]
    return lines


def _shown(entries: list[Fraction]) -> str:
    few = ", ".join(decimal(x, 6) for x in entries[:4])
    return f"({few}{', ...' if len(entries) > 4 else ''})" if len(entries) > 1 else few
