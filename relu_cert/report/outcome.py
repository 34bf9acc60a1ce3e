"""What `check` found, as a certificate, as JSON and as a terminal table."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from relu_cert.certificate import certificate, dumps
from relu_cert.claims.model import Result, Verdict
from relu_cert.data.model import Dataset, Source
from relu_cert.exact import sqrt_upper
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.text import decimal, rational, scientific, short

FORMAT = "relu_cert report"
VERSION = 1
COLOURS = {Verdict.PROVED: "green", Verdict.REFUTED: "red", Verdict.UNDECIDED: "yellow"}
SHOWN_NEURONS = 12


@dataclass(frozen=True)
class Outcome:
    """One run of `check`."""

    data: Dataset | None
    source: Source
    facts: Facts
    results: tuple[Result, ...]
    certificate_path: Path

    def certificate_text(self) -> str:
        """The certificate file."""
        return dumps(certificate(self.source, self.facts, self.results))

    def to_json(self) -> dict[str, Any]:
        """The object of `check --json`."""
        facts, problem = self.facts, self.facts.problem
        network = problem.network
        return {
            "format": FORMAT,
            "version": VERSION,
            "input": {
                "path": self.source.path,
                "sha256": self.source.sha256,
                "n": problem.n,
                "d": self._features(),
                "rank": network.patterns.rank if network else None,
                "numbers": self.source.numbers,
                "bias": self.source.bias,
            },
            "model": problem.model,
            "lambda": rational(facts.lam),
            "lambda_max_squared": rational(facts.lambda_max.squared),
            "patterns": {"total": len(network.patterns), "open": network.patterns.open_cells} if network else None,
            "value": {"lower": rational(facts.value.lower), "upper": rational(facts.value.upper)},
            "claims": [
                {"claim": r.claim, "verdict": str(r.verdict), "evidence": r.evidence, "detail": r.detail}
                for r in self.results
            ],
            "network": {
                "width": len(facts.primal.neurons),
                "neurons": [_neuron_json(neuron) for neuron in facts.primal.neurons],
            },
            "certificate": str(self.certificate_path),
        }

    def to_text(self) -> str:
        """The report for a terminal of 80 columns."""
        stream = io.StringIO()
        colour = sys.stdout.isatty()
        console = Console(file=stream, width=80, force_terminal=colour, no_color=None if colour else True, highlight=False)
        for line in self._head():
            console.print(line, markup=False)
        console.print(claims_table(self.results))
        console.print()
        for line in self._network():
            console.print(line, markup=False, soft_wrap=True)
        console.print()
        console.print(f"certificate  {self.certificate_path}", markup=False, soft_wrap=True)
        console.print(f"re-check it  {self._verify_command()}", markup=False, soft_wrap=True)
        return stream.getvalue()

    def _features(self) -> int:
        problem = self.facts.problem
        if problem.network:
            return len(problem.network.Z[0])
        return sum(len(block.X[0]) for block in problem.blocks)

    def _head(self) -> list[str]:
        facts, problem = self.facts, self.facts.problem
        network = problem.network
        bias = ", the last one the bias" if self.source.bias else ""
        lines = [f"{Path(self.source.path).name}: n = {problem.n} points, d = {self._features()} features{bias}"]
        if network:
            model = "gated ReLU" if problem.model == "gated" else "ReLU"
            lines.append(f"model        two layers, {model}, all {len(network.patterns)} activation patterns")
        else:
            lines.append(f"model        constrained group lasso, {len(problem.blocks)} groups")
        largest = facts.lambda_max.squared
        root = sqrt_upper(largest)
        shown = short(root, 40) if root * root == largest else f"sqrt({short(largest, 40)}) = {decimal(root, 6)}..."
        lines.append(f"lambda       {short(facts.lam)}   (lambda_max = {shown})")
        value = facts.value
        if value.lower == value.upper:
            lines.append(f"p*           {short(value.upper, 40)}, exactly")
        else:
            lines.append(f"p*           {decimal(value.upper, 15)}, proved to a relative {scientific(value.relative_gap)}")
        return [*lines, ""]

    def _network(self) -> list[str]:
        neurons = self.facts.primal.neurons
        if not neurons:
            return ["the zero network"]
        if self.facts.problem.network is None:
            lines = [f"a solution with {len(neurons)} active groups: w_b"]
        else:
            lines = [f"a network of width {len(neurons)}: sum of sign * weight * (direction . x)_+"]
        for neuron in neurons[:SHOWN_NEURONS]:
            weight, direction = _split(neuron)
            head = f"block {neuron.block}" if neuron.block is not None else ("+" if neuron.sign > 0 else "-")
            lines.append(f"  {head} {decimal(weight, 8):<14} ({', '.join(decimal(x, 6) for x in direction)})")
        if len(neurons) > SHOWN_NEURONS:
            lines.append(f"  ... and {len(neurons) - SHOWN_NEURONS} more (all with --json)")
        return lines

    def _verify_command(self) -> str:
        return f"python -m verify {self.certificate_path} --data {self.source.path}"


def _split(neuron: ExactNeuron) -> tuple[Fraction, tuple[Fraction, ...]]:
    """w = weight * direction; the largest entry of the direction is 1 in size."""
    weight = max(abs(x) for x in neuron.w)
    return weight, tuple(x / weight for x in neuron.w)


def _neuron_json(neuron: ExactNeuron) -> dict[str, Any]:
    weight, direction = _split(neuron)
    content: dict[str, Any] = {
        "sign": neuron.sign,
        "direction": [rational(x) for x in direction],
        "weight": rational(weight),
    }
    if neuron.block is not None:
        content["block"] = neuron.block
    if neuron.pattern is not None:
        content["pattern"] = neuron.pattern
    return content


def claims_table(results: Sequence[Result]) -> Table:
    """One line a claim: verdict, name, detail."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for r in results:
        table.add_row(Text(str(r.verdict), style=f"bold {COLOURS[r.verdict]}"), r.claim, Text(r.detail))
    return table
