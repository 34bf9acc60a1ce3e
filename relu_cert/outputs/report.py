"""What `check` found for a network with several outputs: text, JSON, page, certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.certificate import dumps
from relu_cert.claims.claim import Verdict
from relu_cert.data.arrays import exact_matrix
from relu_cert.errors import DataError
from relu_cert.exact import sqrt_lower
from relu_cert.outputs.dataset import OutputsData
from relu_cert.outputs.facts import OutputsFacts, certificate
from relu_cert.outputs.optimum import Neuron, norm, outputs_of
from relu_cert.report.check import optimum
from relu_cert.report.shown import Report, picked, plain
from relu_cert.report.terminal import report, shortened, wrapped
from relu_cert.report.text import at_most, count, decimal, downwards, entries, percent_at_most, with_decimal

FORMAT, VERSION = "relu_cert report", 1
SHOWN_NEURONS = 12


@dataclass(frozen=True, repr=False)
class OutputsReport(Report):
    """One run of `check` with several outputs."""

    several: OutputsData
    found: OutputsFacts

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        value, width = self.found.value, count(len(self.found.neurons), "neuron")
        what = f"a network with {count(len(self.several.outputs), 'output')} and {width}"
        said = {result.claim: result.verdict for result in self.results}
        if said.get("optimal") is Verdict.PROVED:
            close = at_most(value.relative_gap) if value.relative_gap else "0"
            return f"Found {what} and proved that no network of any width is better (to a relative gap of {close})."
        if value.lower > 0:
            return f"Found {what}; it is at most {percent_at_most(value.above)} above the best of any width, proved."
        return f"Found {what}."

    @cached_property
    def certificate_text(self) -> str:
        """The certificate file."""
        return dumps(certificate(self.several, self.found, self.results))

    @property
    def predicted(self) -> list[int]:
        """The class of each row by the network found: the output that is largest, with the means that were taken."""
        fit, means = self.found.fit, self.several.means
        rows = ([f + mean for f, mean in zip(row, means, strict=True)] for row in fit)
        return [max(range(len(row)), key=row.__getitem__) for row in rows]

    @property
    def confusion(self) -> list[list[int]] | None:
        """How many rows of each class (rows) the network puts into each (columns); None without classes."""
        true = self.several.classes
        if true is None:
            return None
        C = len(self.several.outputs)
        counts = [[0] * C for _ in range(C)]
        for a, b in zip(true, self.predicted, strict=True):
            counts[a][b] += 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """The object of `check --json`."""
        data, facts = self.several, self.found
        content = {
            "format": FORMAT,
            "version": VERSION,
            "input": picked(self.source, "path sha256")
            | {"n": len(data.Z), "d": len(data.names)}
            | picked(self.source, "numbers bias targets center labels"),
            "model": "relu",
            "loss": "squares",
            "outputs": data.outputs,
            "means": data.means,
            "lambda": facts.lam,
            "lambda_max_at_least": downwards(sqrt_lower(facts.top), 12),
            "value": picked(facts.value, "lower upper"),
            "claims": self.results,
            "network": {"width": len(facts.neurons), "neurons": [{"w": w, "v": v} for w, v in facts.neurons]},
            "confusion": self.confusion,
            "proof": picked(facts.evidence, "nodes leaves"),
            "certificate": self.certificate_path,
        }
        return dict(plain(content))

    def to_text(self) -> str:
        """The report for a terminal."""
        return report(
            self.headline,
            self._head(),
            self.results,
            *(wrapped(line, 4) for line in (*self._network(), *self._classes())),
            "",
            *self.certificate_lines,
        )

    def html(self) -> str:
        """The page."""
        from relu_cert.outputs.page import outputs_page

        return outputs_page(self)

    def _head(self) -> list[str]:
        data, facts = self.several, self.found
        bias = ", the last one the bias" if self.source.bias else ""
        size = f"n = {count(len(data.Z), 'point')}, d = {count(len(data.names), 'feature')}{bias}"
        kind = "classes" if data.source.labels is not None else "targets"
        centred = ", less their means" if data.source.center else ""
        return [
            f"{self.name}: {size}",
            "model        two layers, ReLU, networks of any width (patterns not listed)",
            f"outputs      {len(data.outputs)} {kind}: {', '.join(data.outputs)}{centred}",
            f"lambda       {with_decimal(facts.lam)}   (lambda_max >= {downwards(sqrt_lower(facts.top), 6)})",
            f"p*           {optimum(facts.value, 15)}",
            f"proof        a tree of {facts.evidence.nodes:,} cones, {facts.evidence.leaves:,} of them leaves",
        ]

    def _network(self) -> list[str]:
        if not self.found.neurons:
            return ["the zero network"]
        lines = [
            f"a network of width {len(self.found.neurons)}: sum of weight * (direction . x)_+ * (outputs); directions "
            "and outputs have length 1"
        ]
        shown = []
        for neuron in heaviest_first(self.found.neurons):
            weight, u, v = parts(neuron)
            shown.append(f"  {decimal(weight, 8):<14} {entries(u, 5)}  ->  {entries(v, 5)}")
        return [*lines, *shortened(shown, SHOWN_NEURONS)]

    def _classes(self) -> list[str]:
        counts = self.confusion
        if counts is None:
            return []
        names = self.several.outputs
        wide = max(map(len, names))
        right = sum(counts[c][c] for c in range(len(names)))
        total = sum(map(sum, counts))
        lines = ["", f"classes: {right} of {total} rows are put into their own (rows: true, columns: largest output)"]
        rows = (
            f"  {name:<{wide}}  {' '.join(f'{x:>5}' for x in row)}" for name, row in zip(names, counts, strict=True)
        )
        return [*lines, *rows]


def heaviest_first(neurons: tuple[Neuron, ...]) -> list[Neuron]:
    """Sorted by |w||v|."""
    return sorted(neurons, key=norm, reverse=True)


def parts(neuron: Neuron) -> tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]:
    """|w||v|, and w and v at length 1, to be shown."""
    w, v = neuron
    a, b = (float(sum(x * x for x in one)) ** 0.5 for one in (w, v))
    return norm(neuron), tuple(Fraction(float(x) / a) for x in w), tuple(Fraction(float(x) / b) for x in v)


@dataclass(frozen=True, repr=False)
class OutputsNetwork:
    """The network that was found, to predict with: f(x) = means + sum_j (w_j.x)_+ v_j; with `bias` x ends with a 1."""

    neurons: tuple[Neuron, ...]
    means: tuple[Fraction, ...]
    labels: tuple[str, ...] | None
    features: int
    bias: bool

    def __repr__(self) -> str:
        return f"<OutputsNetwork: ReLU, width {self.width}, {self.features} features, {len(self.means)} outputs>"

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.neurons)

    @property
    def W1(self) -> NDArray[np.float64]:
        """First-layer weights, a row for each neuron, the bias in the last column."""
        return np.array([[float(x) for x in w] for w, _ in self.neurons]).reshape(self.width, self.features + self.bias)

    @property
    def W2(self) -> NDArray[np.float64]:
        """Second-layer weights, a row for each neuron."""
        return np.array([[float(x) for x in v] for _, v in self.neurons]).reshape(self.width, len(self.means))

    def outputs(self, X: Any) -> NDArray[np.float64]:
        """f(x) for every row of X, in floats, the means included."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.features:
            raise DataError(f"X has shape {rows.shape}; expected rows of {self.features} features.")
        inputs = np.hstack([rows, np.ones((len(rows), 1))]) if self.bias else rows
        found: NDArray[np.float64] = np.maximum(inputs @ self.W1.T, 0) @ self.W2
        found += np.array([float(x) for x in self.means])
        return found

    def exact_outputs(self, X: Any) -> tuple[tuple[Fraction, ...], ...]:
        """The same exactly."""
        rows = tuple((*row, Fraction(1)) if self.bias else row for row in exact_matrix(X, "X"))
        fit = outputs_of(rows, self.neurons, len(self.means))
        return tuple(tuple(a + b for a, b in zip(row, self.means, strict=True)) for row in fit)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest output for every row of X; the outputs themselves where there are no classes."""
        found = self.outputs(X)
        return found if self.labels is None else np.array(self.labels)[found.argmax(axis=1)]
