"""What `check` found, as a certificate, as JSON and as a terminal table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from relu_cert.clock import INTERRUPTED
from relu_cert.closed_forms.optimum import ClosedForm, closed_form
from relu_cert.data.dataset import Dataset
from relu_cert.data.raw import STANDARD_INPUT
from relu_cert.exact import norm_squared, sqrt_lower, sqrt_upper
from relu_cert.figures import (
    at_least,
    at_most,
    count,
    decimal,
    downwards,
    enclosed_number,
    entries,
    one_number,
    percent_at_most,
    short,
    with_decimal,
)
from relu_cert.free import free_constant, free_parts, free_text
from relu_cert.lasso import Lasso
from relu_cert.network.objective import Interval, distance
from relu_cert.path.sensitivity import Derivatives
from relu_cert.problem.loss import LOGISTIC, SOFTMAX
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import ExactNeuron, Facts, LambdaMax, Value
from relu_cert.report.filters import (
    classes_in_lines,
    confusion,
    described,
    free_in_lines,
    in_words_of,
    matrices,
    network_json,
    neurons_in_lines,
    outputs_json,
)
from relu_cert.report.headline import of_check
from relu_cert.report.optimal_set import minimal_networks, optimal_set_json
from relu_cert.report.shown import Report, Sentence, known, picked, plain, proved, proved_to
from relu_cert.report.terminal import fold, report, shorten

FORMAT = "relu_cert report"
VERSION = 1
SHOWN_NEURONS = 12
NAMED = {"\t": "tabs", ";": "semicolons", " ": "blanks"}
SHOWN_NETWORKS = 40
ROUGH = Fraction(1, 10**6)  # relative gaps above this are told as what the network is above the best, in per cent
SHOWN_GROUPS = 24
CROSS_ENTROPY = "loss         softmax cross-entropy, sum log sum_c exp(f_c) - f_class"


@dataclass(frozen=True, repr=False)
class CheckReport(Report):
    """One run of `check`."""

    facts: Facts
    over_all: CheckReport | str = ""  # beside a network over some patterns: the same over all of them, or why not
    lasso: Lasso | None = None  # the group lasso as it was given, where that is not the plain problem
    every: bool = False  # whether the text lists all minimal networks
    exact: bool = False  # whether formulas are told, too

    @cached_property
    def formulas(self) -> ClosedForm | None:
        """The optimum in closed form, where it is known exactly."""
        return closed_form(self.facts)

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return in_words_of(self.source, of_check(self.facts, self.results))

    @property
    def outputs(self) -> Dataset | None:
        """The data, where the network has several outputs."""
        return self.data if self.data is not None and self.data.targets > 1 else None

    @cached_property
    def confusion(self) -> list[list[int]] | None:
        """How many data points of each class (rows) are put into each (columns); None without classes."""
        return None if self.outputs is None else confusion(self.outputs, self.facts.fit.center)

    @property
    def distance(self) -> Interval | None:
        """How far the optimum over some patterns is above the one over all of them, where both are known."""
        return distance(self.facts, self.over_all.facts) if isinstance(self.over_all, CheckReport) else None

    def html(self) -> str:
        """The page of `check`."""
        from relu_cert.report.html.check import check_page

        return check_page(self)

    def to_json(self) -> dict[str, Any]:
        """The object of `check --json`."""
        facts, problem = self.facts, self.facts.problem
        listed = problem.listed
        b2, skip = free_parts(problem, facts.primal.free if problem.targets == 1 else ())
        size = {"n": problem.points, "d": self.features, "rank": listed.rank if listed else None}
        neurons = [_neuron_json(neuron, numbered=problem.model == "cgl") for neuron in facts.primal.neurons]
        content = {
            "format": FORMAT,
            "version": VERSION,
            "input": picked(self.source, "path sha256") | size | picked(self.source, "numbers bias") | self._bags(),
            "model": problem.kind,
            "loss": problem.loss.name,
            "l2": problem.delta,
            "free": () if problem.roots else problem.free,
            "decayed": norm_squared(problem.roots) if problem.roots else None,
            "lambda": facts.lam,
            "lambda_max_squared": facts.lambda_max.squared if facts.lambda_max.exact else None,
            "patterns": self._patterns(),
            "interrupted": facts.unsettled == INTERRUPTED,
            "global": self._global(),
            "value": picked(facts.value, "lower upper"),
            "claims": self.results,
            "network": {"width": len(neurons), "neurons": neurons}
            | ({"output_bias": b2, "skip": skip} if problem.free else {}),
            "optimal_set": optimal_set_json(facts),
            "derivatives": _derivatives(facts.derivatives),
            "certificate": self.certificate_path,
        }
        if self.outputs is not None:
            more = outputs_json(self.outputs, facts)
            content |= more | {"input": content["input"] | more["input"], "network": network_json(facts)}
        if self.exact:
            content["exact"] = None if self.formulas is None else self.formulas.to_json()
        return dict(plain(content))

    def _bags(self) -> dict[str, Any]:
        """How rows were made, and how many different ones there are, where data points are bags of rows."""
        given = {name: text for name, text in self.source.stated.items() if name != "bias"}
        return given | ({"rows": len(self.data.Z)} if given and self.data is not None else {})

    def to_text(self) -> str:
        """The report for a terminal."""
        return report(
            self.headline,
            self._head(),
            self.results,
            *(fold(line, 4) for line in self._network()),
            *(fold(line, 4) for line in (self._every() if self.every else ())),
            "",
            *(self._formulas() if self.exact else ()),
            *self.certificate_lines,
        )

    def _formulas(self) -> list[str]:
        if self.formulas is None:
            return ["in closed form: the optimum is enclosed, and no formula for it is proved", ""]
        return ["in closed form", *(fold(f"  {line}", 6) for line in self.formulas.lines()), ""]

    @property
    def features(self) -> int:
        """d, or the number of columns of a direct problem."""
        problem = self.facts.problem
        if source := problem.source:
            return len(source.Z[0])
        return sum(len(block.X[0]) for block in problem.blocks)

    def _head(self) -> list[str]:
        facts, problem = self.facts, self.facts.problem
        listed, patterned = problem.listed, problem.patterned
        bias = ", the last one the bias" if self.source.bias else ""
        noun = "column" if problem.kind == "cgl" else "feature"
        size = f"n = {count(problem.points, 'point')}, d = {count(self.features, noun)}{bias}"
        name = "standard input" if self.source.path == STANDARD_INPUT else self.name
        lines = [f"{name}: {(self.data and described(self.data)) or size}"]
        model = f"two layers, {'gated ' * (problem.kind == 'gated')}{self.source.activation}"
        if listed:
            over = f"all {count(len(listed), 'activation pattern')}"
        elif problem.unlisted:
            over = "networks of any width (patterns not listed)"
        elif patterned:
            over = f"only {count(len(patterned.patterns), 'activation pattern')}"
        else:
            model, over = _lasso(problem), count(len(problem.blocks), "group")
        if self.source.labels and not self.source.targets:
            zero, one = self.source.labels
            lines.append(f"labels       {one} is 1, {zero} is 0")
        if self.source.numbers == "decimal-comma":
            lines.append("read         numbers with a decimal comma: 1,5 is 3/2")
        if self.source.delimiter not in ("", ","):
            lines.append(f"read         fields separated by {NAMED.get(self.source.delimiter, self.source.delimiter)}")
        lines.append(f"model        {model}, {over}")
        if self.outputs is not None:
            kind = "targets" if self.source.labels is None else "classes"
            less = ", less their means" if self.source.center else ""
            lines.append(f"outputs      {problem.targets} {kind}: {', '.join(self.outputs.outputs)}{less}")
            lines += [CROSS_ENTROPY] * (problem.loss is SOFTMAX)
        elif problem.loss is LOGISTIC:
            given = self.data is not None and self.data.y != problem.y
            lines.append(f"loss         logistic, sum log(1 + exp(-y f)){'; the label 0 is y = -1' if given else ''}")
        if problem.roots:
            lines.append(f"decayed      an output bias b: lambda/2 {'|b|^2' if self.outputs else 'b^2'}")
        elif problem.free:
            lines.append(f"free         {free_text(problem.free)}: without penalty")
        if problem.delta:
            lines.append(f"penalty      lambda sum |w_b| + delta/2 sum |w_b|^2, delta = {short(problem.delta)}")
        lines.append(f"lambda       {with_decimal(facts.lam)}   (lambda_max {largest_text(facts.lambda_max, 6)})")
        value = facts.value
        only = "" if patterned is None or listed else ", over these patterns only"
        if value.lower == value.upper:
            lines.append(f"p*           {with_decimal(value.upper)}, exactly{only}")
        else:
            lines.append(f"p*           {optimum(value, 15)}{only}")
        if facts.unsettled == INTERRUPTED:
            lines.append("interrupted  this is the best proved so far")
        return [*lines, *self._as_given(), *self._beside()]

    def _as_given(self) -> list[str]:
        """What the problem was before it became the plain one that the certificate is about."""
        if self.lasso is None or self.lasso.is_plain:
            return []
        parts = [
            "the loss divided by n" if self.lasso.average else "",
            "a free intercept" if self.lasso.intercept else "",
            "weights of the groups" if self.lasso.weights is not None else "",
        ]
        value = self.facts.value
        objective = one_number(self.lasso.objective(value.lower), self.lasso.objective(value.upper), 12)
        return [
            f"as given     {', '.join(filter(None, parts))}: the optimum is {objective}. lambda and p* above, and "
            "the certificate, are about the plain problem without these."
        ]

    def _patterns(self) -> dict[str, int | None] | None:
        """How many patterns the problem has; `open` is known where they are all of D_Z."""
        if listed := self.facts.problem.listed:
            return {"total": len(listed), "open": listed.open_cells}
        patterned = self.facts.problem.patterned
        return {"total": len(patterned.patterns), "open": None} if patterned else None

    def _global(self) -> dict[str, Any] | None:
        """Beside a network over some patterns: the optimum over all of them, or why it is not known."""
        best = self.over_all
        if isinstance(best, str):
            return {"reason": best} if best else None
        value = picked(best.facts.value, "lower upper")
        return {"value": value, "distance": self.distance, "certificate": best.certificate_path}

    def _beside(self) -> list[str]:
        best, away = self.over_all, self.distance
        if isinstance(best, str) or away is None:
            return [f"global       not compared: {best}"] if best else []
        value = best.facts.value
        if away.lower > 0 or away.upper < 0:
            shown = f"{enclosed_number(away.lower, away.upper, 12)}, proved to {at_most(away.upper - away.lower)}"
        else:
            shown = f"{at_least(away.lower)} to {at_most(away.upper)}, proved"
        return [
            f"global       {enclosed_number(value.lower, value.upper, 15)} over all patterns ({best.certificate_path})",
            f"distance     {shown}",
        ]

    def _every(self) -> list[str]:
        """All minimal optimal networks, one after the other, the narrowest first."""
        found = minimal_networks(self.facts) if Sentence("", proved("optimal-set")).true(self.results) else []
        if not found:
            return ["", "the optimal networks are not listed" + ": terms are free" * bool(self.facts.problem.free)]
        several = count(len(found), "minimal optimal network")
        lines = ["", f"all {several}, the narrowest first; every other optimal one is a mixture of these"]
        for i, one in enumerate(found[:SHOWN_NETWORKS]):
            lines += [f"{i + 1}: width {len(one)}", *self._neurons(one, len(one))]
        more = len(found) - SHOWN_NETWORKS
        return [*lines, f"  ... and {more} more (all with --json)"] if more > 0 else lines

    def _network(self) -> list[str]:
        neurons = self.facts.primal.neurons
        if self.outputs is not None:
            return self._outputs(self.outputs)
        if not neurons and not self.facts.problem.free:
            return ["all coefficients are 0" if self.facts.problem.kind == "cgl" else "the zero network"]
        if self.facts.problem.kind == "cgl":
            return self._coefficients()
        everywhere = self.facts.problem.unlisted or self.facts.problem.listed
        only = "" if everywhere else ", over these patterns only"
        lines = [f"a network of width {len(neurons)}{only}: sum of sign * weight * {self.source.neuron}"]
        lines += self._neurons(neurons, SHOWN_NEURONS)
        b2, skip = free_parts(self.facts.problem, self.facts.primal.free)
        if free_constant(self.facts.problem.free):
            lines.append(f"  output bias {decimal(b2, 8)}")
        if skip:
            lines.append(f"  skip        {entries(skip, 6)} . x")
        return lines

    def _outputs(self, data: Dataset) -> list[str]:
        """The network with several outputs, and its classes."""
        facts = self.facts
        head = f"a network of width {len(facts.primal.neurons)}: sum of weight * {self.source.neuron} * (outputs)"
        lines = [f"{head}; directions and outputs have length 1"] if facts.primal.neurons else ["no neuron"]
        shown = shorten([*neurons_in_lines(data, facts.primal.neurons)], SHOWN_NEURONS)
        lines += [line for one in shown for line in one.split("\n")]
        return [*lines, *free_in_lines(data, facts), *classes_in_lines(data, facts.fit.center)]

    def _neurons(self, neurons: Sequence[ExactNeuron], most: int) -> list[str]:
        """The lines of the first neurons: sign, weight, direction, the last of a filter as a matrix below."""
        shown = []
        for neuron in neurons:
            weight, direction = _split(neuron)
            head = f"  {'+' if neuron.sign > 0 else '-'} {decimal(weight, 8):<14}"
            below = matrices(self.source, direction, 6) if self.source.conv else []
            told = head.rstrip() if below else f"{head} {entries(direction, 6)}"
            shown.append("\n".join([told, *(f"      {line}" for line in below)]))
        return [line for one in shorten(shown, most) for line in one.split("\n")]

    def _coefficients(self) -> list[str]:
        """The coefficients of the groups that are not zero."""
        active = sorted(self.facts.primal.neurons, key=lambda neuron: neuron.block or 0)
        total = len(self.facts.problem.blocks)
        rest = f"; the other {total - len(active)} are 0" if total > len(active) else ""
        columns, shown = self.facts.problem.columns, []
        for neuron in active:
            omega = self.lasso.omega[neuron.block or 0] if self.lasso else 1
            w = [x / omega for x in neuron.w]
            where = columns[neuron.block] if columns and neuron.block is not None else ()
            named = f"column {where[0]}" if len(where) == 1 else f"columns {', '.join(map(str, where[:4]))}"
            more = ", ..." if len(neuron.w) > 4 else ""
            shown.append(f"  group {neuron.block:<4} {', '.join(decimal(x, 8) for x in w[:4])}{more}   ({named}{more})")
        lines = [f"coefficients of {count(len(active), 'group')}{rest}", *shorten(shown, SHOWN_GROUPS)]
        if self.lasso is not None and self.lasso.intercept:
            every = self.lasso.from_plain((n.block, n.w) for n in active if n.block is not None)
            lines.append(f"  intercept  {decimal(self.lasso.best_intercept(every), 8)}")
        return lines


def _lasso(problem: Problem) -> str:
    return "group lasso" if all(block.K is None for block in problem.blocks) else "constrained group lasso"


def _split(neuron: ExactNeuron) -> tuple[Fraction, tuple[Fraction, ...]]:
    """w = weight * direction; the largest entry of the direction is 1 in size."""
    weight = max(abs(x) for x in neuron.w)
    return weight, tuple(x / weight for x in neuron.w)


def _neuron_json(neuron: ExactNeuron, *, numbered: bool) -> dict[str, Any]:
    weight, direction = _split(neuron)
    head = {"sign": neuron.sign, "direction": direction, "weight": weight}
    return head | known(neuron, "block pattern" if numbered else "pattern")


def _derivatives(found: Derivatives | None) -> dict[str, Any] | None:
    """By lambda, and by y where n is not too large: every entry is within `radius` of the true derivative.

    The fit is y - r, so dfit/dlambda = -dr/dlambda and dfit/dy = I - dr/dy; `degrees_of_freedom` is its trace.
    """
    if found is None:
        return None
    return {
        "radius": found.radius,
        "by_lambda": {"alpha": found.by_lam.alpha, "residual": found.by_lam.r},
        "by_y": found.by_y and {"alpha": found.by_y.alpha, "residual": found.by_y.r},
        "degrees_of_freedom": found.freedom,
        "sure": found.sure,
    }


def optimum(value: Value, digits: int) -> str:
    """p* as far as it is known."""
    if value.lower > 0 and value.relative_gap > ROUGH:
        above = f"the network found is at most {percent_at_most(value.above)} above it"
        return f"{enclosed_number(value.lower, value.upper, digits)}; {above}"
    return f"{enclosed_number(value.lower, value.upper, digits)}, {proved_to(value)}"


def largest_text(found: LambdaMax, digits: int) -> str:
    """lambda_max, or what is known of it; of a square root the first digits."""
    if found.least is not None:
        return f">= {downwards(sqrt_lower(found.least), digits)}"
    root = sqrt_upper(found.squared)
    if root * root == found.squared:
        return f"= {short(root, 40)}"
    return f"= sqrt({short(found.squared, 40)}) = {downwards(sqrt_lower(found.squared), digits)}..."
