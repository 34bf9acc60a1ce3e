"""What `explore` found, as text and JSON: optimal networks that differ off the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from relu_cert.claims import Result, decide
from relu_cert.data.dataset import Dataset
from relu_cert.figures import at_most, percent_at_most
from relu_cert.network.explore import Extreme, OptimalNetworks
from relu_cert.prove.facts import Facts
from relu_cert.report.shown import Sentence, Shown, first_true, picked, proved
from relu_cert.report.terminal import fold

CLAIMS = ("optimal", "fit", "p-unique", "optimal-set", "minimal")
ONLY = "There is only one best network, proved: nothing is to be chosen on other data."
ACTIVE = 1e-9  # of the largest weight: what counts as a neuron in the table of explore
ROUNDING = 1e-9  # for the eye: scores nearer than this are the same


@dataclass(frozen=True)
class Row:
    """One optimal network: its errors on the two data sets, and its accuracy on the test data if there are labels."""

    name: str
    width: int
    squared_norm: float
    validation: float
    test: float
    accuracy: float | None
    slack: float | None
    weights: tuple[float, ...] = ()  # alpha


@dataclass(frozen=True, repr=False)
class Exploration(Shown):
    """The proved set of all optimal networks, and the four that were picked in it; their errors are floats."""

    facts: Facts
    networks: OptimalNetworks
    rows: tuple[Row, ...]
    data: Dataset
    validation: Dataset
    test: Dataset
    extreme: Extreme
    seed: int

    @property
    def known(self) -> bool:
        """Whether it is proved which networks are optimal."""
        return self.facts.known

    @property
    def above(self) -> str:
        """How far the network found is from the best."""
        value = self.facts.value
        if value.lower <= 0:
            return f"at most {at_most(value.upper - value.lower)} above the best of any width, proved"
        return f"at most {percent_at_most(value.above)} above the best of any width, proved"

    @property
    def difference(self) -> float:
        """Max Diff: the best against the worst, in accuracy if there are labels, else in mean squared error."""
        scores = [row.test if row.accuracy is None else row.accuracy for row in self.rows]
        return max(scores) - min(scores)

    @property
    def measure(self) -> str:
        """What the difference is a difference of."""
        return "test accuracy" if self.rows[0].accuracy is not None else "test MSE"

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """What the certificate of `check` has about the set."""
        return decide(self.facts, CLAIMS)

    @property
    def same(self) -> bool:
        """Whether all of them say the same of the test data, as far as floats can tell."""
        scores = [abs(row.test if row.accuracy is None else row.accuracy) for row in self.rows]
        return self.difference <= ROUNDING * (1.0 + max(scores))

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        measure = self.measure.removeprefix("test ")
        differ = "do not differ (up to rounding)" if self.same else f"differ by {self.difference:.3g}"
        what = "which networks are the best is not known, and this one alone is measured on other data"
        sentences = (
            Sentence(f"The network found is {self.above}; {what}.", holds=not self.known),
            Sentence(ONLY, proved("p-unique")),
            Sentence(
                f"The best networks fit the training data equally; on the test data those compared here {differ} in "
                f"{measure}.",
                proved("fit"),
            ),
        )
        return first_true(self.results, sentences)

    @property
    def set_text(self) -> str:
        """What is proved about the optimal set."""
        found = self.facts.polytope
        if not self.known:
            return f"not known: {self.facts.unsettled}"
        if found is None:
            return f"vertices not listed: {self.facts.unlisted}"
        if found.dimension == 0:
            return "one optimal network"
        return f"dimension {found.dimension}, {len(found.vertices)} vertices, all listed and proved"

    @property
    def extreme_text(self) -> str:
        """Which vertex EP is."""
        return "the vertex of largest norm" if self.extreme == "norm" else f"a random functional, seed {self.seed}"

    def to_text(self) -> str:
        """The table; the errors are floats."""
        lines = [fold(self.headline), ""]
        lines += [fold(f"optimal set  {self.set_text}", 13)]
        lines += [*([f"EP           {self.extreme_text}"] if self.known else []), ""]
        lines.append(f"{'network':<8}  {'width':>5}  {'|w|^2':>12}  {'V-MSE':>12}  {'T-MSE':>12}  {'accuracy':>8}")
        for row in self.rows:
            accuracy = "-" if row.accuracy is None else f"{row.accuracy:.3f}"
            errors = f"{row.validation:>12.6g}  {row.test:>12.6g}"
            lines.append(f"{row.name:<8}  {row.width:>5}  {row.squared_norm:>12.6g}  {errors}  {accuracy:>8}")
        most = [f"Max Diff  {'0' if self.same else f'{self.difference:.6g}'} in {self.measure}"] if self.known else []
        return "\n".join([*lines, *most])

    def html(self) -> str:
        """The page of `explore`."""
        from relu_cert.report.html.explore import explore_page

        return explore_page(self)

    def to_json(self) -> dict[str, Any]:
        """One object."""
        found = self.facts.polytope
        return {
            "format": "relu_cert exploration",
            "version": 1,
            "lambda": str(self.facts.lam),
            "model": self.facts.problem.model,
            "extreme": self.extreme,
            "seed": self.seed,
            "optimal_set": found
            and {"dimension": found.dimension, "vertices": len(found.vertices)} | picked(found, "m_star M_star"),
            "networks": [
                picked(row, "name width squared_norm")
                | {"validation_mse": row.validation, "test_mse": row.test, "test_accuracy": row.accuracy}
                | picked(row, "slack")
                for row in self.rows
            ],
            "max_difference": self.difference,
            "measure": self.measure.replace(" ", "_").lower(),
        }


def rows_of(
    facts: Facts, networks: OptimalNetworks, sets: Sequence[Dataset], extreme: Extreme, seed: int
) -> tuple[Row, ...]:
    """Min L2, EP, V-MSE and T-MSE; where the optimal networks are not known, the one that was found."""
    middle = _between_labels(sets)
    parts = ((networks.outputs(part.Z, part.bags), np.array([float(x) for x in part.y])) for part in sets[1:])
    (on_validation, yv), (on_test, yt) = parts
    found = {"found": networks.min_norm()}
    if facts.known:
        found = {
            "Min L2": networks.min_norm(),
            "EP": networks.extreme(extreme, seed),
            "V-MSE": networks.least_error(on_validation, yv),
            "T-MSE": networks.least_error(on_test, yt),
        }
    slacks = {"V-MSE": (on_validation, yv), "T-MSE": (on_test, yt)}
    rows = []
    for name, alpha in found.items():
        said = on_test @ alpha
        rows.append(
            Row(
                name,
                int((alpha > ACTIVE * alpha.max(initial=0.0)).sum()),
                float(facts.lam) ** 2 * float(alpha @ alpha),
                float(np.mean((on_validation @ alpha - yv) ** 2)),
                float(np.mean((said - yt) ** 2)),
                None if middle is None else float(np.mean((said >= middle) == (yt >= middle))),
                networks.slack(*slacks[name], alpha) if name in slacks else None,
                tuple(float(a) for a in alpha),
            )
        )
    return tuple(rows)


def _between_labels(sets: Sequence[Dataset]) -> float | None:
    """The middle of the two values of the targets, if there are exactly two: the nearer one is predicted."""
    values: set[Fraction] = {y for data in sets for y in data.y}
    return (float(min(values)) + float(max(values))) / 2 if len(values) == 2 else None
